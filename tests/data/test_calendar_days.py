"""The calendar days of times."""

import numpy as np
import pandas as pd
import pytest

from adacc.data.calendar_days import read_days

TIMES = [
    ["2024-01-31 23:30", "2024-02-01 00:30"],
    ["2024-01-31T23:30:00+01:00", "2024-02-01T00:30:00.25Z"],
    ["2024-01-31 00:30:00+02", "2024-02-01 23:30:00.5 -05"],
    ["2024-01-31T00+02:00", "2024-02-01T00:00:00+05:30:00"],
    ["20240131", "20240201"],
    [20240131.0, 20240201.0],
    pd.to_datetime(["2024-01-31 23:30", "2024-02-01 00:30"]).tz_localize("Europe/Berlin"),
    pd.to_datetime(["2024-01-31", "2024-02-01"]).date,
    pd.Series(pd.to_datetime(["2024-01-31 00:30+02:00", "2024-02-01 00:30+02:00"])),
    np.array(["2024-01-31T23:59:59.123456789", "2024-02-01 00:00"], dtype=object),
    np.array(["2024-01-31", "2024-02-01T12"], dtype="datetime64[ns]"),
    np.array([b"2024-01-31", b"2024-02-01"]),
    pd.Series([20240131, 20240201], dtype="Int64"),
    ["2024/1/31", "2024.02.01 07:30"],
]


@pytest.mark.parametrize("values", TIMES)
def test_days_of_times(values):
    assert read_days(values, "the column 't'").astype(str).tolist() == ["2024-01-31", "2024-02-01"]


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-31", "31/01/2024"],
        ["2024-01-31", None],
        ["1", "x"],
        ["2024-01-31", "soon"],
        ["2024-01-31", "today"],
        ["2024-01-31", "2024-31-01"],
        ["2024-01-31", "2024-Jan-31"],
        [1, np.inf],
        [1, np.nan],
        np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
        pd.Series([1, None], dtype="Int64"),
    ],
)
def test_what_is_no_time(values):
    with pytest.raises(ValueError, match=r"column 't' must hold dates.* in row 2$"):
        read_days(values, "the column 't'")


@pytest.mark.parametrize("values", [[3, 3, 4], ["3", "3", "4"], [3.0, 3.0, 4.0], np.array([3, 3, 4], dtype=np.uint8)])
def test_whole_numbers_are_days(values):
    assert read_days(values, "the column 't'").tolist() == [3, 3, 4]


def test_fractions_of_days_are_times_of_the_day():
    assert read_days([3.0, 3.9, 4.1], "the column 't'").tolist() == [3, 3, 4]
    assert read_days(pd.to_timedelta([12, 36], unit="h"), "the column 't'").tolist() == [0, 1]


def test_numbers_are_dates_only_if_all_can_be():
    assert read_days([20240131, 20240231], "the column 't'").tolist() == [20240131, 20240231]  # there is no February 31


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (["1", "x"], "'x'"),
        (["2024-01-31", ""], "''"),
        (["2024-01-31", "soon"], "'soon'"),
        ([1.0, np.nan], "a missing value"),
        (["2024-01-31", None], "a missing value"),
    ],
)
def test_the_error_shows_the_value(values, got):
    with pytest.raises(ValueError, match=f"got {got} in row 2$"):
        read_days(values, "the column 't'")

"""The calendar days of times in any of the usual forms."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.data.columns import is_missing

OFFSET = re.compile(r"([T ][0-9]{2}[0-9:.,]*)\s*(?:[+-][0-9]{2}(?::?[0-9]{2}){0,2}|[Zz])$")
"""Time of day with an offset from UTC."""

ZONE = re.compile(r"[T ].*[-+A-Za-z]")
"""Time of day with something else than digits: NumPy would convert some offsets, and warn."""

FIRST_DATE, LAST_DATE = 19000101, 21001231
"""Whole numbers in this range are dates if all of them can be."""


def read_days(values: Any, name: str) -> NDArray[Any]:
    """The calendar day of each time, as datetime64[D] or as whole numbers of days.

    Times are dates, times, text in ISO format (with an offset from UTC: the local day), or whole numbers, which are
    days or, like 20240131, dates. Raises ValueError that names the first row that is none of these.

    Examples
    --------
    >>> read_days(["2024-01-31 23:30", "2024-02-01"], "when")
    array(['2024-01-31', '2024-02-01'], dtype='datetime64[D]')
    >>> read_days(["7", "8"], "day")
    array([7, 8])
    """
    times = np.asarray(values)
    if times.dtype.kind == "O":
        for row, value in enumerate(times):
            if is_missing(value):
                raise _error(name, row, "a missing value")
        times = np.array([value.isoformat() if isinstance(value, date) else str(value) for value in times])
    if times.dtype.kind == "S":
        times = times.astype(str)
    if times.dtype.kind == "M":
        if np.isnat(times).any():
            raise _error(name, int(np.argmax(np.isnat(times))), "a missing value")
        return times.astype("datetime64[D]")
    numbers = _numbers(times)
    if numbers is None:
        return _parse(times, name)
    is_whole = np.isfinite(numbers) & (numbers == np.rint(numbers))
    if not is_whole.all():
        row = int(np.argmin(is_whole))
        raise _error(name, row, "a missing value" if str(times[row]) == "nan" else repr(str(times[row])))
    return _numbered_days(numbers.astype(np.int64))


def _error(name: str, row: int, got: str) -> ValueError:
    return ValueError(
        f"the column {name!r} must hold dates, times, text such as '2024-01-31 12:00', or whole numbers of days, "
        f"got {got} in row {row + 1}"
    )


def _numbers(times: NDArray[Any]) -> NDArray[np.float64] | None:
    """The times as numbers, NaN for those that are none; None if the first is none."""
    try:
        return times.astype(np.float64)
    except ValueError:
        return None if np.isnan(_number(times[0])) else np.array([_number(text) for text in times])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _parse(texts: NDArray[np.str_], name: str) -> NDArray[Any]:
    """The days of text in ISO format."""
    local = np.array([OFFSET.sub(r"\1", text) for text in texts])
    local[[ZONE.search(text) is not None for text in local]] = ""  # NaT
    try:
        days = local.astype("datetime64[us]").astype("datetime64[D]")
    except ValueError:
        days = np.array([_day(text) for text in local])
    if np.isnat(days).any():
        row = int(np.argmax(np.isnat(days)))
        raise _error(name, row, repr(str(texts[row])))
    return days


def _day(text: str) -> np.datetime64:
    try:
        return np.datetime64(text, "us").astype("datetime64[D]")
    except ValueError:
        return np.datetime64("NaT", "D")


def _numbered_days(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers of days, or dates if all are written like 20240131."""
    if numbers.size and numbers.min() >= FIRST_DATE and numbers.max() <= LAST_DATE:
        year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
        months = (year * 12 + month - 1 - 1970 * 12).astype("datetime64[M]")
        dates = months.astype("datetime64[D]") + (day - 1)
        if ((month >= 1) & (month <= 12) & (day >= 1) & (dates.astype("datetime64[M]") == months)).all():
            return dates
    return numbers

"""The calendar days and the order of times in any of the usual forms."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.data.columns import is_missing

YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?=[T ]|$)")
"""A date such as 2024-01-31, 2024/1/31 or 2024.1.31; 1/2/2024 can be a day of January or of February."""

OFFSET = re.compile(r"([T ][0-9]{2}[0-9:.,]*)\s*([+-][0-9]{2}(?::?[0-9]{2}){0,2}|[Zz])$")
"""Time of day with an offset from UTC."""

ZONE = re.compile(r"[T ].*[-+A-Za-z]")
"""Time of day with something else than digits: NumPy would convert some offsets, and warn."""

FIRST_DATE, LAST_DATE = 19000101, 21001231
"""Whole numbers in this range are dates if all of them can be."""


def read_days(values: Any, what: str) -> NDArray[Any]:
    """The calendar day of each time, as datetime64[D] or as whole numbers of days.

    Times are dates, times, text that begins with the year as in ISO format (with an offset from UTC: the local day), or
    numbers, which are days or, like 20240131, dates. Raises ValueError that names the first row that is none of
    these; it begins with `what`, such as "the column 'day'".

    Examples
    --------
    >>> read_days(["2024-01-31 23:30", "2024-02-01"], "the column 'when'")
    array(['2024-01-31', '2024-02-01'], dtype='datetime64[D]')
    >>> read_days(["7", "8.5"], "the column 'day'")
    array([7, 8])
    """
    times = _as_array(values, what)
    if times.dtype.kind == "M":
        return times.astype("datetime64[D]")
    numbers = _numbers(times, what)
    if numbers is None:
        return _parse(times, what)[0].astype("datetime64[D]")
    return _numbered_days(np.floor(numbers).astype(np.int64))


def read_order(values: Any, what: str) -> NDArray[Any]:
    """The times as values that sort in time order: datetime64, in UTC if there are offsets, or numbers.

    Times are as `read_days` takes them. Raises ValueError also if only some of them have an offset from UTC.

    Examples
    --------
    >>> read_order(["2024-02-01 00:30+02:00", "2024-01-31 23:00Z"], "the column 'when'").argsort().tolist()
    [0, 1]
    >>> read_order(["10", "9"], "the column 'day'").argsort().tolist()
    [1, 0]
    """
    times = _as_array(values, what)
    if times.dtype.kind == "M":
        return times
    numbers = _numbers(times, what)
    if numbers is not None:
        return numbers
    local, offset = _parse(times, what)
    unknown = np.isnat(offset)
    if unknown.all():
        return local
    if unknown.any():
        with_offset, without = (str(times[int(np.argmax(rows))]) for rows in (~unknown, unknown))
        raise ValueError(
            f"{what} must hold times that all have an offset from UTC, or none, got {with_offset!r} and "
            f"{without!r}, whose order is unknown"
        )
    return local - offset


def _as_array(values: Any, what: str) -> NDArray[Any]:
    """The times as datetime64, numbers or text; raises ValueError if one is missing."""
    times = np.asarray(values)
    if times.dtype.kind == "O":
        for row, value in enumerate(times):
            if is_missing(value):
                raise _error(what, row, "a missing value")
        times = np.array([value.isoformat() if isinstance(value, date) else str(value) for value in times])
    if times.dtype.kind == "S":
        times = times.astype(str)
    if times.dtype.kind in "mM" and np.isnat(times).any():
        raise _error(what, int(np.argmax(np.isnat(times))), "a missing value")
    return times / np.timedelta64(1, "D") if times.dtype.kind == "m" else times


def _error(what: str, row: int, got: str) -> ValueError:
    return ValueError(
        f"{what} must hold dates, times, text such as '2024-01-31 12:00', or numbers of days, "
        f"got {got} in row {row + 1}"
    )


def _numbers(times: NDArray[Any], what: str) -> NDArray[np.float64] | None:
    """The times as numbers; None if the first is none. Raises ValueError if another one is none."""
    try:
        numbers = times.astype(np.float64)
    except ValueError:
        if np.isnan(_number(times[0])):
            return None
        numbers = np.array([_number(text) for text in times])
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise _error(what, row, "a missing value" if str(times[row]) == "nan" else repr(str(times[row])))
    return numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _parse(texts: NDArray[np.str_], what: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The local times of text and their offsets from UTC, which are NaT where there is none."""
    distinct, number = np.unique(texts, return_inverse=True)
    pairs = [_time(text) for text in distinct.tolist()]
    local = np.array([time for time, _ in pairs])[number]
    if np.isnat(local).any():
        row = int(np.argmax(np.isnat(local)))
        raise _error(what, row, repr(str(texts[row])))
    return local, np.array([offset for _, offset in pairs])[number]


def _time(text: str) -> tuple[np.datetime64, np.timedelta64]:
    """The local time, NaT if it cannot be read, and its offset from UTC, NaT if there is none."""
    zone = OFFSET.search(text)
    offset: Any = np.timedelta64("NaT", "s")
    if zone is not None:
        text, digits = text[: zone.end(1)], zone[2][1:].replace(":", "")
        hours, minutes, seconds = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
        offset = np.timedelta64((-1 if zone[2][0] == "-" else 1) * (3600 * hours + 60 * minutes + seconds), "s")
    begin = YEAR_FIRST.match(text)
    if begin is not None:
        text = f"{begin[1]}-{begin[3]:0>2}-{begin[4]:0>2}{text[begin.end() :]}"
    try:
        return np.datetime64(text if text[:1].isdigit() and not ZONE.search(text) else "NaT", "us"), offset
    except ValueError:
        return np.datetime64("NaT", "us"), offset


def _numbered_days(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers of days, or dates if all are written like 20240131."""
    if numbers.size and numbers.min() >= FIRST_DATE and numbers.max() <= LAST_DATE:
        year, month, day = numbers // 10_000, numbers // 100 % 100, numbers % 100
        months = (year * 12 + month - 1 - 1970 * 12).astype("datetime64[M]")
        dates = months.astype("datetime64[D]") + (day - 1)
        if ((month >= 1) & (month <= 12) & (day >= 1) & (dates.astype("datetime64[M]") == months)).all():
            return dates
    return numbers

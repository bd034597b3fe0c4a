"""What a decision rule achieves over time: by day, week, month, quarter or year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.data.calendar_days import read_days
from adacc.evaluation.estimates import Estimate, Groups
from adacc.evaluation.subgroups import GroupFigures

MAX_PERIODS = 14
"""The shortest unit of time is used that has at most so many periods."""

NUMBERED_LENGTHS = (1, 7, 30, 90, 365)
"""Lengths in days of the periods of times that are numbers of days."""


@dataclass(frozen=True)
class Period:
    """The rows of a period, and their figures. Days are dates in ISO format, or numbers."""

    first_day: str
    last_day: str
    days: int
    figures: GroupFigures
    alerts_per_day: Estimate


@dataclass(frozen=True)
class Periods:
    """All rows by period of equal length; the first and the last can be shorter."""

    unit: str  # "day", "week", "month", "quarter", "year", or a number of days such as "30 days"
    days: int  # from the first day to the last
    rows_per_day: float
    periods: list[Period]


def by_period(
    times: Any, name: str, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_], groups: Groups
) -> Periods:
    """The figures of each period that has rows.

    `times` are as `read_days` takes them.
    """
    days = read_days(times, f"the column {name!r}")
    first, last = days.min(), days.max()
    unit, starts = _periods(first, last)
    of_row = np.searchsorted(starts, days, side="right") - 1
    found = []
    for k, start in enumerate(starts):
        rows = of_row == k
        if not rows.any():
            continue
        begin, end = max(start, first), min(starts[k + 1] - 1, last) if k + 1 < len(starts) else last
        n_days = int((end - begin).astype(np.int64)) + 1
        figures = GroupFigures.of(_name(unit, begin), rows, is_positive, alert, groups)
        per_day = figures.alerts_per_1000.times(figures.rows / n_days / 1000)
        found.append(Period(str(begin), str(end), n_days, figures, per_day))
    n_days = int((last - first).astype(np.int64)) + 1
    return Periods(unit, n_days, len(days) / n_days, found)


def _periods(first: Any, last: Any) -> tuple[str, NDArray[Any]]:
    """The unit, and the first day of each period."""
    if not isinstance(first, np.datetime64):
        return _numbered(int(first), int(last))
    one_day = np.timedelta64(1, "D")
    monday = first - (first.astype(np.int64) + 3) % 7  # day 0, 1970-01-01, is a Thursday
    for unit, starts in (("day", np.arange(first, last + one_day)), ("week", np.arange(monday, last + one_day, 7))):
        if len(starts) <= MAX_PERIODS:
            return unit, starts
    months = np.arange(first.astype("datetime64[M]"), last.astype("datetime64[M]") + 1)
    n_years = -(-len(months) // (12 * (MAX_PERIODS - 1)))
    lengths = {"month": 1, "quarter": 3, "year": 12, f"{n_years} years": 12 * n_years}
    of_unit = {unit: np.unique(months.astype(np.int64) // length * length) for unit, length in lengths.items()}
    unit = next(unit for unit, starts in of_unit.items() if len(starts) <= MAX_PERIODS)
    return unit, of_unit[unit].astype("datetime64[M]").astype("datetime64[D]")


def _name(unit: str, first_day: Any) -> str:
    """The name of a period, such as 2024-01 or 2024 Q1; otherwise its first day."""
    day = str(first_day)
    if unit == "quarter":
        return f"{day[:4]} Q{(int(day[5:7]) + 2) // 3}"
    return {"month": day[:7], "year": day[:4]}.get(unit, day)


def _numbered(first: int, last: int) -> tuple[str, NDArray[np.int64]]:
    n_days = last - first + 1
    length = next((each for each in NUMBERED_LENGTHS if n_days <= each * MAX_PERIODS), 0)
    if not length:
        length = 365 * -(-n_days // (365 * MAX_PERIODS))
    return "day" if length == 1 else f"{length} days", np.arange(first, last + 1, length)

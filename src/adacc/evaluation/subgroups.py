"""What a decision rule achieves by subgroup."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.evaluation.estimates import Array, Estimate, share

MAX_VALUES = 10
"""A numeric column with more distinct values is cut at its quartiles; of other columns, rarer values are merged."""

MISSING = "(missing)"

CHECKED = ("recall", "precision")
"""Measures of a group that are compared with those of all rows."""


@dataclass(frozen=True)
class GroupFigures:
    """Figures of some rows; `differs` lists the measures whose interval excludes the value of all rows."""

    name: str
    rows: int
    positives: int
    positive_rate: Estimate
    alerts: int
    alerts_per_1000: Estimate
    recall: Estimate
    precision: Estimate
    differs: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, name: str, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_], overall: GroupFigures | None = None
    ) -> GroupFigures:
        rows, positives, alerts = len(alert), int(is_positive.sum()), int(alert.sum())
        found = int((is_positive & alert).sum())
        measures = {"recall": share(found, positives), "precision": share(found, alerts)}
        differs = () if overall is None else tuple(
            each for each in CHECKED if measures[each].excludes(getattr(overall, each).value)
        )  # fmt: skip
        return cls(
            name, rows, positives, share(positives, rows), alerts, share(alerts, rows).times(1000), **measures,
            differs=differs,
        )  # fmt: skip


class Grouping(NamedTuple):
    """Names of groups, and the number of the group of each row."""

    names: list[str]
    number: NDArray[np.intp]


def read_groups(values: Any, name: str) -> Grouping:
    """The groups of a column: its values, or the quartiles of numbers.

    Raises ValueError if all rows have the same value.

    Examples
    --------
    >>> groups = read_groups([3, 1, None, 1], "floor")
    >>> groups.names, groups.number.tolist()
    (['1', '3', '(missing)'], [1, 0, 2, 0])
    >>> read_groups(range(100), "age").names
    ['≤ 24.75', '24.75 to 49.5', '49.5 to 74.25', '> 74.25']
    """
    column = pd.Series(values).reset_index(drop=True)
    numbers = _as_numbers(column)
    if numbers is not None and len(np.unique(numbers[~np.isnan(numbers)])) > MAX_VALUES:
        names, number = _quartiles(numbers)
    else:
        names, number = _distinct(column, numbers)
    if (number < 0).any():
        names, number = [*names, MISSING], np.where(number < 0, len(names), number)
    if len(names) < 2:
        raise ValueError(
            f"the subgroup column {name!r} must have at least two values, got {names[0] if names else 'no rows'!r} in "
            "all rows"
        )
    return Grouping(names, number)


def _as_numbers(column: pd.Series) -> Array | None:
    """The values as numbers, NaN where they are missing; None if they are not numbers."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return None
    try:
        return pd.to_numeric(column.astype(object)).to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return None


def _quartiles(numbers: Array) -> Grouping:
    known = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    edges = edges[edges < known.max()]
    if not len(edges):  # more than three quarters of the rows have the largest value
        edges = np.array([known[known < known.max()].max()])
    texts = [f"{edge:.6g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    number = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers))
    return Grouping([f"≤ {texts[0]}", *between, f"> {texts[-1]}"], number)


def _distinct(column: pd.Series, numbers: Array | None) -> Grouping:
    """The distinct values: numbers in their order, others by name; the rarest are merged if there are many."""
    codes, values = pd.factorize(pd.Series(numbers) if numbers is not None else column.astype(object))
    texts = [f"{value:.15g}" if numbers is not None else str(value) for value in values]
    order = sorted(range(len(texts)), key=lambda k: values[k] if numbers is not None else texts[k])
    place = np.empty(len(order) + 1, dtype=np.intp)
    place[order], place[-1] = np.arange(len(order)), -1
    number, names = place[codes], [texts[k] for k in order]
    if len(names) <= MAX_VALUES:
        return Grouping(names, number)
    n_rows = np.bincount(number[number >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-n_rows, kind="stable")[: MAX_VALUES - 1])
    merged = np.full(len(names) + 1, len(kept), dtype=np.intp)
    merged[kept], merged[-1] = np.arange(len(kept)), -1
    return Grouping([*(names[k] for k in kept), f"{len(names) - len(kept)} other values"], merged[number])


def by_group(
    groups: Grouping, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_], overall: GroupFigures
) -> list[GroupFigures]:
    """The figures of each group that has rows."""
    found = []
    for k, name in enumerate(groups.names):
        rows = groups.number == k
        if rows.any():
            found.append(GroupFigures.of(name, is_positive[rows], alert[rows], overall))
    return found

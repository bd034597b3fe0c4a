"""What a decision rule achieves by subgroup."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.evaluation.estimates import Array, Estimate, Groups, effective_rows, share_of

MAX_VALUES = 10
"""A numeric column with more distinct values is cut at its quartiles; of other columns, rarer values are merged."""

MISSING = "(missing)"

CODE = re.compile(r"\s*[-+]?0[0-9]")
"""The begin of a number with leading zeros, such as a postcode."""

INTEGER = re.compile(r"[-+]?[0-9]+")

CHECKED = ("recall", "precision")
"""Measures of a group that are compared with those of the other rows."""


@dataclass(frozen=True)
class GroupFigures:
    """Figures of some rows.

    `others` has the recall and the precision of the other rows of the same column, and `differs` the measures that
    differ from them significantly; see `compare_groups`. `effective` has the number of independent rows that determine
    these measures as well as the rows do; it is empty if the rows are independent.
    """

    name: str
    rows: int
    positives: int
    positive_rate: Estimate
    alerts: int
    true_positives: int
    alerts_per_1000: Estimate
    recall: Estimate
    precision: Estimate
    effective: dict[str, float] = field(default_factory=dict)
    others: dict[str, float | None] = field(default_factory=dict)
    differs: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        rows: NDArray[np.bool_],
        is_positive: NDArray[np.bool_],
        alert: NDArray[np.bool_],
        dependent: Groups,
    ) -> GroupFigures:
        """The figures of some rows; `dependent` are the groups of all rows that depend on each other."""
        is_positive, alert = is_positive[rows], alert[rows]
        dependent = None if dependent is None else dependent[rows]
        found, every = is_positive & alert, np.ones(len(alert))
        effective = {
            measure: effective_rows(found, whole, dependent)
            for measure, whole in (("recall", is_positive), ("precision", alert))
        }
        return cls(
            name=name,
            rows=len(alert),
            positives=int(is_positive.sum()),
            positive_rate=share_of(is_positive, every, dependent),
            alerts=int(alert.sum()),
            true_positives=int(found.sum()),
            alerts_per_1000=share_of(alert, every, dependent).times(1000),
            recall=share_of(found, is_positive, dependent),
            precision=share_of(found, alert, dependent),
            effective={measure: n for measure, n in effective.items() if n is not None},
        )


class Grouping(NamedTuple):
    """Names of groups, and the number of the group of each row."""

    names: list[str]
    number: NDArray[np.intp]


def read_groups(values: Any, name: str) -> Grouping:
    """The groups of a column: its values, or the quartiles of numbers.

    Numbers are equal by value, also in text (1 and 1.0), except that text with leading zeros is a code: 01 and 1 are
    two groups. Raises ValueError if all rows have the same value.

    Examples
    --------
    >>> groups = read_groups([3, 1, None, 1], "floor")
    >>> groups.names, groups.number.tolist()
    (['1', '3', '(missing)'], [1, 0, 2, 0])
    >>> read_groups(range(100), "age").names
    ['≤ 24.75', '24.75 to 49.5', '49.5 to 74.25', '> 74.25']
    """
    codes, distinct = pd.factorize(pd.Series(values).reset_index(drop=True).astype(object))
    numbers = _as_numbers(distinct.tolist())
    if numbers is not None and len(set(numbers)) > MAX_VALUES:
        names, number = _quartiles(np.array([*numbers, np.nan], dtype=np.float64)[codes])
    else:
        names, number = _distinct(codes, list(map(str, distinct)) if numbers is None else numbers)
    names = [f"‘{each}’" if each == MISSING else each for each in names]
    if (number < 0).any():
        names, number = [*names, MISSING], np.where(number < 0, len(names), number)
    if len(names) < 2:
        raise ValueError(
            f"the subgroup column {name!r} must have at least two values, got {names[0] if names else 'no rows'!r} in "
            "all rows"
        )
    return Grouping(names, number)


def _as_numbers(values: list[Any]) -> list[float | int] | None:
    """The values as numbers, integers exactly; None if they are not numbers, or codes with leading zeros."""
    if any(isinstance(value, bool) or (isinstance(value, str) and CODE.match(value)) for value in values):
        return None
    try:
        numbers = [int(value) if INTEGER.fullmatch(str(value)) else float(value) for value in values]
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _quartiles(numbers: Array) -> Grouping:
    known = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
    edges = edges[edges < known.max()]
    if not len(edges):  # more than three quarters of the rows have the largest value
        edges = np.array([known[known < known.max()].max()])
    texts = [_text_of_edge(edge, known) for edge in edges.tolist()]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    number = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers))
    return Grouping([f"≤ {texts[0]}", *between, f"> {texts[-1]}"], number)


def _text_of_edge(edge: float, values: Array) -> str:
    """An edge with at least six digits, and as many as are needed to divide the values as the edge does."""
    n_below = int((values <= edge).sum())
    texts = (f"{edge:.{digits}g}" for digits in range(6, 18))
    text = next(each for each in texts if int((values <= float(each)).sum()) == n_below)
    return np.format_float_positional(float(text), trim="-") if "e+" in text and abs(edge) < 1e16 else text


def _text_of_number(value: float) -> str:
    text = f"{value:.15g}"
    return text if float(text) == value else repr(value)


def _distinct(codes: NDArray[np.intp], values: list[Any]) -> Grouping:
    """The distinct values, texts or numbers, in their order; the rarest are merged if there are many.

    `codes` number the values of the rows; -1 is a missing value.
    """
    order = {value: k for k, value in enumerate(sorted(set(values)))}
    names = [_text_of_number(value) if isinstance(value, float) else str(value) for value in order]
    number = np.array([*(order[value] for value in values), -1], dtype=np.intp)[codes]
    if len(names) <= MAX_VALUES:
        return Grouping(names, number)
    n_rows = np.bincount(number[number >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-n_rows, kind="stable")[: MAX_VALUES - 1])
    merged = np.full(len(names) + 1, len(kept), dtype=np.intp)
    merged[kept], merged[-1] = np.arange(len(kept)), -1
    rest = f"{len(names) - len(kept)} other values"
    kept_names = [f"‘{name}’" if name == rest else name for name in (names[k] for k in kept)]
    return Grouping([*kept_names, rest], merged[number])


def by_group(
    groups: Grouping, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_], dependent: Groups = None
) -> list[GroupFigures]:
    """The figures of each group that has rows."""
    found = []
    for k, name in enumerate(groups.names):
        rows = groups.number == k
        if rows.any():
            found.append(GroupFigures.of(name, rows, is_positive, alert, dependent))
    return found

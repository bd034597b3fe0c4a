"""Tests of whether recall and precision differ between subgroups or periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.statistics import chi_square_of_shares, holm
from adacc.evaluation.subgroups import CHECKED, GroupFigures

SIGNIFICANCE_LEVEL = 0.05

FEW_POSITIVES = 30
"""With fewer positive rows the recall of a group is reported as uncertain."""


@dataclass(frozen=True)
class GroupTest:
    """The test that a measure is equal in all groups of a column.

    Attributes
    ----------
    column : str or None
        The column of the subgroups; None for periods.
    measure : {"recall", "precision"}
        The measure.
    p : float or None
        The p-value, corrected over the columns and the periods by Holm; None if fewer than two groups have the measure.
    """

    column: str | None
    measure: str
    p: float | None


def compare_groups(
    by_column: Mapping[str | None, Sequence[GroupFigures]],
) -> tuple[dict[str | None, list[GroupFigures]], list[GroupTest]]:
    """Compare each group with the other rows of its column; returns the groups with their marks, and the tests.

    One test per column and measure decides whether its groups differ at all, corrected over the columns by Holm. If so,
    the group that differs most from the other rows is marked, and the test is repeated without it until the rest do not
    differ; of two groups that differ, both are marked. Rows that depend on each other are tested as the effective
    number of independent rows [Rao & Scott 1981].
    """
    marked = {column: list(groups) for column, groups in by_column.items()}
    tests = []
    for measure in CHECKED:
        counts = {column: _counts(groups, measure) for column, groups in by_column.items()}
        p_values = holm([chi_square_of_shares(*each) for each in counts.values()])
        for (column, (parts, wholes)), p in zip(counts.items(), p_values.tolist(), strict=True):
            tests.append(GroupTest(column, measure, None if np.isnan(p) else p))
            others = _others(by_column[column], measure)
            differ = _differ(parts, wholes) if p < SIGNIFICANCE_LEVEL else np.zeros(len(parts), dtype=bool)
            marked[column] = [
                replace(
                    group,
                    others=group.others | {measure: other},
                    differs=(*group.differs, measure) if differs else group.differs,
                )
                for group, other, differs in zip(marked[column], others, differ.tolist(), strict=True)
            ]
    return marked, tests


def _counts(groups: Sequence[GroupFigures], measure: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The numerator and the denominator of the measure by group, of independent rows."""
    parts = np.array([group.true_positives for group in groups], dtype=float)
    wholes = np.array([_whole(group, measure) for group in groups], dtype=float)
    effective = np.array([group.effective.get(measure, _whole(group, measure)) for group in groups], dtype=float)
    factor = np.divide(effective, wholes, out=np.ones_like(wholes), where=wholes > 0)
    return parts * factor, wholes * factor


def _whole(group: GroupFigures, measure: str) -> int:
    return group.positives if measure == "recall" else group.alerts


def _others(groups: Sequence[GroupFigures], measure: str) -> list[float | None]:
    """The measure of the other rows, by group."""
    found, whole = sum(group.true_positives for group in groups), sum(_whole(group, measure) for group in groups)
    of_others = [(found - group.true_positives, whole - _whole(group, measure)) for group in groups]
    return [part / rest if rest else None for part, rest in of_others]


def _differ(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which groups differ, given that some do: the one that differs most from the others, then those among the rest."""
    differ = np.zeros(len(parts), dtype=bool)
    left = np.flatnonzero(wholes > 0)
    while chi_square_of_shares(parts[left], wholes[left]) < SIGNIFICANCE_LEVEL:
        own = np.column_stack([parts[left], wholes[left]])
        p_values = [chi_square_of_shares(*np.array([each, own.sum(axis=0) - each]).T) for each in own]
        most = left[[int(np.argmin(p_values))]] if len(left) > 2 else left
        differ[most] = True
        left = np.setdiff1d(left, most)
    return differ

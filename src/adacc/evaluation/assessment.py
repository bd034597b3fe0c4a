"""What a decision rule achieves on labelled rows of two classes: the figures of a report, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.decision_costs import Agreement, Costs, Policy, compare_policies
from adacc.evaluation.estimates import Array, Estimate, Groups, effective_rows, mean_of_shares, ranking_areas, share_of
from adacc.evaluation.group_tests import GroupTest, compare_groups
from adacc.evaluation.periods import Periods, by_period
from adacc.evaluation.ranking_curve import RankingCurve, TopRows
from adacc.evaluation.subgroups import GroupFigures, by_group, read_groups
from adacc.model.decision import DecisionReport


@dataclass(frozen=True)
class DecidedRows:
    """Rows with known classes, their scores and the decisions about them."""

    is_positive: NDArray[np.bool_]
    alert: NDArray[np.bool_]  # whether the rule predicts the positive class
    scores: Array  # rank the rows; larger for the positive class
    today: NDArray[np.bool_] | None = None  # whether today's decision is an alert
    costs: Costs | None = None
    groups: Groups = None  # of rows that depend on each other; all intervals are those of groups


@dataclass(frozen=True)
class Assessment:
    """The figures of a decision rule. Shares are between 0 and 1, costs in the unit of the costs that were given."""

    rows: int
    positives: int
    # recall, precision, alerts_per_1000, true_negative_rate, balanced_accuracy, auc, average_precision
    figures: dict[str, Estimate]
    confusion: dict[str, int]
    rule: TopRows  # the alerts of the rule
    capacity: list[TopRows]  # other numbers of alerts, by score
    gains: list[TopRows]
    curve: dict[str, list[float]]
    policies: list[Policy]  # the rule beside others; empty without costs and decisions of today
    agreement: Agreement | None  # with the decisions of today
    subgroups: dict[str, list[GroupFigures]]  # by column
    periods: Periods | None
    groups: int | None  # number of groups of rows that depend on each other; None: all rows are independent
    tests: list[GroupTest]  # whether recall and precision differ between the groups of a column, or the periods

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON can store them."""
        return asdict(self)


def assess(
    rows: DecidedRows,
    subgroups: Mapping[str, Any] | None = None,  # values by column
    times: tuple[str, Any] | None = None,  # name and values of the column of times
) -> Assessment:
    """Compute all figures; raises ValueError if a column of subgroups or times cannot be used."""
    is_positive, alert, dependent = rows.is_positive, rows.alert, rows.groups
    tp, fp, fn, tn = (
        int(each.sum()) for each in (is_positive & alert, ~is_positive & alert, is_positive & ~alert,
                                     ~is_positive & ~alert)
    )  # fmt: skip
    periods = None if times is None else by_period(times[1], times[0], is_positive, alert, dependent)
    by_column: dict[str | None, list[GroupFigures]] = {
        name: by_group(read_groups(values, name), is_positive, alert, dependent)
        for name, values in (subgroups or {}).items()
    }
    if periods is not None:
        by_column[None] = [period.figures for period in periods.periods]
    groups, tests = compare_groups(by_column)
    if periods is not None:
        figures = zip(periods.periods, groups.pop(None), strict=True)
        periods = replace(periods, periods=[replace(period, figures=each) for period, each in figures])
    days = None if periods is None else periods.days
    curve = RankingCurve(rows.scores, is_positive, days, dependent)
    effective = (
        effective_rows(is_positive & alert, is_positive, dependent),
        effective_rows(is_positive & alert, alert, dependent),
    )
    return Assessment(
        rows=len(alert),
        positives=tp + fn,
        figures=_figures(rows),
        confusion={"true_positives": tp, "false_negatives": fn, "false_positives": fp, "true_negatives": tn},
        rule=TopRows.of(tp + fp, tp, len(alert), tp + fn, days, effective),
        capacity=curve.capacities(),
        gains=curve.gains(),
        curve=curve.curve(),
        policies=compare_policies(is_positive, alert, rows.today, rows.costs, dependent),
        agreement=None if rows.today is None else Agreement.of(is_positive, alert, rows.today),
        subgroups={str(name): of_column for name, of_column in groups.items()},
        periods=periods,
        groups=None if dependent is None else len(np.unique(dependent)),
        tests=tests,
    )


def _figures(rows: DecidedRows) -> dict[str, Estimate]:
    is_positive, alert, groups = rows.is_positive, rows.alert, rows.groups
    recall = share_of(is_positive & alert, is_positive, groups)
    true_negative_rate = share_of(~is_positive & ~alert, ~is_positive, groups)
    auc, average_precision = ranking_areas(rows.scores, is_positive, groups)
    return {
        "recall": recall,
        "precision": share_of(is_positive & alert, alert, groups),
        "alerts_per_1000": share_of(alert, np.ones(len(alert)), groups).times(1000),
        "true_negative_rate": true_negative_rate,
        "balanced_accuracy": mean_of_shares(recall, true_negative_rate),
        "auc": auc,
        "average_precision": average_precision,
    }


def describe_report(report: DecisionReport | None) -> dict[str, Any] | None:
    """What a rule achieved on its tuning rows, as plain data: ``stated`` of a decision report."""
    if report is None:
        return None
    achieved = {
        name: {end: None if math.isnan(value) else value for end, value in each._asdict().items()}
        for name, each in report.achieved.items()
    }
    return {
        "rows": report.rows,
        "n_rows": report.n_rows,
        "n_positive": report.n_positive,
        "met": report.met,
        "achieved": achieved,
    }

"""From scores to the predicted class: ties, factors of probabilities, and decision rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import hypot, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import ROUNDING, Array
from adacc.data.calendar_days import read_days
from adacc.model.cost_matrix import cost_rounding, cost_threshold, expected_costs, expected_threshold
from adacc.model.decision_spec import DecisionSpec


def class_index(scores: Array, negative_class: int) -> NDArray[np.intp]:
    """Number of the class that the scores predict; for two classes, a score of zero predicts `negative_class`."""
    if scores.ndim == 2:
        return np.argmax(scores, axis=1)
    return np.where(scores == 0.0, negative_class, scores > 0.0)


LOG_ROUNDING = 1e-13
"""Rounding error of sums of logarithms, which differ between runtimes in the last bit."""


def snap_ties(scores: Array, tolerance: float = ROUNDING) -> Array:
    """Make scores equal that differ only by rounding errors, so that rounding does not affect predictions."""
    if scores.shape[1] == 1:
        return np.where(np.abs(scores[:, 0]) <= tolerance, 0.0, scores[:, 0])
    largest = scores.max(axis=1, keepdims=True)
    return np.where(scores >= largest - tolerance, largest, scores)


def decision_scores(probabilities: Array, multipliers: Array) -> Array:
    """Scores whose sign or argmax is the class of the largest ``multiplier * probability``.

    For two classes: the log-odds of p minus the log-odds of the threshold c₋/(c₊+c₋).
    """
    logs = np.log(np.clip(probabilities, 1e-15, 1.0)) + log_multipliers(multipliers)
    return snap_ties(logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs, LOG_ROUNDING)


def log_multipliers(multipliers: Array) -> Array:
    """Logarithms of the multipliers, of which one may be 0."""
    return np.log(np.maximum(multipliers, 1e-300))


class Interval(NamedTuple):
    """A measure on some rows, and its 95 % confidence interval for new rows of the same kind."""

    value: float
    low: float
    high: float

    def agrees_with(self, other: Interval) -> bool | None:
        """Whether the measure may be equal to that of other, independent rows; None if one of both is undefined.

        The distances to the ends of both intervals are combined to that of their difference [Zou & Donner 2008].

        Examples
        --------
        >>> Interval(0.8, 0.7, 0.88).agrees_with(Interval(0.9, 0.82, 0.95))
        True
        """
        difference = self.value - other.value
        if isnan(difference):
            return None
        low, high = (self, other) if difference < 0.0 else (other, self)
        return abs(difference) <= hypot(low.high - low.value, high.value - high.low)


@dataclass(frozen=True)
class DecisionReport:
    """What a decision achieves.

    Attributes
    ----------
    rows : str
        The rows it was measured on: "out-of-bag", "held-out", "training" or "given".
    n_rows, n_positive : int
        Number of these rows, and of the positive ones among them. Of a large class they are a random sample, at most
        3,000 out-of-bag rows, that is weighted to represent all rows of the class.
    achieved : dict of Interval
        By measure: "recall", "precision", "alerts_per_1000", for some rules also "fbeta" or "mean_cost".
    threshold : Interval or None
        The threshold; None if it was not tuned.
    met : bool
        Whether the rule's condition holds on the tuning rows. Otherwise the nearest threshold is used.
    """

    rows: str
    n_rows: int
    n_positive: int
    achieved: dict[str, Interval]
    threshold: Interval | None = None
    met: bool = True


@dataclass(frozen=True)
class Decision:
    """A decision rule, ready for predictions.

    For two classes a rule is a number per row, its `statistic`, which is compared with a threshold or ranked within the
    batch: the score, the probability, or the share of the expected cost that a false negative has.

    Attributes
    ----------
    spec : DecisionSpec
        The rule.
    positive : int
        Number of the positive class of two; 0 for more classes.
    threshold : float or None
        The positive class is predicted if the statistic is at least this; None for "top" and for more classes.
    report : DecisionReport or None
        What the rule achieves on tuning rows; None if there were none.
    """

    spec: DecisionSpec
    positive: int
    threshold: float | None = None
    report: DecisionReport | None = None

    @property
    def rule(self) -> str:
        """The rule as text."""
        return str(self.spec)

    def __str__(self) -> str:
        if self.threshold is None or self.spec.kind in ("threshold", "score"):
            return self.rule
        return f"{self.rule} ({self.statistic_name} >= {self.threshold:.4g})"

    @property
    def statistic_name(self) -> str:
        """Name of the number that is compared with the threshold."""
        if self.spec.kind == "row_cost":
            return "cost-weighted probability"
        return "probability" if self.spec.by_probability else "score"

    def class_index(
        self, scores: Array | None, probabilities: Callable[[], Array], columns: Mapping[str, NDArray[Any]]
    ) -> NDArray[np.intp]:
        """Number of the predicted class of each row.

        `scores` rank the rows by how likely they are positive, `columns` are those that the rule names.
        """
        if self.spec.kind == "cost" and self.threshold is None:
            costs, p = np.array(self.spec.costs), probabilities()
            expected = expected_costs(p, costs)
            # Costs that differ by rounding errors only are equal; the first class wins.
            of_class, constant = cost_rounding(costs)
            limit = expected.min(axis=1) + p @ of_class + constant
            return np.argmax(expected <= limit[:, None], axis=1)
        if self.spec.is_ranked:
            assert scores is not None
            day_of = self.spec.day_of
            days = None if day_of is None else read_days(columns[day_of], f"the column {day_of!r}")
            alert = largest(scores, int(self.spec.value), days)
        else:
            assert self.threshold is not None
            alert = self.statistic(scores, probabilities, columns) >= self.threshold
        return np.where(alert, self.positive, 1 - self.positive)

    def statistic(
        self, scores: Array | None, probabilities: Callable[[], Array], columns: Mapping[str, NDArray[Any]]
    ) -> Array:
        """The number of each row that is compared with the threshold."""
        if not self.spec.by_probability:
            assert scores is not None
            return scores
        p = probabilities()[:, self.positive]
        if self.spec.kind != "row_cost":
            return p
        missed, alarm = (read_costs(each, columns) for each in (self.spec.fn, self.spec.fp))
        return cost_share(p, missed, alarm)


def untuned(spec: DecisionSpec, positive: int) -> Decision:
    """The decision of a rule that needs no tuning, whose costs are a matrix."""
    threshold = None
    if spec.kind in ("threshold", "score"):
        threshold = spec.value
    elif spec.kind == "row_cost":
        threshold = 0.5
    elif spec.kind == "cost" and len(spec.costs) == 2:
        threshold = expected_threshold(np.array(spec.costs)[np.ix_(*[[1 - positive, positive]] * 2)])
    return Decision(spec, positive, threshold)


def cost_share(p: Array, missed: Array | float, alarm: Array | float) -> Array:
    """Share of the expected cost of a negative prediction in that of both predictions; 0 if neither costs anything.

    At 0.5 or more a positive prediction is the cheaper one, or as cheap.
    """
    of_negative, of_positive = p * missed, (1.0 - p) * alarm
    total = of_negative + of_positive
    share = np.where(p == cost_threshold(alarm, missed), 0.5, of_negative / np.where(total > 0.0, total, 1.0))
    return np.where(total > 0.0, share, 0.0)


def alert_probability(missed: float, alarm: float, share: float) -> float | None:
    """The smallest probability at which `cost_share` is at least `share`; None if it is at none.

    Examples
    --------
    >>> alert_probability(20.0, 1.0, 0.5), alert_probability(0.0, 1.0, 0.5)
    (0.047619047619047616, None)
    """
    if share <= 0.0:
        return 0.0
    if missed == 0.0 or share > 1.0:
        return None
    return share * alarm / (missed * (1.0 - share) + share * alarm)


def largest(scores: Array, k: int, groups: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Whether each score is among the k largest, or the k largest of its group; of equal scores the first rows are.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 3.0, 2.0, 3.0]), 2).tolist()
    [False, True, True, False, False]
    """
    order = np.argsort(-scores, kind="stable")
    rank = np.arange(len(scores))
    if groups is not None:
        number = np.unique(groups, return_inverse=True)[1]
        order = order[np.argsort(number[order], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(number))[:-1]])
        rank = rank - starts[number[order]]
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[order[rank < k]] = True
    return chosen


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def read_costs(cost: float | str, columns: Mapping[str, NDArray[Any]]) -> Array | float:
    """A constant cost, or the values of the column of this name."""
    if not isinstance(cost, str):
        return cost
    try:
        values = np.asarray(columns[cost], dtype=np.float64)
    except (TypeError, ValueError):
        row, got = next((i, each) for i, each in enumerate(columns[cost]) if not _is_number(each))
        raise ValueError(f"the costs in column {cost!r} must be numbers, got {got!r:.60} in row {row + 1}") from None
    valid = np.isfinite(values) & (values >= 0.0)
    if not valid.all():
        row = int(np.argmin(valid))
        raise ValueError(
            f"the costs in column {cost!r} must be finite and not negative, got {values[row]} in row {row + 1}"
        )
    return values

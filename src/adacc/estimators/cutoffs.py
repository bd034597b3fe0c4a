"""Thresholds by cost, and the reliability of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.model.cost_matrix import error_costs, expected_threshold

COST_TOLERANCE = 1e-12
"""Costs of errors whose relative difference is below this are equal up to rounding."""

N_RELIABILITY_GROUPS = 10
"""Maximum number of groups of rows of similar probability."""


class ThresholdSweep(NamedTuple):
    """The distinct scores, ascending, and the weight of the positive and negative rows at each.

    The errors are those of a threshold below all scores, and of one just above each score.
    """

    levels: Array
    positives: NDArray[Any]
    negatives: NDArray[Any]

    @classmethod
    def of(cls, scores: Array, is_positive: NDArray[np.bool_], weight: Array) -> ThresholdSweep:
        levels, level = np.unique(scores, return_inverse=True)
        return cls(levels, np.bincount(level, weight * is_positive), np.bincount(level, weight * ~is_positive))

    @property
    def false_negatives(self) -> Array:
        return np.concatenate([[0.0], np.cumsum(self.positives)])

    @property
    def false_positives(self) -> Array:
        return np.concatenate([np.cumsum(self.negatives[::-1])[::-1], [0.0]])


@dataclass(frozen=True)
class CostCurve:
    """Mean cost of rows of two classes by threshold, with one threshold per gap between the probabilities.

    Attributes
    ----------
    threshold : ndarray of shape (n_levels + 1,)
        Thresholds, ascending; the second class is predicted from the threshold on. Each is the middle of its gap,
        except in the gap of `expected_threshold`, where it is that threshold. The first is below all probabilities.
    cost : ndarray of shape (n_levels + 1,)
        Mean cost of a row.
    best : float
        Threshold of minimum cost; of equal ones, the nearest to `expected_threshold`.

    Examples
    --------
    >>> import numpy as np
    >>> p, second = np.array([0.2, 0.3, 0.3, 0.9]), np.array([False, True, False, True])
    >>> curve = CostCurve.of(p, second, np.ones(4), np.array([[0.0, 1.0], [4.0, 0.0]]))
    >>> curve.threshold.round(3), curve.cost, round(curve.best, 3)
    (array([0.2 , 0.25, 0.6 , 0.95]), array([0.5 , 0.25, 1.  , 2.  ]), 0.25)
    """

    threshold: Array
    cost: Array
    best: float

    @classmethod
    def of(cls, p: Array, is_second: NDArray[np.bool_], weight: Array, costs: Array) -> CostCurve:
        sweep = ThresholdSweep.of(p, is_second, weight)
        false_positive_cost, false_negative_cost = error_costs(costs)
        base = costs[0, 0] * sweep.negatives.sum() + costs[1, 1] * sweep.positives.sum()
        of_errors = false_positive_cost * sweep.false_positives + false_negative_cost * sweep.false_negatives
        threshold, expected = _thresholds_between(sweep.levels), expected_threshold(costs)
        threshold[np.searchsorted(sweep.levels, expected)] = expected
        # Not relative to the costs of correct predictions, or to those of one class, which may be much larger.
        equal = np.flatnonzero(of_errors <= of_errors.min() * (1.0 + COST_TOLERANCE))
        cost = (base + of_errors) / weight.sum()
        return cls(threshold, cost, float(threshold[equal[np.argmin(np.abs(threshold[equal] - expected))]]))


def _thresholds_between(levels: Array) -> Array:
    """A threshold in each gap between ascending probabilities, and one below and one above all of them."""
    first = levels[0] / 2.0 if levels[0] > 0.0 else np.nextafter(0.0, -1.0)
    # The last threshold must be above all probabilities, even if they are 1.
    lower, upper = levels, np.append(levels[1:], max(1.0, np.nextafter(levels[-1], 2.0)))
    middle = (lower + upper) / 2.0
    # The middle of adjacent floats may be rounded to the lower one, which must be below the threshold.
    return np.concatenate([[first], np.where(middle > lower, middle, upper)])


def brier(probabilities: Array, y: NDArray[Any], weight: Array | None = None) -> float:
    """Brier score: mean squared error of the probability of the second of two classes, or summed over more classes.

    For two classes, the probabilities may be those of the second class alone.
    """
    p = probabilities[:, 1] if probabilities.ndim == 2 and probabilities.shape[1] == 2 else probabilities
    errors = (p - y) ** 2 if p.ndim == 1 else ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)
    return float(np.average(errors, weights=weight))


def reliability(probabilities: Array, y: NDArray[np.intp], weight: Array) -> dict[str, Array]:
    """Predicted and observed frequencies in groups of similar probability and of about equal weight.

    For two classes the probabilities are those of the second class; for more, those of all classes are pooled.
    """
    n_classes = probabilities.shape[1]
    which = range(1, 2) if n_classes == 2 else range(n_classes)
    p = np.concatenate([probabilities[:, k] for k in which])
    observed = np.concatenate([y == k for k in which])
    weight = np.tile(weight, len(which))
    level = np.unique(p, return_inverse=True)[1]
    of_level = np.bincount(level, weight)
    below = (np.cumsum(of_level) - of_level) / weight.sum()
    group = np.minimum((N_RELIABILITY_GROUPS * below + COST_TOLERANCE).astype(np.intp), N_RELIABILITY_GROUPS - 1)[level]
    rows = np.bincount(group, weight).astype(np.float64)
    used = rows > 0.0
    return {
        "predicted": np.bincount(group, weight * p)[used] / rows[used],
        "observed": np.bincount(group, weight * observed)[used] / rows[used],
        "rows": rows[used],
    }

"""Cost-sensitive decisions: cost matrices, decision thresholds and the reliability of probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array

COST_TOLERANCE = 1e-12
"""Costs whose difference, relative to the largest error cost, is below this are equal up to rounding."""

MAX_COST = 1e100
"""Maximum cost; sums of larger costs over weighted rows could overflow."""

RATIO_HINT = "only the ratios of the costs matter, so give an error to avoid many times as large a cost as the others"

N_RELIABILITY_GROUPS = 10
"""Maximum number of groups of rows of similar probability."""


def read_cost_matrix(given: Any, classes: NDArray[Any]) -> Array:
    """Make a matrix from the user's costs, whose element (i, j) is the cost of predicting class j if class i is true.

    Examples
    --------
    >>> import numpy as np
    >>> read_cost_matrix({"fraud": 20, "fine": 1}, np.array(["fine", "fraud"]))
    array([[ 0.,  1.],
           [20.,  0.]])
    """
    labels = classes.tolist()
    if given is None:
        return 1.0 - np.eye(len(labels))
    by_label = isinstance(given, Mapping) or hasattr(given, "keys")
    try:
        costs = _from_mapping(dict(given), labels) if by_label else _from_array(given, labels)
    except OverflowError:
        wanted = f"hold costs of at most {MAX_COST:g}"
        raise ValueError(f"cost_matrix must {wanted}, got one that is too large for a float; {RATIO_HINT}") from None
    _check_costs(costs, labels)
    return costs


def _from_array(given: Any, labels: list[Any]) -> Array:
    try:
        costs = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"cost_matrix must be a dict or an array of numbers, got {given!r:.80}") from None
    if costs.shape != (len(labels), len(labels)):
        wanted = f"a row and a column for each class of {labels}"
        raise ValueError(f"cost_matrix must have {wanted}, got the shape {costs.shape}")
    return costs


def _from_mapping(given: dict[Any, Any], labels: list[Any]) -> Array:
    """Make a matrix from {(true, predicted): cost}, where correct predictions default to 0, or from {label: cost}."""
    for key, value in given.items():
        if not isinstance(value, Real):
            raise TypeError(f"cost_matrix must hold numbers, got {value!r:.60} for {key!r}")
    by_pair = any(isinstance(key, tuple) for key in given)
    correct = [(label, label) for label in labels]
    wrong = [(true, predicted) for true in labels for predicted in labels if true != predicted]
    needed, known = (wrong, correct + wrong) if by_pair else (labels, labels)
    kind = "(true, predicted) pair" if by_pair else "label"
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"cost_matrix has the key {unknown[0]!r}, which is not a {kind} of the classes {labels}")
    missing = [key for key in needed if key not in given]
    if missing:
        raise ValueError(
            f"cost_matrix has no cost for the {kind} {missing[0]!r}; it must have a cost for each of {needed}"
        )
    if by_pair:
        return np.array([[given.get((true, predicted), 0.0) for predicted in labels] for true in labels], dtype=float)
    error_cost = np.array([given[label] for label in labels], dtype=float)
    return np.where(np.eye(len(labels), dtype=bool), 0.0, error_cost[:, None])


def _check_costs(costs: Array, labels: list[Any]) -> None:
    too_large = ~(np.abs(costs) <= MAX_COST)  # also true for NaN
    if too_large.any():
        i, j = np.argwhere(too_large)[0].tolist()
        wanted = f"hold costs of at most {MAX_COST:g}" if np.isfinite(costs[i, j]) else "be finite"
        got = f"{costs[i, j]} for predicting {labels[j]!r} if {labels[i]!r} is true"
        raise ValueError(f"cost_matrix must {wanted}, got {got}; {RATIO_HINT}")
    extra = costs - np.diag(costs)[:, None]
    if (extra < 0.0).any():
        i, j = np.argwhere(extra < 0.0)[0].tolist()
        raise ValueError(
            f"cost_matrix must not reward errors, but predicting {labels[j]!r} if {labels[i]!r} is true costs "
            f"{costs[i, j]}, the correct prediction {costs[i, i]}; rows are true classes, and gains are negative costs"
        )
    if not extra.any():
        raise ValueError(f"cost_matrix must make some error cost more than a correct prediction, got {costs.tolist()}")


def expected_threshold(costs: Array) -> float:
    """Probability of the second class above which predicting it has the lower expected cost [Elkan 2001]."""
    false_positive_cost, false_negative_cost = _error_costs(costs)
    return float(false_positive_cost / (false_positive_cost + false_negative_cost))


def _error_costs(costs: Array) -> tuple[float, float]:
    """Costs of a false positive and a false negative beyond those of the correct predictions."""
    return costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]


def cheapest(probabilities: Array, costs: Array) -> NDArray[np.intp]:
    """Number of the class of minimum expected cost in each row; the first of equal ones."""
    # Subtracting a constant from a row of costs does not change the argmin. Subtracting the maximum turns equal error
    # costs into minus the probabilities, without rounding.
    return np.argmin(probabilities @ (costs - costs.max(axis=1, keepdims=True)), axis=1)


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
        Thresholds, ascending; the second class is predicted above the threshold. Each is the middle of its gap, except
        in the gap of `expected_threshold`, where it is that threshold. The first is below all probabilities.
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
    (array([0.1 , 0.2 , 0.6 , 0.95]), array([0.5 , 0.25, 1.  , 2.  ]), 0.2)
    """

    threshold: Array
    cost: Array
    best: float

    @classmethod
    def of(cls, p: Array, is_second: NDArray[np.bool_], weight: Array, costs: Array) -> CostCurve:
        sweep = ThresholdSweep.of(p, is_second, weight)
        false_positive_cost, false_negative_cost = _error_costs(costs)
        base = costs[0, 0] * sweep.negatives.sum() + costs[1, 1] * sweep.positives.sum()
        total = base + false_positive_cost * sweep.false_positives + false_negative_cost * sweep.false_negatives
        cost = total / weight.sum()
        threshold, expected = _thresholds_between(sweep.levels), expected_threshold(costs)
        threshold[np.searchsorted(sweep.levels, expected, side="right")] = expected
        tolerance = COST_TOLERANCE * max(false_positive_cost, false_negative_cost)
        equal = np.flatnonzero(cost <= cost.min() + tolerance)
        return cls(threshold, cost, float(threshold[equal[np.argmin(np.abs(threshold[equal] - expected))]]))


def _thresholds_between(levels: Array) -> Array:
    """A threshold in each gap between ascending probabilities, and one below and one above all of them."""
    first = levels[0] / 2.0 if levels[0] > 0.0 else np.nextafter(0.0, -1.0)
    lower, upper = levels, np.append(levels[1:], 1.0)
    middle = (lower + upper) / 2.0
    # The middle of adjacent floats may be rounded to the upper one; the threshold is then the lower one.
    middle[:-1] = np.where(middle[:-1] < upper[:-1], middle[:-1], lower[:-1])
    return np.concatenate([[first], middle])


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

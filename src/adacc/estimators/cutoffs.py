"""Decisions by cost: what errors cost, where to cut probabilities, and how far these can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array

SAME = 1e-12
"""Costs that differ by less, where the dearest error costs 1, are equal: the rest is rounding."""

LARGEST_COST = 1e100
"""Sums of larger costs over weighted rows could leave the range of floats."""

RATIOS = "only ratios of costs decide, so make an error to avoid at any price many times as dear as the others"

N_GROUPS = 10
"""Of rows of like probability."""


def read_cost_matrix(given: Any, classes: NDArray[Any]) -> Array:
    """Cost of predicting class j where class i is true, for what a user gave.

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
        wanted = f"hold costs of at most {LARGEST_COST:g}"
        raise ValueError(f"cost_matrix must {wanted}, got one beyond the range of floats; {RATIOS}") from None
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
    """From {(true, predicted): cost}, right answers being free unless they are named, or from {label: cost}."""
    for key, value in given.items():
        if not isinstance(value, Real):
            raise TypeError(f"cost_matrix must hold numbers, got {value!r:.60} for {key!r}")
    by_pair = any(isinstance(key, tuple) for key in given)
    right = [(label, label) for label in labels]
    wrong = [(true, predicted) for true in labels for predicted in labels if true != predicted]
    needed, known = (wrong, right + wrong) if by_pair else (labels, labels)
    kind = "(true, predicted) pair" if by_pair else "label"
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"cost_matrix has {unknown[0]!r}, which is no {kind} of the classes {labels}")
    missing = [key for key in needed if key not in given]
    if missing:
        raise ValueError(f"cost_matrix has no cost for the {kind} {missing[0]!r}; it must name every one of {needed}")
    if by_pair:
        return np.array([[given.get((true, predicted), 0.0) for predicted in labels] for true in labels], dtype=float)
    of_missing = np.array([given[label] for label in labels], dtype=float)
    return np.where(np.eye(len(labels), dtype=bool), 0.0, of_missing[:, None])


def _check_costs(costs: Array, labels: list[Any]) -> None:
    too_large = ~(np.abs(costs) <= LARGEST_COST)  # NaN among them
    if too_large.any():
        i, j = np.argwhere(too_large)[0].tolist()
        wanted = f"hold costs of at most {LARGEST_COST:g}" if np.isfinite(costs[i, j]) else "be finite"
        raise ValueError(
            f"cost_matrix must {wanted}, got {costs[i, j]} for predicting {labels[j]!r} of {labels[i]!r}; {RATIOS}"
        )
    extra = costs - np.diag(costs)[:, None]
    if (extra < 0.0).any():
        i, j = np.argwhere(extra < 0.0)[0].tolist()
        raise ValueError(
            f"cost_matrix must not reward errors, but predicting {labels[j]!r} where {labels[i]!r} is true costs "
            f"{costs[i, j]}, the right answer {costs[i, i]}; rows are true classes, and gains are negative costs"
        )
    if not extra.any():
        raise ValueError(f"cost_matrix must make some error cost more than the right answer, got {costs.tolist()}")


def expected_threshold(costs: Array) -> float:
    """Where the expected costs of two classes meet [Elkan 2001]: above this probability the second is the cheaper."""
    alarm, miss = costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]
    return float(alarm / (alarm + miss))


def cheapest(probabilities: Array, costs: Array) -> NDArray[np.intp]:
    """Number of the class of minimum expected cost in each row; of equal ones the first."""
    # A row of costs less the same number decides alike. So equal costs leave minus the probabilities, without rounding.
    return np.argmin(probabilities @ (costs - costs.max(axis=1, keepdims=True)), axis=1)


@dataclass(frozen=True)
class CostCurve:
    """Mean cost of rows of two classes at every cut-off: one for each gap between the probabilities that occur.

    Attributes
    ----------
    threshold : ndarray of shape (n_levels + 1,)
        Ascending; the second class is predicted above it. In the middle of each gap, but in the gap of the expected
        threshold that one itself. The first is below all probabilities.
    cost : ndarray of shape (n_levels + 1,)
        Mean cost of a row.
    best : float
        The threshold of least cost; of equal ones that nearest to the expected one, which changes decisions least.

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
        levels, level = np.unique(p, return_inverse=True)
        second = np.bincount(level, weight * is_second)
        first = np.bincount(level, weight * ~is_second)
        missed = np.concatenate([[0.0], np.cumsum(second)])
        alarms = np.concatenate([np.cumsum(first[::-1])[::-1], [0.0]])
        alarm, miss = costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]
        free = costs[0, 0] * first.sum() + costs[1, 1] * second.sum()
        cost = (free + alarm * alarms + miss * missed) / weight.sum()
        threshold, expected = _between(levels), expected_threshold(costs)
        threshold[np.searchsorted(levels, expected, side="right")] = expected
        equal = np.flatnonzero(cost <= cost.min() + SAME * max(alarm, miss))
        return cls(threshold, cost, float(threshold[equal[np.argmin(np.abs(threshold[equal] - expected))]]))


def _between(levels: Array) -> Array:
    """A number in each gap between ascending probabilities, below and above them too, never that above the gap."""
    below = levels[0] / 2.0 if levels[0] > 0.0 else np.nextafter(0.0, -1.0)
    under, over = levels, np.append(levels[1:], 1.0)
    middle = (under + over) / 2.0
    # Between neighbouring floats there is nothing: the lower of them is then the cut-off.
    middle[:-1] = np.where(middle[:-1] < over[:-1], middle[:-1], under[:-1])
    return np.concatenate([[below], middle])


def brier(probabilities: Array, y: NDArray[np.intp], weight: Array) -> float:
    """Mean squared error of the probability of the second of two classes; of more, summed over the classes."""
    errors = (probabilities - np.eye(probabilities.shape[1])[y]) ** 2
    by_row = errors[:, 1] if errors.shape[1] == 2 else errors.sum(axis=1)
    return float((weight * by_row).sum() / weight.sum())


def reliability(probabilities: Array, y: NDArray[np.intp], weight: Array) -> dict[str, Array]:
    """Groups of rows of like probability, about as large as each other: what was said, and what came.

    Of two classes the probability of the second; of more those of all classes together, each row counting for each.
    """
    n_classes = probabilities.shape[1]
    which = range(1, 2) if n_classes == 2 else range(n_classes)
    p = np.concatenate([probabilities[:, k] for k in which])
    came = np.concatenate([y == k for k in which])
    weight = np.tile(weight, len(which))
    level = np.unique(p, return_inverse=True)[1]
    of_level = np.bincount(level, weight)
    below = (np.cumsum(of_level) - of_level) / weight.sum()
    group = np.minimum((N_GROUPS * below + SAME).astype(np.intp), N_GROUPS - 1)[level]
    rows = np.bincount(group, weight).astype(np.float64)
    used = rows > 0.0
    return {
        "predicted": np.bincount(group, weight * p)[used] / rows[used],
        "observed": np.bincount(group, weight * came)[used] / rows[used],
        "rows": rows[used],
    }

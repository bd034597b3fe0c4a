"""Cost matrices: reading, and the decision of minimum expected cost."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import ROUNDING, Array

MAX_COST = 1e100
"""Maximum cost; sums of larger costs over weighted rows could overflow."""

PROBABILITY_DECIMALS = 12
"""Decimals to which a decision rule rounds probabilities, so that rounding errors do not decide."""

RATIO_HINT = "only the ratios of the costs matter, so give an error to avoid many times as large a cost as the others"


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
    """Probability of the second class from which on predicting it has no higher expected cost [Elkan 2001]."""
    alarm, missed = error_costs(costs)
    return float(cost_threshold(alarm, missed))


def cost_threshold(alarm: Array | float, missed: Array | float) -> Array:
    """Probability from which on an alert has no higher expected cost than none, by the costs of the errors.

    It is rounded as the probabilities that are compared with it, so that rounding does not decide where both decisions
    cost the same; but not to 0, which every probability reaches.
    """
    total = np.add(missed, alarm)
    exact = np.divide(alarm, total, out=np.ones_like(total), where=total > 0.0)
    nearest = np.round(exact, PROBABILITY_DECIMALS)
    return np.where(nearest > 0.0, nearest, exact)


def error_costs(costs: Array) -> tuple[float, float]:
    """Costs of a false positive and a false negative beyond those of the correct predictions."""
    return costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]


def expected_costs(probabilities: Array, costs: Array) -> Array:
    """Expected cost of predicting each class in each row, up to a constant of the row."""
    # Subtracting a constant from a row of costs does not change the argmin. Subtracting the maximum turns equal error
    # costs into minus the probabilities, without rounding.
    return probabilities @ (costs - costs.max(axis=1, keepdims=True))


def cost_rounding(costs: Array) -> tuple[Array, float]:
    """Rounding error of the expected costs of a row: a factor on the probability of each class, and a constant.

    They are those of the sum and of the rounded probabilities. The terms of the sum are its scale: a class of enormous
    costs that is impossible in a row does not make all other costs equal.
    """
    extra = np.ptp(costs, axis=1)
    return ROUNDING * extra, float(10.0**-PROBABILITY_DECIMALS * extra.sum())

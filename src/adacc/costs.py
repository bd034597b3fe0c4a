"""Validation of misclassification costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def class_costs(costs: Any, classes: NDArray[Any], class_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost of misclassifying a row of each class, the largest being 1.

    Only the ratios of costs matter. They are divided by the largest, as the formulas of the methods assume costs
    between 0 and 1. Costs are a mapping of label to cost, a sequence in the order of `classes`, or ``"balanced"``:
    inversely proportional to `class_weight`, the number of rows of each class or their summed sample weights. A matrix
    (see `cost_matrix`) gives each class the mean cost of its errors, Σ_{j≠i} C[i][j] / (K-1).

    Examples
    --------
    >>> import numpy as np
    >>> class_costs({"fraud": 20, "fine": 1}, np.array(["fine", "fraud"]), np.array([990.0, 10.0]))
    array([0.05, 1.  ])
    """
    if isinstance(costs, str):
        if costs != "balanced":
            raise ValueError(f"costs must be 'balanced', a mapping or a sequence, got {costs!r}")
        values = 1.0 / class_weight
    elif is_cost_matrix(costs):
        values = cost_matrix(costs, classes).sum(axis=1) / (len(classes) - 1)
    elif isinstance(costs, Mapping) or hasattr(costs, "keys"):  # a pandas Series has labels too
        values = _from_mapping(dict(costs), classes)
    elif (isinstance(costs, Sequence) and not isinstance(costs, bytes)) or np.ndim(costs) == 1:
        values = _as_floats(list(costs), costs)
        if values.shape != classes.shape:
            raise ValueError(f"costs must have one value per class {classes.tolist()}, got {values.size}: {costs!r}")
    else:
        raise TypeError(f"costs must be 'balanced', a mapping or a sequence, got {type(costs).__name__}: {costs!r}")
    for label, value in zip(classes.tolist(), values.tolist(), strict=True):
        if not 0.0 <= value < np.inf:
            raise ValueError(f"costs must be finite and not negative, got {value} for class {label!r}")
    if not values.any():
        raise ValueError(f"costs must not be zero for every class, got {costs!r}")
    return values / values.max()


def is_cost_matrix(costs: Any) -> bool:
    """Whether costs are given as a matrix, or as a sequence that contains sequences."""
    if isinstance(costs, np.ndarray):
        return costs.ndim == 2
    if not isinstance(costs, Sequence) or isinstance(costs, str | bytes):
        return False
    return any(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes) for row in costs)


def cost_matrix(costs: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """A valid K×K matrix of costs, whose element (i, j) is the cost of predicting class j for a row of class i.

    Examples
    --------
    >>> import numpy as np
    >>> cost_matrix([[0, 1, 2], [1, 0, 2], [8, 9, 0]], np.array(["a", "b", "c"]))[2]
    array([8., 9., 0.])
    """
    labels = classes.tolist()
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"costs must be a matrix of numbers, got {costs!r:.80}") from None
    if matrix.shape != (len(labels), len(labels)):
        raise ValueError(f"costs must have a row and a column for each class of {labels}, got the shape {matrix.shape}")
    for i, true in enumerate(labels):
        for j, predicted in enumerate(labels):
            value = float(matrix[i, j])
            if i == j and value != 0.0:
                raise ValueError(
                    f"costs must be 0 on the diagonal, for correct predictions, got {value} for class {true!r}"
                )
            if not 0.0 <= value < np.inf:
                raise ValueError(
                    f"costs must be finite and not negative, got {value} for class {true!r} predicted as {predicted!r}"
                )
            if i < j and value == 0.0 == matrix[j, i]:
                raise ValueError(f"costs must not be zero in both directions, but are for {true!r} and {predicted!r}")
    return matrix


def side_cost(
    matrix: NDArray[np.float64], side: NDArray[np.bool_], other: NDArray[np.bool_], class_weight: NDArray[np.float64]
) -> float:
    """Cost of predicting the other side for a row of this side, each side being a set of classes.

    It is the mean of C[i][j] over the classes j of the other side, and over the classes i of this side by their weight:
    C[i][j] itself for a pair of classes.
    """
    of_class = matrix[np.ix_(side, other)].mean(axis=1)
    return float(np.average(of_class, weights=class_weight[side]))


def _from_mapping(costs: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    labels = classes.tolist()
    unknown = [label for label in costs if label not in labels]
    if unknown:
        raise ValueError(f"costs has the label {unknown[0]!r}, which is not among the classes {labels}")
    missing = [label for label in labels if label not in costs]
    if missing:
        raise ValueError(f"costs has no value for class {missing[0]!r}; it must name every class of {labels}")
    return _as_floats([costs[label] for label in labels], costs)


def _as_floats(values: list[Any], costs: Any) -> NDArray[np.float64]:
    if not all(isinstance(value, Real) for value in values):
        raise TypeError(f"costs must be numbers, got {costs!r}")
    return np.array(values, dtype=np.float64)

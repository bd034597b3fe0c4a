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
    inversely proportional to `class_weight`, the number of rows of each class or their summed sample weights.

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

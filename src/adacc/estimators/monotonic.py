"""Validation of monotonic constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.catalog import suggestion
from adacc.boosting.settings import Settings
from adacc.estimators.input_validation import columns_of
from adacc.learners.catalog import LEARNERS
from adacc.learners.splits import MonotonicCst


def constrain(settings: Settings, estimator: Any, categorical: NDArray[np.bool_], n_classes: int) -> Settings:
    """The settings with the `monotonic_cst` of the estimator, whose columns have been recorded."""
    monotonic_cst = read_monotonic_cst(estimator, categorical, n_classes)
    if monotonic_cst is None:
        return settings
    learner = settings.native_learner
    if learner is None or not LEARNERS[learner].monotonic:
        raise ValueError(
            f"monotonic_cst must be None for the weak learner {settings.estimator!r}, which adacc cannot constrain; "
            "constrain the learner itself, such as DecisionTreeClassifier(monotonic_cst=...), or set estimator=None"
        )
    return replace(settings, monotonic_cst=monotonic_cst)


def read_monotonic_cst(estimator: Any, categorical: NDArray[np.bool_], n_classes: int) -> MonotonicCst | None:
    """Validate the `monotonic_cst` of an estimator, whose columns have been recorded; None if it has no constraint."""
    given, (_, names) = estimator.monotonic_cst, columns_of(estimator)
    if given is None:
        return None
    values = _by_name(given, names) if isinstance(given, Mapping) else _by_position(given, len(categorical))
    for j, value in enumerate(values):
        name = j if names is None else names[j]
        if not isinstance(value, int | float | np.number) or value not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst must be -1, 0 or 1 for every feature, got {value!r} for feature {name!r}")
        if value != 0 and categorical[j]:
            raise ValueError(f"monotonic_cst must be 0 for categorical features, got {value!r} for feature {name!r}")
    if not any(values):
        return None
    if n_classes > 2:
        raise ValueError(f"monotonic_cst must be None for more than two classes, got {given!r} for {n_classes} classes")
    return tuple(int(value) for value in values)


def _by_name(given: Mapping[Any, Any], names: tuple[str, ...] | None) -> list[Any]:
    if names is None:
        raise ValueError("monotonic_cst must be an array if the columns of X have no names, got a dict")
    for name in given:
        if name not in names:
            hint = suggestion(str(name), names) or f"the columns are {', '.join(names[:20])}"
            raise ValueError(f"monotonic_cst must name columns of X, got {name!r}: {hint}")
    return [given.get(name, 0) for name in names]


def _by_position(given: Any, n_features: int) -> list[Any]:
    if isinstance(given, str) or np.ndim(given) != 1:
        raise ValueError(
            f"monotonic_cst must be None, an array with -1, 0 or 1 for each of the {n_features} features, or a dict "
            f"{{name: -1, 0 or 1}}, got {given!r}"
        )
    if len(given) != n_features:
        raise ValueError(f"monotonic_cst must have a value for each of the {n_features} features, got {len(given)}")
    return list(given)

"""From scores to the predicted class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import ROUNDING, Array


def class_index(scores: Array, negative_class: int) -> NDArray[np.intp]:
    """Number of the class that the scores predict; for two classes, a score of zero predicts `negative_class`."""
    if scores.ndim == 2:
        return np.argmax(scores, axis=1)
    return np.where(scores == 0.0, negative_class, scores > 0.0)


def snap_ties(scores: Array) -> Array:
    """Make scores equal that differ only by rounding errors, so that rounding does not affect predictions."""
    if scores.shape[1] == 1:
        return np.where(np.abs(scores[:, 0]) <= ROUNDING, 0.0, scores[:, 0])
    largest = scores.max(axis=1, keepdims=True)
    return np.where(scores >= largest - ROUNDING, largest, scores)


def decision_scores(probabilities: Array, multipliers: Array) -> Array:
    """Scores whose sign or argmax is the class of the largest ``multiplier * probability``.

    For two classes: the log-odds of p minus the log-odds of the threshold c₋/(c₊+c₋).
    """
    logs = np.log(np.clip(probabilities, 1e-15, 1.0)) + log_multipliers(multipliers)
    return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs


def log_multipliers(multipliers: Array) -> Array:
    """Logarithms of the multipliers, of which one may be 0."""
    return np.log(np.maximum(multipliers, 1e-300))

"""Predictions of a method for test rows, of two classes or of several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Predictions(NamedTuple):
    """Scores and probabilities of the test rows after some number of rounds.

    A row is predicted positive if its score is above 0. `cost` is the tuned cost of the negative class, relative to a
    cost of 1 for the positive class.
    """

    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    cost: float | None = None
    encoding: str | None = None  # that of the categories, if a baseline has chosen it

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.scores).all())


class ClassPredictions(NamedTuple):
    """Predicted classes and class probabilities of the test rows, for targets of more than two classes."""

    predicted: NDArray[np.intp]  # (n_rows,): number of the class
    probabilities: NDArray[np.float64]  # (n_rows, n_classes)
    encoding: str | None = None  # that of the categories, if a baseline has chosen it

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.probabilities).all())

    @property
    def cost(self) -> None:
        """There is no single tuned cost."""

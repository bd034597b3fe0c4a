"""Predictions of a method for test rows."""

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

"""What a method says of rows it has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Predictions(NamedTuple):
    """Scores of the test rows after some number of rounds.

    A row is predicted to be positive where its score is above 0; the probabilities are what the method takes them for.
    The cost is the one the method was tuned to, of a negative row where a positive one costs 1.
    """

    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    cost: float | None = None

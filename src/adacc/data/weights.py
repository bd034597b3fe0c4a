"""Sample weights as numbers of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adacc.algorithms.base import Array

MOST_ROWS = 1e15


LEAST_WEIGHT = 1e-200
"""Of lighter rows, beside others that count as a row or more, the products and inverses would leave floats' range."""


class WeightScaler(NamedTuple):
    """What must be known of all weights to read them as numbers of rows.

    Attributes
    ----------
    largest : float
        The largest weight.
    whole : float
        The sum of all, the largest being 1.
    n_rows : int
        Those that are not zero.
    """

    largest: float
    whole: float
    n_rows: int

    @classmethod
    def of(cls, weight: Array) -> WeightScaler:
        largest = float(weight.max(initial=0.0))
        return cls(largest, float((weight / (largest or 1.0)).sum()), int(np.count_nonzero(weight)))

    def __or__(self, other: WeightScaler) -> WeightScaler:
        largest = max(self.largest, other.largest)
        whole = sum(each.whole * (each.largest / (largest or 1.0)) for each in (self, other))
        return WeightScaler(largest, whole, self.n_rows + other.n_rows)

    def counts(self, weight: Array) -> Array:
        """Weights as numbers of rows: those that add up to fewer than the rows there are, or to a number out of all
        reason, say only how rows compare, and are brought to an average of 1 or to `MOST_ROWS`. No row that counts
        counts less than `LEAST_WEIGHT`.
        """
        largest, whole, n_rows = self
        counts = weight
        if not n_rows / whole <= largest <= MOST_ROWS / whole:
            counts = weight / largest * (n_rows if largest < n_rows / whole else MOST_ROWS) / whole
        return np.where(weight > 0.0, np.maximum(counts, LEAST_WEIGHT), 0.0)


def as_counts(weight: Array) -> Array:
    """Weights as numbers of rows; see `WeightScaler`."""
    return WeightScaler.of(weight).counts(weight)

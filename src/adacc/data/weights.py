"""Scaling of sample weights to numbers of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adacc.algorithms.base import Array

MAX_TOTAL_WEIGHT = 1e15
"""Upper bound of the sum of scaled weights."""

MIN_WEIGHT = 1e-200
"""Lower bound of positive scaled weights: products and inverses of smaller ones would underflow or overflow."""


class WeightScaler(NamedTuple):
    """Statistics of all weights that are needed to scale them."""

    largest: float  # the largest weight
    whole: float  # sum of the weights divided by the largest
    n_rows: int  # number of positive weights

    @classmethod
    def of(cls, weight: Array) -> WeightScaler:
        largest = float(weight.max(initial=0.0))
        return cls(largest, float((weight / (largest or 1.0)).sum()), int(np.count_nonzero(weight)))

    def __or__(self, other: WeightScaler) -> WeightScaler:
        largest = max(self.largest, other.largest)
        whole = sum(each.whole * (each.largest / (largest or 1.0)) for each in (self, other))
        return WeightScaler(largest, whole, self.n_rows + other.n_rows)

    def counts(self, weight: Array) -> Array:
        """Weights as numbers of rows.

        Weights whose sum is less than the number of rows are scaled to a mean of 1, and weights whose sum exceeds
        `MAX_TOTAL_WEIGHT` are scaled to that sum. Positive weights are at least `MIN_WEIGHT`.
        """
        largest, whole, n_rows = self
        counts = weight
        if not n_rows / whole <= largest <= MAX_TOTAL_WEIGHT / whole:
            counts = weight / largest * (n_rows if largest < n_rows / whole else MAX_TOTAL_WEIGHT) / whole
        return np.where(weight > 0.0, np.maximum(counts, MIN_WEIGHT), 0.0)


def as_counts(weight: Array) -> Array:
    """Weights scaled by `WeightScaler.counts`."""
    return WeightScaler.of(weight).counts(weight)

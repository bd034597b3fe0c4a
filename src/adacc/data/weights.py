"""Scaling of sample weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adacc.algorithms.base import Array

MIN_WEIGHT = 1e-200
"""Lower bound of positive scaled weights: products and inverses of smaller ones would underflow or overflow."""


class WeightScaler(NamedTuple):
    """Statistics of all weights that are needed to scale them."""

    exponent: int  # that of the largest weight
    whole: float  # sum of the weights divided by 2**exponent
    n_rows: int  # number of positive weights

    @classmethod
    def of(cls, weight: Array) -> WeightScaler:
        exponent = int(np.frexp(weight.max(initial=0.0))[1])
        return cls(exponent, float(np.ldexp(weight, -exponent).sum()), int(np.count_nonzero(weight)))

    def __or__(self, other: WeightScaler) -> WeightScaler:
        exponent = max((each.exponent for each in (self, other) if each.n_rows), default=0)
        whole = sum(float(np.ldexp(each.whole, each.exponent - exponent)) for each in (self, other))
        return WeightScaler(exponent, whole, self.n_rows + other.n_rows)

    def scale(self, weight: Array) -> Array:
        """The weights divided by a power of two, so that the mean of the positive ones is between 1 and 2.

        Only the ratios of weights matter, and a power of two leaves them exactly as they are. Positive weights are at
        least `MIN_WEIGHT`.
        """
        exponent = self.exponent + int(np.floor(np.log2(self.whole / self.n_rows))) if self.n_rows else 0
        return np.where(weight > 0.0, np.maximum(np.ldexp(weight, -exponent), MIN_WEIGHT), 0.0)


def scale_weights(weight: Array) -> Array:
    """Weights scaled by `WeightScaler.scale`."""
    return WeightScaler.of(weight).scale(weight)

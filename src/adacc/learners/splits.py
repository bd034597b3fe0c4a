"""The best split of histograms, and what it predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper
from adacc.kernels import dtypes

TIE = 1e-12
"""Splits whose gains (of a total weight of 1) are closer than this are equal, and so are the weights of a leaf."""

CRITERIA = {"gini": kernels.GINI, "entropy": kernels.ENTROPY, "error": kernels.ERROR}

Split = tuple[int, int, int, int, int]
"""A record of `dtypes.STUMP`."""


class Splitter:
    """Looks for the best split of each feature, and takes the best of all.

    ``histogram * scale`` are the weights by class and code; they sum to `total` per class and to 1 in all.
    """

    def __init__(self, bin_mapper: BinMapper, n_classes: int, criterion: str, negative_class: int) -> None:
        self.offsets, self.categorical = bin_mapper.offsets, bin_mapper.categorical
        self.criterion, self.negative_class = CRITERIA[criterion], negative_class
        common = n_classes == 2 and self.criterion == kernels.GINI
        self._best_splits = kernels.best_splits_two if common else kernels.best_splits
        n_codes = np.diff(self.offsets)
        self.gains, self.cuts = np.zeros(len(n_codes)), np.zeros(len(n_codes), dtype=np.int64)
        self._pairs = n_classes, n_classes
        self._leaves, self._classes = np.empty((4, n_classes)), np.empty(4, dtype=np.int64)
        self._lookup = np.empty(int(n_codes.max()), dtype=dtypes.CLASS)
        self._lookup_of = [self._lookup[:n] for n in n_codes.tolist()]

    def find_best(self, histogram: Array, scale: Array, total: Array, first: int, last: int) -> None:
        """Find the best split of each of the features first ... last-1."""
        self._best_splits(
            histogram, scale, total, self.offsets, self.categorical,
            self.criterion, first, last, TIE, self.gains, self.cuts,
        )  # fmt: skip

    def choose(self, histogram: Array, scale: Array) -> tuple[Split, Array]:
        """The best split of those found, and the weight of each (true, predicted) pair."""
        W = np.empty(self._pairs)
        split = kernels.choose_split(
            self.gains, self.cuts, histogram, scale, self.offsets, self.categorical,
            self.negative_class, TIE, self._leaves, self._classes, self._lookup, W,
        )  # fmt: skip
        return split, W

    def lookup(self, feature: int) -> NDArray[np.uint8]:
        """The class that the split chosen last, which is of this feature, predicts for each code."""
        return self._lookup_of[max(feature, 0)]

"""Search for the best split in histograms, and the predictions of the split."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper
from adacc.kernels import dtypes

TIE = 1e-12
"""Gains of splits, and class weights of leaves, that differ by less than this are equal (the total weight is 1)."""

CRITERIA = {"gini": kernels.GINI, "entropy": kernels.ENTROPY, "error": kernels.ERROR}

Split = tuple[int, int, int, int, int]
"""A record of `dtypes.STUMP`."""


class Splitter:
    """Finds the best split of each feature, and chooses the best of all.

    ``histogram * scale`` are the weights by class and bin; they sum to `total` per class and to 1 overall.
    """

    def __init__(self, bin_mapper: BinMapper, n_classes: int, criterion: str, negative_class: int) -> None:
        self.offsets, self.categorical = bin_mapper.offsets, bin_mapper.categorical
        self.criterion, self.negative_class = CRITERIA[criterion], negative_class
        specialized = n_classes == 2 and self.criterion == kernels.GINI
        self._best_splits = kernels.best_splits_two if specialized else kernels.best_splits
        n_bins = np.diff(self.offsets)
        self.gains, self.cuts = np.zeros(len(n_bins)), np.zeros(len(n_bins), dtype=np.int64)
        self._n_classes = n_classes
        self._leaves, self._classes = np.empty((4, n_classes)), np.empty(4, dtype=np.int64)
        self._lookup = np.empty(int(n_bins.max()), dtype=dtypes.CLASS)
        # A workspace for each thread, which searches the features from `first` on.
        self._rooms: dict[int, Array] = defaultdict(lambda: np.empty((4, len(self._lookup))))
        self._lookup_by_feature = [self._lookup[:n] for n in n_bins.tolist()]

    def find_best(self, histogram: Array, scale: Array, total: Array, first: int, last: int) -> None:
        """Find the best split of each feature from `first` to `last - 1`."""
        self._best_splits(
            histogram, scale, total, self.offsets, self.categorical,
            self.criterion, first, last, TIE, self._rooms[first], self.gains, self.cuts,
        )  # fmt: skip

    def choose(self, histogram: Array, scale: Array) -> tuple[Split, Array]:
        """Choose the best split of all features; returns it and the weight of each (true, predicted) pair."""
        W = np.empty((self._n_classes, self._n_classes))
        split = kernels.choose_split(
            self.gains, self.cuts, histogram, scale, self.offsets, self.categorical,
            self.negative_class, TIE, self._leaves, self._classes, self._lookup, W,
        )  # fmt: skip
        return split, W

    def lookup(self, feature: int) -> NDArray[np.uint8]:
        """Class that the split chosen last, which must be on this feature, predicts for each bin."""
        return self._lookup_by_feature[max(feature, 0)]

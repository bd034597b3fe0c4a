"""Search for the best split in histograms, and the predictions of the split."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

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

MonotonicCst = tuple[int, ...]
"""Monotonic constraint of each feature: 1 if the score of the second of two classes must not fall as the feature rises,
-1 if it must not rise, else 0.
"""


class Splitter:
    """Finds the best split of each feature, and chooses the best of all.

    ``histogram * scale`` are the weights by class and bin; they sum to `total` per class and to 1 overall.
    """

    def __init__(
        self,
        bin_mapper: BinMapper,
        n_classes: int,
        criterion: str,
        negative_class: int,
        monotonic_cst: MonotonicCst | None = None,
    ) -> None:
        self.offsets, self.categorical = bin_mapper.offsets, bin_mapper.categorical
        self.criterion, self.negative_class = CRITERIA[criterion], negative_class
        specialized = n_classes == 2 and self.criterion == kernels.GINI
        self._best_splits = kernels.best_splits_two if specialized else kernels.best_splits
        self._monotonic_cst = monotonic_cst
        if monotonic_cst is not None:
            self._best_splits = partial(kernels.best_monotone_splits, np.array(monotonic_cst, dtype=np.int64))
        n_bins = np.diff(self.offsets)
        self.gains, self.cuts = np.zeros(len(n_bins)), np.zeros(len(n_bins), dtype=np.int64)
        self._n_classes = n_classes
        self._leaves, self._classes = np.empty((4, n_classes)), np.empty(4, dtype=np.int64)
        self._lookup = np.empty(int(n_bins.max()), dtype=dtypes.CLASS)
        # A workspace for each thread, which searches the features from `first` on.
        self._workspaces: dict[int, Array] = defaultdict(lambda: np.empty((4, len(self._lookup))))
        self._lookup_by_feature = [self._lookup[:n] for n in n_bins.tolist()]

    def find_best(self, histogram: Array, scale: Array, total: Array, first: int, last: int) -> None:
        """Find the best split of each feature from `first` to `last - 1`."""
        self._best_splits(
            histogram, scale, total, self.offsets, self.categorical,
            self.criterion, first, last, TIE, self._workspaces[first], self.gains, self.cuts,
        )  # fmt: skip

    def choose(self, histogram: Array, scale: Array) -> tuple[Split, Array]:
        """Choose the best split of all features; returns it and the weight of each (true, predicted) pair."""
        W = np.empty((self._n_classes, self._n_classes))
        split = kernels.choose_split(
            self.gains, self.cuts, histogram, scale, self.offsets, self.categorical,
            self.negative_class, TIE, self._leaves, self._classes, self._lookup, W,
        )  # fmt: skip
        return (split, W) if self._monotonic_cst is None else (self._keep_order(split, W), W)

    def _keep_order(self, split: Split, W: Array) -> Split:
        """The split chosen last, with classes that keep the constraint of its feature; updates `W` and the lookup.

        The search compares shares of classes. Classes can still be in the wrong order if a leaf has no rows, or if
        classes are tied.
        """
        feature, cut, left, right, missing = split
        sign = self._monotonic_cst[feature] if self._monotonic_cst is not None and feature >= 0 else 0
        if sign * (right - left) >= 0:
            return split
        has_rows = self._leaves[:2].sum(axis=1) > 0.0
        if has_rows.all():
            left = right = int(self._classes[3])
        else:
            left = right = left if has_rows[0] else right
        lookup = self.lookup(feature)
        lookup[:-1] = left
        W[:] = 0.0
        for leaf, predicted in enumerate((left, right, missing)):
            W[:, predicted] += self._leaves[leaf]
        return feature, cut, left, right, missing

    def lookup(self, feature: int) -> NDArray[np.uint8]:
        """Class that the split chosen last, which must be on this feature, predicts for each bin."""
        return self._lookup_by_feature[max(feature, 0)]

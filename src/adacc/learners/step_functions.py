"""Stump ensembles compiled to one step function per feature, for prediction and explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins, Feature, NumericBins
from adacc.data.columns import Table


@dataclass(frozen=True)
class Steps:
    """The sum of all stumps: a constant plus one step function per feature that a stump splits on.

    Attributes
    ----------
    constant : ndarray of shape (n_outputs,)
        Contribution of the stumps without a split.
    features : ndarray of shape (n_used,)
        Indices of the numeric features, ascending.
    starts : ndarray of shape (n_used + 1,)
        The thresholds of the i-th feature are ``thresholds[starts[i]:starts[i + 1]]``.
    thresholds : ndarray
        Thresholds of the stumps, ascending within a feature.
    values : ndarray of shape (n_thresholds + 2 * n_used, n_outputs)
        For each feature, the values up to the first threshold, between the thresholds, after the last, and for missing.
    categories : tuple of (feature, CategoryBins, ndarray of shape (n_bins, n_outputs))
        The categorical features, with the value of each bin.
    """

    constant: Array
    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    thresholds: Array
    values: Array
    categories: tuple[tuple[int, CategoryBins, Array], ...]

    def scores(self, table: Table) -> Array:
        """Sum for every row, shape (n_rows, n_outputs)."""
        scores = np.tile(self.constant, (table.n_rows, 1))
        block, bins = np.empty(kernels.BLOCK), np.empty(kernels.BLOCK, dtype=np.uint64)
        for rows, X, columns in table.matrices(self.features):
            kernels.add_steps(X, columns, self.starts, *self._padded, self.values, block, bins, scores[rows])
        for feature, categories, values in self.categories:
            scores += values[categories.encode(table, feature)]
        return scores

    @cached_property
    def _padded(self) -> tuple[Array, NDArray[np.int64]]:
        """The padded thresholds of all features, and where those of each feature start."""
        padded = [kernels.pad(self.thresholds[a:b]) for a, b in pairwise(self.starts)]
        return np.concatenate([np.empty(0), *padded]), np.cumsum([0, *map(len, padded)])

    def curves(self) -> Iterator[tuple[int, Feature, Array]]:
        """Index, bins and value of each bin for each used feature, with a bin edge at each step only."""
        for u, feature in enumerate(self.features.tolist()):
            first, last = self.starts[u : u + 2].tolist()
            values = self.values[first + 2 * u : last + 2 * u + 2]
            yield feature, NumericBins(self.thresholds[first:last]), values
        yield from self.categories


def compile_stumps(bin_mapper: BinMapper, by_bin: Iterator[tuple[int, Array]], constant: Array) -> Steps:
    """Make step functions from the summed contribution of each bin of each used feature, features ascending."""
    features, thresholds, values, starts = [], [np.empty(0)], [np.empty((0, len(constant)))], [0]
    categories = []
    for f, sums in by_bin:
        feature = bin_mapper.features[f]
        if isinstance(feature, NumericBins):
            present = sums[:-1]
            steps = np.flatnonzero((present[1:] != present[:-1]).any(axis=1))
            features.append(f)
            thresholds.append(feature.thresholds[steps])
            values += [present[steps], present[-1:], sums[-1:]]
            starts.append(starts[-1] + len(steps))
        else:
            categories.append((f, feature, sums))
    return Steps(
        constant,
        np.array(features, dtype=np.int64),
        np.array(starts, dtype=np.int64),
        np.concatenate(thresholds),
        np.concatenate(values),
        tuple(categories),
    )

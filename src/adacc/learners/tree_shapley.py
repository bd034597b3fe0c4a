"""Exact Shapley values of a sum of trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper
from adacc.data.columns import Table
from adacc.data.threads import Threads

BLOCK, PAIRS_BLOCK = 1024, 128
"""Number of rows that are explained together, by single features and by pairs."""

MAX_PAIRED_FEATURES = 64
"""Maximum number of features for interactions, which have a value for each pair of features and each row."""

NO_COVERS = (
    "explanations without a background need the number of training rows of each node, which model files of earlier "
    "versions do not contain: pass background=, such as some training rows, or fit the model again"
)


class TreeArrays(NamedTuple):
    """The arrays of all trees."""

    offsets: NDArray[np.int64]  # where the bins of each feature begin
    categorical: NDArray[np.bool_]
    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    cuts: NDArray[np.uint32]
    children: NDArray[np.int32]
    leaf_codes: NDArray[np.uint8]


class Attribution(NamedTuple):
    """Shapley values, with one column per output, and the expected score."""

    values: Array  # (n_rows, n_features, n_outputs), or (n_rows, n_features, n_features, n_outputs) for pairs
    expected: Array  # (n_outputs,)


@dataclass(frozen=True)
class TreeShapley:
    """Shapley values of a sum of trees; `contributions` are those of each round, by leaf code and output.

    Without a background, the value of a set of known features is the expected score of a row that goes down the
    branches of unknown features in proportion to their training rows [Lundberg et al. 2020, tree_path_dependent]. With
    background rows it is the mean score of these rows with the known features replaced (interventional).
    """

    nodes: NDArray[np.void]
    leaf_codes: NDArray[np.uint8]  # index of each node in the contributions of its round
    starts: NDArray[np.int64]
    bin_mapper: BinMapper
    contributions: Array

    def values(self, table: Table, background: Table | None) -> Attribution:
        """Shapley values of all features for every row. `expected` is meaningful without a background only."""
        bins, reference = self.bins(table), None if background is None else self.bins(background)
        n_features, n_outputs = len(bins), self.contributions.shape[2]
        values, expected = np.empty((bins.shape[1], n_features, n_outputs)), np.zeros(n_outputs)
        work = self.workspace(min(BLOCK, bins.shape[1]), self._max_path, _n_rows(reference))
        for rows, block, arguments in self._blocks(bins, reference, BLOCK):
            phi, expected = np.zeros((n_outputs, n_features, block.shape[1])), np.zeros(n_outputs)
            kernels.add_shapley_values(*arguments, work, phi, expected)
            values[rows] = phi.transpose(2, 1, 0)
        return Attribution(values, expected)

    def interactions(self, table: Table, background: Table | None) -> Array:
        """Shapley interaction values of all pairs of features for every row; those of a feature with itself are 0."""
        bins, reference = self.bins(table), None if background is None else self.bins(background)
        n_features, n_outputs = len(bins), self.contributions.shape[2]
        values = np.empty((bins.shape[1], n_features, n_features, n_outputs))
        n_pairs = self._max_path * (self._max_path - 1) // 2
        work = self.workspace(min(PAIRS_BLOCK, bins.shape[1]), n_pairs, _n_rows(reference))
        for rows, block, arguments in self._blocks(bins, reference, PAIRS_BLOCK):
            phi = np.zeros((n_outputs, n_features, n_features, block.shape[1]))
            kernels.add_interactions(*arguments, work, phi)
            values[rows] = (phi + phi.transpose(0, 2, 1, 3)).transpose(3, 1, 2, 0)
        return values

    @cached_property
    def has_covers(self) -> bool:
        """Whether the number of training rows of all nodes is known."""
        return not np.isnan(self.nodes["cover"]).any()

    def bins(self, table: Table) -> NDArray[np.unsignedinteger]:
        return np.ascontiguousarray(self.bin_mapper.bins(table, table.every_row, Threads(1)))

    def _blocks(self, bins: NDArray[Any], background: NDArray[Any] | None, size: int) -> Any:
        """The rows, the bins and the arguments of the kernels for each block of rows."""
        if background is None and not self.has_covers:
            raise ValueError(NO_COVERS)
        last = np.diff(self.bin_mapper.offsets)[:, None] - 1
        has_missing = (bins == last).any(axis=1)
        if background is not None:
            has_missing |= (background == last).any(axis=1)
        constants = self.arrays, self.contributions, has_missing, _quadrature(self._max_path), _weights(self._max_path)
        for begin in range(0, bins.shape[1], size):
            rows = slice(begin, begin + size)
            block = np.ascontiguousarray(bins[:, rows])
            yield rows, block, (block, background, *constants)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The trees as the kernels read them: `TreeArrays`, and the share of each node in the rows of its parent."""
        return *self._arrays, self._shares

    @cached_property
    def _arrays(self) -> TreeArrays:
        feature, cut, children = (np.ascontiguousarray(self.nodes[name]) for name in ("feature", "cut", "children"))
        return TreeArrays(
            self.bin_mapper.offsets, self.bin_mapper.categorical, self.starts, feature, cut, children, self.leaf_codes
        )  # fmt: skip

    @cached_property
    def _splits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes that split, and their children, both as indices of `nodes`; -1 for no child."""
        split = np.flatnonzero(self._arrays.features >= 0)
        children = self._arrays.children[split].astype(np.int64)
        first = np.repeat(self.starts[:-1], np.diff(self.starts))[split]
        children += first[:, None] * (children >= 0)
        return split, children

    @cached_property
    def _shares(self) -> Array:
        """Share of each node in the training rows of its parent."""
        _, children = self._splits
        exists = children >= 0
        covers = np.ascontiguousarray(self.nodes["cover"])[children] * exists
        total = covers.sum(axis=1)
        without_weight = np.flatnonzero(total <= 0.0)
        covers[without_weight] = exists[without_weight]  # equal shares
        total[without_weight] = exists[without_weight].sum(axis=1)
        shares = np.ones(len(self.nodes))
        shares[children[exists]] = (covers / np.maximum(total, 1e-300)[:, None])[exists]
        return shares

    @cached_property
    def _depth(self) -> int:
        """The depth of the deepest tree."""
        split, children = self._splits
        row_of = np.full(len(self.nodes), -1)
        row_of[split] = np.arange(len(split))
        depth, level = 0, row_of[self.starts[:-1]]
        level = level[level >= 0]
        while len(level):
            below = children[level]
            level = row_of[below[below >= 0]]
            level = level[level >= 0]
            if len(level) > len(split):  # a file may contain nodes with several parents
                level = np.unique(level)
            depth += 1
        return depth

    @property
    def _max_path(self) -> int:
        """A bound of the number of features of a path."""
        return max(min(self._depth, len(self.bin_mapper.features)), 1)

    def workspace(self, n_rows: int, n_columns: int, n_others: int) -> Any:
        """Arrays by node of a tree, by end, by feature of a path, by row and by background row, and of the results."""
        n_nodes, n_path = int(np.diff(self.starts).max(initial=1)), self._max_path
        nodes = *np.empty((2, n_nodes), dtype=np.int64), np.empty(n_nodes), np.empty(n_nodes, dtype=np.uint8)
        ends = *np.empty((2, 3 * n_nodes), dtype=np.int64), np.empty(3 * n_nodes)
        path = *np.empty((3, n_path), dtype=np.int64), np.empty(n_path), *np.empty((2, self._depth), dtype=np.int64)
        by_row, by_other = _rows_workspace(n_path, n_rows), _rows_workspace(n_path, n_others) if n_others else None
        return nodes, ends, path, by_row, by_other, tuple(np.empty((2, n_path))), np.empty((n_columns, n_rows))


def _n_rows(bins: NDArray[Any] | None) -> int:
    return 0 if bins is None else bins.shape[1]


def _rows_workspace(n_path: int, n_rows: int) -> tuple[NDArray[Any], ...]:
    """The `rows` of `kernels.shapley`: conditions, patterns, examples and numbers of the patterns, and codes."""
    patterns = np.full(2**kernels.MAX_PATTERN_FEATURES, -1, dtype=np.int32)
    return (
        np.empty((n_path, n_rows), dtype=np.uint8), np.empty(n_rows, dtype=np.uint32), np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows), np.empty(n_rows, dtype=np.uint16), patterns,
    )  # fmt: skip


def _quadrature(n_path: int) -> tuple[Array, Array]:
    """Positions and weights of Gauss-Legendre quadratures from 0 to 1: row n has n of them."""
    largest = (n_path + 1) // 2
    positions, masses = np.zeros((largest + 1, largest)), np.zeros((largest + 1, largest))
    for n in range(1, largest + 1):
        x, weight = np.polynomial.legendre.leggauss(n)
        positions[n, :n], masses[n, :n] = (x + 1.0) / 2.0, weight / 2.0
    return positions, masses


def _weights(n_path: int) -> Array:
    """``(a-1)! c! / (a+c)!`` for a (row, from 1 on) and c (column) up to the number of features of a path."""
    a, weights = np.arange(1.0, n_path + 1.0), np.zeros((n_path + 1, n_path + 1))
    weights[1:, 0] = 1.0 / a
    for c in range(1, n_path + 1):
        weights[1:, c] = weights[1:, c - 1] * c / (a + c)
    return weights

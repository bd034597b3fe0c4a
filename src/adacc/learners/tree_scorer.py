"""Fast scores of a sum of trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper
from adacc.data.columns import Table
from adacc.data.threads import Threads

MAX_16_BITS = 2**16 - 1
"""Columns and bins of packed nodes have 16 bits each."""

MAX_TESTS = 8
"""Maximum number of tests of a tree that has a table of its leaves, which is two to the power of that many long."""


class _PackedTrees(NamedTuple):
    """Trees whose nodes have 64 bits each.

    A node is one integer: the index of its left child (32 bits), a cut (16 bits) and a column (16 bits). After the left
    child come the right one, for rows whose value of the column exceeds the cut, and that of missing values, unless the
    feature is categorical. A leaf is its own left child, with the largest cut and a column without missing values: all
    rows stay in it, so that every row takes as many steps as its tree is deep.

    A tree with at most `MAX_TESTS` different tests, such as a symmetric tree, also has a table of its leaves: entry p
    is that of the rows that go right at test j if bit j of p is set. Its rows need no steps, unless values are missing.
    """

    features: NDArray[np.int64]  # (n_columns,): feature of each column but the first, whose value is 0 for all rows
    categories: NDArray[np.int64]  # (n_columns,): bin whose rows have the value 0 and all others 1; -1: the bin itself
    missing: NDArray[np.int64]  # (n_columns,): bin of missing values; -1 if the feature is categorical
    nodes: NDArray[np.uint64]
    roots: NDArray[np.int64]
    depths: NDArray[np.int64]
    values: Array  # (n_outputs, n_nodes): contribution of each leaf
    tests: NDArray[np.int64]  # (n_trees + 1,): where the tests of each tree begin
    conditions: NDArray[np.int64]  # (n_tests, 2): column and cut of each test
    tables: NDArray[np.int64]  # (n_trees,): where the table of each tree begins
    table_values: Array  # (n_outputs, n_entries): contribution of each pattern of results


@dataclass(frozen=True)
class TreeScorer:
    """Sum of trees: `values` is the contribution of each node to each output, if rows end in it.

    Without tables (`has_tables`), fewer than some thousand rows are scored faster, as none are made.
    """

    nodes: NDArray[np.void]
    starts: NDArray[np.int64]
    bin_mapper: BinMapper
    values: Array
    has_tables: bool = True

    def scores(self, table: Table) -> Array:
        return self.scores_of_bins(self.bin_mapper.bins(table, table.every_row, Threads(1)))

    def scores_of_bins(self, bins: NDArray[np.unsignedinteger]) -> Array:
        """Scores of binned rows."""
        n_rows, n_outputs = bins.shape[1], self.values.shape[1]
        if self._packed is None:
            scores = np.zeros((n_rows, n_outputs))
            columns = [np.ascontiguousarray(self.nodes[name]) for name in ("feature", "cut", "children")]
            offsets, categorical = self.bin_mapper.offsets, self.bin_mapper.categorical
            kernels.add_leaves(bins, offsets, categorical, self.starts, *columns, self.values, scores)
            return scores
        has_missing = np.zeros(n_rows, dtype=bool)
        scores = self._packed_scores(bins, None, has_missing)
        if has_missing.any():
            others = bins.compress(has_missing, axis=1)
            scores[has_missing] = self._packed_scores(
                others, ~bins.dtype.type(0), np.zeros(others.shape[1], dtype=bool)
            )
        return scores

    def _packed_scores(
        self,
        bins: NDArray[np.unsignedinteger],
        nan_code: np.unsignedinteger | None,
        has_missing: NDArray[np.bool_],
    ) -> Array:
        n_rows, n_outputs, packed = bins.shape[1], self.values.shape[1], self._packed
        assert packed is not None
        block = np.zeros((len(packed.features), kernels.PACKED_BLOCK), dtype=bins.dtype)
        patterns = np.empty(kernels.PACKED_BLOCK, dtype=np.uint8)
        scores = np.zeros((n_outputs, -(-n_rows // kernels.PACKED_BLOCK) * kernels.PACKED_BLOCK))
        kernels.add_packed_leaves(bins, *packed, nan_code, block, patterns, has_missing, scores)
        return np.ascontiguousarray(scores[:, :n_rows].T)

    @cached_property
    def _packed(self) -> _PackedTrees | None:
        """The packed trees; None if there are none, or if a column or bin has more than 16 bits."""
        nodes, n_trees = self.nodes, len(self.starts) - 1
        is_split = nodes["feature"] >= 0
        categorical = self.bin_mapper.categorical[nodes["feature"]] & is_split
        # A column for each numeric feature and each category that a node tests, by one number for both.
        n_bins = np.diff(self.bin_mapper.offsets)
        n_keys = self.bin_mapper.max_bins + 1
        key = nodes["feature"].astype(np.int64) * n_keys + np.where(categorical, nodes["cut"].astype(np.int64) + 1, 0)
        tested, column_of = np.unique(key[is_split], return_inverse=True)
        if not n_trees or len(tested) >= MAX_16_BITS or self.bin_mapper.max_bins > MAX_16_BITS:
            return None
        features, categories = np.append(0, tested // n_keys), np.append(-1, tested % n_keys - 1)
        column, cut = np.zeros(len(nodes), dtype=np.uint64), np.full(len(nodes), MAX_16_BITS, dtype=np.uint64)
        column[is_split] = column_of + 1
        cut[is_split] = np.where(categorical, 0, nodes["cut"])[is_split]
        # Number the nodes level by level: the children of a node are neighbours. A branch without a child ends in a
        # leaf with the value of the node.
        n_branches = np.where(is_split, np.where(categorical, 2, 3), 0)
        level, trees, is_leaf = self.starts[:-1], np.arange(n_trees), np.zeros(n_trees, dtype=bool)
        levels, n_placed = [], 0
        while len(level):
            n_children = np.where(is_leaf, 0, n_branches[level])
            first = np.cumsum(n_children) - n_children  # of the children of each node, in the next level
            own = n_placed + np.arange(len(level))
            n_placed += len(level)
            levels.append((level, trees, n_children > 0, np.where(n_children, n_placed + first, own)))
            parents, trees = np.repeat(level, n_children), np.repeat(trees, n_children)
            branch = np.arange(len(parents)) - np.repeat(first, n_children)
            children = nodes["children"][parents, branch]
            is_leaf = children < 0
            level = np.where(is_leaf, parents, children + self.starts[trees])
        depths = np.zeros(n_trees, dtype=np.int64)
        for depth, (_, of_level, _, _) in enumerate(levels):
            depths[of_level] = depth
        source, tree, splits, left = (np.concatenate(parts) for parts in zip(*levels, strict=True))
        order = np.argsort(tree, kind="stable")  # the nodes of a tree are together, in the order of their levels
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        packed = (place[left].astype(np.uint64) << np.uint64(32)) | (
            np.where(splits, cut[source], np.uint64(MAX_16_BITS)) << np.uint64(16)
        )
        packed |= np.where(splits, column[source], np.uint64(0))
        missing = np.where(categories < 0, n_bins[features] - 1, -1)
        return _PackedTrees(
            features, categories, missing, packed[order], place[:n_trees], depths,
            np.ascontiguousarray(self.values[source[order]].T), *self._tables(is_split, column, cut),
        )  # fmt: skip

    def _tables(
        self, is_split: NDArray[np.bool_], column: NDArray[np.uint64], cut: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
        """The tests and tables of the trees with few tests."""
        n_trees, children = len(self.starts) - 1, self.nodes["children"][:, :2]
        if not self.has_tables:
            none = np.zeros(n_trees + 1, dtype=np.int64)
            return none, np.empty((0, 2), dtype=np.int64), none[1:], np.empty((self.values.shape[1], 0))
        tree_of_node = np.repeat(np.arange(n_trees), np.diff(self.starts))
        key = (tree_of_node.astype(np.uint64) << np.uint64(32)) | (column << np.uint64(16)) | cut
        tests, test_of_split = np.unique(key[is_split], return_inverse=True)
        tree_of_test = (tests >> np.uint64(32)).astype(np.int64)
        n_tests = np.bincount(tree_of_test, minlength=n_trees)
        bit = np.zeros(len(self.nodes), dtype=np.int64)  # that a node tests
        bit[is_split] = test_of_split - (np.cumsum(n_tests) - n_tests)[tree_of_node[is_split]]
        n_tests[n_tests > MAX_TESTS] = 0
        kept = tests[n_tests[tree_of_test] > 0]
        conditions = np.stack([kept >> np.uint64(16), kept], axis=1).astype(np.int64) & MAX_16_BITS
        sizes = np.where(n_tests > 0, 2**n_tests, 0)
        starts = np.cumsum(sizes) - sizes
        pattern, root = np.arange(sizes.sum()) - np.repeat(starts, sizes), np.repeat(self.starts[:-1], sizes)
        node = root
        for _ in range(MAX_TESTS):
            child = children[node, pattern >> bit[node] & 1]
            node = np.where(is_split[node] & (child >= 0), root + child, node)
        return np.cumsum([0, *n_tests]), conditions, starts, np.ascontiguousarray(self.values[node].T)

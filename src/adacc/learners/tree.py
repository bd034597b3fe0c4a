"""The native tree learner: trees of any depth on binned data, with the same splits as the stump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, log2
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Sample
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.base import (
    IDENTITY,
    ArrayFields,
    LearnerInput,
    check_class_numbers,
    check_cuts,
    used_features,
    weigh_pairs,
)
from adacc.learners.growth import Growth
from adacc.learners.splits import CRITERIA, TIE, MonotonicCst
from adacc.learners.tree_scorer import TreeScorer
from adacc.learners.tree_shapley import TreeShapley

NO_LIMIT = int(np.iinfo(dtypes.ROW).max)
"""Stands for no limit of the depth or of the number of leaves: neither can exceed the number of rows."""

MAX_PACKED_ROWS = 2**24
"""Maximum number of rows that packed numbers count: 37 bits are left for the weights."""

MAX_PACKED_BITS = 61
"""Bits of a packed number: one less than those of a positive integer, as rounded weights may sum to a little over 1."""


class Tree(NamedTuple):
    """One tree as arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of int
        Feature that the node splits on; -1 for a leaf.
    threshold : ndarray of float
        Values up to the threshold go left; NaN for leaves and categorical splits.
    category : list
        Category that goes left; None for leaves and numeric splits.
    left, right, missing : ndarray of int
        Children; -1 if no training row reached the branch, where the node itself predicts.
    prediction : ndarray
        Label that the node predicts for rows that end in it.
    gain : ndarray of float
        Decrease of the criterion by the split, times the weight of the node.
    cover : ndarray of float
        Summed sample weight of the rows of the node, among those that the tree was grown on: the rows of a subsample or
        bag, and synthetic rows. Weights that sum to less than the number of rows are scaled to a mean of 1. NaN if it
        is unknown, as in model files of earlier versions.
    confidence : ndarray of float
        Share of the vote of the tree for the predicted label, from 0.5 to 1; the other of two labels gets the rest. It
        is 1 for all nodes of a classification tree.
    """

    feature: NDArray[np.int32]
    threshold: Array
    category: list[Any]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing: NDArray[np.int32]
    prediction: NDArray[Any]
    gain: Array
    cover: Array
    confidence: Array


@dataclass(frozen=True)
class Trees:
    """Fitted trees: the nodes as a record array, the start of each tree, and the bin mapper that defines the cuts."""

    learner: ClassVar = "tree"

    nodes: NDArray[np.void]
    starts: NDArray[np.int64]
    bin_mapper: BinMapper

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rounds: slice) -> Trees:
        first, last, _ = rounds.indices(len(self))
        begin, end = self.starts[first], self.starts[last]
        return Trees(self.nodes[begin:end], self.starts[first : last + 1] - begin, self.bin_mapper)

    def followed_by(self, *later: Trees) -> Trees:
        nodes, sizes = zip(*((each.nodes, np.diff(each.starts)) for each in (self, *later)), strict=True)
        return Trees(np.concatenate(nodes), np.cumsum([0, *np.concatenate(sizes)]), self.bin_mapper)

    @property
    def used(self) -> NDArray[np.int32]:
        """Indices of the features that nodes split on."""
        return used_features(self.nodes)

    @property
    def has_covers(self) -> bool:
        """Whether the number of training rows of all nodes is known."""
        return not np.isnan(self.nodes["cover"]).any()

    def tree(self, t: int) -> NDArray[np.void]:
        """The nodes of one tree."""
        return self.nodes[self.starts[t] : self.starts[t + 1]]

    def leaves(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        bins = self.bin_mapper.bins(table, order, Threads(1))
        codes = self.leaf_codes
        for t, (first, last) in enumerate(pairwise(self.starts)):
            yield codes[first:last][find_leaves(self.tree(t), bins, self.bin_mapper)], IDENTITY

    @cached_property
    def _divides_votes(self) -> NDArray[np.bool_]:
        """Whether a node of each tree has a confidence below 1."""
        return np.logical_or.reduceat(self.nodes["confidence"] < 1.0, self.starts[:-1])

    @cached_property
    def leaf_codes(self) -> NDArray[np.uint8]:
        """Index of each node in `leaf_values`: its class, or its number if its tree divides votes."""
        codes: NDArray[np.uint8] = np.ascontiguousarray(self.nodes["class"])
        if len(self) and self._divides_votes.any():
            sizes = np.diff(self.starts)
            numbers = np.arange(len(codes)) - np.repeat(self.starts[:-1], sizes)
            codes = np.where(np.repeat(self._divides_votes, sizes), numbers, codes).astype(dtypes.CLASS)
        return codes

    def leaf_values(self, contributions: Array) -> Array:
        if not len(self) or not self._divides_votes.any():
            return contributions
        rounds = np.repeat(np.arange(len(self)), np.diff(self.starts))
        divided = np.flatnonzero(self._divides_votes[rounds])
        t, code, node_class = rounds[divided], self.leaf_codes[divided], self.nodes["class"][divided]
        values = np.zeros((len(self), max(2, int(code.max()) + 1), contributions.shape[2]))
        values[:, :2] = contributions
        share = self.nodes["confidence"][divided, None]
        values[t, code] = share * contributions[t, node_class] + (1.0 - share) * contributions[t, 1 - node_class]
        return values

    def compile(self, contributions: Array) -> TreeScorer:
        used = np.flatnonzero(contributions.any(axis=(1, 2)))  # in a forest one kind of bag may have the weight 0
        trees = self if len(used) == len(self) else self._select(used)
        rounds = np.repeat(used, np.diff(trees.starts))
        values = contributions[rounds, trees.leaf_codes]
        return TreeScorer(trees.nodes, trees.starts, trees.bin_mapper, values)

    def _select(self, rounds: NDArray[np.intp]) -> Trees:
        """The trees of some rounds."""
        sizes = np.diff(self.starts)
        kept = np.isin(np.repeat(np.arange(len(self)), sizes), rounds)
        return Trees(self.nodes[kept], np.cumsum([0, *sizes[rounds]]), self.bin_mapper)

    def step_functions(self, contributions: Array) -> None:
        return None

    def shapley(self, contributions: Array) -> TreeShapley:
        return TreeShapley(self.nodes, self.leaf_codes, self.starts, self.bin_mapper, contributions)

    def importances(self, n_features: int) -> Array:
        gains = np.zeros((len(self), n_features))
        for t in range(len(self)):
            nodes = self.tree(t)
            split = nodes[nodes["feature"] >= 0]
            np.add.at(gains[t], split["feature"], split["gain"])
        return gains / np.maximum(gains.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def describe(self, classes: NDArray[Any]) -> list[Tree]:
        return [self._describe(self.tree(t), classes) for t in range(len(self))]

    def _describe(self, nodes: NDArray[np.void], classes: NDArray[Any]) -> Tree:
        threshold = np.full(len(nodes), np.nan)
        category: list[Any] = [None] * len(nodes)
        for i, node in enumerate(nodes):
            if node["feature"] >= 0:
                feature, cut = self.bin_mapper.features[node["feature"]], int(node["cut"])
                if isinstance(feature, CategoryBins):
                    category[i] = feature.values[cut]
                else:
                    threshold[i] = feature.thresholds[cut] if cut < len(feature.thresholds) else np.inf
        left, right, missing = nodes["children"].T
        prediction, gain, cover = classes[nodes["class"]], nodes["gain"], nodes["cover"]
        return Tree(
            nodes["feature"], threshold, category, left, right, missing, prediction, gain, cover, nodes["confidence"]
        )  # fmt: skip

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        optional = {"cover": self.has_covers, "confidence": bool((self.nodes["confidence"] < 1.0).any())}
        fields = [field for field in dtypes.NODE.names or () if optional.get(field, True)]
        nodes = {f"node_{field}": np.ascontiguousarray(self.nodes[field]) for field in fields}
        return {"tree_sizes": np.diff(self.starts), **nodes}

    @classmethod
    def from_arrays(cls, fields: ArrayFields, bin_mapper: BinMapper, n_classes: int) -> Trees:
        sizes = fields.array("tree_sizes", np.int64, None)
        feature = fields.array("node_feature", np.int32, None)
        n_nodes = len(feature)
        if len(sizes) == 0 or sizes.min() < 1 or sizes.max() > n_nodes or sizes.sum() != n_nodes:
            raise ValueError(f"tree_sizes.npy must hold the number of nodes of each tree, {n_nodes} in total")
        nodes = np.empty(n_nodes, dtypes.NODE)
        nodes["feature"] = feature
        nodes["cut"] = fields.array("node_cut", np.uint32, n_nodes)
        nodes["children"] = fields.array("node_children", np.int32, n_nodes, 3)
        nodes["class"] = fields.array("node_class", dtypes.CLASS, n_nodes)
        nodes["gain"] = fields.finite("node_gain", n_nodes)
        nodes["cover"] = fields.finite("node_cover", n_nodes) if fields.has("node_cover") else np.nan
        if (nodes["cover"] < 0.0).any():
            raise ValueError("node_cover.npy must not hold negative numbers")
        nodes["confidence"] = 1.0
        if fields.has("node_confidence"):
            confidence = nodes["confidence"] = fields.finite("node_confidence", n_nodes)
            if n_classes != 2 or confidence.min() < 0.5 or confidence.max() > 1.0:
                raise ValueError("node_confidence.npy must hold numbers from 0.5 to 1, for two classes")
            divided = np.repeat(sizes, sizes)[confidence < 1.0]
            if divided.max(initial=0) > dtypes.MAX_DIVIDED_NODES:
                raise ValueError(f"a tree with confidences below 1 must have at most {dtypes.MAX_DIVIDED_NODES} nodes")
        check_cuts(nodes, bin_mapper.features, "node")
        check_class_numbers(nodes["class"], n_classes, "node_class")
        # A child must come after its parent in the same tree, so that every path ends.
        starts = np.cumsum([0, *sizes.tolist()])
        numbers = np.arange(n_nodes) - np.repeat(starts[:-1], sizes)
        split, children = feature >= 0, nodes["children"]
        too_small = (children <= numbers[:, None]) & (children != -1)
        too_large = children >= np.repeat(sizes, sizes)[:, None]
        if ((too_small | too_large)[split]).any():
            raise ValueError("node_children.npy must hold -1, or later nodes of the same tree")
        return cls(nodes, starts, bin_mapper)


def find_leaves(
    nodes: NDArray[np.void], bins: NDArray[np.unsignedinteger], bin_mapper: BinMapper
) -> NDArray[np.uint32]:
    """The node of a tree in which each row ends."""
    leaves = np.empty(bins.shape[1], dtype=np.uint32)
    columns = [np.ascontiguousarray(nodes[name]) for name in ("feature", "cut", "children")]
    kernels.find_leaves(bins, bin_mapper.offsets, bin_mapper.categorical, *columns, leaves)
    return leaves


def predicted_classes(
    nodes: NDArray[np.void], bins: NDArray[np.unsignedinteger], bin_mapper: BinMapper
) -> LeafAssignment:
    """The class that a tree predicts for each row."""
    return np.ascontiguousarray(nodes["class"])[find_leaves(nodes, bins, bin_mapper)], IDENTITY


def initial_random_state(seed: int, t: int) -> NDArray[np.int64]:
    """Initial state of the random number generator of a round."""
    mixed = (seed * 0x9E3779B97F4A7C15 + (t + 1) * 0xBF58476D1CE4E5B9) % 2**64  # splitmix64 [Steele 2014]
    mixed = (mixed ^ mixed >> 30) * 0x94D049BB133111EB % 2**64
    return np.array([1 + (mixed ^ mixed >> 31) % (2**31 - 2)], dtype=np.int64)


def make_workspace(
    capacity: int, n_rows: int, bin_mapper: BinMapper, histograms: NDArray[Any], n_classes: int, n_sizes: int
) -> tuple[Any, ...]:
    """Arrays of `kernels.grow_tree`: by node, by feature, by row, and for nodes of few rows."""
    n_features, n_bins = len(bin_mapper.features), bin_mapper.max_bins
    n_occurring = kernels.MAX_SMALL_NODE_ROWS + 2
    spare = (
        np.empty(n_rows, dtype=dtypes.ROW), np.empty(n_rows, histograms.dtype), np.empty(n_sizes),
        np.empty(n_rows, dtype=np.uint8),
    )  # fmt: skip
    small = (  # marks and positions by bin, the occurring bins, their histogram, its offsets, and that it is numeric
        np.zeros(n_bins, dtype=np.int64), np.empty(n_bins, dtype=np.int64), np.empty(n_occurring, dtype=np.int64),
        np.empty((histograms.shape[1], n_occurring), histograms.dtype),
        np.zeros(2, dtype=np.int64), np.zeros(1, dtype=bool),
    )  # fmt: skip
    return (
        np.empty((capacity, n_classes + 1), dtype=np.int64),  # where the rows of each class begin and end in each node
        np.zeros((capacity, n_classes)), np.zeros(capacity),  # weight of each class, and number of rows, by node
        *np.empty((3, capacity), dtype=np.int64),  # depths, histograms, and nodes that are still to be split
        np.arange(n_features), np.ones(n_classes), spare, np.empty((3, n_classes), dtype=np.int64), small,
        np.zeros(n_features), np.zeros(n_features, dtype=np.int64),
    )  # fmt: skip


def _pack(weight: Array, sizes: Array, min_rows: float) -> tuple[NDArray[np.int64], tuple[int, float]]:
    """Weights, and the number of rows that each row stands for, as the packed numbers of `best_splits_packed`."""
    n_bits = int(sizes.sum()).bit_length() if min_rows else 0
    unit = 2.0 ** (n_bits - MAX_PACKED_BITS)
    packed = np.rint(weight / unit).astype(np.int64) << n_bits
    if min_rows:
        packed += sizes.astype(np.int64)
    return packed, (n_bits, unit)


class TreeLearner:
    """Learner of trees on binned data.

    The class histograms of a node are computed from its rows, or by subtraction of those of its siblings.
    """

    def __init__(
        self,
        bins: NDArray[np.unsignedinteger],
        rows: Rows,
        bin_mapper: BinMapper,
        criterion: str,
        negative_class: int,
        growth: Growth,
        seed: int,
        monotonic_cst: MonotonicCst | None = None,
    ) -> None:
        self.bins, self.rows, self.bin_mapper = bins, rows, bin_mapper
        self.criterion, self.negative_class, self.seed = CRITERIA[criterion], negative_class, seed
        self._signs = None if monotonic_cst is None else np.array(monotonic_cst, dtype=np.int64)
        self.offsets, self.categorical = self.bin_mapper.offsets, self.bin_mapper.categorical
        n_features = len(self.bin_mapper.features)
        self._max_features, self._draws = growth.n_candidates(n_features), growth.draws_features(n_features)
        self._min_leaf_rows = float(min(growth.min_samples_leaf, NO_LIMIT)) if growth.min_samples_leaf > 1 else 0.0
        self._max_depth = min(growth.max_depth or NO_LIMIT, NO_LIMIT)
        self._max_leaves = min(growth.max_leaf_nodes or NO_LIMIT, NO_LIMIT)
        first_weight = float(rows.weight[0])
        self._same_weight = first_weight if (rows.weight == first_weight).all() else None
        self._sizes = np.ones(len(rows.order)) if rows.size is None else rows.size
        self._counts_are_covers = bool((self._sizes == rows.weight).all())
        self._is_packed = self.rows.n_classes == 2 and self.criterion == kernels.GINI
        if self._min_leaf_rows:
            self._is_packed &= rows.n_rows < MAX_PACKED_ROWS
        n_parts = self.rows.n_classes + (self._min_leaf_rows > 0 and not self._is_packed)
        self._histograms = np.empty((0, n_parts, int(self.offsets[-1])), np.int64 if self._is_packed else np.float64)

    @classmethod
    def make(cls, given: LearnerInput) -> TreeLearner:
        binned = given.binned
        return cls(
            binned.matrix, binned.rows, binned.bin_mapper, given.criterion, given.negative_class, given.growth,
            given.seed, given.monotonic_cst,
        )  # fmt: skip

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, LeafAssignment, Array]:
        if sample is None:
            every_row = self.rows.listing[0]
            return self._grow(self.bins, every_row, weights.values, self._sizes, self.rows.weight, self.rows.starts, t)
        bins, rows, starts = self.bins, sample.rows, sample.starts
        weight, sizes, covers = sample.weight, self._sizes, self.rows.weight
        if sample.extra is not None:
            extra = sample.extra
            # The synthetic rows of each class follow its real rows.
            real = np.repeat(np.arange(self.rows.n_classes), np.diff(starts))
            synthetic = np.repeat(np.arange(self.rows.n_classes), np.diff(extra.starts))
            order = np.argsort(np.concatenate([real, synthetic]), kind="stable")
            rows = np.concatenate([rows, extra.rows + dtypes.ROW.type(bins.shape[1])])[order]
            weight = np.concatenate([weight, extra.weight])[order]
            n_prepared = extra.prepared.shape[1]
            sizes = np.concatenate([sizes, np.ones(n_prepared)])
            covers = np.concatenate([covers, np.full(n_prepared, covers.mean())])
            bins, starts = np.concatenate([bins, extra.prepared], axis=1), starts + extra.starts
        nodes, _, _ = self._grow(bins, rows, weight / weight.sum(), sizes, covers, starts, t)
        leaves = predicted_classes(nodes, self.bins, self.bin_mapper)
        return nodes, leaves, weigh_pairs(leaves, weights)

    def _grow(
        self,
        bins: NDArray[np.unsignedinteger],
        rows: NDArray[np.uint32],
        weight: Array,
        sizes: Array,
        covers: Array,
        starts: NDArray[np.int64],
        t: int,
    ) -> tuple[Any, LeafAssignment, Array]:
        """Grow a tree on some rows.

        `weight` are the weights of boosting of these rows, `sizes` and `covers` the numbers of the user's rows and the
        sample weights of all rows.
        """
        n_histograms, capacity = self._max_histograms(len(rows)), 2 * self._max_total_leaves(len(rows)) + 3
        if len(self._histograms) < n_histograms:
            self._histograms = np.empty((n_histograms, *self._histograms.shape[1:]), self._histograms.dtype)
        nodes: tuple[NDArray[Any], ...] = (
            np.empty(capacity, dtype=np.int32), np.zeros(capacity, dtype=np.uint32),
            np.full((capacity, 3), -1, dtype=np.int32), np.empty(capacity, dtype=dtypes.CLASS), np.empty(capacity),
        )  # fmt: skip
        predicted = np.empty(bins.shape[1], dtype=dtypes.CLASS)
        W = np.zeros((self.rows.n_classes, self.rows.n_classes))
        sizes = sizes[rows] if self._min_leaf_rows else sizes[:0]
        n_sizes = len(sizes) if not self._is_packed else 0
        by, packing = _pack(weight, sizes, self._min_leaf_rows) if self._is_packed else (weight.copy(), None)
        monotonic = None if self._signs is None else (self._signs, np.zeros(capacity, dtype=np.uint8))
        work = make_workspace(capacity, len(rows), self.bin_mapper, self._histograms, self.rows.n_classes, n_sizes)
        grouped = rows.copy()
        n_nodes = kernels.grow_tree(
            bins, self.offsets, self.categorical, grouped, by, None if self._is_packed else sizes[:n_sizes].copy(),
            packing, starts, self.criterion, self.negative_class, TIE, self._max_depth, self._max_leaves,
            self._min_leaf_rows, self._max_features, initial_random_state(self.seed, t) if self._draws else None,
            self._histograms, None if self._draws else np.arange(len(self._histograms))[::-1].copy(), monotonic, work,
            *nodes, predicted, W,
        )  # fmt: skip
        tree = np.empty(n_nodes, dtype=dtypes.NODE)
        cover = self._covers(work[0][:n_nodes], work[2][:n_nodes], grouped, covers)
        for name, column in zip(dtypes.NODE.names or (), (*nodes, cover, np.ones(n_nodes)), strict=True):
            tree[name] = column[:n_nodes]
        return tree, (predicted, IDENTITY), W

    def _covers(self, edges: NDArray[np.int64], counts: Array, grouped: NDArray[np.uint32], covers: Array) -> Array:
        """Sample weight of the rows of each node, which begin and end at the first and last of its edges.

        The usual cases take no pass over the rows: `grow_tree` has counted them for the minimum size of a leaf, or they
        have the same weight.
        """
        if self._min_leaf_rows and self._counts_are_covers:
            return counts
        if self._same_weight is not None and covers is self.rows.weight:
            return (edges[:, -1] - edges[:, 0]).astype(np.float64) * self._same_weight
        cumulative = np.concatenate([[0.0], np.cumsum(covers[grouped])])
        return np.maximum(cumulative[edges[:, -1]] - cumulative[edges[:, 0]], 0.0)

    def _max_total_leaves(self, n_rows: int) -> int:
        """Maximum number of leaves including those for missing values, of which each split may have one."""
        return min(n_rows, 2 * self._max_leaves - 1, 3 ** min(self._max_depth, 30))

    def _max_histograms(self, n_rows: int) -> int:
        """Maximum number of histograms in memory: those on the path to a node (depth-first), or of all leaves."""
        if self._draws:
            return 1
        if self._max_leaves < NO_LIMIT:
            return self._max_total_leaves(n_rows) + 3
        return 2 * min(self._max_depth, ceil(log2(n_rows + 1))) + 4

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> NDArray[np.unsignedinteger]:
        return self.bin_mapper.bins(table, order, Threads(1)).astype(self.bins.dtype, copy=False)

    def apply(self, model: Any, prepared: Any) -> LeafAssignment:
        return predicted_classes(model, prepared, self.bin_mapper)

    def models(self, fitted: list[Any]) -> Trees:
        starts = np.cumsum([0, *(len(nodes) for nodes in fitted)])
        nodes = np.concatenate(fitted) if fitted else np.empty(0, dtype=dtypes.NODE)
        return Trees(nodes, starts, self.bin_mapper)

"""The native stump learner.

A stump predicts a class for each bin of one feature, so that the leaf of a row is its bin of that feature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binned import BinnedDataset, FeatureBlock
from adacc.data.binning import BinMapper, CategoryBins
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Weights
from adacc.data.samples import Sample
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.base import (
    ArrayFields,
    LearnerInput,
    check_class_numbers,
    check_cuts,
    used_features,
    weigh_pairs,
)
from adacc.learners.splits import MonotonicCst, Splitter
from adacc.learners.step_functions import Steps, compile_stumps

MIN_THREADED_NANOSECONDS = 200_000
"""Minimum duration of a round for the use of threads; for shorter rounds the overhead exceeds the gain."""


class Stump(NamedTuple):
    """One split: ``x <= threshold`` or ``x == category`` takes the left branch; missing numbers take the third."""

    feature: int | None
    threshold: float | None
    category: Any
    left: Any
    right: Any
    missing: Any


@dataclass(frozen=True)
class Stumps:
    """Fitted stumps as a record array, with the bin mapper that reads their cuts."""

    learner: ClassVar = "stump"

    records: NDArray[np.void]
    bin_mapper: BinMapper

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, rounds: slice) -> Stumps:
        return Stumps(self.records[rounds], self.bin_mapper)

    def followed_by(self, *later: Stumps) -> Stumps:
        return Stumps(np.concatenate([self.records, *(each.records for each in later)]), self.bin_mapper)

    @property
    def used(self) -> NDArray[np.int32]:
        """Indices of the features that stumps split on."""
        return used_features(self.records)

    def lookup(self, t: int) -> NDArray[np.uint8]:
        """Class that stump t predicts for each bin of its feature."""
        stump = self.records[t]
        feature = self.bin_mapper.features[max(stump["feature"], 0)]
        bins = np.arange(feature.n_bins)
        if stump["feature"] < 0:
            return np.full(len(bins), stump["left"])
        if feature.categorical:
            return np.where(bins == stump["cut"], stump["left"], stump["right"])
        lookup = np.where(bins <= stump["cut"], stump["left"], stump["right"])
        lookup[-1] = stump["missing"]
        return lookup

    def leaves(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        columns = {j: bins for j, _, bins in self.bin_mapper.columns(table, order, self.used.tolist())}
        first_bin = np.zeros(len(order), dtype=np.uint8)
        for t, feature in enumerate(self.records["feature"].tolist()):
            yield columns.get(feature, first_bin), self.lookup(t)

    def step_functions(self, contributions: Array) -> Steps:
        # A split whose branches all predict the same class is part of the constant.
        lookups = (self.lookup(t) for t in range(len(self)))
        records = self.records.copy()
        records["feature"][[(lookup == lookup[0]).all() for lookup in lookups]] = -1
        return Stumps(records, self.bin_mapper).compile(contributions)

    def leaf_values(self, contributions: Array) -> Array:
        return contributions

    def compile(self, contributions: Array) -> Steps:
        return compile_stumps(self.bin_mapper, self._by_bin(contributions), self._constant(contributions))

    def _by_bin(self, contributions: Array) -> Iterator[tuple[int, Array]]:
        """Each used feature, with the summed contributions of each of its bins."""
        for feature in self.used.tolist():
            first, *later = np.flatnonzero(self.records["feature"] == feature).tolist()
            total = contributions[first][self.lookup(first)]
            for t in later:  # one at a time, as all at once would need n_rounds * n_bins of memory
                total += contributions[t][self.lookup(t)]
            yield feature, total

    def _constant(self, contributions: Array) -> Array:
        unsplit = np.flatnonzero(self.records["feature"] < 0)
        return contributions[unsplit, self.records["left"][unsplit]].sum(axis=0)

    def shapley(self, contributions: Array) -> None:
        return None  # step functions are simpler

    def importances(self, n_features: int) -> Array:
        return (self.records["feature"][:, None] == np.arange(n_features)).astype(float)

    def describe(self, classes: NDArray[Any]) -> list[Stump]:
        return [self._describe(record, classes.tolist()) for record in self.records]

    def _describe(self, record: Any, classes: list[Any]) -> Stump:
        branches = [classes[record[branch]] for branch in ("left", "right", "missing")]
        if record["feature"] < 0:
            return Stump(None, None, None, *branches)
        feature, cut = self.bin_mapper.features[record["feature"]], int(record["cut"])
        if isinstance(feature, CategoryBins):
            return Stump(int(record["feature"]), None, feature.values[cut], *branches)
        threshold = float(feature.thresholds[cut]) if cut < len(feature.thresholds) else np.inf
        return Stump(int(record["feature"]), threshold, None, *branches)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {f"stump_{field}": self.records[field] for field in dtypes.STUMP.names or ()}

    @classmethod
    def from_arrays(cls, fields: ArrayFields, bin_mapper: BinMapper, n_classes: int) -> Stumps:
        feature = fields.array("stump_feature", np.int32, None)
        n_rounds = len(feature)
        if n_rounds == 0:
            raise ValueError("stump_feature.npy must hold at least one round")
        records = np.empty(n_rounds, dtypes.STUMP)
        records["feature"] = feature
        records["cut"] = fields.array("stump_cut", np.uint32, n_rounds)
        check_cuts(records, bin_mapper.features, "stump")
        for branch in ("left", "right", "missing"):
            records[branch] = fields.array(f"stump_{branch}", dtypes.CLASS, n_rounds)
            check_class_numbers(records[branch], n_classes, f"stump_{branch}")
        return cls(records, bin_mapper)


class StumpLearner:
    """Learner of depth-1 trees on binned data, from weighted class histograms that are updated from round to round.

    `histogram` is that of `binned`, or a copy if several learners share the data.
    """

    def __init__(
        self,
        binned: BinnedDataset,
        histogram: Array,
        criterion: str,
        negative_class: int,
        threads: Threads,
        monotonic_cst: MonotonicCst | None = None,
    ) -> None:
        self.binned, self.rows, self.bin_mapper = binned, binned.rows, binned.bin_mapper
        self.threads = threads
        self._threads_of_round = threads if binned.work > MIN_THREADED_NANOSECONDS else Threads(1)
        self.histogram = histogram
        self.splitter = Splitter(self.bin_mapper, self.rows.n_classes, criterion, negative_class, monotonic_cst)

    @classmethod
    def make(cls, given: LearnerInput) -> StumpLearner:
        binned = given.binned
        histogram = binned.histogram.copy() if given.shared else binned.histogram
        return cls(binned, histogram, given.criterion, given.negative_class, given.threads, given.monotonic_cst)

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, LeafAssignment, Array]:
        if sample is None:
            return self._split(FeatureBlock.follow, weights, weights.scale, weights.class_weight)
        self.histogram[:] = 0.0
        weight = sample.class_weight.sum()
        scale, total = np.full(self.rows.n_classes, 1.0 / weight), sample.class_weight / weight
        model, leaves, _ = self._split(self._add, sample, scale, total)
        return model, leaves, weigh_pairs(leaves, weights)

    def _add(self, block: FeatureBlock, sample: Sample, histogram: Array) -> None:
        block.add(sample.listing, histogram)
        if sample.extra is not None:
            features = slice(block.first, block.last)
            bins, offsets = sample.extra.prepared[features], self.splitter.offsets[features]
            kernels.add_rows(bins, offsets, *sample.extra.listing, histogram)

    def _split(
        self, update: Callable[[FeatureBlock, Any, Array], None], source: Any, scale: Array, total: Array
    ) -> tuple[Any, LeafAssignment, Array]:
        """Update the histograms from the source and find the best split, with one block of features per thread."""
        blocks = self.binned.blocks
        if len(blocks) == 1:
            self._search(update, source, scale, total, blocks[0])
        else:
            self._threads_of_round.each(partial(self._search, update, source, scale, total), blocks)
        split, W = self.splitter.choose(self.histogram, scale)
        return split, self._leaves(split[0], self.binned.column(max(split[0], 0))), W

    def _search(
        self,
        update: Callable[[FeatureBlock, Any, Array], None],
        source: Any,
        scale: Array,
        total: Array,
        block: FeatureBlock,
    ) -> None:
        update(block, source, self.histogram)
        block.complete(scale, total, self.histogram)
        self.splitter.find_best(self.histogram, scale, total, block.first, block.last)

    def _leaves(self, feature: int, column: NDArray[Any]) -> LeafAssignment:
        return column, self.splitter.lookup(feature)

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> NDArray[np.unsignedinteger]:
        return self.bin_mapper.bins(table, order, self.threads).astype(self.binned.dtype, copy=False)

    def apply(self, model: Any, prepared: Any) -> LeafAssignment:
        return self._leaves(model[0], prepared[max(model[0], 0)])

    def models(self, fitted: list[Any]) -> Stumps:
        return Stumps(np.array(fitted, dtype=dtypes.STUMP), self.bin_mapper)

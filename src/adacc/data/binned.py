"""The training rows' codes, each column stored the way that is cheapest to add up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, Column, Feature
from adacc.data.rows import Listing, Rows, Weights
from adacc.data.threads import Threads
from adacc.kernels import dtypes

SPARSE = 0.8
"""A column whose commonest code covers this share of the rows stores only the other rows."""

WORTHWHILE = 0.9
"""Equal rows are made one if at most this share is left."""

A_FEW = 8
"""Features in which rows are compared before they are in all."""

GLANCE = 2000
"""Rows that are looked at before all rows are counted."""

RECENT = 16
"""Columns that are kept as they were asked for: stumps come back to the same few, and a sparse one takes a while."""

Columns = Callable[[NDArray[np.uint32], Sequence[int]], Iterable[Column]]
"""The wanted columns' codes, one at a time, the rows in the given order."""


class FeatureBlock:
    """The codes of consecutive features, which one thread looks after.

    Dense columns are rows of a matrix. Of a sparse column only the entries that are not its commonest code are kept:
    by row, for adding them to the histograms, and by column, for telling the rows apart. The weight of the commonest
    code is what the others leave of the total, so that the cost follows the entries and not the rows.
    """

    def __init__(self, columns: Iterable[Column], n_rows: int, first: int, last: int) -> None:
        self.first, self.last, self.n_rows = first, last, n_rows
        features: dict[int, Feature] = {}
        self._dense_row: dict[int, int] = {}
        self._entries: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}
        self._defaults: dict[int, int] = {}
        # Memory that is never written to is never taken: room for all columns costs nothing until they are dense.
        dense = np.empty((last - first, n_rows), dtype=dtypes.CODES[0])
        for j, feature, codes in columns:
            features[j] = feature
            if codes.dtype.itemsize > dense.dtype.itemsize:
                narrow, dense = dense, np.empty(dense.shape, codes.dtype)
                dense[: len(self._dense_row)] = narrow[: len(self._dense_row)]
            default = _commonest(codes, feature.n_codes)
            if default is None:
                dense[len(self._dense_row)] = codes
                self._dense_row[j - first] = len(self._dense_row)
            else:
                self._defaults[j - first] = default
                rows = np.flatnonzero(codes != default).astype(dtypes.ROW)
                self._entries[j - first] = rows, codes[rows]
        self.features = [features[j] for j in range(first, last)]
        self.offsets = np.cumsum([0, *(feature.n_codes for feature in self.features)])
        self.dense = dense[: len(self._dense_row)]

    def hash_rows(self, rng: np.random.Generator, hashes: NDArray[np.uint64], n_features: int | None = None) -> None:
        """Combine each row's hash with random keys of its codes, of all features or of the first dense ones."""
        n_codes = [self.features[j].n_codes for j in list(self._dense_row)[:n_features]]
        offsets = np.cumsum([0, *n_codes])
        kernels.hash_rows(self.dense[:n_features], offsets, _draw_keys(rng, offsets[-1]), hashes)
        if n_features is None:
            for j, (rows, codes) in self._entries.items():
                kernels.hash_entries(rows, codes, self._defaults[j], _draw_keys(rng, self.features[j].n_codes), hashes)

    def equal(self, some: NDArray[Any], others: NDArray[Any]) -> bool:
        """Whether some rows have the same codes as others, one by one."""
        return all(kernels.all_same(self.column(j), some, others) for j in range(self.first, self.last))

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Forget all rows but these, ascending ones."""
        number = np.full(self.n_rows, len(kept), dtype=dtypes.ROW)
        number[kept] = np.arange(len(kept))
        self.n_rows, self.dense = len(kept), self.dense.take(kept, axis=1)  # row by row, unlike [:, kept]
        for j, (rows, codes) in self._entries.items():
            numbers = number[rows]
            here = numbers < len(kept)
            self._entries[j] = numbers[here], codes[here]

    def place(self, offset: int) -> None:
        """Take a place in the histogram: all features' codes end to end, those of this part from `offset` on."""
        self.offsets = self.offsets + offset
        self.dense_offsets = self.offsets[np.array(list(self._dense_row), dtype=np.int64)]
        self._by_row = self._turned() if self._entries else None
        sparse_columns = np.array(list(self._entries), dtype=np.int64)
        self._begins, self._ends = self.offsets[sparse_columns], self.offsets[sparse_columns + 1]
        self._places = self._begins + np.array(list(self._defaults.values()), dtype=np.int64)

    def _turned(self) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """The entries row by row: where each row's begin, and their places in the histogram."""
        columns = [(rows, self.offsets[j] + codes.astype(np.int64)) for j, (rows, codes) in self._entries.items()]
        starts = np.cumsum([0, *(len(rows) for rows, _ in columns)])
        places, rows = (np.concatenate(part) for part in ([p for _, p in columns], [r for r, _ in columns]))
        by_row = sparse.csc_array((places, rows, starts), shape=(self.n_rows, len(columns))).tocsr()
        return by_row.indptr, by_row.data.astype(np.uint32)

    def add(self, listing: Listing, histogram: Array) -> None:
        """Add the listed rows' amounts to the histograms of these features."""
        kernels.add_rows(self.dense, self.dense_offsets, *listing, histogram)
        if self._by_row is not None:
            kernels.add_entries(*self._by_row, *listing, histogram)

    def follow(self, weights: Weights, histogram: Array) -> None:
        """Bring the histograms of these features to where the weights are."""
        if weights.any_stale:
            histogram[weights.stale, self.offsets[0] : self.offsets[-1]] = 0.0
        self.add(weights.listing, histogram)
        if weights.any_carried:
            kernels.carry(weights.carried, self.offsets[0], self.offsets[-1], histogram)

    @property
    def n_stored(self) -> int:
        """Codes that are stored, which is what is added where all rows change."""
        return self.dense.size + sum(len(rows) for rows, _ in self._entries.values())

    @property
    def is_sparse(self) -> bool:
        """Whether some columns keep only the entries that are not their commonest code."""
        return bool(self._entries)

    @property
    def is_matrix(self) -> bool:
        """Whether the dense codes are those of all features, in their order: numbers are read before categories."""
        return list(self._dense_row) == list(range(len(self.features)))

    def complete(self, scale: Array, total: Array, histogram: Array) -> None:
        """Fill in the commonest codes of sparse columns, once all is added."""
        if self._by_row is not None:
            kernels.fill_defaults(scale, total, self._begins, self._ends, self._places, histogram)

    def column(self, feature: int) -> NDArray[Any]:
        """All rows' codes of one feature."""
        j = feature - self.first
        if j in self._dense_row:
            return self.dense[self._dense_row[j]]
        rows, codes = self._entries[j]
        column = np.full(self.n_rows, self._defaults[j], dtype=self.dense.dtype)
        column[rows] = codes
        return column


def _commonest(codes: NDArray[np.unsignedinteger], n_codes: int) -> int | None:
    """The code that covers enough rows for a sparse column, if there is one."""
    likely, share = kernels.commonest(codes, max(1, len(codes) // GLANCE), np.zeros(n_codes, dtype=np.int64))
    if share < 0.9 * SPARSE:  # clearly not: a glance is enough
        return None
    return likely if np.count_nonzero(codes == likely) >= SPARSE * len(codes) else None


def _collapse(parts: list[FeatureBlock], rows: Rows) -> Rows:
    """Make one row of those of a class that have the same codes, where that saves enough."""
    n_rows, rng = len(rows.order), np.random.default_rng(0)
    hashes = _draw_keys(rng, rows.n_classes)[rows.true]
    if parts[-1].last > A_FEW:
        parts[0].hash_rows(rng, hashes, A_FEW)
        if _first_of_each(hashes)[1] > WORTHWHILE * n_rows:  # as rows mostly differ in a few features already
            return rows
    for part in parts:
        part.hash_rows(rng, hashes)
    first, n_different = _first_of_each(hashes)
    if n_different > WORTHWHILE * n_rows:
        return rows
    is_first = first == np.arange(n_rows)
    others = np.flatnonzero(~is_first)
    if not all(part.equal(others, first[others]) for part in parts):  # rows that share but their hash
        return rows
    kept = np.flatnonzero(is_first)
    for part in parts:
        part.keep(kept)
    number = np.empty(n_rows, dtype=np.intp)
    number[kept] = np.arange(len(kept))
    return rows.merge(kept, number[first])


def _draw_keys(rng: np.random.Generator, n_keys: int) -> NDArray[np.uint64]:
    return rng.integers(2**64, size=n_keys, dtype=np.uint64)


def _first_of_each(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], int]:
    """The first row that has the hash of each row, and how many hashes there are."""
    first = np.empty(len(hashes), dtype=dtypes.ROW)
    table = np.full(2 ** (2 * len(hashes)).bit_length(), len(hashes), dtype=dtypes.ROW)
    return first, kernels.find_first(hashes, table, first)


class BinnedDataset:
    """All features' codes.

    Attributes
    ----------
    parts : list of FeatureBlock
        Consecutive features, a part per thread.
    rows : Rows
        The rows. With `collapse` equal rows of a class are one, whose weight is their sum: such rows share their fate
        for ever, so that nothing else changes.
    bin_mapper : BinMapper
        What the codes mean.
    histogram : ndarray of shape (2 * n_classes, n_codes)
        The rows' own weights, by class and code; those of sparse columns' commonest codes are not filled in. Then room
        for the rows that stand apart in each class, of which there are none.
    """

    def __init__(self, columns: Columns, n_columns: int, rows: Rows, threads: Threads, collapse: bool = False) -> None:
        def code(first: int, last: int) -> FeatureBlock:
            return FeatureBlock(columns(rows.order, range(first, last)), len(rows.order), first, last)

        parts: list[FeatureBlock] = threads.over(n_columns, code)
        self.rows = _collapse(parts, rows) if collapse else rows
        self.bin_mapper = BinMapper(tuple(feature for part in parts for feature in part.features))
        offsets = self.bin_mapper.offsets
        for part in parts:
            part.place(int(offsets[part.first]))
        self.parts = parts
        self.dtype = max((part.dense.dtype for part in parts), key=lambda dtype: dtype.itemsize)
        self._part_of = [part for part in parts for _ in range(part.first, part.last)]
        self._recent: dict[int, NDArray[Any]] = {}
        self.histogram = np.zeros((2 * self.rows.n_classes, int(offsets[-1])))
        everyone = self.rows.listing
        threads.each(lambda part: part.add(everyone, self.histogram), parts)

    @property
    def work(self) -> float:
        """Roughly the nanoseconds of a round: a tenth of the rows' codes are added, all bins are looked at."""
        return 0.05 * sum(part.dense.size for part in self.parts) + 2.0 * self.histogram[: self.rows.n_classes].size

    @property
    def pass_in_rows(self) -> float:
        """Roughly how many rows are added to the histogram in the time of a pass over it."""
        n_stored = sum(part.n_stored for part in self.parts)
        return self.histogram.shape[1] * len(self.rows.order) / n_stored if n_stored > 0 else np.inf

    def copy_histogram(self) -> Array:
        """For one of several learners."""
        copy = np.zeros_like(self.histogram)  # whose second half takes no memory until it is used
        copy[: self.rows.n_classes] = self.histogram[: self.rows.n_classes]
        return copy

    def column(self, feature: int) -> NDArray[Any]:
        """All rows' codes of one feature."""
        column = self._recent.get(feature)
        if column is None:
            if len(self._recent) >= RECENT:
                self._recent = {}  # a new one, since models that are boosted at the same time ask too
            column = self._recent[feature] = self._part_of[feature].column(feature)
        return column

    @property
    def matrix(self) -> NDArray[Any]:
        """All rows' codes of all features, a row of it each."""
        if len(self.parts) == 1 and self.parts[0].is_matrix:
            return self.parts[0].dense
        return np.array([part.column(f) for f, part in enumerate(self._part_of)], dtype=self.dtype)

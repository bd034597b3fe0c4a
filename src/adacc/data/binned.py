"""Binned training rows, with each column stored the way that is cheapest to sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, Column, Feature
from adacc.data.rows import Listing, Rows, Weights
from adacc.data.threads import Threads
from adacc.kernels import dtypes

MIN_SPARSE_SHARE = 0.8  # a column is sparse if its most frequent bin has at least this share of the rows
MAX_DISTINCT_SHARE = 0.9  # equal rows are merged if at most this share of the rows is distinct
N_SCREENING_FEATURES = 8  # number of features that are compared first: in most data sets rows already differ in these
N_SCREENING_ROWS = 2000  # number of rows that are compared first
MIN_SLICE_LENGTH = 100  # mean length from which copying slices is faster than taking single rows
N_COUNTED_ROWS = 400  # number of rows that are counted first to find the most frequent bin of a column

Columns = Callable[[NDArray[np.uint32], Sequence[int]], Iterable[Column]]
"""Yields the bins of the given columns one at a time, with the rows in the given order."""


class ColumnStore(Protocol):
    """Bins of some columns of a `FeatureBlock`; column numbers count from the first feature of the block."""

    @property
    def columns(self) -> list[int]:
        """Numbers of the stored columns."""

    def column(self, column: int) -> NDArray[Any]:
        """Bins of all rows in one column."""

    def hash_rows(self, rng: np.random.Generator, n_bins: Sequence[int], hashes: NDArray[np.uint64]) -> None:
        """Combine the hash of each row with random keys of its bins."""

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Discard all rows except these, given in ascending order."""

    def place(self, offsets: NDArray[np.int64]) -> None:
        """Set the position of each column of the block in the histogram."""

    def add(self, listing: Listing, histogram: Array) -> None:
        """Add the amounts of the listed rows to the histograms of these columns."""

    def complete(self, scale: Array, total: Array, histogram: Array) -> None:
        """Fill in what `add` leaves out."""


class DenseColumns:
    """Columns as rows of a matrix, in the order in which they were read: numeric columns before categorical ones."""

    def __init__(self, bins: NDArray[np.unsignedinteger], columns: Sequence[int]) -> None:
        self.bins = bins
        self._row_of = {column: row for row, column in enumerate(columns)}

    @property
    def columns(self) -> list[int]:
        return list(self._row_of)

    def column(self, column: int) -> NDArray[Any]:
        return self.bins[self._row_of[column]]

    def hash_rows(
        self,
        rng: np.random.Generator,
        n_bins: Sequence[int],
        hashes: NDArray[np.uint64],
        n_columns: int | None = None,
    ) -> None:
        """Combine the hash of each row with random keys of its bins, in all columns or in the first `n_columns`."""
        offsets = np.cumsum([0, *(n_bins[column] for column in self.columns[:n_columns])])
        kernels.hash_rows(self.bins[:n_columns], offsets, _draw_keys(rng, offsets[-1]), hashes)

    def keep(self, kept: NDArray[np.intp]) -> None:
        self.bins = self.bins.take(kept, axis=1)  # faster than [:, kept]

    def place(self, offsets: NDArray[np.int64]) -> None:
        self._offsets = offsets[np.array(self.columns, dtype=np.int64)]

    def add(self, listing: Listing, histogram: Array) -> None:
        kernels.add_rows(self.bins, self._offsets, *listing, histogram)

    def complete(self, scale: Array, total: Array, histogram: Array) -> None:
        return


class SparseColumns:
    """Columns as the entries that differ from the most frequent bin, which is the default of the column.

    Entries are stored by row, for histograms, and by column, for predictions. The weight of the default bin is the
    total less the weight of all other bins, so that the cost depends on the number of entries and not of rows.
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows, self.dtype = n_rows, dtypes.BINS[0]
        self._entries: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}
        self._defaults: dict[int, int] = {}

    def append(self, column: int, bins: NDArray[np.unsignedinteger], default: int) -> None:
        rows = np.flatnonzero(bins != default).astype(dtypes.ROW)
        self._entries[column] = rows, bins[rows]
        self._defaults[column] = default

    @property
    def columns(self) -> list[int]:
        return list(self._entries)

    def column(self, column: int) -> NDArray[Any]:
        rows, bins = self._entries[column]
        dense = np.full(self._n_rows, self._defaults[column], dtype=self.dtype)
        dense[rows] = bins
        return dense

    def hash_rows(self, rng: np.random.Generator, n_bins: Sequence[int], hashes: NDArray[np.uint64]) -> None:
        for column, (rows, bins) in self._entries.items():
            kernels.hash_entries(rows, bins, self._defaults[column], _draw_keys(rng, n_bins[column]), hashes)

    def keep(self, kept: NDArray[np.intp]) -> None:
        new_row = np.full(self._n_rows, len(kept), dtype=dtypes.ROW)
        new_row[kept] = np.arange(len(kept))
        self._n_rows = len(kept)
        for column, (rows, bins) in self._entries.items():
            rows = new_row[rows]
            is_kept = rows < len(kept)
            self._entries[column] = rows[is_kept], bins[is_kept]

    def place(self, offsets: NDArray[np.int64]) -> None:
        columns = np.array(self.columns, dtype=np.int64)
        self._begins, self._ends = offsets[columns], offsets[columns + 1]
        self._default_places = self._begins + np.array(list(self._defaults.values()), dtype=np.int64)
        self._row_starts, self._places = self._by_row(offsets)

    def _by_row(self, offsets: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """Where the entries of each row begin, and the position of each entry in the histogram."""
        rows = [rows for rows, _ in self._entries.values()]
        places = [offsets[column] + bins.astype(np.int64) for column, (_, bins) in self._entries.items()]
        starts = np.cumsum([0, *map(len, rows)])
        by_column = (np.concatenate(places), np.concatenate(rows), starts)
        by_row = sparse.csc_array(by_column, shape=(self._n_rows, len(rows))).tocsr()
        return by_row.indptr, by_row.data.astype(np.uint32)

    def add(self, listing: Listing, histogram: Array) -> None:
        kernels.add_entries(self._row_starts, self._places, *listing, histogram)

    def complete(self, scale: Array, total: Array, histogram: Array) -> None:
        """Fill in the weight of the default bins, once all entries are added."""
        kernels.fill_defaults(scale, total, self._begins, self._ends, self._default_places, histogram)


class FeatureBlock:
    """Bins of consecutive features, which one thread processes: dense and sparse columns behind one interface."""

    def __init__(self, dense: DenseColumns, sparse: SparseColumns, features: Sequence[Feature], first: int) -> None:
        self.dense, self.sparse, self.features = dense, sparse, features
        self.first, self.last = first, first + len(features)
        both: tuple[ColumnStore, ...] = dense, sparse
        self._stores = [store for store in both if store.columns]
        self._store_of = {column: store for store in self._stores for column in store.columns}
        self._n_bins = [feature.n_bins for feature in features]
        self.offsets = np.cumsum([0, *self._n_bins])

    @classmethod
    def read(cls, columns: Iterable[Column], n_rows: int, first: int, last: int) -> FeatureBlock:
        """Store the columns of the features from `first` to ``last - 1``, given in any order."""
        features: dict[int, Feature] = {}
        dense_columns: list[int] = []
        sparse = SparseColumns(n_rows)
        # Pages of memory are allocated on the first write: unused rows of the matrix take no memory.
        matrix = np.empty((last - first, n_rows), dtype=dtypes.BINS[0])
        for j, feature, bins in columns:
            features[j] = feature
            if bins.dtype.itemsize > matrix.dtype.itemsize:
                narrow, matrix = matrix, np.empty(matrix.shape, bins.dtype)
                matrix[: len(dense_columns)] = narrow[: len(dense_columns)]
            default = _find_default(bins)
            if default is None:
                matrix[len(dense_columns)] = bins
                dense_columns.append(j - first)
            else:
                sparse.append(j - first, bins, default)
        sparse.dtype = matrix.dtype
        dense = DenseColumns(matrix[: len(dense_columns)], dense_columns)
        return cls(dense, sparse, [features[j] for j in range(first, last)], first)

    def take(self, rows: NDArray[Any]) -> FeatureBlock:
        """The rows at these positions."""
        if self.sparse.columns:  # a column that is dense or sparse here may not be so in these rows
            columns = ((j, self.features[j - self.first], self.column(j)[rows]) for j in range(self.first, self.last))
            return FeatureBlock.read(columns, len(rows), self.first, self.last)
        dense = DenseColumns(_take_columns(self.dense.bins, rows), self.dense.columns)
        return FeatureBlock(dense, SparseColumns(len(rows)), self.features, self.first)

    def hash_rows(self, rng: np.random.Generator, hashes: NDArray[np.uint64]) -> None:
        """Combine the hash of each row with random keys of its bins."""
        for store in self._stores:
            store.hash_rows(rng, self._n_bins, hashes)

    def hash_some(self, rng: np.random.Generator, hashes: NDArray[np.uint64]) -> None:
        """`hash_rows`, for the first dense features only."""
        self.dense.hash_rows(rng, self._n_bins, hashes, N_SCREENING_FEATURES)

    def equal(self, some: NDArray[Any], others: NDArray[Any]) -> bool:
        """Whether the rows `some` have the same bins as the rows `others`, pair by pair."""
        return all(kernels.all_same(self.column(j), some, others) for j in range(self.first, self.last))

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Discard all rows except these, given in ascending order."""
        for store in self._stores:
            store.keep(kept)

    def place(self, offset: int) -> None:
        """Set the position in the histogram: the bins of these features start at `offset`."""
        self.offsets = self.offsets + offset
        for store in self._stores:
            store.place(self.offsets)

    def add(self, listing: Listing, histogram: Array) -> None:
        """Add the amounts of the listed rows to the histograms of these features."""
        for store in self._stores:
            store.add(listing, histogram)

    def follow(self, weights: Weights, histogram: Array) -> None:
        """Update the histograms of these features after a change of the weights."""
        if weights.any_stale:
            histogram[weights.stale, self.offsets[0] : self.offsets[-1]] = 0.0
        self.add(weights.listing, histogram)

    def complete(self, scale: Array, total: Array, histogram: Array) -> None:
        """Fill in the most frequent bins of sparse columns, once all rows are added."""
        for store in self._stores:
            store.complete(scale, total, histogram)

    def column(self, feature: int) -> NDArray[Any]:
        """Bins of all rows in one feature."""
        column = feature - self.first
        return self._store_of[column].column(column)


def _take_columns(matrix: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """``matrix[:, columns]``; slices are copied if they are long, as those of the rows of two classes are."""
    breaks = np.flatnonzero(np.diff(columns) != 1) + 1
    if len(columns) < MIN_SLICE_LENGTH * (len(breaks) + 1):
        return matrix.take(columns, axis=1)  # faster than [:, columns]
    slices = (slice(run[0], run[-1] + 1) for run in np.split(columns, breaks))
    return np.concatenate([matrix[:, each] for each in slices], axis=1)


def _find_default(bins: NDArray[np.unsignedinteger]) -> int | None:
    """The bin with enough rows to store a column as sparse, if there is one."""
    some = bins[:: max(1, len(bins) // N_COUNTED_ROWS)]
    counts = np.bincount(some, minlength=1)
    candidate = int(counts.argmax())
    if counts[candidate] < 0.9 * MIN_SPARSE_SHARE * len(some):  # clearly not: skip the exact count
        return None
    return candidate if np.count_nonzero(bins == candidate) >= MIN_SPARSE_SHARE * len(bins) else None


def _collapse(blocks: list[FeatureBlock], rows: Rows) -> Rows:
    """Merge rows of a class with equal bins, if that saves enough."""
    if _some_differ(blocks[0]):
        return rows
    n_rows, rng = len(rows.order), np.random.default_rng(0)
    hashes = _draw_keys(rng, rows.n_classes)[rows.true]
    if blocks[-1].last > N_SCREENING_FEATURES:
        blocks[0].hash_some(rng, hashes)
        if _find_first(hashes)[1] > MAX_DISTINCT_SHARE * n_rows:
            return rows
    for block in blocks:
        block.hash_rows(rng, hashes)
    first, n_distinct = _find_first(hashes)
    if n_distinct > MAX_DISTINCT_SHARE * n_rows:
        return rows
    is_first = first == np.arange(n_rows)
    others = np.flatnonzero(~is_first)
    if not all(block.equal(others, first[others]) for block in blocks):  # a hash collision
        return rows
    kept = np.flatnonzero(is_first)
    for block in blocks:
        block.keep(kept)
    new_row = np.empty(n_rows, dtype=np.intp)
    new_row[kept] = np.arange(len(kept))
    return rows.merge(kept, new_row[first])


def _some_differ(block: FeatureBlock) -> bool:
    """Whether no two of a few rows are equal in the first features: then too few of all rows are equal to merge them.

    Of 2,000 of 100,000 rows, 10 % of which are equal to another, about four pairs are equal.
    """
    columns = block.dense.bins[:N_SCREENING_FEATURES]
    some = columns[:, :: max(1, columns.shape[1] // N_SCREENING_ROWS)]
    packed = np.zeros((some.shape[1], N_SCREENING_FEATURES), dtype=np.uint8)
    packed[:, : len(some)] = some.T  # of larger numbers the lowest bits
    numbers = np.sort(packed.view(np.uint64).ravel())
    return not (numbers[1:] == numbers[:-1]).any()


def _draw_keys(rng: np.random.Generator, n_keys: int) -> NDArray[np.uint64]:
    return rng.integers(2**64, size=n_keys, dtype=np.uint64)


def _find_first(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], int]:
    """The first row with the same hash as each row, and the number of distinct hashes."""
    first = np.empty(len(hashes), dtype=dtypes.ROW)
    table = np.full(2 ** (2 * len(hashes)).bit_length(), len(hashes), dtype=dtypes.ROW)
    return first, kernels.find_first(hashes, table, first)


class BinnedDataset:
    """Binned training rows, in blocks of consecutive features, one block per thread.

    With `collapse`, equal rows of a class are merged into one with the sum of their weights. Rows with equal bins
    always get equal predictions and weight updates, so the results are the same.

    The histogram, of shape (n_classes, n_bins), has the sample weights by class and bin, without the default bins of
    sparse columns.
    """

    def __init__(
        self, blocks: list[FeatureBlock], bin_mapper: BinMapper, rows: Rows, threads: Threads, collapse: bool = False
    ) -> None:
        self.rows = _collapse(blocks, rows) if collapse else rows
        self.bin_mapper, offsets = bin_mapper, bin_mapper.offsets
        for block in blocks:
            block.place(int(offsets[block.first]))
        self.blocks = blocks
        self.dtype = max((block.dense.bins.dtype for block in blocks), key=lambda dtype: dtype.itemsize)
        self._block_of = [block for block in blocks for _ in range(block.first, block.last)]
        self.histogram = np.zeros((self.rows.n_classes, int(offsets[-1])))
        all_rows = self.rows.listing
        threads.each(lambda block: block.add(all_rows, self.histogram), blocks)

    @classmethod
    def read(
        cls, columns: Columns, n_columns: int, rows: Rows, threads: Threads, collapse: bool = False
    ) -> BinnedDataset:
        def block(first: int, last: int) -> FeatureBlock:
            return FeatureBlock.read(columns(rows.order, range(first, last)), len(rows.order), first, last)

        blocks = threads.over(n_columns, block)
        bin_mapper = BinMapper(tuple(feature for block in blocks for feature in block.features))
        return cls(blocks, bin_mapper, rows, threads, collapse)

    def take(self, positions: NDArray[Any], rows: Rows, collapse: bool = False) -> BinnedDataset:
        """The rows at these positions, which are `rows` in their order."""
        collapse = collapse and not self._some_differ  # then some of these rows differ too
        blocks = [block.take(positions) for block in self.blocks]
        return BinnedDataset(blocks, self.bin_mapper, rows, Threads(1), collapse)

    @cached_property
    def _some_differ(self) -> bool:
        return _some_differ(self.blocks[0])

    @property
    def work(self) -> float:
        """Estimated nanoseconds per round: a tenth of the dense bins are added, and all bins are searched for a cut."""
        n_dense = sum(block.dense.bins.size for block in self.blocks)
        return 0.05 * n_dense + 2.0 * self.histogram.size

    @property
    def dense_nbytes(self) -> int:
        """Memory of the dense columns."""
        return sum(block.dense.bins.nbytes for block in self.blocks)

    def class_histogram(self, weights: Weights, histogram: Array) -> Array:
        """Weights by class and bin, from a histogram that follows the raw weights."""
        if any(block.sparse.columns for block in self.blocks):
            total = weights.scale * self.rows.by_class(weights.raw)
            for block in self.blocks:
                block.complete(weights.scale, total, histogram)
        return histogram * weights.scale[:, None]

    def column(self, feature: int) -> NDArray[Any]:
        """Bins of all rows in one feature."""
        return self._block_of[feature].column(feature)

    @property
    def matrix(self) -> NDArray[Any]:
        """Bins of shape (n_features, n_rows)."""
        dense = self.blocks[0].dense
        if dense.columns == list(range(len(self._block_of))):  # one block, read in this order
            return dense.bins
        return np.array([block.column(f) for f, block in enumerate(self._block_of)], dtype=self.dtype)

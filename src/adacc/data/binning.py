"""Bin mapping: numbers and categories to small integers, with a bin for missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.data.category_levels import N_EXAMPLES, Unseen, check_kinds, most_frequent
from adacc.data.columns import Floats, Table, occurring
from adacc.data.threads import Threads
from adacc.kernels import dtypes

SAMPLE = 50_000
"""Maximum number of rows that bins are computed from, for features with more distinct values than bins."""

GRID_MIN_THRESHOLDS = 8
"""Minimum number of thresholds for which a grid is faster than a binary search for each value."""

GRID_CELLS_PER_THRESHOLD = 8
"""Unless values are skewed, most grid cells then contain no threshold, and the others one."""

FEW_ROWS = 64
"""Maximum number of rows for which all numeric features are binned by one call, without preparation by feature."""

FEW_VALUES = 8
"""Number of values that are looked at first to find columns that are not integers."""

WholeRange = tuple[float, float]
"""The minimum of a column of integers, and the distance of the maximum from it; negative for other columns."""


def whole_range(values: Floats) -> WholeRange:
    """The range of integers, by `kernels.whole_range` unless one of the first values is no integer."""
    if any(value == value and not value.is_integer() for value in values[:FEW_VALUES].tolist()):
        return 0.0, -1.0
    return kernels.whole_range(values)


@dataclass(frozen=True)
class NumericBins:
    """A numeric feature: the bin is the number of thresholds below the value; the last bin is for missing values."""

    thresholds: Floats

    categorical = False

    def bins(self, values: Floats, in_integers: WholeRange) -> NDArray[np.unsignedinteger]:
        """The bins of the values."""
        bins = np.empty(len(values), dtype=dtypes.bin_dtype(self.n_bins))
        thresholds, (least, distance) = self.thresholds, in_integers
        if distance >= 0.0:
            kernels.bin_integers(values, thresholds, least, int(distance) + 1, bins)
            return bins
        workspace = np.empty(kernels.BLOCK, dtype=np.uint64)
        half = thresholds[-1] / 2 - thresholds[0] / 2 if len(thresholds) >= GRID_MIN_THRESHOLDS else 0.0
        if len(thresholds) <= len(values) and 1e-290 < half < 1e290:  # no overflow or underflow of distances
            n_cells = min(GRID_CELLS_PER_THRESHOLD * len(thresholds), len(values))
            below, padded = np.zeros(n_cells, dtype=np.uint64), np.empty(2 * len(thresholds))
            kernels.bin_on_grid(values, thresholds, below, half, padded, workspace, bins)
        else:
            kernels.bin_by_search(values, kernels.pad(thresholds), len(thresholds), workspace, bins)
        return bins

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.thresholds) + 2


@dataclass(frozen=True)
class CategoryBins:
    """A categorical feature: the bin is the position among the training values; the last bin is for any other value."""

    values: tuple[Any, ...]

    categorical = True

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.values) + 1

    def bins(self, numbers: NDArray[Any], labels: list[Any]) -> NDArray[np.unsignedinteger]:
        """The bins of a column in the form of `Table.numbered`."""
        return self._bins_of(labels)[numbers]

    def encode(self, table: Table, column: int) -> NDArray[np.unsignedinteger]:
        """The bins of a column; levels that were not seen in training are recorded in the table."""
        numbers, labels = table.numbered(column)
        bins = self._bins_of(labels)
        unknown = np.flatnonzero(bins == len(self.values)).tolist()
        if any(labels[i] is not None for i in unknown):
            levels, n_rows = most_frequent(numbers, labels, unknown)
            check_kinds(table.name(column), self.values, levels)
            if n_rows:
                table.unseen[column] = Unseen(n_rows, tuple(levels[:N_EXAMPLES]))
        return bins[numbers]

    def _bins_of(self, labels: list[Any]) -> NDArray[np.unsignedinteger]:
        position = {value: i for i, value in enumerate(self.values)}
        bins = [position.get(label, len(self.values)) for label in labels]
        return np.array(bins, dtype=dtypes.bin_dtype(self.n_bins))


Feature = NumericBins | CategoryBins
Column = tuple[int, Feature, NDArray[np.unsignedinteger]]
"""Column number, feature, and bins of the rows."""


@dataclass(frozen=True)
class BinMapper:
    """Maps the columns of a table to bins."""

    features: tuple[Feature, ...]

    def __getstate__(self) -> dict[str, Any]:
        return {"features": self.features}  # without what is cached

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        return np.array([feature.categorical for feature in self.features])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the bins of each feature begin in a histogram of all features."""
        return np.cumsum([0, *(feature.n_bins for feature in self.features)])

    def _bins_of_few(self, table: Table) -> NDArray[np.unsignedinteger]:
        """Bins of all rows of a small table."""
        bins = np.empty((len(self.features), table.n_rows), dtype=dtypes.bin_dtype(self.max_bins))
        columns, thresholds, starts = self._numeric
        for rows, values, positions in table.matrices(columns):
            kernels.bin_rows(values, positions, thresholds, starts, columns, bins[:, rows])
        for j, feature in enumerate(self.features):
            if isinstance(feature, CategoryBins):
                bins[j] = feature.encode(table, j)
        return bins

    @cached_property
    def max_bins(self) -> int:
        """The largest number of bins of a feature."""
        return int(np.diff(self.offsets).max())

    @cached_property
    def _numeric(self) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Numeric features, their thresholds, and where those of each feature begin."""
        numeric = [(j, each.thresholds) for j, each in enumerate(self.features) if isinstance(each, NumericBins)]
        thresholds = [each for _, each in numeric]
        columns = np.array([j for j, _ in numeric], dtype=np.int64)
        return columns, np.concatenate([np.empty(0), *thresholds]), np.cumsum([0, *map(len, thresholds)])

    def check(self, table: Table) -> None:
        """Raise an error if a column is not of the same kind as in training."""
        table.check([feature.values if isinstance(feature, CategoryBins) else None for feature in self.features])

    def columns(self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
        """Bins of the wanted columns, one column at a time, with the rows in the given order."""
        for j, values in table.numbers([j for j in wanted if not self.features[j].categorical], order):
            feature = self.features[j]
            assert isinstance(feature, NumericBins)
            yield j, feature, feature.bins(values, whole_range(values))
        for j in wanted:
            feature = self.features[j]
            if isinstance(feature, CategoryBins):
                yield j, feature, feature.encode(table, j)[order]

    def bins(self, table: Table, order: NDArray[np.uint32], threads: Threads) -> NDArray[np.unsignedinteger]:
        """Bins of shape (n_features, n_rows)."""
        if table.n_rows <= FEW_ROWS:
            return self._bins_of_few(table)[:, order]
        bins = np.empty((len(self.features), len(order)), dtype=dtypes.bin_dtype(self.max_bins))

        def fill(first: int, last: int) -> None:
            for j, _, column in self.columns(table, order, range(first, last)):
                bins[j] = column

        threads.over(len(self.features), fill)
        return bins


@dataclass(frozen=True)
class Binning:
    """Computes the bins of each column and maps the column to them in one pass.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        Sample weights, in the order of the binned rows; only their ratios matter.
    max_bins : int or None
        Maximum number of bins of a numeric feature; None: one bin per distinct value. A feature with at most
        `max_bins` distinct values has one bin per value in any case.
    """

    weight: Floats
    max_bins: int | None

    def columns(self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
        """Bins of the wanted columns, one column at a time, with the rows in the given order."""
        categorical = table.categorical
        for j, values in table.numbers([j for j in wanted if not categorical[j]], order):
            in_integers = whole_range(values)
            numeric = NumericBins(self.thresholds(values, in_integers))
            yield j, numeric, numeric.bins(values, in_integers)
        for j in wanted:
            if categorical[j]:
                numbered = table.numbered(j)
                categories = CategoryBins(in_order(occurring(*numbered)))
                yield j, categories, categories.bins(*numbered)[order]

    def thresholds(self, values: Floats, in_integers: WholeRange) -> Floats:
        """Midpoints between neighbouring distinct values; with more than `max_bins` values, bins of equal weight."""
        if self.max_bins is not None and self._sample is not None:
            found, exact = find_thresholds(values[self._sample], NONE, in_integers, self.max_bins)
            if not exact:
                return found
        return find_thresholds(values, self.weight if self._weighted else NONE, in_integers, self.max_bins)[0]

    @cached_property
    def _weighted(self) -> bool:
        return bool((self.weight != self.weight[0]).any())

    @cached_property
    def _sample(self) -> NDArray[np.intp] | None:
        """Rows drawn by weight, one from each of `SAMPLE` shares of equal weight; None for at most `SAMPLE` rows."""
        if len(self.weight) <= SAMPLE:
            return None
        return rows_at(draws(self.weight.sum()), self.weight)


NONE = np.empty(0)
"""Stands for equal weights."""


def draws(whole: float) -> Floats:
    """`SAMPLE` ascending random positions in the cumulative weight `whole`, one in each of equal shares."""
    return (np.arange(SAMPLE) + np.random.default_rng(0).random(SAMPLE)) * (whole / SAMPLE)


def rows_at(places: Floats, weight: Floats) -> NDArray[np.intp]:
    """The rows at these positions in the cumulative weight."""
    return np.minimum(np.searchsorted(np.cumsum(weight), places, side="right"), len(weight) - 1)


def find_thresholds(
    values: Floats, weights: Floats, in_integers: WholeRange, max_bins: int | None
) -> tuple[Floats, bool]:
    """Thresholds between bins of equal weight, and whether every distinct value has its own bin.

    `NONE` stands for equal weights.
    """
    limit = max(len(values), 1) if max_bins is None else max_bins
    out = np.empty(min(limit, len(values)))
    n_found, exact = kernels.fill_bins(*_group(values, weights, in_integers), limit, out)
    return out[:n_found].copy(), exact


def _group(values: Floats, weights: Floats, in_integers: WholeRange) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The values that are not NaN in ascending groups, their weights, and the end of each group."""
    n_rows, (least, distance) = len(values), in_integers
    if distance >= 0.0 and kernels.MIN_VALUES_PER_INTEGER * distance < n_rows:
        n_integers = int(distance) + 1
        ends, arranged, moved = np.empty(n_integers, dtype=np.int64), np.empty(n_integers), np.empty(n_integers)
        n_found = kernels.count_integers(values, weights, least, np.zeros((2, n_integers)), ends, arranged, moved)
        return arranged[:n_found], moved[:n_found], ends[:n_found]
    lowest, highest = float(np.fmin.reduce(values, initial=np.inf)), float(np.fmax.reduce(values, initial=-np.inf))
    if len(weights) == 0 and 1e-290 < highest / 2 - lowest / 2 < 1e290:  # no overflow or underflow of distances
        ends = np.empty(min(n_rows, kernels.MAX_GROUPS) + 2, dtype=np.int64)
        arranged, groups = np.empty(n_rows), np.empty(n_rows, dtype=np.uint16)
        n_groups, n_present = kernels.group_values(values, lowest, highest, groups, ends, arranged)
        if n_groups >= 0:
            return arranged[:n_present], NONE, ends[:n_groups]
    n_present = n_rows - int(np.isnan(values).sum())
    ends = np.array([n_present] if n_present else [], dtype=np.int64)
    if len(weights) == 0:
        return np.sort(values)[:n_present], NONE, ends  # NaN comes last
    order = np.argsort(values)[:n_present]
    return values[order], weights[order], ends


def in_order(labels: set[Any]) -> tuple[Any, ...]:
    """Sorted labels, with missing last; the order does not depend on the order of the rows."""
    present, missing = labels - {None}, (None,) if None in labels else ()
    try:
        return (*sorted(present), *missing)
    except TypeError:  # labels of several types
        return (*sorted(present, key=lambda label: (type(label).__name__, str(label))), *missing)

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

WholeRange = tuple[float, float]
"""The result of `kernels.whole_range` for a column."""


@dataclass(frozen=True)
class NumericBins:
    """A numeric feature: the bin is the number of thresholds below the value; the last bin is for missing values."""

    thresholds: Floats

    categorical = False

    def code(self, values: Floats, whole_range: WholeRange) -> NDArray[np.unsignedinteger]:
        """The bins of the values."""
        bins = np.empty(len(values), dtype=dtypes.code_dtype(self.n_codes))
        kernels.bin_values(values, self.thresholds, *whole_range, bins)
        return bins

    @property
    def n_codes(self) -> int:
        """Number of bins."""
        return len(self.thresholds) + 2


@dataclass(frozen=True)
class CategoryBins:
    """A categorical feature: the bin is the position among the training values; the last bin is for any other value."""

    values: tuple[Any, ...]

    categorical = True

    @property
    def n_codes(self) -> int:
        """Number of bins."""
        return len(self.values) + 1

    def code(self, numbers: NDArray[Any], labels: list[Any]) -> NDArray[np.unsignedinteger]:
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
        return np.array(bins, dtype=dtypes.code_dtype(self.n_codes))


Feature = NumericBins | CategoryBins
Column = tuple[int, Feature, NDArray[np.unsignedinteger]]
"""Column number, feature, and bins of the rows."""


@dataclass(frozen=True)
class BinMapper:
    """Maps the columns of a table to bins."""

    features: tuple[Feature, ...]

    @property
    def categorical(self) -> NDArray[np.bool_]:
        return np.array([feature.categorical for feature in self.features])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the bins of each feature begin in a histogram of all features."""
        return np.cumsum([0, *(feature.n_codes for feature in self.features)])

    def check(self, table: Table) -> None:
        """Raise an error if a column is not of the same kind as in training."""
        table.check([feature.values if isinstance(feature, CategoryBins) else None for feature in self.features])

    def columns(self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
        """Bins of the wanted columns, one column at a time, with the rows in the given order."""
        for j, values in table.numbers([j for j in wanted if not self.features[j].categorical], order):
            feature = self.features[j]
            assert isinstance(feature, NumericBins)
            yield j, feature, feature.code(values, kernels.whole_range(values))
        for j in wanted:
            feature = self.features[j]
            if isinstance(feature, CategoryBins):
                yield j, feature, feature.encode(table, j)[order]

    def codes(self, table: Table, order: NDArray[np.uint32], threads: Threads) -> NDArray[np.unsignedinteger]:
        """Bins of shape (n_features, n_rows)."""
        max_bins = max(feature.n_codes for feature in self.features)
        bins = np.empty((len(self.features), len(order)), dtype=dtypes.code_dtype(max_bins))

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
        Sample weights, in the order of the binned rows; a row of weight 2 counts as two rows.
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
            whole_range = kernels.whole_range(values)
            numeric = NumericBins(self.thresholds(values, whole_range))
            yield j, numeric, numeric.code(values, whole_range)
        for j in wanted:
            if categorical[j]:
                numbered = table.numbered(j)
                categories = CategoryBins(in_order(occurring(*numbered)))
                yield j, categories, categories.code(*numbered)[order]

    def thresholds(self, values: Floats, whole_range: WholeRange) -> Floats:
        """Midpoints between neighbouring distinct values; with more than `max_bins` values, bins of equal weight."""
        if self.max_bins is not None and self._sample is not None:
            found, exact = find_thresholds(values[self._sample], NONE, whole_range, self.max_bins)
            if not exact:
                return found
        return find_thresholds(values, self.weight if self._weighted else NONE, whole_range, self.max_bins)[0]

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
    values: Floats, weights: Floats, whole_range: WholeRange, max_bins: int | None
) -> tuple[Floats, bool]:
    """Thresholds between bins of equal weight, and whether every distinct value has its own bin.

    `NONE` stands for equal weights.
    """
    limit = max(len(values), 1) if max_bins is None else max_bins
    out = np.empty(min(limit, len(values)))
    n_found, exact = kernels.find_thresholds(values, weights, *whole_range, limit, out)
    return out[:n_found].copy(), exact


def in_order(labels: set[Any]) -> tuple[Any, ...]:
    """Sorted labels, with missing last; the order does not depend on the order of the rows."""
    present, missing = labels - {None}, (None,) if None in labels else ()
    try:
        return (*sorted(present), *missing)
    except TypeError:  # labels of several types
        return (*sorted(present, key=lambda label: (type(label).__name__, str(label))), *missing)

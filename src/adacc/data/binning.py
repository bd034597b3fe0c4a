"""Features as small integers: bins or distinct values of numbers, categories, missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.data.columns import Floats, Table, occurring
from adacc.data.levels import N_EXAMPLES, Unseen, check_kinds, most_frequent
from adacc.data.threads import Threads
from adacc.kernels import dtypes

SAMPLE = 50_000
"""Of more rows than this so many are drawn to find the bins of a feature that has more values than bins."""

WholeRange = tuple[float, float]
"""What `kernels.whole_range` says of a column."""


@dataclass(frozen=True)
class NumericBins:
    """A numeric feature: code = how many thresholds lie below the value; the last code is for missing."""

    thresholds: Floats

    categorical = False

    def code(self, values: Floats, wholes: WholeRange) -> NDArray[np.unsignedinteger]:
        codes = np.empty(len(values), dtype=dtypes.code_dtype(self.n_codes))
        kernels.code_values(values, self.thresholds, *wholes, codes)
        return codes

    @property
    def n_codes(self) -> int:
        return len(self.thresholds) + 2


@dataclass(frozen=True)
class CategoryBins:
    """A categorical feature: code = position among the values seen in training; the last code is for any other."""

    values: tuple[Any, ...]

    categorical = True

    @property
    def n_codes(self) -> int:
        return len(self.values) + 1

    def code(self, numbers: NDArray[Any], labels: list[Any]) -> NDArray[np.unsignedinteger]:
        """Of a column that is `Table.numbered`."""
        return self._codes_of(labels)[numbers]

    def encode(self, table: Table, column: int) -> NDArray[np.unsignedinteger]:
        """The codes of a column; the table notes what was not seen in training."""
        numbers, labels = table.numbered(column)
        codes = self._codes_of(labels)
        unknown = np.flatnonzero(codes == len(self.values)).tolist()
        if any(labels[i] is not None for i in unknown):
            levels, n_rows = most_frequent(numbers, labels, unknown)
            check_kinds(table.name(column), self.values, levels)
            if n_rows:
                table.unseen[column] = Unseen(n_rows, tuple(levels[:N_EXAMPLES]))
        return codes[numbers]

    def _codes_of(self, labels: list[Any]) -> NDArray[np.unsignedinteger]:
        position = {value: code for code, value in enumerate(self.values)}
        codes = [position.get(label, len(self.values)) for label in labels]
        return np.array(codes, dtype=dtypes.code_dtype(self.n_codes))


Feature = NumericBins | CategoryBins
Column = tuple[int, Feature, NDArray[np.unsignedinteger]]
"""A column's number, what it holds, and its codes."""


@dataclass(frozen=True)
class BinMapper:
    """What turns a table into codes: one feature description per column."""

    features: tuple[Feature, ...]

    @property
    def categorical(self) -> NDArray[np.bool_]:
        return np.array([feature.categorical for feature in self.features])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each feature's codes begin when all features' codes are laid end to end."""
        return np.cumsum([0, *(feature.n_codes for feature in self.features)])

    def check(self, table: Table) -> None:
        """Refuse a table whose columns cannot be what they were in training."""
        table.check([feature.values if isinstance(feature, CategoryBins) else None for feature in self.features])

    def columns(self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
        """The wanted columns' codes, one at a time, the rows in the given order."""
        for j, values in table.numbers([j for j in wanted if not self.features[j].categorical], order):
            feature = self.features[j]
            assert isinstance(feature, NumericBins)
            yield j, feature, feature.code(values, kernels.whole_range(values))
        for j in wanted:
            feature = self.features[j]
            if isinstance(feature, CategoryBins):
                yield j, feature, feature.encode(table, j)[order]

    def codes(self, table: Table, order: NDArray[np.uint32], threads: Threads) -> NDArray[np.unsignedinteger]:
        """All features' codes, a row of the result each."""
        widest = max(feature.n_codes for feature in self.features)
        codes = np.empty((len(self.features), len(order)), dtype=dtypes.code_dtype(widest))

        def fill(first: int, last: int) -> None:
            for j, _, column in self.columns(table, order, range(first, last)):
                codes[j] = column

        threads.over(len(self.features), fill)
        return codes


@dataclass(frozen=True)
class Binning:
    """What codes a table while it finds out how: the bins or values of a column are learnt just before it is coded.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        Sample weights, in the order in which rows will be coded; a row of weight 2 counts as two rows.
    max_bins : int or None
        Most bins of a numeric feature; None: one for each distinct value. A feature with no more distinct values than
        bins is coded exactly either way.
    """

    weight: Floats
    max_bins: int | None

    def columns(self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
        """The wanted columns' codes, one at a time, the rows in the given order."""
        categorical = table.categorical
        for j, values in table.numbers([j for j in wanted if not categorical[j]], order):
            wholes = kernels.whole_range(values)
            numbers = NumericBins(self.thresholds(values, wholes))
            yield j, numbers, numbers.code(values, wholes)
        for j in wanted:
            if categorical[j]:
                numbered = table.numbered(j)
                categories = CategoryBins(in_order(occurring(*numbered)))
                yield j, categories, categories.code(*numbered)[order]

    def thresholds(self, values: Floats, wholes: WholeRange) -> Floats:
        """Midway between neighbouring distinct values; of more than `max_bins` of them, between bins of even weight."""
        if self.max_bins is not None and self._sample is not None:
            found, every = find_thresholds(values[self._sample], NONE, wholes, self.max_bins)
            if not every:
                return found
        return find_thresholds(values, self.weight if self._weighted else NONE, wholes, self.max_bins)[0]

    @cached_property
    def _weighted(self) -> bool:
        return bool((self.weight != self.weight[0]).any())

    @cached_property
    def _sample(self) -> NDArray[np.intp] | None:
        """Rows drawn by weight, one from each of `SAMPLE` equal shares of the whole; None where there are too few."""
        if len(self.weight) <= SAMPLE:
            return None
        return rows_at(draws(self.weight.sum()), self.weight)


NONE = np.empty(0)


def draws(whole: float) -> Floats:
    """Ascending places in rows laid end to end by weight, `whole` in all: one in each of `SAMPLE` equal shares."""
    return (np.arange(SAMPLE) + np.random.default_rng(0).random(SAMPLE)) * (whole / SAMPLE)


def rows_at(places: Floats, weight: Floats) -> NDArray[np.intp]:
    """The rows at these places of rows laid end to end by weight."""
    return np.minimum(np.searchsorted(np.cumsum(weight), places, side="right"), len(weight) - 1)


def find_thresholds(values: Floats, weights: Floats, wholes: WholeRange, max_bins: int | None) -> tuple[Floats, bool]:
    """Thresholds between bins of even weight, and whether there is one between any two values.

    `NONE` stands for equal weights.
    """
    most = max(len(values), 1) if max_bins is None else max_bins
    out = np.empty(min(most, len(values)))
    n_found, every = kernels.find_thresholds(values, weights, *wholes, most, out)
    return out[:n_found].copy(), every


def in_order(labels: set[Any]) -> tuple[Any, ...]:
    """Labels in an order that does not depend on the rows'; missing last."""
    present, missing = labels - {None}, (None,) if None in labels else ()
    try:
        return (*sorted(present), *missing)
    except TypeError:  # of several types
        return (*sorted(present, key=lambda label: (type(label).__name__, str(label))), *missing)

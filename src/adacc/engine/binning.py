"""Features as small integers: bins or distinct values of numbers, categories, missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.engine import dtypes, kernels
from adacc.engine.table import Floats, Table
from adacc.engine.threads import Threads

FEW = 24
"""Up to so many thresholds `code_few` is faster than `code_many`."""


@dataclass(frozen=True)
class Numbers:
    """A numeric feature: code = how many thresholds lie below the value; the last code is for missing."""

    thresholds: Floats

    categorical = False

    @property
    def n_codes(self) -> int:
        return len(self.thresholds) + 2


@dataclass(frozen=True)
class Categories:
    """A categorical feature: code = position among the values seen in training; the last code is for any other."""

    values: tuple[Any, ...]

    categorical = True

    @property
    def n_codes(self) -> int:
        return len(self.values) + 1

    def encode(self, table: Table, column: int) -> NDArray[np.unsignedinteger]:
        position = {value: code for code, value in enumerate(self.values)}
        codes = table.encode(column, position, other=len(self.values))
        return codes.astype(dtypes.code_dtype(self.n_codes))


Feature = Numbers | Categories


@dataclass(frozen=True)
class Coder:
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
        table.check([feature.values if isinstance(feature, Categories) else None for feature in self.features])

    def columns(
        self, table: Table, order: NDArray[np.uint32], wanted: Sequence[int]
    ) -> Iterator[tuple[int, NDArray[np.unsignedinteger]]]:
        """Codes of the wanted features, one at a time, the rows in the given order."""
        numeric = [j for j in wanted if not self.features[j].categorical]
        for j, values in table.numbers(numeric):
            feature = self.features[j]
            assert isinstance(feature, Numbers)
            codes = np.empty(len(order), dtype=dtypes.code_dtype(feature.n_codes))
            code = kernels.code_few if len(feature.thresholds) <= FEW else kernels.code_many
            code(values, feature.thresholds, order, codes)
            yield j, codes
        for j in wanted:
            feature = self.features[j]
            if isinstance(feature, Categories):
                yield j, feature.encode(table, j)[order]

    def codes(self, table: Table, order: NDArray[np.uint32], threads: Threads) -> NDArray[np.unsignedinteger]:
        """All features' codes, a row of the result each."""
        widest = max(feature.n_codes for feature in self.features)
        codes = np.empty((len(self.features), len(order)), dtype=dtypes.code_dtype(widest))

        def fill(first: int, last: int) -> None:
            for j, column in self.columns(table, order, range(first, last)):
                codes[j] = column

        threads.over(len(self.features), fill)
        return codes


def learn(table: Table, sample_weight: Floats, max_bins: int | None, threads: Threads) -> Coder:
    """Find the bins or values of every column.

    Parameters
    ----------
    table : Table
        The training rows.
    sample_weight : ndarray of shape (n_rows,)
        A row of weight 2 counts as two rows.
    max_bins : int or None
        Most bins of a numeric feature; None: one for each distinct value. A feature with no more distinct values than
        bins is coded exactly either way.
    """
    features: list[Feature] = [Categories(())] * table.n_columns
    categorical = table.categorical
    weighted = bool((sample_weight != sample_weight[0]).any())

    def describe(first: int, last: int) -> None:
        numeric = [j for j in range(first, last) if not categorical[j]]
        for j, values in table.numbers(numeric):
            features[j] = Numbers(_thresholds(values, sample_weight if weighted else None, max_bins))
        for j in range(first, last):
            if categorical[j]:
                features[j] = Categories(_in_order(table.distinct(j)))

    threads.over(table.n_columns, describe)
    return Coder(tuple(features))


def _thresholds(values: Floats, weights: Floats | None, max_bins: int | None) -> Floats:
    """Midway between neighbouring distinct values; of more than `max_bins` of them, between bins of even weight."""
    if weights is None:
        values = np.sort(values)
    else:
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
    values = values[: np.searchsorted(values, np.nan)]  # NaN sorts last
    ends = np.flatnonzero(values[1:] != values[:-1])  # the last of each run of equal values, but for the last run
    if max_bins is not None and len(ends) >= max_bins:
        first = np.concatenate([[0], ends + 1])
        share = (
            np.diff(first, append=len(values)) if weights is None else np.add.reduceat(weights[: len(values)], first)
        )
        closed = np.empty(max_bins, dtype=np.int64)
        n_closed = kernels.close_bins(share.astype(np.float64), max_bins, closed)
        ends = ends[closed[:n_closed]]
    low, high = values[ends], values[ends + 1]
    middle = low / 2 + high / 2  # halves first, so that huge values do not overflow
    return np.where((low <= middle) & (middle < high), middle, low)


def _in_order(labels: set[Any]) -> tuple[Any, ...]:
    """Labels in an order that does not depend on the rows'; missing last."""
    present, missing = labels - {None}, (None,) if None in labels else ()
    try:
        return (*sorted(present), *missing)
    except TypeError:  # of several types
        return (*sorted(present, key=lambda label: (type(label).__name__, str(label))), *missing)

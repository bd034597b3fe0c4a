"""Statistics of all rows that binning needs: classes, weights, and the bins of every feature.

Each function computes the statistics of one partition. Merged, they equal the statistics of all rows at once: the same
classes, and the same bins from the same sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.sharded_backend import BinnedShard
from adacc.data.binning import (
    NONE,
    SAMPLE,
    BinMapper,
    CategoryBins,
    Feature,
    NumericBins,
    draws,
    find_thresholds,
    in_order,
    rows_at,
    whole_range,
)
from adacc.data.columns import Table
from adacc.data.threads import Threads
from adacc.data.weights import WeightScaler
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.input_validation import (
    NO_WEIGHT,
    check_classes,
    check_labels,
    number_labels,
    read_table,
    read_weight,
)
from adacc.kernels import dtypes


class Partition(NamedTuple):
    """Rows as given by the user, and their name in messages; X is None if only labels are needed."""

    X: Any
    y: Any
    weight: Any
    name: str


class PartitionTask(NamedTuple):
    """A function to run on every partition."""

    function: Callable[..., Any]  # takes a partition, the common arguments, and the argument of this partition
    arguments: tuple[Any, ...] = ()  # common arguments
    per_partition: Sequence[Any] | None = None  # one argument for each partition
    columns: Sequence[int] | None = None  # columns that the function needs: None for all; if empty, X is None

    def own(self, p: int) -> tuple[Any, ...]:
        """The argument of partition p, as a tuple."""
        return () if self.per_partition is None else (self.per_partition[p],)


def run_task(function: Callable[..., Any], arguments: tuple[Any, ...], own: tuple[Any, ...], *partition: Any) -> Any:
    """Run a function on a partition; its errors name the partition."""
    name = partition[-1]
    try:
        return function(Partition(*partition), *arguments, *own)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None


# Classes and weights.


@dataclass(frozen=True)
class PartitionLabels:
    """The classes of a partition, with the number of rows and the weight of each."""

    classes: NDArray[Any]
    counts: NDArray[np.int64]
    class_weight: Array
    weight_scaler: WeightScaler
    n_rows: int


def label_statistics(partition: Partition) -> PartitionLabels:
    if len(partition.y) == 0:
        return PartitionLabels(np.empty(0), np.empty(0, np.int64), NONE, WeightScaler(0, 0.0, 0), 0)
    labels = check_labels(partition.y, "y")
    weight = read_weight(partition.weight, len(labels), "sample_weight")
    used = weight > 0.0
    classes, numbers = number_labels(labels[used])
    return PartitionLabels(
        classes,
        np.bincount(numbers, minlength=len(classes)),
        np.bincount(numbers, weight[used], len(classes)),  # type: ignore[arg-type]
        WeightScaler.of(weight),
        len(labels),
    )


class LabelStatistics:
    """The classes of all rows, sorted, and the weight of each class (row) in each partition (column)."""

    def __init__(self, partitions: Sequence[PartitionLabels]) -> None:
        nonempty = [partition.classes for partition in partitions if len(partition.classes)]
        if not sum(partition.n_rows for partition in partitions):
            raise ValueError("there are no rows to fit on: every partition of y is empty")
        if not nonempty:
            raise ValueError(NO_WEIGHT.format("sample_weight"))
        kinds = {"text" if isinstance(classes.tolist()[0], str) else "numbers" for classes in nonempty}
        if len(kinds) > 1:
            raise TypeError("y must have labels of one kind, but has text in some partitions and numbers in others")
        self.classes = np.unique(np.concatenate(nonempty))
        self.weight_scaler = reduce(or_, (partition.weight_scaler for partition in partitions))
        check_classes(self.classes, self.weight_scaler.n_rows < sum(partition.n_rows for partition in partitions))
        self.class_weight = np.zeros((len(self.classes), len(partitions)))
        self.class_rows = np.zeros(len(self.classes), dtype=np.int64)
        self.n_rows = np.array([partition.counts.sum() for partition in partitions])
        for p, partition in enumerate(partitions):
            if len(partition.classes):
                own = np.searchsorted(self.classes, partition.classes)
                self.class_weight[own, p] = self.weight_scaler.scale(partition.class_weight)
                self.class_rows[own] += partition.counts

    def places(self) -> list[list[Array]] | list[None]:
        """The positions of the sampled rows by partition and class; None if all rows are used.

        Positions are cumulative weights of the rows, ordered by class and partition.
        """
        if self.n_rows.sum() <= SAMPLE:
            return [None] * len(self.n_rows)
        ends = np.cumsum(self.class_weight)
        begins = np.concatenate([[0.0], ends[:-1]])
        drawn = draws(ends[-1])
        edges = np.searchsorted(drawn, np.concatenate([begins, [np.inf]]))
        shares = [drawn[first:last] - begin for first, last, begin in zip(edges[:-1], edges[1:], begins, strict=True)]
        n_classes, n_partitions = self.class_weight.shape
        return [[shares[k * n_partitions + p] for k in range(n_classes)] for p in range(n_partitions)]


# Bins and categories.


@dataclass(frozen=True)
class PartitionColumns:
    """Statistics of the columns of a partition."""

    names: list[str]  # names of the columns in messages
    categorical: NDArray[np.bool_]
    # (n_columns,): whether all values of a column are missing, so that its kind is unknown
    is_missing: NDArray[np.bool_]
    categories: dict[int, set[Any]]  # the labels of each categorical column
    drawn: dict[int, Array]  # the values of the sampled rows of each numeric column


@dataclass(frozen=True)
class WeightedRows:
    """The rows of a partition with nonzero weight: features, class indices, weights."""

    table: Table
    y: NDArray[np.intp]
    weight: Array


def weighted_rows(
    partition: Partition, estimator: BaseBoosting, labels: NDArray[Any], weight_scaler: WeightScaler
) -> WeightedRows | None:
    """The rows of nonzero weight; None if there are none."""
    if partition.X.shape[0] != len(partition.y):
        raise ValueError(f"X has {partition.X.shape[0]} rows, but y has {len(partition.y)}")
    if len(partition.y) == 0:
        return None
    try:
        table = read_table(copy(estimator), partition.X, reset=True)  # it stores the column names
    except ValueError:
        _check_finite(partition.X)
        raise
    y = check_labels(partition.y, "y")
    weight = weight_scaler.scale(read_weight(partition.weight, len(y), "sample_weight"))
    used = np.flatnonzero(weight)
    if len(used) < len(y):
        table, y, weight = table.take(used), y[used], weight[used]
    if len(used) == 0:
        return None
    return WeightedRows(table, np.searchsorted(labels, y), weight)


def _check_finite(X: Any) -> None:
    """Raise ValueError with the position of an infinite value, which the error of scikit-learn lacks."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0].tolist()
        raise ValueError(
            f"column {column} must be finite, got {X[row, column]} in row {row}; NaN stands for a missing value"
        )


def column_statistics(
    partition: Partition,
    estimator: BaseBoosting,
    labels: NDArray[Any],
    weight_scaler: WeightScaler,
    places: list[Array] | None,
) -> PartitionColumns | None:
    used = weighted_rows(partition, estimator, labels, weight_scaler)
    if used is None:
        return None
    table = used.table
    categorical = table.categorical
    rows = (np.empty(0, dtype=np.intp) if places is None else _drawn(used, places)).astype(dtypes.ROW)
    numeric = np.flatnonzero(~categorical).tolist()
    is_missing = np.zeros(table.n_columns, dtype=bool)
    drawn = {}
    for j, values in table.numbers(numeric, rows):
        drawn[j] = values.copy()
    blank = [j for j in numeric if np.isnan(drawn[j]).all()]  # in the sampled rows, of which there may be none
    for j, values in table.numbers(blank, table.every_row):
        is_missing[j] = bool(np.isnan(values).all())
    categories = {j: table.distinct(j) for j in np.flatnonzero(categorical).tolist()}
    for j, labels_of_column in categories.items():
        is_missing[j] = labels_of_column == {None}
    names = [table.name(j) for j in range(table.n_columns)]
    return PartitionColumns(names, categorical, is_missing, categories, drawn)


def _drawn(used: WeightedRows, places: list[Array]) -> NDArray[np.intp]:
    rows = []
    for k, places_of_class in enumerate(places):
        if len(places_of_class):
            members = np.flatnonzero(used.y == k)
            rows.append(members[rows_at(places_of_class, used.weight[members])])
    return np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)


ValueCounts = tuple[Array, Array]
"""Distinct values, and the weight of each."""


def count_values(
    partition: Partition, estimator: BaseBoosting, labels: NDArray[Any], weight_scaler: WeightScaler
) -> list[ValueCounts] | None:
    """The distinct values of each numeric column and their weights."""
    used = weighted_rows(partition, estimator, labels, weight_scaler)
    if used is None:
        return None
    table = used.table
    return [_value_counts(values, used.weight) for _, values in table.numbers(range(table.n_columns), table.every_row)]


def _value_counts(values: Array, weight: Array) -> ValueCounts:
    present = ~np.isnan(values)
    distinct, numbers = np.unique(values[present], return_inverse=True)
    return distinct, np.bincount(numbers, weight[present], len(distinct))  # type: ignore[return-value]


class ColumnStatistics:
    """Statistics of the columns of all rows."""

    def __init__(
        self, partitions: Sequence[PartitionColumns | None], names: Sequence[str], max_bins: int | None
    ) -> None:
        self.max_bins = max_bins
        known = [(partition, name) for partition, name in zip(partitions, names, strict=True) if partition is not None]
        first, first_name = known[0]
        for partition, name in known:
            if len(partition.names) != len(first.names):
                raise ValueError(f"{name} has {len(partition.names)} columns, but {first_name} has {len(first.names)}")
            for own, other in zip(partition.names, first.names, strict=True):
                if own != other:
                    raise ValueError(f"{name} has {own} where {first_name} has {other}")
        missing = np.array([partition.is_missing for partition, _ in known])
        categorical = np.array([partition.categorical for partition, _ in known])
        holds_labels = categorical & (~missing | missing.all(axis=0))
        self.categorical = holds_labels.any(axis=0)
        for j in np.flatnonzero(self.categorical).tolist():
            holds_numbers = ~categorical[:, j] & ~missing[:, j]
            if holds_numbers.any():
                one, other = (known[int(np.argmax(holds))][1] for holds in (holds_numbers, holds_labels[:, j]))
                raise TypeError(
                    f"{first.names[j]} has numbers in {one} and categories in {other}; convert it to one type"
                )
        self._features: dict[int, Feature] = {
            j: CategoryBins(in_order(set().union(*(partition.categories.get(j, {None}) for partition, _ in known))))
            for j in np.flatnonzero(self.categorical).tolist()
        }
        self.unbinned: list[int] = []
        for j in np.flatnonzero(~self.categorical).tolist():
            drawn = np.concatenate([partition.drawn.get(j, NONE) for partition, _ in known])
            thresholds, every = find_thresholds(drawn, NONE, whole_range(drawn), max_bins)
            if not every:
                self._features[j] = NumericBins(thresholds)
            else:  # few distinct values: the sample may miss some, so all rows are needed
                self.unbinned.append(j)

    def bin_mapper(self, partitions: Sequence[list[ValueCounts] | None]) -> BinMapper:
        """The bin mapper, given the values of the unbinned columns."""
        features = dict(self._features)
        for i, j in enumerate(self.unbinned):
            value_counts = [partition[i] for partition in partitions if partition is not None]
            values, weight = (np.concatenate(part) for part in zip(*value_counts, strict=True))
            features[j] = NumericBins(find_thresholds(values, weight, whole_range(values), self.max_bins)[0])
        return BinMapper(tuple(features[j] for j in range(len(features))))


def bin_partition(
    partition: Partition,
    estimator: BaseBoosting,
    labels: NDArray[Any],
    weight_scaler: WeightScaler,
    bin_mapper: BinMapper,
) -> BinnedShard | None:
    used = weighted_rows(partition, estimator, labels, weight_scaler)
    if used is None:
        return None
    bins = bin_mapper.bins(used.table, used.table.every_row, Threads(1))
    return BinnedShard(bins, used.y.astype(dtypes.CLASS), used.weight)

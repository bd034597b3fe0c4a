"""What must be known of all rows before any is coded: their classes and weights, and the bins of every feature.

Each function here looks at one piece of the rows, and what it says of the pieces is put together to what one look at
all rows would have said: the same classes, the same bins, from the same draw.
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

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.boosting.sharded import BinnedShard
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
)
from adacc.data.columns import Table
from adacc.data.threads import Threads
from adacc.data.weights import WeightScaler
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.reading import NO_WEIGHT, check_classes, check_labels, number_labels, read_table, read_weight
from adacc.kernels import dtypes


class Piece(NamedTuple):
    """Some rows as the user has them, X None where only labels are looked at; and how to speak of them."""

    X: Any
    y: Any
    weight: Any
    name: str


class PartitionTask(NamedTuple):
    """A function to be asked of every piece.

    Attributes
    ----------
    function : callable
        Given a piece, what is known of all pieces, and what is for this one alone.
    known : tuple
        What is known of all.
    apart : sequence or None
        What is for each piece alone.
    columns : sequence of int or None
        Those that it sees: None for all, and none at all (X is None) if they are empty.
    """

    function: Callable[..., Any]
    known: tuple[Any, ...] = ()
    apart: Sequence[Any] | None = None
    columns: Sequence[int] | None = None

    def own(self, p: int) -> tuple[Any, ...]:
        """What is for piece p alone."""
        return () if self.apart is None else (self.apart[p],)


def look_at(function: Callable[..., Any], known: tuple[Any, ...], own: tuple[Any, ...], *piece: Any) -> Any:
    """What a function says of a piece; its errors name the piece."""
    name = piece[-1]
    try:
        return function(Piece(*piece), *known, *own)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None


# Classes and weights.


@dataclass(frozen=True)
class LabelsOfPiece:
    """The classes of some rows, with rows and weight of each."""

    classes: NDArray[Any]
    counts: NDArray[np.int64]
    class_weight: Array
    weighing: WeightScaler
    n_rows: int


def look_at_labels(piece: Piece) -> LabelsOfPiece:
    if len(piece.y) == 0:
        return LabelsOfPiece(np.empty(0), np.empty(0, np.int64), NONE, WeightScaler(0.0, 0.0, 0), 0)
    labels = check_labels(piece.y, "y")
    weight = read_weight(piece.weight, len(labels), "sample_weight")
    used = weight > 0.0
    classes, numbers = number_labels(labels[used])
    return LabelsOfPiece(
        classes,
        np.bincount(numbers, minlength=len(classes)),
        np.bincount(numbers, weight[used], len(classes)),  # type: ignore[arg-type]
        WeightScaler.of(weight),
        len(labels),
    )


class Labels:
    """The classes of all rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    weighing : WeightScaler
        How sample weights count.
    class_weight : ndarray of shape (n_classes, n_pieces)
        Weight of each class in each piece.
    """

    def __init__(self, pieces: Sequence[LabelsOfPiece]) -> None:
        found = [piece.classes for piece in pieces if len(piece.classes)]
        if not sum(piece.n_rows for piece in pieces):
            raise ValueError("there are no rows to fit on: every partition of y is empty")
        if not found:
            raise ValueError(NO_WEIGHT.format("sample_weight"))
        kinds = {"text" if isinstance(classes.tolist()[0], str) else "numbers" for classes in found}
        if len(kinds) > 1:
            raise TypeError("y must have labels of one kind, but has text in some partitions and numbers in others")
        self.classes = np.unique(np.concatenate(found))
        self.weighing = reduce(or_, (piece.weighing for piece in pieces))
        check_classes(self.classes, self.weighing.n_rows < sum(piece.n_rows for piece in pieces))
        self.class_weight = np.zeros((len(self.classes), len(pieces)))
        self.n_rows = np.array([piece.counts.sum() for piece in pieces])
        for p, piece in enumerate(pieces):
            if len(piece.classes):
                own = np.searchsorted(self.classes, piece.classes)
                self.class_weight[own, p] = self.weighing.counts(piece.class_weight)

    def places(self) -> list[list[Array]] | list[None]:
        """Of each piece and class, the places where rows are drawn; None where there are too few rows for that.

        All rows are laid end to end by weight, class by class and piece by piece.
        """
        if self.n_rows.sum() <= SAMPLE:
            return [None] * len(self.n_rows)
        ends = np.cumsum(self.class_weight)
        begins = np.concatenate([[0.0], ends[:-1]])
        drawn = draws(ends[-1])
        edges = np.searchsorted(drawn, np.concatenate([begins, [np.inf]]))
        shares = [drawn[first:last] - begin for first, last, begin in zip(edges[:-1], edges[1:], begins, strict=True)]
        n_classes, n_pieces = self.class_weight.shape
        return [[shares[k * n_pieces + p] for k in range(n_classes)] for p in range(n_pieces)]


# Bins and categories.


@dataclass(frozen=True)
class ColumnsOfPiece:
    """What the columns of some rows hold.

    Attributes
    ----------
    names : list of str
        How to speak of them in messages.
    categorical : ndarray of shape (n_columns,)
    is_missing : ndarray of shape (n_columns,)
        Whether a column holds nothing at all, so that it may as well be one of numbers or of categories.
    categories : dict of int to set
        The labels of each categorical column.
    drawn : dict of int to ndarray
        The drawn rows' values of each numeric column.
    """

    names: list[str]
    categorical: NDArray[np.bool_]
    is_missing: NDArray[np.bool_]
    categories: dict[int, set[Any]]
    drawn: dict[int, Array]


@dataclass(frozen=True)
class Used:
    """The rows of a piece that count, grouped by class: a table, classes by number, weights."""

    table: Table
    y: NDArray[np.intp]
    weight: Array


def use(piece: Piece, reader: BaseBoosting, labels: NDArray[Any], weighing: WeightScaler) -> Used | None:
    """The rows that count; None if there are none."""
    if piece.X.shape[0] != len(piece.y):
        raise ValueError(f"X has {piece.X.shape[0]} rows, but y has {len(piece.y)}")
    if len(piece.y) == 0:
        return None
    try:
        table = read_table(copy(reader), piece.X, reset=True)  # it notes the columns
    except ValueError:
        _check_finite(piece.X)
        raise
    y = check_labels(piece.y, "y")
    weight = weighing.counts(read_weight(piece.weight, len(y), "sample_weight"))
    used = np.flatnonzero(weight)
    if len(used) < len(y):
        table, y, weight = table.take(used), y[used], weight[used]
    if len(used) == 0:
        return None
    return Used(table, np.searchsorted(labels, y), weight)


def _check_finite(X: Any) -> None:
    """Say where an array holds an infinite value: scikit-learn says that it does, but not where."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0].tolist()
        raise ValueError(f"column {column} holds an infinite value in row {row}")


def look_at_columns(
    piece: Piece, reader: BaseBoosting, labels: NDArray[Any], weighing: WeightScaler, places: list[Array] | None
) -> ColumnsOfPiece | None:
    used = use(piece, reader, labels, weighing)
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
    blank = [j for j in numeric if np.isnan(drawn[j]).all()]  # of the drawn rows, which may be none
    for j, values in table.numbers(blank, table.every_row):
        is_missing[j] = bool(np.isnan(values).all())
    categories = {j: table.distinct(j) for j in np.flatnonzero(categorical).tolist()}
    for j, found in categories.items():
        is_missing[j] = found == {None}
    names = [table.name(j) for j in range(table.n_columns)]
    return ColumnsOfPiece(names, categorical, is_missing, categories, drawn)


def _drawn(used: Used, places: list[Array]) -> NDArray[np.intp]:
    found = []
    for k, places_of_class in enumerate(places):
        if len(places_of_class):
            members = np.flatnonzero(used.y == k)
            found.append(members[rows_at(places_of_class, used.weight[members])])
    return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


Tally = tuple[Array, Array]
"""Distinct values, and the weight of each."""


def look_at_values(
    piece: Piece, reader: BaseBoosting, labels: NDArray[Any], weighing: WeightScaler
) -> list[Tally] | None:
    """The values of each column, all being numeric."""
    used = use(piece, reader, labels, weighing)
    if used is None:
        return None
    table = used.table
    return [_tally(values, used.weight) for _, values in table.numbers(range(table.n_columns), table.every_row)]


def _tally(values: Array, weight: Array) -> Tally:
    present = ~np.isnan(values)
    distinct, numbers = np.unique(values[present], return_inverse=True)
    return distinct, np.bincount(numbers, weight[present], len(distinct))  # type: ignore[return-value]


class Columns:
    """What the columns of all rows hold."""

    def __init__(self, pieces: Sequence[ColumnsOfPiece | None], names: Sequence[str], max_bins: int | None) -> None:
        self.max_bins = max_bins
        known = [(piece, name) for piece, name in zip(pieces, names, strict=True) if piece is not None]
        first, first_name = known[0]
        for piece, name in known:
            if len(piece.names) != len(first.names):
                raise ValueError(f"{name} has {len(piece.names)} columns, but {first_name} has {len(first.names)}")
            for own, other in zip(piece.names, first.names, strict=True):
                if own != other:
                    raise ValueError(f"{name} has {own} where {first_name} has {other}")
        missing = np.array([piece.is_missing for piece, _ in known])
        categorical = np.array([piece.categorical for piece, _ in known])
        holds_labels = categorical & (~missing | missing.all(axis=0))
        self.categorical = holds_labels.any(axis=0)
        for j in np.flatnonzero(self.categorical).tolist():
            holds_numbers = ~categorical[:, j] & ~missing[:, j]
            if holds_numbers.any():
                one, other = (known[int(np.argmax(holds))][1] for holds in (holds_numbers, holds_labels[:, j]))
                raise TypeError(
                    f"{first.names[j]} holds numbers in {one} and categories in {other}; give it one type, with astype"
                )
        self._found: dict[int, Feature] = {
            j: CategoryBins(in_order(set().union(*(piece.categories.get(j, {None}) for piece, _ in known))))
            for j in np.flatnonzero(self.categorical).tolist()
        }
        self.undecided: list[int] = []
        for j in np.flatnonzero(~self.categorical).tolist():
            drawn = np.concatenate([piece.drawn.get(j, NONE) for piece, _ in known])
            thresholds, every = find_thresholds(drawn, NONE, kernels.whole_range(drawn), max_bins)
            if not every:
                self._found[j] = NumericBins(thresholds)
            else:  # few values, of which the draw may have missed some: all must be looked at
                self.undecided.append(j)

    def bin_mapper(self, pieces: Sequence[list[Tally] | None]) -> BinMapper:
        """What codes the rows, once all values of the undecided columns have been looked at."""
        found = dict(self._found)
        for at, j in enumerate(self.undecided):
            tallies = [piece[at] for piece in pieces if piece is not None]
            values, weight = (np.concatenate(part) for part in zip(*tallies, strict=True))
            found[j] = NumericBins(find_thresholds(values, weight, kernels.whole_range(values), self.max_bins)[0])
        return BinMapper(tuple(found[j] for j in range(len(found))))


def code(
    piece: Piece, reader: BaseBoosting, labels: NDArray[Any], weighing: WeightScaler, bin_mapper: BinMapper
) -> BinnedShard | None:
    used = use(piece, reader, labels, weighing)
    if used is None:
        return None
    codes = bin_mapper.codes(used.table, used.table.every_row, Threads(1))
    return BinnedShard(codes, used.y.astype(dtypes.CLASS), used.weight)

"""The user's X as columns, whatever it came as: array, sparse matrix, or a frame of any library narwhals knows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

BLOCK = 16
"""Columns of a row-major array that are turned at a time: their transpose stays in the cache."""


class Table(ABC):
    """Rows and columns, read a column at a time.

    Attributes
    ----------
    native : array, sparse matrix or frame
        What a scikit-learn estimator may be given.
    """

    native: Any

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.native.shape[1])

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.zeros(self.n_columns, dtype=bool)

    def name(self, column: int) -> str:
        """How to speak of a column in a message."""
        return f"column {column}"

    @abstractmethod
    def numbers(self, wanted: Sequence[int]) -> Iterator[tuple[int, Floats]]:
        """The wanted columns, one after the other, as contiguous floats with NaN for missing."""

    def labels(self, column: int) -> NDArray[np.object_]:
        """A categorical column as objects, None for missing."""
        raise TypeError(f"{self.name(column)} holds numbers, but categories were expected")

    @abstractmethod
    def take(self, rows: NDArray[Any]) -> Table:
        """The rows of these numbers."""

    @abstractmethod
    def append(self, below: ArrayTable) -> Table:
        """These rows with others below them."""


class ArrayTable(Table):
    """A 2-D array; one of objects where the model has categories."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.native = X

    def numbers(self, wanted: Sequence[int]) -> Iterator[tuple[int, Floats]]:
        for at in range(0, len(wanted), BLOCK):
            some = wanted[at : at + BLOCK]
            if some[-1] - some[0] == len(some) - 1:
                block = self.native[:, some[0] : some[-1] + 1]
            else:
                block = self.native[:, some]
            yield from zip(some, np.ascontiguousarray(block.T, dtype=np.float64), strict=True)

    def labels(self, column: int) -> NDArray[np.object_]:
        return _without_missing(self.native[:, column].astype(object))

    def take(self, rows: NDArray[Any]) -> Table:
        return ArrayTable(self.native[rows])

    def append(self, below: ArrayTable) -> Table:
        return ArrayTable(np.concatenate([self.native, below.native]))


class SparseTable(Table):
    """A scipy sparse matrix or array; cells that are not stored are zero."""

    def __init__(self, X: Any) -> None:
        self.native = X.tocsr()

    @cached_property
    def _by_column(self) -> Any:
        return self.native.tocsc()

    def numbers(self, wanted: Sequence[int]) -> Iterator[tuple[int, Floats]]:
        X = self._by_column
        for column in wanted:
            values = np.zeros(self.n_rows)
            stored = slice(X.indptr[column], X.indptr[column + 1])
            np.add.at(values, X.indices[stored], X.data[stored])  # entries of one cell may be stored apart
            yield column, values

    def take(self, rows: NDArray[Any]) -> Table:
        return SparseTable(self.native[rows])

    def append(self, below: ArrayTable) -> Table:
        return SparseTable(sparse.vstack([self.native, sparse.csr_array(below.native)]))


class FrameTable(Table):
    """A frame: numbers are numbers; booleans, strings and categories are categories."""

    def __init__(self, X: Any) -> None:
        self.native = X
        self._frame = nw.from_native(X, eager_only=True)
        self._names = self._frame.columns

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        return np.array([self._holds_categories(j) for j in range(self.n_columns)])

    def name(self, column: int) -> str:
        return f"column {self._names[column]!r}"

    def _series(self, column: int) -> Any:
        return self._frame[:, column]

    def _holds_categories(self, column: int) -> bool:
        series = self._series(column)
        dtype = series.dtype
        if dtype.is_numeric() or str(dtype) in ("Null", "Unknown"):
            return False
        if dtype in (nw.Boolean, nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
            return True
        if dtype == nw.Object:
            return not all(_is_number(value) for value in self.labels(column) if value is not None)
        raise TypeError(
            f"{self.name(column)} has the type {dtype}; adacc takes numbers, booleans, strings and categories"
        )

    def numbers(self, wanted: Sequence[int]) -> Iterator[tuple[int, Floats]]:
        for column in wanted:
            series = self._series(column)
            values = series.to_numpy()
            if values.dtype == object or series.dtype == nw.Boolean:
                values = self.labels(column)
            try:
                floats = np.ascontiguousarray(values, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"{self.name(column)} must hold numbers, but has the type {series.dtype}") from None
            infinite = np.isinf(floats)
            if infinite.any():
                raise ValueError(f"{self.name(column)} holds an infinite value in row {int(np.argmax(infinite))}")
            yield column, floats

    def labels(self, column: int) -> NDArray[np.object_]:
        series = self._series(column)
        values = np.array(series.to_list(), dtype=object)
        values[series.is_null().to_numpy().astype(bool)] = None
        return _without_missing(values)

    def take(self, rows: NDArray[Any]) -> Table:
        return FrameTable(self._frame[rows.tolist(), :].to_native())

    def append(self, below: ArrayTable) -> Table:
        categorical = self.categorical
        wide = [name for name, nominal in zip(self._names, categorical, strict=True) if not nominal]
        above = self._frame.with_columns(nw.col(*wide).cast(nw.Float64)) if wide else self._frame
        columns = {
            name: below.labels(j).tolist() if categorical[j] else below.native[:, j].astype(np.float64)
            for j, name in enumerate(self._names)
        }
        added = nw.from_dict(columns, backend=nw.get_native_namespace(self._frame))
        same = added.with_columns(*(nw.col(name).cast(above.schema[name]) for name in self._names))
        return FrameTable(nw.concat([above, same]).to_native())


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of a library that narwhals knows."""
    return isinstance(nw.from_native(X, pass_through=True, eager_only=True), nw.DataFrame)


def read(X: Any) -> Table:
    """The table that fits what X is."""
    if sparse.issparse(X):
        return SparseTable(X)
    return FrameTable(X) if is_frame(X) else ArrayTable(X)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _without_missing(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """NaN, which is not even equal to itself, becomes None."""
    for i, value in enumerate(values):
        if isinstance(value, float) and value != value:
            values[i] = None
    return values

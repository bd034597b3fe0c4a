"""X as columns: arrays, sparse matrices, and data frames of any library that narwhals supports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adacc import kernels
from adacc.data.category_levels import BOOLEANS, NUMBERS, STRINGS, Unseen, changed_kind, is_number, kinds_of
from adacc.kernels import dtypes

Floats = NDArray[np.float64]

MAX_EXACT_INTEGER = 2**53
"""Larger integers are rounded by the conversion to float, which merges neighbours."""

MIN_COLUMNS_READ, MAX_COLUMNS_READ = 8, 32
"""Number of columns of an array that are read in one pass. Eight columns of a row-major array share a cache line; more
columns share a memory page, which saves address translations if rows are long.
"""

MAX_VALUES_READ = 2**20
"""Maximum number of values read in one pass, unless `MIN_COLUMNS_READ` columns have more."""

CONVERTED_ROWS = 4096
"""Number of rows of an array of another type or order that are converted in one step for prediction."""


class Table(ABC):
    """Rows and columns, read column by column."""

    native: Any  # the data as passed to scikit-learn estimators

    @cached_property
    def unseen(self) -> dict[int, Unseen]:
        """By column, the levels that were not seen in training; filled in when columns are binned."""
        return {}

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.native.shape[1])

    @property
    def every_row(self) -> NDArray[np.uint32]:
        """The positions of all rows."""
        return np.arange(self.n_rows, dtype=dtypes.ROW)

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.zeros(self.n_columns, dtype=bool)

    def name(self, column: int) -> str:
        """Name of a column in error messages."""
        return f"column {column}"

    @abstractmethod
    def numbers(self, wanted: Sequence[int], order: NDArray[np.uint32]) -> Iterator[tuple[int, Floats]]:
        """The wanted columns, one at a time, as contiguous floats with NaN for missing; rows in the given order.

        The next column may overwrite the array.
        """

    def matrices(self, wanted: NDArray[np.int64]) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
        """The wanted columns in blocks of rows: the rows, a matrix of floats, and the position of each column in it."""
        columns = np.empty((len(wanted), self.n_rows))
        for j, (_, values) in enumerate(self.numbers(wanted.tolist(), self.every_row)):
            columns[j] = values
        yield slice(0, self.n_rows), columns.T, np.arange(len(wanted))

    def labels(self, column: int) -> NDArray[np.object_]:
        """A categorical column as objects, None for missing."""
        raise TypeError(f"{self.name(column)} held categories in training, but X is sparse and holds numbers")

    def numbered(self, column: int) -> tuple[NDArray[Any], list[Any]]:
        """A categorical column as indices of labels, and the labels; None stands for missing values.

        The labels may include some that do not occur. Index -1 refers to the last label.
        """
        return _number(self.labels(column))

    def distinct(self, column: int) -> set[Any]:
        """The labels that occur in a categorical column; None stands for missing values."""
        return occurring(*self.numbered(column))

    def check(self, known: Sequence[Sequence[Any] | None]) -> None:
        """Raise an error if a column is not of the same kind as in training: numbers (None), or these categories."""
        return

    @abstractmethod
    def take(self, rows: NDArray[Any]) -> Table:
        """The rows at these positions."""

    @abstractmethod
    def append(self, below: Table) -> Table:
        """These rows followed by the rows of another table."""


class ArrayTable(Table):
    """A 2-D array; of objects if there are categories."""

    def __init__(self, X: NDArray[Any], rows: NDArray[Any] | None = None) -> None:
        self._all, self._rows = X, rows

    @cached_property
    def native(self) -> NDArray[Any]:
        """The rows at the given positions, copied when they are first read: bins may be all that is needed of them."""
        return self._all if self._rows is None else self._all[self._rows]

    @property
    def n_columns(self) -> int:
        return int(self._all.shape[1])

    def numbers(self, wanted: Sequence[int], order: NDArray[np.uint32]) -> Iterator[tuple[int, Floats]]:
        X = self.native
        if X.dtype == object:
            for column in wanted:
                yield column, _as_floats(self.labels(column), self.name(column))[order]
            return
        self._check_integers(wanted)
        limit = MAX_VALUES_READ // max(1, len(order))
        size = max(MIN_COLUMNS_READ, min(MAX_COLUMNS_READ, len(wanted), limit))
        columns = np.empty((size, len(order)))
        for at in range(0, len(wanted), size):
            some = wanted[at : at + size]
            adjacent = some[-1] - some[0] == len(some) - 1
            if adjacent and X.dtype == np.float64 and X.flags.c_contiguous:
                kernels.take_columns(X, order, some[0], columns[: len(some)])
            else:
                selected = X[:, some[0] : some[-1] + 1] if adjacent else X[:, some]
                kernels.take_columns(np.ascontiguousarray(selected, dtype=np.float64), order, 0, columns[: len(some)])
            yield from zip(some, columns, strict=False)

    def matrices(self, wanted: NDArray[np.int64]) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
        X = self.native
        if X.dtype == object:
            yield from super().matrices(wanted)
        elif X.dtype == np.float64 and X.flags.c_contiguous:
            yield slice(0, self.n_rows), X, wanted
        else:
            self._check_integers(wanted.tolist())
            for begin in range(0, self.n_rows, CONVERTED_ROWS):
                rows = slice(begin, begin + CONVERTED_ROWS)
                yield rows, np.ascontiguousarray(X[rows], dtype=np.float64), wanted

    def _check_integers(self, wanted: Sequence[int]) -> None:
        X = self.native
        for column in wanted if X.dtype.kind in "iu" and X.dtype.itemsize > 4 and len(X) else ():
            check_exact(X[:, column].min(), X[:, column].max(), self.name(column))

    def labels(self, column: int) -> NDArray[np.object_]:
        return _objects(self.native[:, column].tolist())

    def take(self, rows: NDArray[Any]) -> Table:
        return ArrayTable(self.native, rows.copy())

    def append(self, below: Table) -> Table:
        return ArrayTable(np.concatenate([self.native, below.native]))


class SparseTable(Table):
    """A scipy sparse matrix or array; entries that are not stored are zero."""

    def __init__(self, X: Any) -> None:
        self.native = X.tocsr()

    @cached_property
    def _by_column(self) -> Any:
        return self.native.tocsc()

    def numbers(self, wanted: Sequence[int], order: NDArray[np.uint32]) -> Iterator[tuple[int, Floats]]:
        X = self._by_column
        for column in wanted:
            values = np.zeros(self.n_rows)
            stored = slice(X.indptr[column], X.indptr[column + 1])
            if X.dtype.kind in "iu" and stored.start < stored.stop:
                check_exact(X.data[stored].min(), X.data[stored].max(), self.name(column))
            np.add.at(values, X.indices[stored], X.data[stored])  # duplicate entries are summed
            yield column, values[order]

    def take(self, rows: NDArray[Any]) -> Table:
        return SparseTable(self.native[rows])

    def append(self, below: Table) -> Table:
        return SparseTable(sparse.vstack([self.native, sparse.csr_array(below.native)]))


class FrameTable(Table):
    """A data frame: numeric columns are numbers; booleans, strings and categoricals are categories."""

    def __init__(self, X: Any) -> None:
        self.native = _dense(X)
        self._frame = nw.from_native(self.native, eager_only=True)
        self._names = self._frame.columns

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        return np.array([self._holds_categories(j) for j in range(self.n_columns)])

    def name(self, column: int) -> str:
        return f"column {self._names[column]!r}"

    def _series(self, column: int) -> Any:
        return self._columns[column]

    @cached_property
    def _columns(self) -> list[Any]:
        return list(self._frame.iter_columns())

    def _holds_categories(self, column: int) -> bool:
        dtype = self._series(column).dtype
        if _is_numeric(self._series(column)):
            return False
        if _is_categorical(dtype):
            return True
        if dtype == nw.Object:
            kinds = {type(value) for value in self.labels(column) if value is not None}
            if not any(issubclass(kind, NOT_CATEGORIES) or kind.__hash__ is None for kind in kinds):
                return not all(is_number(kind) for kind in kinds)
            dtype = f"Object of {', '.join(sorted(kind.__name__ for kind in kinds))}"
        raise TypeError(
            f"{self.name(column)} has the type {dtype}; adacc takes numbers, booleans, strings and categories"
        )

    def check(self, known: Sequence[Sequence[Any] | None]) -> None:
        for column, labels in enumerate(known):
            self._check(column, labels)

    def _check(self, column: int, labels: Sequence[Any] | None) -> None:
        """Raise an error for a column of another kind than its labels in training; None: it held numbers."""
        series = self._series(column)
        dtype = series.dtype
        if labels is None:
            # `numbers` checks the values of objects.
            before, fits = {NUMBERS}, _is_numeric(series) or dtype == nw.Object
        else:
            before = kinds_of(labels)
            fits = self._may_hold(before, column)
        held = set() if fits else kinds_of(self.labels(column))
        if held:  # a column of missing values fits any kind
            what = " and ".join(sorted(held))
            of_categories = "categories of " if _is_encoded(dtype) else ""
            raise changed_kind(self.name(column), before or {"categories"}, f"{of_categories}{what} (type {dtype})")

    def _may_hold(self, kinds: set[str], column: int) -> bool:
        """Whether a column may hold levels of these kinds; for most types the values need not be read."""
        series = self._series(column)
        if _is_numeric(series):  # levels are compared by value: 0 and 1 equal booleans
            return not kinds or not kinds.isdisjoint((NUMBERS, BOOLEANS))
        if not kinds:
            return _is_categorical(series.dtype) or series.dtype == nw.Object
        if series.dtype == nw.Boolean:
            return BOOLEANS in kinds
        if series.dtype == nw.String:
            return STRINGS in kinds
        if _is_encoded(series.dtype):  # for libraries other than pandas, `check_kinds` checks the levels
            native = series.to_native()
            if not (hasattr(native, "factorize") and hasattr(native.dtype, "categories")):
                return True
            return not kinds.isdisjoint(kinds_of(native.cat.categories.tolist()))
        return series.dtype == nw.Object and not kinds.isdisjoint(kinds_of(series.to_list()))

    def numbers(self, wanted: Sequence[int], order: NDArray[np.uint32]) -> Iterator[tuple[int, Floats]]:
        for column in wanted:
            self._check(column, None)
            series = self._series(column)
            if not _is_numeric(series):
                values = self.labels(column)
            else:
                if (
                    series.dtype.is_integer()
                    and series.dtype not in SMALL_INTEGERS
                    and len(series) > series.null_count()
                ):
                    check_exact(series.min(), series.max(), self.name(column))
                if series.dtype in (nw.Int128, nw.UInt128):  # not supported by NumPy
                    series = series.cast(nw.Float64)
                values = series.to_numpy()
                values = self.labels(column) if values.dtype == object else values
            yield column, _as_floats(values, self.name(column))[order]

    def labels(self, column: int) -> NDArray[np.object_]:
        series = self._series(column)
        values = _objects(series.to_list())
        values[series.is_null().to_numpy().astype(bool)] = None
        return values

    def numbered(self, column: int) -> tuple[NDArray[Any], list[Any]]:
        series = self._series(column)
        native = series.to_native()
        if hasattr(native, "factorize"):  # pandas, whose categoricals have indices already
            numbered = hasattr(native.dtype, "categories") and len(native.cat.categories) <= len(native)
            numbers, labels = (native.cat.codes.to_numpy(), native.cat.categories) if numbered else native.factorize()
            return numbers, [*labels.tolist(), None]
        numbers, labels = _number(series.to_list())
        numbers[series.is_null().to_numpy().astype(bool)] = -1
        return numbers, [*(None if is_missing(label) else label for label in labels), None]

    def take(self, rows: NDArray[Any]) -> Table:
        return FrameTable(self._frame[rows.tolist(), :].to_native())

    def append(self, below: Table) -> Table:
        columns: dict[str, Any] = {}
        for j, name in enumerate(self._names):
            if self.categorical[j]:
                columns[name] = [*self.labels(j), *below.labels(j)]
            else:
                columns[name] = np.concatenate(
                    [values for table in (self, below) for _, values in table.numbers([j], table.every_row)]
                )
        whole = nw.from_dict(columns, backend=nw.get_native_namespace(self._frame))
        nominal = [name for name, categories in zip(self._names, self.categorical, strict=True) if categories]
        return FrameTable(
            whole.with_columns(*(nw.col(name).cast(self._frame.schema[name]) for name in nominal)).to_native()
        )


SMALL_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.UInt8, nw.UInt16, nw.UInt32)
"""Types of integers that floats represent exactly."""

NOT_NUMBERS = (str, bool, np.bool_)
"""Types that NumPy would convert to numbers."""

NOT_CATEGORIES = (date, timedelta, np.datetime64, np.timedelta64, complex, list, dict, set)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of a library that narwhals supports."""
    if isinstance(X, np.ndarray):  # the usual case, without the overhead of narwhals
        return False
    try:
        return isinstance(nw.from_native(X, pass_through=True, eager_only=True), nw.DataFrame)
    except nw.exceptions.DuplicateError:
        names = list(getattr(X, "column_names", None) or X.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X must have columns of different names, but several are called {twice!r}") from None


def read(X: Any) -> Table:
    """X as a `Table`."""
    if sparse.issparse(X):
        return SparseTable(X)
    return FrameTable(X) if is_frame(X) else ArrayTable(X)


def _dense(X: Any) -> Any:
    """A frame with sparse columns of pandas converted to dense ones, which narwhals supports."""
    types = getattr(X, "dtypes", ())  # a list in other libraries
    sparse_columns = [j for j, dtype in enumerate(types) if type(dtype).__name__ == "SparseDtype"]
    if sparse_columns:
        X = X.copy(deep=False)
        for j in sparse_columns:
            X.isetitem(j, X.iloc[:, j].sparse.to_dense())
    return X


def _number(labels: Iterable[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """The index of each label among the distinct labels, and the distinct labels in order of occurrence."""
    position: dict[Any, int] = {}
    return np.array([position.setdefault(label, len(position)) for label in labels], dtype=np.intp), list(position)


def occurring(numbers: NDArray[Any], labels: list[Any]) -> set[Any]:
    """The labels that occur in a column in the form of `Table.numbered`."""
    counts = np.bincount(numbers.astype(np.intp) + 1)  # indices start at -1
    return {labels[number - 1] for number in np.flatnonzero(counts).tolist()}


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or a missing value of pandas (which cannot be compared)."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _is_numeric(series: Any) -> bool:
    """Whether a column holds numbers, or has the type of missing values, which narwhals does not know."""
    return bool(series.dtype.is_numeric()) or (series.dtype == nw.Unknown and series.null_count() == len(series))


def _is_categorical(dtype: Any) -> bool:
    return dtype in (nw.Boolean, nw.String) or _is_encoded(dtype)


def _is_encoded(dtype: Any) -> bool:
    """Whether the column stores each level once and an index per row."""
    return dtype == nw.Categorical or isinstance(dtype, nw.Enum)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    """A 1-D array of objects, with None for missing values."""
    objects = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        objects[i] = None if is_missing(value) else value
    return objects


def check_exact(least: Any, most: Any, name: str) -> None:
    """Raise an error for integers, between these two, of which some are too large for floats."""
    largest = max(int(least), int(most), key=abs)
    if abs(largest) > MAX_EXACT_INTEGER:
        raise ValueError(
            f"{name} holds the integer {largest}; beyond 2^53, floating-point numbers merge neighbouring integers. "
            "Leave out an id, make a code a category (strings in a data frame), or convert to smaller numbers"
        )


def _as_floats(values: NDArray[Any], name: str) -> Floats:
    try:
        if values.dtype == object and any(isinstance(value, NOT_NUMBERS) for value in values):
            raise ValueError
        floats = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in values if value is not None and not is_number(type(value)))
        (kind,) = kinds_of([odd])
        raise changed_kind(name, {NUMBERS}, f"{kind}, such as {odd!r:.60}") from None
    except OverflowError:
        raise ValueError(f"{name} holds a whole number that is too large for a float") from None
    if values.dtype == object:
        whole = [value for value in values if isinstance(value, int | np.integer)]
        check_exact(min(whole, default=0), max(whole, default=0), name)
    infinite = np.isinf(floats)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(f"{name} must be finite, got {floats[row]} in row {row}; NaN stands for a missing value")
    return floats

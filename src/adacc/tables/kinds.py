"""What a column holds, and a column of any file as that: in prediction as it was in training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from adacc.tables.amounts import with_point
from adacc.tables.errors import TableError
from adacc.tables.text import FALSE, MISSING, TRUE

if int(pa.__version__.split(".")[0]) < 24:
    # Before, if_else with a missing value returns the wrong text for slices, which batches of a Parquet file are.
    raise ImportError(
        f"adacc.tables needs pyarrow 24 or newer, which reads text correctly, got {pa.__version__}: "
        "pip install --upgrade pyarrow"
    )

Kind: TypeAlias = Literal["number", "boolean", "category", "boolean category"]
"""What a column holds; see `kinds_of`."""


MOST_EXACT = 2**53
"""Whole numbers beyond this are rounded when they become floats."""


class Place(NamedTuple):
    """Where cells come from, for messages; and the decimal sign of the numbers in text there."""

    where: str
    column: str
    rows_before: int = 0
    decimal: str = "."

    def __str__(self) -> str:
        return f"{self.where}: column {self.column!r}"

    def row(self, position: int) -> str:
        """Rows count from 1, the line of names not being one."""
        return f"{self.where}: row {self.rows_before + position + 1}, column {self.column!r}"


def kinds_of(frame: pd.DataFrame) -> dict[str, Kind]:
    """What the columns of a training frame hold, so that other tables can be read alike.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        As `read_frame` gives it, without the columns that are not features.

    Returns
    -------
    dict of str to str
        By name, in the order of the columns: ``"number"``; ``"boolean"``; ``"category"``; ``"boolean category"``, which
        is a boolean column with gaps: its labels are the strings ``"True"`` and ``"False"``. Fit for JSON.

    Examples
    --------
    >>> import pandas as pd
    >>> kinds_of(pd.DataFrame({"age": [30, 41], "ill": [True, False], "town": pd.Categorical(["Bonn", None])}))
    {'age': 'number', 'ill': 'boolean', 'town': 'category'}
    """
    return {str(name): _kind(frame[name]) for name in frame}


def _kind(column: pd.Series) -> Kind:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "boolean"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "number"
    if isinstance(column.dtype, pd.CategoricalDtype):
        return kind_of_labels(set(column.cat.categories))
    raise TypeError(
        f"column {column.name!r} has the type {column.dtype}; read_frame gives numbers, booleans, categories"
    )


def kind_of_labels(labels: set[str]) -> Kind:
    return "boolean category" if labels and labels <= {"True", "False"} else "category"


def as_kind(column: Any, kind: str, place: Place) -> Any:
    """A column of any file as what it was in training.

    Parameters
    ----------
    column : Array or ChunkedArray
        Text or typed.
    kind : str
        See `kinds_of`.
    place : Place
        Of its first cell.

    Returns
    -------
    ndarray or pandas array
        Floats, booleans (objects if there are gaps), or a categorical of strings.
    """
    column = decoded(column)
    if not any(fits(column.type) for fits in USABLE):
        raise TableError(
            f"{place} holds values of the type {column.type}, but held {PLURAL[kind]} in training; write it as "
            "it was then"
        )
    return CONVERSIONS[kind](column, place)


def is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def decoded(column: Any) -> Any:
    """A column's values, however they are stored."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return _owned(column) if column.type == pa.string_view() else column


def _owned(column: Any) -> Any:
    """Text views as text."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException:  # the first pyarrows with views could not cast them
        return pa.chunked_array([pa.array(column.to_pylist(), pa.large_string())])


def as_read(column: Any) -> Any:
    """A column that is no feature, its values as they are, as a pandas array."""
    # Of whole numbers with gaps pandas would make floats.
    mapper = WITH_GAPS.get if column.null_count else None
    return decoded(column).to_pandas(types_mapper=mapper, date_as_object=False).array


def warn_if_rounded(column: Any, place: Place) -> None:
    """Say that whole numbers of a feature are too large for a float."""
    if len(column) > column.null_count:
        least, most = pc.min_max(column).as_py().values()
        if max(-least, most) > MOST_EXACT:
            warnings.warn(
                f"{place} holds whole numbers beyond 2^53, such as {max(least, most, key=abs)}, which are rounded: "
                "values that differ only in their last digits become equal. If it is an id, leave it out; if it is a "
                "code, write it as text",
                stacklevel=2,
            )


def check_finite(numbers: Any, place: Place) -> Any:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = place.rows_before + int(infinite.argmax()) + 1
        raise TableError(f"{place} has infinite values, first in row {row}; leave such cells empty")
    return numbers


def as_numbers(column: Any, place: Place) -> Any:
    if is_text(column.type):
        column = _parsed(column, place)
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_integer(column.type):
        warn_if_rounded(column, place)
    return check_finite(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), place)


def as_booleans(column: Any, place: Place) -> Any:
    if not pa.types.is_boolean(column.type):
        text = with_gaps(column.cast(pa.large_string()))
        found = pc.index_in(text, value_set=pa.array([*FALSE, "0", *TRUE, "1"], pa.large_string()))
        odd = pc.and_(pc.is_valid(text), pc.is_null(found))
        if pc.any(odd).as_py():
            at = pc.index(odd, True).as_py()
            raise TableError(
                f"{place.row(at)}: {text[at].as_py()!r} is neither True nor False, which are what the column held in "
                "training; leave cells without a value empty"
            )
        column = pc.greater(found, len(FALSE))
    return column.to_numpy(zero_copy_only=False)


def as_categories(column: Any, place: Place) -> pd.Categorical:
    """The labels are the strings of the values, sorted."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    elif pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    column = with_gaps(column).dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    labels = [str(value) for value in column.dictionary.to_pylist()]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.full(len(labels) + 1, -1)  # the last is for missing
    rank[order] = np.arange(len(labels))
    codes = rank[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return pd.Categorical.from_codes(codes, [labels[i] for i in order])


def _as_boolean_categories(column: Any, place: Place) -> pd.Categorical:
    if is_text(column.type):
        for words in (TRUE, FALSE):
            this = pc.is_in(column, value_set=pa.array(words, column.type))
            column = pc.if_else(this, pa.scalar(words[0], column.type), column)
    return as_categories(column, place)


def with_gaps(column: Any) -> Any:
    """Text in which the words for missing are missing: in a CSV file they are, and forms are not to differ."""
    if not is_text(column.type):
        return column
    missing = pc.is_in(column, value_set=pa.array(MISSING, column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column) if pc.any(missing).as_py() else column


def _parsed(column: Any, place: Place) -> Any:
    """Text as numbers."""
    if place.decimal == ".":
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            pass  # not as it stands
    column = pc.utf8_trim(with_gaps(column), characters=" \t")
    numbers = with_point(column, place.decimal)
    for kind in (pa.float64(), pa.int64()):  # hexadecimal integers are integers to Arrow, in training too
        try:
            return numbers.cast(kind)
        except pa.ArrowInvalid:
            pass
    position = next(i for i, cell in enumerate(numbers) if not _is_number(cell))
    raise TableError(
        f"{place.row(position)}: {column[position].as_py()!r} is no number, and numbers are what the column held in "
        "training; leave cells without a value empty"
    )


def _is_number(cell: pa.Scalar) -> bool:
    try:
        cell.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


WITH_GAPS: Mapping[pa.DataType, Any] = {
    getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")()
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}
"""What pandas has for columns of whole numbers with gaps."""

USABLE = (
    is_text, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null,
)  # fmt: skip
"""Types of values that can be numbers, booleans or labels."""

PLURAL: Mapping[str, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "category": "categories",
    "boolean category": "booleans",
}
CONVERSIONS: Mapping[str, Callable[[Any, Place], Any]] = {
    "number": as_numbers,
    "boolean": as_booleans,
    "category": as_categories,
    "boolean category": _as_boolean_categories,
}

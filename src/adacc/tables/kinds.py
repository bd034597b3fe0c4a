"""Kinds of columns, and conversion of columns to the kinds of the training data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from adacc.data.columns import MAX_EXACT_INTEGER
from adacc.tables.errors import TableError
from adacc.tables.numeric_text import are_plain, matches, with_point
from adacc.tables.text import FALSE, MISSING, TRUE

if int(pa.__version__.split(".")[0]) < 24:
    # Before, if_else with a missing value returns wrong text for slices, such as batches of a Parquet file.
    raise ImportError(
        f"adacc.tables needs pyarrow 24 or newer, which reads text correctly, got {pa.__version__}: "
        'pip install "pyarrow>=24"'
    )

Kind: TypeAlias = Literal["number", "boolean", "category", "boolean category", "integer category"]
"""The kind of a column; see `kinds_of`."""


INTEGER = re.compile("-?[0-9]+")
"""Labels of a column of codes."""


class Place(NamedTuple):
    """The position of cells for messages, and the decimal separator of numbers in text."""

    where: str
    column: str
    rows_before: int = 0
    decimal: str = "."

    def __str__(self) -> str:
        return f"{self.where}: column {self.column!r}"

    def row(self, position: int) -> str:
        """The position of a row, counted from 1 without the header."""
        return f"{self.where}: row {self.rows_before + position + 1}, column {self.column!r}"


def kinds_of(frame: pd.DataFrame) -> dict[str, Kind]:
    """The kinds of the columns of a training frame, to read other tables with the same kinds.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        From `read_frame`, without the columns that are not features.

    Returns
    -------
    dict of str to str
        By name, in the order of the columns: ``"number"``; ``"boolean"``; ``"category"``; ``"boolean category"``, a
        boolean column with missing values, whose labels are the strings ``"True"`` and ``"False"``; ``"integer
        category"``, a column of codes, whose labels are strings such as ``"3"``.

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
    raise TypeError(f"column {column.name!r} must be numeric, boolean or categorical, got {column.dtype}")


def kind_of_labels(labels: set[str]) -> Kind:
    """The kind of a categorical column with these labels."""
    if labels and labels <= {"True", "False"}:
        return "boolean category"
    return "integer category" if labels and all(map(INTEGER.fullmatch, labels)) else "category"


def as_kind(column: Any, kind: str, place: Place) -> Any:
    """Convert a column of text or typed values to its kind in the training data; see `kinds_of`.

    Returns floats, booleans (objects if values are missing), or a categorical of strings.
    """
    column = decoded(column)
    if not any(fits(column.type) for fits in USABLE):
        raise TableError(
            f"{place} has the type {column.type}, but contained {PLURAL[kind]} in training; convert it to "
            f"{PLURAL[kind]}"
        )
    return CONVERSIONS[kind](column, place)


def is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def decoded(column: Any) -> Any:
    """The values of a column, without dictionary encoding and string views."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return _owned(column) if column.type == pa.string_view() else column


def _owned(column: Any) -> Any:
    """String views as strings."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowException:  # older versions of pyarrow cannot cast views
        return pa.chunked_array([pa.array(column.to_pylist(), pa.large_string())])


def as_read(column: Any) -> Any:
    """The values of a column that is not a feature, as a pandas array."""
    # By default pandas converts integers with missing values to floats.
    mapper = NULLABLE_INTEGERS.get if column.null_count else None
    return decoded(column).to_pandas(types_mapper=mapper, date_as_object=False).array


def plain_cells(column: Any, decimal: str = ".") -> Any:
    """The cells of a column that is reported, such as a subgroup or a time, as a pandas array.

    Text is not converted, so that ``01`` and ``1`` differ, but words for missing values are missing, and numbers get a
    decimal point.
    """
    column = decoded(column)
    if is_text(column.type):
        column = nullify_missing_words(column)
        if decimal != ".":
            pointed = pc.replace_substring(column, decimal, ".")
            column = pc.if_else(are_plain(column, decimal), pointed, column)
    return as_read(column)


def check_exact(column: Any, place: Place) -> None:
    """Raise TableError if a feature holds integers that are too large for floats."""
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
    if whole and len(column) > column.null_count:
        least, most = pc.min_max(column).as_py().values()
        if max(-least, most) > MAX_EXACT_INTEGER:
            raise inexact(place, int(max(least, most, key=abs)))


def inexact(place: Place, example: Any) -> TableError:
    return TableError(
        f"{place} contains integers beyond 2^53, such as {example}, where floating-point numbers merge neighbours: "
        "if it is an id, leave it out; if it is a code, write it as text or read the column as categories "
        "(`categorical`); otherwise write smaller numbers",
        [place.column],
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
    check_exact(column, place)
    return check_finite(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), place)


def as_booleans(column: Any, place: Place) -> Any:
    if not pa.types.is_boolean(column.type):
        text = nullify_missing_words(column.cast(pa.large_string()))
        found = pc.index_in(text, value_set=pa.array([*FALSE, "0", *TRUE, "1"], pa.large_string()))
        odd = pc.and_(pc.is_valid(text), pc.is_null(found))
        if pc.any(odd).as_py():
            position = pc.index(odd, True).as_py()
            raise TableError(
                f"{place.row(position)}: {text[position].as_py()!r} must be True or False, as in training; leave "
                "missing cells empty"
            )
        column = pc.greater(found, len(FALSE))
    return column.to_numpy(zero_copy_only=False)


def as_categories(column: Any, place: Place, as_label: Callable[[Any], str] = str) -> pd.Categorical:
    """A categorical of strings, whose categories are sorted."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    elif pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    column = nullify_missing_words(column).dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    labels = [as_label(value) for value in column.dictionary.to_pylist()]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.full(len(labels) + 1, -1)  # the last entry is for missing values
    rank[order] = np.arange(len(labels))
    codes = rank[column.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return pd.Categorical.from_codes(codes, [labels[i] for i in order])


def _as_boolean_categories(column: Any, place: Place) -> pd.Categorical:
    if is_text(column.type):
        for words in (TRUE, FALSE):
            this = pc.is_in(column, value_set=pa.array(words, column.type))
            column = pc.if_else(this, pa.scalar(words[0], column.type), column)
    return as_categories(column, place)


def as_integer_categories(column: Any, place: Place) -> pd.Categorical:
    """A categorical of strings, in which 3.0 becomes "3": pandas stores integers with missing values as floats."""
    return as_categories(column, place, lambda value: f"{value:.0f}" if _is_whole(value) else str(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def nullify_missing_words(column: Any) -> Any:
    """Replace the words for missing values by nulls, in all file formats."""
    if not is_text(column.type):
        return column
    missing = pc.is_in(column, value_set=pa.array(MISSING, column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column) if pc.any(missing).as_py() else column


LONG_INTEGER = r"^[ \t]*[+-]?[0-9]{16,}[ \t]*$"
"""Text of integers that may be too large for floats."""


def _parsed(column: Any, place: Place) -> Any:
    """Text as numbers."""
    for cell in column.filter(pc.fill_null(matches(column, LONG_INTEGER), False)).to_pylist():
        if abs(int(cell)) > MAX_EXACT_INTEGER:
            raise inexact(place, cell.strip())
    if place.decimal == ".":
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
    column = pc.utf8_trim(nullify_missing_words(column), characters=" \t")
    numbers = with_point(column, place.decimal)
    for kind in (pa.float64(), pa.int64()):  # Arrow parses hexadecimal numbers only as integers
        try:
            return numbers.cast(kind)
        except pa.ArrowInvalid:
            pass
    position = next(i for i, cell in enumerate(numbers) if not _is_number(cell))
    raise TableError(
        f"{place.row(position)}: {column[position].as_py()!r} must be a number, as in training; leave missing cells "
        "empty"
    )


def _is_number(cell: pa.Scalar) -> bool:
    try:
        cell.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


NULLABLE_INTEGERS: Mapping[pa.DataType, Any] = {
    getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")()
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}
"""The pandas types of integer columns with missing values."""

USABLE = (
    is_text, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null,
)  # fmt: skip
"""Tests for the types that can be converted to features."""

PLURAL: Mapping[str, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "category": "categories",
    "boolean category": "booleans",
    "integer category": "integers",
}
CONVERSIONS: Mapping[str, Callable[[Any, Place], Any]] = {
    "number": as_numbers,
    "boolean": as_booleans,
    "category": as_categories,
    "boolean category": _as_boolean_categories,
    "integer category": as_integer_categories,
}

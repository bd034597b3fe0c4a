"""Reads a whole table as a data frame for training."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adacc.data.columns import MAX_EXACT_INTEGER
from adacc.tables.errors import Source, TableError, missing_column
from adacc.tables.kinds import (
    Kind,
    Place,
    as_categories,
    as_integer_categories,
    as_numbers,
    as_read,
    check_exact,
    check_finite,
    decoded,
    inexact,
    is_text,
    nullify_missing_words,
    plain_cells,
)
from adacc.tables.labels import as_labels, warn_similar_labels
from adacc.tables.numeric_text import GROUP_SEPARATOR, are_amounts, are_grouped, are_plain, matches, units_of
from adacc.tables.sources import OpenTable, open_table
from adacc.tables.text import inferred

MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zA-Z]*"
DATES = (
    r"[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}",
    r"[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}",
    r"[0-9]{1,2}(/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{2}",
    r"(0[1-9]|[12][0-9]|3[01])\.(0[1-9]|1[0-2])\.[0-9]{2}",  # 3.10.12 is more likely a version
    rf"[0-9]{{1,2}}[. /-]*{MONTH}[., /-]*([0-9]{{2}}|[0-9]{{4}})",
    rf"{MONTH}[. ]*[0-9]{{1,2}}[, ]+[0-9]{{4}}",
)
DATE = rf"^({'|'.join(DATES)})([ T][0-9]{{1,2}}:[0-9:.]+.*)?$"

MIN_NUMBER_SHARE = 0.5  # share of numbers among the values of a column above which other values are errors
MAX_INTERVAL_LABELS = 20  # distinct values up to which a column can contain interval labels, such as 0, 1, 2, 3+


def read_frame(
    source: Source | OpenTable,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    target: str | None = None,
    categorical: Iterable[str] = (),
) -> pd.DataFrame:
    r"""Read a table from a file.

    Parameters
    ----------
    source : str or path, or an open table
        A file, whose ending determines the format: ``.csv`` (separated by commas, tabs, semicolons or bars) and
        ``.tsv``, also with gzip (``.csv.gz``); ``.parquet``; ``.arrow`` and ``.feather``. A directory is read as the
        table of its Parquet files. ``"-"`` is standard input in any of these formats. Text files are UTF-8 and have
        the column names in the first line; `open_table` takes the separators. In features of all formats, empty
        strings, ``NA``, ``N/A``, ``NULL``, ``NaN`` and ``None`` are missing values. Amounts such as ``$1,200.50`` and
        ``45%`` in text files are numbers. The index of a pandas frame is not a feature; a warning names it.
    drop : iterable of str, default=()
        Columns to leave out. They are not read.
    keep : iterable of str, default=()
        Columns to read that are not features, of any type: ids, groups, times.
    target : str, default=None
        The target column, of any type; see `read_target` and `read_labels`. In text files its cells are numbers or
        booleans only if they are written as in Python: ``007`` stays text. If labels are text, only empty cells are
        missing; ``None`` and ``NA`` are labels.
    categorical : iterable of str, default=()
        Features whose numbers are codes: they become categories of strings. In text files ``007`` and ``7`` are two
        categories.

    Returns
    -------
    DataFrame of shape (n_rows, n_columns)
        Columns in the order of the file. Numbers and booleans keep their type; strings, and booleans with missing
        values, become categories of strings. `target` and `keep` are unchanged.

    Raises
    ------
    TableError
        The file cannot be used; the message names the position and the fix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("name,age,town,seen\nAnn,30,Bonn,2024-01-31\nBob,41,,2024-02-01\n")
    ...     frame = read_frame(path, drop=["name"], keep=["seen"])
    >>> frame.dtypes.astype(str).to_dict()
    {'age': 'int64', 'town': 'category', 'seen': 'datetime64[ms]'}
    """
    return read_frame_and_cells(source, drop, keep, target, categorical)[0]


def read_frame_and_cells(
    source: Source | OpenTable,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    target: str | None = None,
    categorical: Iterable[str] = (),
    cells: Collection[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame of `read_frame`, and the columns `cells` as `plain_cells` returns them.

    These can be features, or columns to keep.
    """
    with closing(open_table(source)) as opened:
        others = {*keep, *([] if target is None else [target])}
        columns = columns_to_read(opened, target, list(drop), others)
        codes = set(categorical)
        check_categorical(opened, codes, [name for name in columns if name not in others])
        as_text = {*codes, *([] if target is None else [target])}
        table = opened.table(columns, as_text={*as_text, *cells})
        if table.num_rows == 0:
            raise TableError(f"{opened.where} has no rows, only column names")
        frame: dict[str, Any] = {}
        reported: dict[str, Any] = {}
        for name in columns:
            column, place = table[name], Place(opened.where, name, decimal=opened.decimal)
            if name in cells:
                reported[name] = plain_cells(column, opened.decimal)
                if not opened.typed and name not in as_text:
                    column = inferred(column, opened.decimal)
            if name == target:
                frame[name] = as_labels(column, place, opened.typed)
                warn_similar_labels(frame[name], place)
            elif name in others:
                frame[name] = as_read(column if opened.typed else nullify_missing_words(column))
            elif name in codes:
                kind_of_type(column.type, place)  # raises an error for dates and other types
                frame[name] = as_integer_categories(decoded(column), place)
            else:
                frame[name] = _feature(column, place, opened.typed)
                _warn_if_padded(column, opened.padded.get(name), place)
        return pd.DataFrame(frame), pd.DataFrame(reported)


def columns_to_read(opened: OpenTable, target: str | None, drop: Sequence[str], others: set[str]) -> list[str]:
    """The names of the columns to read."""
    for name in (*sorted(others), *drop):
        if name not in opened.names:
            raise missing_column(opened.where, name, opened.names, " to predict" if name == target else "")
    both = others.intersection(drop)
    if both:
        raise TableError(
            f"{opened.where}: column {min(both)!r} is both dropped and used; remove it from one of the two"
        )
    unused = [name for name in opened.index if name not in others and name not in drop]
    if unused:
        what = (
            "is the index of a pandas frame and is" if len(unused) == 1 else "are the index of a pandas frame and are"
        )
        warnings.warn(
            f"{opened.where}: {', '.join(map(repr, unused))} {what} not used as a feature; to use it as one, write it "
            "as an ordinary column with a name of its own",
            stacklevel=3,
        )
    return [name for name in opened.names if name in others or name not in (*drop, *unused)]


def check_categorical(opened: OpenTable, categorical: Collection[str], features: Collection[str]) -> None:
    """Raise TableError for a categorical column that is not a feature."""
    for name in categorical:
        if name not in opened.names:
            raise missing_column(opened.where, name, opened.names)
        if name not in features:
            raise TableError(
                f"{opened.where}: column {name!r} is not a feature, so it cannot be read as categories (`categorical`)"
            )


def _warn_if_padded(column: pa.ChunkedArray, example: str | None, place: Place) -> None:
    """Warn of integers that are written with leading zeros."""
    if example is not None and pa.types.is_integer(column.type):
        warnings.warn(
            f"{place} contains numbers with leading zeros, such as {example!r}; they are read as numbers. If they are "
            "codes, read the column as categories (`categorical`)",
            stacklevel=3,
        )


def _feature(column: pa.ChunkedArray, place: Place, typed: bool) -> Any:
    kind = kind_of_type(column.type, place)
    column = decoded(column)
    if is_text(column.type) and not typed:
        column = nullify_missing_words(column)
        if _are_amounts(column, place):
            return as_numbers(column, place)
    if kind == "category":
        return as_categories(column, place)
    if kind == "boolean":
        return as_categories(column, place) if column.null_count else column.to_numpy()
    check_exact(column, place)
    if pa.types.is_null(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    numbers = column.to_numpy()
    if numbers.dtype.kind != "f":
        return numbers
    check_finite(numbers, place)
    if not typed and _are_long_integers(numbers):  # Arrow reads integers beyond 64 bits as floats
        raise inexact(place, f"{np.nanmax(np.abs(numbers)):.0f}")
    return numbers


def _are_long_integers(numbers: NDArray[np.float64]) -> bool:
    """Whether all numbers are whole, the largest being beyond what floats tell apart, but not beyond an unsigned id."""
    largest = np.abs(numbers[~np.isnan(numbers)]).max(initial=0.0)
    return bool(MAX_EXACT_INTEGER < largest <= 2.0**64 and ((numbers == np.rint(numbers)) | np.isnan(numbers)).all())


def kind_of_type(kind: pa.DataType, place: Place) -> Kind:
    """The kind of a feature of this type; booleans are assumed to have no missing values."""
    is_dictionary = pa.types.is_dictionary(kind)
    if is_dictionary:
        kind = kind.value_type
    if is_text(kind) or kind == pa.string_view() or (is_dictionary and pa.types.is_integer(kind)):
        return "category"
    if pa.types.is_boolean(kind):
        return "boolean"
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_this(kind) for is_this in numeric):
        raise _unusable(place, kind)
    return "number"


def _unusable(place: Place, kind: pa.DataType) -> TableError:
    if pa.types.is_temporal(kind):
        return TableError(
            f"{place} contains dates or times; convert it to numbers, such as days since an event, or leave it out",
            [place.column],
        )
    return TableError(
        f"{place} has the type {str(kind)!r}; features must be numbers, booleans, strings or categories: leave it out",
        [place.column],
    )


def _are_amounts(column: pa.ChunkedArray, place: Place) -> bool:
    """Whether a text column contains amounts of money or percentages.

    Raise TableError for dates, and for numbers mixed with other text, as these are not useful as categories.
    """
    labels = pc.unique(column.drop_null())
    if pc.all(matches(labels, DATE)).as_py():
        raise _unusable(place, pa.date32())
    plain, amounts, grouped = (are(labels, place.decimal) for are in (are_plain, are_amounts, are_grouped))
    numbers = pc.or_(plain, amounts)
    odd = labels.filter(pc.invert(numbers))
    if len(odd) == 0:
        _check_units(units_of(labels), place)
        return bool(pc.any(amounts).as_py())
    if pc.sum(pc.or_(numbers, grouped)).as_py() < MIN_NUMBER_SHARE * len(labels):
        return False
    intervals = len(labels) <= MAX_INTERVAL_LABELS and pc.all(matches(odd, "[0-9]")).as_py()
    if intervals and not pc.any(grouped).as_py():
        return False
    raise _not_a_number(column, odd[0], place)


def _check_units(units: Mapping[str, str], place: Place) -> None:
    if len(units) > 1:
        some, other = list(units.values())[:2]
        raise TableError(
            f"{place} contains amounts in several units, such as {some!r} and {other!r}; convert them to one unit, or "
            "leave it out",
            [place.column],
        )


def _not_a_number(column: pa.ChunkedArray, odd: pa.Scalar, place: Place) -> TableError:
    position = f"{place.row(pc.index(column, odd).as_py())}: {odd.as_py()!r} is not a number;"
    if not are_grouped(odd, place.decimal).as_py():
        return TableError(f"{position} write a number, or leave missing cells empty")
    point, group = ("point", "comma") if place.decimal == "." else ("comma", "point")
    return TableError(
        f"{position} write numbers with a decimal {point} and no {group}, or read the table with a decimal {group}",
        decimal=GROUP_SEPARATOR[place.decimal],
    )

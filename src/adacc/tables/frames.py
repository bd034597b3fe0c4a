"""A whole table as a frame to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from adacc.tables.errors import Source, TableError, no_column
from adacc.tables.kinds import Kind, Place, as_categories, as_read, check_finite, decoded, is_text
from adacc.tables.sources import OpenTable, open_table

NUMBER = r"^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$"
WITH_COMMA = r"^[ \t]*[+-]?[0-9]+(,[0-9]+)+(\.[0-9]*)?[ \t]*$"
DATE = r"^([0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4})([ T][0-9]{1,2}:[0-9:.]+.*)?$"

MOSTLY = 0.5
"""A share of numbers among the values of a column from which on it is taken for one of numbers with mistakes."""

FEW = 20
"""Values of a column that may be names of intervals, such as 0, 1, 2, 3+; more are numbers, one of them mistyped."""


def read_frame(
    source: Source, drop: Iterable[str] = (), keep: Iterable[str] = (), target: str | None = None
) -> pd.DataFrame:
    r"""The table of a file.

    Parameters
    ----------
    source : str or path
        A file, its form by the ending: ``.csv`` (commas, tabs or semicolons, as the line of names has them) and
        ``.tsv``, either also packed (``.csv.gz``); ``.parquet``; ``.arrow`` and ``.feather``. A folder is the table of
        the Parquet files in it. ``"-"`` is standard input in any of these forms. Text is UTF-8 and has the names of the
        columns in its first line. In features of every form an empty text, ``NA``, ``N/A``, ``NULL``, ``NaN`` and
        ``None`` are missing.
    drop : iterable of str, default=()
        Columns to leave out. They are not looked at.
    keep : iterable of str, default=()
        Columns that are no features but wanted, of any kind: ids, groups, times.
    target : str, default=None
        The column to predict. It may hold anything; see `read_target` and `read_labels`.

    Returns
    -------
    DataFrame of shape (n_rows, n_columns)
        Columns in the order of the file. Numbers and booleans as they are; strings, and booleans with gaps, as
        categories of strings. `target` and `keep` as read.

    Raises
    ------
    TableError
        The file cannot be used as it is; the message says where and how to mend it.

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
    with closing(open_table(source)) as opened:
        others = {*keep, *([] if target is None else [target])}
        columns = wanted(opened, target, list(drop), others)
        table = opened.table(columns)
        if table.num_rows == 0:
            raise TableError(f"{opened.where} has no rows, only the names of its columns")
        return pd.DataFrame(
            {
                name: as_read(table[name])
                if name in others
                else _feature(table[name], Place(opened.where, name), opened)
                for name in columns
            }
        )


def wanted(opened: OpenTable, target: str | None, drop: Sequence[str], others: set[str]) -> list[str]:
    """Names of the columns to read."""
    for name in (*sorted(others), *drop):
        if name not in opened.names:
            raise no_column(opened.where, name, opened.names, " to predict" if name == target else "")
    both = others.intersection(drop)
    if both:
        raise TableError(f"{opened.where}: column {min(both)!r} is both to be left out and to be used; say one of them")
    return [name for name in opened.names if name in others or name not in (*drop, *opened.index)]


def _feature(column: pa.ChunkedArray, place: Place, opened: OpenTable) -> Any:
    kind = kind_of_type(column.type, place)
    column = decoded(column)
    if is_text(column.type) and not opened.typed:
        _check_text(column, place)
    if kind == "category":
        return as_categories(column, place)
    if kind == "boolean":
        return as_categories(column, place) if column.null_count else column.to_numpy()
    if pa.types.is_null(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    numbers = column.to_numpy()
    return check_finite(numbers, place) if numbers.dtype.kind == "f" else numbers


def kind_of_type(kind: pa.DataType, place: Place) -> Kind:
    """What a feature of this type holds; a boolean one, if it has no gaps."""
    labels = pa.types.is_dictionary(kind)
    if labels:
        kind = kind.value_type
    if is_text(kind) or kind == pa.string_view() or (labels and pa.types.is_integer(kind)):
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
            f"{place} holds dates or times; leave it out with --drop {place.column}, or turn it into numbers, "
            "such as days since an event"
        )
    return TableError(
        f"{place} is of the kind {str(kind)!r}; a feature may hold numbers, booleans, strings or categories: leave it "
        f"out with --drop {place.column}"
    )


def _check_text(column: pa.ChunkedArray, place: Place) -> None:
    """Refuse dates, and numbers of which some are written in other ways: as labels they would be of no use."""
    labels = pc.unique(column.drop_null())
    if pc.all(_matches(labels, DATE)).as_py():
        raise _unusable(place, pa.date32())
    plain, commas = _matches(labels, NUMBER), _matches(labels, WITH_COMMA)
    odd = labels.filter(pc.invert(plain))
    if len(odd) == 0 or pc.sum(pc.or_(plain, commas)).as_py() < MOSTLY * len(labels):
        return
    intervals = len(labels) <= FEW and pc.all(_matches(odd, "[0-9]")).as_py()
    if intervals and not pc.any(commas).as_py():
        return
    at = pc.index(column, odd[0]).as_py()
    mend = "write a number, or leave a cell without a value empty"
    if _matches(odd[0], WITH_COMMA).as_py():
        mend = "write numbers with a decimal point and no comma"
    raise TableError(f"{place.row(at)}: {odd[0].as_py()!r} among numbers; {mend}")


def _matches(text: Any, pattern: str) -> Any:
    return pc.match_substring_regex(text, pattern)

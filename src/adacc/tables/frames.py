"""A whole table as a frame to learn from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from adacc.tables.amounts import OTHER, are_grouped, are_marked, are_plain, marks_of, matches
from adacc.tables.errors import Source, TableError, no_column
from adacc.tables.kinds import (
    Kind,
    Place,
    as_categories,
    as_numbers,
    as_read,
    check_finite,
    decoded,
    is_text,
    warn_if_rounded,
    with_gaps,
)
from adacc.tables.labels import as_labels, warn_of_alike
from adacc.tables.sources import OpenTable, open_table

MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-zA-Z]*"
DATES = (
    r"[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}",
    r"[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}",
    r"[0-9]{1,2}(/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{2}",
    r"(0[1-9]|[12][0-9]|3[01])\.(0[1-9]|1[0-2])\.[0-9]{2}",  # 3.10.12 is rather a version
    rf"[0-9]{{1,2}}[. /-]*{MONTH}[., /-]*([0-9]{{2}}|[0-9]{{4}})",
    rf"{MONTH}[. ]*[0-9]{{1,2}}[, ]+[0-9]{{4}}",
)
DATE = rf"^({'|'.join(DATES)})([ T][0-9]{{1,2}}:[0-9:.]+.*)?$"

MOSTLY = 0.5
"""A share of numbers among the values of a column from which on it is taken for one of numbers with mistakes."""

FEW = 20
"""Values of a column that may be names of intervals, such as 0, 1, 2, 3+; more are numbers, one of them mistyped."""


def read_frame(
    source: Source | OpenTable, drop: Iterable[str] = (), keep: Iterable[str] = (), target: str | None = None
) -> pd.DataFrame:
    r"""The table of a file.

    Parameters
    ----------
    source : str or path, or what `open_table` gives
        A file, its form by the ending: ``.csv`` (commas, tabs, semicolons or bars, as fits the first rows) and
        ``.tsv``, either also packed (``.csv.gz``); ``.parquet``; ``.arrow`` and ``.feather``. A folder is the table of
        the Parquet files in it. ``"-"`` is standard input in any of these forms. Text is UTF-8 and has the names of the
        columns in its first line; `open_table` takes the separator and the decimal sign. In features of every form an
        empty text, ``NA``, ``N/A``, ``NULL``, ``NaN`` and ``None`` are missing. Amounts such as ``$1,200.50`` and
        ``45%`` in text files are numbers. The index of a pandas frame is no feature; a warning names it.
    drop : iterable of str, default=()
        Columns to leave out. They are not looked at.
    keep : iterable of str, default=()
        Columns that are no features but wanted, of any kind: ids, groups, times.
    target : str, default=None
        The column to predict. It may hold anything; see `read_target` and `read_labels`. In text files its cells are
        numbers or booleans only if they are written as Python writes these: ``007`` stays text. Only empty cells are
        missing where labels are text, ``None`` and ``NA`` being labels.

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
        table = opened.table(columns, as_text=[] if target is None else [target])
        if table.num_rows == 0:
            raise TableError(f"{opened.where} has no rows, only the names of its columns")
        frame = {}
        for name in columns:
            column, place = table[name], Place(opened.where, name, decimal=opened.decimal)
            if name == target:
                frame[name] = as_labels(column, place, opened.typed)
                warn_of_alike(frame[name], place)
            elif name in others:
                frame[name] = as_read(column if opened.typed else with_gaps(column))
            else:
                frame[name] = _feature(column, place, opened.typed)
        return pd.DataFrame(frame)


def wanted(opened: OpenTable, target: str | None, drop: Sequence[str], others: set[str]) -> list[str]:
    """Names of the columns to read."""
    for name in (*sorted(others), *drop):
        if name not in opened.names:
            raise no_column(opened.where, name, opened.names, " to predict" if name == target else "")
    both = others.intersection(drop)
    if both:
        raise TableError(f"{opened.where}: column {min(both)!r} is both to be left out and to be used; say one of them")
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


def _feature(column: pa.ChunkedArray, place: Place, typed: bool) -> Any:
    kind = kind_of_type(column.type, place)
    column = decoded(column)
    if is_text(column.type) and not typed:
        column = with_gaps(column)
        if _are_amounts(column, place):
            return as_numbers(column, place)
    if kind == "category":
        return as_categories(column, place)
    if kind == "boolean":
        return as_categories(column, place) if column.null_count else column.to_numpy()
    if pa.types.is_null(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_integer(column.type):
        warn_if_rounded(column, place)
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
            f"{place} holds dates or times; turn it into numbers, such as days since an event, or leave it out",
            [place.column],
        )
    return TableError(
        f"{place} is of the kind {str(kind)!r}; a feature may hold numbers, booleans, strings or categories: leave it "
        "out",
        [place.column],
    )


def _are_amounts(column: pa.ChunkedArray, place: Place) -> bool:
    """Whether text is amounts of money or per cent.

    Refuse dates, and numbers of which some are written in other ways: as labels they would be of no use.
    """
    labels = pc.unique(column.drop_null())
    if pc.all(matches(labels, DATE)).as_py():
        raise _unusable(place, pa.date32())
    plain, marked, grouped = (are(labels, place.decimal) for are in (are_plain, are_marked, are_grouped))
    numbers = pc.or_(plain, marked)
    odd = labels.filter(pc.invert(numbers))
    if len(odd) == 0:
        _check_marks(marks_of(labels), place)
        return bool(pc.any(marked).as_py())
    if pc.sum(pc.or_(numbers, grouped)).as_py() < MOSTLY * len(labels):
        return False
    intervals = len(labels) <= FEW and pc.all(matches(odd, "[0-9]")).as_py()
    if intervals and not pc.any(grouped).as_py():
        return False
    raise _odd_number(column, odd[0], place)


def _check_marks(marks: Mapping[str, str], place: Place) -> None:
    if len(marks) > 1:
        some, other = list(marks.values())[:2]
        raise TableError(
            f"{place} holds amounts in several units, such as {some!r} and {other!r}; convert them to one unit, or "
            "leave it out",
            [place.column],
        )


def _odd_number(column: pa.ChunkedArray, odd: pa.Scalar, place: Place) -> TableError:
    what = f"{place.row(pc.index(column, odd).as_py())}: {odd.as_py()!r} among numbers;"
    if not are_grouped(odd, place.decimal).as_py():
        return TableError(f"{what} write a number, or leave a cell without a value empty")
    sign, other = ("point", "comma") if place.decimal == "." else ("comma", "point")
    return TableError(
        f"{what} write numbers with a decimal {sign} and no {other}, or read the table with a decimal {other}",
        decimal=OTHER[place.decimal],
    )

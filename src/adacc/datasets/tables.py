"""The user's own tables: CSV and Parquet files with a column to predict."""

from __future__ import annotations

import csv
import difflib
import gzip
import os
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from adacc.datasets.checks import TableError
from adacc.datasets.sources import rarer_is_one

ENDINGS = (".csv", ".csv.gz", ".parquet")
# From pandas 3.1 on numbers are read to the last bit, and the option that asks for it is deprecated.
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


def read_table(path: str | os.PathLike[str], target: str | None = None) -> tuple[pd.DataFrame, pd.Series]:
    r"""Features and target of a data file.

    Parameters
    ----------
    path : str or path
        A CSV file (``.csv`` or ``.csv.gz``: commas, the names of the columns in the first line, UTF-8) or a Parquet
        file (``.parquet``).
    target : str, default=None
        The column to predict, of two values; None is the column called ``target``.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers and booleans as they are, strings as categories; missing values stay missing.
    target : Series of shape (n_rows,)
        int8; 1 is the rarer value, of equally many the one that sorts last.

    Raises
    ------
    TableError
        The file cannot be used as it is; the message says why.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,town,ill\n30,Bonn,no\n41,,no\n52,Kiel,yes\n")
    ...     frame, target = read_table(path, target="ill")
    >>> frame.dtypes.astype(str).to_dict(), target.tolist()
    ({'age': 'int64', 'town': 'category'}, [0, 0, 1])
    """
    file = Path(path).expanduser()
    if not file.name.lower().endswith(ENDINGS):
        raise TableError(f"{file}: data files end in {', '.join(ENDINGS)}")
    if not file.is_file():
        raise TableError(f"{file} does not exist" if not file.exists() else f"{file} is no file")
    frame = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file)
    labels = _labels(frame, "target" if target is None else target, file)
    features = frame.drop(columns=labels.name)
    if features.shape[1] == 0:
        raise TableError(f"{file} has no column but {labels.name!r}; at least one feature is needed")
    return pd.DataFrame({name: _feature(features[name], file) for name in features}), rarer_is_one(labels)


def _read_csv(file: Path) -> pd.DataFrame:
    try:
        unpack = gzip.open if file.suffix.lower() == ".gz" else open
        with unpack(file, "rt", encoding="utf-8-sig", newline="") as lines:
            _check_names(next(csv.reader(lines), []), file)
        with warnings.catch_warnings():
            # With more cells than names pandas would take the first for an index, or drop the last with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, encoding="utf-8-sig", low_memory=False, index_col=False, **EXACT)
    except TableError:
        raise
    except (ValueError, EOFError, OSError, zlib.error, csv.Error, pd.errors.ParserWarning) as error:
        raise TableError(f"{file} cannot be read as CSV: {error}") from error


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        with pq.ParquetFile(file) as opened:
            table = opened.read()
        _check_names(table.column_names, file)
        return table.to_pandas().reset_index(drop=True)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{file} cannot be read as Parquet: {error}") from error


def _check_names(names: list[str], file: Path) -> None:
    """Pandas would rename such columns, and a second target would become a feature."""
    if not names:
        raise TableError(f"{file} is empty; the names of the columns are expected in the first line")
    unnamed = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise TableError(
            f"{file}: column {unnamed[0]} of {len(names)} has no name. If it is an index, write the file without it."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{file} has {names.count(twice[0])} columns called {twice[0]!r}; names must differ")


def _labels(frame: pd.DataFrame, name: str, file: Path) -> pd.Series:
    """The column to predict, of exactly two values."""
    if name not in frame:
        columns = [str(column) for column in frame.columns]
        near = difflib.get_close_matches(name, columns, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        if len(columns) == 1 and any(sign in columns[0] for sign in ";\t|"):
            hint = "are its cells separated by commas? "
        shown = ", ".join(map(repr, columns[:10])) + (", ..." if len(columns) > 10 else "")
        raise TableError(f"{file} has no column {name!r} to predict; {hint}It has {shown}")
    labels = frame[name]
    if len(labels) == 0:
        raise TableError(f"{file} has no rows")
    if labels.isna().any():
        first = int(labels.isna().to_numpy().argmax()) + 1
        raise TableError(
            f"{file}: column {name!r}, the one to predict, is missing in {labels.isna().sum()} rows, first in row "
            f"{first}; drop these rows or fill them in"
        )
    if pd.api.types.infer_dtype(labels) == "mixed":  # lists and the like, which cannot be compared
        raise TableError(f"{file}: column {name!r}, the one to predict, must hold numbers, booleans or strings")
    values = labels.drop_duplicates()
    if len(values) != 2:
        shown = ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
        raise TableError(
            f"{file}: column {name!r}, the one to predict, must have two values, found {len(values)}: {shown}"
        )
    return labels.astype(object)


def _feature(column: pd.Series, file: Path) -> pd.Series:
    """Numbers and booleans as they are, strings as categories."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return column
    if pd.api.types.is_bool_dtype(kind) or (pd.api.types.is_numeric_dtype(kind) and kind.kind != "c"):
        return column
    # Of gaps and booleans pandas makes objects.
    found = pd.api.types.infer_dtype(column, skipna=True)
    if found in ("string", "boolean", "empty"):
        return column.map(str, na_action="ignore").astype("category")
    raise TableError(
        f"{file}: column {column.name!r} is of the kind {found!r}; a feature may hold numbers, booleans, strings or "
        "categories"
    )

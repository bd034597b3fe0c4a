"""Opens tables: the format of files follows from the ending, that of standard input from the first bytes."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa

from adacc.tables.arrow import ArrowTable, ParquetFolder, ParquetTable
from adacc.tables.errors import Source, TableError, source_name, table_errors
from adacc.tables.text import ARROW_FILE, ARROW_STREAM, GZIP, PARQUET, TextFile

TEXT = {".csv": None, ".csv.gz": None, ".tsv": "\t", ".tsv.gz": "\t"}
"""The field separator by file ending; None is detected from the first rows."""

ARROW = (".arrow", ".feather")
ENDINGS = (*TEXT, ".parquet", *ARROW)


class OpenTable(Protocol):
    """An open table, of which only the column names have been read."""

    where: str  # name of the table in messages
    names: list[str]  # names of the columns
    index: Sequence[str]  # columns that are the index of a pandas frame
    # Whether the file stores types. If not, `table` infers them except for the columns `as_text`, and `batches` returns
    # text.
    typed: bool
    decimal: str  # the decimal separator of numbers in text
    padded: Mapping[str, str]  # an integer with leading zeros of each column of text that has one in its first rows

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...

    def close(self) -> None: ...


def open_table(
    source: Source | OpenTable, separator: str | None = None, decimal: Literal[".", ","] | None = None
) -> OpenTable:
    r"""Open a table.

    Parameters
    ----------
    source : str or path
        As for `read_frame`. An open table is returned unchanged.
    separator : str, default=None
        The field separator of a text file. By default it is detected among comma, tab, semicolon and bar, such that
        the first rows have as many cells as there are column names.
    decimal : {".", ","}, default=None
        The decimal separator of a text file; None is a point.

    Returns
    -------
    OpenTable
        A table that can be read once. Its `names` are the column names.

    Raises
    ------
    TableError
        The file cannot be read, or `separator` or `decimal` is given for a file that is not text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from adacc.tables import read_frame
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age;amount, EUR\n30;1,5\n41;2\n")
    ...     frame = read_frame(open_table(path, decimal=","))
    >>> frame["amount, EUR"].tolist()
    [1.5, 2.0]
    """
    opened = _open(source, separator, decimal or ".") if isinstance(source, str | PathLike) else source
    if opened.typed and (separator, decimal) != (None, None):
        opened.close()
        raise TableError(
            f"{opened.where} is not a text file; a separator and a decimal separator are only for text files"
        )
    return opened


def _open(source: Source, separator: str | None, decimal: str) -> OpenTable:
    if source == "-":
        return _open_input(separator, decimal)
    if source == "":
        raise TableError("the table must be a path or '-', got ''")
    where, file = source_name(source), Path(source_name(source))
    _check_exists(file, where)
    if file.is_dir():
        with table_errors(where, "Parquet"):
            return ParquetFolder(file, where)
    name = file.name.lower()
    ending = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    if ending is None:
        raise TableError(f"{where}: the file name must end in {', '.join(ENDINGS)}")
    format_name = "Parquet" if ending == ".parquet" else "Arrow" if ending in ARROW else "CSV"
    with table_errors(where, format_name):
        if format_name == "Parquet":
            return ParquetTable(file, where)
        if format_name == "Arrow":
            with file.open("rb") as opened:
                is_file = opened.read(len(ARROW_FILE)) == ARROW_FILE
            return ArrowTable(pa.memory_map(where), where, is_stream=not is_file)
        text_format = (where, separator or TEXT[ending], decimal)
        return TextFile(gzip.open(file) if name.endswith(".gz") else file.open("rb"), *text_format, again=True)


def _check_exists(file: Path, where: str) -> None:
    if file.exists():
        return
    names = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
    stems = {name: name.partition(".")[0] for name in names if name.lower().endswith(ENDINGS)}
    similar = get_close_matches(file.name.partition(".")[0], stems.values(), n=3)
    near = [name for name, stem in stems.items() if stem in similar][:3]
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; check the path"
    raise TableError(f"{where} does not exist{hint}")


def _open_input(separator: str | None, decimal: str) -> OpenTable:
    if sys.stdin is None:
        raise TableError("standard input is closed; give the path of a file")
    where, stream = source_name("-"), _peekable(sys.stdin.buffer)
    first_bytes = stream.peek(8)
    if first_bytes.startswith(ARROW_STREAM):
        return ArrowTable(pa.PythonFile(stream), where, is_stream=True)
    if first_bytes.startswith(PARQUET):
        return ParquetTable(_on_disk(stream), where)
    if first_bytes.startswith(ARROW_FILE):
        return ArrowTable(pa.PythonFile(_on_disk(stream)), where, is_stream=False)
    is_gzip = first_bytes.startswith(GZIP)
    return TextFile(gzip.open(stream) if is_gzip else stream, where, separator, decimal, again=False)


def _peekable(stream: Any) -> Any:
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def _on_disk(stream: Any) -> Any:
    """A temporary copy on disk: these formats are read from the end, and can be larger than memory."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the table)
    shutil.copyfileobj(stream, copy)
    copy.seek(0)
    return copy

"""Where tables come from: files by their endings, standard input by what it begins with."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa

from adacc.tables.arrow import ArrowTable, ParquetFolder, ParquetTable
from adacc.tables.errors import Source, TableError, called, explained
from adacc.tables.text import ARROW_FILE, ARROW_STREAM, GZIP, PARQUET, TextFile

TEXT = {".csv": None, ".csv.gz": None, ".tsv": "\t", ".tsv.gz": "\t"}
"""What stands between cells, by ending; of None the first rows tell."""

ARROW = (".arrow", ".feather")
ENDINGS = (*TEXT, ".parquet", *ARROW)


class OpenTable(Protocol):
    """A table that is open: its names are known, its rows are not read yet.

    Attributes
    ----------
    where : str
        How to speak of it.
    names : list of str
        Of the columns.
    index : sequence of str
        Columns that are no data but the index of a pandas frame.
    typed : bool
        Whether columns have types; if not, `table` finds them out, but leaves those to be read `as_text`, and `batches`
        gives text.
    decimal : str
        The decimal sign of numbers in text.
    """

    where: str
    names: list[str]
    index: Sequence[str]
    typed: bool
    decimal: str

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...

    def close(self) -> None: ...


def open_table(
    source: Source | OpenTable, separator: str | None = None, decimal: Literal[".", ","] | None = None
) -> OpenTable:
    r"""Open a table, for the functions that read one.

    Parameters
    ----------
    source : str or path
        As for `read_frame`. A table that is open already is given back.
    separator : str, default=None
        The character between the cells of a text file. None finds it out: the one of comma, tab, semicolon and bar that
        gives the first rows as many cells as there are names.
    decimal : {".", ","}, default=None
        The decimal sign of the numbers in a text file; None is a point.

    Returns
    -------
    OpenTable
        To be read once. Its `names` are those of the columns.

    Raises
    ------
    TableError
        The file cannot be read, or is no text file although `separator` or `decimal` is given.

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
        raise TableError(f"{opened.where} is no text file: a separator and a decimal sign are for such files only")
    return opened


def _open(source: Source, separator: str | None, decimal: str) -> OpenTable:
    if source == "-":
        return _open_input(separator, decimal)
    if source == "":
        raise TableError("the name of a table is expected, got ''")
    where, file = called(source), Path(called(source))
    _check_exists(file, where)
    if file.is_dir():
        with explained(where, "Parquet"):
            return ParquetFolder(file, where)
    name = file.name.lower()
    ending = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    if ending is None:
        raise TableError(f"{where}: data files end in {', '.join(ENDINGS)}; save it as one of these")
    form = "Parquet" if ending == ".parquet" else "Arrow" if ending in ARROW else "CSV"
    with explained(where, form):
        if form == "Parquet":
            return ParquetTable(file, where)
        if form == "Arrow":
            with file.open("rb") as opened:
                is_file = opened.read(len(ARROW_FILE)) == ARROW_FILE
            return ArrowTable(pa.memory_map(where), where, is_stream=not is_file)
        form_of = (where, separator or TEXT[ending], decimal)
        return TextFile(gzip.open(file) if name.endswith(".gz") else file.open("rb"), *form_of, again=True)


def _check_exists(file: Path, where: str) -> None:
    if file.exists():
        return
    found = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
    stems = {name: name.partition(".")[0] for name in found if name.lower().endswith(ENDINGS)}
    like = get_close_matches(file.name.partition(".")[0], stems.values(), n=3)
    near = [name for name, stem in stems.items() if stem in like][:3]
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; check its name and folder"
    raise TableError(f"{where} does not exist{hint}")


def _open_input(separator: str | None, decimal: str) -> OpenTable:
    if sys.stdin is None:
        raise TableError("standard input is closed; name a file")
    where, stream = called("-"), _peekable(sys.stdin.buffer)
    begins = stream.peek(8)
    if begins.startswith(ARROW_STREAM):
        return ArrowTable(pa.PythonFile(stream), where, is_stream=True)
    if begins.startswith(PARQUET):
        return ParquetTable(_on_disk(stream), where)
    if begins.startswith(ARROW_FILE):
        return ArrowTable(pa.PythonFile(_on_disk(stream)), where, is_stream=False)
    packed = begins.startswith(GZIP)
    return TextFile(gzip.open(stream) if packed else stream, where, separator, decimal, again=False)


def _peekable(stream: Any) -> Any:
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def _on_disk(stream: Any) -> Any:
    """These forms are read from their end, and may be larger than memory."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the table)
    shutil.copyfileobj(stream, copy)
    copy.seek(0)
    return copy

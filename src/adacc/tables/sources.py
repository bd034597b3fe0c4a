"""Where tables come from: files by their endings, standard input by what it begins with."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from adacc.tables.arrow import ArrowTable, ParquetFolder, ParquetTable
from adacc.tables.errors import Source, TableError, called, explained
from adacc.tables.text import ARROW_FILE, ARROW_STREAM, GZIP, PARQUET, TextFile

TEXT = {".csv": None, ".csv.gz": None, ".tsv": "\t", ".tsv.gz": "\t"}
"""What stands between cells, by ending; of None the line of names tells."""

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
        Whether columns have types; if not, `table` finds them out and `batches` gives text.
    """

    where: str
    names: list[str]
    index: Sequence[str]
    typed: bool

    def table(self, columns: Sequence[str]) -> pa.Table: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...

    def close(self) -> None: ...


def open_table(source: Source) -> OpenTable:
    """The table of a path, or of standard input (`"-"`)."""
    if source == "-":
        return _open_input()
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
        return TextFile(gzip.open(file) if name.endswith(".gz") else file.open("rb"), where, TEXT[ending], again=True)


def _check_exists(file: Path, where: str) -> None:
    if file.exists():
        return
    found = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
    stems = {name: name.partition(".")[0] for name in found if name.lower().endswith(ENDINGS)}
    like = get_close_matches(file.name.partition(".")[0], stems.values(), n=3)
    near = [name for name, stem in stems.items() if stem in like][:3]
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "; check its name and folder"
    raise TableError(f"{where} does not exist{hint}")


def _open_input() -> OpenTable:
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
    return TextFile(gzip.open(stream) if begins.startswith(GZIP) else stream, where, None, again=False)


def _peekable(stream: Any) -> Any:
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def _on_disk(stream: Any) -> Any:
    """These forms are read from their end, and may be larger than memory."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the table)
    shutil.copyfileobj(stream, copy)
    copy.seek(0)
    return copy

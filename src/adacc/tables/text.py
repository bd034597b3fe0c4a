"""Delimited text files with the column names in the first line."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO, RawIOBase
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from adacc.tables.errors import UNNAMED, TableError, check_names, is_unnamed_index, table_errors

MISSING = ("", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
           "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")  # fmt: skip
"""Missing values: those of pandas, and a single space."""

TRUE, FALSE = ("True", "TRUE", "true"), ("False", "FALSE", "false")

SEPARATORS = ",\t;|"  # field separators to detect, the most likely first
FIRST_LINES, FIRST_BYTES = 50, 1 << 18  # maximum number of lines and bytes used to detect the separator

BLOCK, BLOCK_PER_COLUMN = 4 << 20, 512
"""Bytes parsed at a time, and the minimum per column, as a row must fit in a block."""

GZIP, PARQUET, ARROW_FILE, ARROW_STREAM = b"\x1f\x8b", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""First bytes of file formats."""

BINARY_FORMATS = {
    GZIP: "those of a gzip file: rename it to end in .gz",
    PARQUET: "those of a Parquet file: rename it to end in .parquet",
    ARROW_FILE: "those of an Arrow file: rename it to end in .arrow",
    ARROW_STREAM: "those of an Arrow stream: rename it to end in .arrow",
    b"PK\x03\x04": "those of a zip archive or a spreadsheet: save the table as CSV",
    b"BZh": "those of a bzip2 file: decompress it, or use gzip",
    b"\xfd7zXZ": "those of an xz file: decompress it, or use gzip",
    b"\x28\xb5\x2f\xfd": "those of a Zstandard file: decompress it, or use gzip",
    b"\xff\xfe": "those of UTF-16 text: save the file as UTF-8",
    b"\xfe\xff": "those of UTF-16 text: save the file as UTF-8",
}
"""First bytes of files that are often confused with CSV."""


class TextFile:
    """An open text file, of which the column names have been read.

    The stream has `peek` and `readline`. A separator of None is detected. `again` tells whether the stream can be read
    again from its beginning.
    """

    typed = False
    index: Sequence[str]
    padded: Mapping[str, str]

    def __init__(self, stream: Any, where: str, separator: str | None, decimal: str, again: bool) -> None:
        self._stream, self.where, self.decimal, self._again = stream, where, decimal, again
        self._bad_row: Any = None
        try:
            with table_errors(where, "CSV"):
                _check_magic(stream, where)
                lines = _first_lines(stream)
                self._stream = _from_beginning(stream, lines, again)
                self._separator = separator or find_separator(lines)
                self.names = _header(self._stream, where, self._separator)
                self.padded = _padded_integers(lines, self._separator, self.names)
                self._begin = stream.tell() if again else None
                self._has_rows = bool(self._stream.peek(1))
        except TableError:
            self.close()
            raise
        self.index = [name for name in self.names if is_unnamed_index(name)]

    def close(self) -> None:
        if self._again:  # standard input stays open
            self._stream.close()

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table:
        """These columns of all rows, with inferred types or as text.

        In text columns an empty cell is an empty string, and the words for missing values are kept.
        """
        if not self._has_rows:
            return pa.table({name: pa.nulls(0) for name in columns})
        table = self._parsed(columns, dict.fromkeys(as_text, pa.binary()))
        for i, name in enumerate(columns):
            if pa.types.is_binary(table[name].type):
                table = table.set_column(i, name, self._as_text(table[name], name, 0))
        return table

    def _parsed(self, columns: Sequence[str], types: dict[str, pa.DataType]) -> pa.Table:
        if self._again:
            # First with several threads, whose errors do not give the number of the row.
            with table_errors(self.where, "CSV"), suppress(pa.ArrowInvalid):
                return arrow_csv.read_csv(self._stream, **self._options(columns, types, threads=True))
            self._stream.seek(self._begin)
        with self._row_errors():
            return arrow_csv.read_csv(self._stream, **self._options(columns, types, threads=False))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns as text in batches; only empty cells are missing."""
        if not self._has_rows:
            return
        done, plain = 0, dict.fromkeys(columns, pa.binary())
        with self._row_errors():
            options = self._options(columns, plain, threads=False)
            options["convert_options"].null_values = [""]
            options["convert_options"].strings_can_be_null = True
            reader = arrow_csv.open_csv(self._stream, **options)
        while True:
            with self._row_errors():
                batch = next(reader, None)
            if batch is None:
                return
            names = batch.schema.names
            texts = [self._as_text(column, name, done) for name, column in zip(names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(texts, names=names)
            done += batch.num_rows

    def _as_text(self, column: Any, name: str, done: int) -> Any:
        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            raise _not_utf8(self.where, name, column, done) from None

    def _options(self, columns: Sequence[str], types: dict[str, pa.DataType], threads: bool) -> dict[str, Any]:
        block = max(BLOCK, BLOCK_PER_COLUMN * len(self.names))
        return {
            "read_options": arrow_csv.ReadOptions(column_names=self.names, use_threads=threads, block_size=block),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self._separator,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) > 1,  # in the only column, an empty line is a missing value
                invalid_row_handler=self._note,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=list(columns), column_types=types, **_cells(self.decimal)
            ),
        }

    def _note(self, row: Any) -> str:
        self._bad_row = row
        return "error"

    @contextmanager
    def _row_errors(self) -> Iterator[None]:
        with table_errors(self.where, "CSV"):
            try:
                yield
            except pa.ArrowInvalid as error:
                quote = "; is a quotation mark not closed?"
                if "straddl" in str(error):
                    raise TableError(f"{self.where} has a row that is longer than a block{quote}") from None
                if self._bad_row is None:
                    raise
                raise _wrong_cell_count(self.where, self._bad_row, quote) from None


def inferred(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """A column that was read as text with the type that Arrow infers."""
    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(pa.table({"text": column}), sink)
    table = arrow_csv.read_csv(
        pa.BufferReader(sink.getvalue()),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(**_cells(decimal)),
    )
    return table["text"]


def _cells(decimal: str) -> dict[str, Any]:
    """How Arrow reads cells."""
    return {
        "null_values": list(MISSING), "decimal_point": decimal, "true_values": list(TRUE), "false_values": list(FALSE),
    }  # fmt: skip


def _wrong_cell_count(where: str, row: Any, quote: str) -> TableError:
    cells = f"{row.actual_columns} cell{'s' if row.actual_columns != 1 else ''}"
    hint = quote if "\n" in row.text else f": {row.text[:60]!r}; fix this row"
    return TableError(f"{where}: row {row.number} has {cells}, but must have {row.expected_columns}{hint}")


def _check_magic(stream: Any, where: str) -> None:
    start = stream.peek(8)
    for magic, what in BINARY_FORMATS.items():
        if start.startswith(magic):
            raise TableError(f"{where} is not CSV: its first bytes are {what}")


def _first_lines(stream: Any) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < FIRST_LINES and sum(map(len, lines)) < FIRST_BYTES and (line := stream.readline()):
        lines.append(line)
    return lines


def _from_beginning(stream: Any, lines: list[bytes], again: bool) -> Any:
    """A stream at its beginning again, after its first lines were read."""
    if again:
        stream.seek(0)
        return stream
    return BufferedReader(ReplayedStream(b"".join(lines), stream))


class ReplayedStream(RawIOBase):
    """Bytes that were read, followed by the rest of a stream that cannot seek."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first, self._stream = BytesIO(first), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._first.readinto(buffer) or int(self._stream.readinto(buffer))


def find_separator(lines: Sequence[bytes]) -> str:
    r"""The separator that gives most rows as many cells as there are column names; ties go to more cells.

    Examples
    --------
    >>> find_separator([b"age;amount, EUR;town\n", b"30;1,5;Bonn\n", b'41;2,5;"a;b"\n'])
    ';'
    """
    text = [line.decode("utf-8-sig", errors="replace") for line in lines if line.strip()]
    if len(lines) == FIRST_LINES and len(text) > 2:
        text.pop()  # it can be the first line of a multi-line row
    best, separator = (0.0, 1), SEPARATORS[0]
    for char in SEPARATORS:
        widths: list[int] = []
        with suppress(csv.Error):  # the rows before an invalid row are enough
            widths.extend(map(len, csv.reader(text, delimiter=char)))
        if widths and widths[0] > 1:
            score = (widths.count(widths[0]) / len(widths), widths[0])
            if score > best:
                best, separator = score, char
    return separator


def _header(stream: Any, where: str, separator: str) -> list[str]:
    """The column names; an unnamed first column, such as an index, gets the name that pandas uses."""
    lines = iter(stream.readline, b"")
    first = next((line for line in lines if line.strip()), b"")  # skip blank lines above the header
    if b"\r" in first.rstrip(b"\r\n") and b'"' not in first:
        raise TableError(
            f"{where} has lines that end with a carriage return (CR) alone; save the file with the line ends LF or CRLF"
        )
    try:
        text = first.decode("utf-8-sig")
        names = next(csv.reader(chain([text], (line.decode() for line in lines)), delimiter=separator, strict=True), [])
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise TableError(
            f"{where}: the column names contain the byte 0x{byte:02x}, which is not UTF-8; save the file as UTF-8"
        ) from None
    if len(names) > 1 and not names[0].strip():
        free = (UNNAMED if n == 0 else f"{UNNAMED}.{n}" for n in range(len(names)))
        names[0] = next(name for name in free if name not in names)
    check_names(names, where)
    return names


def _padded_integers(lines: Sequence[bytes], separator: str, names: Sequence[str]) -> dict[str, str]:
    """The first integer with leading zeros in each column that has one in the first lines."""
    text = [line.decode("utf-8-sig", errors="replace") for line in lines]
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(csv.reader(text, delimiter=separator))
    found: dict[str, str] = {}
    for row in rows[1:]:
        for name, cell in zip(names, row, strict=False):
            if cell[:1] == "0" and cell[1:].isdecimal():
                found.setdefault(name, cell)
    return found


def _not_utf8(where: str, name: str, column: Any, done: int) -> TableError:
    """The error for the first cell of a column that is not UTF-8; `done` rows precede the column."""
    for row, cell in enumerate(column.to_pylist(), start=done + 1):
        try:
            (cell or b"").decode()
        except UnicodeDecodeError as error:
            byte = cell[error.start]
            return TableError(
                f"{where}: row {row}, column {name!r} contains the byte 0x{byte:02x}, which is not UTF-8; save the "
                "file as UTF-8"
            )
    raise AssertionError("every cell is UTF-8")

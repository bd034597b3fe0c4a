"""Delimited text: names in the first line, a row in each of the others."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from adacc.tables.errors import TableError, check_names, explained

MISSING = ("", " ", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
           "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null")  # fmt: skip
"""Cells without a value: what pandas takes for one, and a lone space."""

TRUE, FALSE = ("True", "TRUE", "true"), ("False", "FALSE", "false")

BLOCK, BLOCK_OF_COLUMN = 4 << 20, 512
"""Bytes that are parsed at a time, and how many at least for each column: a row must fit in."""

GZIP, PARQUET, ARROW_FILE, ARROW_STREAM = b"\x1f\x8b", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""First bytes."""

NO_TEXT = {
    GZIP: "those of a gzip file: let its name end in .gz",
    PARQUET: "those of a Parquet file: let its name end in .parquet",
    ARROW_FILE: "those of an Arrow file: let its name end in .arrow",
    ARROW_STREAM: "those of an Arrow stream: let its name end in .arrow",
    b"PK\x03\x04": "those of a zip archive or a spreadsheet: save the table as CSV",
    b"\xff\xfe": "those of UTF-16 text: save the file as UTF-8",
    b"\xfe\xff": "those of UTF-16 text: save the file as UTF-8",
}
"""First bytes of files that are often taken for CSV."""


class TextFile:
    """A file of which the names have been read.

    Parameters
    ----------
    stream : binary file
        One with `peek` and `readline`.
    where : str
        How to speak of it.
    separator : str or None
        What stands between cells; None finds out.
    again : bool
        Whether the stream can be read again from its beginning.
    """

    typed = False
    index: Sequence[str] = ()

    def __init__(self, stream: Any, where: str, separator: str | None, again: bool) -> None:
        self._stream, self.where, self._again = stream, where, again
        self._bad_row: Any = None
        try:
            with explained(where, "CSV"):
                self.names, self._separator = _header(stream, where, separator)
                self._begin = stream.tell() if again else None
                self._has_rows = bool(stream.peek(1))
        except TableError:
            self.close()
            raise

    def close(self) -> None:
        if self._again:  # standard input is not ours to close
            self._stream.close()

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows, each of the narrowest kind that its cells fit in."""
        if not self._has_rows:
            return pa.table({name: pa.nulls(0) for name in columns})
        found = self._parsed(columns)
        for name in columns:
            if pa.types.is_binary(found[name].type):
                raise _not_utf8(self.where, name, found[name], 0)
        return found

    def _parsed(self, columns: Sequence[str]) -> pa.Table:
        if self._again:
            # By several threads first; these do not know the number of a row that will not do.
            with explained(self.where, "CSV"), suppress(pa.ArrowInvalid):
                return arrow_csv.read_csv(self._stream, **self._options(columns, {}, threads=True))
            self._stream.seek(self._begin)
        with self._explained():
            return arrow_csv.read_csv(self._stream, **self._options(columns, {}, threads=False))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns as text, some rows at a time."""
        if not self._has_rows:
            return
        done, plain = 0, dict.fromkeys(columns, pa.binary())
        with self._explained():
            reader = arrow_csv.open_csv(self._stream, **self._options(columns, plain, threads=False))
        while True:
            with self._explained():
                batch = next(reader, None)
            if batch is None:
                return
            yield self._decoded(batch, done)
            done += batch.num_rows

    def _decoded(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        columns = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                columns.append(column.cast(pa.string()))
            except pa.ArrowInvalid:
                raise _not_utf8(self.where, name, column, done) from None
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _options(self, columns: Sequence[str], types: dict[str, pa.DataType], threads: bool) -> dict[str, Any]:
        block = max(BLOCK, BLOCK_OF_COLUMN * len(self.names))
        return {
            "read_options": arrow_csv.ReadOptions(column_names=self.names, use_threads=threads, block_size=block),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self._separator, newlines_in_values=True, invalid_row_handler=self._note
            ),
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=types,
                null_values=list(MISSING),
                strings_can_be_null=True,
                true_values=list(TRUE),
                false_values=list(FALSE),
            ),
        }

    def _note(self, row: Any) -> str:
        self._bad_row = row
        return "error"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with explained(self.where, "CSV"):
            try:
                yield
            except pa.ArrowInvalid as error:
                quote = "; is a quotation mark never closed?"
                if "straddl" in str(error):
                    raise TableError(f"{self.where} has a row of millions of characters{quote}") from None
                if self._bad_row is None:
                    raise
                raise _ragged(self.where, self._bad_row, quote) from None


def _ragged(where: str, row: Any, quote: str) -> TableError:
    cells = f"{row.actual_columns} cell{'s' if row.actual_columns != 1 else ''}"
    hint = quote if "\n" in row.text else f": {row.text[:60]!r}; mend this row"
    return TableError(f"{where}: row {row.number} has {cells}, {row.expected_columns} are expected{hint}")


def _header(stream: Any, where: str, separator: str | None) -> tuple[list[str], str]:
    """The names, and what stands between them."""
    start = stream.peek(8)
    for magic, what in NO_TEXT.items():
        if start.startswith(magic):
            raise TableError(f"{where} is no CSV: its first bytes are {what}")
    lines = iter(stream.readline, b"")
    first = next((line for line in lines if line.strip()), b"")  # blank lines above the names are no rows
    try:
        text = first.decode("utf-8-sig")
        if separator is None:
            separator = next((sign for sign in ",\t;" if sign in text), ",")
        names = next(csv.reader(chain([text], (line.decode() for line in lines)), delimiter=separator, strict=True), [])
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise TableError(
            f"{where}: the names of the columns hold the byte 0x{byte:02x}, which is not UTF-8; save the file as UTF-8"
        ) from None
    check_names(names, where)
    return names, separator


def _not_utf8(where: str, name: str, column: Any, done: int) -> TableError:
    """The error for the first cell of a column that is no text; `done` rows are before it."""
    for row, cell in enumerate(column.to_pylist(), start=done + 1):
        try:
            (cell or b"").decode()
        except UnicodeDecodeError as error:
            byte = cell[error.start]
            return TableError(
                f"{where}: row {row}, column {name!r} holds the byte 0x{byte:02x}, which is not UTF-8; save the file "
                "as UTF-8"
            )
    raise AssertionError("every cell is UTF-8")

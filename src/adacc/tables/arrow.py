"""Parquet and Arrow files, which store the types of their columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adacc.tables.errors import TableError, check_names, is_unnamed_index, table_errors

ROWS = 65_536  # maximum number of rows of a batch
BUFFER = 1 << 16  # bytes read at a time from a column of a Parquet file, instead of a whole row group


class ParquetTable:
    """A Parquet file; `file` is a path or a binary file that can seek."""

    typed, decimal = True, "."
    padded: Mapping[str, str] = MappingProxyType({})
    index: Sequence[str]

    def __init__(self, file: Any, where: str) -> None:
        self.where, self._given = where, file
        with table_errors(where, "Parquet"):
            self._file = pq.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
            self.schema = self._file.schema_arrow
            self.names, self.index = _names(self.schema, where)
        self.n_rows: int = self._file.metadata.num_rows

    def close(self) -> None:
        self._file.close()
        if hasattr(self._given, "close"):  # Arrow does not close files that it did not open
            self._given.close()

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table:
        """These columns of all rows, with the types of the file."""
        with table_errors(self.where, "Parquet"):
            return self._file.read(columns=list(columns)).select(list(columns))

    def batches(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """These columns in batches of at most `rows` rows."""
        with table_errors(self.where, "Parquet"):
            for batch in self._file.iter_batches(batch_size=rows, columns=list(columns)):
                yield batch.select(list(columns))


class ParquetFolder:
    """The Parquet files of a directory, sorted by name, as one table."""

    typed, decimal = True, "."
    padded: Mapping[str, str] = MappingProxyType({})
    index: Sequence[str]

    def __init__(self, folder: Path, where: str) -> None:
        self.where, self._files = where, _files(folder, where)
        self.n_rows = 0
        for file in self._files:
            with closing(ParquetTable(file, str(file))) as opened:
                self.n_rows += opened.n_rows
                if file == self._files[0]:
                    self.names, self.index, self.schema = opened.names, opened.index, opened.schema
                self.schema = _merge_schemas(self.schema, opened, str(self._files[0]))

    def close(self) -> None:
        """Files are opened and closed by each read."""

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table:
        """These columns of all rows, with the types of the file."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        return pa.Table.from_batches(list(self.batches(columns)), schema.remove_metadata())

    def batches(self, columns: Sequence[str], rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """These columns in batches of at most `rows` rows."""
        fields = [self.schema.field(name) for name in columns]
        for file in self._files:
            with closing(ParquetTable(file, str(file))) as opened:
                for batch in opened.batches(columns, rows):
                    arrays = [_cast_nulls(batch[field.name], field.type) for field in fields]
                    yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _files(folder: Path, where: str) -> list[Path]:
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    deeper = [path.name for path in inside if path.is_dir() and any(path.rglob("*.parquet"))]
    if deeper:
        raise TableError(
            f"{where} has Parquet files in subdirectories, such as {deeper[0]!r}; give one of these, or move all "
            "files into one directory"
        )
    files = [path for path in inside if path.name.lower().endswith(".parquet")]
    if not files:
        raise TableError(f"{where} is a directory without .parquet files; give the path of a file")
    return files


def _merge_schemas(schema: pa.Schema, opened: ParquetTable, first: str) -> pa.Schema:
    """The common schema of files; only the types of columns without values can differ."""
    if {*schema.names} != {*opened.names}:
        only = sorted({*schema.names} ^ {*opened.names})[0]
        has, lacks = (first, opened.where) if only in schema.names else (opened.where, first)
        raise TableError(
            f"{lacks} has no column {only!r}, but {has} has; all files of a directory must have the same columns"
        )
    fields = []
    for before in schema:
        now = opened.schema.field(before.name).type
        if now != before.type and not pa.types.is_null(now) and not pa.types.is_null(before.type):
            raise TableError(
                f"{opened.where}: column {before.name!r} has the type {str(now)!r}, but {str(before.type)!r} in "
                f"{first}; all files of a directory must have the same types"
            )
        fields.append(pa.field(before.name, now if pa.types.is_null(before.type) else before.type))
    return pa.schema(fields)


def _cast_nulls(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else pa.nulls(len(column), kind)


class ArrowTable:
    """An Arrow file or stream; `file` is an Arrow file object."""

    typed, decimal = True, "."
    padded: Mapping[str, str] = MappingProxyType({})
    index: Sequence[str]

    def __init__(self, file: Any, where: str, is_stream: bool) -> None:
        self.where, self._file = where, file
        with table_errors(where, "Arrow"):
            self._reader = pa.ipc.open_stream(file) if is_stream else pa.ipc.open_file(file)
            self.names, self.index = _names(self._reader.schema, where)

    def close(self) -> None:
        self._file.close()

    def table(self, columns: Sequence[str], as_text: Collection[str] = ()) -> pa.Table:
        """These columns of all rows, with the types of the file."""
        with table_errors(self.where, "Arrow"):
            return self._reader.read_all().select(list(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns in batches."""
        with table_errors(self.where, "Arrow"):
            for batch in self._record_batches():
                for begin in range(0, batch.num_rows, ROWS):
                    yield batch.select(list(columns)).slice(begin, ROWS)

    def _record_batches(self) -> Iterator[pa.RecordBatch]:
        if isinstance(self._reader, pa.ipc.RecordBatchStreamReader):
            yield from self._reader
        else:
            yield from (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))


def _names(schema: pa.Schema, where: str) -> tuple[list[str], list[str]]:
    """All names, validated, and the names of columns that are the index of a pandas frame."""
    check_names(schema.names, where)
    stored = (schema.pandas_metadata or {}).get("index_columns", ())  # a RangeIndex is stored as a dict, not as a name
    return schema.names, [name for name in schema.names if name in stored or is_unnamed_index(name)]

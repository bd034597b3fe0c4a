"""Parquet and Arrow files, whose columns have types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adacc.tables.errors import check_names, explained

ROWS = 65_536
"""Rows of a batch, at most."""

BUFFER = 1 << 16
"""Bytes of a column of a Parquet file that are read at a time, not all of a row group's."""


class ParquetTable:
    """A Parquet file; `file` is a path or a binary file that can seek."""

    typed = True
    index: Sequence[str]

    def __init__(self, file: Any, where: str) -> None:
        self.where, self._given = where, file
        with explained(where, "Parquet"):
            self._file = pq.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
            self.names, self.index = _names(self._file.schema_arrow, where)

    def close(self) -> None:
        self._file.close()
        if hasattr(self._given, "close"):  # Arrow leaves open what it did not open
            self._given.close()

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        with explained(self.where, "Parquet"):
            return self._file.read(columns=list(columns)).select(list(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, some rows at a time."""
        with explained(self.where, "Parquet"):
            for batch in self._file.iter_batches(batch_size=ROWS, columns=list(columns)):
                yield batch.select(list(columns))


class ArrowTable:
    """An Arrow file or stream, by what it begins with; `file` is an Arrow file object."""

    typed = True
    index: Sequence[str]

    def __init__(self, file: Any, where: str, is_stream: bool) -> None:
        self.where, self._file = where, file
        with explained(where, "Arrow"):
            self._reader = pa.ipc.open_stream(file) if is_stream else pa.ipc.open_file(file)
            self.names, self.index = _names(self._reader.schema, where)

    def close(self) -> None:
        self._file.close()

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        with explained(self.where, "Arrow"):
            return self._reader.read_all().select(list(columns))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, some rows at a time."""
        with explained(self.where, "Arrow"):
            for batch in self._in_turn():
                for begin in range(0, batch.num_rows, ROWS):
                    yield batch.select(list(columns)).slice(begin, ROWS)

    def _in_turn(self) -> Iterator[pa.RecordBatch]:
        if isinstance(self._reader, pa.ipc.RecordBatchStreamReader):
            yield from self._reader
        else:
            yield from (self._reader.get_batch(number) for number in range(self._reader.num_record_batches))


def _names(schema: pa.Schema, where: str) -> tuple[list[str], list[str]]:
    """All names, checked, and those of columns that are the index of a pandas frame."""
    check_names(schema.names, where)
    pandas = schema.pandas_metadata or {}
    return schema.names, [name for name in pandas.get("index_columns", ()) if isinstance(name, str)]

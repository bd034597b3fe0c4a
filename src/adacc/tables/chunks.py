"""A Parquet table of any size to learn from: some rows at a time, as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from adacc.tables.arrow import ROWS, ParquetFolder, ParquetTable
from adacc.tables.errors import Source, TableError
from adacc.tables.kinds import Kind, Place, as_kind, as_read, kind_of_labels
from adacc.tables.labels import as_labels
from adacc.tables.reader import check_categorical, columns_to_read, kind_of_type
from adacc.tables.sources import OpenTable, open_table


class Chunks:
    """A Parquet file, or a directory of Parquet files, in chunks of rows; the same values as `read_frame`."""

    def __init__(
        self,
        source: Source | OpenTable,
        drop: Iterable[str] = (),
        target: str | None = None,
        keep: Iterable[str] = (),
        categorical: Iterable[str] = (),
    ) -> None:
        opened = open_table(source)
        if not isinstance(opened, ParquetTable | ParquetFolder):
            opened.close()
            raise TableError(
                f"{opened.where} is not a Parquet table; out-of-core training reads columns repeatedly; save it "
                "as .parquet"
            )
        self._opened, self.where, self.n_rows, self._target = opened, opened.where, opened.n_rows, target
        others = {*keep, *([] if target is None else [target])}
        features = [name for name in columns_to_read(opened, target, list(drop), others) if name not in others]
        codes = set(categorical)
        check_categorical(opened, codes, features)
        if not self.n_rows:
            raise TableError(f"{self.where} has no rows, only column names")
        types = {name: opened.schema.field(name).type for name in features}
        self.kinds: dict[str, Kind] = {name: kind_of_type(types[name], Place(self.where, name)) for name in features}
        self.kinds |= dict.fromkeys(codes, "integer category")
        self.whole = [name for name in features if pa.types.is_integer(types[name]) and name not in codes]
        for name in self._nullable([name for name, kind in self.kinds.items() if kind == "boolean"]):
            self.kinds[name] = "boolean category"

    def _nullable(self, names: list[str]) -> set[str]:
        nullable: set[str] = set()
        for batch in self._opened.batches(names) if names else ():
            nullable.update(name for name in names if batch[name].null_count)
        return nullable

    def close(self) -> None:
        self._opened.close()

    def note_labels(self, labels: Mapping[str, set[str]]) -> None:
        """Update the kinds of categorical columns whose labels are all booleans or integers."""
        for name, column_labels in labels.items():
            if self.kinds[name] in ("category", "integer category"):
                self.kinds[name] = kind_of_labels(column_labels)

    def frames(self, features: Sequence[str], keep: Sequence[str] = (), rows: int = ROWS) -> Iterator[pd.DataFrame]:
        """Frames of `rows` rows (the last may be shorter), whose index counts rows from 0.

        They have these features and the columns to `keep`; the target is converted to labels.
        """
        done = 0
        for table in _rechunk(self._opened.batches([*features, *keep], rows), rows):
            columns = {name: as_kind(table[name], self.kinds[name], Place(self.where, name, done)) for name in features}
            kept = {name: self._kept(table[name], Place(self.where, name, done)) for name in keep}
            yield pd.DataFrame({**columns, **kept}, index=pd.RangeIndex(done, done + table.num_rows))
            done += table.num_rows
        pa.default_memory_pool().release_unused()  # otherwise Arrow keeps the memory

    def _kept(self, column: pa.ChunkedArray, place: Place) -> Any:
        return as_labels(column, place, typed=True) if place.column == self._target else as_read(column)


def _rechunk(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Chunks of exactly `rows` rows, regardless of the batches of files and libraries."""
    pending: list[pa.RecordBatch] = []
    room = rows
    for batch in batches:
        while batch.num_rows:
            pending.append(batch.slice(0, room))
            batch = batch.slice(room)
            room -= pending[-1].num_rows
            if not room:
                yield pa.Table.from_batches(pending)
                pending, room = [], rows
    if pending:
        yield pa.Table.from_batches(pending)

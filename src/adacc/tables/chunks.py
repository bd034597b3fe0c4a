"""A Parquet table of any size to learn from: some rows at a time, as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from adacc.tables.arrow import ROWS, ParquetFolder, ParquetTable
from adacc.tables.errors import Source, TableError
from adacc.tables.frames import kind_of_type, wanted
from adacc.tables.kinds import Kind, Place, as_kind, as_read, kind_of_labels
from adacc.tables.labels import as_labels
from adacc.tables.sources import OpenTable, open_table


class Chunks:
    """The rows of a Parquet file, or of a folder of such files, a chunk at a time; what `read_frame` gives of all.

    Attributes
    ----------
    where : str
        How to speak of the table.
    n_rows : int
        Its rows.
    kinds : dict of str to str
        What each feature holds; see `kinds_of`. A text column may turn out to hold only the words True and False.
    whole : list of str
        The features whose type is one of whole numbers.
    """

    def __init__(
        self, source: Source | OpenTable, drop: Iterable[str] = (), target: str | None = None, keep: Iterable[str] = ()
    ) -> None:
        opened = open_table(source)
        if not isinstance(opened, ParquetTable | ParquetFolder):
            opened.close()
            raise TableError(
                f"{opened.where} is no Parquet table: only such a one can be read again and again, some columns and "
                "rows at a time; save it as .parquet"
            )
        self._opened, self.where, self.n_rows, self._target = opened, opened.where, opened.n_rows, target
        others = {*keep, *([] if target is None else [target])}
        features = [name for name in wanted(opened, target, list(drop), others) if name not in others]
        if not self.n_rows:
            raise TableError(f"{self.where} has no rows, only the names of its columns")
        types = {name: opened.schema.field(name).type for name in features}
        self.kinds: dict[str, Kind] = {name: kind_of_type(types[name], Place(self.where, name)) for name in features}
        self.whole = [name for name in features if pa.types.is_integer(types[name])]
        for name in self._with_gaps([name for name, kind in self.kinds.items() if kind == "boolean"]):
            self.kinds[name] = "boolean category"

    def _with_gaps(self, names: list[str]) -> set[str]:
        found: set[str] = set()
        for batch in self._opened.batches(names) if names else ():
            found.update(name for name in names if batch[name].null_count)
        return found

    def close(self) -> None:
        self._opened.close()

    def note_labels(self, labels: Mapping[str, set[str]]) -> None:
        """Note which labels the columns of text turned out to have: these may be the words for a boolean."""
        for name, own in labels.items():
            if self.kinds[name] == "category":
                self.kinds[name] = kind_of_labels(own)

    def frames(self, features: Sequence[str], keep: Sequence[str] = (), rows: int = ROWS) -> Iterator[pd.DataFrame]:
        """Frames of so many rows each (the last has the rest), numbered from 0 throughout.

        They have these features, and the columns to `keep` with their values as they are, the target as labels.
        """
        done = 0
        for table in _cut(self._opened.batches([*features, *keep], rows), rows):
            columns = {name: as_kind(table[name], self.kinds[name], Place(self.where, name, done)) for name in features}
            kept = {name: self._kept(table[name], Place(self.where, name, done)) for name in keep}
            yield pd.DataFrame({**columns, **kept}, index=pd.RangeIndex(done, done + table.num_rows))
            done += table.num_rows
        pa.default_memory_pool().release_unused()  # or Arrow keeps it for the next time

    def _kept(self, column: pa.ChunkedArray, place: Place) -> Any:
        return as_labels(column, place, typed=True) if place.column == self._target else as_read(column)


def _cut(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """The same rows, always cut at the same places: files and libraries have their own ideas where a batch ends."""
    held: list[pa.RecordBatch] = []
    room = rows
    for batch in batches:
        while batch.num_rows:
            held.append(batch.slice(0, room))
            batch = batch.slice(room)
            room -= held[-1].num_rows
            if not room:
                yield pa.Table.from_batches(held)
                held, room = [], rows
    if held:
        yield pa.Table.from_batches(held)

"""Tables of any size in batches, with the column kinds of the training data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd
import pyarrow as pa

from adacc.tables.arrow import ROWS
from adacc.tables.errors import Source, TableError, closest_name, listed, missing_column
from adacc.tables.kinds import CONVERSIONS, Place, as_kind, as_read
from adacc.tables.sources import OpenTable, open_table


class Batches:
    """The rows of an open table as data frames, from `open_batches`; can be iterated once.

    Attributes
    ----------
    ignored : tuple of str
        Columns of the table that are not read.
    """

    def __init__(self, opened: OpenTable, kinds: Mapping[str, str], keep: Iterable[str]) -> None:
        self._opened, self._kinds = opened, dict(kinds)
        self._keep = list(keep)
        self.ignored = tuple(name for name in opened.names if name not in (*kinds, *self._keep))

    def __iter__(self) -> Iterator[pd.DataFrame]:
        for features, kept in self.pairs():
            yield pd.concat([features, kept[[name for name in kept if name not in self._kinds]]], axis=1)

    def pairs(self) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Yield pairs of frames: the features, and the kept columns; a column can be in both."""
        done, columns = 0, list(dict.fromkeys([*self._kinds, *self._keep]))
        try:
            for batch in self._opened.batches(columns):
                for begin in range(0, batch.num_rows, ROWS):
                    yield self._frames(batch.slice(begin, ROWS), done + begin)
                done += batch.num_rows
        finally:
            self._opened.close()

    def _frames(self, batch: pa.RecordBatch, done: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        where, decimal = self._opened.where, self._opened.decimal
        index = pd.RangeIndex(done, done + batch.num_rows)
        features = {
            name: as_kind(batch[name], kind, Place(where, name, done, decimal)) for name, kind in self._kinds.items()
        }
        kept = {name: as_read(batch[name]) for name in self._keep}
        return pd.DataFrame(features, index=index), pd.DataFrame(kept, index=index)


def open_batches(source: Source | OpenTable, kinds: Mapping[str, str], keep: Iterable[str] = ()) -> Batches:
    r"""Open a table for prediction in batches; it can be larger than memory.

    Parameters
    ----------
    source : str or path
        As for `read_frame`.
    kinds : mapping of str to str
        The kinds of the features in the training data, from `kinds_of`.
    keep : iterable of str, default=()
        Other columns to read, as text from text files and with their types from other files. A column that is also a
        feature is returned as a feature; `Batches.pairs` returns both.

    Returns
    -------
    Batches
        An iterable of frames with the features in the order of `kinds`, then the kept columns; the index counts rows
        from 0. Its `ignored` has the names of all other columns.

    Raises
    ------
    TableError
        The file cannot be read or lacks columns (raised at once), or a cell has the wrong kind (raised during
        iteration).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "new.csv")
    ...     _ = path.write_text("id,town,age,note\n007,Bonn,30,a\n008,,,b\n")
    ...     batches = open_batches(path, {"age": "number", "town": "category"}, keep=["id"])
    ...     frames = list(batches)
    >>> batches.ignored
    ('note',)
    >>> frames[0]
        age  town   id
    0  30.0  Bonn  007
    1   NaN   NaN  008
    """
    if not CONVERSIONS.keys() >= {*kinds.values()}:
        raise ValueError(f"kinds must be among {', '.join(map(repr, CONVERSIONS))}, got {sorted({*kinds.values()})}")
    opened, keep = open_table(source), list(keep)
    try:
        _check_columns(opened, kinds, keep)
    except TableError:
        opened.close()
        raise
    return Batches(opened, kinds, keep)


def _check_columns(opened: OpenTable, kinds: Mapping[str, str], keep: Iterable[str]) -> None:
    missing = [name for name in kinds if name not in opened.names]
    if missing:
        others = [name for name in opened.names if name not in kinds]
        near = {name: closest_name(name, others) for name in missing}
        shown = ", ".join(f"{name!r}" + (f" (is it {near[name]!r}?)" if near[name] else "") for name in missing[:20])
        raise TableError(
            f"{opened.where} lacks {len(missing)} of the {len(kinds)} columns that the model was trained on: {shown}"
            f"{', ...' if len(missing) > 20 else ''}; add or rename them. It has {listed(opened.names)}"
        )
    for name in keep:
        if name not in opened.names:
            raise missing_column(opened.where, name, opened.names)

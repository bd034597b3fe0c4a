"""A table of any size, some rows at a time, each column as what it was in training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd
import pyarrow as pa

from adacc.tables.arrow import ROWS
from adacc.tables.errors import Source, TableError, listed, nearest, no_column
from adacc.tables.kinds import CONVERSIONS, Place, as_kind, as_read
from adacc.tables.sources import OpenTable, open_table


class Batches:
    """The rows of an open table, in order, as frames; made by `open_batches`, and to be gone through once.

    Attributes
    ----------
    ignored : tuple of str
        Columns of the table that were not asked for.
    """

    def __init__(self, opened: OpenTable, kinds: Mapping[str, str], keep: Iterable[str]) -> None:
        self._opened, self._kinds = opened, dict(kinds)
        self._keep = list(keep)
        self.ignored = tuple(name for name in opened.names if name not in (*kinds, *self._keep))

    def __iter__(self) -> Iterator[pd.DataFrame]:
        for features, kept in self.pairs():
            yield pd.concat([features, kept[[name for name in kept if name not in self._kinds]]], axis=1)

    def pairs(self) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """The same as frames of the features and of the kept columns, for a column that is both."""
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
    r"""Open a table to predict for, whatever its size: memory is needed for some rows at a time.

    Parameters
    ----------
    source : str or path
        As for `read_frame`.
    kinds : mapping of str to str
        What the features held in training, from `kinds_of`.
    keep : iterable of str, default=()
        More columns, to be passed on: text files give their cells as they are written, other files their values. One
        that is a feature, too, comes as that; `Batches.pairs` has it both ways.

    Returns
    -------
    Batches
        To be iterated over: frames with the features in the order of `kinds`, then the kept columns, and rows numbered
        from 0 throughout. Its `ignored` has the names of all other columns.

    Raises
    ------
    TableError
        The file cannot be read or lacks columns (at once, before any row is read), or a cell does not fit (when it is
        come to).

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
    absent = [name for name in kinds if name not in opened.names]
    if absent:
        others = [name for name in opened.names if name not in kinds]
        near = {name: nearest(name, others) for name in absent}
        shown = ", ".join(f"{name!r}" + (f" (is it {near[name]!r}?)" if near[name] else "") for name in absent[:20])
        raise TableError(
            f"{opened.where} lacks {len(absent)} of the {len(kinds)} columns that the model was trained on: {shown}"
            f"{', ...' if len(absent) > 20 else ''}; add or rename them. It has {listed(opened.names)}"
        )
    for name in keep:
        if name not in opened.names:
            raise no_column(opened.where, name, opened.names)

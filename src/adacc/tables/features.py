"""Whether the columns of a table are such as can be learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables.arrow import ROWS
from adacc.tables.chunks import Chunks
from adacc.tables.errors import Source, TableError, called

MANY = 50
"""Rows, or different values, from which on an id can be told from a coincidence."""

FIRST = 4096
"""Rows of all columns that are looked at before all rows of a few columns."""


def check_features(frame: pd.DataFrame, source: Source = "the table") -> None:
    """Refuse columns that say nothing of other rows: ids, and those without a value.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        From `read_frame`, without the columns that are not features.
    source : str or path
        Where the frame is from, for messages.

    Raises
    ------
    TableError
        Names all such columns, and what to do about them.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"customer": range(1000, 1100), "age": [30, 41] * 50})
    >>> check_features(frame, "people.csv")
    Traceback (most recent call last):
    adacc.tables.errors.TableError: people.csv: column 'customer' is different in every row, as an id is: leave it out
    """
    empty = [str(name) for name in frame if frame[name].isna().all()]
    ids = {str(name): frame[name].nunique() for name in frame if name not in empty and _is_id(frame[name])}
    _refuse(called(source), len(frame), frame.shape[1], ids, empty)


def check_any(where: str, n_columns: int) -> None:
    """Refuse a table without features."""
    if n_columns == 0:
        raise TableError(
            f"{where} has no column to learn from; at least one feature is needed beside what is predicted"
        )


def check_chunks(chunks: Chunks, n_labels: Mapping[str, int]) -> None:
    """The same for a table that is read a chunk at a time.

    Parameters
    ----------
    chunks : Chunks
        The table.
    n_labels : mapping of str to int
        How many labels each column of categories has.
    """
    n_rows = chunks.n_rows
    empty = {*(name for name, count in n_labels.items() if not count), *_without_value(chunks)}
    ids = {name: count for name, count in n_labels.items() if count > max(MANY, n_rows / 2)}
    ids |= dict.fromkeys(_sequences(chunks), n_rows)
    in_order = {name: ids[name] for name in chunks.kinds if name in ids}
    _refuse(chunks.where, n_rows, len(chunks.kinds), in_order, [name for name in chunks.kinds if name in empty])


def _without_value(chunks: Chunks) -> list[str]:
    """Columns of numbers that have none."""
    left = [name for name, kind in chunks.kinds.items() if kind == "number"]
    for n_frames in (1, None):  # most have one in the first rows, and need not be read further
        for frame in islice(chunks.frames(left, rows=FIRST), n_frames) if left else ():
            left = [name for name in left if frame[name].isna().all()]
    return left


def _sequences(chunks: Chunks) -> list[str]:
    """Columns of whole numbers that are a sequence without holes, in whatever order."""
    if chunks.n_rows < MANY or not chunks.whole:
        return []
    first = next(chunks.frames([], chunks.whole, FIRST))
    left = {name: Sequence() for name in chunks.whole if first[name].is_unique}  # most features are not
    for frame in chunks.frames([], [*left]) if left else ():
        for name, sequence in left.items():
            sequence.add(frame[name])
    return [name for name, sequence in left.items() if sequence.is_whole(chunks.n_rows)]


class Sequence:
    """Whether whole numbers, of which some are told at a time, are each number from the least to the most once.

    It is known by the sum of their hashes, so that they need not be kept.
    """

    def __init__(self) -> None:
        self._least: list[int] = []
        self._most: list[int] = []
        self._sum = np.uint64(0)
        self._has_gaps = False

    def add(self, column: pd.Series) -> None:
        if column.hasnans:
            self._has_gaps = True
        else:
            values = column.to_numpy()
            self._least.append(int(values.min()))
            self._most.append(int(values.max()))
            self._sum = _hashed(values, self._sum)

    def is_whole(self, n_rows: int) -> bool:
        if self._has_gaps or max(self._most) - min(self._least) != n_rows - 1:
            return False
        expected, least = np.uint64(0), min(self._least)
        for begin in range(0, n_rows, ROWS):
            offsets = np.arange(begin, min(begin + ROWS, n_rows), dtype=np.uint64)
            expected = _hashed(offsets + np.uint64(least % 2**64), expected)
        return bool(expected == self._sum)


def _hashed(values: NDArray[Any], before: np.uint64) -> np.uint64:
    """The sum of the hashes of values, added to others; it wraps around, as the numbers below zero do."""
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.append(mixed ^ (mixed >> np.uint64(29)), before).sum()


def _refuse(where: str, n_rows: int, n_columns: int, ids: Mapping[str, int], empty: list[str]) -> None:
    """Unless there are features, and none of them is an id, whose different values are counted, or empty."""
    check_any(where, n_columns)
    if not empty and not ids:
        return
    faults = [
        *(f"column {name!r} {_how_varied(count, n_rows)}" for name, count in ids.items()),
        *(f"column {name!r} has no value in any row" for name in empty),
    ]
    what = "it" if len(faults) == 1 else "them"
    raise TableError(f"{where}: {', '.join(faults)}: leave {what} out", [*ids, *empty], ids)


def _is_id(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(column.nunique() > max(MANY, len(column) / 2))
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) < MANY:
        return False
    values = np.sort(column.to_numpy())
    # A sequence without holes, in whatever order; the cheap test first.
    return int(values[-1]) - int(values[0]) == len(values) - 1 and bool((np.diff(values) == 1).all())


def _how_varied(n_values: int, n_rows: int) -> str:
    if n_values == n_rows:
        return "is different in every row, as an id is"
    return f"has {n_values} different values in {n_rows} rows, as an id has"

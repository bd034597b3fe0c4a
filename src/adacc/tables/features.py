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
from adacc.tables.errors import Source, TableError, source_name

MIN_ID_VALUES = 50  # minimum number of rows, or of distinct values, to recognize an id column
FIRST_ROWS = 4096  # rows of all columns that are read before all rows of a few columns


def check_features(frame: pd.DataFrame, source: Source = "the table") -> None:
    """Raise TableError for ids and columns without values, which cannot generalize to other rows.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        From `read_frame`, without the columns that are not features.
    source : str or path
        Name of the source in messages.

    Raises
    ------
    TableError
        Names all such columns and the fix.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"customer": range(1000, 1100), "age": [30, 41] * 50})
    >>> check_features(frame, "p.csv")
    Traceback (most recent call last):
    adacc.tables.errors.TableError: p.csv: column 'customer' has a distinct value in each row, like an id: leave it out
    """
    empty = [str(name) for name in frame if frame[name].isna().all()]
    ids = {str(name): frame[name].nunique() for name in frame if name not in empty and _is_id(frame[name])}
    _raise_unusable(source_name(source), len(frame), frame.shape[1], ids, empty)


def check_any(where: str, n_columns: int) -> None:
    """Raise TableError for a table without features."""
    if n_columns == 0:
        raise TableError(f"{where} has no features; at least one column besides the target is needed")


def check_chunks(chunks: Chunks, n_labels: Mapping[str, int]) -> None:
    """`check_features` for a table in chunks, with the number of labels of each categorical column."""
    n_rows = chunks.n_rows
    empty = {*(name for name, count in n_labels.items() if not count), *_empty_number_columns(chunks)}
    ids = {name: count for name, count in n_labels.items() if count > max(MIN_ID_VALUES, n_rows / 2)}
    ids |= dict.fromkeys(_id_columns(chunks), n_rows)
    in_order = {name: ids[name] for name in chunks.kinds if name in ids}
    _raise_unusable(chunks.where, n_rows, len(chunks.kinds), in_order, [name for name in chunks.kinds if name in empty])


def _empty_number_columns(chunks: Chunks) -> list[str]:
    """Numeric columns without values."""
    left = [name for name, kind in chunks.kinds.items() if kind == "number"]
    for n_frames in (1, None):  # most columns have a value in the first rows
        for frame in islice(chunks.frames(left, rows=FIRST_ROWS), n_frames) if left else ():
            left = [name for name in left if frame[name].isna().all()]
    return left


def _id_columns(chunks: Chunks) -> list[str]:
    """Integer columns that are a permutation of consecutive integers."""
    if chunks.n_rows < MIN_ID_VALUES or not chunks.whole:
        return []
    first = next(chunks.frames([], chunks.whole, FIRST_ROWS))
    left = {name: ConsecutiveIntegers() for name in chunks.whole if first[name].is_unique}  # most features are not
    for frame in chunks.frames([], [*left]) if left else ():
        for name, sequence in left.items():
            sequence.add(frame[name])
    return [name for name, sequence in left.items() if sequence.is_complete(chunks.n_rows)]


class ConsecutiveIntegers:
    """Tests whether integers, added in batches, are a permutation of consecutive integers.

    The sum of their hashes is compared, so that the integers need not be stored.
    """

    def __init__(self) -> None:
        self._minima: list[int] = []
        self._maxima: list[int] = []
        self._sum = np.uint64(0)
        self._has_gaps = False

    def add(self, column: pd.Series) -> None:
        if column.hasnans:
            self._has_gaps = True
        else:
            values = column.to_numpy()
            self._minima.append(int(values.min()))
            self._maxima.append(int(values.max()))
            self._sum = _add_hashes(values, self._sum)

    def is_complete(self, n_rows: int) -> bool:
        if self._has_gaps or max(self._maxima) - min(self._minima) != n_rows - 1:
            return False
        expected, lowest = np.uint64(0), min(self._minima)
        for begin in range(0, n_rows, ROWS):
            offsets = np.arange(begin, min(begin + ROWS, n_rows), dtype=np.uint64)
            expected = _add_hashes(offsets + np.uint64(lowest % 2**64), expected)
        return bool(expected == self._sum)


def _add_hashes(values: NDArray[Any], total: np.uint64) -> np.uint64:
    """Add the hashes of values to a sum, modulo 2**64."""
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.append(mixed ^ (mixed >> np.uint64(29)), total).sum()


def _raise_unusable(where: str, n_rows: int, n_columns: int, ids: Mapping[str, int], empty: list[str]) -> None:
    """Raise TableError if there are no features, ids (with their numbers of distinct values), or empty columns."""
    check_any(where, n_columns)
    if not empty and not ids:
        return
    faults = [
        *(f"column {name!r} {_describe_id(count, n_rows)}" for name, count in ids.items()),
        *(f"column {name!r} has no value in any row" for name in empty),
    ]
    what = "it" if len(faults) == 1 else "them"
    raise TableError(f"{where}: {', '.join(faults)}: leave {what} out", [*ids, *empty], ids)


def _is_id(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(column.nunique() > max(MIN_ID_VALUES, len(column) / 2))
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) < MIN_ID_VALUES:
        return False
    values = np.sort(column.to_numpy())
    # A permutation of consecutive integers; the cheap test first.
    return int(values[-1]) - int(values[0]) == len(values) - 1 and bool((np.diff(values) == 1).all())


def _describe_id(n_values: int, n_rows: int) -> str:
    if n_values == n_rows:
        return "has a distinct value in each row, like an id"
    return f"has {n_values} distinct values in {n_rows} rows, like an id"

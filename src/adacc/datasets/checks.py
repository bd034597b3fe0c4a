"""Errors of data sets, and validation by counts and a checksum of the content."""

from __future__ import annotations

import hashlib
import warnings
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.datasets.catalog import Entry
from adacc.tables import DataError

Hashes: TypeAlias = NDArray[np.uint64]
Table: TypeAlias = tuple[pd.DataFrame, pd.Series]

# The finaliser of splitmix64: a small change of a cell changes half of the bits.
FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15], dtype=np.uint64)
SHIFTS = np.array([30, 27, 31], dtype=np.uint64)


class UnknownSetError(DataError, ValueError):
    """No data set of the catalogue has this name."""


class MismatchError(DataError, ValueError):
    """A table is not the one that the catalogue describes."""


class UnavailableError(DataError, OSError):
    """A data set is not available locally and could not be downloaded."""


class ChecksumWarning(UserWarning):
    """A table has the counts of the catalogue but not its content: results may differ from the published ones."""


class CacheWarning(UserWarning):
    """A file of the cache is damaged and is downloaded again."""


def checksum(frame: pd.DataFrame, target: pd.Series) -> str:
    """Checksum of the content of a table, independent of row order, column names and number types.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers count as float64, categories as their strings; the order of the columns matters.
    target : Series of shape (n_rows,)
        Hashed as the last column.

    Returns
    -------
    str
        32 hexadecimal digits. The checksum is not cryptographic.

    Examples
    --------
    >>> import pandas as pd
    >>> frame, target = pd.DataFrame({"x": [1, 2, 3]}), pd.Series([0, 0, 1])
    >>> checksum(frame, target)
    'c042fba12cfd0d03b8c487d2a7024a70'
    >>> checksum(frame[::-1].astype(float), target[::-1]) == checksum(frame, target)
    True
    """
    rows: Hashes = np.zeros(len(frame), dtype=np.uint64)
    for column in [*(frame.iloc[:, j] for j in range(frame.shape[1])), target]:
        # The multiplication makes the checksum depend on the column order.
        rows = _mix(rows * FACTORS[2] + _cells(column))
    # A sum does not depend on the row order and, unlike an exclusive or, counts repeated rows.
    return "".join(f"{int(hashes.sum()):016x}" for hashes in (rows, _mix(rows + FACTORS[2])))


def _mix(hashes: Hashes) -> Hashes:
    hashes = (hashes ^ (hashes >> SHIFTS[0])) * FACTORS[0]
    hashes = (hashes ^ (hashes >> SHIFTS[1])) * FACTORS[1]
    return hashes ^ (hashes >> SHIFTS[2])


def _cells(column: pd.Series) -> Hashes:
    """64 bits per cell."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = [f"level {level}" for level in column.cat.categories]
        digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in [*levels, "missing"]]
        bits = np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)
        return bits[column.cat.codes.to_numpy()]  # missing values have the code -1, the last entry
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0 becomes 0
    numbers[np.isnan(numbers)] = np.nan  # one bit pattern for all NaN
    return numbers.view(np.uint64)


def check_counts(entry: Entry, table: Table, where: str) -> None:
    """Raise MismatchError unless the numbers of rows, features and classes match the catalogue."""
    frame, target = table
    pairs = {
        "rows": (entry.rows, len(frame)),
        "features": (entry.features, frame.shape[1]),
        "minority rows": (entry.minority, int((target == 1).sum())),
        "majority rows": (entry.majority, int((target == 0).sum())),
    }
    wrong = [f"{name}: expected {expected}, got {n}" for name, (expected, n) in pairs.items() if n != expected]
    if wrong:
        raise MismatchError(f"{where} is not the data set {entry.name!r} of the catalogue; {'; '.join(wrong)}")


def check_content(entry: Entry, table: Table, where: str) -> None:
    """Warn unless the checksum matches the catalogue."""
    actual = checksum(*table)
    if actual != entry.checksum:
        warnings.warn(
            f"{where} has the rows, features and class counts of {entry.name!r} but different content (expected "
            f"checksum {entry.checksum}, got {actual}): results may differ from the published ones"
            + (f". Note on this data set: {entry.note}" if entry.note else ""),
            ChecksumWarning,
            stacklevel=3,
        )

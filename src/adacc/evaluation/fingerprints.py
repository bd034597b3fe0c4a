"""Fingerprints of training rows: they tell whether a model is evaluated on rows that it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

N_ROWS = 1000
"""Maximum number of training rows whose fingerprints are stored."""

MASK = np.uint64(2**32 - 1)
"""A fingerprint has 32 bits, so that many possible rows have the same one."""

MIN_FOUND, MIN_RATIO = 5, 3.0
"""Training rows are reported if at least so many fingerprints occur, and so many times more than by chance."""


def fingerprints(frame: pd.DataFrame) -> dict[str, Any] | None:
    """Fingerprints of a sample of the rows that occur once, as JSON can store them; None if all rows have copies.

    ``chance`` bounds the probability that a new row equals a given one of these rows, by the numbers of rows that occur
    once and twice [Good 1953]. Three more that occur twice are assumed, the 95 % bound if none was seen.
    """
    salt = blake2b(
        "\0".join(map(str, [*frame.columns, len(frame)])).encode(errors="replace"), digest_size=6
    ).hexdigest()
    hashes, counts = np.unique(_hashes(frame, salt), return_counts=True)
    once, n_twice = hashes[counts == 1], int((counts == 2).sum())
    if not len(once):
        return None
    return {
        "salt": salt,
        "fingerprints": sorted(int(each) for each in once[:N_ROWS] & MASK),  # the smallest hashes are a random sample
        "rows": len(frame),
        "chance": 2 * (n_twice + 3) / (len(once) * len(frame)),
    }


@dataclass
class SeenRows:
    """Counts the evaluated rows whose fingerprints are those of training rows.

    `stored` is what `fingerprints` returned, or anything else if the model has none.
    """

    stored: Any
    rows: int = 0

    def __post_init__(self) -> None:
        self._found: set[int] = set()
        known = self.stored.get("fingerprints") if isinstance(self.stored, dict) else None
        valid = (
            isinstance(known, list)
            and len(known) > 0
            and all(type(each) is int and 0 <= each <= int(MASK) for each in known)
            and isinstance(self.stored.get("salt"), str)
            and type(self.stored.get("rows")) is int
            and isinstance(self.stored.get("chance"), float | int)
        )
        self._known = np.array(known, dtype=np.uint64) if valid else None

    def add(self, frame: pd.DataFrame) -> None:
        """Count the rows of a batch, whose columns are those of the training rows in their order."""
        if self._known is not None:
            self.rows += len(frame)
            self._found |= set(np.intersect1d(_hashes(frame, self.stored["salt"]) & MASK, self._known).tolist())

    def share(self) -> float | None:
        """Estimated share of the evaluated rows that are training rows, 0 if chance explains it; None if unknown."""
        if self._known is None or not self.rows:
            return None
        n_found, n_known = len(self._found), len(self._known)
        by_chance = self.rows * n_known * (float(self.stored["chance"]) + 2.0**-32)
        if n_found < min(MIN_FOUND, n_known) or n_found <= MIN_RATIO * by_chance:
            return 0.0
        return min(n_found / n_known * self.stored["rows"] / self.rows, 1.0)


def _hashes(frame: pd.DataFrame, salt: str) -> NDArray[np.uint64]:
    """A hash of each row."""
    key = salt.encode(errors="replace")[:64]
    hashes = np.full(len(frame), _hash_of("", key), dtype=np.uint64)
    for _, column in frame.items():
        hashes = _mixed(hashes ^ _of_column(column, key))
    return hashes


def _of_column(column: pd.Series, key: bytes) -> NDArray[np.uint64]:
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # one zero
        return _mixed(np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64))
    codes, values = pd.factorize(column)
    of_value = np.array([*(_hash_of(str(value), key) for value in values), 0], dtype=np.uint64)
    return of_value[codes]


def _hash_of(text: str, key: bytes) -> int:
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8, key=key).digest(), "little")


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 [Steele, Lea & Flood 2014]."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

"""How much memory there is for rows on disk, and how many of them at a time it is enough for."""

from __future__ import annotations

import mmap
import re
import sys
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from adacc.boosting.sharded import BYTES_OF_A_ROW
from adacc.data.binning import SAMPLE, BinMapper
from adacc.tables.arrow import ROWS

UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

TO_COME = 90_000_000
"""Bytes that the libraries take once there is work: compiled kernels, threads, what an allocator keeps."""

LEAST_ROWS = 2_048
"""Fewer at a time would be slow."""

MOST_ROWS_OF_SHARD = 1 << 20
"""More at a time would not be faster."""

COPIES = 6
"""Of a row while it is read: in the file's form, as columns, as a frame, as numbers."""

BYTES_OF_COLUMN = 2_500_000
"""Of a column that is being read: a page of the file, and the dictionary of its values."""

BYTES_OF_TEXT = 64
"""Of a cell of text, as it is read."""

BUILDING = 3
"""A shard's codes while it is made: as they come, joined by column, and in their place."""

HISTOGRAMS = 6
"""Of a shard that answers: at the beginning, now, scaled, and their sums."""


def read_size(size: Any, name: str = "memory_limit") -> int:
    """Bytes, from a number of them or from a text such as ``"1.5GB"``.

    Examples
    --------
    >>> read_size("1.5GB"), read_size("512MiB"), read_size(1_000_000)
    (1500000000, 536870912, 1000000)
    """
    if isinstance(size, Integral) and not isinstance(size, bool) and int(size) > 0:
        return int(size)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", size) if isinstance(size, str) else None
    unit = next((unit for unit in UNITS if found and unit.lower() == found[2].lower()), None)
    if found is None or unit is None or float(found[1]) * UNITS[unit] < 1.0:
        raise ValueError(f"{name} must be a number of bytes, or one of kB, MB, GB or TB such as '1GB', got {size!r}")
    return int(float(found[1]) * UNITS[unit])


def resident() -> int:
    """Bytes of memory that this process has now, its libraries included."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:  # not Linux: the most so far
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@dataclass(frozen=True)
class MemoryBudget:
    """What a limit on memory leaves for rows.

    Attributes
    ----------
    limit : int
        Bytes, of the whole process.
    n_columns : int
        Features.
    row : int
        Bytes of a row as it is read.
    draws : int
        Bytes of the rows that are drawn to find the bins.
    n_threads : int
        Shards that are worked on at a time.
    """

    limit: int
    n_columns: int
    row: int
    draws: int
    n_threads: int

    @classmethod
    def of(cls, limit: int, kinds: dict[str, Any], n_rows: int, n_threads: int) -> MemoryBudget:
        n_numbers = sum(kind == "number" for kind in kinds.values())
        row = 8 * (n_numbers + 2) + BYTES_OF_TEXT * (len(kinds) - n_numbers)
        return cls(limit, len(kinds), row, 2 * 8 * n_numbers * min(n_rows, SAMPLE), n_threads)

    def rows_of_piece(self) -> int:
        """Rows to read at a time: for these there is half of the room."""
        taken = resident() + TO_COME + self.draws + BYTES_OF_COLUMN * self.n_columns
        rows = (self.limit - taken) // (2 * COPIES * self.row)
        if rows < LEAST_ROWS:
            self._refuse(taken + 2 * COPIES * self.row * LEAST_ROWS)
        return min(rows, ROWS)

    def rows_of_shard(self, bin_mapper: BinMapper, n_classes: int, rows_of_piece: int) -> int:
        """Coded rows to keep together: a piece at least, and more of them in half of what is left."""
        taken = resident() + COPIES * self.row * rows_of_piece + BYTES_OF_COLUMN * self.n_columns
        taken += 8 * n_classes * int(bin_mapper.offsets[-1]) * HISTOGRAMS * self.n_threads
        codes = len(bin_mapper.features) * (1 if max(feature.n_codes for feature in bin_mapper.features) <= 256 else 2)
        row = self.n_threads * (BUILDING * codes + 2 * BYTES_OF_A_ROW + (8 * n_classes if n_classes > 2 else 0))
        if taken + row * rows_of_piece > self.limit:
            self._refuse(taken + row * rows_of_piece)
        return max(rows_of_piece, min((self.limit - taken) // (2 * row), MOST_ROWS_OF_SHARD))

    def _refuse(self, least: int) -> None:
        raise ValueError(
            f"the memory limit must be at least {-(-least // 10**6)}MB for this table, got {self.limit / 1e6:g}MB; "
            f"{resident() // 10**6}MB of it are taken by Python and its libraries"
        )

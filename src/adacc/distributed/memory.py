"""The memory budget of out-of-core training, and the numbers of rows that fit into it."""

from __future__ import annotations

import mmap
import re
import sys
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

from adacc.boosting.sharded_backend import BYTES_OF_A_ROW
from adacc.data.binning import SAMPLE, BinMapper
from adacc.tables.arrow import ROWS

UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

LIBRARY_BYTES = 90_000_000  # bytes that libraries allocate during training: compiled kernels, threads, allocator caches
MIN_ROWS = 2_048  # minimum number of rows read at a time, for speed
MAX_ROWS_PER_SHARD = 1 << 20  # larger shards are not faster
READ_COPIES = 6  # copies of a row while it is read: in the file format, as columns, as a frame, as numbers
BYTES_PER_COLUMN = 2_500_000  # bytes of a column while it is read: a page of the file, and the dictionary of its values
BYTES_PER_TEXT_CELL = 64  # bytes of a text cell while it is read
BINNING_COPIES = 3  # copies of the binned values of a shard while it is built
HISTOGRAM_COPIES = 6  # copies of the histograms of a shard


def read_size(size: Any, name: str = "memory_limit") -> int:
    """Convert a size such as ``"1.5GB"`` to bytes.

    Examples
    --------
    >>> read_size("1.5GB"), read_size("512MiB"), read_size(1_000_000)
    (1500000000, 536870912, 1000000)
    """
    if isinstance(size, Integral) and not isinstance(size, bool) and int(size) > 0:
        return int(size)
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", size) if isinstance(size, str) else None
    unit = next((unit for unit in UNITS if match and unit.lower() == match[2].lower()), None)
    if match is None or unit is None or float(match[1]) * UNITS[unit] < 1.0:
        raise ValueError(f"{name} must be a number of bytes, or a size in kB, MB, GB or TB such as '1GB', got {size!r}")
    return int(float(match[1]) * UNITS[unit])


def resident() -> int:
    """Resident memory of this process in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:  # not Linux: use the peak
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


@dataclass(frozen=True)
class MemoryBudget:
    """The memory that a limit leaves for rows."""

    limit: int  # limit of the whole process in bytes
    n_columns: int  # number of features
    row: int  # bytes of a row while it is read
    draws: int  # bytes of the rows that are sampled to find the bins
    n_threads: int  # number of shards processed at a time

    @classmethod
    def of(cls, limit: int, kinds: dict[str, Any], n_rows: int, n_threads: int) -> MemoryBudget:
        n_numbers = sum(kind == "number" for kind in kinds.values())
        row = 8 * (n_numbers + 2) + BYTES_PER_TEXT_CELL * (len(kinds) - n_numbers)
        return cls(limit, len(kinds), row, 2 * 8 * n_numbers * min(n_rows, SAMPLE), n_threads)

    def rows_per_partition(self) -> int:
        """Rows to read at a time, which use half of the free memory."""
        used = resident() + LIBRARY_BYTES + self.draws + BYTES_PER_COLUMN * self.n_columns
        rows = (self.limit - used) // (2 * READ_COPIES * self.row)
        if rows < MIN_ROWS:
            self._raise_too_low(used + 2 * READ_COPIES * self.row * MIN_ROWS)
        return min(rows, ROWS)

    def rows_per_shard(self, bin_mapper: BinMapper, n_classes: int, rows_per_partition: int) -> int:
        """Binned rows of a shard: at least a partition, and at most half of the free memory."""
        used = resident() + READ_COPIES * self.row * rows_per_partition + BYTES_PER_COLUMN * self.n_columns
        used += 8 * n_classes * int(bin_mapper.offsets[-1]) * HISTOGRAM_COPIES * self.n_threads
        bins = len(bin_mapper.features) * (1 if max(feature.n_bins for feature in bin_mapper.features) <= 256 else 2)
        row = self.n_threads * (BINNING_COPIES * bins + 2 * BYTES_OF_A_ROW + (8 * n_classes if n_classes > 2 else 0))
        if used + row * rows_per_partition > self.limit:
            self._raise_too_low(used + row * rows_per_partition)
        return max(rows_per_partition, min((self.limit - used) // (2 * row), MAX_ROWS_PER_SHARD))

    def _raise_too_low(self, minimum: int) -> None:
        raise ValueError(
            f"the memory limit must be at least {-(-minimum // 10**6)}MB for this table, got {self.limit / 1e6:g}MB; "
            f"{resident() // 10**6}MB of it are used by Python and its libraries"
        )

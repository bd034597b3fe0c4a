"""How fast one thread reads memory on this machine."""

from __future__ import annotations

from functools import partial

import numpy as np
from timing import seconds_of

ARRAY_BYTES = 800_000_000  # more than a processor's cache
REPEATS = 5

# Plain passes over an array. Which is fastest depends on how NumPy was compiled; the fastest is nearest to the memory.
PASSES = (np.sum, np.max)


def measure() -> float:
    """Bytes a second: the best of all passes, being what the machine can do and not what it does on average."""
    array = np.ones(ARRAY_BYTES // 8, dtype=np.uint64)
    seconds = min(seconds_of(partial(read, array)) for read in PASSES for _ in range(REPEATS))
    return array.nbytes / seconds

"""Threads over features: one thread processes a feature, so results do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any


class Threads:
    """A pool of threads; results are in the order of the arguments."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def over(self, n_features: int, work: Callable[[int, int], Any]) -> list[Any]:
        """Call `work(first, last)` on consecutive ranges of features, one range per thread."""
        n_ranges = min(self.n_threads, n_features)
        edges = [i * n_features // n_ranges for i in range(n_ranges + 1)]
        return self.each(work, edges[:-1], edges[1:])

    def each(self, work: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """The built-in ``map``, in parallel."""
        if self._pool is None or len(arguments[0]) < 2:
            return list(map(work, *arguments))
        return list(self._pool.map(work, *arguments))

"""Threads over features: each feature belongs to one thread, so results do not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any


class Threads:
    """Runs a function on several things at once, and gives the results in order."""

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
        """`work` on consecutive ranges of features, one range per thread."""
        n_parts = min(self.n_threads, n_features)
        edges = [part * n_features // n_parts for part in range(n_parts + 1)]
        return self.each(work, edges[:-1], edges[1:])

    def each(self, work: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """As the built-in ``map``."""
        if self._pool is None or len(arguments[0]) < 2:
            return list(map(work, *arguments))
        return list(self._pool.map(work, *arguments))

"""Many parts of work, some at a time: in worker processes, in this one, or on a Dask cluster."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.backend import resource_tracker as joblib_tracker

Part = TypeVar("Part")
Answer = TypeVar("Answer")


def in_parallel(
    function: Callable[[Part], Answer], parts: Iterable[Part], n_jobs: int = 1, executor: str = "process"
) -> Iterator[Answer]:
    """What a function says of each part, as soon as it is known.

    Parameters
    ----------
    function : callable
        Sent to the workers, as the parts are.
    parts : iterable
        Taken a few ahead of the workers.
    n_jobs : int, default=1
        Parts at a time.
    executor : {"process", "local", "dask"}, default="process"
        Who works: worker processes, this process, or the workers of the Dask client that is connected.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        A worker process was killed.

    Examples
    --------
    >>> sorted(in_parallel(abs, [-1, -2, 3], executor="local"))
    [1, 2, 3]
    """
    with parallel_config(**BACKENDS[executor], n_jobs=1 if executor == "local" else n_jobs):
        with _interrupts_wait():
            answers = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)(
                delayed(_alone)(function, part) for part in parts
            )
        yield from answers


def _alone(function: Callable[[Part], Answer], part: Part) -> Answer:
    """A part is the work of one: what libraries would do in parallel within it must not go back to the cluster."""
    with parallel_config("sequential"):
        return function(part)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """For the processes begun meanwhile they wait for ever, from their first moment; for this one until the end."""
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    for helper in (resource_tracker, joblib_tracker):  # first, since their start may let interrupts in again
        helper.ensure_running()
    heard: list[int] = []
    # A mask is of one thread, and inherited by what it begins; other threads may be there to hear.
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main:
            signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


BACKENDS: dict[str, dict[str, Any]] = {
    # A terminal sends Ctrl-C to all, and each worker would tell of it with a traceback. The first process ends them.
    "process": {"backend": "loky", "initializer": _ignore_interrupts},
    "local": {"backend": "sequential"},
    "dask": {"backend": "dask"},
}


@contextmanager
def connected(executor: str, scheduler: str | None, n_jobs: int) -> Iterator[None]:
    """A Dask client, where Dask is to do the work: of the cluster at an address, or of one on this machine."""
    if executor != "dask":
        if scheduler is not None:
            raise ValueError(f"a scheduler is Dask's: it needs the executor 'dask', not {executor!r}")
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("the executor 'dask' needs Dask: pip install 'dask[distributed]'") from None
    # One thread a worker, since what is limited and silenced for a part is so for its whole process.
    local: dict[str, Any] = {"n_workers": n_jobs, "threads_per_worker": 1, "dashboard_address": None}
    with Client(scheduler, **(local if scheduler is None else {})):
        yield

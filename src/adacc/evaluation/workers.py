"""Parallel execution of jobs: in worker processes, in this process, or on a Dask cluster."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.backend import resource_tracker as joblib_tracker

Job = TypeVar("Job")
Output = TypeVar("Output")


def in_parallel(
    function: Callable[[Job], Output], jobs: Iterable[Job], n_jobs: int = 1, executor: str = "process"
) -> Iterator[Output]:
    """Call a function for each job, and yield each return value when it is ready.

    Parameters
    ----------
    function : callable
        The function; it is pickled for the workers, as the jobs are.
    jobs : iterable
        Its arguments; consumed a few ahead of the workers.
    n_jobs : int, default=1
        Number of parallel jobs.
    executor : {"process", "local", "dask"}, default="process"
        Worker processes, this process, or the workers of the connected Dask client.

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
        with _interrupts_blocked():
            outputs = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)(
                delayed(_sequentially)(function, job) for job in jobs
            )
        yield from outputs


def _sequentially(function: Callable[[Job], Output], job: Job) -> Output:
    """Call the function without nested parallelism, which would submit work to the same workers."""
    with parallel_config("sequential"):
        return function(job)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT: processes started within never receive it, and this process receives it at the end."""
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    _start_resource_trackers()  # first, since their start may unblock SIGINT
    received: list[int] = []
    # The signal mask of this thread is inherited by its child processes; other threads may receive the signal.
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if is_main:
            signal.signal(signal.SIGINT, handler)
    if received:
        signal.raise_signal(signal.SIGINT)


def _start_resource_trackers() -> None:
    """Start the processes that remove what workers leave behind, without warnings if it is already gone."""
    no_warnings = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(no_warnings)  # the trackers are started with these options
    try:
        for tracker in (resource_tracker, joblib_tracker):
            tracker.ensure_running()
    finally:
        sys.warnoptions.remove(no_warnings)


BACKENDS: dict[str, dict[str, Any]] = {
    # A terminal sends SIGINT to all processes. Workers ignore it: the main process ends them without tracebacks.
    "process": {"backend": "loky", "initializer": _ignore_interrupts},
    "local": {"backend": "sequential"},
    "dask": {"backend": "dask"},
}


@contextmanager
def connected(executor: str, scheduler: str | None, n_jobs: int) -> Iterator[None]:
    """Connect a Dask client if the executor is "dask": to a scheduler address, or to a new local cluster."""
    if executor != "dask":
        if scheduler is not None:
            raise ValueError(f"executor must be 'dask' if there is a scheduler, got {executor!r}")
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("the executor 'dask' needs Dask: pip install 'dask[distributed]'") from None
    # One thread for each worker, since thread limits and warning filters apply to the whole process.
    local: dict[str, Any] = {"n_workers": n_jobs, "threads_per_worker": 1, "dashboard_address": None}
    with Client(scheduler, **(local if scheduler is None else {})):
        yield

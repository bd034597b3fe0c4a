"""Partitions and shards on the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from distributed import Client, Future, KilledWorker, default_client, wait

from adacc.algorithms.base import Array
from adacc.boosting.sharded_backend import Answer, Log, Shard, WeightedScores, total
from adacc.data.threads import Threads
from adacc.distributed.partition_stats import PartitionTask, bin_partition, run_task
from adacc.distributed.training import DataStatistics

MAX_LOSSES = 100  # maximum number of workers lost during a fit
NO_WORKER_TIMEOUT = 30.0  # seconds without workers after which ClusterError is raised
POLL_SECONDS = 2.0  # seconds between two checks for workers

ANSWER_TIMEOUT = 60.0
"""Seconds after which a request is repeated; doubled after each loss, as the worker may only be slow."""


class ClusterError(RuntimeError):
    """The cluster failed, for reasons other than the data."""


class Cluster:
    """A Dask client whose calls return results or raise ClusterError, without waiting forever."""

    def __init__(self, client: Any) -> None:
        if client is None:
            try:
                client = default_client()
            except ValueError:
                raise ValueError(
                    "there is no Dask client; create one first, such as dask.distributed.Client(n_workers=4) for "
                    "this machine or Client('tcp://scheduler:8786') for a cluster"
                ) from None
        if not isinstance(client, Client):
            raise TypeError(f"client must be a dask.distributed.Client or None, got {client!r}")
        self.client = client

    def wait(self, futures: Sequence[Future]) -> None:
        """Wait until all futures are done, and raise the first error."""
        self._retry_on_timeout(lambda: wait(futures, timeout=POLL_SECONDS))
        self._raise_error_of(futures)

    def _raise_error_of(self, futures: Sequence[Future]) -> None:
        for future in futures:
            if future.status == "error":
                error = future.exception()
                if isinstance(error, KilledWorker):
                    raise ClusterError(
                        f"workers died repeatedly at the same task ({error.task}), most likely because they ran out of "
                        "memory; give them more memory, or use smaller partitions"
                    ) from error
                raise error.with_traceback(future.traceback())

    def results(self, futures: Sequence[Future]) -> list[Any]:
        self.wait(futures)
        gathering = self.client.gather(futures, asynchronous=True)  # gather alone waits forever for lost results
        pending = asyncio.run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
        try:
            return self._retry_on_timeout(lambda: pending.result(POLL_SECONDS))
        except ClusterError:
            self._raise_error_of(futures)  # the error of a result that could not be recomputed
            raise
        finally:
            pending.cancel()

    def _retry_on_timeout(self, attempt: Callable[[], Any]) -> Any:
        """Repeat an attempt after each timeout; raise ClusterError if there are no workers for too long."""
        last_seen = time.monotonic()
        with self._cluster_errors():
            while True:
                try:
                    return attempt()
                except TimeoutError:
                    if self.client.nthreads():
                        last_seen = time.monotonic()
                    elif time.monotonic() - last_seen > NO_WORKER_TIMEOUT:
                        raise ClusterError(
                            f"the cluster has had no worker for {NO_WORKER_TIMEOUT:.0f} seconds; start workers, or "
                            "check why they stopped"
                        ) from None

    def n_threads(self) -> dict[str, int]:
        """Number of threads of each worker."""
        with self._cluster_errors():
            return self.client.nthreads()

    def compute(self, tasks: Sequence[Any]) -> list[Future]:
        with self._cluster_errors():
            return self.client.compute(tasks)

    def submit(self, worker: str | None, function: Callable[..., Any], *arguments: Any, actor: bool = False) -> Future:
        """Run a function on this worker or, if it was lost, on another."""
        where: dict[str, Any] = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with self._cluster_errors():
            return self.client.submit(function, *arguments, **where, actor=actor, pure=False)

    def by_worker(self, futures: Sequence[Future]) -> dict[str | None, list[Future]]:
        """The futures by worker; None is a worker that was just lost."""
        with self._cluster_errors():
            where = self.client.who_has(futures)
        by_worker: dict[str | None, list[Future]] = {}
        for future in futures:
            by_worker.setdefault(next(iter(where[future.key]), None), []).append(future)
        return by_worker

    @contextmanager
    def _cluster_errors(self) -> Iterator[None]:
        """Convert the various errors of Dask to ClusterError."""
        try:
            yield
        except (CancelledError, OSError) as error:
            if isinstance(error, CancelledError) and self.client.status == "running":
                raise ClusterError("a worker was lost with rows that cannot be read or computed again") from error
            raise ClusterError("the connection to the scheduler was lost") from error


class DaskPartitions:
    """The partitions of a Dask array or frame with labels and weights."""

    def __init__(self, cluster: Cluster, X: Any, y: Any, weight: Any) -> None:
        self._cluster, self._X = cluster, X
        self._labels = partitions_of(aligned_with(X, y, "y"))
        self._weights: list[Any] = [None] * len(self._labels)
        if weight is not None:
            self._weights = partitions_of(aligned_with(X, weight, "sample_weight"))
        self.names = [f"partition {p}" for p in range(len(self._labels))]

    def run(self, task: PartitionTask) -> list[Any]:
        return self._cluster.results(self._submit_tasks(task))

    def _submit_tasks(self, task: PartitionTask) -> list[Future]:
        arguments = delayed(task.arguments, traverse=False)  # one object for all partitions
        no_columns = task.columns is not None and not len(task.columns)
        rows = [None] * len(self.names) if no_columns else self._rows(task.columns)
        partitions = zip(rows, self._labels, self._weights, self.names, strict=True)
        return self._cluster.compute(
            [
                delayed(run_task)(task.function, arguments, task.own(p), *partition)
                for p, partition in enumerate(partitions)
            ]
        )

    def _rows(self, columns: Sequence[int] | None) -> list[Any]:
        X = self._X
        if columns is not None:
            X = X[:, list(columns)] if isinstance(X, da.Array) else X[[X.columns[j] for j in columns]]
        return partitions_of(X)

    def shard_executor(self, statistics: DataStatistics) -> DaskShardExecutor:
        """Bin the partitions, and build one shard for each thread of each worker."""
        cluster = self._cluster
        binned = self._submit_tasks(PartitionTask(bin_partition, (*statistics.arguments, statistics.bin_mapper)))
        cluster.wait(binned)
        used = [future for future, n_rows in zip(binned, statistics.n_rows, strict=True) if n_rows]
        threads = cluster.n_threads()
        shards = []
        for worker, own in cluster.by_worker(used).items():
            for some in np.array_split(np.arange(len(own)), min(threads.get(worker or "", 1), len(own))):
                partitions = [own[p] for p in some]
                shards.append(cluster.submit(worker, Shard, partitions, statistics.bin_mapper, statistics.class_weight))
        return DaskShardExecutor(cluster, shards)


def partitions_of(collection: Any) -> list[Any]:
    """The partitions as delayed objects."""
    if isinstance(collection, da.Array):
        return collection.to_delayed().ravel().tolist()
    # `simplify` drops unneeded columns. Full optimization would also merge small files, depending on the number of
    # columns, so that the partitions of X and y would no longer match.
    return collection.simplify().to_delayed(optimize_graph=False)


def aligned_with(X: Any, other: Any, name: str) -> Any:
    """Labels or weights in the partitions of X."""
    if isinstance(other, dd.DataFrame) and len(other.columns) == 1:
        other = other[other.columns[0]]
    if not isinstance(other, da.Array | dd.Series):
        raise TypeError(f"{name} must be a Dask array or series, as X is, got {type(other).__name__}")
    if isinstance(other, da.Array):
        if other.ndim == 2 and other.shape[1] == 1:
            other = other[:, 0]
        if other.ndim != 1:
            raise ValueError(f"{name} must have one value for each row, got the shape {other.shape}")
        sizes = X.chunks[0] if isinstance(X, da.Array) else ()
        if sizes and not np.isnan([*sizes, *other.chunks[0]]).any():
            if sum(sizes) != len(other):
                raise ValueError(f"X has {sum(sizes)} rows, but {name} has {len(other)}")
            return other.rechunk((sizes,))
    n_partitions = X.numblocks[0] if isinstance(X, da.Array) else X.npartitions
    if other.npartitions != n_partitions:
        raise ValueError(
            f"X has {n_partitions} partitions, but {name} has {other.npartitions}; use one table, or repartition"
        )
    return other


def is_dask(X: Any) -> bool:
    return isinstance(X, da.Array | dd.DataFrame)


def whole_rows(X: Any) -> Any:
    """X with all columns of a row in one partition."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got the shape {X.shape}")
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if isinstance(X, dd.DataFrame):
        return X
    raise TypeError(
        f"X must be a Dask array or frame, got {type(X).__name__}; use the class without Dask for data in memory"
    )


class ShardActor:
    """A Dask actor that runs the shards of one worker, one thread each.

    A call of an actor takes 3 ms; a task would take 14 ms, longer than the computation for a million rows.
    """

    def __init__(self, *shards: Shard) -> None:
        self._shards, self._threads = shards, Threads(len(shards))

    def read(self, first: int, entries: Log) -> Answer | None:
        return total(self._threads.each(lambda shard: shard.read(first, entries), self._shards))

    def weighted_scores(self, log: Log, class_weight: Array) -> list[list[WeightedScores]]:
        return self._threads.each(lambda shard: shard.weighted_scores(log, class_weight), self._shards)


class DaskShardExecutor:
    """Executes shards on a cluster.

    Dask treats a shard as a constant and does not know its position in the log. It recomputes the shards of a lost
    worker from their source; these return None for a log that they have not read from the start, and get the whole log.
    """

    def __init__(self, cluster: Cluster, shards: list[Future]) -> None:
        self._cluster, self._shards = cluster, shards
        self._n_read = self._n_losses = 0
        self._start_actors()

    def _start_actors(self) -> None:
        cluster = self._cluster
        while True:
            cluster.wait(self._shards)
            actors = [
                cluster.submit(worker, ShardActor, *own, actor=True)
                for worker, own in cluster.by_worker(self._shards).items()
            ]
            try:
                self._actors = cluster.results(actors)
                self._workers = [worker for actor in actors for worker in cluster.by_worker([actor])]
                return
            except (RuntimeError, ValueError) as error:
                if "Actor was lost" not in str(error):
                    raise
                self._count_loss()

    def ask(self, log: Log) -> Answer:
        answers = self._ask_all("read", self._n_read, log[self._n_read :])
        while answers is None or (answer := total(answers)) is None:  # a worker was lost, or a shard is new
            answers = self._ask_all("read", 0, log)
        self._n_read = len(log)
        return answer

    def weighted_scores(self, log: Log, class_weight: Array) -> list[list[WeightedScores]]:
        while (answers := self._ask_all("weighted_scores", log, class_weight)) is None:
            pass
        return [weighted_scores for answer in answers for weighted_scores in answer]

    def _ask_all(self, question: str, *arguments: Any) -> list[Any] | None:
        """The answers of all actors; None if one was lost and replaced."""
        try:
            asked = [self._ask(actor, question, arguments) for actor in self._actors]
            return [self._answer(each, worker) for each, worker in zip(asked, self._workers, strict=True)]
        except ShardActorLostError:
            self._count_loss()
            self._start_actors()
            return None

    def _count_loss(self) -> None:
        self._n_losses += 1
        if self._n_losses > MAX_LOSSES:
            raise ClusterError(f"workers were lost {self._n_losses} times during the fit") from None

    def _ask(self, actor: Any, question: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(actor, question)(*arguments)
        except (RuntimeError, ValueError):  # raised by Dask, depending on its version, for a lost worker
            raise ShardActorLostError from None

    def _answer(self, asked: Any, worker: str | None) -> Any:
        until = time.monotonic() + ANSWER_TIMEOUT * 2 ** min(self._n_losses, 5)
        while True:
            try:
                return asked.result(timeout=POLL_SECONDS)
            except TimeoutError:
                # The answer may also be lost on the way without an error; repeating the request is safe.
                if worker not in self._cluster.n_threads() or time.monotonic() > until:
                    raise ShardActorLostError from None
            except OSError:
                raise ShardActorLostError from None


class ShardActorLostError(Exception):
    """The worker of an actor was lost."""

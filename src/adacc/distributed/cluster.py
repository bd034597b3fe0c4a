"""Rows on the workers of a Dask cluster."""

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
from adacc.boosting.sharded import Answer, Log, Shard, Tally, total
from adacc.data.threads import Threads
from adacc.distributed.survey import PartitionTask, code, look_at
from adacc.distributed.training import Surveyed

MOST_LOSSES = 100
"""Workers that may be lost during a fit."""

PATIENCE = 30.0
"""Seconds without a worker after which a cluster is given up."""

GLANCE = 2.0
"""Seconds between two looks at whether there are workers."""

FIRST_WAIT = 60.0
"""Seconds after which an answer is asked for again; twice as many after each loss, for it may just be slow."""


class ClusterError(RuntimeError):
    """The cluster could not do its part; nothing is wrong with the data."""


class Cluster:
    """A client, and what one may expect of it: answers, or an error that says what happened, but no endless waiting."""

    def __init__(self, client: Any) -> None:
        if client is None:
            try:
                client = default_client()
            except ValueError:
                raise ValueError(
                    "there is no Dask client yet; make one first, such as dask.distributed.Client(n_workers=4) for "
                    "this machine or Client('tcp://scheduler:8786') for a cluster"
                ) from None
        if not isinstance(client, Client):
            raise TypeError(f"client must be a dask.distributed.Client or None, got {client!r}")
        self.client = client

    def wait(self, futures: Sequence[Future]) -> None:
        """Until all are done; an error of theirs, of the first that has one, is raised as it is."""
        self._patiently(lambda: wait(futures, timeout=GLANCE))
        self._raise_error_of(futures)

    def _raise_error_of(self, futures: Sequence[Future]) -> None:
        for future in futures:
            if future.status == "error":
                error = future.exception()
                if isinstance(error, KilledWorker):
                    raise ClusterError(
                        f"workers died again and again at the same task ({error.task}), most likely for want of "
                        "memory; give them more of it, or smaller partitions"
                    ) from error
                raise error.with_traceback(future.traceback())

    def results(self, futures: Sequence[Future]) -> list[Any]:
        self.wait(futures)
        fetching = self.client.gather(futures, asynchronous=True)  # which waits for ever for what is lost meanwhile
        coming = asyncio.run_coroutine_threadsafe(fetching, self.client.loop.asyncio_loop)
        try:
            return self._patiently(lambda: coming.result(GLANCE))
        except ClusterError:
            self._raise_error_of(futures)  # of one that was lost, and could not be computed again
            raise
        finally:
            coming.cancel()

    def _patiently(self, attempt: Callable[[], Any]) -> Any:
        """Attempt it again whenever time is up, unless there is no worker for too long."""
        seen = time.monotonic()
        with self._faults_named():
            while True:
                try:
                    return attempt()
                except TimeoutError:
                    if self.client.nthreads():
                        seen = time.monotonic()
                    elif time.monotonic() - seen > PATIENCE:
                        raise ClusterError(f"the cluster has had no worker for {PATIENCE:.0f} seconds") from None

    def n_threads(self) -> dict[str, int]:
        """Of each worker there is."""
        with self._faults_named():
            return self.client.nthreads()

    def compute(self, tasks: Sequence[Any]) -> list[Future]:
        with self._faults_named():
            return self.client.compute(tasks)

    def submit(self, home: str | None, function: Callable[..., Any], *arguments: Any, actor: bool = False) -> Future:
        """Run on this worker or, where it is no more, on another."""
        where: dict[str, Any] = {} if home is None else {"workers": [home], "allow_other_workers": True}
        with self._faults_named():
            return self.client.submit(function, *arguments, **where, actor=actor, pure=False)

    def homes(self, futures: Sequence[Future]) -> dict[str | None, list[Future]]:
        """The futures by the worker that has them; None: by one that was just lost."""
        with self._faults_named():
            where = self.client.who_has(futures)
        homes: dict[str | None, list[Future]] = {}
        for future in futures:
            homes.setdefault(next(iter(where[future.key]), None), []).append(future)
        return homes

    @contextmanager
    def _faults_named(self) -> Iterator[None]:
        """What goes wrong, in words of our own: Dask has others for each way in which it is noticed."""
        try:
            yield
        except (CancelledError, OSError) as error:
            if isinstance(error, CancelledError) and self.client.status == "running":
                raise ClusterError(
                    "a worker was lost, and with it rows that only it had and that cannot be read or computed again"
                ) from error
            raise ClusterError("the scheduler is gone") from error


class Partitions:
    """A Dask array or frame with its labels and weights, partition by partition."""

    def __init__(self, cluster: Cluster, X: Any, y: Any, weight: Any) -> None:
        self._cluster, self._X = cluster, X
        self._labels = parts_of(beside(X, y, "y"))
        self._weights: list[Any] = [None] * len(self._labels)
        if weight is not None:
            self._weights = parts_of(beside(X, weight, "sample_weight"))
        self.names = [f"partition {p}" for p in range(len(self._labels))]

    def each(self, look: PartitionTask) -> list[Any]:
        return self._cluster.results(self._asked(look))

    def _asked(self, look: PartitionTask) -> list[Future]:
        known = delayed(look.known, traverse=False)  # one object for all partitions, which can be made again
        no_columns = look.columns is not None and not len(look.columns)
        rows = [None] * len(self.names) if no_columns else self._rows(look.columns)
        pieces = zip(rows, self._labels, self._weights, self.names, strict=True)
        return self._cluster.compute(
            [delayed(look_at)(look.function, known, look.own(p), *piece) for p, piece in enumerate(pieces)]
        )

    def _rows(self, columns: Sequence[int] | None) -> list[Any]:
        X = self._X
        if columns is not None:
            X = X[:, list(columns)] if isinstance(X, da.Array) else X[[X.columns[j] for j in columns]]
        return parts_of(X)

    def executor(self, found: Surveyed) -> Workers:
        """One shard for each thread of each worker, of the partitions that it has coded."""
        cluster = self._cluster
        coded = self._asked(PartitionTask(code, (*found.known, found.bin_mapper)))
        cluster.wait(coded)
        used = [future for future, n_rows in zip(coded, found.n_rows, strict=True) if n_rows]
        threads = cluster.n_threads()
        shards = []
        for home, own in cluster.homes(used).items():
            for some in np.array_split(np.arange(len(own)), min(threads.get(home or "", 1), len(own))):
                pieces = [own[p] for p in some]
                shards.append(cluster.submit(home, Shard, pieces, found.bin_mapper, found.class_weight))
        return Workers(cluster, shards)


def parts_of(collection: Any) -> list[Any]:
    """The partitions, each to be had by itself."""
    if isinstance(collection, da.Array):
        return collection.to_delayed().ravel().tolist()
    # Columns that are not needed need not be read. But all that Dask knows to make faster would merge small files, more
    # of them the fewer columns there are, and partitions of X would no longer be beside those of y.
    return collection.simplify().to_delayed(optimize_graph=False)


def beside(X: Any, other: Any, name: str) -> Any:
    """Labels or weights, cut as X is."""
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
    n_parts = X.numblocks[0] if isinstance(X, da.Array) else X.npartitions
    if other.npartitions != n_parts:
        raise ValueError(
            f"X has {n_parts} partitions, but {name} has {other.npartitions}; take both from one table, or repartition"
        )
    return other


def is_dask(X: Any) -> bool:
    return isinstance(X, da.Array | dd.DataFrame)


def whole_rows(X: Any) -> Any:
    """X, with all columns of a row in one partition."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got the shape {X.shape}")
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if isinstance(X, dd.DataFrame):
        return X
    raise TypeError(
        f"X must be a Dask array or frame, got {type(X).__name__}; for rows in memory there is the class without Dask"
    )


class ShardActor:
    """Looks after the shards of one worker, a thread for each: an actor of Dask's.

    A question to it takes 3 ms; a task for each question would take 14, which is longer than the answer of a million
    rows.
    """

    def __init__(self, *shards: Shard) -> None:
        self._shards, self._threads = shards, Threads(len(shards))

    def read(self, first: int, entries: Log) -> Answer | None:
        return total(self._threads.each(lambda shard: shard.read(first, entries), self._shards))

    def tally(self, log: Log, class_weight: Array) -> list[list[Tally]]:
        return self._threads.each(lambda shard: shard.tally(log, class_weight), self._shards)


class Workers:
    """Those who keep the shards on a cluster.

    To Dask a shard is a constant, and where it stands in the log its own affair. So Dask makes those anew that a worker
    took with it when it was lost, from their source; they say that they have not read so far, and are given all.
    """

    def __init__(self, cluster: Cluster, shards: list[Future]) -> None:
        self._cluster, self._shards = cluster, shards
        self._n_read = self._n_losses = 0
        self._find_keepers()

    def _find_keepers(self) -> None:
        cluster = self._cluster
        while True:
            cluster.wait(self._shards)
            keepers = [
                cluster.submit(home, ShardActor, *own, actor=True) for home, own in cluster.homes(self._shards).items()
            ]
            try:
                self._keepers = cluster.results(keepers)
                self._homes = [home for keeper in keepers for home in cluster.homes([keeper])]
                return
            except (RuntimeError, ValueError) as error:
                if "Actor was lost" not in str(error):
                    raise
                self._count_loss()

    def ask(self, log: Log) -> Answer:
        answers = self._ask_all("read", self._n_read, log[self._n_read :])
        while answers is None or (answer := total(answers)) is None:  # one is lost, or new and has not read so far
            answers = self._ask_all("read", 0, log)
        self._n_read = len(log)
        return answer

    def tallies(self, log: Log, class_weight: Array) -> list[list[Tally]]:
        while (answers := self._ask_all("tally", log, class_weight)) is None:
            pass
        return [tally for answer in answers for tally in answer]

    def _ask_all(self, question: str, *arguments: Any) -> list[Any] | None:
        """All keepers' answers; None if one is lost, and others have taken its place."""
        try:
            asked = [self._ask(keeper, question, arguments) for keeper in self._keepers]
            return [self._answer(each, home) for each, home in zip(asked, self._homes, strict=True)]
        except ShardActorLostError:
            self._count_loss()
            self._find_keepers()
            return None

    def _count_loss(self) -> None:
        self._n_losses += 1
        if self._n_losses > MOST_LOSSES:
            raise ClusterError(f"workers were lost {self._n_losses} times during the fit") from None

    def _ask(self, keeper: Any, question: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return getattr(keeper, question)(*arguments)
        except (RuntimeError, ValueError):  # Dask, or an older one, knows by now that the worker is gone
            raise ShardActorLostError from None

    def _answer(self, asked: Any, home: str | None) -> Any:
        until = time.monotonic() + FIRST_WAIT * 2 ** min(self._n_losses, 5)
        while True:
            try:
                return asked.result(timeout=GLANCE)
            except TimeoutError:
                # Or its answer was lost on the way, which nobody would tell: asked again, it says the same.
                if home not in self._cluster.n_threads() or time.monotonic() > until:
                    raise ShardActorLostError from None
            except OSError:
                raise ShardActorLostError from None


class ShardActorLostError(Exception):
    """The worker is gone."""

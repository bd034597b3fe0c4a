"""Partitions and shards of a table on disk that is larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.boosting import sharded_backend
from adacc.boosting.sharded_backend import Answer, Begin, BinnedShard, Log, Shard, total
from adacc.data.threads import Threads
from adacc.distributed.memory import MemoryBudget
from adacc.distributed.mmap_store import MmapStore
from adacc.distributed.partition_stats import (
    PartitionColumns,
    PartitionTask,
    ValueCounts,
    bin_partition,
    column_statistics,
    count_values,
    label_statistics,
    run_task,
)
from adacc.distributed.training import DataStatistics
from adacc.tables import TableError
from adacc.tables.chunks import Chunks

Progress = Callable[[str, int, int], None]  # called with the stage, the steps done, and the number of steps
MAX_LABELS = 100_000  # maximum number of labels of a column, as labels are kept in memory

STAGES = {
    label_statistics: "reading labels",
    column_statistics: "finding bins",
    count_values: "counting values",
    bin_partition: "binning",
}


class FilePartitions:
    """The partitions of a Parquet table."""

    def __init__(
        self,
        chunks: Chunks,
        target: str,
        weight: str | None,  # the column of sample weights
        budget: MemoryBudget,
        folder: Path,  # for the binned rows
        report_progress: Progress,
        relabel: Callable[[NDArray[Any]], NDArray[Any]] | None = None,  # maps labels of the table to other labels
    ) -> None:
        self.chunks, self._target, self._weight = chunks, target, weight
        self._budget, self._folder, self.report_progress, self._relabel = budget, folder, report_progress, relabel
        self._features = list(chunks.kinds)
        self._n_rows = budget.rows_per_partition()
        begins = range(0, chunks.n_rows, self._n_rows)
        self.names = [f"rows {begin + 1} to {min(begin + self._n_rows, chunks.n_rows)}" for begin in begins]

    def run(self, task: PartitionTask) -> list[Any]:
        results: list[Any] = []
        seen = DeduplicatedStatistics(self.chunks.where)
        for result in self.results(task):
            results.append(seen.columns(result) if isinstance(result, PartitionColumns) else result)
            if task.function is count_values:
                seen.values(results)
        return results

    def results(self, task: PartitionTask) -> Iterator[Any]:
        """The results of a task on all partitions, as an iterator."""
        features = self._features if task.columns is None else [self._features[j] for j in task.columns]
        others = [self._target, *([] if self._weight is None else [self._weight])]
        stage, n_partitions = STAGES.get(task.function, "predicting"), len(self.names)
        for p, frame in enumerate(self.chunks.frames(features, others, self._n_rows)):
            self.report_progress(stage, p, n_partitions)
            y = np.asarray(frame[self._target])
            weight = None if self._weight is None else np.asarray(frame[self._weight])
            X = frame[features] if features else None
            labels = y if self._relabel is None else self._relabel(y)
            name = f"{self.chunks.where}, {self.names[p]}"
            yield run_task(task.function, task.arguments, task.own(p), X, labels, weight, name)
        self.report_progress(stage, n_partitions, n_partitions)

    def shard_executor(self, statistics: DataStatistics) -> DiskShardExecutor:
        """Shards of consecutive partitions, as large as the budget allows."""
        n_rows = self._budget.rows_per_shard(statistics.bin_mapper, len(statistics.classes), self._n_rows)
        store = MmapStore(self._folder)
        for partitions in self._binned_shards(statistics, n_rows):
            store.put(Shard(partitions, statistics.bin_mapper, statistics.class_weight), statistics.bin_mapper.features)
        return DiskShardExecutor(store, self._folder, self._budget.n_threads)

    def _binned_shards(self, statistics: DataStatistics, n_rows: int) -> Iterator[list[BinnedShard]]:
        pending: list[BinnedShard] = []
        for binned in self.results(PartitionTask(bin_partition, (*statistics.arguments, statistics.bin_mapper))):
            if binned is None:
                continue
            if pending and sum(len(each.y) for each in pending) + len(binned.y) > n_rows:
                yield pending
                pending = []
            pending.append(binned)
        yield pending


class DeduplicatedStatistics:
    """Removes repeated labels and values from the statistics of partitions, to save memory."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._labels: dict[int, set[Any]] = {}
        self._names: list[str] | None = None

    def columns(self, columns: PartitionColumns) -> PartitionColumns:
        """The statistics without the labels of previous partitions."""
        for j, labels in columns.categories.items():
            before = self._labels.setdefault(j, set())
            columns.categories[j] = labels - before
            before |= labels
            if len(before) > MAX_LABELS:
                raise TableError(
                    f"{self._where}: {columns.names[j]} has more than {MAX_LABELS:,} labels, like an id or free text; "
                    "leave it out"
                )
        if self._names is None:
            self._names = columns.names
        return replace(columns, names=self._names) if columns.names == self._names else columns

    @staticmethod
    def values(results: list[list[ValueCounts] | None]) -> None:
        """Merge the values of the last partition into the first."""
        last = results[-1]
        if len(results) > 1 and last is not None:
            first = results[0]
            results[0] = last if first is None else [_add_value_counts(*pair) for pair in zip(first, last, strict=True)]
            results[-1] = None


def _add_value_counts(some: ValueCounts, more: ValueCounts) -> ValueCounts:
    values, weight = (np.concatenate(pair) for pair in zip(some, more, strict=True))
    distinct, numbers = np.unique(values, return_inverse=True)
    return distinct, np.bincount(numbers, weight, len(distinct))  # type: ignore[return-value]


class DiskShardExecutor:
    """Executes shards whose arrays are memory-mapped: binned values, weights and scores.

    At most one shard per thread is in memory.
    """

    def __init__(self, binned: MmapStore, folder: Path, n_threads: int) -> None:
        self._binned, self._folder = binned, folder
        self._shards: list[Shard] = binned.load_all()
        self._states: MmapStore
        self._n_threads = n_threads
        self._n_read = 0

    def ask(self, log: Log) -> Answer:
        if isinstance(log[-1], Begin):
            answer = self._start(log)
        else:
            answer = self._each(lambda shard: shard.read(self._n_read, log[self._n_read :]), _add_answers)
        self._n_read = len(log)
        return answer

    def weighted_scores(self, log: Log, class_weight: Array) -> list[list[sharded_backend.WeightedScores]]:
        self._n_read = len(log)
        return self._each(lambda shard: [shard.weighted_scores(log, class_weight)], lambda some, more: some + more)

    def _start(self, log: Log) -> Answer:
        """Start a new log; weights and scores are stored in a separate file."""
        for shard in self._shards:
            shard.reset()
        self._states, answer = MmapStore(self._folder), None
        for number, shard in enumerate(self._shards):
            answer = _add_answers(answer, shard.read(0, log))
            rows = shard.binned.rows
            shared = (shard.binned, rows, rows.order, rows.starts, rows.weight, rows.class_weight)
            self._states.put(shard.state, (*shared, kernels.add_votes, kernels.add_votes_each))
            shard.state = None
            self._binned.evict(number)
        for shard, state in zip(self._shards, self._states.load_all(), strict=True):
            shard.state = state
        assert answer is not None
        return answer

    def _each(self, question: Callable[[Shard], Any], add: Callable[[Any, Any], Any]) -> Any:
        """The sum of the answers of all shards, in the order of the shards."""

        def ask(number: int) -> Any:
            answer = question(self._shards[number])
            self._binned.evict(number)
            self._states.evict(number)
            return answer

        indices, whole = range(len(self._shards)), None
        with Threads(self._n_threads) as threads:
            for begin in indices[:: self._n_threads]:
                for answer in threads.each(ask, indices[begin : begin + self._n_threads]):
                    whole = answer if whole is None else add(whole, answer)
        return whole


def _add_answers(some: Answer | None, more: Answer | None) -> Answer | None:
    return more if some is None else total([some, more])

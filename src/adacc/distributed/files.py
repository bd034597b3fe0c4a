"""Rows of a table larger than memory, on the disk of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.boosting import sharded as scattered
from adacc.boosting.sharded import Answer, Begin, BinnedShard, Log, Shard, total
from adacc.data.threads import Threads
from adacc.distributed.memory import MemoryBudget
from adacc.distributed.shelf import MmapStore
from adacc.distributed.survey import (
    ColumnsOfPiece,
    PartitionTask,
    Tally,
    code,
    look_at,
    look_at_columns,
    look_at_labels,
    look_at_values,
)
from adacc.distributed.training import Surveyed
from adacc.tables import TableError
from adacc.tables.chunks import Chunks

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it has been, and of how much."""

MOST_LABELS = 100_000
"""Of a column: labels must be kept in memory."""

STAGES = {
    look_at_labels: "reading labels",
    look_at_columns: "finding bins",
    look_at_values: "counting values",
    code: "coding",
}


class FilePieces:
    """The rows of a Parquet table, some at a time.

    Parameters
    ----------
    chunks : Chunks
        The table.
    target : str
        The column to predict.
    weight : str or None
        The column of sample weights.
    room : MemoryBudget
        What there is of memory.
    folder : path
        Where the coded rows go.
    tell : callable
        Told how far it is.
    relabel : callable, default=None
        Makes labels of those in the table.
    """

    def __init__(
        self,
        chunks: Chunks,
        target: str,
        weight: str | None,
        room: MemoryBudget,
        folder: Path,
        tell: Progress,
        relabel: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> None:
        self.chunks, self._target, self._weight = chunks, target, weight
        self._room, self._folder, self.tell, self._relabel = room, folder, tell, relabel
        self._features = list(chunks.kinds)
        self._n_rows = room.rows_of_piece()
        begins = range(0, chunks.n_rows, self._n_rows)
        self.names = [f"rows {begin + 1} to {min(begin + self._n_rows, chunks.n_rows)}" for begin in begins]

    def each(self, look: PartitionTask) -> list[Any]:
        found: list[Any] = []
        brief = Brief(self.chunks.where)
        for answer in self.answers(look):
            found.append(brief.columns(answer) if isinstance(answer, ColumnsOfPiece) else answer)
            if look.function is look_at_values:
                brief.values(found)
        return found

    def answers(self, look: PartitionTask) -> Iterator[Any]:
        """The same as `each`, one after another."""
        features = self._features if look.columns is None else [self._features[j] for j in look.columns]
        others = [self._target, *([] if self._weight is None else [self._weight])]
        stage, n_pieces = STAGES.get(look.function, "predicting"), len(self.names)
        for p, frame in enumerate(self.chunks.frames(features, others, self._n_rows)):
            self.tell(stage, p, n_pieces)
            y = np.asarray(frame[self._target])
            weight = None if self._weight is None else np.asarray(frame[self._weight])
            X = frame[features] if features else None
            labels = y if self._relabel is None else self._relabel(y)
            name = f"{self.chunks.where}, {self.names[p]}"
            yield look_at(look.function, look.known, look.own(p), X, labels, weight, name)
        self.tell(stage, n_pieces, n_pieces)

    def executor(self, found: Surveyed) -> DiskShardExecutor:
        """Shards of consecutive pieces, as large as there is room for."""
        n_rows = self._room.rows_of_shard(found.bin_mapper, len(found.classes), self._n_rows)
        shelf = MmapStore(self._folder)
        for pieces in self._coded(found, n_rows):
            shelf.put(Shard(pieces, found.bin_mapper, found.class_weight), found.bin_mapper.features)
        return DiskShardExecutor(shelf, self._folder, self._room.n_threads)

    def _coded(self, found: Surveyed, n_rows: int) -> Iterator[list[BinnedShard]]:
        held: list[BinnedShard] = []
        for coded in self.answers(PartitionTask(code, (*found.known, found.bin_mapper))):
            if coded is None:
                continue
            if held and sum(len(each.y) for each in held) + len(coded.y) > n_rows:
                yield held
                held = []
            held.append(coded)
        yield held


class Brief:
    """What was said of many pieces, without saying anything twice: it is kept in memory for all of them."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._labels: dict[int, set[Any]] = {}
        self._names: list[str] | None = None

    def columns(self, said: ColumnsOfPiece) -> ColumnsOfPiece:
        """The same without the labels that pieces before have."""
        for j, labels in said.categories.items():
            before = self._labels.setdefault(j, set())
            said.categories[j] = labels - before
            before |= labels
            if len(before) > MOST_LABELS:
                raise TableError(
                    f"{self._where}: {said.names[j]} has more than {MOST_LABELS:,} different labels, as ids and free "
                    "text have; leave it out"
                )
        if self._names is None:
            self._names = said.names
        return replace(said, names=self._names) if said.names == self._names else said

    @staticmethod
    def values(found: list[list[Tally] | None]) -> None:
        """Let the first say what the last has to say, too."""
        last = found[-1]
        if len(found) > 1 and last is not None:
            first = found[0]
            found[0] = last if first is None else [_together(*pair) for pair in zip(first, last, strict=True)]
            found[-1] = None


def _together(some: Tally, more: Tally) -> Tally:
    values, weight = (np.concatenate(pair) for pair in zip(some, more, strict=True))
    distinct, numbers = np.unique(values, return_inverse=True)
    return distinct, np.bincount(numbers, weight, len(distinct))  # type: ignore[return-value]


class DiskShardExecutor:
    """Those who keep shards whose arrays are in files: of codes, and of where the rows stand in a log.

    As many shards are in memory as there are threads.
    """

    def __init__(self, codes: MmapStore, folder: Path, n_threads: int) -> None:
        self._codes, self._folder = codes, folder
        self._shards: list[Shard] = codes.take_all()
        self._standings: MmapStore
        self._n_threads = n_threads
        self._began: Begin | None = None
        self._n_read = 0

    def ask(self, log: Log) -> Answer:
        if log[0] is not self._began:
            answer = self._begin(log)
        else:
            answer = self._each(lambda shard: shard.read(self._n_read, log[self._n_read :]), _added)
        self._n_read = len(log)
        return answer

    def tallies(self, log: Log, class_weight: Array) -> list[list[scattered.Tally]]:
        self._n_read = len(log)
        return self._each(lambda shard: [shard.tally(log, class_weight)], lambda some, more: some + more)

    def _begin(self, log: Log) -> Answer:
        """Read a new log; the rows' weights and scores go to a file of their own."""
        for shard in self._shards:
            shard.begin_anew()
        self._standings, answer = MmapStore(self._folder), None
        for number, shard in enumerate(self._shards):
            answer = _added(answer, shard.read(0, log))
            rows = shard.binned.rows
            shared = (shard.binned, rows, rows.order, rows.starts, rows.weight, rows.class_weight)
            self._standings.put(shard.standing, (*shared, kernels.add_votes, kernels.add_votes_each))
            shard.standing = None
            self._codes.put_back(number)
        for shard, standing in zip(self._shards, self._standings.take_all(), strict=True):
            shard.standing = standing
        assert isinstance(log[0], Begin)
        assert answer is not None
        self._began = log[0]
        return answer

    def _each(self, question: Callable[[Shard], Any], add: Callable[[Any, Any], Any]) -> Any:
        """The answers of all shards, added in their order whoever is first."""

        def ask(number: int) -> Any:
            answer = question(self._shards[number])
            self._codes.put_back(number)
            self._standings.put_back(number)
            return answer

        everyone, whole = range(len(self._shards)), None
        with Threads(self._n_threads) as threads:
            for begin in everyone[:: self._n_threads]:
                for answer in threads.each(ask, everyone[begin : begin + self._n_threads]):
                    whole = answer if whole is None else add(whole, answer)
        return whole


def _added(some: Answer | None, more: Answer | None) -> Answer | None:
    return more if some is None else total([some, more])

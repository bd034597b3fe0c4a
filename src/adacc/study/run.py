"""Running a study: what is not stored yet is computed, one training and test part at a time."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from adacc import datasets, metrics
from adacc.datasets.store import find
from adacc.estimators.unseen import unseen_ignored
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.folds import Fold
from adacc.evaluation.predictions import Predictions
from adacc.evaluation.workers import in_parallel
from adacc.study.family import Family
from adacc.study.plan import Protocol, Task
from adacc.study.store import Result, Series, Store, StudyError


class Done(NamedTuple):
    """A task that was computed, how long it took, and the methods that failed."""

    task: Task
    seconds: float
    failed: list[str]


class Data(NamedTuple):
    """A data set in memory."""

    frame: Any
    target: NDArray[np.int8]


@lru_cache(maxsize=1)
def load(name: str, file: tuple[str, str | None] | None, data_dir: str | None) -> Data:
    """A set of the catalogue, as the paper used it, or the user's own; the one used last stays in memory."""
    if file is not None:
        frame, target = datasets.read_table(*file)
    else:
        frame, target = datasets.load(name, data_dir, paper_columns=True)
    return Data(frame, target.to_numpy())


def split(protocol: Protocol, task: Task, y: NDArray[np.int8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of the training and of the test rows."""
    splitter = StratifiedKFold(protocol.folds, shuffle=True, random_state=protocol.seed + task.repeat)
    return list(splitter.split(np.zeros(len(y)), y))[task.fold]


def check_sets(protocol: Protocol) -> None:
    """Raise unless every set is known, the user's own can be used, and each has rows enough for the folds."""
    for name in protocol.datasets:
        file = protocol.files.get(name)
        rarer = find(name).minority if file is None else int(np.bincount(load(name, file, None).target).min())
        if rarer < protocol.folds:
            raise ValueError(
                f"folds must be at most {rarer}, the number of rows that {name} has of its rarer class, "
                f"got {protocol.folds}"
            )


class Judged(NamedTuple):
    """What is kept of a method's scores after some number of rounds."""

    scores: NDArray[np.float32]
    cost: float | None
    measures: dict[str, float]


def _judge(found: Predictions, y_test: NDArray[np.int8]) -> Judged:
    scores = found.scores.astype(np.float32)
    predicted = (scores > 0).astype(np.int8)
    return Judged(scores, found.cost, metrics.evaluate(y_test, predicted, scores, pos_label=1))


def compute(protocol: Protocol, task: Task, data: Data) -> Result:
    """All methods on one part."""
    began = time.perf_counter()
    train, test = split(protocol, task, data.target)
    y, y_test = data.target[train], data.target[test]
    X, X_test = data.frame.iloc[train], data.frame.iloc[test]
    seed = protocol.seed + task.repeat * protocol.folds + task.fold
    series: list[Series] = []
    scores: list[NDArray[np.float32]] = []

    def keep(
        method: str, dialect: str, library: str, rounds: Iterable[int], ask: Callable[[], dict[int, Predictions]]
    ) -> None:
        started, error = time.perf_counter(), None
        try:
            found = ask()
            seconds = time.perf_counter() - started
            judged = {T: _judge(each, y_test) for T, each in found.items()}
        except Exception:  # a crash is a row of the results, not a hole
            seconds, error = time.perf_counter() - started, traceback.format_exc()
            judged = {T: Judged(np.full(len(test), np.nan, dtype=np.float32), None, {}) for T in rounds}
        for T, each in judged.items():
            series.append(Series(method, dialect, T, each.cost, library, seconds, each.measures, error))
            scores.append(each.scores)

    family = Family(protocol, X, y, X_test, seed)
    own = f"adacc {version('adacc')}"
    for variant in protocol.variants():
        keep(*variant, own, protocol.rounds, partial(family.scores, variant))
    fold = Fold(X, y, X_test, list(protocol.rounds), seed)
    for name in protocol.baselines_of(task):
        baseline = BASELINES[name]
        library = f"{baseline.library} {version(baseline.library)}"
        rounds = protocol.rounds if baseline.boosts else (1,)
        keep(name, "", library, rounds, partial(baseline.found, fold))
    return Result(test.astype(np.int32), y_test, np.array(scores), series, time.perf_counter() - began)


def compute_and_store(protocol: Protocol, task: Task, store: Store, data_dir: str | None) -> Done:
    """As a worker does it."""
    if store.path(task).exists():  # another run was here meanwhile
        return Done(task, 0.0, [])
    with warnings.catch_warnings(), threadpool_limits(1), unseen_ignored():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = compute(protocol, task, load(task.dataset, protocol.files.get(task.dataset), data_dir))
    store.write(task, result)
    return Done(task, result.seconds, sorted({each.method for each in result.series if each.error}))


def begin(protocol: Protocol, store: Store) -> list[Task]:
    """Make a folder ready for a study, or for more of it; what is not stored yet, or damaged."""
    check_sets(protocol)
    store.adopt(protocol)
    return [task for task in protocol.tasks() if not store.has(task)]


def work(task: Task) -> float:
    """Roughly how much there is to do, for a forecast: cells of the table, and something for every part."""
    entry = datasets.CATALOGUE.get(task.dataset)
    return SMALL + (entry.rows * entry.features if entry is not None else SMALL)


SMALL = 200_000
"""Cells that take as long as what every part takes, whatever its size."""


def run(
    protocol: Protocol,
    store: Store,
    tasks: Sequence[Task] | None = None,
    data_dir: str | None = None,
    n_jobs: int = 1,
    executor: str = "process",
) -> Iterator[Done]:
    """Compute tasks, and tell of each as it is done.

    Stop it at any time, in any way: a task is stored whole or not at all, and the next run goes on from there.

    Parameters
    ----------
    protocol : Protocol
        The study.
    store : Store
        Its folder, which must hold nothing or the same study.
    tasks : list of Task, default=None
        What to compute, as `begin` gave it; None: begin, and compute it all.
    data_dir : str, default=None
        A folder with the data sets, as `adacc.datasets.load` takes it.
    n_jobs : int, default=1
        Tasks at a time.
    executor : {"process", "local", "dask"}, default="process"
        Who works: worker processes, this process, or the workers of the Dask client that is connected.
    """
    tasks = begin(protocol, store) if tasks is None else tasks
    compute_one = partial(compute_and_store, protocol, store=store, data_dir=data_dir)
    try:
        yield from in_parallel(compute_one, tasks, n_jobs, executor)
    except BrokenExecutor:
        raise StudyError(
            "a worker process was killed, perhaps for want of memory; the same command goes on, with fewer jobs at "
            "a time if need be"
        ) from None

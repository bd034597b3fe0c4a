"""Runs a study: computes and stores the tasks that are not stored yet."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from adacc import datasets, metrics
from adacc.datasets.store import find
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.fold_trainer import FoldTrainer
from adacc.evaluation.predictions import Predictions
from adacc.evaluation.workers import in_parallel
from adacc.study.protocol import StudyProtocol, Task
from adacc.study.store import Result, Series, Store, StudyError


class Done(NamedTuple):
    """A computed task, its seconds, and the methods that failed."""

    task: Task
    seconds: float
    failed: list[str]


class Data(NamedTuple):
    """A data set in memory."""

    frame: Any
    target: NDArray[np.int8]


@lru_cache(maxsize=1)
def load(name: str, file: tuple[str, str | None] | None, data_dir: str | None) -> Data:
    """Load a data set of the catalogue, as the paper used it, or the user's file; the last one is cached."""
    if file is not None:
        frame, target = datasets.read_table(*file)
    else:
        frame, target = datasets.load(name, data_dir, paper_columns=True)
    return Data(frame, target.to_numpy())


def split(protocol: StudyProtocol, task: Task, y: NDArray[np.int8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the training and of the test rows."""
    splitter = StratifiedKFold(protocol.folds, shuffle=True, random_state=protocol.seed + task.repeat)
    return list(splitter.split(np.zeros(len(y)), y))[task.fold]


def check_sets(protocol: StudyProtocol) -> None:
    """Raise ValueError if a set is unknown or unusable, or has too few rows for the folds."""
    for name in protocol.datasets:
        file = protocol.files.get(name)
        minority = find(name).minority if file is None else int(np.bincount(load(name, file, None).target).min())
        if minority < protocol.folds:
            raise ValueError(
                f"folds must be at most {minority}, the number of minority rows of {name}, got {protocol.folds}"
            )


class Evaluation(NamedTuple):
    """Scores, tuned cost, encoding and measures of a method after some number of rounds."""

    scores: NDArray[np.float32]
    cost: float | None
    encoding: str | None
    measures: dict[str, float]


def _evaluate(predictions: Predictions, y_test: NDArray[np.int8]) -> Evaluation:
    scores = predictions.scores.astype(np.float32)
    predicted = (scores > 0).astype(np.int8)
    measures = metrics.evaluate(y_test, predicted, scores, pos_label=1)
    measures["average_precision"] = float(average_precision_score(y_test, scores))
    return Evaluation(scores, predictions.cost, predictions.encoding, measures)


def compute(protocol: StudyProtocol, task: Task, data: Data) -> Result:
    """Train and evaluate all methods on one fold."""
    began = time.perf_counter()
    train, test = split(protocol, task, data.target)
    y, y_test = data.target[train], data.target[test]
    X, X_test = data.frame.iloc[train], data.frame.iloc[test]
    seed = protocol.seed + task.repeat * protocol.folds + task.fold
    series: list[Series] = []
    scores: list[NDArray[np.float32]] = []

    def add(
        method: str, dialect: str, library: str, rounds: Iterable[int], predict: Callable[[], dict[int, Predictions]]
    ) -> None:
        started, error = time.process_time(), None
        try:
            predictions = predict()
            seconds = time.process_time() - started
            evaluated = {T: _evaluate(each, y_test) for T, each in predictions.items()}
        except Exception:  # a failure is recorded in the results
            seconds, error = time.process_time() - started, traceback.format_exc()
            evaluated = {T: Evaluation(np.full(len(test), np.nan, dtype=np.float32), None, None, {}) for T in rounds}
        for T, each in evaluated.items():
            series.append(Series(method, dialect, T, each.cost, library, seconds, each.measures, error, each.encoding))
            scores.append(each.scores)

    fold = FoldData(X, y, X_test, list(protocol.rounds), seed)
    trainer = FoldTrainer(fold, protocol.training_options)
    own = f"adacc {version('adacc')}"
    for variant in protocol.variants():
        add(*variant, own, protocol.rounds, partial(trainer.predict, *variant))
    for name in protocol.baselines_of(task):
        baseline = BASELINES[name]
        library = f"{baseline.library} {version(baseline.library)}"
        rounds = protocol.rounds if baseline.boosts else (1,)
        add(name, "", library, rounds, partial(baseline.predict, fold))
    return Result(test.astype(np.int32), y_test, np.array(scores), series, time.perf_counter() - began)


@contextmanager
def fixed_conditions() -> Iterator[None]:
    """One thread for every library, and no warnings of single fits, within the context."""
    with warnings.catch_warnings(), threadpool_limits(1), unseen_ignored():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def compute_and_store(protocol: StudyProtocol, task: Task, store: Store, data_dir: str | None) -> Done:
    """Compute and store a task; called in the workers."""
    if store.path(task).exists():  # another run has stored it meanwhile
        return Done(task, 0.0, [])
    with fixed_conditions():
        result = compute(protocol, task, load(task.dataset, protocol.files.get(task.dataset), data_dir))
    store.write(task, result)
    return Done(task, result.seconds, sorted({each.method for each in result.series if each.error}))


def begin(protocol: StudyProtocol, store: Store) -> list[Task]:
    """Prepare the folder of a study; return the tasks that are not stored yet, or damaged."""
    check_sets(protocol)
    store.adopt(protocol)
    return [task for task in protocol.tasks() if not store.has(task)]


def work(task: Task) -> float:
    """Estimated work of a task in cells of the table, plus a constant, to predict the remaining time."""
    entry = datasets.CATALOGUE.get(task.dataset)
    return CELLS_OF_OVERHEAD + (entry.rows * entry.features if entry is not None else CELLS_OF_OVERHEAD)


CELLS_OF_OVERHEAD = 200_000
"""The fixed time of a task, in the time of so many cells."""


def run(
    protocol: StudyProtocol,
    store: Store,  # must be empty or hold the same study
    tasks: Sequence[Task] | None = None,  # from `begin`; None: all that are not stored
    data_dir: str | None = None,  # folder of the data sets, as for `adacc.datasets.load`
    n_jobs: int = 1,
    executor: str = "process",  # worker processes, "local": this process, or "dask": workers of the connected client
) -> Iterator[Done]:
    """Compute tasks, and yield each when it is done.

    A run can be killed at any time: results are written atomically, and the next run computes the missing tasks.
    """
    tasks = begin(protocol, store) if tasks is None else tasks
    yield from run_tasks(partial(compute_and_store, protocol, store=store, data_dir=data_dir), tasks, n_jobs, executor)


def run_tasks(compute_one: Callable[[Task], Done], tasks: Iterable[Task], n_jobs: int, executor: str) -> Iterator[Done]:
    """Call a function that computes and stores a task for all of them, in parallel; yield each when it is done."""
    try:
        yield from in_parallel(compute_one, tasks, n_jobs, executor)
    except BrokenExecutor:
        raise StudyError(
            "a worker process was killed, perhaps because memory ran out; the same command continues the study, with "
            "fewer parallel jobs if needed"
        ) from None

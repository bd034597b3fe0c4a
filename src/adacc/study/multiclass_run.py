"""Runs a study on more than two classes: computes and stores the tasks that are not stored yet."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from adacc.algorithms.catalog import suggestion
from adacc.datasets.tables import ClassTable, read_classes
from adacc.estimators.classifiers import BoostingClassifier
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.predictions import ClassPredictions
from adacc.evaluation.scorers import predictions_of
from adacc.study.folder import StudyError, StudyFolder, record_of
from adacc.study.multiclass_protocol import MulticlassProtocol, check, differences
from adacc.study.protocol import Task
from adacc.study.run import Done, fixed_conditions, run_tasks
from adacc.tables.sources import ENDINGS

ROUNDS = 100
"""Rounds of all methods that boost: their default."""

NOT_PREDICTED = -1
"""The predicted class of a method that failed."""


class DataFile(NamedTuple):
    """A file with a data set, and its target column."""

    path: str
    target: str | None = None  # None: the column ``target``


@dataclass(frozen=True)
class MulticlassResult:
    """The results of a task."""

    rows: NDArray[np.int32]  # (n_test,): indices of the test rows in the data set
    y: NDArray[np.int8]  # (n_test,): numbers of their classes
    predicted: NDArray[np.int8]  # (n_methods, n_test): numbers of the predicted classes; -1 if the method failed
    probabilities: NDArray[np.float64]  # (n_methods, n_test, n_classes); NaN if the method failed
    series: list[dict[str, Any]]  # method, library with its version, processor seconds and error, by method
    seconds: float  # time for all methods


class MulticlassStore(StudyFolder):
    """The folder of a study's results."""

    arrays = ("rows", "y", "predicted", "probabilities")

    def protocol(self) -> MulticlassProtocol:
        """The protocol of the study in the folder."""
        entries = self.stored_entries()
        try:
            return MulticlassProtocol.from_json(entries)
        except (TypeError, ValueError, AttributeError) as error:
            raise self.unreadable(error) from None

    def adopt(self, protocol: MulticlassProtocol) -> None:
        """Write the protocol to the folder; sets and repeats are added to those of the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.has_protocol:
            known = self.protocol()
            if others := list(differences(known, protocol)):
                raise self.other_study(others)
            every = {**known.datasets, **protocol.datasets}
            protocol = replace(
                protocol, datasets=every, repeats=max(known.repeats, protocol.repeats), methods=known.methods
            )
        self.write_protocol(protocol)

    def write(self, task: Task, result: MulticlassResult) -> None:
        arrays = {name: getattr(result, name) for name in self.arrays}
        self.write_arrays(task, arrays, result.series, result.seconds)

    def read(self, task: Task) -> MulticlassResult:
        """The result of a task, with its predictions."""
        with self.open(task) as arrays:
            record = record_of(arrays)
            values = {name: arrays[name] for name in self.arrays}
        return MulticlassResult(**values, series=record["series"], seconds=record["seconds"])


def find_files(folder: str | Path, names: Iterable[str] | None = None) -> dict[str, DataFile]:
    """The data sets of a directory by name, sorted: all, or only those with the given names."""
    folder = Path(folder)
    found: dict[str, DataFile] = {}
    if not folder.is_dir():
        raise StudyError(f"the directory of the data sets must exist, got {str(folder)!r}")
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.endswith(ENDINGS) and not path.name.startswith("."):
            name = path.name.split(".")[0]
            if name in found:
                raise StudyError(
                    f"{folder} has two files of the data set {name}: {Path(found[name].path).name}, {path.name}"
                )
            found[name] = DataFile(str(path.absolute()))
    if not found:
        raise StudyError(f"{folder} has no data sets: files that end with {', '.join(ENDINGS)}")
    for name in names or ():
        if name not in found:
            hint = suggestion(name, found) or f"it has {', '.join(found)}"
            raise StudyError(f"{folder} has no data set {name!r}: {hint}")
    return found if names is None else {name: found[name] for name in sorted(set(names))}


@lru_cache(maxsize=1)
def load(file: DataFile) -> ClassTable:
    """Read a data set; the last one is cached."""
    return read_classes(*file)


def split(protocol: MulticlassProtocol, task: Task, y: NDArray[np.int8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the training and of the test rows."""
    # The first repeats are the same for any number of repeats.
    splitter = RepeatedStratifiedKFold(n_splits=protocol.folds, n_repeats=task.repeat + 1, random_state=protocol.seed)
    return list(splitter.split(np.zeros(len(y)), y))[task.repeat * protocol.folds + task.fold]


def predict(method: str, fold: FoldData) -> ClassPredictions:
    """Fit a method with its default parameters, and predict the test rows."""
    name, _, strategy = method.partition(":")
    if name in BASELINES:
        return BASELINES[name].predict_classes(fold)
    model = BoostingClassifier(name, multi_class=strategy or "auto", random_state=fold.seed)
    return predictions_of(model.fit(fold.X, fold.y), fold.X_test)


def compute(protocol: MulticlassProtocol, task: Task, data: ClassTable) -> MulticlassResult:
    """Train all methods on one fold, and predict its test rows."""
    began = time.perf_counter()
    train, test = split(protocol, task, data.y)
    fold = FoldData(data.X.iloc[train], data.y[train], data.X.iloc[test], [ROUNDS], protocol.seed + task.fold)
    predicted = np.full((len(protocol.methods), len(test)), NOT_PREDICTED, dtype=np.int8)
    probabilities = np.full((*predicted.shape, len(data.classes)), np.nan)
    series = []
    for i, method in enumerate(protocol.methods):
        started, error, encoding = time.process_time(), None, None
        try:
            found = predict(method, fold)
            if not found.is_finite:
                raise ValueError("its probabilities are not numbers")
            predicted[i], probabilities[i], encoding = found
        except Exception:  # a failure is recorded in the results
            error = traceback.format_exc()
        seconds = time.process_time() - started
        described = {"method": method, "library": _library(method), "seconds": seconds, "error": error}
        series.append({**described, "encoding": encoding})
    return MulticlassResult(
        test.astype(np.int32), data.y[test], predicted, probabilities, series, time.perf_counter() - began
    )


def _library(method: str) -> str:
    library = BASELINES[method].library if method in BASELINES else "adacc"
    return f"{library} {version(library)}"


def compute_and_store(
    protocol: MulticlassProtocol, task: Task, store: MulticlassStore, files: Mapping[str, DataFile]
) -> Done:
    """Compute and store a task; called in the workers."""
    if store.path(task).exists():  # another run has stored it meanwhile
        return Done(task, 0.0, [])
    with fixed_conditions():
        result = compute(protocol, task, load(files[task.dataset]))
    store.write(task, result)
    return Done(task, result.seconds, sorted(each["method"] for each in result.series if each["error"]))


def begin(
    protocol: MulticlassProtocol, store: MulticlassStore, files: Mapping[str, DataFile]
) -> tuple[MulticlassProtocol, list[Task]]:
    """Read the data sets and prepare the folder; return the protocol with the sets, and the tasks to compute."""
    sets = {}
    for name, file in files.items():
        table = load(file)
        sets[name] = dict(zip(map(str, table.classes), np.bincount(table.y).tolist(), strict=True))
    protocol = check(replace(protocol, datasets=sets))
    store.adopt(protocol)
    # Results are stored in the order of the methods of the folder.
    protocol = replace(protocol, methods=store.protocol().methods)
    return protocol, [task for task in protocol.tasks() if not store.has(task)]


def run(
    protocol: MulticlassProtocol,  # from `begin`, as the tasks are
    store: MulticlassStore,
    tasks: Iterable[Task],
    files: Mapping[str, DataFile],
    n_jobs: int = 1,
    executor: str = "process",  # as for `adacc.study.run.run`
) -> Iterator[Done]:
    """Compute tasks, and yield each when it is done; a run can be killed at any time, and continued."""
    yield from run_tasks(partial(compute_and_store, protocol, store=store, files=dict(files)), tasks, n_jobs, executor)

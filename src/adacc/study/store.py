"""Stores the results of a study: one file for each task, written once and never changed.

A file is a ZIP archive of NumPy arrays (``.npz``) with checksums: the indices of the test rows, their targets, the
scores of every method after every number of rounds, and a JSON record that describes the scores.
"""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.files import whole_file
from adacc.study.plan import Protocol, Task

CHANGEABLE = ("datasets", "repeats", "files", "tables")
"""Entries of the protocol that may change between runs into the same folder."""

MEMBERS = {f"{name}.npy" for name in ("rows", "y", "scores", "record")}
BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)
"""Errors of reading a damaged archive; RuntimeError if a flipped byte asks for a password or an unknown compression."""


class DamagedResultWarning(UserWarning):
    """A result file cannot be read; its task is computed again."""


class StudyError(ValueError):
    """The folder of a study cannot be used."""


@dataclass(frozen=True)
class Series:
    """The results of a method after some number of rounds, on one test fold."""

    method: str
    dialect: str
    rounds: int
    cost: float | None  # tuned cost of the negative class
    library: str  # library of the method, with its version
    seconds: float  # processor time to train for all numbers of rounds and costs, and to score
    measures: dict[str, float]  # those of `adacc.metrics.evaluate`, and the average precision
    error: str | None = None  # traceback if the method failed; then `measures` is empty


@dataclass(frozen=True)
class Result:
    """The results of a task."""

    rows: NDArray[np.int32]  # (n_test,): indices of the test rows in the data set
    y: NDArray[np.int8]  # (n_test,): their targets
    scores: NDArray[np.float32]  # (n_series, n_test): above 0 the positive class is predicted; NaN if the method failed
    series: list[Series]  # descriptions of the rows of `scores`
    seconds: float  # time for all methods


class Store:
    """The folder of a study's results."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.json"

    def path(self, task: Task) -> Path:
        return self.folder / task.dataset / f"repeat{task.repeat:02d}-fold{task.fold}.npz"

    def protocol(self) -> Protocol:
        """The protocol of the study in the folder."""
        try:
            return Protocol.from_json(json.loads(self._plan.read_text()))
        except (FileNotFoundError, NotADirectoryError):
            raise StudyError(f"{self.folder} holds no study: it has no {self._plan.name}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise StudyError(f"{self._plan} cannot be read: {error}") from None

    def adopt(self, protocol: Protocol) -> None:
        """Write the protocol to the folder; sets and repeats are added to those of the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._plan.exists():
            known = self.protocol()
            others = _differences(known, protocol)
            if others:
                raise StudyError(
                    f"{self.folder} holds another study. {'; '.join(others)}. Use another folder, or the same study."
                )
            protocol = replace(
                protocol,
                datasets=tuple(dict.fromkeys(known.datasets + protocol.datasets)),
                repeats=max(known.repeats, protocol.repeats),
                files={**known.files, **protocol.files},
            )
        with whole_file(self._plan) as scratch:
            scratch.write_bytes(json.dumps(protocol.to_json(), indent=1).encode())

    def has(self, task: Task) -> bool:
        """Whether there is an undamaged result; a damaged file is renamed."""
        path = self.path(task)
        try:
            with zipfile.ZipFile(path) as archive:
                whole = set(archive.namelist()) >= MEMBERS and archive.testzip() is None
        except FileNotFoundError:
            return False
        except BROKEN:
            whole = False
        if not whole:
            aside = path.with_suffix(".damaged")
            with suppress(FileNotFoundError):  # another run has renamed it
                path.replace(aside)
            warnings.warn(
                f"the result of {task} is damaged; it is kept as {aside.name} and computed again",
                DamagedResultWarning,
                stacklevel=2,
            )
        return whole

    def write(self, task: Task, result: Result) -> None:
        """Write a result, unless another run has written it meanwhile; the two differ only in seconds."""
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "task": task._asdict(),
            "seconds": result.seconds,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "environment": environment(),
            "series": [asdict(each) for each in result.series],
        }
        archive = io.BytesIO()
        as_bytes = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
        np.savez(archive, rows=result.rows, y=result.y, scores=result.scores, record=as_bytes)
        if not path.exists():
            with whole_file(path) as scratch:
                scratch.write_bytes(archive.getbuffer())

    def read(self, task: Task) -> Result:
        """The result of a task, with its scores."""
        with self._open(task) as arrays:
            record = _record(arrays)
            series = [Series(**each) for each in record["series"]]
            return Result(arrays["rows"], arrays["y"], arrays["scores"], series, record["seconds"])

    def records(self) -> Iterator[tuple[Task, dict[str, Any]]]:
        """The records of all stored results, without scores, in the order of the tasks."""
        for task in self.protocol().tasks():
            if self.path(task).exists():
                with self._open(task) as arrays:
                    record = _record(arrays)
                yield task, record

    @contextmanager
    def _open(self, task: Task) -> Iterator[Any]:
        """The arrays of a result; each is read and checked on access."""
        path = self.path(task)
        try:
            if not zipfile.is_zipfile(path) and path.exists():  # np.load would take it for a pickle
                raise zipfile.BadZipFile("not a ZIP archive")
            with np.load(path) as arrays:
                yield arrays
        except FileNotFoundError:
            raise StudyError(f"there is no result of {task} in {self.folder}") from None
        except (*BROKEN, KeyError, TypeError, ValueError) as error:
            raise StudyError(f"{path} is damaged ({error}): run the study again to recompute it") from None


def _record(arrays: Any) -> dict[str, Any]:
    return json.loads(arrays["record"].tobytes())


def _differences(known: Protocol, other: Protocol) -> list[str]:
    """The differences that keep two studies from sharing a folder."""
    # The order of the methods does not change results.
    old, new = ({**each.to_json(), "methods": dict.fromkeys(each.methods, True)} for each in (known, other))
    found = []
    for name in old:
        if name in CHANGEABLE or old[name] == new[name]:
            continue
        if isinstance(old[name], dict):
            differing = sorted(key for key in old[name] | new[name] if old[name].get(key) != new[name].get(key))
            found.append(f"{name} differ in {', '.join(differing)}")
        else:
            found.append(f"{name}: {_plain(old[name])} there, {_plain(new[name])} now")
    for name in known.datasets:
        before, now = known.files.get(name), other.files.get(name)
        if name in other.datasets and before != now:
            found.append(f"data of {name}: {_place(before)} there, {_place(now)} now")
    return found


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _place(file: tuple[str, str | None] | None) -> str:
    return "of the paper" if file is None else f"{file[0]}, column {file[1] or 'target'}"


@cache
def environment() -> dict[str, str]:
    """Machine and library versions of a result."""
    libraries = {name: version(name) for name in ("adacc", "numpy", "numba", "scikit-learn")}
    return {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **libraries,
    }

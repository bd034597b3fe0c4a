"""Where a study keeps its results: one file for each training and test part, written once and never changed.

A file is a ZIP archive of NumPy arrays (``.npz``), whose checksums tell a damaged file: the numbers of the test rows,
their targets, the scores of every method after every number of rounds, and a record in JSON that says which is which.
"""

from __future__ import annotations

import io
import json
import os
import platform
import tempfile
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

from adacc.study.plan import Protocol, Task

FREE = ("datasets", "repeats", "files", "tables")
"""What may change from one run into a folder to the next, nothing computed being lost; all else must stay as it is."""

MEMBERS = {f"{name}.npy" for name in ("rows", "y", "scores", "record")}
BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)
"""What reading a damaged archive raises; the last, where a flipped byte asks for a password, or for a compression that
zipfile lacks.
"""


class DamagedResultWarning(UserWarning):
    """A result file cannot be read; its part is computed again."""


class StudyError(ValueError):
    """A folder that cannot be used as asked."""


@dataclass(frozen=True)
class Series:
    """A method after some number of rounds, on one test part.

    Attributes
    ----------
    cost : float or None
        The negative class's, where one was tuned.
    library : str
        Where the method comes from, with its version.
    seconds : float
        To train it for every number of rounds and cost, and to score.
    measures : dict
        As `adacc.metrics.evaluate` has them.
    error : str or None
        The traceback, where it failed; then there are no measures.
    """

    method: str
    dialect: str
    rounds: int
    cost: float | None
    library: str
    seconds: float
    measures: dict[str, float]
    error: str | None = None


@dataclass(frozen=True)
class Result:
    """What one task gave.

    Attributes
    ----------
    rows : ndarray of shape (n_test,)
        Numbers of the test rows in the data set.
    y : ndarray of shape (n_test,)
        Their targets.
    scores : ndarray of shape (n_series, n_test)
        Positive where the positive class is predicted; NaN where the method failed.
    series : list of Series
        What the rows of `scores` are.
    seconds : float
        For all of it.
    """

    rows: NDArray[np.int32]
    y: NDArray[np.int8]
    scores: NDArray[np.float32]
    series: list[Series]
    seconds: float


class Store:
    """A folder of results."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def _plan(self) -> Path:
        return self.folder / "plan.json"

    def path(self, task: Task) -> Path:
        return self.folder / task.dataset / f"repeat{task.repeat:02d}-fold{task.fold}.npz"

    def protocol(self) -> Protocol:
        """What the folder is a study of."""
        try:
            return Protocol.from_json(json.loads(self._plan.read_text()))
        except (FileNotFoundError, NotADirectoryError):
            raise StudyError(f"{self.folder} holds no study: it has no {self._plan.name}") from None
        except (TypeError, ValueError, AttributeError) as error:
            raise StudyError(f"{self._plan} cannot be read: {error}") from None

    def adopt(self, protocol: Protocol) -> None:
        """Make the folder one of this study; sets and repeats may be added to those that it has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._plan.exists():
            known = self.protocol()
            others = _differences(known, protocol)
            if others:
                raise StudyError(
                    f"{self.folder} holds another study. {'; '.join(others)}. Give another folder, or the same study."
                )
            protocol = replace(
                protocol,
                datasets=tuple(dict.fromkeys(known.datasets + protocol.datasets)),
                repeats=max(known.repeats, protocol.repeats),
                files={**known.files, **protocol.files},
            )
        _write_whole(self._plan, json.dumps(protocol.to_json(), indent=1).encode(), replaces=True)

    def has(self, task: Task) -> bool:
        """Whether there is a sound result; a damaged one is moved aside."""
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
            with suppress(FileNotFoundError):  # another run was quicker
                path.replace(aside)
            warnings.warn(
                f"the result of {task} is damaged; it is kept as {aside.name} and computed again",
                DamagedResultWarning,
                stacklevel=2,
            )
        return whole

    def write(self, task: Task, result: Result) -> None:
        """Keep a result. If another run was quicker, its result stays: they are the same but for the seconds."""
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
        _write_whole(path, archive.getbuffer(), replaces=False)

    def read(self, task: Task) -> Result:
        """A result, with all its scores."""
        with self._open(task) as arrays:
            record = _record(arrays)
            series = [Series(**each) for each in record["series"]]
            return Result(arrays["rows"], arrays["y"], arrays["scores"], series, record["seconds"])

    def records(self) -> Iterator[tuple[Task, dict[str, Any]]]:
        """Each result that there is, without its scores, in the order of the plan."""
        for task in self.protocol().tasks():
            if self.path(task).exists():
                with self._open(task) as arrays:
                    record = _record(arrays)
                yield task, record

    @contextmanager
    def _open(self, task: Task) -> Iterator[Any]:
        """The arrays of a result, each read and checked when it is asked for."""
        path = self.path(task)
        try:
            if not zipfile.is_zipfile(path) and path.exists():  # of which np.load would say that it is a pickle
                raise zipfile.BadZipFile("it is no archive")
            with np.load(path) as arrays:
                yield arrays
        except FileNotFoundError:
            raise StudyError(f"there is no result of {task} in {self.folder}") from None
        except (*BROKEN, KeyError, TypeError, ValueError) as error:
            raise StudyError(f"{path} is damaged ({error}): run the study again, which computes it anew") from None


def _record(arrays: Any) -> dict[str, Any]:
    return json.loads(arrays["record"].tobytes())


def _differences(known: Protocol, other: Protocol) -> list[str]:
    """What keeps two studies from sharing a folder."""
    # Their order changes no result.
    old, new = ({**each.to_json(), "methods": dict.fromkeys(each.methods, True)} for each in (known, other))
    found = []
    for name in old:
        if name in FREE or old[name] == new[name]:
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
    """The machine and the versions that a result comes from."""
    libraries = {name: version(name) for name in ("adacc", "numpy", "numba", "scikit-learn")}
    return {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **libraries,
    }


def _write_whole(path: Path, content: bytes | memoryview, replaces: bool) -> None:
    """Write a file that is never seen half written, not even after a power cut; `replaces` one that is there."""
    handle, scratch = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(scratch, 0o644)
        if replaces:
            os.replace(scratch, path)
        else:
            _link(scratch, path)
    finally:
        Path(scratch).unlink(missing_ok=True)


def _link(scratch: str, path: Path) -> None:
    """Give a file its name, unless another has it."""
    try:
        os.link(scratch, path)
    except FileExistsError:  # which os.replace would not raise
        pass
    except OSError:  # not every file system has links
        os.replace(scratch, path)

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
from contextlib import suppress
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
        except FileNotFoundError:
            raise StudyError(f"{self.folder} holds no study: it has no {self._plan.name}") from None
        except ValueError as error:
            raise StudyError(f"{self._plan} cannot be read: {error}") from None

    def adopt(self, protocol: Protocol) -> None:
        """Make the folder one of this study; sets and repeats may be added to those that it has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._plan.exists():
            known = self.protocol()
            old, new = known.to_json(), protocol.to_json()
            for name in old.keys() - set(FREE):
                if old[name] != new[name]:
                    raise StudyError(
                        f"{self.folder} holds a study with other {name}: {old[name]}, now {new[name]}. "
                        "Give another folder, or the same study."
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
                damaged = archive.testzip()
                whole = damaged is None and "record.npy" in archive.namelist()
        except FileNotFoundError:
            return False
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError):
            whole = False
        if not whole:
            aside = path.with_suffix(".damaged")
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
            record = self._record(arrays)
            series = [Series(**each) for each in record["series"]]
            return Result(arrays["rows"], arrays["y"], arrays["scores"], series, record["seconds"])

    def records(self) -> Iterator[tuple[Task, dict[str, Any]]]:
        """Each result that there is, without its scores, in the order of the plan."""
        for task in self.protocol().tasks():
            if self.path(task).exists():
                with self._open(task) as arrays:
                    yield task, self._record(arrays)

    def _open(self, task: Task) -> Any:
        path = self.path(task)
        try:
            return np.load(path)
        except FileNotFoundError:
            raise StudyError(f"there is no result of {task} in {self.folder}") from None
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise _damaged(path, error) from None

    def _record(self, arrays: Any) -> dict[str, Any]:
        try:
            return json.loads(arrays["record"].tobytes())
        except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError) as error:
            raise _damaged(Path(arrays.zip.filename), error) from None


@cache
def environment() -> dict[str, str]:
    """The machine and the versions that a result comes from."""
    libraries = {name: version(name) for name in ("adacc", "numpy", "numba", "scikit-learn")}
    return {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **libraries,
    }


def _damaged(path: Path, error: Exception) -> StudyError:
    return StudyError(f"{path} is damaged ({error}): run the study again, which computes it anew")


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
            with suppress(FileExistsError):  # which os.replace would not raise
                os.link(scratch, path)
    finally:
        Path(scratch).unlink(missing_ok=True)

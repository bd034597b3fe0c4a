"""The folder of a study: its protocol, and one archive for each task, written once and never changed.

An archive is a ZIP file of NumPy arrays (``.npz``) with checksums. The array ``record`` is JSON that describes the
others, with the seconds, the library versions and the series, one for each result of a method.
"""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from adacc.files import whole_file
from adacc.study.protocol import Task

BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)
"""Errors of reading a damaged archive; RuntimeError if a flipped byte asks for a password or an unknown compression."""


class DamagedResultWarning(UserWarning):
    """A result file cannot be read; its task is computed again."""


class StudyError(ValueError):
    """The folder of a study cannot be used."""


class BaseProtocol(Protocol):
    """What the folder of a study needs to know of its protocol."""

    @property
    def datasets(self) -> Collection[str]: ...

    @property
    def repeats(self) -> int: ...

    @property
    def folds(self) -> int: ...

    def tasks(self) -> list[Task]: ...

    def to_json(self) -> dict[str, Any]: ...


class StudyFolder(ABC):
    """The protocol and the archives of a study; a subclass defines the protocol and the arrays."""

    arrays: ClassVar[Sequence[str]]  # names of the arrays of an archive, besides ``record``

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def _protocol_file(self) -> Path:
        return self.folder / "plan.json"

    @property
    def has_protocol(self) -> bool:
        return self._protocol_file.exists()

    def path(self, task: Task) -> Path:
        return self.folder / task.dataset / f"repeat{task.repeat:02d}-fold{task.fold}.npz"

    @abstractmethod
    def protocol(self) -> BaseProtocol:
        """The protocol of the study in the folder."""

    def stored_entries(self) -> Any:
        """The entries of the protocol, which are not checked."""
        try:
            return json.loads(self._protocol_file.read_text())
        except (FileNotFoundError, NotADirectoryError):
            raise StudyError(f"{self.folder} holds no study: it has no {self._protocol_file.name}") from None
        except ValueError as error:
            raise self.unreadable(error) from None

    def unreadable(self, error: Exception) -> StudyError:
        return StudyError(f"{self._protocol_file} cannot be read: {error}")

    def write_protocol(self, protocol: BaseProtocol) -> None:
        with whole_file(self._protocol_file) as scratch:
            scratch.write_bytes(json.dumps(protocol.to_json(), indent=1).encode())

    def other_study(self, differences: Sequence[str]) -> StudyError:
        return StudyError(
            f"{self.folder} holds another study. {'; '.join(differences)}. Use another folder, or the same study."
        )

    def has(self, task: Task) -> bool:
        """Whether there is an undamaged result; a damaged file is renamed."""
        path, members = self.path(task), {f"{name}.npy" for name in (*self.arrays, "record")}
        try:
            with zipfile.ZipFile(path) as archive:
                whole = set(archive.namelist()) >= members and archive.testzip() is None
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

    def write_arrays(
        self, task: Task, arrays: dict[str, Any], series: Sequence[dict[str, Any]], seconds: float
    ) -> None:
        """Write a result, unless another run has written it meanwhile; the two differ only in seconds."""
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "task": task._asdict(),
            "seconds": seconds,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "environment": environment(),
            "series": series,
        }
        archive = io.BytesIO()
        as_bytes = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
        np.savez(archive, **arrays, record=as_bytes)
        if not path.exists():
            with whole_file(path) as scratch:
                scratch.write_bytes(archive.getbuffer())

    def records(self) -> Iterator[tuple[Task, dict[str, Any]]]:
        """The records of all stored results, without scores, in the order of the tasks."""
        for task in self.protocol().tasks():
            if self.path(task).exists():
                with self.open(task) as arrays:
                    record = record_of(arrays)
                yield task, record

    @contextmanager
    def open(self, task: Task) -> Iterator[Any]:
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


def record_of(arrays: Any) -> dict[str, Any]:
    return json.loads(arrays["record"].tobytes())


@cache
def environment() -> dict[str, str]:
    """Machine and library versions of a result."""
    libraries = {name: version(name) for name in ("adacc", "numpy", "numba", "scikit-learn")}
    return {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        **libraries,
    }

"""Objects that live on disk: their arrays are parts of a file, which is mapped to memory."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

ALIGNED = 64
"""Where an array may begin."""


class Put(NamedTuple):
    """An object on the shelf: all of it but its arrays, where these are, and the objects it shares with others."""

    head: bytes
    arrays: list[tuple[int, int]]
    shared: Sequence[Any]
    begin: int
    end: int


class MmapStore:
    """Objects whose arrays are in one file, so that only those that are used take memory.

    The file has no name (on Windows a name that goes with it): however the process ends, nothing stays behind.

    Parameters
    ----------
    folder : path
        Where there is room on the disk.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._puts: list[Put] = []
        self._map: mmap.mmap
        try:
            self._file = tempfile.TemporaryFile(dir=folder, prefix="adacc-")  # noqa: SIM115 (closed when mapped)
        except OSError as error:
            raise self._named(error) from error

    def put(self, thing: Any, shared: Sequence[Any] = ()) -> None:
        """Write an object to the file; those it shares with others stay where they are."""
        buffers: list[pickle.PickleBuffer] = []
        head = BytesIO()
        _Pickler(head, shared, buffers).dump(thing)
        try:
            begin = self._advance(mmap.ALLOCATIONGRANULARITY)
            arrays = []
            for buffer in buffers:
                raw = buffer.raw()
                at = self._advance(ALIGNED)
                self._file.write(raw)
                arrays.append((at, at + raw.nbytes))
            self._puts.append(Put(head.getvalue(), arrays, shared, begin, self._file.tell()))
        except OSError as error:
            raise self._named(error) from error

    def _advance(self, multiple: int) -> int:
        at = self._file.tell()
        self._file.write(bytes(-at % multiple))
        return at + -at % multiple

    def take_all(self) -> list[Any]:
        """The objects; no array is in memory before it is looked at, and what is written to it goes to the file."""
        try:
            self._advance(mmap.ALLOCATIONGRANULARITY)
            self._file.flush()
            self._map = mmap.mmap(self._file.fileno(), 0)
        except OSError as error:
            raise self._named(error) from error
        self._file.close()  # the map has it
        view = memoryview(self._map)
        return [
            _Unpickler(BytesIO(put.head), put.shared, [view[begin:end] for begin, end in put.arrays]).load()
            for put in self._puts
        ]

    def put_back(self, number: int) -> None:
        """Take the arrays of an object out of memory; the file keeps them."""
        if hasattr(mmap, "MADV_DONTNEED"):  # elsewhere the system does so when memory is short
            put = self._puts[number]
            self._map.madvise(mmap.MADV_DONTNEED, put.begin, put.end - put.begin)

    def _named(self, error: OSError) -> OSError:
        """The error of a file that nobody knows, as one of its folder."""
        reason = f"the coded rows cannot be written there: {error.strerror}; free some space, or name another folder"
        return OSError(error.errno, reason, str(self._folder))


class _Pickler(pickle.Pickler):
    def __init__(self, head: BytesIO, shared: Sequence[Any], buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(head, protocol=5, buffer_callback=buffers.append)
        self._numbers = {id(each): number for number, each in enumerate(shared)}

    def persistent_id(self, thing: Any) -> int | None:
        return self._numbers.get(id(thing))


class _Unpickler(pickle.Unpickler):
    """Reads what this process has just written."""

    def __init__(self, head: BytesIO, shared: Sequence[Any], buffers: list[memoryview]) -> None:
        super().__init__(head, buffers=buffers)
        self._shared = shared

    def persistent_load(self, number: int) -> Any:
        return self._shared[number]


def scratch_folder(folder: str | os.PathLike[str] | None) -> Path:
    """The folder for large files: the one given, that of the variable TMPDIR, or /var/tmp.

    The latter, since /tmp is a part of memory on many systems.
    """
    if folder is None:
        on_disk = not os.environ.get("TMPDIR") and os.access("/var/tmp", os.W_OK | os.X_OK)
        return Path("/var/tmp" if on_disk else tempfile.gettempdir())
    found = Path(folder).expanduser()
    if not found.is_dir():
        raise ValueError(f"{found} is no folder for large files; make it, or name another")
    if not os.access(found, os.W_OK | os.X_OK):
        raise ValueError(f"{found} may not be written to by you; name another folder for large files")
    return found

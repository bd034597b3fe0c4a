"""Objects on disk: their arrays are stored in a memory-mapped file."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

ALIGNMENT = 64
"""Arrays begin at multiples of this number of bytes."""


class StoredObject(NamedTuple):
    """A pickled object, the positions of its arrays in the file, and the objects that it shares with others."""

    head: bytes
    arrays: list[tuple[int, int]]
    shared: Sequence[Any]
    begin: int
    end: int


class MmapStore:
    """Objects whose arrays are in one memory-mapped file, so that only arrays in use take memory.

    The file is in `folder`, is temporary, and is deleted when the process ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stored: list[StoredObject] = []
        self._map: mmap.mmap
        try:
            self._file = tempfile.TemporaryFile(dir=folder, prefix="adacc-")  # noqa: SIM115 (closed after mapping)
        except OSError as error:
            raise self._named(error) from error

    def put(self, obj: Any, shared: Sequence[Any] = ()) -> None:
        """Write an object to the file, except for the `shared` objects."""
        buffers: list[pickle.PickleBuffer] = []
        head = BytesIO()
        _Pickler(head, shared, buffers).dump(obj)
        try:
            begin = self._advance(mmap.ALLOCATIONGRANULARITY)
            arrays = []
            for buffer in buffers:
                raw = buffer.raw()
                at = self._advance(ALIGNMENT)
                self._file.write(raw)
                arrays.append((at, at + raw.nbytes))
            self._stored.append(StoredObject(head.getvalue(), arrays, shared, begin, self._file.tell()))
        except OSError as error:
            raise self._named(error) from error

    def _advance(self, multiple: int) -> int:
        at = self._file.tell()
        self._file.write(bytes(-at % multiple))
        return at + -at % multiple

    def load_all(self) -> list[Any]:
        """The stored objects; their arrays are read from the file on access and written back."""
        try:
            self._advance(mmap.ALLOCATIONGRANULARITY)
            self._file.flush()
            self._map = mmap.mmap(self._file.fileno(), 0)
        except OSError as error:
            raise self._named(error) from error
        self._file.close()  # the mapping stays valid
        view = memoryview(self._map)
        return [
            _Unpickler(BytesIO(put.head), put.shared, [view[begin:end] for begin, end in put.arrays]).load()
            for put in self._stored
        ]

    def evict(self, number: int) -> None:
        """Evict the arrays of an object from memory."""
        if hasattr(mmap, "MADV_DONTNEED"):  # on other systems the kernel evicts pages when memory is low
            put = self._stored[number]
            self._map.madvise(mmap.MADV_DONTNEED, put.begin, put.end - put.begin)

    def _named(self, error: OSError) -> OSError:
        """The error with the name of the directory, as the file has no name."""
        reason = f"cannot write the binned rows: {error.strerror}; free some space, or give another directory"
        return OSError(error.errno, reason, str(self._folder))


class _Pickler(pickle.Pickler):
    def __init__(self, head: BytesIO, shared: Sequence[Any], buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(head, protocol=5, buffer_callback=buffers.append)
        self._numbers = {id(each): number for number, each in enumerate(shared)}

    def persistent_id(self, obj: Any) -> int | None:
        return self._numbers.get(id(obj))


class _Unpickler(pickle.Unpickler):
    """Reads objects that this process has written."""

    def __init__(self, head: BytesIO, shared: Sequence[Any], buffers: list[memoryview]) -> None:
        super().__init__(head, buffers=buffers)
        self._shared = shared

    def persistent_load(self, number: int) -> Any:
        return self._shared[number]


def scratch_folder(folder: str | os.PathLike[str] | None) -> Path:
    """The directory for temporary files: the given one, that of TMPDIR, or /var/tmp, as /tmp is often in memory."""
    if folder is None:
        on_disk = not os.environ.get("TMPDIR") and os.access("/var/tmp", os.W_OK | os.X_OK)
        return Path("/var/tmp" if on_disk else tempfile.gettempdir())
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ValueError(f"{path} is not a directory; create it, or give another")
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"Permission denied: {path}")
    return path

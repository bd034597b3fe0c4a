"""Compilation of kernels and its cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as _config
from numba.core import event as _event

config: Any = _config
event: Any = _event
F = TypeVar("F", bound=Callable[..., Any])

ZERO = np.int64(0)
"""Zero as an argument from kernel to kernel: for the literal 0, Numba would compile another specialisation."""


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile a function at its first call, release the GIL while it runs, and cache the machine code on disk.

    The cache is valid until a file in the function's folder changes, since a kernel may call kernels of other files.
    Numba cannot cache if neither the package's folder nor the user's cache folder is writable (containers with a
    read-only image). The cache is then in a private temporary folder, or there is none.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    try:
        return _compiled(function, options)
    except RuntimeError:
        pass
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(_private_folder())
        return _compiled(function, options)
    except (RuntimeError, OSError):
        return numba.njit(nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = before


class Compilation:
    """Seconds that Numba spends compiling while this context is open.

    Examples
    --------
    >>> with Compilation() as compilation:
    ...     pass
    >>> compilation.seconds
    0.0
    """

    def __enter__(self) -> Compilation:
        self._timer = event.TimingListener()
        event.register("numba:compile", self._timer)
        return self

    def __exit__(self, *_: object) -> None:
        event.unregister("numba:compile", self._timer)

    @property
    def seconds(self) -> float:
        return self._timer.duration if self._timer.done else 0.0


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
    # Numba compares the time and size of the function's own file only. `_source_stamp` is not a public attribute; a
    # test edits another file of the folder and fails if Numba removes it.
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = cache_file._source_stamp, _stamps(Path(function.__code__.co_filename).parent)
    return dispatcher


@cache
def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    """Name, modification time and size of every module in a folder."""
    return [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(folder.glob("*.py"))]


def _private_folder() -> Path:
    """A folder that only this user can write to, because the machine code in it is executed."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"adacc-kernels-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (status.st_uid != owner or status.st_mode & 0o077):
        raise PermissionError(f"{folder} belongs to somebody else or is open to others")
    return folder

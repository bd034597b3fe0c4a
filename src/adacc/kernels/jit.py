"""`kernel`: the one way a function is compiled here."""

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
"""To be handed from kernel to kernel: for a plain 0, a constant, Numba would compile the one that is called anew."""


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile at the first call, without the interpreter lock, and keep the machine code on disk.

    What is kept holds until a file of the function's folder changes, since a kernel may call those of its neighbours.
    Numba refuses to cache where neither the package's folder nor the user's cache folder can be written (containers
    with a read-only image); then a private folder among the temporary files serves, or none at all.
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
    # Numba looks at the time and size of the function's own file; the rest is no part of its interface, and the test
    # that edits a neighbour says when it has gone.
    kept: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp"):
        kept._source_stamp = kept._source_stamp, _stamps(Path(function.__code__.co_filename).parent)
    return dispatcher


@cache
def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    """Name, time and size of every module in a folder."""
    return [(file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(folder.glob("*.py"))]


def _private_folder() -> Path:
    """A folder that nobody else can write to: what lies in it will be run."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"adacc-kernels-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (status.st_uid != owner or status.st_mode & 0o077):
        raise PermissionError(f"{folder} belongs to somebody else or is open to others")
    return folder

"""Compilation of kernels and its cache."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as _config
from numba.core import event as _event
from numba.core.registry import CPUDispatcher

config: Any = _config
event: Any = _event
F = TypeVar("F", bound=Callable[..., Any])

logger = logging.getLogger("adacc.kernels")

COMPILING = "compiling kernels (once per machine); `adacc warmup` compiles all of them in advance"

CHOSEN_FOLDER = bool(config.CACHE_DIR)
"""Whether the user has chosen the folder of the cache, by NUMBA_CACHE_DIR."""

OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
"""Options that shorten compilation: no exception for a division by zero, no wrapper for calls from C."""

ZERO: Any = np.int64(0)
"""Zero as an argument from kernel to kernel: for the literal 0, Numba would compile another specialisation."""


def kernel(function: F | None = None, **options: Any) -> Any:
    """Compile a function at its first call, release the GIL while it runs, and cache the machine code on disk.

    The cache is valid until the text of a file in the function's folder changes, since a kernel may call kernels of
    other files. It is in the package's folder or, if that is not writable, in the user's cache folder or a private
    temporary folder. Kernels that were cached in the package's folder before it became read-only, as in the image of a
    container, are still found there.
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
        return numba.njit(nogil=True, **OPTIONS, **options)(function)
    finally:
        config.CACHE_DIR = before


def inner_kernel(function: F) -> F:
    """A kernel that only kernels call: without the wrapper for calls from Python, it compiles faster."""
    compiled: Any = kernel(function, no_cpython_wrapper=True)
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = _InnerKernel
    return compiled


class _InnerKernel(CPUDispatcher):
    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} must be called by a kernel, got a call from Python")


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
    dispatcher = numba.njit(cache=True, nogil=True, **OPTIONS, **options)(function)
    # `_cache_file` is not public; tests fail if Numba changes it.
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is not None:
        folder = Path(function.__code__.co_filename).parent
        file._source_stamp = _digest(folder)  # Numba's own stamp is of one file and, in old versions, its time
        shipped = folder / "__pycache__"
        if not CHOSEN_FOLDER and Path(file._cache_path) != shipped and (shipped / file._index_name).exists():
            dispatcher._cache._cache_file = _LayeredCacheFile(file, shipped)
    return dispatcher


class _LayeredCacheFile:
    """Numba's cache file of a kernel, in front of one in a folder that is only read."""

    def __init__(self, own: Any, folder: Path) -> None:
        self._own, self._shipped = own, copy(own)
        self._shipped._cache_path, self._shipped._index_path = str(folder), str(folder / own._index_name)
        self.save, self.flush = own.save, own.flush

    def load(self, key: Any) -> Any:
        found = self._shipped.load(key)
        return self._own.load(key) if found is None else found

    def _load_index(self) -> dict[Any, str]:
        return {**self._shipped._load_index(), **self._own._load_index()}


@cache
def _digest(folder: Path) -> str:
    """A digest of all modules in a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def is_cached(dispatcher: Any) -> bool:
    """Whether a kernel was compiled before, by this process or another."""
    file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return bool(dispatcher.signatures) or (file is not None and bool(file._load_index()))


class _Reporter(event.Listener):
    """Logs which kernels are compiled, and pauses the garbage collector, which would take 4 % of the time."""

    def __init__(self) -> None:
        self._depth, self._collects, self._is_first = 0, False, True

    def on_start(self, event: Any) -> None:
        name = _kernel_name(event)
        if name is None:
            return
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
            if self._is_first:
                logger.warning(COMPILING)
                self._is_first = False
            logger.info("compiling %s", name)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        if _kernel_name(event) is None:
            return
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


def _kernel_name(event: Any) -> str | None:
    """The name of the kernel that an event is about; None for a function of another library."""
    function = event.data["dispatcher"].py_func
    return function.__name__ if function.__module__.startswith("adacc.") else None


event.register("numba:compile", _Reporter())


def _private_folder() -> Path:
    """A folder that only this user can write to, because the machine code in it is executed."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"adacc-kernels-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (status.st_uid != owner or status.st_mode & 0o077):
        raise PermissionError(f"{folder} belongs to somebody else or is open to others")
    return folder

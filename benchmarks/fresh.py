"""Measurements in a fresh process: peak memory, first fit, import time.

The first half is called by the benchmark; the second runs in the new process and answers with a line of JSON.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from data import load_rows
from peers import PEERS, Peer, limited_threads
from timing import seconds_of

WARM_UP_ROWS = 2_000
STATUS = Path("/proc/self/status")

# Both imports are timed inside one process, so that the start of the interpreter is in neither.
TIMED_IMPORTS = """
from time import perf_counter
start = perf_counter()
import sklearn.base, sklearn.ensemble
middle = perf_counter()
import {module}
print([middle - start, perf_counter() - middle])
"""


@dataclass(frozen=True)
class Memory:
    """Resident bytes: just before the fit, and the most during it."""

    before: int
    peak: int

    @property
    def of_fit(self) -> int:
        return self.peak - self.before


@dataclass(frozen=True)
class Imports:
    """Seconds of the imports that any user of scikit-learn has, and of each library on top."""

    sklearn: list[float]
    on_top: dict[str, list[float]]


def memory_of_fit(peer: Peer, training_rows: Path, rounds: int, threads: int) -> Memory:
    return Memory(**_in_fresh_process("memory", peer.name, training_rows, rounds, threads))


def first_uses(folder: Path) -> dict[str, Any]:
    """Seconds of the first uses of adacc with the kernels cached in a folder, and of the compilation of each kernel."""
    places = {"NUMBA_CACHE_DIR": str(folder / "kernels"), "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    return _run(str(Path(__file__).with_name("first_uses.py")), environment=places)


def command_seconds(arguments: Sequence[str], folder: Path | None = None) -> float:
    """Seconds of an adacc command, with the kernels cached in a folder."""
    places = {} if folder is None else {"NUMBA_CACHE_DIR": str(folder / "kernels"), "HOME": str(folder)}
    run = [sys.executable, "-m", "adacc", *arguments]
    return seconds_of(lambda: subprocess.run(run, check=True, capture_output=True, env={**os.environ, **places}))


def imports(modules: Sequence[str], repeats: int) -> Imports:
    sklearn: list[float] = []
    on_top: dict[str, list[float]] = {module: [] for module in modules}
    with tempfile.TemporaryDirectory() as bytecode:
        # Bytecode as in an installed package, also for one in development and where Python is told to write none.
        environment = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for repeat in range(repeats + 1):
            for module in modules:
                base, more = _run("-c", TIMED_IMPORTS.format(module=module), environment=environment)
                if repeat > 0:  # the first pass writes the bytecode
                    sklearn.append(base)
                    on_top[module].append(more)
    return Imports(sklearn, on_top)


def _in_fresh_process(*arguments: object, environment: Mapping[str, str] | None = None) -> Any:
    return _run(__file__, *map(str, arguments), environment=environment)


def _run(*arguments: str, environment: Mapping[str, str] | None) -> Any:
    """What a new Python process prints last, read as JSON."""
    finished = subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.PIPE, env={**os.environ, **(environment or {})}
    )
    return json.loads(finished.stdout.splitlines()[-1])


# From here on: the new process.


def _memory(peer: Peer, training_rows: Path, rounds: int, threads: int) -> dict[str, int]:
    X, y = load_rows(training_rows)
    # What a library loads at its first fit, such as compiled kernels, is there once and not for each fit.
    with suppress(*peer.refusal):
        peer.make(2, threads).fit(X[:WARM_UP_ROWS], y[:WARM_UP_ROWS])
    model = peer.make(rounds, threads)
    before = _forget_peak()
    with suppress(*peer.refusal):
        model.fit(X, y)
    return {"before": before, "peak": _peak()}


def _forget_peak() -> int:
    """Resident bytes now; from now on `_peak` is the most since."""
    gc.collect()
    with suppress(AttributeError):  # only glibc has it
        # Freed blocks that the allocator keeps would hide as much of what the fit allocates.
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):  # only Linux has it; elsewhere the peak so far stands for the bytes now
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """On Linux VmHWM: ru_maxrss cannot be reset, and begins at the size of the process that started this one."""
    if STATUS.exists():
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return int(fields["VmHWM"].removesuffix("kB")) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def _answer() -> None:
    parser = ArgumentParser(description="One measurement in this process; run.py asks for it.")
    parser.add_argument("what", choices=("memory",))
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("training_rows", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("threads", type=int)
    asked = parser.parse_args()
    measure, peer = {"memory": _memory}[asked.what], PEERS[asked.peer]
    import_module(peer.module)  # only what is imported can be limited
    with limited_threads(asked.threads):
        print(json.dumps(measure(peer, asked.training_rows, asked.rounds, asked.threads)))


if __name__ == "__main__":
    _answer()

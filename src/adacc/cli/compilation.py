"""Compilation of kernels before a command needs them."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from adacc.cli.terminal import echo_note


@contextmanager
def compiled_kernels(*groups: str) -> Iterator[None]:
    """Compile the kernels of some groups that are not cached; the block reads the table meanwhile.

    Another process compiles kernels from the last one on. After the block, this process compiles from the first one on,
    or reads from the cache what the other has compiled.
    """
    from adacc.kernels import warmup

    wanted = warmup.signatures(*groups)
    if not warmup.missing(wanted):
        yield
        return
    echo_note("compiling kernels (once per machine) ...")
    other = subprocess.Popen([sys.executable, "-m", "adacc.kernels.warmup", *groups])
    try:
        yield
        show_compilation(wanted)
    finally:
        other.terminate()
        other.wait()


@contextmanager
def explanations_compiled() -> Iterator[None]:
    """Compile the kernels that explain a forest in another process while the block runs, unless they are cached."""
    from adacc import kernels
    from adacc.kernels.jit import is_cached

    dispatcher = kernels.add_shapley_values
    if not hasattr(dispatcher, "signatures") or is_cached(dispatcher):
        yield
        return
    command = [sys.executable, "-m", "adacc.comparison.explained_rows"]
    # In a session of its own: Ctrl-C does not reach it.
    other = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        other.terminate()
        other.wait()


def show_compilation(wanted: list[tuple[str, tuple[object, ...]]]) -> None:
    """Compile kernels with a progress bar."""
    from adacc.cli.progress import progress_bar
    from adacc.kernels.warmup import compile_kernels

    logging.getLogger("adacc.kernels").setLevel(logging.ERROR)  # the progress is shown here
    with progress_bar() as report:
        for number, _ in enumerate(compile_kernels(wanted), start=1):
            if report is not None:
                report("compiling kernels", number, len(wanted))

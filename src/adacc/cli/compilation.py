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
    """Compile the kernels of some groups, by default all, unless they are cached; the block reads the table meanwhile.

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


def show_compilation(wanted: list[tuple[str, tuple[object, ...]]]) -> None:
    """Compile kernels with a progress bar."""
    from adacc.cli.progress import progress_bar
    from adacc.kernels.warmup import compile_kernels

    logging.getLogger("adacc.kernels").setLevel(logging.ERROR)  # the progress is shown here
    with progress_bar() as report:
        for number, _ in enumerate(compile_kernels(wanted), start=1):
            if report is not None:
                report("compiling kernels", number, len(wanted))

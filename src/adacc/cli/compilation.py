"""Compilation of kernels before a command needs them."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adacc.cli.terminal import echo_note


@contextmanager
def compiled_kernels(*groups: str) -> Iterator[None]:
    """Compile the kernels of some groups, by default all, unless they are cached; the block reads the table meanwhile.

    Another process compiles kernels from the last one on. After the block, this process compiles from the first one on,
    until none is left, and waits for the other.
    """
    from adacc.kernels import warmup

    wanted = warmup.signatures(*groups)
    if not warmup.missing(wanted):
        yield
        return
    echo_note("compiling kernels (once per machine) ...")
    with TemporaryDirectory() as claims:
        other = subprocess.Popen([sys.executable, "-m", "adacc.kernels.warmup", claims, *groups])
        try:
            yield
            _compile(wanted, Path(claims))
            other.wait()
        finally:
            other.terminate()
            other.wait()


def _compile(wanted: list[tuple[str, tuple[object, ...]]], claims: Path) -> None:
    """Compile kernels with a progress bar."""
    from adacc.cli.progress import progress_bar
    from adacc.kernels.warmup import compile_kernels

    logging.getLogger("adacc.kernels").setLevel(logging.ERROR)  # the progress is shown here
    with progress_bar() as report:
        for number, _ in enumerate(compile_kernels(wanted, claims), start=1):
            if report is not None:
                report("compiling kernels", number, len(wanted))

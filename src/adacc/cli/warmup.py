"""`adacc warmup`: compile the kernels in advance."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import perf_counter
from typing import Any

from adacc.cli.terminal import echo

EXAMPLES = """\
examples:
  adacc warmup                      after the installation
  RUN pip install "adacc[cli]" && adacc warmup      in a Dockerfile

The kernels are cached in the package's folder if it is writable, else in the user's cache folder, or in the folder
named by NUMBA_CACHE_DIR. A cache stays valid until adacc or Numba is updated or the processor changes.
"""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "warmup",
        help="Compile the kernels in advance.",
        description="Compile the kernels that most data sets need, so that the first fit does not wait for them.",
        epilog=EXAMPLES,
    )
    top.set_defaults(run=warm_up)


def warm_up(options: Namespace) -> None:
    from adacc.cli.compilation import compiled_kernels
    from adacc.kernels import warmup

    start, n_missing = perf_counter(), len(warmup.missing(warmup.signatures()))
    with compiled_kernels():
        pass
    if n_missing:
        echo(f"{n_missing} kernels compiled in {perf_counter() - start:.0f} s")
    else:
        echo("all kernels were compiled before")

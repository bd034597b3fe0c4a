"""Which commands there are, and what becomes of errors."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, NoReturn

import adacc

USAGE, STOPPED = 2, 130
"""Exit codes: something was wrong with what was asked; Ctrl-C."""


class Parser(ArgumentParser):
    """Says what is wrong in a line or two, without the list of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"adacc: error: {message}\n`{self.prog} --help` says more\n")


def parser() -> ArgumentParser:
    from adacc.cli import datasets, figures, study

    top = Parser(prog="adacc", description="Boosting for rare classes.")
    top.add_argument("--version", action="version", version=f"adacc {adacc.__version__}")
    commands = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    datasets.add_to(commands)
    study.add_to(commands)
    figures.add_to(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or another number where it failed."""
    warnings.showwarning = _show_warning
    try:
        options = parser().parse_args(arguments)
        options.run(options)
        return 0
    except BrokenPipeError:  # of `adacc ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"\nadacc: stopped {stop}".rstrip() + "\n")
        return STOPPED
    except ImportError as error:
        return _fail(f"{error}. The commands need more than the library: pip install 'adacc[study,plot]'")
    except (ValueError, OSError) as error:
        return _fail(str(error))


def _fail(reason: str) -> int:
    sys.stderr.write(f"adacc: error: {reason}\n")
    return USAGE


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """A line for a reader of the terminal, who does not care which line of which file warns."""
    sys.stderr.write(f"adacc: {message}\n")

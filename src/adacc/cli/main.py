"""The argument parser, the entry point, and the handling of errors."""

from __future__ import annotations

import _thread
import atexit
import logging
import os
import shlex
import sys
import threading
import traceback
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import adacc
from adacc.cli.flags import with_flags
from adacc.cli.interrupts import interrupts_recorded
from adacc.cli.options import option

FAILED, USAGE, STOPPED = 1, 2, 130
"""Exit codes: internal error; wrong usage or wrong data; Ctrl-C. docs/json.md describes them."""

EXIT_CODES = f"exit codes: 0 success, {FAILED} internal error, {USAGE} wrong usage or data, {STOPPED} Ctrl-C\n"

COMMANDS = (
    "compare",
    "train",
    "decide",
    "predict",
    "evaluate",
    "explain",
    "methods",
    "study",
    "figures",
    "datasets",
    "warmup",
    "completion",
)
"""Each command is a module of this package."""

EXTRAS = dict.fromkeys(("pandas", "pyarrow", "rich", "shtab", "threadpoolctl"), "cli") | {
    "matplotlib": "plot",
    "dask": "dask",
    "distributed": "dask",
}
"""The extra that installs each library; "compare" installs all others."""

EXAMPLES = """\
examples:
  adacc compare                                     compare all methods on the built-in digits
  adacc compare claims.csv --target fraud --report claims.html
  adacc train claims.csv --target fraud --method adacc2 --model fraud.adacc
  adacc predict fraud.adacc new.csv --proba -o scores.csv
"""


class Parser(ArgumentParser):
    """Prints errors without the usage, and help texts with their line breaks."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": RawDescriptionHelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"adacc: error: {message}\nSee `{self.prog} --help`\n")


def parser() -> ArgumentParser:
    top = Parser(prog="adacc", description="Boosting for rare classes.", epilog=f"{EXAMPLES}\n{EXIT_CODES}")
    top.add_argument("--version", action="version", version=f"adacc {adacc.__version__}")
    top.add_argument("--debug", action="store_true", help="Print the traceback of an error.")
    commands = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"adacc.cli.{name}").add_parser_to(commands)
    return top


def command() -> NoReturn:
    """The console script: run `main`, then exit without finalizing the interpreter.

    A thread of Arrow that still reads from a Python file object would abort the process if the interpreter were
    finalized. The exit handlers of libraries run first.
    """
    code = FAILED
    sys.unraisablehook = _handle_unraisable

    @atexit.register  # registered first, so called last
    def _exit() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed or missing
                stream.flush()
        os._exit(code)

    try:
        code = main()
    except SystemExit as error:  # raised by the parser, which has printed the message
        code = error.code if isinstance(error.code, int) else 0
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    warnings.showwarning = partial(_show_warning, Namespace())
    logging.getLogger("adacc").handlers = [_LogHandler()]
    # joblib warns so on Ctrl-C
    warnings.filterwarnings("ignore", "[0-9]+ tasks (which were still being processed|have been successfully executed)")
    threading.excepthook = _handle_thread_error
    _replace_unencodable_text()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given  # at any position
    options = Namespace()
    try:
        with interrupts_recorded():
            options = _parse([each for each in given if each != "--debug"])
            warnings.showwarning = partial(_show_warning, options)
            options.run(options)
            sys.stdout.flush()
        return 0
    except BrokenPipeError:  # as in `adacc ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as error:
        sys.stderr.write(f"\nadacc: interrupted {error}".rstrip() + "\n")
        return STOPPED
    except ImportError as error:
        return _fail(_missing_library(error), USAGE, debug)
    except OSError as error:
        has_file = error.filename is not None and error.strerror is not None
        return _fail(f"{error.filename}: {error.strerror}" if has_file else str(error), USAGE, debug)
    except ValueError as error:
        return _fail(f"{with_flags(str(error), options)}{_suggested_options(error, options)}", USAGE, debug)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return _fail(f"internal error, please report it: {reason} (--debug prints the traceback)", FAILED, debug)


def _missing_library(error: ImportError) -> str:
    if "pip install" in str(error):
        return str(error)
    library = (error.name or "").partition(".")[0]
    return f'{library or error} is not installed: pip install "adacc[{EXTRAS.get(library, "compare")}]"'


def _suggested_options(error: ValueError, options: Namespace) -> str:
    """The options that do what a TableError suggests."""
    if getattr(error, "decimal", None) and hasattr(options, "decimal"):
        return f": {shlex.join(option('--decimal', error.decimal))}"  # type: ignore[attr-defined]
    columns = getattr(error, "columns", ())
    if not columns or not hasattr(options, "drop"):
        return ""
    ids = getattr(error, "ids", ())
    text = f" with {shlex.join(option('--drop', list(columns)))}"
    if ids:
        text += f", or mark an id column with {shlex.join(option('--id', ids[0]))}"
    return text


def _handle_thread_error(args: Any) -> None:
    """Print the error of a thread, except of joblib's thread whose workers were killed."""
    executor_flags = getattr(args.thread, "executor_flags", None)
    if not getattr(executor_flags, "kill_workers", False):
        threading.__excepthook__(args)


def _handle_unraisable(args: Any) -> None:
    """Repeat a Ctrl-C that came where nothing can be raised, such as in a finalizer."""
    if args.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(args)


def _parse(given: list[str]) -> Namespace:
    top = parser()
    options, unknown = top.parse_known_args(given)
    if unknown:
        command = _commands(top)[options.command]
        while any(isinstance(action, _SubParsersAction) for action in command._actions):
            command = _commands(command)[options.action]
        near = get_close_matches(unknown[0].partition("=")[0], command._option_string_actions, n=1)
        command.error(f"unknown argument {unknown[0]!r}{f'; did you mean {near[0]}?' if near else ''}")
    return options


def _commands(top: ArgumentParser) -> dict[str, ArgumentParser]:
    (subparsers,) = (action for action in top._actions if isinstance(action, _SubParsersAction))
    return dict(subparsers.choices)


def _replace_unencodable_text() -> None:
    """Print a question mark for each character that the encoding of the terminal lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (open until the process ends)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _fail(reason: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    sys.stderr.write(f"adacc: error: {' '.join(line.strip() for line in reason.splitlines())}\n")
    return code


class _LogHandler(logging.Handler):
    """Prints what the library logs, such as that kernels are compiled."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"adacc: {record.getMessage()}\n")


def _show_warning(options: Namespace, message: Any, *_: Any, **__: Any) -> None:
    """Print a warning without its location in the code."""
    sys.stderr.write(f"adacc: {with_flags(str(message), options)}\n")

"""Which commands there are, and what becomes of errors."""

from __future__ import annotations

import _thread
import atexit
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
from importlib import import_module
from typing import Any, NoReturn

import adacc
from adacc.cli.options import option

FAILED, USAGE, STOPPED = 1, 2, 130
"""Exit codes: a fault of ours; something was wrong with what was asked; Ctrl-C."""

COMMANDS = (
    "compare",
    "train",
    "predict",
    "evaluate",
    "explain",
    "methods",
    "study",
    "figures",
    "datasets",
    "completion",
)
"""Each is a module of this folder."""

EXAMPLES = """\
examples:
  adacc compare                                     all methods on a built-in set
  adacc compare claims.csv --target fraud --report claims.html
  adacc train claims.csv --target fraud --method adacc2 --model fraud.adacc
  adacc predict fraud.adacc new.csv --proba -o scores.csv
"""


class Parser(ArgumentParser):
    """Says what is wrong in a line or two, without the list of all options; keeps the lines of examples."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": RawDescriptionHelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"adacc: error: {message}\n`{self.prog} --help` says more\n")


def parser() -> ArgumentParser:
    top = Parser(prog="adacc", description="Boosting for rare classes.", epilog=EXAMPLES)
    top.add_argument("--version", action="version", version=f"adacc {adacc.__version__}")
    top.add_argument("--debug", action="store_true", help="show where in the code an error came up")
    commands = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"adacc.cli.{name}").add_to(commands)
    return top


def command() -> NoReturn:
    """What the terminal calls: `main`, and an end that no thread can disturb.

    Arrow may still be reading from a file object of Python's, and a thread of its that asks for an interpreter which is
    being taken down aborts the process. So it is not taken down: what libraries have to do at the end is done, and then
    the process ends at once.
    """
    code = FAILED
    sys.unraisablehook = _tell_of_unraisable

    @atexit.register  # before any library does: the first to be registered is the last to be called
    def _end() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or never there
                stream.flush()
        os._exit(code)

    try:
        code = main()
    except SystemExit as end:  # of the parser, which has said why
        code = end.code if isinstance(end.code, int) else 0
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or another number where it failed."""
    warnings.showwarning = _show_warning
    warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed")  # joblib's word on Ctrl-C
    threading.excepthook = _tell_of_thread
    _let_any_text_out()
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given  # wherever it stands
    options = Namespace()
    try:
        options = _parsed([each for each in given if each != "--debug"])
        options.run(options)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:  # of `adacc ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"\nadacc: stopped {stop}".rstrip() + "\n")
        return STOPPED
    except ImportError as error:
        return _fail(f"{error}. The commands need more than the library: pip install 'adacc[cli,plot]'", USAGE, debug)
    except OSError as error:
        of_a_file = error.filename is not None and error.strerror is not None
        return _fail(f"{error.filename}: {error.strerror}" if of_a_file else str(error), USAGE, debug)
    except ValueError as error:
        return _fail(f"{error}{_how(error, options)}", USAGE, debug)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        return _fail(f"this should not happen, and is a fault of adacc: {said} (--debug shows where)", FAILED, debug)


def _how(error: ValueError, options: Namespace) -> str:
    """The options that do what an error about a table advises to."""
    if getattr(error, "decimal", None) and hasattr(options, "decimal"):
        return f": {shlex.join(option('--decimal', error.decimal))}"  # type: ignore[attr-defined]
    columns = getattr(error, "columns", ())
    if not columns or not hasattr(options, "drop"):
        return ""
    ids = getattr(error, "ids", ())
    said = f" with {shlex.join(option('--drop', list(columns)))}"
    if ids:
        what = "it" if len(columns) == 1 else "an id"
        said += f", or name {what} with {shlex.join(option('--id', ids[0]))}"
    return said


def _tell_of_thread(failed: Any) -> None:
    """What went wrong in a thread; not in that of joblib's whose workers were killed while it gave them work."""
    of_workers = getattr(failed.thread, "executor_flags", None)
    if not getattr(of_workers, "kill_workers", False):
        threading.__excepthook__(failed)


def _tell_of_unraisable(failed: Any) -> None:
    """What went wrong where nothing can be raised, as while an object is let go; a Ctrl-C is heard a little later."""
    if failed.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, _thread.interrupt_main).start()  # once this is over
    else:
        sys.__unraisablehook__(failed)


def _parsed(given: list[str]) -> Namespace:
    top = parser()
    options, unknown = top.parse_known_args(given)
    if unknown:
        command = _commands(top)[options.command]
        while any(isinstance(action, _SubParsersAction) for action in command._actions):
            command = _commands(command)[options.action]
        near = get_close_matches(unknown[0].partition("=")[0], command._option_string_actions, n=1)
        command.error(f"{unknown[0]!r} is unknown here{f': did you mean {near[0]}?' if near else ''}")
    return options


def _commands(top: ArgumentParser) -> dict[str, ArgumentParser]:
    (below,) = (action for action in top._actions if isinstance(action, _SubParsersAction))
    return dict(below.choices)


def _let_any_text_out() -> None:
    """Names and labels are any text, which a terminal of another encoding may not have; it gets a question mark."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before we came
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (as long as the process)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _fail(reason: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    sys.stderr.write(f"adacc: error: {' '.join(reason.split())}\n")
    return code


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """A line for a reader of the terminal, who does not care which line of which file warns."""
    sys.stderr.write(f"adacc: {message}\n")

"""`adacc completion`: shell completion scripts."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from typing import Any

from adacc.cli.terminal import echo

EXAMPLES = """\
examples:
  adacc completion bash > ~/.local/share/bash-completion/completions/adacc
  adacc completion zsh > ~/.zfunc/_adacc        # ~/.zfunc must be in $fpath
"""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("completion", help="Print a shell completion script.", epilog=EXAMPLES)
    top.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="Shell: bash, zsh or tcsh.")
    top.set_defaults(run=show)


def show(options: Namespace) -> None:
    import shtab

    from adacc.cli.main import parser

    top = parser()
    _complete_files(top, {"FILE": shtab.FILE, "DATA": shtab.FILE, "MODEL": shtab.FILE, "DIR": shtab.DIRECTORY})
    echo(shtab.complete(top, shell=options.shell), end="")


def _complete_files(command: ArgumentParser, by_metavar: dict[str, Any]) -> None:
    """Complete file and directory names by the metavar of each option."""
    for action in command._actions:
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                _complete_files(below, by_metavar)
        kind = by_metavar.get(str(action.metavar).partition(".")[0])
        if kind is not None:
            action.complete = kind  # type: ignore[attr-defined]

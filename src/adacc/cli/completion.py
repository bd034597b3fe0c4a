"""`adacc completion`: what a shell needs to complete our commands and options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from typing import Any

from adacc.cli.show import say

EXAMPLES = """\
examples:
  adacc completion bash > ~/.local/share/bash-completion/completions/adacc
  adacc completion zsh > ~/.zfunc/_adacc        # with ~/.zfunc among $fpath
"""


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "completion", help="make the Tab key complete commands and options", epilog=EXAMPLES
    )
    top.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="SHELL", help="bash, zsh or tcsh")
    top.set_defaults(run=show)


def show(options: Namespace) -> None:
    import shtab

    from adacc.cli.main import parser

    top = parser()
    _complete_files(top, {"FILE": shtab.FILE, "DATA": shtab.FILE, "MODEL": shtab.FILE, "DIR": shtab.DIRECTORY})
    say(shtab.complete(top, shell=options.shell), end="")


def _complete_files(command: ArgumentParser, by_metavar: dict[str, Any]) -> None:
    """Let names of files be completed where one is expected."""
    for action in command._actions:
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                _complete_files(below, by_metavar)
        kind = by_metavar.get(str(action.metavar).partition(".")[0])
        if kind is not None:
            action.complete = kind  # type: ignore[attr-defined]

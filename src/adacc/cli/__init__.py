"""The command `adacc`. Thin: each command reads its options, calls the library, and shows what it gave."""

from adacc.cli.main import command, main

__all__ = ["command", "main"]

"""The command line `adacc`: each command parses its options, calls the library and prints the result."""

from adacc.cli.main import command, main

__all__ = ["command", "main"]

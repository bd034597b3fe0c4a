"""`python -m adacc` is the command `adacc`."""

from adacc.cli import command

if __name__ == "__main__":
    command()

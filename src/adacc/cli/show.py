"""Plain text on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(f"{text}{end}")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Columns under their names, numbers to the right, those in `left` to the left."""
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        each = enumerate(zip(cells, widths, strict=True))
        return "  ".join(cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in each).rstrip()

    return "\n".join([line(columns), "  ".join("-" * width for width in widths), *map(line, rows)])

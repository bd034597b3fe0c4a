"""Plain text on the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from math import floor, isfinite, log10
from textwrap import wrap


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(f"{text}{end}")


def note(text: str) -> None:
    """A word beside the result, which may be in a pipe."""
    sys.stderr.write(f"adacc: {text}\n")


def width() -> int:
    """Of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (0,),
    wrapped: Mapping[int, int] | None = None,
) -> str:
    """Columns under their names, numbers to the right, those in `left` to the left; wide texts `wrapped` to a width."""
    lines = [line for row in rows for line in _lines(row, wrapped or {})]
    widths = [max(len(line[i]) for line in (columns, *lines)) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        each = enumerate(zip(cells, widths, strict=True))
        return "  ".join(cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in each).rstrip()

    return "\n".join([line(columns), "  ".join("-" * width for width in widths), *map(line, lines)])


def _lines(row: Sequence[str], wrapped: Mapping[int, int]) -> list[tuple[str, ...]]:
    cells = [wrap(cell, max(wrapped[i], 10)) if i in wrapped else [cell] for i, cell in enumerate(row)]
    return list(zip_longest(*cells, fillvalue=""))


def plain(text: object, most: int | None = None) -> str:
    """A name or label of the user's, harmless to a terminal and not too long."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in str(text))
    return shown if most is None or len(shown) <= most else f"{shown[: max(most - 3, 1)]}..."


def listed(names: Sequence[object], most: int = 3) -> str:
    """a, b, c and 7 more."""
    shown = ", ".join(plain(name, 40) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def number(value: float) -> str:
    """A value of the user's in four digits, more if they stand before the point."""
    if value == 0 or not isfinite(value) or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    text = f"{value:.{max(3 - floor(log10(abs(value))), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float) -> str:
    return "-" if value != value else f"{value:.1%}"


def bar(value: float, largest: float, room: int, sign: str = "#") -> str:
    """A bar for a value, at most as long as there is room."""
    return sign * round(room * abs(value) / largest) if largest > 0 else ""

"""Formatting and printing of plain text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from math import floor, isfinite, log10
from textwrap import wrap


def echo(text: str, end: str = "\n") -> None:
    sys.stdout.write(f"{text}{end}")


def echo_note(text: str) -> None:
    """Print a message to stderr, as stdout may be piped."""
    sys.stderr.write(f"adacc: {text}\n")


def terminal_width() -> int:
    """Columns of the terminal; 80 if there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def format_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Collection[int] = (0,),
    wrapped: Mapping[int, int] | None = None,
) -> str:
    """A text table, right-aligned except for the columns in `left`; `wrapped` maps columns to their maximum width."""
    lines = [line for row in rows for line in _lines(row, wrapped or {})]
    widths = [max(len(line[i]) for line in (columns, *lines)) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        each = enumerate(zip(cells, widths, strict=True))
        return "  ".join(cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in each).rstrip()

    return "\n".join([line(columns), "  ".join("-" * width for width in widths), *map(line, lines)])


def _lines(row: Sequence[str], wrapped: Mapping[int, int]) -> list[tuple[str, ...]]:
    cells = [wrap(cell, max(wrapped[i], 10)) if i in wrapped else [cell] for i, cell in enumerate(row)]
    return list(zip_longest(*cells, fillvalue=""))


def printable(text: object, max_length: int | None = None) -> str:
    """Text without control characters, shortened to `max_length`."""
    shown = "".join(char if char.isprintable() else "?" for char in str(text))
    return shown if max_length is None or len(shown) <= max_length else f"{shown[: max(max_length - 3, 1)]}..."


def join_names(names: Sequence[object], max_names: int = 3) -> str:
    """Names separated by commas, such as: a, b, c and 7 more."""
    shown = ", ".join(printable(name, 40) for name in names[:max_names])
    return shown if len(names) <= max_names else f"{shown} and {len(names) - max_names} more"


def format_number(value: float) -> str:
    """A number with four significant digits, or all digits before the decimal point."""
    if value == 0 or not isfinite(value) or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    text = f"{value:.{max(3 - floor(log10(abs(value))), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_percent(value: float) -> str:
    return "-" if value != value else f"{value:.1%}"


def draw_bar(value: float, largest: float, max_length: int, char: str = "#") -> str:
    """A bar whose length is proportional to a value."""
    return char * round(max_length * abs(value) / largest) if largest > 0 else ""

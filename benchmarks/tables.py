"""Formats tables and numbers as text."""

from __future__ import annotations

from collections.abc import Sequence

NONE = "-"


def aligned(header: list[list[str]], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), last: int = 0) -> str:
    """Columns of equal width, those in `left` flush left (words) and the others flush right (numbers).

    The `last` rows, which sum up the others, stand below a rule of their own.
    """
    columns = [
        [cell.ljust(width) if number in left else cell.rjust(width) for cell in column]
        for number, column in enumerate(zip(*header, *rows, strict=True))
        for width in [max(map(len, column))]
    ]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    rule = "-" * max(map(len, lines))
    body = lines[len(header) :]
    summary = [rule, *body[len(body) - last :]] if last else []
    return "\n".join([*lines[: len(header)], rule, *body[: len(body) - last], *summary])


def spanning(heading: str, columns: int) -> list[str]:
    """The cells of a heading over so many columns; it stands above the first."""
    return [heading, *[""] * columns][:columns]


def number(value: float | None) -> str:
    """Three digits or so, all of a count; a dash for what there is not."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def counted(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"

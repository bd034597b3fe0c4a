"""What is written after an option, read and checked."""

from __future__ import annotations

from argparse import ArgumentTypeError


def names(text: str) -> list[str]:
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise ArgumentTypeError(f"names with commas between are expected, got {text!r}")
    return found


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in names(text)}))
    except ValueError:
        raise ArgumentTypeError(f"whole numbers with commas between are expected, got {text!r}") from None


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number of at least 1 is expected, got {text!r}")
    return int(text)


def bins(text: str) -> int | str:
    try:
        return text if text == "exact" else count(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"a whole number or 'exact' is expected, got {text!r}") from None

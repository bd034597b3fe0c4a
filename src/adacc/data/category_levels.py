"""Levels of categorical columns: their kinds, and levels that were not seen in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS, STRINGS, BOOLEANS = "numbers", "strings", "booleans"

N_EXAMPLES = 3
"""Maximum number of unseen levels named in a message."""


@dataclass(frozen=True)
class Unseen:
    """Number of rows of a column with levels not seen in training, and the most frequent of these levels."""

    n_rows: int
    examples: tuple[Any, ...]

    def __add__(self, other: Unseen) -> Unseen:
        return Unseen(self.n_rows + other.n_rows, tuple(dict.fromkeys(self.examples + other.examples))[:N_EXAMPLES])


def is_number(cell: type) -> bool:
    return issubclass(cell, int | float | np.number | Decimal) and not issubclass(cell, bool | np.bool_)


def kinds_of(levels: Iterable[Any]) -> set[str]:
    """Kinds of the levels, in words; missing values are ignored."""
    return {_kind(cell) for cell in set(map(type, levels)) - {type(None)}}


def _kind(cell: type) -> str:
    if issubclass(cell, bool | np.bool_):
        return BOOLEANS
    if is_number(cell):
        return NUMBERS
    return STRINGS if issubclass(cell, str) else f"values of the type {cell.__name__}"


def changed_kind(name: str, before: Iterable[str], now: str) -> ValueError:
    """Error for a column of another kind than in training; `now` describes its present content."""
    expected = " or ".join(sorted(before))
    return ValueError(
        f"{name} must hold {expected}, as in training, but holds {now}; convert the column to {expected}, or fit the "
        "model on it as it is"
    )


def check_kinds(name: str, known: Iterable[Any], levels: Sequence[Any]) -> None:
    """Raise an error for levels of a kind that training did not have; if it had no levels, any kind is allowed."""
    before = kinds_of(known)
    for level in levels if before and kinds_of(levels) - before else ():
        (kind,) = kinds_of([level])
        if kind not in before:
            raise changed_kind(name, before, f"{kind}, such as {level!r:.60}")


def most_frequent(numbers: NDArray[Any], labels: Sequence[Any], some: Sequence[int]) -> tuple[list[Any], int]:
    """The labels at positions `some` that occur in a column, most frequent first, and the number of their rows.

    The column is in the form of `Table.numbered`. Missing values are ignored.
    """
    counts = np.bincount(numbers.astype(np.intp) + 1, minlength=len(labels) + 1)[1:]  # the first is -1, missing
    found = [i for i in some if counts[i] and labels[i] is not None]
    found.sort(key=lambda i: (-counts[i], str(labels[i])))
    return [labels[i] for i in found], int(counts[found].sum())

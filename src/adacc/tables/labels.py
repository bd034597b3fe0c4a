"""The cells of the column to predict as labels, which look as they do in the file."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from adacc.tables.errors import TableError
from adacc.tables.kinds import Place, as_read, decoded
from adacc.tables.text import MISSING

WORDS = frozenset(word for word in MISSING if word.strip())
"""Texts that may stand for a missing value, or be a label."""


def as_labels(column: Any, place: Place, typed: bool) -> Any:
    """The column to predict as a pandas array or a NumPy array; None or NaN where a label is missing.

    Parameters
    ----------
    column : Array or ChunkedArray
        Of any type; the cells as they are written where the file has no types.
    place : Place
        Of the column.
    typed : bool
        Whether the file has types.
    """
    if not typed:
        return _of_text(column, place)
    column = decoded(column)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64()) if column.type.scale > 0 else _whole(column, place)
    return as_read(column)


def _whole(column: Any, place: Place) -> Any:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise TableError(f"{place} holds whole numbers beyond 64 bits; write its labels as text") from None


def _of_text(column: Any, place: Place) -> Any:
    """Numbers and booleans where all cells are written as Python writes these, otherwise the texts."""
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    cells = encoded.dictionary.to_pylist()
    convert = _conversion([cell for cell in cells if cell.strip() and cell.strip() not in WORDS])
    if convert is None:
        labels = [cell if cell.strip() else None for cell in cells]
        _warn_of_words(labels, encoded.indices, place)
    else:
        labels = [None if cell.strip() in (*WORDS, "") else convert(cell.strip()) for cell in cells]
    is_text = convert is None or None in labels
    return np.array(labels, dtype=object if is_text else None)[encoded.indices.to_numpy(zero_copy_only=False)]


def _conversion(cells: Sequence[str]) -> Callable[[str], Any] | None:
    """What turns these cells into numbers or booleans that look the same; None for text."""
    for convert in (_as_whole, float, _as_boolean):
        try:
            if all(str(convert(cell.strip())) == cell.strip() for cell in cells):
                return convert
        except ValueError:
            pass
    return None


def _as_whole(text: str) -> int:
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError
    return number


def _as_boolean(text: str) -> bool:
    return {"True": True, "False": False}.get(text, False)


def _warn_of_words(labels: Sequence[str | None], numbers: Any, place: Place) -> None:
    counts = np.bincount(numbers.to_numpy(zero_copy_only=False), minlength=len(labels))
    for label, count in zip(labels, counts.tolist(), strict=True):
        if label is not None and label.strip() in WORDS:
            warnings.warn(
                f"{place}: {label!r} in {count:,} rows is taken for a label, as the other labels are text; if it "
                "stands for a missing label, leave these rows out",
                stacklevel=2,
            )


def warn_of_alike(labels: Iterable[Any], place: Place) -> None:
    """Name labels that are perhaps meant to be one."""
    alike: dict[Any, list[str]] = defaultdict(list)
    for label in {label for label in labels if isinstance(label, str)}:
        alike[_meaning(label)].append(label)
    for several in alike.values():
        if len(several) > 1:
            warnings.warn(
                f"{place} has the labels {' and '.join(map(repr, sorted(several)))}, which are different classes; if "
                "they are meant to be one, write them alike in the table",
                stacklevel=2,
            )


def _meaning(label: str) -> Any:
    """A number, or the text without outer spaces and capitals."""
    try:
        return float(label)
    except ValueError:
        return label.strip().casefold()

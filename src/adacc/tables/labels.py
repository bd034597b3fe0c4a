"""Conversion of the target column to labels that are written as in the file."""

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

MISSING_WORDS = frozenset(word for word in MISSING if word.strip())
"""Words that can be a missing value or a label."""


def as_labels(column: Any, place: Place, typed: bool) -> Any:
    """The labels of the target column as a pandas or NumPy array; missing labels are None or NaN.

    The values are of any type if the file stores types, and text if not.
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
        raise TableError(f"{place} contains integers beyond 64 bits; write its labels as text") from None


def _of_text(column: Any, place: Place) -> Any:
    """Numbers or booleans if all cells are written as in Python, otherwise text."""
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    cells = encoded.dictionary.to_pylist()
    convert = _conversion([cell for cell in cells if cell.strip() and cell.strip() not in MISSING_WORDS])
    if convert is None:
        labels = [cell if cell.strip() else None for cell in cells]
        _warn_missing_words(labels, encoded.indices, place)
    else:
        labels = [None if cell.strip() in (*MISSING_WORDS, "") else convert(cell.strip()) for cell in cells]
    is_text = convert is None or None in labels
    return np.array(labels, dtype=object if is_text else None)[encoded.indices.to_numpy(zero_copy_only=False)]


def _conversion(cells: Sequence[str]) -> Callable[[str], Any] | None:
    """The conversion of cells to numbers or booleans that preserves their text; None if there is none."""
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


def _warn_missing_words(labels: Sequence[str | None], numbers: Any, place: Place) -> None:
    counts = np.bincount(numbers.to_numpy(zero_copy_only=False), minlength=len(labels))
    for label, count in zip(labels, counts.tolist(), strict=True):
        if label is not None and label.strip() in MISSING_WORDS:
            warnings.warn(
                f"{place}: {label!r} in {count:,} rows is read as a label, because the other labels are text; if it "
                "means a missing label, remove these rows",
                stacklevel=2,
            )


def warn_similar_labels(labels: Iterable[Any], place: Place) -> None:
    """Warn about labels that differ only in case, outer spaces or number format."""
    similar: dict[Any, list[str]] = defaultdict(list)
    for label in {label for label in labels if isinstance(label, str)}:
        similar[_normalized(label)].append(label)
    for several in similar.values():
        if len(several) > 1:
            warnings.warn(
                f"{place} has the labels {' and '.join(map(repr, sorted(several)))}, which are different classes; if "
                "they mean the same class, use one spelling in the table",
                stacklevel=2,
            )


def _normalized(label: str) -> Any:
    """The number, or the text in lower case without outer spaces."""
    try:
        return float(label)
    except ValueError:
        return label.strip().casefold()

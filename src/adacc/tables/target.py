"""The column to predict: which labels it has, and which of them is the class to be found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables.chunks import Chunks
from adacc.tables.errors import Source, TableError, called, listed, no_column
from adacc.tables.kinds import Place
from adacc.tables.labels import warn_of_alike
from adacc.tables.text import FALSE, TRUE

MOST_CLASSES = 100
MOST_FRACTIONS = 20
"""More distinct numbers than this, some of them with fractions, are no classes."""


class Target(NamedTuple):
    """The column to predict as two classes.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        int8; 1 is the positive class.
    positive : label
        Of the positive class, as in the table.
    other : label
        Of the other class; the string ``"other"`` where there are more than two labels.
    counts : dict of label to int
        Rows by label, the most first.
    """

    y: NDArray[np.int8]
    positive: Any
    other: Any
    counts: dict[Any, int]


def read_target(frame: pd.DataFrame, name: str, positive: Any = None, source: Source = "the table") -> Target:
    """The column to predict as two classes: one label against all others.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
        From `read_frame`.
    name : str
        Of the column to predict.
    positive : label, default=None
        The one to be found; its text will do, ``"1"`` being 1, 1.0 and True. None is the rarest label, of equally many
        the one that sorts last.
    source : str or path
        Where the frame is from, for messages.

    Returns
    -------
    Target
        Zeros and ones, with what they stand for.

    Raises
    ------
    TableError
        There is no such column or label, labels are missing, there is only one, or they look like measurements.

    Examples
    --------
    >>> import pandas as pd
    >>> target = read_target(pd.DataFrame({"grade": ["b", "a", "c", "b", "a"]}), "grade")
    >>> target.y.tolist(), target.positive, target.other, target.counts
    ([0, 0, 1, 0, 0], 'c', 'other', {'a': 2, 'b': 2, 'c': 1})
    """
    labels = read_labels(frame, name, source=source)
    values, codes, n_rows = np.unique(labels, return_inverse=True, return_counts=True)
    found = values.tolist()
    chosen = choose_positive(found, n_rows, positive, name, source)
    counts = {found[i]: int(n_rows[i]) for i in sorted(range(len(found)), key=lambda i: (-n_rows[i], i))}
    other = found[1 - chosen] if len(found) == 2 else name_of_rest(found)
    return Target((codes == chosen).astype(np.int8), found[chosen], other, counts)


def name_of_rest(labels: Sequence[Any]) -> str:
    """What all labels but one are called together."""
    return "other" if "other" not in map(str, labels) else "all others"


def choose_positive(
    labels: Sequence[Any], n_rows: NDArray[np.int64], positive: Any, name: str, source: Source = "the table"
) -> int:
    """The number of the label to be found; see `read_target`, whose arguments these are beside the sorted labels."""
    if positive is None:
        return max(range(len(labels)), key=lambda i: (-n_rows[i], i))
    at = find_label(positive, labels)
    if at is None:
        near = [label for label in labels if str(label).lower() == str(positive).lower()]
        hint = f"did you mean {str(near[0])!r}? Its" if near else "its"
        raise TableError(
            f"{called(source)}: column {name!r} has no label {str(positive)!r}; {hint} labels are "
            f"{listed([str(label) for label in labels], 20)}"
        )
    return at


def find_label(value: Any, labels: Sequence[Any]) -> int | None:
    """The number of the label that a text or a cell means: the one written so, else the only one that is as much.

    Examples
    --------
    >>> find_label("1", ["0", "1"]), find_label("1", [0.0, 1.0]), find_label("true", [False, True])
    (1, 1, 1)
    >>> find_label("b", ["a"]) is None
    True
    """
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    for means in (_is_written, _is_as_much):
        found = [number for number, label in enumerate(labels) if means(label, text)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_written(label: Any, text: str) -> bool:
    return str(label) == text


def _is_as_much(label: Any, text: str) -> bool:
    if label in TRUE + FALSE:
        label = label in TRUE
    try:
        return bool(_number(text) == (_number(label) if isinstance(label, str) else label))
    except ValueError:
        return False


def _number(text: str) -> float:
    """What a text stands for, whole numbers to the last digit."""
    if text in TRUE + FALSE:
        return text in TRUE
    try:
        return int(text)
    except ValueError:
        return float(text)


def read_labels(frame: pd.DataFrame, name: str, source: Source = "the table") -> NDArray[Any]:
    """The column to predict, of two classes or more, checked.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
        From `read_frame`.
    name : str
        Of the column to predict.
    source : str or path
        Where the frame is from, for messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        The labels as they are: numbers, booleans, or strings as objects.

    Raises
    ------
    TableError
        There is no such column, labels are missing, there is only one or too many, or they look like measurements.

    Examples
    --------
    >>> import pandas as pd
    >>> read_labels(pd.DataFrame({"grade": ["b", "a", "c"]}), "grade")
    array(['b', 'a', 'c'], dtype=object)
    """
    where = called(source)
    if name not in frame:
        raise no_column(where, name, [str(column) for column in frame.columns], " to predict")
    column, place = frame[name], _place(where, name)
    if column.isna().any():
        raise _missing(place, int(column.isna().sum()), int(column.isna().to_numpy().argmax()))
    _check_type(column, place)
    labels = np.asarray(column)
    _check_classes(labels, place)
    return labels


def count_labels(chunks: Chunks, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels of the column to predict, sorted and checked as by `read_labels`, and the rows of each."""
    place = _place(chunks.where, name)
    counts: Counter[Any] = Counter()
    n_missing, first_missing = 0, 0
    for frame in chunks.frames([], [name]):
        column = frame[name]
        gaps = column.isna()
        if gaps.any():
            first_missing = first_missing if n_missing else int(frame.index[gaps][0])
            n_missing += int(gaps.sum())
            continue
        _check_type(column, place)
        labels, n_rows = np.unique(np.asarray(column), return_counts=True)
        counts.update(dict(zip(labels.tolist(), n_rows.tolist(), strict=True)))
        if len(counts) > MOST_CLASSES:
            break  # it is refused, and need not be known how many they are
    if n_missing:
        raise _missing(place, n_missing, first_missing)
    found = np.sort(np.array([*counts], dtype=labels.dtype))
    _check_classes(found, place)
    warn_of_alike(found.tolist(), Place(chunks.where, name))
    return found, np.array([counts[label] for label in found.tolist()])


def _place(where: str, name: str) -> str:
    return f"{where}: column {name!r}, the one to predict,"


def _missing(place: str, n_missing: int, first: int) -> TableError:
    return TableError(
        f"{place} is missing in {n_missing} rows, first in row {first + 1}; leave these rows out or fill them in"
    )


def _check_type(column: pd.Series, place: str) -> None:
    if pd.api.types.infer_dtype(column) not in ("string", "boolean", "integer", "floating", "categorical"):
        raise TableError(f"{place} must hold numbers, booleans or strings; name another column")


def _check_classes(labels: NDArray[Any], place: str) -> None:
    values = pd.unique(labels)
    if len(values) == 1:
        raise TableError(f"{place} is {values.tolist()[0]!r} in every row; two classes at least are needed")
    as_numbers = values if labels.dtype.kind in "iuf" else pd.to_numeric(pd.Series(values), errors="coerce").to_numpy()
    numbers = not np.isnan(as_numbers).any()
    fractions = numbers and bool((as_numbers != np.rint(as_numbers)).any())
    if (fractions and len(values) > MOST_FRACTIONS) or (numbers and len(values) > MOST_CLASSES):
        raise TableError(
            f"{place} looks like a number to estimate, not a class: it has {len(values)} different values, such as "
            f"{values.tolist()[0]}; name another column, or make classes of its values"
        )
    if len(values) > MOST_CLASSES:
        raise TableError(
            f"{place} has {len(values)} different labels, at most {MOST_CLASSES} can be told apart; name another "
            "column, or put labels together"
        )

"""The column to predict: which labels it has, and which of them is the class to be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables.errors import Source, TableError, called, listed, no_column
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
    where, labels = called(source), read_labels(frame, name, source=source)
    values, codes, n_rows = np.unique(labels, return_inverse=True, return_counts=True)
    found = values.tolist()
    if positive is None:
        chosen = max(range(len(found)), key=lambda i: (-n_rows[i], i))
    else:
        at = find_label(positive, found)
        if at is None:
            near = [label for label in found if str(label).lower() == str(positive).lower()]
            hint = f"did you mean {str(near[0])!r}? Its" if near else "its"
            raise TableError(
                f"{where}: column {name!r} has no label {str(positive)!r}; {hint} labels are "
                f"{listed([str(label) for label in found], 20)}"
            )
        chosen = at
    counts = {found[i]: int(n_rows[i]) for i in sorted(range(len(found)), key=lambda i: (-n_rows[i], i))}
    rest = "other" if "other" not in map(str, found) else "all others"
    other = found[1 - chosen] if len(found) == 2 else rest
    return Target((codes == chosen).astype(np.int8), found[chosen], other, counts)


def find_label(value: Any, labels: Sequence[Any]) -> int | None:
    """The number of the label that a text or a cell means: the one written so, else the one that is as much.

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
            return found[0]
    return None


def _is_written(label: Any, text: str) -> bool:
    return str(label) == text


def _is_as_much(label: Any, text: str) -> bool:
    if isinstance(label, str):
        return False
    if text in (*TRUE, *FALSE):
        return bool(label == (text in TRUE))
    try:
        return bool(float(text) == label)
    except ValueError:
        return False


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
    column, place = frame[name], f"{where}: column {name!r}, the one to predict,"
    if column.isna().any():
        first = int(column.isna().to_numpy().argmax()) + 1
        raise TableError(
            f"{place} is missing in {column.isna().sum()} rows, first in row {first}; leave these rows out or fill "
            "them in"
        )
    if pd.api.types.infer_dtype(column) not in ("string", "boolean", "integer", "floating", "categorical"):
        raise TableError(f"{place} must hold numbers, booleans or strings; name another column")
    labels = np.asarray(column)
    _check_classes(labels, place)
    return labels


def _check_classes(labels: NDArray[Any], place: str) -> None:
    values = pd.unique(labels)
    if len(values) == 1:
        raise TableError(f"{place} is {values.tolist()[0]!r} in every row; two classes at least are needed")
    numbers = labels.dtype.kind in "iuf"
    fractions = labels.dtype.kind == "f" and bool((values != np.rint(values)).any())
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

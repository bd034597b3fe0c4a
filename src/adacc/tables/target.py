"""The target column: its labels and the positive class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables.chunks import Chunks
from adacc.tables.errors import Source, TableError, listed, missing_column, source_name
from adacc.tables.kinds import Place
from adacc.tables.labels import warn_similar_labels
from adacc.tables.text import FALSE, TRUE

MAX_CLASSES = 100
MAX_FRACTIONAL_LABELS = 20
"""Maximum number of distinct labels if some are fractional numbers."""


class Target(NamedTuple):
    """The target column as two classes.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        int8; 1 is the positive class.
    positive : label
        Label of the positive class, as in the table.
    other : label
        Label of the negative class; ``"other"`` if there are more than two labels.
    counts : dict of label to int
        Number of rows by label, in descending order.
    """

    y: NDArray[np.int8]
    positive: Any
    other: Any
    counts: dict[Any, int]


def read_target(frame: pd.DataFrame, name: str, positive: Any = None, source: Source = "the table") -> Target:
    """Read the target column as two classes: one label against all others.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_columns)
        From `read_frame`.
    name : str
        Name of the target column.
    positive : label, default=None
        The positive label, or its text: ``"1"`` matches 1, 1.0 and True. None is the rarest label, or of equally rare
        labels the last in sorted order.
    source : str or path
        Name of the source in messages.

    Returns
    -------
    Target
        The binary target and its labels.

    Raises
    ------
    TableError
        The column or label does not exist, labels are missing, there is only one label, or the column is continuous.

    Examples
    --------
    >>> import pandas as pd
    >>> target = read_target(pd.DataFrame({"grade": ["b", "a", "c", "b", "a"]}), "grade")
    >>> target.y.tolist(), target.positive, target.other, target.counts
    ([0, 0, 1, 0, 0], 'c', 'other', {'a': 2, 'b': 2, 'c': 1})
    """
    labels = read_labels(frame, name, source=source)
    values, codes, n_rows = np.unique(labels, return_inverse=True, return_counts=True)
    distinct = values.tolist()
    chosen = choose_positive(distinct, n_rows, positive, name, source)
    counts = {distinct[i]: int(n_rows[i]) for i in sorted(range(len(distinct)), key=lambda i: (-n_rows[i], i))}
    other = distinct[1 - chosen] if len(distinct) == 2 else name_of_rest(distinct)
    return Target((codes == chosen).astype(np.int8), distinct[chosen], other, counts)


def name_of_rest(labels: Sequence[Any]) -> str:
    """The label of the negative class if it has several labels."""
    return "other" if "other" not in map(str, labels) else "all others"


def choose_positive(
    labels: Sequence[Any], n_rows: NDArray[np.int64], positive: Any, name: str, source: Source = "the table"
) -> int:
    """The index of the positive label; the arguments are those of `read_target` and the sorted labels."""
    if positive is None:
        return max(range(len(labels)), key=lambda i: (-n_rows[i], i))
    at = find_label(positive, labels)
    if at is None:
        near = [label for label in labels if str(label).lower() == str(positive).lower()]
        hint = f"did you mean {str(near[0])!r}? Its" if near else "its"
        raise TableError(
            f"{source_name(source)}: column {name!r} has no label {str(positive)!r}; {hint} labels are "
            f"{listed([str(label) for label in labels], 20)}"
        )
    return at


def find_label(value: Any, labels: Sequence[Any]) -> int | None:
    """The index of the label with the same text, otherwise of the only label with the same value.

    Parameters
    ----------
    value : object
        The label that is searched.
    labels : sequence
        The known labels.

    Returns
    -------
    int or None

    Examples
    --------
    >>> find_label("1", ["0", "1"]), find_label("1", [0.0, 1.0]), find_label("true", [False, True])
    (1, 1, 1)
    >>> find_label("b", ["a"]) is None
    True
    """
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    for matches in (_same_text, _same_value):
        indices = [k for k, label in enumerate(labels) if matches(label, text)]
        if indices:
            return indices[0] if len(indices) == 1 else None
    return None


def _same_text(label: Any, text: str) -> bool:
    return str(label) == text


def _same_value(label: Any, text: str) -> bool:
    if label in TRUE + FALSE:
        label = label in TRUE
    try:
        return bool(_number(text) == (_number(label) if isinstance(label, str) else label))
    except ValueError:
        return False


def _number(text: str) -> float:
    """The number of a text; integers keep all digits."""
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
        Name of the target column.
    source : str or path
        Name of the source in messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        The labels: numbers, booleans, or strings as objects.

    Raises
    ------
    TableError
        The column does not exist, labels are missing, there is one label or too many, or the column is continuous.

    Examples
    --------
    >>> import pandas as pd
    >>> read_labels(pd.DataFrame({"grade": ["b", "a", "c"]}), "grade")
    array(['b', 'a', 'c'], dtype=object)
    """
    where = source_name(source)
    if name not in frame:
        raise missing_column(where, name, [str(column) for column in frame.columns], " to predict")
    column, place = frame[name], _place(where, name)
    if column.isna().any():
        raise _missing(place, int(column.isna().sum()), int(column.isna().to_numpy().argmax()))
    _check_type(column, place)
    labels = np.asarray(column)
    _check_classes(labels, place)
    return labels


def count_labels(chunks: Chunks, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The sorted labels of the target column, validated as by `read_labels`, and the number of rows of each."""
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
        if len(counts) > MAX_CLASSES:
            break  # the error below needs no exact count
    if n_missing:
        raise _missing(place, n_missing, first_missing)
    found = np.sort(np.array([*counts], dtype=labels.dtype))
    _check_classes(found, place)
    warn_similar_labels(found.tolist(), Place(chunks.where, name))
    return found, np.array([counts[label] for label in found.tolist()])


def _place(where: str, name: str) -> str:
    return f"{where}: target column {name!r}"


def _missing(place: str, n_missing: int, first: int) -> TableError:
    return TableError(
        f"{place} has missing labels in {n_missing} rows, first in row {first + 1}; remove these rows or fill them in"
    )


def _check_type(column: pd.Series, place: str) -> None:
    if pd.api.types.infer_dtype(column) not in ("string", "boolean", "integer", "floating", "categorical"):
        raise TableError(f"{place} must contain numbers, booleans or strings; give another target column")


def _check_classes(labels: NDArray[Any], place: str) -> None:
    values = pd.unique(labels)
    if len(values) == 1:
        raise TableError(f"{place} has the label {values.tolist()[0]!r} in all rows; at least two classes are needed")
    as_numbers = values if labels.dtype.kind in "iuf" else pd.to_numeric(pd.Series(values), errors="coerce").to_numpy()
    numbers = not np.isnan(as_numbers).any()
    fractions = numbers and bool((as_numbers != np.rint(as_numbers)).any())
    if (fractions and len(values) > MAX_FRACTIONAL_LABELS) or (numbers and len(values) > MAX_CLASSES):
        raise TableError(
            f"{place} looks continuous: it has {len(values)} distinct values, such as "
            f"{values.tolist()[0]}; give another target column, or bin its values"
        )
    if len(values) > MAX_CLASSES:
        raise TableError(
            f"{place} has {len(values)} labels, but must have at most {MAX_CLASSES}; give another target "
            "column, or merge labels"
        )

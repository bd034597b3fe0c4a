"""Reads the problem of a comparison: the user's table, or the built-in digits."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any

import numpy as np

from adacc.compare.binary_problem import Problem
from adacc.compare.multiclass_problem import MulticlassProblem
from adacc.tables import TableError, check_features, open_table, read_frame, read_labels, read_target
from adacc.tables.sources import OpenTable

DIGITS = "digits"
"""Source name of the built-in data set."""


def read_problem(
    source: str | OpenTable,
    target: str,
    # The positive label. None: the rarer of two labels; more than two are classes of their own.
    positive: str | None = None,
    drop: Iterable[str] = (),  # columns to leave out
    # Columns of row names, of groups that splits keep together, and of times that splits follow; none is a feature.
    ids: str | None = None,
    group: str | None = None,
    time: str | None = None,
) -> Problem | MulticlassProblem:
    """Read a table; raises TableError if it cannot be used."""
    split_columns = list(dict.fromkeys(name for name in (group, time) if name is not None))
    dropped = list(dict.fromkeys([*drop, *([] if ids is None else [ids])]))
    with closing(open_table(source)) as opened:
        where = opened.where
        if target in split_columns:
            raise TableError(f"{where}: column {target!r} is what is predicted, and cannot decide the splits too")
        frame = read_frame(opened, dropped, split_columns, target)
    classes, numbers = np.unique(read_labels(frame, target, where), return_inverse=True)
    several = positive is None and len(classes) > 2
    binary = None if several else read_target(frame, target, positive, where)
    X = frame.drop(columns=[target, *split_columns])
    check_features(X, where)
    rows: dict[str, Any] = {
        "X": X,
        "n_rows_of_source": len(frame),
        "dropped": (*dropped, *split_columns),
        "group": None if group is None else frame[group],
        "time": None if time is None else frame[time],
    }
    if binary is None:
        return MulticlassProblem(where, target, tuple(classes.tolist()), y=numbers.astype(np.int8), **rows)
    return Problem(where, target, binary.positive, binary.other, y=binary.y, n_labels=len(classes), **rows)


def digits(positive: str | None = None) -> Problem:
    """scikit-learn's handwritten digits, the 8 (or another digit) against the rest.

    Examples
    --------
    >>> problem = digits()
    >>> problem.X.shape, int(problem.y.sum()), problem.positive, problem.negative
    ((1797, 64), 174, 8, 'other')
    """
    from sklearn.datasets import load_digits

    frame = load_digits(as_frame=True).frame.rename(columns={"target": "digit"})
    labels = read_target(frame, "digit", "8" if positive is None else positive, DIGITS)
    # Some pixels are constant; unlike in a user's table they are not checked.
    X = frame.drop(columns="digit")
    return Problem(DIGITS, "digit", labels.positive, labels.other, X, labels.y, len(X), n_labels=len(labels.counts))

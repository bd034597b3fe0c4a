"""The binary classification problem of a comparison: the user's table, or the built-in digits."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables import TableError, check_features, open_table, read_frame, read_target
from adacc.tables.sources import OpenTable

DIGITS = "digits"
"""Source name of the built-in data set."""


@dataclass(frozen=True)
class Problem:
    """Features and a binary target."""

    source: str  # file name of the table
    target: str  # the column to predict
    # labels of the positive class and of the negative one; ``"other"`` if that consists of several labels
    positive: Any
    negative: Any
    X: pd.DataFrame  # (n_rows, n_features): the features
    y: NDArray[np.int8]  # (n_rows,): 1 for the positive class
    n_rows_of_source: int  # number of rows before sampling
    dropped: tuple[str, ...] = ()  # columns that are not used as features
    # (n_rows,): group of each row, which splits keep together; time of each row, which splits follow
    group: pd.Series | None = None
    time: pd.Series | None = None
    # number of labels of the target; if more than two, the negative class consists of all but the positive one
    n_labels: int = 2

    @property
    def dependence(self) -> NDArray[Any] | None:
        """The group or the time of each row; None if rows are independent."""
        column = self.group if self.time is None else self.time
        return None if column is None else column.to_numpy()

    def sample(self, n_rows: int, seed: int) -> Problem:
        """A stratified random sample of at most `n_rows` rows."""
        if n_rows >= len(self.y):
            return self
        rng = np.random.default_rng(seed)
        rare, others = np.flatnonzero(self.y == 1), np.flatnonzero(self.y == 0)
        n_rare = min(max(round(n_rows * len(rare) / len(self.y)), 1), n_rows - 1)
        kept = [rng.choice(rare, n_rare, replace=False), rng.choice(others, n_rows - n_rare, replace=False)]
        rows = np.sort(np.concatenate(kept))
        return replace(
            self,
            X=self.X.iloc[rows].reset_index(drop=True),
            y=self.y[rows],
            group=None if self.group is None else self.group.iloc[rows],
            time=None if self.time is None else self.time.iloc[rows],
        )


def read_problem(
    source: str | OpenTable,
    target: str,
    positive: str | None = None,  # the positive label; None: the rarest
    drop: Iterable[str] = (),  # columns to leave out
    # Columns of row names, of groups that splits keep together, and of times that splits follow; none is a feature.
    ids: str | None = None,
    group: str | None = None,
    time: str | None = None,
) -> Problem:
    """Read a table; raises TableError if it cannot be used."""
    split_columns = list(dict.fromkeys(name for name in (group, time) if name is not None))
    dropped = list(dict.fromkeys([*drop, *([] if ids is None else [ids])]))
    with closing(open_table(source)) as opened:
        where = opened.where
        if target in split_columns:
            raise TableError(f"{where}: column {target!r} is what is predicted, and cannot decide the splits too")
        frame = read_frame(opened, dropped, split_columns, target)
    labels = read_target(frame, target, positive, where)
    X = frame.drop(columns=[target, *split_columns])
    check_features(X, where)
    return Problem(
        source=where,
        target=target,
        positive=labels.positive,
        negative=labels.other,
        X=X,
        y=labels.y,
        n_rows_of_source=len(frame),
        dropped=(*dropped, *split_columns),
        group=None if group is None else frame[group],
        time=None if time is None else frame[time],
        n_labels=len(labels.counts),
    )


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

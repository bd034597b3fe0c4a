"""Copies of rows, which splits keep together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adacc.data.columns import is_frame, read
from adacc.data.duplicates import Copies, find_duplicates
from adacc.data.training_set import TrainingSet
from adacc.estimators.settings import one_of
from adacc.estimators.unseen_categories import stacklevel_of_caller

DUPLICATES = ("auto", "together", "apart")
"""Values of the parameter `duplicates`."""

MAX_CLASSES_NAMED = 5
"""Maximum number of classes whose shares of copies are listed."""


class CopiedRowsWarning(UserWarning):
    """Warning that rows are copies of each other, which splits keep together."""


_IGNORED = ContextVar("ignored", default=False)


@contextmanager
def copies_ignored() -> Iterator[None]:
    """Suppress the warnings in this thread, for cross-validation of an estimator, where the caller has warned."""
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def keep_copies_together(training_set: TrainingSet, duplicates: str, splits_rows: bool = True) -> TrainingSet:
    """The training set with groups of copies, if there are any, no groups are given, and rows will be split.

    A warning states the share of the copies.
    """
    one_of("duplicates", duplicates, DUPLICATES)
    if training_set.groups is not None or not splits_rows:
        return training_set
    copies = find_duplicates(training_set.table, training_set.y, len(training_set.classes), duplicates)
    if copies is None:
        return training_set
    warn_of_copies(copies, training_set.classes.tolist(), duplicates)
    return replace(training_set, groups=copies.groups, groups_are_copies=True)


def groups_of_copies(X: Any, labels: NDArray[Any], duplicates: str) -> NDArray[np.intp] | None:
    """Groups of copies among rows that another estimator takes; None if there are none.

    Rows that adacc cannot read as columns, such as lists of texts, are not compared.
    """
    one_of("duplicates", duplicates, DUPLICATES)
    classes, y = np.unique(labels, return_inverse=True)
    try:
        rows = X if is_frame(X) or sparse.issparse(X) else np.asarray(X)
        if isinstance(rows, np.ndarray) and rows.ndim != 2:
            return None
        copies = find_duplicates(read(rows), y, len(classes), duplicates)
    except (TypeError, ValueError):
        return None
    if copies is None:
        return None
    warn_of_copies(copies, classes.tolist(), duplicates)
    return copies.groups


def warn_of_copies(copies: Copies, labels: Sequence[Any], duplicates: str) -> None:
    """Issue a warning with the share of the copies, which points at the line that called adacc or scikit-learn."""
    if not _IGNORED.get():
        text = describe_copies(copies, labels, duplicates)
        text += "; set `duplicates` to 'apart' to split them, or give `groups`"
        warnings.warn(text, CopiedRowsWarning, stacklevel=stacklevel_of_caller())


def describe_copies(copies: Copies, labels: Sequence[Any], duplicates: str) -> str:
    """What was found and done about it, as a sentence."""
    n_copies, n_rows = int(copies.n_copies.sum()), int(copies.n_rows.sum())
    of_classes = [
        f"{n / size:.1%} of {label!r}"
        for n, size, label in zip(copies.n_copies.tolist(), copies.n_rows.tolist(), labels, strict=True)
    ]
    by_class = f" ({', '.join(of_classes)})" if len(labels) <= MAX_CLASSES_NAMED else ""
    what = "are copies of other rows, more than chance explains" if duplicates == "auto" else "are equal to another row"
    return f"{n_copies / n_rows:.1%} of the rows{by_class} {what}; splits keep equal rows together"

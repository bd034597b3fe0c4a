"""Folds that hold out rows for tuning: stratified, by group, or forward in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.utils import check_consistent_length, column_or_1d

from adacc.data.columns import is_missing

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Numbers of the rows to train on, and of those that are held out."""


class TimeSplit(BaseCrossValidator):
    """Folds forward in time: rows are held out from a model of the rows before them.

    The rows are put in the order of their times and cut into ``n_splits + 1`` blocks of equal size. Each block but the
    first is held out once; the training rows are those strictly before its first moment. The times are given as
    `groups`, so that metadata routing carries them to every inner split.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.

    Examples
    --------
    >>> from adacc import TimeSplit
    >>> time = [2001, 2003, 2002, 2004, 2005, 2006]
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSplit(2).split(groups=time)]
    [([0, 2], [1, 3]), ([0, 2, 1, 3], [4, 5])]
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012 - as scikit-learn declares it

    def __init__(self, n_splits: int = 5) -> None:
        self.n_splits = n_splits

    def split(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> Iterator[Fold]:
        """Training and held-out rows of each fold.

        Parameters
        ----------
        X, y : ignored
            As scikit-learn's splitters take them.
        groups : array of shape (n_samples,)
            The time of each row: numbers, dates, or anything else that sorts.

        Yields
        ------
        train, test : ndarray of int
        """
        if groups is None:
            raise ValueError("TimeSplit needs the time of each row: give it as groups")
        moments = np.asarray(groups)
        order = np.argsort(moments, kind="stable")
        if len(order) <= self.n_splits:
            raise ValueError(f"{self.n_splits} folds in time need more than {self.n_splits} rows, got {len(order)}")
        for train, test in TimeSeriesSplit(self.n_splits).split(order):
            yield order[train][moments[order[train]] < moments[order[test[0]]]], order[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds.

        Parameters
        ----------
        X, y, groups : ignored
            As scikit-learn's splitters take them.

        Returns
        -------
        int
        """
        return self.n_splits


SPLITTERS = {each.__name__: each for each in (GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSplit)}
"""Splitters that a model file can name: all that they are is in their parameters."""


def check_groups(groups: Any, n_rows: int) -> NDArray[np.intp] | None:
    """Groups as numbers from 0 in the order of their values."""
    if groups is None:
        return None
    found = column_or_1d(groups, warn=True)
    if len(found) != n_rows:
        raise ValueError(f"groups must have one value for each of the {n_rows} rows, got {len(found)}")
    missing = found.dtype.kind not in "biu" and np.frompyfunc(is_missing, 1, 1)(found.astype(object)).astype(bool)
    if np.any(missing):
        raise ValueError(f"groups must not be missing, got {found[missing][0]} in row {int(np.argmax(missing))}")
    try:
        return np.unique(found, return_inverse=True)[1]
    except TypeError:
        raise TypeError("groups must have values of one kind that can be sorted") from None


def make_splitter(cv: Any, labels: NDArray[Any], groups: NDArray[Any] | None, seed: int | None = None) -> Any:
    """The splitter for what a user gave: a number of folds is stratified, and keeps groups whole where there are any.

    Parameters
    ----------
    cv : int, splitter or iterable of folds
        As scikit-learn takes it.
    labels : ndarray of shape (n_rows,)
        The classes, for scikit-learn's check.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are never on both sides of a fold.
    seed : int or None, default=None
        Shuffles the rows, or the groups, of a number of folds.
    """
    if isinstance(cv, type):
        raise TypeError(f"cv must be a splitter such as {cv.__name__}(), got the class itself")
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        return check_cv(cv, labels, classifier=True)
    shuffled = {} if seed is None else {"shuffle": True, "random_state": seed}
    if groups is None:
        return StratifiedKFold(int(cv), **shuffled)
    n_groups = len(np.unique(groups))
    if n_groups < cv:
        raise ValueError(f"{cv} folds need as many groups, got {n_groups}")
    return StratifiedGroupKFold(int(cv), **shuffled)


def tuning_folds(
    cv: Any, y: NDArray[np.intp], labels: NDArray[Any], groups: NDArray[np.intp] | None, seed: int, name: str
) -> list[Fold]:
    """Folds to tune on: every one can be trained, and together they hold out rows of every class.

    A fold whose training rows lack a class is left out, such as the first ones of a `TimeSplit` where the rare class
    came late.

    Parameters
    ----------
    cv : int or splitter
        How rows are held out.
    y : ndarray of shape (n_rows,)
        Numbers of the classes.
    labels : ndarray of shape (n_classes,)
        The labels, for errors.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are never on both sides of a fold.
    seed : int
        Shuffles the rows, or the groups, of a number of folds.
    name : str
        The parameter that `cv` is the value of, for errors.
    """
    if isinstance(cv, int | np.integer):
        _check_number_of_folds(int(cv), y, labels, groups, name)
    check_consistent_length(y, groups)
    folds = list(make_splitter(cv, y, groups, seed).split(np.zeros(len(y)), y, groups))
    usable = [fold for fold in folds if len(np.unique(y[fold[0]])) == len(labels)]
    held_out = np.concatenate([test for _, test in usable]) if usable else np.empty(0, dtype=np.intp)
    missing = np.setdiff1d(np.arange(len(labels)), y[held_out])
    if len(missing):
        label = labels.tolist()[missing[0]]
        raise ValueError(
            f"{name}: no fold holds out rows of class {label!r} from a model that has seen every class, "
            f"got {cv!r}; take fewer folds, or more rows of {label!r}"
        )
    return usable


def _check_number_of_folds(
    n_folds: int, y: NDArray[np.intp], labels: NDArray[Any], groups: NDArray[np.intp] | None, name: str
) -> None:
    counts = members_by_class(y, len(labels), groups)
    if counts.min() < n_folds:
        label, what = labels.tolist()[counts.argmin()], "rows" if groups is None else "groups"
        raise ValueError(f"{name}={n_folds} needs as many {what} of every class, but {label!r} has {counts.min()}")


def members_by_class(y: NDArray[np.intp], n_classes: int, groups: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Rows of each class, or groups that have some."""
    if groups is None:
        return np.bincount(y, minlength=n_classes)
    return np.array([len(np.unique(groups[y == k])) for k in range(n_classes)])

"""Cross-validation folds: stratified, by group, or forward in time."""

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

from adacc.algorithms.base import Array
from adacc.data.calendar_days import read_order
from adacc.data.columns import is_missing
from adacc.data.training_set import TrainingSet
from adacc.docstrings import described

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Indices of the training rows and of the held-out rows."""

IGNORED = dict.fromkeys(("X", "y", "groups"), "ignored\n    For compatibility with scikit-learn.")
TIMES = {
    "groups": "array of shape (n_samples,)\n    Times as numbers, dates, or text such as '2024-01-31 12:00'. Required."
}


class TimeSplit(BaseCrossValidator):
    """Cross-validation forward in time: each model is fitted on rows that precede the held-out rows.

    The rows are sorted by time and divided into ``n_splits + 1`` blocks of equal size. Each block but the first is held
    out once; the training rows are those strictly before the earliest time of the block. The times are passed as
    `groups`, so that metadata routing passes them on to inner splits.

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

    @described(IGNORED | TIMES, yields="train, test : ndarray of int")
    def split(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> Iterator[Fold]:
        """Yield the indices of the training and held-out rows of each fold."""
        if groups is None:
            raise ValueError("groups must be the time of each row for TimeSplit, got None")
        times = group_values(groups, len(np.asarray(groups)))
        assert times is not None
        times = _sortable(times)
        order = np.argsort(times, kind="stable")
        if len(order) <= self.n_splits:
            raise ValueError(f"TimeSplit({self.n_splits}) needs more than {self.n_splits} rows, got {len(order)}")
        for train, test in TimeSeriesSplit(self.n_splits).split(order):
            yield order[train][times[order[train]] < times[order[test[0]]]], order[test]

    @described(IGNORED, returns="int")
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


SPLITTERS = {each.__name__: each for each in (GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSplit)}
"""Splitters that a model file can store, as their parameters define them completely."""


def _sortable(times: NDArray[Any]) -> NDArray[Any]:
    """Times as values that sort in time order: text is read, and refused if its order is unknown."""
    is_text = times.dtype.kind in "STU" or any(isinstance(time, str) for time in times[:1])
    return read_order(times, "groups") if is_text else times


def check_groups(groups: Any, n_rows: int, are_times: bool = False) -> NDArray[np.intp] | None:
    """Validate the groups, and number them from 0 in the order of their values, or of time if they `are_times`."""
    if groups is None:
        return None
    if len(np.shape(groups)) != 1 and np.shape(groups)[1:] != (1,):
        raise ValueError(f"groups must have one value for each of the {n_rows} rows, got the shape {np.shape(groups)}")
    values = column_or_1d(groups)
    if len(values) != n_rows:
        raise ValueError(f"groups must have one value for each of the {n_rows} rows, got {len(values)}")
    missing = values.dtype.kind not in "biu" and np.frompyfunc(is_missing, 1, 1)(values.astype(object)).astype(bool)
    if np.any(missing):
        raise ValueError(f"groups must not be missing, got {values[missing][0]} in row {int(np.argmax(missing))}")
    try:
        return np.unique(_sortable(values) if are_times else values, return_inverse=True)[1]
    except TypeError:
        raise TypeError("groups must have values of one kind that can be sorted") from None


def group_values(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """The groups as an array, which a splitter receives; checked as in `check_groups`."""
    check_groups(groups, n_rows)
    return None if groups is None else column_or_1d(groups)


TRAINING = "training"
"""Value of `cv` that evaluates on the training rows."""


def on_training_rows(cv: Any) -> bool:
    """Whether `cv` asks for the training rows instead of held-out rows."""
    return isinstance(cv, str) and cv == TRAINING


def is_number_of_folds(cv: Any) -> bool:
    """Whether `cv` is a number of folds or None, so that the folds are made here and not by the user."""
    return cv is None or (isinstance(cv, int | np.integer) and not isinstance(cv, bool))


def groups_for(cv: Any, training_set: TrainingSet) -> NDArray[np.intp] | None:
    """The groups that folds receive; a splitter of the user receives those of the user only, not those of copies."""
    return None if training_set.groups_are_copies and not is_number_of_folds(cv) else training_set.groups


def make_splitter(cv: Any, labels: NDArray[Any], groups: NDArray[Any] | None, seed: int | None = None) -> Any:
    """Make a splitter from the user's `cv`. An int makes stratified folds, which do not split groups if there are any.

    None means five folds, as in scikit-learn.

    Rows, or groups, are shuffled if there is a seed. The labels are for the checks of scikit-learn.
    """
    if isinstance(cv, type):
        raise TypeError(f"cv must be a splitter such as {cv.__name__}(), got the class itself")
    cv = 5 if cv is None else cv
    if not is_number_of_folds(cv):
        return check_cv(cv, labels, classifier=True)
    shuffled = {} if seed is None else {"shuffle": True, "random_state": seed}
    if groups is None:
        return StratifiedKFold(int(cv), **shuffled)
    n_groups = len(np.unique(groups))
    if n_groups < cv:
        raise ValueError(f"{cv} folds need at least {cv} groups, got {n_groups}")
    return StratifiedGroupKFold(int(cv), **shuffled)


def inner_folds(
    cv: Any,
    y: NDArray[Any],
    groups: NDArray[Any] | None = None,
    used: NDArray[np.bool_] | None = None,
    seed: int | None = None,
    name: str = "cv",
) -> list[Fold]:
    """Numbers of the training and the held-out rows of each inner fold of an estimator: every `cv` is split here.

    An int `cv` makes folds that do not split groups, and are shuffled if there is a seed. A splitter receives the
    labels and the groups. Rows that are not `used`, which have zero weight, are in no fold.

    The training rows of each fold have every class, as a model of other classes says nothing about the final model.
    Other folds are skipped, such as the first ones of a `TimeSplit` if the rare class occurs late, and so are folds
    that hold out no row. Together the folds hold out rows of every class. Errors mention the parameter `name`.
    """
    check_consistent_length(y, groups)
    used = np.ones(len(y), dtype=bool) if used is None else used
    folds = list(make_splitter(cv, y, groups, seed).split(np.zeros(len(y)), y, groups))
    if not folds:
        raise ValueError(f"{name} must yield at least one fold, got {cv!r:.80}; a generator can be used only once")
    sides = [_fold_rows(fold, used, name, number) for number, fold in enumerate(folds)]
    labels = np.unique(y[used])
    usable = [(train, test) for train, test in sides if len(test) and len(np.unique(y[train])) == len(labels)]
    held_out = np.concatenate([y[test] for _, test in usable]) if usable else y[:0]
    missing = np.setdiff1d(labels, held_out).tolist()
    if missing:
        raise ValueError(
            f"{name} must hold out rows of class {missing[0]!r} in a fold whose training rows have every class, "
            f"got {cv!r:.80}; use fewer folds, or more rows of {missing[0]!r}"
        )
    return usable


def _fold_rows(fold: Any, used: NDArray[np.bool_], name: str, number: int) -> list[NDArray[np.intp]]:
    """Training and held-out rows of a fold, which the user gives as row indices or as masks."""
    sides = [np.asarray(rows) for rows in fold]
    sides = [np.flatnonzero(rows) if rows.dtype == bool and rows.shape == used.shape else rows for rows in sides]
    if any(rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu") for rows in sides):
        raise ValueError(f"{name}: fold {number} must be two arrays of row indices, got {fold!r:.60}")
    if any(len(rows) and not -len(used) <= rows.min() <= rows.max() < len(used) for rows in sides):
        raise ValueError(f"{name}: the row indices of fold {number} must be below the number of rows, {len(used)}")
    rows = np.arange(len(used))
    return [(chosen := rows[side.astype(np.intp)])[used[chosen]] for side in sides]


def search_folds(cv: Any, training_set: TrainingSet, y: ArrayLike, groups: Any) -> list[Fold]:
    """The inner folds of the user's rows, as indices into the training set, which has no rows of zero weight."""
    labels = np.asarray(y)
    groups = _of_all_rows(groups_for(cv, training_set), training_set, len(labels)) if groups is None else groups
    index = np.full(len(labels), -1)
    index[training_set.numbers] = np.arange(len(training_set.numbers))
    folds = inner_folds(cv, labels, group_values(groups, len(labels)), index >= 0)
    return [(index[training], index[test]) for training, test in folds]


def _of_all_rows(groups: NDArray[np.intp] | None, training_set: TrainingSet, n_rows: int) -> NDArray[np.intp] | None:
    """The groups of all rows, given those of the training set; each row of zero weight is a group of its own."""
    if groups is None:
        return None
    of_all_rows = groups.max() + 1 + np.arange(n_rows)
    of_all_rows[training_set.numbers] = groups
    return of_all_rows


def tuning_folds(
    cv: Any, y: NDArray[np.intp], labels: NDArray[Any], groups: NDArray[np.intp] | None, seed: int, name: str
) -> list[Fold]:
    """The inner folds of a training set, whose classes are numbers.

    An int `cv` shuffles by the seed, and needs that many rows, or groups, of every class.
    """
    if isinstance(cv, int | np.integer):
        _check_number_of_folds(int(cv), y, labels, groups, name)
    return inner_folds(cv, labels[y], groups, seed=seed, name=name)


def held_out_weight(rows: NDArray[np.intp], weight: Array) -> Array:
    """Weights of the held-out rows of all folds; a row that several folds hold out has its weight only once.

    Examples
    --------
    >>> held_out_weight(np.array([0, 2, 2]), np.array([1.0, 1.0, 3.0]))
    array([1. , 1.5, 1.5])
    """
    return weight[rows] / np.bincount(rows)[rows]


def dependent_groups(cv: Any, groups: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """The groups of rows that depend on each other: none for a `TimeSplit`, whose groups are times."""
    return None if isinstance(cv, TimeSplit) else groups


def repeated_rows(rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """The numbers of held-out rows if several folds hold out the same rows, otherwise None."""
    return rows if len(np.unique(rows)) < len(rows) else None


def _check_number_of_folds(
    n_folds: int, y: NDArray[np.intp], labels: NDArray[Any], groups: NDArray[np.intp] | None, name: str
) -> None:
    counts = members_by_class(y, len(labels), groups)
    if counts.min() < n_folds:
        label, unit = labels.tolist()[counts.argmin()], "rows" if groups is None else "groups"
        raise ValueError(
            f"{name}={n_folds} needs at least {n_folds} {unit} of every class, but {label!r} has {counts.min()}"
        )


def members_by_class(y: NDArray[np.intp], n_classes: int, groups: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Number of rows of each class, or of groups that have rows of it."""
    if groups is None:
        return np.bincount(y, minlength=n_classes)
    return np.array([len(np.unique(groups[y == k])) for k in range(n_classes)])

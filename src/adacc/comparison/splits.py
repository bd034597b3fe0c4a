"""Training and test rows of the cross-validation: stratified, by group or in time order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from adacc.comparison.problem import BaseProblem
from adacc.data.calendar_days import read_order
from adacc.estimators.folds import TimeSplit
from adacc.tables import TableError


class Split(NamedTuple):
    """Indices of the training and of the test rows."""

    repeat: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_splits(problem: BaseProblem, folds: int, repeats: int, seed: int) -> list[Split]:
    """The splits of all repeats; each row is in one test fold of a repeat.

    Folds are stratified. Rows of one group stay together. With a time, test rows come after all training rows, so the
    first rows are never tested, and the splits do not depend on the seed. Raises TableError if the training or test
    rows of a split lack a class.
    """
    _check(problem, folds, repeats)
    splits = [split for repeat in range(repeats) for split in _of_repeat(problem, folds, repeat, seed + repeat)]
    for split in splits:
        for rows, role in ((split.train, "training"), (split.test, "test")):
            present = np.unique(problem.y[rows])
            if len(present) < len(problem.labels):
                absent = next(label for k, label in enumerate(problem.labels) if k not in present)
                raise TableError(f"{problem.source}: with {folds} folds {_missing_class(problem, role, absent)}")
    return splits


def _missing_class(problem: BaseProblem, role: str, label: Any) -> str:
    """What is wrong with splits of which a part lacks a class, and how to fix it."""
    if problem.copies is not None:
        return (
            f"that keep equal rows together the {role} rows of a fold have no row of class {str(label)!r}; use fewer "
            "`folds`, or set `duplicates` to 'apart'"
        )
    by = "by group" if problem.group is not None else "by time"
    if len(problem.labels) == 2:
        return f"{by} the {role} rows of a fold have only one class; use fewer `folds`, or split by another column"
    return (
        f"{by} the {role} rows of a fold have no row of class {str(label)!r}; use fewer `folds`, split by another "
        "column, or leave out the rows of this class"
    )


def describe(problem: BaseProblem) -> str:
    """A description of the splits."""
    if problem.time is not None:
        return f"in time order of {problem.time.name!r}"
    if problem.group is not None:
        return f"grouped by {problem.group.name!r}"
    return "stratified" if problem.copies is None else "stratified, equal rows together"


def _check(problem: BaseProblem, folds: int, repeats: int) -> None:
    whole = problem.n_rows_of_source == len(problem.y)
    sample = "" if whole else f"the sample of {len(problem.y):,} of {problem.n_rows_of_source:,} rows: "
    where, more = f"{problem.source}: {sample}column", "" if whole else ", or increase `max_rows`"
    for k in problem.class_order:
        n_rows, name = int(problem.class_rows[k]), problem.labels[k]
        if n_rows < folds:
            fix = f"set `folds` to at most {n_rows}{more}" if n_rows > 1 else f"more are needed{more}"
            if len(problem.labels) > 2:
                fix += ", or leave out or merge this class"
            rows = f"{n_rows} row{'' if n_rows == 1 else 's'}"
            raise TableError(f"{where} {problem.target!r} has {rows} of {name!r}, fewer than the {folds} folds; {fix}")
    if problem.time is not None and repeats > 1:
        raise ValueError(f"`repeats` must be 1 for splits in the order of {problem.time.name!r}, got {repeats}")
    check_dependence(problem.group, problem.time, problem.source)
    if problem.group is not None and problem.group.nunique() < folds:
        raise TableError(
            f"{where} {problem.group.name!r} has {problem.group.nunique()} groups, fewer than the {folds} folds; use "
            f"fewer `folds`{more}"
        )


def check_dependence(group: pd.Series | None, time: pd.Series | None, source: str) -> None:
    """Raise if the group or time column cannot define splits. The index of both numbers the rows of the source."""
    if group is not None and time is not None:
        raise ValueError("rows are split by `group` or by `time`, not by both: give only one of them")
    for column in (group, time):
        if column is not None and column.isna().any():
            row = int(column.isna().idxmax()) + 1  # row of the file, also if rows were sampled
            raise TableError(
                f"{source}: column {column.name!r}, which defines the splits, is empty in row {row}; fill it in, or "
                "leave out the row"
            )
    if time is not None:
        try:
            read_order(time, f"the column {str(time.name)!r}")
        except ValueError as error:
            raise TableError(f"{source}: {error}") from None


def _of_repeat(problem: BaseProblem, folds: int, repeat: int, seed: int) -> Iterator[Split]:
    y = problem.y
    if problem.time is not None:
        for train, test in TimeSplit(folds).split(groups=problem.dependence):
            yield Split(repeat, train, test)
        return
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if problem.dependence is None:
        pairs = StratifiedKFold(folds, **shuffled).split(y, y)
    else:
        pairs = StratifiedGroupKFold(folds, **shuffled).split(y, y, problem.dependence)
    for train, test in pairs:
        yield Split(repeat, train, test)

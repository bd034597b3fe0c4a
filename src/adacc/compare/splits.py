"""Which rows are trained on, and which are scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from adacc.compare.problem import Problem
from adacc.estimators.folds import TimeSplit
from adacc.tables import TableError


class Split(NamedTuple):
    """Numbers of the rows to train on and of those to score."""

    repeat: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_splits(problem: Problem, folds: int, repeats: int, seed: int) -> list[Split]:
    """All of them, repeat by repeat; each row is scored once a repeat.

    Classes have the same share in every part. Rows of one group stay together. With a time, what is scored comes after
    all that was trained on, so that the first rows are never scored and a repeat would change nothing.

    Raises
    ------
    TableError
        A part would lack a class.
    """
    _check(problem, folds, repeats)
    splits = [split for repeat in range(repeats) for split in _of_repeat(problem, folds, repeat, seed + repeat)]
    for split in splits:
        for rows, what in ((split.train, "trained on"), (split.test, "scored")):
            if len(np.unique(problem.y[rows])) < 2:
                by = "group" if problem.group is not None else "time"
                raise TableError(
                    f"{problem.source}: with {folds} folds by {by} a part that is {what} has only one class; "
                    "use fewer `folds`, or split otherwise"
                )
    return splits


def describe(problem: Problem) -> str:
    """How rows are split, in words."""
    if problem.time is not None:
        return f"in the order of {problem.time.name!r}"
    return "stratified" if problem.group is None else f"grouped by {problem.group.name!r}"


def _check(problem: Problem, folds: int, repeats: int) -> None:
    whole = problem.n_rows_of_source == len(problem.y)
    sample = "" if whole else f"the sample of {len(problem.y):,} of {problem.n_rows_of_source:,} rows: "
    where, more = f"{problem.source}: {sample}column", "" if whole else ", or increase `max_rows`"
    for label, name in ((1, problem.positive), (0, problem.negative)):
        n_rows = int((problem.y == label).sum())
        if n_rows < folds:
            mend = f"set `folds` to at most {n_rows}{more}" if n_rows > 1 else f"more are needed{more}"
            rows = f"{n_rows} row{'' if n_rows == 1 else 's'}"
            raise TableError(f"{where} {problem.target!r} has {rows} of {name!r}, fewer than the {folds} folds; {mend}")
    if problem.time is not None and repeats > 1:
        raise ValueError(f"`repeats` must be 1 for splits in the order of {problem.time.name!r}, got {repeats}")
    check_dependence(problem.group, problem.time, problem.source)
    if problem.group is not None and problem.group.nunique() < folds:
        raise TableError(
            f"{where} {problem.group.name!r} has {problem.group.nunique()} groups, fewer than the {folds} folds; use "
            f"fewer `folds`{more}"
        )


def check_dependence(group: pd.Series | None, time: pd.Series | None, source: str) -> None:
    """Refuse a group or a time that cannot decide on splits."""
    if group is not None and time is not None:
        raise ValueError("rows are split by `group` or by `time`, not by both: give only one of them")
    for column in (group, time):
        if column is not None and column.isna().any():
            row = int(column.isna().idxmax()) + 1  # of the file, also where a sample was drawn
            raise TableError(
                f"{source}: column {column.name!r}, which decides the splits, is empty in row {row}; fill it in, or "
                "leave the row out"
            )
    if time is not None:
        _check_order(time, source)


def _check_order(time: pd.Series, source: str) -> None:
    """Times that are text must sort as they follow each other: 2024-02 does, 1/2/2024 does not."""
    if pd.api.types.infer_dtype(time) != "string":
        return
    text = time.astype(str)
    odd = text[~text.str.match(r"[0-9]{4}\b") | (text.str.len() != len(text.iloc[0]))]
    if len(odd):
        raise TableError(
            f"{source}: row {odd.index[0] + 1}, column {time.name!r}: text such as {odd.iloc[0]!r} cannot be put in "
            "order of time; write times as 2024-01-31, or as numbers"
        )


def _of_repeat(problem: Problem, folds: int, repeat: int, seed: int) -> Iterator[Split]:
    y = problem.y
    if problem.time is not None:
        for train, test in TimeSplit(folds).split(groups=problem.time.to_numpy()):
            yield Split(repeat, train, test)
        return
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if problem.group is None:
        parts = StratifiedKFold(folds, **shuffled).split(y, y)
    else:
        parts = StratifiedGroupKFold(folds, **shuffled).split(y, y, problem.group.to_numpy())
    for train, test in parts:
        yield Split(repeat, train, test)

"""Reads the problem of a comparison: the user's table, data in memory, or the built-in digits."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from adacc.comparison.binary_problem import BinaryProblem
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.splits import check_dependence
from adacc.data.columns import read
from adacc.evaluation.subgroups import read_groups
from adacc.evaluation.today import read_alerts
from adacc.tables import TableError, check_features, open_table, read_labels, read_target
from adacc.tables.errors import missing_column
from adacc.tables.reader import read_frame_and_cells
from adacc.tables.sources import OpenTable

DIGITS = "digits"
"""Source name of the built-in data set."""

MEMORY = "the data"
"""Source name of data in memory."""


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
    # Columns of the decision report: today's decisions, which are not a feature, and subgroups, which may be.
    baseline: str | None = None,
    subgroups: Iterable[str] = (),
    categorical: Iterable[str] = (),  # features whose numbers are codes
    duplicates: str = "auto",  # whether splits keep equal rows together: "auto", "together" or "apart"
) -> BinaryProblem | MulticlassProblem:
    """Read a table; raises TableError if it cannot be used."""
    split_columns = list(dict.fromkeys(name for name in (group, time) if name is not None))
    dropped = list(dict.fromkeys([*drop, *(name for name in (ids, baseline) if name is not None)]))
    reported = list(dict.fromkeys([*([] if baseline is None else [baseline]), *subgroups]))
    kept = [name for name in dict.fromkeys([*split_columns, *reported]) if name in (*split_columns, *dropped)]
    with closing(open_table(source)) as opened:
        where = opened.where
        _check_reported(opened, target, split_columns, reported)
        # Columns that are reported or parsed are read as `adacc evaluate` reads them.
        frame, cells = read_frame_and_cells(
            opened, [name for name in dropped if name not in kept], kept, target, categorical,
            [*subgroups, *([] if time is None else [time])],
        )  # fmt: skip
    classes, numbers = np.unique(read_labels(frame, target, where), return_inverse=True)
    several = positive is None and len(classes) > 2
    binary = None if several else read_target(frame, target, positive, where)
    X = frame.drop(columns=[target, *kept])
    check_features(X, where)
    rows: dict[str, Any] = {
        "X": X,
        "n_rows_of_source": len(frame),
        "dropped": (*(name for name in dropped if name not in split_columns), *split_columns),
        "group": None if group is None else frame[group],
        "time": None if time is None else cells[time],
        "duplicates": duplicates,
    }
    check_dependence(rows["group"], rows["time"], where)
    if binary is None:
        if reported:
            raise TableError(f"{where}: the decision report needs two classes, got {len(classes)}; name a positive one")
        return MulticlassProblem(where, target, tuple(classes.tolist()), y=numbers.astype(np.int8), **rows)
    if baseline is not None:
        others = [label for label in classes.tolist() if label != binary.positive]
        rows |= {"baseline": baseline, "today": read_alerts(frame[baseline], baseline, binary.positive, others)}
    if subgroups:
        rows["subgroups"] = cells[list(dict.fromkeys(subgroups))]
        for name, column in rows["subgroups"].items():
            read_groups(column, str(name))  # raises an error now rather than after the comparison
    return BinaryProblem(where, target, binary.positive, binary.other, y=binary.y, n_labels=len(classes), **rows)


def _check_reported(opened: OpenTable, target: str, split_columns: list[str], reported: list[str]) -> None:
    """Raise TableError if a column is missing, or is the target."""
    if target in split_columns:
        raise TableError(f"{opened.where}: column {target!r} is what is predicted, and cannot decide the splits too")
    if target in reported:
        raise TableError(
            f"{opened.where}: column {target!r} is what is predicted, and cannot be a subgroup or today's decision too"
        )
    for name in reported:
        if name not in opened.names:
            raise missing_column(opened.where, name, opened.names)


def digits(positive: str | None = None) -> BinaryProblem:
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
    return BinaryProblem(
        DIGITS, "digit", labels.positive, labels.other, X, labels.y, len(X), n_labels=len(labels.counts)
    )


def frame_problem(
    X: Any, y: Any, positive: Any = None, groups: Any = None, times: Any = None, duplicates: str = "auto"
) -> BinaryProblem | MulticlassProblem:
    """The problem of features and labels in memory; raises TableError or ValueError if they cannot be used."""
    frame = _as_frame(X)
    name = str(getattr(y, "name", None) or "y")
    name = name if name not in frame else "y" if "y" not in frame else "(target)"
    labels = pd.Series(np.asarray(y), name=name)
    rows: dict[str, Any] = {"X": frame, "n_rows_of_source": len(frame), "duplicates": duplicates}
    for argument, values in {"y": labels, "groups": groups, "times": times}.items():
        if values is None:
            continue
        if np.ndim(values) != 1:
            raise ValueError(f"{argument} must have one value for each row of X, got the shape {np.shape(values)}")
        if len(values) != len(frame):
            raise ValueError(f"{argument} must have as many values as X has rows, {len(frame)}, got {len(values)}")
    rows["group"] = None if groups is None else pd.Series(np.asarray(groups), name="groups")
    rows["time"] = None if times is None else pd.Series(np.asarray(times), name="times")
    check_dependence(rows["group"], rows["time"], MEMORY)
    table = labels.to_frame()
    classes, numbers = np.unique(read_labels(table, name, MEMORY), return_inverse=True)
    check_features(frame, MEMORY)
    if positive is not None and (np.ndim(positive) or positive not in classes.tolist()):
        raise ValueError(f"positive must be one of the labels {classes.tolist()}, got {positive!r:.80}")
    if positive is None and len(classes) > 2:
        return MulticlassProblem(MEMORY, name, tuple(classes.tolist()), y=numbers.astype(np.int8), **rows)
    binary = read_target(table, name, positive, MEMORY)
    return BinaryProblem(MEMORY, name, binary.positive, binary.other, y=binary.y, n_labels=len(classes), **rows)


def _as_frame(X: Any) -> pd.DataFrame:
    """A pandas frame with numbered rows, in which columns are numbers, booleans or categories, as in `fit`."""
    native = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        frame = native.to_pandas().reset_index(drop=True)
    elif hasattr(X, "toarray") or np.ndim(X) != 2:
        raise ValueError(f"X must be a frame or an array with two dimensions, got {type(X).__name__}")
    else:
        frame = pd.DataFrame(np.asarray(X)).infer_objects().add_prefix("x")
    if frame.columns.nlevels > 1:
        raise ValueError(
            f"X must have one name for each column, got a MultiIndex of {frame.columns.nlevels} levels; join the levels"
        )
    frame.columns = frame.columns.astype(str)
    table = read(frame)
    order = np.arange(len(frame), dtype=np.uint32)
    converted: dict[str, Any] = {}
    for j, (name, column) in enumerate(frame.items()):
        if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype == bool:
            continue
        if table.categorical[j]:
            converted[str(name)] = pd.Categorical(table.labels(j))
        elif not isinstance(column.dtype, np.dtype) or column.dtype == object:
            ((_, converted[str(name)]),) = table.numbers([j], order)
    return frame.assign(**converted)

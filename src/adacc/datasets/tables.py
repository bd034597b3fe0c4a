"""Reads a table of the user for a study: features and a target of two classes, or of more."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables import TableError, read_frame, read_labels, read_target

# From pandas 3.1 on floats are parsed exactly, and the option for it is deprecated.
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


def read_table(path: str | os.PathLike[str], target: str | None = None) -> tuple[pd.DataFrame, pd.Series]:
    r"""Read features and target from a file.

    Parameters
    ----------
    path : str or path
        A file, as `adacc.tables.read_frame` takes it.
    target : str, default=None
        The target column, with two values; None is the column ``target``.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers and booleans keep their type, strings become categories; missing values are kept.
    target : Series of shape (n_rows,)
        Of dtype int8; 1 is the rarer value, or of equally frequent values the last in sorted order.

    Raises
    ------
    TableError
        The file cannot be used; the message gives the reason.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,town,ill\n30,Bonn,no\n41,,no\n52,Kiel,yes\n")
    ...     frame, target = read_table(path, target="ill")
    >>> frame.dtypes.astype(str).to_dict(), target.tolist()
    ({'age': 'int64', 'town': 'category'}, [0, 0, 1])
    """
    name = "target" if target is None else target
    frame, labels = _read(path, name)
    values = pd.unique(labels).tolist()
    if len(values) != 2:
        shown = ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
        raise TableError(f"{path}: target column {name!r} must have two values, got {len(values)}: {shown}")
    y = read_target(frame, name, source=path).y
    return frame.drop(columns=name), pd.Series(y, dtype=np.int8, name="target")


class ClassTable(NamedTuple):
    """Features and a target of more than two classes."""

    X: pd.DataFrame  # (n_rows, n_features): numbers, booleans as numbers, and categories
    y: NDArray[np.int8]  # (n_rows,): number of the class of each row
    classes: tuple[Any, ...]  # the labels, sorted


def read_classes(path: str | os.PathLike[str], target: str | None = None) -> ClassTable:
    """Read features and a target of more than two classes, as `read_table` does for two."""
    name = "target" if target is None else target
    frame, labels = _read(path, name)
    classes, y = np.unique(labels, return_inverse=True)
    if len(classes) < 3:
        shown = ", ".join(map(str, classes))
        raise TableError(f"{path}: target column {name!r} must have more than two values, got {len(classes)}: {shown}")
    X = frame.drop(columns=name)
    # `read_labels` allows at most 100 classes.
    numbers = X.astype(dict.fromkeys(X.select_dtypes("bool"), np.int8))
    return ClassTable(numbers, y.astype(np.int8), tuple(classes.tolist()))


def _read(path: str | os.PathLike[str], target: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    frame = read_frame(path, target=target)
    labels = read_labels(frame, target, path)
    if frame.shape[1] == 1:
        raise TableError(f"{path} has no column besides {target!r}; at least one feature is needed")
    return frame, labels

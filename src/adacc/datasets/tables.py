"""The user's own table as the study takes it: features, and a target of two values."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd

from adacc.tables import TableError, read_frame, read_labels, read_target

# From pandas 3.1 on numbers are read to the last bit, and the option that asks for it is deprecated.
EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


def read_table(path: str | os.PathLike[str], target: str | None = None) -> tuple[pd.DataFrame, pd.Series]:
    r"""Features and target of a data file.

    Parameters
    ----------
    path : str or path
        A file, as `adacc.tables.read_frame` takes it.
    target : str, default=None
        The column to predict, of two values; None is the column called ``target``.

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers and booleans as they are, strings as categories; missing values stay missing.
    target : Series of shape (n_rows,)
        int8; 1 is the rarer value, of equally many the one that sorts last.

    Raises
    ------
    TableError
        The file cannot be used as it is; the message says why.

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
    frame = read_frame(path, target=name)
    values = pd.unique(read_labels(frame, name, path)).tolist()
    if len(values) != 2:
        shown = ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
        raise TableError(
            f"{path}: column {name!r}, the one to predict, must have two values, found {len(values)}: {shown}"
        )
    if frame.shape[1] == 1:
        raise TableError(f"{path} has no column but {name!r}; at least one feature is needed")
    y = read_target(frame, name, source=path).y
    return frame.drop(columns=name), pd.Series(y, dtype=np.int8, name="target")

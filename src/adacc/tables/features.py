"""Whether the columns of a table are such as can be learnt from."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd

from adacc.tables.errors import Source, TableError, called

MANY = 50
"""Rows, or different values, from which on an id can be told from a coincidence."""


def check_features(frame: pd.DataFrame, source: Source = "the table") -> None:
    """Refuse columns that say nothing of other rows: ids, and those without a value.

    Parameters
    ----------
    frame : DataFrame of shape (n_rows, n_features)
        From `read_frame`, without the columns that are not features.
    source : str or path
        Where the frame is from, for messages.

    Raises
    ------
    TableError
        Names all such columns, and what to do about them.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"customer": range(1000, 1100), "age": [30, 41] * 50})
    >>> check_features(frame, "people.csv")
    Traceback (most recent call last):
    adacc.tables.errors.TableError: people.csv: column 'customer' is different in every row, as an id is: leave it out \
with --drop customer, or name it with --id customer
    """
    where = called(source)
    if frame.shape[1] == 0:
        raise TableError(
            f"{where} has no column to learn from; at least one feature is needed beside what is predicted"
        )
    empty = [str(name) for name in frame if frame[name].isna().all()]
    ids = [str(name) for name in frame if name not in empty and _is_id(frame[name])]
    if not empty and not ids:
        return
    faults = [
        *(f"column {name!r} {_how_varied(frame[name])}" for name in ids),
        *(f"column {name!r} has no value in any row" for name in empty),
    ]
    what = "it" if len(faults) == 1 else "them"
    mend = f"leave {what} out with --drop {shlex.quote(','.join([*ids, *empty]))}"
    if ids:
        mend += f", or name {'it' if len(faults) == 1 else 'an id'} with --id {shlex.quote(ids[0])}"
    raise TableError(f"{where}: {', '.join(faults)}: {mend}")


def _is_id(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(column.nunique() > max(MANY, len(column) / 2))
    if not pd.api.types.is_integer_dtype(column.dtype) or len(column) < MANY:
        return False
    values = np.sort(column.to_numpy())
    # A sequence without holes, in whatever order; the cheap test first.
    return int(values[-1]) - int(values[0]) == len(values) - 1 and bool((np.diff(values) == 1).all())


def _how_varied(column: pd.Series) -> str:
    if column.is_unique:
        return "is different in every row, as an id is"
    return f"has {column.nunique()} different values in {len(column)} rows, as an id has"

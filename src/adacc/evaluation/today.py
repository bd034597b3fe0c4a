"""The decisions that are taken today, from a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.tables import find_label

WORDS = dict.fromkeys(("yes", "y", "true", "1", "1.0"), True) | dict.fromkeys(("no", "n", "false", "0", "0.0"), False)


def read_alerts(values: Any, name: str, positive: Any, negatives: Sequence[Any]) -> NDArray[np.bool_]:
    """Whether each decision is an alert.

    Decisions are labels of the target or, if not all of them are, yes and no, true and false, 1 and 0. Raises
    ValueError that names the first row that is none of these.

    Examples
    --------
    >>> read_alerts(["fraud", "fine"], "checked", "fraud", ["fine"]).tolist()
    [True, False]
    >>> read_alerts(["No", "yes"], "checked", "fraud", ["fine"]).tolist()
    [False, True]
    """
    codes, distinct = pd.factorize(pd.Series(values).reset_index(drop=True).astype(object))
    labels = [find_label(value, [positive, *negatives]) for value in distinct.tolist()]
    words = [WORDS.get(str(value).strip().lower()) for value in distinct.tolist()]
    found = words if None in labels else [label == 0 for label in labels]
    wrong = np.array([each is None for each in found] + [True])[codes]  # the last is that of missing values
    if wrong.any():
        row = int(wrong.argmax())
        got = "a missing value" if codes[row] < 0 else repr(str(distinct[codes[row]]))
        known = ", ".join(repr(str(label)) for label in [positive, *negatives][:10])
        raise ValueError(
            f"the baseline column {name!r} must hold labels of the target ({known}), yes and no, or 1 and 0, got {got} "
            f"in row {row + 1}"
        )
    return np.array([bool(each) for each in found], dtype=bool)[codes]

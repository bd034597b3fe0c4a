"""Encodings of categories, among which a baseline chooses by inner folds of its training rows (docs/baselines.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.preprocessing import OneHotEncoder

if TYPE_CHECKING:
    import pandas as pd

NATIVE, CODES, ONE_HOT = "native", "codes", "one-hot"

ONE_HOT_LEVELS_MAX = 50
"""Columns with more levels have integer codes where the others are one-hot encoded."""


class Codes:
    """Replaces category columns by the numbers of their levels, -1 if missing or not a level in the training rows."""

    def __init__(self, X: pd.DataFrame, columns: Sequence[str] | None = None) -> None:
        columns = list(X.select_dtypes("category")) if columns is None else columns
        self.levels = {name: X[name].cat.categories for name in columns}

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        coded = X.copy(deep=False)
        for name, levels in self.levels.items():
            coded[name] = X[name].cat.set_categories(levels).cat.codes
        return coded


class OneHot:
    """Replaces category columns of few levels by a column for each level, which follow the others; more by codes.

    A missing value is a level. The columns are numbered, so that their names differ.
    """

    def __init__(self, X: pd.DataFrame) -> None:
        n_levels = count_levels(X)
        self.few = [name for name, n in n_levels.items() if n <= ONE_HOT_LEVELS_MAX]
        self.codes = Codes(X, [name for name in n_levels if name not in self.few])
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.uint8)
        self.encoder = encoder.fit(X[self.few]) if self.few else None

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        parts = [self.codes(X.drop(columns=self.few))]
        if self.encoder is not None:
            parts.append(pd.DataFrame(self.encoder.transform(X[self.few]), index=X.index))
        joined = pd.concat(parts, axis=1)
        return joined.set_axis([f"x{i}" for i in range(joined.shape[1])], axis=1)


ENCODERS: Mapping[str, Callable[[pd.DataFrame], Callable[[pd.DataFrame], pd.DataFrame]]] = {
    CODES: Codes,
    ONE_HOT: OneHot,
}
"""What fits an encoding to training rows, and returns a function that encodes rows; `NATIVE` changes nothing."""


def count_levels(X: pd.DataFrame) -> dict[str, int]:
    """Number of levels in the rows of each category column; a missing value is one."""
    return {name: column.nunique(dropna=False) for name, column in X.select_dtypes("category").items()}


def candidates(names: Sequence[str], X: pd.DataFrame) -> Sequence[str]:
    """The encodings to choose among for the training rows X: none without categories.

    If no column has three levels or more, but few, one-hot encoding and codes are the same, and one of them is left.

    Examples
    --------
    >>> import pandas as pd
    >>> names = (NATIVE, CODES, ONE_HOT)
    >>> candidates(names, pd.DataFrame({"town": pd.Categorical(["Bonn", "Kiel", "Ulm"])}))
    ('native', 'codes', 'one-hot')
    >>> candidates(names, pd.DataFrame({"town": pd.Categorical(["Bonn", "Kiel", "Kiel"])}))
    ('native', 'codes')
    """
    n_levels = count_levels(X).values()
    if not n_levels:
        return ()
    if any(2 < n <= ONE_HOT_LEVELS_MAX for n in n_levels):
        return names
    different: list[str] = []
    for name in names:
        if name == NATIVE or not {CODES, ONE_HOT} & set(different):
            different.append(name)
    return tuple(different)

"""Rows to train on and rows to score, with the inner splits that are as honest as the outer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adacc.estimators.folds import TimeSplit, check_groups, members_by_class, tuning_folds

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


Scores = dict[int, Array]
"""By number of rounds: a score for each test row, above 0 where the positive class is predicted."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on, rows to score, and the numbers of rounds that are asked for.

    The features are numeric and `category` columns, both with gaps; of y, 1 is the positive class, the rare one.
    Splits of the training rows keep `groups` whole; where these are times (`in_time`) they go forward.
    """

    X: pd.DataFrame
    y: NDArray[np.int8]
    X_test: pd.DataFrame
    rounds: list[int]
    seed: int
    groups: NDArray[Any] | None = None
    in_time: bool = False

    def tuning_folds(self, n_folds: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Splits of the training rows, at most `n_folds`, as honest as that of the fold itself."""
        groups, y = check_groups(self.groups, len(self.y)), self.y.astype(np.intp)
        if self.in_time:
            cv: Any = TimeSplit(n_folds)
        else:
            cv = max(min(n_folds, int(members_by_class(y, 2, groups).min())), 2)
        return tuning_folds(cv, y, np.arange(2), groups, self.seed, "threshold")

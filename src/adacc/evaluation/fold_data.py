"""The data of one cross-validation fold: training rows, test rows and splits of the training rows for tuning."""

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
"""Scores of the test rows by number of rounds; above 0 the positive class is predicted."""


@dataclass(frozen=True)
class FoldData:
    """Training rows, test rows and the numbers of rounds to evaluate.

    The features are numeric and `category` columns, with missing values; 1 in y is the positive class of two. Splits of
    the training rows keep `groups` together; with `in_time` the groups are times, and splits follow them.
    """

    X: pd.DataFrame
    y: NDArray[np.int8]
    X_test: pd.DataFrame
    rounds: list[int]
    seed: int
    groups: NDArray[Any] | None = None
    in_time: bool = False
    duplicates: str = "auto"  # whether a model that splits its training rows by itself keeps copies of rows together

    def tuning_folds(self, n_folds: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """At most `n_folds` splits of the training rows that respect groups and times."""
        groups, y = check_groups(self.groups, len(self.y)), self.y.astype(np.intp)
        classes = np.array(["negative", "positive"]) if y.max() < 2 else np.arange(y.max() + 1)
        if self.in_time:
            cv: Any = TimeSplit(n_folds)
        else:
            cv = min(n_folds, int(members_by_class(y, len(classes), groups).min()))
            if cv < 2:
                unit = "rows" if groups is None else "groups"
                raise ValueError(
                    f"a threshold is tuned on inner folds, which need at least 2 {unit} of each class, got {cv}; use a "
                    "method without tuned threshold, or more rows"
                )
        return tuning_folds(cv, y, classes, groups, self.seed, "the tuning of the threshold")

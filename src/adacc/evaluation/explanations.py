"""What figures and reports of explanations share: the default background, and the colour of a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.model.explanations import Explanation


def explain(model: BaseAdditiveClassifier, rows: Any, X: Any, background: Any = None) -> Explanation:
    """Contributions relative to the background; without one, to the rows of X for stumps, else to the training rows."""
    if background is None and model.fitted_model_.is_additive:
        background = X
    return model.explain(rows, background=background)


def value_ranks(values: Any) -> NDArray[np.float64]:
    """Rank of each number among the numbers, from 0 to 1, or 0.5 if they are equal; NaN for what is not a number.

    Examples
    --------
    >>> value_ranks([5.0, 1.0, None, 2.0])
    array([1. , 0. , nan, 0.5])
    >>> value_ranks(["a", "b"])
    array([nan, nan])
    """
    series = values if isinstance(values, pd.Series) else pd.Series(list(values))
    if not pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return np.full(len(series), np.nan)
    ranks = series.rank(method="average").to_numpy(dtype=np.float64, na_value=np.nan)
    known = ranks[~np.isnan(ranks)]
    if not len(known) or np.ptp(known) == 0.0:
        return np.where(np.isnan(ranks), np.nan, 0.5)
    return (ranks - known.min()) / np.ptp(known)

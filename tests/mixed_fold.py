"""A fold for baselines: numbers and a category, with gaps."""

import numpy as np
import pandas as pd

from adacc.evaluation.fold_data import FoldData

ROUNDS = [3, 6, 20]
COLOURS = ["red", "green", "blue"]


def make_fold(n=240, every=8, gaps=True, rounds=ROUNDS, seed=5):
    """Overlapping clouds with a category that helps, one row in so many positive; the last quarter is for the test."""
    rng = np.random.default_rng(3)
    y = (np.arange(n) % every == 0).astype(np.int8)
    X = pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None] * [2.5, 2.0, 1.5], columns=["a", "b [%]", "c, d"])
    X.insert(
        1, "colour", pd.Categorical(np.where(rng.random(n) < 0.3 + 0.4 * y, "red", rng.choice(COLOURS, n)), COLOURS)
    )
    if gaps:
        X.loc[rng.random(n) < 0.1, "a"] = np.nan
        X.loc[rng.random(n) < 0.05, "colour"] = np.nan
    train = np.arange(n) < 0.75 * n
    return FoldData(X[train], y[train], X[~train], rounds, seed)

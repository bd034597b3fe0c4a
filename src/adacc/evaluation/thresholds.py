"""Thresholds that maximise balanced accuracy on out-of-fold scores of the training rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adacc.estimators.cutoffs import ThresholdSweep
from adacc.evaluation.fold_data import Array, FoldData, Scores

if TYPE_CHECKING:
    import pandas as pd


def tuned_thresholds(
    fit_scorer: Callable[[FoldData], Callable[[pd.DataFrame], Scores]], fold: FoldData, n_folds: int
) -> dict[int, float]:
    """The threshold of best balanced accuracy on out-of-fold scores, by number of rounds."""
    folds = fold.tuning_folds(n_folds)
    held_out: dict[int, list[Array]] = defaultdict(list)
    for train, test in folds:
        inner = replace(fold, X=fold.X.iloc[train], y=fold.y[train], X_test=fold.X.iloc[test], groups=None)
        for T, scores in fit_scorer(inner)(inner.X_test).items():
            held_out[T].append(scores)
    y = fold.y[np.concatenate([test for _, test in folds])]
    return {T: best_threshold(y, np.concatenate(scores)) for T, scores in held_out.items()}


def best_threshold(y: NDArray[np.int8], scores: Array) -> float:
    """The threshold of best balanced accuracy; ties go to the one nearest to 0.

    Candidates are the midpoints between scores, and the largest score, above which no row is predicted positive.

    Examples
    --------
    >>> best_threshold(np.array([0, 0, 1, 0, 1, 1]), np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]))
    -1.5
    """
    sweep = ThresholdSweep.of(scores, y == 1, np.ones(len(y)))
    levels, n_positive, n_negative = sweep.levels, sweep.positives.sum(), sweep.negatives.sum()
    thresholds = np.append((levels[:-1] + levels[1:]) / 2, levels[-1])
    # The loss of balanced accuracy times a constant: integers, so that ties are exact.
    loss = sweep.false_negatives * n_negative + sweep.false_positives * n_positive
    of_threshold = loss[np.searchsorted(levels, thresholds, side="right")]
    best = thresholds[of_threshold == of_threshold.min()]
    return float(best[np.argmin(np.abs(best))])

"""Thresholds of best balanced accuracy, on training rows that the model has not seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.folds import Array, Fold, Scores


def tuned_thresholds(method: Callable[[Fold], Scores], fold: Fold, n_folds: int) -> dict[int, float]:
    """By number of rounds, the threshold of best balanced accuracy on training rows that the model has not seen."""
    folds = fold.tuning_folds(n_folds)
    held_out: dict[int, list[Array]] = defaultdict(list)
    for train, test in folds:
        inner = replace(fold, X=fold.X.iloc[train], y=fold.y[train], X_test=fold.X.iloc[test], groups=None)
        for T, scores in method(inner).items():
            held_out[T].append(scores)
    y = fold.y[np.concatenate([test for _, test in folds])]
    return {T: best_threshold(y, np.concatenate(scores)) for T, scores in held_out.items()}


def best_threshold(y: NDArray[np.int8], scores: Array) -> float:
    """The threshold above which rows are best called positive, by balanced accuracy; of several the nearest to 0.

    Half-way between two scores, or the largest score, where no row is called positive.

    Examples
    --------
    >>> best_threshold(np.array([0, 0, 1, 0, 1, 1]), np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]))
    -1.5
    """
    levels = np.unique(scores)
    thresholds = np.append((levels[:-1] + levels[1:]) / 2, levels[-1])
    positive, others = (np.sort(scores[y == label]) for label in (1, 0))
    caught = len(positive) - np.searchsorted(positive, thresholds, side="right")
    left_alone = np.searchsorted(others, thresholds, side="right")
    # Whole numbers, so that equally good thresholds are equal.
    gain = caught * len(others) + left_alone * len(positive)
    best = thresholds[gain == gain.max()]
    return float(best[np.argmin(np.abs(best))])

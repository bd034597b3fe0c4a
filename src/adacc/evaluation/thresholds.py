"""Thresholds that maximise balanced accuracy on out-of-fold scores of the training rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc.estimators.cutoffs import ThresholdSweep
from adacc.evaluation.fold_data import Array


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

"""Confusion counts by threshold, ROC and precision-recall curves and calibration, from out-of-fold predictions."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.estimators.cutoffs import ThresholdSweep
from adacc.evaluation.measures import confusion_counts

CURVE_POINTS_MAX = 200
CALIBRATION_BINS = 10

ABOVE_ONE = 1.001
"""The threshold above probabilities of 1."""

Array = NDArray[np.float64]


def pooled(
    y: NDArray[np.int8], probabilities: Array, predicted: NDArray[np.bool_], folds: NDArray[np.intp]
) -> dict[str, Any]:
    """All curves and counts as plain data.

    `y` is 1 for the positive class, of which the probabilities are; the method's predictions need not correspond to one
    threshold. The counts of half of the folds are given besides, so that a threshold can be chosen on other rows than
    those that it is measured on; None if there is one fold only.
    """
    positives, negatives = int(y.sum()), int(len(y) - y.sum())
    sweep = ThresholdSweep.of(probabilities, y == 1, np.ones(len(y)))
    levels = np.append(sweep.levels, 1.0 if sweep.levels[-1] < 1.0 else ABOVE_ONE)
    tp, fp = positives - sweep.false_negatives.astype(np.intp), sweep.false_positives.astype(np.intp)
    own = _counts(y, predicted)
    default = int(np.argmin(np.abs(tp + fp - (own["true_positives"] + own["false_positives"]))))
    kept = _thin(tp / max(positives, 1), fp / max(negatives, 1), default)
    at = np.array([_short(levels[k], levels[k - 1] if k else -np.inf) for k in kept.tolist()])
    tp, fp = tp[kept], fp[kept]
    tpr, n_predicted = tp / max(positives, 1), tp + fp
    defined = n_predicted > 0
    return {
        "positives": positives,
        "negatives": negatives,
        "default": own,
        "thresholds": {
            "at": at.tolist(),
            "true_positives": tp.tolist(),
            "false_positives": fp.tolist(),
            "default": int(np.searchsorted(kept, default)),
            "half": _half(y, probabilities, predicted, folds, at),
        },
        "roc": {"fpr": _rounded(fp / max(negatives, 1)), "tpr": _rounded(tpr)},
        "pr": {"recall": _rounded(tpr[defined]), "precision": _rounded(tp[defined] / n_predicted[defined])},
        "calibration": calibration(y, probabilities),
    }


def _counts(y: NDArray[np.int8], predicted: NDArray[np.bool_]) -> dict[str, int]:
    tp, fp = int(predicted[y == 1].sum()), int(predicted[y == 0].sum())
    return confusion_counts(tp, int((y == 1).sum()) - tp, fp, int((y == 0).sum()) - fp)


def _short(level: float, below: float) -> float:
    """The number of fewest digits, at least three, above one level and at most the next: it selects the same rows."""
    for digits in range(3, 17):
        decimals = digits - 1 - (math.floor(math.log10(abs(level))) if level else 0)
        short = float(Decimal(level).quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR))
        if below < short <= level:
            return short
    return float(level)


def _half(
    y: NDArray[np.int8], probabilities: Array, predicted: NDArray[np.bool_], folds: NDArray[np.intp], at: Array
) -> dict[str, Any] | None:
    """The counts at each threshold, and of the predictions, in every second fold; None if there is one fold only."""
    numbers, number = np.unique(folds, return_inverse=True)
    if len(numbers) < 2:
        return None
    half = number % 2 == 0
    above = {label: np.sort(probabilities[half & (y == label)]) for label in (0, 1)}
    tp, fp = (len(above[label]) - np.searchsorted(above[label], at, side="left") for label in (1, 0))
    return {
        "true_positives": tp.tolist(),
        "false_positives": fp.tolist(),
        "default": _counts(y[half], predicted[half]),
    }


def _thin(tpr: Array, fpr: Array, default: int) -> NDArray[np.intp]:
    """Indices of the thresholds to keep: evenly along the ROC curve, with both ends and the default threshold."""
    if len(tpr) <= CURVE_POINTS_MAX:
        return np.arange(len(tpr))
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(tpr)) + np.abs(np.diff(fpr)))])
    even = np.searchsorted(along, np.linspace(0.0, along[-1], CURVE_POINTS_MAX - 3))
    return np.unique([0, *even.tolist(), default, len(tpr) - 1])


def calibration(y: NDArray[np.int8], probabilities: Array) -> list[dict[str, Any]]:
    """Mean predicted probability and observed share of positive rows, in bins of about equal size.

    Examples
    --------
    >>> calibration(np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 0.5, 1.0]))[0]
    {'predicted': 0.0, 'observed': 0.0, 'rows': 2}
    """
    edges = np.unique(np.quantile(probabilities, np.linspace(0.0, 1.0, CALIBRATION_BINS + 1)[1:-1]))
    bin_of_row = np.searchsorted(edges, probabilities, side="left")
    bins = []
    for each in np.unique(bin_of_row):
        rows = bin_of_row == each
        bins.append(
            {
                "predicted": float(probabilities[rows].mean()),
                "observed": float(y[rows].mean()),
                "rows": int(rows.sum()),
            }
        )
    return bins


def _rounded(values: Array) -> list[float]:
    return np.round(values, 5).tolist()

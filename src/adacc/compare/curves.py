"""Confusion counts by threshold, ROC and precision-recall curves and calibration, from out-of-fold predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CURVE_POINTS_MAX = 200
CALIBRATION_BINS = 10

Array = NDArray[np.float64]


def pooled(y: NDArray[np.int8], probabilities: Array, predicted: NDArray[np.bool_]) -> dict[str, Any]:
    """All curves and counts as plain data.

    Parameters
    ----------
    y : array of shape (n_rows,)
        1 for the positive class.
    probabilities : array of shape (n_rows,)
        Of the positive class.
    predicted : array of bool of shape (n_rows,)
        Predictions of the method, which need not correspond to one threshold.
    """
    levels, caught, alarms = by_threshold(y, probabilities)
    positives, negatives = int(y.sum()), int(len(y) - y.sum())
    at_default = {"caught": int(predicted[y == 1].sum()), "alarms": int(predicted[y == 0].sum())}
    n_predicted = at_default["caught"] + at_default["alarms"]
    default = int(np.argmin(np.abs(caught + alarms - n_predicted)))
    kept = _thin(caught / max(positives, 1), alarms / max(negatives, 1), default)
    share = caught[kept] / max(positives, 1)
    predicted_positive = caught[kept] + alarms[kept]
    defined = predicted_positive > 0
    return {
        "positives": positives,
        "negatives": negatives,
        "default": {
            **at_default,
            "missed": positives - at_default["caught"],
            "left_alone": negatives - at_default["alarms"],
        },
        "thresholds": {
            "at": levels[kept].tolist(),
            "caught": caught[kept].tolist(),
            "alarms": alarms[kept].tolist(),
            "default": int(np.searchsorted(kept, default)),
        },
        "roc": {"fpr": _rounded(alarms[kept] / max(negatives, 1)), "tpr": _rounded(share)},
        "pr": {
            "recall": _rounded(share[defined]),
            "precision": _rounded(caught[kept][defined] / predicted_positive[defined]),
        },
        "calibration": calibration(y, probabilities),
    }


def by_threshold(y: NDArray[np.int8], probabilities: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Thresholds (the distinct probabilities and a larger number), with the true and false positives at each.

    Examples
    --------
    >>> by_threshold(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    (array([0.1, 0.4, 0.8, 1. ]), array([2, 2, 1, 0]), array([2, 1, 0, 0]))
    """
    distinct = np.unique(probabilities)
    positive, negative = (np.sort(probabilities[y == label]) for label in (1, 0))
    levels = np.append(distinct, 1.0 if distinct[-1] < 1.0 else np.nextafter(1.0, 2.0))
    return (
        levels,
        len(positive) - np.searchsorted(positive, levels),
        len(negative) - np.searchsorted(negative, levels),
    )


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

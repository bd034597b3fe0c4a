"""What can be seen from scores of rows that no model had seen: counts by threshold, curves, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 200
N_BINS = 10

Array = NDArray[np.float64]


def pooled(y: NDArray[np.int8], probabilities: Array, predicted: NDArray[np.bool_]) -> dict[str, Any]:
    """All of it, as plain data.

    Parameters
    ----------
    y : array of shape (n_rows,)
        1 for the positive class.
    probabilities : array of shape (n_rows,)
        Of the positive class.
    predicted : array of bool of shape (n_rows,)
        Whether the method itself calls the row positive, which need not be at any one threshold.
    """
    levels, caught, alarms = by_threshold(y, probabilities)
    positives, negatives = int(y.sum()), int(len(y) - y.sum())
    at_default = {"caught": int(predicted[y == 1].sum()), "alarms": int(predicted[y == 0].sum())}
    n_called = at_default["caught"] + at_default["alarms"]
    default = int(np.argmin(np.abs(caught + alarms - n_called)))
    kept = _thin(caught / max(positives, 1), alarms / max(negatives, 1), default)
    share = caught[kept] / max(positives, 1)
    called = caught[kept] + alarms[kept]
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
            "recall": _rounded(share[called > 0]),
            "precision": _rounded(caught[kept][called > 0] / called[called > 0]),
        },
        "calibration": calibration(y, probabilities),
    }


def by_threshold(y: NDArray[np.int8], probabilities: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Each probability that occurs, ascending, and a number above all; positive and other rows that have at least it.

    Examples
    --------
    >>> by_threshold(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    (array([0.1, 0.4, 0.8, 1. ]), array([2, 2, 1, 0]), array([2, 1, 0, 0]))
    """
    found = np.unique(probabilities)
    positive, others = (np.sort(probabilities[y == label]) for label in (1, 0))
    levels = np.append(found, 1.0 if found[-1] < 1.0 else np.nextafter(1.0, 2.0))
    return (
        levels,
        len(positive) - np.searchsorted(positive, levels),
        len(others) - np.searchsorted(others, levels),
    )


def _thin(tpr: Array, fpr: Array, default: int) -> NDArray[np.intp]:
    """Thresholds to keep: evenly along the ROC curve, the ends and the method's own decision always."""
    if len(tpr) <= MOST_POINTS:
        return np.arange(len(tpr))
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(tpr)) + np.abs(np.diff(fpr)))])
    even = np.searchsorted(along, np.linspace(0.0, along[-1], MOST_POINTS - 3))
    return np.unique([0, *even.tolist(), default, len(tpr) - 1])


def calibration(y: NDArray[np.int8], probabilities: Array) -> list[dict[str, Any]]:
    """Groups of rows of like probability, about as large as each other: what was said, and what came.

    Examples
    --------
    >>> calibration(np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 0.5, 1.0]))[0]
    {'predicted': 0.0, 'observed': 0.0, 'rows': 2}
    """
    edges = np.unique(np.quantile(probabilities, np.linspace(0.0, 1.0, N_BINS + 1)[1:-1]))
    group = np.searchsorted(edges, probabilities, side="left")
    found = []
    for each in np.unique(group):
        rows = group == each
        found.append(
            {
                "predicted": float(probabilities[rows].mean()),
                "observed": float(y[rows].mean()),
                "rows": int(rows.sum()),
            }
        )
    return found


def _rounded(values: Array) -> list[float]:
    return np.round(values, 5).tolist()

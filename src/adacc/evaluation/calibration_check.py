"""Whether the probabilities of a model are true on labelled rows of two classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from adacc.evaluation.estimates import UNDEFINED, Array, Estimate, Groups, share_of

MAX_BINS, MIN_BIN_ROWS = 10, 20
"""Maximum number of bins of the reliability table, and the minimum number of rows of a bin."""

MIN_OF_CLASS = 10
"""Minimum number of rows, or groups, of each class for a slope."""

NEWTON_STEPS, TOLERANCE = 50, 1e-10
CLIPPED = 1e-9
"""Probabilities are clipped to this distance from 0 and 1 before the logarithm of their odds is taken."""


@dataclass(frozen=True)
class Bin:
    """Rows of similar probabilities: their mean probability, and the share of positive rows."""

    rows: int
    mean_probability: float
    positive_rate: Estimate


@dataclass(frozen=True)
class CalibrationCheck:
    """Probabilities beside the classes.

    Attributes
    ----------
    expected : Estimate
        Sum of the probabilities, and the interval in which the number of positive rows is in 95 % of all cases if the
        probabilities are true.
    positives : int
        Number of positive rows.
    slope : Estimate
        Coefficient of the log-odds in a logistic regression of the classes [Cox 1958]: 1 if the probabilities are true,
        below 1 if they are too extreme, above 1 if they are too close to each other.
    level, spread : {"true", "low", "high", "extreme", "moderate", None}
        Whether the sum and the slope agree with the classes; None if the rows do not suffice for the slope.
    bins : list of Bin
        Reliability table, in bins of equal numbers of rows.
    """

    expected: Estimate
    positives: int
    slope: Estimate
    level: str
    spread: str | None
    bins: list[Bin]

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON can store it."""
        return asdict(self)


def check_calibration(is_positive: NDArray[np.bool_], probability: Array, groups: Groups = None) -> CalibrationCheck:
    """Compare the probabilities of the positive class with the classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.0, 0.4, 2000)
    >>> is_positive = rng.random(2000) < p
    >>> [check_calibration(is_positive, each).level for each in (p, 2 * p)]
    ['true', 'high']
    """
    expected, positives = _expected(is_positive, probability, groups), int(is_positive.sum())
    slope = _slope(is_positive, probability, groups)
    assert expected.low is not None
    assert expected.high is not None
    level = "high" if positives < expected.low else "low" if positives > expected.high else "true"
    spread = None
    if slope.low is not None and slope.high is not None:
        spread = "extreme" if slope.high < 1.0 else "moderate" if slope.low > 1.0 else "true"
    return CalibrationCheck(expected, positives, slope, level, spread, _bins(is_positive, probability, groups))


def _expected(is_positive: NDArray[np.bool_], probability: Array, groups: Groups) -> Estimate:
    """The sum of the probabilities, with an interval for the number of positive rows of independent rows or groups."""
    total, variance = float(probability.sum()), float((probability * (1.0 - probability)).sum())
    quantile = float(stats.norm.ppf(0.975))
    if groups is not None:
        of_group = np.bincount(groups, is_positive - probability)
        n_groups = len(of_group)
        # The deviations of the groups are also those of wrong probabilities: without their mean they are chance alone.
        between = n_groups / max(n_groups - 1, 1) * float(((of_group - of_group.mean()) ** 2).sum())
        variance = max(variance, between)
        quantile = float(stats.t.ppf(0.975, max(n_groups - 1, 1)))
    width = quantile * float(np.sqrt(variance))
    return Estimate(total, max(total - width, 0.0), min(total + width, float(len(probability))))


def _slope(is_positive: NDArray[np.bool_], probability: Array, groups: Groups) -> Estimate:
    """The slope of the log-odds; undefined if a class has few rows, all probabilities are equal, or it is infinite."""
    units = np.arange(len(is_positive)) if groups is None else groups
    if any(len(np.unique(units[rows])) < MIN_OF_CLASS for rows in (is_positive, ~is_positive)):
        return UNDEFINED
    p = np.clip(probability, CLIPPED, 1.0 - CLIPPED)
    odds = np.log(p / (1.0 - p))
    if np.ptp(odds) < TOLERANCE:
        return UNDEFINED
    design = np.column_stack([np.ones(len(odds)), odds])
    coefficients = np.array([0.0, 1.0])
    for _ in range(NEWTON_STEPS):
        fitted = _sigmoid(design @ coefficients)
        hessian = design.T @ (design * (fitted * (1.0 - fitted))[:, None])
        if np.linalg.cond(hessian) > 1.0 / TOLERANCE:  # the classes can be separated
            return UNDEFINED
        step = np.linalg.solve(hessian, design.T @ (is_positive - fitted))
        coefficients = coefficients + step
        if np.abs(step).max() < TOLERANCE * max(1.0, float(np.abs(coefficients).max())):
            break
    else:
        return UNDEFINED
    inverse, quantile = np.linalg.inv(hessian), float(stats.norm.ppf(0.975))
    if groups is not None:  # the variance between groups, as in generalized estimating equations
        n_groups = int(groups.max()) + 1
        scores = [np.bincount(groups, each * (is_positive - fitted), n_groups) for each in design.T]
        inverse = n_groups / (n_groups - 1) * inverse @ np.cov(scores, bias=True) @ inverse * n_groups
        quantile = float(stats.t.ppf(0.975, n_groups - 1))
    value, width = float(coefficients[1]), quantile * float(np.sqrt(inverse[1, 1]))
    return Estimate(value, value - width, value + width)


def _sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -x))


def _bins(is_positive: NDArray[np.bool_], probability: Array, groups: Groups) -> list[Bin]:
    """Bins of about equal numbers of rows; equal probabilities are in the same bin."""
    n_bins = max(min(MAX_BINS, len(probability) // MIN_BIN_ROWS), 1)
    edges = np.unique(np.quantile(probability, np.arange(1, n_bins) / n_bins, method="inverted_cdf"))
    number = np.searchsorted(edges, probability)
    found = []
    for k in np.unique(number):
        rows = number == k
        rate = share_of(is_positive[rows], np.ones(rows.sum()), None if groups is None else groups[rows])
        found.append(Bin(int(rows.sum()), float(probability[rows].mean()), rate))
    return found

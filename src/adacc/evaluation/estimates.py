"""Values with 95 % confidence intervals: shares of rows, areas under curves, and sums of costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.statistics import wilson

Array = NDArray[np.float64]

N_RESAMPLES, FEW_RESAMPLES, MANY_LEVELS = 500, 200, 10_000
"""Number of resamples, and the smaller number that is used if there are more than so many distinct values."""


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % confidence interval; None if it is undefined, such as the precision without alerts."""

    value: float | None
    low: float | None
    high: float | None

    def excludes(self, value: float | None) -> bool:
        """Whether a value is outside the interval; False if one of both is undefined."""
        if value is None or self.low is None or self.high is None:
            return False
        return not self.low <= value <= self.high

    def times(self, factor: float) -> Estimate:
        """The estimate in another unit."""
        if self.value is None or self.low is None or self.high is None:
            return self
        return Estimate(factor * self.value, factor * self.low, factor * self.high)


UNDEFINED = Estimate(None, None, None)


def share(part: float, whole: float) -> Estimate:
    """A share of rows with Wilson's interval; the part need not be an integer.

    Examples
    --------
    >>> found = share(8, 10)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.8, 0.49, 0.943)
    >>> share(0, 0).value is None
    True
    """
    if not whole:
        return UNDEFINED
    part = min(float(part), float(whole))  # interpolation may exceed it by a rounding error
    low, high = wilson(part, whole)
    return Estimate(float(part / whole), low, high)


def mean_of_shares(first: Estimate, second: Estimate) -> Estimate:
    """The mean of two independent shares, whose Wilson intervals are combined [Zou & Donner 2008].

    Unlike a bootstrap it has a width if all rows of a class are predicted correctly.
    """
    if first.value is None or second.value is None:
        return UNDEFINED
    assert first.low is not None
    assert first.high is not None
    assert second.low is not None
    assert second.high is not None
    value = (first.value + second.value) / 2
    below = np.hypot(first.value - first.low, second.value - second.low) / 2
    above = np.hypot(first.high - first.value, second.high - second.value) / 2
    return Estimate(value, float(value - below), float(value + above))


def ranking_areas(scores: Array, is_positive: NDArray[np.bool_], seed: int = 0) -> tuple[Estimate, Estimate]:
    """AUC and average precision, with percentile intervals of a bootstrap within each class."""
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if not n_positive or not n_negative:
        return UNDEFINED, UNDEFINED
    positives, negatives = _by_level(scores, is_positive)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(FEW_RESAMPLES if len(positives) > MANY_LEVELS else N_RESAMPLES):
        resampled = (rng.multinomial(each.sum(), each / each.sum()) for each in (positives, negatives))
        drawn.append(_areas(*resampled))
    found = _areas(positives, negatives)
    n_rows = (min(n_positive, n_negative), n_positive)
    auc, average_precision = (
        _percentiles(value, np.array(resampled), n)
        for value, resampled, n in zip(found, zip(*drawn, strict=True), n_rows, strict=True)
    )
    return auc, average_precision


def _by_level(scores: Array, is_positive: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Number of positive and of negative rows by level, ascending.

    Levels are the scores of positive rows and the gaps between them. The scores of negative rows within a gap do not
    matter to either area.
    """
    levels, level = np.unique(scores[is_positive], return_inverse=True)
    others = scores[~is_positive]
    at = np.searchsorted(levels, others)
    equal = levels[np.minimum(at, len(levels) - 1)] == others
    n_levels = 2 * len(levels) + 1
    return np.bincount(2 * level + 1, minlength=n_levels), np.bincount(2 * at + equal, minlength=n_levels)


def _areas(positives: NDArray[Any], negatives: NDArray[Any]) -> tuple[float, float]:
    """AUC, and average precision as the sum of precisions by steps of recall."""
    n_positive, n_negative = positives.sum(), negatives.sum()
    auc = (positives * (np.cumsum(negatives) - negatives / 2)).sum() / (n_positive * n_negative)
    true, false = np.cumsum(positives[::-1]), np.cumsum(negatives[::-1])
    precision = true / np.maximum(true + false, 1)
    return float(auc), float((precision * positives[::-1]).sum() / n_positive)


def _percentiles(value: float, drawn: Array, n_rows: int) -> Estimate:
    """The percentile interval.

    A perfect ranking has no spread in the bootstrap. Its interval is Wilson's for as many rows as the rarer class has,
    which is conservative: the variance of an AUC of A is at most A(1-A)/min(m, n) [Birnbaum & Klose 1957].
    """
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    if low == high:
        low, high = wilson(value * n_rows, n_rows)
    return Estimate(value, min(low, value), max(high, value))


def totals(values: Array, is_positive: NDArray[np.bool_], seed: int = 0) -> list[Estimate]:
    """Sums of each row of `values` (n_sums, n_rows), with percentile intervals of a bootstrap within each class."""
    rng = np.random.default_rng(seed)
    n_resamples = FEW_RESAMPLES if values.shape[1] > MANY_LEVELS else N_RESAMPLES
    drawn = np.zeros((n_resamples, len(values)))
    for of_class in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        if len(of_class):
            # Rows of equal values are drawn together, which is faster and the same.
            distinct, n_rows = np.unique(values[:, of_class], axis=1, return_counts=True)
            for sums in drawn:
                sums += distinct @ rng.multinomial(len(of_class), n_rows / len(of_class))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return [Estimate(*map(float, each)) for each in zip(values.sum(axis=1), low, high, strict=True)]

"""Values with 95 % confidence intervals: shares of rows, areas under curves, and sums of costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from adacc.evaluation.statistics import wilson

Array = NDArray[np.float64]
Groups = NDArray[np.intp] | None
"""The number of the group of each row, from 0; rows of a group depend on each other. None: all are independent."""

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


def share(part: float, whole: float, effective: float | None = None) -> Estimate:
    """A share of rows with Wilson's interval; the part need not be an integer.

    The interval is that of `effective` independent rows, by default as many as the whole.

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
    value = float(part / whole)
    low, high = wilson(part, whole) if effective is None else wilson(value * effective, effective)
    return Estimate(value, low, high)


def share_of(part: NDArray[Any], whole: NDArray[Any], groups: Groups) -> Estimate:
    """A share of rows; `part` and `whole` tell for each row whether it counts, or its weight.

    Examples
    --------
    >>> part, whole = np.array([1, 1, 1, 1, 0, 0]), np.ones(6)
    >>> [round(share_of(part, whole, groups).low, 2) for groups in (None, np.array([0, 0, 1, 1, 2, 2]))]
    [0.3, 0.09]
    """
    return share(float(part.sum()), float(whole.sum()), effective_rows(part, whole, groups))


def effective_rows(part: NDArray[Any], whole: NDArray[Any], groups: Groups) -> float | None:
    """Number of independent rows that would determine the share as well as these rows do [Korn & Graubard 1998].

    It is the number of rows, divided by the design effect (the variance of the ratio by groups divided by that of as
    many independent rows, at least 1), and by the ratio of the squared quantiles of t and normal distribution, as the
    variance is estimated from few groups. A share of 0 or 1 shows no variance: its groups then count as one row each.
    """
    n_rows = float(whole.sum())
    if groups is None or not n_rows:
        return None
    n_groups = int(np.count_nonzero(np.bincount(groups, whole)))
    if n_groups < 2:
        return 1.0
    value = float(part.sum()) / n_rows
    if not 0.0 < value < 1.0:
        return float(n_groups)
    residuals = np.bincount(groups, part - value * whole)
    variance = n_groups / (n_groups - 1) * float(residuals @ residuals) / n_rows**2
    design_effect = max(variance * n_rows / (value * (1.0 - value)), 1.0)
    quantile_ratio = float(stats.t.ppf(0.975, n_groups - 1) / stats.norm.ppf(0.975))
    return max(n_rows / design_effect / quantile_ratio**2, 1.0)


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


def ranking_areas(
    scores: Array, is_positive: NDArray[np.bool_], groups: Groups = None, seed: int = 0
) -> tuple[Estimate, Estimate]:
    """AUC and average precision, with percentile intervals of a bootstrap within each class, or of groups."""
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if not n_positive or not n_negative:
        return UNDEFINED, UNDEFINED
    level, n_levels = _levels(scores, is_positive)
    positives, negatives = (np.bincount(level[rows], minlength=n_levels) for rows in (is_positive, ~is_positive))
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(FEW_RESAMPLES if n_levels > MANY_LEVELS else N_RESAMPLES):
        if groups is None:
            resampled = [rng.multinomial(each.sum(), each / each.sum()) for each in (positives, negatives)]
        else:
            times = _drawn_groups(groups, rng)[groups]
            resampled = [np.bincount(level[rows], times[rows], n_levels) for rows in (is_positive, ~is_positive)]
        if all(each.any() for each in resampled):  # groups can leave a class without rows
            drawn.append(_areas(*resampled))
    found = _areas(positives, negatives)
    if groups is not None:
        n_positive, n_negative = (len(np.unique(groups[rows])) for rows in (is_positive, ~is_positive))
    n_rows = (min(n_positive, n_negative), n_positive)
    drawn = drawn or [found]
    auc, average_precision = (
        _percentiles(value, np.array(resampled), n)
        for value, resampled, n in zip(found, zip(*drawn, strict=True), n_rows, strict=True)
    )
    return auc, average_precision


def _drawn_groups(groups: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """How often each group is drawn in a bootstrap resample."""
    n_groups = int(groups.max()) + 1
    return np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)


def _levels(scores: Array, is_positive: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """The level of each row, ascending, and the number of levels.

    Levels are the scores of positive rows and the gaps between them. The scores of negative rows within a gap do not
    matter to either area.
    """
    levels = np.unique(scores[is_positive])
    at = np.searchsorted(levels, scores)
    equal = levels[np.minimum(at, len(levels) - 1)] == scores
    return 2 * at + equal, 2 * len(levels) + 1


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


def totals(values: Array, is_positive: NDArray[np.bool_], groups: Groups = None, seed: int = 0) -> list[Estimate]:
    """Sums of each row of `values` (n_sums, n_rows), with percentile intervals of a bootstrap as in `ranking_areas`."""
    rng = np.random.default_rng(seed)
    n_resamples = FEW_RESAMPLES if values.shape[1] > MANY_LEVELS else N_RESAMPLES
    drawn = np.zeros((n_resamples, len(values)))
    if groups is not None:
        by_group = np.array([np.bincount(groups, each) for each in values])
        for sums in drawn:
            sums += by_group @ _drawn_groups(groups, rng)
    for of_class in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        if groups is None and len(of_class):
            # Rows of equal values are drawn together, which is faster and the same.
            distinct, n_rows = np.unique(values[:, of_class], axis=1, return_counts=True)
            for sums in drawn:
                sums += distinct @ rng.multinomial(len(of_class), n_rows / len(of_class))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return [Estimate(*map(float, each)) for each in zip(values.sum(axis=1), low, high, strict=True)]

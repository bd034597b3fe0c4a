"""Statistical tests of differences between methods: ranks, Friedman, Nemenyi, Wilcoxon, bootstrap, resampled t-test.

Rows of a table are data sets, columns are methods. Larger scores are better; rank 1 is the best.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import stdtr, stdtrit

Array = NDArray[np.float64]

EQUAL_DIFFERENCES = 1e-9
"""Differences that vary relatively less are equal but for rounding."""


def ranks(scores: ArrayLike) -> Array:
    """Rank of each method on each set; ties get the mean of their ranks.

    Examples
    --------
    >>> ranks([[0.9, 0.8, 0.8]])
    array([[1. , 2.5, 2.5]])
    """
    return stats.rankdata(-_table(scores, "scores"), axis=1)


class Friedman(NamedTuple):
    """Friedman's test that all methods are equivalent, and the statistic of Iman and Davenport [1980]."""

    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float


def friedman(by_set: ArrayLike) -> Friedman:
    """Friedman's test on mean ranks [Demšar 2006]: χ² = 12N/(k(k+1)) · (Σ R² - k(k+1)²/4).

    Parameters
    ----------
    by_set : array of shape (n_sets, n_methods)
        Ranks.
    """
    table = _table(by_set, "ranks")
    n_sets, k = table.shape
    mean = table.mean(axis=0)
    chi_square = 12 * n_sets / (k * (k + 1)) * ((mean**2).sum() - k * (k + 1) ** 2 / 4)
    rest = n_sets * (k - 1) - chi_square
    f = (n_sets - 1) * chi_square / rest if rest > 0 else np.inf
    return Friedman(
        float(chi_square),
        float(stats.chi2.sf(chi_square, k - 1)),
        float(f),
        float(stats.f.sf(f, k - 1, (k - 1) * (n_sets - 1))),
    )


def rank_tests(by_set: ArrayLike, against: int) -> Array:
    """Two-sided, uncorrected p-values of z-tests of each mean rank against the mean rank of one method.

    z = (R_i - R_j) / √(k(k+1)/(6N)); NaN for the method itself.

    Parameters
    ----------
    by_set : array of shape (n_sets, n_methods)
        Ranks.
    against : int
        Column of the method to compare with.
    """
    table = _table(by_set, "ranks")
    n_sets, k = table.shape
    mean = table.mean(axis=0)
    z = (mean - mean[against]) / np.sqrt(k * (k + 1) / (6 * n_sets))
    p_values = 2 * stats.norm.sf(np.abs(z))
    p_values[against] = np.nan
    return p_values


def wilcoxon_tests(scores: ArrayLike, against: int) -> Array:
    """Two-sided, uncorrected p-values of Wilcoxon's signed-rank test of each method against one of them.

    NaN for the method itself; 1 if two methods are equal on every set.
    """
    table = _table(scores, "scores")
    p_values = np.full(table.shape[1], np.nan)
    for method in range(table.shape[1]):
        difference = table[:, method] - table[:, against]
        if method != against:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # older SciPy warns of the normal approximation
                p_values[method] = stats.wilcoxon(difference).pvalue if difference.any() else 1.0
    return p_values


def bonferroni(p_values: ArrayLike) -> Array:
    """Bonferroni correction; NaN are not counted as tests.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    values = np.asarray(p_values, dtype=np.float64)
    return np.minimum(values * np.count_nonzero(~np.isnan(values)), 1.0)


def holm(p_values: ArrayLike) -> Array:
    """Holm's step-down correction; NaN are not counted as tests.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    corrected = np.full_like(values, np.nan)
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN sorts last
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return corrected


def critical_difference(n_sets: int, n_methods: int, significance: float = 0.05) -> float:
    """The critical difference of mean ranks in Nemenyi's test: q·√(k(k+1)/(6N)).

    Examples
    --------
    >>> round(critical_difference(27, 14), 3)
    3.818
    """
    q = stats.studentized_range.ppf(1 - significance, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def bootstrap(values: ArrayLike, confidence: float = 0.95, n_draws: int = 10_000, seed: int = 0) -> Interval:
    """Percentile bootstrap interval of the mean over the sets.

    Parameters
    ----------
    values : array of shape (n_sets,)
        One number for each set, such as the difference of two methods.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) == 0 or np.isnan(sample).any():
        raise ValueError(f"values must be a 1-d array without NaN, got {values!r}")
    drawn = np.random.default_rng(seed).integers(len(sample), size=(n_draws, len(sample)))
    low, high = np.quantile(sample[drawn].mean(axis=1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def wilson(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share [Wilson 1927], which is inside [0, 1] for any counts.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(8, 10)], [round(end, 3) for end in wilson(3, 3)]
    ([0.49, 0.943], [0.439, 1.0])
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"successes must be at least 0 and at most n, which is at least 1, got {successes} of {n}")
    z = float(stats.norm.ppf((1 + confidence) / 2))
    share, widening = successes / n, 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / widening
    margin = z * float(np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))) / widening
    return Interval(max(centre - margin, 0.0), min(centre + margin, 1.0))


def chi_square_of_shares(parts: ArrayLike, wholes: ArrayLike) -> float:
    """p-value of Pearson's χ² test that several shares are equal, with Campbell's factor (N - 1) / N [Campbell 2007].

    NaN if fewer than two of the wholes are above 0, and 1 if all shares are 0, or 1.

    Examples
    --------
    >>> round(chi_square_of_shares([40, 54], [100, 100]), 3)
    0.048
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    part, whole = part[whole > 0], whole[whole > 0]
    if len(whole) < 2:
        return float("nan")
    n, share = whole.sum(), part.sum() / whole.sum()
    if share in (0.0, 1.0):
        return 1.0
    chi_square = (n - 1) / n * ((part - whole * share) ** 2 / (whole * share * (1 - share))).sum()
    return float(stats.chi2.sf(chi_square, len(whole) - 1))


class Compared(NamedTuple):
    """Mean of paired differences over cross-validation splits, half of its 95 % interval, and its p-value.

    The p-value is NaN if the differences are equal but not 0, as they have no variance to compare the mean with.
    """

    mean: float
    margin: float
    p_value: float


def resampled_t_test(differences: ArrayLike, test_per_train: float) -> Compared:
    """The corrected resampled t-test that the mean difference over splits is 0 [Nadeau and Bengio 2003].

    Splits share training rows, so their differences are not independent. The test increases the variance by the ratio
    of test to training rows.

    Parameters
    ----------
    differences : array of shape (n_splits,)
        One difference for each split; at least two.
    test_per_train : float
        Ratio of test to training rows: 1/4 for five folds.

    Examples
    --------
    >>> mean, margin, p = resampled_t_test([0.03, 0.01, 0.02, 0.04, 0.00], 1 / 4)
    >>> round(mean, 3), round(margin, 3), round(p, 3)
    (0.02, 0.029, 0.132)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"differences must have at least two values, got the shape {values.shape}")
    mean, n_splits = float(values.mean()), len(values)
    if np.allclose(values, mean, rtol=EQUAL_DIFFERENCES, atol=0.0):
        return Compared(mean, 0.0, 1.0 if mean == 0.0 else float("nan"))
    error = float(np.sqrt((1 / n_splits + test_per_train) * values.var(ddof=1)))
    df = n_splits - 1
    return Compared(mean, error * float(stdtrit(df, 0.975)), float(2 * stdtr(df, -abs(mean) / error)))


def _table(values: ArrayLike, name: str) -> Array:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(
            f"{name} must have shape (n_sets, n_methods) with at least two methods, got shape {table.shape}"
        )
    if np.isnan(table).any():
        at = tuple(int(where) for where in np.argwhere(np.isnan(table))[0])
        raise ValueError(f"{name} must not have missing values, got NaN in row {at[0]}, column {at[1]}")
    return table

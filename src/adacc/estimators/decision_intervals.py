"""What alerts achieve on rows with known classes, with 95 % confidence intervals.

Each measure is a ratio of two sums over rows. A rate gets the interval of Clopper and Pearson [1934] for the effective
number of rows: the number of independent rows that would estimate the rate with the same variance [Korn & Graubard
1998]. Without weights and groups this is the number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from adacc.algorithms.base import Array
from adacc.estimators.labelled_rows import LabelledRows
from adacc.model.decision import Interval
from adacc.model.decision_spec import DecisionSpec

TAIL = 0.025
"""Probability beyond each end of an interval."""

PER_ROWS = 1000.0
"""Number of rows that `alerts_per_1000` refers to."""


class Ratio(NamedTuple):
    """A measure as the weighted sum of the numerators of the rows over that of the denominators."""

    numerator: Array
    denominator: Array

    def value(self, weight: Array) -> float:
        """The measure; NaN if it is undefined."""
        with np.errstate(invalid="ignore"):
            return float(np.float64(weight @ self.numerator) / (weight @ self.denominator))


def ratios(spec: DecisionSpec, rows: LabelledRows, alert: NDArray[np.bool_]) -> dict[str, Ratio]:
    """The measures of `DecisionReport` as ratios; the alerts as a share of the rows."""
    positive, alerts, one = rows.is_positive.astype(np.float64), alert.astype(np.float64), np.ones(len(alert))
    found = {
        "recall": Ratio(positive * alerts, positive),
        "precision": Ratio(positive * alerts, alerts),
        "alerts_per_1000": Ratio(alerts, one),
    }
    if spec.kind == "fbeta":
        square = spec.value**2
        found["fbeta"] = Ratio((1.0 + square) * positive * alerts, alerts + square * positive)
    if spec.kind in ("cost", "row_cost"):
        of_errors = np.where(rows.is_positive, rows.fn * (1.0 - alerts), rows.fp * alerts)
        found["mean_cost"] = Ratio(of_errors + np.where(rows.is_positive, rows.correct[1], rows.correct[0]), one)
    return found


def intervals_of_alerts(
    spec: DecisionSpec, rows: LabelledRows, alert: NDArray[np.bool_], optimism: dict[str, float] | None = None
) -> dict[str, Interval]:
    """The measures with intervals for new rows of the same kind.

    `optimism` is the expected excess of each measure on rows that the threshold was tuned on; the interval is that of
    the value without it.
    """
    found = {}
    for name, ratio in ratios(spec, rows, alert).items():
        value, excess = ratio.value(rows.weight), 0.0 if optimism is None else optimism.get(name, 0.0) / _scale(name)
        if not np.isfinite(value):
            low = high = np.nan
        elif name == "mean_cost":
            low, high = _cost_interval(ratio, value - excess, rows, alert)
        else:
            low, high = clopper_pearson(float(np.clip(value - excess, 0.0, 1.0)), effective_number(ratio, rows))
        scaled = _scale(name) * np.array([value, np.fmin(low, value), np.fmax(high, value)])
        found[name] = Interval(*scaled.tolist())
    return found


def _scale(name: str) -> float:
    return PER_ROWS if name == "alerts_per_1000" else 1.0


def effective_number(ratio: Ratio, rows: LabelledRows) -> float:
    """Number of independent rows that estimate a rate with the variance of these rows and groups.

    The variance is that of a ratio, by its linear approximation; groups vary as a whole. Few groups estimate the
    variance itself badly, which the quantile of Student's distribution takes into account [Korn & Graubard 1998].
    If all rows or none succeed, there is no variance, and each group counts as one row.
    """
    value, share = ratio.value(rows.weight), rows.weight * ratio.denominator
    error = _sums(rows.weight * (ratio.numerator - value * ratio.denominator), rows.units)
    n_rows, share = _number_of_equal(_sums(share, rows.numbers)), _sums(share, rows.units)
    variance = float((error**2).sum() / share.sum() ** 2)
    if value <= 0.0 or value >= 1.0 or variance == 0.0:
        return _number_of_equal(share)
    number, n_units = value * (1.0 - value) / variance, float(np.count_nonzero(share))
    if rows.units is not None and n_units > 1.0:
        number *= (1.0 - 1.0 / n_units) * (_student(n_rows) / _student(n_units)) ** 2
    return float(np.clip(number, 1.0, max(n_rows, 1.0)))


def _sums(values: Array, units: NDArray[np.intp] | None) -> Array:
    """Sums over groups or equal rows; the values themselves if each row is a unit."""
    if units is None:
        return values
    return np.bincount(units, values).astype(np.float64)


def _number_of_equal(shares: Array) -> float:
    """Number of rows of equal shares whose mean has the variance of a mean with these shares [Kish 1965]."""
    return float(shares.sum() ** 2 / (shares**2).sum())


def _student(n_units: float) -> float:
    """Quantile of Student's distribution for the variance between some units."""
    return float(stdtrit(max(n_units - 1.0, 1.0), 1.0 - TAIL))


def clopper_pearson(share: float, n: float) -> tuple[float, float]:
    """Interval of a rate of which a share of `n` rows was observed; neither need be whole [Clopper & Pearson 1934].

    Examples
    --------
    >>> [round(end, 3) for end in clopper_pearson(0.9, 20)]
    [0.683, 0.988]
    """
    yes, no = share * n, (1.0 - share) * n
    low = 0.0 if yes <= 0.0 else float(betaincinv(yes, no + 1.0, TAIL))
    return low, 1.0 if no <= 0.0 else float(betaincinv(yes + 1.0, no, 1.0 - TAIL))


def _cost_interval(ratio: Ratio, value: float, rows: LabelledRows, alert: NDArray[np.bool_]) -> tuple[float, float]:
    """The interval of a mean cost: that of a mean, and at least those of the shares of both errors.

    Rare errors of large cost may not occur in the rows; the intervals of their shares have a width nevertheless.
    """
    weight = rows.weight / rows.weight.sum()
    error = _sums(weight * (ratio.numerator - ratio.value(weight)), rows.units)
    n_units = float(np.count_nonzero(_sums(weight, rows.units)))
    margin = _student(n_units) * float(np.sqrt((error**2).sum() * n_units / max(n_units - 1.0, 1.0)))
    cost = np.where(rows.is_positive, rows.fn, rows.fp) * weight
    spreads = []
    for of_class, wrong in ((rows.is_positive, ~alert), (~rows.is_positive, alert)):
        errors = Ratio((of_class & wrong).astype(np.float64), of_class.astype(np.float64))
        share = errors.value(weight)
        ends = np.array(clopper_pearson(share, effective_number(errors, rows)))
        spreads.append(np.abs(ends - share) * cost[of_class].sum())
    less, more = np.sqrt(np.square(spreads).sum(axis=0)).tolist()
    return value - max(less, margin), value + max(more, margin)

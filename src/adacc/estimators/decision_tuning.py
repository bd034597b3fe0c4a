"""Tuning of decision rules on rows with known classes, and what they achieve, with bootstrap intervals.

A rule is tuned over all thresholds that separate the rows. Its intervals are for as many new rows, and come from the
bootstrap: the rule is tuned on one resample and applied to another one. The difference between what it achieves on the
two shows how much tuning and sampling distort the result [Efron 1983].
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from adacc.algorithms.base import Array
from adacc.model.cost_matrix import error_costs
from adacc.model.decision import Decision, DecisionReport, Interval, untuned
from adacc.model.decision_spec import DecisionSpec

CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.96
TOLERANCE = 1e-9
"""Relative rounding error of a sum of weights. A condition holds within that of the sums that it compares.

The error of the total weight says nothing about the other sums: the positive rows may be a tiny part of it.
"""

N_RESAMPLES, FEW_RESAMPLES, MANY_LEVELS = 500, 200, 10_000
"""Number of resamples, and the smaller number that is used if there are more than so many distinct values."""

MAX_LEVELS = 50_000
"""Maximum number of distinct values in the bootstrap; neighbours are merged."""


@dataclass(frozen=True)
class LabelledRows:
    """Rows to tune a rule on.

    Attributes
    ----------
    statistic : ndarray of shape (n_rows,)
        The number of each row that is compared with the threshold.
    is_positive : ndarray of shape (n_rows,)
        Whether each row is positive.
    weight : ndarray of shape (n_rows,)
        Weights of the rows; that of a row which occurs several times is divided among its occurrences.
    groups : ndarray of shape (n_rows,) or None
        Numbers of the groups, which are resampled as a whole; None if all rows are independent.
    fn, fp : ndarray of shape (n_rows,) or float
        Cost of a false negative and of a false positive, beyond that of the correct prediction.
    correct : tuple of float
        Cost of the correct prediction of a negative and of a positive row.
    folds : ndarray of shape (n_rows,) or None
        Number of the model that computed the statistic of each row; None if it is the model that decides.
    numbers : ndarray of shape (n_rows,) or None
        Numbers of the rows if some occur several times, as several folds hold them out; None if all are distinct.
    """

    statistic: Array
    is_positive: NDArray[np.bool_]
    weight: Array
    groups: NDArray[np.intp] | None = None
    fn: Array | float = 1.0
    fp: Array | float = 1.0
    correct: tuple[float, float] = (0.0, 0.0)
    folds: NDArray[np.intp] | None = None
    numbers: NDArray[np.intp] | None = None

    @cached_property
    def counts(self) -> Array:
        """Number of distinct rows that each row counts as: 1, or 1 / n if it occurs n times."""
        if self.numbers is None:
            return np.ones(len(self.weight))
        counts: Array = 1.0 / np.bincount(self.numbers)[self.numbers]
        return counts

    @property
    def units(self) -> NDArray[np.intp] | None:
        """Numbers of what is resampled as a whole: groups, or rows that occur several times; None if each row is."""
        return self.numbers if self.groups is None else self.groups

    @cached_property
    def levels(self) -> Array:
        """The distinct values of the statistic, ascending."""
        return np.unique(self.statistic)

    @cached_property
    def level(self) -> NDArray[np.intp]:
        """Number of the value of each row."""
        return np.searchsorted(self.levels, self.statistic)


class Outcomes(NamedTuple):
    """What each threshold does: the i-th predicts the rows of level i and above as positive, the last one none.

    Weights of true and false positives, costs of missed positives and of false alarms, and the totals.
    """

    tp: Array
    fp: Array
    missed_cost: Array
    alarm_cost: Array
    n_positive: float
    n_negative: float
    correct_cost: float

    @classmethod
    def of(
        cls, positive: Array, negative: Array, missed: Array, alarm: Array, correct: tuple[float, float]
    ) -> Outcomes:
        """From the weights of positive and negative rows and their costs, by level."""
        tp, fp, alarm_cost = (np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (positive, negative, alarm))
        n_positive, n_negative = float(tp[0]), float(fp[0])
        missed_cost = np.concatenate([[0.0], np.cumsum(missed)])
        return cls(
            tp, fp, missed_cost, alarm_cost, n_positive, n_negative, correct[0] * n_negative + correct[1] * n_positive
        )

    @property
    def cost(self) -> Array:
        return self.missed_cost + self.alarm_cost

    def measures(self, spec: DecisionSpec, i: int | slice) -> dict[str, Array]:
        """The measures that are reported, for some thresholds; NaN where they are undefined."""
        alerts, total = self.tp[i] + self.fp[i], self.n_positive + self.n_negative
        with np.errstate(invalid="ignore", divide="ignore"):
            found = {
                "recall": self.tp[i] / np.float64(self.n_positive),
                "precision": self.tp[i] / alerts,
                "alerts_per_1000": 1000.0 * alerts / total,
            }
            if spec.kind == "fbeta":
                found["fbeta"] = _fbeta(self, spec.value)[i]
            if spec.kind in ("cost", "row_cost"):
                found["mean_cost"] = (self.correct_cost + self.cost[i]) / total
        return found


def _fbeta(outcomes: Outcomes, beta: float) -> Array:
    """F-beta of each threshold [van Rijsbergen 1979]."""
    true = (1.0 + beta**2) * outcomes.tp
    return true / (true + beta**2 * (outcomes.n_positive - outcomes.tp) + outcomes.fp)


def choose(spec: DecisionSpec, outcomes: Outcomes) -> tuple[int, bool]:
    """Number of the threshold that a rule chooses, and whether its condition can be met.

    Recall: the fewest alerts of sufficient recall. Precision: the largest recall of sufficient precision, or the
    largest precision if none is sufficient. Alerts: as many as allowed. Otherwise the best F-beta or cost. Of equally
    good thresholds the highest is chosen.
    """
    tp, fp = outcomes.tp, outcomes.fp
    alerts = tp + fp
    if spec.kind == "recall":
        # By what is missed, so that a recall of 1 misses nothing, not even rows of small weight; precision likewise.
        return _last(_at_least((1.0 - spec.value) * outcomes.n_positive, outcomes.n_positive - tp)), True
    if spec.kind == "alerts":
        allowed = spec.value / spec.per * (outcomes.n_positive + outcomes.n_negative)
        return int(np.argmax(_at_least(allowed, alerts))), True
    if spec.kind == "precision":
        sufficient = _at_least((1.0 - spec.value) * tp, spec.value * fp) & (alerts > 0.0)
        if sufficient.any():
            return _last(sufficient & _at_least(tp, tp[sufficient].max())), True
        odds = np.divide(tp, fp, out=np.zeros(len(tp)), where=fp > 0.0)
        return int(np.argmax(_at_least(odds, odds.max()))), False
    if spec.kind == "fbeta":
        found = _fbeta(outcomes, spec.value)
        return _last(_at_least(found, found.max())), True
    return _last(_at_least(outcomes.cost.min(), outcomes.cost)), True


def _at_least(values: Array | float, least: Array | float) -> NDArray[np.bool_]:
    return np.greater_equal(values, least * (1.0 - TOLERANCE))


def _last(condition: NDArray[np.bool_]) -> int:
    return len(condition) - 1 - int(np.argmax(condition[::-1]))


def threshold_at(levels: Array, i: int) -> float:
    """A threshold that level i reaches and the one below does not: the middle between them."""
    if i == len(levels):
        return float(np.nextafter(levels[-1], np.inf))
    middle = (levels[i - 1] + levels[i]) / 2.0 if i else levels[0]
    return float(middle if i == 0 or middle > levels[i - 1] else levels[i])


def find_threshold(spec: DecisionSpec, rows: LabelledRows) -> float:
    """The threshold that a rule without costs chooses on some rows, without intervals."""
    chosen, _ = choose(spec, next(_resampled(rows, None, 1)))
    return threshold_at(rows.levels, chosen)


def tune_rule(spec: DecisionSpec, positive: int, rows: LabelledRows, source: str, seed: int = 0) -> Decision:
    """Tune the threshold of a rule if it needs that, and measure what the rule achieves.

    The rule's costs are a matrix, `positive` is the number of the positive class, and `source` names the rows.
    """
    decision = untuned(spec, positive)
    if spec.is_ranked:
        return decision
    if not rows.is_positive.any() or rows.is_positive.all():
        raise ValueError(f"the decision {str(spec)!r} needs rows of both classes, got rows of one class only")
    rows = with_costs(spec, positive, rows)
    outcomes = next(_resampled(rows, None, 1))
    if spec.needs_tuning:
        chosen, met = choose(spec, outcomes)
        decision = replace(decision, threshold=threshold_at(rows.levels, chosen))
    else:
        assert decision.threshold is not None
        chosen, met = int(np.searchsorted(rows.levels, decision.threshold)), True
    report = _report(spec, rows, outcomes, chosen, source, seed)
    decision = replace(decision, report=replace(report, met=met))
    _warn(decision, outcomes.tp[chosen] + outcomes.fp[chosen])
    return decision


def with_costs(spec: DecisionSpec, positive: int, rows: LabelledRows) -> LabelledRows:
    """The rows with the costs of a matrix; costs by row are there already."""
    if spec.kind != "cost":
        return rows
    costs = np.array(spec.costs)[np.ix_(*[[1 - positive, positive]] * 2)]
    fp, fn = error_costs(costs)
    return replace(rows, fn=fn, fp=fp, correct=(float(costs[0, 0]), float(costs[1, 1])))


def _warn(decision: Decision, alerts: float) -> None:
    report = decision.report
    assert report is not None
    if not report.met:
        warnings.warn(
            f"the decision {decision.rule!r} cannot be met on the {report.n_rows} {report.rows} rows: the largest "
            f"precision of any threshold is {report.achieved['precision'].value:.3g}, which is used",
            UserWarning,
            stacklevel=3,
        )
    elif alerts == 0.0 and decision.spec.kind == "alerts":
        warnings.warn(
            f"the decision {decision.rule!r} allows no alert on the {report.n_rows} {report.rows} rows: the rows of "
            "the highest score are more than that",
            UserWarning,
            stacklevel=3,
        )


def _report(
    spec: DecisionSpec, rows: LabelledRows, outcomes: Outcomes, chosen: int, source: str, seed: int
) -> DecisionReport:
    """What the chosen threshold achieves, with intervals."""
    levels, found = rows.levels, outcomes.measures(spec, slice(None))
    value = {name: float(each[chosen]) for name, each in found.items()}
    n_positive, n_alerts = rows.counts[rows.is_positive].sum(), rows.counts[rows.level >= chosen].sum()
    n_all = rows.counts.sum()
    n_rows = {"recall": n_positive, "fbeta": n_positive, "precision": n_alerts, "alerts_per_1000": n_all}
    differences: dict[str, list[float]] = {name: [] for name in found}
    thresholds = []
    merged, merged_level = _merge_levels(rows)
    fixed = int(np.searchsorted(merged_level, chosen))
    n_resamples = FEW_RESAMPLES if len(levels) > MANY_LEVELS else N_RESAMPLES
    for tuned_on, applied_to in pairwise(_resampled(merged, np.random.default_rng(seed), n_resamples + 1)):
        if not all(each.n_positive > 0.0 and each.n_negative > 0.0 for each in (tuned_on, applied_to)):
            continue
        i = choose(spec, tuned_on)[0] if spec.needs_tuning else fixed
        thresholds.append(threshold_at(merged.levels, i))
        for (name, seen), new in zip(
            tuned_on.measures(spec, i).items(), applied_to.measures(spec, i).values(), strict=True
        ):
            differences[name].append(float(-np.diff(_spread_out(name, np.array([seen, new]), n_rows))[0]))
    achieved = {name: _interval(name, value[name], np.array(differences[name]), n_rows) for name in found}
    for name, values in _by_fold(spec, rows, chosen).items():
        achieved[name] = _widened(name, achieved[name], values, np.array(differences[name]), n_rows, _repeats(rows))
    if "mean_cost" in achieved:
        alarms = float(outcomes.fp[chosen] / outcomes.n_negative)
        achieved["mean_cost"] = _cost_interval(achieved["mean_cost"], value["recall"], alarms, rows)
    threshold = None
    if spec.needs_tuning:
        threshold = Interval(threshold_at(levels, chosen), *_quantiles(np.array(thresholds)))
    return DecisionReport(source, round(n_all), round(n_positive), achieved, threshold)


def _by_fold(spec: DecisionSpec, rows: LabelledRows, chosen: int) -> dict[str, Array]:
    """What the chosen threshold achieves on the rows of each fold."""
    if rows.folds is None:
        return {}
    alert = rows.level >= chosen
    by_fold = [measures_of_alerts(spec, rows, alert, rows.folds == fold) for fold in np.unique(rows.folds)]
    return {name: np.array([each[name] for each in by_fold]) for name in by_fold[0]}


def measures_of_alerts(
    spec: DecisionSpec, rows: LabelledRows, alert: NDArray[np.bool_], among: NDArray[np.bool_]
) -> dict[str, float]:
    """The measures of `DecisionReport` for alerts among some of the rows; NaN where they are undefined."""
    cost = np.where(rows.is_positive, rows.fn, rows.fp) * rows.weight
    positive, negative = among & rows.is_positive, among & ~rows.is_positive
    tp, fp = (np.array([rows.weight[of_class & alert].sum()]) for of_class in (positive, negative))
    missed, alarms = np.array([cost[positive & ~alert].sum()]), np.array([cost[negative & alert].sum()])
    n_positive, n_negative = float(rows.weight[positive].sum()), float(rows.weight[negative].sum())
    correct = rows.correct[0] * n_negative + rows.correct[1] * n_positive
    outcomes = Outcomes(tp, fp, missed, alarms, n_positive, n_negative, correct)
    return {name: float(value) for name, value in outcomes.measures(spec, 0).items()}


def _repeats(rows: LabelledRows) -> tuple[float, float]:
    """How often the folds hold out a row on average, and by how much the variance between folds is reduced by that.

    The second number is the variance of a mean of rows between the folds, relative to that between disjoint ones.
    """
    if rows.folds is None or rows.numbers is None:
        return 1.0, 1.0
    fold, n_rows = np.unique(rows.folds, return_inverse=True)[1], rows.counts.sum()
    share = 1.0 / np.bincount(fold)
    n_folds, of_row = len(share), np.bincount(rows.numbers, share[fold])
    variance = n_rows * (share.sum() - np.square(of_row).sum() / n_folds) / max(n_folds - 1, 1)
    times = len(fold) / n_rows
    return float(times), float(variance * times / n_folds)


def _widened(
    name: str, interval: Interval, by_fold: Array, differences: Array, n_rows: dict[str, float],
    repeats: tuple[float, float],
) -> Interval:  # fmt: skip
    """The interval for another model than those of the folds.

    The variance between folds that sampling does not explain is that between models fitted to different rows. Half the
    variance of the differences is that of sampling, for all rows. Folds that hold rows out repeatedly count as fewer
    disjoint ones.
    """
    by_fold, differences = by_fold[np.isfinite(by_fold)], differences[np.isfinite(differences)]
    if len(by_fold) < 2 or len(differences) < 2 or not np.isfinite(interval).all():
        return interval
    times, reduction = repeats
    n_folds = len(by_fold) / times
    between = np.var(_spread_out(name, by_fold, n_rows), ddof=1) / reduction - n_folds * np.var(differences) / 2.0
    extra = NORMAL_QUANTILE**2 * max(float(between), 0.0) * (1.0 + 1.0 / n_folds)
    value, low, high = _spread_out(name, np.array(interval), n_rows)
    ends = np.array([value - np.hypot(value - low, np.sqrt(extra)), value + np.hypot(high - value, np.sqrt(extra))])
    if name != "mean_cost":
        ends = _scale(name) / (1.0 + np.exp(-ends))
    return Interval(interval.value, *np.array([min(ends[0], interval.low), max(ends[1], interval.high)]).tolist())


def _spread_out(name: str, values: Array, n_rows: dict[str, float]) -> Array:
    """Log-odds of a rate, on which differences do not depend on the rate; mean costs as they are."""
    if name == "mean_cost":
        return values
    rate, least = values / _scale(name), 0.5 / max(n_rows[name], 1)
    rate = np.clip(rate, least, 1.0 - least)
    return np.log(rate / (1.0 - rate))


def _scale(name: str) -> float:
    return 1000.0 if name == "alerts_per_1000" else 1.0


def _interval(name: str, value: float, differences: Array, n_rows: dict[str, float]) -> Interval:
    """The value less the differences between two resamples, which are those between the tuning rows and new rows.

    It contains the interval of a share, because resamples of a perfect result are all perfect.
    """
    low, high = _quantiles(differences[np.isfinite(differences)])
    ends = _spread_out(name, np.array([value, value]), n_rows) - np.array([high, low])
    if name == "mean_cost":
        return Interval(value, *ends.tolist())
    scale = _scale(name)
    low, high = (scale / (1.0 + np.exp(-ends))).tolist()
    least, most = share_interval(value / scale, n_rows[name])
    return Interval(value, float(np.fmin(low, scale * least)), float(np.fmax(high, scale * most)))


def share_interval(share: float, n_rows: float) -> tuple[float, float]:
    """Interval of the share of as many new rows, by Jeffreys' prior [Brown, Cai & DasGupta 2001].

    New rows add as much variance as these, like half as many rows.

    Examples
    --------
    >>> [round(end, 2) for end in share_interval(1.0, 20)]
    [0.78, 1.0]
    """
    if not (n_rows and np.isfinite(share)):
        return np.nan, np.nan
    yes, no = share * n_rows / 2.0, (1.0 - share) * n_rows / 2.0
    tail = (1.0 - CONFIDENCE) / 2.0
    low = 0.0 if yes == 0.0 else float(betaincinv(yes + 0.5, no + 0.5, tail))
    return low, 1.0 if no == 0.0 else float(betaincinv(yes + 0.5, no + 0.5, 1.0 - tail))


def _cost_interval(found: Interval, recall: float, alarms: float, rows: LabelledRows) -> Interval:
    """The interval of the mean cost, widened by those of the shares of missed positives and of false alarms."""
    cost = np.where(rows.is_positive, rows.fn, rows.fp) * rows.weight / rows.weight.sum()
    low, high = found.low, found.high
    spreads = []
    for share, of_class in ((1.0 - recall, rows.is_positive), (alarms, ~rows.is_positive)):
        ends = np.array(share_interval(share, rows.counts[of_class].sum()))
        spreads.append(np.abs(ends - share) * cost[of_class].sum())
    less, more = np.sqrt(np.square(spreads).sum(axis=0)).tolist()
    return Interval(found.value, min(low, found.value - less), max(high, found.value + more))


def _quantiles(values: Array) -> tuple[float, float]:
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0]).tolist()
    return low, high


def _merge_levels(rows: LabelledRows) -> tuple[LabelledRows, NDArray[np.intp]]:
    """The rows with at most `MAX_LEVELS` distinct values, and the number of the first level of each of these."""
    n_levels = len(rows.levels)
    if n_levels <= MAX_LEVELS:
        return rows, np.arange(n_levels)
    first = np.unique(np.linspace(0, n_levels, MAX_LEVELS, endpoint=False).astype(np.intp))
    merged = np.searchsorted(first, rows.level, side="right") - 1
    return replace(rows, statistic=rows.levels[first[merged]]), first


def _resampled(rows: LabelledRows, rng: np.random.Generator | None, n_resamples: int) -> Iterator[Outcomes]:
    """The outcomes on Poisson bootstrap resamples of the rows or groups; on the rows themselves without `rng`."""
    units = rows.units
    n_levels, number = len(rows.levels), 2 * rows.level + rows.is_positive
    cost = np.where(rows.is_positive, rows.fn, rows.fp) * rows.weight

    def by_level(values: Array) -> Array:
        summed: Array = np.bincount(number, values, 2 * n_levels).astype(np.float64)
        return summed.reshape(n_levels, 2)

    weights, costs, n_rows = by_level(rows.weight), by_level(cost), by_level(np.ones(len(number)))
    for _ in range(n_resamples):
        drawn_weights, drawn_costs = weights, costs
        if rng is not None and units is None:
            # The number of draws of several rows is Poisson distributed, too.
            factor = rng.poisson(n_rows) / np.maximum(n_rows, 1.0)
            drawn_weights, drawn_costs = weights * factor, costs * factor
        elif rng is not None and units is not None:
            times = rng.poisson(1.0, units.max() + 1)[units]
            drawn_weights, drawn_costs = by_level(rows.weight * times), by_level(cost * times)
        yield Outcomes.of(drawn_weights[:, 1], drawn_weights[:, 0], drawn_costs[:, 1], drawn_costs[:, 0], rows.correct)

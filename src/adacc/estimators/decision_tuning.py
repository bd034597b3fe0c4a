"""Tuning of decision rules on rows with known classes.

A rule is tuned over all thresholds that separate the rows. The bootstrap shows how much better the tuned threshold does
on these rows than on new ones, and how much it varies.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.estimators.decision_intervals import PER_ROWS, intervals_of_alerts
from adacc.estimators.labelled_rows import LabelledRows
from adacc.model.cost_matrix import error_costs
from adacc.model.decision import Decision, DecisionReport, Interval, untuned
from adacc.model.decision_spec import DecisionSpec

CONFIDENCE = 0.95
TOLERANCE = 1e-9
"""Relative rounding error of a sum of weights. A condition holds within that of the sums that it compares.

The error of the total weight says nothing about the other sums: the positive rows may be a tiny part of it.
"""

N_RESAMPLES, FEW_RESAMPLES, MANY_LEVELS = 500, 200, 10_000
"""Number of resamples, and the smaller number that is used if there are more than so many distinct values."""

MAX_LEVELS = 50_000
"""Maximum number of distinct values in the bootstrap; neighbours are merged."""


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
                "alerts_per_1000": PER_ROWS * alerts / total,
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
    report = _report(spec, rows, chosen, source, seed)
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


def _report(spec: DecisionSpec, rows: LabelledRows, chosen: int, source: str, seed: int) -> DecisionReport:
    """What the chosen threshold achieves, with intervals."""
    optimism, threshold = None, None
    if spec.needs_tuning:
        optimism, thresholds = _bootstrap(spec, rows, seed)
        threshold = Interval(threshold_at(rows.levels, chosen), *_quantiles(thresholds))
    achieved = intervals_of_alerts(spec, rows, rows.level >= chosen, optimism)
    n_rows, n_positive = round(rows.counts.sum()), round(rows.counts[rows.is_positive].sum())
    return DecisionReport(source, n_rows, n_positive, achieved, threshold)


def _bootstrap(spec: DecisionSpec, rows: LabelledRows, seed: int) -> tuple[dict[str, float], Array]:
    """The optimism of each measure, and the thresholds that are chosen on resamples of the rows.

    The optimism is the mean difference between what a threshold achieves on the resample that it was tuned on, and on
    the rows from which that was drawn [Efron 1983].
    """
    rows = _merge_levels(rows)
    outcomes = next(_resampled(rows, None, 1))
    differences, thresholds = [], []
    n_resamples = FEW_RESAMPLES if len(rows.levels) > MANY_LEVELS else N_RESAMPLES
    for resample in _resampled(rows, np.random.default_rng(seed), n_resamples):
        if resample.n_positive > 0.0 and resample.n_negative > 0.0:
            i = choose(spec, resample)[0]
            thresholds.append(threshold_at(rows.levels, i))
            there, here = resample.measures(spec, i), outcomes.measures(spec, i)
            differences.append({name: there[name] - here[name] for name in there})
    optimism = {}
    for name in outcomes.measures(spec, 0):
        values = np.array([each[name] for each in differences])
        values = values[np.isfinite(values)]
        optimism[name] = float(values.mean()) if len(values) else 0.0
    return optimism, np.array(thresholds)


def _quantiles(values: Array) -> tuple[float, float]:
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0]).tolist()
    return low, high


def _merge_levels(rows: LabelledRows) -> LabelledRows:
    """The rows with at most `MAX_LEVELS` distinct values."""
    n_levels = len(rows.levels)
    if n_levels <= MAX_LEVELS:
        return rows
    first = np.unique(np.linspace(0, n_levels, MAX_LEVELS, endpoint=False).astype(np.intp))
    merged = np.searchsorted(first, rows.level, side="right") - 1
    return replace(rows, statistic=rows.levels[first[merged]])


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

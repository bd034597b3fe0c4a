"""How often the intervals of decision rules contain what the rules achieve, by simulation.

python studies/rule_intervals.py {logistic,booster,forest} [--repeats 1000] [--output studies/results/rule_intervals]

Rows are drawn from two normal distributions, a model is fitted, its rules are tuned on held-out or out-of-bag rows, and
what the rules achieve on new rows is computed: for logistic regression from the normal distribution of its log-odds,
for the others on many rows. There is no drift: rows "by time" are in random order.

- logistic: `DecisionRule(LogisticRegression())` with 20, 50 and 200 positive rows (5 %), with and without groups. A
  group has four rows, which share half of the variance of the features; positive rows come together in some groups.
- booster, forest: AdaCC1 and the AdaCC forest with 2,000 rows, 5 % positive, tuned on five folds, forward in time
  (`TimeSplit(3)`) and, for the forest, out of bag.

The tables have, for each rule and measure, the mean value on the tuning rows and the mean that is achieved; the share
of the repeats in which that is inside the interval, below it and above it; the mean width of the interval, and that
relative to the interval of Clopper and Pearson for the same counts, and (`relative_effective`) for the number of
independent rows that say as much as the groups, by the true design effect on many groups. Repeats without an interval,
for lack of alerts, are left out.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betaincinv, logit, ndtr
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import adacc
from adacc.estimators import decision_tuning
from adacc.model.decision_spec import read_decision

SHARE, N_FEATURES, SHIFT = 0.05, 5, 2.0
"""Share of positive rows, number of features, and distance of the means of both classes in standard deviations."""

N_POSITIVE, N_ROWS, GROUP_SIZE = (20, 50, 200), 2_000, 4
"""Numbers of positive rows for logistic regression, and of rows for the other models; rows of a group."""

ICC = 0.2
"""Correlation of the classes of two rows of a group."""

N_RESAMPLES = 40
"""Number of resamples, fewer than usual as there are many repeats."""

RULES = ("recall>=0.9", "precision>=0.5", "alerts<=30/1000", "threshold=0.5")
SCORE_RULES = ("recall>=0.9", "precision>=0.5", "alerts<=30/1000", "score=0")
MEASURES = ("recall", "precision", "alerts_per_1000")


def features(rng, positive, groups=None):
    noise = rng.normal(size=(len(positive), N_FEATURES))
    if groups is not None:
        noise = np.sqrt(0.5) * (noise + rng.normal(size=(groups.max() + 1, N_FEATURES))[groups])
    return noise + SHIFT / np.sqrt(N_FEATURES) * positive[:, None]


def sample(rng, n_positive, grouped):
    """Rows with exactly `n_positive` positive ones, or at least as many in whole groups."""
    if not grouped:
        positive = rng.permutation(np.arange(round(n_positive / SHARE)) < n_positive)
        return features(rng, positive), positive, None
    size = 1 / ICC - 1  # of the beta distribution of the share of positive rows in a group
    rates = rng.beta(SHARE * size, (1 - SHARE) * size, size=round(20 * n_positive / SHARE / GROUP_SIZE))
    positive = rng.random((len(rates), GROUP_SIZE)) < rates[:, None]
    positive = positive[: np.searchsorted(positive.sum(axis=1).cumsum(), n_positive) + 1]
    groups = np.repeat(np.arange(len(positive)), GROUP_SIZE)
    return features(rng, positive.ravel(), groups), positive.ravel(), groups


class Population:
    """Many rows of each class, on which the true rates are measured."""

    def __init__(self, n_positive, n_negative):
        rng = np.random.default_rng(10**6)
        self.positive = features(rng, np.ones(n_positive, dtype=bool))
        self.negative = features(rng, np.zeros(n_negative, dtype=bool))

    def scores(self, score):
        return score(self.positive), score(self.negative)

    @staticmethod
    def achieved(scores, threshold):
        return measures(*((each >= threshold).mean() for each in scores))


def measures(recall, false_alarms):
    """The true measures from the shares of alerts among the positive and the negative rows."""
    alerts = SHARE * recall + (1 - SHARE) * false_alarms
    precision = SHARE * recall / alerts if alerts else np.nan
    return {"recall": recall, "precision": precision, "alerts_per_1000": 1000 * alerts}


def achieved_by_linear(model, threshold):
    """The true measures of a logistic regression, whose log-odds have a normal distribution in each class."""
    weights = model.coef_[0]
    spread = np.sqrt(weights @ weights)
    negative = (model.intercept_[0] - logit(threshold)) / spread
    return measures(ndtr(negative + SHIFT / np.sqrt(N_FEATURES) * weights.sum() / spread), ndtr(negative))


class Groups:
    """Many groups of rows, on which it is measured how much less than independent rows they say."""

    def __init__(self, n_positive=4_000):
        self.rows, self.positive, self.numbers = sample(np.random.default_rng(10**6), n_positive, True)

    def design_effects(self, model, threshold):
        """Variance of each measure with groups relative to that with independent rows, by linear approximation."""
        alert = model.intercept_[0] + self.rows @ model.coef_[0] >= logit(threshold)
        ones = np.ones(len(alert))
        for measure, numerator, denominator in (
            ("recall", alert & self.positive, self.positive),
            ("precision", alert & self.positive, alert),
            ("alerts_per_1000", alert, ones),
        ):
            error = numerator - denominator * (numerator.sum() / denominator.sum())
            yield measure, float((np.bincount(self.numbers, error) ** 2).sum() / (error**2).sum())


def clopper_pearson_width(share, n):
    yes, no = share * n, (1 - share) * n
    low = betaincinv(yes, no + 1, 0.025) if yes else 0.0
    return (betaincinv(yes + 1, no, 0.975) if no else 1.0) - low


def compared(report, achieved, design_effects=()):
    """For each measure: value, achieved, within, below, above, width, and width relative to Clopper and Pearson's.

    The last number is relative to the interval for the number of rows divided by the design effect.
    """
    n_alerts = round(report.achieved["alerts_per_1000"].value * report.n_rows / 1000)
    trials = {"recall": report.n_positive, "precision": n_alerts, "alerts_per_1000": report.n_rows}
    effects = dict(design_effects)
    for measure in MEASURES:
        value, low, high = report.achieved[measure]
        found, scale = achieved[measure], 1000 if measure == "alerts_per_1000" else 1
        if np.isfinite([low, high, found]).all():
            share, n, width = value / scale, trials[measure], (high - low) / scale
            of_rows, of_groups = (clopper_pearson_width(share, n / each) for each in (1.0, effects.get(measure, 1.0)))
            inside = [low <= found <= high, found < low, found > high]
            yield measure, [value, found, *inside, scale * width, width / of_rows, width / of_groups]


def logistic(seed, n_positive, many_groups):
    """The cross-validation of one fit serves all rules."""
    X, positive, groups = sample(np.random.default_rng(seed), n_positive, many_groups is not None)
    model = adacc.DecisionRule(LogisticRegression(), pos_label=True)
    held_out = model._fit_held_out(X, positive, None, groups)
    for rule in RULES:
        decision = model._tuned(read_decision(rule), 1, held_out, {})
        fitted = held_out.estimator, decision.threshold
        effects = () if many_groups is None else many_groups.design_effects(*fitted)
        yield rule, compared(decision.report, achieved_by_linear(*fitted), effects)


def own(seed, estimator, cv, population):
    """A model of adacc, whose rules are set one after the other."""
    rng = np.random.default_rng(seed)
    X, positive, _ = sample(rng, round(SHARE * N_ROWS), False)
    model = estimator(random_state=seed, pos_label=True, decision=SCORE_RULES[0])
    if cv is not None:
        name = "calibration_cv" if hasattr(model, "calibration_cv") else "tuning_cv"
        model.set_params(**{name: cv})
    model.fit(X, positive, groups=np.arange(len(X)) if isinstance(cv, adacc.TimeSplit) else None)
    scores = population.scores(model.decision_function)
    for rule in SCORE_RULES:
        decision = model.set_decision(rule).decision_
        yield rule, compared(decision.report, population.achieved(scores, decision.threshold))


def configurations(part):
    if part == "logistic":
        for n_positive in N_POSITIVE:
            for many_groups in (None, Groups()):
                setting = {"model": "LogisticRegression", "tuned": "5 folds"}
                setting |= {"positives": n_positive, "groups": many_groups is not None}
                yield setting, partial(logistic, n_positive=n_positive, many_groups=many_groups)
        return
    estimator = adacc.AdaCC1Classifier if part == "booster" else adacc.AdaCCForestClassifier
    population = Population(5_000, 50_000)
    splits = {"5 folds": 5, "by time": adacc.TimeSplit(3)} | ({} if part == "booster" else {"out of bag": None})
    for name, cv in splits.items():
        setting = {"model": estimator.__name__, "tuned": name, "positives": round(SHARE * N_ROWS), "groups": False}
        yield setting, partial(own, estimator=estimator, cv=cv, population=population)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("logistic", "booster", "forest"))
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path("studies/results/rule_intervals"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)  # several threads slow down the fits of such small data several times
    decision_tuning.N_RESAMPLES = decision_tuning.FEW_RESAMPLES = N_RESAMPLES
    lines = []
    for setting, repeat in configurations(options.part):
        found = {}
        for seed in range(options.repeats):
            for rule, measures in repeat(seed):
                for measure, numbers in measures:
                    found.setdefault((rule, measure), []).append(numbers)
        for (rule, measure), rows in found.items():
            names = ("value", "achieved", "inside", "below", "above", "width", "relative_width", "relative_effective")
            means = dict(zip(names, np.nanmean(np.array(rows, dtype=float), axis=0), strict=True))
            lines.append(setting | {"rule": rule, "measure": measure, "repeats": len(rows)} | means)
        options.output.mkdir(parents=True, exist_ok=True)
        table = pd.DataFrame(lines)
        table.to_csv(options.output / f"{options.part}.csv", index=False, float_format="%.4f")
        print(table[-len(found) :].round(3).to_string(index=False, header=len(found) == len(table)), flush=True)


if __name__ == "__main__":
    main()

"""Intervals of rows that depend on each other, and whether probabilities are true."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from adacc.evaluation import estimates
from adacc.evaluation.assessment import DecidedRows, assess
from adacc.evaluation.calibration_check import check_calibration
from adacc.evaluation.decision_costs import Costs
from adacc.evaluation.estimates import effective_rows, ranking_areas, share_of, totals


def grouped(n_groups=150, seed=0, base=-1.5, deviation=1.5):
    """Groups, classes, scores and decisions; rows of a group share a deviation that the score does not know."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 9, n_groups))
    scores = rng.normal(size=len(groups)) + 0.7 * rng.normal(size=n_groups)[groups]
    eta = base + scores + deviation * rng.normal(size=n_groups)[groups]
    return groups, rng.random(len(groups)) < 1 / (1 + np.exp(-eta)), scores, scores > 1.0


def ends(estimate):
    return estimate.low, estimate.high


def test_copies_in_a_group_change_no_interval():
    """Rows that are copied are no new information, if their group is known; without it intervals become narrower."""
    _, y, scores, alert = grouped()
    n, costs = len(y), Costs(9.0, 1.0)
    once = assess(DecidedRows(y, alert, scores, ~alert, costs, np.arange(n)), {"half": np.arange(n) % 2})
    copies = [np.repeat(each, 4) for each in (y, alert, scores, ~alert, np.arange(n))]
    four = assess(DecidedRows(*copies[:4], costs, copies[4]), {"half": copies[4] % 2})
    for name, each in once.figures.items():
        assert ends(four.figures[name]) == pytest.approx(ends(each)), name
    for first, second in zip(
        [*once.policies, once.rule, *once.gains], [*four.policies, four.rule, *four.gains], strict=True
    ):
        assert ends(second.recall) == pytest.approx(ends(first.recall), abs=2e-3)
        assert ends(second.precision) == pytest.approx(ends(first.precision), abs=2e-3)
    for first, second in zip(once.policies[1:], four.policies[1:], strict=True):
        assert ends(second.saved.times(0.25)) == pytest.approx(ends(first.saved))
    for first, second in zip(once.subgroups["half"], four.subgroups["half"], strict=True):
        assert ends(second.recall) == pytest.approx(ends(first.recall))
        assert second.effective == pytest.approx(first.effective)
    assert [each.p for each in four.tests] == pytest.approx([each.p for each in once.tests])
    assert (once.groups, four.groups) == (n, n)
    alone = assess(DecidedRows(*copies[:4], costs)).figures["recall"]
    assert alone.high - alone.low < 0.6 * (once.figures["recall"].high - once.figures["recall"].low)
    json.dumps(four.to_dict(), allow_nan=False)


def test_groups_of_one_row_are_independent_rows():
    _, y, scores, alert = grouped()
    alone, single = (assess(DecidedRows(y, alert, scores, groups=each)) for each in (None, np.arange(len(y))))
    for name, each in alone.figures.items():
        width = each.high - each.low
        assert ends(single.figures[name]) == pytest.approx(ends(each), abs=0.15 * width), name
    assert alone.groups is None


def test_the_effective_number_of_rows_is_that_of_a_bootstrap_of_groups():
    groups, y, _, alert = grouped(400)
    rng, drawn = np.random.default_rng(1), []
    rows_of = [np.flatnonzero(groups == k) for k in range(400)]
    for _ in range(2000):
        rows = np.concatenate([rows_of[k] for k in rng.integers(400, size=400)])
        drawn.append((alert & y)[rows].sum() / y[rows].sum())
    p = (alert & y).sum() / y.sum()
    assert effective_rows(alert & y, y, groups) == pytest.approx(p * (1 - p) / np.var(drawn), rel=0.15)
    assert effective_rows(alert & y, y, groups) < 0.9 * y.sum()


def test_intervals_of_areas_and_sums_are_those_of_a_bootstrap_of_groups():
    groups, y, scores, _ = grouped()
    cost = np.random.default_rng(3).gamma(1.0, 5.0, len(y))
    found = [*ranking_areas(scores, y, groups), *totals(cost[None], y, groups)]
    rng, drawn = np.random.default_rng(1), []
    rows_of = [np.flatnonzero(groups == k) for k in range(150)]
    for _ in range(500):
        rows = np.concatenate([rows_of[k] for k in rng.integers(150, size=150)])
        ranked = y[rows], scores[rows]
        drawn.append((roc_auc_score(*ranked), average_precision_score(*ranked), cost[rows].sum()))
    for each, low, high in zip(found, *np.quantile(drawn, [0.025, 0.975], axis=0), strict=True):
        assert ends(each) == pytest.approx((low, high), abs=0.2 * (high - low))


@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_of_groups_cover_the_truth(seed):
    """Those of independent rows do not."""
    _, y, _, alert = grouped(60_000, seed=99)
    truth = (alert & y).sum() / y.sum()
    covered = np.zeros(2)
    for k in range(150):
        groups, y, _, alert = grouped(80, seed=1000 * seed + k)
        covered += [not share_of(alert & y, y, each).excludes(truth) for each in (groups, None)]
    with_groups, without = covered / 150
    assert with_groups > 0.9  # 0.95 is expected; below 0.9 in one of 100 runs
    assert without < with_groups


def test_few_groups():
    """One group tells nothing about others; shares of 0 and 1 count groups, not rows."""
    ones = np.ones(40)
    assert effective_rows(ones, ones, np.zeros(40, dtype=int)) == 1.0
    assert effective_rows(ones, ones, np.arange(40) // 8) == 5.0
    assert effective_rows(0 * ones, 0 * ones, np.arange(40)) is None
    assert share_of(ones, ones, np.arange(40) // 8).low == pytest.approx(estimates.share(5, 5).low)
    y = np.arange(40) == 0
    for estimate in ranking_areas(np.arange(40.0), y, np.arange(40) // 20):  # many resamples have no positive row
        assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0


class TestCalibration:
    def probabilities(self, n=4000, seed=0):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-2.0, 1.2, n)
        p = 1 / (1 + np.exp(-odds))
        return rng.random(n) < p, p, odds

    @pytest.mark.parametrize(
        ("change", "level", "spread"),
        [
            (lambda odds: odds, "true", "true"),
            (lambda odds: odds + 1.0, "high", "true"),
            (lambda odds: odds - 1.0, "low", "true"),
            (lambda odds: 2.0 * odds + 2.0, None, "extreme"),
            (lambda odds: 0.5 * odds - 1.0, None, "moderate"),
        ],
    )
    def test_verdicts(self, change, level, spread):
        y, _, odds = self.probabilities()
        check = check_calibration(y, 1 / (1 + np.exp(-change(odds))))
        assert check.spread == spread
        assert level is None or check.level == level

    def test_slope_and_sum_are_those_of_other_libraries(self):
        y, p, _ = self.probabilities(800)
        check = check_calibration(y, p**1.5)
        log_odds = np.log(p**1.5 / (1 - p**1.5))
        fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(log_odds[:, None], y)
        assert check.slope.value == pytest.approx(fitted.coef_[0, 0], rel=1e-4)
        weight = fitted.predict_proba(log_odds[:, None]).prod(axis=1)
        centred = log_odds - np.average(log_odds, weights=weight)
        error = 1 / np.sqrt((weight * centred**2).sum())
        assert check.slope.high - check.slope.value == pytest.approx(1.96 * error, rel=1e-3)
        assert check.expected.value == pytest.approx((p**1.5).sum())
        drawn = (np.random.default_rng(0).random((4000, 800)) < p**1.5).sum(axis=1)
        assert ends(check.expected) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=2.0)
        assert check.positives == y.sum()

    def test_bins_are_shares_of_their_rows(self):
        y, p, _ = self.probabilities(1000)
        check = check_calibration(y, p)
        order = np.argsort(p)
        for each, rows in zip(check.bins, np.split(order, 10), strict=True):
            assert each.rows == pytest.approx(100, abs=1)
            assert each.mean_probability == pytest.approx(p[rows].mean(), abs=0.01)
            assert each.positive_rate.value == pytest.approx(y[rows].mean(), abs=0.02)
        assert sum(each.rows for each in check.bins) == 1000

    def test_copies_in_a_group_change_no_verdict(self):
        y, p, _ = self.probabilities(300)
        once = check_calibration(y, p, np.arange(300))
        four = check_calibration(*(np.repeat(each, 4) for each in (y, p, np.arange(300))))
        assert ends(four.slope) == pytest.approx(ends(once.slope))
        centre, width = four.expected.value / 4, (four.expected.high - four.expected.low) / 4
        assert centre == pytest.approx(once.expected.value)
        assert width == pytest.approx(once.expected.high - once.expected.low, rel=0.2)  # of p, or of y

    def test_verdicts_on_true_probabilities_are_false_in_one_of_twenty_cases(self):
        checks = [check_calibration(*self.probabilities(400, seed)[:2]) for seed in range(200)]
        assert 2 <= sum(each.level != "true" for each in checks) <= 20
        assert 2 <= sum(each.spread not in ("true", None) for each in checks) <= 20

    @pytest.mark.parametrize(
        ("y", "p"),
        [
            (np.zeros(30, dtype=bool), np.linspace(0.0, 1.0, 30)),  # no positive row
            (np.arange(30) < 15, np.full(30, 0.5)),  # equal probabilities
            (np.arange(60) < 30, np.where(np.arange(60) < 30, 1.0, 0.0)),  # separated
            (np.ones(1, dtype=bool), np.array([0.3])),
        ],
    )
    def test_without_a_slope(self, y, p):
        for groups in (None, np.arange(len(y)) // 2):
            check = check_calibration(y, p, groups)
            assert check.spread is None
            json.dumps(check.to_dict(), allow_nan=False)

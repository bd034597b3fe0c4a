"""Decision rules: their text, the rows that they choose against brute force, ties, intervals, and what is refused."""

import warnings
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adacc.estimators import decision_tuning
from adacc.estimators.decision_intervals import clopper_pearson
from adacc.estimators.decision_tuning import tune_rule
from adacc.estimators.labelled_rows import LabelledRows
from adacc.model.decision import cost_share, largest, untuned
from adacc.model.decision_spec import FORMS, read_decision

TWO = np.array(["fine", "fraud"])


# -- text


@pytest.mark.parametrize("text", [*FORMS, "tuned cost=[[0, 1], [20, 0]]", "tuned fn=COLUMN, fp=5", "fp=1, fn=2.5"])
def test_a_rule_is_its_text(text):
    spec = read_decision(text).for_classes(TWO)
    assert read_decision(str(spec)).for_classes(TWO) == spec
    assert read_decision(f"  {text}  ").for_classes(TWO) == spec


def test_names_of_columns_may_have_commas_and_quotes_and_may_be_numbers():
    spec = read_decision('fn="amount, ""net""", fp="5"')
    assert (spec.fn, spec.fp, spec.columns) == ('amount, "net"', "5", ('amount, "net"', "5"))
    assert read_decision(str(spec)) == spec
    assert read_decision("fn=amount, fp=5").fp == 5.0
    assert read_decision('top=3 per day of "a, b"').day_of == "a, b"


def test_costs_by_label_are_the_matrix():
    for rule in (
        'cost={"fraud": 20, "fine": 1}',
        {"fraud": 20, "fine": 1},
        [[0, 1], [20, 0]],
        np.array([[0, 1], [20, 0]]),
    ):
        assert str(read_decision(rule).for_classes(TWO)) == "cost=[[0.0, 1.0], [20.0, 0.0]]"
    assert read_decision('cost={"0": 1, "1": 4}').for_classes(np.array([0, 1])).costs == ((0.0, 1.0), (4.0, 0.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recall>0.9", 'must use >= for "at least": recall>=0.9'),
        ("recall=0.9", "recall>=0.9"),
        ("precision<=0.9", "precision>=0.9"),
        ("recall>=90%", "must have a number above 0 and up to 1, got '90%'"),
        ("recall>=1.01", "above 0 and up to 1, got 1.01"),
        ("recall>=0", "above 0 and up to 1, got 0"),
        ("recall>=nan", "above 0 and up to 1, got nan"),
        ("alerts<=20", 'for "at most": alerts<=20/1000'),
        ("alerts>=20/1000", "must use <= and a number of rows"),
        ("alerts<=2000/1000", "must have a number above 0 and up to 1000, got 2000"),
        ("top=0", "a whole number of at least 1, got 0"),
        ("top=2.5", "a whole number of at least 1, got 2.5"),
        ("top=5 per hour of x", "is not a rule; the rules are recall>=0.9; "),
        ("fbeta=-1", "a number above 0, got -1"),
        ("threshold=1.5", "a number from 0 to 1, got 1.5"),
        ("threshold=", "a number from 0 to 1, got ''"),
        ("cost=5", r"must have a matrix in JSON, such as \[\[0, 1\], \[20, 0\]\]"),
        ("cost={fraud: 20}", "must have a matrix in JSON"),
        ("fn=5, fn=3", "fn=COLUMN, fp=5"),
        ("fn=amount", "is not a rule"),
        ("fn=amount, fp=0", "costs above 0"),
        ("fn=amount, fp=-5", "a number of at least 0, got -5"),
        ("tuned recall>=0.9", "'tuned' belongs to rules with costs"),
        ("", "is not a rule"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_explained(text, message):
    with pytest.raises(ValueError, match=message):
        read_decision(text)


def test_rules_that_do_not_suit_the_classes():
    three = np.arange(3)
    for text in ("recall>=0.9", "top=3", "threshold=0.2", "tuned cost=[[0,1,1],[1,0,1],[1,1,0]]", "fn=1, fp=2"):
        with pytest.raises(ValueError, match=r"needs two classes, got 3; cost=.* without 'tuned' works for more"):
            read_decision(text).for_classes(three)
    with pytest.raises(ValueError, match="a row and a column for each class"):
        read_decision("cost=[[0, 1], [2, 0]]").for_classes(three)
    with pytest.raises(ValueError, match="the key 'theft', which is not a label of the classes"):
        read_decision({"theft": 3, "fine": 1}).for_classes(TWO)
    with pytest.raises(TypeError, match=r"must be a text such as 'recall>=0.9', or a cost matrix, got 3"):
        read_decision(3)


# -- thresholds against brute force


def outcomes(statistic, y, weight, fn, fp):
    """What every threshold does, one after the other: the alerts, and sums over the rows."""
    for threshold in [*np.unique(statistic), np.inf]:
        alert = statistic >= threshold
        yield {
            "alert": alert,
            "tp": int((weight * (alert & y)).sum()),
            "fp": int((weight * (alert & ~y)).sum()),
            "cost": int((weight * np.where(y & ~alert, fn, 0)).sum() + (weight * np.where(~y & alert, fp, 0)).sum()),
        }


def best_alerts(rule, statistic, y, weight, fn, fp):
    """The best of all sets of alerts by the definition of the rule, and whether the condition can be met.

    Weights and costs are integers, so that no sum and no comparison is rounded.
    """
    spec, all_of_them = read_decision(rule), list(outcomes(statistic, y, weight, fn, fp))
    positive, total = int((weight * y).sum()), int(weight.sum())
    asked, per = Fraction(spec.value).limit_denominator(1000), int(spec.per)
    fits = {
        "recall": lambda each: each["tp"] >= asked * positive,
        "precision": lambda each: each["tp"] + each["fp"] > 0 and each["tp"] >= asked * (each["tp"] + each["fp"]),
        "alerts": lambda each: (each["tp"] + each["fp"]) * per <= asked * total,
    }.get(spec.kind, lambda each: True)
    allowed = [each for each in all_of_them if fits(each)]
    beta = asked

    def value(each):
        """The larger, the better."""
        alerts = each["tp"] + each["fp"]
        if not allowed:
            return (Fraction(each["tp"], alerts) if alerts else -1, each["tp"])
        return {
            "recall": (-alerts,),
            "precision": (each["tp"], -alerts),
            "alerts": (alerts,),
            "fbeta": (Fraction((1 + beta**2) * each["tp"]) / (beta**2 * positive + alerts or 1), -alerts),
        }.get(spec.kind, (-each["cost"], -alerts))  # fmt: skip

    best = max(allowed or all_of_them, key=value)
    return best["alert"], bool(allowed)


RULES = ["recall>=0.5", "recall>=0.9", "recall>=1", "precision>=0.3", "precision>=0.75", "precision>=1",
         "alerts<=300/1000", "alerts<=1/4", "f1", "fbeta=2", "fbeta=0.5", "tuned fn=3, fp=1", "tuned fn=cost, fp=2",
         "tuned cost=[[0, 1], [4, 0]]", "tuned cost=[[-1, 1], [4, -2]]"]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("positive", [0, 1])
@settings(max_examples=25)
@given(
    rows=st.lists(
        st.tuples(st.integers(-4, 4), st.booleans(), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 5)),
        min_size=2,
        max_size=25,
    ),
    scale=st.sampled_from([1, 2**30]),
    heavy=st.booleans(),
)
def test_the_threshold_is_the_best_of_all(rule, positive, rows, scale, heavy):
    """With many ties, weights and costs by row, and a class whose rows weigh much more than those of the other."""
    statistic, y, weight, cost = (np.array(part) for part in zip(*rows, strict=True))
    if y.all() or not y.any():
        return
    statistic, weight = statistic / 7.0, weight * np.where(y == heavy, scale, 1)
    spec = read_decision(rule).for_classes(np.array([0, 1]))
    fn, fp = {"tuned fn=3, fp=1": (3, 1), "tuned fn=cost, fp=2": (cost, 2)}.get(rule, (1, 1))
    if spec.kind == "cost":
        matrix = np.array(spec.costs)
        fn = matrix[positive, 1 - positive] - matrix[positive, positive]
        fp = matrix[1 - positive, positive] - matrix[1 - positive, 1 - positive]
    given_costs = (1.0, 1.0) if spec.kind == "cost" else (fn, fp)
    with warnings.catch_warnings(record=True) as caught, patch.object(decision_tuning, "N_RESAMPLES", 2):
        warnings.simplefilter("always")
        decision = tune_rule(spec, positive, LabelledRows(statistic, y, weight, None, *given_costs), "given")
    best, met = best_alerts(rule, statistic, y, (2 * weight).astype(np.int64), fn, fp)
    assert decision.report.met == met
    np.testing.assert_array_equal(statistic >= decision.threshold, best)
    assert met or any("cannot be met" in str(each.message) for each in caught)
    achieved = decision.report.achieved
    assert achieved["recall"].value == pytest.approx((weight * (best & y)).sum() / (weight * y).sum())
    if best.any():
        assert achieved["precision"].value == pytest.approx((weight * (best & y)).sum() / (weight * best).sum())
    assert achieved["alerts_per_1000"].value == pytest.approx(1000 * (weight * best).sum() / weight.sum())
    if spec.kind == "cost":
        each = matrix[np.where(y, positive, 1 - positive), np.where(best, positive, 1 - positive)]
        assert achieved["mean_cost"].value == pytest.approx(np.average(each, weights=weight))


def test_what_cannot_be_met_is_said_and_the_nearest_is_taken():
    statistic, y = np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, False, False])
    rows = LabelledRows(statistic, y, np.ones(4))
    with pytest.warns(
        UserWarning, match=r"'precision>=0.9' cannot be met on the 4 given rows: the largest precision of"
    ):
        decision = tune_rule(read_decision("precision>=0.9"), 1, rows, "given")
    assert decision.threshold <= 1.0  # of a precision of one half, as no higher threshold has
    assert not decision.report.met
    with pytest.warns(UserWarning, match="'alerts<=1/1000' allows no alert on the 4 given rows"):
        assert not (statistic >= tune_rule(read_decision("alerts<=1/1000"), 1, rows, "given").threshold).any()
    with pytest.raises(ValueError, match="needs rows of both classes, got rows of one class only"):
        tune_rule(read_decision("f1"), 1, LabelledRows(statistic, np.ones(4, dtype=bool), np.ones(4)), "given")


def test_thresholds_between_neighbouring_floats():
    low = 0.5
    rows = LabelledRows(np.array([low, np.nextafter(low, 1.0)]), np.array([False, True]), np.ones(2))
    for rule in ("recall>=1", "precision>=1", "f1", "alerts<=1/2"):
        np.testing.assert_array_equal(
            rows.statistic >= tune_rule(read_decision(rule), 1, rows, "x").threshold, [False, True]
        )


# -- ranks, days and costs of rows


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20), st.integers(1, 6))
def test_the_largest_of_each_group(rows, k):
    scores, groups = np.array(rows).T
    alerts = largest(scores.astype(float), k, groups)
    for group in np.unique(groups):
        rank = sorted(np.flatnonzero(groups == group), key=lambda i: (-scores[i], i))
        assert sorted(rank[:k]) == np.flatnonzero(alerts & (groups == group)).tolist()
    assert largest(scores.astype(float), k).sum() == min(k, len(scores))


def test_expected_costs_of_rows_by_hand():
    p, amount = np.array([0.1, 0.1, 0.02, 0.5, 0.0]), np.array([44.0, 45.0, 300.0, 0.0, 0.0])
    decision = untuned(read_decision("fn=amount, fp=5"), 1)
    both = np.column_stack([1 - p, p])
    said = decision.class_index(p, lambda: both, {"amount": amount})
    cost_of_none, cost_of_alarm = p * amount, (1 - p) * 5
    np.testing.assert_array_equal(said, cost_of_none >= cost_of_alarm)
    assert said.tolist() == [0, 1, 1, 0, 0]  # the second row costs the same either way: at least is enough
    assert cost_share(np.array([0.3]), 0.0, 0.0) == 0.0
    for amounts, message in [
        ([1.0, -2.0, 0, 0, 0], "in column 'amount' must be finite and not negative, got -2.0 in row 2"),
        ([1.0, np.nan, 0, 0, 0], "got nan in row 2"),
        (["a"] * 5, "in column 'amount' must be numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            decision.class_index(p, lambda: both, {"amount": np.array(amounts)})


# -- intervals


def draw(rng, n_rows=500):
    """Scores and classes of rows, one in ten positive."""
    y = rng.random(n_rows) < 0.1
    return rng.normal(size=n_rows) + 2.0 * y, y


MANY = draw(np.random.default_rng(99), 400_000)


def on_new_rows(threshold):
    """What a threshold achieves on very many rows."""
    scores, y = MANY
    alert = scores >= threshold
    return {
        "recall": alert[y].mean(),
        "precision": y[alert].mean(),
        "alerts_per_1000": 1000 * alert.mean(),
        "fbeta": 2 * (alert & y).sum() / (alert.sum() + y.sum()),
        "mean_cost": np.where(y, 10 * ~alert, alert).mean(),
    }


@pytest.mark.parametrize(
    ("rule", "measure"),
    [
        ("recall>=0.9", "recall"),
        ("precision>=0.5", "precision"),
        ("precision>=0.5", "recall"),
        ("alerts<=50/1000", "alerts_per_1000"),
        ("f1", "fbeta"),
        ("tuned cost=[[0, 1], [10, 0]]", "mean_cost"),
        ("score=1", "recall"),
        ("score=1", "precision"),
    ],
)
def test_intervals_hold_what_they_promise(rule, measure, monkeypatch):
    """Tuned again and again, the threshold achieves what its interval contains in 95 of 100 cases, or nearly."""
    monkeypatch.setattr(decision_tuning, "N_RESAMPLES", 40)
    rng, inside, apparent, relative = np.random.default_rng(5), [], [], []
    spec = read_decision(rule).for_classes(np.array([0, 1]))
    for _ in range(150):
        scores, y = draw(rng)
        decision = tune_rule(spec, 1, LabelledRows(scores, y, np.ones(len(y))), "x")
        new, found = on_new_rows(decision.threshold)[measure], decision.report.achieved[measure]
        inside.append(found.low <= new <= found.high)
        apparent.append(found.value - new)
        assert found.low <= found.value <= found.high
        alert = scores >= decision.threshold
        trials = {"recall": y.sum(), "precision": alert.sum(), "alerts_per_1000": len(y)}.get(measure)
        if trials:
            scale = 1000.0 if measure == "alerts_per_1000" else 1.0
            exact = stats.binomtest(round(found.value / scale * trials), trials).proportion_ci(0.95, "exact")
            relative.append((found.high - found.low) / scale / (exact.high - exact.low))
    assert stats.binom.cdf(sum(inside), len(inside), 0.93) > 0.01
    assert not relative or np.mean(relative) < 1.2  # not by being wide
    if measure == "fbeta":  # tuned on the same rows, it looks better than it is: the intervals must know
        assert np.mean(apparent) > 0.0


@given(st.integers(0, 30), st.integers(1, 30))
def test_a_fixed_threshold_has_the_exact_interval(found, others):
    scores = np.r_[np.ones(found), np.zeros(others + 1)]
    rows = LabelledRows(scores, np.arange(len(scores)) < found + others, np.ones(len(scores)))
    recall = tune_rule(read_decision("score=0.5"), 1, rows, "x").report.achieved["recall"]
    exact = stats.binomtest(found, found + others).proportion_ci(0.95, "exact")
    np.testing.assert_allclose(recall, [found / (found + others), exact.low, exact.high], atol=1e-9)


def test_copies_of_rows_in_groups_are_no_further_rows():
    """Each row four times in a group: the interval is nearly that of the rows without copies."""
    scores, y = draw(np.random.default_rng(3))
    once = tune_rule(read_decision("score=1"), 1, LabelledRows(scores, y, np.ones(len(y))), "x").report
    of_group = np.repeat(np.arange(len(y)), 4)
    rows = LabelledRows(scores[of_group], y[of_group], np.ones(len(of_group)), of_group)
    grouped = tune_rule(read_decision("score=1"), 1, rows, "x").report
    for measure in ("recall", "precision", "alerts_per_1000"):
        np.testing.assert_allclose(grouped.achieved[measure], once.achieved[measure], rtol=0.02)


def test_intervals_of_groups_are_wider():
    rng = np.random.default_rng(0)
    of_group = np.repeat(np.arange(40), 25)
    y = (rng.random(40) < 0.3)[of_group]
    scores = rng.normal(size=40)[of_group] + y + 0.01 * rng.normal(size=1000)
    widths = []
    for groups in (None, of_group):
        found = tune_rule(read_decision("recall>=0.8"), 1, LabelledRows(scores, y, np.ones(1000), groups), "x").report
        widths.append(found.achieved["recall"].high - found.achieved["recall"].low)
    assert widths[1] > 2.0 * widths[0]


def test_a_perfect_result_has_an_interval_too():
    y = np.arange(100) < 20
    report = tune_rule(read_decision("f1"), 1, LabelledRows(y + 0.0, y, np.ones(100)), "x").report
    assert report.achieved["recall"].value == report.achieved["recall"].high == 1.0
    assert 0.7 < report.achieved["recall"].low < 0.95
    assert clopper_pearson(0.0, 50.0)[0] == 0.0


def test_many_rows_are_merged_for_the_intervals_only(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.random(3000) < 0.1
    rows = LabelledRows(rng.normal(size=3000) + 2 * y, y, np.ones(3000))
    exact = tune_rule(read_decision("recall>=0.9"), 1, rows, "x")
    monkeypatch.setattr(decision_tuning, "MAX_LEVELS", 300)
    merged = tune_rule(read_decision("recall>=0.9"), 1, rows, "x")
    assert merged.threshold == exact.threshold
    np.testing.assert_allclose(merged.report.achieved["recall"], exact.report.achieved["recall"], atol=0.02)

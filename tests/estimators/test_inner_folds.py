"""Inner folds of every estimator: those that cannot tune are skipped, and rows held out repeatedly count once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matched import cross_val_matched
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB

import adacc
from adacc import CostDecision, CostSearchCV, DecisionRule, TimeSplit
from adacc.estimators.folds import inner_folds

COSTS = {False: 1.0, True: 8.0}
ESTIMATORS = {
    "rule": (DecisionRule(GaussianNB(), "recall>=0.9"), "cv"),
    "cost": (CostDecision(GaussianNB(), COSTS, threshold="tuned"), "cv"),
    "search": (CostSearchCV(adacc.CGAdaClassifier(n_estimators=4), [[0.3, 1.0], [1.0, 1.0]]), "cv"),
    "booster": (
        adacc.AdaCC1Classifier(n_estimators=6, calibration="sigmoid", decision="recall>=0.9", random_state=0),
        "calibration_cv",
    ),
    "forest": (
        adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=3, decision="recall>=0.9", random_state=0),
        "tuning_cv",
    ),
}


def with_folds(name, cv):
    model, parameter = ESTIMATORS[name]
    return clone(model).set_params(**{parameter: cv})


def late(n_rows=600, seed=0):
    """Rows in time, of which the first half has no positive row."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n_rows, dtype=bool)
    y[rng.choice(np.arange(n_rows // 2, n_rows), n_rows // 15, replace=False)] = True
    return rng.normal(size=(n_rows, 3)) + 1.5 * y[:, None], y, np.arange(n_rows)


def noisy(n_rows=300, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.15
    return rng.normal(size=(n_rows, 3)) + 0.9 * y[:, None], y


class Fixed(BaseCrossValidator):
    """Yields given folds."""

    def __init__(self, folds):
        self.folds = folds

    def split(self, X=None, y=None, groups=None):
        yield from self.folds

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.folds)


# -- folds that cannot tune


@pytest.mark.parametrize("name", ["rule", "cost"])
def test_rows_are_scored_by_models_of_both_classes_only(name):
    """Against a loop by hand over the folds whose training rows have both classes."""
    X, y, time = late()
    folds = [(train, test) for train, test in TimeSplit(5).split(groups=time) if y[train].any()]
    rows = np.concatenate([test for _, test in folds])
    p, true = cross_val_matched(GaussianNB(), X, y, folds, "predict_proba")[rows], y[rows]
    model = with_folds(name, TimeSplit(5)).fit(X, y, groups=time)
    threshold = model.decision_.threshold
    if name == "rule":
        due = max(t for t in p if (p[true] >= t).mean() >= 0.9)
        assert model.decision_.report.n_rows == len(p) == 200
    else:
        due = min(np.unique(p), key=lambda t: np.where(true, 8 * (p < t), p >= t).sum())
        raw = [GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1] for train, test in folds]
        assert model.brier_ == pytest.approx(brier_score_loss(true, np.concatenate(raw)))
    np.testing.assert_array_equal(p >= threshold, p >= due)
    assert model.predict(X).mean() < 0.3


@pytest.mark.parametrize("name", ESTIMATORS)
def test_folds_that_cannot_tune_change_nothing(name):
    """Folds without training rows, without a class in them, or without held-out rows are skipped by every estimator."""
    X, y = noisy()
    rows = np.arange(len(y))
    usable = list(StratifiedKFold(3).split(X, y))
    unusable = [(rows[:0], rows), (np.flatnonzero(~y), rows[:40]), (rows, rows[:0]), (np.flatnonzero(y), rows[40:])]
    expected = with_folds(name, Fixed(usable)).fit(X, y)
    found = with_folds(name, Fixed([unusable[0], *usable[:2], *unusable[1:], usable[2]])).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    if name == "search":
        assert found.best_score_ == expected.best_score_
        assert found.n_splits_ == 3


@pytest.mark.parametrize("name", ESTIMATORS)
def test_tied_times_leave_the_folds_that_have_rows_before_them(name):
    X, y, time = late()
    early = np.where(time < 400, 0, time)  # the first three blocks begin at the earliest time: nothing precedes them
    folds = [fold for fold in TimeSplit(5).split(groups=early) if y[fold[0]].any()]
    assert 0 < len(folds) < 5
    found = with_folds(name, TimeSplit(5)).fit(X, y, groups=early)
    expected = with_folds(name, Fixed(folds)).fit(X, y, groups=early)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_without_a_usable_fold_the_error_says_what_is_missing(name):
    X, y, _ = late()
    message = r"cv must hold out rows of class False in a fold whose training rows have every class, got TimeSplit\("
    with pytest.raises(ValueError, match=message):
        with_folds(name, TimeSplit(2)).fit(X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="cv must yield at least one fold, got Fixed"):
        with_folds(name, Fixed([])).fit(X, y)


def test_rows_of_zero_weight_are_in_no_fold():
    X, y = noisy()
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    folds = inner_folds(4, y, used=weight > 0)
    assert all(weight[rows].all() for fold in folds for rows in fold)
    without = np.where(y & (np.arange(len(y)) < 150), 0.0, 1.0)
    late_only = [(np.arange(150), np.arange(150, 300))]  # the training rows have positives of zero weight only
    with pytest.raises(ValueError, match="in a fold whose training rows have every class"):
        DecisionRule(LogisticRegression(), cv=late_only).fit(X, y, sample_weight=without)


@pytest.mark.parametrize("times", [
    [1.0, 2.0, np.nan, 4.0, 5.0, 6.0],
    [1, 2, None, 4, 5, 6],
    np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-04", "2024-01-05", "2024-01-06"], dtype="datetime64[D]"),
    np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-04", "2024-01-05", "2024-01-06"], dtype="datetime64[ns]"),
    pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04", "2024-01-05", "2024-01-06"])),
    pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04", "2024-01-05", "2024-01-06"], utc=True)),
    pd.Series(["2024-01-01", "2024-01-02", None, "2024-01-04", "2024-01-05", "2024-01-06"], dtype="string"),
    pl.Series([1, 2, None, 4, 5, 6]),
])  # fmt: skip
def test_rows_without_a_time_are_named(times):
    """They would be sorted last, and then held out as the latest rows."""
    with pytest.raises(ValueError, match=r"groups must not be missing, got .* in row 2$"):
        list(TimeSplit(2).split(groups=times))
    X, y = np.arange(24.0)[:, None], np.arange(24) % 2
    many = np.concatenate([np.asarray(times)] * 4)
    for model in (DecisionRule(GaussianNB(), cv=TimeSplit(2)), CostSearchCV(adacc.CGAdaClassifier(), cv=TimeSplit(2))):
        with pytest.raises(ValueError, match=r"groups must not be missing, got .* in row 2$"):
            model.fit(X, y, groups=many)


# -- rows that are held out repeatedly


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_same_folds_again_and_again_change_nothing(name):
    """Folds that are repeated exactly say nothing new: neither answers nor numbers of rows nor intervals change."""
    X, y = noisy()
    once = list(StratifiedKFold(3).split(X, y))
    single, repeated = (with_folds(name, Fixed(folds)).fit(X, y) for folds in (once, once * 4))
    np.testing.assert_array_equal(repeated.predict(X), single.predict(X))
    np.testing.assert_allclose(repeated.predict_proba(X), single.predict_proba(X), atol=1e-6)
    if name == "search":
        assert repeated.best_score_ == pytest.approx(single.best_score_)
        return
    if name == "cost":
        assert repeated.expected_cost_ == pytest.approx(single.expected_cost_)
        assert repeated.brier_ == pytest.approx(single.brier_)
        for key, values in single.reliability_.items():
            np.testing.assert_allclose(repeated.reliability_[key], values)
        return
    report, expected = repeated.decision_.report, single.decision_.report
    assert (report.n_rows, report.n_positive) == (expected.n_rows, expected.n_positive) == (len(y), y.sum())
    for measure, interval in expected.achieved.items():
        scale = 1000.0 if measure == "alerts_per_1000" else 1.0
        assert report.achieved[measure].value == pytest.approx(interval.value)
        np.testing.assert_allclose(np.array(report.achieved[measure]) / scale, np.array(interval) / scale, atol=0.06)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("groups", [None, np.arange(400) // 2])
def test_more_splits_of_the_same_rows_do_not_narrow_an_interval(groups):
    X, y = noisy(400)
    widths = []
    for cv in (
        StratifiedKFold(5, shuffle=True, random_state=0),
        StratifiedShuffleSplit(50, test_size=0.5, random_state=0),
    ):
        model = DecisionRule(LogisticRegression(), "recall>=0.8", cv=cv).fit(X, y, groups=groups)
        low, high = model.decision_.report.achieved["recall"][1:]
        widths.append(high - low)
        assert model.decision_.report.n_rows == 400
    assert 0.7 * widths[0] < widths[1] < 2.0 * widths[0]


def test_rows_count_by_their_weight_however_often_they_are_held_out():
    """The measures are means over rows of what the models of their folds decide."""
    X, y = noisy()
    weight = 1.0 + np.arange(len(y)) % 4
    folds = list(StratifiedShuffleSplit(6, test_size=0.3, random_state=0).split(X, y))
    alerts, times = np.zeros(len(y)), np.zeros(len(y))
    for train, test in folds:
        alerts += cross_val_matched(GaussianNB(), X, y, [(train, test)], "predict_proba", weight) >= 0.3
        times[test] += 1
    share = alerts / np.maximum(times, 1)
    held_out = weight * (times > 0)
    model = DecisionRule(GaussianNB(), "threshold=0.3", cv=folds).fit(X, y, sample_weight=weight)
    achieved = model.decision_.report.achieved
    assert model.decision_.report.n_rows == (times > 0).sum()
    assert achieved["recall"].value == pytest.approx((held_out * share)[y].sum() / held_out[y].sum())
    assert achieved["alerts_per_1000"].value == pytest.approx(1000 * (held_out * share).sum() / held_out.sum())


@pytest.mark.parametrize("name", ["booster", "forest"])
def test_a_model_file_keeps_which_rows_are_the_same(name, tmp_path):
    X, y = noisy()
    cv = StratifiedShuffleSplit(5, test_size=0.4, random_state=0)
    model = with_folds(name, cv).fit(X, y)
    n_rows = model.decision_.report.n_rows
    assert n_rows < 5 * 120
    model.set_params(**{ESTIMATORS[name][1]: None}).save(tmp_path / "m.adacc")  # a file cannot keep the splitter
    again = adacc.load(tmp_path / "m.adacc").set_decision("precision>=0.4")
    model.set_decision("precision>=0.4")
    assert again.decision_.report.n_rows == n_rows
    assert again.decision_.report == model.decision_.report


def test_an_estimator_that_changes_with_its_seed_is_not_averaged():
    """A mean over the models of several folds would be better than the one model that predicts in the end."""
    X, y = noisy(600)
    forest = RandomForestClassifier(1, random_state=0)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    others = [fold for seed in range(1, 5) for fold in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)]
    single, several = (CostDecision(forest, COSTS, cv=cv).fit(X, y).brier_ for cv in (folds, folds + others))
    assert several == pytest.approx(single, rel=0.15)

"""Decision rules of fitted models and of any classifier: tuning rows, columns, files, and what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matched import cross_val_matched
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

import adacc
from adacc import DecisionRule
from adacc.estimators import decision_tuning
from adacc.export import to_onnx
from adacc.model.calibration import Calibrator, Isotonic
from adacc.model.decision import untuned
from adacc.model.decision_spec import read_decision
from adacc.model.serialization import archive

RULE = "recall>=0.8"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """The intervals are tested in tests/model/test_decision.py."""
    monkeypatch.setattr(decision_tuning, "N_RESAMPLES", 5)


def recall_of(alert, y):
    return alert[y].mean()


def threshold_for_recall(scores, y, recall):
    """The highest score that enough positive rows reach."""
    return max(score for score in scores if recall_of(scores >= score, y) >= recall)


# -- boosters and forests


@pytest.mark.parametrize("flipped", [False, True])
def test_a_booster_is_tuned_on_rows_that_its_folds_have_not_seen(rare, flipped):
    X, y = rare[0], rare[1] == (0 if flipped else 1)
    model = adacc.AdaCC1Classifier(n_estimators=15, decision=RULE, random_state=0, pos_label=True).fit(X, y)
    seed = check_random_state(0).randint(np.iinfo(np.int32).max)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    plain = adacc.AdaCC1Classifier(n_estimators=15, random_state=0, pos_label=True)
    scores = cross_val_matched(plain, X, y, folds)
    due = threshold_for_recall(scores, y, 0.8)
    np.testing.assert_array_equal(scores >= model.decision_.threshold, scores >= due - 1e-9)
    assert model.decision_.report.rows == "held-out"
    assert model.decision_.report.achieved["recall"].value == pytest.approx(recall_of(scores >= due - 1e-9, y))
    plain.fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), plain.decision_function(X) >= model.decision_.threshold)


def test_a_forest_is_tuned_on_its_out_of_bag_rows(rare):
    X, y = rare
    model = adacc.AdaCCForestClassifier(n_estimators=20, decision=RULE, random_state=0).fit(X, y)
    stored = model.fitted_model_.tuning_scores
    assert model.decision_.report.rows == stored.rows == "out-of-bag"
    assert len(stored.scores) <= len(y)
    recall = recall_of(stored.scores >= model.decision_.threshold, stored.is_positive)
    assert recall >= 0.8
    in_bag = model.decision_function(X)
    assert recall_of(in_bag >= model.decision_.threshold, y == 1) > recall + 0.1  # rows that the trees have learnt
    held_out = clone(model).set_params(tuning_cv=3).fit(X, y)
    assert held_out.decision_.report.rows == "held-out"
    assert held_out.decision_.report.n_rows == len(y)


def test_setting_a_rule_later_is_the_same_as_fitting_with_it(rare):
    X, y = rare
    for model in (
        adacc.AdaCCForestClassifier(n_estimators=10, random_state=0),
        adacc.AdaCC2Classifier(n_estimators=10, calibration="sigmoid", random_state=0),
    ):
        for rule in (RULE, "f1", "tuned fn=2, fp=1", "threshold=0.3", "top=7"):
            fitted = clone(model).set_params(decision=rule).fit(X, y)
            later = clone(model).fit(X, y).set_decision(rule)
            assert str(later.decision_) == str(fitted.decision_)
            np.testing.assert_array_equal(later.predict(X), fitted.predict(X))
        plain = clone(model).fit(X, y)
        without = clone(plain).fit(X, y).set_decision("top=3").set_decision(None)
        assert without.decision_ is None
        np.testing.assert_array_equal(without.predict(X), plain.predict(X))


def test_groups_stay_together_and_sample_weights_count(rare):
    X, y = rare
    groups = np.arange(len(y)) // 4
    weight = 1.0 + (y == 1) * (np.arange(len(y)) % 3)
    model = adacc.AdaCC1Classifier(n_estimators=8, decision=RULE, random_state=0, calibration_cv=GroupKFold(4))
    model.fit(X, y, sample_weight=weight, groups=groups)
    stored = model.fitted_model_.tuning_scores
    assert stored.groups is not None
    alert = stored.scores >= model.decision_.threshold
    positive = stored.is_positive
    recall = stored.weight[alert & positive].sum() / stored.weight[positive].sum()
    assert model.decision_.report.achieved["recall"].value == pytest.approx(recall)
    for training, test in GroupKFold(4).split(X, y, groups):
        assert not set(groups[training]) & set(groups[test])
    given = adacc.AdaCC1Classifier(n_estimators=8).fit(X, y).set_decision(RULE, X, y, groups=groups)
    assert given.decision_.report.rows == "given"


def test_times_are_respected(rare):
    X, y = rare
    model = adacc.AdaCC1Classifier(n_estimators=5, decision="f1", calibration_cv=adacc.TimeSplit(3), random_state=0)
    model.fit(X, y, groups=np.arange(len(y)))
    assert model.decision_.report.n_rows == 180  # the first quarter is never held out


def test_scores_are_kept_for_few_rows_only(rare, monkeypatch):
    from adacc.estimators import decisions

    monkeypatch.setattr(decisions, "MAX_STORED_ROWS", 30)
    X, y = rare
    model = adacc.AdaCC1Classifier(n_estimators=5, decision=RULE, random_state=0).fit(X, y)
    stored = model.fitted_model_.tuning_scores
    assert model.decision_.report.n_rows == 240
    assert np.bincount(stored.is_positive).tolist() == [30, 30]
    assert stored.weight[stored.is_positive].sum() == pytest.approx(40)
    assert stored.weight.sum() == pytest.approx(240)


def test_several_classes_decide_by_cost(three):
    X, y = three
    costs = [[0, 1, 1], [5, 0, 5], [20, 20, 0]]
    for model in (
        adacc.AdaCC1Classifier(n_estimators=8, calibration="sigmoid", decision=costs),
        adacc.AdaCCForestClassifier(n_estimators=8, calibration="sigmoid", decision=costs, random_state=0),
        DecisionRule(LogisticRegression(), costs),
    ):
        p = model.fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(model.predict(X), np.argmin(p @ np.array(costs, dtype=float), axis=1))


# -- columns


def claims():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    frame["amount"] = rng.gamma(2.0, 30.0, 400)
    frame["day"] = pd.date_range("2024-01-01", periods=400, freq="3h")
    y = np.where(rng.random(400) < 1 / (1 + np.exp(2 - 2 * frame["a"])), "fraud", "fine")
    return frame, y


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_costs_of_rows_are_columns_of_the_frame_or_given(kind):
    frame, y = claims()
    features = frame[["a", "b", "c"]]
    model = adacc.AdaCC1Classifier(n_estimators=10, calibration="sigmoid", random_state=0).fit(kind(features), y)
    model.set_decision("fn=amount, fp=20")
    p = model.predict_proba(kind(features))[:, 1]
    due = np.where(p * frame["amount"] >= (1 - p) * 20, "fraud", "fine")
    assert 0 < (due == "fraud").sum() < 400
    np.testing.assert_array_equal(model.predict(kind(frame[["a", "b", "c", "amount"]])), due)  # not a feature
    np.testing.assert_array_equal(model.predict(kind(features), columns={"amount": frame["amount"]}), due)
    np.testing.assert_array_equal(model.predict(kind(features), columns=frame["amount"].to_numpy()), due)
    np.testing.assert_array_equal(model.predict(kind(features), columns=frame[["amount"]]), due)
    with pytest.raises(
        ValueError, match=r"needs the column 'amount': give it in a frame X, or as columns=\{'amount': va"
    ):
        model.predict(kind(features))
    with pytest.raises(ValueError, match=r"'amount' must have a value for each of the 400 rows, got the shape \(3,\)"):
        model.predict(kind(features), columns=[1, 2, 3])


def test_a_feature_may_be_the_cost_and_is_tuned_on_the_held_out_rows():
    frame, y = claims()
    X = frame[["a", "b", "amount"]]
    model = adacc.AdaCC1Classifier(n_estimators=10, random_state=0, decision="tuned fn=amount, fp=20").fit(X, y)
    stored, decision = model.fitted_model_.tuning_scores, model.decision_
    assert decision.report.achieved["mean_cost"].value < np.where(y == "fraud", frame["amount"], 0.0).mean()
    assert len(stored.scores) == 400
    p = model.predict_proba(X)[:, 1]
    share = p * frame["amount"] / (p * frame["amount"] + (1 - p) * 20)
    np.testing.assert_array_equal(model.predict(X) == "fraud", share >= decision.threshold)
    search = adacc.CostSearchCV(
        adacc.CGAdaClassifier(n_estimators=5, decision="tuned fn=amount, fp=20", random_state=0), cv=2
    ).fit(X, y)
    assert search.best_estimator_.decision_.rule == "tuned fn=amount, fp=20"
    assert set(search.predict(X)) <= {"fine", "fraud"}


def test_the_top_of_each_day():
    frame, y = claims()
    model = adacc.AdaCC1Classifier(n_estimators=10).fit(frame[["a", "b"]], y).set_decision("top=2 per day of day")
    alert = model.predict(frame[["a", "b", "day"]]) == "fraud"
    assert (pd.Series(alert).groupby(frame["day"].dt.date).sum() == 2).all()
    scores = pd.Series(model.decision_function(frame[["a", "b"]]))
    best = scores.groupby(frame["day"].dt.date).nlargest(2).index.get_level_values(1)
    assert scores[alert].sum() == pytest.approx(scores[best].sum())
    # The day of a time with a zone is that of the local calendar.
    elsewhere = frame.assign(day=frame["day"].dt.tz_localize("Pacific/Auckland"))
    np.testing.assert_array_equal(model.predict(elsewhere[["a", "b", "day"]]) == "fraud", alert)
    series = pl.Series("day", frame["day"]).dt.replace_time_zone("Asia/Tokyo")
    for day in (series, series.to_arrow(), pa.chunked_array([series.to_arrow()]), elsewhere["day"]):
        for columns in (day, {"day": day}):
            np.testing.assert_array_equal(model.predict(frame[["a", "b"]], columns=columns) == "fraud", alert)


@pytest.mark.parametrize("name", ['"day"', " day", "a, b", "7", "day"])
def test_the_name_of_a_column_of_days_survives_a_file(name, tmp_path):
    frame, y = claims()
    quoted = '"' + name.replace('"', '""') + '"'
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(frame[["a", "b"]], y).set_decision(f"top=2 per day of {quoted}")
    model.save(tmp_path / "m.adacc")
    assert adacc.load(tmp_path / "m.adacc").decision_.spec.columns == model.decision_.spec.columns == (name,)


def test_a_column_of_the_rule_is_no_feature_of_a_model_that_was_fitted_on_an_array():
    frame, y = claims()
    model = adacc.AdaCC1Classifier(n_estimators=10, calibration="sigmoid").fit(frame[["a", "b"]].to_numpy(), y)
    model.set_decision("fn=amount, fp=20")
    expected = model.predict(frame[["a", "b"]].to_numpy(), columns=frame["amount"])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(model.predict(frame[["a", "b", "amount"]]), expected)


@pytest.mark.parametrize(
    "estimator", [adacc.AdaCC1Classifier(n_estimators=10), adacc.AdaCCForestClassifier(n_estimators=5)]
)
@pytest.mark.parametrize("n_rows", range(393, 401))
def test_weights_that_balance_the_classes_do_not_change_the_positive_one(estimator, n_rows):
    frame, y = claims()
    X, y = frame[["a", "b"]][:n_rows], y[:n_rows]
    weight = compute_sample_weight("balanced", y)
    model = clone(estimator).set_params(random_state=0).fit(X, y, sample_weight=weight)
    assert model.classes_[model.fitted_model_.positive_class] == "fraud"
    rule = DecisionRule(LogisticRegression(), "alerts<=100/1000").fit(X, y, sample_weight=weight)
    assert (rule.predict(X) == "fraud").mean() < 0.5


def test_rows_of_weight_zero_do_not_tune_a_rule():
    frame, y = claims()
    X, weight = frame[["a", "b"]], np.arange(400) % 3 / 1.0
    model = adacc.AdaCC1Classifier(n_estimators=10).fit(X, y)
    used = weight > 0.0
    for rule in ("alerts<=100/1000", "recall>=0.8", "f1", "tuned fn=amount, fp=20"):
        columns = {"amount": frame["amount"]} if "amount" in rule else None
        with_zeros = model.set_decision(rule, X, y, sample_weight=weight, columns=columns).decision_
        columns = columns and {"amount": frame["amount"][used]}
        without = model.set_decision(rule, X[used], y[used], sample_weight=weight[used], columns=columns).decision_
        assert (with_zeros.threshold, with_zeros.report) == (without.threshold, without.report)
    with pytest.raises(ValueError, match="needs rows of both classes"):
        model.set_decision("recall>=0.9", X, y, sample_weight=np.where(y == "fraud", 0.0, 1.0))


# -- any classifier


def test_any_classifier_follows_a_rule(rare):
    X, y = rare
    for estimator, method in ((LogisticRegression(), "predict_proba"), (LinearSVC(), "decision_function")):
        model = DecisionRule(estimator, RULE, cv=StratifiedKFold(4)).fit(X, y)
        scores = cross_val_matched(estimator, X, y, StratifiedKFold(4), method)
        due = threshold_for_recall(scores, y == 1, 0.8)
        np.testing.assert_array_equal(scores >= model.decision_.threshold, scores >= due)
        response = getattr(clone(estimator).fit(X, y), method)(X)
        response = response[:, 1] if method == "predict_proba" else response
        np.testing.assert_array_equal(model.predict(X), response >= model.decision_.threshold)


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), adacc.AdaCC1Classifier(n_estimators=10)])
def test_a_rule_of_scores_compares_scores(rare, estimator):
    X, y = rare
    rule = DecisionRule(estimator, "score=0.5", cv=2).fit(X, y)
    scores = clone(estimator).fit(X, y).decision_function(X)
    sign = 1 if rule.decision_.positive == 1 else -1
    alert = rule.predict(X) == rule.classes_[rule.decision_.positive]
    np.testing.assert_array_equal(alert, sign * scores >= 0.5)
    assert 0 < alert.sum() < len(y)


class Overconfident(LogisticRegression):
    """Probabilities that are the more extreme the fewer training rows there are."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.factor_ = 3000.0 / len(y)
        self.coef_, self.intercept_ = self.factor_ * self.coef_, self.factor_ * self.intercept_ + self.factor_
        return self


@pytest.mark.parametrize("rule", ["recall>=0.8", "alerts<=60/1000", "f1", "threshold=0.3", "score=0"])
@pytest.mark.parametrize("in_time", [False, True])
def test_scores_of_fewer_rows_are_on_the_scale_of_the_final_model(rule, in_time):
    rng = np.random.default_rng(0)
    y = rng.random(30_000) < 0.1
    X = rng.normal(size=(30_000, 3)) + 1.2 * y[:, None]
    used, cv = np.arange(3000), adacc.TimeSplit(3) if in_time else 3
    model = DecisionRule(Overconfident(C=1e4), rule, cv=cv).fit(X[used], y[used], groups=used if in_time else None)
    alert, new = model.predict(X[3000:]), y[3000:]
    achieved = {"recall": alert[new].mean(), "precision": new[alert].mean(), "alerts_per_1000": 1000 * alert.mean()}
    for measure, found in achieved.items():
        assert model.decision_.report.achieved[measure].value == pytest.approx(found, rel=0.2)


@pytest.mark.parametrize("cv", [4, adacc.TimeSplit(3)])
def test_a_forest_tuned_on_folds_alerts_on_the_share_of_its_own_out_of_bag_scores(cv):
    """Its forests on fewer rows have other scores; the budget must hold for the forest that decides."""
    rng = np.random.default_rng(1)
    y = rng.random(900) < 0.1
    X = rng.normal(size=(900, 4)) + 0.9 * y[:, None]
    params = {"n_estimators": 6, "random_state": 0, "calibration": None}
    time = np.arange(900) if isinstance(cv, adacc.TimeSplit) else None
    model = adacc.AdaCCForestClassifier(tuning_cv=cv, decision="alerts<=80/1000", **params).fit(X, y, groups=time)
    tuning, report = model.fitted_model_.tuning_scores, model.decision_.report
    alerts = np.average(tuning.scores >= model.decision_.threshold, weights=tuning.weight)
    assert 0.06 < alerts <= 0.08 + 1e-9
    assert report.achieved["alerts_per_1000"].value == pytest.approx(1000 * alerts)
    # The same trees tuned out of bag differ by the weights of the kinds of bags only, which rank nearly the same.
    assert (model.predict(rng.normal(size=(20_000, 4)) + 0.9 * (rng.random(20_000) < 0.1)[:, None])).mean() < 0.12


@pytest.mark.parametrize("name", ["rule", "booster", "forest"])
def test_times_are_no_groups(name):
    """Rows of one time are not drawn together: with two times the threshold would be the same in every resample."""
    rng = np.random.default_rng(2)
    y = rng.random(600) < 0.2
    X, time = rng.normal(size=(600, 3)) + y[:, None], np.repeat([2023, 2024], 300)
    split = adacc.TimeSplit(2)
    model = {
        "rule": DecisionRule(LogisticRegression(), RULE, cv=split),
        "booster": adacc.AdaCC1Classifier(n_estimators=8, decision=RULE, calibration_cv=split, random_state=0),
        "forest": adacc.AdaCCForestClassifier(n_estimators=3, decision=RULE, tuning_cv=split, random_state=0),
    }[name]
    report = model.fit(X, y, groups=time).decision_.report
    assert report.threshold.low < report.threshold.high
    n_positive = report.n_positive
    assert report.achieved["recall"].high - report.achieved["recall"].low < 2.5 * (0.8 * 0.2 / n_positive) ** 0.5 * 1.96


def test_a_rule_of_scores_needs_scores(rare):
    with pytest.raises(TypeError, match=r"must have decision_function for the rule 'score=0'.*'threshold=P' compares"):
        DecisionRule(RandomForestClassifier(3), "score=0").fit(*rare)
    with pytest.raises(ValueError, match="undo_class_weight must be None for the rule 'score=0'"):
        DecisionRule(LogisticRegression(), "score=0", undo_class_weight="balanced").fit(*rare)


def test_rounding_errors_do_not_separate_a_row_from_the_threshold():
    y = np.repeat([0, 1], [70, 30])
    thirds = VotingClassifier([(f"d{i}", DummyClassifier(strategy="prior")) for i in range(3)], voting="soft")
    rule = DecisionRule(thirds, "threshold=0.7", pos_label=0, cv="training").fit(np.zeros((100, 1)), y)
    assert set(rule.predict(np.zeros((100, 1)))) == {0}


@pytest.mark.parametrize("make", [
    lambda: DecisionRule(LogisticRegression()),
    lambda: DecisionRule(LogisticRegression(), cv=adacc.TimeSplit(3)),
    lambda: adacc.CostDecision(LogisticRegression()),
    lambda: adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=3), [{0: 0.5, 1: 1.0}]),
])  # fmt: skip
def test_groups_may_be_a_column_and_must_not_be_missing(make):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(200, 2)), rng.permutation(200) // 4
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    expected = make().fit(X, y, groups=groups).predict(X)
    np.testing.assert_array_equal(make().fit(X, y, groups=groups[:, None]).predict(X), expected)
    with pytest.raises(ValueError, match="groups must not be missing, got <NA> in row 1"):
        make().fit(X, y, groups=pd.Series(["a", None] * 100, dtype="string"))


def test_the_rarer_class_is_positive_unless_another_is_named(rare):
    X, y = rare
    for flipped in (y, 1 - y):
        model = DecisionRule(LogisticRegression(), "recall>=1", cv="training").fit(X, flipped)
        rarer = np.bincount(flipped).argmin()
        assert (model.predict(X)[flipped == rarer] == rarer).all()
        other = DecisionRule(LogisticRegression(), "recall>=1", cv="training", pos_label=1 - rarer).fit(X, flipped)
        assert (other.predict(X)[flipped != rarer] != rarer).all()


def test_a_fitted_classifier_is_tuned_on_other_rows(rare):
    X, y = rare
    fitted = FrozenEstimator(adacc.AdaCC1Classifier(n_estimators=10).fit(X[:120], y[:120]))
    model = DecisionRule(fitted, "f1", cv="training").fit(X[120:], y[120:])
    p = fitted.predict_proba(X[120:])[:, 1]
    best = max(2 * ((p >= t) & (y[120:] == 1)).sum() / ((p >= t).sum() + y[120:].sum()) for t in p)
    assert model.decision_.report.achieved["fbeta"].value == pytest.approx(best)


def test_cost_decision_is_the_same_rule(rare):
    X, y = rare
    costs = {0: 1, 1: 6}
    for threshold, rule in (("expected", costs), ("tuned", 'tuned cost={"0": 1, "1": 6}')):
        one = adacc.CostDecision(LogisticRegression(), costs, threshold=threshold).fit(X, y)
        other = DecisionRule(LogisticRegression(), rule).fit(X, y)
        assert one.decision_.rule == other.decision_.rule
        assert other.decision_.report.achieved["mean_cost"].value == pytest.approx(one.expected_cost_)
        if threshold == "expected":
            np.testing.assert_array_equal(one.predict(X), other.predict(X))


# -- files


@pytest.mark.parametrize("rule", [RULE, "tuned cost=[[0, 1], [5, 0]]", "fn=amount, fp=2", "top=4", "precision>=1"])
@pytest.mark.filterwarnings("ignore")
def test_a_file_keeps_the_rule_and_the_scores(rare, rule, tmp_path):
    X, y = rare
    groups = np.arange(len(y)) // 2
    model = adacc.AdaCC1Classifier(n_estimators=8, decision="f1", calibration="sigmoid", random_state=0)
    model.fit(X, y, groups=groups)
    model.set_decision(rule).save(tmp_path / "m.adacc")
    again = adacc.load(tmp_path / "m.adacc")
    assert repr(again.decision_) == repr(model.decision_)
    for name, value in vars(model.fitted_model_.tuning_scores).items():
        np.testing.assert_array_equal(getattr(again.fitted_model_.tuning_scores, name), value)
    columns = {"columns": np.arange(len(y)) % 7} if "amount" in rule else {}
    np.testing.assert_array_equal(again.predict(X, **columns), model.predict(X, **columns))
    assert str(again.set_decision(RULE).decision_) == str(model.set_decision(RULE).decision_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "recall>0.5"}, "invalid rule: .* must use >="),
        ({"rule": "cost=[[0,1,2],[1,0,1],[1,1,0]]"}, "invalid rule: cost_matrix must have a row and a column"),
        ({"rule": 5}, "must have a rule, a threshold and a report"),
        ({"threshold": None}, "which does not fit the rule"),
        ({"rule": "top=5"}, "which does not fit the rule"),
        ({"threshold": True}, "which does not fit the rule"),
        ({"report": {"rows": "held-out"}}, "report of 'decision_rule' is invalid"),
        ({"report": []}, "must have a rule, a threshold and a report"),
    ],
)
def test_a_broken_rule_in_a_file_is_refused(rare, change, message, tmp_path):
    model = adacc.AdaCC1Classifier(n_estimators=3, decision=RULE, random_state=0).fit(*rare)
    model.save(tmp_path / "m.adacc")
    document, arrays = archive.unpack(archive.read(tmp_path / "m.adacc"))
    document["decision_rule"] |= change
    archive.write(tmp_path / "n.adacc", archive.pack(document, arrays))
    with pytest.raises(adacc.ModelFileError, match=message):
        adacc.load(tmp_path / "n.adacc")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tuning_positive", np.full(240, 2, dtype=np.uint8), "classes 0 and 1"),
        ("tuning_positive", np.zeros(3, dtype=np.uint8), r"must have the shape \(240\)"),
        ("tuning_scores", np.full(240, np.nan), "must hold finite numbers"),
        ("tuning_groups", np.full(240, -1), "numbers from 0 to the number of rows"),
        ("tuning_numbers", np.full(240, 240), "tuning_numbers.npy must hold numbers from 0 to the number of rows"),
        ("tuning_weight", np.zeros(240), "positive weights"),
    ],
)
def test_broken_scores_in_a_file_are_refused(rare, name, value, message, tmp_path):
    adacc.AdaCC1Classifier(n_estimators=3, decision=RULE, random_state=0).fit(*rare).save(tmp_path / "m.adacc")
    document, arrays = archive.unpack(archive.read(tmp_path / "m.adacc"))
    archive.write(tmp_path / "n.adacc", archive.pack(document, arrays | {name: value}))
    with pytest.raises(adacc.ModelFileError, match=message):
        adacc.load(tmp_path / "n.adacc")


# -- errors and warnings


def test_what_is_refused(rare, three):
    X, y = rare
    model = adacc.AdaCC1Classifier(n_estimators=3).fit(X, y)
    for call, message in [
        (lambda: model.set_decision(RULE), "must be tuned, but the model does not store scores of rows"),
        (lambda: model.set_decision(RULE, X), "X and y must be given together"),
        (lambda: model.set_decision("top=3", sample_weight=y), "must be given with X and y only"),
        (lambda: model.set_decision(RULE, X, y + 5), r"y must have labels of \[0, 1\], got 5"),
        (lambda: model.set_decision(RULE, X, y[:-1]), "one label for each of the 240 rows of X, got 239"),
        (lambda: model.set_decision(RULE, X[y == 0], y[y == 0]), "needs rows of both classes"),
        (lambda: model.predict(X, columns=y), "columns must be None, as there is no decision rule"),
        (lambda: clone(model).set_params(decision="recall").fit(X, y), "is not a rule"),
        (lambda: clone(model).set_params(decision=RULE).fit(*three), "needs two classes, got 3"),
        (lambda: DecisionRule(DummyClassifier(), "best").fit(X, y), "'best' is not a rule"),
        (lambda: DecisionRule(LogisticRegression(), "fn=amount, fp=1").fit(X, y).predict(X), "needs the column"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    assert model.decision_ is None
    with pytest.raises(TypeError, match="estimator must have predict_proba, got LinearSVC"):
        DecisionRule(LinearSVC(), "threshold=0.3").fit(X, y)
    for rule in ({0: 1, 1: 5}, "fn=5, fp=1", "fn=amount, fp=1"):
        message = "probabilities of this model are not calibrated: fit it with calibration='sigmoid', or put 'tuned'"
        for call in (
            lambda rule=rule: model.set_decision(rule),
            lambda rule=rule: model.set_decision(
                rule, X, y, columns={"amount": np.ones(len(y))} if "am" in rule else None
            ),
            lambda rule=rule: clone(model).set_params(decision=rule).fit(X, y),
            lambda rule=rule: adacc.AdaCCForestClassifier(calibration=None, n_estimators=2, decision=rule).fit(X, y),
        ):
            with pytest.raises(ValueError, match=message):
                call()
    assert model.decision_ is None
    with pytest.raises(ValueError, match=r"not calibrated: fit it with calibration='sigmoid'$"):
        clone(model).set_params(decision=np.ones((3, 3)) - np.eye(3)).fit(*three)


def test_calibration_without_folds_uses_five(rare):
    X, y = rare
    options = {"n_estimators": 8, "calibration": "sigmoid", "random_state": 0}
    default = adacc.AdaCC1Classifier(**options).fit(X, y).predict_proba(X)
    five = adacc.AdaCC1Classifier(**options, calibration_cv=5).fit(X, y).predict_proba(X)
    training = adacc.AdaCC1Classifier(**options, calibration_cv="training").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(default, five)
    assert not np.allclose(default, training)
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:3]])
    three = adacc.AdaCC1Classifier(**options).fit(X[few], y[few]).predict_proba(X)
    np.testing.assert_array_equal(
        three, adacc.AdaCC1Classifier(**options, calibration_cv=3).fit(X[few], y[few]).predict_proba(X)
    )
    published = adacc.BoostingClassifier("cgada-cal", n_estimators=8, random_state=0).fit(X, y).predict_proba(X)
    named = adacc.CGAdaClassifier(**options, calibration_cv="training").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(published, named)


# -- probabilities at a cost threshold


class Given(ClassifierMixin, BaseEstimator):
    """The only feature is the probability of the class 1."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        return np.column_stack([1.0 - p, p])


TIES = [(alarm, missed) for alarm in (1, 2, 3, 5, 7) for missed in (1, 2, 4, 7, 9, 999)]


@pytest.mark.parametrize(("alarm", "missed"), TIES)
def test_where_both_decisions_cost_the_same_the_row_is_an_alert(alarm, missed):
    """However the probability, the same fraction, is computed; and the probabilities beside it are decided by cost."""
    both = alarm + missed
    ties = [alarm / both, 1.0 - missed / both, 1.0 / both * alarm, 1.0 - 1.0 / both * missed]
    X = np.array([*ties, alarm / both - 2e-12, alarm / both + 2e-12])[:, None]
    y, expected = np.arange(6) % 2, [1, 1, 1, 1, 0, 1]
    costs = [[0, alarm], [missed, 0]]
    columns = {"missed": np.full(6, float(missed)), "alarm": np.full(6, float(alarm))}
    options = {"cv": "training", "pos_label": 1}
    for model, given in (
        (DecisionRule(Given(), costs, **options), {}),
        (adacc.CostDecision(Given(), costs, cv="training"), {}),
        (DecisionRule(Given(), "fn=missed, fp=alarm", **options), {"columns": columns}),
        (DecisionRule(Given(), f"fn={missed}, fp={alarm}", **options), {}),
    ):
        assert model.fit(X, y, **given).predict(X, **given).tolist() == expected
    # For the other class as the positive one, the same rows are as cheap either way: they are alerts again.
    other = DecisionRule(Given(), [[0, missed], [alarm, 0]], cv="training", pos_label=0).fit(1.0 - X, y)
    assert other.predict(1.0 - X).tolist() == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("rule", ["cost=[[0, 1], [2, 0]]", "fn=2, fp=1", "fn=missed, fp=1"])
@pytest.mark.parametrize("estimator", [
    adacc.AdaCC1Classifier(n_estimators=4, calibration="isotonic", random_state=0),
    adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=3, calibration="isotonic", random_state=0),
])  # fmt: skip
def test_a_model_its_file_and_its_graph_agree_at_a_cost_threshold(rare, rule, estimator, tmp_path):
    X, y = rare
    model, runtime = clone(estimator).fit(X, y), pytest.importorskip("onnxruntime")
    given = {"columns": np.full(len(y), 2.0)} if "missed" in rule else {}
    for p, alert in ((1 / 3, 1), (1 - 2 / 3, 1), (1 / 3 - 2e-12, 0)):
        curve = Isotonic(np.array([-1e3, 1e3]), np.array([p, p]))
        model.fitted_model_ = replace(model.fitted_model_, calibrator=Calibrator((curve,)))
        model.set_decision(rule)
        model.save(tmp_path / "m.adacc")
        for each in (model, adacc.load(tmp_path / "m.adacc")):
            assert (each.predict(X, **given) == alert).all()
        graph = runtime.InferenceSession(to_onnx(model).SerializeToString())
        inputs = {graph.get_inputs()[0].name: X.astype(np.float32)}
        inputs |= {each.name: np.full((len(y), 1), 2.0) for each in graph.get_inputs()[1:]}
        assert (graph.run(None, inputs)[0] == alert).all()


@pytest.mark.parametrize("inside", ["itself", "pipeline", "frozen", "search"])
@pytest.mark.parametrize("rule", ["cost=[[0, 1], [5, 0]]", {0: 1, 1: 5}, "fn=5, fp=1"], ids=str)
def test_a_rule_by_expected_cost_refuses_a_booster_that_is_not_calibrated(rare, rule, inside):
    """As `set_decision` does: such a rule alerts on most rows. The probabilities of other libraries are accepted."""
    X, y = rare

    def classifier(**options):
        booster = adacc.AdaCC1Classifier(n_estimators=5, random_state=0, **options)
        return {
            "itself": lambda: booster,
            "pipeline": lambda: make_pipeline(StandardScaler(), booster),
            "frozen": lambda: FrozenEstimator(booster.fit(X, y)),
            "search": lambda: GridSearchCV(booster, {"max_bins": [32]}, cv=2),
        }[inside]()

    uncalibrated, calibrated = classifier(), classifier(calibration="sigmoid", calibration_cv=2)
    with pytest.raises(ValueError, match=r"are not calibrated: fit it with calibration='sigmoid', or put 'tuned'"):
        DecisionRule(uncalibrated, rule, cv=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for accepted in (calibrated, GaussianNB()):
            assert DecisionRule(accepted, rule, cv=2).fit(X, y).predict(X).mean() < 0.5
            adacc.CostDecision(accepted, {0: 1, 1: 5}, cv=2).fit(X, y)
        DecisionRule(uncalibrated, "tuned cost=[[0, 1], [5, 0]]", cv=2).fit(X, y)
        adacc.CostDecision(uncalibrated, {0: 1, 1: 5}, threshold="tuned", cv=2).fit(X, y)
    with pytest.warns(UserWarning, match=r"'expected' assumes calibrated probabilities, .* or set threshold='tuned'"):
        adacc.CostDecision(uncalibrated, {0: 1, 1: 5}, cv=2).fit(X, y)


def test_enormous_costs_of_an_impossible_class_do_not_make_the_others_equal():
    costs = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1e9, 1e9, 0.0]]
    p = np.array([[0.4, 0.6, 0.0], [0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5 - 1e-9, 1e-9]])
    spec = read_decision(costs).for_classes(np.arange(3))
    assert untuned(spec, 0).class_index(None, lambda: p, {}).tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(("alarm", "missed"), TIES)
def test_calibrated_methods_predict_the_negative_class_where_both_cost_the_same(rare, alarm, missed):
    """Without a rule a score of 0 is the negative class: the logarithms of the probabilities must not decide."""
    X, y = rare
    model = adacc.AdaMECClassifier(n_estimators=3, costs={0: alarm, 1: missed}, calibration="isotonic").fit(X, y)
    for p in (alarm / (alarm + missed), 1.0 - missed / (alarm + missed)):
        curve = Isotonic(np.array([-1e3, 1e3]), np.array([p, p]))
        model.fitted_model_ = replace(model.fitted_model_, calibrator=Calibrator((curve,)))
        assert (model.decision_function(X) == 0.0).all()
        assert (model.predict(X) == 0).all()

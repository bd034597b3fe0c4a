"""Methods and parameters that scikit-learn's classifiers have, and what "at least" means."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC
from small_study import command

import adacc
from adacc.evaluation.baseline_classifier import BaselineClassifier
from adacc.export import to_onnx

OWN = {
    "stumps": adacc.AdaCC1Classifier(n_estimators=5),
    "trees": adacc.AdaCC2Classifier(n_estimators=5, max_depth=3),
    "calibrated": adacc.CGAdaClassifier(n_estimators=5, calibration="sigmoid"),
    "forest": adacc.AdaCCForestClassifier(n_estimators=4, random_state=0),
}
OTHERS = {
    "search": adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=5), cv=2),
    "rule": adacc.DecisionRule(LogisticRegression(), cv=2),
    "cost": adacc.CostDecision(adacc.AdaCC1Classifier(n_estimators=5), {0: 1, 1: 5}, cv=2),
    "baseline": BaselineClassifier("logistic-regression"),
}
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
STAGES = ("staged_predict", "staged_predict_proba", "staged_decision_function")


def test_methods_of_peers():
    """What scikit-learn's boosters, search and tuned threshold have."""
    for peer in (AdaBoostClassifier(), GradientBoostingClassifier()):
        assert all(hasattr(peer, name) for name in (*METHODS, *STAGES))
    for peer in (
        GridSearchCV(LogisticRegression(), {}), TunedThresholdClassifierCV(LogisticRegression())
    ):  # fmt: skip
        assert all(hasattr(peer, name) for name in METHODS)
        assert "n_jobs" in peer.get_params()
    assert all(hasattr(model, name) for model in OWN.values() for name in (*METHODS, *STAGES))
    assert all("n_jobs" in model.get_params(deep=False) for model in (*OWN.values(), OTHERS["rule"], OTHERS["cost"]))


@pytest.mark.parametrize("name", [*OWN, *OTHERS])
def test_logarithms(rare, name):
    X, y = rare
    model = (OWN | OTHERS)[name].fit(X, y)
    assert all(hasattr(model, method) for method in METHODS)
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert model.decision_function(X).shape == (len(y),)


def test_the_logarithm_of_zero():
    model = BaselineClassifier("ros-tree")
    X = np.arange(40.0)[:, None]
    model.fit(X, X[:, 0] > 25)
    assert model.predict_proba(X).min() == 0.0
    assert model.predict_log_proba(X).min() == -np.inf


def test_a_ranking_alone_has_no_probabilities(rare):
    X, y = rare
    model = adacc.DecisionRule(LinearSVC(), "recall>=0.9", cv=2)
    for each in (model, model.fit(X, y)):
        assert [hasattr(each, name) for name in METHODS] == [True, False, False, True]
    np.testing.assert_array_equal(model.decision_function(X), model.estimator_.decision_function(X))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", OWN)
def test_stages(rare, three, name, classes):
    """The last one is that of the whole model, and an earlier one that of a shorter model."""
    X, y = rare if classes == 2 else three
    model = OWN[name].fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == len(list(model.staged_predict(X)))
    np.testing.assert_allclose(stages[-1], model.predict_proba(X), atol=1e-12)
    if name == "stumps":
        short = adacc.AdaCC1Classifier(n_estimators=2).fit(X, y)
        np.testing.assert_allclose(stages[1], short.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("name", OWN)
def test_stages_have_no_rule(rare, name):
    """A rule is tuned for the whole ensemble: stages are those of the model without it."""
    X, y = rare
    model = OWN[name].fit(X, y)
    before = [labels.copy() for labels in model.staged_predict(X)]
    plain = model.predict(X)
    model.set_decision("threshold=0.99")
    np.testing.assert_array_equal(list(model.staged_predict(X)), before)
    np.testing.assert_array_equal(before[-1], plain)
    assert (model.predict(X) != plain).any()


@pytest.mark.parametrize("make", [adacc.DecisionRule, adacc.CostDecision])
def test_jobs_do_not_matter(rare, make):
    X, y = rare
    given = {"estimator": LogisticRegression(), "cv": 3}
    with parallel_config("threading"):  # fast to start
        one, two = (make(**given, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    assert one.decision_ == two.decision_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    """A model of few stumps on whole numbers: many rows have the same probability."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.integers(0, 5, 300), "b": rng.integers(0, 4, 300)}).astype(float)
    y = (X["a"] + X["b"] + rng.normal(size=300) > 5).to_numpy().astype(int)
    folder = tmp_path_factory.mktemp("tied")
    X.to_csv(folder / "rows.csv", index=False)
    model = adacc.AdaCC1Classifier(n_estimators=4, pos_label=1).fit(X, y)
    return model, X, y, folder


def labels_everywhere(model, X, folder, *options):
    """From Python, a file, the command line and ONNX."""
    ort = pytest.importorskip("onnxruntime")
    model.save(folder / "m.adacc")
    code, out, _ = command("predict", folder / "m.adacc", folder / "rows.csv", *options)
    assert code == 0
    session = ort.InferenceSession(to_onnx(model).SerializeToString())
    return {
        "python": model.predict(X),
        "file": adacc.load(folder / "m.adacc").predict(X),
        "command": np.array(out.split()[1:], dtype=int),
        "onnx": session.run(None, {"X": X.to_numpy(np.float32)})[0],
    }


def test_a_threshold_is_at_least(tied):
    """A row exactly at the threshold is positive, by a rule and by --threshold."""
    model, X, _, folder = tied
    p = model.predict_proba(X)[:, 1]
    levels = np.unique(np.round(p, 12))
    assert 3 <= len(levels) <= 20
    digits = [float(p[np.argmin(np.abs(p - level))]) for level in levels[:3]]  # all digits, as `predict_proba` has
    assert any(level != round(level, 12) for level in digits)
    for level in [*levels[:3].tolist(), *digits]:
        due = (np.round(p, 12) >= round(level, 12)).astype(int)
        model.set_decision(f"threshold={level!r}")
        for where, labels in labels_everywhere(model, X, folder).items():
            np.testing.assert_array_equal(labels, due, err_msg=f"{where} at {level}")
        model.set_decision(None)
        by_option = labels_everywhere(model, X, folder, "--threshold", repr(level))["command"]
        np.testing.assert_array_equal(by_option, due)


def test_a_score_is_at_least(tied):
    model, X, _, folder = tied
    scores = model.decision_function(X)
    for level in np.unique(np.round(scores, 10))[:4].tolist():
        model.set_decision(f"score={level!r}")
        due = (np.round(scores, 10) >= level).astype(int)
        for where, labels in labels_everywhere(model, X, folder).items():
            np.testing.assert_array_equal(labels, due, err_msg=f"{where} at {level}")


@pytest.mark.parametrize("measure", ["recall", "precision"])
def test_a_recall_that_is_exactly_met_is_met(tied, measure):
    """Of the thresholds there are, in exact fractions: the fewest alerts, or the largest recall."""
    model, X, y, _ = tied
    scores = np.round(model.decision_function(X), 10)
    table = []
    for level in np.unique(scores):
        alert = scores >= level
        found = int(y[alert].sum())
        table.append((found / int(y.sum()), found / int(alert.sum()), int(alert.sum())))
    for value in {row[measure == "precision"] for row in table}:
        model.set_decision(f"{measure}>={value!r}", X, y)
        n_alerts = int((model.predict(X) == 1).sum())
        allowed = [row for row in table if row[measure == "precision"] >= value]
        due = min(row[2] for row in allowed) if measure == "recall" else max(allowed)[2]
        assert n_alerts == due
        assert model.decision_.report.met

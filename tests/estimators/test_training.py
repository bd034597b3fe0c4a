"""Training comforts: other learners, early stopping, warm start, threads, progress, callbacks, routing."""

import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import thinned

import adacc
from adacc.boosting.session import train
from adacc.estimators.booster import settings_of
from adacc.estimators.input_validation import read_training


@pytest.mark.parametrize(
    "learner",
    [DecisionTreeClassifier(max_depth=3), GaussianNB(), LogisticRegression(), RandomForestClassifier(3, max_depth=2)],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_any_classifier_as_weak_learner(learner, method, rare):
    X, y = rare
    model = adacc.BoostingClassifier(method, estimator=learner, n_estimators=6, random_state=0).fit(X, y)
    assert all(isinstance(weak, type(learner)) for weak in model.estimators_)
    assert not hasattr(learner, "classes_")
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X))
    assert balanced_accuracy_score(y, model.predict(X)) >= 0.5


def test_a_foreign_stump_boosts_as_the_native_one(three):
    X, y = three
    X = X.astype(np.float32)
    for method in ("adaboost", "adacc1", "adacc2", "adac2", "rareboost"):
        common = {"method": method, "n_estimators": 10, "multi_class": "joint"}
        native = adacc.BoostingClassifier(**common, max_bins=None).fit(X, y)
        foreign = adacc.BoostingClassifier(**common, estimator=DecisionTreeClassifier(max_depth=1)).fit(X, y)
        np.testing.assert_allclose(foreign.estimator_weights_, native.estimator_weights_, rtol=1e-9)
        np.testing.assert_allclose(foreign.decision_function(X), native.decision_function(X), rtol=1e-9)
        np.testing.assert_allclose(foreign.feature_importances_, native.feature_importances_)


def test_a_learner_without_importances_has_none(rare):
    model = adacc.AdaCC1Classifier(estimator=GaussianNB(), n_estimators=3).fit(*rare)
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=list("abcde"))])
@pytest.mark.parametrize(
    ("method", "dialect"), [("rusboost", "paper"), ("smoteboost", "paper"), ("smoteboost", "authors")]
)
@pytest.mark.filterwarnings("error:X (has|does not have valid) feature names")
def test_samplers_with_foreign_learners_on_frames(frame, method, dialect, rare):
    X, y = frame(rare[0]), rare[1]
    params = {"dialect": dialect, "estimator": GaussianNB(), "n_estimators": 4, "random_state": 0}
    model = adacc.BoostingClassifier(method, **params).fit(X, y)
    assert model.score(X, y) > 0.5


def test_random_methods_repeat_with_a_seed_and_differ_without(rare):
    X, y = rare
    for method in ("rusboost", "smoteboost"):
        one, same, other = (
            adacc.BoostingClassifier(method, random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


def test_early_stopping_keeps_the_best_round(rare, capsys):
    X, y = rare
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.2, 1 - y, y)
    X_val, y_val = X + rng.normal(size=X.shape), y
    model = adacc.AdaCC1Classifier(n_estimators=300, n_iter_no_change=15, verbose=1)
    model.fit(X, noisy, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 280
    assert len(capsys.readouterr().err.splitlines()) == model.n_iter_ + 15
    full = adacc.AdaCC1Classifier(n_estimators=model.n_iter_ + 15).fit(X, noisy)
    accuracy = [balanced_accuracy_score(y_val, predicted) for predicted in full.staged_predict(X_val)]
    assert model.n_iter_ == np.argmax(accuracy) + 1
    np.testing.assert_allclose(model.history_["validation_balanced_accuracy"], accuracy[: model.n_iter_])
    np.testing.assert_array_equal(model.predict(X), list(full.staged_predict(X))[model.n_iter_ - 1])


def test_early_stopping_on_a_part_of_the_rows(three):
    X, y = three
    for learner in (None, DecisionTreeClassifier(max_depth=2)):
        model = adacc.AdaCC2Classifier(n_estimators=100, n_iter_no_change=5, random_state=0, estimator=learner).fit(
            X, y
        )
        assert model.n_iter_ < 100
        assert len(model.history_["validation_balanced_accuracy"]) == len(model.history_["alpha"])
        assert max(np.bincount(model.history_["problem"])) == model.n_iter_


@pytest.mark.parametrize("multi_class", ["joint", "one_vs_one", "one_vs_rest"])
@pytest.mark.parametrize("lacking", [[2], [1, 2]])
def test_validation_rows_that_lack_a_class_are_refused(multi_class, lacking):
    """Balanced accuracy over the other classes would stop at rounds that neglect it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 2)) + y[:, None]
    model = adacc.AdaCC1Classifier(n_estimators=20, multi_class=multi_class, n_iter_no_change=3)
    lacks = np.isin(y, lacking)
    with pytest.raises(
        ValueError, match=rf"validation rows of every class, but y_val has no row of class {lacking[0]};"
    ):
        model.fit(X, y, X_val=X[~lacks], y_val=y[~lacks])
    with pytest.raises(ValueError, match=rf"no row of positive sample_weight_val of class {lacking[0]};"):
        model.fit(X, y, X_val=X, y_val=y, sample_weight_val=~lacks)


def test_weights_of_held_out_rows_count(rare):
    X, y = rare
    half = (np.arange(len(y)) % 12 < 6).astype(float)
    params = {"n_estimators": 60, "n_iter_no_change": 60}
    weighted = adacc.AdaCC1Classifier(**params).fit(X, y, X_val=X, y_val=y, sample_weight_val=half)
    chosen = adacc.AdaCC1Classifier(**params).fit(X, y, X_val=X[half == 1], y_val=y[half == 1])
    np.testing.assert_allclose(
        weighted.history_["validation_balanced_accuracy"], chosen.history_["validation_balanced_accuracy"]
    )


@pytest.mark.parametrize("method", [name for name in adacc.methods() if name != "smoteboost"])
@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2)])
def test_warm_start_goes_on_where_it_stopped(method, learner, three):
    X, y = three
    params = {"method": method, "estimator": learner, "random_state": 0}
    straight = adacc.BoostingClassifier(n_estimators=20, **params).fit(X, y)
    resumed = adacc.BoostingClassifier(n_estimators=8, warm_start=True, **params).fit(X, y)
    resumed = pickle.loads(pickle.dumps(resumed))
    resumed.set_params(n_estimators=20).fit(X, y)
    assert resumed.n_iter_ == straight.n_iter_
    np.testing.assert_allclose(resumed.estimator_weights_, straight.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(resumed.decision_function(X), straight.decision_function(X), rtol=1e-7)
    for name, record in straight.history_.items():
        np.testing.assert_allclose(resumed.history_[name], record, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("dialect", ["paper", "authors"])
def test_smoteboost_warm_start_adds_rounds(rare, dialect):
    params = {"n_synthetic": 10, "warm_start": True, "random_state": 0, "dialect": dialect}
    model = adacc.SMOTEBoostClassifier(n_estimators=5, **params).fit(*rare)
    first = model.estimators_
    model.set_params(n_estimators=9).fit(*rare)
    assert model.n_iter_ == 9
    assert model.estimators_[:5] == first


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_kept_synthetic_rows_are_brought_to_where_an_ensemble_left_them(three, learner):
    """Made for as many rounds the rows are the same, so that an ensemble cut short goes on as it did."""
    X, y = three
    model = adacc.SMOTEBoostClassifier(
        n_estimators=9, n_synthetic=10, dialect="authors", random_state=0, estimator=learner, multi_class="joint"
    )
    settings, problem = settings_of(model), read_training(model, X, y)
    straight = train(settings, problem).ensemble
    resumed = train(settings, problem, start=straight.first(4)).ensemble
    assert len(resumed) == len(straight) == 9
    np.testing.assert_allclose(resumed.votes, straight.votes, rtol=1e-9)
    np.testing.assert_allclose(resumed.factors, straight.factors, rtol=1e-9)


def test_warm_start_with_fewer_rounds_or_other_classes_is_refused(rare):
    X, y = rare
    model = adacc.AdaCC1Classifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_estimators must be at least the 5 rounds of the fitted model, got 3"):
        model.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=r"warm_start needs the classes of the last fit, \[0, 1\], got \[1, 2\]"):
        model.set_params(n_estimators=8).fit(X, y + 1)
    other_learner = {"estimator": DecisionTreeClassifier(max_depth=2)}
    for change in ({"method": "rareboost"}, {"method": "csb1"}, other_learner, {"dialect": "authors"}):
        named = adacc.BoostingClassifier("adaboost", n_estimators=3, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match=r"needs the same (method|estimator|dialect) as in the last fit: was"):
            named.set_params(n_estimators=6, **change).fit(X, y)
        assert named.n_iter_ == 3
    assert model.n_iter_ == 5


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.9])
def test_early_stopping_sees_every_class_however_rare(fraction):
    from adacc.data.columns import ArrayTable
    from adacc.data.training_set import TrainingSet

    y = np.r_[np.zeros(995, dtype=int), 1, 1, 2, 2, 2]
    problem = TrainingSet(ArrayTable(np.arange(1000.0)[:, None]), y, np.ones(1000), np.arange(3), 0, np.arange(1000))
    train, watch = problem.split(fraction, seed=0)
    assert set(train.y) == set(watch.y) == {0, 1, 2}
    rows = np.concatenate([train.table.native, watch.table.native]).ravel()
    np.testing.assert_array_equal(np.sort(rows), np.arange(1000))
    assert abs(len(watch.y) - 1000 * fraction) < 4


def test_a_rule_object_keeps_its_dialect(rare):
    from adacc.algorithms.adacc import AdaCC1

    X, y = rare
    by_rule = adacc.BoostingClassifier(AdaCC1(dialect="authors")).fit(X, y)
    by_name = adacc.BoostingClassifier("adacc1", dialect="authors").fit(X, y)
    np.testing.assert_array_equal(by_rule.decision_function(X), by_name.decision_function(X))


@pytest.mark.parametrize("method", adacc.methods())
def test_extreme_learning_rates_stay_finite(method, three):
    X, y = three
    for rate in (1e-6, 10.0):
        model = adacc.BoostingClassifier(method, learning_rate=rate, n_estimators=30, random_state=0).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_smoteboost_keeps_categories_for_foreign_learners(make):
    rng = np.random.default_rng(0)
    labels = rng.choice(["p", "q", "r"], 200)
    y = ((labels == "r") & (rng.random(200) < 0.7)).astype(int)
    if make is pl.DataFrame and not find_spec("sklearn.callback"):
        pytest.skip("before scikit-learn 1.9 its own learner does not take polars' categories")
    columns = {"c": pd.Categorical(labels) if make is pd.DataFrame else pl.Series(labels, dtype=pl.Categorical)}
    frame = make(columns | {"x": rng.normal(size=200)})
    model = adacc.SMOTEBoostClassifier(estimator=HistGradientBoostingClassifier(max_iter=5), n_estimators=3)
    assert model.fit(frame, y).score(frame, y) > 0.7
    gaps = [None if gap else value for value, gap in zip(rng.integers(0, 3, 200).tolist(), y == 1, strict=True)]
    gaps[:20] = [1] * 20
    mixed = pd.DataFrame({"c": pd.Series(gaps).astype("category"), "x": rng.normal(size=200)})
    assert adacc.SMOTEBoostClassifier(n_estimators=3, random_state=0).fit(mixed, y).score(mixed, y) > 0.7


def test_a_hopeless_first_learner_is_no_error():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float), np.array([0, 1, 1, 0])
    with pytest.warns(ConvergenceWarning, match="no better than chance") as caught:
        model = adacc.AdaCC1Classifier().fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 1
    assert model.estimator_weights_.tolist() == [1.0]
    assert np.isfinite(model.predict_proba(X)).all()


def test_verbose_reports_on_standard_error(rare, capsys):
    adacc.AdaCC1Classifier(n_estimators=10, verbose=5).fit(*rare)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("AdaCC1Classifier: round 10 of 10, weighted error 0.")


def test_fitted_models_survive_pickle_and_clone(rare):
    X, y = rare
    for method in adacc.methods():
        model = adacc.BoostingClassifier(method, n_estimators=5, random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert not hasattr(clone(model), "classes_")
        assert clone(model).get_params() == model.get_params()


def test_costs_can_be_searched(rare):
    grid = {"costs": [[c, 1.0] for c in (0.2, 0.5, 1.0)], "n_estimators": [5, 10]}
    search = GridSearchCV(adacc.AdaC2Classifier(), grid, scoring="balanced_accuracy", cv=3).fit(*rare)
    assert search.best_params_["costs"] in grid["costs"]


def test_weights_and_held_out_rows_are_routed(rare):
    X, y = rare
    weight = np.where(y == 1, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = adacc.AdaCC1Classifier(n_estimators=10).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipe.fit(X, y, sample_weight=weight)
        assert pipe[-1].history_["class_weight"][0] == pytest.approx([5 / 8, 3 / 8])

        model = adacc.AdaCC1Classifier(n_estimators=50, n_iter_no_change=3).set_fit_request(X_val=True, y_val=True)
        pipe = Pipeline([("scale", StandardScaler()), ("boost", model)], transform_input=["X_val"])
        pipe.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
        by_hand = clone(model).fit(pipe[0].transform(X[:150]), y[:150], X_val=pipe[0].transform(X[150:]), y_val=y[150:])
        np.testing.assert_allclose(
            pipe[-1].history_["validation_balanced_accuracy"], by_hand.history_["validation_balanced_accuracy"]
        )


class Listener:
    """A callback that notes what it is told, and stops after some rounds."""

    def __init__(self, stop_after):
        self.stop_after, self.told, self.scores = stop_after, [], []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.told.append(f"end {context.task_name}")
        if context.task_name == "round":
            self.scores.append(fitted_estimator.decision_function(X))
            return len(self.scores) == self.stop_after
        return False


def test_scikit_learn_callbacks_hear_every_round_and_may_stop(rare):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    X, y = rare
    listener = Listener(stop_after=4)
    model = adacc.AdaCC1Classifier(n_estimators=10).set_callbacks(listener).fit(X, y)
    assert model.n_iter_ == 4
    rounds = ["begin round", "end round"] * 4
    assert listener.told == ["setup", "begin fit", *rounds, "end fit", "teardown"]
    stages = list(adacc.AdaCC1Classifier(n_estimators=4).fit(X, y).staged_decision_function(X))
    np.testing.assert_allclose(listener.scores, stages)


def test_callbacks_hear_no_more_rounds_than_there_are(rare):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    X, y = rare
    listener = Listener(stop_after=10**6)
    model = adacc.AdaCC1Classifier(n_estimators=200, n_iter_no_change=3, random_state=0).set_callbacks(listener)
    model.fit(X, y)
    assert listener.told.count("begin round") == listener.told.count("end round") == model.n_iter_ + 3


def test_warm_start_holds_out_the_same_rows(rare):
    X, y = rare
    model = adacc.AdaCC1Classifier(n_estimators=5, n_iter_no_change=50, warm_start=True).fit(X, y)
    first = model.history_["validation_balanced_accuracy"].copy()
    model.set_params(n_estimators=30).fit(X, y)
    n = min(len(first), model.n_iter_)
    np.testing.assert_allclose(model.history_["validation_balanced_accuracy"][:n], first[:n])


def test_n_jobs_is_the_number_of_threads():
    from adacc.estimators.settings import read_settings

    for given, expected in ((None, 1), (2, 2)):
        assert read_settings(adacc.BoostingClassifier(n_jobs=given).get_params(deep=False)).n_threads == expected


def test_scikit_learns_own_progress_bar_and_monitor(rare):
    callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    monitor = callback.ScoringMonitor(scoring="balanced_accuracy")
    adacc.AdaCC1Classifier(n_estimators=6).set_callbacks(monitor).fit(*rare)
    assert len(monitor.get_logs(select="most_recent").data) == 6

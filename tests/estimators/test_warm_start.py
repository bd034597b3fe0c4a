"""What warm_start takes for the same training: equal values, however they are written, and nothing that is unknown."""

import json
import pickle
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from golden_models import GOLDEN, from_json
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

import adacc
from adacc import CGAdaClassifier
from adacc.algorithms.adaboost import AdaBoost
from adacc.distributed import fit_parquet

RNG = np.random.default_rng(3)
Y = np.where(np.arange(80) % 4 == 0, "b", "a")
X = RNG.normal(size=(80, 3)) + (Y == "b")[:, None]


def going_on(model, **changes):
    """The model fitted with 2 rounds, changed, and fitted on to 7."""
    model.set_params(n_estimators=2, warm_start=True, random_state=0).fit(X, Y)
    return model.set_params(n_estimators=7, **changes).fit(X, Y)


def assert_as_in_one_go(resumed):
    straight = sklearn.clone(resumed).fit(X, Y)
    assert resumed.n_iter_ == straight.n_iter_ > 2
    np.testing.assert_allclose(resumed.decision_function(X), straight.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    "again",
    [
        {"b": 3, "a": 1},
        {"a": 1.0, "b": np.float32(3)},
        {"a": 2, "b": 6},
        [1, 3],
        np.array([1.0, 3.0]),
        pd.Series({"b": 3, "a": 1}),
    ],
    ids=repr,
)
def test_equal_costs_go_on_however_they_are_given(again):
    assert_as_in_one_go(going_on(CGAdaClassifier(costs={"a": 1, "b": 3}), costs=again))


def test_the_way_scikit_learn_prints_does_not_matter():
    model = adacc.AdaCC1Classifier(estimator=DecisionTreeClassifier(max_depth=2))
    model.set_params(n_estimators=4, warm_start=True, random_state=0).fit(X, Y)
    with sklearn.config_context(print_changed_only=False):
        model.set_params(n_estimators=7).fit(X, Y)
    assert_as_in_one_go(model)


@pytest.mark.parametrize("weight", [5.0, np.float64(5.0)])
def test_a_weak_learner_of_equal_parameters_goes_on(weight):
    first, other = ({0: 1.0, 1: 5.0}, {1: weight, 0: 1.0})
    model = adacc.AdaCC1Classifier(estimator=DecisionTreeClassifier(max_depth=1, class_weight=first, random_state=1))
    again = DecisionTreeClassifier(max_depth=np.int64(1), class_weight=other, random_state=2)  # boosting seeds it
    assert_as_in_one_go(going_on(model, estimator=again))


def test_a_difference_that_printing_leaves_out_is_seen():
    weights = dict.fromkeys(range(-60, 60), 1.0)
    learners = [DecisionTreeClassifier(max_depth=1, class_weight=weights | {1: other}) for other in (1.0, 9.0)]
    assert repr(learners[0]) == repr(learners[1])
    with pytest.raises(ValueError, match=r"the same estimator\.class_weight as in the last fit"):
        going_on(adacc.AdaCC1Classifier(estimator=learners[0]), estimator=learners[1])


CHANGES = [
    ({"method": "csb1"}, r"the same method as in the last fit: was 'CGAda', got 'CSB1'"),
    ({"costs": {"a": 1, "b": 4}}, r"the same costs as in the last fit: was \[0\.5, 1\.0\], got \[0\.25, 1\.0\]"),
    ({"costs": "balanced"}, r"the same costs as in the last fit: was \[0\.5, 1\.0\], got 'balanced'"),
    ({"dialect": "authors"}, "the same dialect as in the last fit: was 'paper', got 'authors'"),
    ({"calibration": "sigmoid"}, "the same calibration as in the last fit: was None, got 'sigmoid'"),
    ({"criterion": "entropy"}, "the same criterion as in the last fit: was 'gini', got 'entropy'"),
    ({"max_depth": 2}, "the same max_depth as in the last fit: was 1, got 2"),
    ({"max_features": 2}, "the same max_features as in the last fit: was None, got 2"),
    ({"max_bins": 16}, "the same max_bins as in the last fit: was 255, got 16"),
    ({"subsample": 0.5}, r"the same subsample as in the last fit: was 1\.0, got 0\.5"),
    ({"estimator": DecisionTreeClassifier()}, "the same estimator as in the last fit: was None, got DecisionTreeClass"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=lambda value: "" if isinstance(value, str) else str(value))
def test_what_differs_is_named(change, message):
    model = adacc.BoostingClassifier("cgada", costs={"a": 1, "b": 2})
    with pytest.raises(ValueError, match=f"^warm_start needs {message}"):
        going_on(model, **change)
    assert model.n_iter_ == 2
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match=f"^warm_start needs {message}"):
        pickle.loads(pickle.dumps(model)).fit(X, Y)


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        (
            adacc.AdaCC1Classifier(max_depth=2, max_features=1),
            {"max_features": 1.0},  # all features, not one
            r"the same max_features as in the last fit: was 1, got 1\.0",
        ),
        (
            adacc.BoostingClassifier("rusboost"),
            {"method": "adaboost"},
            "the same sampler as in the last fit: was 'under-sample', got None",
        ),
        (
            adacc.RUSBoostClassifier(sampling_ratio=0.5),
            {"sampling_ratio": 0.25},
            r"the same sampling_ratio as in the last fit: was 0\.5, got 0\.25",
        ),
        (
            adacc.AdaCC1Classifier(subsample=0.5),
            {"rates": "out-of-bag"},
            "the same rates as in the last fit: was 'training', got 'out-of-bag'",
        ),
        (
            adacc.AdaCC1Classifier(estimator=BaggingClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2)),
            {"estimator__estimator__max_depth": 2},
            r"the same estimator\.estimator\.max_depth as in the last fit: was 1, got 2",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_differs_within_is_named(first, other, message):
    with pytest.raises(ValueError, match=f"^warm_start needs {message}"):
        going_on(first, **other)


def test_a_ratio_of_1_is_one_of_1_0():
    assert_as_in_one_go(going_on(adacc.RUSBoostClassifier(sampling_ratio=1), sampling_ratio=1.0))


def test_a_rule_is_the_method_of_its_name():
    assert_as_in_one_go(going_on(adacc.BoostingClassifier("adaboost"), method=AdaBoost()))


def of_first(X):
    return X[:, 0] > 0.5


def of_second(X):
    return X[:, 1] > 0.5


class ByFunction(ClassifierMixin, BaseEstimator):
    """A weak learner whose parameter is a function."""

    def __init__(self, function=None):
        self.function = function

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.function(X).astype(int)


def test_a_function_that_can_be_imported_goes_on():
    model = adacc.AdaCC1Classifier(estimator=ByFunction(of_first))
    model.set_params(n_estimators=1, warm_start=True).fit(X, Y)
    model.set_params(estimator=ByFunction(of_first), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"the same estimator\.function as in the last fit: was .*of_first.*of_second"):
        model.set_params(estimator=ByFunction(of_second)).fit(X, Y)


@pytest.mark.parametrize("function", [lambda X: X[:, 0] > 0.5, partial(of_first)], ids=["lambda", "object"])
def test_what_cannot_be_compared_is_refused(function):
    with pytest.raises(ValueError, match=r"^warm_start cannot compare estimator\.function with that of the last fit"):
        going_on(adacc.AdaCC1Classifier(estimator=ByFunction(of_first)).set_params(estimator__function=function))


def test_a_local_rule_is_refused():
    class Own(AdaBoost):
        pass

    with pytest.raises(ValueError, match=r"^warm_start cannot compare method with that of the last fit"):
        going_on(adacc.BoostingClassifier(Own()))


def test_a_model_of_files_goes_on_in_memory(tmp_path):
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet")
    booster = CGAdaClassifier(costs={"a": 1, "b": 3}, n_estimators=4)
    model = fit_parquet(booster, tmp_path / "rows.parquet", target="y", memory_limit="4GB")
    model.set_params(costs={"b": 3, "a": 1}, n_estimators=7, warm_start=True).fit(frame[["u", "v", "w"]], Y)
    straight = sklearn.clone(model).fit(frame[["u", "v", "w"]], Y)
    np.testing.assert_allclose(
        model.decision_function(frame[["u", "v", "w"]]), straight.decision_function(frame[["u", "v", "w"]]), rtol=1e-9
    )


def test_a_model_file_holds_values_and_no_text_of_them(tmp_path):
    model = CGAdaClassifier(costs={"a": 1, "b": 4}, n_estimators=4, max_depth=2, max_features=0.5, random_state=0)
    model.fit(X, Y).save(tmp_path / "m.adacc")
    with zipfile.ZipFile(tmp_path / "m.adacc") as file:
        document = json.loads(file.read("model.json"))
    assert document["training"] == {
        "method": "CGAda",
        "options": {"dialect": "paper", "costs": [0.25, 1.0], "calibration": None, "calibration_cv": None},
        "rows": {"sampler": None, "subsample": 1.0, "rates": "training"},
        "learner": {
            "estimator": None,
            "criterion": "gini",
            "max_bins": 255,
            "max_depth": 2,
            "max_leaf_nodes": None,
            "min_samples_leaf": 1,
            "max_features": 0.5,
        },
    }
    again = adacc.load(tmp_path / "m.adacc").set_params(warm_start=True, n_estimators=7, costs={"b": 4, "a": 1})
    assert_as_in_one_go(again.fit(X, Y))
    with pytest.raises(ValueError, match="the same max_depth as in the last fit: was 2, got 3"):
        again.set_params(max_depth=3).fit(X, Y)


def test_a_file_of_old_that_was_trained_otherwise_is_refused():
    training = json.loads((GOLDEN / "format-1-warm-start-costs.json").read_text("utf-8"))["training"]
    model = adacc.load(GOLDEN / "format-1-warm-start-costs.adacc").set_params(criterion="entropy", n_estimators=9)
    with pytest.raises(ValueError, match=r"same method, options and weak learner .*: was CGAda.*gini.*, got CGAda.*en"):
        model.fit(from_json(training["X"]), training["y"])


@pytest.mark.parametrize("training", [{}, {"dict": []}, {"method": {"unknown": "CGAda"}}, {"method": ["CGAda"]}])
def test_a_record_that_means_nothing_is_refused(training):
    model = CGAdaClassifier(n_estimators=2, warm_start=True).fit(X, Y)
    model.fitted_model_ = replace(model.fitted_model_, training=training)
    with pytest.raises(ValueError, match=r"^warm_start needs the same (training|method) as in the last fit"):
        model.fit(X, Y)


@pytest.mark.parametrize("dialect", ["paper", "authors"])
@pytest.mark.parametrize("rounds", [(4, 12), (45, 60)])  # the synthetic rows of 50 rounds are generated together
def test_smoteboost_draws_the_rows_of_one_long_fit(dialect, rounds):
    pytest.importorskip("imblearn")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(800, 3)), columns=["a", "b", "c"])
    y = (frame**2).sum(axis=1) + rng.normal(size=800) > 6
    frame["town"] = rng.choice(["Bonn", "Jena"], 800)
    for X in (frame[["a", "b", "c"]].to_numpy(), frame):
        model = adacc.BoostingClassifier(
            "smoteboost", dialect=dialect, random_state=0, n_synthetic=20, learning_rate=0.3
        )
        long = clone(model).set_params(n_estimators=rounds[1]).fit(X, y)
        assert long.n_iter_ == rounds[1]
        first = clone(model).set_params(n_estimators=rounds[0], warm_start=True).fit(X, y)
        stage = list(long.staged_decision_function(X))[rounds[0] - 1]
        np.testing.assert_allclose(first.decision_function(X), stage, atol=1e-9)
        again = first.set_params(n_estimators=rounds[1]).fit(X, y)
        np.testing.assert_allclose(again.decision_function(X), long.decision_function(X), atol=1e-9)
        assert again.estimators_ == long.estimators_

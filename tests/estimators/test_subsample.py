"""Rounds that see a part of the rows, and rates from the rows that they do not see."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning

import adacc


@pytest.fixture(scope="module")
def noisy():
    return make_classification(1500, 12, n_informative=4, weights=[0.9], flip_y=0.1, random_state=0)


def test_trees_without_training_errors_still_have_costs_to_follow(noisy):
    X, y = noisy
    deep = {"n_estimators": 60, "max_depth": 8, "subsample": 0.7, "random_state": 0}
    blind = adacc.AdaCC1Classifier(**deep).fit(X, y)
    honest = adacc.AdaCC1Classifier(**deep, rates="out-of-bag").fit(X, y)
    assert (blind.history_["class_cost"][-5:] < 1.02).all()
    assert (honest.history_["class_cost"][-5:].max(axis=1) > 1.2).all()
    assert blind.history_["class_recall"][-1].min() > 0.95
    assert honest.history_["class_recall"][-1].min() < 0.7


@pytest.mark.parametrize("rates", ["training", "out-of-bag"])
@pytest.mark.parametrize("options", [{}, {"max_depth": 4, "max_features": "sqrt"}])
def test_going_on_is_the_same_as_going_through(noisy, rates, options):
    X, y = noisy
    model = adacc.AdaCC1Classifier(
        n_estimators=20, subsample=0.4, rates=rates, random_state=3, warm_start=True, **options
    )
    stops = model.fit(X, y).set_params(n_estimators=35).fit(X, y)
    through = adacc.AdaCC1Classifier(n_estimators=35, subsample=0.4, rates=rates, random_state=3, **options).fit(X, y)
    np.testing.assert_allclose(stops.decision_function(X), through.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(stops.history_["class_recall"], through.history_["class_recall"], atol=1e-12)


def test_each_class_keeps_its_share_and_a_row_at_least():
    X = np.arange(24.0)[:, None]
    y = np.array([0] * 20 + [1] * 3 + [2])
    model = adacc.AdaBoostClassifier(
        n_estimators=5, subsample=0.5, rates="out-of-bag", random_state=0, multi_class="joint"
    ).fit(X, y)
    assert model.n_iter_ == 5
    assert np.isfinite(model.decision_function(X)).all()


def test_rounds_no_better_than_chance_have_no_vote():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    model = adacc.AdaBoostClassifier(n_estimators=40, subsample=0.5, rates="out-of-bag", random_state=0).fit(X, y)
    voted = model.estimator_weights_ > 0.0
    assert model.n_iter_ == 40
    assert 0 < voted.sum() < 40
    np.testing.assert_array_equal(voted, model.estimator_errors_ < 0.5)


def test_no_vote_at_all_is_said():
    X, y = np.zeros((20, 1)), np.tile([0, 1], 10)
    with pytest.warns(ConvergenceWarning, match="no weak learner was better than chance"):
        model = adacc.AdaBoostClassifier(n_estimators=3, subsample=0.5, random_state=0).fit(X, y)
    assert model.predict(X).tolist() == [0] * 20


def test_a_model_file_keeps_it(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    model = adacc.AdaCC2Classifier(n_estimators=10, subsample=0.5, rates="out-of-bag", random_state=0).fit(X, y)
    model.save(tmp_path / "model.adacc")
    again = adacc.load(tmp_path / "model.adacc")
    assert (again.subsample, again.rates) == (0.5, "out-of-bag")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("method", "options", "says"),
    [
        ("adacc1", {"subsample": 0.0}, "subsample must be a number from 1e-06 to 1, got 0.0"),
        ("adacc1", {"subsample": "half"}, "subsample must be a number from 1e-06 to 1, got 'half'"),
        ("adacc1", {"rates": "oob"}, "rates must be 'training' or 'out-of-bag', got 'oob'"),
        ("adacc1", {"rates": "out-of-bag"}, "subsample must be below 1 for rates='out-of-bag'"),
        ("rusboost", {"subsample": 0.5}, "subsample must be 1.0 for a method with its own sampling"),
    ],
)
def test_what_makes_no_sense_is_named(method, options, says):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match=says):
        adacc.BoostingClassifier(method, **options).fit(X, y)

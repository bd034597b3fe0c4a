"""Rounds that see a part of the rows, and rates from the rows that they do not see."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning

import adacc
from adacc.algorithms.adacc import AdaCC1
from adacc.boosting.backend import Plan
from adacc.boosting.scores import OutOfBagTracker
from adacc.data.rows import Rows
from adacc.data.samples import Drawn


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


def test_rows_without_a_vote_have_no_rate():
    """Neither a round without a vote nor a provisional vote that was taken back says anything about a row."""
    ones = np.ones(2)
    rows = Rows.group(np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6))
    tracker = OutOfBagTracker(rows, Plan(AdaCC1(), ones, ones, 1.0, 0))
    training, all_ones = np.array([0.25, 0.75]), np.array([1], dtype=np.uint8)
    leaves = np.zeros(6, dtype=np.uint8), all_ones
    tracker.start_round(Drawn(np.array([0, 3], dtype=np.uint32), np.ones(2), np.array([0, 1, 2])), leaves)
    np.testing.assert_array_equal(tracker.add_vote(0.0, training), training)
    np.testing.assert_array_equal(tracker.add_vote(1.0, training), [0.0, 1.0])
    np.testing.assert_array_equal(tracker.add_vote(-1.0, training), training)
    tracker.start_round(Drawn(np.array([0, 1, 4], dtype=np.uint32), np.ones(3), np.array([0, 2, 3])), leaves)
    np.testing.assert_array_equal(tracker.add_vote(np.array([2.0, 0.0]), training), training)
    np.testing.assert_array_equal(tracker.add_vote(0.5, training), [0.0, 1.0])


def test_recalls_out_of_bag_are_those_of_the_votes():
    """Recomputed from the votes of the rounds, some of which are 0."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    model = adacc.AdaCC1Classifier(n_estimators=30, subsample=0.5, rates="out-of-bag", random_state=0).fit(X, y)
    votes = model.estimator_weights_
    assert 0 < np.count_nonzero(votes) < 30
    order, seed = np.argsort(y, kind="stable"), model.fitted_model_.seed
    score, heard = np.zeros(60), np.zeros(60, dtype=bool)
    for t, (tree, vote) in enumerate(zip(model.estimators_, votes, strict=True)):
        drawn = np.random.default_rng([seed, t])
        bag = np.concatenate(
            [drawn.choice(np.arange(k * 30, k * 30 + 30, dtype=np.uint32), 15, replace=False) for k in (0, 1)]
        )
        out = np.setdiff1d(np.arange(60), order[bag])
        if tree.feature is None:
            predicted = np.full(60, tree.left)
        else:
            predicted = np.where(X[:, tree.feature] <= tree.threshold, tree.left, tree.right)
        if vote > 0.0:
            score[out] += vote * np.where(predicted[out] == 1, 1.0, -1.0)
            heard[out] = True
        decided = np.where(score > 1e-10, 1, 0)
        if all((heard & (y == k)).any() for k in (0, 1)):
            recall = [(decided[heard & (y == k)] == k).mean() for k in (0, 1)]
            np.testing.assert_allclose(model.history_["class_recall"][t], recall)

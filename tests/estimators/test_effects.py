"""Changing a cost, an option or the data must change what it should, and nothing must agree by accident."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from support import DETERMINISTIC, WITH_COSTS

import adacc


def fit(method, data, **params):
    return adacc.BoostingClassifier(method, n_estimators=params.pop("n_estimators", 25), random_state=0, **params).fit(
        *data
    )


def recall(model, data):
    X, y = data
    predicted = model.predict(X)
    return np.array([(predicted[y == k] == k).mean() for k in np.unique(y)])


@pytest.mark.parametrize("method", WITH_COSTS)
def test_a_higher_cost_catches_more_of_its_class(method, rare):
    """The very thing that a broken cost-sensitive booster stops doing, silently."""
    low = fit(method, rare, costs=[1, 1])
    high = fit(method, rare, costs=[1, 1.4 if method in ("csb1", "csb2", "adac2", "adac3") else 4])
    assert recall(high, rare)[1] > recall(low, rare)[1]
    assert recall(high, rare)[0] < recall(low, rare)[0]


@pytest.mark.parametrize("method", WITH_COSTS)
def test_costs_move_weights_votes_or_decisions(method, three):
    one, other = fit(method, three, costs=[1, 1, 1]), fit(method, three, costs=[1, 2, 3])
    assert not np.allclose(one.decision_function(three[0]), other.decision_function(three[0]))


@pytest.mark.parametrize("method", WITH_COSTS)
def test_only_ratios_of_costs_matter(method, rare):
    one, other = fit(method, rare, costs=[1, 3]), fit(method, rare, costs={1: 60, 0: 20})
    np.testing.assert_allclose(one.decision_function(rare[0]), other.decision_function(rare[0]))


@pytest.mark.parametrize("method", ["adacc1", "adacc2"])
def test_adacc_raises_recall_of_the_rare_class_without_being_told(method, rare):
    assert recall(fit(method, rare), rare)[1] > recall(fit("adaboost", rare), rare)[1] + 0.05


@pytest.mark.parametrize("method", ["adacc1", "adacc2", "adan-cc1", "adan-cc2"])
def test_the_class_that_errs_more_is_the_one_that_costs_more(method, rare):
    history = fit(method, rare).history_
    costs = history["class_cost"]
    assert (costs >= 1.0).all()
    assert (costs.min(axis=1) == 1.0).all()
    assert costs.max() > 1.05
    if method.startswith("adacc"):
        rates = 1.0 - history["class_recall"]
        dearer = costs[:, 1] > 1.0
        np.testing.assert_array_equal(dearer, rates[:, 1] > rates[:, 0])
        np.testing.assert_allclose(costs[dearer, 1], 1.0 + rates[dearer, 1])


def test_cumulative_and_not_cumulative_are_different_methods(rare):
    for one, other in [("adacc1", "adan-cc1"), ("adacc2", "adan-cc2"), ("adacc1", "adacc2")]:
        first, second = fit(one, rare).history_["alpha"], fit(other, rare).history_["alpha"]
        assert len(first) != len(second) or not np.allclose(first, second)


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("adacc1", {"alpha": "cost"}),
        ("adacc2", {"alpha": "cost"}),
        ("adacc1", {"dialect": "authors"}),
        ("adacost", {"dialect": "authors"}),
        ("adac1", {"dialect": "authors"}),
        ("adac3", {"dialect": "authors"}),
        ("csb1", {"dialect": "authors"}),
        ("csb2", {"costs_on": "errors"}),
        ("adaboost", {"learning_rate": 0.5}),
        ("adaboost", {"criterion": "entropy"}),
        ("adaboost", {"max_bins": 4}),
        ("rusboost", {"sampling_ratio": 0.5}),
        ("smoteboost", {"n_synthetic": 500}),
        ("smoteboost", {"k_neighbors": 1}),
        ("adaboost", {"n_iter_no_change": 30, "validation_fraction": 0.5}),
        ("cgada-cal", {"calibration": "isotonic"}),
        ("cgada-cal", {"calibration_cv": 3}),
    ],
)
def test_every_option_has_an_effect(method, option, rare):
    X, _ = rare
    assert not np.allclose(fit(method, rare).predict_proba(X), fit(method, rare, **option).predict_proba(X))


@pytest.mark.parametrize("method", [*DETERMINISTIC, "rusboost", "smoteboost"])
@pytest.mark.parametrize("which", ["rare", "three"])
def test_score_probability_and_prediction_never_disagree(method, which, request):
    data = request.getfixturevalue(which)
    X, y = data
    model = fit(method, data)
    scores, proba, predicted = model.decision_function(X), model.predict_proba(X), model.predict(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    if which == "rare":
        np.testing.assert_array_equal(predicted, np.where(scores > 0, 1, 0))
        assert (np.diff(proba[np.argsort(scores), 1]) >= 0.0).all()
    else:
        np.testing.assert_array_equal(predicted, np.argmax(scores, axis=1))
    if not method.endswith("-cal"):
        np.testing.assert_array_equal(predicted, np.argmax(proba, axis=1))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], scores)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], predicted)
    assert model.score(X, y) == pytest.approx((predicted == y).mean())


@pytest.mark.parametrize("method", DETERMINISTIC)
def test_a_shorter_run_is_the_beginning_of_a_longer_one(method, rare):
    X, _ = rare
    long, short = fit(method, rare, calibration=None), fit(method, rare, n_estimators=7, calibration=None)
    if long.fitted_model_.calibrator is None:
        stages = list(long.staged_decision_function(X))
        np.testing.assert_allclose(stages[min(7, long.n_iter_) - 1], short.decision_function(X))
    np.testing.assert_allclose(long.estimator_weights_[:7], short.estimator_weights_)


def test_history_speaks_of_the_same_model(rare):
    X, y = rare
    model = fit("adacc1", rare)
    history = model.history_
    assert set(history) == {
        "alpha", "weighted_error", "normaliser", "bound", "class_cost", "class_weight", "class_recall",
    }  # fmt: skip
    assert all(len(record) == model.n_iter_ for record in history.values())
    for t, predicted in enumerate(model.staged_predict(X)):
        expected = [(predicted[y == k] == k).mean() for k in (0, 1)]
        np.testing.assert_allclose(history["class_recall"][t], expected)
    np.testing.assert_allclose(history["class_weight"].sum(axis=1), 1.0)
    np.testing.assert_allclose(history["class_weight"][0], [5 / 6, 1 / 6])
    np.testing.assert_allclose(history["bound"], np.cumprod(history["normaliser"]))


BOUNDED = ["adaboost", "cgada", "adacc1", "adacc2", "adan-cc1", "adan-cc2"]


@pytest.mark.parametrize("which", ["rare", "three"])
@pytest.mark.parametrize("method", BOUNDED)
def test_the_error_bound_holds(method, which, request):
    X, y = request.getfixturevalue(which)
    for params in ({}, {"dialect": "authors"}, {"learning_rate": 0.3}):
        model = fit(method, (X, y), multi_class="joint", **params)
        weight = np.ones(len(y)) if method != "cgada" else 1.0 / np.bincount(y)[y]
        for predicted, bound in zip(model.staged_predict(X), model.history_["bound"], strict=True):
            assert np.average(predicted != y, weights=weight) <= bound * (1 + 1e-9)


def test_importances_are_the_votes_by_feature(rare):
    X, _ = rare
    model = fit("adacc1", rare)
    votes = np.zeros(X.shape[1])
    for stump, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        votes[stump.feature] += vote
    np.testing.assert_allclose(model.feature_importances_, votes / votes.sum())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pos_label_decides_ties_only():
    X, y = np.array([[0.0], [1.0]] * 4), np.array([0, 1, 0, 1, 1, 0, 0, 1])
    balanced = [
        adacc.AdaBoostClassifier(n_estimators=1, pos_label=label).fit([[0.0], [0.0]], [0, 1]) for label in (0, 1)
    ]
    assert [model.predict([[0.0]])[0] for model in balanced] == [1, 0]
    models = [adacc.AdaBoostClassifier(pos_label=label).fit(X, y) for label in (0, 1)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


@pytest.mark.parametrize(
    "model",
    [
        adacc.AdaCC1Classifier(n_estimators=100),
        adacc.AdaCC1Classifier(n_estimators=15, max_depth=4),
        adacc.AdaCCForestClassifier(n_estimators=20, random_state=0),
    ],
)
def test_noise_has_small_effects_and_a_large_share_of_the_votes(model):
    """A noise column of 200 categories gets most votes, as each level can separate a few rows."""
    X, y = make_classification(1200, 3, n_informative=3, n_redundant=0, weights=[0.9], flip_y=0.1, random_state=3)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(X.round(), columns=list("abc")).assign(noise=rng.normal(size=1200))
    X["levels"] = pd.Series(rng.integers(0, 200, 1200)).astype(str).astype("category")
    model.fit(X, y)
    votes, effects = model.feature_importances_, model.fitted_model_.effect_shares()
    assert votes[4] > 0.15
    assert effects[3:].max() < effects[:3].max()  # boosting deep trees without bags does learn some noise
    assert effects[4] < 0.5 * votes[4]
    assert effects.sum() == pytest.approx(1.0)
    found = model.explain(X, background=X).importance().to_numpy()
    assert np.corrcoef(effects, found)[0, 1] > 0.5 + np.corrcoef(votes, found)[0, 1]

"""Calibration against independent computations, and the decisions that follow from it."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss

import adacc
from adacc.estimators.calibration import Calibrator, Sigmoid


def test_the_sigmoid_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=500) * 20
    positive = rng.random(500) < expit(0.1 * scores - 1)
    weight = rng.random(500) + 0.5
    curve = Sigmoid.fit(scores, positive, weight)
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    residual = weight * (curve.predict(scores) - target)
    assert residual.sum() == pytest.approx(0, abs=1e-4)
    assert (residual * scores).sum() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_calibration_on_the_training_scores_is_scikit_learns(kind, rare):
    X, y = rare
    plain = adacc.AdaBoostClassifier(n_estimators=15).fit(X, y)
    theirs = CalibratedClassifierCV(FrozenEstimator(plain), method=kind, ensemble=False).fit(X, y)
    ours = adacc.AdaMECClassifier(n_estimators=15, calibration=kind, costs=[1, 1]).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize("costs", [[1, 1], [1, 3], [2, 1]])
def test_adamec_cal_decides_by_the_cost_threshold(costs, rare):
    X, y = rare
    model = adacc.AdaMECClassifier(n_estimators=15, calibration="sigmoid", costs=costs).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    threshold = costs[0] / sum(costs)
    np.testing.assert_array_equal(model.predict(X), p > threshold)
    np.testing.assert_allclose(model.decision_function(X), logit(p) - logit(threshold), rtol=1e-9)
    by_name = adacc.BoostingClassifier("adamec-cal", n_estimators=15, costs=costs).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), model.predict_proba(X))


def test_cgada_cal_fits_with_the_costs_as_weights_and_decides_at_one_half(rare):
    X, y = rare
    model = adacc.CGAdaClassifier(n_estimators=15, calibration="sigmoid", costs=[0.3, 1]).fit(X, y)
    scores = adacc.CGAdaClassifier(n_estimators=15, costs=[0.3, 1]).fit(X, y).decision_function(X)
    expected = Sigmoid.fit(scores, y == 1, np.array([0.3, 1.0])[y]).predict(scores)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected)
    np.testing.assert_array_equal(model.predict(X), expected > 0.5)


def test_several_classes(three):
    X, y = three
    costs = np.array([1.0, 2.0, 4.0])
    for kind in ("sigmoid", "isotonic"):
        model = adacc.AdaMECClassifier(n_estimators=15, calibration=kind, costs=costs).fit(X, y)
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), np.argmax(proba * costs, axis=1))


def test_held_out_folds_give_honest_probabilities():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = (rng.random(3000) < expit(1.5 * X[:, 0] - 1.5)).astype(int)
    train, test = slice(0, 400), slice(400, None)
    brier = {}
    for cv in (None, 5):
        model = adacc.AdaMECClassifier(n_estimators=100, calibration="isotonic", calibration_cv=cv, random_state=0)
        brier[cv] = brier_score_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test])[:, 1])
    assert brier[5] < brier[None]


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_weights_that_only_compare_rows_may_be_of_any_size(kind, rare):
    X, y = rare
    weight = np.where(y == 1, 2.0, 1.0)
    expected = adacc.AdaMECClassifier(calibration=kind).fit(X, y, sample_weight=weight / weight.mean()).predict_proba(X)
    for scale in (1e-9, 1.0 / weight.sum(), 1e-320):
        scaled = adacc.AdaMECClassifier(calibration=kind).fit(X, y, sample_weight=weight * scale).predict_proba(X)
        np.testing.assert_allclose(scaled, expected, atol=1e-3 if scale == 1e-320 else 1e-6)


def test_isotonic_stages_end_at_the_score(rare):
    X, y = np.round(rare[0], 1), rare[1]
    model = adacc.AdaMECClassifier(calibration="isotonic", n_estimators=60).fit(X, y)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X))


def test_no_class_has_any_probability():
    """Isotonic curves may give all classes 0; the row is then anybody's."""
    y = np.repeat([0, 1, 2], 10)
    scores = np.eye(3)[y]
    calibrator = Calibrator.fit("isotonic", scores, y, 3, np.ones(30))
    np.testing.assert_allclose(calibrator.probabilities(np.zeros((2, 3))), 1 / 3)

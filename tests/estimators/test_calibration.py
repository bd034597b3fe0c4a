"""Calibration against independent computations, and the decisions that follow from it."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

import adacc
from adacc.algorithms import METHODS
from adacc.algorithms.adaboost import AdaMEC, CGAda
from adacc.algorithms.adacc import AdaCC1
from adacc.model.calibration import Calibrator, Isotonic, Sigmoid

BY_VOTES = [name for name, method in METHODS.items() if not method.decides_by_probability]
KINDS = ["sigmoid", "isotonic"]


def fit(method, data, **params):
    """With costs that no method overdoes."""
    rule = METHODS[method].rule if isinstance(method, str) else method
    costs = {"costs": 1.0 + 0.1 * np.arange(len(np.unique(data[1])))} if rule.uses_costs else {}
    params = {"n_estimators": 15, "random_state": 0, "calibration_cv": "training", **costs, **params}
    return adacc.BoostingClassifier(method, **params).fit(*data)


def probabilities_of(calibrated, kind, scores, X, ours):
    """scikit-learn's; those of an isotonic curve, whose points may be 0 and 1, within the bounds of `ours`."""
    if kind == "sigmoid":
        return calibrated.predict_proba(X)
    (curve,) = calibrated.calibrated_classifiers_[0].calibrators
    points = np.clip(curve.y_thresholds_, ours.values.min(), ours.values.max())
    p = np.interp(scores, curve.X_thresholds_, points)
    return np.column_stack([1.0 - p, p])


def test_all_but_the_papers_calibrated_methods_decide_by_votes():
    assert set(METHODS) - set(BY_VOTES) == {"cgada", "adamec", "cgada-cal", "adamec-cal"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", BY_VOTES)
def test_decisions_stay_those_of_the_votes(method, kind, rare, three):
    """Above all: they are not those of p > ½, which would give up the rare class."""
    for data in (rare, three):
        X, _ = data
        plain = fit(method, data)
        for cv in ("training", 3):
            model = fit(method, data, calibration=kind, calibration_cv=cv)
            np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
            np.testing.assert_array_equal(model.predict(X), plain.predict(X))
            np.testing.assert_array_equal(list(model.staged_predict(X)), list(plain.staged_predict(X)))
            proba = model.predict_proba(X)
            assert not np.allclose(proba, plain.predict_proba(X))
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
            assert ((proba >= 0.0) & (proba <= 1.0)).all()
            if data is rare:
                assert (np.diff(proba[np.argsort(plain.decision_function(X)), 1]) >= 0.0).all()


@pytest.mark.parametrize("method", BY_VOTES)
def test_probabilities_are_frequencies_among_the_rows_as_they_are(method, rare):
    """Whatever weights the method gave to rows: an isotonic curve has the mean of what it was fitted to, but for less
    than a row that its bounds take.
    """
    X, y = rare
    weight = 1.0 + np.arange(len(y)) % 4
    model = adacc.BoostingClassifier(
        method, n_estimators=15, calibration="isotonic", random_state=0, calibration_cv="training"
    )
    for given in (None, weight):
        p = model.fit(X, y, sample_weight=given).predict_proba(X)[:, 1]
        counted = np.ones(len(y)) if given is None else given / given.mean()
        assert abs((counted * (p - y)).sum()) < 1.0
    assert abs(fit(method, rare, calibration="sigmoid").predict_proba(X)[:, 1].mean() - y.mean()) < 0.02


def test_a_rare_row_may_be_predicted_at_a_probability_far_below_one_half():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2))
    y = rng.random(3000) < expit(X[:, 0] - 3.5)
    model = fit("adacc1", (X, y), calibration="sigmoid", calibration_cv=5, n_estimators=30)
    p, predicted = model.predict_proba(X)[:, 1], model.predict(X)
    assert p.max() < 0.5
    assert (predicted & y).sum() > 0.25 * y.sum()
    assert p[predicted].min() >= p[~predicted].max() - 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["adaboost", "adacc1", "adacc2", "rareboost", "csb2", "adac2", "adacost"])
def test_held_out_folds_are_scikit_learns(method, kind, rare):
    X, y = rare
    folds = StratifiedKFold(5, shuffle=True, random_state=check_random_state(0).randint(np.iinfo(np.int32).max))
    ours = fit(method, rare, calibration=kind, calibration_cv=5)
    theirs = CalibratedClassifierCV(fit(method, rare), method=kind, cv=folds, ensemble=False).fit(X, y)
    due = probabilities_of(theirs, kind, ours.decision_function(X), X, ours.fitted_model_.calibrator.curves[0])
    np.testing.assert_allclose(ours.predict_proba(X), due, atol=2e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].sampler is None])
def test_a_curve_counts_rows_whatever_their_weights(method, kind, rare):
    """Weights say how the rows compare; the smoothed targets come from the number of rows."""
    X, y = rare
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"n_estimators": 8, "calibration": kind, "calibration_cv": "training"}
    if METHODS[method].rule.uses_costs:  # those of CGAda are weights of the calibration
        options["costs"] = [1.0, 1.0]
    model = adacc.BoostingClassifier(method, **options).fit(X, y, sample_weight=weight)
    used = weight > 0
    counts = weight[used] * (used.sum() / weight.sum())
    curve = {"sigmoid": Sigmoid.fit, "isotonic": Isotonic.fit}[kind]
    scores = model.fitted_model_.ensemble.scores(model._read_known(X))
    expected = curve(scores[used].round(10), y[used] == 1, counts).predict(scores.round(10))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-7)
    again = model.fit(X, y, sample_weight=weight * 8.0).predict_proba(X)[:, 1]
    np.testing.assert_allclose(again, expected, atol=1e-7)


def test_a_sigmoid_never_falls_where_votes_decide():
    """Scores that tell nothing of held-out rows, or less than that, leave the share of the class."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    y = (rng.random(200) < expit(-scores - 1.0)).astype(np.intp)
    weight = rng.random(200) + 0.5
    assert Sigmoid.fit(scores, y == 1, weight).slope < -0.5
    flat = Calibrator.fit("sigmoid", scores, y, 2, weight, rising=True).probabilities(scores)[:, 1]
    n, k = 200, 200 * weight[y == 1].sum() / weight.sum()
    target = np.where(y == 1, (k + 1) / (k + 2), 1 / (n - k + 2))
    np.testing.assert_allclose(flat, np.average(target, weights=weight))

    def loss(p):
        return -(weight * (target * np.log(p) + (1 - target) * np.log(1 - p))).sum()

    for slope in (0.01, 0.3, 1.0):
        for intercept in np.linspace(-3, 3, 25):
            assert loss(flat) <= loss(expit(slope * scores + intercept))
    rising = Calibrator.fit("sigmoid", -scores, y, 2, weight, rising=True)
    assert rising == Calibrator.fit("sigmoid", -scores, y, 2, weight)


def test_probabilities_of_noise_do_not_fall_either():
    flat = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 2)), np.arange(60) % 4 == 0
        model = fit("adacc1", (X, y), calibration="sigmoid", calibration_cv=5)
        p = model.predict_proba(X)[np.argsort(model.decision_function(X)), 1]
        assert (np.diff(p) >= 0.0).all()
        flat += p[0] == p[-1]
    assert flat > 0  # held-out rows of noise often are scored the wrong way round


def test_a_rule_object_is_calibrated_as_its_name_is(rare):
    X, _ = rare
    for rule, name in ((AdaMEC(), "adamec"), (CGAda(), "cgada"), (AdaCC1(), "adacc1")):
        one, other = fit(rule, rare, calibration="sigmoid"), fit(name, rare, calibration="sigmoid")
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_rule_of_ones_own_can_be_calibrated(rare):
    class Own(AdaMEC):
        pass

    X, _ = rare
    calibrated = fit(Own(), rare, calibration="isotonic")
    np.testing.assert_array_equal(calibrated.decision_function(X), fit("adamec", rare).decision_function(X))


def test_calibration_can_be_asked_for_when_the_rounds_are_there(rare):
    X, _ = rare
    model = fit("adacc2", rare, n_estimators=10, warm_start=True)
    model.set_params(calibration="isotonic", calibration_cv=3, n_estimators=20).fit(*rare)
    np.testing.assert_allclose(
        model.decision_function(X), fit("adacc2", rare, n_estimators=20).decision_function(X), rtol=1e-9
    )
    assert model.n_iter_ == 20
    with pytest.raises(
        ValueError, match="the same calibration as in the last fit: was None"
    ):  # there it changes the votes
        fit("adamec", rare, warm_start=True).set_params(calibration="isotonic").fit(*rare)


@pytest.mark.parametrize("kind", KINDS)
def test_votes_can_be_explained_after_any_calibration(kind, rare, three):
    for data in (rare, three):
        X, _ = data
        model = fit("adacc1", data, calibration=kind, multi_class="joint")
        explanation = model.explain(X)
        np.testing.assert_allclose(explanation.scores, model.decision_function(X))
        np.testing.assert_allclose(explanation.contributions.sum(axis=1) + explanation.intercept, explanation.scores)


def test_a_cost_search_finds_the_same_costs_with_calibration(rare):
    X, _ = rare
    grid = [[0.6, 1], [0.8, 1], [1, 1]]
    plain = adacc.CostSearchCV(adacc.AdaC2Classifier(n_estimators=10), grid, cv="training").fit(*rare)
    calibrated = adacc.CostSearchCV(
        adacc.AdaC2Classifier(n_estimators=10, calibration="sigmoid", calibration_cv="training"), grid, cv="training"
    ).fit(*rare)
    assert plain.best_costs_ == calibrated.best_costs_
    assert plain.best_score_ == calibrated.best_score_
    np.testing.assert_array_equal(plain.predict(X), calibrated.predict(X))
    assert not np.allclose(plain.predict_proba(X), calibrated.predict_proba(X))


def test_any_weak_learner_and_early_stopping_are_calibrated_too(rare):
    X, y = rare
    for params in ({"estimator": DecisionTreeClassifier(max_depth=2)}, {"n_iter_no_change": 5}):
        model = fit("adacc1", rare, calibration="sigmoid", calibration_cv=3, **params)
        np.testing.assert_array_equal(model.predict(X), fit("adacc1", rare, **params).predict(X))
        assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.1


@pytest.mark.parametrize("method", ["adacc1", "adacc2", "csb1", "adac3", "rusboost"])
def test_held_out_folds_make_better_probabilities(method):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 4))
    y = (rng.random(4000) < expit(1.5 * X[:, 0] - 2.5)).astype(int)
    train, test = slice(0, 800), slice(800, None)
    brier = {}
    for kind in (None, *KINDS):
        model = fit(method, (X[train], y[train]), n_estimators=50, calibration=kind, calibration_cv=5)
        brier[kind] = brier_score_loss(y[test], model.predict_proba(X[test])[:, 1])
    assert max(brier["sigmoid"], brier["isotonic"]) < brier[None]
    assert max(brier["sigmoid"], brier["isotonic"]) < y[test].mean() * (1 - y[test].mean())


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
    ours = adacc.AdaMECClassifier(n_estimators=15, calibration=kind, costs=[1, 1], calibration_cv="training").fit(X, y)
    due = probabilities_of(theirs, kind, plain.decision_function(X), X, ours.fitted_model_.calibrator.curves[0])
    np.testing.assert_allclose(ours.predict_proba(X), due, atol=2e-4)


@pytest.mark.parametrize("costs", [[1, 1], [1, 3], [2, 1]])
def test_adamec_cal_decides_by_the_cost_threshold(costs, rare):
    X, y = rare
    model = adacc.AdaMECClassifier(n_estimators=15, calibration="sigmoid", costs=costs, calibration_cv="training").fit(
        X, y
    )
    p = model.predict_proba(X)[:, 1]
    threshold = costs[0] / sum(costs)
    np.testing.assert_array_equal(model.predict(X), p > threshold)
    np.testing.assert_allclose(model.decision_function(X), logit(p) - logit(threshold), rtol=1e-9)
    by_name = adacc.BoostingClassifier("adamec-cal", n_estimators=15, costs=costs).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), model.predict_proba(X))


def test_cgada_cal_fits_with_the_costs_as_weights_and_decides_at_one_half(rare):
    X, y = rare
    model = adacc.CGAdaClassifier(
        n_estimators=15, calibration="sigmoid", costs=[0.3, 1], calibration_cv="training"
    ).fit(X, y)
    scores = adacc.CGAdaClassifier(n_estimators=15, costs=[0.3, 1]).fit(X, y).decision_function(X)
    weight = np.array([0.3, 1.0])[y]
    expected = Sigmoid.fit(scores, y == 1, weight / weight.mean()).predict(scores)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected)
    np.testing.assert_array_equal(model.predict(X), expected > 0.5)


def test_several_classes(three):
    X, y = three
    costs = np.array([1.0, 2.0, 4.0])
    for kind in ("sigmoid", "isotonic"):
        model = adacc.AdaMECClassifier(n_estimators=15, calibration=kind, costs=costs, calibration_cv="training").fit(
            X, y
        )
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), np.argmax(proba * costs, axis=1))


def test_held_out_folds_give_honest_probabilities():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = (rng.random(3000) < expit(1.5 * X[:, 0] - 1.5)).astype(int)
    train, test = slice(0, 400), slice(400, None)
    brier = {}
    for cv in ("training", 5):
        model = adacc.AdaMECClassifier(n_estimators=100, calibration="isotonic", calibration_cv=cv, random_state=0)
        brier[cv] = brier_score_loss(y[test], model.fit(X[train], y[train]).predict_proba(X[test])[:, 1])
    assert brier[5] < brier["training"]


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_weights_that_only_compare_rows_may_be_of_any_size(kind, rare):
    X, y = rare
    weight = np.where(y == 1, 2.0, 1.0)
    expected = (
        adacc.AdaMECClassifier(calibration=kind, calibration_cv="training")
        .fit(X, y, sample_weight=weight / weight.mean())
        .predict_proba(X)
    )
    for scale in (1e-9, 1.0 / weight.sum(), 1e-320):
        scaled = (
            adacc.AdaMECClassifier(calibration=kind, calibration_cv="training")
            .fit(X, y, sample_weight=weight * scale)
            .predict_proba(X)
        )
        np.testing.assert_allclose(scaled, expected, atol=1e-3 if scale == 1e-320 else 1e-6)


def test_isotonic_stages_end_at_the_score(rare):
    X, y = np.round(rare[0], 1), rare[1]
    model = adacc.AdaMECClassifier(calibration="isotonic", n_estimators=60, calibration_cv="training").fit(X, y)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X))


def test_no_class_has_any_probability():
    """Isotonic curves may give all classes 0; the row is then anybody's."""
    y = np.repeat([0, 1, 2], 10)
    scores = np.eye(3)[y]
    calibrator = Calibrator.fit("isotonic", scores, y, 3, np.ones(30))
    np.testing.assert_allclose(calibrator.probabilities(np.zeros((2, 3))), 1 / 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rare", [2, 5])
def test_a_few_rare_rows_make_nobody_certain(kind, n_rare):
    """Not even where they stand apart, and not of rows that are farther out than all of training."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), np.arange(150) < n_rare
    X[y] += 6.0
    everywhere = np.concatenate([X, 10.0 * X, -10.0 * X])
    for model in (
        adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=2, calibration=kind, random_state=0),
        adacc.AdaCC1Classifier(n_estimators=5, calibration=kind, calibration_cv=2, random_state=0),
        adacc.AdaMECClassifier(n_estimators=5, calibration=kind, calibration_cv="training"),
    ):
        proba = model.fit(X, y).predict_proba(everywhere)
        assert proba.min() > 0.0
        assert proba.max() < 1.0
        if kind == "isotonic":
            assert proba[:, 1].max() <= (n_rare + 1) / (n_rare + 2) + 1e-12
            assert proba[:, 1].min() >= 1 / (150 - n_rare + 2) - 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_isotonic_curve_is_bounded_by_the_weight_of_its_classes(n_classes):
    y = np.arange(30) % n_classes
    scores = y.astype(float) if n_classes == 2 else np.eye(3)[y]
    weight = np.where(y == 0, 2.0, 1.0)
    weight /= weight.mean()
    curves = Calibrator.fit("isotonic", scores, y, n_classes, weight).curves
    for k, curve in enumerate(curves, start=n_classes == 2):
        inside, outside = weight[y == k].sum(), weight[y != k].sum()
        np.testing.assert_allclose(curve.values, [1 / (outside + 2), (inside + 1) / (inside + 2)])


def test_an_isotonic_curve_claims_no_more_than_the_rows_at_its_ends_support():
    """By the largest and the smallest of Laplace's estimates of all ranges from an end on, tried one by one."""
    rng = np.random.default_rng(0)
    for n_rows, top in ((40, 1), (400, 2), (400, 5), (3000, 3)):
        scores = rng.normal(size=n_rows).round(2)
        y = rng.random(n_rows) < 0.5 / (1.0 + np.exp(-2.0 * scores))  # at most one half
        y[np.argsort(scores)[-top:]] = True
        weight = np.where(rng.random(n_rows) < 0.5, 1.0, 3.0)
        weight /= weight.mean()
        (curve,) = Calibrator.fit("isotonic", scores, y.astype(int), 2, weight).curves
        free = IsotonicRegression().fit(scores, y.astype(float), sample_weight=weight)
        fitted = free.predict(scores)

        ends = [
            [((weight * y)[rows].sum() + 1.0) / (weight[rows].sum() + 2.0) for rows in ranges]
            for ranges in zip(*((fitted <= each, fitted >= each) for each in np.unique(fitted)), strict=True)
        ]
        low, high = min(ends[0]), max(ends[1])
        np.testing.assert_allclose(curve.predict(scores), np.clip(fitted, low, high), atol=1e-9)
        assert fitted.max() == 1.0
        assert curve.values.max() < 0.93

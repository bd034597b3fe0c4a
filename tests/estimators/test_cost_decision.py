"""Decisions by cost against brute force and scikit-learn, the laws they obey, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from matched import cross_val_matched
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from support import thinned

import adacc
from adacc import CostDecision
from adacc.estimators.cutoffs import CostCurve, brier, reliability
from adacc.model.cost_matrix import read_cost_matrix

COSTS = {0: 1, 1: 5}


class Given(GaussianNB):
    """Says the probabilities that it is handed as X."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        X = np.asarray(X)
        return np.column_stack([1.0 - X[:, 0], X[:, 0]]) if X.shape[1] == 1 else X


def mean_cost(y, predicted, costs, weight=None):
    each = [costs[true][said] for true, said in zip(y, predicted, strict=True)]
    return np.average(each, weights=weight)


def cheapest_cut_off(p, y, costs, weight=None):
    """The least cost of all cut-offs there can be: at every probability, and below them all."""
    cuts = [-1.0, *np.unique(p)]
    return min(mean_cost(y, (p > cut).astype(int), costs, weight) for cut in cuts)


# -- the tuned threshold


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 8).map(lambda k: k / 8), st.integers(0, 1), st.integers(0, 3)), min_size=2, max_size=30
    ),
    costs=st.tuples(*[st.integers(0, 6)] * 2).filter(any),
    right=st.tuples(*[st.integers(-3, 3)] * 2),
)
def test_the_tuned_threshold_is_the_best_of_all(rows, costs, right):
    p, y, weight = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    if not weight.any() or len(np.unique(y[weight > 0])) < 2:
        return
    matrix = [[right[0], right[0] + costs[0]], [right[1] + costs[1], right[1]]]
    model = CostDecision(Given(), matrix, threshold="tuned", cv="training").fit(p[:, None], y, sample_weight=weight)
    best = cheapest_cut_off(p[weight > 0], y[weight > 0].astype(int), matrix, weight[weight > 0])
    assert model.expected_cost_ == pytest.approx(best)
    assert mean_cost(y.astype(int), model.predict(p[:, None]).astype(int), matrix, weight) == pytest.approx(best)
    curve = model.cost_curve_
    assert (np.diff(curve["threshold"]) > 0).all()
    for threshold, cost in zip(curve["threshold"], curve["cost"], strict=True):
        assert cost == pytest.approx(mean_cost(y.astype(int), (p >= threshold).astype(int), matrix, weight))
    expected = costs[0] / sum(costs)
    as_good = curve["threshold"][np.isclose(curve["cost"], best)]
    assert abs(model.threshold_ - expected) == pytest.approx(np.abs(as_good - expected).min())


def test_the_threshold_is_tuned_on_rows_that_the_fold_has_not_seen(rare):
    X, y = rare
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    estimator = adacc.AdaCC1Classifier(n_estimators=20)
    model = CostDecision(estimator, COSTS, threshold="tuned", cv=folds).fit(X, y)
    p = cross_val_matched(estimator, X, y, folds, "predict_proba")
    matrix = [[0, 1], [5, 0]]
    assert model.expected_cost_ == pytest.approx(cheapest_cut_off(p, y, matrix))
    assert mean_cost(y, (p > model.threshold_).astype(int), matrix) == pytest.approx(model.expected_cost_)
    for threshold, (_, rest) in zip(model.threshold_spread_, folds.split(X, y), strict=True):
        found = mean_cost(y[rest], (p[rest] > threshold).astype(int), matrix)
        assert found == pytest.approx(cheapest_cut_off(p[rest], y[rest], matrix))
    np.testing.assert_array_equal(model.predict_proba(X), clone(estimator).fit(X, y).predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= model.threshold_)
    seen = CostDecision(estimator, COSTS, threshold="tuned", cv="training").fit(X, y)
    assert seen.expected_cost_ < model.expected_cost_


def test_where_it_makes_no_difference_the_threshold_stays_the_expected_one():
    p, y = np.array([0.1, 0.2, 0.8, 0.9])[:, None], np.array([0, 0, 1, 1])
    model = CostDecision(Given(), {0: 2, 1: 3}, threshold="tuned", cv="training").fit(p, y)
    assert model.threshold_ == 0.4
    model = CostDecision(Given(), {0: 1, 1: 9}, threshold="tuned", cv="training").fit(p, y)
    assert model.threshold_ == 0.5  # in the middle of the gap, which the expected 0.1 is not in


def test_cut_offs_between_neighbouring_floats_and_beyond_the_ends():
    low = 0.5
    high = np.nextafter(low, 1.0)
    for p, y in [([low, high], [0, 1]), ([0.0, 1.0], [0, 1]), ([0.0, 1.0], [1, 0]), ([1.0, 1.0 - 2**-53], [1, 0])]:
        p, y = np.array(p), np.array(y)
        curve = CostCurve.of(p, y == 1, np.ones(2), np.array([[0.0, 1.0], [3.0, 0.0]]))
        assert ((p >= curve.best) == (y == 1)).all() or y[np.argmax(p)] == 0
        assert [int((p >= cut).sum()) for cut in curve.threshold] == [2, 1, 0]
        assert np.isfinite(curve.threshold).all()


def test_agrees_with_scikit_learns_tuned_threshold_where_that_tries_every_cut_off(rare):
    """Theirs tries a grid: given all of ours as the grid, it can do no better."""
    X, y = rare
    estimator = FrozenEstimator(adacc.AdaCC2Classifier(n_estimators=15).fit(X, y))
    ours = CostDecision(estimator, COSTS, threshold="tuned", cv="training").fit(X, y)

    def cost(y_true, y_pred):
        return mean_cost(y_true, y_pred, [[0, 1], [5, 0]])

    theirs = TunedThresholdClassifierCV(
        estimator,
        scoring=make_scorer(cost, greater_is_better=False),
        thresholds=ours.cost_curve_["threshold"].clip(0, 1),
        cv="prefit",
        refit=False,
    ).fit(X, y)
    assert cost(y, ours.predict(X)) <= cost(y, theirs.predict(X)) + 1e-12
    assert cost(y, ours.predict(X)) == pytest.approx(ours.expected_cost_)


# -- minimum expected cost


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decides_for_the_least_expected_cost(n_classes):
    rng = np.random.default_rng(n_classes)
    proba = rng.dirichlet(np.ones(n_classes), 300)
    y = np.arange(300) % n_classes
    costs = rng.integers(1, 20, (n_classes, n_classes)) * (1 - np.eye(n_classes)) - np.diag(
        rng.integers(0, 3, n_classes)
    )
    X = proba[:, 1:] if n_classes == 2 else proba
    model = CostDecision(Given(), costs, cv="training").fit(X, y)
    said = [[sum(row[i] * costs[i][j] for i in range(n_classes)) for j in range(n_classes)] for row in proba]
    decided = np.argmin(said, axis=1)
    np.testing.assert_array_equal(model.predict(X), decided)
    assert model.expected_cost_ == pytest.approx(mean_cost(y, decided, costs))


@pytest.mark.parametrize("which", ["rare", "three"])
@pytest.mark.parametrize("estimator", [LogisticRegression(), adacc.AdaCC1Classifier(n_estimators=10), GaussianNB()])
def test_equal_costs_are_the_most_likely_class(estimator, which, request):
    X, y = request.getfixturevalue(which)
    plain = clone(estimator).fit(X, y)
    for costs in (None, dict.fromkeys(np.unique(y).tolist(), 7.0)):
        model = CostDecision(estimator, costs, cv=3).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), np.argmax(plain.predict_proba(X), axis=1))


@pytest.mark.parametrize("threshold", ["expected", "tuned"])
def test_only_ratios_of_costs_and_differences_in_a_row_matter(threshold, rare):
    X, y = rare
    costs = np.array([[0.0, 1.0], [6.0, 0.0]])

    def fit(costs):
        return CostDecision(LogisticRegression(), costs, threshold=threshold).fit(X, y)

    model = fit(costs)
    for other, scale, free in [(3 * costs, 3, 0), (costs / 7, 1 / 7, 0), (costs + np.array([[2.0], [-1.0]]), 1, 1.5)]:
        changed = fit(other)
        assert changed.threshold_ == pytest.approx(model.threshold_, abs=1e-12)
        np.testing.assert_array_equal(changed.predict(X), model.predict(X))
        assert changed.expected_cost_ == pytest.approx(scale * model.expected_cost_ + free)


@pytest.mark.parametrize("threshold", ["expected", "tuned"])
def test_a_dearer_class_is_predicted_more_often(threshold, rare):
    X, y = rare
    caught = [
        CostDecision(LogisticRegression(), {0: 1, 1: cost}, threshold=threshold).fit(X, y).predict(X).sum()
        for cost in (0.2, 1, 5, 50)
    ]
    assert caught == sorted(caught)
    assert caught[0] < caught[1] < caught[2] < caught[3]


def test_a_dearer_class_of_three_is_predicted_more_often(three):
    X, y = three
    share = [
        (CostDecision(LogisticRegression(), {0: 1, 1: 1, 2: cost}).fit(X, y).predict(X) == 2).mean()
        for cost in (0.1, 1, 10)
    ]
    assert share[0] < share[1] < share[2]


def test_an_error_that_costs_nothing_is_made_gladly(three):
    X, y = three
    free = {(0, 1): 1, (0, 2): 1, (1, 0): 1, (1, 2): 0, (2, 0): 1, (2, 1): 0}
    model = CostDecision(LogisticRegression(), free).fit(X, y)
    assert 2 not in model.predict(X)[y == 1]  # one of the two is as good as the other, and the first is taken
    np.testing.assert_array_equal(model.cost_matrix_, [[0, 1, 1], [1, 0, 0], [1, 0, 0]])


def test_costs_by_label_by_pair_and_as_a_matrix_are_the_same():
    classes = np.array(["fine", "fraud"])
    expected = [[0.0, 1.0], [20.0, 0.0]]
    for given_ in (
        {"fraud": 20, "fine": 1},
        {("fraud", "fine"): 20, ("fine", "fraud"): 1},
        {("fraud", "fine"): 20, ("fine", "fraud"): 1, ("fine", "fine"): 0},
        expected,
        np.array(expected, dtype=np.float32),
        pd.Series({"fraud": 20, "fine": 1}),
    ):
        np.testing.assert_array_equal(read_cost_matrix(given_, classes), expected)
    gains = read_cost_matrix({("fraud", "fine"): 20, ("fine", "fraud"): 1, ("fraud", "fraud"): -3}, classes)
    np.testing.assert_array_equal(gains, [[0.0, 1.0], [20.0, -3.0]])


# -- class weights undone


def test_class_weights_are_undone_exactly_where_they_shift_the_prior_alone(three):
    """Naive Bayes is a prior times likelihoods that class weights do not touch."""
    X, y = three
    weights = {0: 1.0, 1: 3.0, 2: 8.0}
    plain = GaussianNB().fit(X, y).predict_proba(X)
    by_costs = GaussianNB().fit(X, y, sample_weight=[weights[k] for k in y])
    model = CostDecision(FrozenEstimator(by_costs), undo_class_weight=weights).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain, atol=1e-12)
    balanced = GaussianNB(priors=[1 / 3] * 3)
    model = CostDecision(balanced, undo_class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain, atol=1e-12)
    assert model.brier_ < CostDecision(balanced).fit(X, y).brier_


def test_under_sampling_is_undone_as_dal_pozzolo_has_it():
    p, kept = np.linspace(0.0, 1.0, 11)[:, None], 0.05
    y = np.arange(11) % 2
    model = CostDecision(Given(), undo_class_weight=[kept, 1.0], cv="training").fit(p, y)
    expected = kept * p[:, 0] / (kept * p[:, 0] - p[:, 0] + 1.0)
    np.testing.assert_allclose(model.predict_proba(p)[:, 1], expected)


def test_cgadas_costs_can_be_undone():
    """They only shift its first weights, so that its probabilities are of rows weighted by cost."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 3))
    y = (rng.random(4000) < expit(2.0 * X[:, 0] - 3.0)).astype(int)
    train, test = slice(0, 2000), slice(2000, None)
    for kind in (None, "sigmoid"):
        cgada = adacc.CGAdaClassifier(costs={0: 1, 1: 15}, calibration=kind, n_estimators=50, random_state=0)
        as_it_is = cgada.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        undone = CostDecision(cgada, undo_class_weight={0: 1, 1: 15}, cv="training").fit(X[train], y[train])
        found = undone.predict_proba(X[test])[:, 1]
        assert abs(found.mean() - y[test].mean()) < 0.02 < 0.1 < as_it_is.mean() - y[test].mean()
        assert brier_score_loss(y[test], found) < 0.75 * brier_score_loss(y[test], as_it_is)
        decided = CostDecision(cgada, {0: 1, 1: 15}, undo_class_weight={0: 1, 1: 15}, cv="training").fit(
            X[train], y[train]
        )
        np.testing.assert_array_equal(decided.predict(X[test]), undone.estimator_.predict(X[test]))


# -- what is found on held-out rows


@pytest.mark.parametrize("which", ["rare", "three"])
def test_brier_score_is_scikit_learns(which, request):
    X, y = request.getfixturevalue(which)
    weight = 1.0 + np.arange(len(y)) % 3
    model = CostDecision(LogisticRegression(), cv=4).fit(X, y, sample_weight=weight)
    p = np.empty((len(y), len(np.unique(y))))
    for training, rest in StratifiedKFold(4).split(X, y):
        fitted = LogisticRegression().fit(X[training], y[training], sample_weight=weight[training])
        p[rest] = fitted.predict_proba(X[rest])
    if which == "rare":
        expected = brier_score_loss(y, p[:, 1], sample_weight=weight)
    else:
        expected = np.average(((p - np.eye(3)[y]) ** 2).sum(axis=1), weights=weight)
    assert model.brier_ == pytest.approx(expected)


def test_reliability_is_scikit_learns_calibration_curve():
    rng = np.random.default_rng(4)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    found = reliability(np.column_stack([1 - p, p]), y, np.ones(500))
    observed, predicted = calibration_curve(y, p, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found["rows"], 50)
    np.testing.assert_allclose(found["predicted"], predicted, atol=0.005)
    np.testing.assert_allclose(found["observed"], observed, atol=0.03)  # their edges lie between other rows


def test_reliability_never_parts_equal_probabilities_and_counts_every_row_once():
    p = np.repeat([0.0, 0.1, 0.5, 1.0], [40, 30, 15, 15])
    y = np.resize([0, 0, 1], 100)
    weight = np.resize([1.0, 2.0], 100)
    found = reliability(np.column_stack([1 - p, p]), y, weight)
    assert found["rows"].sum() == weight.sum()
    np.testing.assert_allclose(found["predicted"], [0.0, 0.1, 0.5, 1.0])
    assert (found["rows"] * found["observed"]).sum() == pytest.approx(weight[y == 1].sum())


def test_reliability_of_several_classes_counts_every_row_for_each(three):
    X, y = three
    found = CostDecision(LogisticRegression()).fit(X, y).reliability_
    assert found["rows"].sum() == 3 * len(y)
    assert (found["rows"] * found["observed"]).sum() == pytest.approx(len(y))
    assert (np.diff(found["predicted"]) > 0).all()


def test_several_classes_have_no_threshold_and_none_is_left_from_before(rare, three):
    model = CostDecision(LogisticRegression()).fit(*rare)
    assert model.threshold_ == 0.5
    model.fit(*three)
    assert not any(hasattr(model, name) for name in ("threshold_", "threshold_spread_", "cost_curve_"))
    assert model.predict(three[0]).shape == (210,)


def test_integer_weights_are_repeated_rows(rare):
    X, y = rare
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    part = np.arange(len(y)) // 6 % 4  # with rows of both classes
    many = np.repeat(np.arange(len(y)), weight)

    def folds(parts):
        return [(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(4)]

    for estimator in (GaussianNB(), adacc.AdaCC1Classifier(n_estimators=8)):
        one = CostDecision(estimator, COSTS, threshold="tuned", cv=folds(part)).fit(X, y, sample_weight=weight)
        other = CostDecision(estimator, COSTS, threshold="tuned", cv=folds(part[many])).fit(X[many], y[many])
        for name in ("threshold_", "threshold_spread_", "expected_cost_", "brier_"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)
        for name in ("predicted", "observed", "rows"):
            np.testing.assert_allclose(one.reliability_[name], other.reliability_[name], atol=1e-9)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


# -- any classifier, any table, any folds


def test_a_frozen_estimator_is_judged_on_the_rows_given(rare):
    X, y = rare
    fitted = adacc.AdaBoostClassifier(n_estimators=10).fit(X[:120], y[:120])
    model = CostDecision(FrozenEstimator(fitted), COSTS, threshold="tuned").fit(X[120:], y[120:])
    p = fitted.predict_proba(X[120:])[:, 1]
    assert model.expected_cost_ == pytest.approx(cheapest_cut_off(p, y[120:], [[0, 1], [5, 0]]))
    assert model.brier_ == pytest.approx(brier(np.column_stack([1 - p, p]), y[120:], np.ones(120)))


@pytest.mark.parametrize("kind", ["list", "sparse", "pandas", "polars", "strings"])
def test_takes_whatever_the_estimator_takes(kind, rare):
    X, y = rare
    labels = np.where(y == 1, "rare", "common")
    frame = pd.DataFrame(X, columns=list("abcde"))
    tables = {"list": X.tolist(), "sparse": sparse.coo_array(X), "pandas": frame, "strings": frame.assign(f="x")}
    if kind == "polars":
        tables["polars"] = pytest.importorskip("polars").from_pandas(frame)
    estimator = adacc.CGAdaClassifier(costs={"common": 1, "rare": 3}, pos_label="rare", n_estimators=5)
    model = CostDecision(estimator, {"rare": 4, "common": 1}, threshold="tuned", cv=3).fit(tables[kind], labels)
    assert set(model.predict(tables[kind])) == {"common", "rare"}
    assert model.n_features_in_ == 5 + (kind == "strings")
    assert hasattr(model, "feature_names_in_") == (kind not in ("list", "sparse"))


def test_folds_of_any_kind(rare):
    X, y = rare
    groups = np.arange(len(y)) // 12
    by_group = CostDecision(GaussianNB(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert len(by_group.threshold_spread_) == 4
    splits = ShuffleSplit(3, test_size=0.5, random_state=0)
    held_out = np.unique(np.concatenate([test for _, test in splits.split(X)]))
    overlapping = CostDecision(GaussianNB(), cv=splits).fit(X, y)
    assert overlapping.reliability_["rows"].sum() == pytest.approx(len(held_out))
    masks = [(np.arange(len(y)) >= 60, np.arange(len(y)) < 60)]
    assert CostDecision(GaussianNB(), cv=masks).fit(X, y).reliability_["rows"].sum() == 60


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_that_no_fold_can_hold_out_is_not_evaluated_silently(three):
    X, y = three
    y = np.where(np.arange(len(y)) == 5, 3, y)
    with pytest.raises(ValueError, match="cv must hold out rows of class 3 in a fold whose training rows have every"):
        CostDecision(GaussianNB(), cv=3).fit(X, y)
    model = CostDecision(GaussianNB(), cv="training").fit(X, y)
    assert model.predict_proba(X).shape == (210, 4)


def test_in_a_grid_search_and_a_pipeline(rare):
    X, y = rare
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(CostDecision(pipeline, cv=3), {"cost_matrix": [{0: 1, 1: 1}, COSTS]}, scoring="recall", cv=3)
    assert search.fit(X, y).best_params_ == {"cost_matrix": COSTS}
    assert clone(search.best_estimator_).get_params()["estimator__logisticregression__C"] == 1.0


def test_weights_are_routed_to_who_asks_for_them(rare):
    X, y = rare
    weight = np.where(y == 1, 5.0, 1.0)
    expected = CostDecision(LogisticRegression(), COSTS).fit(X, y, sample_weight=weight)
    assert abs(expected.brier_ - CostDecision(LogisticRegression(), COSTS).fit(X, y).brier_) > 0.01
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True))
        asks.steps[0][1].set_fit_request(sample_weight=False)
        routed = CostDecision(asks, COSTS).set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        direct = CostDecision(LogisticRegression().set_fit_request(sample_weight=True), COSTS)
        np.testing.assert_allclose(direct.fit(X, y, sample_weight=weight).predict_proba(X), expected.predict_proba(X))
        np.testing.assert_allclose(routed.predict_proba(X), expected.predict_proba(X), atol=0.02)
        direct.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(direct, {"cv": [2, 3]}, cv=2)
        assert grid.fit(X, y, sample_weight=weight).best_estimator_.expected_cost_ > 0
        with pytest.raises(ValueError, match="sample_weight"):
            CostDecision(LogisticRegression(), COSTS).fit(X, y, sample_weight=weight)
        refuses = CostDecision(LogisticRegression().set_fit_request(sample_weight=False), COSTS)
        unweighted = refuses.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(unweighted.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X))
    assert unweighted.expected_cost_ != CostDecision(LogisticRegression(), COSTS).fit(X, y).expected_cost_


@pytest.mark.parametrize("method", thinned(adacc.methods(), {*adacc.methods()} - {"adacc1", "cgada-cal", "rusboost"}))
def test_scikit_learns_own_tools_take_every_method(method):
    X, y = make_classification(n_samples=150, weights=[0.8], random_state=1)
    model = adacc.BoostingClassifier(method, n_estimators=8, random_state=0)
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=3).fit(X, y)
    assert set(tuned.predict(X)) <= {0, 1}
    assert tuned.best_score_ >= 0.5
    ours = CostDecision(model, COSTS, threshold="tuned", cv=3).fit(X, y)
    assert ours.expected_cost_ <= min(np.mean(y == 1) * 5, np.mean(y == 0))  # as cheap as the cheaper of the constants


# -- errors


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"cost_matrix": {0: 1}}, ValueError, r"no cost for the label 1; it must have a cost for each of \[0, 1\]"),
        ({"cost_matrix": {0: 1, 1: 2, 7: 1}}, ValueError, r"the key 7, which is not a label of the classes \[0, 1\]"),
        ({"cost_matrix": {(0, 1): 1}}, ValueError, r"no cost for the \(true, predicted\) pair \(1, 0\)"),
        ({"cost_matrix": {(0, 1): 1, (1, 0): 2, 1: 3}}, ValueError, r"key 1, which is not a \(true, predicted\) pair"),
        ({"cost_matrix": {0: "dear", 1: 1}}, TypeError, "cost_matrix must hold numbers, got 'dear' for 0"),
        ({"cost_matrix": [1, 2]}, ValueError, r"a row and a column for each class of \[0, 1\], got the shape \(2,\)"),
        ({"cost_matrix": np.ones((3, 3))}, ValueError, r"got the shape \(3, 3\)"),
        ({"cost_matrix": "balanced"}, TypeError, "cost_matrix must be a dict or an array of numbers, got 'balanced'"),
        ({"cost_matrix": [[0, np.inf], [1, 0]]}, ValueError, "must be finite, got inf for predicting 1 if 0"),
        ({"cost_matrix": {0: 1, 1: np.inf}}, ValueError, r"got inf for predicting 0 if 1 is true; .* many times"),
        ({"cost_matrix": {0: np.nan, 1: 1}}, ValueError, "must be finite, got nan for predicting 1 if 0"),
        ({"cost_matrix": {(0, 1): 1, (1, 0): -np.inf}}, ValueError, "must be finite, got -inf for predicting 0 if 1"),
        ({"cost_matrix": {0: 1e308, 1: 1e308}}, ValueError, r"of at most 1e\+100, got 1e\+308 for predicting 1 if 0"),
        ({"cost_matrix": [[-1e308, 1e308], [1, 0]]}, ValueError, r"of at most 1e\+100, got -1e\+308 for predicting 0"),
        ({"cost_matrix": {0: 10**400, 1: 1}}, ValueError, r"of at most 1e\+100, got one that is too large"),
        ({"cost_matrix": [[0, 10**400], [1, 0]]}, ValueError, r"of at most 1e\+100, got one that is too large"),
        ({"cost_matrix": [[0, 1], [-1, 0]]}, ValueError, "not reward errors, but predicting 0 if 1 is true costs"),
        ({"cost_matrix": [[1, 1], [2, 2]]}, ValueError, "must make some error cost more than a correct prediction"),
        ({"cost_matrix": {0: 0, 1: 0}}, ValueError, "must make some error cost more"),
        ({"threshold": 0.3}, ValueError, "threshold must be 'expected' or 'tuned', got 0.3"),
        ({"threshold": "best"}, ValueError, "threshold must be 'expected' or 'tuned', got 'best'"),
        ({"undo_class_weight": {0: 1}}, ValueError, "undo_class_weight, read as costs: costs has no value for class 1"),
        ({"undo_class_weight": [0, 1]}, ValueError, r"must be positive for every class, got \[0, 1\]"),
        ({"estimator": LinearSVC()}, TypeError, "must have predict_proba, got LinearSVC.*; wrap it in"),
        ({"estimator": 3}, TypeError, "estimator must be a classifier, got 3"),
        ({"estimator": StandardScaler()}, TypeError, r"estimator must be a classifier, got StandardScaler\(\)"),
        ({"estimator": GaussianNB}, TypeError, "estimator must be a classifier, got <class"),
        ({"cv": StratifiedKFold}, TypeError, r"a splitter such as StratifiedKFold\(\), got the class itself"),
        ({"cv": iter([])}, ValueError, "cv must yield at least one fold, got <"),
    ],
)  # fmt: skip
def test_fit_says_what_is_wrong(params, error, message, rare):
    model = CostDecision(**{"estimator": GaussianNB(), **params})
    before = vars(model).copy()
    with pytest.raises(error, match=message):
        model.fit(*rare)
    assert vars(model) == before


def test_the_largest_costs_there_may_be(rare):
    X, y = rare
    large = CostDecision(GaussianNB(), {0: 2e99, 1: 1e100}, threshold="tuned").fit(
        X, y, sample_weight=np.full(len(y), 1e50)
    )
    plain = CostDecision(GaussianNB(), {0: 0.2, 1: 1}, threshold="tuned").fit(X, y, sample_weight=np.full(len(y), 1e50))
    assert large.threshold_ == pytest.approx(plain.threshold_)
    assert large.expected_cost_ == pytest.approx(plain.expected_cost_ * 1e100)


def test_data_that_cannot_be_decided(rare, three):
    X, y = rare
    with pytest.raises(ValueError, match=r"Only binary .* threshold='tuned'.* of 3 classes: use threshold='expected'"):
        CostDecision(GaussianNB(), threshold="tuned").fit(*three)
    with pytest.raises(ValueError, match="Only binary"):
        CostDecision(FrozenEstimator(GaussianNB().fit(*three)), threshold="tuned").fit(three[0], three[1] > 1)
    with pytest.raises(ValueError, match="y has the label 2, which the fitted estimator does not know"):
        CostDecision(FrozenEstimator(GaussianNB().fit(X[:, :4], y))).fit(*three)
    with pytest.raises(ValueError, match="at least 2 classes, got only one class, 0"):
        CostDecision(DummyClassifier()).fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(TypeError, match="sample_weight was given, but the fit of KNeighborsClassifier"):
        CostDecision(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CostDecision(GaussianNB()).fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        CostDecision(GaussianNB()).fit(X, None)
    with pytest.raises(NotFittedError):
        CostDecision(GaussianNB()).predict(X)

"""More than two classes as two-class problems: the scores are those of independent binary classifiers."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

import adacc
from adacc.model.coding import class_scores, one_vs_one, one_vs_rest
from adacc.model.serialization.archive import ModelFileError
from adacc.model.serialization.jsonable import decode

KINDS = ["one_vs_one", "one_vs_rest"]


def make_table(n=300, n_classes=4, seed=0):
    """Few distinct values, so that the bins of all rows and of the rows of a pair separate the same values."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.array([8, 4, 2, 1][:n_classes]) / sum([8, 4, 2, 1][:n_classes]))
    centres = rng.normal(size=(n_classes, 3))
    X = pd.DataFrame(np.round(centres[y] + rng.normal(size=(n, 3)), 1), columns=["a", "b", "c"])
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X["colour"] = pd.Categorical(np.array(["red", "green", "blue", "grey"])[(y + (rng.random(n) < 0.4)) % 4])
    return X, np.array(["ash", "birch", "cedar", "elm"])[y]


@pytest.mark.parametrize("method", ["adacc1", "adacc2", "adaboost", "csb2", "rareboost", "adamec"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_binary_classifiers(kind, weighted, method):
    X, y = make_table()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = adacc.BoostingClassifier(method, n_estimators=12, multi_class=kind, max_bins=None).fit(X, y, weight)
    scores = model.fitted_model_.scores(model._read_known(X))
    classes = list(model.classes_)
    problems = [({a}, {b}) for a, b in combinations(classes, 2)]
    if kind == "one_vs_rest":
        problems = [({a}, set(classes) - {a}) for a in classes]
    for p, (ones, others) in enumerate(problems):
        members = np.array([label in ones | others for label in y])
        binary = adacc.BoostingClassifier(method, n_estimators=12, max_bins=None)
        binary.fit(X[members], np.isin(y[members], list(ones)), None if weight is None else weight[members])
        ours, theirs = model.fitted_model_.ensemble.problem(p), binary.fitted_model_.ensemble
        # Thresholds lie midway between the values of all rows, or of those of the problem: equal on these rows.
        assert_allclose(scores[members, p], binary.decision_function(X[members]), atol=1e-9)
        assert_allclose(ours.votes, theirs.votes, rtol=1e-9)
        assert_allclose(ours.history["class_cost"], theirs.history["class_cost"], rtol=1e-9)


@pytest.mark.parametrize("kind", ["joint", *KINDS])
@pytest.mark.parametrize("method", ["cgada", "adac2", "csb1", "adacost", "adamec"])
def test_two_classes_of_no_cost_are_not_told_apart_at_any_cost(kind, method):
    """One class costs, be it by class or by row: it is predicted, as it is in all ways of boosting."""
    X, y = make_table(n_classes=3)
    costs = {"ash": 0, "birch": 0, "cedar": 1}
    model = adacc.BoostingClassifier(method, n_estimators=5, multi_class=kind, costs=costs).fit(X, y)
    expected = y == "cedar" if method == "adamec" else np.ones(len(y), dtype=bool)  # its costs decide between votes
    assert set(model.predict(X)[expected]) == {"cedar"}
    if method != "adamec":
        given = adacc.BoostingClassifier(method, n_estimators=5, multi_class=kind, costs="balanced")
        assert set(given.fit(X, y, sample_cost=1.0 * (y == "cedar")).predict(X)) == {"cedar"}


def test_class_scores_by_hand():
    scores = np.array([[0.3, -1.0, 2.0], [0.0, 0.0, 0.0]])  # 0 against 1, 0 against 2, 1 against 2
    largest = np.array([1.0, 4.0, 2.0])
    t = np.tanh([4 * 0.3, -4 * 0.25, 4 * 1.0])
    by_class = class_scores(one_vs_one(3), scores, largest)
    assert_allclose(by_class[0], [t[0] + t[1], -t[0] + t[2], -t[1] - t[2]])
    assert_allclose(by_class[1], 0.0)
    assert_array_equal(class_scores(one_vs_rest(3), scores, largest), scores)


def test_the_margin_of_a_pair_is_its_score_by_the_sum_of_its_votes():
    X, y = make_table()
    model = adacc.AdaCC1Classifier(n_estimators=12, multi_class="one_vs_one").fit(X, y)
    ensemble = model.fitted_model_.ensemble
    stages = zip(model.staged_decision_function(X), model.staged_predict_proba(X), strict=True)
    for n_rounds, (decision, probabilities) in enumerate(stages, start=1):
        part = ensemble.first(n_rounds)
        sums = [np.abs(part.problem(p).votes).max(axis=1).sum() for p in range(6)]
        scores = part.scores(model._read_known(X))
        assert_allclose(part.largest_scores(), sums)
        assert np.abs(scores).max(axis=0) == pytest.approx(np.minimum(np.abs(scores).max(axis=0), sums))
        assert_allclose(decision, np.tanh(4.0 * scores / sums) @ one_vs_one(4), atol=1e-9)
        assert_allclose(probabilities, softmax(2.0 * decision, axis=1), atol=1e-9)
    assert_allclose(decision, model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_their_order_do_not_matter(kind):
    X, y = make_table()
    model = adacc.AdaCC1Classifier(n_estimators=10, multi_class=kind).fit(X, y)
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    names = {"ash": 7, "birch": 1, "cedar": 5, "elm": 3}
    other = adacc.AdaCC1Classifier(n_estimators=10, multi_class=kind).fit(X, pd.Series(y).map(names))
    order = [list(other.classes_).index(names[label]) for label in model.classes_]
    assert_allclose(other.predict_proba(X)[:, order], probabilities, atol=1e-12)
    assert_allclose(other.decision_function(X)[:, order], model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 3])
def test_stages_threads_warm_start_and_the_first_rounds(kind, depth):
    X, y = make_table()
    settings = {"multi_class": kind, "max_depth": depth, "random_state": 0}
    model = adacc.AdaCC2Classifier(n_estimators=9, **settings).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 9
    assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    shorter = adacc.AdaCC2Classifier(n_estimators=4, **settings).fit(X, y)
    assert_allclose(stages[3], shorter.decision_function(X), atol=1e-12)
    assert_array_equal(model.fitted_model_.ensemble.first(4).votes, shorter.fitted_model_.ensemble.votes)
    again = adacc.AdaCC2Classifier(n_estimators=9, n_jobs=3, **settings).fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    longer = shorter.set_params(n_estimators=9, warm_start=True).fit(X, y)
    assert_allclose(longer.decision_function(X), model.decision_function(X), atol=1e-9)
    assert_array_equal(np.unique(model.history_["problem"]), np.arange(6 if kind == "one_vs_one" else 4))
    assert len(model.estimators_) == len(model.history_["alpha"]) == len(model.history_["problem"])
    with pytest.raises(ValueError, match="warm_start needs the same multi_class"):
        longer.set_params(multi_class="joint").fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_a_saved_model_is_the_same(kind, calibration, tmp_path):
    X, y = make_table()
    model = adacc.AdaCC1Classifier(n_estimators=5, multi_class=kind, calibration=calibration).fit(X, y)
    model.save(tmp_path / "trees.adacc")
    again = adacc.load(tmp_path / "trees.adacc")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.multi_class == kind
    again.set_params(n_estimators=8, warm_start=True).fit(X, y)
    assert again.n_iter_ == 8
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


def test_pairs_are_explained_one_by_one():
    X, y = make_table()
    model = adacc.AdaCC1Classifier(n_estimators=15, multi_class="one_vs_one").fit(X, y)
    for background in (None, X[:50]):
        explanation = model.explain(X, background)
        assert explanation.classes.tolist() == [
            f"{a} vs {b}" for a, b in combinations(["ash", "birch", "cedar", "elm"], 2)
        ]
        assert_allclose(explanation.contributions.sum(axis=1) + explanation.intercept, explanation.scores, atol=1e-9)
        by_class = model.fitted_model_.ensemble.class_scores(explanation.scores)
        assert_allclose(by_class, model.decision_function(X), atol=1e-9)
    curves = model.shape_functions()
    assert_allclose(sum(curve(X[curve.name]) for curve in curves) + curves.intercept, explanation.scores, atol=1e-9)


def test_classes_against_the_rest_are_explained_by_class():
    X, y = make_table()
    model = adacc.AdaCC1Classifier(n_estimators=15, multi_class="one_vs_rest").fit(X, y)
    explanation = model.explain(X)
    assert_array_equal(explanation.classes, model.classes_)
    assert_allclose(
        explanation.contributions.sum(axis=1) + explanation.intercept, model.decision_function(X), atol=1e-9
    )


def test_early_stopping_is_by_problem():
    X, y = make_table(n=900)
    model = adacc.AdaCC1Classifier(n_estimators=200, multi_class="one_vs_one", n_iter_no_change=5, random_state=0)
    model.fit(X, y)
    rounds = np.bincount(model.history_["problem"])
    assert len(set(rounds.tolist())) > 1
    assert rounds.max() == model.n_iter_ < 200
    assert len(list(model.staged_predict(X))) == model.n_iter_


def test_costs_of_classes_reach_their_problems():
    X, y = make_table()
    costs = {"ash": 1.0, "birch": 2.0, "cedar": 3.0, "elm": 20.0}
    plain, costly = (
        adacc.BoostingClassifier("adac2", n_estimators=10, multi_class="one_vs_one", costs=each).fit(X, y)
        for each in (dict.fromkeys(costs, 1.0), costs)
    )
    is_elm = y == "elm"
    assert (costly.predict(X)[is_elm] == "elm").mean() > (plain.predict(X)[is_elm] == "elm").mean()
    pair = costly.fitted_model_.ensemble.problem(2)  # ash against elm
    assert_allclose(pair.history["class_cost"][0], [1.0, 0.05])


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_pairs_are_better_than_all_classes_together(load):
    X, y = load(return_X_y=True)
    right = {"joint": 0, "one_vs_one": 0}
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        for kind in right:
            model = adacc.AdaCC1Classifier(n_estimators=30, multi_class=kind).fit(X[train], y[train])
            right[kind] += (model.predict(X[test]) == y[test]).sum()
    assert right["one_vs_one"] >= right["joint"]


def test_two_classes_are_one_problem():
    X, y = make_table(n_classes=2)
    models = [adacc.AdaCC1Classifier(n_estimators=5, multi_class=kind).fit(X, y) for kind in (*KINDS, "auto", "joint")]
    for model in models:
        assert model.fitted_model_.ensemble.coding is None
        assert_array_equal(model.decision_function(X), models[-1].decision_function(X))


@pytest.mark.parametrize(("n_classes", "n_problems"), [(3, 3), (10, 45), (11, 11)])
def test_auto_takes_pairs_of_up_to_ten_classes(n_classes, n_problems):
    rng = np.random.default_rng(0)
    y = np.arange(20 * n_classes) % n_classes
    X = rng.normal(size=(len(y), 2)) + y[:, None]
    model = adacc.AdaCC1Classifier(n_estimators=2, multi_class="auto").fit(X, y)
    assert len(model.fitted_model_.ensemble.coding.codes) == n_problems


def test_wrong_use_is_told():
    X, y = make_table()
    with pytest.raises(
        ValueError, match="multi_class must be 'auto' or 'one_vs_one' or 'one_vs_rest' or 'joint', got 1"
    ):
        adacc.AdaCC1Classifier(multi_class=1).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_searched(kind):
    X, y = make_table()
    template = adacc.BoostingClassifier("adac2", n_estimators=10, multi_class=kind)
    costs = [dict.fromkeys(np.unique(y), 1.0), {"ash": 1.0, "birch": 2.0, "cedar": 4.0, "elm": 8.0}]
    search = adacc.CostSearchCV(template, costs=costs, rounds=[5, 10], cv="training", scoring="balanced_accuracy").fit(
        X, y
    )
    for at, (each, rounds) in enumerate((each, rounds) for each in costs for rounds in (5, 10)):
        model = adacc.BoostingClassifier("adac2", n_estimators=rounds, multi_class=kind, costs=each).fit(X, y)
        assert search.cv_results_["mean_train_score"][at] == pytest.approx(
            balanced_accuracy_score(y, model.predict(X)), abs=1e-12
        )


MATRIX = np.array([[0.0, 1.0, 2.0, 1.0], [1.5, 0.0, 3.0, 1.0], [6.0, 2.0, 0.0, 1.0], [4.0, 5.0, 8.0, 0.0]])


@pytest.mark.parametrize("method", ["cgada", "csb2", "adamec"])
def test_pairs_have_the_costs_of_a_matrix(method):
    """Every pair problem is an independent two-class fit with C[i][j] and C[j][i]."""
    X, y = make_table()
    model = adacc.BoostingClassifier(method, costs=MATRIX, n_estimators=10, multi_class="one_vs_one", max_bins=None)
    model.fit(X, y)
    scores, classes = model.fitted_model_.scores(model._read_known(X)), model.classes_.tolist()
    for p, (i, j) in enumerate(combinations(range(4), 2)):
        members = np.isin(y, [classes[i], classes[j]])
        costs = {classes[i]: MATRIX[i, j], classes[j]: MATRIX[j, i]}
        binary = adacc.BoostingClassifier(method, costs=costs, n_estimators=10, max_bins=None).fit(
            X[members], y[members]
        )
        # The score of a pair is in favour of its first class, of a binary classifier of the second.
        assert_allclose(scores[members, p], -binary.decision_function(X[members]), atol=1e-9)
    by_class = adacc.BoostingClassifier(method, costs=MATRIX.mean(axis=1), n_estimators=10, max_bins=None).fit(X, y)
    assert not np.allclose(model.decision_function(X), by_class.decision_function(X))


def test_one_against_the_rest_has_mean_costs_of_a_matrix():
    X, y = make_table()
    model = adacc.CGAdaClassifier(costs=MATRIX.tolist(), n_estimators=10, multi_class="one_vs_rest", max_bins=None)
    scores = model.fit(X, y).fitted_model_.scores(model._read_known(X))
    n_rows = np.array([(y == label).sum() for label in model.classes_])
    for k, label in enumerate(model.classes_):
        rest = np.arange(4) != k
        costs = {True: MATRIX[k, rest].mean(), False: np.average(MATRIX[rest, k], weights=n_rows[rest])}
        binary = adacc.CGAdaClassifier(costs=costs, n_estimators=10, max_bins=None).fit(X, y == label)
        assert_allclose(scores[:, k], binary.decision_function(X), atol=1e-9)


def test_all_classes_together_have_the_row_means_of_a_matrix():
    X, y = make_table()
    settings = {"n_estimators": 10, "multi_class": "joint"}
    model = adacc.CGAdaClassifier(costs=MATRIX, **settings).fit(X, y)
    due = adacc.CGAdaClassifier(costs=MATRIX.sum(axis=1) / 3, **settings).fit(X, y)
    assert_array_equal(model.decision_function(X), due.decision_function(X))


def test_of_two_classes_a_matrix_is_two_costs_and_can_be_saved(tmp_path):
    X, y = make_table(n_classes=2)
    model = adacc.CGAdaClassifier(costs=[[0, 1], [7, 0]], n_estimators=5).fit(X, y)
    due = adacc.CGAdaClassifier(costs=[1, 7], n_estimators=5).fit(X, y)
    assert_array_equal(model.decision_function(X), due.decision_function(X))
    X, y = make_table()
    model = adacc.CGAdaClassifier(costs=MATRIX.tolist(), n_estimators=5, warm_start=True).fit(X, y)
    model.save(tmp_path / "m.adacc")
    loaded = adacc.load(tmp_path / "m.adacc")
    assert loaded.costs == MATRIX.tolist()
    assert_array_equal(loaded.predict(X), model.predict(X))
    adacc.CGAdaClassifier(costs=MATRIX, n_estimators=5).fit(X, y).save(tmp_path / "array.adacc")
    assert_array_equal(adacc.load(tmp_path / "array.adacc").costs, MATRIX)
    model.set_params(n_estimators=8, costs=(2 * MATRIX).tolist()).fit(X, y)  # only ratios matter
    whole = adacc.CGAdaClassifier(costs=MATRIX, n_estimators=8).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-12)
    with pytest.raises(ValueError, match="warm_start needs the same"):
        model.set_params(n_estimators=9, costs=MATRIX.T.tolist()).fit(X, y)


def test_matrices_can_be_searched():
    X, y = make_table()
    search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=4), costs=[MATRIX, (1 - np.eye(4)).tolist()])
    search.fit(X, y)
    assert search.cv_results_["param_costs"][0] == pytest.approx(
        dict(zip(search.classes_, MATRIX.sum(axis=1) / 3, strict=True))
    )
    due = adacc.CGAdaClassifier(costs=search.best_estimator_.costs, n_estimators=4).fit(X, y)
    assert_array_equal(search.predict(X), due.predict(X))


@pytest.mark.parametrize("rows", [[], [[0.0], [1.0, 2.0]], [[0.0], 1.0], [["a"]], [[0.0, {"float": "x"}]]])
def test_a_damaged_matrix_is_refused(rows):
    with pytest.raises(ModelFileError, match="costs"):
        decode({"matrix": rows, "dtype": "<f8"}, "costs")

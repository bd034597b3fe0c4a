"""The cost search against fits of one model at a time, scikit-learn's metrics and its own grid search."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    make_scorer,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import WITH_COSTS

import adacc
from adacc import AdaC2Classifier, BoostingClassifier, CGAdaClassifier

GRID = [[0.2, 1.0], {0: 0.6, 1: 1.0}, "balanced"]
ROUNDS = [2, 7]


def CostSearchCV(estimator, costs=None, scoring="f1", cv=None, rounds=None):
    """A search on the training rows, unless folds are given."""
    return adacc.CostSearchCV(estimator, costs, scoring, "training" if cv is None else cv, rounds)


def overlapping(n=90, seed=7, every=5):
    """Two overlapping clouds, one row in `every` of class 1."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % every == 0).astype(int)
    X = rng.normal(size=(n, 3))
    X[:, :2] += y[:, None] * [1.1, 0.8]
    return X, y


def three_classes(n=90):
    rng = np.random.default_rng(11)
    y = np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3])
    X = rng.normal(size=(n, 3))
    X[np.arange(n), y] += 1.5
    order = rng.permutation(n)
    return X[order], y[order]


X, y = overlapping()
WEIGHT = np.random.default_rng(5).integers(0, 4, len(y)).astype(float)
GROUPS = np.random.default_rng(6).integers(0, 12, len(y))
ORDERS = [np.random.default_rng(i).permutation(len(y)) for i in range(2)]
RANDOM_SPLITS = [(order[:70], order[40:]) for order in ORDERS]
ALL = [(np.arange(len(y)), np.arange(len(y)))]


def of_positive(metric, positive):
    return lambda model, X, y, w: metric(
        y, model.predict(X), sample_weight=w, pos_label=positive, zero_division=0.0, average="binary"
    )


def metrics_of(positive):
    """scikit-learn's metrics by the name that `scoring` has for them, for two classes."""
    return {
        "f1": of_positive(f1_score, positive),
        "precision": of_positive(precision_score, positive),
        "recall": of_positive(recall_score, positive),
        "accuracy": lambda model, X, y, w: accuracy_score(y, model.predict(X), sample_weight=w),
        "balanced_accuracy": lambda model, X, y, w: balanced_accuracy_score(y, model.predict(X), sample_weight=w),
        "roc_auc": lambda model, X, y, w: roc_auc_score(
            y == model.classes_[1], model.decision_function(X), sample_weight=w
        ),
    }


def alone(estimator, costs, n_rounds, X, y, w=None):
    """One model as a user without the search would fit it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).set_params(costs=costs, n_estimators=n_rounds).fit(X, y, sample_weight=w)


def rows_of(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def by_hand(estimator, grid, rounds, metric, X, y, splits, w=None):
    """Scores by split, costs and rounds, one fit after the other."""
    scores = np.empty((len(splits), len(grid), len(rounds)))
    for s, (train, test) in enumerate(splits):
        w_train, w_test = (None, None) if w is None else (w[train], w[test])
        for i, costs in enumerate(grid):
            for t, n_rounds in enumerate(rounds):
                model = alone(estimator, costs, n_rounds, rows_of(X, train), y[train], w_train)
                scores[s, i, t] = metric(model, rows_of(X, test), y[test], w_test)
    return scores


def split_scores(search, kind):
    """The same of a search: by split, costs and rounds."""
    n_splits, n_rounds = max(search.n_splits_, 1), len(search.best_by_rounds_)
    assert f"split{n_splits}_{kind}_score" not in search.cv_results_
    return np.array([search.cv_results_[f"split{i}_{kind}_score"].reshape(-1, n_rounds) for i in range(n_splits)])


def assert_found(search, expected, rounds, kind):
    """All that a search reports follows from the scores by split, costs and rounds."""
    np.testing.assert_allclose(split_scores(search, kind), expected, rtol=0, atol=1e-12)
    results = search.cv_results_
    mean = expected.mean(axis=0)
    np.testing.assert_allclose(results[f"mean_{kind}_score"], mean.ravel(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(results[f"std_{kind}_score"], expected.std(axis=0).ravel(), rtol=0, atol=1e-12)
    worse = (results[f"mean_{kind}_score"][None] > results[f"mean_{kind}_score"][:, None]).sum(axis=1)
    np.testing.assert_array_equal(results[f"rank_{kind}_score"], 1 + worse)
    assert results["param_n_estimators"] == rounds * (len(mean))
    assert results["params"] == [
        {"costs": costs, "n_estimators": n_rounds}
        for costs, n_rounds in zip(results["param_costs"], results["param_n_estimators"], strict=True)
    ]
    assert list(search.best_by_rounds_) == rounds
    for t, n_rounds in enumerate(rounds):
        found = search.best_by_rounds_[n_rounds]
        assert found.score == pytest.approx(mean[:, t].max(), abs=1e-12)
        assert found.costs == results["param_costs"][len(rounds) * int(np.argmax(mean[:, t])) + t]
        assert found.n_estimators == found.estimator.n_estimators == n_rounds
    assert search.best_score_ == pytest.approx(mean.max(), abs=1e-12)
    assert results["params"][search.best_index_] == {
        "costs": search.best_costs_,
        "n_estimators": search.best_n_estimators_,
    }
    assert results[f"rank_{kind}_score"][search.best_index_] == 1
    # of equal ones the fewest rounds
    assert search.best_n_estimators_ == rounds[int(np.argmax(np.round(mean.max(axis=0), 12)))]


def assert_same_model(one, other, X):
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.n_iter_ == other.n_iter_
    for name, record in other.history_.items():
        np.testing.assert_allclose(one.history_[name], record, rtol=1e-12, atol=1e-12)


# On the training data, as the paper scores


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", WITH_COSTS)
def test_every_entry_is_the_score_of_a_fit_on_its_own(method):
    estimator = BoostingClassifier(method, random_state=0)
    models = [[alone(estimator, costs, n_rounds, X, y) for n_rounds in ROUNDS] for costs in GRID]
    assert len({tuple(model.decision_function(X)) for some in models for model in some}) > len(GRID)
    for scoring, metric in metrics_of(1).items():
        expected = np.array([[[metric(model, X, y, None) for model in some] for some in models]])
        search = CostSearchCV(estimator, GRID, scoring=scoring, rounds=ROUNDS).fit(X, y)
        assert search.n_splits_ == 0
        assert_found(search, expected, ROUNDS, "train")
        for t, found in enumerate(search.best_by_rounds_.values()):
            one, other = found.estimator, models[int(np.argmax(expected[0, :, t]))][t]
            np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=0, atol=1e-12)
        at, t = divmod(search.best_index_, len(ROUNDS))
        assert_same_model(search.best_estimator_, models[at][t], X)
        assert search.best_estimator_.estimators_ == models[at][t].estimators_
        assert search.best_estimator_.get_params()["costs"] == GRID[at]
        np.testing.assert_array_equal(search.predict(X), models[at][t].predict(X))
        np.testing.assert_array_equal(search.predict_proba(X), search.best_estimator_.predict_proba(X))
        np.testing.assert_array_equal(search.decision_function(X), search.best_estimator_.decision_function(X))
        assert search.score(X, y) == pytest.approx(search.best_score_, abs=1e-12)


@pytest.mark.parametrize("labels", [["fine", "fraud"], ["not rare", "a rare one"], [1, 0], [False, True], [2.0, -1.0]])
@pytest.mark.parametrize("cv", [None, 2])
def test_the_rarer_class_is_the_positive_one_whatever_its_name(labels, cv):
    """Also where it is the first in the order of labels: its f1, and 1 as its cost."""
    labels = np.array(labels)
    named, rare = labels[y], labels.tolist()[1]
    grid = [{labels[0]: c, labels[1]: 1.0} for c in (0.2, 1.0)]
    splits = ALL if cv is None else list(StratifiedKFold(2).split(X, named))
    estimator = CGAdaClassifier(n_estimators=4)
    for scoring in ("roc_auc", "precision", "f1"):
        search = CostSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, named)
        expected = by_hand(estimator, grid, [4], metrics_of(labels[1])[scoring], X, named, splits)
        assert_found(search, expected, [4], "train" if cv is None else "test")
        assert search.best_costs_[rare] == 1.0
    both = [of_positive(f1_score, label)(search.best_estimator_, X, named, None) for label in labels]
    assert abs(both[0] - both[1]) > 0.05  # the data could tell one class from the other


# Cross-validated


CVS = {
    "int": 3,
    "splitter": StratifiedKFold(3, shuffle=True, random_state=1),
    "not stratified": KFold(3),
    "shuffled": StratifiedShuffleSplit(2, test_size=20, random_state=0),
    "rows in any order": RANDOM_SPLITS,
    "masks": [(np.arange(len(y)) < 50, np.arange(len(y)) >= 40)],
    "groups": GroupKFold(3),
    "one fold": PredefinedSplit(np.where(np.arange(len(y)) < 30, 0, -1)),
}


def splits_of(cv, X, y, groups=None):
    if isinstance(cv, int):
        cv = StratifiedKFold(cv)
    return list(cv.split(X, y, groups)) if hasattr(cv, "split") else cv


@pytest.mark.parametrize(
    ("cv", "scoring"),
    [*((cv, "f1") for cv in CVS.values()), (3, "roc_auc"), (RANDOM_SPLITS, "roc_auc")],
    ids=[*CVS, "int by scorer", "any order by scorer"],
)
def test_cross_validation_is_a_loop_of_fits(cv, scoring):
    groups = GROUPS if isinstance(cv, GroupKFold) else None
    estimator = AdaC2Classifier()
    grid, rounds = [[0.4, 1.0], "balanced", [1.0, 1.0]], [2, 6]
    search = CostSearchCV(estimator, grid, scoring=scoring, cv=cv, rounds=rounds).fit(X, y, groups=groups)
    splits = splits_of(cv, X, y, groups)
    expected = by_hand(estimator, grid, rounds, metrics_of(1)[scoring], X, y, splits)
    assert search.n_splits_ == len(splits)
    assert_found(search, expected, rounds, "test")
    assert not any("train" in name for name in search.cv_results_)
    for t, found in enumerate(search.best_by_rounds_.values()):
        costs = grid[int(np.argmax(expected.mean(axis=0)[:, t]))]
        assert_same_model(found.estimator, alone(estimator, costs, rounds[t], X, y), X)  # all rows, not a fold's
    at, t = divmod(search.best_index_, len(rounds))
    assert_same_model(search.best_estimator_, alone(estimator, grid[at], rounds[t], X, y), X)


@pytest.mark.parametrize("method", WITH_COSTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_answers_of_scikit_learns_grid_search(method):
    grid = {"costs": [[0.2, 1.0], [0.5, 1.0], [1.0, 1.0]]}
    estimator = BoostingClassifier(method, n_estimators=6, random_state=0)
    scorer = make_scorer(f1_score, pos_label=1, zero_division=0.0)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(estimator, grid, scoring=scorer, cv=cv).fit(X, y)
    ours = CostSearchCV(estimator, grid["costs"], cv=cv).fit(X, y)
    for name in ("split0", "split1", "split2", "mean", "std", "rank"):
        one, other = ours.cv_results_[f"{name}_test_score"], theirs.cv_results_[f"{name}_test_score"]
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert ours.best_index_ == theirs.best_index_
    assert list(ours.best_costs_.values()) == theirs.best_params_["costs"]
    assert ours.best_estimator_.get_params() == theirs.best_estimator_.get_params()
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert_same_model(ours.best_estimator_, theirs.best_estimator_, X)


def test_the_entries_are_in_the_order_of_scikit_learns_grid_search():
    grid = {"costs": [[0.2, 1.0], [1.0, 1.0]], "n_estimators": [2, 5]}
    theirs = GridSearchCV(CGAdaClassifier(), grid, scoring="roc_auc", cv=3).fit(X, y)
    ours = CostSearchCV(CGAdaClassifier(), grid["costs"], scoring="roc_auc", cv=3, rounds=[2, 5]).fit(X, y)
    params = [(list(each["costs"].values()), each["n_estimators"]) for each in ours.cv_results_["params"]]
    assert params == [(each["costs"], each["n_estimators"]) for each in theirs.cv_results_["params"]]
    for name in ("mean", "std", "rank"):
        one, other = ours.cv_results_[f"{name}_test_score"], theirs.cv_results_[f"{name}_test_score"]
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_the_positive_class_is_that_of_all_rows_in_every_fold():
    """Where the classes are of about one size, the rarer one of a fold may be the other."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(42, 2)).astype(float)
    y = np.r_[np.zeros(22, dtype=int), np.ones(20, dtype=int)][rng.permutation(42)]
    cv = [tuple(np.split(rng.permutation(42), [21])) for _ in range(4)]
    assert len({np.bincount(y[train]).argmin() for train, _ in cv}) == 2
    search = CostSearchCV(CGAdaClassifier(n_estimators=3), [[1, 1], [0.5, 1]], cv=cv).fit(X, y)
    told = CGAdaClassifier(n_estimators=3, pos_label=1)
    assert_found(search, by_hand(told, [[1, 1], [0.5, 1]], [3], metrics_of(1)["f1"], X, y, cv), [3], "test")


def test_a_fold_to_judge_by_may_lack_a_class():
    cv = [(np.arange(45), np.flatnonzero(y == k)) for k in (0, 1)] + [(np.arange(45), np.arange(45, 90))]
    estimator = CGAdaClassifier(n_estimators=4)
    for scoring in ("f1", "precision", "recall", "accuracy"):
        search = CostSearchCV(estimator, [[0.3, 1], [1, 1]], scoring=scoring, cv=cv).fit(X, y)
        expected = by_hand(estimator, [[0.3, 1], [1, 1]], [4], metrics_of(1)[scoring], X, y, cv)
        assert_found(search, expected, [4], "test")


# The grid that is tried where none is given


@pytest.mark.parametrize(
    ("labels", "pos_label", "positive"),
    [
        (["fine", "fraud"], None, "fraud"),
        (["z", "a"], None, "a"),
        (["fine", "fraud"], "fine", "fine"),
        (["z", "a"], "z", "z"),
        ([0, 1], 0, 0),
        ([True, False], None, False),
    ],
)
def test_the_grid_of_the_paper(labels, pos_label, positive):
    named = np.array(labels)[y]
    negative = labels[0] if positive == labels[1] else labels[1]
    search = CostSearchCV(CGAdaClassifier(n_estimators=2, pos_label=pos_label)).fit(X, named)
    tried = search.cv_results_["param_costs"]
    assert [costs[negative] for costs in tried] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [costs[positive] for costs in tried] == [1.0] * 10
    grid = [{negative: round(0.1 * step, 1), positive: 1.0} for step in range(1, 11)]
    splits = ALL
    for scoring in ("f1", "precision"):
        search.set_params(scoring=scoring).fit(X, named)
        expected = by_hand(search.estimator, grid, [2], metrics_of(positive)[scoring], X, named, splits)
        assert_found(search, expected, [2], "train")


def test_weights_say_which_class_is_the_rarer():
    search = CostSearchCV(CGAdaClassifier(n_estimators=2)).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert [costs[0] for costs in search.cv_results_["param_costs"]] == [1.0] * 10
    assert search.cv_results_["param_costs"][0] == {0: 1.0, 1: 0.1}


@pytest.mark.parametrize("method", ["cgada", "adac1", "adamec-cal"])
def test_more_classes_go_from_equal_costs_to_balanced_ones(method):
    X, y = three_classes()
    labels = np.array(["x", "z", "y"])[y]
    estimator = BoostingClassifier(method, n_estimators=4)
    search = CostSearchCV(estimator).fit(X, labels)
    tried = np.array([[costs[label] for label in "xyz"] for costs in search.cv_results_["param_costs"]])
    np.testing.assert_allclose(tried[0], 1.0)
    counts = np.array([(labels == label).sum() for label in "xyz"])
    np.testing.assert_allclose(tried[-1] / tried[-1].max(), counts.min() / counts)
    np.testing.assert_allclose(np.diff(np.log(tried), 2, axis=0), 0.0, atol=1e-12)  # steps of one ratio
    assert len(tried) == 10
    averaged = {
        "f1": lambda model, X, y, w: f1_score(y, model.predict(X), average="macro"),
        "balanced_accuracy": metrics_of(None)["balanced_accuracy"],
        "accuracy": metrics_of(None)["accuracy"],
    }
    grid = [dict(zip("xyz", row, strict=True)) for row in tried]
    models = [alone(estimator, costs, 4, X, labels) for costs in grid]
    for scoring, metric in averaged.items():
        search.set_params(scoring=scoring).fit(X, labels)
        expected = np.array([[[metric(model, X, labels, None)] for model in models]])
        assert_found(search, expected, [4], "train")
        assert_same_model(search.best_estimator_, models[search.best_index_], X)
    cv = StratifiedKFold(2)
    search = CostSearchCV(estimator, grid[::4], cv=cv, rounds=[2, 4]).fit(X, labels)
    expected = by_hand(estimator, grid[::4], [2, 4], averaged["f1"], X, labels, list(cv.split(X, labels)))
    assert_found(search, expected, [2, 4], "test")


def test_costs_are_reported_by_label_however_they_are_given():
    grid = [
        [0.5, 2],
        (1, 3),
        np.array([0.25, 0.5]),
        {"b": 4, "a": 1},
        pd.Series({"b": 0.5, "a": 0.1}),
        pd.Series([0.3, 1.0]).to_list(),
        "balanced",
    ]
    named = np.array(["a", "b"])[y]
    reported = CostSearchCV(CGAdaClassifier(n_estimators=1), grid).fit(X, named).cv_results_["param_costs"]
    balanced = reported.pop()
    assert reported == [
        {"a": 0.5, "b": 2.0},
        {"a": 1.0, "b": 3.0},
        {"a": 0.25, "b": 0.5},
        {"a": 1.0, "b": 4.0},
        {"a": 0.1, "b": 0.5},
        {"a": 0.3, "b": 1.0},
    ]
    assert balanced["b"] / balanced["a"] == pytest.approx((y == 0).sum() / (y == 1).sum())
    for each in (np.array([[0.2, 1.0], [1.0, 1.0]]), ([0.2, 1.0], [1.0, 1.0])):
        search = CostSearchCV(CGAdaClassifier(n_estimators=1), each).fit(X, named)
        assert search.cv_results_["param_costs"] == [{"a": 0.2, "b": 1.0}, {"a": 1.0, "b": 1.0}]


def test_the_estimators_own_costs_and_fit_have_no_part():
    plain = CostSearchCV(CGAdaClassifier(n_estimators=5), rounds=[3, 5]).fit(X, y)
    other = CGAdaClassifier(n_estimators=5, costs=[9, 1], warm_start=True).fit(X[:30], y[:30])
    before = other.decision_function(X)
    search = CostSearchCV(other, rounds=[3, 5]).fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), before)
    assert other.costs == [9, 1]
    np.testing.assert_array_equal(search.cv_results_["mean_train_score"], plain.cv_results_["mean_train_score"])
    np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))


def test_the_best_goes_on_from_a_warm_start():
    search = CostSearchCV(CGAdaClassifier(warm_start=True), rounds=[3, 6]).fit(X, y)
    found = search.best_by_rounds_[3]
    longer = found.estimator.set_params(n_estimators=7).fit(X, y)
    assert_same_model(longer, alone(CGAdaClassifier(), found.costs, 7, X, y), X)


# Weights


@pytest.mark.parametrize("cv", [None, KFold(2)])
@pytest.mark.parametrize("method", ["cgada", "adac2", "adamec"])
def test_weights_are_repeated_rows(method, cv):
    copies = WEIGHT.astype(int)
    repeated = np.repeat(np.arange(len(y)), copies)
    if cv is not None:  # the same folds, each row with its copies
        cv = list(cv.split(X))
        places = [[np.flatnonzero(np.isin(repeated, rows)) for rows in fold] for fold in cv]
    mean = f"mean_{'train' if cv is None else 'test'}_score"
    estimator, grid = BoostingClassifier(method), [[0.3, 1.0], "balanced", [1.0, 1.0]]
    for scoring in ("f1", "roc_auc"):
        search = CostSearchCV(estimator, grid, scoring=scoring, rounds=[2, 5], cv=cv)
        weighted, unweighted = clone(search).fit(X, y, sample_weight=WEIGHT), clone(search).fit(X, y)
        plain = search.set_params(cv="training" if cv is None else places).fit(X[repeated], y[repeated])
        np.testing.assert_allclose(weighted.cv_results_[mean], plain.cv_results_[mean], rtol=0, atol=1e-7)
        assert weighted.best_costs_ == plain.best_costs_
        assert weighted.best_n_estimators_ == plain.best_n_estimators_
        np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-7)
        assert not np.allclose(weighted.cv_results_[mean], unweighted.cv_results_[mean])


@pytest.mark.parametrize("scoring", ["f1", "precision", "recall", "accuracy", "balanced_accuracy", "roc_auc"])
def test_scores_are_weighted_in_every_fold(scoring):
    weight = np.random.default_rng(0).random(len(y)) * 4 + 1
    estimator, grid = CGAdaClassifier(n_estimators=4), [[0.3, 1.0], [1.0, 1.0]]
    for cv in (None, RANDOM_SPLITS):
        splits = ALL if cv is None else cv
        search = CostSearchCV(estimator, grid, scoring=scoring, cv=cv).fit(X, y, sample_weight=weight)
        expected = by_hand(estimator, grid, [4], metrics_of(1)[scoring], X, y, splits, weight)
        assert_found(search, expected, [4], "train" if cv is None else "test")


def test_a_scorer_object_is_given_the_weights_too():
    weight = np.random.default_rng(0).random(len(y)) * 4 + 1
    by_name = CostSearchCV(CGAdaClassifier(n_estimators=4)).fit(X, y, sample_weight=weight)
    scorer = make_scorer(f1_score, pos_label=1, zero_division=0.0)
    by_object = CostSearchCV(CGAdaClassifier(n_estimators=4), scoring=scorer).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        by_object.cv_results_["mean_train_score"], by_name.cv_results_["mean_train_score"], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("scoring", ["f1", "balanced_accuracy"])
@pytest.mark.parametrize("cv", [None, 3, KFold(3), "explicit", GroupKFold(3)])
def test_rows_without_weight_do_not_count(scoring, cv):
    """Whatever they hold; and the folds are of the rows as the user counts them."""
    weight = np.where(WEIGHT == 0.0, 0.0, 1.0)
    used = np.flatnonzero(weight)
    strange, labels = X.copy(), y.copy()
    strange[weight == 0.0] = 1e6
    labels[weight == 0.0] = 7
    search = CostSearchCV(CGAdaClassifier(), [[0.3, 1.0], "balanced", [1.0, 1.0]], scoring=scoring, rounds=[2, 4])
    there = cv
    if cv == "explicit":
        there = [tuple(rows[::-1] for rows in fold) for fold in RANDOM_SPLITS]
    groups = GROUPS if isinstance(cv, GroupKFold) else None
    search.set_params(cv="training" if there is None else there).fit(
        strange, labels, sample_weight=weight, groups=groups
    )
    place = {row: i for i, row in enumerate(used)}
    splits = None if cv is None else splits_of(there, strange, labels, groups)
    here = splits and [tuple([place[row] for row in rows if row in place] for rows in fold) for fold in splits]
    fewer = clone(search).set_params(cv="training" if here is None else here).fit(X[used], y[used])
    for name, values in fewer.cv_results_.items():
        np.testing.assert_array_equal(search.cv_results_[name], values, err_msg=name)
    assert search.best_costs_ == fewer.best_costs_
    assert search.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(search.decision_function(X), fewer.decision_function(X))


def test_a_fold_of_little_weight_is_boosted_as_on_its_own():
    """A learner without errors votes by how many rows it was right about; a small sum must not turn the vote round."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 1, 1, 0, 1])
    weight = np.array([0.1, 0.1, 0.1, 0.1, 50.0, 50.0])
    search = CostSearchCV(CGAdaClassifier(n_estimators=1), [[1, 1]], scoring="accuracy", cv=[([0, 1, 2, 3], [4, 5])])
    assert search.fit(X, y, sample_weight=weight).best_score_ == 1.0


# Calibration


@pytest.mark.parametrize("cv", [None, StratifiedKFold(2)])
@pytest.mark.parametrize(
    "estimator",
    [
        BoostingClassifier("adamec-cal"),
        BoostingClassifier("cgada-cal"),
        adacc.AdaMECClassifier(calibration="isotonic", calibration_cv="training"),
        CGAdaClassifier(calibration="sigmoid", calibration_cv=2, random_state=0),
    ],
    ids=["adamec-cal", "cgada-cal", "isotonic", "held-out"],
)
def test_calibrated_methods_are_scored_by_what_they_predict_in_the_end(estimator, cv):
    grid, rounds = [[0.4, 1.0], [1.0, 1.0]], [2, 6]
    splits = ALL if cv is None else splits_of(cv, X, y)
    search = CostSearchCV(estimator, grid, scoring="accuracy", cv=cv, rounds=rounds).fit(X, y)
    expected = by_hand(estimator, grid, rounds, metrics_of(1)["accuracy"], X, y, splits)
    assert_found(search, expected, rounds, "train" if cv is None else "test")
    at, t = divmod(search.best_index_, 2)
    assert_same_model(search.best_estimator_, alone(estimator, grid[at], rounds[t], X, y), X)
    plain = CGAdaClassifier() if "cgada" in repr(estimator).lower() else adacc.AdaMECClassifier()
    uncalibrated = by_hand(plain, grid, rounds, metrics_of(1)["accuracy"], X, y, splits)
    assert not np.allclose(uncalibrated, expected)


# Rounds


@pytest.mark.parametrize("cv", [None, 2])
def test_rounds_in_any_order_and_more_than_once(cv):
    straight = CostSearchCV(CGAdaClassifier(), cv=cv, rounds=[2, 4, 7]).fit(X, y)
    for rounds in ([7, 2, 7, 4], (4, 7, 2), np.array([7, 4, 2, 2]), [np.int32(7), np.int64(4), 2]):
        search = CostSearchCV(CGAdaClassifier(), cv=cv, rounds=rounds).fit(X, y)
        for name, values in straight.cv_results_.items():
            np.testing.assert_array_equal(search.cv_results_[name], values)
        assert list(search.best_by_rounds_) == [2, 4, 7]
        assert all(type(n_rounds) is int for n_rounds in search.best_by_rounds_)
    for n_rounds in (2, 4, 7):
        single = CostSearchCV(CGAdaClassifier(n_estimators=n_rounds), cv=cv).fit(X, y)
        of_many = straight.best_by_rounds_[n_rounds]
        assert single.best_n_estimators_ == n_rounds
        assert (single.best_costs_, single.best_score_) == (of_many.costs, of_many.score)
        np.testing.assert_array_equal(single.decision_function(X), of_many.estimator.decision_function(X))
    assert len({found.estimator.n_iter_ for found in straight.best_by_rounds_.values()}) == 3


def test_a_range_of_rounds():
    search = CostSearchCV(CGAdaClassifier(n_estimators=3), [[0.3, 1.0]], rounds=range(1, 9)).fit(X, y)
    model = alone(CGAdaClassifier(), [0.3, 1.0], 8, X, y)
    expected = [f1_score(y, predicted) for predicted in model.staged_predict(X)]
    np.testing.assert_allclose(search.cv_results_["mean_train_score"], expected, rtol=0, atol=1e-12)
    assert search.best_n_estimators_ == 1 + int(np.argmax(expected))
    assert search.best_score_ == max(search.cv_results_["mean_train_score"])


@pytest.mark.parametrize("cv", [None, 2])
@pytest.mark.parametrize("method", ["cgada", "adac2", "adamec-cal"])
def test_a_perfect_learner_ends_boosting_but_not_the_table(method, cv):
    X = np.c_[y * 2.0 + np.random.default_rng(0).random(len(y)), np.arange(len(y))]
    search = CostSearchCV(BoostingClassifier(method), GRID, rounds=[1, 3, 9], cv=cv).fit(X, y)
    scores = split_scores(search, "train" if cv is None else "test")
    assert scores.shape == (1 if cv is None else 2, 3, 3)
    np.testing.assert_array_equal(scores, 1.0)
    assert [found.estimator.n_iter_ for found in search.best_by_rounds_.values()] == [1, 1, 1]
    assert search.best_n_estimators_ == 1
    assert search.best_costs_ == {0: 0.2, 1: 1.0}  # of equal ones the first


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cv", [None, 2])
@pytest.mark.parametrize("method", ["csb1", "adac2", "adac3", "adacost"])
def test_boosting_that_gives_up_keeps_its_last_state(method, cv):
    """With different costs after a different number of rounds, some at once."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(60, 2)).astype(float)
    y = (rng.random(60) < 0.3 + 0.1 * X[:, 0]).astype(int)
    estimator, grid, rounds = BoostingClassifier(method), [[c, 1.0] for c in (0.0, 0.1, 0.5, 1.0)], [1, 5, 12]
    lengths = {alone(estimator, costs, 12, X, y).n_iter_ for costs in grid}
    assert min(lengths) < 12
    search = CostSearchCV(estimator, grid, cv=cv, rounds=rounds).fit(X, y)
    splits = [(np.arange(60),) * 2] if cv is None else splits_of(cv, X, y)
    positive = int(np.argmin(np.bincount(y)))
    expected = by_hand(estimator.set_params(pos_label=positive), grid, rounds, metrics_of(positive)["f1"], X, y, splits)
    assert_found(search, expected, rounds, "train" if cv is None else "test")


@pytest.mark.parametrize("cv", [None, 3])
def test_a_hopeless_first_learner_is_told_of_once(cv):
    X, y = np.tile([[0, 0], [0, 1], [1, 0], [1, 1]], (6, 1)).astype(float), np.tile([0, 1, 1, 0], 6)
    with pytest.warns(ConvergenceWarning, match="no better than chance") as caught:
        search = CostSearchCV(AdaC2Classifier(), [[1.0, 1.0]], scoring="accuracy", rounds=[1, 5], cv=cv).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert search.best_estimator_.n_iter_ == 1
    assert search.best_score_ == pytest.approx(0.5)


# Learners and data of other kinds


@pytest.mark.parametrize("cv", [None, 2])
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()])
@pytest.mark.parametrize("method", ["cgada", "csb2"])
def test_other_weak_learners(method, learner, cv):
    estimator = BoostingClassifier(method, estimator=learner)
    grid, rounds = [[0.3, 1.0], [1.0, 1.0]], [1, 4]
    search = CostSearchCV(estimator, grid, cv=cv, rounds=rounds).fit(X, y)
    splits = ALL if cv is None else splits_of(cv, X, y)
    expected = by_hand(estimator, grid, rounds, metrics_of(1)["f1"], X, y, splits)
    assert_found(search, expected, rounds, "train" if cv is None else "test")
    assert all(isinstance(weak, type(learner)) for weak in search.best_estimator_.estimators_)
    assert not hasattr(learner, "classes_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_random_learner_draws_as_on_its_own():
    learner = DecisionTreeClassifier(max_depth=2, max_features=1)
    estimator = CGAdaClassifier(estimator=learner, random_state=3)
    search = CostSearchCV(estimator, [[0.3, 1.0], [1.0, 1.0]], rounds=[5]).fit(X, y)
    expected = by_hand(estimator, [[0.3, 1.0], [1.0, 1.0]], [5], metrics_of(1)["f1"], X, y, ALL)
    assert_found(search, expected, [5], "train")


def mixed():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Kiel", "Ulm", "Jena"], 90),
            "grade": pd.Categorical(rng.choice(["a", "b", "c"], 90)),
            "age": rng.integers(18, 80, 90).astype(float),
            "member": rng.random(90) < 0.5,
        }
    )
    odds = (frame["town"] == "Ulm") * 1.5 + frame["member"] * 1.2 + frame["age"] / 80
    labels = np.where(odds + rng.normal(size=90) > 2.6, "yes", "no")
    frame.loc[rng.random(90) < 0.2, "age"] = np.nan
    frame.loc[rng.random(90) < 0.2, "town"] = None
    return frame.set_index(rng.permutation(90)), labels


@pytest.mark.parametrize("scoring", ["f1", "balanced_accuracy"])
@pytest.mark.parametrize("cv", [None, StratifiedKFold(2, shuffle=True, random_state=0)])
def test_frames_with_categories_and_gaps(cv, scoring):
    frame, labels = mixed()
    estimator, grid = CGAdaClassifier(), [{"no": 0.3, "yes": 1.0}, {"no": 1.0, "yes": 1.0}]
    splits = [(np.arange(90),) * 2] if cv is None else list(cv.split(frame, labels))
    expected = by_hand(estimator, grid, [3, 7], metrics_of("yes")[scoring], frame, labels, splits)
    for form in (lambda frame: frame, pl.from_pandas):
        search = CostSearchCV(estimator, grid, scoring=scoring, cv=cv, rounds=[3, 7]).fit(form(frame), labels)
        assert_found(search, expected, [3, 7], "train" if cv is None else "test")
        assert search.feature_names_in_.tolist() == ["town", "grade", "age", "member"]
        assert search.n_features_in_ == 4
        model = alone(estimator, search.best_costs_, search.best_n_estimators_, frame, labels)
        np.testing.assert_array_equal(search.predict(form(frame)), model.predict(frame))
        with pytest.raises(ValueError, match="feature names"):
            search.predict(frame[["age"]])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("cv", [None, 2])
def test_sparse_matrices(kind, cv):
    rng = np.random.default_rng(5)
    dense = rng.integers(0, 3, size=(90, 4)) * (rng.random((90, 4)) < 0.4) * 1.0
    y = (dense[:, 0] + rng.random(90) > 1.4).astype(int)
    for scoring in ("f1", "roc_auc"):
        searches = [
            CostSearchCV(CGAdaClassifier(n_estimators=4), GRID, scoring=scoring, cv=cv).fit(form(dense), y)
            for form in (np.asarray, kind)
        ]
        for name, values in searches[0].cv_results_.items():
            np.testing.assert_array_equal(searches[1].cv_results_[name], values)
        np.testing.assert_array_equal(searches[1].predict(kind(dense)), searches[0].predict(dense))


@pytest.mark.parametrize("cv", [None, 3])
def test_labels_as_series_lists_and_columns(cv):
    named = np.array(["no", "yes"])[y]
    search = CostSearchCV(CGAdaClassifier(n_estimators=4), cv=cv).fit(X, named)
    mixed_up = pd.Series(named, index=np.random.default_rng(0).permutation(len(y)))
    for form in (mixed_up, mixed_up.astype("category"), pl.Series(named), list(named), named.astype(object)):
        other = clone(search).fit(X, form)
        for name, values in search.cv_results_.items():
            np.testing.assert_array_equal(other.cv_results_[name], values)
        assert other.classes_.tolist() == ["no", "yes"]


def test_columns_are_forgotten_with_the_next_fit():
    search = CostSearchCV(CGAdaClassifier(n_estimators=2)).fit(pd.DataFrame(X, columns=list("abc")), y)
    assert search.feature_names_in_.tolist() == ["a", "b", "c"]
    search.fit(X[:, :2], y)
    assert search.n_features_in_ == 2
    assert not hasattr(search, "feature_names_in_")


# Threads


@pytest.mark.parametrize("method", WITH_COSTS)
def test_several_threads_give_the_very_same_numbers(method):
    frame, labels = mixed()
    named = [{"no": c, "yes": 1.0} for c in (0.1, 0.3, 0.7)]
    for table, target, grid, cv in ((X, y, GRID, None), (frame, labels, named, 2)):
        one, two = (
            CostSearchCV(BoostingClassifier(method, n_jobs=n_jobs), grid, cv=cv, rounds=[2, 5]).fit(table, target)
            for n_jobs in (1, 2)
        )
        for name, values in one.cv_results_.items():
            np.testing.assert_array_equal(two.cv_results_[name], values, err_msg=name)
        for n_rounds in (2, 5):
            np.testing.assert_array_equal(
                *(search.best_by_rounds_[n_rounds].estimator.decision_function(table) for search in (one, two))
            )


# Bad input


NAMES = "cgada, adamec, csb1, csb2, adacost, adac1, adac2, adac3"
GAPS = np.where(y == 1, np.nan, 0.0)


@pytest.mark.parametrize(
    ("params", "data", "error", "message"),
    [
        ({"estimator": DecisionTreeClassifier()}, {}, TypeError, "that takes costs, got DecisionTree"),
        ({"estimator": None}, {}, TypeError, "must be a classifier of adacc that takes costs, got None"),
        ({"estimator": CGAdaClassifier}, {}, TypeError, "must be a classifier of adacc that takes costs, got <class"),
        ({"estimator": "cgada"}, {}, TypeError, "must be a classifier of adacc that takes costs, got 'cgada'"),
        ({"estimator": make_pipeline(CGAdaClassifier())}, {}, TypeError, "that takes costs, got Pipeline"),
        ({"estimator": adacc.AdaCC1Classifier()}, {}, ValueError, rf"\({NAMES}.*got AdaCC1Classifier\(\)"),
        ({"estimator": BoostingClassifier("rusboost")}, {}, ValueError, rf"use a method with costs \({NAMES}"),
        ({"estimator": BoostingClassifier("adac")}, {}, ValueError, "did you mean"),
        ({"estimator__n_iter_no_change": 3}, {}, ValueError, "n_iter_no_change must be None in a cost .*rounds"),
        ({"estimator__learning_rate": -1}, {}, ValueError, "learning_rate must be a number from 1e-06 to 10, got -1"),
        ({"estimator__n_estimators": 0}, {}, ValueError, "n_estimators must be a whole number of at least 1, got 0"),
        ({"estimator__pos_label": 7}, {}, ValueError, r"pos_label must be one of \[0, 1\], got 7"),
        ({"costs": []}, {}, ValueError, r"costs must be a list of candidates, .* got \[\]"),
        ({"costs": "balanced"}, {}, ValueError, "costs must be a list of candidates, .* got 'balanced'"),
        ({"costs": {0: 1, 1: 2}}, {}, ValueError, r"costs must be a list of candidates, .* got \{0: 1, 1: 2\}"),
        ({"costs": 3}, {}, ValueError, "costs must be a list of candidates, .* got 3"),
        ({"costs": np.array(3.0)}, {}, ValueError, "costs must be a list of candidates, .* got array"),
        ({"costs": {1, 2}}, {}, ValueError, "costs must be a list of candidates"),
        ({"costs": [0.1, 1.0]}, {}, TypeError, r"costs\[0\]: .*a mapping or a sequence, got float: 0\.1"),
        ({"costs": [[1, 1], None]}, {}, TypeError, r"costs\[1\]: costs must be 'balanced', a mapping or a sequence"),
        ({"costs": [[1, 1], {0: 1, 2: 2}]}, {}, ValueError, r"costs\[1\]: costs has the label 2, which is not among"),
        ({"costs": [{0: 1}]}, {}, ValueError, r"costs\[0\]: costs has no value for class 1"),
        ({"costs": ["balanced", "equal"]}, {}, ValueError, r"costs\[1\]: costs must be 'balanced', .* got 'equal'"),
        ({"costs": [[1, 1], [1, 1], [1, -2]]}, {}, ValueError, r"costs\[2\]: .*not negative, got -2.0 for class 1"),
        ({"costs": [[1, 1, 1]]}, {}, ValueError, r"costs\[0\]: costs must have one value per class \[0, 1\], got 3"),
        ({"costs": [[0, 0]]}, {}, ValueError, r"costs\[0\]: costs must not be zero for every class"),
        ({"costs": [["1", "2"]]}, {}, TypeError, r"costs\[0\]: costs must be numbers"),
        ({"costs": [[np.nan, 1]]}, {}, ValueError, r"costs\[0\]: costs must be finite"),
        ({"rounds": []}, {}, ValueError, r"rounds must be a list of numbers of rounds, got \[\]"),
        ({"rounds": 5}, {}, ValueError, "rounds must be a list of numbers of rounds, got 5"),
        ({"rounds": 0}, {}, ValueError, "rounds must be a list of numbers of rounds, got 0"),
        ({"rounds": np.array(5)}, {}, ValueError, "rounds must be a list of numbers of rounds, got array"),
        ({"rounds": "12"}, {}, ValueError, "rounds must be a list of numbers of rounds, got '12'"),
        ({"rounds": {3, 5}}, {}, ValueError, "rounds must be a list of numbers of rounds"),
        ({"rounds": [5, 0]}, {}, ValueError, r"rounds\[\d\] must be a whole number of at least 1, got 0"),
        ({"rounds": [5, -1]}, {}, ValueError, r"rounds\[\d\] must be a whole number of at least 1, got -1"),
        ({"rounds": [2.5]}, {}, TypeError, r"rounds\[\d\] must be a whole number of at least 1, got 2.5"),
        ({"rounds": [True]}, {}, TypeError, r"rounds\[\d\] must be a whole number of at least 1, got True"),
        ({"rounds": ["5"]}, {}, TypeError, r"rounds\[\d\] must be a whole number of at least 1, got '5'"),
        ({"scoring": "beauty"}, {}, ValueError, "scoring.*'beauty'"),
        ({"scoring": ["f1", "accuracy"]}, {}, (TypeError, ValueError), "scoring"),
        ({"scoring": {"a": "f1"}}, {}, (TypeError, ValueError), "scoring"),
        ({"scoring": ("f1", "accuracy")}, {}, (TypeError, ValueError), "scoring"),
        ({"scoring": f1_score}, {}, ValueError, "use `make_scorer`"),
        ({"scoring": lambda model, X, y: "good"}, {}, (TypeError, ValueError), "scor"),
        ({"scoring": lambda model, X, y: {"a": 1.0}}, {}, (TypeError, ValueError), "scor"),
        ({"cv": 1}, {}, ValueError, "n_splits=2 or more"),
        ({"cv": 500}, {}, ValueError, "n_splits=500 greater than the number of samples"),
        ({"cv": "three"}, {}, ValueError, "Expected `?cv`? as an integer"),
        ({"cv": KFold}, {}, TypeError, r"cv must be a splitter such as KFold\(\), got the class"),
        ({"cv": [([0.5, 1.0], [2])]}, {}, ValueError, "cv: fold 0 must be two arrays of row indices"),
        ({"cv": [(np.arange(80), [90])]}, {}, ValueError, "indices of fold 0 must be below the number of rows, 90"),
        ({"cv": []}, {}, ValueError, "cv"),
        ({"cv": iter([])}, {}, ValueError, "cv"),
        ({"cv": [(np.arange(90), [])]}, {}, ValueError, "cv must hold out rows of class 0 in a fold"),
        ({"cv": GroupKFold(2)}, {}, ValueError, "groups"),
        ({"cv": GroupKFold(2)}, {"groups": np.arange(5)}, ValueError, "groups must have one value for each of"),
        ({"cv": [(np.flatnonzero(y == 0), np.arange(90))]}, {}, ValueError, "whose training rows have every class"),
        (
            {"cv": KFold(2)},
            {"sample_weight": np.where((y == 1) & (np.arange(90) < 45), 0, 1)},
            ValueError,
            "cv must hold out rows of class 1 in a fold whose training rows have every class",
        ),
        ({}, {"y": None}, ValueError, "requires y to be passed"),
        ({}, {"y": GAPS}, ValueError, "contains NaN"),
        ({}, {"y": np.where(y == 1, None, "a")}, ValueError, "y must not have missing labels, got one in row"),
        ({}, {"y": y[:50]}, ValueError, "inconsistent numbers of samples"),
        ({}, {"y": np.zeros(90)}, ValueError, "only one class"),
        ({}, {"X": np.where(X > 1, np.inf, X)}, ValueError, "infinity"),
        ({}, {"sample_weight": -np.ones(90)}, ValueError, "sample_weight must be not negative"),
        ({}, {"sample_weight": np.ones(7)}, ValueError, "each of the 90 rows"),
    ],
)  # fmt: skip
def test_fit_says_what_is_wrong_and_leaves_nothing_behind(params, data, error, message):
    search = CostSearchCV(CGAdaClassifier(n_estimators=3)).set_params(**params)
    before = vars(search).copy()
    with pytest.raises(error, match=message):
        search.fit(**{"X": X, "y": y} | data)
    assert vars(search) == before
    with pytest.raises(NotFittedError):
        search.predict(X)

    fitted = CostSearchCV(CGAdaClassifier(n_estimators=3)).fit(X[:60], y[:60])
    fitted.set_params(**params)
    before, expected = vars(fitted).copy(), fitted.decision_function(X)
    with pytest.raises(error):
        fitted.fit(**{"X": X, "y": y} | data)
    assert vars(fitted) == before
    np.testing.assert_array_equal(fitted.decision_function(X), expected)


def test_an_error_in_the_scorer_leaves_the_last_search_as_it_was():
    class Interrupting:
        calls = 0

        def __call__(self, model, X, y):
            self.calls += 1
            if self.calls > 15:
                raise KeyboardInterrupt
            return 0.5

    search = CostSearchCV(CGAdaClassifier(n_estimators=3), cv=2).fit(X, y)
    before, expected = vars(search).copy(), search.decision_function(X)
    search.scoring = before["scoring"] = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X[:, :2], y)
    assert vars(search) == before
    np.testing.assert_array_equal(search.decision_function(X), expected)


def test_folds_that_were_given_only_once():
    """A generator is empty the second time: an error says so, rather than a search over no fold at all."""
    search = CostSearchCV(CGAdaClassifier(n_estimators=3), cv=StratifiedKFold(3).split(X, y)).fit(X, y)
    again = CostSearchCV(CGAdaClassifier(n_estimators=3), cv=3).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="cv"):
        search.fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "score"])
def test_nothing_before_fit(method):
    search = CostSearchCV(CGAdaClassifier())
    with pytest.raises(NotFittedError, match="This CostSearchCV instance is not fitted yet"):
        getattr(search, method)(*((X, y) if method == "score" else (X,)))


@pytest.mark.filterwarnings("ignore:Only one class is present in y_true")
def test_costs_without_a_score_are_never_the_best():
    """NaN is what scikit-learn's scorers give where a score is not defined; its own searches rank it last."""

    def undefined_for_low_costs(model, X, y):
        return np.nan if model.costs[0] < 0.5 else float(model.costs[0])

    grid = [[0.1, 1.0], [0.6, 1.0], [0.4, 1.0], [0.9, 1.0]]
    theirs = GridSearchCV(CGAdaClassifier(n_estimators=2), {"costs": grid}, scoring=undefined_for_low_costs, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs.fit(X, y)
        ours = CostSearchCV(CGAdaClassifier(n_estimators=2), grid, scoring=undefined_for_low_costs, cv=2).fit(X, y)
    assert ours.best_costs_ == {0: 0.9, 1: 1.0}
    np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])


def test_a_fold_without_weight_is_not_a_score_of_zero():
    """Its rows count as none, so that there is nothing to judge by: it is skipped, as a fold without rows."""
    weight = np.where(np.arange(90) < 30, 0.0, 1.0)
    found = CostSearchCV(CGAdaClassifier(n_estimators=3), cv=KFold(3)).fit(X, y, sample_weight=weight)
    folds = [fold for fold in KFold(3).split(X) if weight[fold[1]].any()]
    expected = CostSearchCV(CGAdaClassifier(n_estimators=3), cv=folds).fit(X, y, sample_weight=weight)
    assert found.n_splits_ == 2
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


# As part of scikit-learn


def test_parameters_clone_and_pickle():
    search = CostSearchCV(CGAdaClassifier(n_estimators=4), GRID, scoring="recall", cv=2, rounds=[2, 4])
    again = clone(search)
    assert again.estimator is not search.estimator
    assert repr(again) == repr(search)
    slow = clone(search).set_params(estimator__learning_rate=0.1, scoring="f1").fit(X, y)
    assert slow.get_params()["estimator__learning_rate"] == 0.1
    estimator = CGAdaClassifier(learning_rate=0.1)
    expected = by_hand(estimator, GRID, [2, 4], metrics_of(1)["f1"], X, y, splits_of(2, X, y))
    assert_found(slow, expected, [2, 4], "test")
    assert slow.best_estimator_.learning_rate == 0.1
    assert not hasattr(clone(slow), "best_costs_")
    revived = pickle.loads(pickle.dumps(slow))
    np.testing.assert_array_equal(revived.decision_function(X), slow.decision_function(X))
    np.testing.assert_array_equal(revived.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])
    assert revived.score(X, y) == slow.score(X, y)
    assert revived.best_by_rounds_[2].costs == slow.best_by_rounds_[2].costs


def test_a_fitted_search_does_not_change_with_its_parameters_or_the_users_data():
    data, labels, grid = X.copy(), y.copy(), [{0: 0.3, 1: 1.0}, {0: 1.0, 1: 1.0}]
    search = CostSearchCV(CGAdaClassifier(n_estimators=4), grid).fit(data, labels)
    np.testing.assert_array_equal(data, X)
    expected, costs = search.predict(X), dict(search.best_costs_)
    data[:] = labels[:] = 0
    for each in grid:
        each[0] = 77.0
    search.set_params(estimator__n_estimators=1)
    np.testing.assert_array_equal(search.predict(X), expected)
    assert search.best_costs_ == costs


@pytest.mark.parametrize("scoring", ["f1", "precision", "recall", "accuracy", "balanced_accuracy", "roc_auc", None])
def test_score_is_what_was_maximised(scoring):
    named = np.array(["z", "a"])[y]
    X_new, y_new = overlapping(seed=8)
    named_new, weight = np.array(["z", "a"])[y_new], np.arange(90.0) + 1.0
    search = CostSearchCV(CGAdaClassifier(n_estimators=4), scoring=scoring).fit(X, named)
    metric = metrics_of("a")[scoring or "accuracy"]
    assert search.score(X_new, named_new) == pytest.approx(metric(search.best_estimator_, X_new, named_new, None))
    weighted = metric(search.best_estimator_, X_new, named_new, weight)
    assert search.score(X_new, named_new, sample_weight=weight) == pytest.approx(weighted)


def test_a_scorer_of_the_users_own():
    """It sees fitted estimators with their costs and rounds, and the rows that are to be judged."""
    seen = []

    def scorer(model, X, y):
        seen.append((model.costs, model.n_estimators, len(y)))
        np.testing.assert_array_equal(model.decision_function(X).shape, (len(y),))
        return -abs(model.costs[0] - 0.5) - model.n_estimators / 100

    grid = [[0.1, 1.0], [0.5, 1.0], [1.0, 1.0]]
    search = CostSearchCV(CGAdaClassifier(), grid, scoring=scorer, cv=3, rounds=[2, 3]).fit(X, y)
    assert search.best_costs_ == {0: 0.5, 1: 1.0}
    assert search.best_n_estimators_ == 2
    assert search.best_score_ == pytest.approx(-0.02)
    assert search.scorer_ is scorer
    assert seen == [(costs, n_rounds, 30) for _ in range(3) for costs in grid for n_rounds in (2, 3)]


def test_in_pipelines_and_other_searches():
    search = CostSearchCV(CGAdaClassifier(n_estimators=4), GRID)
    splits = list(StratifiedKFold(3).split(X, y))
    expected = []
    for train, test in splits:
        inner = clone(search).fit(X[train], y[train])
        model = alone(inner.estimator, inner.best_costs_, 4, X[train], y[train])
        expected.append(f1_score(y[test], model.predict(X[test])))
    np.testing.assert_allclose(cross_val_score(search, X, y, cv=3, scoring="f1"), expected)
    np.testing.assert_allclose(cross_val_score(search, X, y, cv=3), expected)  # its own score is f1 as well
    pipe = make_pipeline(StandardScaler(), search)
    np.testing.assert_allclose(cross_val_score(pipe, X, y, cv=3), expected)  # stumps do not care
    pipe.fit(X, y, costsearchcv__sample_weight=WEIGHT)
    assert pipe[-1].best_costs_ == clone(search).fit(X, y, sample_weight=WEIGHT).best_costs_
    outer = GridSearchCV(search, {"estimator__learning_rate": [0.1, 1.0]}, cv=2).fit(X, y)
    assert outer.best_params_["estimator__learning_rate"] in (0.1, 1.0)
    assert outer.best_estimator_.best_estimator_.learning_rate == outer.best_params_["estimator__learning_rate"]


def test_weights_and_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        search = CostSearchCV(CGAdaClassifier(n_estimators=4), GRID, cv=GroupKFold(3))
        search.set_fit_request(sample_weight=True, groups=True)
        pipe = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=False)), ("search", search)])
        pipe.fit(X, y, sample_weight=WEIGHT, groups=GROUPS)
    straight = CostSearchCV(CGAdaClassifier(n_estimators=4), GRID, cv=GroupKFold(3))
    straight.fit(StandardScaler().fit_transform(X), y, sample_weight=WEIGHT, groups=GROUPS)
    np.testing.assert_array_equal(pipe[-1].cv_results_["mean_test_score"], straight.cv_results_["mean_test_score"])


def test_a_rule_object_can_be_searched():
    from adacc.algorithms.adac import AdaC2

    by_rule = CostSearchCV(BoostingClassifier(AdaC2()), rounds=[2, 5]).fit(X, y)
    by_class = CostSearchCV(AdaC2Classifier(), rounds=[2, 5]).fit(X, y)
    np.testing.assert_array_equal(by_rule.cv_results_["mean_train_score"], by_class.cv_results_["mean_train_score"])


def test_it_finds_better_costs_than_equal_ones_for_rows_it_has_not_seen():
    """What the whole thing is for."""
    gains = []
    for seed in range(4):
        train, test = overlapping(200, seed, every=8), overlapping(200, seed + 100, every=8)
        search = CostSearchCV(CGAdaClassifier(n_estimators=8)).fit(*train)
        equal = CGAdaClassifier(n_estimators=8, costs=[1, 1]).fit(*train)
        gains.append(search.score(*test) - f1_score(test[1], equal.predict(test[0])))
    assert np.mean(gains) > 0.05


def test_rows_out_of_the_bags_decide_on_costs_of_rounds_not_of_the_search():
    """By name or as a function, a score on the training rows is one of all of them."""
    X, y = make_classification(600, 8, weights=[0.85], flip_y=0.05, random_state=1)
    booster = CGAdaClassifier(n_estimators=20, max_depth=3, subsample=0.5, rates="out-of-bag", random_state=0)
    named = CostSearchCV(booster, scoring="f1").fit(X, y)
    called = CostSearchCV(booster, scoring=make_scorer(f1_score)).fit(X, y)
    assert named.best_costs_ == called.best_costs_
    assert named.best_score_ == called.best_score_ == pytest.approx(named.score(X, y))


@pytest.mark.parametrize("rule", ["recall>=0.9", "alerts<=100/1000", "threshold=0.3"])
@pytest.mark.parametrize("scoring", ["precision", "f1", "balanced_accuracy"])
def test_candidates_are_scored_as_they_decide(rule, scoring):
    """By the rule, which each candidate tunes on its training rows, as scikit-learn's search has it."""
    estimator = CGAdaClassifier(n_estimators=4, decision=rule, random_state=0)
    grid, folds = [[0.1, 1.0], [0.4, 1.0], [1.0, 1.0]], StratifiedKFold(3)
    ours = CostSearchCV(estimator, grid, scoring=scoring, cv=folds).fit(X, y)
    theirs = GridSearchCV(estimator, {"costs": grid}, scoring=ours.scorer_, cv=folds).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    trained = CostSearchCV(estimator, grid, scoring=scoring, cv="training").fit(X, y)
    assert trained.best_score_ == pytest.approx(trained.score(X, y))

"""A baseline as a classifier of scikit-learn: what the comparison finds, for rows that come later."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
from mixed_fold import make_fold
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from adacc.evaluation.baseline_classifier import BaselineClassifier
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_data import FoldData

ROUNDS = 12
SOME = [
    "lightgbm-threshold", "xgboost", "hist-gradient-boosting-threshold", "adaboost-threshold", "smote-tree",
    "bagged-lightgbm", "self-paced-ensemble", "imblearn-rusboost", "logistic-regression",
]  # fmt: skip


@pytest.mark.parametrize("method", SOME)
def test_it_says_what_the_comparison_says_also_after_a_pickle(method):
    fold = make_fold(rounds=[ROUNDS])
    (due,) = BASELINES[method].predict(fold).values()
    model = BaselineClassifier(method, ROUNDS, random_state=fold.seed).fit(fold.X, np.where(fold.y == 1, "a", "b"))
    model = pickle.loads(pickle.dumps(model))
    assert model.classes_.tolist() == ["a", "b"]
    scores = model.decision_function(fold.X_test)
    np.testing.assert_allclose(-scores, due.scores, rtol=0, atol=1e-300)  # the rare class is the first
    np.testing.assert_array_equal(scores > 0, model.predict(fold.X_test) == "b")
    assert model.encoding_ == due.encoding
    np.testing.assert_array_equal(model.predict(fold.X_test), np.where(due.scores > 0, "a", "b"))
    np.testing.assert_array_equal(model.predict_proba(fold.X_test)[:, 0], due.probabilities)


def test_rows_alone_and_columns_in_another_order_or_as_text_are_scored_alike():
    fold = make_fold(rounds=[ROUNDS])
    for method in ("lightgbm-threshold", "logistic-regression"):
        model = BaselineClassifier(method, ROUNDS).fit(fold.X, fold.y)
        due = model.decision_function(fold.X_test)
        turned = fold.X_test.assign(colour=fold.X_test["colour"].astype(object))[fold.X.columns[::-1]]
        np.testing.assert_array_equal(model.decision_function(turned), due)
        alone = [model.decision_function(fold.X_test.iloc[[i]])[0] for i in range(5)]
        np.testing.assert_allclose(alone, due[:5], rtol=1e-12)


def test_text_and_booleans_are_read_as_in_the_comparison():
    fold = make_fold(rounds=[ROUNDS])
    old = np.arange(len(fold.X)) % 3 == 0
    given = fold.X.assign(colour=fold.X["colour"].astype(object), old=old)
    due = fold.X.assign(
        colour=pd.Categorical(fold.X["colour"], sorted(fold.X["colour"].dropna().unique())), old=old * 1
    )
    one, other = (
        BaselineClassifier("lightgbm", ROUNDS).fit(each, fold.y).decision_function(given) for each in (given, due)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("in_time", [False, True])
def test_groups_and_times_decide_the_folds_of_the_threshold(in_time):
    fold = make_fold(rounds=[ROUNDS])
    groups = np.arange(len(fold.y)) // 6
    model = BaselineClassifier("lightgbm-threshold", ROUNDS, in_time=in_time, random_state=4)
    found = model.fit(fold.X, fold.y, groups=groups).decision_function(fold.X_test)
    due = BASELINES["lightgbm-threshold"].predict(FoldData(fold.X, fold.y, fold.X_test, [ROUNDS], 4, groups, in_time))
    np.testing.assert_array_equal(found, due[ROUNDS].scores)
    alone = BaselineClassifier("lightgbm-threshold", ROUNDS, random_state=4).fit(fold.X, fold.y)
    assert (found != alone.decision_function(fold.X_test)).any()


def test_an_array_of_numbers_is_what_the_library_takes_and_scikit_learn_can_use_the_classifier():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 3
    X[:, 0] += 3 * y
    model = clone(BaselineClassifier("lightgbm", ROUNDS)).fit(X[:200], y[:200])
    theirs = lightgbm.LGBMClassifier(n_estimators=ROUNDS, class_weight="balanced", random_state=0, verbose=-1, n_jobs=1)
    theirs.fit(pd.DataFrame(X[:200]), y[:200])
    np.testing.assert_allclose(model.predict_proba(X[200:]), theirs.predict_proba(pd.DataFrame(X[200:])), atol=1e-9)
    assert not hasattr(model, "decision_function")
    assert cross_val_score(BaselineClassifier("lightgbm-threshold", ROUNDS), X, y > 0, scoring="roc_auc").min() > 0.9


@pytest.mark.parametrize(
    ("parameters", "change", "said"),
    [
        ({"method": "lightgbm-treshold"}, {}, "got 'lightgbm-treshold'; did you mean 'lightgbm-threshold'"),
        ({"n_estimators": 0}, {}, "n_estimators must be an integer of at least 1, got 0"),
        ({"random_state": None}, {}, "random_state must be an integer of at least 0, got None"),
        ({"pos_label": "c"}, {}, "pos_label must be one of the labels"),
        ({}, {"y": np.zeros(180)}, "y must have at least two classes"),
        ({}, {"y": np.linspace(0, 1, 180)}, "Unknown label type: continuous"),
        ({}, {"y": np.where(np.arange(180) == 3, np.nan, np.arange(180) % 2)}, "Input y contains NaN"),
        ({}, {"y": [None, *"ab" * 89, "a"]}, "y must not have missing labels, got one in row 0"),
        ({}, {"y": np.zeros((180, 2))}, "y should be a 1d array"),
        ({}, {"y": np.arange(180) % 3}, "'lightgbm-threshold' supports two classes only, got 3"),
        ({}, {"y": np.arange(7) % 2}, "y must have one label for each of the 180 rows of X"),
        ({}, {"X": np.zeros(180)}, "X must be a frame or an array of two dimensions"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_told(parameters, change, said):
    fold = make_fold()
    with pytest.raises(ValueError, match=said):
        BaselineClassifier(**parameters).fit(**{"X": fold.X, "y": fold.y} | change)


@pytest.mark.parametrize("method", ["balanced-random-forest", "self-paced-ensemble"])
@pytest.mark.parametrize("positive", [0, 1])
def test_ties_are_of_the_negative_class_and_the_sign_of_the_score_says_so(method, positive):
    """Half of so many votes: a score of exactly 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 1.5 * rng.normal(size=300) > 1.8).astype(int)
    X_new = rng.normal(size=(2000, 3))
    model = BaselineClassifier(method, pos_label=positive).fit(X, y)
    ties = model.predict_proba(X_new)[:, 0] == 0.5
    assert ties.sum() > 5
    predicted = model.predict(X_new)
    assert (predicted[ties] == 1 - positive).all()
    np.testing.assert_array_equal(model.decision_function(X_new) > 0, predicted == 1)


def test_rows_of_other_columns_are_told():
    fold = make_fold()
    model = BaselineClassifier("rus-tree").fit(fold.X, fold.y)
    with pytest.raises(ValueError, match="4 columns of the training rows, but column 'a' is missing"):
        model.predict(fold.X_test.drop(columns="a"))
    with pytest.raises(ValueError, match="column 'a' of X must be numeric"):
        model.predict(fold.X_test.assign(a="old"))
    with pytest.raises(ValueError, match="3 columns of the training rows, but it has 4"):
        BaselineClassifier("rus-tree").fit(np.eye(9)[:, :3], np.arange(9) % 2).predict(np.eye(4))

"""What the cost search maximises: scores of the positive class whatever its label, and scores that are NaN."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    jaccard_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from support import thinned

import adacc
from adacc import CGAdaClassifier


def CostSearchCV(estimator, costs=None, scoring="f1", cv=None, rounds=None):
    """A search on the training rows, unless folds are given."""
    return adacc.CostSearchCV(estimator, costs, scoring, "training" if cv is None else cv, rounds)


RARE = np.arange(90) % 5 == 0
X = np.random.default_rng(1).normal(size=(90, 3)) + RARE[:, None]
LABELS = {
    "first": np.where(RARE, "fraud", "ok"),
    "last": np.where(RARE, "theft", "ok"),
    "zero": np.where(RARE, 0, 1),
    "one": np.where(RARE, 1, 0),
    "true": RARE,
}


def by_predictions(metric):
    return lambda model, X, y, positive: metric(y, model.predict(X), pos_label=positive, zero_division=0.0)


def by_probability(metric, sign=1.0):
    def score(model, X, y, positive):
        [column] = np.flatnonzero(model.classes_ == positive)
        return sign * metric(y == positive, model.predict_proba(X)[:, column])

    return score


BY_HAND = {
    "f1": by_predictions(f1_score),
    "precision": by_predictions(precision_score),
    "recall": by_predictions(recall_score),
    "jaccard": by_predictions(jaccard_score),
    "average_precision": by_probability(average_precision_score),
    "roc_auc": by_probability(roc_auc_score),
    "neg_brier_score": by_probability(brier_score_loss, -1.0),
    "neg_log_loss": by_probability(log_loss, -1.0),
}


@pytest.mark.parametrize("chosen", thinned([None, "rare", "frequent"], ["rare"]))
@pytest.mark.parametrize("labels", thinned(LABELS, ["one", "true"]))
@pytest.mark.parametrize("scoring", BY_HAND)
def test_scores_are_those_of_the_positive_class(scoring, labels, chosen):
    y, weights = LABELS[labels], [1.0, 0.4]
    rare, frequent = y[RARE][0], y[~RARE][0]
    pos_label = {None: None, "rare": rare, "frequent": frequent}[chosen]
    positive = frequent if chosen == "frequent" else rare
    costs = [{rare: 1.0, frequent: weight} for weight in weights]
    search = CostSearchCV(CGAdaClassifier(n_estimators=5, pos_label=pos_label), costs, scoring, cv=3).fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    for at, each in enumerate(costs):
        for fold, (training, judged) in enumerate(folds):
            model = CGAdaClassifier(n_estimators=5, costs=each, pos_label=pos_label).fit(X[training], y[training])
            expected = BY_HAND[scoring](model, X[judged], y[judged], positive)
            np.testing.assert_allclose(search.cv_results_[f"split{fold}_test_score"][at], expected, rtol=1e-12)
    expected = BY_HAND[scoring](search.best_estimator_, X, y, positive)
    np.testing.assert_allclose(search.score(X, y), expected, rtol=1e-12)


def test_more_classes_have_macro_averages():
    y = np.array(["a", "b", "c"])[np.arange(90) % 5 % 3]
    search = CostSearchCV(CGAdaClassifier(n_estimators=3), [[1, 1, 1]], "jaccard").fit(X, y)
    expected = jaccard_score(y, search.predict(X), average="macro")
    np.testing.assert_allclose(search.best_score_, expected)


GRID = [{0: cost, 1: 1.0} for cost in (0.2, 0.5, 0.8, 1.0)]
TWO = LABELS["one"]


def scorer(undefined):
    """The accuracy; NaN for models of some costs, on rows of some number."""

    def score(model, X, y):
        return np.nan if (model.costs[0], len(X)) in undefined or model.costs[0] in undefined else model.score(X, y)

    return score


@pytest.mark.parametrize(
    ("undefined", "cv", "n_undefined", "n_scores"),
    [
        ({0.2}, 3, 3, 12),
        ({0.8, 1.0}, 3, 6, 12),
        ({(1.0, 40)}, [(np.r_[:50], np.r_[50:90]), (np.r_[30:90], np.r_[:30])], 1, 8),
        ({0.2, 0.5, 0.8}, 2, 6, 8),
    ],
)
def test_scores_that_are_nan_rank_last_as_in_scikit_learn(undefined, cv, n_undefined, n_scores):
    theirs = GridSearchCV(CGAdaClassifier(n_estimators=4), {"costs": GRID}, scoring=scorer(undefined), cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs.fit(X, TWO)
    with pytest.warns(UserWarning, match=f"^{n_undefined} of the {n_scores} test scores are NaN") as told:
        ours = CostSearchCV(CGAdaClassifier(n_estimators=4), GRID, scorer(undefined), cv=cv).fit(X, TWO)
    assert told[0].filename == __file__
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    splits = [f"split{fold}_test_score" for fold in range(ours.n_splits_)]
    for name in ("mean_test_score", "std_test_score", "rank_test_score", *splits):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], err_msg=name)


@pytest.mark.parametrize("cv", [None, 2])
def test_no_score_at_all_is_an_error(cv):
    with pytest.raises(ValueError, match=r"scoring must return a number .* 4 of the 4|8 of the 8"):
        CostSearchCV(CGAdaClassifier(n_estimators=2), GRID, lambda *_: np.nan, cv=cv).fit(X, TWO)


def test_nan_comes_after_minus_infinity():
    by_cost = {0.2: np.nan, 0.5: -np.inf, 0.8: np.nan, 1.0: -np.inf}
    search = CostSearchCV(CGAdaClassifier(n_estimators=2), GRID, lambda model, X, y: by_cost[model.costs[0]])
    with pytest.warns(UserWarning, match="2 of the 4 train scores are NaN"), np.errstate(invalid="ignore"):
        search.fit(X, TWO)
    assert search.best_costs_ == {0: 0.5, 1: 1.0}
    assert search.cv_results_["rank_train_score"].tolist() == [3, 1, 3, 1]


def test_rounds_without_a_score_are_not_the_best():
    def score(model, X, y):
        return np.nan if model.n_iter_ > 2 else -1.0

    with pytest.warns(UserWarning, match="4 of the 8 train scores are NaN"):
        search = CostSearchCV(CGAdaClassifier(), GRID, score, rounds=[2, 4]).fit(X, TWO)
    assert search.best_n_estimators_ == 2
    assert np.isnan(search.best_by_rounds_[4].score)

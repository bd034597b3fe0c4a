"""The tuning of a forest: against scikit-learn's logistic regression, and by what it is for."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import train_test_split

import adacc
from adacc.estimators.forest_tuning import TuningRows, _fit_class_factors, _fit_logistic, _targets, tune_forest


def tuning_rows(n_rows=3000, share=0.1, strengths=(3.0, 3.0, 0.0), seed=0, shift=0.0):
    """Rows whose vote shares tell the class more or less clearly, by kind of bag."""
    rng = np.random.default_rng(seed)
    true = (rng.random(n_rows) < share).astype(np.intp)
    signal = np.array([strength * (2.0 * true - 1.0) for strength in strengths]) + rng.normal(size=(3, n_rows)) + shift
    positive = expit(signal)
    return TuningRows(true, np.ones(n_rows), np.stack([1.0 - positive, positive], axis=2), np.arange(n_rows))


def weights_of(rows):
    return np.array([(rows.true == 0).sum(), (rows.true == 1).sum()], dtype=float)


def test_logistic_regression_is_that_of_scikit_learn():
    rows = tuning_rows(strengths=(0.5, 0.3, 0.2))
    weight = np.random.default_rng(1).random(len(rows.true))
    targets = np.eye(2)[rows.true]
    slopes, intercepts = _fit_logistic(rows.vote_shares, targets, weight / weight.sum(), np.zeros(3), 0.0)
    excess = (rows.vote_shares[:, :, 1] - rows.vote_shares[:, :, 0]).T
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(excess, rows.true, weight)
    np.testing.assert_allclose(slopes, peer.coef_[0], rtol=1e-3)
    np.testing.assert_allclose(intercepts, [0.0, peer.intercept_[0]], atol=1e-3)


def test_targets_are_those_of_platt():
    targets = _targets(np.array([0, 0, 0, 1]), np.array([3, 1]), 2)
    np.testing.assert_allclose(targets[:, 1], [1 / 5, 1 / 5, 1 / 5, 2 / 3])
    np.testing.assert_allclose(targets.sum(axis=1), 1.0)


def test_a_kind_without_information_has_no_weight():
    rows = tuning_rows()
    weights, _ = tune_forest(rows, weights_of(rows), 1, "balanced_accuracy")
    assert weights[2] < 0.02 * weights[:2].min()
    assert weights[0] == pytest.approx(weights[1], rel=0.2)


@pytest.mark.parametrize("positive", [0, 1])
def test_the_threshold_balances_the_classes(positive):
    """Shifted votes predict one class too often; the decision corrects it."""
    rows = tuning_rows(strengths=(1.0, 1.0, 1.0), shift=1.5)
    weights, decision = tune_forest(rows, weights_of(rows), positive, "balanced_accuracy")
    votes = np.tensordot(weights, rows.vote_shares, axes=1)
    raw = balanced_accuracy_score(rows.true, votes.argmax(axis=1))
    tuned = balanced_accuracy_score(rows.true, (votes * decision).argmax(axis=1))
    assert raw < 0.85
    assert tuned > 0.94
    assert decision.sum() == 2.0
    # twice the score is the log-odds of balanced classes
    score = (votes * decision) @ [-1.0, 1.0]
    balanced = np.where(rows.true == 1, 0.5 / (rows.true == 1).sum(), 0.5 / (rows.true == 0).sum())
    near = np.abs(expit(2.0 * score) - 0.7) < 0.1
    assert np.average(rows.true[near], weights=balanced[near]) == pytest.approx(0.7, abs=0.15)


@pytest.mark.parametrize("positive", [0, 1])
def test_few_rows_of_the_rarest_class_do_not_make_it_rarer(positive):
    """The mean probability is that of balanced classes, ½, however few rows of one class there are."""
    rows = tuning_rows(n_rows=800, share=0.01, strengths=(0.5, 0.5, 0.5))
    weights, decision = tune_forest(rows, weights_of(rows), positive, "balanced_accuracy")
    score = (np.tensordot(weights, rows.vote_shares, axes=1) * decision) @ [-1.0, 1.0]
    of_class = [expit(2.0 * score[rows.true == i]).mean() for i in (0, 1)]
    assert 3 < rows.true.sum() < 15
    assert np.mean(of_class) == pytest.approx(0.5, abs=1e-3)


def test_factors_balance_several_classes():
    """The votes for a rare class are too few; its factor corrects that."""
    rng = np.random.default_rng(0)
    true = rng.choice(3, 4000, p=[0.6, 0.3, 0.1])
    logits = 2.0 * np.eye(3)[true] + rng.normal(size=(4000, 3)) - [0.0, 0.0, 1.5]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    rows = TuningRows(true, np.ones(4000), np.stack([shares, shares, shares]), np.arange(4000))
    weights, decision = tune_forest(rows, np.bincount(true).astype(float), 0, "balanced_accuracy")
    votes = np.tensordot(weights, rows.vote_shares, axes=1)
    assert decision[2] > 1.5 * decision[:2].max()
    raw = balanced_accuracy_score(true, votes.argmax(axis=1))
    assert balanced_accuracy_score(true, (votes * decision).argmax(axis=1)) > raw + 0.03


def test_factors_of_classes_minimize_the_log_loss():
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 500)
    logits = np.eye(3)[true] * 1.5 + rng.normal(size=(500, 3))
    targets, weight = np.eye(3)[true], rng.random(500)
    factors = _fit_class_factors(logits, targets, weight / weight.sum(), 0.0, np.ones(3, dtype=bool))

    def loss(factors):
        return -np.average(log_softmax(logits * factors, axis=1)[np.arange(500), true], weights=weight)

    for k in range(3):
        for step in (0.99, 1.01):
            changed = factors.copy()
            changed[k] *= step
            assert loss(changed) > loss(factors)


def test_weights_of_rows_count():
    rows = tuning_rows(1500, strengths=(0.5, 0.4, 0.2))
    counts = np.random.default_rng(3).integers(1, 4, 1500)
    repeated = TuningRows(
        np.repeat(rows.true, counts), np.ones(counts.sum()), np.repeat(rows.vote_shares, counts, axis=1),
        np.arange(counts.sum()),
    )  # fmt: skip
    weighted = rows._replace(weight=counts.astype(float))
    by_class = np.bincount(repeated.true).astype(float)
    for one, other in zip(
        tune_forest(repeated, by_class, 1, "balanced_accuracy"),
        tune_forest(weighted, by_class, 1, "balanced_accuracy"),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=0.05)  # Platt's targets count the rows


def test_the_objective_f1_raises_f1():
    X, y = make_classification(4000, 10, n_informative=4, weights=[0.95], flip_y=0.03, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    options = {"n_estimators": 12, "random_state": 0}
    balanced = adacc.AdaCCForestClassifier(**options).fit(X, y)
    f1 = adacc.AdaCCForestClassifier(**options, objective="f1").fit(X, y)
    assert f1_score(y_test, f1.predict(X_test)) > f1_score(y_test, balanced.predict(X_test)) + 0.1
    assert balanced_accuracy_score(y_test, balanced.predict(X_test)) > 0.02 + balanced_accuracy_score(
        y_test, f1.predict(X_test)
    )
    with pytest.raises(ValueError, match="objective must be"):
        adacc.AdaCCForestClassifier(objective="recall").fit(X, y)


def test_the_number_of_bags_follows_the_number_of_rows():
    X, y = make_classification(1501, 4, weights=[0.9], random_state=0)
    for n_rows, n_bags in ((1500, 100 + 10 + 5 + 5), (1501, 30 + 5 + 3 + 5 + 5)):
        model = adacc.AdaCCForestClassifier(n_rounds=1, max_depth=1, random_state=0).fit(X[:n_rows], y[:n_rows])
        assert model.fitted_model_.training == {"n_bags": n_bags}

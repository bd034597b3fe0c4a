"""The paper's measures beside scikit-learn's and imbalanced-learn's, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    make_scorer,
    recall_score,
    roc_auc_score,
)

from adacc import CGAdaClassifier, CostSearchCV, metrics

rows = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.integers(-3, 3), st.integers(1, 5)), min_size=2, max_size=40
).filter(lambda rows: len({row[0] for row in rows}) == 2)


@given(rows)
def test_two_classes_are_scikit_learns(rows):
    true, predicted, score, weight = map(np.array, zip(*rows, strict=True))
    positive = 1 if (weight * true).sum() <= (weight * ~true).sum() else 0
    of_positive = {"pos_label": positive, "sample_weight": weight, "zero_division": 0}
    expected = {
        "balanced_accuracy": balanced_accuracy_score(true, predicted, sample_weight=weight),
        "gmean": geometric_mean_score(true, predicted, sample_weight=weight, pos_label=positive),
        "tpr": recall_score(true, predicted, **of_positive),
        "tnr": recall_score(true, predicted, **{**of_positive, "pos_label": 1 - positive}),
        "f1": f1_score(true, predicted, **of_positive),
        "auc": roc_auc_score(true == positive, score, sample_weight=weight),
    }
    expected["opm"] = np.mean(list(expected.values()))
    found = metrics.evaluate(true.astype(int), predicted.astype(int), score, sample_weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)
    assert list(found) == ["balanced_accuracy", "gmean", "tpr", "tnr", "f1", "auc", "opm"]
    assert metrics.opm(true, predicted, score, sample_weight=weight) == pytest.approx(expected["opm"])


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=40))
def test_more_classes(rows):
    true, predicted = map(np.array, zip(*rows, strict=True))
    labels = np.union1d(true, predicted)
    expected = confusion_matrix(true, predicted, labels=labels)
    np.testing.assert_array_equal(metrics.confusion(true, predicted), expected)
    occurring = np.unique(true)
    recalls = recall_score(true, predicted, labels=occurring, average=None, zero_division=0)
    assert metrics.balanced_accuracy(true, predicted) == pytest.approx(recalls.mean())
    assert metrics.gmean(true, predicted) == pytest.approx(recalls.prod() ** (1 / len(recalls)))
    if len(labels) > 2:
        assert metrics.f1(true, predicted) == pytest.approx(f1_score(true, predicted, average="macro", zero_division=0))
    for label in occurring:
        expected = recall_score(true, predicted, labels=[label], average=None, zero_division=0)[0]
        assert metrics.tpr(true, predicted, pos_label=label) == pytest.approx(expected)


def test_the_order_of_labels_is_kept():
    counts = metrics.confusion(["a", "b", "b"], ["b", "b", "a"], labels=["b", "a"])
    assert counts.tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_measures_are_scorers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 1).astype(int)
    search = CostSearchCV(CGAdaClassifier(n_estimators=5), scoring=make_scorer(metrics.gmean), cv="training").fit(X, y)
    assert search.best_score_ == metrics.gmean(y, search.predict(X))


def test_one_class_has_no_area():
    assert np.isnan(metrics.auc([1, 1], [0.3, 0.4]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.confusion([0, 1], [0]), r"the same length, got shapes \(2,\), \(1,\)"),
        (lambda: metrics.confusion([], []), "must not be empty"),
        (lambda: metrics.confusion([0, 1], [0, 2], labels=[0, 1]), r"but 2 is not among \[0, 1\]"),
        (lambda: metrics.tpr([0, 1, 2], [0, 1, 2]), r"pos_label must be the positive class, one of \[0, 1, 2\]"),
        (lambda: metrics.auc([0, 1], [0.1, np.nan]), "y_score must not contain NaN, got NaN in row 1"),
        (lambda: metrics.f1([0, 1], [0, 1], sample_weight=[1]), "one value for each of the 2 rows"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def cost_by_hand(true, predicted, fp_cost, fn_cost, tp_cost, tn_cost, weight):
    """Row by row."""
    of_pair = {(False, True): fp_cost, (True, False): fn_cost, (True, True): tp_cost, (False, False): tn_cost}
    pairs = zip(true.tolist(), map(bool, predicted), strict=True)
    return sum(weight[i] * of_pair[pair][i] for i, pair in enumerate(pairs))


@given(rows, st.integers(0, 10**6))
def test_costs_and_savings_by_hand(rows, seed):
    true, predicted, _, weight = map(np.array, zip(*rows, strict=True))
    names = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")
    costs = dict(zip(names, np.random.default_rng(seed).uniform(0.1, 9.0, (4, len(true))), strict=True))
    given = {**costs, "pos_label": True, "sample_weight": weight}
    cost, zero, one = (
        cost_by_hand(true, each, *costs.values(), weight)
        for each in (predicted, np.zeros(len(true)), np.ones(len(true)))
    )
    assert metrics.cost_loss(true, predicted, **given) == pytest.approx(cost)
    assert metrics.cost_loss(true, predicted, normalize=True, **given) == pytest.approx(cost / weight.sum())
    assert metrics.naive_baseline(true, **given) == ("one" if one < zero else "zero", pytest.approx(min(zero, one)))
    for baseline, reference in (("zero_one", min(zero, one)), ("zero", zero), ("one", one)):
        score = metrics.savings_score(true, predicted, baseline=baseline, **given)
        assert score == pytest.approx(1 - cost / reference)


def test_savings_of_special_predictions():
    true, amount = np.array([0, 0, 0, 1, 1]), np.array([5.0, 5, 5, 10, 40])
    assert metrics.savings_score(true, true, fp_cost=1, fn_cost=amount) == 1.0
    assert metrics.savings_score(true, np.ones(5), fp_cost=1, fn_cost=amount) == 0.0  # always an alarm is the cheaper
    assert metrics.savings_score(true, np.zeros(5), fp_cost=100, fn_cost=amount) == 0.0
    assert np.isnan(metrics.savings_score(true, np.zeros(5), fp_cost=1, fn_cost=0))  # nothing to save
    assert metrics.cost_loss(true, 1 - true, fp_cost=1, fn_cost=amount) == 53.0
    assert metrics.savings_score(1 - true, true, fp_cost=1, fn_cost=amount, pos_label=0) < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fn_cost": [1, 2]}, r"fn_cost must be a number or one for each of the 5 rows, got the shape \(2,\)"),
        ({"fp_cost": np.nan}, "fp_cost must be finite, got nan"),
        ({"baseline": "best"}, "baseline must be 'zero_one', 'zero' or 'one', got 'best'"),
    ],
)
def test_errors_of_costs(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.savings_score([0, 0, 0, 1, 1], [0, 0, 0, 1, 0], **options)
    with pytest.raises(ValueError, match="y_true and y_pred must have the same length"):
        metrics.cost_loss([0, 0, 1], [0, 1])

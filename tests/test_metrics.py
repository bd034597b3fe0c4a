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
        (lambda: metrics.confusion([0, 1], [0]), "y_true and y_pred must have the same length, got 2 and 1"),
        (lambda: metrics.auc([0, 1], [0.5]), "y_true and y_score must have the same length, got 2 and 1"),
        (lambda: metrics.auc([0, 1], [[0.5, 0.5], [0.2, 0.8]]), r"y_score must .*, got the shape \(2, 2\)"),
        (lambda: metrics.confusion([0, 1], [0, 2], labels=[0, 1]), r"but 2 is not among \[0, 1\]"),
        (lambda: metrics.tpr([0, 1, 2], [0, 1, 2]), r"pos_label must be the positive class, one of \[0, 1, 2\]"),
        (lambda: metrics.auc([0, 1], [0.1, np.nan]), "y_score must not contain NaN, got NaN in row 1"),
        (lambda: metrics.gmean([0, np.nan], [0, 1]), "y_true must not contain NaN, got NaN in row 1"),
        (lambda: metrics.tnr([0, 1], [np.nan, 1]), "y_pred must not contain NaN, got NaN in row 0"),
        (lambda: metrics.f1([0, 1], [0, 1], sample_weight=[1]), "one value for each of the 2 rows"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


OF_LABELS = [metrics.confusion, metrics.tpr, metrics.tnr, metrics.balanced_accuracy, metrics.gmean, metrics.f1,
             metrics.cost_loss, metrics.savings_score]  # fmt: skip
OF_SCORES = [metrics.auc, lambda true, scores, **options: metrics.opm(true, true, scores, **options),
             lambda true, scores, **options: metrics.evaluate(true, true, scores, **options)]  # fmt: skip
OF_TRUE = [lambda true, _, **options: metrics.naive_baseline(true, **options)]


@pytest.mark.parametrize("measure", [*OF_LABELS, *OF_SCORES, *OF_TRUE])
class TestInvalidInput:
    """Every measure, as a table: what is no valid input is named."""

    def test_no_rows(self, measure):
        with pytest.raises(ValueError, match=r"y_true must have one value for each row, .* got the shape \(0,\)"):
            measure([], [])

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            ([1, -1, 1], "sample_weight must be not negative, got -1.0 in row 1"),
            ([1, 1, np.nan], "sample_weight must be finite, got nan in row 2"),
            ([np.inf, 1, 1], "sample_weight must be finite, got inf in row 0"),
            ([0, 0, 0], "sample_weight must not be zero for every row"),
            ([1, 1], "sample_weight must have one value for each of the 3 rows"),
        ],
    )
    def test_weights(self, measure, weight, message):
        with pytest.raises(ValueError, match=message):
            measure([0, 1, 1], [0, 1, 1], sample_weight=weight)


@pytest.mark.parametrize(
    "measure", [each for each in [*OF_LABELS, *OF_SCORES, *OF_TRUE] if each not in (
        metrics.confusion, metrics.balanced_accuracy, metrics.gmean)]
)  # fmt: skip
def test_a_positive_class_that_does_not_occur(measure):
    for pos_label in ("1", 2):
        with pytest.raises(ValueError, match=rf"pos_label must be one of the labels \[0, 1\], got {pos_label!r}"):
            measure([0, 1, 1], [0, 1, 1], pos_label=pos_label)
    with pytest.raises(ValueError, match="pos_label must be one of the labels"):
        measure([0, 0], [0, 0], pos_label="1")
    measure([0, 0], [0, 0], pos_label=1)  # a fold without positive rows


def test_savings_where_alerts_gain():
    """Each true positive gains 100: the perfect predictions gain more than the best constant one, a miss gains less."""
    true, gains = np.array([0, 0, 0, 1, 1]), {"fp_cost": 5, "tp_cost": -100}
    always = -2 * 100 + 3 * 5
    assert metrics.naive_baseline(true, **gains) == ("one", always)
    assert metrics.savings_score(true, true, **gains) == pytest.approx((200 + always) / -always)
    assert metrics.savings_score(true, np.ones(5), **gains) == 0.0
    assert metrics.savings_score(true, np.array([0, 0, 0, 0, 1]), **gains) == pytest.approx((100 + always) / -always)
    assert metrics.savings_score(true, np.zeros(5), **gains) == -1.0


@given(rows, st.integers(0, 10**6))
def test_savings_are_positive_where_predictions_cost_less(rows, seed):
    true, predicted, _, weight = map(np.array, zip(*rows, strict=True))
    names = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")
    costs = dict(zip(names, np.random.default_rng(seed).normal(0.0, 9.0, (4, len(true))), strict=True))
    given = {**costs, "pos_label": True, "sample_weight": weight}
    baseline, cost = metrics.naive_baseline(true, **given).cost, metrics.cost_loss(true, predicted, **given)
    score = metrics.savings_score(true, predicted, **given)
    assert np.sign(np.round(score, 9)) == np.sign(np.round(baseline - cost, 9))


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

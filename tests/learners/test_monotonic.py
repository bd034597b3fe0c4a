"""Monotonic constraints of stumps and trees: against a slow search, and on hostile data, swept over all bins."""

from itertools import pairwise

import numpy as np
import pytest
from support import largest_violation

import adacc
from adacc import kernels
from adacc.data.binning import BinMapper, NumericBins
from adacc.learners.splits import Splitter

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def hostile(seed, missing=0.3):
    """Few rows with few values, ties, gaps and weights; constraints of both signs, against the data or not."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(8, 60)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n_rows, n_features)) * rng.choice([1.0, 4.0], n_features))
    signal = np.nan_to_num(X) @ rng.normal(size=n_features) + rng.normal(size=n_rows)
    X[rng.random(X.shape) < missing * rng.integers(2)] = np.nan
    y = (signal > np.quantile(signal, rng.choice([0.3, 0.5, 0.8]))).astype(int)
    y[:2] = 0, 1
    weight = rng.choice([None, 1, 2]) and rng.exponential(size=n_rows) ** 2 + 1e-3
    return X, y, weight, rng.choice([-1, 0, 1], n_features)


OPTIONS = {
    "stump": {},
    "tree": {"max_depth": None},
    "float weights": {"max_depth": 4, "min_samples_leaf": 2},
    "drawn features": {"max_depth": None, "max_features": 1},
    "best first": {"max_leaf_nodes": 5, "max_depth": None},
    "entropy": {"max_depth": 3, "criterion": "entropy"},
    "error": {"max_depth": None, "criterion": "error"},
    "sampled stump": {"subsample": 0.4},
    "sampled tree": {"subsample": 0.4, "max_depth": None},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_no_model_breaks_its_constraints(options):
    broken, n_seeds = 0, 25 if hasattr(kernels.grow_tree, "compile") else 2
    for seed in range(n_seeds):
        X, y, weight, cst = hostile(seed)
        model = adacc.AdaCC2Classifier(n_estimators=8, random_state=seed, monotonic_cst=cst, **options)
        assert largest_violation(model.fit(X, y, weight), X, cst, n_rows=15) == 0.0, f"seed {seed}"
        free = adacc.AdaCC2Classifier(n_estimators=8, random_state=seed, **options).fit(X, y, weight)
        broken += largest_violation(free, X, cst, n_rows=15) > 0.0
    assert broken > n_seeds // 5  # else the sweep would find nothing


def best_split(X, y, weight, cst):
    """Gain, feature and threshold of the best split in order, each tried one by one."""

    def impurity(rows):
        by_class = np.bincount(y[rows], weight[rows], 2)
        return by_class.sum() - (by_class**2).sum() / by_class.sum() if rows.any() else 0.0

    best = (1e-12, None, None)
    for j in range(X.shape[1]):
        gaps, values = np.isnan(X[:, j]), np.unique(X[~np.isnan(X[:, j]), j])
        for low, high in pairwise(values):
            left, right = X[:, j] <= low, X[:, j] > low
            shares = [np.average(y[side], weights=weight[side]) for side in (left, right)]
            gain = impurity(np.full(len(y), True)) - impurity(left) - impurity(right) - impurity(gaps)
            if cst[j] * (shares[1] - shares[0]) >= 0 and gain > best[0] + 1e-12:
                best = (gain, j, (low + high) / 2)
    return best


@pytest.mark.parametrize("estimator", ["stump", "tree"])
def test_the_best_split_in_order_is_found(estimator):
    features = set()
    for seed in range(30):
        X, y, weight, _ = hostile(seed)
        X += np.random.default_rng(seed).normal(scale=0.01, size=X.shape)  # no ties
        weight = np.ones(len(y)) if weight is None else weight / weight.sum() * len(y)
        cst = np.where(np.arange(X.shape[1]) % 2 == seed % 2, 1, -1)
        _, feature, threshold = best_split(X, y, weight / weight.sum(), cst)
        model = adacc.AdaBoostClassifier(n_estimators=1, max_bins=None, estimator=estimator, monotonic_cst=cst)
        found = model.fit(X, y, weight).estimators_[0]
        if feature is None:
            continue
        if estimator == "tree":
            found = found._replace(feature=found.feature[0], threshold=found.threshold[0])
        if np.isfinite(found.threshold):  # else the split is of missing values only
            assert (found.feature, found.threshold) == (feature, pytest.approx(threshold))
            features.add(feature)
    assert len(features) > 2


def test_one_branch_of_a_constrained_node_is_a_leaf():
    """Else leaves further down could break the constraint; the purer branch is the leaf."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] + np.sin(4 * X[:, 1]) + rng.normal(size=500) > 0.5).astype(int)
    model = adacc.AdaBoostClassifier(max_depth=5, n_estimators=10, max_bins=32, monotonic_cst=[1, 0, -1]).fit(X, y)
    n_grown = 0
    for tree in model.estimators_:
        for node in np.flatnonzero(tree.feature == 0):
            low, high = tree.left[node], tree.right[node]
            low_is_leaf, high_is_leaf = tree.feature[low] < 0, tree.feature[high] < 0
            assert (low_is_leaf and tree.prediction[low] == 0) or (high_is_leaf and tree.prediction[high] == 1)
            n_grown += not (low_is_leaf and high_is_leaf)
    assert n_grown > 10


def test_rows_without_a_branch_keep_the_order():
    """Below the root, a node splits off missing values, which are of another class than the values 5 and 6.

    What it predicts for the value 0, of which it has no rows, must not be the class of the missing values.
    """
    counts = {(np.nan, 1.0, 1): 100, (0.0, 1.0, 1): 10, (5.0, 0.0, 1): 5, (6.0, 0.0, 1): 5, (np.nan, 0.0, 0): 40}
    table = np.repeat(list(counts), list(counts.values()), axis=0)
    X, y = table[:, :2], table[:, 2].astype(int)
    options = {"n_estimators": 1, "max_depth": 2, "criterion": "entropy"}
    asked = [[0.0, 0.0], [5.0, 0.0], [9.0, 0.0], [np.nan, 0.0]]
    for cst in (1, -1):
        model = adacc.AdaBoostClassifier(monotonic_cst=[cst, 0], **options).fit(X, y)
        assert model.predict(asked).tolist() == [1, 1, 1, 0]
    assert adacc.AdaBoostClassifier(**options).fit(X, y).predict(asked).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("sign", "by_bin", "expected"),
    [
        # weights of both classes in the bins 0, 1 and of missing values; classes of left, right, missing
        (1, [[0.1, 0.3], [0.3, 0.2], [0.1, 0.0]], [0, 0, 0]),  # not in order
        (-1, [[0.1, 0.3], [0.3, 0.2], [0.1, 0.0]], [1, 0, 0]),
        (1, [[0.2, 0.2 + 2e-12], [0.2, 0.2], [0.0, 0.2]], [1, 1, 1]),  # a tie, which the negative class wins
        (-1, [[0.0, 0.0], [0.1, 0.2], [0.7, 0.0]], [1, 1, 0]),  # no rows on the left
        (1, [[0.1, 0.2], [0.0, 0.0], [0.7, 0.0]], [1, 1, 0]),  # no rows on the right
        (1, [[0.0, 0.0], [0.1, 0.2], [0.7, 0.0]], [0, 1, 0]),
    ],
)
def test_the_leaves_of_a_stump_are_in_order(sign, by_bin, expected):
    splitter = Splitter(BinMapper((NumericBins(np.array([0.5])),)), 2, "gini", 0, (sign,))
    splitter.gains[0], splitter.cuts[0] = 1.0, 0  # as if this split had been found
    histogram = np.ascontiguousarray(np.array(by_bin).T)
    split, W = splitter.choose(histogram, np.ones(2))
    assert split == (0, 0, *expected)
    assert splitter.lookup(0).tolist() == expected
    np.testing.assert_allclose(W, histogram @ np.eye(2)[expected])

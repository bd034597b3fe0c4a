"""Gradient boosting of symmetric trees: against a plain implementation, and by its laws."""

from itertools import pairwise

import numpy as np
import pytest

import adacc
from adacc.boosting import gradient_boosting
from adacc.boosting.gradient_boosting import COST_EXPONENT, LEARNING_RATE, PENALTY, SUBSAMPLE, boost_gradients
from adacc.data.binning import BinMapper, CategoryBins, NumericBins
from adacc.data.rows import Rows
from adacc.learners.growth import Growth
from adacc.learners.tree import initial_random_state


def rows_and_bins(n_rows=120, seed=0):
    """Two numbers, one of them with gaps, a category, and a number of two values; class 1 is rare."""
    rng = np.random.default_rng(seed)
    numbers = [NumericBins(np.arange(n)) for n in (7.0, 5.0, 1.0)]
    features = numbers[0], numbers[1], CategoryBins(("a", "b", "c")), numbers[2]
    bins = np.array([
        rng.integers(0, 8, n_rows), rng.integers(0, 7, n_rows), rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    ], dtype=np.uint8)  # fmt: skip
    score = bins[0] * (bins[2] == 1) + bins[1] * (bins[3] == 1) + rng.normal(size=n_rows)
    y = (score > np.quantile(score, 0.75)).astype(int)
    order = np.argsort(y, kind="stable")
    weight = rng.integers(1, 4, n_rows).astype(float)
    rows = Rows.group(y[order], 2, weight)
    return np.ascontiguousarray(bins[:, order]), rows, BinMapper(features)


class Uniform:
    """Park and Miller's generator."""

    def __init__(self, state):
        self.state = int(state)

    def __call__(self):
        self.state = self.state * 48271 % 2147483647
        return self.state / 2147483647.0

    def normal(self):
        return np.sqrt(-2.0 * np.log(self())) * np.cos(2.0 * np.pi * self())


def reduction(gradient, weight):
    return gradient**2 / (weight + PENALTY)


def branches(column, cut, feature):
    if isinstance(feature, CategoryBins):
        return np.where(column == cut, 0, 1)
    return np.where(column == feature.n_bins - 1, 2, np.where(column <= cut, 0, 1))


def total_reduction(paths, g, w):
    return sum(reduction(g[paths == p].sum(), w[paths == p].sum()) for p in np.unique(paths))


def boost(bins, rows, features, depth, max_features, n_rounds, uniform):
    """The scores of the rows after each round, the conditions of each tree, and the recalls."""
    y, n_rows = rows.true.astype(float), len(rows.true)
    class_totals = np.array([rows.weight[y == k].sum() for k in (0, 1)])
    scores = np.full(n_rows, np.log(class_totals[1] / class_totals[0]))
    costs, order, found = np.ones(2), list(range(len(features))), []

    def error_rates():
        return [rows.weight[(y == k) & ((scores > 0) != k)].sum() / class_totals[k] for k in (0, 1)]

    rates = error_rates()
    for t in range(n_rounds):
        worse = int(rates[1] > rates[0])
        if rates[0] != rates[1]:
            costs[worse] *= (1.0 + rates[worse]) ** COST_EXPONENT
        weight = rows.weight * costs[rows.true]
        weight *= n_rows / weight.sum()
        gradient = y - 1.0 / (1.0 + np.exp(-scores))
        left = n_rows * np.exp(-t * LEARNING_RATE)
        noise = np.sqrt((weight * gradient**2).mean()) * left / (1.0 + left)
        drawn = np.array([uniform() < SUBSAMPLE for _ in range(n_rows)])
        g, w = weight * gradient * drawn, weight * drawn
        paths, conditions = np.zeros(n_rows, dtype=int), []
        for _ in range(depth):
            before, best = total_reduction(paths, g, w), (-np.inf, None, None)
            for j in range(max_features if max_features < len(order) else 0):
                other = j + int(uniform() * (len(order) - j))
                order[j], order[other] = order[other], order[j]
            for f in order[:max_features]:
                each = [
                    total_reduction(3 * paths + branches(bins[f], cut, features[f]), g, w)
                    for cut in range(features[f].n_bins - 1)
                ]
                if max(each) > before * (1.0 + 1e-9):
                    best = max(best, (np.sqrt(max(each)) + noise * uniform.normal(), f, int(np.argmax(each))))
            if best[1] is None:
                break
            conditions.append(best[1:])
            paths = 3 * paths + branches(bins[best[1]], best[2], features[best[1]])
        for p in np.unique(paths):
            inside, logit = paths == p, 0.0
            for _ in range(10):
                chance = 1.0 / (1.0 + np.exp(-scores[inside] - logit))
                slope = (weight[inside] * (y[inside] - chance)).sum()
                step = slope / ((weight[inside] * chance * (1.0 - chance)).sum() + PENALTY)
                logit += step
                if abs(step) < 1e-3:
                    break
            scores[inside] += LEARNING_RATE * logit
        rates = error_rates()
        found.append((scores.copy(), conditions, [1.0 - rate for rate in rates]))
    return found


def scores_after(ensemble, bins):
    """The scores of binned rows after each round, from the nodes."""
    scores = np.zeros(bins.shape[1])
    for t, vote in enumerate(ensemble.votes[:, 0]):
        nodes = ensemble.models.tree(t)
        for i in range(bins.shape[1]):
            node = 0
            while nodes["feature"][node] >= 0:
                f = nodes["feature"][node]
                feature = ensemble.models.bin_mapper.features[f]
                child = nodes["children"][node, branches(bins[f, i], nodes["cut"][node], feature)]
                if child < 0:
                    break
                node = child
            sign = 1.0 if nodes["class"][node] else -1.0
            scores[i] += sign * vote * (2.0 * nodes["confidence"][node] - 1.0)
        yield scores.copy()


@pytest.mark.parametrize("max_features", [None, 2])
def test_equal_to_a_plain_implementation(max_features):
    bins, rows, bin_mapper = rows_and_bins()
    growth = Growth(max_depth=3, max_features=max_features)
    made = boost_gradients(bins, rows, bin_mapper, growth, 12, seed=3)
    uniform = Uniform(initial_random_state(3, 0)[0])
    expected = boost(bins, rows, bin_mapper.features, 3, max_features or 4, 12, uniform)
    prior = np.log(rows.class_weight[1] / rows.class_weight[0])
    for t, (scores, (wanted, conditions, recall)) in enumerate(zip(scores_after(made, bins), expected, strict=True)):
        nodes = made.models.tree(t)
        used = {(int(node["feature"]), int(node["cut"])) for node in nodes[nodes["feature"] >= 0]}
        assert used == set(conditions)
        np.testing.assert_allclose(scores + prior, wanted, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(made.history["class_recall"][t], recall)


def test_class_weights_follow_the_cumulative_costs():
    bins, rows, bin_mapper = rows_and_bins(400, seed=1)
    history = boost_gradients(bins, rows, bin_mapper, Growth(None), 60, seed=0).history
    rates = 1.0 - history["class_recall"]
    costs, before = np.ones(2), np.array([0.0, 1.0])  # at first, all rows are predicted as the frequent class
    for t in range(60):
        worse = int(before[1] > before[0])
        costs[worse] *= (1.0 + before[worse]) ** (COST_EXPONENT if before[0] != before[1] else 0.0)
        weights = costs * rows.class_weight
        np.testing.assert_allclose(history["class_weight"][t], weights / weights.sum())
        before = rates[t]
    assert costs[1] > costs[0]
    assert abs(rates[-1, 0] - rates[-1, 1]) < abs(rates[20, 0] - rates[20, 1])


def test_every_round_lowers_the_log_loss():
    bins, rows, bin_mapper = rows_and_bins(300, seed=2)
    made = boost_gradients(bins, rows, bin_mapper, Growth(None), 40, seed=0)
    prior, sign = np.log(rows.class_weight[1] / rows.class_weight[0]), 2.0 * rows.true - 1.0
    losses, scores = [], np.zeros(len(sign))
    for scores_now, class_weight in zip(scores_after(made, bins), made.history["class_weight"], strict=True):
        weight = rows.weight * (class_weight / rows.class_weight)[rows.true]
        before, after = ((weight * np.log1p(np.exp(-sign * (s + prior)))).sum() for s in (scores, scores_now))
        losses.append((before, after))
        scores = scores_now
    assert all(after < before for before, after in losses)


def test_leaves_divide_the_vote_and_all_nodes_of_a_level_ask_the_same():
    bins, rows, bin_mapper = rows_and_bins(400)
    made = boost_gradients(bins, rows, bin_mapper, Growth(None), 20, seed=0)
    for first, last in pairwise(made.models.starts):
        nodes = made.models.nodes[first:last]
        leaves = nodes["feature"] < 0
        assert nodes["confidence"].max() == 1.0
        assert nodes["confidence"].min() >= 0.5
        assert len({tuple(map(int, (n["feature"], n["cut"]))) for n in nodes[~leaves]}) <= 4
        np.testing.assert_allclose(nodes["cover"][leaves].sum(), rows.weight.sum())
        assert nodes["cover"][0] == rows.weight.sum()


@pytest.mark.parametrize(
    ("growth", "n_rows", "depth"),
    [
        (Growth(max_depth=1), 500, 1),
        (Growth(None, max_leaf_nodes=5), 500, 2),
        (Growth(None), 500, 4),
        (Growth(None), 2000, 5),
        (Growth(max_depth=5), 30_000, 5),
        (Growth(None), 30_000, 6),
    ],
)
def test_depth_follows_the_rows_and_the_limits_of_growth(growth, n_rows, depth):
    made = boost_gradients(*rows_and_bins(n_rows), growth, 10, seed=0)
    deepest = 0
    for t in range(10):
        nodes = made.models.tree(t)
        depths = np.zeros(len(nodes), dtype=int)
        for node in np.flatnonzero(nodes["feature"] >= 0):  # children follow their parents
            children = nodes["children"][node]
            depths[children[children >= 0]] = depths[node] + 1
        deepest = max(deepest, depths.max())
    assert deepest == depth


def test_a_feature_without_information_gives_one_leaf():
    bins, rows, _ = rows_and_bins()
    made = boost_gradients(np.zeros_like(bins[:1]), rows, BinMapper((NumericBins(np.empty(0)),)), Growth(), 3, seed=0)
    assert np.diff(made.models.starts).tolist() == [1, 1, 1]


def test_the_number_of_nodes_is_limited(monkeypatch):
    """Leaf codes have eight bits, and missing values add branches."""
    monkeypatch.setattr(gradient_boosting, "DEPTH_RANGE", (7, 7))
    bins, rows, bin_mapper = rows_and_bins(5000)
    made = boost_gradients(bins, rows, bin_mapper, Growth(None), 5, seed=0)
    assert 100 < np.diff(made.models.starts).max() <= 256


def test_staged_scores_end_at_the_scores():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[::7, 0] = np.nan
    model = adacc.AdaCCForestClassifier(n_estimators=4, n_rounds=1, random_state=0).fit(X, X[:, 1] * X[:, 2] > 0.5)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-9)

"""Costs by row: round by round against the naive implementation, and as the costs by class that they generalise."""

import naive
import numpy as np
import pytest
from small_tables import DATA, WEIGHTS, clouds, recorded_samples
from support import ROUNDS, WITH_COSTS, assert_same, compare, run_engine, thinned, variants

import adacc
import adacc.boosting.samplers as samplers

BY_ROW = [name for name in WITH_COSTS if not name.startswith("adamec")]


def amounts(n_rows, seed=0):
    """Skewed costs, as amounts of money are, with equal ones and a zero."""
    cost = np.random.default_rng(seed).lognormal(size=n_rows)
    cost[::7], cost[3] = 1.0, 0.0
    return cost


def options_of(method):
    return [given for given in variants(method) if method != "adacost" or given["dialect"] == "paper"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("data", thinned(list(DATA), ["small integers", "mostly zero"]))
@pytest.mark.parametrize("method", BY_ROW)
def test_every_method_dialect_and_form(method, data, n_classes):
    X, y = DATA[data](n_classes)
    for given in options_of(method):
        compare(X, y, method, sample_cost=amounts(len(y)), **given)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", BY_ROW)
def test_sample_weights_class_costs_and_learning_rate(method, n_classes):
    X, y = clouds(n_classes, seed=5)
    costs = [3, 7] if n_classes == 2 else [3, 9, 7]
    weights = WEIGHTS[: len(y)]
    compare(X, y, method, sample_cost=amounts(len(y)), costs=costs, sample_weight=weights, learning_rate=0.6)


@pytest.mark.parametrize("method", ["csb2", "adac1"])
def test_categories_missing_ones_among_them(method):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 5, 45), rng.normal(size=45), rng.integers(0, 3, 45)]).astype(float)
    y = (np.isin(X[:, 0], [1, 3]) ^ (rng.random(45) < 0.2)).astype(int)
    X[rng.random(45) < 0.2, 2] = np.nan
    compare(X, y, method, categorical=(0, 2), sample_cost=amounts(45))


def test_many_rounds_do_not_drift():
    X, y = clouds(2, seed=9)
    cost = np.random.default_rng(0).uniform(0.8, 1.0, len(y))
    for method in ("csb2", "adac3", "adacost"):
        assert len(compare(X, y, method, sample_cost=cost, n_rounds=150)) > 20


@pytest.mark.compiled
@pytest.mark.parametrize("rates", ["training", "out-of-bag"])
@pytest.mark.parametrize("method", ["adacost", "adac1", "adac3"])
def test_rounds_that_see_a_part_of_the_rows(monkeypatch, method, rates):
    X, y = clouds(2)
    sample = recorded_samples(monkeypatch, samplers.Subsampler)
    common = {"sample_weight": WEIGHTS[: len(y)], "sample_cost": amounts(len(y))}
    common |= {"alpha": "cost"} if method == "adacost" else {}
    engine = run_engine(
        X, y, method, n_estimators=ROUNDS, max_bins=None, random_state=5, subsample=0.6, rates=rates, **common
    )
    oob = rates == "out-of-bag"
    oracle = naive.boost(X, y, method, n_rounds=ROUNDS, sample=sample, subsample=True, out_of_bag=oob, **common)
    assert_same(engine, oracle)


@pytest.mark.parametrize("multi_class", ["joint", "one_vs_one"])
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("method", BY_ROW)
def test_equal_costs_within_classes_are_costs_by_class(three, method, max_depth, multi_class):
    X, y = three
    costs = np.array([0.6, 1.0, 0.8])
    options = {"n_estimators": 8, "max_depth": max_depth, "multi_class": multi_class, "random_state": 0}
    by_class = adacc.BoostingClassifier(method, costs=costs.tolist(), **options).fit(X, y)
    by_row = adacc.BoostingClassifier(method, **options).fit(X, y, sample_cost=50 * costs[y])
    np.testing.assert_allclose(by_row.decision_function(X), by_class.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(by_row.history_["class_cost"], by_class.history_["class_cost"], rtol=1e-12)

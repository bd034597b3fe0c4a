"""Round by round against the slow transcription of the specification: split, vote, weights, scores."""

import naive
import numpy as np
import pytest
from small_tables import DATA, WEIGHTS, clouds, mostly_zero, recorded_samples
from support import ALIKE, DETERMINISTIC, ROUNDS, WITH_COSTS, assert_same, compare, run_engine, thinned, variants

import adacc.boosting.samplers as samplers


def methods_on_data():
    """In `make test` each method on clouds, and on gaps each that takes a way of its own through the engine."""
    for method in DETERMINISTIC:
        for data in DATA:
            in_short = data == "clouds" or (data == "gaps" and method not in ALIKE)
            yield pytest.param(method, data, marks=[] if in_short else [pytest.mark.thorough])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("method", "data"), [*methods_on_data()])
def test_every_method_dialect_and_form(method, data, n_classes):
    X, y = DATA[data](n_classes)
    costs = [0.4, 1.0] if n_classes == 2 else [0.4, 0.7, 1.0]
    for options in variants(method):
        compare(X, y, method, costs=costs, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", DETERMINISTIC)
def test_sample_weights_with_zeros(method, n_classes):
    X, y = clouds(n_classes, seed=5)
    costs = [3, 7] if n_classes == 2 else [3, 9, 7]
    compare(X, y, method, costs=costs, sample_weight=WEIGHTS[: len(y)], learning_rate=0.6)


@pytest.mark.parametrize("criterion", ["entropy", "error"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_criteria(criterion, n_classes):
    for data in DATA.values():
        X, y = data(n_classes)
        compare(X, y, "adacc2", criterion=criterion)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["adaboost", "adacc1", "rareboost", "adac2"])
def test_categories_missing_ones_among_them(method, n_classes):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 5, 45), rng.normal(size=45), rng.integers(0, 3, 45)]).astype(float)
    y = (np.isin(X[:, 0], [1, 3]) ^ (rng.random(45) < 0.2)).astype(int) + (n_classes == 3) * (X[:, 2] == 2)
    X[rng.random(45) < 0.2, 2] = np.nan
    X = np.column_stack([X, np.where(rng.random(45) < 0.1, rng.integers(1, 3, 45), 0)])  # a sparse one
    compare(X, y, method, categorical=(0, 2, 3), costs=[0.5, 1, 0.8][:n_classes])


@pytest.mark.parametrize("method", ["adaboost", "adacc1", "adamec"])
def test_ties_go_to_the_negative_class(method):
    """Symmetric data, where scores and leaves tie again and again."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=float)
    y = np.array([0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1])
    for negative_class in (0, 1):
        compare(X, y, method, costs=[1, 1], negative_class=negative_class)


def test_a_failing_first_learner_is_kept_with_vote_one():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = np.array([0, 1, 1, 0])
    for method in DETERMINISTIC:
        rounds = compare(X, y, method, costs=[1, 1])
        assert len(rounds) == 1
        assert rounds[0].alpha == [1.0, 1.0]


def test_a_perfect_learner_ends_boosting():
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    for method in DETERMINISTIC:
        if method != "adacost":  # whose vote with alpha="cost" may fail even here
            rounds = compare(X, y, method, costs=[1, 1])
            assert len(rounds) == 1


def test_many_rounds_do_not_drift():
    X, y = clouds(2, seed=9)
    for method in ("adacc1", "csb2", "adac3"):
        compare(X, y, method, costs=[0.9, 1.0], n_rounds=150)


def test_weights_that_shrink_for_errors_are_rebuilt():
    """With costs on errors and a small cost, a wrong row loses more than a right one: the additive update's trap."""
    X, y = clouds(2, seed=10)
    for method in ("csb1", "csb2"):
        rounds = compare(X, y, method, costs=[0.01, 1.0], costs_on="errors")
        assert len(rounds) > 1


def test_sparse_columns_for_many_rounds():
    """The commonest code's weight is a difference; it must stay one of the same accuracy."""
    X, y = mostly_zero(2)
    for method in ("adacc1", "csb2", "adac3"):
        compare(X, y, method, costs=[0.9, 1.0], n_rounds=150)


def test_only_infinite_votes_are_capped():
    """One prediction is never wrong, another hardly ever: the second keeps its vote."""
    X, y = np.repeat([[0.0], [1.0]], [4, 6], axis=0), np.array([0] * 4 + [1] * 5 + [0])
    rounds = compare(X, y, "rareboost", sample_weight=np.r_[np.full(9, 10.0), 0.01])
    assert rounds[0].alpha[1] > rounds[0].alpha[0]


def test_a_class_of_no_cost():
    X, y = clouds(3, seed=12)
    for method in WITH_COSTS:
        compare(X, y, method, costs=[0.0, 1.0, 0.5])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("method", "dialect", "sampler"),
    [
        ("rusboost", "paper", samplers.Subsampler),
        ("smoteboost", "paper", samplers.Smote),
        ("smoteboost", "authors", samplers.KeptSmote),
    ],
)
def test_sampling_methods(monkeypatch, method, dialect, sampler, n_classes, weighted):
    X, y = clouds(n_classes, seed=4)
    sample = recorded_samples(monkeypatch, sampler)
    options = {"n_synthetic": 7} if method == "smoteboost" else {}
    common = {"dialect": dialect, "sample_weight": WEIGHTS[: len(y)] if weighted else None}
    engine = run_engine(X, y, method, n_estimators=ROUNDS, max_bins=None, random_state=3, **options, **common)
    rounds = naive.boost(X, y, method, n_rounds=ROUNDS, sample=sample, **common)
    assert len(rounds) > 1
    assert_same(engine, rounds)


@pytest.mark.compiled
@pytest.mark.parametrize("rates", ["training", "out-of-bag"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("data", thinned(["clouds", "small integers", "gaps"], ["small integers"]))
@pytest.mark.parametrize("method", thinned(DETERMINISTIC))
def test_rounds_that_see_a_part_of_the_rows(monkeypatch, method, data, n_classes, rates):
    X, y = DATA[data](n_classes)
    weight = WEIGHTS[: len(y)]
    sample = recorded_samples(monkeypatch, samplers.Subsampler)
    common = {"costs": [0.4, 1.0] if n_classes == 2 else [0.4, 0.7, 1.0]} if method in WITH_COSTS else {}
    engine = run_engine(
        X, y, method, n_estimators=ROUNDS, max_bins=None, random_state=5, subsample=0.6, rates=rates,
        sample_weight=weight, **common,
    )  # fmt: skip
    oracle = naive.boost(
        X, y, method, n_rounds=ROUNDS, sample=sample, subsample=True, out_of_bag=rates == "out-of-bag",
        sample_weight=weight, **common,
    )  # fmt: skip
    assert_same(engine, oracle)

"""Rows on a cluster give the model that the same rows give in one memory, by however many workers and partitions."""

import numpy as np
import pytest
from on_dask import assert_same_model, in_chunks
from sklearn.exceptions import ConvergenceWarning
from support import ALIKE, DETERMINISTIC, thinned

import adacc
import adacc.distributed
from adacc.algorithms import METHODS

N_ROWS = 400
PARTITIONS = {"one": [150, 3, 247], "two": [1, 0, 200, 60, 139], "four": [57] * 7 + [1]}


def rows(n_classes=2, n_rows=N_ROWS, seed=0):
    """Numbers with more values than bins, some of them missing; and a column with few values."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_rows, p=[0.8, 0.2] if n_classes == 2 else [0.6, 0.3, 0.1])
    X = rng.normal(size=(n_rows, 4)) + y[:, None] * [0.9, -0.6, 0.3, 0.0]
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    X[:, 3] = np.round(X[:, 3])
    return X, y


def weights(n_rows=N_ROWS, seed=1):
    """Fractions, some of them zero."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 3.0, n_rows) * (rng.random(n_rows) < 0.9)


def options_of(method, y):
    """Mild costs, with which no method ends at once."""
    options = {"method": method, "n_estimators": 5, "max_bins": 32}
    if METHODS[method].rule.uses_costs:
        options["costs"] = dict(enumerate(np.linspace(0.7, 1.0, len(np.unique(y))).tolist()))
    return options


def fit_both(client, sizes, X, y, weight=None, **options):
    """The model of a cluster, and the local one."""
    given = in_chunks(sizes, X, y) if weight is None else in_chunks(sizes, X, y, weight)
    there = adacc.distributed.DaskBoostingClassifier(**options, client=client).fit(*given)
    return there, adacc.BoostingClassifier(**options).fit(X, y, sample_weight=weight)


def methods_on_workers():
    """In `make test` one method on one worker, and on two each that takes a way of its own through the engine."""
    for method in DETERMINISTIC:
        for workers in PARTITIONS:
            in_short = method not in ALIKE if workers == "two" else (method, workers) == ("adacc1", "one")
            yield pytest.param(method, workers, marks=[] if in_short else [pytest.mark.thorough])


@pytest.mark.parametrize(("method", "workers"), [*methods_on_workers()])
def test_any_number_of_workers_learns_the_local_model(request, workers, method):
    X, y = rows()
    found, local = fit_both(request.getfixturevalue(workers), PARTITIONS[workers], X, y, **options_of(method, y))
    assert_same_model(found, local)
    assert local.n_iter_ >= 3, "hardly boosted"
    np.testing.assert_allclose(found.to_local().predict_proba(X), local.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(found.to_local().predict(X), local.predict(X))


@pytest.mark.parametrize("method", thinned(DETERMINISTIC))
def test_weighted_rows_of_three_classes(two, method):
    X, y = rows(3)
    found, local = fit_both(two, PARTITIONS["two"], X, y, weights(), **options_of(method, y))
    assert_same_model(found, local)
    np.testing.assert_allclose(found.to_local().predict_proba(X), local.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("power", [-40, 9])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_times_a_power_of_two_change_no_answer(two, n_classes, power):
    X, y = rows(n_classes)
    options = options_of("cgada", y) | {"calibration": "sigmoid", "calibration_cv": "training"}
    models = []
    for weight in (weights(), np.ldexp(weights(), power)):
        given = in_chunks(PARTITIONS["two"], X, y, weight)
        models.append(adacc.distributed.DaskBoostingClassifier(**options, client=two).fit(*given).to_local())
    for ask in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(*(getattr(model, ask)(X) for model in models), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_rows_and_partitions_changes_no_answer(two, n_classes):
    X, y = rows(n_classes)
    X, weight = X + np.random.default_rng(2).normal(scale=1e-3, size=X.shape), weights()  # no ties, which order decides
    options, found = options_of("adacc1", y), []
    for order in (np.arange(len(y)), np.random.default_rng(0).permutation(len(y))):
        given = in_chunks(PARTITIONS["two"], X[order], y[order], weight[order])
        model = adacc.distributed.DaskBoostingClassifier(**options, client=two).fit(*given)
        found.append(model.to_local().predict_proba(X))
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_monotonic_constraints(two):
    X, y = rows()
    options = options_of("adacc1", y) | {"monotonic_cst": [-1, -1, 1, 0]}
    found, local = fit_both(two, PARTITIONS["two"], X, y, weights(), **options)
    assert_same_model(found, local)
    free = adacc.BoostingClassifier(**options | {"monotonic_cst": None}).fit(X, y, sample_weight=weights())
    assert free.estimators_ != local.estimators_
    assert all(stump.left >= stump.right for stump in found.estimators_ if stump.feature in (0, 1))
    with pytest.raises(ValueError, match="monotonic_cst must be None for more than two classes"):
        fit_both(two, PARTITIONS["two"], *rows(3), **options)


@pytest.mark.parametrize("n_classes", thinned([2, 3], [2]))
@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(two, kind, n_classes):
    X, y = rows(n_classes)
    options = {"method": "adacc1", "n_estimators": 5, "calibration": kind, "calibration_cv": "training"}
    found, local = fit_both(two, PARTITIONS["two"], X, y, weights(), **options)
    assert_same_model(found, local)
    np.testing.assert_allclose(found.to_local().predict_proba(X), local.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", thinned(["adacc1", "rareboost"], ["rareboost"]))
def test_rows_sorted_by_class_and_one_partition_a_row(two, method):
    """Most partitions lack a class; and there are more of them than anyone would make."""
    X, y = rows(3, n_rows=60)
    order = np.argsort(y, kind="stable")
    found, local = fit_both(two, [1] * 60, X[order], y[order], **options_of(method, y))
    assert_same_model(found, local)


@pytest.mark.parametrize("criterion", thinned(["entropy", "error"], ["entropy"]))
def test_other_parameters_reach_the_workers(two, criterion):
    X, y = rows()
    options = {"method": "adacc2", "n_estimators": 4, "criterion": criterion, "learning_rate": 0.4, "pos_label": 0}
    found, local = fit_both(two, PARTITIONS["two"], X, y, max_bins=None, **options)
    assert_same_model(found, local)
    assert found.fitted_model_.ensemble.negative_class == local.fitted_model_.ensemble.negative_class == 1


def test_a_first_stump_no_better_than_chance_is_said_once(two):
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    with pytest.warns(ConvergenceWarning) as caught:
        found, local = fit_both(two, [10, 30], X, y, method="adaboost")
    assert [w.filename for w in caught] == [__file__] * 2, "one of each, at the line that fits"
    assert_same_model(found, local)


# Bins.


MANY, RARE = 60_000, 41_234


def thresholds(model):
    return [feature.thresholds.tolist() for feature in model.fitted_model_.ensemble.models.bin_mapper.features]


def many_rows():
    """More rows than are drawn for bins: many values, as many as bins, and few, one of which is very rare."""
    rng = np.random.default_rng(2)
    y = (rng.random(MANY) < 0.1).astype(int)
    X = np.column_stack([
        rng.normal(size=MANY) + y,
        rng.integers(32, size=MANY),
        np.where(np.arange(MANY) == RARE, 7.5, rng.integers(5, size=MANY)),
        np.where(rng.random(MANY) < 0.2, np.nan, rng.exponential(size=MANY)),
    ])  # fmt: skip
    return X, y


WEIGHTS = {
    "none": lambda rng: None,
    "whole": lambda rng: rng.integers(0, 4, size=MANY).astype(float),
    "fractions": lambda rng: rng.uniform(0.0, 2.0, size=MANY),
    "equal": lambda rng: np.full(MANY, 3.3),
}


@pytest.mark.compiled
@pytest.mark.parametrize("kind", thinned(WEIGHTS, ["whole", "equal"]))
def test_bins_of_many_rows_come_from_the_local_draw(two, kind):
    X, y = many_rows()
    weight = WEIGHTS[kind](np.random.default_rng(3))
    if weight is not None:
        weight[RARE] = 1.0
    for sizes in ([25_000, 35_000], [1, 9_999, 0, 20_000, 7, 29_993]):
        found, local = fit_both(two, sizes, X, y, weight, method="adaboost", n_estimators=1, max_bins=32)
        assert thresholds(found) == thresholds(local)
        assert_same_model(found, local)
    assert [len(each) for each in thresholds(local)] == [31, 31, 5, 31]


@pytest.mark.parametrize("kind", thinned(["none", "equal", "fractions"], ["none"]))
def test_bins_of_few_rows_are_even_in_all_of_them(two, kind):
    """Rows that fill the bins exactly, so that a sum that is a little too small would move each threshold."""
    rng = np.random.default_rng(4)
    X, y = rng.permutation(960).reshape(-1, 1) + 0.0, rng.integers(2, size=960)
    weight = {"none": None, "equal": np.full(960, 3.3), "fractions": rng.choice([0.1, 0.3, 1.1], 960)}[kind]
    found, local = fit_both(two, [60] * 16, X, y, weight, method="adaboost", n_estimators=1, max_bins=32)
    assert thresholds(found) == thresholds(local)
    if kind != "fractions":
        assert thresholds(local) == [[29.5 + 30 * k for k in range(31)]]

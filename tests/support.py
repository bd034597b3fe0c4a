"""What several tests need: the engine's run recorded round by round, and compared with the naive one."""

from dataclasses import dataclass, fields

import naive
import numpy as np
import pandas as pd
import pytest

import adacc
from adacc.algorithms import METHODS
from adacc.boosting.session import train
from adacc.data.columns import read
from adacc.data.training_set import TrainingSet
from adacc.estimators.settings import read_settings

RANDOM = ("rusboost", "smoteboost")
DETERMINISTIC = [name for name in adacc.methods() if name not in RANDOM]
WITH_COSTS = [name for name in adacc.methods() if METHODS[name].rule.uses_costs]
ROUNDS = 12
ALIKE = ("cgada", "adamec", "csb1", "adacost", "adac1", "adac3", "adacc2", "adan-cc1", "adan-cc2", "adamec-cal")
"""Methods that take the same way through the engine as another one does."""


def thinned(values, thorough=ALIKE):
    """The parameters of a slow test, of which those that are much like another one are left to `make test-thorough`."""
    return [pytest.param(value, marks=pytest.mark.thorough) if value in thorough else value for value in values]


@dataclass
class Recorded:
    ensemble: object
    stumps: list
    weights_after: list
    scores: list


def run_engine(X, y, method, *, sample_weight=None, sample_cost=None, negative_class=0, **params):
    """Train as an estimator would, keeping every round's weights and scores in the order of the rows given."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = np.flatnonzero(weight)
    y = np.asarray(y)
    classes = np.unique(y[used])
    problem = TrainingSet(
        read(X).take(used), np.searchsorted(classes, y[used]), weight[used], classes, negative_class, used,
        cost=None if sample_cost is None else np.asarray(sample_cost, dtype=float)[used],
    )  # fmt: skip
    settings = read_settings(
        adacc.BoostingClassifier(method, **{"multi_class": "joint", **params}).get_params(deep=False)
    )
    weights_after, scores, merged = [], [], []

    def record(boosting, stops):
        if not weights_after:
            merged.append(merged_into(problem, boosting.backend.rows))
        shared = problem.weight / np.bincount(merged[0], problem.weight)[merged[0]]
        weights_after.append(boosting.backend.weights.values[merged[0]] * shared)
        scores.append(boosting.backend.score_tracker.scores.T[merged[0]].copy())
        return False

    ensemble = train(settings, problem, after_round=record).ensemble
    return Recorded(ensemble, ensemble.models.describe(classes), weights_after, scores)


def merged_into(problem, rows):
    """Where each of the problem's rows is among the engine's, in which equal ones of a class may be one."""
    keys = [
        (y, *map(str, row)) for y, row in zip(problem.y, pd.DataFrame(problem.table.native).to_numpy(), strict=True)
    ]
    place = {keys[row]: i for i, row in enumerate(rows.order)}
    if len(place) < len(rows.order):  # not merged: rows may be equal
        return np.argsort(rows.order)
    return np.array([place[key] for key in keys])


def variants(method):
    """All combinations of the options of a method's rule, dialects included."""
    result = [{}]
    for field in fields(METHODS[method].rule):
        result = [{**v, field.name: value} for v in result for value in METHODS[method].rule.allowed[field.name]]
    return result


def frame_of(X, categorical):
    """X with its categorical columns as strings, missing ones as None."""
    columns = {}
    for j in range(X.shape[1]):
        if j in categorical:
            columns[f"x{j}"] = [None if np.isnan(v) else f"c{int(v)}" for v in X[:, j]]
        else:
            columns[f"x{j}"] = X[:, j]
    return pd.DataFrame(columns)


def assert_same(engine, rounds, categorical=()):
    assert len(engine.stumps) == len(rounds)
    history = engine.ensemble.history
    for t, expected in enumerate(rounds):
        stump = engine.stumps[t]
        assert stump.feature == (None if expected.feature < 0 else expected.feature), f"round {t}"
        if expected.feature in categorical:
            assert stump.category == (None if np.isnan(expected.cut) else f"c{int(expected.cut)}")
            assert (stump.left, stump.right) == (expected.left, expected.right)
        elif expected.feature >= 0:
            assert stump.threshold == pytest.approx(expected.cut, rel=1e-14)
            assert (stump.left, stump.right, stump.missing) == (expected.left, expected.right, expected.missing)
        else:
            assert stump.left == expected.left
        close = {"rtol": 1e-9, "atol": 1e-13}
        np.testing.assert_allclose(engine.ensemble.votes[t], expected.alpha, **close)
        for name in ("weighted_error", "normaliser", "bound", "class_cost", "class_weight", "class_recall"):
            np.testing.assert_allclose(history[name][t], getattr(expected, name), err_msg=name, **close)
        np.testing.assert_allclose(engine.weights_after[t], expected.weights_after, **close)
        np.testing.assert_allclose(engine.scores[t], expected.scores, rtol=1e-9, atol=1e-12)


def compare(X, y, method, *, categorical=(), costs=None, negative_class=0, **options):
    table = frame_of(X, categorical) if categorical else X
    given = {"costs": costs} if METHODS[method].rule.uses_costs else {}
    common = {name: options[name] for name in options if name not in ("max_bins", "n_rounds")}
    n_rounds = options.get("n_rounds", ROUNDS)
    engine = run_engine(
        table,
        y,
        method,
        n_estimators=n_rounds,
        negative_class=negative_class,
        max_bins=options.get("max_bins"),
        **given,
        **common,
    )
    rounds = naive.boost(
        X, y, method, n_rounds=n_rounds, costs=costs, categorical=categorical, negative_class=negative_class, **common
    )
    assert_same(engine, rounds, categorical)
    return rounds


def largest_violation(model, X, monotonic_cst, n_rows=60, seed=0):
    """By how much the score or the probability of the second class goes against the constraints, 0 if never.

    Each constrained feature takes values in all its bins, with the other values of rows of X, and at random.
    """
    rng = np.random.default_rng(seed)
    mixed = [np.asarray(rng.permutation(X[:, j])[:n_rows]) for j in range(X.shape[1])]
    rows = np.concatenate([X[rng.permutation(len(X))[:n_rows]], np.column_stack(mixed)])
    worst = 0.0
    for j in np.flatnonzero(monotonic_cst):
        thresholds = model.fitted_model_.bin_mapper.features[j].thresholds
        values = np.concatenate([thresholds, [np.nextafter(max(thresholds, default=0.0), np.inf)]])
        swept = np.repeat(rows, len(values), axis=0)
        swept[:, j] = np.tile(values, len(rows))
        for scores in (model.decision_function(swept), model.predict_proba(swept)[:, 1]):
            steps = monotonic_cst[j] * np.diff(scores.reshape(len(rows), -1), axis=1)
            worst = max(worst, float(-steps.min(initial=0.0)))
    return worst

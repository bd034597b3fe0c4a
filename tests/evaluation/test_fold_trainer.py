"""A fold's methods, which share codes and fits, against the estimators one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score
from support import ALIKE, thinned

import adacc
from adacc.algorithms import METHODS
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.fold_trainer import FoldTrainer
from adacc.study.protocol import IN_TWO_DIALECTS, Variant, read_protocol

ROUNDS = (3, 8, 15)
COSTS = (0.2, 0.5, 1.0)
PROTOCOL = replace(read_protocol("paper"), rounds=ROUNDS, costs=COSTS)
VARIANTS = list(PROTOCOL.variants())


@pytest.fixture(scope="module")
def fold():
    rng = np.random.default_rng(3)
    y = (np.arange(500) % 7 == 0).astype(np.int8)
    X = pd.DataFrame(rng.normal(size=(500, 4)).round(1) + y[:, None] * [0.9, 0.5, 0.2, 0.0], columns=list("abcd"))
    X["town"] = pd.Categorical(np.where(rng.random(500) < 0.3 + 0.3 * y, "Bonn", "Kiel"))
    X["few"] = rng.integers(0, 2, 500)
    train, test = np.arange(400), np.arange(400, 500)
    return X.iloc[train], y[train], X.iloc[test], y[test]


@pytest.fixture(scope="module", params=["with categories", "numbers"])
def trainer(fold, request):
    X, y, X_test, _ = fold
    if request.param == "numbers":
        X, X_test = X.drop(columns="town"), X_test.drop(columns="town")
    return X, y, X_test, FoldTrainer(FoldData(X, y, X_test, list(ROUNDS), 5), PROTOCOL.training_options)


def model(variant, rounds, **params):
    return adacc.BoostingClassifier(
        variant.method, dialect=variant.dialect, n_estimators=rounds, pos_label=1, random_state=5, **params
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "variant", thinned(VARIANTS, [variant for variant in VARIANTS if variant.method in ALIKE]), ids="/".join
)
def test_scores_are_those_of_separate_fits_with_the_cost_of_best_training_f1(trainer, variant):
    X, y, X_test, ready = trainer
    found = ready.predict(*variant)
    assert list(found) == list(ROUNDS)
    for T in ROUNDS:
        if METHODS[variant.method].rule.uses_costs:
            tries = [model(variant, T, costs={0: cost, 1: 1.0}).fit(X, y) for cost in COSTS]
            f1 = [f1_score(y, each.predict(X), zero_division=0.0) for each in tries]
            best = int(np.argmax(f1))
            assert found[T].cost == COSTS[best], f1
            expected = tries[best]
        else:
            assert found[T].cost is None
            # SMOTEBoost draws for all its rounds at once: a fit of fewer rounds would have other rows.
            expected = model(variant, ROUNDS[-1] if variant.method == "smoteboost" else T).fit(X, y)
            fitted = expected.fitted_model_
            expected.fitted_model_ = replace(fitted, ensemble=fitted.ensemble.first(T))
        np.testing.assert_allclose(found[T].scores, expected.decision_function(X_test), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found[T].probabilities, expected.predict_proba(X_test)[:, 1], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found[T].scores > 0, expected.predict(X_test) == 1)


def test_costs_take_effect_and_methods_differ(trainer):
    *_, ready = trainer
    last = {variant: tuple(ready.predict(*variant)[ROUNDS[-1]].scores) for variant in VARIANTS}
    assert len({last[Variant(method, "paper")] for method in ("adaboost", "adacc1", "adacc2", "cgada", "csb1")}) == 5


@pytest.mark.parametrize("method", PROTOCOL.methods)
def test_dialects_are_told_apart_where_they_differ_and_only_there(fold, method):
    X, y, X_test, _ = fold
    costs = {"costs": {0: 0.4, 1: 1.0}} if METHODS[method].rule.uses_costs else {}
    both = [model(Variant(method, dialect), 15, **costs).fit(X, y) for dialect in ("paper", "authors")]
    same = np.array_equal(*(each.decision_function(X_test) for each in both))
    assert same == (method not in IN_TWO_DIALECTS)


def test_tuned_on_a_validation_part_every_method_trains_on_the_rest(fold):
    X, y, X_test, _ = fold
    protocol = replace(PROTOCOL, tuned_on="validation")
    ready = FoldTrainer(FoldData(X, y, X_test, list(ROUNDS), 5), protocol.training_options)
    assert len(ready.problem.y) + len(ready.held_out.y) == len(y)
    assert len(ready.held_out.y) == pytest.approx(0.4 * len(y), abs=2)
    train, watched = ready.problem.numbers, ready.held_out.numbers
    np.testing.assert_array_equal(np.sort(np.concatenate([train, watched])), np.arange(len(y)))
    plain = model(Variant("adacc1", "paper"), 15).fit(X.iloc[train], y[train])
    np.testing.assert_allclose(ready.predict("adacc1")[15].scores, plain.decision_function(X_test))
    for method in ("cgada", "cgada-cal", "adamec", "adamec-cal"):
        found = ready.predict(method)[15]
        tries = [
            model(Variant(method, "paper"), 15, costs={0: cost, 1: 1.0}).fit(X.iloc[train], y[train]) for cost in COSTS
        ]
        f1 = [f1_score(y[watched], each.predict(X.iloc[watched]), zero_division=0.0) for each in tries]
        assert found.cost == COSTS[int(np.argmax(f1))]
        np.testing.assert_allclose(found.scores, tries[int(np.argmax(f1))].decision_function(X_test), atol=1e-9)

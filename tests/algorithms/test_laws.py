"""What must hold for every rule, whatever the weights: checked over the whole registry."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import thinned, variants

from adacc.algorithms import METHODS
from adacc.algorithms.adacc import AdaCC1
from adacc.algorithms.catalog import resolve_options

RULES = list(dict.fromkeys(resolve_options(name, options)[1] for name in METHODS for options in variants(name)))
DEFAULTS = [resolve_options(name, {})[1] for name in METHODS]
each_rule = pytest.mark.parametrize(
    "rule",
    thinned(RULES, [rule for rule in RULES if rule not in DEFAULTS]),
    ids=[f"{type(r).__name__}-{i}" for i, r in enumerate(RULES)],
)


def every_rule(test):
    """Each rule with so many examples: there are many rules."""
    return each_rule(settings(max_examples=25)(test))


@st.composite
def masses(draw, n_classes=None):
    """Weights by true and predicted class that a learner better than chance may have."""
    k = n_classes or draw(st.integers(2, 4))
    cells = draw(st.lists(st.floats(0.0, 1.0), min_size=k * k, max_size=k * k))
    W = np.array(cells).reshape(k, k) + 0.01 + 2.0 * k * np.eye(k)
    return W / W.sum()


@st.composite
def masses_and_costs(draw):
    W = draw(masses())
    costs = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=len(W), max_size=len(W))))
    return W, costs / costs.max()


def costs_of_round(rule, costs):
    """Costs as the loop would hand them over: the user's, or from error rates."""
    return rule.round_costs(1.0 - costs) if rule.costs_follow else costs


@every_rule
@given(case=masses_and_costs())
def test_a_vote_that_is_made_once_does_not_depend_on_the_costs_of_the_round(rule, case):
    W, costs = case
    if rule.costs_follow and not rule.costs_vote:
        assert rule.vote(W, costs_of_round(rule, costs)) == rule.vote(W, np.ones_like(costs))


def test_a_new_vote_is_made_again_once_the_costs_are_known():
    class ByCost(AdaCC1):
        def vote(self, W, costs):
            return float(costs.max())

    assert [rule.costs_vote for rule in (ByCost(), AdaCC1(), AdaCC1(alpha="cost"))] == [True, False, True]


@every_rule
@given(case=masses_and_costs())
def test_factors_are_finite_and_keep_a_distribution(rule, case):
    W, costs = case
    costs = costs_of_round(rule, costs)
    alpha = rule.vote(W, costs)
    if alpha is None:
        return
    alpha = np.minimum(alpha, 20.0)
    assert np.all(alpha >= 0.0)
    F = rule.factors(alpha, costs)
    assert F.shape == W.shape
    assert np.isfinite(F).all()
    assert (F >= 0.0).all()
    assert (F * W).sum() > 0.0
    assert rule.initial(costs).shape == rule.decision(costs).shape == costs.shape


@every_rule
@given(case=masses_and_costs())
def test_a_wrong_row_never_gets_less_than_a_right_one_of_its_class(rule, case):
    """All methods promise it but CSB with costs on errors, where the cost is on one side only."""
    W, costs = case
    if getattr(rule, "costs_on", "all") == "errors":
        return
    alpha = rule.vote(W, costs_of_round(rule, costs))
    if alpha is not None:
        F = rule.factors(np.minimum(alpha, 20.0), costs_of_round(rule, costs))
        assert (np.diag(F)[:, None] * (1.0 - 1e-12) <= F).all()


@every_rule
@given(W=masses(n_classes=2), costs=st.tuples(st.floats(0.05, 1.0), st.floats(0.05, 1.0)))
def test_swapping_the_classes_swaps_everything(rule, W, costs):
    costs = np.array(costs) / max(costs)
    one, other = costs_of_round(rule, costs), costs_of_round(rule, costs[::-1])
    np.testing.assert_allclose(one[::-1], other)
    alpha, swapped = rule.vote(W, one), rule.vote(W[::-1, ::-1], other)
    assert (alpha is None) == (swapped is None)
    if alpha is not None:
        np.testing.assert_allclose(np.broadcast_to(alpha, 2)[::-1], np.broadcast_to(swapped, 2), rtol=1e-9)
        np.testing.assert_allclose(rule.factors(alpha, one)[::-1, ::-1], rule.factors(swapped, other), rtol=1e-9)


PLAIN_WITH_EQUAL_COSTS = ("cgada", "adamec", "csb2", "adac1", "adac2", "adac3")


@pytest.mark.parametrize("name", PLAIN_WITH_EQUAL_COSTS)
@given(W=masses())
def test_equal_costs_give_adaboost(name, W):
    rule, adaboost = resolve_options(name, {})[1], resolve_options("adaboost", {})[1]
    ones = np.ones(len(W))
    alpha, expected = rule.vote(W, ones), adaboost.vote(W, ones)
    assert alpha == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(rule.factors(alpha, ones), adaboost.factors(expected, ones), rtol=1e-9)


@every_rule
@given(case=masses_and_costs())
def test_bounded_rules_have_factors_of_at_least_adaboosts(rule, case):
    W, costs = case
    costs = costs_of_round(rule, costs)
    alpha = rule.vote(W, costs)
    if rule.bounded and alpha is not None:
        alpha = min(alpha, 20.0)
        F = rule.factors(alpha, costs)
        assert (np.diag(F) >= np.exp(-alpha) * (1 - 1e-12)).all()
        assert (F[~np.eye(len(F), dtype=bool)] >= np.exp(alpha) * (1 - 1e-12)).all()


def test_the_dialects_differ_where_the_specification_says_so():
    differing = set()
    W, costs = np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([0.4, 1.0])
    for name in METHODS:
        paper, authors = (resolve_options(name, {"dialect": dialect})[1] for dialect in ("paper", "authors"))
        C = costs_of_round(paper, costs)
        alphas = paper.vote(W, C), authors.vote(W, C)
        same_vote = np.array_equal(alphas[0], alphas[1])
        if not same_vote or not np.array_equal(paper.factors(alphas[0], C), authors.factors(alphas[0], C)):
            differing.add(name)
    assert differing == {"adacc1", "adan-cc1", "csb1", "adac1", "adac3", "adacost", "smoteboost"}


def test_every_option_of_every_rule_is_declared():
    for rule in RULES:
        for field in fields(rule):
            assert field.name in rule.allowed

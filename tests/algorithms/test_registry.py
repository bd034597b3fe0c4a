import pytest

import adacc
from adacc.algorithms import METHODS
from adacc.algorithms.adac import AdaC2
from adacc.algorithms.catalog import resolve_options

NAMES = [
    "adaboost", "cgada", "adamec", "csb1", "csb2", "adacost", "adac1", "adac2", "adac3", "rareboost", "adacc1",
    "adacc2", "adan-cc1", "adan-cc2", "adamec-cal", "cgada-cal", "rusboost", "smoteboost",
]  # fmt: skip


def test_all_methods_are_there():
    assert adacc.methods()[: len(NAMES)] == NAMES


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(ValueError, match=r"method 'adac' is unknown: did you mean .*'adac1'"):
        resolve_options("adac", {})
    with pytest.raises(ValueError, match="known are adaboost, cgada"):
        resolve_options("xgboost or so", {})
    with pytest.raises(TypeError, match="method must be a name or a Rule, got int: 3"):
        resolve_options(3, {})


def test_dialect_is_accepted_by_every_method():
    for name in METHODS:
        assert resolve_options(name, {"dialect": "authors"})[1].dialect == "authors"


def test_an_option_that_a_method_lacks_is_an_error_that_says_whose_it_is():
    with pytest.raises(ValueError, match=r"adacc1 has no option 'costs_on' \(given 'all'\); it belongs to csb1, csb2"):
        resolve_options("adacc1", {"costs_on": "all"})
    for name, option, value in [
        ("adacc1", "costs", "balanced"),
        ("adac2", "alpha", "cost"),
    ]:
        with pytest.raises(ValueError, match=f"{name} has no option '{option}'"):
            resolve_options(name, {option: value})


def test_a_wrong_value_is_an_error_that_lists_the_right_ones():
    with pytest.raises(ValueError, match="alpha must be 'error' or 'cost', got 'costs'"):
        resolve_options("adacc1", {"alpha": "costs"})


def test_a_rule_object_brings_its_own_options():
    _, rule, options = resolve_options(AdaC2(dialect="authors"), {})
    assert rule == AdaC2(dialect="authors")
    assert options["costs"] == "balanced"

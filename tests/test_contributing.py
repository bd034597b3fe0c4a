"""CONTRIBUTING.md shows how a method is added; this adds it, with the very lines that stand there."""

import re
from dataclasses import dataclass
from pathlib import Path

import naive
import numpy as np
import pytest
from support import compare, variants

import adacc.estimators.classifiers as classifiers
from adacc.estimators.base import BaseBoosting
from adacc.estimators.parameters import OWN, parameters
from adacc.rules import METHODS, Method, Rule

BLOCKS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8"), re.S)


@pytest.fixture
def rootcost(monkeypatch):
    rule, line, estimator, twin = BLOCKS
    names = {"Method": Method, "__name__": __name__}
    exec(rule, names)
    monkeypatch.setitem(METHODS, *next(iter(eval("{" + line + "}", names).items())))
    exec(estimator, scope := dict(vars(classifiers)))
    exec(twin, theirs := vars(naive) | {"FIXED_COSTS": {}})
    monkeypatch.setitem(naive.FIXED_COSTS, "rootcost", theirs["rootcost"])
    return scope["RootCostClassifier"]


def test_the_rule_is_about_ten_lines():
    code = [line for line in BLOCKS[0].splitlines() if line.strip() and "import" not in line]
    assert len(code) <= 10


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_example_is_a_method_like_any_other(rootcost, request, n_classes):
    X, y = request.getfixturevalue("rare" if n_classes == 2 else "three")
    for options in variants("rootcost"):
        compare(X[:60], y[:60], "rootcost", costs=[0.5, 1.0, 0.8][:n_classes], **options)
    model = rootcost(n_estimators=5, costs="balanced").fit(X, y)
    assert model.n_iter_ == 5
    assert "Only their ratios matter" in rootcost.__doc__


def test_an_option_of_ones_own_reaches_the_rule(rare, monkeypatch):
    @dataclass(frozen=True)
    class Power(Rule):
        power: str = "low"

        def factors(self, alpha, costs):
            return super().factors(alpha * (3.0 if self.power == "high" else 1.0), costs)

    monkeypatch.setitem(METHODS, "power", Method(Power))
    with pytest.raises(TypeError, match="the parameter 'power', which OWN does not describe"):
        powerful_class()
    monkeypatch.setitem(OWN, "power", 'str, default="low"')
    low, high = (powerful_class()(power=power, n_estimators=5).fit(*rare) for power in ("low", "high"))
    assert not np.allclose(low.estimator_errors_, high.estimator_errors_)


def powerful_class():
    @parameters
    class PowerClassifier(BaseBoosting):
        power: str = "low"
        _method = "power"

    return PowerClassifier

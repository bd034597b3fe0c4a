"""CONTRIBUTING.md shows how a method is added; this adds it, with the very lines that stand there."""

import re
from pathlib import Path

import naive
import numpy as np
import pytest
from support import run_engine

import adacc.estimators.classifiers as classifiers
from adacc.rules import METHODS, Method

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


def test_the_example_is_a_method_like_any_other(rootcost, rare):
    X, y = rare
    engine = run_engine(X[:60], y[:60], "rootcost", n_estimators=8, costs=[0.5, 1], max_bins=None)
    rounds = naive.boost(X[:60], y[:60], "rootcost", n_rounds=8, costs=[0.5, 1])
    np.testing.assert_allclose(engine.ensemble.history["alpha"], [r.alpha[0] for r in rounds])
    np.testing.assert_allclose(engine.weights_after[-1], rounds[-1].weights_after)
    model = rootcost(n_estimators=5, costs={0: 1, 1: 2}).fit(X, y)
    assert model.n_iter_ == 5
    assert "Only their ratios matter" in rootcost.__doc__

"""CONTRIBUTING.md shows how a method is added; this adds it, with the very lines that stand there."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import naive
import numpy as np
import pandas as pd
import pytest
from support import compare, variants

import adacc
import adacc.estimators.classifiers as classifiers
from adacc.algorithms import METHODS, Method, Rule
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.parameters import OWN, parameters

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


def edit(file, old, new):
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def edited(tmp_path):
    """A copy of the sources after the steps; the kernels, which no step touches, keep their machine code."""
    source, copied = Path(adacc.__file__).parent, tmp_path / "src" / "adacc"
    shutil.copytree(source, copied, ignore=shutil.ignore_patterns("__pycache__", "kernels"))
    (copied / "kernels").symlink_to(source / "kernels")
    rule, line, estimator, _ = BLOCKS
    (copied / "algorithms" / "rootcost.py").write_text(rule, "utf-8")
    registry = copied / "algorithms" / "catalog.py"
    edit(registry, "\n\n@dataclass", "from adacc.algorithms.rootcost import RootCost\n\n\n@dataclass")
    edit(registry, '] = {\n    "adaboost"', f'] = {{\n    {line}    "adaboost"')
    with (copied / "estimators" / "classifiers.py").open("a", encoding="utf-8") as file:
        file.write(estimator)
    edit(copied / "__init__.py", '    "RUSBoostClassifier",', '    "RUSBoostClassifier",\n    "RootCostClassifier",')
    return copied.parent


@pytest.mark.compiled
def test_the_command_line_knows_the_example(edited, tmp_path, rare):
    X, y = rare
    pd.DataFrame(X).add_prefix("x").assign(ill=y).to_csv(tmp_path / "rows.csv", index=False)
    commands = [
        ["methods"],
        ["methods", "rootcost"],
        ["compare", "rows.csv", "--target", "ill", "--methods", "rootcost,adaboost,logistic-regression",
         "--rounds", "3", "--jobs", "1", "--quiet", "--report", "compared.html"],
        ["train", "rows.csv", "--target", "ill", "--method", "rootcost", "--rounds", "3", "--model", "rootcost.adacc"],
        ["explain", "rootcost.adacc", "rows.csv", "--row", "1", "--report", "explained.html"],
    ]  # fmt: skip
    run = "import json, sys; from adacc.cli import main; sys.exit(max(map(main, json.loads(sys.argv[1]))))"
    done = subprocess.run(
        [sys.executable, "-c", run, json.dumps(commands)], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(edited), "PYTHONIOENCODING": "utf-8"}, encoding="utf-8",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "adacc: ignored: ill\n")
    for said in ("shown as RootCost", "method: rootcost, 3 of 3 rounds", "explained.html: the same with charts"):
        assert said in done.stdout
    for report in ("compared.html", "explained.html"):
        assert "RootCost" in (tmp_path / report).read_text("utf-8")


def test_an_option_of_ones_own_reaches_the_rule(rare, monkeypatch):
    @dataclass(frozen=True)
    class Power(Rule):
        power: str = "low"

        def factors(self, alpha, costs):
            return super().factors(alpha * (3.0 if self.power == "high" else 1.0), costs)

    monkeypatch.setitem(METHODS, "power", Method(Power, "Power"))
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

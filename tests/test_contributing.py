"""CONTRIBUTING.md shows how to add a method and a weak learner; this adds them with the very lines that stand there."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import indent
from types import ModuleType

import naive
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from support import compare, variants

import adacc
import adacc.estimators.classifiers as classifiers
from adacc.algorithms import METHODS, Method, Rule
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.parameters import METHOD_OPTIONS, parameters
from adacc.learners.catalog import LEARNERS, NativeLearner

BLOCKS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8"), re.S)


@pytest.fixture
def rootcost(monkeypatch):
    rule, line, estimator, twin, *_ = BLOCKS
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
    assert "Only the ratios of the costs" in rootcost.__doc__


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
    rule, line, estimator, *_ = BLOCKS
    (copied / "algorithms" / "rootcost.py").write_text(rule, "utf-8")
    registry = copied / "algorithms" / "catalog.py"
    edit(registry, "\n\n@dataclass", "from adacc.algorithms.rootcost import RootCost\n\n\n@dataclass")
    edit(registry, '] = {\n    "adaboost"', "] = {\n" + indent(line, "    ") + '    "adaboost"')
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
    assert (done.returncode, done.stderr) == (0, "adacc: ignored columns: ill\n")
    for said in ("shown as RootCost", "method: rootcost, 3 of 3 rounds", "Report: explained.html"):
        assert said in done.stdout
    for report in ("compared.html", "explained.html"):
        assert "RootCost" in (tmp_path / report).read_text("utf-8")


def test_an_option_of_ones_own_reaches_the_rule(rare, monkeypatch):
    @dataclass(frozen=True)
    class Power(Rule):
        power: str = "low"

        def factors(self, alpha, costs):
            return super().factors(alpha * (3.0 if self.power == "high" else 1.0), costs)

    monkeypatch.setitem(METHODS, "power", Method(Power, "Power", "PowerClassifier", "an example", ""))
    with pytest.raises(TypeError, match="the parameter 'power', which METHOD_OPTIONS does not describe"):
        powerful_class()
    monkeypatch.setitem(METHOD_OPTIONS, "power", 'str, default="low"')
    low, high = (powerful_class()(power=power, n_estimators=5).fit(*rare) for power in ("low", "high"))
    assert not np.allclose(low.estimator_errors_, high.estimator_errors_)


def powerful_class():
    @parameters
    class PowerClassifier(BaseBoosting):
        power: str = "low"
        _method = "power"

    return PowerClassifier


@pytest.fixture
def oblique(monkeypatch):
    """The weak learner of the guide, in the catalogue."""
    code, line = BLOCKS[4:]
    module = ModuleType("adacc.learners.oblique")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(code, vars(module))
    entry = eval("{" + line + "}", vars(module) | {"NativeLearner": NativeLearner})
    monkeypatch.setitem(LEARNERS, *next(iter(entry.items())))


@pytest.fixture
def diagonal():
    """Rows that one split of a single feature cannot tell apart."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    return X, (X[:, 0] + X[:, 2] > 1.0).astype(int)


def test_a_weak_learner_of_the_guide_is_trained_by_every_method(oblique, diagonal):
    X, y = diagonal
    for method in adacc.methods():
        if method == "smoteboost":
            continue  # the example ignores synthetic rows
        options = {"subsample": 0.8} if method == "adacc2" else {}
        model = adacc.BoostingClassifier(method, estimator="oblique", n_estimators=3, random_state=0, **options)
        stumps = adacc.BoostingClassifier(method, n_estimators=3, random_state=0, **options)
        scores = [balanced_accuracy_score(y, each.fit(X, y).predict(X)) for each in (model, stumps)]
        assert scores[0] > (scores[1] if method == "adaboost" else 0.85), method
    assert model.estimators_[0]["first"] == 0
    assert model.estimators_[0]["second"] == 2


def test_its_first_split_is_the_best_there_is(oblique, diagonal):
    X, y = diagonal
    model = adacc.BoostingClassifier("adaboost", estimator="oblique", n_estimators=1, max_bins=None).fit(X, y)
    ranks = np.array([np.searchsorted(np.unique(column), column) for column in X.T])
    errors = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        sums = ranks[i] + ranks[j]
        wrong = [np.mean((sums > cut) != y) for cut in np.unique(sums)]
        errors += [*wrong, *(1.0 - np.array(wrong))]
    assert model.estimator_errors_[0] == pytest.approx(min(errors), abs=1e-12)


def test_it_is_saved_resumed_stopped_early_and_calibrated(oblique, diagonal, tmp_path):
    X, y = diagonal
    make = partial(adacc.BoostingClassifier, "adacc1", estimator="oblique", random_state=0)
    model = make(n_estimators=6, calibration="sigmoid").fit(X, y)
    model.save(tmp_path / "oblique.adacc")
    again = adacc.load(tmp_path / "oblique.adacc")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    resumed = make(n_estimators=3, warm_start=True).fit(X, y).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(resumed.decision_function(X), model.decision_function(X), rtol=1e-9)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), rtol=1e-9)
    assert make(n_estimators=50, n_iter_no_change=2).fit(X, y).n_iter_ < 50
    with pytest.raises(ValueError, match="need the weak learners of adacc"):
        model.explain(X)


def test_an_unknown_learner_is_refused(diagonal):
    with pytest.raises(ValueError, match=r"^estimator must be 'stump' or 'tree', got 'oblique'"):
        adacc.BoostingClassifier(estimator="oblique").fit(*diagonal)

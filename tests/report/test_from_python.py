"""`adacc.compare`: the comparison of data in memory."""

import json
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import balanced_accuracy_score

import adacc
from adacc.cli.main import main
from adacc.report.from_python import compare

pytestmark = pytest.mark.compiled


def data(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    X["town"] = rng.choice(["north", "south", None], n_rows)
    X.loc[::9, "b"] = np.nan
    y = np.where(X["a"] + (X["town"] == "north") + rng.normal(0, 0.5, n_rows) > 1.2, "ill", "well")
    return X, y


@pytest.mark.parametrize("kind", [object, "Int64", "boolean", "string", "int64[pyarrow]", "decimal"])
def test_columns_are_read_as_by_fit(kind):
    X, y = data()
    number = (X["a"] * 3).round().where(X["b"] > -1.5)
    plain = {"boolean": number > 0, "string": number.map(lambda v: f"v{v:.0f}", na_action="ignore")}.get(kind, number)
    column = plain.where(number.notna()).astype(object).where(number.notna(), None)
    if kind == "decimal":
        column = column.map(lambda v: None if v is None else Decimal(int(v)))
        kind = pd.ArrowDtype(pa.decimal128(10, 2))
    options = {"methods": ["adacc1", "logistic-regression", "lightgbm"], "folds": 2, "n_estimators": 5}
    found = compare(pd.DataFrame({"x": column.astype(kind), "c": X["c"]}), y, **options)
    assert all(each["metrics"] for each in found.result["methods"])
    if kind in ("boolean", "string"):
        expected = compare(pd.DataFrame({"x": column.astype("category"), "c": X["c"]}), y, **options)
    else:
        expected = compare(pd.DataFrame({"x": number, "c": X["c"]}), y, **options)
    for one, other in zip(found.result["methods"], expected.result["methods"], strict=True):
        assert one["metrics"]["auc"] == other["metrics"]["auc"]


def test_the_table_and_the_verdict_are_those_of_the_command(tmp_path):
    X, y = data()
    X.assign(state=y).to_csv(tmp_path / "t.csv", index=False)
    main([
        "compare", str(tmp_path / "t.csv"), "--target", "state", "--methods", "adacc1,adaboost,logistic-regression",
        "--folds", "3", "--jobs", "1", "--quiet", "--json", str(tmp_path / "r.json"),
    ])  # fmt: skip
    due = json.loads((tmp_path / "r.json").read_text())
    found = compare(X, y, methods=["adacc1", "adaboost", "logistic-regression"], folds=3)
    assert found.table.index.tolist() == [method["name"] for method in due["methods"]]
    for method in due["methods"]:
        row = found.table.loc[method["name"]]
        for name in ("balanced_accuracy", "auc", "f1", "tpr"):
            assert row[name] == pytest.approx(method["metrics"][name]["mean"], abs=1e-12)
    assert found.verdict.startswith(f"{due['methods'][0]['label']} is the best method")


@pytest.mark.parametrize("form", ["pandas", "polars", "array"])
def test_the_best_estimator_predicts_the_labels_of_y(form):
    X, y = data()
    given = {"pandas": X, "polars": pl.from_pandas(X), "array": X[["a", "c"]].to_numpy()}[form]
    found = compare(given, y, methods=["adacc1", "adaboost"], folds=3)
    model = found.best_estimator()
    assert model.classes_.tolist() == ["ill", "well"]
    rows = found._problem.X
    assert balanced_accuracy_score(y, model.predict(rows)) > 0.75
    assert model.fitted_model_.classes[1 - model.fitted_model_.ensemble.negative_class] == "ill"


def test_a_baseline_that_wins_is_the_best_estimator():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.4, "yes", "no")  # no sum of functions of one feature
    found = compare(X, y, methods=["adaboost", "lightgbm-threshold"], folds=3)
    assert found.table.index[0] == "lightgbm-threshold"
    winner, own = found.best_estimator(), found.best_estimator(own=True)
    assert winner.method == "lightgbm-threshold"
    assert own.method == "adaboost"
    assert (
        balanced_accuracy_score(y, winner.predict(X)) > 0.9 > balanced_accuracy_score(y, own.predict(found._problem.X))
    )


def test_several_classes_and_one_of_them():
    X, _ = data()
    y = np.digitize(X["a"], [-0.5, 0.8])
    several = compare(X, y, methods=["adacc1"], folds=3)
    assert "macro_f1" in several.table
    assert several.best_estimator().classes_.tolist() == [0, 1, 2]
    one = compare(X, y, positive=2, methods=["adacc1"], folds=3)
    assert "tpr" in one.table
    assert one.best_estimator().classes_.tolist() == [0, 1]


def test_groups_are_kept_together():
    """Copies of a row in other folds would be recognised."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(40, 4)), 6, axis=0)
    y = np.repeat(rng.integers(0, 2, 40), 6)
    groups = np.repeat(np.arange(40), 6)
    apart = compare(X, y, methods=["adaboost"], folds=4, duplicates="apart").table["balanced_accuracy"].iloc[0]
    together = compare(X, y, methods=["adaboost"], folds=4, groups=groups).table["balanced_accuracy"].iloc[0]
    assert apart > 0.95
    assert together < 0.75


def test_a_notebook_shows_names_as_text(tmp_path):
    X, y = data()
    found = compare(X, np.where(y == "ill", "<b>ill</b>", "well"), methods=["adacc1", "adaboost"], folds=3)
    shown = found._repr_html_()
    assert "<b>ill</b>" not in shown

    class Tags(HTMLParser):
        rows = 0

        def handle_starttag(self, tag, attributes):
            self.rows += tag == "tr"

    tags = Tags()
    tags.feed(shown)
    assert tags.rows == 3
    found.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"methods": "nope"}, "method 'nope' is unknown"),
        ({"metric": "nope"}, "metric must be one of balanced_accuracy"),
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"groups": [1, 2]}, "groups must have as many values as X has rows, 240, got 2"),
        ({"X": np.zeros(3)}, "X must be a frame or an array with two dimensions, got ndarray"),
        ({"y": ["a"] * 240}, "label"),
    ],
)
def test_wrong_arguments(wrong, says):
    X, y = data()
    with pytest.raises(ValueError, match=says):
        compare(wrong.pop("X", X), wrong.pop("y", y), **wrong)


def test_it_is_a_public_name():
    assert adacc.compare is compare

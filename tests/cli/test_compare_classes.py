"""`adacc compare` on a table with more than two classes, from a file to the screen, JSON and a report."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from small_study import command

import adacc
from adacc.evaluation.measures import shown

SMALL = ["--methods", "adacc1,logistic-regression", "--rounds", 6, "--folds", 3, "--jobs", 1, "--quiet"]
LABELS = ["<b>ash</b>", "[red]", "o,ak"]


def trees(n=180, seed=1):
    """Three classes with names that are markup, of a half, a third and a sixth of the rows."""
    rng = np.random.default_rng(seed)
    kind = np.array([0, 0, 0, 1, 1, 2] * (n // 6))
    return pd.DataFrame(
        {
            "height": (rng.normal(size=n) * 4 + 10 + 4 * kind).round(2),
            "leaf": rng.choice(["long", "round"], n),
            "old": rng.random(n) < 0.2 + 0.3 * (kind == 2),
            "kind": np.array(LABELS)[kind],
        }
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trees().to_csv("trees.csv", index=False)
    return tmp_path


def figures(*arguments):
    code, out, err = command("compare", *arguments, "--json", "figures.json")
    assert (code, err) == (0, "")
    return json.loads(Path("figures.json").read_text(encoding="utf-8")), out


def test_figures_are_those_of_the_classifier_on_the_same_folds(here):
    result, out = figures("trees.csv", "--target", "kind", *SMALL, "--report", "trees.html")
    table = trees()
    X, y = table.drop(columns="kind"), table["kind"].to_numpy()
    X["leaf"] = X["leaf"].astype("category")
    parts, said_by_row = [], np.empty(len(y), dtype=object)
    for seed, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)):
        model = adacc.AdaCC1Classifier(n_estimators=6, random_state=seed).fit(X.iloc[train], y[train])
        said, probability = model.predict(X.iloc[test]), model.predict_proba(X.iloc[test])
        said_by_row[test] = said
        recalls = recall_score(y[test], said, average=None)
        parts.append(
            {
                "balanced_accuracy": balanced_accuracy_score(y[test], said),
                "gmean": np.prod(recalls) ** (1 / 3),
                "macro_f1": f1_score(y[test], said, average="macro"),
                "auc": roc_auc_score(y[test], probability, multi_class="ovo"),
                "recall": recalls,
            }
        )
    ours = next(line for line in result["methods"] if line["name"] == "adacc1")
    for name in ("balanced_accuracy", "gmean", "macro_f1", "auc"):
        assert ours["metrics"][name]["by_fold"] == pytest.approx([each[name] for each in parts])
        assert shown(name, ours["metrics"][name]["mean"]) in out
    for k, label in enumerate(LABELS):
        assert ours["recall"][label]["by_fold"] == pytest.approx([each["recall"][k] for each in parts])
    assert ours["pooled"]["confusion"] == confusion_matrix(y, said_by_row, labels=LABELS).tolist()
    assert (result["data"]["classes"], result["data"]["class_rows"]) == (LABELS, [90, 60, 30])
    assert set(ours["metrics"]) == {"balanced_accuracy", "gmean", "macro_f1", "auc", "seconds"}
    assert Path("trees.html").stat().st_size < 2.5e6


def test_the_screen_has_every_class_and_the_next_command_trains_all(here):
    result, out = figures("trees.csv", "--target", "kind", *SMALL)
    for label in LABELS:
        assert f"\n{label}" in out  # a line of the table of classes, markup and all
    assert "‘<b>ash</b>’: 90 rows (50.0%)" in out
    assert "as a mean over the 3 classes" in out
    assert "TPR" not in out
    assert result["model"]["train_command"].startswith("adacc train trees.csv --target kind --method adacc1 --rounds 6")


def test_what_supports_two_classes_only_is_left_out_and_that_is_said(here):
    mixed = [*SMALL, "--methods", "adacc1,adaboost-threshold,lightgbm-tuned"]
    result, out = figures("trees.csv", "--target", "kind", *mixed)
    assert [line["name"] for line in result["methods"]] == ["adacc1"]
    assert "Left out, since they support two classes only: AdaBoost + threshold, LightGBM, tuned." in out
    assert result["protocol"]["left_out"] == ["AdaBoost + threshold", "LightGBM, tuned"]
    result, out = figures(
        "trees.csv", "--target", "kind", *mixed[:-1], "adacc1,adaboost-threshold", "--positive", "o,ak"
    )
    assert {line["name"] for line in result["methods"]} == {"adacc1", "adaboost-threshold"}
    assert "left_out" not in result["protocol"]
    assert "Left out" not in out
    assert (result["data"]["positive"], result["data"]["negative"]) == ("o,ak", "other")


def test_other_measures_can_rank(here):
    for metric in ("macro_f1", "auc", "gmean"):
        result, _ = figures("trees.csv", "--target", "kind", *SMALL, "--metric", metric)
        means = [line["metrics"][metric]["mean"] for line in result["methods"]]
        assert means == sorted(means, reverse=True)


@pytest.mark.parametrize(
    ("changed", "arguments", "said"),
    [
        ({}, ["--metric", "tpr"], "one of balanced_accuracy, gmean, macro_f1, auc for 3 classes, got tpr"),
        ({}, ["--metric", "f1"], "--positive compares one class against the rest"),
        ({}, ["--positive", "o,ak", "--metric", "macro_f1"], "for 2 classes, got macro_f1"),
        ({}, ["--methods", "lightgbm-tuned"], "--methods must name a method for 3 classes, but two classes only are"),
        ({}, ["--folds", 31], "fewer than the 31 folds; set --folds to at most 30, or leave out or merge"),
        ({"kind": ["yew", *trees()["kind"][1:]]}, [], "has 1 row of 'yew', fewer than the 3 folds; more are needed"),
        (
            {"plot": np.arange(180) // 60, "kind": [*trees()["kind"][:177], "yew", "yew", "yew"]},
            ["--group", "plot"],
            "with 3 folds by group the test rows of a fold have no row of class 'yew'; use fewer --folds, split by",
        ),
        (
            {"day": np.arange(180), "kind": ["yew"] * 3 + [*trees()["kind"][3:]]},
            ["--time", "day"],
            "with 3 folds by time the test rows of a fold have no row of class 'yew'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_line(here, changed, arguments, said):
    trees().assign(**changed).to_csv("odd.csv", index=False)
    code, out, err = command("compare", "odd.csv", "--target", "kind", *SMALL, *arguments, "--json", "out.json")
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: ")
    assert said in err
    assert err.count("\n") == 1
    assert not Path("out.json").exists()


def test_groups_and_times_are_kept(here):
    trees().assign(plot=np.arange(180) // 6 % 10, day=np.arange(180)).to_csv("plots.csv", index=False)
    for option, column, other in (("--group", "plot", "day"), ("--time", "day", "plot")):
        result, out = figures("plots.csv", "--target", "kind", *SMALL, option, column, "--drop", other)
        assert ("grouped by 'plot'" if option == "--group" else "in time order of 'day'") in out
        assert f"{option} {column}" in result["model"]["train_command"]


def test_numbers_and_booleans_can_be_classes(here):
    table = trees()
    table["kind"] = table["kind"].map(LABELS.index) * 10
    table.to_csv("numbers.csv", index=False)
    due, _ = figures("trees.csv", "--target", "kind", *SMALL)
    found, out = figures("numbers.csv", "--target", "kind", *SMALL)
    assert found["data"]["classes"] == ["0", "10", "20"]
    assert [line["pooled"]["confusion"] for line in found["methods"]] == [
        line["pooled"]["confusion"] for line in due["methods"]
    ]
    assert "‘20’: 30 rows" in out


def test_a_model_of_all_classes_is_trained_and_evaluated(here):
    arguments = ["--target", "kind", "--method", "cgada", "--rounds", 6, "--model", "trees.adacc"]
    code, out, err = command("train", "trees.csv", *arguments)
    assert (code, err) == (0, "")
    assert "the costs of best macro F1 on the training rows" in out
    table = trees(seed=2)
    table.to_csv("new.csv", index=False)
    code, out, err = command("evaluate", "trees.adacc", "new.csv", "--json", "e.json")
    assert (code, err) == (0, "")
    found = json.loads(Path("e.json").read_text(encoding="utf-8"))
    X = table.drop(columns="kind")
    model = adacc.load("trees.adacc")
    said = model.predict(X)
    assert found["confusion"] == confusion_matrix(table["kind"], said, labels=LABELS).tolist()
    assert found["measures"]["auc"] == pytest.approx(
        roc_auc_score(table["kind"], model.predict_proba(X), multi_class="ovo")
    )
    assert found["by_class"]["o,ak"]["recall"] == pytest.approx(recall_score(table["kind"] == "o,ak", said == "o,ak"))
    assert "AUC: mean over all pairs of classes" in out

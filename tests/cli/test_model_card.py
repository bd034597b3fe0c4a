"""Model cards: every section, figures as in JSON, nothing invented."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from small_study import command

import adacc

SECTIONS = [
    "Intended use", "Training data", "Method and parameters", "Decision rule", "Figures",
    "Limits, and what was not checked", "How to reproduce",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cards")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a|b", "c"])
    frame["town"] = rng.choice(["Ulm", "Bonn"], 600)
    frame["kind"] = rng.choice(["x", "y", "z"], 600)
    frame["label"] = np.where(rng.random(600) < 1 / (1 + np.exp(2 - 2 * frame["c"])), "fraud", "fine")
    frame[:400].to_csv(folder / "train.csv", index=False)
    frame[400:].to_csv(folder / "new.csv", index=False)
    return folder


def trained(folder, *options, target="label"):
    card, model = folder / "card.md", folder / "m.adacc"
    code, out, err = command(
        "train", folder / "train.csv", "--target", target, "--rounds", 10, "--model", model, "--model-card", card,
        *options,
    )  # fmt: skip
    assert code == 0, err
    assert f"Model card: {card}" in out
    return card.read_text(), adacc.load(model)


def section(card, name):
    return re.split(r"^## ", card.split(f"## {name}\n")[1], flags=re.M)[0]


def test_the_card_of_training(folder):
    card, model = trained(folder, "--decide", "recall>=0.7", "--method", "adacc1")
    assert re.findall(r"^## (.*)$", card, flags=re.M) == SECTIONS
    counts = pd.read_csv(folder / "train.csv")["label"].value_counts()
    data = section(card, "Training data")
    assert f"Rows: 400. Classes: `fine` {counts['fine']} (" in data
    assert r"`a\|b` (number)" in data
    assert "`town` (category)" in data
    assert "AdaCC1 (`adacc1`)" in section(card, "Method and parameters")
    assert "`decision='recall>=0.7'`" in section(card, "Method and parameters")
    figures, report = section(card, "Figures"), model.decision_.report
    assert f"On {report.n_rows:,} held-out rows" in figures
    recall = report.achieved["recall"]
    assert f"| {100 * recall.value:.1f}% | {100 * recall.low:.1f} to {100 * recall.high:.1f}% |" in figures
    assert f"```\n{model.notes_['command']}\n```" in section(card, "How to reproduce")
    assert f"adacc {adacc.__version__}" in section(card, "How to reproduce")
    assert card.count("**To be filled in:**") == 5
    assert f"- Trained on {pd.Timestamp.now('UTC').date()}" in data


def test_without_held_out_rows_there_are_no_figures(folder):
    card, _ = trained(folder, "--method", "adacc1")
    assert "stores no scores of rows that were held out" in section(card, "Figures")
    assert "%" not in section(card, "Figures")
    assert "The method decides" in section(card, "Decision rule")


def test_a_forest_has_out_of_bag_figures_without_a_rule(folder):
    card, model = trained(folder)
    figures = section(card, "Figures")
    assert "out-of-bag rows of the training data" in figures
    assert f"mean of recall and true negative rate | {100 * model.oob_balanced_accuracy_:.1f}%" in figures


def test_the_card_of_an_evaluation(folder):
    trained(folder, "--method", "adacc1")
    card = folder / "e.md"
    code, out, _ = command(
        "evaluate", folder / "m.adacc", folder / "new.csv", "--subgroup", "town", "--model-card", card, "--json",
        folder / "e.json",
    )  # fmt: skip
    assert code == 0
    assert f"Model card: {card}" in out
    text, result = card.read_text(), json.loads((folder / "e.json").read_text())
    figures = result["assessment"]["figures"]
    for name in ("recall", "precision", "balanced_accuracy"):
        value, low, high = (100 * figures[name][key] for key in ("value", "low", "high"))
        assert f"| {value:.1f}% | {low:.1f} to {high:.1f}% |" in section(text, "Figures")
    assert "By `town`:" in section(text, "Subgroups and periods")
    assert "Not checked: differences between subgroups" not in text
    assert "Not checked: differences over time" in text
    assert "**To be filled in:** date of training" in section(text, "Training data")
    assert f"adacc evaluate {folder / 'm.adacc'}" in section(text, "How to reproduce")


def test_several_classes_have_a_card_too(folder):
    trained(folder, "--method", "adacc1", "--drop", "label", target="kind")
    code, _, _ = command(
        "evaluate", folder / "m.adacc", folder / "new.csv", "--model-card", folder / "e.md", "--json", folder / "e.json"
    )
    assert code == 0
    text, result = (folder / "e.md").read_text(), json.loads((folder / "e.json").read_text())
    for label, each in result["by_class"].items():
        assert f"| `{label}` | {each['rows']} | {100 * each['recall']:.1f}% |" in text
    assert "`x`, `y` and `z`." in text


def test_a_model_of_python_has_lines_to_fill_in(folder):
    frame = pd.read_csv(folder / "train.csv")
    model = adacc.AdaCC1Classifier(n_estimators=3).fit(frame[["c"]], frame["label"])
    model.save(folder / "python.adacc")
    code, _, err = command(
        "evaluate", folder / "python.adacc", folder / "new.csv", "--target", "label", "--model-card", folder / "p.md"
    )
    assert code == 0, err
    text = (folder / "p.md").read_text()
    for line in ("source of the rows", "number of rows and classes", "how the model was trained", "date of training"):
        assert f"**To be filled in:** {line}" in text

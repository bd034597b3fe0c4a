"""`adacc explain` and `adacc methods`: what they print is what the library knows."""

import html
import json
import re
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TunedThresholdClassifierCV
from small_study import command

import adacc
from adacc.algorithms.catalog import CATALOG
from adacc.cli.model_file import open_model_file

FEATURES = ["amount", "town", "repeated", "insured", "age"]


def rows_of(folder, model):
    saved = open_model_file(folder / model)
    options = Namespace(data=str(folder / "new.csv"), sep=None, decimal=None)
    return pd.concat([X for X, _ in saved.open(options)])


def parts(out):
    """Names and numbers of a waterfall."""
    return re.findall(r"^(\S.*?)  +([+-]\d+\.\d{3})(?:  |$)", out, flags=re.M)


@pytest.mark.parametrize("number", [1, 6, 130])
def test_the_parts_of_a_row_add_up_to_its_score(folder, number):
    model, X = adacc.load(folder / "outcome.adacc"), rows_of(folder, "outcome.adacc")
    code, out, err = command("explain", folder / "outcome.adacc", folder / "new.csv", "--row", number)
    ignored, unseen = err.splitlines()
    assert (code, ignored) == (0, "adacc: ignored columns: claim, outcome, size and 1 more")
    assert "column 'town' in 1 of 130 rows (0.8%), such as 'Ulm'" in unseen
    row, at = X.iloc[[number - 1]], model.classes_.tolist().index("fraud")
    sign = 1 if at == 1 else -1
    score, p = sign * model.decision_function(row)[0], model.predict_proba(row)[0, at]
    assert out.startswith(f"Row {number}: {model.predict(row)[0]}. The probability of fraud is {p:.1%}.\n")
    assert f"\nThe model predicts fraud at a score above 0 (a probability of 50%); the score is {score:.4g}.\n" in out
    (_, *added), (name, total) = parts(out)[:-1], parts(out)[-1]
    assert (name, float(total)) == ("score (sum)", pytest.approx(score, abs=6e-4))
    assert sum(float(value) for _, value in parts(out)[:-1]) == pytest.approx(score, abs=5e-3)
    sizes = [abs(float(value)) for _, value in added]
    assert sizes == sorted(sizes, reverse=True)
    due = sign * model.explain(row, background=X).contributions[0]
    shown = {name.partition(" = ")[0]: float(value) for name, value in added}
    assert shown == pytest.approx(
        {name: value for name, value in zip(FEATURES, due, strict=True) if value}, abs=6e-4
    )  # fmt: skip


def test_features_beyond_the_first_are_one_line(folder):
    out = command("explain", folder / "outcome.adacc", folder / "new.csv", "--row", 2, "--top", 1)[1]
    whole = parts(command("explain", folder / "outcome.adacc", folder / "new.csv", "--row", 2)[1])
    (_, start), first, (name, rest), (_, score) = parts(out)
    assert first == whole[1]
    assert name == f"{len(whole) - 3} more features"
    assert float(start) + float(first[1]) + float(rest) == pytest.approx(float(score), abs=3e-3)


def test_missing_and_unknown_values_are_named(folder):
    out = command("explain", folder / "outcome.adacc", folder / "new.csv", "--row", 1)[1]
    assert re.search(r"^(age|town) = missing ", out, flags=re.M)
    assert "town = Ulm" in command("explain", folder / "outcome.adacc", folder / "new.csv", "--row", 6)[1]


def test_of_more_classes_the_predicted_one_is_explained(folder):
    model, X = adacc.load(folder / "size.adacc"), rows_of(folder, "size.adacc")
    out = command("explain", folder / "size.adacc", folder / "new.csv", "--row", 9)[1]
    row = X.iloc[[8]]
    by_class = model.decision_function(row)[0]
    label, k = model.predict(row)[0], int(by_class.argmax())
    second = model.classes_[np.argsort(by_class)[-2]]
    explanation = model.explain(row)
    of_pair = dict(zip(explanation.classes.tolist(), explanation.scores[0].tolist(), strict=True))
    score = of_pair.get(f"{label} vs {second}", -of_pair.get(f"{second} vs {label}", 0.0))
    assert f"Contribution of each feature to the score for {label} against {second}:" in out
    assert f"Row 9: {label}. The probability of {label} is {model.predict_proba(row)[0, k]:.1%}." in out
    assert float(parts(out)[-1][1]) == pytest.approx(score, abs=6e-4)
    assert sum(float(value) for _, value in parts(out)[:-1]) == pytest.approx(float(parts(out)[-1][1]), abs=3e-3)


def shares(out):
    return dict(re.findall(r"^(\w+) +(\d+\.\d+)%?  #*$", out, flags=re.M))


def effect_shares(model):
    sizes = np.array([np.mean(curve.values.std(axis=0)) for curve in model.shape_functions(n_pairs=0)])
    return sizes / sizes.sum()


@pytest.mark.parametrize("target", ["outcome", "size"])
def test_what_a_model_uses(folder, target):
    model = adacc.load(folder / f"{target}.adacc")
    code, out, err = command("explain", folder / f"{target}.adacc")
    assert (code, err) == (0, "")
    due = {name: 100 * share for name, share in zip(FEATURES, effect_shares(model), strict=True) if share}
    found = {name: float(share) for name, share in shares(out).items()}
    assert found == pytest.approx(due, abs=0.051)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    not_used = len(FEATURES) - len(due)
    assert not not_used or f"({not_used} more {'is' if not_used == 1 else 'are'} not used)" in out
    for name in due:
        assert f"\n\n{name}\n  " in out


def deep(folder):
    """A model of trees, boosted."""
    X = rows_of(folder, "outcome.adacc")
    adacc.AdaCC1Classifier(n_estimators=5, max_depth=3).fit(X, X["amount"] > 220).save(folder / "deep.adacc")


@pytest.mark.parametrize(
    ("name", "about", "course"),
    [("forest", "adacc-forest, {} trees on 19 bags, positive class fraud", False), ("deep", "adacc1, {} round", True)],
)
def test_what_a_model_of_trees_uses_its_curves_and_pairs(folder, tmp_path, name, about, course):
    if name == "deep":
        deep(folder)
    model = adacc.load(folder / f"{name}.adacc")
    code, out, err = command("explain", folder / f"{name}.adacc", "--report", tmp_path / "r.html")
    assert (code, err) == (0, "")
    assert out.startswith(f"{folder / f'{name}.adacc'}: {about.format(model.n_iter_)}")
    due = {name: 100 * share for name, share in zip(FEATURES, effect_shares(model), strict=True) if share}
    assert {name: float(share) for name, share in shares(out).items()} == pytest.approx(due, abs=0.051)
    for feature in due:
        assert f"\n\n{feature}\n  " in out
    pairs = model.shape_functions(n_pairs=5).pairs
    assert [line.split() for line in out.splitlines() if " and " in line and line.startswith("  ")] == [
        [pair.names[0], "and", pair.names[1], f"{pair.strength:.3f}"] for pair in pairs
    ]
    page = (tmp_path / "r.html").read_text()
    assert "The shape functions of trees are main effects" in page
    assert ("<h3>Training by round</h3>" in page) == course


@pytest.mark.parametrize("background", [False, True])
def test_a_row_of_a_forest_is_explained_exactly(folder, background):
    model, X = adacc.load(folder / "forest.adacc"), rows_of(folder, "forest.adacc")
    given = ("--background", folder / "new.csv") if background else ()
    code, out, _ = command("explain", folder / "forest.adacc", folder / "new.csv", "--row", 3, "--top", 3, *given)
    assert code == 0
    explained = model.explain(X.iloc[[2]], background=X if background else None)
    sign = 1 if model.classes_[1] == "fraud" else -1
    numbers = [float(each) for each in re.findall(r"  ([+-]\d+\.\d{3})", out)]
    assert numbers[0] == pytest.approx(sign * explained.intercept, abs=6e-4)
    assert numbers[-1] == pytest.approx(sign * explained.scores[0], abs=6e-4)
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=5e-3)
    largest = sorted(sign * explained.contributions[0], key=abs, reverse=True)[:3]
    assert numbers[1:4] == pytest.approx(largest, abs=6e-4)
    assert (f"mean of {len(X):,} background rows" in out) == background
    assert ("mean of the training rows" in out) != background


def test_with_rows_what_moves_their_scores(folder):
    model, X = adacc.load(folder / "outcome.adacc"), rows_of(folder, "outcome.adacc")
    out = command("explain", folder / "outcome.adacc", folder / "new.csv")[1]
    due = model.explain(X, background=X).importance()
    assert {name: float(size) for name, size in shares(out).items()} == pytest.approx(due[due > 0].to_dict(), abs=6e-4)


def test_a_model_that_uses_nothing_says_so(tmp_path):
    X, y = pd.DataFrame({"a": [1.0, 1.0, 1.0, 1.0]}), ["x", "x", "x", "y"]
    adacc.AdaBoostClassifier().fit(X, y).save(tmp_path / "m.adacc")
    assert command("explain", tmp_path / "m.adacc")[1].splitlines() == [
        f"{tmp_path / 'm.adacc'}: adaboost, 1 round, positive class y, negative class x.",
        "",
        "Effect of each feature on the score (standard deviation of its shape function, share of the sum):",
        "(1 is not used)",
    ]


def test_shapes_are_told_from_the_positive_class(folder):
    """Of numbers and of labels; a model of the same table with the classes named the other way round says the same."""
    model = adacc.load(folder / "outcome.adacc")
    sign = 1 if model.classes_[1] == "fraud" else -1
    out = command("explain", folder / "outcome.adacc")[1]
    curve = model.shape_functions()["amount"]
    lines = dict(re.findall(r"^  (\S.*?)  +([+-]\d+\.\d\d)", out.partition("\namount\n")[2].partition("\n\n")[0], re.M))
    first, *_, last, _ = lines
    assert first.startswith("up to ")
    assert last.startswith("above ")
    assert float(lines[first]) == pytest.approx(sign * curve.values[0], abs=6e-3)
    assert float(lines["(missing)"]) == pytest.approx(sign * curve.missing, abs=6e-3)
    if "\ntown\n" in out:
        town = model.shape_functions()["town"]
        at = town.categories.index("Bonn")
        assert f"  Bonn                        {sign * town.values[at]:+.2f}" in out


def test_long_curves_are_told_by_their_largest_jumps(folder, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"wave": rng.random(400), "label": [f"l{i % 30}" for i in range(400)]})
    y = (np.sin(20 * X["wave"]) > 0.3) ^ (np.arange(400) % 30 % 4 == 0)
    adacc.AdaCC1Classifier(n_estimators=120).fit(X, y).save(tmp_path / "m.adacc")
    code, out, _ = command("explain", tmp_path / "m.adacc")
    wave = out.partition("\nwave\n")[2].partition("\n\n")[0].splitlines()
    label = out.partition("\nlabel\n")[2].partition("\n\n")[0].splitlines()
    assert (code, len(wave), len(label)) == (0, 7, 9)
    assert any(" to +" in line or " to -" in line for line in wave)
    assert label[6].startswith("  (24 more)")
    assert label[8].startswith("  (not seen in training)")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_fit_the_terminal(folder, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for asked in (
        ["explain", folder / "outcome.adacc"],
        ["explain", folder / "outcome.adacc", folder / "new.csv", "--row", "4"],
        ["explain", folder / "size.adacc", folder / "new.csv"],
        ["evaluate", folder / "size.adacc", folder / "new.csv"],
    ):
        lines = command(*asked)[1].splitlines()
        # What is a sentence, or has a path in it, is broken by the terminal.
        lines = [
            line for line in lines if str(folder) not in line and not line.endswith((".", ":")) and "F1" not in line
        ]
        assert max(map(len, lines)) <= max(columns, 60)
        assert columns < 200 or asked[0] == "evaluate" or max(map(len, lines)) > 100


def test_labels_cannot_write_to_the_terminal(tmp_path):
    nasty = "\x1b[31mred\nline"
    X = pd.DataFrame({nasty: [0.0, 1.0, 2.0, 3.0] * 5})
    y = np.array(["fine", "fine", nasty, nasty] * 5)
    adacc.AdaCC1Classifier(n_estimators=3).fit(X, y).save(tmp_path / "m.adacc")
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    for asked in (
        ["explain", tmp_path / "m.adacc"],
        ["evaluate", tmp_path / "m.adacc", tmp_path / "d.csv", "--target", "y"],
    ):
        code, out, _ = command(*asked)
        assert code == 0
        assert "\x1b" not in out
        assert "?[31mred?line" in out


def test_the_report_has_the_row_in_it(folder, tmp_path):
    asked = ["explain", folder / "outcome.adacc", folder / "new.csv", "--row", 6, "--report", tmp_path / "r.html"]
    code, out, _ = command(*asked)
    assert (code, out.splitlines()[-1]) == (0, f"Report: {tmp_path / 'r.html'}")
    page = (tmp_path / "r.html").read_text()
    assert '<h2 id="row-title">Row 6</h2>' in page
    assert "town" in page
    assert "--row 6" in page
    assert command("explain", folder / "outcome.adacc", "--report", tmp_path / "r.html")[0] == 0
    assert '<h2 id="row-title">' not in (tmp_path / "r.html").read_text()


def test_all_methods_are_listed(monkeypatch):
    code, out, err = command("methods")
    assert (code, err) == (0, "")
    for name in (*adacc.methods(), "adacc-forest"):
        assert len(re.findall(rf"^{name} +(given|learned|none) ", out, flags=re.M)) == 1
    assert len(re.findall(r"^adacc-forest ", out, flags=re.M)) == 1  # and not among the baselines
    assert re.search(r"^adacc1 .*Iosifidis et al. 2022$", out, flags=re.M)
    assert re.search(r"^rusboost .*Seiffert et al. 2010$", out, flags=re.M)
    assert re.search(r"^lightgbm +lightgbm +Gradient boosted", out, flags=re.M)
    assert max(map(len, out.splitlines())) <= 80
    monkeypatch.setenv("COLUMNS", "200")
    wide = command("methods")[1]
    assert len(wide.splitlines()) < len(out.splitlines())


@pytest.mark.parametrize("name", adacc.methods())
def test_each_method_tells_its_formula_source_and_options(name):
    from adacc.cli.methods import own_methods

    code, out, err = command("methods", name)
    assert (code, err) == (0, "")
    own = own_methods()[name]
    assert re.fullmatch(r"[A-Z][^;]* \d{4}(; [A-Z][^;]* \d{4})*", own.source)
    assert f'adacc.BoostingClassifier("{name}")' in out
    model = eval(own.call, {"adacc": adacc})
    assert model._method == name.removesuffix("-cal")
    assert getattr(model, "calibration", None) == own.method.calibration
    for option, default in own.method.options().items():
        assert f"{option} = {default!r}" in out
    assert own.method.rule.__doc__.strip().partition("\n")[0][:60] in out.replace("\n", " ")


def test_the_forest_is_told_by_its_class():
    code, out, err = command("methods", "adacc-forest")
    assert (code, err) == (0, "")
    head = adacc.AdaCCForestClassifier.__doc__.partition("Parameters")[0]
    assert out.startswith(f"adacc-forest: {CATALOG['adacc-forest'].summary}\n")
    assert " ".join(head.partition("\n")[2].split()) in " ".join(out.split())
    assert "\ntrain     --method adacc-forest\n" in out
    assert "\nPython    adacc.AdaCCForestClassifier()\n" in out
    assert "BoostingClassifier" not in out


def test_methods_of_other_libraries_are_told_apart():
    code, out, _ = command("methods", "lightgbm")
    assert code == 0
    assert "train     no: it is a baseline of `adacc compare` from lightgbm" in out
    assert "--methods lightgbm, shown as LightGBM" in out


def test_a_baseline_that_adacc_computes_is_no_method_of_another_library(folder):
    code, out, _ = command("methods", "adaboost-threshold")
    assert code == 0
    assert "library   adacc " in out
    assert "AdaBoost with a tuned threshold" in out
    assert "other librar" not in command("methods")[1]
    claims = pd.read_csv(folder / "old.csv")
    X, y = claims[["amount", "age"]], claims["outcome"] == "fraud"
    tuned = TunedThresholdClassifierCV(adacc.AdaBoostClassifier(n_estimators=5)).fit(X, y)  # what the text advises
    assert set(tuned.predict(X)) == {True, False}


def test_help_teaches(capsys):
    for name in ("train", "predict", "evaluate", "explain", "methods"):
        code, out, _ = command(name, "--help")
        assert code == 0
        assert out.count(f"  adacc {name}") + out.count(f"| adacc {name}") >= 2
        bare = re.findall(r"^  (--[a-z-]+|[A-Z]+)(?: \S+)?$(?!\n {10,}\S)", out, flags=re.M)
        assert bare == []


def test_json_is_plain(folder, tmp_path):
    command("evaluate", folder / "code.adacc", folder / "new.csv", "--json", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    assert (found["positive"], found["negative"], found["target"]) == (1, 0, "code")


def test_a_row_is_explained_with_the_decision_rule_and_its_costs(folder, tmp_path):
    """The cost column is no feature; the named probability is where the two expected costs are equal."""
    model = adacc.AdaCC1Classifier(n_estimators=5, calibration="sigmoid").fit(
        *(lambda X: (X.drop(columns="amount"), np.where(X["amount"] > 220, "fraud", "fine")))(
            rows_of(folder, "outcome.adacc")
        )
    )
    model.set_decision("fn=amount, fp=20").save(tmp_path / "m.adacc")
    X = rows_of(folder, "outcome.adacc")
    for number in (1, 5, 9):
        report = tmp_path / f"{number}.html"
        given = ["--row", number, "--report", report]
        code, out, err = command("explain", tmp_path / "m.adacc", folder / "new.csv", *given)
        assert code == 0, err
        row = X.iloc[[number - 1]]
        amount = row["amount"].iloc[0]
        least, p = 20 / (20 + amount), model.predict_proba(row.drop(columns="amount"))[0, 1]
        due = (
            f"The decision rule fn=amount, fp=20 predicts fraud from a probability of {100 * least:.3g}% on; "
            f"the probability is {100 * p:.3g}%. "
            f"For this row a false negative costs {amount:,.4g} and a false positive 20."
        )
        assert due in out
        assert due in html.unescape(report.read_text("utf-8"))
        assert out.startswith(f"Row {number}: {model.predict(row)[0]}.")

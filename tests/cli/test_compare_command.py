"""`adacc compare` as a person meets it: right figures, and for what cannot be done a line that says how to mend it."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from json_files import check
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import StratifiedKFold
from small_study import command
from support import thinned

import adacc
import adacc.comparison
from adacc.comparison.cross_validation import QUICK, WARM_UP_ROUNDS, available_methods
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.measures import MEASURES, shown
from adacc.evaluation.model_description import describe_model

ADACC = [sys.executable, "-m", "adacc"]
SMALL = ["--methods", "adacc1", "--rounds", 8, "--folds", 3, "--jobs", 1, "--quiet"]
OWN = [*adacc.methods(), "adacc-forest"]
COMMON = [name for name, each in BASELINES.items() if each.extra == "compare"]
ESCAPE = "\x1b"


def patients(n=150, seed=1):
    """Numbers, text and booleans, the last three with gaps; one row in five is ill."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 5 == 0
    frame = pd.DataFrame(
        {
            "age": (rng.normal(size=n) * 10 + 40 + 9 * ill).round(1),
            "smokes": rng.random(n) < 0.3 + 0.3 * ill,
            "bmi": (rng.normal(size=n) * 3 + 25 + ill).round(2),
            "town": rng.choice(["Bonn", "Köln", "Ulm"], n),
            "insured": rng.choice([True, False], n).astype(object),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    for column, every in (("bmi", 9), ("town", 11), ("insured", 13)):
        frame.loc[::every, column] = None
    return frame


def figures(*arguments):
    """What `--json` has, and the screen, of a comparison that goes well and says nothing beside."""
    code, out, err = command("compare", *arguments, "--json", "figures.json")
    assert (code, err) == (0, "")
    return json.loads(Path("figures.json").read_text()), out


def scores(result, *left_out):
    """All that is measured but time."""
    return {
        line["name"]: {name: each for name, each in line["metrics"].items() if name not in ("seconds", *left_out)}
        for line in result["methods"]
    }


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with a table."""
    monkeypatch.chdir(tmp_path)
    patients().to_csv("clinic.csv", index=False)
    return tmp_path


# What cannot be done


@pytest.fixture(scope="module")
def bad_tables(tmp_path_factory):
    """A folder with a good table and many that will not do."""
    folder = tmp_path_factory.mktemp("bad")
    with contextlib.chdir(folder):
        write_bad_tables()
    return folder


def write_bad_tables():
    good = patients()
    good.to_csv("clinic.csv", index=False)
    n = len(good)
    days = pd.date_range("2024-01-01", periods=n)
    changed = {
        "one_class": {"ill": "no"},
        "many": {"ill": [f"c{i % 120}" for i in range(n)]},
        "continuous": {"ill": np.linspace(0.0, 1.0, n)},
        "gap": {"ill": good["ill"].where(good.index != 6)},
        "scarce": {"ill": np.where(np.arange(n) < 2, "yes", "no")},
        "single": {"ill": np.where(np.arange(n) < 1, "yes", "no")},
        "mixed": {"age": good["age"].astype(object).where(good.index != 3, "old")},
        "names": {"pid": [f"p{i:04d}" for i in range(n)]},
        "numbers": {"pid": np.arange(1000, 1000 + n)},
        "blank": {"note": None},
        "infinite": {"age": good["age"].where(good.index != 4, np.inf)},
        "dates": {"seen": days},
        "pairs": {"ward": np.where(np.arange(n) % 2, "a", "b")},
        "when": {"day": pd.Series(days).where(good.index != 8)},
        "day_first": {"day": days.strftime("%d/%m/%Y")},
    }
    for name, columns in changed.items():
        good.assign(**columns).to_csv(f"{name}.csv", index=False)
    good[["ill"]].to_csv("alone.csv", index=False)
    good.head(2).to_csv("two_rows.csv", index=False)
    good.head(0).to_csv("header.csv", index=False)
    text = Path("clinic.csv").read_text()
    lines = text.splitlines()
    Path("empty.csv").touch()
    Path("ragged.csv").write_text("\n".join([*lines[:5], "1,2", *lines[5:]]))
    Path("twice.csv").write_text(text.replace("age", "bmi", 1))
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    Path("table.xlsx").write_bytes(b"PK\x03\x04")
    Path("folder").mkdir()


OF_ILL = "--target ill --folds 3"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (f"nosuch.csv {OF_ILL}", "nosuch.csv does not exist; "),
        (f"clinc.csv {OF_ILL}", "clinc.csv does not exist; did you mean 'clinic.csv'"),
        (f"folder {OF_ILL}", "folder is a directory without .parquet files"),
        (f"table.xlsx {OF_ILL}", "table.xlsx: the file name must end in .csv, "),
        (f"cut.parquet {OF_ILL}", "cut.parquet cannot be read as Parquet: "),
        ("clinic.csv", "--target COL is required: the column of clinic.csv to predict"),
        ("clinic.csv --target il", "clinic.csv has no column 'il' to predict; did you mean 'ill'?"),
        ("clinic.csv --target=", "clinic.csv has no column '' to predict"),
        (f"one_class.csv {OF_ILL}", "target column 'ill' has the label 'no' in all rows; at least two classes"),
        (f"many.csv {OF_ILL}", "target column 'ill' has 120 labels, but must have at most 100"),
        (f"continuous.csv {OF_ILL}", "target column 'ill' looks continuous"),
        (f"gap.csv {OF_ILL}", "target column 'ill' has missing labels in 1 rows, first in row 7"),
        (f"scarce.csv {OF_ILL}", "has 2 rows of 'yes', fewer than the 3 folds; set --folds to at most 2"),
        (f"single.csv {OF_ILL}", "has 1 row of 'yes', fewer than the 3 folds; more are needed"),
        (f"two_rows.csv {OF_ILL}", "two_rows.csv: column 'ill' has 1 row of "),
        ("clinic.csv --target ill --folds 1000", "has 30 rows of 'yes', fewer than the 1000 folds; set --folds to at"),
        (f"empty.csv {OF_ILL}", "empty.csv is empty; the first line must contain the column names"),
        (f"header.csv {OF_ILL}", "header.csv has no rows"),
        (f"alone.csv {OF_ILL}", "alone.csv has no features"),
        (f"ragged.csv {OF_ILL}", "ragged.csv: row 5 has 2 cells, but must have 6: '1,2'; fix this row"),
        (f"mixed.csv {OF_ILL}", "mixed.csv: row 4, column 'age': 'old' is not a number; write a number, or"),
        (f"twice.csv {OF_ILL}", "twice.csv has 2 columns named 'bmi'; column names must be unique"),
        (f"latin.csv {OF_ILL}", "column 'town' contains the byte 0xf6, which is not UTF-8; save the file as UTF-8"),
        (f"names.csv {OF_ILL}", "in each row, like an id: leave it out with --drop pid"),
        (f"numbers.csv {OF_ILL}", "in each row, like an id: leave it out with --drop pid"),
        (f"blank.csv {OF_ILL}", "column 'note' has no value in any row: leave it out with --drop note"),
        (f"infinite.csv {OF_ILL}", "column 'age' has infinite values, first in row 5; leave such cells empty"),
        (f"dates.csv {OF_ILL}", "since an event, or leave it out with --drop seen"),
        (f"clinic.csv {OF_ILL} --positive Yes", "column 'ill' has no label 'Yes'; "),
        (f"clinic.csv {OF_ILL} --drop towm", "clinic.csv has no column 'towm'; did you mean 'town'?"),
        (f"clinic.csv {OF_ILL} --id towm", "clinic.csv has no column 'towm'; did you mean 'town'?"),
        (f"clinic.csv {OF_ILL} --group towm", "clinic.csv has no column 'towm'; did you mean 'town'?"),
        (f"clinic.csv {OF_ILL} --time towm", "clinic.csv has no column 'towm'; did you mean 'town'?"),
        (f"clinic.csv {OF_ILL} --drop ill", "column 'ill' is both dropped and used"),
        (f"clinic.csv {OF_ILL} --group ill", "column 'ill' is what is predicted, and cannot decide the splits too"),
        (f"pairs.csv {OF_ILL} --group ward", "column 'ward' has 2 groups, fewer than the 3 folds; use fewer --folds"),
        (f"clinic.csv {OF_ILL} --group town", "column 'town', which defines the splits, is empty in row 1; fill it"),
        (f"when.csv {OF_ILL} --time day", "column 'day', which defines the splits, is empty in row 9; fill it in, or"),
        (f"day_first.csv {OF_ILL} --time day", "the column 'day' must hold dates, times, text such as"),
        (f"clinic.csv {OF_ILL} --time age --group smokes", "by --group or by --time, not by both"),
        (f"clinic.csv {OF_ILL} --time age --repeats 2", "--repeats must be 1 for splits in the order of 'age', got 2"),
        (f"clinic.csv {OF_ILL} --folds 1", "--folds must be at least 2, got 1"),
        (f"clinic.csv {OF_ILL} --rounds 0", "argument --rounds: must be an integer of at least 1, got '0'"),
        (f"clinic.csv {OF_ILL} --jobs -1", "argument --jobs: must be an integer of at least 1, got '-1'"),
        (f"clinic.csv {OF_ILL} --seed -1", "argument --seed: must be an integer from 0 to"),
        (f"clinic.csv {OF_ILL} --metric accuracy", "argument --metric: invalid choice: 'accuracy' (choose from"),
        (f"clinic.csv {OF_ILL} --methods adacc9", "method 'adacc9' is unknown: did you mean 'adacc"),
        (f"clinic.csv {OF_ILL} --methods AdaCC1", "method 'AdaCC1' is unknown: did you mean 'adacc1'"),
        (f"clinic.csv {OF_ILL} --methods qqqq", "method 'qqqq' is unknown: `adacc methods` lists them"),
        (f"clinic.csv {OF_ILL} --methods ,", "argument --methods: must be names separated by commas, got ','"),
        (f"clinic.csv {OF_ILL} --drop ''", "argument --drop: must be names separated by commas, got ''"),
        (f"clinic.csv {OF_ILL} --report ''", "argument --report: must be the path of a file, got ''"),
        (f"clinic.csv {OF_ILL} --report nowhere/r.html", "Cannot write nowhere/r.html: directory nowhere does not"),
        (f"clinic.csv {OF_ILL} --json folder", "folder is a directory; give the path of a file"),
        (f"clinic.csv {OF_ILL} --report clinic.csv", "clinic.csv is an input of this command and would be overwritten"),
        (f"clinic.csv {OF_ILL} --json ./clinic.csv", "clinic.csv is an input of this command and would be overwritten"),
        (f"clinic.csv {OF_ILL} --json x --report x", "--report and --json must be different files, got x"),
        (f"clinic.csv clinic.csv {OF_ILL}", "unknown argument 'clinic.csv'"),
        (f"clinic.csv {OF_ILL} --tree 3", "unknown argument '--tree'; did you mean --target?"),
        ("clinic.csv --target", "argument --target: expected one argument"),
        ("--target ill", "--target ill needs a table: give a file, or - for standard input"),
        ("--drop age", "--drop needs a table: give a file, or - for standard input"),
        ("--group ward", "--group needs a table: give a file, or - for standard input"),
        ("--positive 11", "column 'digit' has no label '11'; its labels are "),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_line_and_leaves_nothing(bad_tables, monkeypatch, arguments, said):
    monkeypatch.chdir(bad_tables)
    before = {path: path.read_bytes() for path in bad_tables.rglob("*") if path.is_file()}
    given = ["--methods", "adacc1", "--jobs", "1", "--json", "out.json", "--report", "out.html"]
    code, out, err = command("compare", *given, *shlex.split(arguments))
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: ")
    assert said in err
    assert re.sub(r"`adacc.* --help`\n$", "", err).count("\n") == 1
    assert {path: path.read_bytes() for path in bad_tables.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written_to_is_told_before_the_work(here):
    (here / "closed").mkdir(mode=0o500)
    code, out, err = command("compare", "clinic.csv", "--target", "ill", *SMALL, "--json", "closed/x.json")
    assert (code, out) == (2, "")
    assert err == "adacc: error: Permission denied: closed/x.json\n"


def test_a_pipe_that_brings_nothing_or_ends_too_early_is_told(here, piped):
    for content, said in (
        (b"", "standard input is empty; the first line must contain the column names"),
        (b"age,il", "standard input has no column 'ill' to predict; did you mean 'il'?"),
        (b"age,ill\n1,yes\n2", "standard input: row 2 has 1 cell, but must have 2"),
    ):
        piped(content)
        code, out, err = command("compare", "-", "--target", "ill", *SMALL)
        assert (code, out) == (2, "")
        assert err.startswith(f"adacc: error: {said}")


def test_a_traceback_is_only_for_those_who_ask(here, monkeypatch):
    for broken in (False, True):
        if broken:  # a fault of ours has the same manners, and another code

            def run_comparison(*_):
                raise TypeError("oh")

            monkeypatch.setattr(adacc.comparison, "run_comparison", run_comparison)
        file = "clinic.csv" if broken else "nosuch.csv"
        code, out, err = command("compare", file, "--target", "ill", *SMALL)
        assert (code, out) == (1 if broken else 2, "")
        assert "Traceback" not in err
        assert ("internal error" in err) == broken
        code, out, err = command("compare", file, "--target", "ill", *SMALL, "--debug")
        assert (code, out) == (1 if broken else 2, "")
        assert err.startswith("Traceback (most recent call last):")


# Help


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "the following arguments are required: COMMAND"),
        (["compar"], 2, "invalid choice: 'compar' (choose from "),
        (["--help"], 0, "adacc compare claims.csv --target fraud"),
        (["compare", "--help"], 0, "adacc compare claims.csv --target fraud --report claims.html"),
        (["compare", "-h"], 0, "zcat big.csv.gz | adacc compare - --target churn"),
    ],
)
def test_help_teaches_by_examples(arguments, code, said):
    found, out, err = command(*arguments)
    assert found == code
    assert said in (err if code else out)
    assert (out if code else err) == ""


def test_help_of_compare_explains_every_option_within_its_columns():
    _, out, _ = command("compare", "--help")
    bare = re.findall(r"^  (--[a-z-]+|[A-Z]+)(?: \S+)?$(?!\n {10,}\S)", out, flags=re.M)
    assert bare == []
    before_examples = out.partition("examples:")[0].splitlines()
    assert max(map(len, before_examples)) <= 80


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    """Scripts by shell."""
    found = {}
    for shell in ("bash", "zsh"):
        code, out, err = command("completion", shell)
        assert (code, err) == (0, "")
        found[shell] = tmp_path_factory.mktemp(shell) / "adacc"
        found[shell].write_text(out)
    return found


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("adacc com", {"compare", "completion"}),
        ("adacc compare --metr", {"--metric"}),
        ("adacc compare --metric b", {"balanced_accuracy", "brier"}),
        ("adacc compare --re", {"--repeats", "--report"}),
    ],
)
def test_bash_completes(completion, typed, offered):
    script = (
        f"source {shlex.quote(str(completion['bash']))}; words=({typed}); COMP_WORDS=(${{words[@]}}); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
        "$(complete -p adacc | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.strip() for line in done.stdout.splitlines()} == offered


def test_zsh_has_a_script_too(completion):
    assert "compare" in completion["zsh"].read_text()
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n", completion["zsh"]], check=True, timeout=120)


# Right figures


def test_figures_are_those_of_scikit_learn_on_the_same_splits(here):
    result, _ = figures("clinic.csv", "--target", "ill", *SMALL, "--folds", 5, "--seed", 3)
    (line,) = result["methods"]
    table = patients()
    X, y = table.drop(columns="ill"), (table["ill"] == "yes").to_numpy().astype(int)
    X = X.astype({"town": "category", "insured": "category"})
    by_part = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(X, y):
        model = adacc.AdaCC1Classifier(n_estimators=8, pos_label=1).fit(X.iloc[train], y[train])
        told, score = model.predict(X.iloc[test]), model.decision_function(X.iloc[test])
        true = y[test]
        by_part.append(
            {
                "balanced_accuracy": balanced_accuracy_score(true, told),
                "tpr": recall_score(true, told),
                "tnr": recall_score(true, told, pos_label=0),
                "precision": precision_score(true, told, zero_division=0),
                "f1": f1_score(true, told),
                "auc": roc_auc_score(true, score),
                "average_precision": average_precision_score(true, score),
                "brier": brier_score_loss(true, model.predict_proba(X.iloc[test])[:, 1]),
            }
        )
    for name in by_part[0]:
        parts = [each[name] for each in by_part]
        assert line["metrics"][name]["by_fold"] == pytest.approx(parts, abs=1e-12), name
        assert line["metrics"][name]["mean"] == pytest.approx(np.mean(parts))
        assert line["metrics"][name]["std"] == pytest.approx(np.std(parts, ddof=1))
    data = result["data"]
    assert (data["rows"], data["positives"], data["positive"], data["negative"]) == (150, 30, "yes", "no")
    assert {each["name"]: each["kind"] for each in data["columns"]} == {
        "age": "number", "smokes": "boolean", "bmi": "number", "town": "category", "insured": "category"
    }  # fmt: skip


def write_forms():
    table = patients()
    table.to_csv("clinic.tsv", sep="\t", index=False)
    table.to_csv("clinic.csv.gz", index=False)
    table.to_parquet("clinic.parquet")
    table.to_feather("clinic.arrow")
    table.to_csv("my clinic: the 2nd (ä).csv", sep=";", index=False)


def test_every_form_of_a_table_gives_the_same_figures(here):
    write_forms()
    due, _ = figures("clinic.csv", "--target", "ill", *SMALL)
    for path in sorted(here.glob("*clinic*")):
        found, _ = figures(path.name, "--target", "ill", *SMALL)
        assert scores(found) == scores(due), path.name
        assert found["data"] == {**due["data"], "source": path.name}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow"])
def test_standard_input_may_have_any_form(here, piped, ending):
    write_forms()
    due, _ = figures("clinic.csv", "--target", "ill", *SMALL)
    piped(Path(f"clinic{ending}").read_bytes())
    found, out = figures("-", "--target", "ill", *SMALL)
    assert scores(found) == scores(due)
    assert "adacc train - --target ill" in out


@pytest.mark.compiled
def test_worker_processes_change_nothing(here):
    several = ["--target", "ill", "--methods", "adacc1,smoteboost,lightgbm", "--rounds", 5, "--folds", 3, "--quiet"]
    due, _ = figures("clinic.csv", *several, "--jobs", 1)
    found, _ = figures("clinic.csv", *several, "--jobs", 2)
    for result in (found, due):
        del result["created"], result["command"]
        for line in result["methods"]:
            line["metrics"].pop("seconds", None)
    assert found == due


def test_of_several_labels_the_one_that_was_named_is_trained(here):
    table = pd.read_csv("clinic.csv")
    kinds = np.where(table["ill"] == "yes", "yes", np.where(np.arange(len(table)) % 2 == 0, "no", "perhaps"))
    table.assign(ill=kinds).to_csv("several.csv", index=False)
    result, _ = figures("several.csv", "--target", "ill", *SMALL, "--positive", "perhaps")
    assert (result["data"]["positive"], result["data"]["negative"]) == ("perhaps", "other")
    assert shlex.split(result["model"]["train_command"])[7:9] == ["--positive", "perhaps"]


def test_the_other_label_may_be_the_one_to_be_found(here):
    of_ill, _ = figures("clinic.csv", "--target", "ill", *SMALL)
    of_well, out = figures("clinic.csv", "--target", "ill", *SMALL, "--positive", "no")
    assert (of_well["data"]["positive"], of_well["data"]["positives"]) == ("no", 120)
    assert "‘no’: 120 rows" in out
    assert "--positive no" in of_well["model"]["train_command"]
    ill, well = (scores(each)["adacc1"] for each in (of_ill, of_well))
    assert (well["tpr"]["by_fold"], well["tnr"]["by_fold"]) == (ill["tnr"]["by_fold"], ill["tpr"]["by_fold"])


@pytest.mark.parametrize("option", ["--drop", "--id"])
def test_a_column_that_leaks_is_told_and_can_be_left_out(here, option):
    due, out = figures("clinic.csv", "--target", "ill", *SMALL)
    assert "may leak the target" not in out
    table = patients()
    table.assign(fee=np.arange(150) % 7 + 20 * (table["ill"] == "yes")).to_csv("leaking.csv", index=False)
    leaking, out = figures("leaking.csv", "--target", "ill", *SMALL)
    assert "Warning: Column 'fee' may leak the target." in out
    assert leaking["methods"][0]["metrics"]["auc"]["mean"] == 1.0
    left_out, out = figures("leaking.csv", "--target", "ill", *SMALL, option, "fee")
    assert "may leak the target" not in out
    assert "Not used as features: ‘fee’." in out
    assert scores(left_out) == scores(due)
    assert f"{option} fee" in left_out["model"]["train_command"]


def test_of_a_large_table_a_sample_is_drawn_and_that_is_said(here):
    small = ["clinic.csv", "--target", "ill", *SMALL, "--max-rows", 60]
    result, out = figures(*small)
    assert (result["data"]["rows"], result["data"]["rows_used"], result["data"]["positives"]) == (150, 60, 12)
    assert "60 of 150 rows used" in out
    loud = [each for each in small if each != "--quiet"]
    code, _, err = command("compare", *loud)
    assert (code, err) == (0, "adacc: using a stratified random sample of 60 of 150 rows (--max-rows)\n")


@pytest.mark.parametrize("metric", ["brier", "auc", "precision"])
def test_methods_are_ranked_by_what_is_asked_for(here, metric):
    several = ["--methods", "adaboost,adacc1,adacc2,rareboost", "--metric", metric]
    result, out = figures("clinic.csv", "--target", "ill", *SMALL, *several)
    means = [line["metrics"][metric]["mean"] for line in result["methods"]]
    assert means == sorted(means, reverse=metric != "brier")
    head = next(line for line in out.splitlines() if "Method " in line)
    assert {"brier": "Brier", "auc": "AUC", "precision": "Precision"}[metric] in head
    assert result["methods"][0]["versus_best"] is None
    differences = [line["versus_best"]["difference"] for line in result["methods"][1:]]
    assert all(each >= 0 if metric == "brier" else each <= 0 for each in differences)


@pytest.mark.parametrize(
    ("given", "due"),
    [
        ("family", OWN),
        ("baselines", [name for name in COMMON if name not in OWN]),
        ("default", [*OWN, *(name for name in BASELINES if name in QUICK)]),
        ("all", [*OWN, *(name for name in COMMON if name not in OWN)]),
        ("lightgbm,adacc1,lightgbm", ["lightgbm", "adacc1"]),
        ("adacc2, family", ["adacc2", *(name for name in OWN if name != "adacc2")]),
    ],
)
def test_groups_of_methods_have_names(here, monkeypatch, given, due):
    asked = []

    def run_comparison(problem, splits, plan, n_jobs):
        asked.extend(plan.methods)
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr(adacc.comparison, "run_comparison", run_comparison)
    code, out, err = command("compare", "clinic.csv", "--target", "ill", *SMALL, "--methods", given, "--json", "x.json")
    assert (code, out, err) == (130, "", "\nadacc: interrupted before the first result\n")
    assert not Path("x.json").exists()
    assert asked == [name for name in due if name in available_methods()]


def failing(parts):
    """A method that cannot do some of the parts, as they come."""
    calls = []

    def found(fold):
        if fold.rounds != [WARM_UP_ROUNDS]:
            calls.append(fold)
        if len(calls) in parts:
            raise RuntimeError("the library is of another opinion")
        return lambda X: {1: np.where(X["age"] > 45, 1.0, -1.0)}

    return replace(BASELINES["logistic-regression"], fit_scorer=found)


@pytest.mark.parametrize("parts", [(1,), (1, 2, 3)])
def test_a_method_that_fails_is_a_line_and_has_no_place(here, monkeypatch, parts):
    monkeypatch.setitem(BASELINES, "logistic-regression", failing(parts))
    result, out = figures("clinic.csv", "--target", "ill", *SMALL, "--methods", "adacc1,logistic-regression")
    assert [line["name"] for line in result["methods"]] == ["adacc1", "logistic-regression"]
    check("compare", result)
    assert result["methods"][1]["metrics"] == {}
    assert result["methods"][1]["failed"]["folds"] == len(parts)
    assert f"Logistic regression failed in {len(parts)} of 3 folds: RuntimeError: the library is of another" in out


def test_where_all_methods_fail_there_is_nothing_to_write(here, monkeypatch):
    monkeypatch.setitem(BASELINES, "logistic-regression", failing((1, 2, 3)))
    arguments = ["clinic.csv", "--target", "ill", *SMALL, "--methods", "logistic-regression", "--json", "x.json"]
    code, out, err = command("compare", *arguments)
    assert (code, out) == (2, "")
    assert err == (
        "adacc: error: no method completed all folds: Logistic regression: RuntimeError: the library is of another "
        "opinion\n"
    )
    assert not Path("x.json").exists()


def test_the_model_is_of_the_best_method_that_can_learn_from_all_rows(here):
    """SMOTEBoost takes no gaps in rare rows: without the one that has any it would be fine."""
    table = patients().drop(columns=["town", "insured"])
    rare = table.index[table["ill"] == "yes"]
    table.loc[rare, "bmi"] = 30.0
    table.loc[rare[0], "bmi"] = None
    table.to_csv("gap.csv", index=False)
    result, out = figures("gap.csv", "--target", "ill", *SMALL, "--methods", "smoteboost,adacc1")
    failed = {line["name"]: line["failed"] for line in result["methods"]}
    assert failed["smoteboost"]["folds"] == 2
    assert (result["model"]["method"], failed["adacc1"]) == ("adacc1", None)
    assert "--method adacc1 " in out


def test_the_printed_command_trains_the_described_model(here):
    """A method that draws rows, with another seed than the default."""
    given = ("--target", "ill", *SMALL, "--methods", "rusboost", "--seed", 11)
    result, out = figures("clinic.csv", *given)
    printed = shlex.split(out.rstrip().splitlines()[-1].removeprefix("Next: "))
    assert printed == shlex.split(result["model"]["train_command"])
    for words, is_same in ((printed, True), ([*printed, "--seed", "12"], False)):
        code, _, err = command(*words[1:])
        assert code == 0, err
        model = adacc.load("clinic.adacc")
        described = describe_model(model, "yes", set(), pd.read_csv("clinic.csv")[model.feature_names_in_])
        assert (described["importances"] == result["model"]["importances"]) is is_same


def test_a_forest_that_wins_is_described_and_trained_as_printed(here):
    """It is of its own size, whatever the rounds of the others are."""
    result, out = figures("clinic.csv", "--target", "ill", *SMALL, "--methods", "adacc-forest", "--report", "r.html")
    (line,) = result["methods"]
    assert (line["label"], line["own"]) == ("AdaCC forest", True)
    model, bags = result["model"], 120
    assert (model["method"], model["bags"], model["rounds_history"]) == ("adacc-forest", bags, None)
    assert 0 < model["main_share"] <= 1
    assert [shape["feature"] for shape in model["shapes"]] == [each["feature"] for each in model["importances"]][:9]
    page = Path("r.html").read_text()
    assert f"AdaCC forest with {model['rounds']:,} trees on {bags} bags uses" in page
    assert "<h3>Training by round</h3>" not in page
    assert out.endswith(f"Next: {model['train_command']}\n")
    assert command(*shlex.split(model["train_command"])[1:])[0] == 0
    trained = adacc.load("clinic.adacc")
    assert (trained.n_estimators, trained.n_iter_) == ("auto", model["rounds"])
    shares = dict(zip(trained.feature_names_in_, trained.fitted_model_.effect_shares(), strict=True))
    assert {each["feature"]: each["share"] for each in model["importances"]} == pytest.approx(
        {name: share for name, share in shares.items() if share}
    )


def test_a_difference_that_is_the_same_in_all_parts_has_no_p_value(here, monkeypatch):
    """All parts perfect against all parts at random: without a spread, the t-test is undefined."""
    perfect = replace(BASELINES["logistic-regression"], fit_scorer=lambda _: lambda X: {1: X["fee"].to_numpy() - 10.0})
    blind = replace(BASELINES["lightgbm"], fit_scorer=lambda _: lambda X: {1: np.ones(len(X))})
    monkeypatch.setitem(BASELINES, "logistic-regression", perfect)
    monkeypatch.setitem(BASELINES, "lightgbm", blind)
    table = patients()
    table.assign(fee=np.arange(150) % 7 + 20 * (table["ill"] == "yes")).to_csv("leaking.csv", index=False)
    result, out = figures("leaking.csv", "--target", "ill", *SMALL, "--methods", "lightgbm,logistic-regression")
    second = result["methods"][1]
    untested = {"low": None, "high": None, "p": None, "significant": False}
    assert second["versus_best"] == {"difference": -0.5, "folds": 3, **untested}
    assert "≈" not in out
    assert "which cannot be tested as it is the same in all folds" in " ".join(out.split())


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({}, id="200 rows"),
        pytest.param(None, id="one feature"),
        pytest.param({"ill": [10.0 * (i % 5 > 0) - 1 for i in range(200)]}, id="labels are numbers"),
        pytest.param({"ill": [i % 5 == 0 for i in range(200)]}, id="labels are booleans"),
    ],
)
def test_small_and_odd_tables_will_do(here, columns):
    table = patients(200)
    table = table[["age", "ill"]] if columns is None else table.assign(**columns)
    table.to_csv("odd.csv", index=False)
    result, _ = figures("odd.csv", "--target", "ill", *SMALL)
    assert result["data"]["positives"] == table["ill"].value_counts().min()


def test_the_built_in_digits_need_no_option(here):
    result, out = figures(*SMALL)
    assert (result["data"]["rows"], result["data"]["positives"]) == (1797, 174)
    assert out.startswith("digits: ‘8’: 174 rows (9.7%, 1 to 9.3); ‘other’: 1,623 rows.")
    assert result["model"]["train_command"] is None
    assert "Next:" not in out


def test_splits_by_group_and_by_time(here):
    table = patients()
    table.assign(ward=[f"w{i % 6}" for i in range(150)], day=pd.date_range("2024-01-01", periods=150)[::-1]).to_csv(
        "clinic.csv", index=False
    )
    for option, other, said in (("group", "day", "grouped by 'ward'"), ("time", "ward", "in time order of 'day'")):
        column = {"group": "ward", "time": "day"}[option]
        result, out = figures("clinic.csv", "--target", "ill", *SMALL, f"--{option}", column, "--drop", other)
        assert f"3 folds, {said}; 8 rounds" in out
        assert {each["name"] for each in result["data"]["columns"]} == {"age", "smokes", "bmi", "town", "insured"}
        words = shlex.split(result["model"]["train_command"])
        assert words[words.index("--drop") + 1] == other
        assert words[words.index(f"--{option}") + 1] == column


# Names that nobody would choose


HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "rich": "[red]x[/red] [/]",
    "template": "{{ 7 * 7 }} {x} %d %s",
    "escape": "\x1b[31mred\x07",
    "newline": "two\nlines",
    "quotes": 'it\'s "so" `so` $HOME ‘so’',
    "unicode": "日本語のとても長い列の名前 ñ 😀",
    "long": "n" * 300,
    "space": " ill ",
}


@pytest.mark.parametrize(
    "name", thinned(HOSTILE.values(), [HOSTILE[name] for name in ("template", "unicode", "long", "space")]), ids=HOSTILE
)
def test_hostile_names_and_labels_do_no_harm(here, name):
    table = patients().rename(columns={"age": f"{name}!", "ill": name})
    table[name] = np.where(table[name] == "yes", name, "no")
    table[f"{name}!"] = np.where(table[name] == name, 30.0, 10.0)  # a leak is told by its name
    table.to_csv("hostile.csv", index=False)
    result, out = figures("hostile.csv", "--target", name, *SMALL, "--report", "r.html")
    assert (result["data"]["target"], result["data"]["positive"]) == (name, name)
    assert ESCAPE not in out
    assert "\x07" not in out
    assert "Warning: Column" in out
    page = Path("r.html").read_text()
    assert "<script>alert" not in page
    if name.isprintable():  # what comes next can be copied
        assert shlex.split(result["model"]["train_command"])[3:5] == ["--target", name]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are text there")
def test_a_file_whose_name_is_no_text(here):
    path = os.fsdecode(b"caf\xe9.csv")
    shutil.copy("clinic.csv", path)
    result, _ = figures(path, "--target", "ill", *SMALL, "--report", "r.html")
    assert result["data"]["source"] == "caf?.csv"
    assert "caf?.csv" in Path("r.html").read_text()


@pytest.mark.thorough
def test_a_reader_that_goes_away_is_no_fault(here):
    run = ["compare", "clinic.csv", "--target", "ill", *map(str, SMALL), "--json", "x.json"]
    process = subprocess.Popen([*ADACC, *run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (0, "")
    assert json.loads(Path("x.json").read_text())["stopped"] is False


def html_table(page):
    """Column heads and cells (text before the standard deviation, sort key) of the ranking in a report."""
    table = re.search(r'<table class="ranking.*?</table>', page, re.DOTALL)[0]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", table)
    rows = re.findall(r"<tr class=\"?[^>]*>.*?</tr>|<tr>\n<td.*?</tr>", table, re.DOTALL)
    cell = r'<td class="number" data-head="([^"]*)" data-sort="([^"]*)">([^<]*?) ?(?:<small>([^<]*)</small>)?</td>'
    return heads, [{head: (sort, text, std) for head, sort, text, std in re.findall(cell, row)} for row in rows]


def test_terminal_json_and_report_have_the_same_names_units_and_numbers(here):
    methods = ["--methods", "adacc1,adaboost", "--rounds", 8, "--folds", 3, "--jobs", 1, "--quiet"]
    result, out = figures("clinic.csv", "--target", "ill", *methods, "--report", "report.html")
    heads, rows = html_table(Path("report.html").read_text(encoding="utf-8"))
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["Method"])
    for rank, (method, row) in enumerate(zip(result["methods"], rows, strict=True), start=1):
        line = lines[start + rank]
        assert method["label"] in line
        for name, values in method["metrics"].items():
            measure = MEASURES[name]
            assert measure.short in heads
            sort, text, std = row[measure.short]
            assert float(sort) == values["mean"]
            assert text == (f"{100 * values['mean']:.1f}%" if measure.percent else shown(name, values["mean"]))
            if name != "precision":  # not in the terminal's table
                assert measure.short in lines[start]
                assert f" {text} {std}" in line
            if name != "seconds":
                assert 0.0 <= values["mean"] <= 1.0

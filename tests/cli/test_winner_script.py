"""The script that trains a baseline that won: it finds what the comparison found, and stores a model."""

import json
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from small_study import command

BASIC = ["--rounds", 10, "--folds", 3, "--jobs", 1, "--quiet"]
TWO = [*BASIC, "--methods", "adaboost,lightgbm-threshold"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Only the product of two numbers tells the class, which stumps do not find; categories, booleans and gaps."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["a", 'b\'s; "c"'])
    frame["town"] = rng.choice(["Bonn", "Köln", "Ulm"], n)
    frame["old"] = rng.random(n) < 0.5
    frame["ward"] = np.arange(n) // 4 % 30
    frame["ill"] = np.where((frame.iloc[:, 0] * frame.iloc[:, 1] > 0) ^ (frame["town"] == "Ulm"), "no", "yes")
    frame["kind"] = np.where(frame["ill"] == "no", "none", np.where(frame["a"] > 0, "mild", "bad"))
    frame.loc[::9, "a"] = None
    frame.loc[::11, "town"] = None
    frame.to_csv("xor.csv", index=False)
    return frame


def compare(*arguments):
    code, out, err = command("compare", *arguments, "--json", "x.json")
    assert (code, err) == (0, "")
    return json.loads(Path("x.json").read_text()), out


def check_script(result, path, metric="balanced_accuracy"):
    """The script prints the figure of the table."""
    assert Path(path).read_text(encoding="utf-8") == result["winner_script"]
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    name, figure = done.stdout.splitlines()[0].split(": ")
    assert name == metric
    best = result["methods"][0]
    assert abs(float(figure) - best["metrics"][metric]["mean"]) < 1e-9
    if "encodings" in best:
        assert len(best["encodings"]) == result["protocol"]["n_folds"]
        assert (
            f"chose these encodings of the categories, as `fit` does again: {', '.join(best['encodings'])}.\n"
            in (result["winner_script"])
        )
        assert f"encoding of categories: {joblib.load('xor.joblib').encoding_}" in done.stdout
    else:
        assert "encoding" not in result["winner_script"].replace("encoding=", "")


def test_groups_categories_gaps_and_a_sample(table):
    options = ["--target", "ill", "--group", "ward", "--drop", "kind", "--max-rows", 350, "--positive", "no"]
    result, out = compare("xor.csv", *options, *TWO, "--script", "train.py", "--report", "r.html")
    assert result["methods"][0]["name"] == "lightgbm-threshold"
    assert [("encodings" in each) for each in result["methods"]] == [True, False]  # AdaBoost is adacc's own
    assert "A baseline won: it is ahead of AdaBoost by " in " ".join(out.split())
    assert "AdaBoost is the best method of adacc." in " ".join(out.split())
    assert out.splitlines()[-3:-1] == ["Python script that trains LightGBM + threshold:", "  train.py"]
    assert out.splitlines()[-1].startswith("Next: adacc train xor.csv --target ill --method adaboost ")
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<h3>Python script to train LightGBM + threshold, the best method</h3>" in page
    assert "table = read_problem(open_table(" in page
    check_script(result, "train.py")
    model = joblib.load("xor.joblib")
    X = table.drop(columns=["ward", "ill", "kind"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == list(X)
    assert (model.predict(X) == table["ill"]).mean() > 0.7


def test_several_classes_and_another_metric(table):
    options = ["--target", "kind", "--drop", "ill", "--categorical", "ward"]
    options += ["--metric", "macro_f1", "--repeats", 2, "--seed", 3]
    result, _ = compare("xor.csv", *options, *BASIC, "--methods", "adaboost,lightgbm", "--script", "train.py")
    assert result["methods"][0]["name"] == "lightgbm"
    check_script(result, "train.py", "macro_f1")
    assert joblib.load("xor.joblib").classes_.tolist() == ["bad", "mild", "none"]


def test_time_order_text_format_and_one_class_of_several(table):
    table.rename(columns={"ward": "day"}).to_csv("xor.txt.csv", index=False, sep="|", decimal=",")
    options = [
        "--target",
        "kind",
        "--positive",
        "none",
        "--time",
        "day",
        "--drop",
        "ill",
        "--sep",
        "|",
        "--decimal",
        ",",
    ]
    result, _ = compare("xor.txt.csv", *options, *TWO, "--script", "train.py", "--metric", "auc")
    assert result["methods"][0]["name"] == "lightgbm-threshold"
    check_script(result, "train.py", "auc")
    assert joblib.load("xor.joblib").classes_.tolist() == ["none", "other"]


def test_where_a_method_of_adacc_wins_its_command_is_enough(table):
    code, out, err = command("compare", "xor.csv", "--target", "ill", *BASIC, "--methods", "adacc1", "--script", "t.py")
    assert code == 0
    assert err == (
        "adacc: --script: no file is written, since AdaCC1 is a method of adacc, which `adacc train` trains\n"
    )
    assert not Path("t.py").exists()
    assert "Python script" not in out


def test_the_digits_need_no_file(table):
    result, out = compare(*BASIC, "--methods", "logistic-regression")
    assert "Python script that trains Logistic regression:\n  winner_script of x.json\n" in out
    Path("train.py").write_text(result["winner_script"], encoding="utf-8")
    check_script(result, "train.py")
    assert joblib.load("digits.joblib").classes_.tolist() == ["8", "other"]


def test_outputs_are_different_files(table):
    code, _, err = command("compare", "xor.csv", "--target", "ill", *TWO, "--json", "x", "--script", "x")
    assert code == 2
    assert "--json and --script must be different files, got x for both" in err

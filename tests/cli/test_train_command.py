"""`adacc train`: the held-out estimate, the metric and the JSON file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, recall_score, roc_auc_score
from small_study import command

import adacc
from adacc.comparison import held_out

FEATURES = ["amount", "town", "repeated", "insured", "age"]
DROP = ["--drop", "size,code", "--id", "claim", "--rounds", 8]


def train(table, tmp_path, *options):
    """The JSON file, the text and the model."""
    file, model = tmp_path / "train.json", tmp_path / "m.adacc"
    code, out, err = command("train", table, *options, "--json", file, "--model", model)
    assert (code, err) == (0, "")
    return json.loads(file.read_text()), out, adacc.load(model)


def rows(folder):
    """The training rows as the command reads them."""
    old = pd.read_parquet(folder / "old.parquet")
    return old.assign(insured=old["insured"].map(str, na_action="ignore"))


def compared(table, tmp_path, method, *options):
    """The measures of a method in `adacc compare`."""
    file = tmp_path / "compare.json"
    code, _, err = command(
        "compare", table, *options, "--methods", method, "--jobs", 1, "--quiet", "--json", file
    )  # fmt: skip
    assert (code, err) == (0, "")
    (line,) = json.loads(file.read_text())["methods"]
    return {name: each["by_fold"] for name, each in line["metrics"].items() if name != "seconds"}


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Patients of several visits; a patient's numbers are alike, and say little of other patients."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(60), 5)
    ill = rng.random(60) < 0.3
    frame = pd.DataFrame(rng.normal(size=(60, 3))[patient] + rng.normal(size=(300, 3)) / 50, columns=list("abc"))
    frame["a"] += 0.7 * ill[patient]
    frame = frame.assign(patient=patient, day=rng.permutation(300), ill=np.where(ill[patient], "yes", "no"))
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("method", "target"), [("adacc1", "outcome"), ("cgada", "outcome"), ("adacc2", "size")]
)  # fmt: skip
def test_the_estimate_is_that_of_compare(folder, tmp_path, method, target):
    """The same splits, costs tuned on the training rows of each, and measures."""
    drop = "size,code" if target == "outcome" else "outcome,code"
    options = ["--target", target, "--drop", drop, "--id", "claim", "--rounds", 8, "--folds", 4]
    found, _, _ = train(folder / "old.csv", tmp_path, *options, "--method", method)
    due = compared(folder / "old.csv", tmp_path, method, *options)
    measured = found["held_out"]["metrics"]
    assert measured.keys() == due.keys()
    for name, parts in due.items():
        np.testing.assert_allclose(measured[name]["by_fold"], parts, atol=1e-12)
    assert (found["held_out"]["estimate"], found["held_out"]["folds"]) == ("cross-validation", 4)


@pytest.mark.parametrize("split", [["--group", "patient", "--drop", "day"], ["--time", "day", "--drop", "patient"]])
def test_the_estimate_follows_groups_and_times(visits, tmp_path, split):
    options = ["--target", "ill", *split, "--rounds", 60]
    found, out, _ = train(visits, tmp_path, *options, "--method", "adacc1")
    due = compared(visits, tmp_path, "adacc1", *options)
    np.testing.assert_allclose(
        found["held_out"]["metrics"]["balanced_accuracy"]["by_fold"], due["balanced_accuracy"], atol=1e-12
    )
    rows = "rows, whole groups of 'patient' (5" if "--group" in split else "rows, later in 'day' than the training rows"
    assert f"Balanced accuracy on held-out {rows}" in out
    alone, _, _ = train(visits, tmp_path, "--target", "ill", "--drop", "patient,day", "--method", "adacc1")
    if "--group" in split:  # patients that are known are easy
        means = [each["held_out"]["metrics"]["balanced_accuracy"]["mean"] for each in (found, alone)]
        assert means[1] > means[0] + 0.1


SCORES = {
    "balanced_accuracy": lambda y, predicted, p: recall_score(y, predicted, average="macro"),
    "tnr": lambda y, predicted, p: recall_score(y, predicted, pos_label="fine"),
    "gmean": lambda y, predicted, p: np.sqrt(np.prod(recall_score(y, predicted, average=None))),
    "auc": lambda y, predicted, p: roc_auc_score(y == "fraud", p),
    "brier": lambda y, predicted, p: -brier_score_loss(y == "fraud", p),
}


@pytest.mark.parametrize("metric", SCORES)
def test_costs_are_those_of_the_best_metric(folder, tmp_path, metric):
    """Of ten candidates, fitted one by one."""
    found, out, model = train(
        folder / "old.csv", tmp_path, "--target", "outcome", *DROP, "--method", "csb1", "--metric", metric
    )
    old = rows(folder)
    values = {}
    for step in range(1, 11):
        costs = {"fine": step / 10, "fraud": 1.0}
        each = adacc.CSB1Classifier(n_estimators=8, costs=costs, pos_label="fraud").fit(old[FEATURES], old["outcome"])
        p = each.predict_proba(old[FEATURES])[:, 1]
        values[step / 10] = SCORES[metric](old["outcome"], each.predict(old[FEATURES]), p)
    best = max(values.values())
    assert values[found["costs"]["fine"]] == pytest.approx(best, abs=1e-12)
    assert min(values.values()) < best - 1e-6  # a choice
    assert model.costs == found["costs"]
    assert (found["metric"], found["costs_tuned_by"]) == (metric, metric)
    assert f"the costs of best {held_out_label(metric)} on the training rows" in out


def held_out_label(metric):
    return {"balanced_accuracy": "balanced accuracy", "brier": "Brier score"}.get(metric) or (
        metric.upper() if metric in ("tnr", "auc") else metric
    )


def test_text_and_json_are_one(folder, tmp_path):
    found, out, model = train(
        folder / "old.csv", tmp_path, "--target", "outcome", *DROP, "--method", "cgada", "--metric", "auc", "--decide",
        "recall>=0.9",
    )  # fmt: skip
    auc = found["held_out"]["metrics"]["auc"]
    assert f"AUC on held-out rows (5-fold cross-validation, without the decision rule): {auc['mean']:.3f} ±" in out
    assert f"± {auc['std']:.3f}. Recall in the table is on training rows." in out
    old = rows(folder)
    recall = recall_score(old["outcome"], model.predict(old[FEATURES]), average=None)
    assert found["training_recall"] == pytest.approx(recall)
    assert (found["classes"], found["positive"], found["negative"]) == (["fine", "fraud"], "fraud", "fine")
    assert (found["class_rows"], found["rows"], found["features"]) == ([210, 30], 240, 5)
    assert (found["rounds"], found["bags"], found["costs"]) == (model.n_iter_, None, model.costs)
    report = model.decision_.report
    assert found["decision"]["rule"] == "recall>=0.9"
    assert found["decision"]["threshold"] == model.decision_.threshold
    assert found["decision"]["report"]["achieved"]["recall"] == report.achieved["recall"]._asdict()


def test_the_forest_has_its_out_of_bag_rows(folder, tmp_path):
    options = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 6]
    found, _, model = train(folder / "old.csv", tmp_path, *options)
    assert found["held_out"]["estimate"] == "out-of-bag"
    assert found["held_out"]["metrics"]["balanced_accuracy"]["mean"] == model.oob_balanced_accuracy_
    assert model.objective == "balanced_accuracy"
    tuned, _, model = train(folder / "old.csv", tmp_path, *options, "--metric", "f1", "--folds", 2)
    assert model.objective == "f1"
    assert (tuned["held_out"]["estimate"], tuned["held_out"]["folds"]) == ("cross-validation", 2)


def test_many_rows_are_split_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(held_out, "SPLIT_ROWS_MIN", 239)
    options = ["--target", "outcome", *DROP, "--method", "adacc1"]
    found, out, _ = train(folder / "old.csv", tmp_path, *options)
    all_folds, _, _ = train(folder / "old.csv", tmp_path, *options, "--folds", 5)
    once, every = (each["held_out"]["metrics"]["balanced_accuracy"] for each in (found, all_folds))
    assert once == {
        "mean": every["by_fold"][-1],
        "std": None,
        "low": None,
        "high": None,
        "by_fold": every["by_fold"][-1:],
    }
    assert (found["held_out"]["estimate"], found["held_out"]["rows"]) == ("split", 48)
    assert "Balanced accuracy on held-out rows (48 rows, and a model of the others): " in out


def test_it_can_be_left_out(folder, tmp_path):
    found, out, _ = train(folder / "old.csv", tmp_path, "--target", "outcome", *DROP, "--method", "csb1", "--folds", 0)
    assert found["held_out"] is None
    assert "Recall on training rows is optimistic; `adacc compare` estimates it on held-out rows." in out


def test_threads_do_not_matter(folder, tmp_path):
    options = ["--target", "outcome", *DROP, "--method", "csb1"]
    one, two = (train(folder / "old.csv", tmp_path, *options, "--jobs", n) for n in (1, 2))
    assert one[0]["held_out"] == two[0]["held_out"]
    assert one[2].get_params() == two[2].get_params()
    assert one[2].n_jobs is None
    np.testing.assert_array_equal(one[2].estimator_weights_, two[2].estimator_weights_)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "outcome", "--metric", "macro_f1"], "--metric must be one of balanced_accuracy, gmean, tpr, "),
        (["--target", "size", "--metric", "f1"], "for 3 classes, got f1; --positive trains one class against the rest"),
        (["--target", "outcome", "--metric", "acuracy"], "argument --metric: invalid choice: 'acuracy'"),
        (["--target", "outcome", "--folds", "1"], "argument --folds: must be an integer of at least 2, or 0, got '1'"),
        (["--target", "outcome", "--folds", "31"], "fewer than the 31 folds; set --folds to at most 30"),
        (["--target", "outcome", "--jobs", "0"], "argument --jobs: must be an integer of at least 1"),
        (["--target", "outcome", "--json", "m.adacc"], "--model and --json must be different files"),
        (["--target", "outcome", "--json", "nosuch/m.json"], "directory nosuch does not exist"),
    ],
)
def test_what_will_not_do(folder, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    drop = ["--drop", "size,code" if "outcome" in options else "outcome,code", "--id", "claim", "--rounds", 4]
    code, out, err = command("train", folder / "old.csv", *options, *drop, "--method", "cgada", "--model", "m.adacc")
    assert (code, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


class TestCategorical:
    """A column of codes whose numbers say nothing, but whose values decide the class."""

    @pytest.fixture
    def table(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rng = np.random.default_rng(0)
        code = rng.integers(0, 60, 400) * 3
        frame = pd.DataFrame({"code": [f"{each:04d}" for each in code], "x": rng.normal(size=400).round(3)})
        frame["ill"] = np.where(code % 7 == 0, "yes", "no")
        frame.to_csv("codes.csv", index=False)
        return frame

    def test_zeros_are_kept_in_training_and_prediction(self, table):
        code, _, err = command(
            "train", "codes.csv", "--target", "ill", "--method", "adacc1", "--categorical", "code", "--model", "m.adacc"
        )
        assert (code, err) == (0, "")
        model = adacc.load("m.adacc")
        assert model.predict(table[["code", "x"]].astype({"code": "category"})).tolist() == table["ill"].tolist()
        assert command("predict", "m.adacc", "codes.csv", "-o", "p.csv")[0] == 0
        assert pd.read_csv("p.csv")["prediction"].tolist() == table["ill"].tolist()

    def test_without_it_a_note_names_the_option(self, table):
        code, _, err = command(
            "train", "codes.csv", "--target", "ill", "--method", "adacc1", "--model", "m.adacc", "--folds", 0
        )
        assert (code, err) == (
            0,
            f"adacc: codes.csv: column 'code' contains numbers with leading zeros, such as {table['code'][0]!r}; they "
            "are read as numbers. If they are codes, read the column as categories (--categorical)\n",
        )

    def test_of_a_comparison(self, table):
        options = ["--target", "ill", "--categorical", "code", "--methods", "adacc1,lightgbm", "--quiet", "--jobs", 1]
        code, out, err = command("compare", "codes.csv", *options, "--json", "c.json")
        assert (code, err) == (0, "")
        result = json.loads(Path("c.json").read_text())
        assert {each["name"]: each["kind"] for each in result["data"]["columns"]} == {"code": "category", "x": "number"}
        assert " --categorical code " in out.rpartition("Next: ")[2]

"""train, predict, evaluate, explain: one trip after another, always the same as in Python."""

import gzip
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from small_study import command

import adacc
from adacc import metrics
from adacc.datasets.tables import EXACT
from adacc.tables import open_batches

FEATURES = ["amount", "town", "repeated", "insured", "age"]


def read(path):
    """The new claims as Python users have them, and what the model says of them."""
    frame = pd.read_parquet(path)
    frame["insured"] = frame["insured"].map({True: "True", False: "False"}).astype(object)
    return frame


@pytest.fixture
def new(folder):
    return read(folder / "new.parquet")


def notes(err):
    """Which columns were ignored; a line may follow on the town that no model has seen."""
    ignored, *others = err.splitlines()
    assert len(others) <= 1
    assert all("column 'town' in 1 of " in line for line in others)
    return ignored


def said_by(folder, model, *options):
    code, out, err = command("predict", folder / model, folder / "new.csv", "--id", "claim", *options)
    assert (code, notes(err)) == (0, "adacc: ignored columns: outcome, size, code")
    return pd.read_csv(io.StringIO(out), dtype={"claim": str}, **EXACT)


@pytest.mark.parametrize("name", ["outcome", "size", "code", "forest"])
def test_the_command_says_what_python_says(folder, new, name):
    model = adacc.load(folder / f"{name}.adacc")
    found = said_by(folder, f"{name}.adacc", "--proba")
    assert found.columns.tolist() == ["claim", "prediction", *(f"p_{label}" for label in model.classes_)]
    assert found["claim"].tolist() == new["claim"].tolist()
    assert found["prediction"].tolist() == model.predict(new[FEATURES]).tolist()
    np.testing.assert_array_equal(found.iloc[:, 2:].to_numpy(), model.predict_proba(new[FEATURES]))


def test_a_model_is_what_compare_judged(folder, tmp_path):
    """The same costs, by F1 on the training rows, and rounds; and what to know of it is noted."""
    from adacc.evaluation.training import fit_method
    from adacc.tables import check_features, kinds_of, read_frame

    drop = ["size", "code", "claim"]
    code, out, err = command(
        "train", folder / "old.parquet", "--target", "outcome", "--drop", "size,code", "--id", "claim", "--method",
        "cgada", "--rounds", 5, "--model", tmp_path / "m.adacc",
    )  # fmt: skip
    assert (code, err) == (0, "")
    frame = read_frame(folder / "old.parquet", drop, target="outcome")
    X, y = frame.drop(columns="outcome"), frame["outcome"].to_numpy()
    check_features(X)
    due, model = fit_method("cgada", X, y, "fraud", rounds=5), adacc.load(tmp_path / "m.adacc")
    np.testing.assert_array_equal(model.decision_function(X), due.decision_function(X))
    costs = model.costs
    assert costs == due.costs
    assert (
        f"costs: fine {costs['fine']:g}, fraud 1 (of ten candidates, the costs of best F1 on the training rows)\n"
        in out
    )
    recall = metrics.tpr(y, model.predict(X), pos_label="fraud")
    assert f"{'fraud (positive)':<16}    30  12.5%  {recall:>15.1%}\n" in out
    assert "method: cgada, 5 of 5 rounds\n" in out
    assert "Balanced accuracy on held-out rows (5-fold cross-validation): " in out
    assert set(model.notes_["training_rows"]) == {"salt", "fingerprints", "rows", "chance"}
    assert {name: each for name, each in model.notes_.items() if name != "training_rows"} == {
        "target": "outcome",
        "kinds": kinds_of(X),
        "positive": "fraud",
        "others": [],
        "command": f"adacc train {folder / 'old.parquet'} --target outcome --model {tmp_path / 'm.adacc'} "
        "--method cgada --drop size,code --id claim --duplicates auto --rounds 5 --seed 0",
        "source": str(folder / "old.parquet"),
        "class_rows": {"fine": 210, "fraud": 30},
    }


@pytest.mark.parametrize(
    ("target", "drop", "n_bags"), [("outcome", "size,code", 6 + 3 + 5 + 5), ("size", "outcome,code", 6 + 3 + 3)]
)
def test_a_forest_is_trained_like_any_method(folder, tmp_path, target, drop, n_bags):
    """Of two classes and of more; its rounds are bags, and what it says of itself is of rows out of them."""
    options = ["--target", target, "--drop", drop, "--id", "claim", "--method", "adacc-forest", "--rounds", 6]
    options += ["--calibrate", "sigmoid", "--seed", 3, "--model", tmp_path / "m.adacc"]
    code, out, err = command("train", folder / "old.csv", *options)
    assert (code, err) == (0, "")
    old, model = read(folder / "old.parquet"), adacc.load(tmp_path / "m.adacc")
    due = adacc.AdaCCForestClassifier(n_estimators=6, calibration="sigmoid", random_state=3)
    due.fit(old[FEATURES], old[target])
    np.testing.assert_array_equal(model.predict_proba(old[FEATURES]), due.predict_proba(old[FEATURES]))
    assert f"method: adacc-forest, {model.n_iter_} trees on {n_bags} bags\n" in out
    assert f"Balanced accuracy on out-of-bag rows: {due.oob_balanced_accuracy_:.1%}. Recall in the table is on" in out
    assert "optimistic" not in out
    assert "costs:" not in out


@pytest.mark.parametrize(("method", "size"), [("adaboost", "100 of 100 rounds"), ("adacc-forest", "on 120 bags")])
def test_without_a_number_of_rounds_a_model_is_as_python_has_it(folder, tmp_path, method, size):
    asked = ["--method", method, "--drop", "size,code", "--id", "claim", "--model", tmp_path / "m.adacc"]
    code, out, err = command("train", folder / "old.csv", "--target", "outcome", *asked)
    assert (code, err) == (0, "")
    assert size in out
    model = adacc.load(tmp_path / "m.adacc")
    assert model.n_estimators == type(model)().n_estimators


def test_where_no_row_is_out_of_the_bags_recall_flatters(tmp_path):
    """Of a class with a single row."""
    frame = pd.DataFrame({"a": np.arange(20) % 7, "y": np.where(np.arange(20) == 0, "fraud", "fine")})
    frame.to_csv(tmp_path / "few.csv", index=False)
    options = ["--target", "y", "--method", "adacc-forest", "--rounds", 2, "--model", tmp_path / "m.adacc"]
    code, out, _ = command("train", tmp_path / "few.csv", *options)
    assert (code, np.isnan(adacc.load(tmp_path / "m.adacc").oob_balanced_accuracy_)) == (0, True)
    assert "Recall on training rows is optimistic. There is no held-out estimate: " in out
    assert "column 'y' has 1 row of 'fraud', fewer than the 5 folds; more are needed." in out


def test_columns_are_read_as_the_model_knows_them(folder):
    """The model itself knows what `train` noted."""
    from adacc.cli.model_file import open_model_file

    for target in ("outcome", "size", "code"):
        saved = open_model_file(folder / f"{target}.adacc")
        assert saved.kinds == saved.notes["kinds"]
    assert set(saved.kinds.values()) == {"number", "category", "boolean", "boolean category"}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_standard_input_in_every_form(folder, tmp_path, piped, form):
    content = (folder / f"old.{form}").read_bytes()
    piped(content)
    options = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 8, "--method", "adacc1"]
    assert command("train", "-", *options, "--model", tmp_path / "m.adacc")[0] == 0
    assert adacc.load(tmp_path / "m.adacc").notes_["source"] == "-"
    due = command("predict", folder / "outcome.adacc", folder / "old.csv")
    piped(gzip.compress(content) if form == "csv" else content)
    assert command("predict", tmp_path / "m.adacc", "-")[1] == due[1]
    piped(content)
    code, out, _ = command("evaluate", tmp_path / "m.adacc", "-")
    assert (code, out.splitlines()[0]) == (0, f"{tmp_path / 'm.adacc'} on 240 rows of standard input")
    piped(content)
    assert command("explain", tmp_path / "m.adacc", "-", "--row", 3)[0] == 0


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".arrow", ".feather"])
def test_answers_go_to_files_of_any_form(folder, tmp_path, ending):
    due = said_by(folder, "code.adacc", "--proba")
    path = tmp_path / f"scores{ending}"
    path.write_text("what was there before")
    code, out, _ = command(
        "predict", folder / "code.adacc", folder / "new.csv", "--id", "claim", "--proba", "-o", path
    )  # fmt: skip
    n = int(due["prediction"].sum())
    assert (code, out) == (0, f"{path}: 130 rows, predicted {130 - n} 0, {n} 1\n")
    if ending in (".arrow", ".feather"):
        found = pd.read_feather(path)
    elif ending == ".parquet":
        found = pd.read_parquet(path)
    else:
        found = pd.read_csv(path, sep="\t" if ".tsv" in ending else ",", dtype={"claim": str}, **EXACT)
    pd.testing.assert_frame_equal(found, due)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_id_is_passed_on_as_it_is(folder, tmp_path):
    """From typed files too: numbers with gaps stay whole numbers."""
    frame = pd.read_parquet(folder / "new.parquet")
    frame["claim"] = pd.array([None if i == 3 else 2**60 + i for i in range(130)], dtype="Int64")
    frame.to_parquet(tmp_path / "new.parquet", row_group_size=50)
    code, out, _ = command("predict", folder / "outcome.adacc", tmp_path / "new.parquet", "--id", "claim")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()[2:6]] == [
        str(2**60 + 1),
        str(2**60 + 2),
        "",
        str(2**60 + 4),
    ]
    command(
        "predict", folder / "outcome.adacc", tmp_path / "new.parquet", "--id", "claim", "-o", tmp_path / "s.parquet"
    )
    assert pd.read_parquet(tmp_path / "s.parquet", dtype_backend="numpy_nullable")["claim"].equals(frame["claim"])


def test_an_id_that_begins_with_a_gap_may_be_text(folder, tmp_path, monkeypatch):
    """The first rows decide on the types of the file that is written."""
    monkeypatch.setattr("adacc.tables.batches.ROWS", 50)
    frame = pd.read_parquet(folder / "new.parquet")
    frame.loc[:59, "claim"] = None
    frame.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "s.parquet"
    code, _, err = command("predict", folder / "outcome.adacc", tmp_path / "new.csv", "--id", "claim", "-o", out)
    assert code == 0, err
    assert pd.read_parquet(out)["claim"].dropna().tolist() == frame["claim"].dropna().tolist()


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_a_threshold_is_of_the_class_to_be_found(folder, new, threshold):
    model = adacc.load(folder / "outcome.adacc")
    p = model.predict_proba(new[FEATURES])[:, model.classes_.tolist().index("fraud")]
    due = np.where(p >= threshold, "fraud", "fine").tolist()
    assert said_by(folder, "outcome.adacc", "--threshold", threshold)["prediction"].tolist() == due
    code, out, _ = command("evaluate", folder / "outcome.adacc", folder / "new.csv", "--threshold", threshold)
    caught = sum(said == "fraud" == true for said, true in zip(due, new["outcome"], strict=True))
    assert (code, f"{caught} true positives" in out) == (0, True)


def test_a_probability_that_is_the_threshold_is_enough(folder):
    p = said_by(folder, "outcome.adacc", "--proba")["p_fraud"]
    threshold = sorted(p.tolist())[65]
    found = said_by(folder, "outcome.adacc", "--threshold", threshold)["prediction"] == "fraud"
    assert found.tolist() == (p >= threshold).tolist() != (p > threshold).tolist()


def test_the_class_to_be_found_may_be_the_first(folder, tmp_path, new):
    """Of two labels in their order; measures, thresholds and explanations are of that one."""
    options = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 8, "--positive", "fine"]
    path, rows = tmp_path / "m.adacc", folder / "new.csv"
    assert command("train", folder / "old.csv", *options, "--model", path)[0] == 0
    model, X = adacc.load(path), new[FEATURES]
    assert (model.pos_label, model.classes_.tolist()) == ("fine", ["fine", "fraud"])
    p, scores = model.predict_proba(X)[:, 0], -model.decision_function(X)
    said = np.where(p >= 0.8, "fine", "fraud")
    assert command("predict", path, rows, "--threshold", 0.8)[1].split()[1:] == said.tolist()
    command("evaluate", path, rows, "--threshold", 0.8, "--json", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    assert found["positive"] == "fine"
    due = metrics.evaluate(new["outcome"], said, scores, pos_label="fine")
    assert {name: found["measures"][name] for name in due} == pytest.approx(due)
    out = command("explain", path, rows, "--row", 9)[1]
    assert f"The probability of fine is {p[8]:.1%}." in out
    assert out.endswith(f"  {scores[8]:+8.3f}\n")
    shapes = command("explain", path)[1].partition("positive supports fine:")[2]
    missing = -model.shape_functions()["amount"].missing
    assert re.search(rf"^  \(missing\) +{re.escape(f'{missing:+.2f}')} ", shapes.partition("\namount\n")[2], re.M)


def test_a_table_without_rows_has_no_answers(folder, tmp_path):
    header = (folder / "new.csv").read_text().splitlines()[0]
    (tmp_path / "none.csv").write_text(f"{header}\n")
    asked = ["predict", folder / "outcome.adacc", tmp_path / "none.csv", "--proba", "--id", "claim"]
    assert command(*asked)[:2] == (0, "claim,prediction,p_fine,p_fraud\n")
    assert command(*asked, "-o", tmp_path / "s.parquet")[0] == 0
    found = pd.read_parquet(tmp_path / "s.parquet")
    assert (found.shape, found["p_fine"].dtype) == ((0, 4), np.float64)


def test_columns_go_by_name_and_strangers_are_named(folder, tmp_path, new):
    shuffled = new[[*reversed(FEATURES)]].assign(a=1, b=2, c=3, d=4)
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = command("predict", folder / "outcome.adacc", tmp_path / "new.csv")
    assert (code, notes(err)) == (0, "adacc: ignored columns: a, b, c and 1 more")
    assert out.split()[1:] == adacc.load(folder / "outcome.adacc").predict(new[FEATURES]).tolist()


def test_one_class_against_the_others(folder, tmp_path, new):
    options = ["--drop", "outcome,code", "--id", "claim", "--rounds", 8, "--model", tmp_path / "m.adacc"]
    code, out, err = command("train", folder / "old.csv", "--target", "size", "--positive", "small", *options)
    assert (code, err) == (0, "")
    assert "small (positive)" in out
    model = adacc.load(tmp_path / "m.adacc")
    assert model.classes_.tolist() == ["other", "small"]
    assert sorted(model.notes_["others"]) == ["large", "middle"]
    command("evaluate", tmp_path / "m.adacc", folder / "new.csv", "--json", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    true, said = new["size"] == "small", model.predict(new[FEATURES]) == "small"
    assert found["measures"]["tpr"] == metrics.tpr(true, said, pos_label=True)
    assert (found["positive"], found["negative"]) == ("small", "other")
    relabelled = new.assign(size=np.where(true, "small", "other"))  # the others may be called by their new name
    relabelled.to_csv(tmp_path / "new.csv", index=False)
    command("evaluate", tmp_path / "m.adacc", tmp_path / "new.csv", "--json", tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["measures"] == found["measures"]


def test_the_one_class_may_itself_be_called_other(folder, tmp_path):
    frame = pd.read_csv(folder / "old.csv").assign(size=lambda frame: frame["size"].replace("small", "other"))
    frame.to_csv(tmp_path / "old.csv", index=False)
    options = ["--drop", "outcome,code", "--id", "claim", "--rounds", 4, "--model", tmp_path / "m.adacc"]
    assert command("train", tmp_path / "old.csv", "--target", "size", "--positive", "other", *options)[0] == 0
    assert adacc.load(tmp_path / "m.adacc").classes_.tolist() == ["all others", "other"]


def test_costs_are_taken_by_label(folder, tmp_path):
    options = ["--drop", "outcome,size", "--id", "claim", "--rounds", 4, "--method", "cgada"]
    options += ["--model", tmp_path / "m.adacc", "--target", "code"]
    for given, due in (("1=20,0.0=1", {1: 20.0, 0: 1.0}), ("balanced", "balanced")):
        code, out, err = command("train", folder / "old.csv", *options, "--costs", given)
        assert (code, err) == (0, "")
        assert adacc.load(tmp_path / "m.adacc").costs == due
        assert "of ten candidates" not in out
    assert command("train", folder / "old.csv", *options, "--calibrate", "sigmoid")[0] == 0
    model = adacc.load(tmp_path / "m.adacc")
    assert (model.calibration, model.calibration_cv) == ("sigmoid", 5)


@pytest.mark.parametrize("method", ["adacc1", "cgada", "adacc-forest"])
@pytest.mark.parametrize(("positive", "sign"), [("fraud", 1), ("fine", -1)])
def test_constraints_are_of_the_positive_class(folder, tmp_path, new, method, positive, sign):
    options = ["--target", "outcome", "--positive", positive, "--drop", "size,code", "--id", "claim", "--rounds", 6]
    options += ["--method", method, "--model", tmp_path / "m.adacc", "--monotonic", "age=+1,amount=-1"]
    code, _, err = command("train", folder / "old.csv", *options)
    assert (code, err) == (0, "")
    model = adacc.load(tmp_path / "m.adacc")
    assert model.monotonic_cst == {"age": sign, "amount": -sign}  # fraud is the second class, fine the first
    assert " --monotonic age=1,amount=-1" in model.notes_["command"]
    rows = pd.concat([new.assign(age=float(age), town="Bonn") for age in range(15, 85, 5)])
    rising = model.predict_proba(rows[FEATURES])[:, model.classes_.tolist().index(positive)]
    assert (np.diff(rising.reshape(-1, len(new)), axis=0) >= 0.0).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("agee=1", "--monotonic must name features, got 'agee'; these are amount, town, repeated, insured, age"),
        ("claim=1", "--monotonic must name features, got 'claim'"),
        ("repeated=1", "--monotonic must name numeric features, got 'repeated', whose values are categories"),
        ("age=2", "argument --monotonic: must be COLUMN=+1 or COLUMN=-1 separated by commas, got 'age=2'"),
        ("age", "argument --monotonic: must be COLUMN=+1 or COLUMN=-1 separated by commas, got 'age'"),
    ],
)
def test_constraints_that_will_not_do(folder, tmp_path, given, said):
    options = ["--drop", "size,code", "--id", "claim", "--model", tmp_path / "m.adacc", "--monotonic", given]
    code, _, err = command("train", folder / "old.csv", "--target", "outcome", *options)
    assert code == 2
    assert said in err
    options[1] = "outcome,code"
    code, _, err = command("train", folder / "old.csv", "--target", "size", *options[:-1], "age=1")
    assert code == 2
    assert "--monotonic needs two classes; give the class to be found by --positive" in err


@pytest.mark.parametrize("name", ["outcome", "forest"])
def test_two_classes_are_evaluated_by_all_measures(folder, tmp_path, new, name):
    model = adacc.load(folder / f"{name}.adacc")
    code, out, err = command(
        "evaluate", folder / f"{name}.adacc", folder / "new.csv", "--json", tmp_path / "e.json"
    )  # fmt: skip
    assert (code, notes(err)) == (0, "adacc: ignored columns: claim, size, code")
    X, true = new[FEATURES], new["outcome"].to_numpy()
    at, said = model.classes_.tolist().index("fraud"), model.predict(X)
    scores = model.decision_function(X) * (1 if at == 1 else -1)
    due = metrics.evaluate(true, said, scores, pos_label="fraud")
    due["average_precision"] = average_precision_score(true == "fraud", scores)
    due["brier"] = brier_score_loss(true == "fraud", model.predict_proba(X)[:, at])
    caught, alarms = ((said == "fraud") & (true == label) for label in ("fraud", "fine"))
    due["precision"] = caught.sum() / (caught.sum() + alarms.sum())
    found = json.loads((tmp_path / "e.json").read_text())
    assert found["measures"] == pytest.approx(due)
    assert found["confusion"]["true_positives"] == caught.sum()
    assert found["confusion"]["false_positives"] == alarms.sum()
    names = ("true_positives", "false_negatives", "false_positives", "true_negatives")
    assert sum(found["confusion"][name] for name in names) == found["rows"] == 130
    assert f"F1: harmonic mean of precision and TPR        {due['f1']:.3f}\n" in out
    assert f"TPR: recall of fraud                          {due['tpr']:.1%}\n" in out


def test_more_classes_are_evaluated_one_by_one(folder, tmp_path, new, monkeypatch):
    model = adacc.load(folder / "size.adacc")
    said, probability = model.predict(new[FEATURES]), model.predict_proba(new[FEATURES])
    code, out, _ = command("evaluate", folder / "size.adacc", folder / "new.parquet", "--json", tmp_path / "e.json")
    assert code == 0
    found, labels = json.loads((tmp_path / "e.json").read_text()), ["large", "middle", "small"]
    assert found["classes"] == labels
    assert found["confusion"] == metrics.confusion(new["size"], said, labels=labels).tolist()
    assert found["measures"] == pytest.approx(
        {
            "balanced_accuracy": metrics.balanced_accuracy(new["size"], said),
            "gmean": metrics.gmean(new["size"], said),
            "macro_f1": f1_score(new["size"], said, average="macro"),
            "auc": roc_auc_score(new["size"], probability, multi_class="ovo"),
        }
    )
    of_class = {"labels": labels, "average": None, "zero_division": 0.0}
    for name, measure in (("recall", recall_score), ("precision", precision_score), ("f1", f1_score)):
        due = measure(new["size"], said, **of_class).tolist()
        assert [found["by_class"][label][name] for label in labels] == pytest.approx(due)
    assert found["recall"] == pytest.approx([(said[new["size"] == label] == label).mean() for label in labels])
    assert "predicted large  predicted middle  predicted small" in out
    monkeypatch.setenv("COLUMNS", "30")
    narrow = command("evaluate", folder / "size.adacc", folder / "new.parquet")[1]
    assert "said large  said middle" not in narrow
    assert "actual middle  predicted" in narrow


def test_labels_of_other_types_are_the_same_labels(folder, tmp_path, new):
    """A model of 0 and 1 is judged by true and false, by "1" and "0", by 1.0 and 0.0."""
    due = command("evaluate", folder / "code.adacc", folder / "new.csv")[1].partition("\n")[2]
    for number, column in enumerate((new["code"] == 1, new["code"].astype(float), new["code"].astype(str))):
        for ending in ("csv", "parquet"):
            path = tmp_path / f"new{number}.{ending}"
            changed = new.assign(code=column)
            changed.to_csv(path, index=False) if ending == "csv" else changed.to_parquet(path)
            assert command("evaluate", folder / "code.adacc", path)[1].partition("\n")[2] == due


def test_rows_of_one_class_leave_measures_open(folder, tmp_path, new):
    new[new["outcome"] == "fine"].to_csv(tmp_path / "fine.csv", index=False)
    code, out, err = command(
        "evaluate", folder / "outcome.adacc", tmp_path / "fine.csv", "--json", tmp_path / "e.json"
    )  # fmt: skip
    assert (code, notes(err)) == (0, "adacc: ignored columns: claim, size, code")
    measures = json.loads((tmp_path / "e.json").read_text())["measures"]
    undefined = ["tpr", "balanced_accuracy", "gmean", "f1", "auc", "average_precision", "opm"]
    assert [name for name, value in measures.items() if value is None] == undefined
    said = " ".join(out.split())
    assert (
        "There are no rows of class fraud, so these are undefined: TPR, balanced accuracy, gmean, F1, AUC, average "
        "precision, OPM."
    ) in said
    assert "and 0 rows are positive" in said
    assert "AUC: " not in out
    said = adacc.load(folder / "outcome.adacc").predict(new.loc[new["outcome"] == "fine", FEATURES])
    assert measures["tnr"] == pytest.approx((said == "fine").mean())
    assert f"{(said == 'fraud').sum()} false positives" in out


def test_rare_rows_alone_leave_measures_open(folder, tmp_path, new):
    new[new["outcome"] == "fraud"].to_csv(tmp_path / "fraud.csv", index=False)
    code, out, _ = command("evaluate", folder / "outcome.adacc", tmp_path / "fraud.csv", "--json", tmp_path / "e.json")
    measures = json.loads((tmp_path / "e.json").read_text())["measures"]
    undefined = ["tnr", "balanced_accuracy", "gmean", "auc", "average_precision", "opm"]
    assert (code, [name for name, value in measures.items() if value is None]) == (0, undefined)
    said = adacc.load(folder / "outcome.adacc").predict(new.loc[new["outcome"] == "fraud", FEATURES])
    assert measures["tpr"] == pytest.approx((said == "fraud").mean())
    assert measures["f1"] == pytest.approx(f1_score(["fraud"] * len(said), said, pos_label="fraud"))
    assert "There are no rows of class fine" in out


def test_classes_without_rows_are_named_among_many(folder, tmp_path, new):
    for kept, said in (
        (["large"], "All rows are of class large, so balanced accuracy, gmean, macro F1 and AUC are undefined."),
        (["large", "small"], "Balanced accuracy, gmean and AUC are means over the 2 classes that have rows."),
    ):
        new[new["size"].isin(kept)].to_csv(tmp_path / "some.csv", index=False)
        code, out, _ = command("evaluate", folder / "size.adacc", tmp_path / "some.csv", "--json", tmp_path / "e.json")
        measures = json.loads((tmp_path / "e.json").read_text())["measures"]
        assert (code, said in " ".join(out.split())) == (0, True)
        assert [value is None for value in measures.values()] == [len(kept) == 1] * 4


def python_model(tmp_path, X, y, **options):
    adacc.AdaCC1Classifier(n_estimators=6, **options).fit(X, y).save(tmp_path / "own.adacc")
    return tmp_path / "own.adacc"


def test_a_model_saved_by_python_will_do(folder, tmp_path, new):
    old = read(folder / "old.parquet")
    path = python_model(tmp_path, old[FEATURES], old["outcome"])
    due = adacc.load(path).predict(new[FEATURES]).tolist()
    assert command("predict", path, folder / "new.csv")[1].split()[1:] == due
    code, out, _ = command("evaluate", path, folder / "new.csv", "--target", "outcome")
    assert (code, "TPR: recall of fraud" in out) == (0, True)
    assert command("explain", path)[0] == 0
    code, _, err = command("evaluate", path, folder / "new.csv")
    assert (code, err) == (
        2,
        f"adacc: error: {path} does not store the name of its target column; give it with --target\n",
    )


def test_what_a_python_model_lacks_is_said(folder, tmp_path):
    old = read(folder / "old.parquet")
    path = python_model(tmp_path, old[["amount", "age"]].to_numpy(), old["outcome"])
    code, out, err = command("predict", path, folder / "new.csv")
    assert (code, out) == (2, "")
    assert err.startswith(f"adacc: error: {path} was trained on an array without column names")
    code, out, _ = command("explain", path)
    assert (code, "x0" in out) == (0, True)
    coded = old[["amount"]].assign(place=pd.Categorical(old["age"].fillna(0).astype(int)))
    code, out, err = command("predict", python_model(tmp_path, coded, old["outcome"]), folder / "new.csv")
    assert (code, out) == (2, "")
    assert "column 'place' had categories in training that are not strings, such as 0" in err


def test_batches_give_what_the_whole_gives(folder, monkeypatch):
    due = command("predict", folder / "size.adacc", folder / "new.parquet", "--proba")
    judged = command("evaluate", folder / "size.adacc", folder / "new.parquet")
    explained = command("explain", folder / "size.adacc", folder / "new.parquet")
    for module in ("arrow", "batches"):
        monkeypatch.setattr(f"adacc.tables.{module}.ROWS", 17)
    frames = list(open_batches(folder / "new.parquet", {"age": "number"}))
    assert len(frames) == 8
    assert command("predict", folder / "size.adacc", folder / "new.parquet", "--proba") == due
    assert command("evaluate", folder / "size.adacc", folder / "new.parquet") == judged
    assert command("explain", folder / "size.adacc", folder / "new.parquet") == explained


@pytest.mark.parametrize("asked", ["predict", "evaluate"])
def test_unseen_categories_are_one_line_for_the_whole_table(folder, tmp_path, monkeypatch, asked):
    """However many pieces it is read in, and however often the model is asked about each."""
    for module in ("arrow", "batches"):
        monkeypatch.setattr(f"adacc.tables.{module}.ROWS", 20)
    new = pd.read_csv(folder / "new.csv", dtype={"claim": str})
    for town, seen in ((new["town"].str.upper(), "column 'town' in 118 of 130 rows (90.8%), such as"), (None, "")):
        changed = new.assign(town=town, repeated=new["repeated"].map({True: "TRUE", False: 0}))
        changed.to_csv(tmp_path / "new.csv", index=False)
        options = ["--threshold", 0.3, "--proba"] if asked == "predict" else []
        code, _, err = command(asked, folder / "outcome.adacc", tmp_path / "new.csv", *options)
        _, *lines = err.splitlines()
        assert (code, len(lines)) == (0, len(seen) > 0)
        if seen:
            start = f"adacc: {tmp_path / 'new.csv'} has categories that were not seen in training: {seen}"
            assert lines[0].startswith(start)
            assert {"'BONN'", "'KÖLN'", "'ULM'"} <= {each.strip(",.") for each in lines[0].split()}

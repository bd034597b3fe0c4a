"""What cannot be done is said in one line with exit code 2, before any work if possible, and leaves nothing behind."""

import os
import shutil
import sys
import zipfile

import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.model.serialization import archive

OF_FRAUD = "--target outcome --drop size,code --id claim --rounds 2"


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A folder with all that the commands may stumble over."""
    for name in ("old.csv", "new.csv", "outcome.adacc", "size.adacc", "forest.adacc"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "broken.adacc").write_bytes((folder / "outcome.adacc").read_bytes()[:700])
    document, arrays = archive.unpack((folder / "outcome.adacc").read_bytes())
    monkeypatch.setattr(archive, "VERSION", 7)
    (tmp_path / "later.adacc").write_bytes(archive.pack(document, arrays))
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("other.zip", "w") as other:
        other.writestr("a", "b")
    new = pd.read_csv("new.csv", dtype={"claim": str})
    new.drop(columns="age").rename(columns={"town": "Town"}).to_csv("lacking.csv", index=False)
    new.assign(outcome=new["outcome"].replace("fine", "Fine")).to_csv("labels.csv", index=False)
    new.assign(outcome=new["outcome"].where(new.index != 4)).to_csv("gap.csv", index=False)
    new.assign(age=new["age"].astype(object).where(new.index != 99, "old")).to_csv("mistake.csv", index=False)
    new.rename(columns={"claim": "prediction"}).to_csv("named.csv", index=False)
    new.head(0).to_csv("none.csv", index=False)
    (tmp_path / "one.csv").write_text("a,y\n1,x\n2,x\n")
    return tmp_path


CASES = [
    # train
    ("train nosuch.csv --target y --model m.adacc", "nosuch.csv does not exist"),
    ("train old.csv --model m.adacc", "the following arguments are required: --target"),
    ("train old.csv --target outcome", "the following arguments are required: --model"),
    (
        f"train old.csv {OF_FRAUD} --model nosuch/m.adacc",
        "Cannot write nosuch/m.adacc: directory nosuch does not exist",
    ),
    (f"train old.csv {OF_FRAUD} --model deep", "deep is a directory; give the path of a file"),
    (f"train old.csv {OF_FRAUD} --model /dev/null", "/dev/null is not a regular file; give the path of a file"),
    (f"train old.csv {OF_FRAUD} --model old.csv", "old.csv is an input of this command and would be overwritten"),
    (f"train old.csv {OF_FRAUD} --model deep/../old.csv", "deep/../old.csv is an input of this command"),
    (f"train old.csv {OF_FRAUD} --model=", "argument --model: must be the path of a file, got ''"),
    (f"train old.csv {OF_FRAUD} --model m.adacc --method adac", "method 'adac' is unknown: did you mean 'adac3'"),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method lightgbm",
        "adacc does not train lightgbm: it is a baseline of `adacc compare` from lightgbm",
    ),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method adaboost-threshold",
        "adacc does not train adaboost-threshold: it is a baseline of `adacc compare`: AdaBoost with a tuned thr",
    ),
    (f"train old.csv {OF_FRAUD} --model m.adacc --rounds 0", "argument --rounds: must be an integer of at least 1"),
    (f"train old.csv {OF_FRAUD} --model m.adacc --seed -1", "argument --seed: "),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --seed 4294967296",
        "argument --seed: must be an integer from 0 to 4294967",
    ),
    (f"train old.csv {OF_FRAUD} --model m.adacc --costs 5", "argument --costs: must be 'balanced' or LABEL=COST"),
    (f"train old.csv {OF_FRAUD} --model m.adacc --costs fraud=x", "argument --costs: must be 'balanced' or LABEL=COST"),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method cgada --costs fraud=2,good=1",
        "--costs must name labels of the target, got 'good'; the labels are fine, fraud",
    ),
    (f"train old.csv {OF_FRAUD} --model m.adacc --method cgada --costs fraud=2", "costs has no value for class 'fine'"),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method cgada --costs fraud=2,fine=-1",
        "costs must be finite and not",
    ),
    (
        f"train old.csv {OF_FRAUD} --method adacc1 --model m.adacc --costs balanced",
        "adacc1 has no option 'costs' (given 'balanced')",
    ),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method adacc-forest --costs fraud=2,fine=1",
        "adacc-forest has no option 'costs' (given {'fraud': 2.0, 'fine': 1.0}); its bags are balanced",
    ),
    (
        f"train old.csv {OF_FRAUD} --model m.adacc --method adacc-forest --memory-limit 1GB",
        "--method adacc-forest needs all rows in memory to draw bags; choose another method, or",
    ),
    (f"train old.csv {OF_FRAUD} --model m.adacc --method adaccforest", "method 'adaccforest' is unknown: did you mean"),
    (f"train old.csv {OF_FRAUD} --model m.adacc --calibrate platt", "argument --calibrate: invalid choice: 'platt'"),
    (f"train old.csv {OF_FRAUD} --model m.adacc --positive froud", "old.csv: column 'outcome' has no label 'froud'"),
    ("train old.csv --target outcom --model m.adacc", "old.csv has no column 'outcom' to predict; did you mean 'outco"),
    ("train old.csv --target outcome --drop agee --model m.adacc", "old.csv has no column 'agee'; did you mean 'age'?"),
    (
        "train old.csv --target outcome --id outcome --model m.adacc",
        "old.csv: column 'outcome' is both dropped and used",
    ),
    ("train old.csv --target amount --model m.adacc", "old.csv: target column 'amount' looks continuous"),
    ("train one.csv --target y --model m.adacc", "one.csv: target column 'y' has the label 'x' in all rows"),
    ("train none.csv --target outcome --model m.adacc", "none.csv has no rows, only column names"),
    # models
    ("predict nosuch.adacc new.csv", "model file nosuch.adacc does not exist; `adacc train` writes one"),
    ("predict deep new.csv", "deep is a directory; give the path of a model file"),
    ("predict new.csv outcome.adacc", "new.csv: this is not a model file"),
    ("predict other.zip new.csv", "other.zip: this is not a model file: it has no model.json"),
    ("predict broken.adacc new.csv", "broken.adacc: the file is damaged or not a zip"),
    (
        "evaluate later.adacc new.csv",
        "later.adacc: this file has format version 7; this adacc reads up to 2: update",
    ),
    ("explain later.adacc", "later.adacc: this file has format version 7; this adacc reads up to 2: update"),
    # predict
    ("predict outcome.adacc nosuch.csv -o s.csv", "nosuch.csv does not exist"),
    ("predict outcome.adacc new.csv -o s.xlsx", "--output must end in .csv, .csv.gz, .tsv, "),
    ("predict outcome.adacc new.csv -o nosuch/s.csv", "Cannot write nosuch/s.csv: directory nosuch does not exist"),
    ("predict outcome.adacc new.csv -o new.csv", "new.csv is an input of this command and would be overwritten"),
    (
        "predict outcome.adacc new.csv -o outcome.adacc",
        "outcome.adacc is an input of this command and would be overwritten",
    ),
    (
        "predict outcome.adacc lacking.csv -o s.csv",
        "lacking.csv lacks 2 of the 5 columns that the model was trained on",
    ),
    ("predict outcome.adacc mistake.csv -o s.csv", "mistake.csv: row 100, column 'age': 'old' must be a number"),
    ("predict outcome.adacc mistake.csv -o s.parquet", "mistake.csv: row 100, column 'age': 'old' must be a number"),
    ("predict outcome.adacc new.csv --id clam -o s.csv", "new.csv has no column 'clam'; did you mean 'claim'?"),
    ("predict outcome.adacc named.csv --id prediction", "--id prediction is also a column of the output"),
    ("predict outcome.adacc new.csv --threshold 1.5", "argument --threshold: must be a number from 0 to 1, got"),
    ("predict outcome.adacc new.csv --threshold nan", "argument --threshold: must be a number from 0 to 1, got"),
    ("predict outcome.adacc new.csv --threshold half", "argument --threshold: must be a number from 0 to 1, got"),
    ("predict size.adacc new.csv --threshold 0.5", "--threshold needs a model of two classes, but size.adacc has 3"),
    # evaluate
    (
        "evaluate outcome.adacc labels.csv",
        "labels.csv: row 2, column 'outcome': label 'Fine' is unknown to the model; its labels are 'fine', 'fraud'",
    ),
    ("evaluate outcome.adacc gap.csv --json e.json", "gap.csv: row 5, column 'outcome' has no label"),
    ("evaluate outcome.adacc new.csv --target outcom", "new.csv has no column 'outcom'; did you mean 'outcome'?"),
    ("evaluate outcome.adacc none.csv", "none.csv has no rows, only column names"),
    ("evaluate outcome.adacc lacking.csv", "lacking.csv lacks 2 of the 5 columns that the model was trained on"),
    ("evaluate outcome.adacc new.csv --json new.csv", "new.csv is an input of this command and would be overwritten"),
    ("evaluate outcome.adacc new.csv --json deep", "deep is a directory; give the path of a file"),
    ("evaluate size.adacc new.csv --threshold 0.5", "--threshold needs a model of two classes, but size.adacc has 3"),
    # explain
    ("explain outcome.adacc --row 3", "--row needs DATA: give the table"),
    ("explain outcome.adacc new.csv --row 131", "--row must be at most 130, the number of rows of new.csv, got 131"),
    ("explain outcome.adacc new.csv --row 0", "argument --row: must be an integer of at least 1, got '0'"),
    ("explain outcome.adacc none.csv", "none.csv has no rows, only column names"),
    ("explain outcome.adacc --background new.csv", "--background needs DATA: give the rows to explain"),
    ("explain outcome.adacc new.csv --background none.csv", "none.csv has no rows, only column names"),
    ("explain outcome.adacc --report nosuch/r.html", "Cannot write nosuch/r.html: directory nosuch does not exist"),
    (
        "explain outcome.adacc --report outcome.adacc",
        "outcome.adacc is an input of this command and would be overwritten",
    ),
    ("explain size.adacc --report r.html", "--report needs a model of two classes, but size.adacc has 3"),
    # methods
    ("methods adac", "method 'adac' is unknown: did you mean 'adac3' or 'adac2' or 'adac1'?"),
    ("methods lihgtgbm", "method 'lihgtgbm' is unknown: did you mean 'lightgbm' or"),
    ("methods adacc-forst", "method 'adacc-forst' is unknown: did you mean 'adacc-forest'"),
    ("methods zzz", "method 'zzz' is unknown: `adacc methods` lists them"),
]


@pytest.mark.parametrize(("asked", "said"), CASES)
def test_one_line_says_what_is_wrong(here, asked, said):
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    code, out, err = command(*asked.split())
    notes = "adacc: ignored columns: ", "not seen in training", "contains numbers with leading zeros"
    lines = [line for line in err.splitlines() if not any(note in line for note in notes)]
    assert (code, out) == (2, "")
    assert lines[0].startswith(f"adacc: error: {said}")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].endswith("--help`"))
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("name", "row"), [("later.csv", 98), ("gaps.csv", 61)])
def test_rows_are_counted_through(here, monkeypatch, name, row):
    """However the table is cut into pieces."""
    for module in ("arrow", "batches"):
        monkeypatch.setattr(f"adacc.tables.{module}.ROWS", 20)
    new = pd.read_csv("new.csv", dtype={"claim": str})
    new.loc[row - 1, "outcome"] = "what?" if name == "later.csv" else None
    new.to_csv(name, index=False)
    code, _, err = command("evaluate", "outcome.adacc", name)
    assert (code, f"{name}: row {row}, column 'outcome'" in err) == (2, True)


def test_what_may_not_be_written_is_said(here, monkeypatch):
    """As the system would tell anybody but root."""
    monkeypatch.setattr("adacc.cli.files.os.access", lambda path, mode: False)
    for asked in (f"train old.csv {OF_FRAUD} --model m.adacc", "predict outcome.adacc new.csv -o s.csv"):
        code, out, err = command(*asked.split())
        assert (code, out) == (2, "")
        assert "Permission denied: " in err


def test_a_link_to_the_data_is_the_data(here):
    os.symlink("new.csv", "link.csv")
    os.link("new.csv", "hard.csv")
    for name in ("link.csv", "hard.csv"):
        code, _, err = command("predict", "outcome.adacc", "new.csv", "-o", name)
        assert (code, err.startswith(f"adacc: error: {name} is an input of this command")) == (2, True)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
@pytest.mark.parametrize(("fault", "code"), [(KeyboardInterrupt, 130), (OSError(28, "No space left on device"), 2)])
def test_stopped_halfway_it_leaves_nothing(here, monkeypatch, ending, fault, code):
    for module in ("arrow", "batches"):
        monkeypatch.setattr(f"adacc.tables.{module}.ROWS", 50)
    class_index = adacc.cli.model_file.ModelFile.class_index
    calls = []

    def stops(self, X, *others):
        calls.append(len(X))
        if len(calls) == 3:
            assert list(here.glob(".adacc-*.tmp"))
            raise fault
        return class_index(self, X, *others)

    monkeypatch.setattr("adacc.cli.model_file.ModelFile.class_index", stops)
    before = sorted(here.iterdir())
    found, out, err = command("predict", "outcome.adacc", "new.csv", "-o", f"s.{ending}")
    assert (found, out, len(calls)) == (code, "", 3)
    assert "interrupted" in err if code == 130 else f"s.{ending}: No space left on device" in err
    assert sorted(here.iterdir()) == before


def test_a_failed_training_leaves_the_old_model(here, monkeypatch):
    before = (here / "outcome.adacc").read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adacc.model.serialization.archive.os.replace", fails)
    code, out, err = command("train", "old.csv", *OF_FRAUD.split(), "--model", "outcome.adacc")
    assert (code, out) == (2, "")
    assert "outcome.adacc: No space left on device" in err
    assert (here / "outcome.adacc").read_bytes() == before
    assert not list(here.glob(".adacc*"))


def test_a_library_that_is_not_there_is_named(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.over_sampling", None)
    code, out, err = command(
        "train", "old.csv", "--target", "outcome", "--drop", "size,code,claim,age,town,insured", "--model", "m.adacc",
        "--method", "smoteboost",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: smoteboost needs imbalanced-learn: pip install 'adacc[resampling]'")
    assert err.count("\n") == 1
    assert not (here / "m.adacc").exists()


def test_bent_scores_cannot_be_explained(here):
    options = ["--method", "cgada", "--calibrate", "isotonic", "--model", "m.adacc"]
    assert command("train", "old.csv", *OF_FRAUD.split(), *options)[0] == 0
    for more in ([], ["new.csv"], ["new.csv", "--row", "3"]):
        code, out, err = command("explain", "m.adacc", *more)
        assert (code, out) == (2, "")
        assert "isotonic calibration makes the score a non-additive function" in err
    assert command("evaluate", "m.adacc", "new.csv")[0] == 0

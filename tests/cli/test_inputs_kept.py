"""No command overwrites its inputs or one of its own outputs, or loses rows."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from small_study import command

OF_FRAUD = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 2, "--method", "adacc1"]


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    for name in ("old.csv", "new.csv", "outcome.adacc"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "parts").mkdir()
    old = pd.read_parquet(folder / "old.parquet")
    old[:120].to_parquet(tmp_path / "parts" / "a.parquet")
    old[120:].to_parquet(tmp_path / "parts" / "b.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "outcome.adacc", "old.csv", "--background", "new.csv", "--report", "new.csv"],
        ["predict", "outcome.adacc", "parts", "-o", "parts/b.parquet"],
        ["train", "parts", *OF_FRAUD, "--folds", 0, "--model", "parts/b.parquet"],
        ["evaluate", "outcome.adacc", "parts", "--json", "parts/../parts/a.parquet"],
    ],
)
def test_inputs_are_not_overwritten(here, arguments):
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    code, _, err = command(*arguments)
    assert code == 2
    assert "is an input of this command and would be overwritten" in err
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_directory_of_inputs_may_take_a_new_file(here):
    assert command("predict", "outcome.adacc", "parts", "-o", "parts/labels.csv")[0] == 0
    assert len(pd.read_csv("parts/labels.csv")) == 240


def test_one_file_under_two_names_is_one_output(here):
    (here / "link.adacc").symlink_to("m.adacc")
    for other in (here / "m.adacc", "parts/../m.adacc", "link.adacc"):
        code, _, err = command("train", "old.csv", *OF_FRAUD, "--folds", 0, "--model", "m.adacc", "--json", other)
        assert code == 2
        assert "--model and --json must be different files" in err


def test_standard_input_is_read_once(here):
    code, _, err = command("explain", "outcome.adacc", "-", "--background", "-")
    assert code == 2
    assert "DATA and --background cannot both be standard input (-)" in err


def test_empty_lines_of_the_only_column_are_missing_values(tmp_path):
    x = np.arange(40.0)
    pd.DataFrame({"x": x, "y": (x % 7 > 4).astype(int)}).to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "y", "--folds", 0, "--method", "adacc1", "--rounds", 3, "--model", tmp_path / "m.adacc"]
    assert command("train", tmp_path / "t.csv", *options)[0] == 0
    (tmp_path / "new.csv").write_text("x\n1.5\n\n-2\n\n0.3\n")
    pd.DataFrame({"x": [1.5, None, -2.0, None, 0.3]}).to_parquet(tmp_path / "new.parquet")
    of_text = command("predict", tmp_path / "m.adacc", tmp_path / "new.csv")
    of_arrow = command("predict", tmp_path / "m.adacc", tmp_path / "new.parquet")
    assert of_text == of_arrow
    assert of_text[1].count("\n") == 1 + 5


def test_predictions_on_standard_output_are_utf_8(here):
    new = pd.read_csv("new.csv").head(3).assign(claim=["Zoë", "Øre", "né"])
    new.to_csv("few.csv", index=False)
    run = subprocess.run(
        [sys.executable, "-m", "adacc", "predict", "outcome.adacc", "few.csv", "--id", "claim"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True,
    )  # fmt: skip
    assert [line.split(",")[0] for line in run.stdout.decode("utf-8").splitlines()] == ["claim", "Zoë", "Øre", "né"]


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"BZh91AY&SY", "its first bytes are those of a bzip2 file: decompress it, or use gzip"),
        (b"\xfd7zXZ\x00\x00", "its first bytes are those of an xz file"),
        (b"\x28\xb5\x2f\xfd\x04", "its first bytes are those of a Zstandard file"),
        (
            b"a,b\r1,2\r3,4\r",
            "lines that end with a carriage return (CR) alone; save the file with the line ends LF",
        ),
    ],
)
def test_files_that_look_like_csv(tmp_path, start, message):
    (tmp_path / "t.csv").write_bytes(start)
    code, _, err = command("train", tmp_path / "t.csv", "--target", "b", "--model", tmp_path / "m.adacc")
    assert code == 2
    assert message in err


def test_hexadecimal_numbers_are_read_alike_with_decimal_commas(tmp_path):
    number = np.arange(60) % 25
    frame = pd.DataFrame({"h": [f"0x{n:02x}" for n in number], "y": (number % 7 > 4).astype(int)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "y", "--folds", 0, "--method", "adacc1", "--rounds", 3, "--decimal", ","]
    assert command("train", tmp_path / "t.csv", *options, "--model", tmp_path / "m.adacc")[0] == 0
    code, out, _ = command("predict", tmp_path / "m.adacc", tmp_path / "t.csv", "--decimal", ",")
    assert code == 0
    assert out.count("\n") == 61


def test_unknown_labels_are_quoted(tmp_path):
    x = np.arange(40)
    pd.DataFrame({"x": x, "t": np.where(x % 7 > 4, " yes", "no")}).to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "t", "--folds", 0, "--method", "adacc1", "--rounds", 3, "--model", tmp_path / "m.adacc"]
    assert command("train", tmp_path / "t.csv", *options)[0] == 0
    pd.DataFrame({"x": x, "t": np.where(x % 7 > 4, "yes", "no")}).to_csv(tmp_path / "new.csv", index=False)
    code, _, err = command("evaluate", tmp_path / "m.adacc", tmp_path / "new.csv")
    assert code == 2
    assert "label 'yes' is unknown to the model; its labels are ' yes', 'no'" in err

"""`adacc train --memory-limit`: all is as without it."""

import os
import re
import sys

import pandas as pd
import pytest
from small_study import command

import adacc
from adacc.distributed import memory

CLAIMS = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 6]
SIZES = ["--target", "size", "--drop", "outcome,code", "--id", "claim", "--rounds", 6]


@pytest.fixture
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(memory, "ROWS", 31)
    monkeypatch.setattr(memory, "MAX_ROWS_PER_SHARD", 90)


def train(folder, model, *options):
    code, out, err = command("train", folder / "old.parquet", *options, "--model", model)
    assert (code, err) == (0, "")
    return adacc.load(model), re.sub(r": [0-9.]+ kB", "", out.replace(str(model), "MODEL"))


@pytest.mark.parametrize(
    "options",
    [
        [*CLAIMS, "--method", "adacc1"],
        [*CLAIMS, "--method", "cgada"],
        [*CLAIMS, "--method", "cgada", "--costs", "fraud=3,fine=1"],
        [*CLAIMS, "--method", "adamec-cal", "--positive", "fine"],
        ["--target", "code", "--drop", "outcome,size,claim", "--rounds", 6, "--positive", 1, "--method", "csb1"],
        [*CLAIMS, "--method", "cgada", "--monotonic", "amount=+1,age=-1"],
        [*CLAIMS, "--method", "adacc1", "--categorical", "age,repeated"],
        [*SIZES, "--method", "adacc1"],
        [*SIZES, "--method", "adac2"],
        [*SIZES, "--positive", "middle", "--costs", "balanced", "--method", "cgada"],
    ],
)
def test_the_same_as_in_memory(folder, tmp_path, few_at_a_time, options):
    local, said = train(folder, tmp_path / "local.adacc", *options, "--folds", 0)
    found, also_said = train(
        folder, tmp_path / "found.adacc", *options, "--memory-limit", "16GB", "--scratch", tmp_path
    )
    assert "There is no held-out estimate: training with --memory-limit holds out no rows" in also_said
    of_both = {re.sub(r"(?<=optimistic).*", "", text) for text in (said, also_said)}
    assert len(of_both) == 1
    assert found.get_params() == local.get_params()
    assert found.estimators_ == local.estimators_
    assert abs(found.fitted_model_.ensemble.votes - local.fitted_model_.ensemble.votes).max() < 1e-12
    command_of_found = found.notes_.pop("command")
    assert command_of_found.endswith(f" --memory-limit 16GB --scratch {tmp_path}")
    in_memory_only = {"command", "training_rows"}  # fingerprints need all rows in memory
    assert found.notes_ == {name: value for name, value in local.notes_.items() if name not in in_memory_only}
    said_by = [command("predict", tmp_path / f"{name}.adacc", folder / "new.csv") for name in ("found", "local")]
    assert said_by[0] == said_by[1]
    assert said_by[0][0] == 0


def test_the_default_is_the_forest_and_out_of_core_adacc1(folder, tmp_path, few_at_a_time):
    forest, said = train(folder, tmp_path / "m.adacc", *CLAIMS)
    assert isinstance(forest, adacc.AdaCCForestClassifier)
    assert "method: adacc-forest (the default; --method names another), " in said
    assert re.search(r"Balanced accuracy on out-of-bag rows: [0-9.]+%", said)
    booster, said = train(folder, tmp_path / "m.adacc", *CLAIMS, "--memory-limit", "16GB", "--scratch", tmp_path)
    assert booster.method == "adacc1"
    assert "method: adacc1 (the default; --method names another), " in said


def test_a_folder_of_files(folder, tmp_path, few_at_a_time):
    frame = pd.read_parquet(folder / "old.parquet")
    (tmp_path / "old").mkdir()
    for number in range(3):
        frame[80 * number : 80 * number + 80].to_parquet(tmp_path / "old" / f"{number}.parquet")
    local, _ = train(folder, tmp_path / "local.adacc", *CLAIMS, "--method", "adacc1")
    for limit in (["--method", "adacc1"], ["--memory-limit", "16GB"]):
        code, _, err = command("train", tmp_path / "old", *CLAIMS, *limit, "--model", tmp_path / "found.adacc")
        assert (code, err) == (0, "")
        assert adacc.load(tmp_path / "found.adacc").estimators_ == local.estimators_


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*CLAIMS, "--memory-limit", "1XB"], "--memory-limit must be a number of bytes, or a size in kB, MB, GB or TB"),
        ([*CLAIMS, "--memory-limit", "10MB"], "the memory limit must be at least "),
        ([*CLAIMS, "--memory-limit", "16GB", "--calibrate", "sigmoid"], "--calibrate needs all rows in memory"),
        ([*CLAIMS, "--memory-limit", "16GB", "--metric", "auc"], "--metric needs all rows in memory: leave it out"),
        ([*CLAIMS, "--memory-limit", "16GB", "--folds", "3"], "--folds needs all rows in memory: leave it out"),
        ([*CLAIMS, "--memory-limit", "16GB", "--method", "rusboost"], "rusboost, smoteboost and subsample draw rows"),
        ([*CLAIMS, "--memory-limit", "16GB", "--scratch", "nowhere"], "nowhere is not a directory"),
        ([*CLAIMS, "--memory-limit", "16GB", "--costs", "frod=2", "--method", "cgada"], "target, got 'frod'"),
        ([*CLAIMS, "--memory-limit", "16GB", "--positive", "frod"], "has no label 'frod'; its labels are 'fine'"),
        ([*CLAIMS, "--memory-limit", "16GB", "--monotonic", "town=1"], "must name numeric features, got 'town'"),
        ([*CLAIMS, "--scratch", "."], "--scratch needs --memory-limit"),
        (["--target", "outcome", "--memory-limit", "16GB"], "column 'claim' has a distinct value in each row"),
        (["--target", "amount", "--memory-limit", "16GB"], "looks continuous: it has 214 distinct values"),
    ],
)  # fmt: skip
def test_what_will_not_do(folder, tmp_path, options, said):
    code, out, err = command("train", folder / "old.parquet", *options, "--model", tmp_path / "m.adacc")
    assert (code, out) == (2, "")
    assert err.startswith("adacc: error: ")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_text_files_are_refused(folder, tmp_path):
    code, _, err = command(
        "train", folder / "old.csv", *CLAIMS, "--memory-limit", "16GB", "--model", tmp_path / "m.adacc"
    )  # fmt: skip
    assert code == 2
    assert "old.csv is not a Parquet table" in err


@pytest.mark.compiled
def test_progress_on_a_terminal_and_an_interrupt(folder, tmp_path):
    pexpect = pytest.importorskip("pexpect")
    if not hasattr(pexpect, "spawn"):
        pytest.skip("needs a terminal of Unix")
    (tmp_path / "scratch").mkdir()
    command = ["-m", "adacc", "train", folder / "old.parquet", *CLAIMS[:-1], 100_000, "--memory-limit", "16GB",
               "--method", "adaboost", "--scratch", tmp_path / "scratch", "--model", tmp_path / "m.adacc"]  # fmt: skip
    environment = {**os.environ, "TERM": "xterm-256color"}
    child = pexpect.spawn(
        sys.executable, [*map(str, command)], dimensions=(24, 100), env=environment, encoding="utf-8", timeout=300
    )  # fmt: skip
    child.expect("boosting .*%")
    assert list((tmp_path / "scratch").iterdir()) == []  # the files there have no name, so that none can be left
    child.sendintr()
    child.expect("adacc: interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert [file.name for file in tmp_path.iterdir()] == ["scratch"]
    assert list((tmp_path / "scratch").iterdir()) == []

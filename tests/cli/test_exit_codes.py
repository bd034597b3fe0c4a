"""Exit codes: success, wrong usage, wrong data, internal errors, Ctrl-C and a reader that ends early."""

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_study import command

from adacc.cli import main, methods
from adacc.comparison import cross_validation
from adacc.evaluation.baselines import BASELINES

SMALL = ["--rounds", 3, "--folds", 2, "--jobs", 1, "--quiet"]
CLAIMS = ["--target", "outcome", "--drop", "size,code", "--id", "claim"]


@pytest.fixture
def ctrl_c_is_usual():
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # as the command found it
    signal.signal(signal.SIGINT, usual)


def test_the_help_names_them():
    code, out, _ = command("--help")
    assert code == 0
    assert "exit codes: 0 success, 1 internal error, 2 wrong usage or data, 130 Ctrl-C\n" in out


@pytest.mark.parametrize(
    ("arguments", "due"),
    [
        (["methods"], 0),
        (["--version"], 0),
        ([], 2),
        (["predcit"], 2),
        (["train", "old.csv"], 2),
        (["evaluate", "outcome.adacc", "new.csv", "--treshold", "0.5"], 2),
        (["evaluate", "nosuch.adacc", "new.csv"], 2),
        (["evaluate", "outcome.adacc", "nosuch.csv"], 2),
        (["train", "old.csv", "--target", "nosuch", "--model", "m.adacc"], 2),
        (["predict", "outcome.adacc", "new.csv", "-o", "nosuch/s.csv"], 2),
    ],
)
def test_success_and_what_the_user_can_mend(folder, monkeypatch, arguments, due):
    monkeypatch.chdir(folder)
    code, _, err = command(*arguments)
    assert code == due
    assert ("error: " in err) == (due == 2)


def test_an_error_of_our_own(monkeypatch):
    monkeypatch.setattr(methods, "own_methods", lambda: 1 // 0)
    code, _, err = command("methods")
    assert code == 1
    assert "internal error, please report it: ZeroDivisionError" in err


class Swallowing:
    """Ctrl-C comes while numpy asks for the length, and is lost: the object is taken for a scalar."""

    def __len__(self):
        signal.raise_signal(signal.SIGINT)
        return 2

    def __getitem__(self, index):
        return 1.0


def test_numpy_swallows_ctrl_c(ctrl_c_is_usual):
    """Which is why it is recorded; where numpy does so no longer, the tests below need another library."""
    assert np.array(Swallowing(), dtype=object).shape == ()


def lost():
    """Ctrl-C comes back as a ValueError."""
    if np.array(Swallowing(), dtype=object).ndim != 1:
        raise ValueError("y must have one label per row, got shape ()")


@pytest.mark.parametrize("arguments", [["methods"], ["train", "old.csv", *CLAIMS, "--model", "m.adacc"]])
def test_ctrl_c_that_came_back_as_an_error(folder, tmp_path, monkeypatch, ctrl_c_is_usual, arguments):
    monkeypatch.setattr(methods, "own_methods", lost)
    monkeypatch.setattr("adacc.tables.reader.read_frame_and_cells", lambda *_, **__: lost())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_bytes((folder / "old.csv").read_bytes())
    code, _, err = command(*arguments)
    assert code == 130
    assert err.startswith("\nadacc: interrupted\n")
    assert not (tmp_path / "m.adacc").exists()


def test_ctrl_c_that_nobody_noticed(monkeypatch, ctrl_c_is_usual):
    own = methods.own_methods
    monkeypatch.setattr(methods, "own_methods", lambda: np.array(Swallowing(), dtype=object).size and own())
    assert command("methods")[0] == 130


@pytest.mark.parametrize("where", ["binning", "method"])
def test_a_comparison_keeps_what_was_done(folder, tmp_path, monkeypatch, ctrl_c_is_usual, where):
    """Ctrl-C that a fold turned into an error of its data, or into the failure of a method."""
    calls = []

    def third_call_fails(function):
        def called(*args):
            calls.append(args)
            if len(calls) == 4:  # the first one warms the process up
                lost()
            return function(*args)

        return called

    if where == "binning":
        trainer = cross_validation.FoldTrainer
        monkeypatch.setattr(trainer, "bin_rows", third_call_fails(trainer.bin_rows))
    else:
        baseline = type(BASELINES["logistic-regression"])
        monkeypatch.setattr(baseline, "predict", third_call_fails(baseline.predict))
    monkeypatch.setattr(cross_validation, "_WARMED_UP", set())
    method = "adacc1" if where == "binning" else "logistic-regression"
    file = tmp_path / "found.json"
    code, out, err = command(
        "compare", folder / "old.csv", *CLAIMS, *SMALL, "--repeats", 4, "--methods", method, "--json", file
    )
    assert code == 130, err
    assert err.endswith("adacc: interrupted before the end; the results are incomplete\n")
    found = json.loads(file.read_text())
    assert (found["stopped"], found["protocol"]["n_folds_done"], len(calls)) == (True, 2, 4)
    assert [(line["name"], line["failed"]) for line in found["methods"]] == [(method, None)]
    assert "interrupted: 2 of 8 folds are complete" in " ".join(out.split())


def test_an_error_after_ctrl_c_was_handled_is_an_error(folder, tmp_path, monkeypatch, ctrl_c_is_usual):
    """Results that cannot be written."""
    from adacc.comparison.leaderboard import Leaderboard

    add, added = Leaderboard.add, []

    def interrupted_add(self, outcome):
        added.append(outcome)
        if len(added) == 2:
            signal.raise_signal(signal.SIGINT)
        return add(self, outcome)

    def full(*_):
        raise OSError(28, "No space left on device", "found.json")

    monkeypatch.setattr(Leaderboard, "add", interrupted_add)
    monkeypatch.setattr("adacc.cli.compare.write_json", full)
    code, _, err = command(
        "compare", folder / "old.csv", *CLAIMS, *SMALL, "--methods", "adacc1", "--json", tmp_path / "found.json"
    )
    assert (code, err) == (2, "adacc: error: found.json: No space left on device\n")


def test_where_ctrl_c_is_ignored_it_stays_so(monkeypatch):
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        own = methods.own_methods
        monkeypatch.setattr(methods, "own_methods", lambda: signal.raise_signal(signal.SIGINT) or own())
        assert command("methods")[0] == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, usual)


def test_from_another_thread(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(main, ["methods"]).result() == 0


@pytest.mark.skipif(os.name != "posix", reason="needs pipes of Unix")
def test_a_reader_that_ends_early(folder):
    """As in `adacc predict ... | head`."""
    predict = subprocess.Popen(
        [sys.executable, "-m", "adacc", "predict", folder / "outcome.adacc", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    predict.stdout.close()
    lines = (folder / "new.csv").read_bytes().splitlines(keepends=True)
    predict.stdin.write(lines[0] + b"".join(lines[1:]) * 2000)
    _, err = predict.communicate(timeout=300)
    assert predict.returncode == 0
    assert b"Traceback" not in err
    assert b"error" not in err

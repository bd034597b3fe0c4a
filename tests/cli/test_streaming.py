"""Real processes: pipes, interrupts, and tables larger than the memory that is used for them."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import adacc

ADACC = [sys.executable, "-m", "adacc"]

MEASURED = """
import resource, sys
from adacc.cli import main
from adacc.tables import text
text.BLOCK = 1 << 18
for asked in sys.argv[1:]:
    code = main(asked.split())
    sys.stderr.write(f"{code} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}\\n")
"""
"""Commands one after another, and the most memory so far: in kB on Linux.

Arrow reads some 32 blocks ahead; with smaller ones a smaller table will do.
"""

BUSY = """
import io, itertools, sys, time
from pyarrow import csv
from adacc.cli import command, predict

class Rows(io.BufferedIOBase):
    def readable(self):
        return True
    def peek(self, size):
        return header
    def readline(self):
        return next(lines)
    def read(self, size=-1):
        time.sleep(0.01)
        return row * min(1000, size // len(row))

class Standard:
    buffer = Rows()

held, open_csv = [], csv.open_csv
def open_and_hold(*given, **options):
    held.append(open_csv(*given, **options))
    return held[0]

def stop(self, frame):
    raise KeyboardInterrupt

header, row = ((text + "\\n").encode() for text in sys.argv[3:])
lines = itertools.chain([header], itertools.repeat(row))
sys.stdin, csv.open_csv, predict.TextOutput.write = Standard(), open_and_hold, stop
sys.argv = ["adacc", "predict", sys.argv[1], "-", "-o", sys.argv[2]]
command()
"""
"""Ctrl-C while a thread of Arrow's reads from a file object of Python's: here it does so to the end."""

LOST = """
import signal, sys, time
from adacc.cli import command, predict

class LetGo:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        sum(range(1000))  # where it is raised, to no avail

def write(self, frame):
    LetGo()
    end = time.monotonic() + 30
    while time.monotonic() < end:  # some work
        pass
    print("never heard")

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is begun without
predict.TextOutput.write = write
sys.argv = ["adacc", "predict", *sys.argv[1:]]
command()
"""
"""Ctrl-C at a moment at which Python can raise nothing."""


def run(*arguments, stdin=None):
    done = subprocess.run([*ADACC, *map(str, arguments)], input=stdin, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.compiled
def test_a_whole_trip_through_pipes(folder, tmp_path):
    old, new = (folder / "old.csv").read_bytes(), folder / "new.csv"
    options = ["--target", "outcome", "--drop", "size,code", "--id", "claim", "--rounds", 8, "--method", "adacc1"]
    code, out, err = run("train", "-", *options, "--model", tmp_path / "m.adacc", stdin=old)
    assert (code, err) == (0, "")
    assert out.endswith(f"adacc explain {tmp_path / 'm.adacc'}\n")
    assert "\x1b" not in out
    code, out, err = run("predict", tmp_path / "m.adacc", "-", "--proba", stdin=new.read_bytes())
    ignored, unseen = err.splitlines()
    assert (code, ignored) == (0, "adacc: ignored columns: claim, outcome, size and 1 more")
    assert unseen.startswith("adacc: standard input has categories that were not seen in training: column 'town' in 1")
    answers = [line.split(",")[0] for line in out.splitlines()[1:]]
    saved = adacc.load(folder / "outcome.adacc")
    frame = pd.read_parquet(folder / "new.parquet")
    frame["insured"] = frame["insured"].map({True: "True", False: "False"}).astype(object)
    assert answers == saved.predict(frame[list(saved.feature_names_in_)]).tolist()


@pytest.mark.compiled
def test_a_pipe_may_be_closed_and_an_interrupt_leaves_nothing(folder, tmp_path):
    started = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    rows = (folder / "new.csv").read_bytes()
    closed = subprocess.Popen([*ADACC, "predict", folder / "outcome.adacc", "-"], **started)
    stopped = subprocess.Popen([*ADACC, "predict", folder / "outcome.adacc", "-", "-o", tmp_path / "s.csv"], **started)
    closed.stdout.close()
    stopped.stdin.write(rows)
    stopped.stdin.flush()
    end = time.monotonic() + 60
    while not list(tmp_path.iterdir()):
        assert stopped.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    stopped.send_signal(signal.SIGINT)
    stopped.stdin.close()  # the other end of a pipe is stopped by the terminal, too
    assert stopped.wait(60) == 130
    assert stopped.stderr.read().decode().endswith("\nadacc: interrupted\n")
    assert list(tmp_path.iterdir()) == []
    closed.stdin.write(rows)
    closed.stdin.close()
    assert closed.wait(60) == 0
    assert closed.stderr.read().decode().startswith("adacc: ignored columns: ")
    for process in (closed, stopped):
        process.stdout.close()
        process.stderr.close()


@pytest.mark.compiled
def test_an_interrupt_ends_quietly_while_arrow_reads_on(folder, tmp_path):
    header, row = (folder / "new.csv").read_text().splitlines()[:2]
    given = [sys.executable, "-c", BUSY, folder / "outcome.adacc", tmp_path / "s.csv", header, row]
    done = subprocess.run(given, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (130, "adacc: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.compiled
def test_an_interrupt_is_heard_even_where_nothing_can_be_raised(folder):
    given = [sys.executable, "-c", LOST, folder / "outcome.adacc", folder / "new.csv"]
    done = subprocess.run(given, capture_output=True, timeout=60)
    said = done.stderr.decode()
    assert (done.returncode, done.stdout, said.splitlines()[-1]) == (130, b"", "adacc: interrupted")
    assert "Traceback" not in said


@pytest.mark.thorough
@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is counted as Linux does")
def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2000, 12)), columns=[f"x{j}" for j in range(12)])
    y = np.where(X["x0"] + X["x7"] + rng.normal(size=2000) > 2.0, "rare", "common")
    adacc.AdaCC1Classifier(n_estimators=30).fit(X, y).save("m.adacc", notes={"target": "y"})
    header, _, rows = X.assign(y=y).to_csv(index=False).encode().partition(b"\n")
    for name, times in (("small.csv", 15), ("large.csv", 120)):
        with open(name, "wb") as file:
            file.write(header + b"\n")
            for _ in range(times):
                file.write(rows)
    asked = [f"predict m.adacc {name}.csv --proba -o {name}.tsv" for name in ("small", "large")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *asked, "evaluate m.adacc large.csv"], capture_output=True, text=True
    )
    said = [line.split() for line in done.stderr.splitlines() if not line.startswith("adacc: ignored columns")]
    assert [code for code, _ in said] == ["0", "0", "0"]
    first, *others = (int(kilobytes) * 1024 for _, kilobytes in said)
    n_bytes = 120 * len(rows)
    assert n_bytes > 50e6
    assert max(others) - first < n_bytes / 4
    with open("large.tsv") as file:
        assert sum(1 for _ in file) == 2000 * 120 + 1

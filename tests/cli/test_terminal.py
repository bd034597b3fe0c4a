"""`adacc compare` in a real terminal: what it draws while it works, and Ctrl-C."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from json_files import check
from support import thinned

pexpect = pytest.importorskip("pexpect")
psutil = pytest.importorskip("psutil")
cells = pytest.importorskip("rich.cells")
if not hasattr(pexpect, "spawn"):  # as on Windows
    pytest.skip("needs a terminal of Unix", allow_module_level=True)

pytestmark = pytest.mark.compiled

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3|4|9|10)[0-7](?:;[0-9;]*)?m")
SHOW_CURSOR = "\x1b[?25h"
PATIENCE = 600
"""Seconds; the machine may be busy."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with a table, and a place for temporary files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    ill = np.arange(150) % 5 == 0
    frame = pd.DataFrame({"age": rng.normal(size=150) + ill, "weight": rng.normal(size=150) - 0.5 * ill})
    frame.assign(ill=np.where(ill, "yes", "no")).to_csv("clinic.csv", index=False)
    Path("scratch").mkdir()
    return tmp_path


def terminal(*arguments, columns=80, rows=24, **environment):
    """The command in a terminal of this size."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    settings = {**inherited, "TERM": "xterm-256color", "TMPDIR": os.path.abspath("scratch"), **environment}
    command = ["-m", "adacc", "compare", "clinic.csv", "--target", "ill", *map(str, arguments)]
    return pexpect.spawn(
        sys.executable, command, dimensions=(rows, columns), env=settings, encoding="utf-8", timeout=PATIENCE
    )


def all_of(child):
    """What is written until the end, and the exit code."""
    child.expect(pexpect.EOF)
    written = child.before
    child.close()
    return written, child.exitstatus


def widest(text):
    """Of the lines that have to fit; a command to be copied is better not broken."""
    lines = CONTROL.sub("", text).replace("\r", "\n").split("\n")
    return max(cells.cell_len(line) for line in lines if not line.startswith("Next: "))


SEVERAL = "adacc1,adacc2,adaboost,rareboost,csb1,csb2,balanced-random-forest"
SIZES = {"80 x 24": (80, 24), "200 x 60": (200, 60), "60 x 10": (60, 10)}


@pytest.mark.parametrize("size", thinned(SIZES, ["80 x 24", "200 x 60"]))
def test_the_table_fills_and_fits(here, size):
    columns, rows = SIZES[size]
    child = terminal(
        "--methods", SEVERAL, "--rounds", 5, "--folds", 3, "--jobs", 1, columns=columns, rows=rows
    )  # fmt: skip
    written, code = all_of(child)
    drawn, _, result = written.rpartition(SHOW_CURSOR)
    assert code == 0
    assert re.search(r"comparing .* \d+%.* elapsed,.* remaining", CONTROL.sub("", drawn))
    assert "AdaCC1" in drawn  # before the end
    assert " 1/3" in CONTROL.sub("", drawn)
    assert widest(written) <= columns
    # The cursor goes up over what is drawn anew; what had left the screen could not be reached.
    heights = [len(ups) // len("\x1b[1A\x1b[2K") for ups in re.findall(r"(?:\x1b\[1A\x1b\[2K)+", drawn)]
    assert max(heights) < rows
    plain = CONTROL.sub("", result)
    line = next(line for line in plain.splitlines() if " AdaCC1 " in line)
    assert line.count("±") == (10 if columns == 200 else 1)
    assert "…" not in plain
    assert "comparing" not in plain


def test_the_result_alone_goes_to_a_file(here):
    arguments = "--methods adacc1,adacc2 --rounds 5 --folds 3 --jobs 1"
    shell = f"{sys.executable} -m adacc compare clinic.csv --target ill {arguments} > result.txt"
    child = pexpect.spawn(
        "/bin/sh", ["-c", shell], dimensions=(24, 80), encoding="utf-8", timeout=PATIENCE,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )  # fmt: skip
    written, code = all_of(child)
    assert code == 0
    assert "comparing" in written
    assert not COLOUR.search(written)  # NO_COLOR
    result = Path("result.txt").read_text()
    assert "\x1b" not in result
    assert "…" not in result
    assert next(line for line in result.splitlines() if " AdaCC1 " in line).count("±") == 10


@pytest.mark.parametrize(
    ("settings", "quiet"),
    [({"TERM": "dumb"}, False), pytest.param({"NO_COLOR": "1"}, True, marks=pytest.mark.thorough)],
    ids=["dumb", "no colour"],
)
def test_a_simple_terminal_is_enough(here, settings, quiet):
    child = terminal(
        "--methods", "adacc1", "--rounds", 5, "--folds", 3, "--jobs", 1, *(["--quiet"] if quiet else []), **settings
    )  # fmt: skip
    written, code = all_of(child)
    assert code == 0
    assert "AdaCC1" in written
    assert not COLOUR.search(written)
    assert "\x1b[?25" not in written
    if "TERM" in settings:
        assert "\x1b" not in written


def is_gone(process):
    """Zombies are: someone else has yet to take note of their end."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def stopped_in_time(child):
    """Press Ctrl-C; all that is written from then on, and the exit code. No process and no file is left."""
    workers = psutil.Process(child.pid).children(recursive=True)
    child.sendintr()  # the terminal sends it to workers as well
    written, code = all_of(child)
    psutil.wait_procs([worker for worker in workers if not is_gone(worker)], timeout=60)
    assert all(is_gone(worker) for worker in workers)
    assert os.listdir("scratch") == []
    if os.path.isdir("/dev/shm"):  # where workers share arrays and locks
        assert [
            name for name in os.listdir("/dev/shm") if f"loky-{child.pid}-" in name or f"_{child.pid}_" in name
        ] == []
    assert "Traceback" not in written
    return written, code


@pytest.mark.parametrize("jobs", thinned([1, 2], [2]))
def test_ctrl_c_in_the_middle_keeps_what_was_done(here, jobs):
    child = terminal(
        "--methods", "adacc1,adacc2", "--rounds", 5, "--repeats", 60, "--jobs", jobs,
        "--json", "found.json", "--report", "found.html",
    )  # fmt: skip
    child.expect("AdaCC1")  # whichever method is first, some parts of this one are done
    child.expect("[1-9][0-9]*/300")
    written, code = stopped_in_time(child)
    assert code == 130
    assert "AdaCC1" in written
    assert re.search(r"interrupted: \d+ of 300 folds are complete", " ".join(CONTROL.sub("", written).split()))
    assert written.endswith("adacc: interrupted before the end; the results are incomplete\r\n")
    found = json.loads(Path("found.json").read_text())
    check("compare", found)
    assert found["stopped"] is True
    assert 0 <= found["protocol"]["n_folds_done"] < 300
    assert {"adacc1", "adacc2"} <= {line["name"] for line in found["methods"]}
    page = Path("found.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert sorted(path.name for path in here.iterdir()) == ["clinic.csv", "found.html", "found.json", "scratch"]


def test_ctrl_c_before_anything_is_done_leaves_nothing(here):
    child = terminal("--jobs", 2, "--json", "found.json", "--report", "found.html")
    child.expect("comparing")  # workers are only just beginning
    written, code = stopped_in_time(child)
    assert code == 130
    assert CONTROL.sub("", written).endswith("adacc: interrupted before the first result\r\n")
    assert sorted(path.name for path in here.iterdir()) == ["clinic.csv", "scratch"]

"""The examples run, as a newcomer would run them."""

import subprocess
import sys
from pathlib import Path

import pytest

import adacc

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.compiled
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_example(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if script.name.startswith("01"):
        lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
        assert set(adacc.methods()) <= set(lines)
        balanced = {name: float(lines[name][5].rstrip("%")) for name in adacc.methods()}
        assert balanced["adacc1"] > balanced["adaboost"]
    else:
        assert list(tmp_path.glob("*.png"))

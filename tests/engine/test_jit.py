"""Kept machine code must be that of the code that is there."""

import os
import subprocess
import sys

import pytest

CALLEE = """
from adacc.engine.jit import kernel

@kernel
def answer():
    return {}
"""

CALLER = """
from adacc.engine.jit import kernel
from callee import answer

@kernel
def ask():
    return answer()

print(ask(), sum(ask.stats.cache_hits.values()))
"""


@pytest.mark.compiled
def test_an_edit_to_a_callee_in_another_file_is_noticed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)

    def ask(value):
        callee = tmp_path / "callee.py"
        if not callee.exists() or callee.read_text() != CALLEE.format(value):
            callee.write_text(CALLEE.format(value))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(tmp_path / "caller.py")]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.split()

    assert ask(41) == ["41", "0"]
    assert ask(41) == ["41", "1"]
    assert ask(42) == ["42", "0"]

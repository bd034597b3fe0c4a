"""Kept machine code must be that of the code that is there."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adacc import kernels

CALLEE = """
from adacc.kernels.jit import kernel

@kernel
def answer():
    return {}
"""

CALLER = """
from adacc.kernels.jit import kernel
from callee import answer

@kernel
def ask():
    return answer()

print(ask(), sum(ask.stats.cache_hits.values()))
"""


@pytest.mark.compiled
def test_an_edit_to_a_callee_in_another_file_is_noticed(tmp_path):
    caller, callee = tmp_path / "caller.py", tmp_path / "callee.py"
    caller.write_text(CALLER)

    def ask():
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, str(caller)], capture_output=True, text=True, env=environment, check=True
        )
        return done.stdout.split()

    callee.write_text(CALLEE.format(41))
    assert ask() == ["41", "0"]
    assert ask() == ["41", "1"]
    callee.write_text(CALLEE.format(42))
    assert ask() == ["42", "0"]


FILES = [file for file in sorted(Path(kernels.__file__).parent.glob("*.py")) if file.stem != "jit"]
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def kernels_in(file):
    return [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]


def calls_in(function):
    """The calls of functions by their names."""
    return [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]


@each_file
def test_no_kernel_calls_itself(file):
    """Loaded from its cache it would end the process (numba issue 6061)."""
    for function in kernels_in(file):
        assert function.name not in {call.func.id for call in calls_in(function)}


@each_file
def test_no_kernel_is_compiled_for_a_constant(file):
    """A whole number in a call is a type of its own to Numba, for which all that is called is compiled again."""
    names = {function.name for each in FILES for function in kernels_in(each)}
    names.remove("_count_ends")  # small, and faster if the compiler knows the number
    for function in kernels_in(file):
        for call in calls_in(function):
            constants = [each.value for each in call.args if isinstance(each, ast.Constant)]
            assert call.func.id not in names or int not in map(type, constants), ast.unparse(call)

"""Flags of the command line are named by the command line only."""

import ast
import re
from argparse import Namespace
from pathlib import Path

import adacc
from adacc.cli.flags import FLAGS, with_flags
from adacc.cli.main import parser

SOURCES = Path(adacc.__file__).parent


def strings(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_the_library_names_no_flags():
    found = {
        f"{path.relative_to(SOURCES)}: {text}"
        for path in SOURCES.rglob("*.py")
        if SOURCES / "cli" not in path.parents
        for text in strings(path)
        if re.search(r"(?<![\w(-])--[a-z]", re.sub(r"var\(--\w+\)", "", text))
    }
    assert found == set()


def test_parameters_in_backticks_become_the_flags_of_the_command():
    options = Namespace(folds=3, max_rows=20)
    text = "set `folds` to 2, or increase `max_rows`, not `repeats`; see `adacc methods`"
    assert with_flags(text, options) == "set --folds to 2, or increase --max-rows, not `repeats`; see `adacc methods`"


def test_the_flags_exist():
    options = parser().parse_args(["compare"])
    assert [flag for flag in FLAGS.values() if not hasattr(options, flag[2:].replace("-", "_"))] == []

"""Prints the structure of the package: import circles, the classes and files that X passes in `fit`, and lines.

python benchmarks/structure.py
"""

from __future__ import annotations

import ast
import os
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import adacc

ROOT = Path(adacc.__file__).parent
N_ROWS = 317


def imports() -> dict[str, set[str]]:
    """The modules of adacc that each module imports, imports inside functions included."""
    modules = {}
    for file in ROOT.rglob("*.py"):
        parts = ("adacc", *file.relative_to(ROOT).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph: dict[str, set[str]] = {}
    for name, file in modules.items():
        graph[name] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[name] |= {each if each in modules else node.module for each in targets} & modules.keys()
            elif isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & modules.keys()
        graph[name] -= {name, "adacc"}  # the package itself hands names on when they are asked for
    return graph


def holds_rows(value: Any, depth: int = 2) -> bool:
    """Whether an object holds an array with an entry for each row."""
    if isinstance(value, np.ndarray):
        return N_ROWS in value.shape
    if depth and type(value).__module__.startswith("adacc") and hasattr(value, "__dict__"):
        return any(holds_rows(each, depth - 1) for each in vars(value).values())
    return bool(depth) and isinstance(value, tuple | list) and any(holds_rows(each, depth - 1) for each in value[:20])


def passed_by_rows() -> tuple[set[str], set[str]]:
    """The classes and files whose functions are given the rows of X, as they are or binned, during `fit`."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, 5))
    y = (X[:, 0] > 1.0).astype(int)
    classes, files = set(), set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(ROOT)):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        if any(map(holds_rows, given)):
            files.add(os.path.relpath(code.co_filename, ROOT))
            owner = frame.f_locals.get("self")
            if type(owner).__module__.startswith("adacc"):
                classes.add(type(owner).__qualname__)

    adacc.AdaCC1Classifier(n_estimators=2).fit(X, y)
    sys.setprofile(profile)
    adacc.AdaCC1Classifier(n_estimators=5).fit(X, y)
    sys.setprofile(None)
    return classes, files


def main() -> None:
    graph = imports()
    try:
        TopologicalSorter(graph).prepare()
        print(f"{len(graph)} modules, {sum(map(len, graph.values()))} imports, no circle")
    except CycleError as error:
        print("circle:", " -> ".join(error.args[1]))
    classes, files = passed_by_rows()
    print(f"in fit X passes {len(classes)} classes: {', '.join(sorted(classes))}")
    print(f"in {len(files)} files: {', '.join(sorted(files))}")
    print(f"{sum(len(file.read_text('utf-8').splitlines()) for file in ROOT.rglob('*.py')):,} lines of Python")


if __name__ == "__main__":
    main()

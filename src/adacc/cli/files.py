"""Checks of output files before any computation."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path


def check_output(path: Path, *inputs: str | Path) -> None:
    """Raise ValueError if a file cannot be written, or is one of the `inputs`."""
    if str(path) == "-" or path.absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
        raise ValueError(f"{path} is not a regular file; give the path of a file")
    if path.is_dir():
        raise ValueError(f"{path} is a directory; give the path of a file")
    if not path.parent.is_dir():
        raise ValueError(f"Cannot write {path}: directory {path.parent} does not exist")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe; give the path of a file")
    if not os.access(path.parent, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"Permission denied: {path}")
    for other in inputs:
        if str(other) != "-" and path.exists() and _reads(Path(other).expanduser(), path):
            raise ValueError(f"{path} is an input of this command and would be overwritten; give another output file")


def _reads(source: Path, file: Path) -> bool:
    """Whether an existing file is an input: the source itself, or a Parquet file in the directory `source`."""
    if not source.exists():
        return False
    if source.is_dir():
        return source.resolve() in file.resolve().parents and file.suffix == ".parquet"
    return file.samefile(source)


def check_outputs(options: Namespace, names: Iterable[str], *inputs: str | Path) -> dict[str, Path]:
    """The output files that are given, by option; raises ValueError if one cannot be written or is given twice."""
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    for file in given.values():
        check_output(file, *inputs)
    for one, other in combinations(given, 2):
        if given[one].resolve() == given[other].resolve():
            flags = (f"--{name.replace('_', '-')}" for name in (one, other))
            raise ValueError(f"{' and '.join(flags)} must be different files, got {given[one]} for both")
    return given


def check_report_libraries() -> None:
    """Raise ImportError if a library that draws reports is missing, before any computation."""
    missing = [name for name in ("altair", "vl_convert", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(f'--report needs {", ".join(missing)}: pip install "adacc[compare]"')

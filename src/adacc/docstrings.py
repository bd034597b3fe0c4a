"""Docstring sections that several functions share: written once, and inserted by the decorator `described`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

EXAMPLES = "\n\nExamples\n--------\n"


def described(parameters: Mapping[str, str], *, returns: str = "", yields: str = "") -> Callable[[F], F]:
    """Insert the sections Parameters and Returns (or Yields) into the docstring of a function, before its examples.

    `parameters` has the type and, in the next lines, the description of each parameter; it may have more parameters
    than the function. Defaults are taken from the signature.
    """

    def insert(function: F) -> F:
        declared = inspect.signature(function).parameters.items()
        taken = [(name, each) for name, each in declared if name not in ("self", "cls")]
        entries = [f"{name} : {_with_default(parameters[name], each)}" for name, each in taken]
        titled = {"Parameters": entries, "Returns": [returns], "Yields": [yields]}
        sections = [section(title, *texts) for title, texts in titled.items() if any(texts)]
        head, examples, rest = inspect.cleandoc(function.__doc__ or "").partition(EXAMPLES)
        function.__doc__ = "\n\n".join([head, *sections]) + examples + rest
        return function

    return insert


def section(title: str, *entries: str) -> str:
    """A section in the format of numpydoc."""
    return "\n".join([title, "-" * len(title), *entries])


def _with_default(text: str, parameter: inspect.Parameter) -> str:
    kind, newline, description = text.partition("\n")
    default = parameter.default
    if default is not inspect.Parameter.empty:
        kind += f", default={json.dumps(default) if isinstance(default, str) else default}"
    return kind + newline + description

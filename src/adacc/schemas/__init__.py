"""JSON Schemas of the JSON files that the commands write, and the fields that all of them begin with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

__all__ = ["VERSIONS", "load"]

VERSIONS = {"compare": 1, "train": 1, "evaluate": 1}
"""The version of each schema. A change of the meaning, the type or the name of a field increases it."""


def head(name: str, adacc: str, command: str) -> dict[str, Any]:
    """The first fields of a file: the schema, the version of adacc, the time and the command."""
    return {
        "schema": {"name": f"adacc-{name}", "version": VERSIONS[name]},
        "adacc": adacc,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
    }


def load(name: str) -> dict[str, Any]:
    """The JSON Schema of the files of a command.

    Parameters
    ----------
    name : {"compare", "train", "evaluate"}
        The command.

    Returns
    -------
    dict

    Examples
    --------
    >>> from adacc import schemas
    >>> schemas.load("evaluate")["title"]
    'adacc-evaluate'
    """
    if name not in VERSIONS:
        raise ValueError(f"name must be one of {', '.join(VERSIONS)}, got {name!r}")
    return json.loads(files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8"))

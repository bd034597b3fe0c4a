"""JSON files of the commands: the fields that all of them have, and writing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adacc.files import whole_file


def head(name: str, command: str) -> dict[str, Any]:
    """The first fields of every file: schema, version of adacc, time and command."""
    import adacc

    return {
        "schema": {"name": f"adacc-{name}", "version": 1},
        "adacc": adacc.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
    }


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result; undefined numbers are null."""
    from adacc.comparison.leaderboard import plain

    text = json.dumps(plain(result), indent=1, allow_nan=False, ensure_ascii=False)
    with whole_file(path) as file:
        file.write_text(f"{text}\n", encoding="utf-8")

"""JSON files of the commands, which `adacc.schemas` describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adacc.files import whole_file


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result; undefined numbers are null."""
    from adacc.comparison.leaderboard import plain

    text = json.dumps(plain(result), indent=1, allow_nan=False, ensure_ascii=False)
    with whole_file(path) as file:
        file.write_text(f"{text}\n", encoding="utf-8")

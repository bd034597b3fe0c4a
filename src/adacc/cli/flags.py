"""The command-line flags of the parameters that library messages name in backticks."""

from __future__ import annotations

import re
from argparse import Namespace

FLAGS = {
    "categorical": "--categorical",
    "drop": "--drop",
    "duplicates": "--duplicates",
    "folds": "--folds",
    "group": "--group",
    "groups": "--group",
    "max_rows": "--max-rows",
    "n_estimators": "--rounds",
    "repeats": "--repeats",
    "time": "--time",
}


def with_flags(text: str, options: Namespace) -> str:
    """The text with the flag of this command for each parameter in backticks: `max_rows` becomes --max-rows."""

    def flag(match: re.Match[str]) -> str:
        name = FLAGS.get(match[1], "")
        return name if hasattr(options, name[2:].replace("-", "_")) else match[0]

    return re.sub(r"`(\w+)`", flag, text)

"""What is written after an option, read and checked."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from math import nan
from pathlib import Path
from typing import Any

MOST_ROUNDS = 100_000


def names(text: str) -> list[str]:
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise ArgumentTypeError(f"names with commas between are expected, got {text!r}")
    return found


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in names(text)}))
    except ValueError:
        raise ArgumentTypeError(f"whole numbers with commas between are expected, got {text!r}") from None


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number of at least 1 is expected, got {text!r}")
    return int(text)


def rounds(text: str) -> int:
    found = count(text)
    if found > MOST_ROUNDS:
        raise ArgumentTypeError(f"a whole number of at most {MOST_ROUNDS:,} is expected, got {text!r}")
    return found


def bins(text: str) -> int | str:
    try:
        return text if text == "exact" else count(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"a whole number or 'exact' is expected, got {text!r}") from None


def path(text: str) -> Path:
    if not text:
        raise ArgumentTypeError("the name of a file is expected, got ''")
    return Path(text).expanduser()


def seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise ArgumentTypeError(f"a whole number from 0 to {2**32 - 1} is expected, got {text!r}")
    return int(text)


def probability(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not 0.0 <= found <= 1.0:
        raise ArgumentTypeError(f"a number from 0 to 1 is expected, got {text!r}")
    return found


def costs(text: str) -> str | dict[str, float]:
    if text == "balanced":
        return text
    pairs = [part.rpartition("=") for part in names(text)]
    try:
        if not all(label for label, _, _ in pairs):
            raise ValueError
        return {label.strip(): float(cost) for label, _, cost in pairs}
    except ValueError:
        raise ArgumentTypeError(f"'balanced', or LABEL=COST with commas between, is expected, got {text!r}") from None


def add_model(top: ArgumentParser) -> None:
    top.add_argument("model", type=path, metavar="MODEL", help="a file that `adacc train` or a model's save() wrote")


def add_threshold(top: ArgumentParser) -> None:
    top.add_argument(
        "--threshold", type=probability, metavar="P",
        help="predict the class to be found where its probability is at least P (default: as the model decides)",
    )  # fmt: skip


def spelled(options: Namespace, *positional: str) -> str:
    """The command that these options came from, for the record: its defaults are said too, as they may change."""
    given = {name: value for name, value in vars(options).items() if name not in ("command", "run", "debug")}
    parts = ["adacc", options.command]
    parts += [str(value) for name in positional if (value := given.pop(name)) is not None]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(option)
        elif value is not None and value is not False and value != []:
            parts += [option, _as_given(value)]
    return shlex.join(parts)


def _as_given(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{label}={cost:g}" for label, cost in value.items())
    return ",".join(value) if isinstance(value, list) else str(value)

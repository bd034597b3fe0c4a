"""What is written after an option, read and checked."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Collection, Iterable
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adacc.tables.sources import OpenTable

MOST_ROUNDS = 100_000

LISTS = """\
A name with a comma, a double quote or spaces around it stands in double quotes in a list, as in a CSV file, and the
list in single quotes for the shell: '"amount, EUR",town'. One that is the whole list needs none: 'amount, EUR'.
"""
"""How names are written, for the help."""

QUOTED = r'"((?:[^"]|"")*)"'
PART = rf'(?:[^",]|{QUOTED.replace("(", "(?:", 1)})*'

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}


class Names(list[str]):
    """Names of a list, and the list as it was given."""

    def __init__(self, text: str) -> None:
        self.text, self._parts = text, _parts(text)
        super().__init__(map(_unquoted, self._parts))

    def among(self, columns: Collection[str]) -> list[str]:
        """The names, given those of the columns: all of the text, or a part with its outer spaces, may be one."""
        if self.text in columns:
            return [self.text]
        return [part if part in columns else name for part, name in zip(self._parts, self, strict=True)]


def _parts(text: str) -> list[str]:
    """The parts of a list between its commas, without those that are empty."""
    if not re.fullmatch(rf"{PART}(,{PART})*", text):
        raise ArgumentTypeError(f'a double quote of {text!r} is not closed; in names it is written twice: ""')
    found = [part[0] for part in re.finditer(PART, text) if part[0].strip()]
    if not found:
        raise ArgumentTypeError(f"names with commas between are expected, got {text!r}")
    return found


def _unquoted(part: str) -> str:
    return re.sub(QUOTED, lambda quoted: quoted[1].replace('""', '"'), part.strip())


def listed_names(given: Iterable[str]) -> str:
    """Names as a list that `names` reads."""
    return ",".join(_quoted(name) for name in given)


def _quoted(name: str) -> str:
    if name and name == name.strip() and not {",", '"'} & {*name}:
        return name
    return '"' + name.replace('"', '""') + '"'


def names(text: str) -> Names:
    return Names(text)


def separator(text: str) -> str:
    found = SEPARATORS.get(text, "\t" if text == r"\t" else text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n':
        raise ArgumentTypeError(f"one character, or {', '.join(SEPARATORS)}, is expected, got {text!r}")
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
    pairs = [part.rpartition("=") for part in _parts(text)]
    try:
        if not all(label.strip() for label, _, _ in pairs):
            raise ValueError
        return {_unquoted(label): float(cost) for label, _, cost in pairs}
    except ValueError:
        raise ArgumentTypeError(
            f"'balanced', or LABEL=COST with commas between, is expected, got {text!r}; a label with a comma stands in "
            'double quotes, as in "no, never"=3'
        ) from None


def add_model(top: ArgumentParser) -> None:
    top.add_argument("model", type=path, metavar="MODEL", help="a file that `adacc train` or a model's save() wrote")


def add_text_format(group: Any) -> None:
    """How text files are written, for every command that reads a table."""
    group.add_argument(
        "--sep", type=separator, metavar="SIGN",
        help="the character between the cells of a text file, or 'tab' (default: found out from the first rows)",
    )  # fmt: skip
    group.add_argument(
        "--decimal", choices=(".", ","), metavar="SIGN", help="the decimal sign in a text file, . or , (default: .)"
    )


def open_given(options: Namespace) -> OpenTable:
    """The table of a command, read as its options say; names to be left out become those of its columns."""
    from adacc.tables import open_table

    opened = open_table(options.data, options.sep, options.decimal)
    if isinstance(getattr(options, "drop", None), Names):
        options.drop = options.drop.among(opened.names)
    return opened


def text_format(options: Namespace) -> list[str]:
    """The same options for another command."""
    given = (("--sep", options.sep), ("--decimal", options.decimal))
    return [part for name, value in given if value is not None for part in option(name, value)]


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
        written = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(written)
        elif value is not None and value is not False and value != []:
            parts += option(written, value)
    return shlex.join(parts)


def option(name: str, value: Any) -> list[str]:
    """An option and its value as a command has them; a value that begins with a hyphen would be an option itself."""
    text = _as_given(value)
    return [f"{name}={text}"] if text.startswith("-") else [name, text]


def _as_given(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{_quoted(label)}={cost:g}" for label, cost in value.items())
    if value == SEPARATORS["tab"]:
        return "tab"
    return listed_names(value) if isinstance(value, list) else str(value)

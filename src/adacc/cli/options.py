"""Parsing and validation of option values."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Collection, Iterable
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adacc.tables.sources import OpenTable

MAX_ROUNDS = 100_000

QUOTING_HELP = """\
In a list, put a name that contains a comma or a double quote, or has outer spaces, in double quotes as in CSV files,
and the list in single quotes for the shell: '"amount, EUR",town'. A single name needs no quotes: 'amount, EUR'.
"""
"""How to quote names, for the help texts."""

QUOTED = r'"((?:[^"]|"")*)"'
ITEM = rf'(?:[^",]|{QUOTED.replace("(", "(?:", 1)})*'

SIGNS = {"+1": 1, "1": 1, "-1": -1}

SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}


class Names(list[str]):
    """Names parsed from a list, and the list as text."""

    def __init__(self, text: str) -> None:
        self.text, self._items = text, _split_list(text)
        super().__init__(map(_unquote, self._items))

    def resolve(self, columns: Collection[str]) -> list[str]:
        """The names of columns: the whole text, or an item with its outer spaces, can be the name of one column."""
        if self.text in columns:
            return [self.text]
        return [item if item in columns else name for item, name in zip(self._items, self, strict=True)]


def _split_list(text: str) -> list[str]:
    """The non-empty items of a comma-separated list."""
    if not re.fullmatch(rf"{ITEM}(,{ITEM})*", text):
        raise ArgumentTypeError(f'unclosed double quote in {text!r}; write a double quote inside a name twice: ""')
    items = [match[0] for match in re.finditer(ITEM, text) if match[0].strip()]
    if not items:
        raise ArgumentTypeError(f"must be names separated by commas, got {text!r}")
    return items


def _unquote(item: str) -> str:
    return re.sub(QUOTED, lambda match: match[1].replace('""', '"'), item.strip())


def format_names(given: Iterable[str]) -> str:
    """Names as a list that `names` parses."""
    return ",".join(_quote(name) for name in given)


def _quote(name: str) -> str:
    if name and name == name.strip() and not {",", '"'} & {*name}:
        return name
    return '"' + name.replace('"', '""') + '"'


def names(text: str) -> Names:
    return Names(text)


def separator(text: str) -> str:
    char = SEPARATORS.get(text, "\t" if text == r"\t" else text)
    if len(char) != 1 or not char.isascii() or char in '"\r\n':
        raise ArgumentTypeError(f"must be one character, or {', '.join(SEPARATORS)}, got {text!r}")
    return char


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(name) for name in names(text)}))
    except ValueError:
        raise ArgumentTypeError(f"must be integers separated by commas, got {text!r}") from None


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be an integer of at least 1, got {text!r}")
    return int(text)


def folds(text: str) -> int:
    if not text.isdecimal() or int(text) == 1:
        raise ArgumentTypeError(f"must be an integer of at least 2, or 0, got {text!r}")
    return int(text)


def rounds(text: str) -> int:
    n_rounds = count(text)
    if n_rounds > MAX_ROUNDS:
        raise ArgumentTypeError(f"must be an integer of at most {MAX_ROUNDS:,}, got {text!r}")
    return n_rounds


def bins(text: str) -> int | str:
    try:
        return text if text == "exact" else count(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"must be an integer of at least 1 or 'exact', got {text!r}") from None


def path(text: str) -> Path:
    if not text:
        raise ArgumentTypeError("must be the path of a file, got ''")
    return Path(text).expanduser()


def seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise ArgumentTypeError(f"must be an integer from 0 to {2**32 - 1}, got {text!r}")
    return int(text)


def probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 0.0 <= value <= 1.0:
        raise ArgumentTypeError(f"must be a number from 0 to 1, got {text!r}")
    return value


def cost_value(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 0.0 < value < inf:
        raise ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def costs(text: str) -> str | dict[str, float]:
    if text == "balanced":
        return text
    try:
        return {label: float(cost) for label, cost in _pairs(text)}
    except ValueError:
        raise ArgumentTypeError(
            f"must be 'balanced' or LABEL=COST separated by commas, got {text!r}; put a label that contains a comma in "
            'double quotes, such as "no, never"=3'
        ) from None


def monotonic(text: str) -> dict[str, int]:
    try:
        return {name: SIGNS[sign.strip()] for name, sign in _pairs(text)}
    except (KeyError, ValueError):
        raise ArgumentTypeError(
            f"must be COLUMN=+1 or COLUMN=-1 separated by commas, got {text!r}; put a name that contains a comma in "
            'double quotes, such as "amount, EUR"=+1'
        ) from None


def _pairs(text: str) -> list[tuple[str, str]]:
    """The items NAME=VALUE of a list; raises ValueError if one has no name."""
    pairs = [item.rpartition("=") for item in _split_list(text)]
    if not all(name.strip() for name, _, _ in pairs):
        raise ValueError
    return [(_unquote(name), value) for name, _, value in pairs]


def add_model(top: ArgumentParser) -> None:
    top.add_argument(
        "model",
        type=path,
        metavar="MODEL",
        help="Model file written by `adacc train` or by the save() method of a model.",
    )


def add_categorical(group: Any) -> None:
    group.add_argument(
        "--categorical", type=names, default=[], metavar="A,B",
        help="Columns of codes, such as postcodes, that are not used as numbers but as categories.",
    )  # fmt: skip


def add_duplicates(group: Any) -> None:
    group.add_argument(
        "--duplicates", choices=("auto", "together", "apart"), default="auto",
        help="Whether splits keep equal rows together, so that no row is predicted by a model that was trained on a "
        "copy of it: 'auto' if they are copies by evidence (default: auto). --group and --time decide alone.",
    )  # fmt: skip


def add_text_format(group: Any) -> None:
    """Options for the format of text files."""
    group.add_argument(
        "--sep", type=separator, metavar="CHAR",
        help="Field separator of a text file: one character or 'tab' (default: detected from the first rows).",
    )  # fmt: skip
    group.add_argument(
        "--decimal", choices=(".", ","), metavar="CHAR", help="Decimal separator of a text file, . or , (default: .)."
    )


def open_input(options: Namespace) -> OpenTable:
    """Open the input table of a command and resolve the names of --drop and --categorical."""
    from adacc.tables import open_table

    opened = open_table(options.data, options.sep, options.decimal)
    for name in ("drop", "categorical"):
        given = getattr(options, name, None)
        if isinstance(given, Names):
            setattr(options, name, given.resolve(opened.names))
    return opened


def text_format(options: Namespace) -> list[str]:
    """The text format options as arguments of another command."""
    given = (("--sep", options.sep), ("--decimal", options.decimal))
    return [argument for name, value in given if value is not None for argument in option(name, value)]


def add_threshold(top: ArgumentParser) -> None:
    top.add_argument(
        "--threshold", type=probability, metavar="P",
        help="Predict the positive class if its probability is at least P (default: the model's own decision).",
    )  # fmt: skip


def command_line(options: Namespace, *positional: str) -> str:
    """The command line of these options, including defaults, which may change in later versions."""
    given = {name: value for name, value in vars(options).items() if name not in ("command", "run", "debug")}
    arguments = ["adacc", options.command]
    arguments += [str(value) for name in positional if (value := given.pop(name)) is not None]
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False and value != []:
            arguments += option(flag, value)
    return shlex.join(arguments)


def option(name: str, value: Any) -> list[str]:
    """An option and its value as arguments; a value that begins with a hyphen is joined by an equals sign."""
    text = _format_value(value)
    return [f"{name}={text}"] if text.startswith("-") else [name, text]


def _exact(number: float) -> str:
    """A number as text that has the same value."""
    return repr(float(number)).removesuffix(".0")


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{_quote(label)}={_exact(cost)}" for label, cost in value.items())
    if value == SEPARATORS["tab"]:
        return "tab"
    return format_names(value) if isinstance(value, list) else str(value)

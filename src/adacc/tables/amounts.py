"""Numbers in text: with a decimal point or comma, a sign of currency, or a per cent sign."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

CURRENCIES = "$€£¥"
MARKS = f"{CURRENCIES}%"

OTHER = {".": ",", ",": "."}
"""The sign between groups of digits, by the decimal sign."""


def are_plain(text: Any, decimal: str) -> Any:
    """Which cells are numbers without groups of digits and without a mark."""
    point = re.escape(decimal)
    return matches(text, rf"^[ \t]*[+-]?([0-9]+{point}?[0-9]*|{point}[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$")


def are_grouped(text: Any, decimal: str) -> Any:
    """Which cells are digits with the other sign among them: groups, or the decimals of another language."""
    point, group = re.escape(decimal), re.escape(OTHER[decimal])
    return matches(text, rf"^[ \t]*[+-]?[0-9]+({group}[0-9]+)+({point}[0-9]*)?[ \t]*$")


def are_marked(text: Any, decimal: str) -> Any:
    """Which cells are amounts of money or per cent, such as $1,234.50, 12 € and 45%."""
    point, group = re.escape(decimal), re.escape(OTHER[decimal])
    number = rf"(([0-9]+|[0-9]{{1,3}}({group}[0-9]{{3}})+)({point}[0-9]*)?|{point}[0-9]+)"
    return matches(text, rf"^[ \t]*[+-]?([{CURRENCIES}] ?[+-]?{number}|{number} ?[{MARKS}])[ \t]*$")


def marks_of(text: Any) -> dict[str, str]:
    """A cell for each of the marks that occur."""
    return {sign: cell for cell in text.to_pylist() for sign in cell if sign in MARKS}


def with_point(text: Any, decimal: str) -> Any:
    """Numbers as Arrow reads them: marks are left out of amounts, and the decimal sign is a point."""
    bare = pc.replace_substring_regex(text, rf"[{MARKS} \t{re.escape(OTHER[decimal])}]", "")
    text = pc.if_else(are_marked(text, decimal), bare, text)
    if decimal == ".":
        return text
    pointed = pc.replace_substring(text, decimal, ".")
    # What is no number here must not become one by having a point.
    return pc.if_else(are_plain(text, decimal), pointed, pc.binary_join_element_wise(text, "?", ""))


def matches(text: Any, pattern: str) -> pa.Array:
    return pc.match_substring_regex(text, pattern)

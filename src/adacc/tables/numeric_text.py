"""Numbers in text: with a decimal point or comma, a currency symbol, or a per cent sign."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

CURRENCIES = "$€£¥"
UNITS = f"{CURRENCIES}%"

GROUP_SEPARATOR = {".": ",", ",": "."}
"""The separator of digit groups, by the decimal separator."""


def are_plain(text: Any, decimal: str) -> Any:
    """Which cells are numbers without digit groups and units."""
    point = re.escape(decimal)
    return matches(text, rf"^[ \t]*[+-]?([0-9]+{point}?[0-9]*|{point}[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$")


def are_grouped(text: Any, decimal: str) -> Any:
    """Which cells contain the group separator: digit groups, or decimals of another locale."""
    point, group = re.escape(decimal), re.escape(GROUP_SEPARATOR[decimal])
    return matches(text, rf"^[ \t]*[+-]?[0-9]+({group}[0-9]+)+({point}[0-9]*)?[ \t]*$")


def are_amounts(text: Any, decimal: str) -> Any:
    """Which cells are amounts of money or percentages, such as $1,234.50, 12 € and 45%."""
    point, group = re.escape(decimal), re.escape(GROUP_SEPARATOR[decimal])
    number = rf"(([0-9]+|[0-9]{{1,3}}({group}[0-9]{{3}})+)({point}[0-9]*)?|{point}[0-9]+)"
    return matches(text, rf"^[ \t]*[+-]?([{CURRENCIES}] ?[+-]?{number}|{number} ?[{UNITS}])[ \t]*$")


def units_of(text: Any) -> dict[str, str]:
    """A cell for each unit that occurs."""
    return {char: cell for cell in text.to_pylist() for char in cell if char in UNITS}


def with_point(text: Any, decimal: str) -> Any:
    """Numbers as Arrow parses them: without units, and with a decimal point."""
    bare = pc.replace_substring_regex(text, rf"[{UNITS} \t{re.escape(GROUP_SEPARATOR[decimal])}]", "")
    text = pc.if_else(are_amounts(text, decimal), bare, text)
    if decimal == ".":
        return text
    pointed = pc.replace_substring(text, decimal, ".")
    # Text that is not a number must not become one by the replacement.
    is_number = pc.or_(are_plain(text, decimal), matches(text, "^0[xX][0-9a-fA-F]+$"))
    return pc.if_else(is_number, pointed, pc.binary_join_element_wise(text, "?", ""))


def matches(text: Any, pattern: str) -> pa.Array:
    return pc.match_substring_regex(text, pattern)

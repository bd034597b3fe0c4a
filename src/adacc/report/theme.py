"""Colours and styles of the charts. Colours are CSS variables of the page, which follow its theme."""

from __future__ import annotations

from itertools import cycle, product
from typing import Any

from adacc.inspect import style

COLORS = {
    style.BLACK: "var(--ink)",
    style.BLUE: "var(--blue)",
    style.VERMILION: "var(--vermilion)",
    style.GREEN: "var(--green)",
    style.PINK: "var(--pink)",
    style.ORANGE: "var(--orange)",
    style.SKY: "var(--sky)",
    style.BROWN: "var(--brown)",
    style.VIOLET: "var(--violet)",
    style.GREY: "var(--grey)",
}
DASHES = {"-": [1, 0], "--": [6, 3], "-.": [8, 3, 2, 3], ":": [2, 3]}
RARE, COMMON = COLORS[style.RARE], COLORS[style.COMMON]
SKY, GREY, VIOLET = (COLORS[color] for color in (style.SKY, style.GREY, style.VIOLET))
INK, QUIET, RULE, PAPER = "var(--ink)", "var(--muted)", "var(--rule)", "var(--paper)"

CONFIG: dict[str, Any] = {
    "background": None,
    # To screen readers a chart is one image with a description; its numbers are in a table.
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": QUIET,
        "titleColor": QUIET,
        "gridColor": RULE,
        "domainColor": RULE,
        "tickColor": RULE,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 4,
        "tickSize": 4,
    },
    "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "start", "titleBaseline": "bottom", "titleY": -8},
}


def line_styles(methods: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Colour and dash pattern of each method: those of the figures; baselines get the unused ones.

    By name: ``color``, a CSS variable, and ``dash``, lengths in pixels.
    """
    known = {name: (color, line) for name, (color, line, _) in style.LINES.items()}
    taken = {known[each["name"]] for each in methods if each["name"] in known}
    hues = (style.GREEN, style.VIOLET, style.BROWN, style.PINK, style.SKY, style.ORANGE, style.GREY)
    # With more methods than pairs, pairs repeat.
    free = cycle([pair for line, color in product(DASHES, hues) if (pair := (color, line)) not in taken])
    styles = {}
    for method in methods:
        color, line = known.get(method["name"]) or next(free)
        styles[method["name"]] = {"color": COLORS[color], "dash": DASHES[line]}
    return styles

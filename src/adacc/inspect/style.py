"""The style of the figures, with a colour, line and marker for each method."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Colour-blind safe colours of Okabe and Ito [2008] and of Tol [2021]. Methods of one family share a colour and differ
# in the line style, which also works in greyscale.
BLUE, VERMILION, GREEN, PINK, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
BLACK, BROWN, VIOLET, GREY = "#000000", "#8C510A", "#332288", "#7F7F7F"
LINES = {
    "adaboost": (BLACK, "-", ""),
    "adacc1": (BLUE, "-", ""),
    "adacc2": (VERMILION, "-", "d"),
    "adan-cc1": (BLUE, ":", ""),
    "adan-cc2": (VERMILION, ":", "d"),
    "adamec": (PINK, "-", "v"),
    "adamec-cal": (PINK, "--", "^"),
    "cgada": (GREEN, "-", "s"),
    "cgada-cal": (GREEN, "--", "D"),
    "adacost": (SKY, "-", "o"),
    "csb1": (ORANGE, "-", "<"),
    "csb2": (ORANGE, "--", ">"),
    "adac1": (BROWN, "-", "1"),
    "adac2": (BROWN, "--", "2"),
    "adac3": (BROWN, "-.", "3"),
    "rareboost": (VIOLET, "-", "x"),
    "rusboost": (GREY, "-", "p"),
    "smoteboost": (GREY, "--", "h"),
}
OTHERS = [(color, line, marker) for line in ("-.", ":") for color, marker in ((GREEN, "*"), (VIOLET, "P"), (GREY, "X"))]
RARE, COMMON = BLUE, VERMILION
"""Colours of the two classes."""

STYLE: Any = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "adacc",  # reproducible files
}


@contextmanager
def styled() -> Iterator[None]:
    """Context with the style of the figures; matplotlib's settings are restored."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield


def line_of(label: str, n_points: int = 0) -> dict[str, Any]:
    """Line properties of a method, by its name or label; AdaCC has thicker lines."""
    name = label.lower().rstrip(".").replace(" ", "-")
    if name in LINES:
        color, line, marker = LINES[name]
    else:
        color, line, marker = OTHERS[sum(map(ord, name)) % len(OTHERS)]
    style: dict[str, Any] = {"color": color, "linestyle": line, "marker": marker}
    if name in ("adacc1", "adacc2"):
        style |= {"linewidth": 2.4, "zorder": 3}
    if n_points > 12:  # a marker on every point would hide the line
        style["markevery"] = (sum(map(ord, name)) % (n_points // 6), n_points // 6)
    return style


def signed_colors(above_is_rare: bool) -> tuple[str, str]:
    """Colours of values above and below 0."""
    return (RARE, COMMON) if above_is_rare else (COMMON, RARE)

"""The result of `adacc.compare` in a notebook: the verdict, a table and charts, as HTML without scripts.

Text and axes have the colour of the notebook's text, so that they follow light and dark themes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any, NamedTuple

from adacc.evaluation.measures import FORMATS, MISSING, in_sentence, shown
from adacc.report.text import finished, is_like_best

BLUE, ORANGE = "#0072B2", "#D55E00"
ROW, LABEL_WIDTH, PLOT_WIDTH, TOP, BOTTOM, LABEL_MAX = 22, 210, 330, 24, 34, 30
TICKS = 5
"""Approximate number of ticks of an axis."""


class Mark(NamedTuple):
    """A method in a chart: a dot at its mean, and a line over its interval."""

    label: str
    mean: float
    low: float
    high: float
    text: str
    is_own: bool


def to_html(result: dict[str, Any], verdict: str) -> str:
    """The verdict, the table and the charts of a result as plain data."""
    metric, methods = result["protocol"]["metric"], finished(result)
    charts = [
        _chart(f"{FORMATS[metric].label}, mean and 95% interval", _marks(methods, metric), metric),
        _chart("Seconds to tune and fit one fold", _marks(methods, "seconds"), "seconds", is_log=True),
    ]
    return (
        f"<p>{escape(verdict)}</p>{_table(methods, metric)}"
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;margin-top:1em">{"".join(charts)}</div>'
        f'<p><small><span style="color:{BLUE}">●</span> adacc, <span style="color:{ORANGE}">●</span> other libraries. '
        f"p: difference in {in_sentence(metric)} from the best method (corrected resampled t-test, Holm).</small></p>"
    )


def shown_p(p: float | None) -> str:
    """A p-value with two digits."""
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.2g}"


def _table(methods: Sequence[dict[str, Any]], metric: str) -> str:
    rows = ""
    for rank, method in enumerate(methods, start=1):
        found, versus = method["metrics"][metric], method["versus_best"] or {}
        low, high = (shown(metric, found[end]) for end in ("low", "high"))
        interval = "" if MISSING in (low, high) else f"{low.removesuffix('%')} to {high}"
        seconds = shown("seconds", method["metrics"]["seconds"]["mean"])
        place = f"{rank} ≈" if is_like_best(method) else str(rank)
        cells = (place, method["label"], shown(metric, found["mean"]), interval, shown_p(versus.get("p")), seconds)
        rows += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    heads = ("", "method", FORMATS[metric].label, "95% interval", "p", "seconds")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _marks(methods: Sequence[dict[str, Any]], metric: str) -> list[Mark]:
    marks = []
    for method in methods:
        found = method["metrics"][metric]
        if found["mean"] is not None:
            low, high = (found["mean"] if found[end] is None else found[end] for end in ("low", "high"))
            label = method["label"]
            short = label if len(label) <= LABEL_MAX else f"{label[: LABEL_MAX - 1]}…"
            marks.append(Mark(short, found["mean"], low, high, shown(metric, found["mean"]), method["own"]))
    return marks


def _chart(title: str, marks: Sequence[Mark], metric: str, is_log: bool = False) -> str:
    """Dots with intervals on a linear axis, or dots on a logarithmic one, as an SVG image."""
    if not marks:
        return ""
    place, ticks = _log_scale(marks) if is_log else _linear_scale(marks)
    bottom = TOP + ROW * len(marks)
    parts = [f'<text x="{LABEL_WIDTH}" y="14" font-weight="bold">{escape(title)}</text>']
    for tick in ticks:
        x = place(tick)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="currentColor" opacity="0.15"/>')
        text = f"{tick:g}" if is_log else _tick_text(metric, tick, ticks)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    for i, mark in enumerate(marks):
        y, color = TOP + ROW * (i + 0.5), BLUE if mark.is_own else ORANGE
        parts.append(f'<text x="{LABEL_WIDTH - 10}" y="{y + 4}" text-anchor="end">{escape(mark.label)}</text>')
        if not is_log:
            ends = f'x1="{place(mark.low):.1f}" x2="{place(mark.high):.1f}"'
            parts.append(f'<line {ends} y1="{y}" y2="{y}" stroke="{color}" stroke-width="2"/>')
        parts.append(
            f'<circle cx="{place(mark.mean):.1f}" cy="{y}" r="4.5" fill="{color}">'
            f"<title>{escape(mark.label)}: {mark.text}</title></circle>"
        )
    width, height = LABEL_WIDTH + PLOT_WIDTH + 20, bottom + BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-size="12" font-family="sans-serif" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def _linear_scale(marks: Sequence[Mark]) -> tuple[Callable[[float], float], list[float]]:
    """The place of a value in pixels, and round values for ticks."""
    low, high = min(mark.low for mark in marks), max(mark.high for mark in marks)
    span = (high - low) or 0.1
    rough = span / TICKS
    size = 10.0 ** floor(log10(rough))
    step = size * next(factor for factor in (1, 2, 5, 10) if factor * size >= rough)
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    left, right = first * step, last * step
    ticks = [number * step for number in range(first, last + 1)]
    return lambda value: LABEL_WIDTH + PLOT_WIDTH * (value - left) / (right - left), ticks


def _log_scale(marks: Sequence[Mark]) -> tuple[Callable[[float], float], list[float]]:
    """The same on a logarithmic scale, with powers of ten as ticks."""
    logs = [log10(max(mark.mean, 1e-6)) for mark in marks]
    first, last = floor(min(logs)), ceil(max(logs))
    last = max(last, first + 1)

    def place(value: float) -> float:
        return LABEL_WIDTH + PLOT_WIDTH * (log10(max(value, 1e-6)) - first) / (last - first)

    return place, [10.0**power for power in range(first, last + 1)]


def _tick_text(metric: str, tick: float, ticks: Sequence[float]) -> str:
    measure = FORMATS[metric]
    step = (ticks[1] - ticks[0]) * measure.factor
    decimals = max(0, -floor(log10(step) + 1e-9))
    return f"{tick * measure.factor:.{decimals}f}{measure.unit}"

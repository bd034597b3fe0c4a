"""The charts of one model as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from adacc.inspect.contributions import swarm_offsets
from adacc.report.charts import LABELS, Spec, inline, lines, names_axis, spec
from adacc.report.numbers import signed
from adacc.report.tables import strongest
from adacc.report.theme import COMMON, GREY, INK, QUIET, RARE, SKY, VIOLET

FEATURES_MAX = 15
WATERFALL_FEATURES_MAX = 12
CATEGORIES_MAX = 12
CATEGORY_LINE_LENGTH = 20
"""Characters in a line of a category's label."""


def model_charts(model: dict[str, Any]) -> dict[str, Spec]:
    """All charts of a model that its data allow."""
    charts = {}
    if any(each["share"] for each in model["importances"]):
        charts["importances"] = importances(model)
    domain = _score_domain(model["shapes"])
    for number, shape in enumerate(model["shapes"]):
        charts[f"shape{number}"] = step(shape, domain) if shape["kind"] == "number" else bars(shape, domain)
    if (model.get("rounds_history") or {}).get("round"):
        charts["errors"] = errors(model)
        charts["weight"] = weight(model)
    if model.get("contributions"):
        charts["beeswarm"] = beeswarm(model["contributions"])
    for number, example in enumerate(model.get("examples") or []):
        charts[f"example{number}"] = waterfall(example)
    if model.get("row"):
        charts["waterfall"] = waterfall(model["row"])
    return charts


def importances(model: dict[str, Any]) -> Spec:
    """The most important features."""
    most = [each for each in model["importances"] if each["share"]][:FEATURES_MAX]
    rows = [{"feature": lines(str(each["feature"])), "share": each["share"]} for each in most]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("feature:N", sort=None, title=None, axis=LABELS),
        x=alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1.25 * most[0]["share"]])),
    )
    chart = alt.layer(
        base.mark_bar(color=RARE, height=14),
        base.mark_text(align="left", dx=6, color=QUIET, fontSize=11).encode(text=alt.Text("share:Q", format=".1%")),
    )
    return spec(chart.properties(height=24 * len(rows)))


LEVELS = {"low": SKY, "middle": GREY, "high": VIOLET, "not a number": INK}
"""Colours of the lower, middle and upper third of the values of a feature."""


def beeswarm(features: list[dict[str, Any]]) -> Spec:
    """Contributions of the most important features to many rows: a point for each row."""
    rows = []
    for each in features:
        label, offsets = lines(str(each["feature"])), swarm_offsets(np.array(each["contributions"]))
        points = zip(each["contributions"], offsets.round(3).tolist(), each["levels"], strict=True)
        rows += [{"feature": label, "x": x, "offset": offset, "level": level(at)} for x, offset, at in points]
    at_x = alt.X("x:Q", title="contribution to the score", axis=alt.Axis(tickCount=6))
    scale = alt.Scale(domain=list(LEVELS), range=list(LEVELS.values()))
    chart = alt.layer(
        alt.Chart(inline([{"x": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(x=at_x),
        alt.Chart(alt.NamedData("points"))
        .mark_circle(size=11, opacity=0.8)
        .encode(
            x=at_x,
            y=alt.Y("feature:N", sort=None, title=None, axis=LABELS, scale=alt.Scale(paddingInner=0.1)),
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1, 1])),
            color=alt.Color("level:N", scale=scale, legend=None),
        ),
    )
    return spec(chart.properties(height=34 * len(features)), points=rows)


def level(at: float | None) -> str:
    """The third of the values of a feature that a rank from 0 to 1 is in."""
    if at is None:
        return "not a number"
    return "low" if at < 1 / 3 else "middle" if at <= 2 / 3 else "high"


def _score_domain(shapes: list[dict[str, Any]]) -> list[float]:
    """The common range of scores of all shapes, so that they can be compared."""
    values = [0.0]
    for shape in shapes:
        values += [value for value in (*shape["y"], shape["missing"]) if value is not None]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 1.0
    return [low - margin, high + margin]


def step(shape: dict[str, Any], domain: list[float]) -> Spec:
    """Shape function of a numeric feature; a dashed line shows the value for missing values."""
    x, y = list(shape["x"]), list(shape["y"])
    y += y[-1:] * (len(x) - len(y))  # the last value extends to the last x
    rows = [{"x": at, "y": value} for at, value in zip(x, y, strict=True)]
    at_x = alt.X("x:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False, tickCount=4))
    at_y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=domain), axis=alt.Axis(tickCount=4))
    layers = [
        alt.Chart(inline([{"y": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(y=at_y),
        alt.Chart(alt.NamedData("steps"))
        .mark_line(interpolate="step-after", color=RARE, strokeWidth=2)
        .encode(x=at_x, y=at_y),
    ]
    if shape["missing"] is not None:
        missing = alt.Chart(inline([{"y": shape["missing"]}]))
        layers.append(missing.mark_rule(color=COMMON, strokeDash=[5, 3], strokeWidth=1.4).encode(y=at_y))
    return spec(alt.layer(*layers).properties(height=150), steps=rows)


def bars(shape: dict[str, Any], domain: list[float]) -> Spec:
    """Shape function of a categorical feature: the categories with the largest absolute values."""
    pairs = sorted(zip(map(str, shape["labels"]), shape["y"], strict=True), key=lambda pair: -abs(pair[1]))
    rows = [
        {"label": lines(label, CATEGORY_LINE_LENGTH), "y": value, "missing": False}
        for label, value in pairs[:CATEGORIES_MAX]
    ]
    rows.sort(key=lambda row: -row["y"])
    if shape["missing"] is not None:
        rows.append({"label": "(missing)", "y": shape["missing"], "missing": True})
    at_y = alt.Y("label:N", sort=None, title=None, axis=names_axis(11, 140, 6))
    at_x = alt.X("y:Q", title=None, scale=alt.Scale(domain=domain), axis=alt.Axis(tickCount=4))
    color = alt.condition("datum.missing", alt.value(COMMON), alt.value(RARE))
    chart = alt.layer(
        alt.Chart(inline(rows)).mark_bar(height={"band": 0.6}).encode(x=at_x, y=at_y, color=color),
        alt.Chart(inline([{"y": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(x=at_x),
    )
    return spec(chart.properties(height=max(150, 24 * len(rows))))


ERRORS = {
    "rare_error": ("false negative rate (missed)", RARE, [1, 0]),
    "common_error": ("false positive rate (false alarms)", COMMON, [6, 3]),
    "balanced_error": ("balanced error", INK, [2, 2]),
}


def errors(model: dict[str, Any]) -> Spec:
    """Errors of both classes on the training rows by round."""
    history = model["rounds_history"]
    rows = [
        {"round": at, "error": value, "of": label}
        for key, (label, _, _) in ERRORS.items()
        for at, value in zip(history["round"], history[key], strict=True)
        if value is not None
    ]
    labels, colors, dashes = (list(column) for column in zip(*ERRORS.values(), strict=True))
    chart = (
        alt.Chart(alt.NamedData("errors"))
        .mark_line(strokeWidth=1.8)
        .encode(
            x=_rounds_axis(),
            y=alt.Y("error:Q", title=None, axis=alt.Axis(format=".0%", tickCount=5)),
            color=alt.Color("of:N", scale=alt.Scale(domain=labels, range=colors), legend=None),
            strokeDash=alt.StrokeDash("of:N", scale=alt.Scale(domain=labels, range=dashes), legend=None),
        )
    )
    return spec(chart.properties(height=200), errors=rows)


def weight(model: dict[str, Any]) -> Spec:
    """Share of the positive class in the row weights by round."""
    history = model["rounds_history"]
    pairs = zip(history["round"], history["rare_weight"], strict=True)
    rows = [{"round": at, "weight": value} for at, value in pairs if value is not None]
    at_y = alt.Y("weight:Q", title=None, axis=alt.Axis(format=".0%", tickCount=5))
    chart = alt.layer(
        alt.Chart(inline([{"weight": 0.5}])).mark_rule(color=QUIET, strokeDash=[2, 4]).encode(y=at_y),
        alt.Chart(alt.NamedData("weights")).mark_line(strokeWidth=1.8, color=RARE).encode(x=_rounds_axis(), y=at_y),
    )
    return spec(chart.properties(height=200), weights=rows)


def _rounds_axis() -> alt.X:
    whole = alt.Axis(grid=False, tickMinStep=1, format="d")
    return alt.X("round:Q", title="round", scale=alt.Scale(nice=False), axis=whole)


def waterfall(row: dict[str, Any]) -> Spec:
    """Waterfall from the intercept to the score of a row; small contributions are summed."""
    steps = waterfall_steps(row)
    base = alt.Chart(inline(steps)).encode(y=alt.Y("label:N", sort=None, title=None, axis=LABELS))
    color = alt.Color(
        "kind:N", legend=None, scale=alt.Scale(domain=["for", "against", "sum"], range=[RARE, COMMON, INK])
    )
    ends = [0.0, *(step[end] for step in steps for end in ("start", "end"))]
    low, width = min(ends), max(ends) - min(ends) or 1.0
    domain = [low - 0.03 * width, low + 1.25 * width]  # with room for the numbers on the right of the bars
    x = alt.X("start:Q", title="score", scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(tickCount=6))
    layers = [
        alt.Chart(inline([{"at": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(x="at:Q"),
        base.mark_bar(height=14).encode(x=x, x2="end:Q", color=color),
        base.mark_text(align="left", dx=6, color=INK, fontSize=11).encode(x="right:Q", text="shown:N"),
    ]
    return spec(alt.layer(*layers).properties(height=24 * len(steps)))


def waterfall_steps(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Bars of a waterfall: start and end of each contribution, and the score."""
    ordered = strongest(row)
    changes = [("(intercept)", row["intercept"])]
    changes += [(f"{name} = {value}", added) for name, value, added in ordered[:WATERFALL_FEATURES_MAX]]
    if rest := ordered[WATERFALL_FEATURES_MAX:]:
        changes.append((f"({len(rest)} more)", sum(added for _, _, added in rest)))
    steps, level = [], 0.0
    for label, change in changes:
        steps.append(_bar(label, level, level + change, "for" if change >= 0 else "against"))
        level += change
    return [*steps, _bar("(score)", 0.0, row["score"], "sum")]


def _bar(label: str, start: float, end: float, kind: str) -> dict[str, Any]:
    return {
        "label": lines(label),
        "start": start,
        "end": end,
        "right": max(start, end),
        "kind": kind,
        "shown": signed(end - start),
    }

"""The charts of one model as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt

from adacc.report.charts import LABELS, Spec, inline, lines, names_axis, spec
from adacc.report.measures import signed
from adacc.report.tables import strongest
from adacc.report.theme import COMMON, INK, QUIET, RARE

MOST_BARS = 15
MOST_STEPS = 12
MOST_LABELS = 12
LINE_OF_BARS = 20
"""Characters in a line of a category's label."""


def model_charts(model: dict[str, Any]) -> dict[str, Spec]:
    """All charts of a model that its numbers allow."""
    found = {}
    if any(each["share"] for each in model["importances"]):
        found["importances"] = importances(model)
    reach = _reach(model["shapes"])
    for number, shape in enumerate(model["shapes"]):
        found[f"shape{number}"] = step(shape, reach) if shape["kind"] == "number" else bars(shape, reach)
    if (model.get("rounds_history") or {}).get("round"):
        found["errors"] = errors(model)
        found["weight"] = weight(model)
    if model.get("row"):
        found["waterfall"] = waterfall(model["row"])
    return found


def importances(model: dict[str, Any]) -> Spec:
    """The features that the model uses most."""
    most = [each for each in model["importances"] if each["share"]][:MOST_BARS]
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


def _reach(shapes: list[dict[str, Any]]) -> list[float]:
    """One range of scores for all shapes, so that they can be compared."""
    values = [0.0]
    for shape in shapes:
        values += [value for value in (*shape["y"], shape["missing"]) if value is not None]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 1.0
    return [low - margin, high + margin]


def step(shape: dict[str, Any], reach: list[float]) -> Spec:
    """What a numeric feature adds to the score; missing values are a broken line across."""
    x, y = list(shape["x"]), list(shape["y"])
    y += y[-1:] * (len(x) - len(y))  # the last value holds up to the last x
    rows = [{"x": at, "y": value} for at, value in zip(x, y, strict=True)]
    at_x = alt.X("x:Q", title=None, scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(grid=False, tickCount=4))
    at_y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=reach), axis=alt.Axis(tickCount=4))
    layers = [
        alt.Chart(inline([{"y": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(y=at_y),
        alt.Chart(alt.NamedData("steps"))
        .mark_line(interpolate="step-after", color=RARE, strokeWidth=2)
        .encode(x=at_x, y=at_y),
    ]
    if shape["missing"] is not None:
        gaps = alt.Chart(inline([{"y": shape["missing"]}]))
        layers.append(gaps.mark_rule(color=COMMON, strokeDash=[5, 3], strokeWidth=1.4).encode(y=at_y))
    return spec(alt.layer(*layers).properties(height=150), steps=rows)


def bars(shape: dict[str, Any], reach: list[float]) -> Spec:
    """What each category adds to the score: the strongest where there are many."""
    pairs = sorted(zip(map(str, shape["labels"]), shape["y"], strict=True), key=lambda pair: -abs(pair[1]))
    rows = [{"label": lines(label, LINE_OF_BARS), "y": value, "missing": False} for label, value in pairs[:MOST_LABELS]]
    rows.sort(key=lambda row: -row["y"])
    if shape["missing"] is not None:
        rows.append({"label": "(missing)", "y": shape["missing"], "missing": True})
    at_y = alt.Y("label:N", sort=None, title=None, axis=names_axis(11, 140, 6))
    at_x = alt.X("y:Q", title=None, scale=alt.Scale(domain=reach), axis=alt.Axis(tickCount=4))
    color = alt.condition("datum.missing", alt.value(COMMON), alt.value(RARE))
    chart = alt.layer(
        alt.Chart(inline(rows)).mark_bar(height={"band": 0.6}).encode(x=at_x, y=at_y, color=color),
        alt.Chart(inline([{"y": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(x=at_x),
    )
    return spec(chart.properties(height=max(150, 24 * len(rows))))


ERRORS = {
    "rare_error": ("positive rows missed", RARE, [1, 0]),
    "common_error": ("others that raise an alarm", COMMON, [6, 3]),
    "balanced_error": ("balanced error", INK, [2, 2]),
}


def errors(model: dict[str, Any]) -> Spec:
    """Errors of both classes on the training rows, round by round."""
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
    """The share of the weight that lies on the positive class, round by round."""
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
    """From the intercept to the score of a row, a feature at a time; the weakest together."""
    steps = waterfall_steps(row)
    base = alt.Chart(inline(steps)).encode(y=alt.Y("label:N", sort=None, title=None, axis=LABELS))
    color = alt.Color(
        "kind:N", legend=None, scale=alt.Scale(domain=["for", "against", "sum"], range=[RARE, COMMON, INK])
    )
    x = alt.X("start:Q", title="score", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
    layers = [
        alt.Chart(inline([{"at": 0}])).mark_rule(color=QUIET, strokeWidth=0.8).encode(x="at:Q"),
        base.mark_bar(height=14).encode(x=x, x2="end:Q", color=color),
        base.mark_text(align="left", dx=6, color=INK, fontSize=11).encode(x="right:Q", text="shown:N"),
    ]
    return spec(alt.layer(*layers).properties(height=24 * len(steps)))


def waterfall_steps(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Bars of a waterfall: where each starts and ends, and the sum at last."""
    ordered = strongest(row)
    parts = [("(start)", row["intercept"])]
    parts += [(f"{name} = {value}", added) for name, value, added in ordered[:MOST_STEPS]]
    if rest := ordered[MOST_STEPS:]:
        parts.append((f"({len(rest)} more)", sum(added for _, _, added in rest)))
    steps, level = [], 0.0
    for label, change in parts:
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

"""The charts of a decision rule as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

import altair as alt

from adacc.report.charts import LABELS, SQUARE, Spec, inline, lines, share_axis, spec
from adacc.report.theme import COMMON, INK, PAPER, QUIET, RARE

MEASURES = {"recall": (RARE, [1, 0], "circle"), "precision": (COMMON, [6, 3], "diamond")}
"""Colour, dash and shape of the measures, everywhere on the page."""

ALERTS_RANGE = 4.0
"""The chart of alerts ends at so many times the alerts of the rule, or where the recall is `RECALL_SHOWN`."""

RECALL_SHOWN = 0.95

MAX_GROUP_LABEL = 24


def decision_charts(assessment: dict[str, Any]) -> dict[str, Spec]:
    """All charts that the figures allow."""
    charts = {}
    if assessment["positives"]:
        charts = {"capacity": capacity(assessment), "gains": gains(assessment), "lift": lift(assessment)}
    for number, groups in enumerate(assessment["subgroups"].values()):
        charts[f"subgroup{number}"] = by_group(groups, assessment["figures"])
    if assessment["periods"] is not None and len(assessment["periods"]["periods"]) > 1:
        periods = assessment["periods"]["periods"]
        charts["periods"] = over_time(periods)
        charts["alerts"] = alerts_over_time(periods)
        charts["rates"] = rates_over_time(periods)
    return charts


def _measure_channels() -> dict[str, Any]:
    names = list(MEASURES)
    colors, dashes, shapes = (list(each) for each in zip(*MEASURES.values(), strict=True))
    return {
        "color": alt.Color("measure:N", scale=alt.Scale(domain=names, range=colors), legend=None),
        "dash": alt.StrokeDash("measure:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
        "shape": alt.Shape("measure:N", scale=alt.Scale(domain=names, range=shapes), legend=None),
    }


def capacity(assessment: dict[str, Any]) -> Spec:
    """Recall and precision by number of alerts; dots are the rule, and hollow dots today's decisions."""
    curve, channels = assessment["curve"], _measure_channels()
    enough = next(x for x, y in zip(curve["share"], curve["recall"], strict=True) if y >= RECALL_SHOWN)
    marks = [{"mark": "the rule", "filled": True, **_mark(assessment["rule"])}] if assessment["rule"]["rows"] else []
    today = next((each for each in assessment["policies"] if each["name"] == "today"), None)
    if today is not None and today["alerts"]:
        at = {**today, "alerts_per_1000": today["alerts_per_1000"]["value"]}
        marks.append({"mark": "today", "filled": False, **_mark(at)})
    most = max([ALERTS_RANGE * each["x"] for each in marks[:1]] + [each["x"] for each in marks] + [1000 * enough])
    most = min(most, 1000.0)
    rows = [
        {"x": 1000 * x, "y": y, "measure": name}
        for name in MEASURES
        for x, y in zip(curve["share"], curve[name], strict=True)
        if 1000 * x <= most
    ]
    points = [
        {"x": each["x"], "y": each[name], "measure": name, "mark": each["mark"], "filled": each["filled"]}
        for each in marks
        for name in MEASURES
    ]
    x = alt.X("x:Q", title="alerts per 1,000 rows", scale=alt.Scale(domain=[0, most], nice=False), axis=_plain_axis())
    y = alt.Y(**share_axis("y", "share"))
    tooltip = [
        alt.Tooltip("mark:N", title="decision"),
        alt.Tooltip("measure:N"),
        alt.Tooltip("y:Q", title="value", format=".1%"),
        alt.Tooltip("x:Q", title="alerts per 1,000", format=",.1f"),
    ]
    dots = alt.Chart(inline(points)).encode(x=x, y=y, tooltip=tooltip, shape=channels["shape"])
    layers = [
        alt.Chart(inline([each for each in marks if each["filled"]]))
        .mark_rule(color=QUIET, strokeDash=[3, 3], strokeWidth=1.2)
        .encode(x=x),
        alt.Chart(alt.NamedData("curve"))
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, order="x:Q", color=channels["color"], strokeDash=channels["dash"]),
        dots.transform_filter("datum.filled")
        .mark_point(size=90, opacity=1, filled=True)
        .encode(color=channels["color"]),
        dots.transform_filter("!datum.filled")
        .mark_point(size=90, opacity=1, fill=PAPER, strokeWidth=2)
        .encode(stroke=channels["color"]),
    ]
    return spec(alt.layer(*layers).properties(height=SQUARE), curve=rows)


def _mark(found: dict[str, Any]) -> dict[str, Any]:
    return {"x": found["alerts_per_1000"], **{name: found[name]["value"] for name in MEASURES}}


def _plain_axis(**options: Any) -> alt.Axis:
    return alt.Axis(grid=False, tickCount=6, **options)


def gains(assessment: dict[str, Any]) -> Spec:
    """Recall by share of the rows, in the order of the scores; the diagonal is a random order."""
    curve, rule = assessment["curve"], assessment["rule"]
    rows = [{"x": 0.0, "y": 0.0}, *_points(curve["share"], curve["recall"])]
    mark = [{"x": rule["share"], "y": rule["recall"]["value"]}] if rule["rows"] else []
    x = alt.X(**share_axis("x", "share of all rows, highest scores first"))
    y = alt.Y(**share_axis("y", "share of the positive rows (recall)"))
    random = alt.Chart(inline([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    layers = [
        random.mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1).encode(x=x, y=y),
        alt.Chart(alt.NamedData("gains")).mark_line(color=RARE, strokeWidth=2).encode(x=x, y=y, order="x:Q"),
        alt.Chart(inline(mark)).mark_point(filled=True, size=90, opacity=1, color=RARE).encode(x=x, y=y),
    ]
    return spec(alt.layer(*layers).properties(height=SQUARE), gains=rows)


def _points(x: list[float], y: list[float]) -> list[dict[str, float]]:
    return [{"x": float(f"{one:.5g}"), "y": float(f"{other:.5g}")} for one, other in zip(x, y, strict=True)]


def lift(assessment: dict[str, Any]) -> Spec:
    """Precision divided by the share of positive rows, by share of the rows."""
    curve, rule = assessment["curve"], assessment["rule"]
    rate = assessment["positives"] / assessment["rows"]
    rows = _points(curve["share"], [each / rate for each in curve["precision"]])
    mark = [{"x": rule["share"], "y": rule["lift"]["value"]}] if rule["rows"] else []
    x = alt.X(**share_axis("x", "share of all rows, highest scores first"))
    y = alt.Y("y:Q", title="lift", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    layers = [
        alt.Chart(inline([{"y": 1.0}])).mark_rule(color=QUIET, strokeDash=[2, 4], strokeWidth=1).encode(y=y),
        alt.Chart(alt.NamedData("lift")).mark_line(color=INK, strokeWidth=2).encode(x=x, y=y, order="x:Q"),
        alt.Chart(inline(mark)).mark_point(filled=True, size=90, opacity=1, color=RARE).encode(x=x, y=y),
    ]
    return spec(alt.layer(*layers).properties(height=SQUARE), lift=rows)


def by_group(groups: list[dict[str, Any]], figures: dict[str, Any]) -> Spec:
    """Recall and precision of each group with intervals; vertical lines are the values of all rows."""
    channels = _measure_channels()
    rows = [
        {"group": lines(group["name"], MAX_GROUP_LABEL), "measure": name, **group[name]}
        for group in groups
        for name in MEASURES
        if group[name]["value"] is not None
    ]
    overall = [
        {"measure": name, "value": figures[name]["value"]} for name in MEASURES if figures[name]["value"] is not None
    ]
    x = alt.X(**share_axis("value", "value and 95% interval"))
    order = [lines(group["name"], MAX_GROUP_LABEL) for group in groups]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("group:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=LABELS),
        yOffset=alt.YOffset("measure:N", sort=list(MEASURES), scale=alt.Scale(paddingOuter=0.3)),
        color=channels["color"],
    )
    tooltip = [
        alt.Tooltip("measure:N"),
        *(alt.Tooltip(f"{each}:Q", format=".1%") for each in ("value", "low", "high")),
    ]
    layers = [
        alt.Chart(inline(overall))
        .mark_rule(strokeWidth=1.2)
        .encode(x=x, color=channels["color"], strokeDash=channels["dash"]),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_point(size=70, filled=True, opacity=1).encode(x=x, shape=channels["shape"], tooltip=tooltip),
    ]
    return spec(alt.layer(*layers).properties(height=46 * len(groups)))


def over_time(periods: list[dict[str, Any]]) -> Spec:
    """Recall and precision by period, with intervals."""
    channels = _measure_channels()
    rows = [
        {"period": each["figures"]["name"], "measure": name, **each["figures"][name]}
        for each in periods
        for name in MEASURES
        if each["figures"][name]["value"] is not None
    ]
    base = alt.Chart(inline(rows)).encode(x=_period_axis(periods), color=channels["color"])
    y = alt.Y(**share_axis("value", "share"))
    tooltip = [
        alt.Tooltip("period:N"),
        alt.Tooltip("measure:N"),
        *(alt.Tooltip(f"{each}:Q", format=".1%") for each in ("value", "low", "high")),
    ]
    layers = [
        base.mark_rule(strokeWidth=1.4, opacity=0.7).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=channels["dash"]),
        base.mark_point(size=50, filled=True, opacity=1).encode(y=y, shape=channels["shape"], tooltip=tooltip),
    ]
    return spec(alt.layer(*layers).properties(height=SQUARE))


def _period_axis(periods: list[dict[str, Any]]) -> alt.X:
    order = [each["figures"]["name"] for each in periods]
    axis = alt.Axis(labelAngle=-40, labelAlign="right", labelOverlap=True, labelLimit=140, ticks=False)
    return alt.X("period:O", sort=order, scale=alt.Scale(domain=order), title=None, axis=axis)


def alerts_over_time(periods: list[dict[str, Any]]) -> Spec:
    """Alerts per day by period, with intervals."""
    rows = [{"period": each["figures"]["name"], **each["alerts_per_day"]} for each in periods]
    return _bars_over_time(rows, periods, "alerts per day", "~s", RARE)


def rates_over_time(periods: list[dict[str, Any]]) -> Spec:
    """Share of positive rows by period, with intervals."""
    rows = [{"period": each["figures"]["name"], **each["figures"]["positive_rate"]} for each in periods]
    return _bars_over_time(rows, periods, "share of positive rows", "~%", QUIET)


def _bars_over_time(
    rows: list[dict[str, Any]], periods: list[dict[str, Any]], title: str, number: str, color: str
) -> Spec:
    base = alt.Chart(inline(rows)).encode(x=_period_axis(periods))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=number))
    layers = [
        base.mark_bar(color=color, opacity=0.85).encode(y=y),
        base.mark_rule(color=INK, strokeWidth=1.4).encode(y=alt.Y("low:Q"), y2="high:Q"),
    ]
    return spec(alt.layer(*layers).properties(height=180))

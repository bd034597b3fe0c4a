"""The charts of a comparison as Vega-Lite specifications.

What the reader chooses, the measure, the methods, the threshold, reaches a chart as data or as a parameter. Names that
users gave are values of data, never part of an expression.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import altair as alt

from adacc.report.measures import MEASURES, shown, spread
from adacc.report.tables import measures_of
from adacc.report.theme import INK, PAPER, QUIET, RARE, looks
from adacc.report.words import finished, mean

Spec = dict[str, Any]
TWO_LINES = (
    "length(split(datum.label, '\\n')) > 2"
    " ? [split(datum.label, '\\n')[0], split(datum.label, '\\n')[1] + '…'] : split(datum.label, '\\n')"
)


def names_axis(font_size: int, limit: int, padding: int) -> alt.Axis:
    """The axis of names of `lines`, of which it shows two, around the middle of their place."""
    up = {"condition": {"test": "indexof(datum.label, '\\n') > 0", "value": -font_size / 2}, "value": 0}
    return alt.Axis(
        labelExpr=TWO_LINES, labelOffset=up, labelLineHeight=font_size, labelFontSize=font_size, labelLimit=limit,
        labelPadding=padding, labelColor=INK, ticks=False, domain=False,
    )  # fmt: skip


LABELS = names_axis(12, 180, 10)
SQUARE = 300
FIT = {"type": "fit-x", "contains": "padding", "resize": True}
"""As wide as its place, measured again whenever data change: labels may then be longer."""


def spec(chart: Any, **datasets: list[dict[str, Any]]) -> Spec:
    """A chart as data, as wide as its place, without Altair's own configuration: the page has one for all.

    Long data come by name, after Altair has looked at the rest: it checks every row that it sees.
    """
    found: Spec = chart.properties(width="container", autosize=FIT).to_dict()
    found.pop("config", None)
    found.pop("$schema", None)
    found["datasets"] = found.get("datasets", {}) | datasets
    return found


def inline(rows: list[dict[str, Any]]) -> alt.InlineData:
    """A few rows as data of a chart."""
    return alt.InlineData(values=rows)


def lines(label: str, length: int = 24) -> str:
    """A label in lines of so many characters; the axis shows two of them. All are kept: labels stay different."""
    return "\n".join(wrap(label, length, drop_whitespace=False, replace_whitespace=False))


def compare_charts(result: dict[str, Any]) -> dict[str, Spec]:
    """All charts of a comparison but those of the model; the rows of most come from the page's script."""
    if not finished(result):
        return {}
    return {
        "intervals": intervals(result),
        "roc": roc(result),
        "pr": precision_recall(result),
        "calibration": calibration(result),
        "cost": cost(),
    }


def intervals(result: dict[str, Any]) -> Spec:
    """Mean, interval and every part of each method, for the measure that is chosen."""
    means, parts = _measured(result)
    place = alt.EncodingSortField(field="place", op="min", order="ascending")
    y = alt.Y("label:N", sort=place, title=None, axis=LABELS)
    x_axis = alt.Axis(grid=True, tickCount=6, labelExpr="datum.label + unit")
    tooltip = [alt.Tooltip("label:N", title="method"), alt.Tooltip("shown:N", title="mean")]
    of_means = alt.Chart(alt.NamedData("means")).transform_filter("datum.metric == metric")
    of_parts = alt.Chart(alt.NamedData("parts")).transform_filter("datum.metric == metric")
    color = alt.condition("datum.own", alt.value(RARE), alt.value(QUIET))
    low = alt.X("low:Q", title=None, axis=x_axis, scale=alt.Scale(zero=False, nice=True))
    layers = [
        of_parts.mark_tick(thickness=1.2, size=9, opacity=0.55).encode(x=alt.X("value:Q"), y=y, color=color),
        of_means.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", y=y, color=color),
        of_means.transform_filter("datum.own")
        .mark_point(shape="circle", size=80, filled=True, opacity=1, color=RARE)
        .encode(x="mean:Q", y=y, tooltip=tooltip),
        of_means.transform_filter("!datum.own")
        .mark_point(shape="diamond", size=80, opacity=1, fill=PAPER, stroke=QUIET, strokeWidth=1.8)
        .encode(x="mean:Q", y=y, tooltip=tooltip),
    ]
    metric = result["protocol"]["metric"]
    chosen = (alt.param(name="metric", value=metric), alt.param(name="unit", value=MEASURES[metric].unit))
    chart = alt.layer(*layers).add_params(*chosen).properties(height=26 * len(finished(result)))
    return spec(chart, means=means, parts=parts)


def _measured(result: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the means and of the parts, in the units that are shown, with each method's place by each measure."""
    means, parts = [], []
    for metric in measures_of(result):
        measure = MEASURES[metric]
        have = [method for method in finished(result) if mean(method, metric) is not None]
        have.sort(key=lambda method: method["metrics"][metric]["mean"], reverse=not measure.low_is_good)
        for place, method in enumerate(have):
            values = method["metrics"][metric]
            common = {"metric": metric, "label": lines(method["label"]), "own": method["own"], "place": place}
            at = {key: _scaled(values.get(key), measure.factor) for key in ("mean", "low", "high")}
            words = f"{shown(metric, values['mean'])} {spread(metric, values.get('std'))}"
            means.append({**common, **at, "shown": words.strip()})
            drawn = (_scaled(value, measure.factor) for value in values["parts"] if value is not None)
            parts += [{**common, "value": value} for value in drawn]
    return means, parts


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else round(factor * value, 6)


def _lines(result: dict[str, Any]) -> dict[str, Any]:
    """Channels for the colour and dash of each method; their legend is the page's own."""
    methods = finished(result)
    of_methods = looks(methods)
    names = [method["name"] for method in methods]
    colors, dashes = ([of_methods[name][key] for name in names] for key in ("color", "dash"))
    return {
        "stroke": alt.Stroke("name:N", scale=alt.Scale(domain=names, range=colors), legend=None),
        "fill": alt.Fill("name:N", scale=alt.Scale(domain=names, range=colors), legend=None),
        "strokeDash": alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
    }


def _share_axis(field: str, title: str) -> dict[str, Any]:
    axis = alt.Axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"shorthand": f"{field}:Q", "title": title, "axis": axis, "scale": alt.Scale(domain=[0, 1])}


def _diagonal() -> Any:
    ends = alt.Chart(inline([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    return ends.mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1, opacity=0.8).encode(x="x:Q", y="y:Q")


def _curves(result: dict[str, Any], data: str, x: alt.X, y: alt.Y) -> list[Any]:
    """Lines of the chosen methods, and a dot where each method decides by itself."""
    channels = _lines(result)
    fill = channels.pop("fill")
    tooltip = [alt.Tooltip("label:N", title="method"), alt.Tooltip("at:N", title="its own decisions")]
    lines = alt.Chart(alt.NamedData(data)).mark_line(strokeWidth=2).encode(x=x, y=y, order="order:Q", **channels)
    dots = (
        alt.Chart(alt.NamedData(f"{data}_points"))
        .mark_point(size=75, opacity=1, stroke=PAPER, strokeWidth=1.5)
        .encode(x=x, y=y, fill=fill, tooltip=tooltip)
    )
    return [lines, dots]


def roc(result: dict[str, Any]) -> Spec:
    """False alarms against the caught."""
    x = alt.X(**_share_axis("x", "others that raise a false alarm"))
    y = alt.Y(**_share_axis("y", "positive rows caught"))
    return spec(alt.layer(_diagonal(), *_curves(result, "roc", x, y)).properties(height=SQUARE))


def precision_recall(result: dict[str, Any]) -> Spec:
    """The caught against the share of alarms that is right."""
    x = alt.X(**_share_axis("x", "positive rows caught"))
    y = alt.Y(**_share_axis("y", "alarms that are right"))
    return spec(alt.layer(*_curves(result, "pr", x, y)).properties(height=SQUARE))


def calibration(result: dict[str, Any]) -> Spec:
    """Predicted probabilities against how often it was so; larger dots stand for more rows."""
    channels = _lines(result)
    fill = channels.pop("fill")
    x, y = alt.X(**_share_axis("x", "probability predicted")), alt.Y(**_share_axis("y", "share observed"))
    size = alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[25, 220]))
    tooltip = [
        alt.Tooltip("label:N", title="method"),
        alt.Tooltip("x:Q", title="predicted", format=".1%"),
        alt.Tooltip("y:Q", title="observed", format=".1%"),
        alt.Tooltip("rows:Q", format=","),
    ]
    base = alt.Chart(alt.NamedData("calibration")).encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=1.5).encode(order="order:Q", **channels)
    dots = base.mark_point(opacity=1, strokeWidth=0).encode(fill=fill, size=size, tooltip=tooltip)
    return spec(alt.layer(_diagonal(), lines, dots).properties(height=SQUARE))


def cost() -> Spec:
    """The total cost over all thresholds, and the threshold that is chosen."""
    plain = alt.Axis(grid=False, tickCount=6)
    x = alt.X("at:Q", title="threshold", scale=alt.Scale(zero=False, nice=False), axis=plain)
    y = alt.Y("cost:Q", title="total cost", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format="~s"))
    line = alt.Chart(alt.NamedData("cost")).mark_line(color=INK, strokeWidth=1.6, interpolate="step-before")
    here = alt.Chart(alt.NamedData("here"))
    layers = [
        line.encode(x=x, y=y, order="at:Q"),
        here.mark_rule(color=RARE, strokeWidth=1.2, strokeDash=[3, 3]).encode(x=x),
        here.mark_point(filled=True, size=90, opacity=1, color=RARE).encode(x=x, y=y),
    ]
    return spec(alt.layer(*layers).properties(height=180))

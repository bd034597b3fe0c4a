"""The charts of a comparison as Vega-Lite specifications.

The reader's choices (measure, methods, threshold) reach a chart as data or as a parameter. Names from the user's data
are values of data, never part of an expression.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import altair as alt

from adacc.evaluation.measures import FORMATS, shown, spread
from adacc.report.tables import measures_of
from adacc.report.text import finished, mean
from adacc.report.theme import INK, PAPER, QUIET, RARE, line_styles

Spec = dict[str, Any]
TWO_LINES = (
    "length(split(datum.label, '\\n')) > 2"
    " ? [split(datum.label, '\\n')[0], split(datum.label, '\\n')[1] + '…'] : split(datum.label, '\\n')"
)


def names_axis(font_size: int, limit: int, padding: int) -> alt.Axis:
    """An axis of names split by `lines`; it shows their first two lines, centred."""
    up = {"condition": {"test": "indexof(datum.label, '\\n') > 0", "value": -font_size / 2}, "value": 0}
    return alt.Axis(
        labelExpr=TWO_LINES, labelOffset=up, labelLineHeight=font_size, labelFontSize=font_size, labelLimit=limit,
        labelPadding=padding, labelColor=INK, ticks=False, domain=False,
    )  # fmt: skip


LABELS = names_axis(12, 180, 10)
SQUARE = 300
FIT = {"type": "fit-x", "contains": "padding", "resize": True}
"""Charts fill the width of their container; it is measured again when data, and so labels, change."""


def spec(chart: Any, **datasets: list[dict[str, Any]]) -> Spec:
    """The specification of a chart that fills its container, without configuration: the page has one for all charts.

    Altair's validation would take as long as all else; tests draw the charts in a browser.
    """
    made: Spec = chart.properties(width="container", autosize=FIT).to_dict(validate=False)
    made.pop("config", None)
    made.pop("$schema", None)
    made["datasets"] = made.get("datasets", {}) | datasets
    return made


def inline(rows: list[dict[str, Any]]) -> alt.InlineData:
    """Rows as data of a chart."""
    return alt.InlineData(values=rows)


def lines(label: str, length: int = 24) -> str:
    """A label in lines of `length` characters. The axis shows two; all are kept, so that labels stay unique."""
    return "\n".join(wrap(label, length, drop_whitespace=False, replace_whitespace=False))


def compare_charts(result: dict[str, Any]) -> dict[str, Spec]:
    """All charts of two classes, without those of the model; the page's script adds the data of most."""
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
    """Mean, confidence interval and value of every fold, for the chosen measure."""
    means, folds = _measured(result)
    place = alt.EncodingSortField(field="place", op="min", order="ascending")
    y = alt.Y("label:N", sort=place, title=None, axis=LABELS)
    x_axis = alt.Axis(grid=True, tickCount=6, labelExpr="datum.label + unit")
    tooltip = [alt.Tooltip("label:N", title="method"), alt.Tooltip("shown:N", title="mean")]
    of_means = alt.Chart(alt.NamedData("means")).transform_filter("datum.metric == metric")
    of_folds = alt.Chart(alt.NamedData("folds")).transform_filter("datum.metric == metric")
    color = alt.condition("datum.own", alt.value(RARE), alt.value(QUIET))
    low = alt.X("low:Q", title=None, axis=x_axis, scale=alt.Scale(zero=False, nice=True))
    layers = [
        of_folds.mark_tick(thickness=1.2, size=9, opacity=0.55).encode(x=alt.X("value:Q"), y=y, color=color),
        of_means.mark_rule(strokeWidth=2).encode(x=low, x2="high:Q", y=y, color=color),
        of_means.transform_filter("datum.own")
        .mark_point(shape="circle", size=80, filled=True, opacity=1, color=RARE)
        .encode(x="mean:Q", y=y, tooltip=tooltip),
        of_means.transform_filter("!datum.own")
        .mark_point(shape="diamond", size=80, opacity=1, fill=PAPER, stroke=QUIET, strokeWidth=1.8)
        .encode(x="mean:Q", y=y, tooltip=tooltip),
    ]
    metric = result["protocol"]["metric"]
    chosen = (alt.param(name="metric", value=metric), alt.param(name="unit", value=FORMATS[metric].unit))
    chart = alt.layer(*layers).add_params(*chosen).properties(height=26 * len(finished(result)))
    return spec(chart, means=means, folds=folds)


def _measured(result: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Data of the means and of the folds, in the units shown, with the rank of each method by each measure."""
    means, folds = [], []
    for metric in measures_of(result):
        measure = FORMATS[metric]
        have = [method for method in finished(result) if mean(method, metric) is not None]
        have.sort(key=lambda method: method["metrics"][metric]["mean"], reverse=not measure.low_is_good)
        for place, method in enumerate(have):
            values = method["metrics"][metric]
            common = {"metric": metric, "label": lines(method["label"]), "own": method["own"], "place": place}
            at = {key: _scaled(values.get(key), measure.factor) for key in ("mean", "low", "high")}
            text = f"{shown(metric, values['mean'])} {spread(metric, values.get('std'))}"
            means.append({**common, **at, "shown": text.strip()})
            drawn = (_scaled(value, measure.factor) for value in values["by_fold"] if value is not None)
            folds += [{**common, "value": value} for value in drawn]
    return means, folds


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else round(factor * value, 6)


def _lines(result: dict[str, Any]) -> dict[str, Any]:
    """Channels for the colour and dash of each method; the page has the legend."""
    methods = finished(result)
    of_methods = line_styles(methods)
    names = [method["name"] for method in methods]
    colors, dashes = ([of_methods[name][key] for name in names] for key in ("color", "dash"))
    return {
        "stroke": alt.Stroke("name:N", scale=alt.Scale(domain=names, range=colors), legend=None),
        "fill": alt.Fill("name:N", scale=alt.Scale(domain=names, range=colors), legend=None),
        "strokeDash": alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
    }


def share_axis(field: str, title: str) -> dict[str, Any]:
    axis = alt.Axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"shorthand": f"{field}:Q", "title": title, "axis": axis, "scale": alt.Scale(domain=[0, 1])}


def _diagonal() -> Any:
    ends = alt.Chart(inline([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    return ends.mark_line(color=QUIET, strokeDash=[2, 4], strokeWidth=1, opacity=0.8).encode(x="x:Q", y="y:Q")


def _curves(result: dict[str, Any], data: str, x: alt.X, y: alt.Y) -> list[Any]:
    """Curves of the chosen methods, with a dot at the default threshold of each."""
    channels = _lines(result)
    fill = channels.pop("fill")
    tooltip = [alt.Tooltip("label:N", title="method"), alt.Tooltip("at:N", title="default threshold")]
    lines = alt.Chart(alt.NamedData(data)).mark_line(strokeWidth=2).encode(x=x, y=y, order="order:Q", **channels)
    dots = (
        alt.Chart(alt.NamedData(f"{data}_points"))
        .mark_point(size=75, opacity=1, stroke=PAPER, strokeWidth=1.5)
        .encode(x=x, y=y, fill=fill, tooltip=tooltip)
    )
    return [lines, dots]


def roc(result: dict[str, Any]) -> Spec:
    """ROC curves."""
    x = alt.X(**share_axis("x", "false positive rate"))
    y = alt.Y(**share_axis("y", "true positive rate"))
    return spec(alt.layer(_diagonal(), *_curves(result, "roc", x, y)).properties(height=SQUARE))


def precision_recall(result: dict[str, Any]) -> Spec:
    """Precision-recall curves."""
    x = alt.X(**share_axis("x", "recall (TPR)"))
    y = alt.Y(**share_axis("y", "precision"))
    return spec(alt.layer(*_curves(result, "pr", x, y)).properties(height=SQUARE))


def calibration(result: dict[str, Any]) -> Spec:
    """Observed share of positive rows against predicted probability; larger dots stand for more rows."""
    channels = _lines(result)
    fill = channels.pop("fill")
    x, y = alt.X(**share_axis("x", "predicted probability")), alt.Y(**share_axis("y", "observed share"))
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
    """Total cost at every threshold, and the chosen threshold."""
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

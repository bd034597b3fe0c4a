"""The charts of a comparison on more than two classes."""

from __future__ import annotations

from typing import Any

import altair as alt

from adacc.report.charts import LABELS, Spec, inline, intervals, lines, spec
from adacc.report.multiclass_tables import hardest
from adacc.report.text import finished
from adacc.report.theme import QUIET, RARE


def multiclass_charts(result: dict[str, Any]) -> dict[str, Spec]:
    """The charts, without those of the model."""
    if not finished(result):
        return {}
    return {"intervals": intervals(result), "recalls": recalls(result)}


def recalls(result: dict[str, Any]) -> Spec:
    """Recall of each class by the best method with its interval, the lowest first."""
    by_class = finished(result)[0]["pooled"]["recall"]
    rows = []
    for label in hardest(result):
        found = {key: by_class[label][key] for key in ("recall", "low", "high")}
        rows.append({"label": lines(label), **found, "rows": by_class[label]["rows"]})
    base = alt.Chart(inline(rows)).encode(y=alt.Y("label:N", sort=None, title=None, axis=LABELS))
    axis = alt.Axis(format=".0%", grid=True, tickCount=6)
    tooltip = [
        alt.Tooltip("label:N", title="class"),
        alt.Tooltip("recall:Q", format=".1%"),
        alt.Tooltip("rows:Q", format=","),
    ]
    chart = alt.layer(
        base.mark_rule(strokeWidth=2, color=QUIET).encode(
            x=alt.X("low:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, 1])), x2="high:Q"
        ),
        base.mark_point(shape="circle", size=80, filled=True, opacity=1, color=RARE).encode(
            x="recall:Q", tooltip=tooltip
        ),
    )
    return spec(chart.properties(height=26 * len(rows)))

"""Renders the report: text, tables and charts in one HTML file that needs no network.

Altair and Jinja2 are imported when a page is rendered, since the terminal uses only the text.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adacc.files import whole_file
from adacc.report import multiclass_tables, multiclass_text, tables, text
from adacc.report.vega import bundle

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("charts.js", "sorting.js", "choices.js", "threshold.js", "start.js")
STYLES = ("page.css", "tables.css", "print.css")


def render(result: dict[str, Any], vega: Callable[[], str] = bundle) -> str:
    """The report of a comparison, from `adacc.comparison`: an HTML page that contains its scripts, styles and data.

    `vega` returns the script that draws the charts.
    """
    if multiclass_text.has_several_classes(result):
        return render_multiclass(result, vega)
    from adacc.report.charts import compare_charts
    from adacc.report.decision_charts import decision_charts
    from adacc.report.decision_tables import about_comparison_decision
    from adacc.report.model_charts import model_charts
    from adacc.report.model_text import about_model
    from adacc.report.theme import line_styles

    result = _finite(result)
    model = result["model"]
    charts = compare_charts(result) | (model_charts(model) if model else {})
    decided = result.get("decision")
    if decided is not None:
        charts |= decision_charts(decided["assessment"])
    return _page(
        "report.html",
        result,
        vega,
        charts=charts,
        data={"methods": _curves(result), "measures": _labels(result)},
        title=f"Finding {text.quoted(result['data']['positive'])} in {Path(result['data']['source']).name}",
        summary=text.summary(result),
        headline=text.headline(result),
        areas=tables.areas(result),
        decisions=tables.decisions(result),
        line_styles=line_styles(text.finished(result)),
        chosen=_chosen(text.finished(result)),
        class_counts=text.class_counts(result["data"]),
        model=about_model(model, result["data"]["positive"]) if model else None,
        decided=about_comparison_decision(decided) if decided else None,
        **_common_tables(result),
    )


def render_multiclass(result: dict[str, Any], vega: Callable[[], str] = bundle) -> str:
    """The report of a comparison on more than two classes."""
    from adacc.report.model_charts import model_charts
    from adacc.report.model_text import about_model
    from adacc.report.multiclass_charts import multiclass_charts

    result = _finite(result)
    model, data = result["model"], result["data"]
    return _page(
        "multiclass_report.html",
        result,
        vega,
        charts=multiclass_charts(result) | (model_charts(model) if model else {}),
        data={"measures": _labels(result)},
        title=f"Predicting {text.quoted(data['target'])} in {Path(data['source']).name}",
        summary=multiclass_text.summary(result),
        headline=multiclass_text.headline(result),
        class_counts=multiclass_text.class_counts(data, limit=len(data["classes"])),
        classes=multiclass_tables.classes(result),
        model=about_model(model, None, several_classes=True) if model else None,
        **_common_tables(result),
    )


def _common_tables(result: dict[str, Any]) -> dict[str, Any]:
    """Tables and sentences of the sections that all comparisons have."""
    return {
        "ranking": tables.ranking(result),
        "failures": tables.failures(result),
        "intervals": tables.intervals(result),
        "about_data": text.about_data(result["data"]),
        "columns": tables.columns(result["data"]),
        "protocol": tables.protocol(result),
        "winner_script": result.get("winner_script"),
    }


def render_model(result: dict[str, Any], vega: Callable[[], str] = bundle) -> str:
    """The report of one model, and of one row's score if the model has a ``row``.

    `result` is as for `render`, with ``model`` but without ``methods``.
    """
    from adacc.report.model_charts import model_charts
    from adacc.report.model_text import about_model

    result = _finite(result)
    model = result["model"]
    return _page(
        "model.html",
        result,
        vega,
        charts=model_charts(model),
        data={},
        title=f"{model['label']}: the fitted model",
        model=about_model(model, (result.get("data") or {}).get("positive")),
        winner_script=None,
    )


def render_evaluation(result: dict[str, Any], vega: Callable[[], str] = bundle) -> str:
    """The report of the decisions of a model on labelled rows, from `adacc evaluate`."""
    from adacc.report.calibration_text import reliability, verdict
    from adacc.report.decision_charts import decision_charts
    from adacc.report.decision_tables import about_decision
    from adacc.report.decision_text import of_training_rows

    result = _finite(result)
    source = "standard input" if result["data"] == "-" else Path(result["data"]).name
    return _page(
        "evaluation.html",
        result,
        vega,
        charts=decision_charts(result["assessment"]),
        data={},
        title=f"Decisions about {text.quoted(result['positive'])} in {source}",
        source=source,
        decided=about_decision(result),
        of_training_rows=of_training_rows,
        calibration={
            "sentences": verdict(result["calibration"]),
            "table": reliability(result["calibration"]),
        },
        model=None,
        winner_script=None,
        protocol=[
            ("Model", f"{result['model']} ({result['method']})"),
            ("Rows", f"{result['rows']:,} of {source}, {result['assessment']['positives']:,} positive"),
            ("Target", str(result["target"])),
        ],
    )


def write(result: dict[str, Any], path: str | os.PathLike[str], vega: Callable[[], str] = bundle) -> None:
    """Write the report of a comparison, an evaluation or a model, atomically; an existing file is replaced."""
    render_kind = render if "methods" in result else render_evaluation if "assessment" in result else render_model
    page = render_kind(result, vega)
    # A file name that is not valid Unicode is shown with question marks.
    with whole_file(path) as scratch:
        scratch.write_bytes(page.encode("utf-8", "replace"))


def _page(
    template: str,
    result: dict[str, Any],
    vega: Callable[[], str],
    charts: dict[str, Any],
    data: dict[str, Any],
    **variables: Any,
) -> str:
    from adacc.report.theme import CONFIG

    scripts = [_template("theme.js"), *([vega()] if charts else []), _script()]
    return (
        _environment()
        .get_template(template)
        .render(
            result=result,
            scripts=scripts,
            hashes=[b64encode(sha256(script.encode()).digest()).decode() for script in scripts],
            style="\n".join(map(_template, STYLES)),
            page_data={"charts": charts, "config": CONFIG, **data},
            charts=charts,
            **variables,
        )
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("adacc.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _script() -> str:
    """The page's scripts in a function scope, apart from the global names of the Vega bundle."""
    body = "\n".join(map(_template, SCRIPTS))
    return f"(() => {{\n'use strict';\n{body}}})();"


def _template(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _finite(value: Any) -> Any:
    """The same data with None for NaN and infinity, which JSON cannot store."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _labels(result: dict[str, Any]) -> list[dict[str, str]]:
    """The measures to choose from."""
    described = tables.descriptions(result)
    measures = ((name, described[name]) for name in tables.measures_of(result))
    return [{"name": name, "label": each.label, "about": each.about, "unit": each.unit} for name, each in measures]


def _chosen(methods: list[dict[str, Any]]) -> list[str]:
    """Methods whose curves are drawn at first: the best, the best of adacc and the best baseline."""
    first = methods[:1] + [next((each for each in methods if each["own"] == own), None) for own in (True, False)]
    return list(dict.fromkeys(each["name"] for each in first if each))


def _curves(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Curves and counts of every method, for the page's script."""
    curves = []
    for method in text.finished(result):
        if pooled := method.get("pooled"):
            # Thresholds keep all digits, as a rounded one would select other rows.
            exact = {"thresholds": pooled["thresholds"]}
            curves.append({"name": method["name"], "label": method["label"], **_rounded(pooled), **exact})
    return curves


def _rounded(value: Any) -> Any:
    """The same data with six significant digits, which halves the size of the page."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value

"""The page: words, tables and charts in one HTML file that asks nothing of the network.

The libraries that draw and render are loaded when a page is made: the words are for the terminal, too.
"""

from __future__ import annotations

import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adacc.files import whole_file
from adacc.report import tables, words
from adacc.report.measures import MEASURES

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("charts.js", "sorting.js", "choices.js", "threshold.js", "start.js")
STYLES = ("page.css", "tables.css", "print.css")


def render(result: dict[str, Any]) -> str:
    """The report of a comparison.

    Parameters
    ----------
    result : dict
        What `adacc.compare` found, as plain data.

    Returns
    -------
    str
        A whole HTML page with scripts, styles and data inside.
    """
    from adacc.report.charts import compare_charts
    from adacc.report.model_charts import model_charts
    from adacc.report.model_words import about_model
    from adacc.report.theme import looks

    result = _finite(result)
    model = result["model"]
    charts = compare_charts(result) | (model_charts(model) if model else {})
    return _page(
        "report.html",
        result,
        charts=charts,
        data={"methods": _curves(result), "measures": _labels(result)},
        title=f"Finding {words.quoted(result['data']['positive'])} in {Path(result['data']['source']).name}",
        summary=words.summary(result),
        headline=words.headline(result),
        ranking=tables.ranking(result),
        failures=tables.failures(result),
        intervals=tables.intervals(result),
        areas=tables.areas(result),
        decisions=tables.decisions(result),
        looks=looks(words.finished(result)),
        chosen=_chosen(words.finished(result)),
        class_counts=words.class_counts(result["data"]),
        about_data=words.about_data(result["data"]),
        columns=tables.columns(result["data"]),
        protocol=tables.protocol(result),
        model=about_model(model, result["data"]["positive"]) if model else None,
    )


def render_model(result: dict[str, Any]) -> str:
    """The report of one model, and of one row's score if the model section has a ``row``.

    Parameters
    ----------
    result : dict
        As of `render`, with ``model`` and without the comparison.

    Returns
    -------
    str
        A whole HTML page.
    """
    from adacc.report.model_charts import model_charts
    from adacc.report.model_words import about_model

    result = _finite(result)
    model = result["model"]
    return _page(
        "model.html",
        result,
        charts=model_charts(model),
        data={},
        title=f"What {model['label']} has learnt",
        model=about_model(model, (result.get("data") or {}).get("positive")),
    )


def write(result: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the report of a comparison, or of a model where there is none, all or nothing.

    Parameters
    ----------
    result : dict
        As of `render` or `render_model`.
    path : path
        The file; what was there is replaced once the new one is complete.
    """
    page = (render if "methods" in result else render_model)(result)
    # A file name that is no text has signs that cannot be written; they become question marks.
    with whole_file(path) as scratch:
        scratch.write_bytes(page.encode("utf-8", "replace"))


def _page(template: str, result: dict[str, Any], charts: dict[str, Any], data: dict[str, Any], **parts: Any) -> str:
    from adacc.report.theme import CONFIG

    scripts = [_text("theme.js"), *([_bundle()] if charts else []), _wrapped()]
    return (
        _environment()
        .get_template(template)
        .render(
            result=result,
            scripts=scripts,
            hashes=[b64encode(sha256(script.encode()).digest()).decode() for script in scripts],
            style="\n".join(map(_text, STYLES)),
            page_data={"charts": charts, "config": CONFIG, **data},
            charts=charts,
            **parts,
        )
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("adacc.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made


def _wrapped() -> str:
    """The page's scripts in a scope of their own: the bundle has short names of its own."""
    inside = "\n".join(map(_text, SCRIPTS))
    return f"(() => {{\n'use strict';\n{inside}}})();"


def _text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed in the version that Altair writes for."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)


def _finite(value: Any) -> Any:
    """The same data with None for what is no number: JSON has no name for it."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _labels(result: dict[str, Any]) -> list[dict[str, str]]:
    """The measures to choose from."""
    found = ((name, MEASURES[name]) for name in tables.measures_of(result))
    return [{"name": name, "label": each.label, "about": each.about, "unit": each.unit} for name, each in found]


def _chosen(methods: list[dict[str, Any]]) -> list[str]:
    """Which curves are drawn at first: the best, the best of adacc's own and the best baseline."""
    first = methods[:1] + [next((each for each in methods if each["own"] == own), None) for own in (True, False)]
    return list(dict.fromkeys(each["name"] for each in first if each))


def _curves(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What the page's script draws of every method."""
    found = []
    for method in words.finished(result):
        if pooled := method.get("pooled"):
            found.append({"name": method["name"], "label": method["label"], **_rounded(pooled)})
    return found


def _rounded(value: Any) -> Any:
    """Six digits are more than a curve can show, and half the page."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value

"""What a notebook shows of a comparison: a table, and charts whose marks are where their values are."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from made_result import result as made
from nasty_results import failures, hostile, one_method, stopped, undefined

from adacc.evaluation.measures import FORMATS, shown
from adacc.report.notebook import to_html
from adacc.report.text import finished

SVG = "{http://www.w3.org/2000/svg}"


def charts(shown_html):
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", shown_html, re.S)]


def axis(chart, metric):
    """The value at each place, from the texts of the ticks."""
    texts = [each for each in chart.iter(f"{SVG}text") if each.get("text-anchor") == "middle"]
    values = [float(each.text.removesuffix("%")) / FORMATS[metric].factor for each in texts]
    return np.array([float(each.get("x")) for each in texts]), np.array(values)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "auc", "brier"])
def test_marks_are_where_their_values_are(metric):
    result = made()
    result["protocol"]["metric"] = metric
    measure, seconds = charts(to_html(result, "AdaCC2 is best."))
    methods = finished(result)
    places, values = axis(measure, metric)
    assert 3 <= len(values) <= 12
    slope, intercept = np.polyfit(places, values, 1)
    np.testing.assert_allclose(slope * places + intercept, values, atol=1e-4)  # ticks are evenly spaced
    dots = [slope * float(dot.get("cx")) + intercept for dot in measure.iter(f"{SVG}circle")]
    np.testing.assert_allclose(dots, [each["metrics"][metric]["mean"] for each in methods], atol=1e-3)
    lines = [each for each in measure.iter(f"{SVG}line") if each.get("stroke") != "currentColor"]
    for line, method in zip(lines, methods, strict=True):
        for end, name in (("x1", "low"), ("x2", "high")):
            assert slope * float(line.get(end)) + intercept == pytest.approx(method["metrics"][metric][name], abs=1e-3)
    places, values = axis(seconds, "seconds")
    slope, intercept = np.polyfit(places, np.log10(values), 1)
    dots = [10 ** (slope * float(dot.get("cx")) + intercept) for dot in seconds.iter(f"{SVG}circle")]
    np.testing.assert_allclose(dots, [each["metrics"]["seconds"]["mean"] for each in methods], rtol=0.02)


def test_the_table_has_the_same_figures():
    result = made()
    html = to_html(result, "AdaCC2 is best.")
    rows = re.findall(r"<tr>(.*?)</tr>", html)[1:]
    for rank, (row, method) in enumerate(zip(rows, finished(result), strict=True), start=1):
        place, label, mean, interval, p, _ = re.findall(r"<td>(.*?)</td>", row)
        found = method["metrics"]["balanced_accuracy"]
        assert (label, mean) == (method["label"], shown("balanced_accuracy", found["mean"]))
        assert interval == f"{100 * found['low']:.1f} to {100 * found['high']:.1f}%"
        versus = method["versus_best"] or {"p": None}
        is_like_best = versus["p"] is not None and not versus["significant"]
        assert place == (f"{rank} ≈" if is_like_best else str(rank))
        assert (p == "") == (rank == 1)
    assert "<th>Balanced accuracy</th>" in html


def test_without_a_test_no_method_is_marked():
    assert "≈" not in to_html(stopped(), "")


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)


@pytest.mark.parametrize("make", [hostile, failures, one_method, stopped, undefined])
def test_odd_results(make):
    """Names that look like HTML, methods that failed, a single fold, undefined measures."""
    shown_html = to_html(make(), "Best: <script>alert(1)</script>")
    known = {
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "div",
        "small",
        "span",
        "svg",
        "text",
        "line",
        "circle",
        "title",
    }
    assert Tags(shown_html).tags <= known
    for chart in charts(shown_html):
        assert "nan" not in ElementTree.tostring(chart).decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_drawn_within_its_picture(opened, tmp_path, theme):
    """In a browser: every text of a chart is visible, inside of it, and has the colour of the page."""
    page = tmp_path / "cell.html"
    colors = {"light": ("#fff", "rgb(17, 17, 17)"), "dark": ("#111", "rgb(238, 238, 238)")}[theme]
    style = f"background:{colors[0]};color:{colors[1]};font-family:sans-serif"
    page.write_text(f"<!doctype html><meta charset='utf-8'><body style='{style}'>{to_html(made(), 'Best.')}</body>")
    with opened(page, ready="svg") as tab:
        boxes = tab.evaluate(
            """() => [...document.querySelectorAll("svg")].flatMap(svg => {
                const around = svg.getBoundingClientRect();
                return [...svg.querySelectorAll("text, circle")].map(each => {
                    const box = each.getBoundingClientRect();
                    const inside = box.left >= around.left && box.right <= around.right
                        && box.top >= around.top && box.bottom <= around.bottom;
                    return [each.tagName, inside, getComputedStyle(each).fill];
                });
            })"""
        )
    assert all(inside for _, inside, _ in boxes)
    assert {fill for tag, _, fill in boxes if tag == "text"} == {colors[1]}
    assert sum(tag == "circle" for tag, _, _ in boxes) == 2 * len(finished(made()))

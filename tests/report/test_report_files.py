"""The file as text: whole, small, without a way out, and written all or nothing."""

import base64
import hashlib
import json
import os
import re

import pytest
from made_result import explained, result
from nasty_results import NASTY, hostile

from adacc.report import render_model, write

pytestmark = pytest.mark.compiled  # the results come from fitted models


def scripts(html):
    """Attributes and text of the script elements, split as a browser does."""
    return re.findall(r"<script([^>]*)>(.*?)</script", html, re.DOTALL | re.IGNORECASE)


@pytest.mark.parametrize("make", NASTY, ids=lambda make: make.__name__)
def test_every_result_becomes_a_page(written, make):
    html = written(make).read_text(encoding="utf-8")
    assert len(html.encode()) < 3e6
    assert len(scripts(html)) == 4 if make.__name__ != "nothing_finished" else 3
    assert html.rstrip().endswith("</html>")


def test_the_policy_allows_our_scripts_and_no_others(written):
    html = written(result).read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    for attributes, text in scripts(html):
        if "json" not in attributes:
            assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy


def test_names_are_text(written):
    html = written(hostile).read_text(encoding="utf-8")
    assert "<b>bold" not in html
    assert "<img src=x" not in html
    (data,) = [text for attributes, text in scripts(html) if "json" in attributes]
    assert "<" not in data
    labels = [method["label"] for method in json.loads(data)["methods"]]
    assert labels[0] == "</script><script>window.broken = 1</script>"


def test_no_layer_of_a_chart_is_without_data(written):
    fed = {"roc", "roc_points", "pr", "pr_points", "calibration", "cost", "here"}  # by the page's script
    for make in (result, explained):
        (data,) = [
            text for attributes, text in scripts(written(make).read_text(encoding="utf-8")) if "json" in attributes
        ]
        for name, chart in json.loads(data)["charts"].items():
            used = {layer.get("data", chart.get("data"))["name"] for layer in chart.get("layer", [chart])}
            assert used <= fed | set(chart["datasets"]), name
            assert all(chart["datasets"].values()), name


def test_nothing_points_outside(written):
    html = written(result).read_text(encoding="utf-8")
    ours = re.sub(r"<script[^>]*>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.findall(r"\b(?:src|href)=\"(?!#)|url\(|@import|https?:", ours)


def test_a_report_of_a_model_has_no_comparison():
    html = render_model(explained())
    assert "AdaCC2: the fitted model" in html
    assert 'id="ranking"' not in html
    without_row = explained()
    del without_row["model"]["row"], without_row["model"]["rounds_history"], without_row["model"]["train_command"]
    assert 'id="row"' not in render_model(without_row)


def test_the_model_page_names_the_class_where_it_is_told():
    assert "increase the score of ‘malignant’" in render_model(explained() | {"data": {"positive": "malignant"}})


def test_a_file_name_that_is_no_text(tmp_path):
    write(explained() | {"command": "adacc explain \udcff.adacc"}, tmp_path / "report.html")
    assert "adacc explain ?.adacc" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_write_replaces_and_has_ordinary_rights(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write(explained(), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("broken", ["result", "disk", "name"])
def test_write_leaves_nothing_when_it_fails(tmp_path, monkeypatch, broken):
    path = tmp_path / "report.html"
    path.write_text("old")
    made = explained()
    if broken == "result":
        del made["model"]["importances"]
    elif broken == "name":
        path.unlink()
        path.mkdir()
    else:
        monkeypatch.setattr("os.replace", lambda *_: os.listdir(tmp_path / "nowhere"))
    with pytest.raises((KeyError, OSError)):
        write(made, path)
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert broken == "name" or path.read_text() == "old"

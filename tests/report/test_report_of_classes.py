"""The report of a comparison on more than two classes, in a browser: the numbers of the models, and hostile names."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from nasty_results import EMOJI, IMAGE, LONG, SCRIPT

from adacc.comparison import MulticlassProblem, Plan, available_methods, make_splits, run_comparison
from adacc.comparison.leaderboard import Leaderboard, report
from adacc.report.multiclass_tables import CLASSES_MAX
from adacc.report.multiclass_text import confusions, headline, summary

pytestmark = pytest.mark.compiled

NAMES = tuple(sorted([SCRIPT, IMAGE, EMOJI, LONG, "oak"]))


def compared(names, n_rows=300):
    """A comparison of three quick methods on overlapping classes."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.choice(len(names), n_rows)).astype(np.int8)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)) + np.c_[y, y % 2, y % 3] * 0.9, columns=["a", "b", "c"])
    problem = MulticlassProblem("trees.csv", "kind", names, X, y, n_rows)
    methods, left_out = ("adacc2", "logistic-regression", "lightgbm"), ("lightgbm-tuned",)
    splits, plan = make_splits(problem, 3, 1, 0), Plan(methods, 5, 0, left_out)
    standing = Leaderboard(problem, splits, plan, "balanced_accuracy", available_methods())
    for outcome in run_comparison(problem, splits, plan):
        standing.add(outcome)
    return report(standing, "adacc compare trees.csv --target kind", 3, 1)


@cache
def hostile_classes():
    return compared(NAMES)


@cache
def many_classes():
    """One class more than are shown."""
    return compared(tuple(f"class {k:02d}" for k in range(CLASSES_MAX + 1)), 900)


def stopped_classes():
    """Interrupted in the first folds, and without a model."""
    made = {**hostile_classes(), "model": None, "stopped": True}
    made["methods"] = [{**each, "failed": None} for each in made["methods"][:1]]
    return made


def failed_classes():
    made = {**hostile_classes(), "model": None}
    reason = {"folds": 3, "reason": "MemoryError"}
    made["methods"] = [{**each, "metrics": {}, "failed": reason, "versus_best": None} for each in made["methods"]]
    return made


@pytest.mark.parametrize("make", [hostile_classes, many_classes, stopped_classes, failed_classes])
def test_pages_open_at_all_widths(opened, written, make):
    path = written(make)
    assert path.stat().st_size < 2.5e6
    with opened(path) as page:
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        for width in (320, 400, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.broken") is None
        drawn = page.evaluate("[...document.querySelectorAll('[data-chart]')].map(each => !!each.querySelector('svg'))")
        assert all(drawn)
        if make is not failed_classes:
            assert len(drawn) >= 2


def test_the_matrix_has_the_counts_and_the_shares_of_the_true_class(opened, written):
    result = hostile_classes()
    counts = np.array(result["methods"][0]["pooled"]["confusion"])
    with opened(written(hostile_classes)) as page:
        cells = page.evaluate(
            "[...document.querySelectorAll('.confusion tbody tr')].map("
            "row => [...row.querySelectorAll('td')].map(each => each.innerText))"
        )
        heads = page.locator(".confusion tbody th").all_inner_texts()
    for i, row in enumerate(cells):
        for j, text in enumerate(row):
            numbers = re.findall(r"[\d.,]+", text)
            assert int(numbers[0]) == counts[i, j]
            if counts[i, j]:
                assert float(numbers[1]) == pytest.approx(100 * counts[i, j] / counts[i].sum(), abs=0.05)
    assert len(heads) == 5
    assert "‘oak’" in heads
    assert any(SCRIPT in head for head in heads)


def test_sections_of_two_classes_are_absent(opened, written):
    with opened(written(hostile_classes)) as page:
        assert page.locator("#curves, #decisions, #desk").count() == 0
        assert page.locator("nav a").all_inner_texts() == [
            "Summary", "Ranking", "Spread", "Classes", "Model", "Data", "Settings",
        ]  # fmt: skip
        assert "Left out, since they support two classes only: LightGBM, tuned." in page.inner_text("#ranking")
        assert page.evaluate("document.querySelectorAll('img, main b').length") == 0
        page.select_option("#metric", "macro_f1")
        assert "mean of the F1 scores" in page.inner_text("#metric-about")


def test_the_largest_confusions_are_those_of_the_matrix():
    result = hostile_classes()
    best, classes = result["methods"][0], result["data"]["classes"]
    counts = np.array(best["pooled"]["confusion"], dtype=float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.fill_diagonal(shares, 0.0)
    largest = np.unravel_index(shares.argmax(), shares.shape)
    first = confusions(best, classes)[0]
    assert (first["true"], first["predicted"]) == (classes[largest[0]], classes[largest[1]])
    assert len(confusions(best, classes)) == np.count_nonzero(shares)
    lede, more = summary(result)
    assert "as a mean over the 5 classes" in lede
    assert f"in {first['rows']} of {first['of']} rows" in more
    lowest = min(each["mean"] for each in best["recall"].values())
    assert f"{100 * lowest:.1f}%" in [each["figure"] for each in headline(result)]


def test_of_many_classes_the_hardest_are_shown_and_the_rest_is_a_column(opened, written):
    result = many_classes()
    best = result["methods"][0]["pooled"]
    easiest = max(best["recall"], key=lambda label: best["recall"][label]["recall"])
    with opened(written(many_classes)) as page:
        heads = page.locator(".confusion thead th").all_inner_texts()
        assert (len(heads), heads[-1]) == (CLASSES_MAX + 1, "others")
        assert f"‘{easiest}’" not in heads
        sums = page.evaluate(
            "[...document.querySelectorAll('.confusion tbody tr')].map(row => [...row.querySelectorAll('td')]"
            ".reduce((sum, each) => sum + Number(each.firstChild.textContent), 0))"
        )
    rows = [each["rows"] for label, each in best["recall"].items() if label != easiest]
    assert sums == rows

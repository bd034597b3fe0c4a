"""The page in a real browser: what it shows, what can be chosen, and that it asks nothing of anybody."""

import numpy as np
import pytest
from made_result import METHODS, explained, predictions, result
from nasty_results import IMAGE, NASTY, SCRIPT, hostile
from slider import COUNTS, counts_at_every_threshold
from support import thinned

pytestmark = pytest.mark.compiled  # the results come from fitted models

INTERVAL_TEXTS = "[...document.querySelectorAll('[data-chart=intervals] text')].map(each => each.textContent)"


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def shown_counts(page, column="now"):
    return [int(page.inner_text(f"#{column}-{name}").replace(",", "")) for name in COUNTS]


def counted(decided):
    true, _ = predictions()
    pairs = [decided & true, ~decided & true, decided & ~true, ~decided & ~true]
    return [int(rows.sum()) for rows in pairs]


def method_at(index):
    return result()["methods"][index]


@pytest.mark.parametrize("make", thinned(NASTY, NASTY[2:]), ids=lambda make: make.__name__)
def test_nasty_results_open_on_a_phone(opened, written, make):
    with opened(written(make), viewport={"width": 375, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.evaluate("window.broken") is None
        drawn = page.evaluate("[...document.querySelectorAll('[data-chart]')].map(each => !!each.querySelector('svg'))")
        assert all(drawn)


@pytest.mark.parametrize("which", ["report", "model_report"])
def test_no_page_scrolls_sideways(request, which):
    page = request.getfixturevalue(which)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for width in (320, 375, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = false; })")


def test_hostile_names_are_shown_and_nothing_runs(opened, written):
    with opened(written(hostile)) as page:
        assert SCRIPT in page.inner_text("h1")
        assert SCRIPT in texts(page, ".ranking .label")
        assert IMAGE in texts(page, ".ranking .label")
        assert any(label.startswith("<img src=x") for label in page.evaluate(INTERVAL_TEXTS))
        page.locator("[data-chart=intervals] path[transform]").first.hover()  # a dot, which brings a tooltip
        page.wait_for_selector("#vg-tooltip-element.visible")
        assert page.evaluate("document.scripts.length") == 4
        assert page.evaluate("document.querySelectorAll('img, main b').length") == 0
        assert page.evaluate("window.broken") is None


def test_sorting_by_mouse_and_by_keyboard(report):
    methods = result()["methods"]
    by_recall = sorted(methods, key=lambda each: -each["metrics"]["tpr"]["mean"])
    heads = report.locator(".ranking thead th")
    tpr = heads.filter(has_text="TPR")
    tpr.locator("button").click()
    assert tpr.get_attribute("aria-sort") == "descending"
    assert heads.first.get_attribute("aria-sort") is None
    assert texts(report, ".ranking .label") == [each["label"] for each in by_recall]
    report.keyboard.press("Enter")
    assert tpr.get_attribute("aria-sort") == "ascending"
    assert texts(report, ".ranking .label") == [each["label"] for each in reversed(by_recall)]
    heads.filter(has_text="Method").locator("button").focus()
    report.keyboard.press("Space")
    assert texts(report, ".ranking .label") == sorted((each["label"] for each in methods), key=str.lower)


def test_cells_without_a_number_are_sorted_last(report):
    cost = report.locator(".ranking thead th").filter(has_text="Cost").locator("button")
    for _ in range(2):
        cost.click()
        assert texts(report, ".ranking .label")[0] == "CSB2"


def test_counts_at_every_threshold(report):
    _, found = predictions()
    for index in (0, 4):
        method = method_at(index)
        report.select_option("#threshold-method", label=method["label"])
        assert shown_counts(report, "own") == counted(found[method["name"]]["decided"])
        assert report.input_value("#threshold") == str(method["pooled"]["thresholds"]["default"])
        seen = counts_at_every_threshold(report)
        thresholds = method["pooled"]["thresholds"]["at"]
        assert seen == [counted(found[method["name"]]["probability"] >= at) for at in thresholds]


def test_the_slider_by_keyboard(report):
    method = method_at(0)
    thresholds = method["pooled"]["thresholds"]
    probability = predictions()[1][method["name"]]["probability"]
    report.select_option("#threshold-method", label=method["label"])
    report.focus("#threshold")
    report.keyboard.press("ArrowRight")
    index = thresholds["default"] + 1
    assert shown_counts(report) == counted(probability >= thresholds["at"][index])
    assert float(report.inner_text("#threshold-value")) == pytest.approx(thresholds["at"][index], rel=1e-3)
    for _ in range(5):
        report.keyboard.press("ArrowLeft")
        assert shown_counts(report) == counted(probability >= float(report.inner_text("#threshold-value")))
    report.keyboard.press("End")
    for _ in range(len(thresholds["at"]) - 1 - index):
        report.keyboard.press("ArrowLeft")
    assert f"{thresholds['true_positives'][index]} true positives" in report.get_attribute(
        "#threshold", "aria-valuetext"
    )
    report.keyboard.press("Home")
    assert shown_counts(report) == counted(probability >= 0.0)


def test_costs_and_the_cheapest_threshold(report):
    method = method_at(0)
    found = predictions()[1][method["name"]]
    at = method["pooled"]["thresholds"]["at"]
    tables = np.array([counted(found["probability"] >= threshold) for threshold in at])
    costs = tables[:, 1] * 12.5 + tables[:, 2] * 2
    own = np.array(counted(found["decided"]))
    report.select_option("#threshold-method", label=method["label"])
    report.fill("#cost-missed", "12.5")
    report.fill("#cost-alarm", "2")
    cost = report.inner_text("#now-cost").replace(",", "")
    assert float(cost) == costs[method["pooled"]["thresholds"]["default"]]
    assert float(report.inner_text("#own-cost").replace(",", "")) == own[1] * 12.5 + own[2] * 2
    report.click("#cheapest")
    assert report.input_value("#threshold") == str(costs.argmin())
    assert float(report.inner_text("#now-cost").replace(",", "")) == costs.min()
    report.fill("#cost-missed", "")
    assert report.get_attribute("#cost-missed", "aria-invalid") == "true"
    assert report.inner_text("#now-cost") == "–"
    assert report.locator("#cheapest").is_disabled()
    report.fill("#cost-missed", "0")
    assert report.locator("#cheapest").is_enabled()


@pytest.mark.parametrize(("missed", "alarm"), [(12.5, 2.0), (1.0, 1.0), (1.0, 40.0)])
def test_the_saving_is_measured_on_rows_that_did_not_choose_the_threshold(report, missed, alarm):
    true, found = predictions()
    method = method_at(0)
    p, decided = (found[method["name"]][key] for key in ("probability", "decided"))
    at, first = method["pooled"]["thresholds"]["at"], np.arange(len(p)) % 2 == 0

    def cost(alert, rows):
        return missed * (true & ~alert & rows).sum() + alarm * (~true & alert & rows).sum()

    measured = 0.0
    for chosen_on in (first, ~first):
        costs = [cost(p >= threshold, chosen_on) for threshold in at]
        measured += cost(p >= at[int(np.argmin(costs))], ~chosen_on)
    own = cost(decided, np.ones(len(p), dtype=bool))
    saved = int(np.floor(100 * (own - measured) / own + 0.5))
    said = "about as much as" if saved == 0 else f"{abs(saved)}% {'less' if saved > 0 else 'more'} than"
    report.select_option("#threshold-method", label=method["label"])
    report.fill("#cost-missed", str(missed))
    report.fill("#cost-alarm", str(alarm))
    assert report.inner_text("#verdict").endswith(
        f"Chosen on half of the folds and measured on the other half, it costs {said} the default threshold."
    )


def test_choosing_a_measure_and_methods(report):
    lines = "document.querySelectorAll('[data-chart=roc] .mark-line path').length"
    assert any(text.endswith("%") for text in report.evaluate(INTERVAL_TEXTS))
    report.select_option("#metric", "auc")
    report.wait_for_function(f"{INTERVAL_TEXTS}.every(text => !text.endsWith('%'))")
    assert "under the ROC curve" in report.inner_text("#metric-about")
    before = report.evaluate(lines)
    report.get_by_label(METHODS["tree"][0], exact=True).check()
    report.wait_for_function(f"{lines} === {before + 1}")


def test_the_theme_follows_the_system_and_the_button(opened, written):
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('[data-chart=roc] text')).fill"
    with opened(written(result), color_scheme="dark") as page:
        assert page.locator(".ranking thead th").first.get_attribute("aria-sort") == "ascending"
        dark = page.evaluate(ground), page.evaluate(label)
        assert page.inner_text("#theme") == "Light colours"
        page.click("#theme")
        light = page.evaluate(ground), page.evaluate(label)
        assert all(before != after for before, after in zip(dark, light, strict=True))
        for _ in range(10):  # the browser may be slow to store, and the page is then opened again too early
            page.reload()
            page.wait_for_selector("html[data-drawn]")
            if page.get_attribute("html", "data-theme") == "light":
                break
        assert (page.evaluate(ground), page.evaluate(label)) == light
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert page.evaluate(label) == light[1]


def test_without_storage_the_button_works(opened, written):
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })"
    with opened(written(explained), before=refuse) as page:
        page.click("#theme")
        assert page.get_attribute("html", "data-theme") == "dark"


def test_words_and_tables_without_scripts(opened, written):
    with opened(written(result), ready="main", java_script_enabled=False) as page:
        assert "true positives" in page.inner_text("#summary")
        assert len(texts(page, ".ranking .label")) == len(METHODS)
        assert page.locator("noscript").is_visible()
        assert "rows used" in page.inner_text("#data")
        assert page.locator(".chart:visible, .controls:visible").count() == 0


@pytest.mark.parametrize("which", ["report", "model_report"])
def test_paper(request, which):
    page = request.getfixturevalue(which)
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.locator("details[open]").count() == 0  # opened for the print only
    page.emulate_media(media="print")
    assert page.locator(":is(button, select, input):visible:not(th button)").count() == 0
    page.emulate_media(media="screen")

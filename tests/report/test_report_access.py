"""The page for everybody: names, order, contrast, keyboard. Simple checks of our own, in both themes."""

from itertools import pairwise

import pytest
from made_result import result

pytestmark = pytest.mark.compiled  # the results come from fitted models

UNNAMED = """[...document.querySelectorAll("input, select, button, a, [role=img], [role=region], summary, nav")]
    .filter(each => !each.hidden)
    .filter(each => ![...(each.labels ?? [])].some(label => label.textContent.trim())
        && !each.getAttribute("aria-label") && !each.textContent.trim())
    .map(each => each.outerHTML)"""

# Text whose colour is too near to what is behind it, by the formula of WCAG 2.
FAINT = """(() => {
    const channels = text => text.match(/[\\d.]+/g).map(Number);
    const luminance = rgb => rgb.slice(0, 3).map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = each => {
        for (let at = each; at; at = at.parentElement) {
            const rgb = channels(getComputedStyle(at).backgroundColor);
            if (rgb.length === 3 || rgb[3] === 1) return rgb;
        }
    };
    const hasText = each => [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    return [...document.body.querySelectorAll("*:not(script)")]
        .filter(each => hasText(each) && each.checkVisibility())
        .map(each => {
            const style = getComputedStyle(each);
            const ink = luminance(channels(each instanceof SVGElement ? style.fill : style.color));
            const ground = luminance(behind(each));
            const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
            return [ratio, each.textContent];
        })
        .filter(([ratio]) => ratio < 4.5);
})()"""


@pytest.fixture(params=["report", "model_report"])
def page(request):
    opened = request.getfixturevalue(request.param)
    opened.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    return opened


def test_names_and_references(page):
    assert page.evaluate(UNNAMED) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    targets = page.evaluate("[...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href'))")
    assert all(target.removeprefix("#") in ids for target in targets)
    refers = page.evaluate(
        "[...document.querySelectorAll('[aria-labelledby]')].map(e => !!e.ariaLabelledByElements[0])"
    )
    assert all(refers)


def test_headings_and_landmarks(page):
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(each => Number(each.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert page.locator(f"body > {landmark}").count() == 1
    assert page.get_attribute("html", "lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, scheme):
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(FAINT) == []
    page.emulate_media(color_scheme="light")


def test_the_keyboard_comes_everywhere(opened, written):
    with opened(written(result)) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        seen = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            if "cheapest" in seen:
                break
        assert {"metric", "threshold-method", "threshold", "cost-missed", "cost-alarm", "cheapest", "SUMMARY"} <= seen

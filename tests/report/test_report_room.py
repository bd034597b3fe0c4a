"""Whether all text of the page has room: on a desk, on a phone and on paper."""

import pytest
from made_result import explained, result
from support import thinned

pytestmark = pytest.mark.compiled  # the results come from fitted models

CLIPPED = """() => {
  const found = [];
  for (const chart of document.querySelectorAll('[data-chart]')) {
    const room = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll('svg text')) {
      const at = text.getBoundingClientRect();
      const shown = text.getAttribute('opacity') !== '0' && at.width > 0;
      const inside = at.left >= room.left - 1 && at.right <= room.right + 1;
      const whole = inside && !text.textContent.includes('…');
      if (shown && !whole) found.push(`${chart.dataset.chart}: ${text.textContent}`);
    }
  }
  for (const cell of document.querySelectorAll('th, td')) {
    const at = cell.getBoundingClientRect();
    const inside = at.left >= 0 && at.right <= document.documentElement.clientWidth;
    const shown = at.width > 0 && !cell.closest('.visually-hidden');
    const fits = cell.closest('thead') || cell.scrollWidth <= Math.ceil(at.width); // an arrow
    if (shown && !(inside && fits)) found.push(`cell: ${cell.textContent}`);
  }
  for (const box of document.querySelectorAll('.box')) {
    if (box.scrollWidth > box.clientWidth) found.push(`box: ${box.getAttribute('aria-label')}`);
  }
  return found;
}"""
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
PAPER = 688
"""Pixels of A4 between the margins of the page."""


def test_how_far_behind_the_best_is_in_sight_on_a_desk(opened, written):
    with opened(written(result), viewport={"width": 1280, "height": 900}) as page:
        boxes = [each.bounding_box() for each in page.locator(".ranking .versus").all()]
        marks = [each.bounding_box() for each in page.locator(".ranking .mark").all()]
        assert len(boxes) == len(result()["methods"])
        assert marks
        region = page.locator(".box", has=page.locator(".ranking")).bounding_box()
        for box in [*boxes, *marks]:
            assert box["x"] >= region["x"]
            assert box["x"] + box["width"] <= min(region["x"] + region["width"], 1280)


@pytest.mark.parametrize("make", [result, explained], ids=lambda make: make.__name__)
@pytest.mark.parametrize("width", thinned([1280, 400], [1280]))
def test_no_label_and_no_cell_is_clipped(opened, written, make, width):
    with opened(written(make), viewport={"width": width, "height": 800}) as page:
        page.evaluate(UNFOLD)
        assert page.evaluate(CLIPPED) == []


@pytest.mark.parametrize("make", [result, explained], ids=lambda make: make.__name__)
def test_no_label_and_no_cell_is_clipped_on_paper(opened, written, make):
    with opened(written(make), viewport={"width": PAPER, "height": 980}) as page:
        page.emulate_media(media="print")
        page.evaluate(UNFOLD)
        assert page.evaluate(CLIPPED) == []


def test_a_phone_shows_each_value_below_the_head_of_its_column(opened, written):
    with opened(written(result), viewport={"width": 400, "height": 800}) as page:
        heads = page.locator(".ranking thead th").all_inner_texts()[2:]
        first = page.locator(".ranking tbody tr").first
        assert first.locator("td[data-head]").evaluate_all("all => all.map(each => each.dataset.head)") == heads
        assert first.locator(".label").inner_text() == result()["methods"][0]["label"]
        page.locator(".ranking thead th", has_text="TPR").locator("button").click()
        best = max(result()["methods"], key=lambda each: each["metrics"]["tpr"]["mean"])
        assert page.locator(".ranking .label").first.inner_text() == best["label"]

"""The decision report in a real browser, from a real model; what it shows, and that all text has room."""

import numpy as np
import pandas as pd
import pytest
from nasty_results import EMOJI, IMAGE, LONG, SCRIPT
from small_study import command
from test_report_access import FAINT, UNNAMED
from test_report_room import CLIPPED, PAPER, UNFOLD

from adacc.evaluation.assessment import DecidedRows, assess
from adacc.evaluation.calibration_check import check_calibration
from adacc.evaluation.decision_costs import Costs
from adacc.report import write

pytestmark = pytest.mark.compiled


def rows(n=900, seed=0, rate=0.1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    scores = rng.normal(size=n) + 2 * y
    return rng, DecidedRows(y, scores > 1.2, scores, rng.random(n) < 0.1, Costs(rng.gamma(2, 30, n), 5.0))


def result(**changed):
    """A result as `adacc evaluate` hands it to the page."""
    rng, decided = rows()
    groups = {"region": rng.choice(["north", "south", "west"], 900), "age": rng.integers(18, 90, 900)}
    times = ("day", pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, 900), unit="D"))
    stated = {"value": 0.8, "low": 0.7, "high": 0.9}
    return {
        "model": "fraud.adacc",
        "data": "last_year.csv",
        "target": "label",
        "rows": 900,
        "positive": "fraud",
        "negative": "fine",
        "assessment": assess(decided, groups, times).to_dict(),
        "training_rows": 0.123,
        "calibration": check_calibration(decided.is_positive, 1 / (1 + np.exp(-decided.scores))).to_dict(),
        "decision_rule": {
            "rule": "recall>=0.8", "words": "Words.", "statistic": "score", "threshold": 1.2,
            "stated": {"rows": "held-out", "n_rows": 500, "n_positive": 50, "met": True,
                       "achieved": {"recall": stated, "precision": stated,
                                    "alerts_per_1000": {"value": 100.0, "low": 1.0, "high": 2.0}}},
        },
        "adacc": "0.1.0",
        "created": "2026-01-01T00:00:00",
        "command": "adacc evaluate ...",
        "versions": {"python": "3"},
        "method": "adacc1",
        "columns": {"baseline": "flagged", "time": "day", "cost": None},
        "commands": {"Change the rule": "adacc decide ..."},
        **changed,
    }  # fmt: skip


def hostile():
    """Markup in every name that comes from a user."""
    made = result(data=f"{SCRIPT}.csv", positive=IMAGE, negative=EMOJI, model=LONG, target=SCRIPT)
    made["assessment"]["subgroups"] = dict(zip((SCRIPT, LONG), made["assessment"]["subgroups"].values(), strict=True))
    for group, name in zip(made["assessment"]["subgroups"][SCRIPT], (SCRIPT, IMAGE, LONG), strict=True):
        group["name"] = name
    made["columns"] |= {"baseline": IMAGE, "group": SCRIPT}
    made["assessment"]["groups"] = 12
    return made


def no_positives():
    nothing = np.zeros(50, dtype=bool)
    decided = DecidedRows(nothing, nothing, np.arange(50.0), nothing)
    return result(assessment=assess(decided, {"g": ["a", "b"] * 25}, ("d", np.zeros(50))).to_dict())


def perfect():
    y = np.arange(60) < 6
    return result(assessment=assess(DecidedRows(y, y, y.astype(float))).to_dict())


def no_alerts():
    _, decided = rows()
    none = np.zeros(900, dtype=bool)
    return result(assessment=assess(DecidedRows(decided.is_positive, none, decided.scores)).to_dict())


@pytest.fixture(scope="module")
def page(opened, written):
    with opened(written(result)) as page:
        yield page


def shown(page, selector):
    return page.locator(selector).all_inner_texts()


def test_the_page_shows_the_figures(page):
    found = result()["assessment"]
    figures = shown(page, "#summary dd")
    assert figures[0] == f"{100 * found['figures']['recall']['value']:.1f}%"
    assert figures[2].replace(",", "") == f"{found['figures']['alerts_per_1000']['value']:.0f}"
    cells = " ".join(shown(page, "#rule td"))
    assert all(f"{count:,}" in cells for count in found["confusion"].values())
    assert {text for text in shown(page, "#rule td") if "side" in text} == {"inside", "outside"}
    policies = shown(page, "#policies tbody th")
    assert policies[:2] == ["The decision rule", "Today’s decisions"]
    assert policies[2:] == ["Doing nothing (never an alert)", "An alert for every row"]
    cost = found["policies"][2]["cost"]
    assert f"{cost:,.0f}" in page.inner_text("#policies")
    assert shown(page, "#gains tbody th") == ["Top 1%", "Top 5%", "Top 10%", "Top 20%"]
    assert any(text.endswith("the rule") for text in shown(page, "#capacity tbody th"))
    assert len(shown(page, "#periods tbody tr")) == len(found["periods"]["periods"])
    groups = [each["name"] for of_column in found["subgroups"].values() for each in of_column]
    assert shown(page, "#subgroups tbody th") == groups


def test_every_chart_is_drawn_and_the_rule_is_on_the_curve(page):
    names = page.evaluate("[...document.querySelectorAll('[data-chart]')].map(each => each.dataset.chart)")
    assert names == ["capacity", "gains", "lift", "subgroup0", "subgroup1", "periods", "alerts", "rates"]
    for name in names:
        marks = page.locator(f"[data-chart={name}] svg .role-mark path, [data-chart={name}] svg .role-mark line")
        assert marks.count() > 1


def test_names_headings_and_contrast(page):
    page.evaluate(UNFOLD)
    assert page.evaluate(UNNAMED) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    targets = page.evaluate("[...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href').slice(1))")
    assert {*targets} <= {*ids}
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("width", [1280, 400])
def test_no_text_is_clipped(opened, written, width):
    with opened(written(result), viewport={"width": width, "height": 800}) as page:
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_text_is_clipped_on_paper(opened, written):
    with opened(written(result), viewport={"width": PAPER, "height": 980}) as page:
        page.emulate_media(media="print")
        assert page.evaluate(CLIPPED) == []


@pytest.mark.parametrize("make", [hostile, no_positives, perfect, no_alerts], ids=lambda make: make.__name__)
def test_odd_results_open_on_a_phone(opened, written, make):
    with opened(written(make), viewport={"width": 375, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.evaluate("window.broken") is None
        assert page.evaluate("document.querySelectorAll('img, main b').length") == 0
        drawn = page.evaluate("[...document.querySelectorAll('[data-chart]')].map(each => !!each.querySelector('svg'))")
        assert all(drawn)


def test_from_a_table_to_the_page(data_dir, opened, tmp_path, monkeypatch):
    """A data set of the paper: train, evaluate, open."""
    monkeypatch.chdir(tmp_path)
    frame = pd.read_parquet(data_dir("bank") / "bank.parquet").sample(4000, random_state=0)
    frame[:2000].to_parquet("old.parquet")
    frame[2000:].to_parquet("new.parquet")
    assert command("train", "old.parquet", "--target", "target", "--method", "adacc1", "--rounds", 20, "--decide",
                   "precision>=0.4", "--model", "m.adacc")[0] == 0  # fmt: skip
    columns = [name for name in frame if name != "target"]
    code, _, err = command("evaluate", "m.adacc", "new.parquet", "--subgroup", columns[0], "--report", "r.html")
    assert code == 0, err
    with opened(tmp_path / "r.html") as page:
        assert "precision>=0.4" in page.inner_text("#rule")
        assert page.evaluate(CLIPPED) == []


def test_write_chooses_the_page_by_its_content(tmp_path):
    write(result(), tmp_path / "r.html")
    assert "Decision report" in (tmp_path / "r.html").read_text()

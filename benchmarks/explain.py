"""SHAP values of the forest, and those of the package shap on the same trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from data import synthetic
from report import Report
from settings import Settings
from tables import aligned, number, ratio
from timing import seconds_of, take_turns

import adacc

SHAPE, QUICK_SHAPE = (10_000, 20), (1_000, 20)
BAGS, QUICK_BAGS = 100, 5
ROWS, BACKGROUND_ROWS = 1_000, 100
THEIR_ROWS = 20
"""Rows that shap explains: it would take minutes for all."""

REPEATS = 3
ASKED = {"path-dependent": 1.0, "interventional": 2.0}
SAME = {"path-dependent": 1e-9, "interventional": 1e-6}
"""Largest difference of equal answers; shap computes interventional values in single precision."""


@dataclass(frozen=True)
class Explained:
    """Seconds per tree and row of one kind of SHAP values, and the largest difference between the values."""

    kind: str
    ours: float
    theirs: float
    one_row: float  # seconds for a single row, of adacc
    difference: float

    @property
    def record(self) -> dict[str, Any]:
        return {
            "values": self.kind,
            "adacc, ns per tree and row": f"{1e9 * self.ours:.0f}",
            "shap, ns per tree and row": f"{1e9 * self.theirs:.0f}",
            "adacc, one row, ms": f"{1e3 * self.one_row:.0f}",
            "largest difference": f"{self.difference:.1e}",
        }


def measure(settings: Settings, report: Report) -> None:
    try:
        import shap
    except ImportError:
        report.show("explain: skipped, the package shap is not installed: pip install shap")
        return
    data = synthetic(*(QUICK_SHAPE if settings.quick else SHAPE))
    bags = QUICK_BAGS if settings.quick else BAGS
    model = adacc.AdaCCForestClassifier(n_estimators=bags, n_jobs=settings.threads, random_state=0).fit(data.X, data.y)
    X, background = np.asarray(data.X)[:ROWS], np.asarray(data.X)[-BACKGROUND_ROWS:]
    explainers = {
        "path-dependent": (None, shap.TreeExplainer(model.to_shap(), feature_perturbation="tree_path_dependent")),
        "interventional": (background, shap.TreeExplainer(model.to_shap(), background)),
    }
    repeats = min(settings.repeats, REPEATS)
    found = [_explain(model, X, kind, *explainers[kind], repeats) for kind in explainers]
    header = [["", "adacc, ns per tree and row", "shap", "×", "adacc, one row, ms", "largest difference"]]
    rows = [
        [each.kind, number(1e9 * each.ours), number(1e9 * each.theirs), ratio(each.theirs / each.ours),
         number(1e3 * each.one_row), f"{each.difference:.1e}"]
        for each in found
    ]  # fmt: skip
    title = (
        f"SHAP values of {len(X):,} rows of a forest of {model.n_iter_:,} trees, {data.shape.size}, one thread; "
        f"{BACKGROUND_ROWS} background rows; shap on {THEIR_ROWS} rows"
    )
    report.show(f"{title}\n{aligned(header, rows)}")
    report.write_csv("explain.csv", [each.record for each in found])
    for each in found:
        what = f"shap, {each.kind} values per tree and row, × adacc"
        report.headline(what, each.theirs / each.ours, "×", at_least=ASKED[each.kind])
        if not each.difference <= SAME[each.kind]:
            report.fail(f"{each.kind} SHAP values differ from those of shap by {each.difference:.1e}")


def _explain(model: Any, X: Any, kind: str, background: Any, explainer: Any, repeats: int) -> Explained:
    ours = partial(model.explain, X, background=background)
    theirs = partial(explainer.shap_values, X[:THEIR_ROWS], check_additivity=False)
    difference = float(np.abs(ours().contributions[:THEIR_ROWS] - theirs()).max())  # also compiles what is needed
    seconds = take_turns({"ours": partial(seconds_of, ours), "theirs": partial(seconds_of, theirs)}, repeats)
    one_row = median(seconds_of(partial(model.explain, X[:1], background=background)) for _ in range(repeats))
    per_row = median(seconds["ours"]) / len(X), median(seconds["theirs"]) / THEIR_ROWS
    return Explained(kind, per_row[0] / model.n_iter_, per_row[1] / model.n_iter_, one_row, difference)

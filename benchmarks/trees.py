"""Trees: the forest and a balanced random forest, a tree and HistGradientBoosting's, and boosted trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import fmean, geometric_mean, median
from typing import Any

import numpy as np
from data import Data, Shape, synthetic
from imblearn.ensemble import BalancedRandomForestClassifier
from report import Report
from settings import Settings
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from tables import aligned, number, ratio, share
from timing import seconds_of, seconds_of_short, take_turns
from xgboost import XGBClassifier

import adacc

REPEATS = 3
"""Fewer than elsewhere: these fits take seconds."""

OURS, THEIRS, BOOSTED = "AdaCC forest", "balanced random forest", "XGBoost"
PREDICTED_ROWS = 100_000
MAX_FIT, MAX_NS_PER_TREE, MAX_US_PER_ROW = 1.5, 12.0, 300.0
ROUNDS = 100
DEPTHS = (3, 6, 10)
TREE_SHAPES = ((10_000, 20), (30_000, 40), (100_000, 50))
BOOSTED_SHAPE, BOOSTED_DEPTH = (10_000, 20), 3
QUICK_SHAPE = (2_000, 20)
ASKED_OF_ADABOOST = 20.0


def measure(settings: Settings, report: Report) -> None:
    repeats = min(settings.repeats, REPEATS)
    forests = [_forests(data, settings.threads, repeats) for data in settings.sets()]
    if forests:
        report.show(_table_of_forests(forests, settings.threads))
        report.write_csv("forests.csv", [each.record for each in forests])
        of = f"{len(forests)} sets"
        for what, least in (("fit", 1.0 / MAX_FIT), ("predict", 1.0)):
            mean = geometric_mean(each.ratio(what) for each in forests)
            report.headline(f"{THEIRS} of 100 trees, {of}: {what}, × {OURS}", mean, "×", at_least=least)
        mean = geometric_mean(each.ns_per_tree(OURS) for each in forests)
        report.headline(f"{OURS}, {of}: ns per tree and row", mean, "ns", at_most=MAX_NS_PER_TREE)
        mean = geometric_mean(1e6 * each.one_row for each in forests)
        report.headline(f"{OURS}, {of}: one row", mean, "µs", at_most=MAX_US_PER_ROW)
    shapes = (QUICK_SHAPE,) if settings.quick else TREE_SHAPES
    trees = [_trees(synthetic(*shape), depth, repeats) for shape in shapes for depth in DEPTHS]
    report.show(_table_of_trees(trees))
    report.write_csv("trees.csv", [each.record for each in trees])
    slowest = min(trees, key=lambda each: each.ratio)
    what = f"HistGradientBoosting, depth {slowest.depth}, {slowest.shape.size}, the least: time of a tree, × adacc"
    report.headline(what, slowest.ratio, "×", at_least=1.0)
    data = synthetic(*(QUICK_SHAPE if settings.quick else BOOSTED_SHAPE))
    boosted = _against_adaboost(data, repeats)
    what = f"scikit-learn's AdaBoost, {ROUNDS} trees of depth {BOOSTED_DEPTH}, {data.shape.size}: fit, × AdaCC1"
    report.headline(what, boosted, "×", at_least=ASKED_OF_ADABOOST)


@dataclass(frozen=True)
class Forests:
    """Seconds to fit and to predict 100,000 rows on one set, a number a repeat, and balanced accuracy.

    XGBoost's trees of depth 6 are only timed in prediction, as a third measure of the speed per tree.
    """

    shape: Shape
    fit: dict[str, list[float]]
    predict: dict[str, list[float]]
    n_trees: dict[str, int]
    one_row: float  # seconds to predict a single row, of the AdaCC forest
    accuracy: dict[str, float]

    def ns_per_tree(self, name: str) -> float:
        return 1e9 * median(self.predict[name]) / PREDICTED_ROWS / self.n_trees[name]

    def ratio(self, what: str) -> float:
        seconds = getattr(self, what)
        return median(seconds[THEIRS]) / median(seconds[OURS])

    @property
    def record(self) -> dict[str, Any]:
        return {
            "set": self.shape.name,
            "rows": self.shape.rows,
            "columns": self.shape.columns,
            **{f"{what} of {name}": f"{median(getattr(self, what)[name]):.4f}"
               for what in ("fit", "predict") for name in (OURS, THEIRS)},
            **{f"ns per tree and row of {name}": f"{self.ns_per_tree(name):.2f}" for name in (OURS, THEIRS, BOOSTED)},
            "trees": self.n_trees[OURS],
            "one row, us": f"{1e6 * self.one_row:.0f}",
            **{f"balanced accuracy of {name}": f"{self.accuracy[name]:.4f}" for name in (OURS, THEIRS)},
        }  # fmt: skip


def _forests(data: Data, threads: int, repeats: int) -> Forests:
    train, test = data.split()
    models = {
        OURS: adacc.AdaCCForestClassifier(n_jobs=threads, random_state=0),
        THEIRS: BalancedRandomForestClassifier(100, n_jobs=threads, random_state=0),
    }
    rows = {OURS: (train.X, test.X), THEIRS: _numbers(data, train, test)}
    _warm_up(models[OURS], train)
    fit = take_turns({name: _timed(model.fit, rows[name][0], train.y) for name, model in models.items()}, repeats)
    accuracy = {
        name: float(balanced_accuracy_score(test.y, model.predict(rows[name][1]))) for name, model in models.items()
    }
    boosted = XGBClassifier(n_estimators=100, max_depth=6, n_jobs=threads, random_state=0)
    models[BOOSTED], rows[BOOSTED] = boosted.fit(rows[THEIRS][0], train.y), rows[THEIRS]
    many = {name: _drawn(test_rows) for name, (_, test_rows) in rows.items()}
    predict = take_turns({name: _timed(model.predict, many[name]) for name, model in models.items()}, repeats)
    n_trees = {OURS: models[OURS].n_iter_, THEIRS: 100, BOOSTED: 100}
    row = many[OURS][:1]
    one_row = seconds_of_short(partial(models[OURS].predict, row))
    return Forests(train.shape, fit, predict, n_trees, one_row, accuracy)


def _drawn(X: Any) -> Any:
    """As many rows as are predicted, drawn at random: a processor learns the branches of rows that recur in order."""
    at = np.random.default_rng(0).integers(X.shape[0], size=PREDICTED_ROWS)
    return X.iloc[at] if hasattr(X, "iloc") else X[at]


def _numbers(data: Data, train: Data, test: Data) -> tuple[Any, Any]:
    """Train and test rows with a column for each category, made before the clock starts."""
    if train.X is train.one_hot:
        return train.X, test.X
    everyone = Data(data.name, data.X, data.y).one_hot
    at = {number: row for row, number in enumerate(data.X.index)}
    return everyone[[at[i] for i in train.X.index]], everyone[[at[i] for i in test.X.index]]


def _timed(call: Callable[..., Any], *arguments: Any) -> Callable[[], float]:
    return partial(seconds_of, partial(call, *arguments))


def _table_of_forests(forests: list[Forests], threads: int) -> str:
    header = [
        [
            "",
            "",
            "fit, s",
            "",
            "",
            "predict 100,000 rows, s",
            "",
            "",
            "ns per tree and row",
            "",
            "",
            "one row",
            "balanced accuracy",
            "",
        ],
        [
            "set",
            "rows × columns",
            *["forest", "b.r.f.", "×"] * 2,
            "forest",
            "b.r.f.",
            "XGBoost",
            "µs",
            "forest",
            "b.r.f.",
        ],
    ]
    rows = [
        [each.shape.name, each.shape.size]
        + [cell for what in ("fit", "predict") for cell in (
            number(median(getattr(each, what)[OURS])), number(median(getattr(each, what)[THEIRS])),
            ratio(each.ratio(what)),
        )]
        + [number(each.ns_per_tree(name)) for name in (OURS, THEIRS, BOOSTED)] + [number(1e6 * each.one_row)]
        + [share(each.accuracy[name]) for name in (OURS, THEIRS)]
        for each in forests
    ]  # fmt: skip
    means = [ratio(geometric_mean(each.ratio(what) for each in forests)) for what in ("fit", "predict")]
    accuracy = [share(fmean(each.accuracy[name] for each in forests)) for name in (OURS, THEIRS)]
    per_tree = [number(geometric_mean(each.ns_per_tree(name) for each in forests)) for name in (OURS, THEIRS, BOOSTED)]
    one_row = number(geometric_mean(1e6 * each.one_row for each in forests))
    summary = ["geometric mean", "", "", "", means[0], "", "", means[1], *per_tree, one_row, *accuracy]
    title = f"The AdaCC forest beside imbalanced-learn's balanced random forest of 100 trees, {threads} thread(s) each"
    return f"{title}\n{aligned(header, [*rows, summary], last=1)}"


@dataclass(frozen=True)
class Trees:
    """Seconds of a tree, of AdaCC1 and of HistGradientBoosting at the same depth."""

    shape: Shape
    depth: int
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def record(self) -> dict[str, Any]:
        return {
            "rows": self.shape.rows,
            "columns": self.shape.columns,
            "depth": self.depth,
            "AdaCC1, ms a tree": f"{1e3 * self.ours:.4f}",
            "HistGradientBoosting, ms a tree": f"{1e3 * self.theirs:.4f}",
        }


def _trees(data: Data, depth: int, repeats: int) -> Trees:
    ours = adacc.AdaCC1Classifier(n_estimators=ROUNDS, max_depth=depth, n_jobs=1)
    theirs = HistGradientBoostingClassifier(
        max_iter=ROUNDS, max_depth=depth, max_leaf_nodes=None, early_stopping=False, class_weight="balanced"
    )
    _warm_up(ours, data)
    found = _fits(data, ours, theirs, repeats)
    return Trees(data.shape, depth, median(found[0]) / ours.n_iter_, median(found[1]) / theirs.n_iter_)


def _table_of_trees(trees: list[Trees]) -> str:
    header = [["rows × columns", "depth", "AdaCC1", "HistGradientBoosting", "×"]]
    rows = [
        [each.shape.size, str(each.depth), number(1e3 * each.ours), number(1e3 * each.theirs), ratio(each.ratio)]
        for each in trees
    ]
    return f"Milliseconds of a tree, coding of the data included, {ROUNDS} trees, one thread\n{aligned(header, rows)}"


def _against_adaboost(data: Data, repeats: int) -> float:
    ours = adacc.AdaCC1Classifier(n_estimators=ROUNDS, max_depth=BOOSTED_DEPTH, n_jobs=1)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=BOOSTED_DEPTH), n_estimators=ROUNDS)
    found = _fits(data, ours, theirs, repeats)
    return (median(found[1]) / len(theirs.estimators_)) / (median(found[0]) / ours.n_iter_)


def _fits(data: Data, ours: Any, theirs: Any, repeats: int) -> dict[int, list[float]]:
    runs = {number: _timed(model.fit, data.X, data.y) for number, model in enumerate((ours, theirs))}
    return take_turns(runs, repeats, slow=(1,))


def _warm_up(model: Any, data: Data) -> None:
    """Let be compiled what is compiled at first use."""
    few = data.sample(500)
    model.fit(few.X, few.y)

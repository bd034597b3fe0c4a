"""Fits of ten classes: pairs of classes on shared bins, single fits of all pairs, and AdaBoost of scikit-learn."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from statistics import median
from typing import Any

from report import Report
from settings import Settings
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import balanced_accuracy_score
from tables import aligned, number, ratio
from timing import seconds_of, take_turns

import adacc

ROWS, QUICK_ROWS, FEATURES, CLASSES, ROUNDS = 20_000, 1_000, 30, 10, 100
PAIRS, REST, SINGLE, PEER = "adacc, one against one", "adacc, one against the rest", "adacc, 45 fits", "scikit-learn"
REPEATS = 3


def measure(settings: Settings, report: Report) -> None:
    n_rows = QUICK_ROWS if settings.quick else ROWS
    X, y = make_classification(
        2 * n_rows, FEATURES, n_informative=FEATURES // 2, n_classes=CLASSES, n_clusters_per_class=1, random_state=0
    )
    X, y, X_test, y_test = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
    pairs, rest = (adacc.AdaCC1Classifier(multi_class=each) for each in ("one_vs_one", "one_vs_rest"))
    peer = AdaBoostClassifier(n_estimators=ROUNDS, random_state=0)
    fits = {name: partial(model.fit, X, y) for name, model in ((PAIRS, pairs), (REST, rest), (PEER, peer))}
    problems = [_problem(X, y, *pair) for pair in combinations(range(CLASSES), 2)]
    fits[SINGLE] = partial(_fit_all, problems)
    for fit in (fits[PAIRS], fits[REST]):
        fit()  # compiles what is needed
    seconds = take_turns({name: partial(seconds_of, fit) for name, fit in fits.items()}, min(settings.repeats, REPEATS))
    typical = {name: median(each) for name, each in seconds.items()}
    accuracy = {
        name: balanced_accuracy_score(y_test, model.predict(X_test))
        for name, model in ((PAIRS, pairs), (REST, rest), (PEER, peer))
    }
    rows = [
        [
            name, number(typical[name]), ratio(typical[PEER] / typical[name]),
            f"{100 * accuracy[name]:.1f}" if name in accuracy else "",
        ]
        for name in fits
    ]  # fmt: skip
    header = [["", "s", "× scikit-learn", "balanced accuracy, %"]]
    title = f"Fit of {CLASSES} classes, {n_rows:,} × {FEATURES}, {ROUNDS} rounds, one thread"
    report.show(f"{title}\n{aligned(header, rows)}")
    report.write_csv(
        "classes.csv",
        [{"fit": name, "seconds": f"{typical[name]:.4f}", "balanced accuracy": accuracy.get(name)} for name in fits],
    )
    to_peer, to_single = typical[PEER] / typical[PAIRS], typical[PAIRS] / typical[SINGLE]
    report.headline("fit of ten classes: AdaBoost of scikit-learn × adacc", to_peer, "×", at_least=20.0)
    report.headline("fit of ten classes: pairs × single fits of all pairs", to_single, "×", at_most=1.5)


def _problem(X: Any, y: Any, one: int, other: int) -> tuple[Any, Any]:
    rows = (y == one) | (y == other)
    return X[rows], y[rows]


def _fit_all(problems: list[tuple[Any, Any]]) -> None:
    for X, y in problems:
        adacc.AdaCC1Classifier().fit(X, y)

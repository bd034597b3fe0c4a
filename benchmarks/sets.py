"""Fits of all libraries to the published sets: seconds, ratios, and balanced accuracy on test rows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, geometric_mean
from typing import Any, NamedTuple

import accuracy
from accuracy import Accuracy
from fit import MARKS, Fit, fit_in_turns, of_adacc
from peers import ADACC, ROUNDS
from report import Report
from settings import Settings
from tables import aligned, counted, ratio, share, spanning

# What is asked of the geometric mean of the ratios over the sets, and of the smallest.
ASKED_OF_MEAN = {"scikit-learn": 100, "LightGBM": 3, "XGBoost": 3}
ASKED_OF_SMALLEST = {"LightGBM": 1}

NOTES = (
    f"{MARKS}\n"
    "refused: RUSBoost's first stump is no better than chance, and it raises an error\n"
    "scikit-learn's AdaBoost and RUSBoost get categories as one-hot columns, made before the clock starts"
)


class Result(NamedTuple):
    """Of one library on one set."""

    fit: Fit
    accuracy: Accuracy

    @property
    def library(self) -> str:
        return self.fit.peer.name


Results = Sequence[Sequence[Result]]
"""By set, the libraries in the same order for each."""


def measure(settings: Settings, report: Report) -> None:
    results = [
        [Result(fit, accuracy.measure(data, fit.peer, settings.threads)) for fit in fit_in_turns(data, settings)]
        for data in settings.sets()
    ]
    if not results:
        return
    ratios = _ratios(results)
    report.show(_times(results, ratios))
    report.show(_accuracies(results))
    report.write_csv("sets.csv", [_record(result, of_set) for of_set in results for result in of_set])
    _put_in_headline(report, ratios)


def _adacc(of_set: Sequence[Result]) -> Fit:
    return of_adacc([result.fit for result in of_set])


def _ratios(results: Results) -> dict[str, dict[str, float]]:
    """By library and set, where there are any."""
    ratios: dict[str, dict[str, float]] = {}
    for of_set in results:
        for fit, _ in of_set:
            found = fit.ratio_to(_adacc(of_set))
            if fit.peer is not ADACC and found is not None:
                ratios.setdefault(fit.peer.name, {})[fit.shape.name] = found
    return ratios


def _times(results: Results, ratios: dict[str, dict[str, float]]) -> str:
    libraries = [result.library for result in results[0]]
    no_seconds = [""] * len(libraries)
    header = [
        ["", "", *spanning("seconds", len(libraries)), *spanning("× adacc", len(ratios))],
        ["set", "rows × columns", *libraries, *ratios],
    ]
    rows = []
    for of_set in results:
        shape = of_set[0].fit.shape
        cells = [result.fit.cell for result in of_set]
        rows.append([shape.name, shape.size, *cells, *(ratio(found.get(shape.name)) for found in ratios.values())])
    smallest = [_smallest(found) for found in ratios.values()]
    summary = [
        ["geometric mean", "", *no_seconds, *(ratio(geometric_mean(found.values())) for found in ratios.values())],
        ["smallest", "", *no_seconds, *(ratio(value) for _, value in smallest)],
        ["which is of", "", *no_seconds, *(name for name, _ in smallest)],
    ]
    title = f"{counted(len(results), 'set')}: fit of {ROUNDS} stumps, {counted(results[0][0].fit.threads, 'thread')}"
    return f"{title}\n{aligned(header, [*rows, *summary], last=len(summary))}\n{NOTES}"


def _smallest(by_set: dict[str, float]) -> tuple[str, float]:
    return min(by_set.items(), key=lambda item: item[1])


def _accuracies(results: Results) -> str:
    first = results[0]
    columns = [
        (column, kind)
        for column, result in enumerate(first)
        for kind in Accuracy._fields
        if getattr(result.accuracy, kind) is not None
    ]
    header = [
        ["", *(first[column].library for column, _ in columns)],
        ["set", *("weighted" if kind == "weighted" else "" for _, kind in columns)],
    ]
    values = [[getattr(of_set[column].accuracy, kind) for column, kind in columns] for of_set in results]
    rows = [
        [of_set[0].fit.shape.name, *map(share, of_libraries)]
        for of_set, of_libraries in zip(results, values, strict=True)
    ]
    rows.append(["mean", *(share(fmean(of_sets)) for of_sets in zip(*values, strict=True))])
    return (
        "Balanced accuracy on a fifth of the rows, held out from another fit; weighted: classes of equal weight\n"
        f"{aligned(header, rows, last=1)}"
    )


def _record(result: Result, of_set: Sequence[Result]) -> dict[str, Any]:
    plain, weighted = result.accuracy
    return {
        **result.fit.record(_adacc(of_set)),
        "balanced_accuracy": "" if plain is None else f"{plain:.4f}",
        "balanced_accuracy_class_weights": "" if weighted is None else f"{weighted:.4f}",
    }


def _put_in_headline(report: Report, ratios: dict[str, dict[str, float]]) -> None:
    for library, found in ratios.items():
        if library in ASKED_OF_MEAN:
            what = f"fit, {counted(len(found), 'set')}, geometric mean: {library} / adacc"
            report.headline(what, geometric_mean(found.values()), "×", at_least=ASKED_OF_MEAN[library])
        if library in ASKED_OF_SMALLEST:
            name, value = _smallest(found)
            what = f"fit, smallest of them ({name}): {library} / adacc"
            report.headline(what, value, "×", at_least=ASKED_OF_SMALLEST[library])

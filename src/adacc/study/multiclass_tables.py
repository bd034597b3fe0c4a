"""Summary and tables of a study on more than two classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adacc.evaluation import statistics as stats
from adacc.evaluation.measures import MULTICLASS_MEASURES, multiclass_measures
from adacc.study.folder import StudyError
from adacc.study.multiclass_protocol import MulticlassProtocol, label
from adacc.study.multiclass_run import MulticlassResult, MulticlassStore
from adacc.study.summary import DIGITS, count_encodings, no_set_is_complete, read_sets
from adacc.study.tables import BEST, RANKED_BY, Table, best_two, p_text, references, unfinished_note

MEASURES = tuple(name for name in MULTICLASS_MEASURES if name != "seconds")
RANKED = MEASURES[:2]
"""The measures whose mean ranks are in the table of means."""


@dataclass(frozen=True)
class MulticlassSummary:
    """The data of the tables."""

    protocol: MulticlassProtocol
    # A row for each set and method, sorted by set: the number of classes, the number of folds in which the method
    # failed, the mean processor seconds of a fold, and the measures, in per cent. Measures are computed from the test
    # rows of all folds of a repeat together, since a fold may have few rows of a class, and averaged over the repeats.
    # Values are rounded as in the CSV files, which give the same tables.
    frame: pd.DataFrame
    unfinished: list[str]  # sets that are left out because a fold is missing

    @cached_property
    def sets(self) -> list[str]:
        """Names of the complete sets, sorted."""
        return sorted(self.frame["dataset"].unique())

    def by_set(self, measure: str) -> pd.DataFrame:
        """A measure, with a row for each set and a column for each method, in the order of the study."""
        table = self.frame.pivot_table(measure, "dataset", "method")
        kept = set(self.frame["method"])
        return table.reindex(index=self.sets, columns=[name for name in self.protocol.methods if name in kept])

    @cached_property
    def compared(self) -> list[str]:
        """The methods of ranks and tests: those with a value on every set."""
        complete = self.by_set(RANKED_BY).notna().all()
        return complete.index[complete].tolist()


def summarise(store: MulticlassStore) -> MulticlassSummary:
    """Summarise the complete sets of a study."""
    protocol = store.protocol()
    rows: list[dict[str, Any]] = []
    missing = {task.dataset for task in protocol.tasks() if not store.path(task).exists()}
    for name in sorted(protocol.datasets.keys() - missing):
        rows += _summarise_set(name, protocol, store)
    if not rows:
        raise no_set_is_complete(store)
    frame = pd.DataFrame(rows).round(DIGITS).dropna(axis=1, how="all")
    return MulticlassSummary(protocol, frame, sorted(missing))


def _summarise_set(name: str, protocol: MulticlassProtocol, store: MulticlassStore) -> Iterator[dict[str, Any]]:
    tasks = [task for task in protocol.tasks() if task.dataset == name]
    folds = [store.read(task) for task in tasks]
    repeats = [
        [fold for task, fold in zip(tasks, folds, strict=True) if task.repeat == repeat]
        for repeat in range(protocol.repeats)
    ]
    for i, method in enumerate(protocol.methods):
        measured = pd.DataFrame([_measure(repeat, i) for repeat in repeats], columns=MEASURES)
        yield {
            "dataset": name,
            "classes": len(protocol.datasets[name]),
            "method": method,
            "failed": sum(fold.series[i]["error"] is not None for fold in folds),
            "seconds": float(np.mean([fold.series[i]["seconds"] for fold in folds])),
            **(100 * measured.mean()).to_dict(),
            "encoding": count_encodings(fold.series[i].get("encoding") for fold in folds),
        }


def _measure(folds: list[MulticlassResult], i: int) -> dict[str, float]:
    """The measures of a method on the test rows of all folds of a repeat; none if it failed in one of them."""
    if any(fold.series[i]["error"] for fold in folds):
        return {}
    y = np.concatenate([fold.y for fold in folds])
    predicted = np.concatenate([fold.predicted[i] for fold in folds])
    return multiclass_measures(y, predicted, np.concatenate([fold.probabilities[i] for fold in folds]))


def read_summary(folder: str | Path) -> MulticlassSummary:
    """Read the results of a study, or the CSV files of `adacc.study.summary.write_summary`."""
    store = MulticlassStore(folder)
    protocol, frame = store.protocol(), read_sets(store, ("dataset", "method"))
    if frame is None:
        return summarise(store)
    unknown = set(frame["method"]) - set(protocol.methods)
    if unknown:
        raise StudyError(f"{store.folder}: the protocol has no method {min(unknown)!r}, of which there are results")
    return MulticlassSummary(protocol, frame, sorted(protocol.datasets.keys() - set(frame["dataset"])))


def all_tables(summary: MulticlassSummary) -> list[Table]:
    """Means and mean ranks, p-values, and balanced accuracy by set."""
    tables = [_means(summary)]
    if len(summary.compared) > 1 and len(summary.sets) > 1:
        tables.append(_wilcoxon(summary))
    return [*tables, _by_set(summary)]


def _means(summary: MulticlassSummary) -> Table:
    """A row for each method, sorted by mean rank in balanced accuracy."""
    seconds, mean_ranks = summary.by_set("seconds").mean(), {name: _mean_ranks(summary, name) for name in RANKED}
    order = seconds.index[np.argsort(mean_ranks[RANKED_BY].reindex(seconds.index).to_numpy(), kind="stable")]
    values = np.column_stack(
        [
            *(summary.by_set(name).mean().reindex(order) for name in MEASURES),
            *(-mean_ranks[name].reindex(order) for name in RANKED),
        ]
    ).round(2)
    rows = [
        [
            label(method),
            *("-" if np.isnan(value) else f"{abs(value):.2f}" for value in of_method),
            f"{seconds[method]:.2f}",
        ]
        for method, of_method in zip(order, values, strict=True)
    ]
    marks = {(i, j + 1): mark for j, column in enumerate(values.T) for i, mark in best_two(column).items()}
    shorts = {name: MULTICLASS_MEASURES[name].short for name in MEASURES}
    columns = ["Method", *shorts.values(), *(f"rank, {shorts[name].lower()}" for name in RANKED), "s"]
    sets = f"{len(summary.sets)} set{'s' if len(summary.sets) > 1 else ''}"
    title = f"Means over {sets} of {summary.protocol.repeats} × {summary.protocol.folds} folds, and mean ranks"
    return Table("means", title, columns, rows, 1, marks, _notes(summary))


def _mean_ranks(summary: MulticlassSummary, measure: str) -> pd.Series:
    """By method, for those with a value on every set."""
    table = summary.by_set(measure)[summary.compared]
    if len(summary.compared) < 2:
        return pd.Series(1.0, summary.compared)
    return pd.Series(stats.ranks(table).mean(axis=0), summary.compared)


def _wilcoxon(summary: MulticlassSummary) -> Table:
    methods, values = summary.compared, summary.by_set(RANKED_BY)[summary.compared]
    against = references(methods)
    p_values = [stats.holm(stats.wilcoxon_tests(values, methods.index(name))) for name in against]
    rows = [[label(method), *(p_text(column[i]) for column in p_values)] for i, method in enumerate(methods)]
    title = "p-values of Wilcoxon's signed-rank test on balanced accuracy, Holm-corrected"
    columns = ["Method", *(f"against {label(name)}" for name in against)]
    return Table("wilcoxon", title, columns, rows, notes=_notes(summary))


def _by_set(summary: MulticlassSummary) -> Table:
    values = summary.by_set(RANKED_BY).round(1)
    rows = [
        [name, str(len(summary.protocol.datasets[name])), *("-" if np.isnan(each) else f"{each:.1f}" for each in row)]
        for name, row in zip(values.index, values.to_numpy(), strict=True)
    ]
    best = values.eq(values.max(axis=1), axis=0).to_numpy()
    marks = {(i, j + 2): BEST for i, j in zip(*np.nonzero(best), strict=True)}
    columns = ["Set", "classes", *map(label, values.columns)]
    return Table("sets", "Balanced accuracy by set", columns, rows, 2, marks, _notes(summary))


def _notes(summary: MulticlassSummary) -> list[str]:
    failed = summary.frame.groupby("method", sort=False)["failed"].sum()
    notes = [
        f"{label(name)} failed in {count} folds; its means are over the other repeats."
        for name, count in failed.items()
        if count
    ]
    return [*notes, *unfinished_note(summary.unfinished)]

"""Compares the forest with other methods: fills the marked sections of docs/forest.md.

python studies/forest.py
python studies/forest.py --scores DIR   # writes unseen.csv again, from a folder of `adacc study run forest`
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from document import fill
from forest_defaults import family

from adacc import metrics
from adacc.evaluation import statistics as stats
from adacc.study.plan import Task, label_of
from adacc.study.run import load, split
from adacc.study.store import Store
from adacc.study.summary import Summary, read_summary

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "forest.md"
RANKED = {"balanced_accuracy": "bal. acc.", "gmean": "gmean", "opm": "OPM"}
SHOWN = {**RANKED, "auc": "AUC", "f1": "F1"}
FOREST = "adacc-forest"


class Study:
    """A value of every method on every set."""

    def __init__(self, summary: Summary) -> None:
        self.summary, self.T = summary, summary.protocol.rounds[-1]
        self.keys = summary.compared("paper")
        self.labels = [label_of(method) for method, _ in self.keys]
        self.forest = [method for method, _ in self.keys].index(FOREST)

    def table(self, measure: str) -> np.ndarray:
        return self.summary.by_set(self.keys, self.T, measure).to_numpy()

    def mean_ranks(self, measure: str) -> np.ndarray:
        return stats.ranks(self.table(measure).round(4)).mean(axis=0)


def means(study: Study) -> str:
    """Means of the measures, mean ranks, and seconds; methods by their mean rank in balanced accuracy."""
    values = {name: study.table(name).mean(axis=0) for name in SHOWN}
    ranks = {name: study.mean_ranks(name) for name in RANKED}
    seconds = study.table("seconds")
    head = [*SHOWN.values(), *(f"rank, {name}" for name in RANKED.values()), "s"]
    lines = [f"| Method | {' | '.join(head)} |", f"|---|{'---:|' * len(head)}"]
    for i in np.argsort(ranks["balanced_accuracy"], kind="stable"):
        cells = [_best(values[name], i, max) for name in SHOWN] + [_best(ranks[name], i, min) for name in RANKED]
        lines.append(f"| {study.labels[i]} | {' | '.join(cells)} | {seconds[:, i].mean():.1f} |")
    return "\n".join(lines)


def _best(values: np.ndarray, i: int, best) -> str:
    return f"**{values[i]:.2f}**" if values[i] == best(values) else f"{values[i]:.2f}"


def tests(study: Study) -> str:
    """Wins, mean differences and p-values of the forest against each other method."""
    lines = [
        "| Against | better, equal, worse | bal. acc. | gmean | OPM | p of bal. acc. |",
        "|---|---|---|---|---|---|",
    ]
    tables = {name: study.table(name).round(4) for name in RANKED}
    p_values = stats.holm(stats.wilcoxon_tests(tables["balanced_accuracy"], study.forest))
    for i, label in enumerate(study.labels):
        if i == study.forest:
            continue
        gains = {name: table[:, study.forest] - table[:, i] for name, table in tables.items()}
        signs = np.sign(gains["balanced_accuracy"])
        counts = ", ".join(str(int((signs == sign).sum())) for sign in (1, 0, -1))
        cells = []
        for gain in gains.values():
            low, high = stats.bootstrap(gain)
            cells.append(f"{gain.mean():+.2f} [{low:+.2f}, {high:+.2f}]")
        lines.append(f"| {label} | {counts} | {' | '.join(cells)} | {p_values[i]:.1e} |")
    gap = stats.critical_difference(len(study.summary.sets), len(study.keys))
    note = (
        "Differences in percent with 95 % bootstrap intervals over the sets; p of Wilcoxon's test, Holm-corrected. "
        f"Mean ranks differ significantly from {gap:.2f} on (Nemenyi, 5 %)."
    )
    return "\n".join([*lines, "", note])


def with_peers(study: Study) -> str:
    """Means, mean ranks and tests of all methods; methods by their mean balanced accuracy. Tests are on families."""
    measures = {"balanced_accuracy": "bal. acc.", "gmean": "gmean", "auc": "AUC", "average_precision": "AP", "f1": "F1"}
    tested = ("balanced_accuracy", "average_precision")
    tables = {name: study.table(name) for name in measures}
    families = pd.Series(study.summary.sets).map(family)
    p_values = {}
    for name in tested:
        by_family = pd.DataFrame(tables[name]).groupby(families).mean().to_numpy().round(4)
        p_values[name] = stats.holm(stats.wilcoxon_tests(by_family, study.forest))
    values = {name: table.mean(axis=0) for name, table in tables.items()}
    ranks = {name: study.mean_ranks(name) for name in tested}
    head = [
        *measures.values(),
        *(f"rank, {measures[name]}" for name in tested),
        *(f"p, {measures[name]}" for name in tested),
        "s",
    ]
    lines = [f"| Method | {' | '.join(head)} |", f"|---|{'---:|' * len(head)}"]
    for i in np.argsort(-values["balanced_accuracy"], kind="stable"):
        cells = [_best(values[name], i, max) for name in measures] + [_best(ranks[name], i, min) for name in tested]
        cells += ["" if i == study.forest else f"{p_values[name][i]:.1e}" for name in tested]
        lines.append(f"| {study.labels[i]} | {' | '.join(cells)} | {study.table('seconds')[:, i].mean():.1f} |")
    return "\n".join([*lines, "", f"{len(study.summary.sets)} sets of {families.nunique()} families."])


def by_set(study: Study) -> str:
    """Balanced accuracy of the forest on each set, and of the best of the others."""
    table = study.table("balanced_accuracy")
    lines = ["| Set | forest | rank | best of the others | |", "|---|---:|---:|---:|---|"]
    ranks = stats.ranks(table.round(4))
    for name, values, rank in zip(study.summary.sets, table, ranks, strict=True):
        others = np.delete(values, study.forest)
        labels = np.delete(np.array(study.labels), study.forest)
        at = int(others.argmax())
        lines.append(
            f"| {name} | {values[study.forest]:.2f} | {rank[study.forest]:g} | {others[at]:.2f} | {labels[at]} |"
        )
    return "\n".join(lines)


def unseen(scores: Store, data_dir: str | None) -> pd.DataFrame:
    """Every method on the fifth of the rows that was not used to choose the forest's defaults."""
    protocol, found = scores.protocol(), []
    for name in protocol.datasets:
        y = load(name, None, data_dir).target
        _, kept = split(replace(protocol, folds=5), Task(name, 0, 0), y)
        decided: dict[str, np.ndarray] = {}
        for task in [each for each in protocol.tasks() if each.dataset == name]:
            result = scores.read(task)
            for series, of_rows in zip(result.series, result.scores, strict=True):
                decided.setdefault(series.method, np.zeros(len(y), dtype=np.int8))[result.rows] = of_rows > 0
        for method, predicted in decided.items():
            found.append({"dataset": name, "method": method} | {
                measure: 100 * getattr(metrics, measure)(y[kept], predicted[kept])
                for measure in ("balanced_accuracy", "gmean")
            })  # fmt: skip
    return pd.DataFrame(found)


def on_unseen(table: pd.DataFrame) -> str:
    """Means and mean ranks; methods by their mean rank."""
    tables = {measure: table.pivot_table(measure, "dataset", "method") for measure in ("balanced_accuracy", "gmean")}
    ranks = {measure: stats.ranks(each.to_numpy().round(4)).mean(axis=0) for measure, each in tables.items()}
    means = {measure: each.mean().to_numpy() for measure, each in tables.items()}
    lines = ["| Method | bal. acc. | gmean | rank, bal. acc. | rank, gmean |", "|---|---:|---:|---:|---:|"]
    methods = list(tables["gmean"].columns)
    for i in np.argsort(ranks["balanced_accuracy"], kind="stable"):
        cells = [_best(means[measure], i, max) for measure in tables] + [_best(ranks[m], i, min) for m in tables]
        lines.append(f"| {label_of(methods[i])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def candidates(table: pd.DataFrame) -> str:
    """Mean measures of the candidates for the defaults, by family of sets; the candidates of a stage by their sum."""
    measures = ["balanced_accuracy", "average_precision", "auc", "log_loss"]
    parts = []
    for _, stage in table.groupby("stage"):
        by_family = stage.assign(family=stage["dataset"].map(family)).groupby(["candidate", "family"])[measures].mean()
        means = by_family.groupby("candidate").mean()
        means["sum"] = means[measures[:3]].sum(axis=1)
        lines = ["| Candidate | bal. acc. | AP | AUC | log loss | sum |", "|---|---:|---:|---:|---:|---:|"]
        for name, row in means.sort_values("sum").iterrows():
            lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in row)} |")
        parts.append("\n".join([f"{stage['dataset'].nunique()} data sets:", "", *lines]))
    return "\n\n".join(parts)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results" / "forest")
    parser.add_argument("--scores", type=Path, help="a folder of `adacc study run forest`")
    parser.add_argument("--data-dir", help="a folder with the data sets, which --scores needs")
    options = parser.parse_args()
    if options.scores is not None:
        table = unseen(Store(options.scores), options.data_dir)
        table.to_csv(options.results / "unseen.csv", index=False, float_format="%.4f")
    study = Study(read_summary(options.results))
    fill(
        DOCUMENT,
        {
            "means": means(study),
            "tests": tests(study),
            "sets": by_set(study),
            "peers": with_peers(Study(read_summary(options.results.parent / "forest-extra"))),
            "unseen": on_unseen(pd.read_csv(options.results / "unseen.csv")),
            "candidates": candidates(pd.read_csv(options.results / "prototypes.csv")),
        },
    )


if __name__ == "__main__":
    main()

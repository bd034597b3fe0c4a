"""Compares the forest with other methods: fills the marked sections of docs/forest.md.

python studies/forest.py
python studies/forest.py --scores DIR   # replaces rows of unseen.csv, from a folder of `adacc study run forest`
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
from adacc.evaluation.baselines import label_of
from adacc.study.protocol import Task
from adacc.study.run import load, split
from adacc.study.store import Store
from adacc.study.summary import Summary, read_summary

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "forest.md"
RANKED = {"balanced_accuracy": "bal. acc.", "gmean": "gmean", "auc": "AUC", "average_precision": "AP"}
SHOWN = {**RANKED, "f1": "F1"}
TESTED = {"balanced_accuracy": "bal. acc.", "average_precision": "AP"}
FOREST = "adacc-forest"

STAGES = {
    1: "kinds of bags, and how they are combined",
    2: "boosters, costs, depth and coarse bins",
    3: "split candidates",
    4: "a fourth kind of bags",
    5: "rounds, learning rate and leaves on full bags",
    6: "bags without replacement",
    7: "leaf-wise growth and bags without replacement together",
    8: "the choice of table 7 on other inner folds",
    9: "a gradient member, small sets",
    10: "numbers of bags beside the gradient member, sets with many rows",
    11: "numbers of bags beside the gradient member, sets with few rows",
    12: "the choice of tables 9 to 11, all sets",
    13: "the choice of table 12 without some of its parts, small sets",
    14: "smoothing of the decision",
    15: "smoothing of the decision on other inner folds",
    16: "learning rate of gradient bags",
    17: "variants of gradient bags, sets with many rows",
    18: "variants of gradient bags, sets with few rows",
    19: "rounds and learning rate together",
    20: "rounds and learning rate together on other inner folds",
    21: "linear bags",
    22: "linear bags on other inner folds",
}
"""What each stage of `prototypes.csv` compares: the title of its table."""


class Study:
    """A value of every method on every set, of one or several studies with the same protocol.

    With `partial`, methods without a value on some sets are included; these values are NaN.
    """

    def __init__(self, *summaries: Summary, partial: bool = False) -> None:
        self._summaries = summaries
        methods = list(next(iter(summaries[0].groups.values())))
        keys = summaries[0].in_dialect(methods, "paper")
        whole = [summary.compared("paper") for summary in summaries]
        self.keys = [key for key in keys if partial or all(key in each for each in whole)]
        self.labels = [label_of(method) for method, _ in self.keys]
        self.forest = [method for method, _ in self.keys].index(FOREST)
        self.sets = [name for summary in summaries for name in summary.sets]
        self.families = pd.Series(self.sets).map(family)

    def table(self, measure: str) -> np.ndarray:
        rounds = [summary.protocol.rounds[-1] for summary in self._summaries]
        tables = [each.by_set(self.keys, T, measure) for each, T in zip(self._summaries, rounds, strict=True)]
        return pd.concat(tables).to_numpy()

    def mean_ranks(self, measure: str) -> np.ndarray:
        return stats.ranks(self.table(measure).round(4)).mean(axis=0)

    def p_values(self, measure: str, by_family: bool) -> np.ndarray:
        """Of the forest against each other method: Wilcoxon's test over the sets or their families, Holm-corrected."""
        table = self.table(measure)
        p_values = np.full(len(self.keys), np.nan)
        for i in range(len(self.keys)):
            both = pd.DataFrame(table[:, [self.forest, i]]).dropna()
            if by_family:
                both = both.groupby(self.families).mean()
            if i != self.forest:
                p_values[i] = stats.wilcoxon_tests(both.to_numpy().round(4), 0)[1]
        return stats.holm(p_values)


def means(study: Study) -> str:
    """Means of the measures, mean ranks, and seconds; methods by their mean balanced accuracy."""
    values = {name: study.table(name).mean(axis=0) for name in SHOWN}
    ranks = {name: study.mean_ranks(name) for name in RANKED}
    seconds = study.table("seconds").mean(axis=0)
    head = [*SHOWN.values(), *(f"rank, {name}" for name in RANKED.values()), "s"]
    lines = [f"| Method | {' | '.join(head)} |", f"|---|{'---:|' * len(head)}"]
    for i in np.argsort(-values["balanced_accuracy"], kind="stable"):
        cells = [_best(values[name], i, max) for name in SHOWN] + [_best(ranks[name], i, min) for name in RANKED]
        lines.append(f"| {study.labels[i]} | {' | '.join(cells)} | {seconds[i]:.1f} |")
    return "\n".join([*lines, "", f"{len(study.sets)} sets of {study.families.nunique()} families."])


def _best(values: np.ndarray, i: int, best) -> str:
    return f"**{values[i]:.2f}**" if values[i] == best(values) else f"{values[i]:.2f}"


def tests(study: Study) -> str:
    """Wins, mean differences and p-values of the forest against each other method, on the sets that it was run on."""
    of_measure = ["better, equal, worse", "difference", "p", "p, families"]
    head = [f"{name}, {each}" for name in TESTED.values() for each in of_measure]
    lines = [f"| Against | {' | '.join(head)} |", f"|---|{'---|' * len(head)}"]
    tables = {measure: study.table(measure).round(4) for measure in TESTED}
    p_values = {measure: [study.p_values(measure, by_family) for by_family in (False, True)] for measure in TESTED}
    for i in np.argsort(-np.nanmean(tables["balanced_accuracy"], axis=0), kind="stable"):
        if i == study.forest:
            continue
        cells = []
        for measure, table in tables.items():
            gains = table[:, study.forest] - table[:, i]
            gains = gains[~np.isnan(gains)]
            low, high = stats.bootstrap(gains)
            cells.append(", ".join(str(int((np.sign(gains) == sign).sum())) for sign in (1, 0, -1)))
            cells.append(f"{gains.mean():+.2f} [{low:+.2f}, {high:+.2f}]")
            cells += [f"{each[i]:.1e}" for each in p_values[measure]]
        missing = int(np.isnan(tables["balanced_accuracy"][:, i]).sum())
        label = f"{study.labels[i]}, {len(study.sets) - missing} sets" if missing else study.labels[i]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    note = (
        "Differences in per cent with 95 % bootstrap intervals over the sets. p: Wilcoxon's test over the sets, "
        'Holm-corrected; "families": over the means of the families of sets, as sets from the same source overlap.'
    )
    return "\n".join([*lines, "", note])


def by_set(study: Study) -> str:
    """The forest on each set, and the best of the others."""
    head = [each for name in TESTED.values() for each in (name, "rank", "best of the others", "")]
    lines = [f"| Set | {' | '.join(head)} |", f"|---|{'---:|---:|---:|---|' * len(TESTED)}"]
    others, labels = np.arange(len(study.labels)) != study.forest, np.array(study.labels)
    tables = [study.table(measure) for measure in TESTED]
    ranks = [stats.ranks(table.round(4))[:, study.forest] for table in tables]
    for row, name in enumerate(study.sets):
        cells = []
        for table, rank in zip(tables, ranks, strict=True):
            at = int(table[row, others].argmax())
            cells += [f"{table[row, study.forest]:.2f}", f"{rank[row]:g}"]
            cells += [f"{table[row, others][at]:.2f}", labels[others][at]]
        lines.append(f"| {name} | {' | '.join(cells)} |")
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
    tables = {
        measure: table.pivot_table(measure, "dataset", "method").dropna(axis=1)  # methods that were run on all sets
        for measure in ("balanced_accuracy", "gmean")
    }
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
    for number, stage in table.groupby("stage"):
        by_family = stage.assign(family=stage["dataset"].map(family)).groupby(["candidate", "family"])[measures].mean()
        means = by_family.groupby("candidate").mean()
        means["sum"] = means[measures[:3]].sum(axis=1)
        lines = ["| Candidate | bal. acc. | AP | AUC | log loss | sum |", "|---|---:|---:|---:|---:|---:|"]
        for name, row in means.sort_values("sum").iterrows():
            cells = ("" if np.isnan(value) else f"{value:.2f}" for value in row)
            lines.append(f"| {name} | {' | '.join(cells)} |")
        title = f"**Table {number}: {STAGES[number]}** ({stage['dataset'].nunique()} data sets)"
        parts.append("\n".join([title, "", *lines]))
    return "\n\n".join(parts)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results" / "forest")
    parser.add_argument("--scores", type=Path, help="a folder of `adacc study run forest`")
    parser.add_argument("--data-dir", help="a folder with the data sets, which --scores needs")
    options = parser.parse_args()
    if options.scores is not None:
        path, keys = options.results / "unseen.csv", ["dataset", "method"]
        known, found = (
            pd.read_csv(path).set_index(keys),
            unseen(Store(options.scores), options.data_dir).set_index(keys),
        )
        of_both = pd.concat([known, found])
        table = of_both[~of_both.index.duplicated(keep="last")]
        table.loc[known.index.union(found.index, sort=False)].to_csv(path, float_format="%.4f")
    paper, further, test = (
        read_summary(options.results.parent / name) for name in (options.results.name, "forest-extra", "forest-test")
    )
    both = Study(paper, further)
    fill(
        DOCUMENT,
        {
            "all": means(both),
            "tests": tests(Study(paper, further, partial=True)),
            "paper": means(Study(paper)),
            "further": means(Study(further)),
            "test-means": means(Study(test)),
            "test-tests": tests(Study(test)),
            "test-sets": by_set(Study(test)),
            "sets": by_set(both),
            "unseen": on_unseen(pd.read_csv(options.results / "unseen.csv")),
            "candidates": candidates(pd.read_csv(options.results / "prototypes.csv")),
        },
    )


if __name__ == "__main__":
    main()

"""Compares the paper's tables with the study's: fills the marked sections of docs/reproduction.md.

python studies/compare.py PAPER   # a folder with the paper's tables as CSV files
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import pandas as pd
from document import fill

from adacc.evaluation import statistics as stats
from adacc.evaluation.baselines import label_of
from adacc.study.summary import MEASURES, Summary, read_summary

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "reproduction.md"
NAMES = ("Bal. acc.", "Gmean", "TPR", "TNR", "F1", "AUC", "OPM")
DIALECTS = ("paper", "authors")
# Start of the names of some sets in the paper's rank tables, which shorten them.
OF_PAPER = {"car_eval_34": "car eval", "protein_homo": "protein hom", "spambase": "spam"}
# Methods by the paper's label, where it differs.
SAME = {"RUSBoost": "imblearn-rusboost"}


class Ours:
    """Means over all sets, by method, dialect and number of rounds."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.means = summary.frame.groupby(["method", "dialect", "rounds"])[list(MEASURES)].mean()
        names = (*summary.protocol.methods, *summary.protocol.baselines)
        self.method = {label_of(name): name for name in names} | SAME

    def key(self, label: str, dialect: str) -> tuple[str, str]:
        method = self.method[label]
        for form in (dialect, "paper", ""):
            if (method, form) in {(m, d) for m, d, _ in self.means.index}:
                return method, form
        raise KeyError(label)

    def row(self, label: str, dialect: str, T: int) -> pd.Series:
        return self.means.loc[(*self.key(label, dialect), T)]


def headline(paper: pd.DataFrame, ours: Ours) -> str:
    """Balanced accuracy at the largest T, both dialects."""
    lines = [
        "| Method | paper | as printed | difference | authors' dialect | difference |",
        "|---|---|---|---|---|---|",
    ]
    most = paper["T"].max()
    for _, row in paper[paper["T"] == most].iterrows():
        found = [ours.row(row["method"], dialect, most)["balanced_accuracy"] for dialect in DIALECTS]
        differ = ours.key(row["method"], "authors") != ours.key(row["method"], "paper")
        cells = [f"{row['balanced_accuracy']:.2f}"]
        for dialect, value in zip(DIALECTS, found, strict=True):
            same = dialect == "authors" and not differ
            cells += ["the same", ""] if same else [f"{value:.2f}", f"{value - row['balanced_accuracy']:+.2f}"]
        lines.append(f"| {row['method']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cells(paper: pd.DataFrame, ours: Ours, dialect: str) -> str:
    """Every cell of the study, with the difference from the paper and the paper's value in brackets."""
    lines = [f"| Method | T | {' | '.join(NAMES)} |", f"|{'---|' * (2 + len(NAMES))}"]
    for _, row in paper.iterrows():
        found = ours.row(row["method"], dialect, row["T"])
        each = [f"{found[name]:.2f} ({found[name] - row[name]:+.2f}; {row[name]:.2f})" for name in MEASURES]
        lines.append(f"| {row['method']} | {row['T']} | {' | '.join(each)} |")
    return "\n".join(lines)


def both_dialects(paper: pd.DataFrame, ours: Ours, label: str) -> str:
    """One method: the row of the paper and of the study in both dialects, for each number of rounds."""
    lines = [f"| T | | {' | '.join(NAMES)} |", f"|{'---|' * (2 + len(NAMES))}"]
    for _, row in paper[paper["method"] == label].iterrows():
        rows = {"paper": row} | {f'`dialect="{each}"`': ours.row(label, each, row["T"]) for each in DIALECTS}
        lines += [
            f"| {row['T']} | {name} | {' | '.join(f'{found[measure]:.2f}' for measure in MEASURES)} |"
            for name, found in rows.items()
        ]
    return "\n".join(lines)


def ranks(paper: pd.DataFrame, ours: Ours, dialect: str, T: int) -> str:
    """Ranks by set, with the paper's in brackets."""
    labels = list(paper.columns[1:])
    keys = [ours.key(label, dialect) for label in labels]
    values = ours.summary.by_set(keys, T, "balanced_accuracy").to_numpy().round(4)
    found = stats.ranks(values)
    printed = paper.set_index("dataset")
    lines = [f"| Set | {' | '.join(labels)} |", f"|{'---|' * (1 + len(labels))}"]
    for name, row in zip(ours.summary.sets, found, strict=True):
        (theirs,) = printed[printed.index.str.startswith(OF_PAPER.get(name, name.replace("_", " ")))].to_numpy()
        each = [f"{rank:g} ({float(other):g})" for rank, other in zip(row, theirs, strict=True)]
        lines.append(f"| {name} | {' | '.join(each)} |")
    averages = [
        f"{mine:.2f} ({float(other):.2f})" for mine, other in zip(found.mean(axis=0), printed.loc["avg."], strict=True)
    ]
    best = found == found.min(axis=1, keepdims=True)
    wins = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)  # ties share the win of a set, as in the paper
    winners = [f"{mine:.3g} ({float(other):g})" for mine, other in zip(wins, printed.loc["winner"], strict=True)]
    lines += [f"| avg. | {' | '.join(averages)} |", f"| winner | {' | '.join(winners)} |"]
    agreement = np.corrcoef(found.mean(axis=0), printed.loc["avg."].astype(float))[0, 1]
    return "\n".join([*lines, "", f"Correlation of the mean ranks with the paper's: {agreement:.3f}."])


def p_values(paper: pd.DataFrame, ours: Ours, labels: list[str], dialect: str) -> str:
    """Holm-corrected p-values, with the paper's in brackets."""
    columns = list(paper.columns[1:])
    lines = [f"| Method | {' | '.join(columns)} |", f"|{'---|' * (1 + len(columns))}"]
    keys = [ours.key(label, dialect) for label in labels]
    found = {}
    for column in columns:
        mine, T = column.split("_T")
        table = stats.ranks(ours.summary.by_set(keys, int(T), "balanced_accuracy").to_numpy().round(4))
        found[column] = stats.holm(stats.rank_tests(table, labels.index(mine)))
    for _, row in paper.iterrows():
        at = labels.index(row["method"])
        each = ["-" if row[c] == "-" else f"{found[c][at]:.1e} ({float(row[c]):.1e})" for c in columns]
        lines.append(f"| {row['method']} | {' | '.join(each)} |")
    return "\n".join(lines)


def blocks(paper: Path, ours: Ours) -> dict[str, str]:
    """The sections of the document."""
    tables = {path.stem: pd.read_csv(path) for path in sorted(paper.glob("*.csv"))}
    labels = list(tables["ranks_T200"].columns[1:])
    filled = {"headline": headline(tables["results"], ours)}
    filled["smoteboost"] = both_dialects(tables["results_non_cost_sensitive"], ours, "SMOTEBoost")
    for dialect in DIALECTS:
        for name in ("results", "results_non_cumulative", "results_non_cost_sensitive"):
            filled[f"{name}-{dialect}"] = cells(tables[name], ours, dialect)
        for T in (25, 50, 100, 200):
            filled[f"ranks_T{T}-{dialect}"] = ranks(tables[f"ranks_T{T}"], ours, dialect, T)
        filled[f"p_values-{dialect}"] = p_values(tables["friedman_p_values"], ours, labels, dialect)
    return filled


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", type=Path, help="a folder with the paper's tables as CSV files")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    summary = read_summary(options.results)
    if summary.unfinished:
        sys.stderr.write(f"not complete: {', '.join(summary.unfinished)}\n")
    fill(DOCUMENT, blocks(options.paper, Ours(summary)))


if __name__ == "__main__":
    main()

"""Trains the AdaCC forest on rows of which some are copied, with copies kept together and apart.

    python studies/copies.py DIR [DIR ...]   # folders of Parquet tables with a column `target` of two classes
    python studies/copies.py                 # only the table of docs/duplicates.md, from studies/results/copies.csv

From each table, up to 1,000 training rows and 5,000 other rows are drawn, stratified. A share of the training rows
occurs twice (0, 10, 30 and 100 %), or the rarer class is over-sampled to balance. Each fit has one thread. Tables that
the results have are not run again. Where the rule finds no copies, the forest is the same as with copies apart, and is
fitted once; but the processor time of the rule is measured for all.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from document import fill
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split

from adacc import AdaCCForestClassifier, CopiedRowsWarning, UnseenCategoryWarning
from adacc.data.columns import read
from adacc.data.duplicates import find_copies

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "copies.csv"
DOCUMENT = HERE.parent / "docs" / "duplicates.md"
TRAINING_ROWS, TEST_ROWS = 1_000, 5_000
COPIED = {"0 %": 0.0, "10 %": 0.1, "30 %": 0.3, "100 %": 1.0, "balanced": None}
"""Share of the rows that occur twice; None: the rarer class is over-sampled to balance."""


def copy_rows(y: np.ndarray, share: float | None, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the rows, with copies."""
    every = np.arange(len(y))
    if share is not None:
        return np.concatenate([every, rng.choice(every, round(share * len(y)), replace=False)])
    rare = np.flatnonzero(y == 1)
    return np.concatenate([every, rng.choice(rare, len(y) - 2 * len(rare))])


def run(path: Path) -> list[dict[str, Any]]:
    table = pd.read_parquet(path)
    X, labels = table.drop(columns="target"), table["target"].astype(str)
    y = (labels == labels.value_counts().index[-1]).to_numpy().astype(int)
    n_rows = min(TRAINING_ROWS, len(y) * 2 // 3)
    train, test = train_test_split(np.arange(len(y)), train_size=n_rows, stratify=y, random_state=0)
    X_test, y_test = X.iloc[test[:TEST_ROWS]], y[test[:TEST_ROWS]]
    rows = []
    for copied, share in COPIED.items():
        drawn = train[copy_rows(y[train], share, np.random.default_rng(0))]
        began = time.process_time()
        found = find_copies(read(X.iloc[drawn]), y[drawn], 2) is not None
        seconds_of_rule = time.process_time() - began
        for duplicates in ("apart", "auto"):
            if found or duplicates == "apart":
                began = time.process_time()
                model = AdaCCForestClassifier(duplicates=duplicates, pos_label=1, n_jobs=1, random_state=0)
                model.fit(X.iloc[drawn], y[drawn])
                seconds = time.process_time() - began
            rows.append(
                {
                    "set": path.stem,
                    "copied": copied,
                    "duplicates": duplicates,
                    "found": found,
                    "balanced_accuracy": balanced_accuracy_score(y_test, model.predict(X_test)),
                    "average_precision": average_precision_score(y_test, model.decision_function(X_test)),
                    "out_of_bag": model.oob_balanced_accuracy_,
                    "seconds": seconds,
                    "seconds_of_rule": seconds_of_rule,
                }
            )
    return rows


def table() -> str:
    """Means over the sets in per cent, as Markdown."""
    results = pd.read_csv(RESULTS)
    lines = [
        "| copied | found in | balanced accuracy apart | together | average precision apart | together | "
        "out-of-bag apart | together |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for copied in COPIED:
        some = results[results["copied"] == copied]
        found = some[some["duplicates"] == "auto"]["found"]
        means = some.groupby("duplicates")[["balanced_accuracy", "average_precision", "out_of_bag"]].mean() * 100
        figures = [f"{means.loc[how, name]:.1f}" for name in means for how in ("apart", "auto")]
        lines.append(f"| {copied} | {found.sum()} of {len(found)} | {' | '.join(figures)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    folders = parser.parse_args().folders
    done = set(pd.read_csv(RESULTS)["set"]) if RESULTS.exists() else set()
    for ignored in (CopiedRowsWarning, UnseenCategoryWarning):
        warnings.simplefilter("ignore", ignored)
    for path in sorted(path for folder in folders for path in folder.glob("*.parquet")):
        if path.stem not in done:
            pd.DataFrame(run(path)).round(4).to_csv(RESULTS, mode="a", index=False, header=not RESULTS.exists())
    fill(DOCUMENT, {"copies": table()})


if __name__ == "__main__":
    main()

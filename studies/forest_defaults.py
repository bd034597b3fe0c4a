"""Chooses the defaults of AdaCCForestClassifier, the same for all sets, without the test rows.

Only the training rows of the first of five folds of every set are used, in three folds. A candidate is the weight of
the balanced and of the ratio-10 bags (only one of them, both alike, or tuned on out-of-bag rows), and the share of F1
in the choice of the threshold. The candidate with the largest sum of balanced accuracy, gmean and OPM, averaged over
the sets, becomes the default. Leaving out one set at a time shows whether a single set determines the choice.

    python studies/forest_defaults.py --data-dir DIR --out studies/results/forest/defaults.csv --jobs 2
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from adacc import AdaCCForestClassifier, metrics
from adacc.estimators import forest as tuning
from adacc.estimators.base import restore
from adacc.estimators.input_validation import read_training
from adacc.study.plan import Task, read_protocol
from adacc.study.run import load, split

MEASURES = ("balanced_accuracy", "gmean", "opm", "auc")
MIXING_WEIGHTS = {"balanced": (0.0,), "ratio-10": (1.0,), "both alike": (0.5,), "both, tuned": tuning.MIXING_WEIGHTS}
SHARES_OF_F1 = (0.0, 0.05, 0.1)


def try_out(dataset: str, data_dir: str | None) -> list[dict]:
    """Every candidate on one set: means over the three folds."""
    protocol, data = replace(read_protocol("forest"), folds=5), load(dataset, None, data_dir)
    train, _ = split(protocol, Task(dataset, 0, 0), data.target)
    X, y = data.frame.iloc[train].reset_index(drop=True), data.target[train]
    found = {(bags, share): [] for bags in MIXING_WEIGHTS for share in SHARES_OF_F1}
    for grown_on, scored in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        model = AdaCCForestClassifier(random_state=0, pos_label=1)
        training_set = read_training(model, X.iloc[grown_on], y[grown_on])
        forest = model._grow(training_set, model._bags(), n_threads=1)
        tuning_rows = model._tuning_rows(forest, training_set, model._bags(), n_threads=1)
        for (bags, share), measured in found.items():
            tuning.MIXING_WEIGHTS, tuning.F1_WEIGHT = MIXING_WEIGHTS[bags], share
            restore(model, model._tune(forest, training_set, tuning_rows))
            scores = model.decision_function(X.iloc[scored])
            measured.append(metrics.evaluate(y[scored], (scores > 0).astype(int), scores, pos_label=1))
    return [
        {"dataset": dataset, "bags": bags, "share_of_f1": share}
        | {name: np.mean([each[name] for each in measured]) for name in MEASURES}
        for (bags, share), measured in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose the defaults of AdaCCForestClassifier.")
    parser.add_argument("--data-dir", help="a folder with the data sets")
    parser.add_argument("--out", type=Path, required=True, help="where the figures go, as CSV")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as workers:
        each = workers.map(partial(try_out, data_dir=options.data_dir), read_protocol("forest").datasets)
        table = pd.DataFrame([row for rows in each for row in rows])
    table.to_csv(options.out, index=False, float_format="%.6f")
    print(summary(table))


def summary(table: pd.DataFrame) -> str:
    candidates = table.groupby(["bags", "share_of_f1"])[list(MEASURES)].mean() * 100
    worth = table.assign(worth=table[["balanced_accuracy", "gmean", "opm"]].sum(axis=1))
    by_set = worth.pivot_table("worth", "dataset", ["bags", "share_of_f1"])
    chosen = pd.Series([by_set.drop(index=name).mean().idxmax() for name in by_set.index])
    best = f"best: {by_set.mean().idxmax()}; with one set left out: {chosen.value_counts().to_dict()}"
    return f"{candidates.round(2).to_string()}\n\n{best}"


if __name__ == "__main__":
    main()

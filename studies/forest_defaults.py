"""How the defaults of AdaCCForestClassifier were chosen: once, without a look at a test fold, the same for all sets.

Of every set only four fifths of the rows are used: the training rows of the first of five folds. They are split into
three parts, each scored by forests that were grown on the other two. Each candidate is a way to fill the bags and a
share of F1 in the choice of the decision. The one with the best mean over the sets of balanced accuracy, gmean and OPM,
all three added up, becomes the default, unless it takes longer than a balanced random forest (benchmarks/trees.py).
Leaving out a set at a time says whether one set decided it.

    python studies/forest_defaults.py --data-dir DIR --out studies/results/forest/defaults.csv --jobs 2
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from adacc import AdaCCForestClassifier, metrics
from adacc.engine.forest import Bag
from adacc.engine.trees import Growth
from adacc.estimators import forest as tuning
from adacc.study.plan import Task, read_protocol
from adacc.study.run import load, split

MEASURES = ("balanced_accuracy", "gmean", "opm", "auc")
SHARES_OF_F1 = (0.0, 0.05, 0.1)

NARROW_TREE = Bag(1.0, 1, Growth(None, max_features="sqrt"))
NARROW_BOOSTER = Bag(1.0, 5, Growth(10, max_features=0.5))
WIDE_TREE = Bag(10.0, 1, Growth(None, max_features="sqrt"))
WIDE_BOOSTER = Bag(10.0, 5, Growth(10, max_features=0.5))
WIDE_LONGER = Bag(10.0, 10, Growth(6, max_features=0.5))
WIDE_QUICK = Bag(10.0, 5, Growth(10, max_features="2sqrt"))
WIDE_QUICKER = Bag(10.0, 3, Growth(10, max_features="2sqrt"))
HALF_AS_WIDE = Bag(5.0, 5, Growth(10, max_features="2sqrt"))
NARROW_QUICK = Bag(1.0, 5, Growth(10, max_features="2sqrt"))
KINDS = {
    "narrow trees": (NARROW_TREE,),
    "narrow boosters": (NARROW_BOOSTER,),
    "wide trees": (WIDE_TREE,),
    "wide boosters": (WIDE_BOOSTER,),
    "narrow and wide trees, 1:2": (WIDE_TREE, NARROW_TREE, WIDE_TREE),
    "narrow trees, wide boosters, 1:1": (WIDE_BOOSTER, NARROW_TREE),
    "narrow trees, wide boosters, 1:2": (WIDE_BOOSTER, NARROW_TREE, WIDE_BOOSTER),
    "narrow trees, wide longer boosters, 1:2": (WIDE_LONGER, NARROW_TREE, WIDE_LONGER),
    "narrow trees, wide quick boosters, 1:2": (WIDE_QUICK, NARROW_TREE, WIDE_QUICK),
    "narrow trees, wide quicker boosters, 1:2": (WIDE_QUICKER, NARROW_TREE, WIDE_QUICKER),
    "narrow trees, half as wide quick boosters, 1:2": (HALF_AS_WIDE, NARROW_TREE, HALF_AS_WIDE),
    "narrow and wide quick boosters, 2:1": (NARROW_QUICK, WIDE_QUICK, NARROW_QUICK),
}


def try_out(kinds: str, dataset: str, data_dir: str | None) -> list[dict]:
    """Every share of F1 with one way to fill the bags on one set: the means over the three parts."""
    protocol, data = replace(read_protocol("forest"), folds=5), load(dataset, None, data_dir)
    train, _ = split(protocol, Task(dataset, 0, 0), data.target)
    X, y = data.frame.iloc[train].reset_index(drop=True), data.target[train]
    found: dict[float, list[dict]] = {share: [] for share in SHARES_OF_F1}
    for grown_on, scored in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        model = AdaCCForestClassifier(random_state=0, pos_label=1)
        problem = model._read_training(X.iloc[grown_on], y[grown_on], None)
        grown = model._grown(problem, replace(model._bags(), kinds=KINDS[kinds]), n_threads=1)
        for share, measured in found.items():
            tuning.SHARE_OF_F1 = share
            model.__dict__.update(model._tuned(grown, problem))
            scores = model.decision_function(X.iloc[scored])
            measured.append(metrics.evaluate(y[scored], (scores > 0).astype(int), scores, pos_label=1))
    return [
        {"dataset": dataset, "bags": kinds, "share_of_f1": share}
        | {name: np.mean([each[name] for each in measured]) for name in MEASURES}
        for share, measured in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose the defaults of AdaCCForestClassifier.")
    parser.add_argument("--data-dir", help="a folder with the data sets")
    parser.add_argument("--out", type=Path, required=True, help="where the figures go, as CSV")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--bags", nargs="+", choices=KINDS, default=list(KINDS), help="only these; others are kept")
    options = parser.parse_args()
    rows: list[dict] = []
    with ProcessPoolExecutor(options.jobs) as workers:
        for kinds in options.bags:
            work = partial(try_out, kinds, data_dir=options.data_dir)
            for found in workers.map(work, read_protocol("forest").datasets):
                rows += found
            sys.stderr.write(f"{kinds}\n")
    table = pd.DataFrame(rows)
    if options.out.exists():
        before = pd.read_csv(options.out)
        table = pd.concat([before[~before["bags"].isin(options.bags)], table], ignore_index=True)
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

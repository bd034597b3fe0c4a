"""Compares candidates for the defaults of AdaCCForestClassifier, by the protocol in forest_protocol.md.

    python studies/forest_defaults.py --data DIR --data DIR --out studies/results/forest/defaults.csv --jobs 2

Every folder holds Parquet files with a column `target` (1: the rare class). A set that the output already has is not
computed again.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from adacc import AdaCCForestClassifier, metrics
from adacc.algorithms.adaboost import AdaBoost
from adacc.boosting import gradient_boosting
from adacc.boosting.bagging import BagSpec
from adacc.estimators import forest

MAX_ROWS, FEW_ROWS = 20_000, 2_000
FAMILIES = (
    "abalone", "births", "car", "hmda", "kddcup", "kr-vs-k", "page-blocks", "poker", "shuttle", "smokers", "thyroid",
    "vehicle", "wine", "yeast",
)  # fmt: skip
LARGE_NASA = ("JM1", "KC1", "MC1", "PC5")
KINDS = ("balanced", "ratio-10", "full", "gradient", "linear")

CANDIDATES: dict[str, dict[str, Any]] = {
    "default": {},
    "balanced bags only": {"kinds": ("balanced",)},
    "without gradient and linear bags": {"kinds": ()},
    "without balanced bags": {"kinds": KINDS[1:]},
    "without ratio-10 bags": {"kinds": ("balanced", "full", "gradient", "linear")},
    "without full bags": {"kinds": ("balanced", "ratio-10", "gradient", "linear")},
    "without linear bags": {"kinds": KINDS[:-1]},
    "gradient bags only": {"kinds": ("gradient",)},
    "gradient bags without costs": {"costs": False},
    "AdaBoost in the bags": {"rule": AdaBoost},
    "one tree per bag": {"n_rounds": 1, "long_rounds": 1},
    "50 balanced bags": {"n_estimators": 50},
    "100 balanced bags": {"n_estimators": 100},
    "min_samples_leaf=1": {"min_samples_leaf": 1},
    "min_samples_leaf=5": {"min_samples_leaf": 5},
    "max_depth=5": {"max_depth": 5},
    "max_depth=8": {"max_depth": 8},
    "max_leaf_nodes=16": {"max_leaf_nodes": 16},
    "max_features=2sqrt": {"max_features": "2sqrt"},
}


def family(dataset: str) -> str:
    """Sets of the same source are one family."""
    if dataset.startswith("nasa-"):
        return "nasa, large" if dataset.endswith(LARGE_NASA) else "nasa, small"
    name = "thyroid" if dataset == "sick_euthyroid" else dataset
    return next((each for each in FAMILIES if each in name), name)


def kind_of(spec: BagSpec) -> str:
    """The kind of a bag."""
    return spec.booster if spec.booster != "adacc2" else KINDS[[1.0, forest.RATIO, np.inf].index(spec.ratio)]


class Variant(AdaCCForestClassifier):
    """A forest without some kinds of bags. Without any kind, it has those of a forest with constraints."""

    def with_kinds(self, kinds: tuple[str, ...]) -> Variant:
        self.kinds = kinds
        return self

    def _bag_specs(self, n_rows: int, n_rarest: int, has_gradient_bags: bool) -> tuple[BagSpec, ...]:
        if not self.kinds:
            return super()._bag_specs(n_rows, n_rarest, False)
        specs = super()._bag_specs(n_rows, n_rarest, has_gradient_bags)
        return tuple(spec for spec in specs if kind_of(spec) in self.kinds)


def fit(
    X: pd.DataFrame, y: np.ndarray, kinds=KINDS, rule=None, long_rounds=None, costs: bool = True, **parameters
) -> Variant:
    model = Variant(pos_label=1, random_state=0, calibration="sigmoid", **parameters).with_kinds(kinds)
    with (
        patch.object(forest, "AdaCC2", rule or forest.AdaCC2),
        patch.object(forest, "LONG_ROUNDS_FACTOR", long_rounds or forest.LONG_ROUNDS_FACTOR),
        patch.object(gradient_boosting, "COST_EXPONENT", gradient_boosting.COST_EXPONENT if costs else 0.0),
    ):
        return model.fit(X, y)


def splits(y: np.ndarray):
    """Training and test rows, all among the training rows of the first of five folds."""
    rows, _ = next(iter(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)))
    if len(rows) > MAX_ROWS:
        rows, _ = train_test_split(rows, train_size=MAX_ROWS, stratify=y[rows], random_state=0)
    for seed in (1, 2, 3) if len(rows) < FEW_ROWS else (1,):
        for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(rows, y[rows]):
            yield rows[train], rows[test]


def try_out(path: Path, names: list[str]) -> list[dict]:
    """The candidates on one set: means over the folds."""
    frame = pd.read_parquet(path)
    y = frame.pop("target").to_numpy().astype(int)
    found = []
    for name in names:
        measured = []
        for train, test in splits(y):
            model = fit(frame.iloc[train], y[train], **CANDIDATES[name])
            scores = model.decision_function(frame.iloc[test])
            of_labels = metrics.evaluate(y[test], (scores > 0).astype(int), scores, pos_label=1)
            measured.append({
                "balanced_accuracy": of_labels["balanced_accuracy"], "gmean": of_labels["gmean"],
                "average_precision": average_precision_score(y[test], scores), "auc": of_labels["auc"],
                "log_loss": log_loss(y[test], model.predict_proba(frame.iloc[test])),
            })  # fmt: skip
        means = pd.DataFrame(measured).mean() * 100
        found.append({"dataset": path.stem, "candidate": name, **means.to_dict()})
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the families of the means over their sets, and the sum that decides."""
    by_family = table.assign(family=table["dataset"].map(family)).drop(columns="dataset")
    means = by_family.groupby(["candidate", "family"], sort=False).mean().groupby("candidate", sort=False).mean()
    return means.assign(sum=means["balanced_accuracy"] + means["average_precision"] + means["auc"]).round(2)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare candidates for the defaults of AdaCCForestClassifier.")
    parser.add_argument("--data", type=Path, action="append", required=True, help="a folder of Parquet files")
    parser.add_argument("--candidates", type=lambda text: text.split(","), default=list(CANDIDATES))
    parser.add_argument("--out", type=Path, required=True, help="where the figures go, as CSV")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    done = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame({"dataset": []})
    paths = sorted(
        (path for folder in options.data for path in folder.glob("*.parquet")), key=lambda p: p.stat().st_size
    )
    with ProcessPoolExecutor(options.jobs) as workers:
        left = [path for path in paths if path.stem not in set(done["dataset"])]
        for rows in workers.map(partial(try_out, names=options.candidates), left):
            done = pd.concat([done, pd.DataFrame(rows)])
            done.to_csv(options.out, index=False, float_format="%.4f")
    print(summary(done).to_string())


if __name__ == "__main__":
    main()

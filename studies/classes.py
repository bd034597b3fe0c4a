"""Compares methods on data sets with more than two classes, and fills the marked sections of docs/classes.md.

    python studies/classes.py --data DIR --out studies/results/classes.csv --jobs 2
    python studies/classes.py        # only the tables, from studies/results/classes.csv

Every folder holds Parquet files with a column `target`. All methods have their default parameters, class weights where
a library has them, and one thread; the folds are the same for all. A set that the output has is not run again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from document import fill
from imblearn.ensemble import BalancedRandomForestClassifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, recall_score, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

import adacc
from adacc.evaluation import statistics as stats

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "classes.csv"
DOCUMENT = HERE.parent / "docs" / "classes.md"
FOLDS, REPEATS = 3, 3
MEASURES = {"balanced_accuracy": "bal. acc.", "gmean": "gmean", "f1": "macro F1", "auc": "AUC"}
FOREST = "AdaCC forest"


def encoded(model: Any) -> Any:
    """A model that supports neither categories nor missing values, after one-hot encoding and medians."""
    categories = make_column_selector(dtype_include="category")
    numbers = make_column_selector(dtype_exclude="category")
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((SimpleImputer(), numbers), (one_hot, categories)), model)


class WeightedXGBoost(xgboost.XGBClassifier):
    """XGBoost with class weights, which it takes as sample weights only."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y, sample_weight=compute_sample_weight("balanced", y))


def boosters(method: str) -> dict[str, Callable[[int], Any]]:
    """A method of adacc with all ways to treat several classes."""
    label = {"adacc1": "AdaCC1", "adacc2": "AdaCC2"}[method]
    return {
        f"{label}{suffix}": partial(_booster, method, kind)
        for kind, suffix in (("auto", ""), ("one_vs_one", ", pairs"), ("one_vs_rest", ", rest"), ("joint", ", joint"))
    }


def _booster(method: str, kind: str, seed: int) -> Any:
    return adacc.BoostingClassifier(method, multi_class=kind, random_state=seed)


METHODS: dict[str, Callable[[int], Any]] = {
    **boosters("adacc1"),
    **boosters("adacc2"),
    FOREST: lambda seed: adacc.AdaCCForestClassifier(random_state=seed),
    "Balanced R.F.": lambda seed: encoded(BalancedRandomForestClassifier(random_state=seed)),
    "LightGBM": lambda seed: lightgbm.LGBMClassifier(
        class_weight="balanced", n_jobs=1, random_state=seed, verbose=-1, deterministic=True, force_col_wise=True
    ),
    "XGBoost": lambda seed: WeightedXGBoost(enable_categorical=True, n_jobs=1, random_state=seed, verbosity=0),
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(
        class_weight="balanced", categorical_features="from_dtype", random_state=seed
    ),
    "AdaBoost (scikit-learn)": lambda seed: encoded(AdaBoostClassifier(n_estimators=100, random_state=seed)),
}


def read(file: Path) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.read_parquet(file)
    labels = X.pop("target").astype(str)
    texts = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(texts, "category")), np.unique(labels, return_inverse=True)[1]


def measures(y: np.ndarray, probabilities: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    recalls = recall_score(y, predicted, average=None, zero_division=0.0)
    return {
        "balanced_accuracy": 100 * recalls.mean(),
        "gmean": 100 * float(np.prod(recalls)) ** (1 / len(recalls)),
        "f1": 100 * f1_score(y, predicted, average="macro", zero_division=0.0),
        "auc": 100 * roc_auc_score(y, probabilities, multi_class="ovo", average="macro"),
    }


def evaluate(file: Path) -> list[dict[str, Any]]:
    """Every method on a set: measures of the test folds of a repeat taken together, averaged over the repeats."""
    X, y = read(file)
    splits = list(RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(X, y))
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in METHODS.items():
            began, repeats = time.process_time(), []
            for repeat in range(REPEATS):
                predicted, probabilities = np.zeros(len(y), dtype=int), np.zeros((len(y), y.max() + 1))
                for number, (train, test) in enumerate(splits[repeat * FOLDS : (repeat + 1) * FOLDS]):
                    model = make(number).fit(X.iloc[train], y[train])
                    predicted[test], probabilities[test] = (
                        model.predict(X.iloc[test]),
                        model.predict_proba(X.iloc[test]),
                    )
                repeats.append(measures(y, probabilities / probabilities.sum(axis=1, keepdims=True), predicted))
            mean = pd.DataFrame(repeats).mean().to_dict()
            seconds = (time.process_time() - began) / len(splits)
            found.append(
                {"dataset": file.stem, "classes": int(y.max() + 1), "method": name, **mean, "seconds": seconds}
            )
    return found


def means(table: pd.DataFrame) -> str:
    """Means and mean ranks; methods by their mean rank in balanced accuracy."""
    tables = {name: table.pivot_table(name, "dataset", "method") for name in MEASURES}
    ranks = {
        name: pd.Series(stats.ranks(each.to_numpy().round(4)).mean(axis=0), each.columns)
        for name, each in tables.items()
    }
    seconds = table.groupby("method")["seconds"].mean()
    shown = list(MEASURES)[:2]
    head = [*MEASURES.values(), *(f"rank, {MEASURES[name]}" for name in shown), "s"]
    lines = [f"| Method | {' | '.join(head)} |", f"|---|{'---:|' * len(head)}"]
    for method in ranks["balanced_accuracy"].sort_values(kind="stable").index:
        cells = [f"{tables[name][method].mean():.2f}" for name in MEASURES] + [
            f"{ranks[name][method]:.2f}" for name in shown
        ]
        lines.append(f"| {method} | {' | '.join(cells)} | {seconds[method]:.2f} |")
    return "\n".join(lines)


def by_set(table: pd.DataFrame) -> str:
    """Balanced accuracy on each set."""
    chosen = ["AdaCC1", "AdaCC1, rest", "AdaCC1, joint", FOREST, "Balanced R.F.", "LightGBM", "XGBoost"]
    values = table.pivot_table("balanced_accuracy", ["dataset", "classes"], "method")[chosen]
    lines = [f"| Set | classes | {' | '.join(chosen)} |", f"|---|---:|{'---:|' * len(chosen)}"]
    lines += [
        f"| {name} | {k:.0f} | {' | '.join(f'{value:.1f}' for value in row)} |"
        for (name, k), row in zip(values.index, values.to_numpy(), strict=True)
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", action="append", type=Path, default=[], help="a folder of Parquet files")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    done = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame({"dataset": []})
    files = [file for folder in options.data for file in sorted(folder.glob("*.parquet"))]
    files = [file for file in files if file.stem not in set(done["dataset"])]
    with ProcessPoolExecutor(options.jobs) as workers:
        for found in workers.map(evaluate, files):
            done = pd.concat([done, pd.DataFrame(found)], ignore_index=True)
            done.sort_values("dataset", kind="stable").to_csv(options.out, index=False, float_format="%.4f")
    if options.out == RESULTS:
        fill(DOCUMENT, {"means": means(done), "sets": by_set(done)})
    else:
        print(means(done))


if __name__ == "__main__":
    main()

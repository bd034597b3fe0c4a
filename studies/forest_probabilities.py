"""Probabilities of the forest by calibration, on held-out rows: the numbers of docs/probabilities.md on the forest.

python studies/forest_probabilities.py FILE ...    # Parquet files with a column `target`, 1 for the rare class

Half of at most 16,000 rows of each set train a forest, in two splits. Each calibration is fitted to its out-of-bag
scores and measured on the other half. Writes a line for each split and calibration, and prints the means by number of
rare training rows.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

import adacc
from adacc.model.calibration import Calibrator

RESULT = Path(__file__).resolve().parent / "results" / "forest_probabilities.csv"
MAX_ROWS = 16_000
EDGES = [0, 50, 150, 500, np.inf]
KINDS = (None, "sigmoid", "isotonic")


def read(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """The features and whether each row is of the rare class."""
    frame = pd.read_parquet(path)
    if len(frame) > MAX_ROWS:
        frame = frame.iloc[np.random.default_rng(0).choice(len(frame), MAX_ROWS, replace=False)]
    rare = frame.pop("target").to_numpy().astype(int)
    frame = frame.drop(columns=[name for name in frame if name.startswith("_")])
    return frame.astype(dict.fromkeys(frame.select_dtypes(["object", "string"]), "category")), rare


def measure(path: Path, seed: int) -> list[dict[str, Any]]:
    """Each calibration on one split; "sum_ratio" is the sum of the probabilities per rare test row."""
    X, y = read(path)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    model = adacc.AdaCCForestClassifier(random_state=0, calibration=None, pos_label=1).fit(X, y)
    oob, scores = model.fitted_model_.tuning_scores, model.decision_function(X_test)
    found = []
    for kind in KINDS:
        p = expit(2.0 * scores)
        if kind is not None:
            calibrator = Calibrator.fit(kind, oob.scores, oob.is_positive.astype(int), 2, oob.weight, rising=True)
            p = calibrator.probabilities(scores)[:, 1]
        found.append({
            "dataset": path.stem, "split": seed, "rare_rows": int(y.sum()), "calibration": kind or "none",
            "log_loss": log_loss(y_test, np.clip(p, 1e-12, 1 - 1e-12)), "brier": brier_score_loss(y_test, p),
            "sum_ratio": p.sum() / y_test.sum(), "largest": p.max(),
        })  # fmt: skip
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    table = pd.DataFrame(
        [line for path in parser.parse_args().files for seed in (0, 1) for line in measure(path, seed)]
    )
    table.to_csv(RESULT, index=False, float_format="%.5g")
    rare_rows = pd.cut(table["rare_rows"], EDGES, right=False)
    measures = ["log_loss", "brier", "sum_ratio", "largest"]
    print(table.drop_duplicates("dataset").groupby(rare_rows, observed=True).size())
    print(table.groupby([rare_rows, "calibration"], observed=True)[measures].mean().round(4))
    print(table.groupby("calibration")["sum_ratio"].describe(percentiles=[0.1, 0.5, 0.9]).round(2))


if __name__ == "__main__":
    main()

"""Calibration of the probabilities and cost of decisions based on them: the numbers of docs/probabilities.md.

python studies/probabilities.py --data-dir DIR    # a folder with the data sets; without it they are downloaded

Five folds of each set; the calibration is fitted on five folds of the training rows. CGAda is also shown with its
costs undone, which needs no fit. Decisions are those of two methods at their default threshold and of `CostDecision`
with a false negative that costs 5 or 20 times a false positive, relative to the cheaper of the two constant
predictions. Writes a table of each and prints the means over the sets.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import adacc
from adacc.estimators.cutoffs import brier, reliability
from adacc.metrics import balanced_accuracy
from adacc.study.run import load

RESULTS = Path(__file__).resolve().parent / "results"
SETS = (
    "abalone", "car_eval_34", "coil_2000", "mammography", "optical_digits", "ozone_level", "pen_digits", "phoneme",
    "satimage", "sick_euthyroid", "us_crime", "wilt", "wine_quality",
)  # fmt: skip
METHODS = ("adaboost", "adacc1", "adacc2", "cgada")
MEASURES = ("brier", "skill", "log_loss", "ece", "balanced_accuracy")
DECIDING = ("adaboost", "adacc1")
MISSES = (5, 20)


def models(method: str, X: Any, y: Any, rounds: int) -> Iterator[tuple[str, Any]]:
    """Fitted models by name of the calibration."""
    for kind in (None, "sigmoid", "isotonic"):
        model = adacc.BoostingClassifier(
            method, n_estimators=rounds, calibration=kind, calibration_cv=5, random_state=0
        ).fit(X, y)
        yield kind or "none", model
        if method == "cgada":
            undone = adacc.CostDecision(FrozenEstimator(model), cv=None, undo_class_weight="balanced")
            yield f"{kind or 'none'}, costs undone", undone.fit(X, y)


def evaluate(model: Any, X: Any, y: Any) -> dict[str, float]:
    p = model.predict_proba(X)
    weight = np.ones(len(y))
    groups = reliability(p, y, weight)
    off = np.abs(groups["predicted"] - groups["observed"])
    error = brier(p, y, weight)
    return {
        "brier": error,
        "skill": 1.0 - error / (y.mean() * (1.0 - y.mean())),
        "log_loss": log_loss(y, p),
        "ece": float((groups["rows"] * off).sum() / len(y)),
        "balanced_accuracy": balanced_accuracy(y, model.predict(X)),
    }


def folds(name: str, data_dir: str | None) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Training rows and their labels, test rows and theirs, of each fold."""
    data = load(name, None, data_dir)
    y = data.target.astype(int)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        yield data.frame.iloc[train], y[train], data.frame.iloc[test], y[test]


def probabilities(name: str, data_dir: str | None, rounds: int) -> Iterator[dict[str, Any]]:
    for X, y, X_test, y_test in folds(name, data_dir):
        for method in METHODS:
            for kind, model in models(method, X, y, rounds):
                found = evaluate(model, X_test, y_test)
                if "undone" in kind:
                    del found["balanced_accuracy"]  # it would be that of the threshold ½
                yield {"dataset": name, "method": method, "calibration": kind, **found}


def decisions(name: str, data_dir: str | None, rounds: int) -> Iterator[dict[str, Any]]:
    for X, y, X_test, y_test in folds(name, data_dir):
        for method in DECIDING:
            plain, calibrated = (
                adacc.BoostingClassifier(
                    method, n_estimators=rounds, calibration=kind, calibration_cv=5, random_state=0
                ).fit(X, y)
                for kind in (None, "sigmoid")
            )
            for miss in MISSES:
                costs = {0: 1, 1: miss}
                deciders = {
                    "its own": plain,
                    "expected, not calibrated": adacc.CostDecision(FrozenEstimator(plain), costs, cv=None).fit(X, y),
                    "expected, sigmoid": adacc.CostDecision(FrozenEstimator(calibrated), costs, cv=None).fit(X, y),
                    "tuned": adacc.CostDecision(plain, costs, threshold="tuned").fit(X, y),
                }
                constant = min(miss * y_test.mean(), 1.0 - y_test.mean())
                for decision, model in deciders.items():
                    predicted = model.predict(X_test)
                    cost = np.mean(miss * (y_test > predicted) + (y_test < predicted)) / constant
                    yield {"dataset": name, "method": method, "miss": miss, "decision": decision, "cost": cost}


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", default=",".join(SETS))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    sets = options.datasets.split(",")
    for study, keys, measures in (
        (probabilities, ["method", "calibration"], list(MEASURES)),
        (decisions, ["method", "miss", "decision"], ["cost"]),
    ):
        rows = [row for name in sets for row in study(name, options.data_dir, options.rounds)]
        table = pd.DataFrame(rows).groupby(["dataset", *keys], sort=False)[measures].mean()
        table.round(5).to_csv(options.out / f"{study.__name__}.csv")
        print(table.groupby(keys, sort=False).mean().round(4).to_string())


if __name__ == "__main__":
    main()

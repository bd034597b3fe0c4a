"""What one model achieves on rows that it was not trained on: cross-validation, or the out-of-bag rows of a forest."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isnan
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from adacc.comparison.binary_problem import BinaryProblem
from adacc.comparison.leaderboard import spread
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.problem import BaseProblem
from adacc.comparison.splits import Split, describe, make_splits
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.evaluation.baseline_models import FOREST_TIME_FOLDS
from adacc.evaluation.measure_scorer import predictions_of_votes
from adacc.evaluation.training import fit_method

FOLDS = 5

SPLIT_ROWS_MIN = 50_000
"""With more rows than this, one fold is held out instead of every fold in turn."""


def problem_of(
    source: str,
    target: str,
    X: pd.DataFrame,
    y: NDArray[Any],
    positive: Any,
    group: Any = None,
    time: Any = None,
    duplicates: str = "auto",
) -> BinaryProblem | MulticlassProblem:
    """The problem of labelled rows; `positive` is None for more than two classes."""
    classes, numbers = pd.factorize(y, sort=True)[::-1]
    rows: dict[str, Any] = {"X": X, "n_rows_of_source": len(X), "group": group, "time": time, "duplicates": duplicates}
    if positive is None:
        return MulticlassProblem(source, target, tuple(classes.tolist()), y=numbers.astype("int8"), **rows)
    (negative,) = (label for label in classes.tolist() if label != positive)
    return BinaryProblem(source, target, positive, negative, y=(y == positive).astype("int8"), **rows)


def cross_validate(
    problem: BaseProblem, y: NDArray[Any], folds: int | None, method: str, seed: int, **training: Any
) -> dict[str, Any]:
    """The measures of a method on held-out rows, as plain data.

    Each model is fitted with the same parameters of `fit_method` to the labels `y`. `folds` None is `FOLDS`, of
    which only the last is held out if there are many rows. Raises TableError if the rows cannot be split.
    """
    splits = make_splits(problem, folds or FOLDS, 1, seed)
    if folds is None and len(y) > SPLIT_ROWS_MIN:
        splits = splits[-1:]
    with warnings.catch_warnings(), unseen_ignored():
        warnings.simplefilter("ignore", ConvergenceWarning)
        by_fold = [_evaluate(problem, y, split, method, seed, training) for split in splits]
    names = [name for name in problem.measures if name != "seconds"]
    return {
        "estimate": "cross-validation" if len(splits) > 1 else "split",
        "splits": describe(problem),
        "folds": folds or FOLDS,
        "rows": sum(len(split.test) for split in splits),
        "metrics": {name: _spread([each[name] for each in by_fold], splits) for name in names},
    }


def _evaluate(
    problem: BaseProblem, y: NDArray[Any], split: Split, method: str, seed: int, training: dict[str, Any]
) -> dict[str, Any]:
    groups = None if problem.dependence is None else problem.dependence[split.train]
    model = fit_method(
        method, problem.X.iloc[split.train], y[split.train], seed=seed, groups=groups,
        in_time=problem.time is not None, **{**training, "duplicates": "apart"},
    )  # fmt: skip
    return problem.evaluate(split.test, predictions_of_votes(model, problem.X.iloc[split.test]))


def _spread(values: list[float], splits: Sequence[Split]) -> dict[str, Any] | None:
    return None if any(map(isnan, values)) else spread(values, splits)


def out_of_bag(model: BaseAdditiveClassifier, problem: BaseProblem) -> dict[str, Any] | None:
    """The balanced accuracy of a forest on its tuning rows, as plain data; None if there is none."""
    accuracy = model.fitted_model_.oob_balanced_accuracy
    if accuracy is None or isnan(accuracy):
        return None
    return {
        "estimate": "out-of-bag" if problem.time is None else "held-out",
        "splits": describe(problem),
        "folds": None if problem.time is None else FOREST_TIME_FOLDS,
        "rows": None,
        "metrics": {
            "balanced_accuracy": {"mean": accuracy, "std": None, "low": None, "high": None, "by_fold": [accuracy]}
        },
    }

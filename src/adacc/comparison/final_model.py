"""Training of one model as in the comparison, and its description as plain data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import FORESTS
from adacc.estimators import forest
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.classifiers import BoostingClassifier
from adacc.estimators.folds import TimeSplit
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.estimators.search import CostSearchCV
from adacc.evaluation.baseline_models import FOREST_TIME_FOLDS
from adacc.evaluation.measure_scorer import scoring_of
from adacc.model.explanations import ShapeFunction

SHAPES_MAX = 9
BACKGROUND_ROWS = 500
CALIBRATION_FOLDS = 5


def fit(
    method: str,
    X: Any,
    y: NDArray[Any],
    pos_label: Any = None,  # the positive class of two; None: the rarer class
    rounds: int | None = None,  # `n_estimators`; None: the default of the method's class
    seed: int = 0,
    costs: Any = None,  # "balanced" or costs by label, instead of a search
    # Fitted to out-of-fold scores of five folds; of a forest to out-of-bag scores. None: the default of the method.
    calibration: str | None = None,
    groups: NDArray[Any] | None = None,  # inner splits keep them together or, if `in_time`, follow them as times
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    decision: Any = None,  # the decision rule, tuned on rows that are held out as for the calibration
    metric: str | None = None,  # what tuned costs maximize, a name of `adacc.evaluation.measures`; None: F1 or macro F1
    n_jobs: int | None = None,  # number of threads, which does not change the model
) -> BaseAdditiveClassifier:
    """Fit a method; unless `costs` are given, costs are tuned on the training rows, by F1 as in the paper."""
    chosen = choose(method, pos_label, rounds, seed, costs, calibration, in_time, monotonic_cst, metric, n_jobs)
    if decision is not None:
        model = chosen.estimator if isinstance(chosen, CostSearchCV) else chosen
        model.set_params(decision=decision)
        if in_time and isinstance(model, BaseBoosting):
            model.set_params(calibration_cv=TimeSplit(CALIBRATION_FOLDS))
    chosen = chosen.fit(X, y, groups=groups)
    fitted = chosen.best_estimator_ if isinstance(chosen, CostSearchCV) else chosen
    return fitted.set_params(n_jobs=None)


def choose(
    method: str,
    pos_label: Any = None,
    rounds: int | None = None,
    seed: int = 0,
    costs: Any = None,
    calibration: str | None = None,
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    metric: str | None = None,
    n_jobs: int | None = None,
) -> BaseAdditiveClassifier | CostSearchCV:
    """The unfitted estimator of `fit`; a forest for F1 tunes its threshold for it."""
    if method not in FORESTS:
        return choose_booster(
            method, pos_label, rounds, seed, costs, calibration, in_time, monotonic_cst, metric, n_jobs
        )
    if costs is not None:
        raise ValueError(f"{method} has no option 'costs' (given {costs!r}); its bags are balanced")
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if in_time else None
    return AdaCCForestClassifier(
        pos_label=pos_label,
        random_state=seed,
        calibration=calibration,
        tuning_cv=tuning_cv,
        monotonic_cst=monotonic_cst,
        n_jobs=n_jobs,
        objective="f1" if metric == "f1" else "balanced_accuracy",
        **_size(rounds),
    )


def choose_booster(
    method: str,
    pos_label: Any,
    rounds: int | None,
    seed: int,
    costs: Any,
    calibration: str | None = None,
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    metric: str | None = None,
    n_jobs: int | None = None,
) -> BaseBoosting | CostSearchCV:
    """The unfitted estimator of `fit` for a boosting method."""
    folds = TimeSplit(CALIBRATION_FOLDS) if in_time else CALIBRATION_FOLDS
    model = BoostingClassifier(
        method,
        pos_label=pos_label,
        random_state=seed,
        costs=costs,
        calibration=calibration,
        calibration_cv=None if calibration is None else folds,
        monotonic_cst=monotonic_cst,
        n_jobs=n_jobs,
        **_size(rounds),
    )
    if not METHODS[method].rule.uses_costs or costs is not None:
        return model
    return CostSearchCV(model, scoring="f1" if metric is None else scoring_of(metric), cv="training")


def _size(rounds: int | None) -> dict[str, Any]:
    return {} if rounds is None else {"n_estimators": rounds}


def cost_of_others(model: BaseAdditiveClassifier, positive: Any) -> float | None:
    """Cost of the negative class relative to the positive class; None without costs."""
    costs = model.get_params(deep=False).get("costs")
    if not isinstance(costs, dict) or not costs[positive]:
        return None
    (other,) = (cost for label, cost in costs.items() if label != positive)
    return float(other / costs[positive])


def n_bags(model: BaseAdditiveClassifier) -> int | None:
    """Number of bags of a forest; None for other models."""
    return forest.n_bags(model) if isinstance(model, AdaCCForestClassifier) else None


def describe(
    model: BaseAdditiveClassifier, positive: Any, gaps: Collection[str] | None = None, X: pd.DataFrame | None = None
) -> dict[str, Any]:
    """Importances, shape functions and training history of a model: ``"model"`` of a report.

    A model of more than two classes, whose `positive` is None, has importances only.

    Shape functions increase the score of the positive class where they are above 0; only those of the most important
    features are included. The value for missing values is included for the features in `gaps`; None: for all. Those of
    trees are main effects, relative to rows of X, of whose variance ``"main_share"`` is explained; without X, relative
    to the training rows, and the share is None. The rounds of a forest are summed over its bags, and it has no history.
    """
    at = None if positive is None else model.classes_.tolist().index(positive)
    names, shares = list(model.fitted_model_.column_names), model.feature_importances_
    order = [j for j in np.argsort(-shares, kind="stable").tolist() if shares[j] > 0.0]
    curves = None if at is None else model.shape_functions(_background(model, X), n_pairs=0)
    return {
        "rounds": int(model.n_iter_),
        "bags": n_bags(model),
        "cost": None if at is None else cost_of_others(model, positive),
        "importances": [{"feature": names[j], "share": float(shares[j])} for j in order],
        "shapes": [] if curves is None else [_shape(curves[j], at, gaps) for j in order[:SHAPES_MAX]],
        "main_share": None if curves is None else curves.main_share,
        "rounds_history": None if at is None or n_bags(model) is not None else _history(model, at),
    }


def _background(model: BaseAdditiveClassifier, X: pd.DataFrame | None) -> pd.DataFrame | None:
    """Rows that the effects of trees are relative to; None for stumps, whose shape functions need none."""
    if X is None or model.fitted_model_.is_additive:
        return None
    return X if len(X) <= BACKGROUND_ROWS else X.sample(BACKGROUND_ROWS, random_state=0)


def _shape(curve: ShapeFunction, positive: int | None, gaps: Collection[str] | None) -> dict[str, Any]:
    sign = 1.0 if positive == 1 else -1.0
    y = (sign * curve.values).tolist()
    missing = float(sign * curve.missing) if gaps is None or curve.name in gaps else None
    shape: dict[str, Any] = {"feature": curve.name, "y": y, "missing": missing}
    if curve.thresholds is None:
        return {**shape, "kind": "category", "labels": [str(label) for label in curve.categories or ()]}
    return {**shape, "kind": "number", **_steps(curve.thresholds, y)}


def _steps(thresholds: NDArray[np.float64], y: list[float]) -> dict[str, list[float]]:
    """Start of each step, and the end of the last; both ends extend a margin beyond the thresholds."""
    if len(thresholds) == 0:
        return {"x": [0.0, 1.0], "y": [y[0], y[0]]}
    margin = 0.05 * float(thresholds[-1] - thresholds[0]) or abs(float(thresholds[0])) * 0.05 or 1.0
    x = [float(thresholds[0]) - margin, *thresholds.tolist(), float(thresholds[-1]) + margin]
    return {"x": x, "y": [*y, y[-1]]}


def _history(model: BaseAdditiveClassifier, positive: int) -> dict[str, list[Any]]:
    """Training errors of both classes, and the weight of the positive class, after each round."""
    errors = 1.0 - model.history_["class_recall"]
    return {
        "round": list(range(1, len(errors) + 1)),
        "rare_error": errors[:, positive].tolist(),
        "common_error": errors[:, 1 - positive].tolist(),
        "balanced_error": errors.mean(axis=1).tolist(),
        "rare_weight": model.history_["class_weight"][:, positive].tolist(),
    }

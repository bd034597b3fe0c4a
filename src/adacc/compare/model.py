"""One model: trained as it took part, and what it has learnt, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from adacc.evaluation.baselines import FOREST_TIME_FOLDS
from adacc.model.explanations import ShapeFunction

MOST_SHAPES = 9
CALIBRATION_FOLDS = 5


def fit(
    method: str,
    X: Any,
    y: NDArray[Any],
    pos_label: Any = None,
    rounds: int | None = None,
    seed: int = 0,
    costs: Any = None,
    calibration: str | None = None,
    groups: NDArray[Any] | None = None,
    in_time: bool = False,
) -> BaseAdditiveClassifier:
    """A model of a method; costs, where it takes any, are those of best F1 on the training rows, as in the paper.

    Parameters
    ----------
    method : str
        Its name.
    X, y : frame, array of labels
        Rows to train on.
    pos_label : label, default=None
        The class to be found, of two; None is the rarer.
    rounds : int, default=None
        How many at most; of a forest its narrow bags. None is as the method's class has it: 100, of a forest 40.
    seed : int, default=0
        Of what is drawn at random.
    costs : "balanced" or mapping of label to cost, default=None
        Costs to use instead of a search.
    calibration : {"sigmoid", "isotonic"}, default=None
        Fitted to scores of rows held out in five folds, since a model is too sure of those it was trained on; of a
        forest to those of rows out of the bags. None is as the method has it.
    groups : array of shape (n_rows,), default=None
        What no inner split separates; with `in_time` the times that inner splits go forward in.
    """
    chosen = choose(method, pos_label, rounds, seed, costs, calibration, in_time).fit(X, y, groups=groups)
    return chosen.best_estimator_ if isinstance(chosen, CostSearchCV) else chosen


def choose(
    method: str,
    pos_label: Any = None,
    rounds: int | None = None,
    seed: int = 0,
    costs: Any = None,
    calibration: str | None = None,
    in_time: bool = False,
) -> BaseAdditiveClassifier | CostSearchCV:
    """What `fit` fits."""
    if method not in FORESTS:
        return choose_booster(method, pos_label, rounds, seed, costs, calibration, in_time)
    if costs is not None:
        raise ValueError(f"{method} has no option 'costs' (given {costs!r}); its bags are balanced")
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if in_time else None
    return AdaCCForestClassifier(
        pos_label=pos_label, random_state=seed, calibration=calibration, tuning_cv=tuning_cv, **_size(rounds)
    )


def choose_booster(
    method: str,
    pos_label: Any,
    rounds: int | None,
    seed: int,
    costs: Any,
    calibration: str | None = None,
    in_time: bool = False,
) -> BaseBoosting | CostSearchCV:
    """What `fit` fits of a method of the family."""
    folds = TimeSplit(CALIBRATION_FOLDS) if in_time else CALIBRATION_FOLDS
    model = BoostingClassifier(
        method,
        pos_label=pos_label,
        random_state=seed,
        costs=costs,
        calibration=calibration,
        calibration_cv=None if calibration is None else folds,
        **_size(rounds),
    )
    return CostSearchCV(model) if METHODS[method].rule.uses_costs and costs is None else model


def _size(rounds: int | None) -> dict[str, Any]:
    return {} if rounds is None else {"n_estimators": rounds}


def cost_of_others(model: BaseAdditiveClassifier, positive: Any) -> float | None:
    """What a row of the other of two classes costs, where one of the positive class costs 1."""
    costs = model.get_params(deep=False).get("costs")
    if not isinstance(costs, dict) or not costs[positive]:
        return None
    (other,) = (cost for label, cost in costs.items() if label != positive)
    return float(other / costs[positive])


def has_curves(model: BaseAdditiveClassifier) -> bool:
    """Whether a model is a sum of one curve for each feature; trees combine features."""
    return model.fitted_model_.is_additive


def n_bags(model: BaseAdditiveClassifier) -> int | None:
    """Of a forest."""
    return forest.n_bags(model) if isinstance(model, AdaCCForestClassifier) else None


def describe(model: BaseAdditiveClassifier, positive: Any, gaps: Collection[str] | None = None) -> dict[str, Any]:
    """What a model of two classes uses, what each feature says, how it came about: ``"model"`` of a report.

    Shapes are above 0 where they speak for the positive class; only the most important features have one, and those of
    trees have none. What a missing value says is left out of features that have no `gaps`; None is not to know which
    have. The rounds of a forest are those of all its bags, which are no one course and so have no history.
    """
    at = model.classes_.tolist().index(positive)
    names, shares = list(model.fitted_model_.column_names), model.feature_importances_
    order = [j for j in np.argsort(-shares, kind="stable").tolist() if shares[j] > 0.0]
    return {
        "rounds": int(model.n_iter_),
        "bags": n_bags(model),
        "cost": cost_of_others(model, positive),
        "importances": [{"feature": names[j], "share": float(shares[j])} for j in order],
        "shapes": _shapes(model, order[:MOST_SHAPES], at, gaps) if has_curves(model) else [],
        "rounds_history": _history(model, at) if n_bags(model) is None else None,
    }


def describe_row(model: BaseAdditiveClassifier, X: Any, number: int, label: Any) -> dict[str, Any]:
    """The score of one of several rows in parts, exactly: ``"row"`` of a report's model.

    Parameters
    ----------
    model : classifier
        A fitted one.
    X : DataFrame of shape (n_rows, n_features)
        The row and those to compare it with: it begins from their mean score.
    number : int
        Of the row, from 1.
    label : label
        The class that the score is for; of two, what speaks for the other is below 0.
    """
    row = X.iloc[[number - 1]]
    at, found = model.classes_.tolist().index(label), model.explain(row, background=X)
    added = _towards(found.contributions[0], at)
    order = [j for j in np.argsort(-np.abs(added), kind="stable").tolist() if added[j] != 0.0]
    return {
        "number": number,
        "prediction": model.predict(row).tolist()[0],
        "score": float(_towards(found.scores, at)[0]),
        "probability": float(model.predict_proba(row)[0, at]),
        "intercept": float(_towards(np.asarray([found.intercept]), at)[0]),
        "contributions": [
            {"feature": found.feature_names[j], "value": _value(row.iloc[0, j]), "contribution": float(added[j])}
            for j in order
        ],
    }


def _shapes(
    model: BaseAdditiveClassifier, features: Sequence[int], positive: int, gaps: Collection[str] | None
) -> list[dict[str, Any]]:
    sign = 1.0 if positive == 1 else -1.0
    curves = model.shape_functions()
    return [_shape(curves[j], sign, gaps is None or curves[j].name in gaps) for j in features]


def _shape(curve: ShapeFunction, sign: float, has_gaps: bool) -> dict[str, Any]:
    y = (sign * curve.values).tolist()
    missing = float(sign * curve.missing) if has_gaps else None
    found: dict[str, Any] = {"feature": curve.name, "y": y, "missing": missing}
    if curve.thresholds is None:
        return {**found, "kind": "category", "labels": [str(label) for label in curve.categories or ()]}
    return {**found, "kind": "number", **_steps(curve.thresholds, y)}


def _steps(thresholds: NDArray[np.float64], y: list[float]) -> dict[str, list[float]]:
    """Where each value begins; the first a little before the first threshold, and the last ends as much after it."""
    if len(thresholds) == 0:
        return {"x": [0.0, 1.0], "y": [y[0], y[0]]}
    margin = 0.05 * float(thresholds[-1] - thresholds[0]) or abs(float(thresholds[0])) * 0.05 or 1.0
    x = [float(thresholds[0]) - margin, *thresholds.tolist(), float(thresholds[-1]) + margin]
    return {"x": x, "y": [*y, y[-1]]}


def _history(model: BaseAdditiveClassifier, positive: int) -> dict[str, list[Any]]:
    """Errors of the ensemble by class, and the weight of the rare class, after each round, on the training rows."""
    missed = 1.0 - model.history_["class_recall"]
    return {
        "round": list(range(1, len(missed) + 1)),
        "rare_error": missed[:, positive].tolist(),
        "common_error": missed[:, 1 - positive].tolist(),
        "balanced_error": missed.mean(axis=1).tolist(),
        "rare_weight": model.history_["class_weight"][:, positive].tolist(),
    }


def _towards(values: NDArray[Any], at: int) -> NDArray[Any]:
    """What speaks for a class: of two there is one number, for the second."""
    if values.ndim == 1:
        return values if at == 1 else -values
    return values[..., at]


def _value(cell: Any) -> Any:
    """A cell of a frame as plain data, None for missing."""
    return None if pd.isna(cell) else cell.item() if isinstance(cell, np.generic) else cell

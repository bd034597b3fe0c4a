"""Description of a fitted model as plain data, for reports."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.forest import n_bags
from adacc.model.explanations import ShapeFunction

SHAPES_MAX = 9
"""Maximum number of features whose shape functions are described."""

BACKGROUND_ROWS = 500
"""Maximum number of rows that the effects of trees are relative to."""


def cost_of_others(model: BaseAdditiveClassifier, positive: Any) -> float | None:
    """Cost of the negative class relative to the positive class; None without costs."""
    costs = model.get_params(deep=False).get("costs")
    if not isinstance(costs, dict) or not costs[positive]:
        return None
    (other,) = (cost for label, cost in costs.items() if label != positive)
    return float(other / costs[positive])


def describe_model(
    model: BaseAdditiveClassifier, positive: Any, gaps: Collection[str] | None = None, X: pd.DataFrame | None = None
) -> dict[str, Any]:
    """Importances, shape functions and training history of a model: ``"model"`` of a report.

    A model of more than two classes, whose `positive` is None, has importances only. Importances are those of
    `FittedModel.effect_shares`.

    Shape functions increase the score of the positive class where they are above 0; only those of the most important
    features are included. The value for missing values is included for the features in `gaps`; None: for all. Those of
    trees are main effects, relative to rows of X, of whose variance ``"main_share"`` is explained; without X, relative
    to the training rows, and the share is None. The rounds of a forest are summed over its bags, and it has no history.
    """
    at = None if positive is None else model.classes_.tolist().index(positive)
    names, shares = list(model.fitted_model_.column_names), model.fitted_model_.effect_shares()
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

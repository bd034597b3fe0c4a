"""Contributions of the features to the scores of rows, as plain data: of one row, of many, and of three examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.evaluation.explanations import explain, value_ranks

MANY_ROWS = 200
MANY_FEATURES = 12


def describe_contributions(
    model: BaseAdditiveClassifier, X: pd.DataFrame, y: NDArray[Any], positive: Any, seed: int = 0
) -> list[dict[str, Any]]:
    """Contributions of the most important features to the positive class, for random rows, half of each class.

    Each entry has the name of a feature, its mean absolute contribution to these rows, and for each row the
    contribution and the rank of the value among all rows, from 0 to 1 (None for categories and missing values).
    """
    rng, chosen = np.random.default_rng(seed), []
    for rows in (np.flatnonzero(y == positive), np.flatnonzero(y != positive)):
        chosen.append(rng.choice(rows, min(len(rows), MANY_ROWS // 2), replace=False))
    rows = np.sort(np.concatenate(chosen))
    at = model.classes_.tolist().index(positive)
    explained = explain(model, X.iloc[rows], X)
    added = _signed(explained.contributions, at)
    sizes = np.abs(added).mean(axis=0)
    order = [j for j in np.argsort(-sizes, kind="stable")[:MANY_FEATURES].tolist() if sizes[j] > 0.0]
    return [
        {
            "feature": explained.feature_names[j],
            "mean_absolute": float(sizes[j]),
            "contributions": [float(f"{value:.4g}") for value in added[:, j]],
            "levels": value_ranks(X.iloc[:, j])[rows].round(3).tolist(),
        }
        for j in order
    ]


def describe_examples(
    model: BaseAdditiveClassifier, X: pd.DataFrame, y: NDArray[Any], positive: Any, numbers: Sequence[int | None]
) -> list[dict[str, Any]]:
    """Up to three rows that the model was not fitted to: a clear positive, a borderline row and a missed positive.

    The entries are those of `describe_row`, with the ``"kind"`` of the example and whether the row is positive;
    `numbers` are the numbers of the rows.
    """
    at = model.classes_.tolist().index(positive)
    scores = _signed(model.decision_function(X), at)
    is_positive, found, predicted = y == positive, scores > 0.0, model.predict(X).tolist()
    candidates = {
        "clear positive": np.where(is_positive & found, -scores, np.inf),
        "borderline": np.abs(scores),
        "missed positive": np.where(is_positive & ~found, scores, np.inf),
    }
    examples, taken = [], set()
    for kind, cost in candidates.items():
        order = [row for row in np.argsort(cost, kind="stable")[:3].tolist() if np.isfinite(cost[row])]
        row = next((row for row in order if row not in taken), None)
        if row is not None:
            taken.add(row)
            examples.append(
                {
                    "kind": kind,
                    "is_positive": bool(is_positive[row]),
                    **describe_row(model, X.iloc[[row]], X, numbers[row], positive, predicted[row]),
                }
            )
    return examples


def describe_row(
    model: BaseAdditiveClassifier,
    row: pd.DataFrame,
    X: Any,
    number: int | None,
    label: Any,
    prediction: Any,
    background: Any = None,
) -> dict[str, Any]:
    """The exact contributions to the score of a row, a frame of one row: ``"row"`` of a report's model.

    The score is that of the class `label`; a binary model scores the other class below 0. If classes are boosted one
    against one, it is the score against the most likely of the other classes, ``"against"``. The intercept is the mean
    score of the background; without one, of the rows of X for stumps, and of the training rows for trees.
    """
    at, explanation = model.classes_.tolist().index(label), explain(model, row, X, background)
    against, select = None, partial(_for_class, at=at)
    if model.fitted_model_.pairs is not None:
        by_class = model.decision_function(row)[0]
        by_class[at] = -np.inf
        second = int(by_class.argmax())
        against, select = model.classes_.tolist()[second], partial(_for_pair, model.fitted_model_.pairs, (at, second))
    added = select(explanation.contributions[0])
    order = [j for j in np.argsort(-np.abs(added), kind="stable").tolist() if added[j] != 0.0]
    return {
        "number": number,
        "prediction": prediction,
        "against": against,
        "score": float(select(explanation.scores)[0]),
        "probability": float(model.predict_proba(row)[0, at]),
        "intercept": float(select(np.asarray([explanation.intercept]))[0]),
        "contributions": [
            {"feature": explanation.feature_names[j], "value": _value(row.iloc[0, j]), "contribution": float(added[j])}
            for j in order
        ],
    }


def _for_pair(pairs: list[tuple[int, int]], pair: tuple[int, int], values: NDArray[Any]) -> NDArray[Any]:
    """The values of the score of the first class against the second, from those of all pairs."""
    return values[..., pairs.index(pair)] if pair in pairs else -values[..., pairs.index(pair[::-1])]


def _for_class(values: NDArray[Any], at: int) -> NDArray[Any]:
    """Scores of a class; binary models store one number, the score of the second class."""
    return _signed(values, at) if values.ndim == 1 else values[..., at]


def _value(cell: Any) -> Any:
    """A cell of a frame as plain data; None if missing."""
    return None if pd.isna(cell) else cell.item() if isinstance(cell, np.generic) else cell


def _signed(values: NDArray[Any], at: int) -> NDArray[Any]:
    """Scores of two classes, or contributions to them, for the class `at`."""
    return values if at == 1 else -values

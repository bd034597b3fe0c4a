"""The measures of a comparison as scorers of a cost search, and predictions of fitted classifiers of adacc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.evaluation.measures import FORMATS, binary_measures, multiclass_measures
from adacc.evaluation.predictions import ClassPredictions, Predictions


def predictions_of_votes(model: BaseAdditiveClassifier, X: Any) -> Predictions | ClassPredictions:
    """Scores or classes, and probabilities, of a fitted classifier; its decision rule is not applied."""
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    positive = model.fitted_model_.positive_class
    if positive is None:
        return ClassPredictions(model.fitted_model_.ensemble.classes(scores), probabilities)
    return Predictions(scores if positive == 1 else -scores, probabilities[:, positive])


@dataclass(frozen=True)
class MeasureScorer:
    """A scorer for `CostSearchCV`: a measure by its name in a comparison, negated if low is good."""

    name: str

    def __call__(self, estimator: BaseAdditiveClassifier, X: Any, y: Any) -> float:
        found, true = predictions_of_votes(estimator, X), np.searchsorted(estimator.classes_, y)
        if isinstance(found, ClassPredictions):
            value = multiclass_measures(true, found.predicted, found.probabilities)[self.name]
        else:
            positive = true == estimator.fitted_model_.positive_class
            value = binary_measures(positive, found.scores > 0.0, found.scores, found.probabilities)[self.name]
        return float(-value if FORMATS[self.name].low_is_good else value)


def scoring_of(metric: str) -> str | MeasureScorer:
    """The `scoring` of a cost search for a measure of a comparison; F1 and macro F1 need no predictions."""
    return "f1" if metric in ("f1", "macro_f1") else MeasureScorer(metric)

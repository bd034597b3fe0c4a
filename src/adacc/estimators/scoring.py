"""Scores of a cost search: from a scikit-learn scorer, or, if possible, from the recall that boosting records."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    check_scoring,
    f1_score,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from adacc.algorithms.base import Array
from adacc.boosting.session import Trained
from adacc.boosting.settings import Settings
from adacc.data.training_set import TrainingSet
from adacc.metrics import f1_of_counts, share

CLASS_SCORES = {"f1": f1_score, "precision": precision_score, "recall": recall_score, "jaccard": jaccard_score}
"""Metrics of predictions for the positive of two classes; macro-averaged for more classes."""

RANKING_SCORES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "average_precision": (average_precision_score, {"response_method": ("decision_function", "predict_proba")}),
    "neg_brier_score": (brier_score_loss, {"response_method": "predict_proba", "greater_is_better": False}),
}
"""Metrics of scores or probabilities of the positive of two classes, with the options of their scorers."""


def read_scoring(scoring: Any, training_set: TrainingSet, estimator: Any) -> Callable[..., float]:
    """Make a scorer; metrics of one class refer to the positive class, or are macro averages for more classes."""
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(f"scoring must be one name or one scorer, got {scoring!r}")
    if len(training_set.classes) > 2:
        return check_scoring(estimator, scoring=f"{scoring}_macro" if scoring in CLASS_SCORES else scoring)
    positive = training_set.classes[1 - training_set.negative_class]
    if scoring in CLASS_SCORES:
        return make_scorer(CLASS_SCORES[scoring], pos_label=positive, zero_division=0.0)
    if scoring in RANKING_SCORES:
        metric, options = RANKING_SCORES[scoring]
        return make_scorer(metric, pos_label=positive, **options)
    return check_scoring(estimator, scoring=scoring)


def score(scorer: Callable[..., float], estimator: Any, X: Any, y: Any, weight: Any) -> float:
    """Score of the rows, with sample weights if the scorer takes them."""
    parameters = signature(scorer).parameters.values()
    weighted = any(each.name == "sample_weight" or each.kind is each.VAR_KEYWORD for each in parameters)
    value = scorer(estimator, X, y, **({"sample_weight": weight} if weighted and weight is not None else {}))
    if not isinstance(value, Real):
        raise TypeError(f"scoring must return a number, got {value!r}")
    return float(value)


def ranks(scores: Array) -> NDArray[np.int32]:
    """Rank of each score: 1 for the best, equal ranks for equal scores, and NaN last.

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([0.5, np.nan, 0.7, -np.inf, 0.7, np.nan]))
    array([3, 5, 1, 4, 1, 5], dtype=int32)
    """
    defined = ~np.isnan(scores)
    ranked = np.full(len(scores), defined.sum() + 1, dtype=np.int32)
    ranked[defined] = rankdata(-scores[defined], method="min")
    return ranked


class Counts(NamedTuple):
    """Weighted confusion matrix of two classes after each number of rounds."""

    true_positive: Array
    false_negative: Array
    false_positive: Array
    true_negative: Array

    @classmethod
    def of(cls, correct: Array, class_weight: Array, negative: int) -> Counts:
        """From the weight of the correct rows of each class (columns) and of all rows of each class."""
        wrong, positive = class_weight - correct, 1 - negative
        return cls(correct[:, positive], wrong[:, positive], wrong[:, negative], correct[:, negative])


BY_COUNTS: dict[str, Callable[[Counts], Array]] = {
    "f1": lambda c: f1_of_counts(c.true_positive, c.false_positive, c.false_negative),
    "precision": lambda c: share(c.true_positive, c.false_positive),
    "recall": lambda c: share(c.true_positive, c.false_negative),
    "accuracy": lambda c: share(c.true_positive + c.true_negative, c.false_positive + c.false_negative),
}
"""Metrics of two classes that are computed from the recorded recall, without predicting."""


def without_predicting(scoring: Any, training_set: TrainingSet, settings: Settings) -> Callable[[Counts], Array] | None:
    """The formula of a metric that needs no predictions; None if the metric or the settings require predictions.

    Predictions are required if calibrated probabilities decide, or if recall was recorded on out-of-bag rows only.
    """
    recorded = not settings.decides_by_probability and not settings.out_of_bag
    if len(training_set.classes) > 2 or not recorded or not isinstance(scoring, str):
        return None
    return BY_COUNTS.get(scoring)


def scores_by_counts(
    formula: Callable[[Counts], Array], trained: Trained, test: TrainingSet, rounds: list[int]
) -> Array:
    """Score after each number of rounds, from the recorded recall of each class."""
    recall = trained.ensemble.history["class_recall"] if trained.held_out_recall is None else trained.held_out_recall
    recall = recall[np.minimum(rounds, len(recall)) - 1]
    return formula(Counts.of(recall * test.rows.class_weight, test.rows.class_weight, test.negative_class))

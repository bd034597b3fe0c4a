"""How a search scores its models: by a scikit-learn scorer, or, where that is enough, by what boosting notes itself."""

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

OF_DECISIONS = {"f1": f1_score, "precision": precision_score, "recall": recall_score, "jaccard": jaccard_score}
"""Scores of the decisions for the positive of two classes; of more, scikit-learn has their macro averages."""

OF_SCORES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "average_precision": (average_precision_score, {"response_method": ("decision_function", "predict_proba")}),
    "neg_brier_score": (brier_score_loss, {"response_method": "predict_proba", "greater_is_better": False}),
}
"""Scores of the scores or probabilities of the positive of two classes, and what a scorer must know of them."""


def read_scoring(scoring: Any, training_set: TrainingSet, estimator: Any) -> Callable[..., float]:
    """The scorer for what a user gave; the scores of one class are those of the positive class, or macro averages."""
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(f"scoring must be one name or one scorer, got {scoring!r}")
    if len(training_set.classes) > 2:
        return check_scoring(estimator, scoring=f"{scoring}_macro" if scoring in OF_DECISIONS else scoring)
    positive = training_set.classes[1 - training_set.negative_class]
    if scoring in OF_DECISIONS:
        return make_scorer(OF_DECISIONS[scoring], pos_label=positive, zero_division=0.0)
    if scoring in OF_SCORES:
        metric, options = OF_SCORES[scoring]
        return make_scorer(metric, pos_label=positive, **options)
    return check_scoring(estimator, scoring=scoring)


def score(scorer: Callable[..., float], estimator: Any, X: Any, y: Any, weight: Any) -> float:
    """The score of rows, weighted where the scorer can."""
    takes = signature(scorer).parameters.values()
    weighted = any(each.name == "sample_weight" or each.kind is each.VAR_KEYWORD for each in takes)
    value = scorer(estimator, X, y, **({"sample_weight": weight} if weighted and weight is not None else {}))
    if not isinstance(value, Real):
        raise TypeError(f"scoring must give a number, got {value!r}")
    return float(value)


def ranks(scores: Array) -> NDArray[np.int32]:
    """Rank of each score, 1 for the best and the same for equal ones; NaN comes after all others.

    Examples
    --------
    >>> import numpy as np
    >>> ranks(np.array([0.5, np.nan, 0.7, -np.inf, 0.7, np.nan]))
    array([3, 5, 1, 4, 1, 5], dtype=int32)
    """
    defined = ~np.isnan(scores)
    found = np.full(len(scores), defined.sum() + 1, dtype=np.int32)
    found[defined] = rankdata(-scores[defined], method="min")
    return found


class Counts(NamedTuple):
    """Weight of the rows of two classes that are decided rightly and wrongly, after each number of rounds."""

    true_positive: Array
    false_negative: Array
    false_positive: Array
    true_negative: Array


BY_COUNTS: dict[str, Callable[[Counts], Array]] = {
    "f1": lambda c: _share(2 * c.true_positive, c.false_positive + c.false_negative),
    "precision": lambda c: _share(c.true_positive, c.false_positive),
    "recall": lambda c: _share(c.true_positive, c.false_negative),
    "accuracy": lambda c: _share(c.true_positive + c.true_negative, c.false_positive + c.false_negative),
}
"""Scores that follow from what boosting notes of every round, for two classes: nothing need be predicted for them."""


def _share(part: Array, rest: Array) -> Array:
    """Part of the whole; 0 of nothing."""
    return np.divide(part, part + rest, out=np.zeros_like(part), where=part + rest > 0.0)


def without_predicting(scoring: Any, training_set: TrainingSet, settings: Settings) -> Callable[[Counts], Array] | None:
    """How to score without predicting; None where it takes predictions, as of calibrated probabilities that decide, or
    of rows whose recall was noted only while they were out of the bags.
    """
    noted = not settings.decides_by_probability and not settings.out_of_bag
    if len(training_set.classes) > 2 or not noted or not isinstance(scoring, str):
        return None
    return BY_COUNTS.get(scoring)


def scores_by_counts(
    formula: Callable[[Counts], Array], trained: Trained, judged: TrainingSet, rounds: list[int]
) -> Array:
    """The score after each number of rounds, from the recall of each class that boosting noted."""
    recall = trained.ensemble.history["class_recall"] if trained.held_out_recall is None else trained.held_out_recall
    recall = recall[np.minimum(rounds, len(recall)) - 1]
    right = recall * judged.rows.class_weight
    wrong = judged.rows.class_weight - right
    negative, positive = judged.negative_class, 1 - judged.negative_class
    return formula(Counts(right[:, positive], wrong[:, positive], wrong[:, negative], right[:, negative]))

"""Why a row is predicted to be of its class: the decision rule, the number that it compares, and the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.data.calendar_days import read_days
from adacc.estimators.base import BaseAdditiveClassifier, read_known
from adacc.model.decision import Decision, alert_probability, read_costs
from adacc.model.fitted import FittedModel


@dataclass(frozen=True)
class RowDecision:
    """The decision on one row.

    Attributes
    ----------
    prediction : label
        The predicted class.
    reason : str
        A sentence with the rule, the threshold and the costs that apply to the row.
    threshold : float or None
        Two classes: the score of the positive class from which, or without a rule above which, it is predicted; None if
        the rule does not compare the score with a threshold.
    """

    prediction: Any
    reason: str
    threshold: float | None = None


def decide_row(
    model: BaseAdditiveClassifier, X: Any, position: int, columns: Mapping[str, NDArray[Any]] | None = None
) -> RowDecision:
    """The decision on the row of X at `position`; `columns` are those that the decision rule names.

    X are all rows that are predicted together, which matters for rules that rank them.
    """
    fitted, columns = model.fitted_model_, columns or {}
    scores = fitted.scores(read_known(model, X))
    prediction = fitted.predicted(scores, columns).tolist()[position]
    if fitted.positive_class is None:
        return RowDecision(prediction, _reason_of_several(fitted, scores[[position]]))
    label = fitted.classes.tolist()[fitted.positive_class]
    decision, score = fitted.decision, float(fitted.positive_scores(scores)[position])
    if decision is None:
        at = f"a score above 0 (a probability of {percent(fitted.probability_at(0.0))})"
        return RowDecision(prediction, f"The model predicts {label} at {at}; the score is {score:.4g}.", 0.0)
    rule = f"The decision rule {decision.rule} predicts {label}"
    if decision.spec.is_ranked:
        return RowDecision(prediction, f"{rule} for {_rank(fitted, decision, scores, position, columns)}.")
    assert decision.threshold is not None
    if decision.spec.by_probability:
        p = percent(float(fitted.probabilities(scores)[position, fitted.positive_class]))
        where, costs = _probability_threshold(decision, position, columns)
        return RowDecision(prediction, f"{rule} {where}; the probability is {p}.{costs}")
    at = f"{decision.threshold:.4g} on (a probability of {percent(fitted.probability_at(decision.threshold))})"
    return RowDecision(prediction, f"{rule} from a score of {at}; the score is {score:.4g}.", decision.threshold)


def percent(p: float) -> str:
    """A probability in per cent, with three significant digits.

    Examples
    --------
    >>> percent(0.12345), percent(0.00012), percent(1.0)
    ('12.3%', '0.012%', '100%')
    """
    return f"{100 * p:.3g}%"


def _reason_of_several(fitted: FittedModel, scores: NDArray[np.float64]) -> str:
    """The reason of a decision among more than two classes; `scores` are those of one row."""
    if fitted.decision is None:
        return "The class of the highest score is predicted, which is not always the most probable one."
    costs = fitted.probabilities(scores)[0] @ np.array(fitted.decision.spec.costs)
    each = ", ".join(f"{cost:.4g} for {label}" for label, cost in zip(fitted.classes.tolist(), costs, strict=True))
    return f"The decision rule {fitted.decision.rule} predicts the class of the lowest expected cost: {each}."


def _rank(
    fitted: FittedModel, decision: Decision, scores: Any, position: int, columns: Mapping[str, NDArray[Any]]
) -> str:
    """The rank of a row among all rows, or among those of its day; of equal scores the first rows come first."""
    day_of, ranked = decision.spec.day_of, fitted.positive_scores(scores)
    together = np.ones(len(ranked), dtype=bool)
    if day_of is not None:
        days = read_days(columns[day_of], f"the column {day_of!r}")
        together = days == days[position]
    earlier = np.arange(len(ranked)) < position
    rank = 1 + np.count_nonzero(together & ((ranked > ranked[position]) | (earlier & (ranked == ranked[position]))))
    of_day = "" if day_of is None else f" of the same day in {day_of}"
    return f"the {decision.spec.value:,.0f} highest scores; this one has rank {rank:,} of {together.sum():,}{of_day}"


def _probability_threshold(decision: Decision, position: int, columns: Mapping[str, NDArray[Any]]) -> tuple[str, str]:
    """From which probability on a row is predicted positive, and the sentence about its costs, if it has some."""
    assert decision.threshold is not None
    if decision.spec.kind != "row_cost":
        return f"from a probability of {percent(decision.threshold)} on", ""
    of_rows = (read_costs(each, columns) for each in (decision.spec.fn, decision.spec.fp))
    fn, fp = (float(each[position]) if isinstance(each, np.ndarray) else each for each in of_rows)
    costs = f" For this row a false negative costs {fn:,.4g} and a false positive {fp:,.4g}."
    least = alert_probability(fn, fp, decision.threshold)
    return ("at no probability" if least is None else f"from a probability of {percent(least)} on"), costs

"""RareBoost-1: positive and negative predictions have different votes [Joshi et al. 2001]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adacc.algorithms.base import ROUNDING, Array, Rule, factor_matrix, half_log_odds, right_and_wrong


@dataclass(frozen=True)
class RareBoost(Rule):
    """One vote per predicted class, from the precision of that prediction.

    alpha_p = ½(ln(W[p,p] / Σ_{t≠p} W[t,p]) + ln(K-1)),   D <- D · exp(∓alpha_p)

    Boosting ends if a prediction is worse than chance (two classes: TP < FP or TN < FN).
    """

    def vote(self, W: Array, costs: Array) -> Any:
        return votes_by_prediction(W)

    def factors(self, alpha: Any, costs: Array) -> Array:
        return factors_by_prediction(alpha, len(costs))


def votes_by_prediction(W: Array) -> Any:
    """½(ln(W[p,p] / Σ_{t≠p} W[t,p]) + ln(K-1)) by predicted class p; None if one of these is negative, or all
    predictions together are no better than chance.
    """
    if half_log_odds(*right_and_wrong(W), len(W)) is None:
        return None
    right = np.diag(W)
    wrong = np.where(np.eye(len(W), dtype=bool), 0.0, W).sum(axis=0)
    wrong[wrong <= ROUNDING * right] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 0.5 * np.log(right / wrong * (len(W) - 1))
    alpha[right + wrong == 0.0] = 0.0  # a class that is never predicted
    return None if alpha.min() < -ROUNDING else np.maximum(alpha, 0.0)


def factors_by_prediction(alpha: Any, n_classes: int) -> Array:
    """``F`` for votes by predicted class: the factors of errors depend on the predicted class too."""
    return factor_matrix(np.exp(-alpha), np.exp(alpha), n_classes).T.copy()

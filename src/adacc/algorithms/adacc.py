"""AdaCC: the costs follow the cumulative error rates of the ensemble [Iosifidis et al. 2022]."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from adacc.algorithms.base import ROUNDING, Array, Rule, factor_matrix, half_log_odds, right_and_wrong


@dataclass(frozen=True)
class AdaCC2(Rule):
    """Cumulative cost outside the exponent.

    D <- D · exp(-alpha) right, C·exp(alpha) wrong,   C_k = 1 + err_k where class k errs above average, else 1

    ``err_k`` is the error rate of the ensemble so far, this round included, on class k. ``alpha="error"``: AdaBoost's
    ½ ln((1-e)/e); ``"cost"``: the printed ½ ln(Σ_right D / Σ_wrong C·D), with C from the provisional vote for C = 1.
    """

    alpha: str = "error"

    costs_follow = "ensemble"
    bounded = True

    @property
    def costs_vote(self) -> bool:
        return self.alpha == "cost" or type(self).vote is not AdaCC2.vote

    def round_costs(self, rates: Array) -> Array:
        each = rates.tolist()
        average = sum(each) / len(each)
        return np.array([1.0 + rate if rate > average + ROUNDING / 2 else 1.0 for rate in each])

    def vote(self, W: Array, costs: Array) -> Any:
        if self.alpha == "error":
            return super().vote(W, costs)
        return self._cost_vote(*right_and_wrong(factor_matrix(1.0, costs, len(W)) * W), len(W))

    def _cost_vote(self, r: float, w: float, n_classes: int) -> float | None:
        return half_log_odds(r, w, n_classes)

    def factors(self, alpha: Any, costs: Array) -> Array:
        return factor_matrix(exp(-alpha), costs * exp(alpha), len(costs))


@dataclass(frozen=True)
class AdaCC1(AdaCC2):
    """Cumulative cost inside the exponent.

    D <- D · exp(-alpha) right, exp(C·alpha) wrong,   C as in AdaCC2

    ``alpha="cost"``: the printed ½ ln((1+r-w)/(1-r+w)), r = Σ_right D, w = Σ_wrong C·D.
    Authors' dialect: wrong rows · exp(2·C·alpha), the others unchanged.
    """

    def _cost_vote(self, r: float, w: float, n_classes: int) -> float | None:
        return half_log_odds(1.0 + r - w, 1.0 - r + w, n_classes)

    def factors(self, alpha: Any, costs: Array) -> Array:
        if self.dialect == "authors":
            return factor_matrix(1.0, np.exp(2.0 * costs * alpha), len(costs))
        return factor_matrix(exp(-alpha), [exp(cost * alpha) for cost in costs.tolist()], len(costs))


@dataclass(frozen=True)
class AdaNCC1(AdaCC1):
    """AdaCC1 without cumulation: C from the error rates of the weak learner of the round."""

    costs_follow = "learner"


@dataclass(frozen=True)
class AdaNCC2(AdaCC2):
    """AdaCC2 without cumulation: C from the error rates of the weak learner of the round."""

    costs_follow = "learner"

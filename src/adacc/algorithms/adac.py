"""AdaC1, AdaC2, AdaC3: the cost inside the exponent, outside it, and both [Sun et al. 2007]."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from adacc.algorithms.base import Array, CostSums, Rule, half_log_odds, right_and_wrong, weigh_costs


@dataclass(frozen=True)
class AdaC1(Rule):
    """Cost inside the exponent.

    alpha = ½ ln((1+r-w)/(1-r+w)), r, w = Σ c·D right, wrong;   D_1 = c,   D <- D · exp(∓c·alpha)

    Authors' dialect: alpha = ½ ln(r/w), wrong rows · exp(c·alpha), the others unchanged.
    """

    uses_costs = True
    takes_row_costs = True

    def initial(self, costs: Array) -> Array:
        return costs

    def vote(self, W: Array, costs: Array | CostSums) -> Any:
        r, w = right_and_wrong(weigh_costs(W, costs))
        if self.dialect == "authors":
            return half_log_odds(r, w, len(W))
        return half_log_odds(1.0 + r - w, 1.0 - r + w, len(W))

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        wrong = np.exp(costs * alpha)
        return 1.0 if self.dialect == "authors" else 1.0 / wrong, wrong


@dataclass(frozen=True)
class AdaC2(Rule):
    """Cost outside the exponent.

    alpha = ½ ln(r/w), r, w = Σ c·D right, wrong;   D_1 = c,   D <- D · c · exp(∓alpha)
    """

    uses_costs = True
    takes_row_costs = True

    def initial(self, costs: Array) -> Array:
        return costs

    def vote(self, W: Array, costs: Array | CostSums) -> Any:
        return half_log_odds(*right_and_wrong(weigh_costs(W, costs)), len(W))

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        return costs * exp(-alpha), costs * exp(alpha)


@dataclass(frozen=True)
class AdaC3(AdaC1):
    """Cost inside the exponent and outside it.

    alpha = ½ ln((s+r-w)/(s-r+w)), s = Σ c·D, r, w = Σ c²·D right, wrong;   D_1 = c,   D <- D · c · exp(∓c·alpha)

    Authors' dialect: all rows · c, wrong rows · exp(c·alpha) besides.
    """

    def vote(self, W: Array, costs: Array | CostSums) -> Any:
        s = weigh_costs(W, costs).sum()
        r, w = right_and_wrong(weigh_costs(W, costs, power=2))
        return half_log_odds(s + r - w, s - r + w, len(W))

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        right, wrong = super().factors_by_outcome(alpha, costs)
        return costs * right, costs * wrong

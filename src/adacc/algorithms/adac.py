"""AdaC1, AdaC2, AdaC3: the cost inside the exponent, outside it, and both [Sun et al. 2007]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adacc.algorithms.base import Array, Rule, factor_matrix, half_log_odds, right_and_wrong


@dataclass(frozen=True)
class AdaC1(Rule):
    """Cost inside the exponent.

    alpha = ½ ln((1+r-w)/(1-r+w)), r, w = Σ c·D right, wrong;   D_1 = c,   D <- D · exp(∓c·alpha)

    Authors' dialect: alpha = ½ ln(r/w), wrong rows · exp(c·alpha), the others unchanged.
    """

    uses_costs = True

    def initial(self, costs: Array) -> Array:
        return costs

    def vote(self, W: Array, costs: Array) -> Any:
        r, w = right_and_wrong(costs[:, None] * W)
        if self.dialect == "authors":
            return half_log_odds(r, w, len(W))
        return half_log_odds(1.0 + r - w, 1.0 - r + w, len(W))

    def factors(self, alpha: Any, costs: Array) -> Array:
        wrong = np.exp(costs * alpha)
        return factor_matrix(1.0 if self.dialect == "authors" else 1.0 / wrong, wrong, len(costs))


@dataclass(frozen=True)
class AdaC2(Rule):
    """Cost outside the exponent.

    alpha = ½ ln(r/w), r, w = Σ c·D right, wrong;   D_1 = c,   D <- D · c · exp(∓alpha)
    """

    uses_costs = True

    def initial(self, costs: Array) -> Array:
        return costs

    def vote(self, W: Array, costs: Array) -> Any:
        return half_log_odds(*right_and_wrong(costs[:, None] * W), len(W))

    def factors(self, alpha: Any, costs: Array) -> Array:
        return costs[:, None] * super().factors(alpha, costs)


@dataclass(frozen=True)
class AdaC3(AdaC1):
    """Cost inside the exponent and outside it.

    alpha = ½ ln((s+r-w)/(s-r+w)), s = Σ c·D, r, w = Σ c²·D right, wrong;   D_1 = c,   D <- D · c · exp(∓c·alpha)

    Authors' dialect: all rows · c, wrong rows · exp(c·alpha) besides.
    """

    def vote(self, W: Array, costs: Array) -> Any:
        weighted = costs[:, None] * W
        s = weighted.sum()
        r, w = right_and_wrong(costs[:, None] * weighted)
        return half_log_odds(s + r - w, s - r + w, len(W))

    def factors(self, alpha: Any, costs: Array) -> Array:
        return costs[:, None] * super().factors(alpha, costs)

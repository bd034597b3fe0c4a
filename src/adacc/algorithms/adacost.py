"""AdaCost: the cost adjusts the exponent, upwards for errors and downwards for successes [Fan et al. 1999]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adacc.algorithms.base import (
    Array,
    CostSums,
    Rule,
    factor_matrix,
    half_log_odds,
    right_and_wrong,
    weigh_costs,
)


@dataclass(frozen=True)
class AdaCost(Rule):
    """Cost inside the exponent through β.

    D_1 = c,   D <- D · exp(-alpha·β_r) right, exp(alpha·β_w) wrong,   β_r = ½-½c, β_w = ½+½c

    ``alpha="error"``: AdaBoost's; ``"cost"``: the original ½ ln((1+ρ)/(1-ρ)), ρ = Σ_right β_r·D - Σ_wrong β_w·D.
    Authors' dialect: the costs of the two classes swapped, wrong rows · exp(2·alpha·β_r), the others unchanged.
    """

    alpha: str = "error"

    uses_costs = True

    @property
    def takes_row_costs(self) -> bool:  # type: ignore[override]
        return self.dialect == "paper"  # the other one swaps the costs of classes

    def initial(self, costs: Array) -> Array:
        return costs

    def vote(self, W: Array, costs: Array | CostSums) -> Any:
        if self.alpha == "error":
            return super().vote(W, costs)
        if isinstance(costs, CostSums):
            (r, w), (r_cost, w_cost) = right_and_wrong(W), right_and_wrong(weigh_costs(W, costs))
            rho = 0.5 * (r - r_cost) - 0.5 * (w + w_cost)
            return half_log_odds(1.0 + rho, 1.0 - rho, len(W))
        beta_right, beta_wrong = _betas(costs, self.dialect)
        rho = (factor_matrix(beta_right, -beta_wrong, len(W)) * W).sum()
        return half_log_odds(1.0 + rho, 1.0 - rho, len(W))

    def factors(self, alpha: Any, costs: Array) -> Array:
        return np.exp(alpha * _exponents(tuple(costs.tolist()), self.dialect))

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        beta_right, beta_wrong = _betas(costs, self.dialect)
        return np.exp(-alpha * beta_right), np.exp(alpha * beta_wrong)


@lru_cache
def _exponents(costs: tuple[float, ...], dialect: str) -> Array:
    """Exponents of the factors for a vote of 1, which are the same in every round."""
    beta_right, beta_wrong = _betas(np.array(costs), dialect)
    if dialect == "authors":
        return factor_matrix(0.0, 2.0 * beta_right, len(costs))
    return factor_matrix(-beta_right, beta_wrong, len(costs))


def _betas(costs: Array, dialect: str) -> tuple[Array, Array]:
    if dialect == "authors":
        costs = costs.min() + costs.max() - costs  # the swap, for any number of classes
    return 0.5 - 0.5 * costs, 0.5 + 0.5 * costs

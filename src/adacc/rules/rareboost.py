"""RareBoost-1: positive and negative predictions vote with different strength [Joshi et al. 2001]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adacc.rules.base import ROUNDING, Array, Rule, factor_matrix


@dataclass(frozen=True)
class RareBoost(Rule):
    """One vote per predicted class, from the precision of that prediction.

    alpha_p = ½(ln(W[p,p] / Σ_{t≠p} W[t,p]) + ln(K-1)),   D <- D · exp(∓alpha_p)

    Ends where a prediction is wrong more often than chance (binary: TP < FP or TN < FN).
    """

    def vote(self, W: Array, costs: Array) -> Any:
        if super().vote(W, costs) is None:
            return None
        right = np.diag(W)
        wrong = np.where(np.eye(len(W), dtype=bool), 0.0, W).sum(axis=0)
        wrong[wrong <= ROUNDING * right] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = 0.5 * np.log(right / wrong * (len(W) - 1))
        alpha[right + wrong == 0.0] = 0.0  # a class nobody is predicted as
        return None if alpha.min() < -ROUNDING else np.maximum(alpha, 0.0)

    def factors(self, alpha: Any, costs: Array) -> Array:
        # The transpose: here the factor of an error goes by the predicted class, not by the true one.
        return factor_matrix(np.exp(-alpha), np.exp(alpha), len(costs)).T.copy()

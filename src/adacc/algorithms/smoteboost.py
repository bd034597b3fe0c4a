"""The formulas of SMOTEBoost; a sampler generates its synthetic rows [Chawla et al. 2003]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adacc.algorithms.adaboost import AdaBoost
from adacc.algorithms.base import Array
from adacc.algorithms.rareboost import factors_by_prediction, votes_by_prediction


@dataclass(frozen=True)
class SMOTEBoost(AdaBoost):
    """AdaBoost with synthetic rows for the weak learner.

    alpha = ½ ln((1-e)/e),   D <- D · exp(∓alpha);   authors' dialect: alpha_p = ½ ln(W[p,p] / Σ_{t≠p} W[t,p]) by
    predicted class p, with synthetic rows that stay and count in ``W``

    The paper's row fits the public code at github.com/dialnd/imbalanced-algorithms (smote.py), whose default is SAMME.R
    [Zhu et al. 2009]: a leaf votes ½ ln(p/(1-p)) for the share p of its weight. For a stump whose leaves
    predict different classes that is alpha_p. Where both leaves predict the same class SAMME.R tells them apart, and
    this rule does not.
    """

    bounded = False

    @property
    def keeps_synthetic_rows(self) -> bool:
        return self.dialect == "authors"

    def vote(self, W: Array, costs: Array) -> Any:
        return votes_by_prediction(W) if self.dialect == "authors" else super().vote(W, costs)

    def factors(self, alpha: Any, costs: Array) -> Array:
        if self.dialect == "authors":
            return factors_by_prediction(alpha, len(costs))
        return super().factors(alpha, costs)

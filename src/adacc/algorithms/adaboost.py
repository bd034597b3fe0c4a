"""AdaBoost, and two methods that apply costs before the first round (CGAda) or after the last (AdaMEC)."""

from __future__ import annotations

from dataclasses import dataclass

from adacc.algorithms.base import Array, Rule


@dataclass(frozen=True)
class AdaBoost(Rule):
    """Boosting without costs [Freund & Schapire 1997; K classes as in Zhu et al. 2009].

    alpha = ½ ln((1-e)/e),   D <- D · exp(∓alpha)

    Copy this class to start a new method; the formulas are those of the base class.
    """

    bounded = True


@dataclass(frozen=True)
class CGAda(AdaBoost):
    """Costs in the initial weights, then AdaBoost [Landesa-Vázquez & Alba-Castro 2012].

    D_1 = c / Σc
    """

    uses_costs = True
    takes_row_costs = True

    def initial(self, costs: Array) -> Array:
        return costs


@dataclass(frozen=True)
class AdaMEC(AdaBoost):
    """AdaBoost, then the class of minimum expected cost [Ting 2000; Nikolaou et al. 2016].

    class k where c_k·S_k is largest, S_k = summed votes for k

    AdaBoost's bound of the training error holds for the vote sums, not for the cost-weighted decision.
    """

    uses_costs = True
    costs_decide_only = True
    bounded = False

    def decision(self, costs: Array) -> Array:
        return costs

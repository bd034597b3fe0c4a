"""CSB1 and CSB2: the cost multiplies the weight, outside the exponent [Ting 2000]."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from adacc.algorithms.base import Array, Rule


@dataclass(frozen=True)
class CSB2(Rule):
    """Cost times AdaBoost's update.

    D_1 = c,   D <- D · c · exp(∓alpha)

    The paper multiplies every row by its cost (``costs_on="all"``), Ting's original the misclassified rows only
    (``costs_on="errors"``).
    """

    costs_on: str = "all"

    uses_costs = True
    takes_row_costs = True

    def initial(self, costs: Array) -> Array:
        return costs

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        right = costs if self.costs_on == "all" else 1.0
        return right * exp(-alpha), costs * exp(alpha)


@dataclass(frozen=True)
class CSB1(CSB2):
    """CSB2 with alpha = 1 in the update.

    D_1 = c,   D <- D · c · exp(∓1);   authors' dialect: wrong rows · exp(c), the others unchanged
    """

    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        if self.dialect == "authors":
            return 1.0, np.exp(costs)
        return super().factors_by_outcome(1.0, costs)

"""What a method of the family is: a handful of formulas on K×K numbers.

A rule never sees a row. Each round the engine hands it ``W``, the weight of the rows of true class ``t`` that the
weak learner predicts as ``p``, and the rule answers with a vote and with the factors ``F[t, p]`` by which the rows'
weights are multiplied. Everything else (learners, rows, threads) belongs to the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import exp, inf, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUNDING = 1e-10
"""Votes, vote sums and odds closer than this are equal: what is left between them is rounding, not information.

Without it a tie would be decided by the order in which rows were added up.
"""


@dataclass(frozen=True)
class Rule:
    """One boosting method: override what differs from AdaBoost.

    The fields of a rule are its options. ``dialect`` is one that every rule has: ``"paper"`` for the formulas as
    printed, ``"authors"`` for those of the code behind the published tables, where the two differ.

    Attributes
    ----------
    uses_costs : bool
        Whether the user's cost per class takes part.
    costs_follow : {None, "ensemble", "learner"}
        Whose error rates set the costs of a round, for the methods that find their costs themselves.
    costs_decide_only : bool
        Whether the costs take part in nothing but the decision, so that models of all costs have the same rounds.
    bounded : bool
        Whether the running product of the normalisers bounds the training error: true where every factor is at least
        AdaBoost's for the same vote.
    """

    dialect: str = "paper"

    uses_costs: ClassVar[bool] = False
    costs_follow: ClassVar[str | None] = None
    costs_decide_only: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    allowed: ClassVar[dict[str, tuple[str, ...]]] = {
        "dialect": ("paper", "authors"),
        "alpha": ("error", "cost"),
        "costs_on": ("all", "errors"),
    }

    def __post_init__(self) -> None:
        for field in fields(self):
            value, allowed = getattr(self, field.name), self.allowed.get(field.name)
            if allowed and value not in allowed:
                names = " or ".join(repr(name) for name in allowed)
                raise ValueError(f"{field.name} must be {names}, got {value!r}")

    def initial(self, costs: Array) -> Array:
        """Weight of a row of each class before the first round, up to a common factor."""
        return np.ones_like(costs)

    def vote(self, W: Array, costs: Array) -> Any:
        """Vote of the round: one number, or one for each predicted class; None if it is no better than chance."""
        return half_log_odds(*right_and_wrong(W), len(W))

    def factors(self, alpha: Any, costs: Array) -> Array:
        """``F[t, p]``, by which a row of class t that is predicted p is multiplied."""
        return factor_matrix(exp(-alpha), exp(alpha), len(costs))

    @property
    def costs_vote(self) -> bool:
        """Whether the vote is made again once the costs of the round are known: asked for where ``costs_follow`` is."""
        return True

    def round_costs(self, rates: Array) -> Array:
        """Cost of an error of each class, from the classes' error rates: asked for where ``costs_follow`` is set."""
        return np.ones_like(rates)

    def decision(self, costs: Array) -> Array:
        """What the votes for each class are multiplied by in the final decision."""
        return np.ones_like(costs)


def right_and_wrong(W: Array) -> tuple[float, float]:
    """Weight of the rows predicted rightly and wrongly, each summed by itself: a difference would lose small ones."""
    if len(W) == 2:  # as nearly always, and asked for every round
        (true_0, false_0), (false_1, true_1) = W.tolist()
        return true_0 + true_1, false_0 + false_1
    masses, step = W.ravel().tolist(), len(W) + 1
    right = sum(masses[::step])
    del masses[::step]
    return right, sum(masses)


def half_log_odds(right: float, wrong: float, n_classes: int) -> float | None:
    """½(ln(right / wrong) + ln(K-1)); infinite if nothing is wrong, None if no better than chance."""
    if right <= 0.0:
        return None
    if wrong <= ROUNDING * right:
        return inf
    alpha = 0.5 * log(right / wrong * (n_classes - 1))
    return alpha if alpha > ROUNDING else None


def factor_matrix(right: Any, wrong: Any, n_classes: int) -> Array:
    """``F`` with `right` on the diagonal and `wrong` off it; each a number or one number per true class."""
    if n_classes == 2:  # as nearly always, and asked for every round
        (right_0, right_1), (wrong_0, wrong_1) = _of_two(right), _of_two(wrong)
        return np.array(((right_0, wrong_0), (wrong_1, right_1)))
    F = np.empty((n_classes, n_classes))
    F.T[:] = wrong
    F.flat[:: n_classes + 1] = right
    return F


def _of_two(numbers: Any) -> Sequence[float]:
    if isinstance(numbers, float):
        return numbers, numbers
    return numbers.tolist() if isinstance(numbers, np.ndarray) else numbers

"""The base class of boosting methods: a few formulas on K×K numbers.

A rule has no access to rows. In each round it receives ``W``, where ``W[t, p]`` is the weight of the rows of class
``t`` that the weak learner predicts as ``p``. It returns a vote, and the factors ``F[t, p]`` by which the weights of
these rows are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import exp, inf, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adacc.docstrings import described

Array = NDArray[np.float64]

ARGUMENTS = {
    "W": "ndarray of shape (n_classes, n_classes)\n    Weight of the rows of each (true, predicted) pair of classes.",
    "alpha": "float or ndarray of shape (n_classes,)\n    The vote of the round.",
    "costs": """ndarray of shape (n_classes,)
    Cost of each class. With costs by row, `vote` receives `CostSums`, and `initial` and `factors_by_outcome` the costs
    of all rows.""",
    "rates": "ndarray of shape (n_classes,)\n    Error rate of each class.",
}
"""Descriptions of the arguments of a rule's formulas."""


@dataclass(frozen=True)
class CostSums:
    """Σ c^power·D over the rows of each (true, predicted) pair, for costs c by row.

    It takes the place of the costs by class in `Rule.vote`: a vote is a function of such sums (`weigh_costs`).
    """

    of_power: Callable[[int], Array]


ROUNDING = 1e-10
"""Votes, vote sums and odds that differ by less are equal. Otherwise the order of summation would decide ties."""


@dataclass(frozen=True)
class Rule:
    """A boosting method; override what differs from AdaBoost.

    The fields of a rule are its options.

    Parameters
    ----------
    dialect : {"paper", "authors"}, default="paper"
        The printed formulas, or those of the code behind the published tables, if the two differ.

    Attributes
    ----------
    uses_costs : bool
        Whether the method uses the costs given by the user.
    costs_follow : {None, "ensemble", "learner"}
        Whose error rates determine the costs of a round, for methods that compute their costs.
    costs_decide_only : bool
        Whether the costs are used in the decision only, so that the rounds are the same for all costs.
    takes_row_costs : bool
        Whether the formulas also hold for costs by row: `initial` and `factors_by_outcome` compute by element, and
        `vote` accepts `CostSums`.
    bounded : bool
        Whether the product of the normalisers bounds the training error. This holds if every factor is at least that
        of AdaBoost for the same vote.
    """

    dialect: str = "paper"

    uses_costs: ClassVar[bool] = False
    costs_follow: ClassVar[str | None] = None
    costs_decide_only: ClassVar[bool] = False
    takes_row_costs: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    allowed: ClassVar[dict[str, tuple[str, ...]]] = {
        "dialect": ("paper", "authors"),
        "alpha": ("error", "cost"),
        "costs_on": ("all", "errors"),
    }

    def __post_init__(self) -> None:
        for field in fields(self):
            value, allowed = getattr(self, field.name), self.allowed.get(field.name)
            if allowed and not (isinstance(value, str) and value in allowed):
                names = " or ".join(repr(name) for name in allowed)
                raise ValueError(f"{field.name} must be {names}, got {value!r:.80}")

    @described(ARGUMENTS, returns="ndarray of shape (n_classes,)")
    def initial(self, costs: Array) -> Array:
        """Weight of a row of each class before the first round, up to a common factor."""
        return np.ones_like(costs)

    @described(ARGUMENTS, returns="float, ndarray of shape (n_classes,) or None")
    def vote(self, W: Array, costs: Any) -> Any:
        """Vote of the round: one number, or one per predicted class; None if the learner is no better than chance."""
        return half_log_odds(*right_and_wrong(W), len(W))

    @described(ARGUMENTS, returns="ndarray of shape (n_classes, n_classes)")
    def factors(self, alpha: Any, costs: Array) -> Array:
        """``F[t, p]``, the factor of the weight of a row of class t that is predicted as p."""
        return factor_matrix(*self.factors_by_outcome(alpha, costs), len(costs))

    @described(ARGUMENTS, returns="right, wrong : float or ndarray")
    def factors_by_outcome(self, alpha: Any, costs: Any) -> tuple[Any, Any]:
        """The factors of correctly and of wrongly predicted rows: one number each, or one for each cost."""
        return exp(-alpha), exp(alpha)

    @property
    def costs_vote(self) -> bool:
        """Whether the vote depends on the costs of the round; used if ``costs_follow`` is set."""
        return True

    @property
    def keeps_synthetic_rows(self) -> bool:
        """Whether the synthetic rows of a round stay in the training set, for methods with a SMOTE sampler."""
        return False

    @described(ARGUMENTS, returns="ndarray of shape (n_classes,)")
    def round_costs(self, rates: Array) -> Array:
        """Cost of each class from the error rates of the classes; used if ``costs_follow`` is set."""
        return np.ones_like(rates)

    @described(ARGUMENTS, returns="ndarray of shape (n_classes,)")
    def decision(self, costs: Array) -> Array:
        """Factor of the votes for each class in the final decision."""
        return np.ones_like(costs)


def right_and_wrong(W: Array) -> tuple[float, float]:
    """Weight of the correctly and of the wrongly predicted rows; both are summed, since a difference loses accuracy."""
    if len(W) == 2:  # the usual case, faster without NumPy
        (true_0, false_0), (false_1, true_1) = W.tolist()
        return true_0 + true_1, false_0 + false_1
    masses, step = W.ravel().tolist(), len(W) + 1
    right = sum(masses[::step])
    del masses[::step]
    return right, sum(masses)


def weigh_costs(W: Array, costs: Any, power: int = 1) -> Array:
    """Σ c^power·D over the rows of each (true, predicted) pair, for costs by class or by row (`CostSums`)."""
    if isinstance(costs, CostSums):
        return costs.of_power(power)
    for _ in range(power):
        W = costs[:, None] * W
    return W


def half_log_odds(right: float, wrong: float, n_classes: int) -> float | None:
    """½(ln(right / wrong) + ln(K-1)); infinite without errors, None if no better than chance."""
    if right <= 0.0:
        return None
    if wrong <= ROUNDING * right:
        return inf
    alpha = 0.5 * log(right / wrong * (n_classes - 1))
    return alpha if alpha > ROUNDING else None


def factor_matrix(right: Any, wrong: Any, n_classes: int) -> Array:
    """``F`` with `right` on the diagonal and `wrong` elsewhere; each is a number or one number per true class."""
    if n_classes == 2:  # the usual case, faster without NumPy
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

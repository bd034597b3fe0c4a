"""Costs by row: the cost of misclassifying each row, and a training backend whose weights follow these costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adacc import kernels
from adacc.algorithms.base import Array, CostSums
from adacc.boosting.backend import Plan
from adacc.boosting.local_backend import LocalBackend
from adacc.boosting.samplers import Sampler
from adacc.boosting.settings import Settings
from adacc.costs import class_costs
from adacc.data.rows import RowWeights
from adacc.data.training_set import TrainingSet
from adacc.learners.base import IDENTITY, Learner, weigh_pairs


def row_costs(settings: Settings, training_set: TrainingSet) -> Array:
    """Cost of misclassifying each row of a training set with costs by row, the largest being 1.

    The cost of a row is multiplied by that of its class, unless the costs of the classes are "balanced".
    """
    assert training_set.cost is not None
    costs, cost = settings.options["costs"], training_set.cost
    by_class = class_costs(costs, training_set.classes, training_set.rows.class_weight)
    if not isinstance(costs, str):
        cost = cost / cost.max() * by_class[training_set.y]
    largest = cost.max()
    if not largest > 0.0:
        raise ValueError("sample_cost times the costs of the classes must not be zero for every row")
    return cost / largest


class RowCostBackend(LocalBackend):
    """Training rows in memory, each with its own cost (`costs`, in the order of the training set).

    The rule sees sums of the costs instead of costs by class, and its factors are computed for each row.
    """

    def __init__(self, plan: Plan, learner: Learner, sampler: Sampler | None, out_of_bag: bool, costs: Array) -> None:
        super().__init__(plan, learner, sampler, out_of_bag=out_of_bag)
        self._costs, self._true = costs[self.rows.order], self.rows.true
        self._row_weights = self.weights = RowWeights(self.rows, plan.rule.initial(self._costs))
        self.vote_costs = CostSums(self._sum_costs)

    def _sum_costs(self, power: int) -> Array:
        """Σ c^power·D of each (true, predicted) pair, over the rows that the vote of the round is computed on."""
        weights = self.weights.values
        if self._out_of_bag is not None:
            total = self._out_of_bag.sum_pairs(weights).sum()
            if total > 0.0:
                return self._out_of_bag.sum_pairs(weights * self._costs**power) / total
        sums = np.zeros((self.rows.n_classes, self.rows.n_classes))
        ones = np.ones(self.rows.n_classes)
        kernels.weigh_pairs(*self._leaves, weights * self._costs**power, ones, self.rows.starts, sums)
        return sums

    def _reweigh(self, alpha: Any, F: Array, W: Array) -> float:
        factors: Any = 1.0
        if alpha != 0.0:  # a round that was skipped leaves the weights unchanged
            right, wrong = self.plan.rule.factors_by_outcome(alpha, self._costs)
            factors = np.where(self.score_tracker.predicted == self._true, right, wrong)
        Z = self._row_weights.multiply(factors)
        after = weigh_pairs((self.score_tracker.predicted, IDENTITY), self.weights)
        F[:] = np.divide(after, W, out=np.ones_like(W), where=W > 0.0)
        return Z

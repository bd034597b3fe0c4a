"""The interface between the boosting loop and the training state (in memory or in shards)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from adacc.algorithms.base import Array, Rule
from adacc.learners.base import Models


@dataclass(frozen=True)
class Plan:
    """A boosting rule with its costs and settings.

    Attributes
    ----------
    rule : Rule
        The formulas of the method.
    costs : ndarray of shape (n_classes,)
        Misclassification cost of each class; the largest is 1.
    decision : ndarray of shape (n_classes,)
        Factor of the votes for each class in the final decision.
    learning_rate : float
        Factor of every vote.
    negative_class : int
        Class that is predicted for a score of zero (two classes).
    """

    rule: Rule
    costs: Array
    decision: Array
    learning_rate: float
    negative_class: int


class TrainingBackend(Protocol):
    """Training rows with their weights and scores.

    Attributes
    ----------
    plan : Plan
        Rule, costs and settings.
    given_weight : ndarray of shape (n_classes,)
        Summed sample weight of each class.
    n_rows : int
        Number of training rows, which bounds the vote of a learner without errors.
    class_weight : ndarray of shape (n_classes,)
        Current weight of each class; sums to 1.
    vote_costs : ndarray of shape (n_classes,) or CostSums
        Costs for the vote of the current round: those of the plan, or sums of the costs of the rows.
    """

    plan: Plan
    given_weight: Array
    n_rows: int
    vote_costs: Any

    @property
    def class_weight(self) -> Array: ...

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        """Fit the weak model of round t.

        Returns the model, ``W`` (the weight of each (true, predicted) pair), and the same matrix for the rows on which
        the vote is computed. Without a sampler the two matrices are the same object.
        """

    def add_vote(self, alpha: Any) -> Array:
        """Add `alpha` to the vote of the current model and return the recall of each class."""

    def error_rates(self) -> Array:
        """Error rate of the current model on each class; valid after `add_vote`."""

    def finish_round(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        """Add `change` to the vote of the current model and multiply the weights by ``F / Z``.

        Returns the recall of each class and Z. `F` is divided by Z in place. With costs by row, every row has its own
        factor, and `F` is replaced by the ratio of the new weight of each pair to the old one.
        """

    def models(self, fitted: list[Any]) -> Models:
        """Combine the weak models of all rounds into one object that predicts."""

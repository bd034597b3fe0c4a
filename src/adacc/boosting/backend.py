"""What the boosting loop asks of the place where training state lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from adacc.algorithms.base import Array, Rule
from adacc.learners.base import Models


@dataclass(frozen=True)
class Plan:
    """What is boosted, and how.

    Attributes
    ----------
    rule : Rule
        The method.
    costs : ndarray of shape (n_classes,)
        Cost of an error of each class, the largest being 1.
    decision : ndarray of shape (n_classes,)
        What the votes for each class are multiplied by.
    learning_rate : float
        What each vote is multiplied by.
    negative_class : int
        The class of a score of zero, where there are two classes.
    """

    rule: Rule
    costs: Array
    decision: Array
    learning_rate: float
    negative_class: int


class TrainingBackend(Protocol):
    """The training rows as the loop knows them.

    Attributes
    ----------
    plan : Plan
        What is boosted on them.
    given_weight : ndarray of shape (n_classes,)
        Summed sample weight of each class.
    class_weight : ndarray of shape (n_classes,)
        Weight of each class now; sums to 1.
    """

    plan: Plan
    given_weight: Array

    @property
    def class_weight(self) -> Array: ...

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        """The weak model of round t, ``W``, the weight of each (true, predicted) pair, and the same of the rows that
        judge the model.
        """

    def add_vote(self, alpha: Any) -> Array:
        """Let that model vote; the recall of each class thereafter."""

    def error_rates(self) -> Array:
        """Of each class, by that model alone, once it has voted."""

    def finish_round(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        """Add to the vote what is still missing of it and multiply the weights by ``F / Z``.

        The recall thereafter, and Z, by which F is divided in place.
        """

    def models(self, fitted: list[Any]) -> Models:
        """The weak models of all rounds, as one object that predicts."""

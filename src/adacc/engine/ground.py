"""What the loop stands on: the training rows, their weights and their scores, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from adacc.engine import dtypes, kernels
from adacc.engine.ensemble import Ensemble, contributions
from adacc.engine.learners import Cells, Learner, Models, weigh_pairs
from adacc.engine.rows import Rows, Weights
from adacc.engine.samplers import Sampler
from adacc.engine.table import Table
from adacc.rules.base import ROUNDING, Array, Rule


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
    tie_class : int
        The class of a score of zero, where there are two classes.
    """

    rule: Rule
    costs: Array
    decision: Array
    learning_rate: float
    tie_class: int


class Audience:
    """Rows that hear the votes of each round: keeps their scores, and which classes are decided rightly.

    Attributes
    ----------
    predicted : ndarray of shape (n_rows,)
        What each row was last predicted as.
    counts : ndarray of shape (n_classes, n_classes)
        Rows of each (true, predicted) pair.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The votes so far.
    """

    def __init__(self, rows: Rows, plan: Plan) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.predicted = np.empty(n_rows, dtype=dtypes.CLASS)
        self.counts = np.empty((n_classes, n_classes), dtype=np.int64)
        self._right = np.zeros(n_classes)
        even = bool((rows.weight == rows.weight[0]).all())
        self._weight = rows.weight[:0] if even else rows.weight  # rows that count the same need only be counted
        self._unit = rows.weight[0] if even else 1.0
        whole = np.diff(rows.starts) if even else rows.class_weight
        self._whole = np.where(whole > 0.0, whole, 1.0)  # held-out rows may lack a class
        if n_classes == 2:
            self.scores = np.zeros(n_rows)
            self._direction = contributions(np.ones(2), plan.decision)[:, 0]
            self._add_votes, self._margin = kernels.add_votes, ROUNDING if plan.tie_class == 0 else -ROUNDING
        else:
            self.scores = np.zeros((n_rows, n_classes))
            self._direction = plan.decision
            self._add_votes, self._margin = kernels.add_votes_each, ROUNDING

    def hear(self, cells: Cells, alpha: Any) -> Array:
        """Add the vote, one number or one per predicted class, to the scores; recall of each class thereafter."""
        self._add_votes(
            *cells, alpha * self._direction, self._weight, self.rows.starts, self._margin,
            self.predicted, self.scores, self.counts, self._right,
        )  # fmt: skip
        return self._right / self._whole

    @property
    def right(self) -> Array:
        """Weight of the rows of each class that are decided rightly."""
        return self._right * self._unit

    @property
    def wrong_at_last(self) -> Array:
        """Weight of the rows of each class that were last predicted as another."""
        wrong = self.rows.weight * (self.predicted != self.rows.true)
        return self.rows.by_class(wrong)


class Ground(Protocol):
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

    def fit(self, t: int) -> tuple[Any, Array]:
        """The weak model of round t, and ``W``, the weight of each (true, predicted) pair."""

    def hear(self, alpha: Any) -> Array:
        """Let that model vote; the recall of each class thereafter."""

    def error_rates(self) -> Array:
        """Of each class, by that model alone, once it has voted."""

    def settle(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        """Add to the vote what is still missing of it and multiply the weights by ``F / Z``.

        The recall thereafter, and Z, by which F is divided in place.
        """

    def models(self, fitted: list[Any]) -> Models:
        """The weak models of all rounds, as one object that predicts."""


class Here:
    """Rows in the memory of this process.

    `alike` are plans whose rounds are the same and that only decide otherwise: their models come at the price of
    hearing the votes.

    Attributes
    ----------
    weights : Weights
        The distribution D.
    audience : Audience
        The training rows' scores.
    others : list of Audience
        The same rows, as the plans `alike` decide on them.
    """

    def __init__(
        self, plan: Plan, learner: Learner, sampler: Sampler | None = None, alike: Sequence[Plan] = ()
    ) -> None:
        self.plan, self.learner, self.sampler, self.alike = plan, learner, sampler, alike
        self.rows = rows = learner.rows
        self.given_weight = rows.class_weight
        self.weights = Weights(rows, plan.rule.initial(plan.costs))
        self.audience = Audience(rows, plan)
        self.others = [Audience(rows, other) for other in alike]
        self._recall_of_others: list[list[Array]] = []
        self._cells: Cells
        self._vote: Any = 0.0
        self._recall: Array | None = None

    @property
    def class_weight(self) -> Array:
        return self.weights.class_weight

    def fit(self, t: int) -> tuple[Any, Array]:
        sample = None if self.sampler is None else self.sampler.draw(self.weights, t)
        model, self._cells, W = self.learner.fit(self.weights, sample, t)
        self._vote, self._recall = 0.0, None
        return model, W

    def hear(self, alpha: Any) -> Array:
        self._vote = self._vote + alpha
        self._recall = recall = self.audience.hear(self._cells, alpha)
        return recall

    def error_rates(self) -> Array:
        return self.audience.wrong_at_last / self.rows.class_weight

    def settle(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        recall = self._recall
        if recall is None or change != 0.0:
            recall = self.hear(change)
        self._tell_others(self._cells, self._vote)
        return recall, self.weights.update(F, W, self.audience.predicted, self.audience.counts)

    def _tell_others(self, cells: Cells, alpha: Any) -> None:
        if self.others:
            self._recall_of_others.append([other.hear(cells, alpha) for other in self.others])

    def replay(self, ensemble: Ensemble, table: Table) -> Iterator[Array]:
        """Bring weights and scores to where an ensemble left them, round by round; the factors of each."""
        for t, cells in enumerate(ensemble.models.cells(table, self.rows.order)):
            W = weigh_pairs(cells, self.weights)
            factors = ensemble.factors[t].copy()
            self.audience.hear(cells, ensemble.votes[t])
            self._tell_others(cells, ensemble.votes[t])
            self.weights.update(factors, W, self.audience.predicted, self.audience.counts)
            yield factors
        self.weights.begin_anew()

    def models(self, fitted: list[Any]) -> Models:
        return self.learner.models(fitted)

    def decided_otherwise(self, model: Ensemble) -> list[Ensemble]:
        """The models of the plans `alike`."""
        return [
            replace(
                model,
                decision=plan.decision,
                history={
                    **model.history,
                    "class_cost": np.tile(plan.costs, (len(model), 1)),
                    "class_recall": np.array([recall[i] for recall in self._recall_of_others]),
                },
            )
            for i, plan in enumerate(self.alike)
        ]

"""What the loop stands on: the training rows, their weights and their scores, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.samplers import Sampler
from adacc.boosting.scores import OutOfBagTracker, ScoreTracker
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Weights
from adacc.learners.base import Learner, Models, weigh_pairs
from adacc.model.ensemble import Ensemble


class LocalBackend:
    """Rows in the memory of this process.

    `alike` are plans whose rounds are the same and that only decide otherwise: their models come at the price of
    hearing the votes. With `out_of_bag` a model is judged by the rows that the sampler kept from it. `initial` is what
    rows of each class weigh at first, instead of what the rule says.

    Attributes
    ----------
    weights : Weights
        The distribution D.
    audience : ScoreTracker
        The training rows' scores.
    others : list of ScoreTracker
        The same rows, as the plans `alike` decide on them.
    """

    def __init__(
        self,
        plan: Plan,
        learner: Learner,
        sampler: Sampler | None = None,
        alike: Sequence[Plan] = (),
        out_of_bag: bool = False,
        initial: Array | None = None,
    ) -> None:
        self.plan, self.learner, self.sampler, self.alike = plan, learner, sampler, alike
        self.rows = rows = learner.rows
        self.given_weight = rows.class_weight
        initial = plan.rule.initial(plan.costs) if initial is None else initial
        self.weights = Weights(rows, initial, learner.pass_in_rows if sampler is None else np.inf)
        self.score_tracker = ScoreTracker(rows, plan)
        self.others = [ScoreTracker(rows, other) for other in alike]
        self._out_of_bag = OutOfBagTracker(rows, plan) if out_of_bag else None
        self._recall_of_others: list[list[Array]] = []
        self._cells: LeafAssignment
        self._vote: Any = 0.0
        self._recall: Array | None = None

    @property
    def class_weight(self) -> Array:
        return self.weights.class_weight

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        sample = None if self.sampler is None else self.sampler.draw(self.weights, t)
        model, self._cells, W = self.learner.fit(self.weights, sample, t)
        self._vote, self._recall = 0.0, None
        if self.sampler is None or sample is None:
            return model, W, W
        if self._out_of_bag is None:
            return model, W, self.sampler.judge(W, partial(self.learner.apply, model))
        self._out_of_bag.start_round(sample, self._cells)
        return model, W, self._out_of_bag.weigh(self.weights, W)

    def add_vote(self, alpha: Any) -> Array:
        self._vote = self._vote + alpha
        self._recall = recall = self._add_vote(self._cells, alpha)
        return recall

    def _add_vote(self, cells: LeafAssignment, alpha: Any) -> Array:
        recall = self.score_tracker.add_vote(cells, alpha)
        return recall if self._out_of_bag is None else self._out_of_bag.add_vote(alpha, recall)

    def error_rates(self) -> Array:
        rates = self.score_tracker.wrong_at_last / self.rows.class_weight
        return rates if self._out_of_bag is None else self._out_of_bag.error_rates(rates)

    def finish_round(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        recall = self._recall
        if recall is None or change != 0.0:
            recall = self.add_vote(change)
        self._add_vote_to_others(self._cells, self._vote)
        Z = self.weights.update(F, W, self.score_tracker.predicted, self.score_tracker.counts)
        if self.sampler is not None:
            self.sampler.update(F)
        return recall, Z

    def _add_vote_to_others(self, cells: LeafAssignment, alpha: Any) -> None:
        if self.others:
            self._recall_of_others.append([other.add_vote(cells, alpha) for other in self.others])

    def replay(self, ensemble: Ensemble, table: Table) -> Iterator[Array]:
        """Bring weights and scores to where an ensemble left them, round by round; the factors of each."""
        for t, cells in enumerate(ensemble.models.cells(table, self.rows.order)):
            W = weigh_pairs(cells, self.weights)
            factors = ensemble.factors[t].copy()
            if self._out_of_bag is not None and self.sampler is not None:
                self._out_of_bag.start_round(self.sampler.draw(self.weights, t), cells)
            self._add_vote(cells, ensemble.votes[t])
            self._add_vote_to_others(cells, ensemble.votes[t])
            self.weights.update(factors, W, self.score_tracker.predicted, self.score_tracker.counts)
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

"""Training backend for rows in the memory of this process."""

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
    """Training rows, weights and scores in memory.

    Parameters
    ----------
    plan : Plan
        Rule, costs and settings.
    learner : Learner
        The weak learner, which holds the training rows.
    sampler : Sampler or None
        Draws the rows that the learner is fitted to in each round; None: all rows.
    decision_variants : sequence of Plan
        Plans with the same rounds as `plan` and another final decision. Their ensembles need no boosting of their own,
        only the recall of their decisions.
    out_of_bag : bool
        Whether the vote is computed on the rows that were not in the sample of the round.
    initial : ndarray of shape (n_classes,) or None
        Initial weight of a row of each class; None: as given by the rule.

    Attributes
    ----------
    weights : Weights
        The distribution D.
    score_tracker : ScoreTracker
        Scores of the training rows.
    """

    def __init__(
        self,
        plan: Plan,
        learner: Learner,
        sampler: Sampler | None = None,
        decision_variants: Sequence[Plan] = (),
        out_of_bag: bool = False,
        initial: Array | None = None,
    ) -> None:
        self.plan, self.learner, self.sampler, self.decision_variants = plan, learner, sampler, decision_variants
        self.rows = rows = learner.rows
        self.given_weight, self.n_rows = rows.class_weight, rows.n_rows
        self.vote_costs: Any = plan.costs
        initial = plan.rule.initial(plan.costs) if initial is None else initial
        self.weights = Weights(rows, initial)
        self.score_tracker = ScoreTracker(rows, plan)
        self._variant_trackers = [ScoreTracker(rows, variant) for variant in decision_variants]
        self._out_of_bag = OutOfBagTracker(rows, plan) if out_of_bag else None
        self._variant_recalls: list[list[Array]] = []
        self._leaves: LeafAssignment
        self._vote: Any = 0.0
        self._recall: Array | None = None

    @property
    def class_weight(self) -> Array:
        return self.weights.class_weight

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        sample = None if self.sampler is None else self.sampler.draw(self.weights, t)
        model, self._leaves, W = self.learner.fit(self.weights, sample, t)
        self._vote, self._recall = 0.0, None
        if self.sampler is None or sample is None:
            return model, W, W
        if self._out_of_bag is None:
            return model, W, self.sampler.judge(W, partial(self.learner.apply, model))
        self._out_of_bag.start_round(sample, self._leaves)
        return model, W, self._out_of_bag.weigh(self.weights, W)

    def add_vote(self, alpha: Any) -> Array:
        self._vote = self._vote + alpha
        self._recall = recall = self._add_vote(self._leaves, alpha)
        return recall

    def _add_vote(self, leaves: LeafAssignment, alpha: Any) -> Array:
        recall = self.score_tracker.add_vote(leaves, alpha)
        return recall if self._out_of_bag is None else self._out_of_bag.add_vote(alpha, recall)

    def error_rates(self) -> Array:
        rates = self.score_tracker.wrong_at_last / self.rows.class_weight
        return rates if self._out_of_bag is None else self._out_of_bag.error_rates(rates)

    def finish_round(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        recall = self._recall
        if recall is None or change != 0.0:
            recall = self.add_vote(change)
        self._add_variant_votes(self._leaves, self._vote)
        Z = self._reweigh(self._vote, F, W)
        if self.sampler is not None:
            self.sampler.update(F)
        return recall, Z

    def _reweigh(self, alpha: Any, F: Array, W: Array) -> float:
        """Update the weights after the vote `alpha`, and return Z; `F` is divided by Z in place."""
        return self.weights.update(F, W, self.score_tracker.predicted, self.score_tracker.counts)

    def _add_variant_votes(self, leaves: LeafAssignment, alpha: Any) -> None:
        if self._variant_trackers:
            self._variant_recalls.append([tracker.add_vote(leaves, alpha) for tracker in self._variant_trackers])

    def replay(self, ensemble: Ensemble, table: Table) -> Iterator[Array]:
        """Repeat the rounds of an ensemble on the weights and scores; yields the weight factors of each round."""
        for t, leaves in enumerate(ensemble.models.leaves(table, self.rows.order)):
            W = weigh_pairs(leaves, self.weights)
            factors = ensemble.factors[t].copy()
            if self._out_of_bag is not None and self.sampler is not None:
                self._out_of_bag.start_round(self.sampler.draw(self.weights, t), leaves)
            self._add_vote(leaves, ensemble.votes[t])
            self._add_variant_votes(leaves, ensemble.votes[t])
            self._reweigh(ensemble.history["alpha"][t], factors, W)
            yield factors
        self.weights.reset()

    def models(self, fitted: list[Any]) -> Models:
        return self.learner.models(fitted)

    def variant_ensembles(self, ensemble: Ensemble) -> list[Ensemble]:
        """The ensemble with the decision of each of the `decision_variants`."""
        return [
            replace(
                ensemble,
                decision=variant.decision,
                history={
                    **ensemble.history,
                    "class_cost": np.tile(variant.costs, (len(ensemble), 1)),
                    "class_recall": np.array([recalls[i] for recalls in self._variant_recalls]),
                },
            )
            for i, variant in enumerate(self.decision_variants)
        ]

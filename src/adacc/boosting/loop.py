"""The boosting loop, shared by all methods and backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import ROUNDING, Array, right_and_wrong
from adacc.boosting.backend import TrainingBackend
from adacc.learners.base import Models
from adacc.model.ensemble import Ensemble

MAX_ABS_VOTE = 100.0
"""Votes are clipped to this magnitude: exp(4·alpha) overflows beyond 177. Votes stay below 20 at learning rate 1."""


class Round(NamedTuple):
    """Record of one round: the columns of the history (`RECORDED`), and what `Boosting.resume` needs."""

    alpha: Any
    weighted_error: float
    normaliser: float
    class_cost: Array
    class_weight: Array
    class_recall: Array
    factors: Array
    last: bool


RECORDED = ("alpha", "weighted_error", "normaliser", "class_cost", "class_weight", "class_recall")


class Boosting:
    """A run of the boosting loop.

    Boosting ends when a weak learner is no better than chance. With `skips_failed_rounds`, for samplers that draw other
    rows in each round, such a learner gets vote 0, the weights stay unchanged, and boosting continues.

    Attributes
    ----------
    backend : TrainingBackend
        Training rows, weights and scores.
    rounds : list of Round
        The completed rounds.
    failed_at_once : bool
        Whether the first learner was no better than chance; it is kept with vote 1.
    """

    def __init__(self, backend: TrainingBackend, skips_failed_rounds: bool = False) -> None:
        self.backend, self.plan, self.skips_failed_rounds = backend, backend.plan, skips_failed_rounds
        self.rounds: list[Round] = []
        self.failed_at_once = False
        self._fitted: list[Any] = []
        self._resumed: Models | None = None
        self._largest_vote = 0.5 * np.log(backend.n_rows * (len(backend.given_weight) - 1))

    def resume(self, ensemble: Ensemble, replayed: Iterable[Array]) -> None:
        """Continue from an ensemble; `replayed` yields the weight factors of its rounds."""
        self._resumed = ensemble.models
        for t, factors in enumerate(replayed):
            record = {name: ensemble.history[name][t] for name in RECORDED}
            last = ensemble.finished and t == len(ensemble) - 1
            self.rounds.append(Round(**record, factors=factors, last=last))

    def run(self, n_rounds: int, after_round: Callable[[Boosting, Any], bool] = lambda *_: False) -> None:
        """Boost until there are `n_rounds` rounds, boosting ends, or `after_round` returns True."""
        while len(self.rounds) < n_rounds and not (self.rounds and self.rounds[-1].last):
            model = self._run_round()
            if model is None or after_round(self, model):
                break

    def _run_round(self) -> Any:
        """Run one round and return its weak model; None if the model was discarded as no better than chance."""
        t = len(self.rounds)
        model, W, vote_W = self.backend.fit(t)
        alpha, provisional, costs = self._vote(vote_W)
        if alpha is None and self.skips_failed_rounds:
            alpha, F = 0.0, np.ones_like(W)
        else:
            if alpha is None:
                if t > 0:
                    return None
                self.failed_at_once, alpha = True, 1.0
            F = self.plan.rule.factors(alpha, costs)
        class_weight = self.backend.class_weight
        recall, Z = self.backend.finish_round(alpha - provisional, F, W)
        error = _error(W)
        vote_error = error if vote_W is W else _error(vote_W)
        last = self.failed_at_once or error <= ROUNDING
        self.rounds.append(Round(alpha, vote_error, Z, costs, class_weight, recall, F, last))
        self._fitted.append(model)
        return model

    def _vote(self, W: Array) -> tuple[Any, Any, Array]:
        """The vote, the provisional vote already added to the scores, and the costs of the round.

        If the costs follow the error rates, a provisional vote (1 if the learner is no better than chance) is added
        first to measure these rates. If the vote depends on the costs, it is then computed again.
        """
        rule, costs = self.plan.rule, self.plan.costs
        alpha = self._clip(rule.vote(W, self.backend.vote_costs))
        if rule.costs_follow is None:
            return alpha, 0.0, costs
        provisional = 1.0 if alpha is None else alpha
        recall = self.backend.add_vote(provisional)
        costs = rule.round_costs(1.0 - recall if rule.costs_follow == "ensemble" else self.backend.error_rates())
        if alpha is not None and rule.costs_vote:
            alpha = self._clip(rule.vote(W, costs))
        return alpha, provisional, costs

    def _clip(self, alpha: Any) -> Any:
        """Scale the vote by the learning rate and bound it: a learner without errors has an infinite vote."""
        if alpha is None:
            return None
        if isinstance(alpha, float):  # the usual case, without the overhead of NumPy
            alpha = self._largest_vote if alpha == inf else alpha
            return max(-MAX_ABS_VOTE, min(MAX_ABS_VOTE, alpha * self.plan.learning_rate))
        alpha = np.where(alpha == inf, self._largest_vote, alpha)
        return np.clip(alpha * self.plan.learning_rate, -MAX_ABS_VOTE, MAX_ABS_VOTE)

    def ensemble(self) -> Ensemble:
        """The ensemble of the completed rounds."""
        models = self.backend.models(self._fitted)
        if self._resumed is not None:
            models = self._resumed.followed_by(models)
        columns = dict(zip(Round._fields, map(_stack, zip(*self.rounds, strict=True)), strict=True))
        by_class = np.broadcast_to(columns["alpha"].T, (len(self.plan.decision), len(self.rounds))).T
        history = {name: columns[name] for name in RECORDED}
        with np.errstate(over="ignore"):  # the bound of methods without a guarantee may overflow
            history["bound"] = np.cumprod(history["normaliser"])
        return Ensemble(
            models=models,
            votes=np.ascontiguousarray(by_class),
            decision=self.plan.decision,
            negative_class=self.plan.negative_class,
            factors=columns["factors"],
            history=history,
            finished=self.rounds[-1].last,
        )


def _stack(records: Sequence[Any]) -> NDArray[Any]:
    """Stack the records of all rounds; a scalar 0 among votes by class is broadcast."""
    kinds = set(map(type, records))
    if np.ndarray not in kinds:
        return np.array(records)
    like = next(record for record in records if isinstance(record, np.ndarray))
    if len(kinds) > 1:
        records = [np.broadcast_to(record, like.shape) for record in records]
    return np.concatenate(records).reshape(len(records), *like.shape)  # much faster than np.array(records)


def _error(W: Array) -> float:
    """Weighted error: the share of W off the diagonal."""
    right, wrong = right_and_wrong(W)
    return wrong / (right + wrong)

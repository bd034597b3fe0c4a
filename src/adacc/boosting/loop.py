"""The boosting loop. There is one."""

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

STRONGEST = 100.0
"""No vote is stronger: the factors are e to as much as four times it, which of a vote beyond 177 is no float any more.
A learning rate of 1 leads to 20 at most.
"""


class Round(NamedTuple):
    """One round as it is recorded: `RECORDED`, and what it takes to repeat it."""

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
    """A run of the loop: what stands between two rounds.

    It ends with a round that is no better than chance. With `goes_on`, where each round sees other rows, such a round
    has no vote, changes nothing, and is followed by the next.

    Attributes
    ----------
    ground : TrainingBackend
        The rows.
    rounds : list of Round
        The rounds so far.
    failed_at_once : bool
        Whether already the first learner was no better than chance; it is kept with vote 1.
    """

    def __init__(self, ground: TrainingBackend, goes_on: bool = False) -> None:
        self.ground, self.plan, self.goes_on = ground, ground.plan, goes_on
        self.rounds: list[Round] = []
        self.failed_at_once = False
        self._fitted: list[Any] = []
        self._resumed: Models | None = None
        self._largest_vote = 0.5 * np.log(ground.given_weight.sum() * (len(ground.given_weight) - 1))

    def resume(self, ensemble: Ensemble, replayed: Iterable[Array]) -> None:
        """Go on from an ensemble, whose rounds the ground replays."""
        self._resumed = ensemble.models
        for t, factors in enumerate(replayed):
            record = {name: ensemble.history[name][t] for name in RECORDED}
            last = ensemble.finished and t == len(ensemble) - 1
            self.rounds.append(Round(**record, factors=factors, last=last))

    def run(self, n_rounds: int, after_round: Callable[[Boosting, Any], bool] = lambda *_: False) -> None:
        """Boost until there are so many rounds, or until boosting or `after_round` says that it is over."""
        while len(self.rounds) < n_rounds and not (self.rounds and self.rounds[-1].last):
            model = self._run_round()
            if model is None or after_round(self, model):
                break

    def _run_round(self) -> Any:
        """One round; None if it was discarded, its learner being no better than chance."""
        t = len(self.rounds)
        model, W, judged = self.ground.fit(t)
        alpha, heard, costs = self._vote(judged)
        if alpha is None and self.goes_on:
            alpha, F = 0.0, np.ones_like(W)
        else:
            if alpha is None:
                if t > 0:
                    return None
                self.failed_at_once, alpha = True, 1.0
            F = self.plan.rule.factors(alpha, costs)
        class_weight = self.ground.class_weight
        recall, Z = self.ground.finish_round(alpha - heard, F, W)
        error = _error(W)
        judged_error = error if judged is W else _error(judged)
        last = self.failed_at_once or error <= ROUNDING
        self.rounds.append(Round(alpha, judged_error, Z, costs, class_weight, recall, F, last))
        self._fitted.append(model)
        return model

    def _vote(self, W: Array) -> tuple[Any, Any, Array]:
        """Vote, what of it the rows have heard, and the costs of the round.

        Where the costs follow the error rates these come from a provisional vote, of 1 where there is none. Where they
        take part in the vote it is then made again.
        """
        rule, costs = self.plan.rule, self.plan.costs
        alpha = self._strength(rule.vote(W, costs))
        if rule.costs_follow is None:
            return alpha, 0.0, costs
        provisional = 1.0 if alpha is None else alpha
        recall = self.ground.add_vote(provisional)
        costs = rule.round_costs(1.0 - recall if rule.costs_follow == "ensemble" else self.ground.error_rates())
        if alpha is not None and rule.costs_vote:
            alpha = self._strength(rule.vote(W, costs))
        return alpha, provisional, costs

    def _strength(self, alpha: Any) -> Any:
        """A vote as it counts: a learner without errors must not outvote all others for ever."""
        if alpha is None:
            return None
        if isinstance(alpha, float):  # as nearly always, and NumPy would take a while to find out
            alpha = self._largest_vote if alpha == inf else alpha
            return max(-STRONGEST, min(STRONGEST, alpha * self.plan.learning_rate))
        alpha = np.where(alpha == inf, self._largest_vote, alpha)
        return np.clip(alpha * self.plan.learning_rate, -STRONGEST, STRONGEST)

    def ensemble(self) -> Ensemble:
        """The model made of the rounds so far."""
        models = self.ground.models(self._fitted)
        if self._resumed is not None:
            models = self._resumed + models
        columns = dict(zip(Round._fields, map(_stack, zip(*self.rounds, strict=True)), strict=True))
        by_class = np.broadcast_to(columns["alpha"].T, (len(self.plan.decision), len(self.rounds))).T
        history = {name: columns[name] for name in RECORDED}
        with np.errstate(over="ignore"):  # of a method that promises no bound it may be infinite
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
    """The records of all rounds: of votes by class, one that is for none of them is a plain 0."""
    kinds = set(map(type, records))
    if np.ndarray not in kinds:
        return np.array(records)
    like = next(record for record in records if isinstance(record, np.ndarray))
    if len(kinds) > 1:
        records = [np.broadcast_to(record, like.shape) for record in records]
    return np.concatenate(records).reshape(len(records), *like.shape)  # much faster than an array of a list of arrays


def _error(W: Array) -> float:
    right, wrong = right_and_wrong(W)
    return wrong / (right + wrong)

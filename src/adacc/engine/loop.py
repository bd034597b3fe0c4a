"""The boosting loop. There is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from adacc.engine import dtypes, kernels
from adacc.engine.ensemble import Ensemble, contributions
from adacc.engine.learners import Cells, Learner, Models, weigh_pairs
from adacc.engine.rows import Rows, Weights
from adacc.engine.samplers import Sampler
from adacc.engine.table import Table
from adacc.rules.base import ROUNDING, Array, Rule, right_and_wrong

STRONGEST = 100.0
"""No vote is stronger: the factors are e to as much as four times it, which of a vote beyond 177 is no float any more.
A learning rate of 1 leads to 20 at most.
"""


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
    rounds : list of Round
        The rounds so far.
    failed_at_once : bool
        Whether already the first learner was no better than chance; it is kept with vote 1.
    """

    def __init__(
        self, plan: Plan, learner: Learner, sampler: Sampler | None = None, alike: Sequence[Plan] = ()
    ) -> None:
        self.plan, self.learner, self.sampler, self.alike = plan, learner, sampler, alike
        self.rows = rows = learner.rows
        self.weights = Weights(rows, plan.rule.initial(plan.costs))
        self.audience = Audience(rows, plan)
        self.others = [Audience(rows, other) for other in alike]
        self.rounds: list[Round] = []
        self._recall_of_others: list[list[Array]] = []
        self.failed_at_once = False
        self._fitted: list[Any] = []
        self._resumed: Models | None = None
        self._largest_vote = 0.5 * np.log(rows.class_weight.sum() * (rows.n_classes - 1))

    def resume(self, ensemble: Ensemble, table: Table) -> None:
        """Bring weights and scores to where an ensemble left them."""
        self._resumed = ensemble.models
        for t, cells in enumerate(ensemble.models.cells(table, self.rows.order)):
            W = weigh_pairs(cells, self.weights)
            factors = ensemble.factors[t].copy()
            self.audience.hear(cells, ensemble.votes[t])
            self._tell_others(cells, ensemble.votes[t])
            self.weights.update(factors, W, self.audience.predicted, self.audience.counts)
            record = {name: ensemble.history[name][t] for name in RECORDED}
            last = ensemble.finished and t == len(ensemble) - 1
            self.rounds.append(Round(**record, factors=factors, last=last))
        self.weights.begin_anew()

    def run(self, n_rounds: int, after_round: Callable[[Boosting, Any], bool] = lambda *_: False) -> None:
        """Boost until there are so many rounds, or until boosting or `after_round` says that it is over."""
        while len(self.rounds) < n_rounds and not (self.rounds and self.rounds[-1].last):
            model = self._run_round()
            if model is None or after_round(self, model):
                break

    def _run_round(self) -> Any:
        """One round; None if it was discarded, its learner being no better than chance."""
        t = len(self.rounds)
        sample = None if self.sampler is None else self.sampler.draw(self.weights, t)
        model, cells, W = self.learner.fit(self.weights, sample, t)
        alpha, costs, recall = self._vote(cells, W)
        if alpha is None:
            if t > 0:
                return None
            self.failed_at_once, alpha = True, 1.0
        self._tell_others(cells, alpha)
        F = self.plan.rule.factors(alpha, costs)
        class_weight = self.weights.class_weight
        Z = self.weights.update(F, W, self.audience.predicted, self.audience.counts)
        right, wrong = right_and_wrong(W)
        error = wrong / (right + wrong)
        last = self.failed_at_once or error <= ROUNDING
        self.rounds.append(Round(alpha, error, Z, costs, class_weight, recall, F, last))
        self._fitted.append(model)
        return model

    def _vote(self, cells: Cells, W: Array) -> tuple[Any, Array, Array]:
        """Vote, costs of the round, and recall of the ensemble with that vote; a vote of None counts 1 in it.

        Where the costs follow the error rates these come from a provisional vote, and the vote is then made again.
        """
        rule, costs = self.plan.rule, self.plan.costs
        alpha = self._strength(rule.vote(W, costs))
        provisional = 1.0 if alpha is None else alpha
        recall = self.audience.hear(cells, provisional)
        if rule.costs_follow is not None:
            rates = 1.0 - recall if rule.costs_follow == "ensemble" else self._learner_error_rates()
            costs = rule.round_costs(rates)
            alpha = None if alpha is None else self._strength(rule.vote(W, costs))
            change = (1.0 if alpha is None else alpha) - provisional
            if change != 0.0:
                recall = self.audience.hear(cells, change)
        return alpha, costs, recall

    def _tell_others(self, cells: Cells, alpha: Any) -> None:
        if self.others:
            self._recall_of_others.append([other.hear(cells, alpha) for other in self.others])

    def _strength(self, alpha: Any) -> Any:
        """A vote as it counts: a learner without errors must not outvote all others for ever."""
        if alpha is None:
            return None
        if isinstance(alpha, float):  # as nearly always, and NumPy would take a while to find out
            alpha = self._largest_vote if alpha == inf else alpha
            return max(-STRONGEST, min(STRONGEST, alpha * self.plan.learning_rate))
        alpha = np.where(alpha == inf, self._largest_vote, alpha)
        return np.clip(alpha * self.plan.learning_rate, -STRONGEST, STRONGEST)

    def _learner_error_rates(self) -> Array:
        rows, predicted = self.rows, self.audience.predicted
        wrong = rows.weight * (predicted != rows.true)
        return np.add.reduceat(wrong, rows.starts[:-1]) / rows.class_weight

    def ensemble(self) -> Ensemble:
        """The model made of the rounds so far."""
        models = self.learner.models(self._fitted)
        if self._resumed is not None:
            models = self._resumed + models
        history = {name: np.array([getattr(r, name) for r in self.rounds]) for name in RECORDED}
        with np.errstate(over="ignore"):  # of a method that promises no bound it may be infinite
            history["bound"] = np.cumprod(history["normaliser"])
        return Ensemble(
            models=models,
            votes=np.array([np.zeros(self.rows.n_classes) + r.alpha for r in self.rounds]),
            decision=self.plan.decision,
            tie_class=self.plan.tie_class,
            factors=np.array([r.factors for r in self.rounds]),
            history=history,
            finished=self.rounds[-1].last,
        )

    def ensembles(self) -> list[Ensemble]:
        """The model of the plan, and those of the plans `alike`."""
        model = self.ensemble()
        return [model, *(self._decided_otherwise(model, i) for i in range(len(self.alike)))]

    def _decided_otherwise(self, model: Ensemble, i: int) -> Ensemble:
        plan = self.alike[i]
        history = {
            **model.history,
            "class_cost": np.tile(plan.costs, (len(model), 1)),
            "class_recall": np.array([recall[i] for recall in self._recall_of_others]),
        }
        return replace(model, decision=plan.decision, history=history)

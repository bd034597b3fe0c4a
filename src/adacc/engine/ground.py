"""What the loop stands on: the training rows, their weights and their scores, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.engine import dtypes, kernels
from adacc.engine.ensemble import Ensemble, contributions, decide, settle
from adacc.engine.learners import Learner, Models, weigh_pairs
from adacc.engine.rows import Cells, Rows, Weights
from adacc.engine.samplers import Drawn, Sampler
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
    scores : ndarray of shape (n_rows,) or (n_classes, n_rows)
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
            self._direction = contributions(np.ones(2), plan.decision)[:, 0].tolist()
            self._add_votes, self._margin = kernels.add_votes, ROUNDING if plan.tie_class == 0 else -ROUNDING
        else:
            self.scores = np.zeros((n_classes, n_rows))
            self._direction = plan.decision
            self._add_votes, self._margin = kernels.add_votes_each, ROUNDING

    def hear(self, cells: Cells, alpha: Any) -> Array:
        """Add the vote, one number or one per predicted class, to the scores; recall of each class thereafter."""
        self._add_votes(
            *cells, self._votes(alpha), self._weight, self.rows.starts, self._margin,
            self.predicted, self.scores, self.counts, self._right,
        )  # fmt: skip
        return self._right / self._whole

    def _votes(self, alpha: Any) -> Any:
        """What predicting each class adds to its score, or to the one of two classes."""
        if self.scores.ndim == 1:  # two classes, as nearly always: plain numbers, since arrays would take a while
            against, in_favour = alpha.tolist() if isinstance(alpha, np.ndarray) else (alpha, alpha)
            return against * self._direction[0], in_favour * self._direction[1]
        return alpha * self._direction

    @property
    def right(self) -> Array:
        """Weight of the rows of each class that are decided rightly."""
        return self._right * self._unit

    @property
    def wrong_at_last(self) -> Array:
        """Weight of the rows of each class that were last predicted as another."""
        wrong = self.rows.weight * (self.predicted != self.rows.true)
        return self.rows.by_class(wrong)


class OutOfBag:
    """What rows say of the rounds that did not see them: each hears these only.

    A class none of whose rows has been out of the bag is judged by the rows that were in it, for want of others.
    """

    def __init__(self, rows: Rows, plan: Plan) -> None:
        self.rows, self._true = rows, rows.true
        self._direction = contributions(np.ones(rows.n_classes), plan.decision)
        self._tie_class = plan.tie_class
        self._scores = np.zeros((len(rows.order), self._direction.shape[1]))
        self._heard = np.zeros(len(rows.order), dtype=bool)
        self._unseen: NDArray[np.intp]
        self._predicted: NDArray[np.uint8]

    def turn(self, sample: Drawn, cells: Cells) -> None:
        """Look at the model of a round, which has seen this sample."""
        out = np.ones(len(self.rows.order), dtype=bool)
        out[sample.rows] = False
        self._unseen = np.flatnonzero(out)
        cell, lookup = cells
        self._predicted = lookup[cell[self._unseen]]

    def weigh(self, weights: Weights, W: Array) -> Array:
        """The weight of each (true, predicted) pair of the unseen rows, 1 in all; `W` where these weigh nothing."""
        n_classes = self.rows.n_classes
        pairs = self._true[self._unseen].astype(np.intp) * n_classes + self._predicted
        unseen = np.bincount(pairs, weights.values[self._unseen], n_classes**2).reshape(n_classes, n_classes)
        total = unseen.sum()
        return unseen / total if total > 0.0 else W

    def hear(self, alpha: Any, recall: Array) -> Array:
        """Add the vote to the unseen rows' scores; recall of each class among those that have heard any."""
        self._scores[self._unseen] += (alpha * self._direction.T).T[self._predicted]
        self._heard[self._unseen] = True
        decided = decide(settle(self._scores), self._tie_class)
        return self._share(self._heard, decided == self._true, recall)

    def error_rates(self, rates: Array) -> Array:
        """Of each class, by the model of the round alone."""
        unseen, wrong = np.zeros(len(self.rows.order), dtype=bool), np.zeros(len(self.rows.order), dtype=bool)
        unseen[self._unseen] = True
        wrong[self._unseen] = self._predicted != self._true[self._unseen]
        return self._share(unseen, wrong, rates)

    def _share(self, among: NDArray[np.bool_], those: NDArray[np.bool_], otherwise: Array) -> Array:
        """What part those make up among some rows, by class."""
        weight = self.rows.weight * among
        whole, part = self.rows.by_class(weight), self.rows.by_class(weight * those)
        return np.where(whole > 0.0, part / np.where(whole > 0.0, whole, 1.0), otherwise)


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

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        """The weak model of round t, ``W``, the weight of each (true, predicted) pair, and the same of the rows that
        judge the model.
        """

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
    hearing the votes. With `out_of_bag` a model is judged by the rows that the sampler kept from it. `initial` is what
    rows of each class weigh at first, instead of what the rule says.

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
        self.audience = Audience(rows, plan)
        self.others = [Audience(rows, other) for other in alike]
        self._judges = OutOfBag(rows, plan) if out_of_bag else None
        self._recall_of_others: list[list[Array]] = []
        self._cells: Cells
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
        if self._judges is None:
            return model, W, self.sampler.judge(W, partial(self.learner.see, model))
        self._judges.turn(sample, self._cells)
        return model, W, self._judges.weigh(self.weights, W)

    def hear(self, alpha: Any) -> Array:
        self._vote = self._vote + alpha
        self._recall = recall = self._hear(self._cells, alpha)
        return recall

    def _hear(self, cells: Cells, alpha: Any) -> Array:
        recall = self.audience.hear(cells, alpha)
        return recall if self._judges is None else self._judges.hear(alpha, recall)

    def error_rates(self) -> Array:
        rates = self.audience.wrong_at_last / self.rows.class_weight
        return rates if self._judges is None else self._judges.error_rates(rates)

    def settle(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        recall = self._recall
        if recall is None or change != 0.0:
            recall = self.hear(change)
        self._tell_others(self._cells, self._vote)
        Z = self.weights.update(F, W, self.audience.predicted, self.audience.counts)
        if self.sampler is not None:
            self.sampler.update(F)
        return recall, Z

    def _tell_others(self, cells: Cells, alpha: Any) -> None:
        if self.others:
            self._recall_of_others.append([other.hear(cells, alpha) for other in self.others])

    def replay(self, ensemble: Ensemble, table: Table) -> Iterator[Array]:
        """Bring weights and scores to where an ensemble left them, round by round; the factors of each."""
        for t, cells in enumerate(ensemble.models.cells(table, self.rows.order)):
            W = weigh_pairs(cells, self.weights)
            factors = ensemble.factors[t].copy()
            if self._judges is not None and self.sampler is not None:
                self._judges.turn(self.sampler.draw(self.weights, t), cells)
            self._hear(cells, ensemble.votes[t])
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

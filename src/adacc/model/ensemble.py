"""The weighted ensemble of weak models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import ROUNDING, Array
from adacc.data.columns import Table
from adacc.learners.base import Models, Scorer
from adacc.model.coding import Codes, Coding, class_scores
from adacc.model.decision import class_index, snap_ties


@dataclass(frozen=True)
class Ensemble:
    """Weak models, their votes, and the record of the rounds."""

    models: Models  # the weak models, one per round
    votes: Array  # (n_rounds, n_classes): vote of each round, by predicted class
    decision: Array  # (n_classes,): factor on the votes for each class; (n_problems, 2) with a coding
    negative_class: int  # for two classes, the class that a score of zero predicts
    # (n_rounds, n_classes, n_classes): normalised weight factors of each round, from which boosting can be continued
    factors: Array
    history: dict[str, NDArray[Any]]  # records of the boosting loop, with one entry per round
    finished: bool  # whether boosting terminated before the maximum number of rounds, so that no rounds can be added
    coding: Coding | None = None  # the two-class problems that the models were fitted to; None: all classes together

    def __len__(self) -> int:
        return len(self.models)

    @property
    def n_rounds(self) -> int:
        """Number of rounds, of which each has a weak model, or one for every problem."""
        return len(self) if self.coding is None else self.coding.n_rounds

    def first(self, n_rounds: int) -> Ensemble:
        """The ensemble after the first `n_rounds` rounds."""
        if self.coding is None:
            return self._some(slice(n_rounds))
        return join([self.problem(p)._some(slice(n_rounds)) for p in range(len(self.coding.codes))], self.coding.codes)

    def problem(self, p: int) -> Ensemble:
        """The ensemble of one of the two-class problems."""
        assert self.coding is not None
        edges = self.coding.edges
        part = replace(self, decision=self.decision[p], coding=None)._some(slice(edges[p], edges[p + 1]))
        return replace(part, finished=bool(self.coding.finished[p]))

    def _some(self, rounds: slice) -> Ensemble:
        return replace(
            self,
            models=self.models[rounds],
            votes=self.votes[rounds],
            factors=self.factors[rounds],
            history={name: record[rounds] for name, record in self.history.items()},
            finished=self.finished and rounds.stop >= len(self),
        )

    def scores(self, table: Table) -> Array:
        """Additive score of every row: one number for two classes, else one per class, or per problem of the coding."""
        return self._snap(self._compiled.scores(table))

    @cached_property
    def _compiled(self) -> Scorer:
        return self.models.compile(self.contributions)

    @property
    def contributions(self) -> Array:
        """Contribution of each class of a leaf to each output (`Models.leaf_values`)."""
        return self.models.leaf_values(self.class_contributions)

    @property
    def class_contributions(self) -> Array:
        """Contribution of each predicted class to each output: shape (n_rounds, n_classes, n_outputs)."""
        if self.coding is None:
            return contributions(self.votes, self.decision)
        problems = self.coding.problems
        by_round = np.zeros((len(self), 2, len(self.coding.codes)))
        by_round[np.arange(len(self)), :, problems] = self.votes * self.decision[problems] * np.array([-1.0, 1.0])
        return by_round

    def staged_scores(self, table: Table) -> Iterator[Array]:
        """The scores after each round."""
        if self.coding is not None:
            yield from self._staged_problem_scores(table)
            return
        by_round = self.contributions
        total = np.zeros((table.n_rows, by_round.shape[2]))
        for (leaves, lookup), contribution in zip(self.models.leaves(table, table.every_row), by_round, strict=True):
            total += contribution[lookup[leaves]]
            yield self._snap(total)

    def _staged_problem_scores(self, table: Table) -> Iterator[Array]:
        assert self.coding is not None
        problems = [self.problem(p).staged_scores(table) for p in range(len(self.coding.codes))]
        total = np.zeros((table.n_rows, len(problems)))
        for _ in range(self.n_rounds):
            for p, stages in enumerate(problems):
                total[:, p] = next(stages, total[:, p])  # a problem that ended before keeps its scores
            yield total.copy()

    def _snap(self, scores: Array) -> Array:
        """Make scores equal that differ only by rounding errors."""
        return snap_ties(scores) if self.coding is None else np.where(np.abs(scores) <= ROUNDING, 0.0, scores)

    def class_scores(self, scores: Array, n_rounds: int | None = None) -> Array:
        """The scores whose sign, for two classes, or argmax is the prediction; `scores` are those after `n_rounds`."""
        if self.coding is None:
            return scores
        return snap_ties(class_scores(self.coding.codes, scores, self.largest_scores(n_rounds)))

    def largest_scores(self, n_rounds: int | None = None) -> Array:
        """The largest absolute score that each problem of the coding can have, after some or all rounds."""
        assert self.coding is not None
        return self.coding.largest_scores(self.votes * self.decision[self.coding.problems], n_rounds)

    def classes(self, scores: Array) -> NDArray[np.intp]:
        """Number of the class that the scores predict."""
        return class_index(scores, self.negative_class)


def join(ensembles: Sequence[Ensemble], codes: Codes) -> Ensemble:
    """One ensemble from those of the two-class problems, each of which scores in favour of its second class."""
    first, *later = ensembles
    problems = np.repeat(np.arange(len(ensembles)), [len(each) for each in ensembles])
    return Ensemble(
        models=first.models.followed_by(*(each.models for each in later)),
        votes=np.concatenate([each.votes for each in ensembles]),
        decision=np.array([each.decision for each in ensembles]),
        negative_class=0,
        factors=np.concatenate([each.factors for each in ensembles]),
        history={name: np.concatenate([each.history[name] for each in ensembles]) for name in first.history},
        finished=all(each.finished for each in ensembles),
        coding=Coding(codes, problems, np.array([each.finished for each in ensembles])),
    )


def contributions(votes: Array, decision: Array) -> Array:
    """Contribution of each predicted class to each output: shape (..., n_classes, n_outputs).

    Two classes have a single output.
    """
    weighted = votes * decision
    if len(decision) == 2:
        return (weighted * np.array([-1.0, 1.0]))[..., None]
    return weighted[..., None] * np.eye(len(decision))

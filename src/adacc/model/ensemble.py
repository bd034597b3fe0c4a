"""The weighted ensemble of weak models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.columns import Table
from adacc.learners.base import Models, Scorer
from adacc.model.decision import class_index, snap_ties


@dataclass(frozen=True)
class Ensemble:
    """Weak models, their votes, and the record of the rounds."""

    models: Models  # the weak models, one per round
    votes: Array  # (n_rounds, n_classes): vote of each round, by predicted class
    decision: Array  # (n_classes,): factor on the votes for each class
    negative_class: int  # for two classes, the class that a score of zero predicts
    # (n_rounds, n_classes, n_classes): normalised weight factors of each round, from which boosting can be continued
    factors: Array
    history: dict[str, NDArray[Any]]  # records of the boosting loop, with one entry per round
    finished: bool  # whether boosting terminated before the maximum number of rounds, so that no rounds can be added

    def __len__(self) -> int:
        return len(self.models)

    def first(self, n_rounds: int) -> Ensemble:
        """The ensemble after the first `n_rounds` rounds."""
        rounds = slice(n_rounds)
        return replace(
            self,
            models=self.models[rounds],
            votes=self.votes[rounds],
            factors=self.factors[rounds],
            history={name: record[rounds] for name, record in self.history.items()},
            finished=self.finished and n_rounds >= len(self),
        )

    def scores(self, table: Table) -> Array:
        """Additive score of every row: one number for two classes, one per class for more."""
        return snap_ties(self._compiled.scores(table))

    @cached_property
    def _compiled(self) -> Scorer:
        return self.models.compile(contributions(self.votes, self.decision))

    def staged_scores(self, table: Table) -> Iterator[Array]:
        """The scores after each round."""
        by_round = contributions(self.votes, self.decision)
        total = np.zeros((table.n_rows, by_round.shape[2]))
        for (leaves, lookup), contribution in zip(self.models.leaves(table, table.every_row), by_round, strict=True):
            total += contribution[lookup[leaves]]
            yield snap_ties(total)

    def classes(self, scores: Array) -> NDArray[np.intp]:
        """Number of the class that the scores predict."""
        return class_index(scores, self.negative_class)


def contributions(votes: Array, decision: Array) -> Array:
    """Contribution of each predicted class to each output: shape (..., n_classes, n_outputs).

    Two classes have a single output.
    """
    weighted = votes * decision
    if len(decision) == 2:
        return (weighted * np.array([-1.0, 1.0]))[..., None]
    return weighted[..., None] * np.eye(len(decision))

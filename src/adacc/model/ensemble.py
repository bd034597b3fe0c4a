"""The fitted model as arrays."""

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
    """Weak models, their votes, and the record of the rounds.

    Attributes
    ----------
    models : Models
        The weak models, one a round.
    votes : ndarray of shape (n_rounds, n_classes)
        Vote of each round by predicted class.
    decision : ndarray of shape (n_classes,)
        What the votes for each class are multiplied by.
    negative_class : int
        The class of a score of zero, where there are two classes.
    factors : ndarray of shape (n_rounds, n_classes, n_classes)
        Normalised factors of each round, from which boosting can be taken up again.
    history : dict of ndarray
        One entry a round of everything the loop records.
    finished : bool
        Whether boosting ended by itself, so that there is nothing to go on with.
    """

    models: Models
    votes: Array
    decision: Array
    negative_class: int
    factors: Array
    history: dict[str, NDArray[Any]]
    finished: bool

    def __len__(self) -> int:
        return len(self.models)

    def first(self, n_rounds: int) -> Ensemble:
        """The ensemble as it was after so many rounds."""
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
        shares = contributions(self.votes, self.decision)
        total = np.zeros((table.n_rows, shares.shape[2]))
        for (cells, lookup), share in zip(self.models.cells(table, table.every_row), shares, strict=True):
            total += share[lookup[cells]]
            yield snap_ties(total)

    def classes(self, scores: Array) -> NDArray[np.intp]:
        """Number of the class that scores decide for."""
        return class_index(scores, self.negative_class)


def contributions(votes: Array, decision: Array) -> Array:
    """What predicting a class adds to each output: shape (..., n_classes, n_outputs); one output for two classes."""
    weighted = votes * decision
    if len(decision) == 2:
        return (weighted * np.array([-1.0, 1.0]))[..., None]
    return weighted[..., None] * np.eye(len(decision))

"""Early stopping on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.loop import Boosting
from adacc.boosting.scores import ScoreTracker
from adacc.data.training_set import TrainingSet
from adacc.learners.base import Learner
from adacc.model.ensemble import Ensemble


class EarlyStopping:
    """Tracks the recall on held-out rows and stops when balanced accuracy has not improved for `patience` rounds.

    Attributes
    ----------
    recall : list of ndarray
        Recall of each class after each round.
    """

    def __init__(
        self,
        held_out: TrainingSet,
        prepared: Any,
        start: Ensemble | None,
        plan: Plan,
        learner: Learner,
        patience: int | None,
    ) -> None:
        self.learner, self.patience = learner, patience
        self.score_tracker = ScoreTracker(held_out.rows, plan)
        self.prepared = prepared
        self.recall: list[Array] = []
        self.accuracy: list[float] = []
        if start is not None:
            leaves_by_round = start.models.leaves(held_out.table, held_out.rows.order)
            for leaves, votes in zip(leaves_by_round, start.votes, strict=True):
                self._add_vote(leaves, votes)

    @property
    def best_round(self) -> int:
        return int(np.argmax(self.accuracy))

    def __call__(self, boosting: Boosting, model: Any) -> bool:
        self._add_vote(self.learner.apply(model, self.prepared), boosting.rounds[-1].alpha)
        return self.patience is not None and len(self.accuracy) - 1 - self.best_round >= self.patience

    def _add_vote(self, leaves: Any, alpha: Any) -> None:
        self.recall.append(self.score_tracker.add_vote(leaves, alpha))
        self.accuracy.append(float(self.recall[-1].mean()))

"""Running scores of rows, and the recall of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import ROUNDING, Array
from adacc.boosting.backend import Plan
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Drawn
from adacc.kernels import dtypes
from adacc.model.ensemble import class_index, contributions, snap_ties


class ScoreTracker:
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
            self._add_votes, self._margin = kernels.add_votes, ROUNDING if plan.negative_class == 0 else -ROUNDING
        else:
            self.scores = np.zeros((n_classes, n_rows))
            self._direction = plan.decision
            self._add_votes, self._margin = kernels.add_votes_each, ROUNDING

    def add_vote(self, cells: LeafAssignment, alpha: Any) -> Array:
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


class OutOfBagTracker:
    """What rows say of the rounds that did not see them: each hears these only.

    A class none of whose rows has been out of the bag is judged by the rows that were in it, for want of others.
    """

    def __init__(self, rows: Rows, plan: Plan) -> None:
        self.rows, self._true = rows, rows.true
        self._direction = contributions(np.ones(rows.n_classes), plan.decision)
        self._tie_class = plan.negative_class
        self._scores = np.zeros((len(rows.order), self._direction.shape[1]))
        self._heard = np.zeros(len(rows.order), dtype=bool)
        self._unseen: NDArray[np.intp]
        self._predicted: NDArray[np.uint8]

    def start_round(self, sample: Drawn, cells: LeafAssignment) -> None:
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

    def add_vote(self, alpha: Any, recall: Array) -> Array:
        """Add the vote to the unseen rows' scores; recall of each class among those that have heard any."""
        self._scores[self._unseen] += (alpha * self._direction.T).T[self._predicted]
        self._heard[self._unseen] = True
        decided = class_index(snap_ties(self._scores), self._tie_class)
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

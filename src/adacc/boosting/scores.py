"""Running scores of rows and the recall of each class."""

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
from adacc.model.decision import class_index, snap_ties
from adacc.model.ensemble import contributions


class ScoreTracker:
    """Scores of rows, updated by the vote of each round, and the recall of each class.

    Attributes
    ----------
    predicted : ndarray of shape (n_rows,)
        Prediction of the latest weak model for each row.
    counts : ndarray of shape (n_classes, n_classes)
        Number of rows of each (true, predicted) pair.
    scores : ndarray of shape (n_rows,) or (n_classes, n_rows)
        Summed votes.
    """

    def __init__(self, rows: Rows, plan: Plan) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.predicted = np.empty(n_rows, dtype=dtypes.CLASS)
        self.counts = np.empty((n_classes, n_classes), dtype=np.int64)
        self._right = np.zeros(n_classes)
        equal_weights = bool((rows.weight == rows.weight[0]).all())
        self._weight = rows.weight[:0] if equal_weights else rows.weight  # rows of equal weight are only counted
        self._unit = rows.weight[0] if equal_weights else 1.0
        class_total = np.diff(rows.starts) if equal_weights else rows.class_weight
        self._class_total = np.where(class_total > 0.0, class_total, 1.0)  # held-out rows may lack a class
        if n_classes == 2:
            self.scores = np.zeros(n_rows)
            self._direction = contributions(np.ones(2), plan.decision)[:, 0].tolist()
            self._add_votes, self._margin = kernels.add_votes, ROUNDING if plan.negative_class == 0 else -ROUNDING
        else:
            self.scores = np.zeros((n_classes, n_rows))
            self._direction = plan.decision
            self._add_votes, self._margin = kernels.add_votes_each, ROUNDING

    def add_vote(self, leaves: LeafAssignment, alpha: Any) -> Array:
        """Add a vote, one number or one per predicted class, to the scores and return the recall of each class."""
        self._add_votes(
            *leaves, self._votes(alpha), self._weight, self.rows.starts, self._margin,
            self.predicted, self.scores, self.counts, self._right,
        )  # fmt: skip
        return self._right / self._class_total

    def _votes(self, alpha: Any) -> Any:
        """Change of the score by a prediction of each class; with two classes there is one score."""
        if self.scores.ndim == 1:  # two classes, the usual case: plain numbers, without the overhead of NumPy
            against, in_favour = alpha.tolist() if isinstance(alpha, np.ndarray) else (alpha, alpha)
            return against * self._direction[0], in_favour * self._direction[1]
        return alpha * self._direction

    @property
    def right(self) -> Array:
        """Weight of the correctly classified rows of each class."""
        return self._right * self._unit

    @property
    def wrong_at_last(self) -> Array:
        """Weight of the rows of each class that the latest weak model misclassifies."""
        wrong = self.rows.weight * (self.predicted != self.rows.true)
        return self.rows.by_class(wrong)


class OutOfBagTracker:
    """Out-of-bag scores: a row receives only the votes of rounds whose sample did not contain it.

    The rates of a class without out-of-bag rows fall back to those of all its rows.
    """

    def __init__(self, rows: Rows, plan: Plan) -> None:
        self.rows, self._true = rows, rows.true
        self._direction = contributions(np.ones(rows.n_classes), plan.decision)
        self._negative_class = plan.negative_class
        self._scores = np.zeros((len(rows.order), self._direction.shape[1]))
        self._had_vote = self._has_vote = np.zeros(len(rows.order), dtype=bool)  # before the round, and with it
        self._vote: Any = 0.0
        self._unseen: NDArray[np.intp]
        self._predicted: NDArray[np.uint8]

    def start_round(self, sample: Drawn, leaves: LeafAssignment) -> None:
        """Store the predictions of the model of a round, which was fitted to `sample`, for the other rows."""
        self._had_vote, self._vote = self._has_vote, 0.0
        out = np.ones(len(self.rows.order), dtype=bool)
        out[sample.rows] = False
        self._unseen = np.flatnonzero(out)
        leaf, class_of_leaf = leaves
        self._predicted = class_of_leaf[leaf[self._unseen]]

    def weigh(self, weights: Weights, W: Array) -> Array:
        """Weight of each (true, predicted) pair of the out-of-bag rows, normalised to 1; `W` if their weight is 0."""
        unseen = self.sum_pairs(weights.values)
        total = unseen.sum()
        return unseen / total if total > 0.0 else W

    def sum_pairs(self, amounts: Array) -> Array:
        """Sum of the amounts of the out-of-bag rows of each (true, predicted) pair; `amounts` are those of all rows."""
        n_classes = self.rows.n_classes
        pairs = self._true[self._unseen].astype(np.intp) * n_classes + self._predicted
        sums: Array = np.bincount(pairs, amounts[self._unseen], n_classes**2)  # type: ignore[assignment]
        return sums.reshape(n_classes, n_classes)

    def add_vote(self, alpha: Any, recall: Array) -> Array:
        """Add the vote to the scores of the out-of-bag rows; recall of each class among rows with at least one vote.

        A round without a vote, or whose provisional vote was taken back, gives none.
        """
        self._scores[self._unseen] += (alpha * self._direction.T).T[self._predicted]
        self._vote = self._vote + alpha
        self._has_vote = self._had_vote.copy()
        self._has_vote[self._unseen] |= np.broadcast_to(self._vote, self.rows.n_classes)[self._predicted] != 0.0
        decided = class_index(snap_ties(self._scores), self._negative_class)
        return self._share(self._has_vote, decided == self._true, recall)

    def error_rates(self, rates: Array) -> Array:
        """Error rate of the model of the round on each class."""
        unseen, wrong = np.zeros(len(self.rows.order), dtype=bool), np.zeros(len(self.rows.order), dtype=bool)
        unseen[self._unseen] = True
        wrong[self._unseen] = self._predicted != self._true[self._unseen]
        return self._share(unseen, wrong, rates)

    def _share(self, rows: NDArray[np.bool_], condition: NDArray[np.bool_], fallback: Array) -> Array:
        """Weighted share of `rows` that meet the condition, by class; `fallback` for a class without such rows."""
        weight = self.rows.weight * rows
        total, part = self.rows.by_class(weight), self.rows.by_class(weight * condition)
        return np.where(total > 0.0, part / np.where(total > 0.0, total, 1.0), fallback)

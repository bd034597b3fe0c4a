"""Training rows, grouped by class, and their weights D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.kernels import dtypes

Listing = tuple[NDArray[np.uint32], Array, NDArray[np.int64], NDArray[np.int64]]
"""Row numbers, an amount for each row, and where the rows of each class begin and end in these two arrays."""

LeafAssignment = tuple[NDArray[Any], NDArray[np.uint8]]
"""Predictions of a weak model: the leaf of each row, and the class of each leaf."""


@dataclass(frozen=True)
class Rows:
    """Rows grouped by class.

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        Position of each row in the user's data.
    starts : ndarray of shape (n_classes + 1,)
        Rows ``starts[k]:starts[k + 1]`` are those of class k.
    weight : ndarray of shape (n_rows,)
        Sample weights, in this order.
    class_weight : ndarray of shape (n_classes,)
        Summed sample weight of each class.
    """

    order: NDArray[np.uint32]
    starts: NDArray[np.int64]
    weight: Array
    class_weight: Array

    @classmethod
    def group(cls, y: NDArray[np.intp], n_classes: int, sample_weight: Array) -> Rows:
        order = np.argsort(y.astype(dtypes.CLASS), kind="stable").astype(dtypes.ROW)  # radix sort of bytes
        starts = np.cumsum([0, *np.bincount(y, minlength=n_classes)])
        weight = sample_weight[order]
        class_weight: Array = np.bincount(y, sample_weight, n_classes)  # type: ignore[assignment]
        return cls(order, starts, weight, class_weight)

    def merge(self, kept: NDArray[np.intp], into: NDArray[np.intp]) -> Rows:
        """Merge rows: row i goes into row ``kept[into[i]]`` of the same class, and the weights are summed."""
        weight: Array = np.bincount(into, self.weight)  # type: ignore[assignment]
        starts = np.searchsorted(kept, self.starts)
        return Rows(self.order[kept], starts, weight, self.class_weight)

    def by_class(self, amounts: Array) -> Array:
        """Sum of the amounts of the rows of each class."""
        return np.array([block.sum() for block in np.split(amounts, self.starts[1:-1])])

    @property
    def listing(self) -> Listing:
        """All rows with their sample weights."""
        return np.arange(len(self.order), dtype=dtypes.ROW), self.weight, self.starts[:-1], self.starts[1:]

    @property
    def n_classes(self) -> int:
        return len(self.class_weight)

    @property
    def true(self) -> NDArray[np.uint8]:
        return np.repeat(np.arange(self.n_classes, dtype=dtypes.CLASS), np.diff(self.starts))


class Weights:
    """The distribution D over the rows, updated by factors of the (true, predicted) class.

    The weight of a row is ``raw * scale[class]``. An update multiplies the scale of a class by the factor of its most
    frequent prediction, so that only the raw weights of the other rows change. These rows are listed with the change of
    their raw weight, and the histograms of the learner are updated by this list. Stumps usually split off few rows of a
    class, so the list is short. The raw weights start as the sample weights, which the first histogram contains.

    A histogram loses accuracy if large amounts are subtracted. The class is then marked as stale: all its rows are
    listed with their raw weight, and its histogram starts from zero.

    Some methods, such as CSB1, choose nearly the same split in many rounds. The rows that it splits off are then
    tracked: they have a histogram of their own, which is multiplied by one factor per round, and only rows that enter
    or leave the tracked rows are listed.

    Parameters
    ----------
    rows : Rows
        The rows.
    initial : ndarray of shape (n_classes,)
        Initial factor of the sample weights of each class.
    pass_in_rows : float
        Number of rows that can be added to the histogram in the time of one pass over it; infinite: no rows are
        tracked.

    Attributes
    ----------
    class_weight : ndarray of shape (n_classes,)
        Weight of each class; sums to 1.
    listing : tuple of ndarray
        Row numbers, amounts, and where the rows begin and end that are added to the histogram of each class, followed
        by those that are added to the histogram of the tracked rows of each class.
    stale : ndarray of shape (2 * n_classes,)
        Which of these histograms start from zero.
    any_stale : bool
        Whether any of them does.
    tracked_factor : ndarray of shape (n_classes,)
        Factor of the tracked rows of each class, applied after the listed rows are added.
    any_tracked : bool
        Whether any class has tracked rows in this round.
    """

    def __init__(self, rows: Rows, initial: Array, pass_in_rows: float = np.inf) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.raw = rows.weight.copy()
        self.scale = initial / (initial * rows.class_weight).sum()
        self.class_weight = self.scale * rows.class_weight
        self.stale, self.any_stale = np.zeros(2 * n_classes, dtype=bool), False
        self.tracked_factor, self.any_tracked = np.ones(n_classes), False
        self._pass_in_rows = pass_in_rows
        self._remaining, self._growth = np.ones((2, n_classes)), np.full(n_classes, np.inf)
        self._tracked = np.zeros(n_rows, dtype=dtypes.MARK)
        self._listed, self._amounts = np.empty(n_rows, dtype=dtypes.ROW), np.empty(n_rows)
        begins = np.tile(rows.starts[:-1], 2)
        self._ends = begins.copy()
        self.listing: Listing = self._listed, self._amounts, begins, self._ends

    def begin_anew(self) -> None:
        """Normalise the weights to 1 and list all rows, for a learner whose histogram contains none of them."""
        self.raw = self.values
        self.raw /= self.raw.sum()
        self.scale[:] = self._remaining[:] = self.tracked_factor[:] = 1.0
        self._growth[:] = np.inf
        self.class_weight = self.rows.by_class(self.raw)
        self.stale[: self.rows.n_classes] = self.any_stale = True
        self.any_tracked = False
        self._listed[:] = np.arange(len(self.raw))
        self._amounts[:] = self.raw
        self._ends[:] = np.concatenate([self.rows.starts[1:], self.rows.starts[:-1]])

    @property
    def values(self) -> Array:
        """Weight of each row; sums to 1."""
        return self.raw * np.repeat(self.scale, np.diff(self.rows.starts))

    def update(self, F: Array, W: Array, predicted: NDArray[np.uint8], counts: NDArray[np.int64]) -> float:
        """Multiply the weight of each row by ``F[true, predicted] / Z`` and return Z. `F` is divided by Z in place.

        `W` is the weight and `counts` the number of rows of each (true, predicted) pair.
        """
        self.class_weight = np.empty(len(W))  # a new array: the history refers to the old one
        Z, n_stale, n_tracked = kernels.reweigh(
            predicted, counts, W, self.rows.starts, F, self._pass_in_rows, self.raw, self.scale, self._remaining,
            self._tracked, self._growth, self.class_weight, self.stale, self.tracked_factor, self._listed,
            self._amounts, self._ends,
        )  # fmt: skip
        self.any_stale, self.any_tracked = n_stale > 0, n_tracked > 0
        return Z

"""The rows that are boosted on: grouped by class, and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.kernels import dtypes

Listing = tuple[NDArray[np.uint32], Array, NDArray[np.int64], NDArray[np.int64]]
"""Rows, an amount for each, and where those of each class begin and end."""

LeafAssignment = tuple[NDArray[Any], NDArray[np.uint8]]
"""What a weak model predicts: a cell for each row, and the class of each cell."""


@dataclass(frozen=True)
class Rows:
    """Rows grouped by class.

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        The user's number of each row.
    starts : ndarray of shape (n_classes + 1,)
        Rows ``starts[k]:starts[k + 1]`` are those of class k.
    weight : ndarray of shape (n_rows,)
        The user's sample weights, in this order.
    class_weight : ndarray of shape (n_classes,)
        Summed sample weight of each class.
    """

    order: NDArray[np.uint32]
    starts: NDArray[np.int64]
    weight: Array
    class_weight: Array

    @classmethod
    def group(cls, y: NDArray[np.intp], n_classes: int, sample_weight: Array) -> Rows:
        order = np.argsort(y.astype(dtypes.CLASS), kind="stable").astype(dtypes.ROW)  # of bytes: sorted by counting
        starts = np.cumsum([0, *np.bincount(y, minlength=n_classes)])
        weight = sample_weight[order]
        class_weight: Array = np.bincount(y, sample_weight, n_classes)  # type: ignore[assignment]
        return cls(order, starts, weight, class_weight)

    def merge(self, kept: NDArray[np.intp], into: NDArray[np.intp]) -> Rows:
        """The rows `kept`, each with the weight of all that go into it; `into` counts these, and keeps to the class."""
        weight: Array = np.bincount(into, self.weight)  # type: ignore[assignment]
        starts = np.searchsorted(kept, self.starts)
        return Rows(self.order[kept], starts, weight, self.class_weight)

    def by_class(self, amounts: Array) -> Array:
        """The rows' amounts, summed for each class."""
        return np.array([block.sum() for block in np.split(amounts, self.starts[1:-1])])

    @property
    def listing(self) -> Listing:
        """All rows with their weights."""
        return np.arange(len(self.order), dtype=dtypes.ROW), self.weight, self.starts[:-1], self.starts[1:]

    @property
    def n_classes(self) -> int:
        return len(self.class_weight)

    @property
    def true(self) -> NDArray[np.uint8]:
        return np.repeat(np.arange(self.n_classes, dtype=dtypes.CLASS), np.diff(self.starts))


class Weights:
    """The distribution D over the rows, changed by factors of (true, predicted) class.

    A row's weight is ``raw * scale[class]``. A round multiplies the scale of a class by the factor of what most of its
    rows are predicted as, so that only the others need be touched; these are listed, with what each gained or lost, for
    the learner's histograms. A stump tells a small part of the rows from the rest more often than not, so that the list
    is short. At first none is listed: the raw weights are the rows' own, whatever the initial ones. Where sums that are
    kept up to date this way would lose accuracy, the class is marked stale: all its rows are listed, and its sums begin
    anew.

    Some methods take nearly the same split again and again, with another sign. The rows that it tells from the rest
    then stand apart: they have sums of their own, which change by one factor, and those of the class with them. Only
    the rows that join or leave them are listed.

    Parameters
    ----------
    rows : Rows
        The rows.
    initial : ndarray of shape (n_classes,)
        What rows of each class weigh at first, beside their own weight.
    pass_in_rows : float
        How many rows are added to the learner's sums in the time of one pass over these; without it no rows stand
        apart.

    Attributes
    ----------
    class_weight : ndarray of shape (n_classes,)
        Weight of each class; sums to 1.
    listing : tuple of ndarray
        Rows, amounts, and where begin and end among them those that go to the sums of each class, and then to the sums
        of the rows that stand apart in it.
    stale : ndarray of shape (2 * n_classes,)
        Which of these sums begin anew.
    any_stale : bool
        Whether any of them does.
    carried : ndarray of shape (n_classes,)
        What the rows that stand apart in each class have been multiplied by after that.
    any_carried : bool
        Whether there are any such.
    """

    def __init__(self, rows: Rows, initial: Array, pass_in_rows: float = np.inf) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.raw = rows.weight.copy()
        self.scale = initial / (initial * rows.class_weight).sum()
        self.class_weight = self.scale * rows.class_weight
        self.stale, self.any_stale = np.zeros(2 * n_classes, dtype=bool), False
        self.carried, self.any_carried = np.ones(n_classes), False
        self._pass_in_rows = pass_in_rows
        self._remaining, self._grown = np.ones((2, n_classes)), np.full(n_classes, np.inf)
        self._apart = np.zeros(n_rows, dtype=dtypes.MARK)
        self._listed, self._by = np.empty(n_rows, dtype=dtypes.ROW), np.empty(n_rows)
        begins = np.tile(rows.starts[:-1], 2)
        self._ends = begins.copy()
        self.listing: Listing = self._listed, self._by, begins, self._ends

    def begin_anew(self) -> None:
        """Make the weights sum to 1, and list every row with all it has, for a learner that knows none of them yet."""
        self.raw = self.values
        self.raw /= self.raw.sum()
        self.scale[:] = self._remaining[:] = self.carried[:] = 1.0
        self._grown[:] = np.inf
        self.class_weight = self.rows.by_class(self.raw)
        self.stale[: self.rows.n_classes] = self.any_stale = True
        self.any_carried = False
        self._listed[:] = np.arange(len(self.raw))
        self._by[:] = self.raw
        self._ends[:] = np.concatenate([self.rows.starts[1:], self.rows.starts[:-1]])

    @property
    def values(self) -> Array:
        """D, one number per row; sums to 1."""
        return self.raw * np.repeat(self.scale, np.diff(self.rows.starts))

    def update(self, F: Array, W: Array, predicted: NDArray[np.uint8], counts: NDArray[np.int64]) -> float:
        """Multiply each row by ``F[true, predicted] / Z``; Z, by which F is divided in place.

        `W` is the weight and `counts` the number of rows of each (true, predicted) pair.
        """
        self.class_weight = np.empty(len(W))  # the old one is on record
        Z, n_stale, n_carried = kernels.reweigh(
            predicted, counts, W, self.rows.starts, F, self._pass_in_rows, self.raw, self.scale, self._remaining,
            self._apart, self._grown, self.class_weight, self.stale, self.carried, self._listed, self._by, self._ends,
        )  # fmt: skip
        self.any_stale, self.any_carried = n_stale > 0, n_carried > 0
        return Z

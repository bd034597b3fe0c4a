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
    """Rows grouped by class."""

    order: NDArray[np.uint32]  # (n_rows,): position of each row in the user's data
    starts: NDArray[np.int64]  # (n_classes + 1,): rows ``starts[k]:starts[k + 1]`` are those of class k
    weight: Array  # (n_rows,): sample weights, in this order
    class_weight: Array  # (n_classes,): summed sample weight of each class
    size: Array | None = None  # (n_rows,): number of the user's rows that each row stands for; None: one

    @classmethod
    def group(cls, y: NDArray[np.intp], n_classes: int, sample_weight: Array) -> Rows:
        order = np.argsort(y.astype(dtypes.CLASS), kind="stable").astype(dtypes.ROW)  # radix sort of bytes
        starts = np.cumsum([0, *np.bincount(y, minlength=n_classes)])
        weight = sample_weight[order]
        class_weight: Array = np.bincount(y, sample_weight, n_classes)  # type: ignore[assignment]
        return cls(order, starts, weight, class_weight)

    def merge(self, kept: NDArray[np.intp], into: NDArray[np.intp]) -> Rows:
        """Merge rows: row i goes into row ``kept[into[i]]`` of the same class, and weights and sizes are summed."""
        weight: Array = np.bincount(into, self.weight)  # type: ignore[assignment]
        size = np.bincount(into, self.size).astype(np.float64)
        starts = np.searchsorted(kept, self.starts)
        return Rows(self.order[kept], starts, weight, self.class_weight, size)

    def by_class(self, amounts: Array) -> Array:
        """Sum of the amounts of the rows of each class."""
        return np.array([block.sum() for block in np.split(amounts, self.starts[1:-1])])

    @property
    def listing(self) -> Listing:
        """All rows with their sample weights."""
        return np.arange(len(self.order), dtype=dtypes.ROW), self.weight, self.starts[:-1], self.starts[1:]

    @property
    def n_rows(self) -> int:
        """Number of the user's rows, whatever their weights: only the ratios of weights matter."""
        return len(self.order) if self.size is None else int(self.size.sum())

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
    """

    def __init__(self, rows: Rows, initial: Array) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.raw = rows.weight.copy()
        self.scale = initial / (initial * rows.class_weight).sum()
        self.class_weight = self.scale * rows.class_weight  # sums to 1
        self.stale, self.any_stale = np.zeros(n_classes, dtype=bool), False  # which histograms start from zero
        self._remaining, self._ratio = np.ones(n_classes), np.empty(n_classes)
        self._listed, self._amounts = np.empty(n_rows, dtype=dtypes.ROW), np.empty(n_rows)
        self._ends = rows.starts[:-1].copy()
        # The rows that are added to the histogram of each class.
        self.listing: Listing = self._listed, self._amounts, rows.starts[:-1], self._ends

    def reset(self) -> None:
        """Normalise the weights to 1 and list all rows, for a learner whose histogram contains none of them."""
        self.raw = self.values
        self.raw /= self.raw.sum()
        self.scale[:] = self._remaining[:] = 1.0
        self.class_weight = self.rows.by_class(self.raw)
        self.stale[:] = self.any_stale = True
        self._listed[:] = np.arange(len(self.raw))
        self._amounts[:] = self.raw
        self._ends[:] = self.rows.starts[1:]

    @property
    def values(self) -> Array:
        """Weight of each row; sums to 1."""
        return self.raw * np.repeat(self.scale, np.diff(self.rows.starts))

    def update(self, F: Array, W: Array, predicted: NDArray[np.uint8], counts: NDArray[np.int64]) -> float:
        """Multiply the weight of each row by ``F[true, predicted] / Z`` and return Z. `F` is divided by Z in place.

        `W` is the weight and `counts` the number of rows of each (true, predicted) pair.
        """
        self.class_weight = np.empty(len(W))  # a new array: the history refers to the old one
        Z, n_stale = kernels.reweigh(
            predicted, counts, W, self.rows.starts, F, self.raw, self.scale, self._remaining, self._ratio,
            self.class_weight, self.stale, self._listed, self._amounts, self._ends,
        )  # fmt: skip
        self.any_stale = n_stale > 0
        return Z


class RowWeights(Weights):
    """The distribution D, updated by a factor of each row.

    Nearly all rows change in every round, so that all are listed and the histograms start from zero each time.
    `initial` is the weight of each row before the first round, relative to its sample weight.
    """

    def __init__(self, rows: Rows, initial: Array) -> None:
        super().__init__(rows, np.ones(rows.n_classes))
        self.multiply(initial)

    def multiply(self, factors: Array) -> float:
        """Multiply the weight of each row by its factor divided by Z, and return Z."""
        self.raw *= factors
        Z = float((self.scale * self.rows.by_class(self.raw)).sum())
        self.reset()
        return Z

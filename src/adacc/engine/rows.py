"""The rows that are boosted on: grouped by class, and weighted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adacc.engine import dtypes, kernels
from adacc.rules.base import Array


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
        order = np.argsort(y, kind="stable").astype(dtypes.ROW)
        starts = np.searchsorted(y[order], np.arange(n_classes + 1))
        weight = sample_weight[order]
        class_weight: Array = np.bincount(y, sample_weight, n_classes)  # type: ignore[assignment]
        return cls(order, starts, weight, class_weight)

    @property
    def n_classes(self) -> int:
        return len(self.class_weight)

    @property
    def true(self) -> NDArray[np.uint8]:
        return np.repeat(np.arange(self.n_classes, dtype=dtypes.CLASS), np.diff(self.starts))


class Weights:
    """The distribution D over the rows, changed by factors of (true, predicted) class.

    A row's weight is ``raw * scale[class]``. A round multiplies the scale of a class by the factor of its rightly
    predicted rows, so that only the wrong ones need be touched; these are listed, with what each gained, for the
    learner's histograms. Since wrong rows only ever gain, sums that are kept up to date this way lose no accuracy.
    Where that does not hold (a factor that is smaller for wrong rows, or a scale that leaves the range of floats) the
    class is marked stale: all its rows are listed, and its sums begin anew.
    """

    def __init__(self, rows: Rows, initial: Array) -> None:
        n_rows, n_classes = len(rows.order), rows.n_classes
        self.rows = rows
        self.raw = rows.weight * np.repeat(initial, np.diff(rows.starts))
        self.scale = np.ones(n_classes)
        self.stale = np.empty(n_classes, dtype=bool)
        self.changed_rows = np.empty(n_rows, dtype=dtypes.ROW)
        self.changed_by = np.empty(n_rows)
        self.changed = np.empty(n_classes + 1, dtype=np.int64)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Make the weights sum to 1, and list every row with all it has, for a learner that knows none of them yet."""
        self.raw = self.values
        self.raw /= self.raw.sum()
        self.scale[:] = 1.0
        self.class_weight = np.array([block.sum() for block in np.split(self.raw, self.rows.starts[1:-1])])
        self.stale[:] = True
        self.changed_rows[:] = np.arange(len(self.raw))
        self.changed_by[:] = self.raw
        self.changed[:] = self.rows.starts

    @property
    def values(self) -> Array:
        """D, one number per row; sums to 1."""
        return self.raw * np.repeat(self.scale, np.diff(self.rows.starts))

    def update(self, F: Array, predicted: NDArray[np.uint8], W: Array) -> None:
        """Multiply each row by ``F[true, predicted]``; `W` is the mass before, F already carries 1/Z."""
        kernels.reweigh(
            predicted, F, self.rows.starts, self.raw, self.scale, self.stale,
            self.changed_rows, self.changed_by, self.changed,
        )  # fmt: skip
        self.class_weight = (F * W).sum(axis=1)

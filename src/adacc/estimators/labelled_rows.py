"""Rows with known classes, on which decision rules are tuned and measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array


@dataclass(frozen=True)
class LabelledRows:
    """Rows to tune a rule on.

    Attributes
    ----------
    statistic : ndarray of shape (n_rows,)
        The number of each row that is compared with the threshold.
    is_positive : ndarray of shape (n_rows,)
        Whether each row is positive.
    weight : ndarray of shape (n_rows,)
        Weights of the rows; that of a row which occurs several times is divided among its occurrences.
    groups : ndarray of shape (n_rows,) or None
        Numbers of the groups, which are resampled as a whole; None if all rows are independent.
    fn, fp : ndarray of shape (n_rows,) or float
        Cost of a false negative and of a false positive, beyond that of the correct prediction.
    correct : tuple of float
        Cost of the correct prediction of a negative and of a positive row.
    numbers : ndarray of shape (n_rows,) or None
        Numbers of the rows if some occur several times, as several folds hold them out; None if all are distinct.
    """

    statistic: Array
    is_positive: NDArray[np.bool_]
    weight: Array
    groups: NDArray[np.intp] | None = None
    fn: Array | float = 1.0
    fp: Array | float = 1.0
    correct: tuple[float, float] = (0.0, 0.0)
    numbers: NDArray[np.intp] | None = None

    @cached_property
    def counts(self) -> Array:
        """Number of distinct rows that each row counts as: 1, or 1 / n if it occurs n times."""
        if self.numbers is None:
            return np.ones(len(self.weight))
        counts: Array = 1.0 / np.bincount(self.numbers)[self.numbers]
        return counts

    @property
    def units(self) -> NDArray[np.intp] | None:
        """Numbers of what is resampled as a whole: groups, or rows that occur several times; None if each row is."""
        return self.numbers if self.groups is None else self.groups

    @cached_property
    def levels(self) -> Array:
        """The distinct values of the statistic, ascending."""
        return np.unique(self.statistic)

    @cached_property
    def level(self) -> NDArray[np.intp]:
        """Number of the value of each row."""
        return np.searchsorted(self.levels, self.statistic)

"""Rows that a weak learner is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.rows import Listing


@dataclass(frozen=True)
class Drawn:
    """Rows with weights, grouped by class."""

    rows: NDArray[np.uint32]
    weight: Array
    starts: NDArray[np.int64]

    @property
    def listing(self) -> Listing:
        return self.rows, self.weight, self.starts[:-1], self.starts[1:]

    @property
    def class_weight(self) -> Array:
        return np.array([block.sum() for block in np.split(self.weight, self.starts[1:-1])])


@dataclass(frozen=True)
class Extra(Drawn):
    """Synthetic rows, given by their positions in a table that the learner has prepared."""

    prepared: Any


@dataclass(frozen=True)
class Sample(Drawn):
    """Training rows, and optionally synthetic rows."""

    extra: Extra | None = None

    @property
    def class_weight(self) -> Array:
        class_weight = super().class_weight
        return class_weight if self.extra is None else class_weight + self.extra.class_weight

"""Rows that a weak learner is fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.rows import Listing


@dataclass(frozen=True)
class Drawn:
    """Rows for the learner, grouped by class, with their weights."""

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
    """Synthetic rows: their numbers in the table that the learner has prepared."""

    prepared: Any


@dataclass(frozen=True)
class Sample(Drawn):
    """Real rows, and perhaps further ones that are not among them."""

    extra: Extra | None = None

    @property
    def class_weight(self) -> Array:
        own = super().class_weight
        return own if self.extra is None else own + self.extra.class_weight

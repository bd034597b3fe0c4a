"""Training rows with class indices, weights and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.columns import Table
from adacc.data.groups import GroupDraw
from adacc.data.rows import Rows
from adacc.data.weights import scale_weights


@dataclass(frozen=True)
class TrainingSet:
    """Rows with class indices and positive weights."""

    table: Table
    y: NDArray[np.intp]
    weight: Array
    classes: NDArray[Any]
    negative_class: int
    numbers: NDArray[np.intp]  # (n_rows,): position of each row in the user's data
    groups: NDArray[np.intp] | None = None  # (n_rows,): group index of each row; splits keep groups together
    cost: Array | None = None  # (n_rows,): cost of misclassifying each row; None if costs are given by class only
    # whether the groups are those of equal rows that `duplicates` keeps together, which the user did not give
    groups_are_copies: bool = False

    @cached_property
    def rows(self) -> Rows:
        return Rows.group(self.y, len(self.classes), self.weight)

    def subset(self, rows: NDArray[np.intp]) -> TrainingSet:
        return replace(
            self,
            table=self.table.take(rows),
            y=self.y[rows],
            weight=scale_weights(self.weight[rows]),
            numbers=self.numbers[rows],
            groups=None if self.groups is None else self.groups[rows],
            cost=None if self.cost is None else self.cost[rows],
        )

    def split(self, fraction: float, seed: int) -> tuple[TrainingSet, TrainingSet]:
        """Split into training and validation rows, each with rows of every class; groups stay together."""
        rng = np.random.default_rng(seed)
        if self.groups is not None:
            return self._split_groups(fraction, rng)
        held_out = np.zeros(len(self.y), dtype=bool)
        for k, label in enumerate(self.classes.tolist()):
            members = rng.permutation(np.flatnonzero(self.y == k))
            if len(members) < 2:
                raise ValueError(
                    "early stopping (n_iter_no_change) holds out rows of every class, "
                    f"but {label!r} has only one: give X_val and y_val"
                )
            held_out[members[: min(max(round(fraction * len(members)), 1), len(members) - 1)]] = True
        return self.subset(np.flatnonzero(~held_out)), self.subset(np.flatnonzero(held_out))

    def _split_groups(self, fraction: float, rng: np.random.Generator) -> tuple[TrainingSet, TrainingSet]:
        assert self.groups is not None
        n_classes = len(self.classes)
        trained = GroupDraw(self.groups, self.y, n_classes).draw(1.0 - fraction, rng)
        missing = np.setdiff1d(np.arange(n_classes), self.y[~trained])
        if len(missing):
            raise ValueError(
                "early stopping (n_iter_no_change) holds out groups with rows of every class, but the groups that "
                f"could be held out have none of {self.classes.tolist()[missing[0]]!r}: give X_val and y_val"
            )
        return self.subset(np.flatnonzero(trained)), self.subset(np.flatnonzero(~trained))

"""The two-class problems of several classes: their rows, costs and bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.settings import Settings
from adacc.costs import class_costs, cost_matrix, is_cost_matrix, side_cost
from adacc.data.binned import BinnedDataset
from adacc.data.rows import Rows
from adacc.data.training_set import TrainingSet

SIDES = np.array([-1, 1])
"""The codes of the two classes of a problem."""


def problem_settings(
    settings: Settings, classes: NDArray[Any], class_weight: Array, code: NDArray[np.int8]
) -> Settings:
    """The settings of a problem.

    The cost of a side is the mean cost of its classes, by their weight; with a cost matrix, of predicting the other. If
    both are 0, it does not matter which side is predicted, and the sides have the same cost.
    """
    costs, weight = settings.options.get("costs"), class_weight
    if not settings.rule.uses_costs or isinstance(costs, str):  # "balanced" costs follow from the rows
        return settings
    if is_cost_matrix(costs):
        matrix = cost_matrix(costs, classes)
        return settings.with_costs([side_cost(matrix, code == side, code == -side, weight) for side in SIDES])
    by_class = class_costs(costs, classes, weight)
    of_sides = [float(np.average(by_class[code == side], weights=weight[code == side])) for side in SIDES]
    return settings.with_costs(of_sides if any(of_sides) else [1.0, 1.0])


def side_weights(class_weight: Array, code: NDArray[np.int8]) -> Array:
    """Summed weight of the classes of each side."""
    return np.array([class_weight[code == side].sum() for side in SIDES])


def heavier_side(weights: NDArray[Any]) -> int:
    """The negative class of a problem, which wins ties: the side of more weight."""
    return int(np.argmax(weights))


def problem_rows(training_set: TrainingSet, code: NDArray[np.int8]) -> tuple[TrainingSet, NDArray[np.intp]]:
    """The rows of a problem, and their positions among all rows. The classes are the codes, -1 and 1."""
    rows = training_set.rows
    by_class = [rows.order[rows.starts[k] : rows.starts[k + 1]] for k in np.flatnonzero(code)]
    members = np.sort(np.concatenate(by_class), kind="stable").astype(np.intp)
    y, weight = (code > 0).astype(np.intp).take(training_set.y.take(members)), training_set.weight.take(members)
    cost = None if training_set.cost is None else training_set.cost[members]
    if cost is not None and not cost.any():  # it does not matter which side is predicted
        cost = np.ones(len(members))
    problem = TrainingSet(
        table=training_set.table.take(members),
        y=y,
        weight=weight,
        classes=SIDES,
        negative_class=heavier_side(np.bincount(y, weight, 2)),
        numbers=training_set.numbers.take(members),
        groups=None if training_set.groups is None else training_set.groups[members],
        cost=cost,
    )
    return problem, members


class SharedBins:
    """The bins of all rows, from which those of the problems are taken."""

    def __init__(self, binned: BinnedDataset) -> None:
        self._binned = binned
        order = binned.rows.order
        self._place = np.empty(len(order), dtype=np.intp)  # position of each row of the training set in `binned`
        self._place[order] = np.arange(len(order))

    def take(self, members: NDArray[np.intp], rows: Rows, collapse: bool) -> BinnedDataset:
        """Some rows of the training set, which are `rows`."""
        return self._binned.take(self._place.take(members.take(rows.order)), rows, collapse)

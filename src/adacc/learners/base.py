"""What boosting asks of a weak learner and of its fitted models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Sample


class Scorer(Protocol):
    """All rounds as one function of a row."""

    def scores(self, table: Table) -> Array:
        """Shape (n_rows, n_outputs)."""


class Models(Protocol):
    """The weak models of all rounds."""

    def __len__(self) -> int: ...

    def __getitem__(self, rounds: slice) -> Models: ...

    def __add__(self, later: Any) -> Models: ...

    def cells(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        """Prediction of every row, round by round."""

    def compile(self, contributions: Array) -> Scorer:
        """What sums the contributions (round, predicted class, output) of all rounds for every row."""

    def importances(self, n_features: int) -> Array:
        """How much each round (row) relies on each feature."""

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        """The models as a user sees them."""

    def check(self, table: Table) -> None:
        """Refuse a table whose columns cannot be what they were in training."""

    @property
    def has_labels(self) -> bool:
        """Whether some columns are read as categories."""


class Learner(Protocol):
    """What the loop asks of a weak learner.

    Attributes
    ----------
    rows : Rows
        The training rows as the learner keeps them: equal ones may have been made one.
    pass_in_rows : float
        How many changed rows it takes in in the time of a pass over all it has summed; infinite if it sums nothing.
    """

    rows: Rows
    pass_in_rows: float

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, LeafAssignment, Array]:
        """A weak model for these weights, its prediction of every training row, and ``W``.

        ``W`` is the weight of each (true, predicted) pair.
        """

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> Any:
        """Other rows, in the form in which `apply` and a sampler's extra rows want them."""

    def apply(self, model: Any, prepared: Any) -> LeafAssignment:
        """The prediction that the model fitted last makes of prepared rows."""

    def models(self, fitted: list[Any]) -> Models:
        """The weak models of all rounds, as one object that predicts."""


def weigh_pairs(cells: LeafAssignment, weights: Weights) -> Array:
    """``W``, the weight of each (true, predicted) pair, from the rows."""
    W = np.zeros((weights.rows.n_classes, weights.rows.n_classes))
    kernels.weigh_pairs(*cells, weights.raw, weights.scale, weights.rows.starts, W)
    return W


def used_features(records: NDArray[np.void]) -> NDArray[np.int32]:
    """Features of stumps or nodes; -1 stands for none."""
    features = np.unique(records["feature"])
    return features[features >= 0]

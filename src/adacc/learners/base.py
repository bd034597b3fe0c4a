"""Protocols of weak learners and of their fitted models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.data.binned import BinnedDataset
from adacc.data.binning import BinMapper, Feature
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Sample
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.growth import Growth
from adacc.learners.splits import MonotonicCst
from adacc.learners.step_functions import Steps
from adacc.learners.tree_shapley import TreeShapley

IDENTITY = np.arange(dtypes.MAX_CLASSES, dtype=dtypes.CLASS)
"""The class of each leaf where the leaves are class numbers."""


class Scorer(Protocol):
    """Computes the scores of rows from all rounds."""

    def scores(self, table: Table) -> Array:
        """Scores of all rows, shape (n_rows, n_outputs)."""


class ArrayFields(Protocol):
    """The arrays of a model file."""

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""

    def array(self, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]:
        """Array with this dtype and shape (None: any size); raises an error if there is none."""

    def finite(self, name: str, *shape: int | None) -> Array:
        """Array of finite floats."""


class Models(Protocol):
    """The weak models of all rounds.

    Attributes
    ----------
    learner : str or None
        Name of the native learner in `adacc.learners.catalog.LEARNERS`; None for external classifiers.
    bin_mapper : BinMapper or None
        Maps columns to the bins that the models split on; None for external classifiers, which read the table.
    """

    learner: ClassVar[Any]

    @property
    def bin_mapper(self) -> BinMapper | None: ...

    @property
    def used(self) -> NDArray[np.int32]:
        """Indices of the features that native models split on, ascending."""

    def __len__(self) -> int: ...

    def __getitem__(self, rounds: slice) -> Models: ...

    def followed_by(self, *later: Any) -> Models:
        """These models and the later ones, which have the same bins."""

    def leaves(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        """Leaf of every row and class of every leaf, one round at a time."""

    def leaf_values(self, contributions: Array) -> Array:
        """Contribution of each class of a leaf, as `leaves` numbers them: shape (n_rounds, n_leaf_classes, n_outputs).

        `contributions` are those of the classes; they are the same unless leaves divide their vote among classes.
        """

    def compile(self, contributions: Array) -> Scorer:
        """Scorer that sums the contributions of all rounds, which are those of `leaf_values`."""

    def step_functions(self, contributions: Array) -> Steps | None:
        """The same sum as one step function per feature; None if a model may combine features."""

    def shapley(self, contributions: Array) -> TreeShapley | None:
        """Shapley values of the same sum; None if they are not computed for these models, or are step functions."""

    def importances(self, n_features: int) -> Array:
        """Importance of each feature (column) in each round (row)."""

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        """The models as objects for users, one per round."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The models as named arrays, for a model file."""

    @classmethod
    def from_arrays(cls, fields: ArrayFields, bin_mapper: BinMapper, n_classes: int) -> Models:
        """The inverse of `to_arrays`. Raises ValueError unless every number is valid: kernels do not check bounds."""


@dataclass(frozen=True)
class LearnerInput:
    """Arguments of a native learner.

    Attributes
    ----------
    binned : BinnedDataset
        The training rows.
    criterion : {"gini", "entropy", "error"}
        Impurity measure that a split minimizes.
    negative_class : int
        For two classes, the class that wins ties.
    growth : Growth
        Limits of the growth of a tree.
    seed : int
        Seed of random choices.
    threads : Threads
        Threads, which work on different features.
    shared : bool
        Whether other learners use `binned` at the same time.
    monotonic_cst : tuple of int or None
        Monotonic constraint of each feature, for learners whose entry of the catalogue supports them; None: none.
    """

    binned: BinnedDataset
    criterion: str
    negative_class: int
    growth: Growth
    seed: int
    threads: Threads
    shared: bool
    monotonic_cst: MonotonicCst | None = None


class Learner(Protocol):
    """A weak learner, as the boosting loop uses it.

    Attributes
    ----------
    rows : Rows
        The training rows as the learner stores them; identical rows may have been merged.
    """

    rows: Rows

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, LeafAssignment, Array]:
        """Fit a weak model; returns the model, the leaf of every training row, and ``W``.

        ``W`` is the total weight of each (true, predicted) pair of classes.
        """

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> Any:
        """Convert other rows to the form that `apply` and the synthetic rows of a sampler need."""

    def apply(self, model: Any, prepared: Any) -> LeafAssignment:
        """Leaf of each prepared row in the model that was fitted last."""

    def models(self, fitted: list[Any]) -> Models:
        """The weak models of all rounds as one `Models` object."""


@dataclass(frozen=True)
class RoundByRound:
    """`Scorer` for any models, which adds the contributions of one round at a time."""

    models: Models
    contributions: Array

    def scores(self, table: Table) -> Array:
        scores = np.zeros((table.n_rows, self.contributions.shape[2]))
        rounds = self.models.leaves(table, table.every_row)
        for (leaves, lookup), contribution in zip(rounds, self.contributions, strict=True):
            scores += contribution[lookup[leaves]]
        return scores


def weigh_pairs(leaves: LeafAssignment, weights: Weights) -> Array:
    """Compute ``W``, the total weight of each (true, predicted) pair, from the rows."""
    W = np.zeros((weights.rows.n_classes, weights.rows.n_classes))
    kernels.weigh_pairs(*leaves, weights.raw, weights.scale, weights.rows.starts, W)
    return W


def used_features(records: NDArray[np.void]) -> NDArray[np.int32]:
    """Indices of the features that stumps or nodes split on; a feature of -1 means no split."""
    features = np.unique(records["feature"])
    return features[features >= 0]


def check_cuts(records: NDArray[np.void], features: tuple[Feature, ...], name: str) -> None:
    """Raise ValueError unless the "feature" and "cut" of all stumps or nodes are valid; -1 means no split."""
    feature = records["feature"]
    if feature.min() < -1 or feature.max() >= len(features):
        raise ValueError(f"{name}_feature.npy must hold numbers from -1 to {len(features) - 1}")
    # The last bin holds missing numbers or unknown categories, and is no cut.
    n_cuts = np.array([each.n_bins - 1 for each in features])
    if ((feature >= 0) & (records["cut"] >= n_cuts[feature])).any():
        raise ValueError(f"{name}_cut.npy must hold indices of existing thresholds or categories")


def check_class_numbers(numbers: NDArray[Any], n_classes: int, name: str) -> None:
    """Raise ValueError unless all numbers are class numbers."""
    if numbers.max() >= n_classes:
        raise ValueError(f"{name}.npy must hold class numbers from 0 to {n_classes - 1}")

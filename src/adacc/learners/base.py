"""What boosting asks of a weak learner and of its fitted models."""

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
from adacc.learners.growth import Growth
from adacc.learners.step_functions import Steps


class Scorer(Protocol):
    """All rounds as one function of a row."""

    def scores(self, table: Table) -> Array:
        """Shape (n_rows, n_outputs)."""


class ArrayFields(Protocol):
    """The arrays of a model file; a missing array, or one of another dtype or shape (None: any size), is an error."""

    def array(self, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]: ...

    def finite(self, name: str, *shape: int | None) -> Array:
        """An array of finite floats."""


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
        """Numbers of the features that some native model splits on, ascending."""

    def __len__(self) -> int: ...

    def __getitem__(self, rounds: slice) -> Models: ...

    def __add__(self, later: Any) -> Models: ...

    def cells(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        """Prediction of every row, round by round."""

    def compile(self, contributions: Array) -> Scorer:
        """A function of a row that sums the contributions (round, predicted class, output) of all rounds."""

    def step_functions(self, contributions: Array) -> Steps | None:
        """The same sum as one step function per feature; None if a model may combine features."""

    def importances(self, n_features: int) -> Array:
        """How much each round (row) relies on each feature."""

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        """The models as a user sees them."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The models as named arrays, for a model file."""

    @classmethod
    def from_arrays(cls, fields: ArrayFields, bin_mapper: BinMapper, n_classes: int) -> Models:
        """The inverse of `to_arrays`. Raises ValueError unless every number is valid: kernels do not check bounds."""


@dataclass(frozen=True)
class LearnerInput:
    """What a native learner is made of.

    Attributes
    ----------
    binned : BinnedDataset
        The training rows.
    criterion : {"gini", "entropy", "error"}
        What a split minimises.
    negative_class : int
        The class that wins ties, where there are two classes.
    growth : Growth
        Limits of a tree.
    seed : int
        Seed of random choices.
    threads : Threads
        Threads over features.
    shared : bool
        Whether other learners use `binned` at the same time.
    """

    binned: BinnedDataset
    criterion: str
    negative_class: int
    growth: Growth
    seed: int
    threads: Threads
    shared: bool


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


@dataclass(frozen=True)
class RoundByRound:
    """The `Scorer` of any models: adds up what each round contributes to every row."""

    models: Models
    contributions: Array

    def scores(self, table: Table) -> Array:
        scores = np.zeros((table.n_rows, self.contributions.shape[2]))
        rounds = self.models.cells(table, table.every_row)
        for (cells, lookup), contribution in zip(rounds, self.contributions, strict=True):
            scores += contribution[lookup[cells]]
        return scores


def weigh_pairs(cells: LeafAssignment, weights: Weights) -> Array:
    """``W``, the weight of each (true, predicted) pair, from the rows."""
    W = np.zeros((weights.rows.n_classes, weights.rows.n_classes))
    kernels.weigh_pairs(*cells, weights.raw, weights.scale, weights.rows.starts, W)
    return W


def used_features(records: NDArray[np.void]) -> NDArray[np.int32]:
    """Features of stumps or nodes; -1 stands for none."""
    features = np.unique(records["feature"])
    return features[features >= 0]


def check_cuts(records: NDArray[np.void], features: tuple[Feature, ...], name: str) -> None:
    """Raise ValueError unless the "feature" and "cut" of stumps or nodes exist; -1 stands for no feature."""
    feature = records["feature"]
    if feature.min() < -1 or feature.max() >= len(features):
        raise ValueError(f"{name}_feature.npy must hold numbers from -1 to {len(features) - 1}")
    # The last bin holds missing numbers or unknown categories, and no split ends there.
    n_cuts = np.array([each.n_codes - 1 for each in features])
    if ((feature >= 0) & (records["cut"] >= n_cuts[feature])).any():
        raise ValueError(f"{name}_cut.npy must hold numbers of thresholds or categories that there are")


def check_class_numbers(numbers: NDArray[Any], n_classes: int, name: str) -> None:
    """Raise ValueError unless all numbers are of classes."""
    if numbers.max() >= n_classes:
        raise ValueError(f"{name}.npy must hold numbers of classes, from 0 to {n_classes - 1}")

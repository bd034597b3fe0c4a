"""Weak learner that wraps a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adacc.algorithms.base import Array
from adacc.data.columns import Table
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Sample
from adacc.kernels import dtypes
from adacc.learners.base import IDENTITY, RoundByRound, weigh_pairs


@dataclass(frozen=True)
class Classifiers:
    """Fitted scikit-learn classifiers, one per round, which predict class numbers."""

    learner: ClassVar = None
    bin_mapper: ClassVar = None

    fitted: list[Any]

    @property
    def used(self) -> NDArray[np.int32]:
        return np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self.fitted)

    def __getitem__(self, rounds: slice) -> Classifiers:
        return Classifiers(self.fitted[rounds])

    def followed_by(self, *later: Classifiers) -> Classifiers:
        return Classifiers([model for each in (self, *later) for model in each.fitted])

    def leaves(self, table: Table, order: NDArray[np.uint32]) -> Iterator[LeafAssignment]:
        for model in self.fitted:
            yield model.predict(table.native)[order].astype(dtypes.CLASS), IDENTITY

    def leaf_values(self, contributions: Array) -> Array:
        return contributions

    def compile(self, contributions: Array) -> RoundByRound:
        return RoundByRound(self, contributions)

    def step_functions(self, contributions: Array) -> None:
        return None

    def shapley(self, contributions: Array) -> None:
        return None

    def importances(self, n_features: int) -> Array:
        return np.array([model.feature_importances_ for model in self.fitted])

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        return self.fitted

    def to_arrays(self) -> NoReturn:
        raise ValueError("external classifiers cannot be written as arrays")

    @classmethod
    def from_arrays(cls, *_: Any) -> NoReturn:
        raise ValueError("external classifiers cannot be read from arrays")


class ClassifierLearner:
    """Weak learner for any scikit-learn classifier whose `fit` takes ``sample_weight``."""

    def __init__(self, estimator: Any, table: Table, rows: Rows, seed: int) -> None:
        self.estimator, self.table, self.rows, self.seed = estimator, table, rows, seed
        self.y = np.empty(len(rows.order), dtype=np.intp)
        self.y[rows.order] = rows.true

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, LeafAssignment, Array]:
        model = clone(self.estimator)
        seeds = {name: self._seed(t) for name in model.get_params() if name.split("__")[-1] == "random_state"}
        model.set_params(**seeds)
        # The weights have mean 1, not sum 1, as the regularization of learners assumes.
        n_rows = len(self.y)
        if sample is None:
            weight = np.empty(n_rows)
            weight[self.rows.order] = weights.values * n_rows
            model.fit(self.table.native, self.y, sample_weight=weight)
        else:
            X, y, weight = self._sampled(sample)
            model.fit(X, y, sample_weight=weight * n_rows)
        leaves = self.apply(model, self.prepare(self.table, self.rows.order))
        return model, leaves, weigh_pairs(leaves, weights)

    def _seed(self, t: int) -> int:
        return int(np.random.default_rng([self.seed, t]).integers(2**31))

    def _sampled(self, sample: Sample) -> tuple[Any, NDArray[np.intp], Array]:
        drawn = self.rows.order[sample.rows]
        table, y, weight = self.table.take(drawn), self.y[drawn], sample.weight
        if sample.extra is not None:
            extra = sample.extra
            table = table.append(extra.prepared[0].take(extra.rows))
            y = np.concatenate([y, np.repeat(np.arange(self.rows.n_classes), np.diff(extra.starts))])
            weight = np.concatenate([weight, extra.weight])
        return table.native, y, weight

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> tuple[Table, NDArray[np.uint32]]:
        return table, order

    def apply(self, model: Any, prepared: Any) -> LeafAssignment:
        table, order = prepared
        return model.predict(table.native)[order].astype(dtypes.CLASS), IDENTITY

    def models(self, fitted: list[Any]) -> Classifiers:
        return Classifiers(fitted)

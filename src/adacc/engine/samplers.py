"""Which rows the weak learner sees: all of them (no sampler), a fresh part, or fresh SMOTE rows besides.

Votes and weights always follow the real rows; a sampler changes only what the learner is fitted on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.engine import dtypes
from adacc.engine.rows import Listing, Rows, Weights
from adacc.engine.table import ArrayTable, Table
from adacc.rules.base import Array


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


class Sampler(Protocol):
    """Draws what the learner sees."""

    def draw(self, weights: Weights, t: int) -> Sample:
        """The sample of round t; the same for the same seed and round."""


class Subsampler:
    """A fresh part of the rows, `keep` of each class, none twice."""

    def __init__(self, rows: Rows, seed: int, keep: NDArray[np.intp]) -> None:
        self.rows, self.seed, self.keep = rows, seed, keep

    @classmethod
    def under(cls, rows: Rows, seed: int, ratio: float) -> Subsampler:
        """All rows of the rarest class, and so many of every other that the former over these are `ratio`
        [RUSBoost, Seiffert et al. 2010].
        """
        counts = np.diff(rows.starts)
        return cls(rows, seed, np.minimum(counts, np.round(counts.min() / ratio)).astype(int))

    @classmethod
    def share(cls, rows: Rows, seed: int, share: float) -> Subsampler:
        """Of every class such a share, and a row at least."""
        return cls(rows, seed, np.maximum(np.round(share * np.diff(rows.starts)), 1).astype(int))

    def draw(self, weights: Weights, t: int) -> Sample:
        rng = np.random.default_rng([self.seed, t])
        starts = self.rows.starts
        kept = [
            np.sort(rng.choice(np.arange(starts[k], starts[k + 1], dtype=dtypes.ROW), keep, replace=False))
            for k, keep in enumerate(self.keep)
        ]
        rows = np.concatenate(kept)
        return Sample(rows, weights.values[rows], np.cumsum([0, *self.keep]))


class Smote:
    """All rows and `n_synthetic` fresh SMOTE rows of each rarer class [SMOTEBoost, Chawla et al. 2003].

    imbalanced-learn makes the rows of all rounds in one go, so that neighbours are searched once; each round is dealt
    its own.
    """

    def __init__(
        self,
        table: Table,
        rows: Rows,
        prepare: Callable[[Table, NDArray[np.uint32]], Any],
        rounds: range,
        seed: int,
        n_synthetic: int,
        k_neighbors: int,
    ) -> None:
        counts = np.diff(rows.starts)
        self.rows, self.first, self.n_synthetic = rows, rounds.start, n_synthetic
        self.rarer = np.flatnonzero(counts < counts.max())
        self.n_rounds = len(rounds)
        made = []
        for k in self.rarer:
            members = table.take(rows.order[rows.starts[k] : rows.starts[k + 1]])
            state = int(np.random.default_rng([seed, rounds.start, int(k)]).integers(2**31))
            made.append(synthesise(members, len(rounds) * n_synthetic, k_neighbors, state))
        self.prepared = None
        if made:
            rows_made = ArrayTable(np.concatenate(made))
            self.prepared = prepare(rows_made, np.arange(rows_made.n_rows, dtype=dtypes.ROW))

    def draw(self, weights: Weights, t: int) -> Sample:
        everyone = np.arange(len(self.rows.order), dtype=dtypes.ROW)
        if self.prepared is None:
            return Sample(everyone, weights.values, self.rows.starts)
        begin = (t - self.first) * self.n_synthetic
        dealt = [
            np.arange(begin, begin + self.n_synthetic, dtype=dtypes.ROW) + at * self.n_rounds * self.n_synthetic
            for at in range(len(self.rarer))
        ]
        counts = np.zeros(self.rows.n_classes, dtype=np.int64)
        counts[self.rarer] = self.n_synthetic
        weight = np.full(counts.sum(), 1.0 / len(everyone))
        extra = Extra(np.concatenate(dealt), weight, np.cumsum([0, *counts]), self.prepared)
        return Sample(everyone, weights.values, self.rows.starts, extra)


FARTHEST = 1e140
"""Of larger numbers the squared distances, by which neighbours are found, may leave the range of floats."""


def synthesise(members: Table, n_new: int, k_neighbors: int, seed: int) -> NDArray[Any]:
    """`n_new` rows between the rows of one class and their neighbours in it; copies where there is but one row."""
    nominal = np.flatnonzero(members.categorical).tolist()
    X = np.empty((members.n_rows, members.n_columns))
    for j, values in members.numbers(np.flatnonzero(~members.categorical).tolist(), members.every_row):
        if np.isnan(values).any():
            raise ValueError(f"smoteboost cannot make rows from missing values, and {members.name(j)} has some")
        if np.abs(values).max() > FARTHEST:
            raise ValueError(
                f"smoteboost cannot make rows from numbers beyond {FARTHEST}, and {members.name(j)} has some"
            )
        X[:, j] = values
    categories = {}
    for j in nominal:
        labels = members.labels(j).tolist()
        categories[j] = list(dict.fromkeys(labels))
        X[:, j] = [categories[j].index(label) for label in labels]
    new = _neighbours_between(X, nominal, n_new, k_neighbors, seed)
    if not nominal:
        return new
    rows = new.astype(object)
    for j in nominal:
        rows[:, j] = [categories[j][int(code)] for code in new[:, j]]
    return rows


def _neighbours_between(X: Array, nominal: list[int], n_new: int, k_neighbors: int, seed: int) -> Array:
    try:
        from imblearn.over_sampling import SMOTE, SMOTEN, SMOTENC
    except ImportError:
        raise ImportError("smoteboost needs imbalanced-learn: pip install 'adacc[resampling]'") from None
    n, k = len(X), min(k_neighbors, len(X) - 1)
    if k < 1:
        return np.repeat(X, n_new, axis=0)
    common: dict[str, Any] = {"sampling_strategy": {1: n + n_new}, "k_neighbors": k, "random_state": seed}
    if not nominal:
        smote = SMOTE(**common)
    elif len(nominal) == X.shape[1]:
        smote = SMOTEN(**common)
    else:
        smote = SMOTENC(categorical_features=nominal, **common)
    # imbalanced-learn asks for a second class; one row of it takes no part in the making.
    resampled, _ = smote.fit_resample(np.concatenate([X, X[:1]]), np.array([1] * n + [0]))
    return resampled[n + 1 :]

"""Which rows the weak learner sees: all of them (no sampler), a fresh part, or SMOTE rows besides.

Votes and weights follow the real rows, and a sampler changes only what the learner is fitted on. The exception is
`KeptSmote`, whose synthetic rows stay in the training set: votes follow all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.columns import ArrayTable, Table
from adacc.data.groups import GroupDraw
from adacc.data.rows import LeafAssignment, Rows, Weights
from adacc.data.samples import Extra, Sample
from adacc.kernels import dtypes


class Sampler(Protocol):
    """Draws what the learner sees."""

    def draw(self, weights: Weights, t: int) -> Sample:
        """The sample of round t; the same for the same seed and round."""

    def judge(self, W: Array, apply: Callable[[Any], LeafAssignment]) -> Array:
        """``W`` of the rows that judge the model, given that of the real rows; `apply` predicts prepared rows."""
        return W

    def update(self, F: Array) -> None:
        """Reweight the sampler's own rows, if it keeps any, by the factors that the real rows were multiplied by."""
        return


class Subsampler(Sampler):
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


class Smote(Sampler):
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
        # In the form of the table: a learner that was fitted on a frame predicts frames.
        self.made = table.take(np.arange(0)).append(ArrayTable(np.concatenate(made))) if made else None
        self.prepared = None if self.made is None else prepare(self.made, self.made.every_row)

    def draw(self, weights: Weights, t: int) -> Sample:
        everyone = np.arange(len(self.rows.order), dtype=dtypes.ROW)
        if self.prepared is None:
            return Sample(everyone, weights.values, self.rows.starts)
        dealt = self._rows_of(range(t, t + 1))
        weight = np.full(len(dealt), 1.0 / len(everyone))
        return Sample(everyone, weights.values, self.rows.starts, self._extra(dealt, weight))

    def _rows_of(self, rounds: range) -> NDArray[np.uint32]:
        """The synthetic rows of these rounds, class by class."""
        begin, end = ((t - self.first) * self.n_synthetic for t in (rounds.start, rounds.stop))
        per_class = self.n_rounds * self.n_synthetic
        dealt = [np.arange(begin, end, dtype=dtypes.ROW) + at * per_class for at in range(len(self.rarer))]
        return np.concatenate(dealt)

    def _extra(self, dealt: NDArray[np.uint32], weight: Array) -> Extra:
        counts = np.zeros(self.rows.n_classes, dtype=np.int64)
        counts[self.rarer] = len(dealt) // len(self.rarer)
        return Extra(dealt, weight, np.cumsum([0, *counts]), self.prepared)


class KeptSmote(Smote):
    """As `Smote`, but the synthetic rows stay: SMOTEBoost as in the public code that fits the paper's table.

    Each round's new rows join the training set for good, each with weight 1/n, where n is the number of rows before
    they join, and all weights are normalised to 1. From then on they are rows as any other: the learner sees them, the
    vote follows the errors on all rows, and they are multiplied by the same factors as the real rows. The rare class
    therefore grows from round to round. Formulas: SMOTEBoost of github.com/dialnd/imbalanced-algorithms (smote.py).
    That code also draws the new rows from earlier synthetic ones; here they come from the real rows, whose neighbours
    are searched once. docs/reproduction.md says what difference that makes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        n_made = 0 if self.made is None else self.made.n_rows
        self._weight = np.zeros(n_made)
        self._true = np.repeat(self.rarer, self.n_rounds * self.n_synthetic)
        self._kept = np.empty(0, dtype=dtypes.ROW)
        self._real_share = 1.0  # weight of all real rows, that of real and kept ones being 1
        self._predicted: NDArray[np.uint8]

    def draw(self, weights: Weights, t: int) -> Sample:
        if self.prepared is None:
            return super().draw(weights, t)
        self._add(t)
        everyone = np.arange(len(self.rows.order), dtype=dtypes.ROW)
        extra = self._extra(self._kept, self._weight[self._kept])
        return Sample(everyone, weights.values * self._real_share, self.rows.starts, extra)

    def judge(self, W: Array, apply: Callable[[Any], LeafAssignment]) -> Array:
        if self.prepared is None:
            return W
        self._look(apply(self.prepared))
        pairs = self._true[self._kept] * len(W) + self._predicted
        kept: Array = np.bincount(pairs, self._weight[self._kept], W.size).reshape(W.shape)  # type: ignore[assignment]
        return W * self._real_share + kept

    def update(self, F: Array) -> None:
        if self.prepared is None:
            return
        self._weight[self._kept] *= F[self._true[self._kept], self._predicted]
        self._normalise()

    def replay(self, rounds: Iterable[tuple[LeafAssignment, Array]]) -> None:
        """Bring the weights to where earlier rounds left them: what each predicts of the `made` rows, and its factors.

        A model does not hold its synthetic rows: those of its rounds are made anew.
        """
        for t, (cells, factors) in enumerate(rounds):
            self._add(t)
            self._look(cells)
            self.update(factors)

    def _add(self, t: int) -> None:
        new = self._rows_of(range(t, t + 1))
        self._weight[new] = 1.0 / (len(self.rows.order) + len(self._kept))
        self._kept = self._rows_of(range(t + 1))
        self._normalise()

    def _look(self, cells: LeafAssignment) -> None:
        cell, lookup = cells
        self._predicted = lookup[cell[self._kept]]

    def _normalise(self) -> None:
        whole = self._real_share + self._weight.sum()
        self._real_share /= whole
        self._weight /= whole


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


class GroupSubsampler(Sampler):
    """A fresh share of the groups each round, so that the rows out of the bag share no group with those in it."""

    def __init__(self, rows: Rows, groups: NDArray[np.intp], seed: int, share: float) -> None:
        self._rows, self._seed, self._share = rows, seed, share
        self._draw = GroupDraw(groups, rows.true.astype(np.intp), rows.n_classes)

    def draw(self, weights: Weights, t: int) -> Sample:
        """The sample of round t; the same for the same seed and round."""
        drawn = self._draw.draw(self._share, np.random.default_rng([self._seed, t]))
        rows = np.flatnonzero(drawn).astype(dtypes.ROW)
        return Sample(rows, weights.values[rows], np.searchsorted(rows, self._rows.starts))

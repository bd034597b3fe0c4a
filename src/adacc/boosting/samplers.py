"""Samplers: which rows the weak learner of a round is fitted to.

Without a sampler it is fitted to all rows. A sampler draws a subset, or adds synthetic rows (SMOTE). Votes and weights
are computed on the real rows. The exception is `KeptSmote`, whose synthetic rows stay in the training set and count in
the votes.
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
    """Draws the rows that the learner of a round is fitted to."""

    def draw(self, weights: Weights, t: int) -> Sample:
        """The sample of round t; it depends only on the seed and the round."""

    def judge(self, W: Array, apply: Callable[[Any], LeafAssignment]) -> Array:
        """``W`` of the rows that the vote is computed on, given that of the real rows; `apply` predicts rows."""
        return W

    def update(self, F: Array) -> None:
        """Multiply the weights of the sampler's own rows, if it keeps any, by the factors of the round."""
        return


class Subsampler(Sampler):
    """Draws `keep` rows of each class without replacement in each round."""

    def __init__(self, rows: Rows, seed: int, keep: NDArray[np.intp]) -> None:
        self.rows, self.seed, self.keep = rows, seed, keep

    @classmethod
    def under(cls, rows: Rows, seed: int, ratio: float) -> Subsampler:
        """Random under-sampling [RUSBoost, Seiffert et al. 2010].

        Keeps all rows of the rarest class; `ratio` is their number divided by the number of rows kept of any other
        class.
        """
        counts = np.diff(rows.starts)
        return cls(rows, seed, np.minimum(counts, np.round(counts.min() / ratio)).astype(int))

    @classmethod
    def share(cls, rows: Rows, seed: int, share: float) -> Subsampler:
        """Draws a share of the rows of every class, at least one row of each."""
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


ROUNDS_PER_DRAW = 50
"""Number of rounds whose synthetic rows are generated together, so that neighbours are searched once for them."""


class Smote(Sampler):
    """All rows and `n_synthetic` new SMOTE rows of each class but the largest [SMOTEBoost, Chawla et al. 2003].

    The synthetic rows of `ROUNDS_PER_DRAW` rounds are generated in one call of imbalanced-learn. Each round uses its
    own rows, which do not depend on the number of rounds: a warm start draws what a longer fit would have drawn.
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
        first = rounds.start // ROUNDS_PER_DRAW
        draws = range(first, max(-(-rounds.stop // ROUNDS_PER_DRAW), first + 1))
        self.rows, self.first, self.n_synthetic = rows, draws.start * ROUNDS_PER_DRAW, n_synthetic
        self.rarer = np.flatnonzero(counts < counts.max())
        self.n_rounds = len(draws) * ROUNDS_PER_DRAW
        made = []
        for k in self.rarer:
            members = table.take(rows.order[rows.starts[k] : rows.starts[k + 1]])
            for draw in draws:
                state = int(np.random.default_rng([seed, draw, int(k)]).integers(2**31))
                made.append(synthesise(members, ROUNDS_PER_DRAW * n_synthetic, k_neighbors, state))
        # The same type as the table: a learner that was fitted to a frame predicts frames.
        self.made = table.take(np.arange(0)).append(ArrayTable(np.concatenate(made))) if made else None
        self.prepared = None if self.made is None else prepare(self.made, self.made.every_row)

    def draw(self, weights: Weights, t: int) -> Sample:
        all_rows = np.arange(len(self.rows.order), dtype=dtypes.ROW)
        if self.prepared is None:
            return Sample(all_rows, weights.values, self.rows.starts)
        synthetic = self._rows_of(range(t, t + 1))
        weight = np.full(len(synthetic), 1.0 / len(all_rows))
        return Sample(all_rows, weights.values, self.rows.starts, self._extra(synthetic, weight))

    def _rows_of(self, rounds: range) -> NDArray[np.uint32]:
        """The synthetic rows of these rounds, grouped by class."""
        begin, end = ((t - self.first) * self.n_synthetic for t in (rounds.start, rounds.stop))
        per_class = self.n_rounds * self.n_synthetic
        of_classes = [np.arange(begin, end, dtype=dtypes.ROW) + i * per_class for i in range(len(self.rarer))]
        return np.concatenate(of_classes)

    def _extra(self, synthetic: NDArray[np.uint32], weight: Array) -> Extra:
        counts = np.zeros(self.rows.n_classes, dtype=np.int64)
        counts[self.rarer] = len(synthetic) // len(self.rarer)
        return Extra(synthetic, weight, np.cumsum([0, *counts]), self.prepared)


class KeptSmote(Smote):
    """`Smote` whose synthetic rows stay in the training set, as in the public code that matches the paper's table.

    The new rows of a round are added permanently, each with weight 1/n, where n is the number of rows before, and all
    weights are normalised to 1. The learner is fitted to real and synthetic rows, the vote is computed on both, and
    both are multiplied by the same factors. The rare classes therefore grow from round to round. Formulas: SMOTEBoost
    of github.com/dialnd/imbalanced-algorithms (smote.py). That code also interpolates between earlier synthetic rows;
    here only real rows are used, so that neighbours are searched once. docs/reproduction.md reports the difference.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        n_made = 0 if self.made is None else self.made.n_rows
        self._weight = np.zeros(n_made)
        self._true = np.repeat(self.rarer, self.n_rounds * self.n_synthetic)
        self._kept = np.empty(0, dtype=dtypes.ROW)
        self._real_share = 1.0  # weight of all real rows; real and kept rows together have weight 1
        self._predicted: NDArray[np.uint8]

    def draw(self, weights: Weights, t: int) -> Sample:
        if self.prepared is None:
            return super().draw(weights, t)
        self._add(t)
        all_rows = np.arange(len(self.rows.order), dtype=dtypes.ROW)
        extra = self._extra(self._kept, self._weight[self._kept])
        return Sample(all_rows, weights.values * self._real_share, self.rows.starts, extra)

    def judge(self, W: Array, apply: Callable[[Any], LeafAssignment]) -> Array:
        if self.prepared is None:
            return W
        self._predict(apply(self.prepared))
        pairs = self._true[self._kept] * len(W) + self._predicted
        kept: Array = np.bincount(pairs, self._weight[self._kept], W.size).reshape(W.shape)  # type: ignore[assignment]
        return W * self._real_share + kept

    def update(self, F: Array) -> None:
        if self.prepared is None:
            return
        self._weight[self._kept] *= F[self._true[self._kept], self._predicted]
        self._normalise()

    def replay(self, rounds: Iterable[tuple[LeafAssignment, Array]]) -> None:
        """Repeat earlier rounds, each given by the leaves of the `made` rows and its weight factors.

        A fitted model does not store its synthetic rows; they are generated again.
        """
        for t, (leaves, factors) in enumerate(rounds):
            self._add(t)
            self._predict(leaves)
            self.update(factors)

    def _add(self, t: int) -> None:
        new = self._rows_of(range(t, t + 1))
        self._weight[new] = 1.0 / (len(self.rows.order) + len(self._kept))
        self._kept = self._rows_of(range(t + 1))
        self._normalise()

    def _predict(self, leaves: LeafAssignment) -> None:
        leaf, class_of_leaf = leaves
        self._predicted = class_of_leaf[leaf[self._kept]]

    def _normalise(self) -> None:
        total = self._real_share + self._weight.sum()
        self._real_share /= total
        self._weight /= total


MAX_ABS_VALUE = 1e140
"""Larger numbers are rejected: the squared distances between neighbours may overflow."""


def synthesise(members: Table, n_new: int, k_neighbors: int, seed: int) -> NDArray[Any]:
    """`n_new` SMOTE rows between the rows of one class and their neighbours; copies if the class has one row."""
    nominal = np.flatnonzero(members.categorical).tolist()
    X = np.empty((members.n_rows, members.n_columns))
    for j, values in members.numbers(np.flatnonzero(~members.categorical).tolist(), members.every_row):
        if np.isnan(values).any():
            raise ValueError(f"{members.name(j)} must not have missing values for smoteboost, got NaN")
        largest = np.abs(values).max()
        if largest > MAX_ABS_VALUE:
            raise ValueError(f"{members.name(j)} must be within ±{MAX_ABS_VALUE} for smoteboost, got {largest:.3g}")
        X[:, j] = values
    categories = {}
    for j in nominal:
        labels = members.labels(j).tolist()
        categories[j] = list(dict.fromkeys(labels))
        X[:, j] = [categories[j].index(label) for label in labels]
    new = _interpolate(X, nominal, n_new, k_neighbors, seed)
    if not nominal:
        return new
    rows = new.astype(object)
    for j in nominal:
        rows[:, j] = [categories[j][int(index)] for index in new[:, j]]
    return rows


def _interpolate(X: Array, nominal: list[int], n_new: int, k_neighbors: int, seed: int) -> Array:
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
    # imbalanced-learn requires a second class; its one row is not used for the synthetic rows.
    resampled, _ = smote.fit_resample(np.concatenate([X, X[:1]]), np.array([1] * n + [0]))
    return resampled[n + 1 :]


class GroupSubsampler(Sampler):
    """Draws a share of the groups in each round, so that in-bag and out-of-bag rows share no group."""

    def __init__(self, rows: Rows, groups: NDArray[np.intp], seed: int, share: float) -> None:
        self._rows, self._seed, self._share = rows, seed, share
        self._draw = GroupDraw(groups, rows.true.astype(np.intp), rows.n_classes)

    def draw(self, weights: Weights, t: int) -> Sample:
        drawn = self._draw.draw(self._share, np.random.default_rng([self._seed, t]))
        rows = np.flatnonzero(drawn).astype(dtypes.ROW)
        return Sample(rows, weights.values[rows], np.searchsorted(rows, self._rows.starts))

"""Main effects and pairwise effects of a sum of trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.algorithms.base import Array
from adacc.learners.tree_shapley import NO_COVERS, TreeShapley

CANDIDATES_PER_PAIR, MAX_CELLS = 4, 2**24
"""Pairs whose effects are computed per pair that is wanted, and the maximum number of values of all of them."""


@dataclass(frozen=True)
class TreeEffects:
    """The functional ANOVA of a sum of trees.

    Features are independent and have the distribution of the `background` bins; without, the branches of each split
    have their shares of the training rows. Every effect has the mean 0 in each of its features, so that pairwise
    effects contain nothing that a main effect could.
    """

    trees: TreeShapley
    background: NDArray[np.unsignedinteger] | None  # (n_features, n_rows)

    @cached_property
    def main(self) -> tuple[Array, list[Array], Array]:
        """The constant by output, the effects by feature (n_bins, n_outputs), and bounds of the pairwise effects."""
        offsets, n_outputs = self._offsets, self.trees.contributions.shape[2]
        n_features = len(offsets) - 1
        constant, bounds = np.zeros(n_outputs), np.zeros((n_features, n_features))
        steps = np.zeros((n_outputs, offsets[-1] + n_features))
        kernels.add_main_effects(*self._arguments, self._work, constant, steps, bounds)
        begins = offsets + np.arange(n_features + 1)
        effects = [steps[:, a : b - 1].cumsum(axis=1).T for a, b in pairwise(begins)]
        return constant, effects, bounds + bounds.T

    def strongest_pairs(self, n_pairs: int) -> list[tuple[int, int, Array, float]]:
        """The features, effects (n_bins, n_bins, n_outputs) and standard deviations of pairs, largest first.

        The effects are computed for `CANDIDATES_PER_PAIR` times as many pairs, those of the largest bounds, as far as
        they have no more than `MAX_CELLS` values.
        """
        bounds = np.triu(self.main[2], 1)
        sizes, n_outputs = np.diff(self._offsets) + 1, self.trees.contributions.shape[2]
        candidates: list[tuple[int, int]] = []
        n_cells = 0
        for at in np.argsort(-bounds, axis=None, kind="stable")[: CANDIDATES_PER_PAIR * n_pairs].tolist():
            f, g = divmod(at, len(bounds))
            size = int(sizes[f] * sizes[g]) * n_outputs
            if bounds[f, g] > 0.0 and n_cells + size <= MAX_CELLS:
                candidates.append((f, g))
                n_cells += size
        found = [(f, g, effect, self._deviation(f, g, effect)) for f, g, effect in self._pairs(candidates)]
        return sorted(found, key=lambda each: -each[3])[:n_pairs]

    def _pairs(self, wanted: list[tuple[int, int]]) -> list[tuple[int, int, Array]]:
        if not wanted:
            return []
        sizes, n_outputs = np.diff(self._offsets) + 1, self.trees.contributions.shape[2]
        pair_of = np.full((len(sizes), len(sizes)), -1, dtype=np.int64)
        for number, (f, g) in enumerate(wanted):
            pair_of[f, g] = number
        begins = np.cumsum([0, *(sizes[f] * sizes[g] for f, g in wanted)])
        steps = np.zeros((n_outputs, begins[-1]))
        kernels.add_pair_effects(*self._arguments, pair_of, begins, self._work, steps)
        found = []
        for (f, g), begin, end in zip(wanted, begins[:-1], begins[1:], strict=True):
            cells = steps[:, begin:end].reshape(n_outputs, sizes[f], sizes[g]).cumsum(axis=1).cumsum(axis=2)
            found.append((f, g, cells[:, :-1, :-1].transpose(1, 2, 0)))
        return found

    def _deviation(self, f: int, g: int, effect: Array) -> float:
        """Standard deviation of an effect over independent features, the mean of the outputs."""
        variance = np.einsum("a,b,abq->q", self._chances(f), self._chances(g), effect**2)
        return float(np.sqrt(variance).mean())

    def _chances(self, f: int) -> Array:
        """The probability of each bin of a feature; without a background, of equally frequent ones."""
        n_bins = int(self._offsets[f + 1] - self._offsets[f])
        if self.background is None:
            return np.append(np.full(n_bins - 1, 1.0 / (n_bins - 1)), 0.0)  # without missing values
        counts: Array = np.bincount(self.background[f], minlength=n_bins)  # type: ignore[assignment]
        return counts / self.background.shape[1]

    @property
    def _offsets(self) -> NDArray[np.int64]:
        return self.trees.bin_mapper.offsets

    @cached_property
    def _arguments(self) -> tuple[Any, ...]:
        cumulative = None
        if self.background is None and not self.trees.has_covers:
            raise ValueError(NO_COVERS)
        if self.background is not None:
            by_feature = [np.append(0.0, np.cumsum(self._chances(f))) for f in range(len(self._offsets) - 1)]
            cumulative = np.concatenate(by_feature)
        has_missing = np.ones(len(self._offsets) - 1, dtype=bool)
        return self.trees.arrays, self.trees.contributions, has_missing, cumulative

    @cached_property
    def _work(self) -> tuple[Any, ...]:
        nodes, ends, path, *_ = self.trees.workspace(0, 0, 0)
        n_terms = len(path[4]) + 2
        first, second = ((*np.empty((2, n_terms), dtype=np.int64), np.empty(n_terms)) for _ in range(2))
        return nodes, ends, path, np.empty(len(path[0])), first, second

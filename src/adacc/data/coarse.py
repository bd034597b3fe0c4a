"""Coarser bins, for trees on few rows."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.data.binning import BinMapper, Feature, NumericBins

MAX_THRESHOLDS = 63
"""Maximum number of thresholds of a numeric feature with coarse bins."""


class _Coarse(NamedTuple):
    kept: NDArray[np.intp]  # the thresholds that are kept
    bins: NDArray[np.uint8]  # coarse bin of each bin
    cuts: NDArray[np.uint32]  # original cut of each coarse cut; the last one separates the missing values


@lru_cache(1024)
def _coarse(n_thresholds: int, first: int, step: int) -> _Coarse:
    """Every n-th threshold, from the first one on."""
    kept = np.arange(first, n_thresholds, step)
    bins = np.append(np.searchsorted(kept, np.arange(n_thresholds + 1)), len(kept) + 1)
    return _Coarse(kept, bins.astype(np.uint8), np.append(kept, n_thresholds).astype(np.uint32))


class CoarseBins:
    """Bins by every n-th threshold of each numeric feature, from a random one on.

    A split search on a few hundred rows spends most of its time on empty bins. A forest, which draws the thresholds
    anew for every bag, still uses all of them.

    Attributes
    ----------
    bin_mapper : BinMapper
        The coarse bins. Categorical features, and numeric features with few thresholds, have the same bins as before.
    """

    def __init__(self, bin_mapper: BinMapper, rng: np.random.Generator) -> None:
        self._coarse: dict[int, _Coarse] = {}
        features: list[Feature] = list(bin_mapper.features)
        for j, feature in enumerate(features):
            if isinstance(feature, NumericBins) and len(feature.thresholds) > MAX_THRESHOLDS:
                n_thresholds = len(feature.thresholds)
                step = -(-n_thresholds // MAX_THRESHOLDS)
                self._coarse[j] = _coarse(n_thresholds, int(rng.integers(step)), step)
                features[j] = NumericBins(feature.thresholds[self._coarse[j].kept])
        self.bin_mapper = BinMapper(tuple(features))

    def apply(self, bins: NDArray[np.unsignedinteger], rows: NDArray[np.intp]) -> NDArray[np.unsignedinteger]:
        """Coarse bins of some rows."""
        taken = bins.take(rows, axis=1)  # faster than [:, rows]
        for j, coarse in self._coarse.items():
            taken[j] = coarse.bins[taken[j]]
        return taken

    def restore(self, nodes: NDArray[np.void]) -> None:
        """Replace the cuts of nodes by those of the original bins."""
        if not self._coarse:
            return
        n_cuts = np.zeros(len(self.bin_mapper.features), dtype=np.int64)
        n_cuts[list(self._coarse)] = [len(coarse.cuts) for coarse in self._coarse.values()]
        starts, cuts = np.cumsum(n_cuts) - n_cuts, np.concatenate([coarse.cuts for coarse in self._coarse.values()])
        changed = np.flatnonzero((nodes["feature"] >= 0) & (n_cuts[nodes["feature"]] > 0))
        nodes["cut"][changed] = cuts[starts[nodes["feature"][changed]] + nodes["cut"][changed]]

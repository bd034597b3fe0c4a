"""Coarser bins, for trees on few rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.data.binning import BinMapper, Feature, NumericBins

MAX_THRESHOLDS = 63
"""Maximum number of thresholds of a numeric feature with coarse bins."""


class _Coarse(NamedTuple):
    bins: NDArray[np.unsignedinteger]  # coarse bin of each bin
    cuts: NDArray[np.uint32]  # cut of each coarse cut


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
                kept = np.arange(rng.integers(step), n_thresholds, step)
                features[j] = NumericBins(feature.thresholds[kept])
                bins = np.append(np.searchsorted(kept, np.arange(n_thresholds + 1)), len(kept) + 1)
                self._coarse[j] = _Coarse(bins.astype(np.uint8), np.append(kept, n_thresholds).astype(np.uint32))
        self.bin_mapper = BinMapper(tuple(features))

    def apply(self, bins: NDArray[np.unsignedinteger], rows: NDArray[np.intp]) -> NDArray[np.unsignedinteger]:
        """Coarse bins of some rows."""
        taken = np.ascontiguousarray(bins[:, rows])
        for j, coarse in self._coarse.items():
            taken[j] = coarse.bins[taken[j]]
        return taken

    def restore(self, nodes: NDArray[np.void]) -> None:
        """Replace the cuts of nodes by those of the original bins."""
        for j, coarse in self._coarse.items():
            of_feature = np.flatnonzero(nodes["feature"] == j)
            nodes["cut"][of_feature] = coarse.cuts[nodes["cut"][of_feature]]

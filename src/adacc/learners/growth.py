"""Limits of the growth of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt


@dataclass(frozen=True)
class Growth:
    """Limits of the growth of a tree.

    Attributes
    ----------
    max_depth : int or None
        Maximum depth.
    max_leaf_nodes : int or None
        Maximum number of leaves, grown best-first by gain; leaves for missing values are not counted.
    min_samples_leaf : int
        Minimum number of rows in a leaf, except for leaves for missing values.
    max_features : int, float, "sqrt", "2sqrt", "log2" or None
        Number of features drawn as split candidates at each node.
    """

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | float | str | None = None

    @property
    def is_stump(self) -> bool:
        return self == Growth()

    def n_candidates(self, n_features: int) -> int:
        """Number of split candidates at each node, given the number of features."""
        candidates = self.max_features
        if candidates is None:
            return n_features
        if isinstance(candidates, str):
            candidates = {"sqrt": sqrt, "2sqrt": lambda n: 2.0 * sqrt(n), "log2": log2}[candidates](n_features)
        elif isinstance(candidates, float):
            candidates = candidates * n_features
        return min(max(int(candidates), 1), n_features)

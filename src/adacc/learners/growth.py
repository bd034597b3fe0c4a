"""Limits of a tree's growth."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt


@dataclass(frozen=True)
class Growth:
    """How far a tree may grow.

    Attributes
    ----------
    max_depth : int or None
        Splits from the root to a leaf.
    max_leaf_nodes : int or None
        Leaves, those of missing values apart; the split of the largest gain comes first.
    min_samples_leaf : int
        Rows that a leaf must have, those of missing values apart.
    max_features : int, float, "sqrt", "2sqrt", "log2" or None
        Features that each node looks at, drawn anew.
    """

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | float | str | None = None

    @property
    def is_stump(self) -> bool:
        return self == Growth()

    def n_features_of(self, n_features: int) -> int:
        """Of so many, those that a node looks at."""
        wanted = self.max_features
        if wanted is None:
            return n_features
        if isinstance(wanted, str):
            wanted = {"sqrt": sqrt, "2sqrt": lambda n: 2.0 * sqrt(n), "log2": log2}[wanted](n_features)
        elif isinstance(wanted, float):
            wanted = wanted * n_features
        return min(max(int(wanted), 1), n_features)

"""Limits of the growth of a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt

MIN_FEATURES = 12
"""Minimum number of split candidates for "auto"; all features if there are fewer."""

FEATURES_BY_NAME: dict[str, Callable[[int], float]] = {
    "sqrt": sqrt,
    "2sqrt": lambda n_features: 2.0 * sqrt(n_features),
    "log2": log2,
    "auto": lambda n_features: max(2.0 * sqrt(n_features), MIN_FEATURES),
}
"""Numbers of split candidates, given the number of features."""


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
    max_features : int, float, "sqrt", "2sqrt", "log2", "auto" or None
        Number of features drawn as split candidates at each node. "auto" is "2sqrt", but at least 12.
    """

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: int | float | str | None = None

    def draws_features(self, n_features: int) -> bool:
        """Whether features are drawn at random. "auto" draws them even if all are candidates, so that one
        specialisation of the kernel is compiled for any number of features.
        """
        return self.max_features == "auto" or self.n_candidates(n_features) < n_features

    @property
    def is_stump(self) -> bool:
        return self == Growth()

    def n_candidates(self, n_features: int) -> int:
        """Number of split candidates at each node, given the number of features."""
        candidates = self.max_features
        if candidates is None:
            return n_features
        if isinstance(candidates, str):
            candidates = FEATURES_BY_NAME[candidates](n_features)
        elif isinstance(candidates, float):
            candidates = candidates * n_features
        return min(max(int(candidates), 1), n_features)


def full_tree_depth(n_rows: int, rows_per_leaf: int, depth_range: tuple[int, int]) -> int:
    """Depth of a full tree with this many rows per leaf, within a range."""
    lowest, highest = depth_range
    return min(max(round(log2(n_rows / rows_per_leaf)), lowest), highest)

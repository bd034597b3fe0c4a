"""Trees in the format of the package shap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import NumericBins
from adacc.learners.tree_shapley import TreeShapley

TINY_SHARE = 1e-60
"""Share of a branch without training rows: shap divides by the shares, so that they must not be 0."""


def as_shap_trees(trees: TreeShapley, names: tuple[str, ...], slope: float, shift: float) -> dict[str, Any]:
    """The trees as the dictionary that `shap.TreeExplainer` reads."""
    nodes = trees.nodes
    used = np.unique(nodes["feature"])
    for j in used[used >= 0].tolist():
        if not isinstance(trees.bin_mapper.features[j], NumericBins):
            raise ValueError(
                f"to_shap needs trees that split on numbers, but they split on the categories of column {names[j]!r}, "
                "which trees of shap cannot: explain(X).to_shap() gives the SHAP values of this model"
            )
    if not trees.has_covers:
        raise ValueError(
            "to_shap needs the number of training rows of each node, which model files of earlier versions do not "
            "contain: fit the model again"
        )
    has_child = (nodes["children"][:, 2] >= 0) & (nodes["feature"] >= 0)
    had_missing = np.zeros(len(names), dtype=bool)
    had_missing[nodes["feature"][has_child]] = True
    thresholds = [
        each.thresholds if isinstance(each, NumericBins) else np.empty(0) for each in trees.bin_mapper.features
    ]
    made = []
    for t, (first, last) in enumerate(zip(trees.starts[:-1], trees.starts[1:], strict=True)):
        tree = nodes[first:last]
        values = slope * trees.contributions[t][trees.leaf_codes[first:last]]
        made.append(_ShapTree(tree, values, thresholds, had_missing).arrays())
    offset = np.full(trees.contributions.shape[2], shift)
    return {"trees": made, "base_offset": offset, "internal_dtype": np.float64, "input_dtype": np.float64}


class _ShapTree:
    """A tree with two branches per node: a node with three branches becomes two, the first of which splits off NaN."""

    def __init__(
        self, nodes: NDArray[np.void], values: Array, thresholds: list[Array], had_missing: NDArray[np.bool_]
    ) -> None:
        n_nodes = len(nodes)
        self.left, self.right, self.default = [-1] * n_nodes, [-1] * n_nodes, [-1] * n_nodes
        self.features, self.thresholds = [-1] * n_nodes, [0.0] * n_nodes
        self.values, self.cover = list(values), nodes["cover"].tolist()
        for node in np.flatnonzero(nodes["feature"] >= 0).tolist():
            f, cut = int(nodes["feature"][node]), int(nodes["cut"][node])
            left, right, missing = nodes["children"][node].tolist()
            if cut >= len(thresholds[f]):  # all numbers go left
                self._split(node, f, np.inf, left, missing, is_missing_right=True)
            elif had_missing[f]:
                present = self._leaf(node)
                self.cover[present] = sum(self.cover[child] for child in (left, right) if child >= 0)
                self._split(present, f, float(thresholds[f][cut]), left, right)
                self._split(node, f, np.inf, present, missing, is_missing_right=True)
            else:
                self._split(node, f, float(thresholds[f][cut]), left, right)

    def _split(
        self, node: int, feature: int, threshold: float, left: int, right: int, is_missing_right: bool = False
    ) -> None:
        left, right = (child if child >= 0 else self._leaf(node) for child in (left, right))
        self.left[node], self.right[node], self.default[node] = left, right, right if is_missing_right else left
        self.features[node], self.thresholds[node] = feature, threshold

    def _leaf(self, node: int) -> int:
        """Add a leaf with the value of a node, for a branch that no training row took; returns its number."""
        for column in (self.left, self.right, self.default, self.features):
            column.append(-1)
        self.thresholds.append(0.0)
        self.values.append(self.values[node])
        self.cover.append(TINY_SHARE * self.cover[node])
        return len(self.left) - 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "children_left": np.array(self.left, dtype=np.int32),
            "children_right": np.array(self.right, dtype=np.int32),
            "children_default": np.array(self.default, dtype=np.int32),
            "features": np.array(self.features, dtype=np.int32),
            "thresholds": np.array(self.thresholds),
            "values": np.array(self.values),
            "node_sample_weight": np.array(self.cover),
        }

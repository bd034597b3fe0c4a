"""Ensembles of trees that divide their votes between two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper
from adacc.learners.tree import Trees
from adacc.model.ensemble import Ensemble


def divide_votes(
    nodes: NDArray[np.void], sizes: NDArray[np.int64], values: Array, bin_mapper: BinMapper, record: Array
) -> Ensemble:
    """Trees whose nodes have real values: positive ones for class 1, negative ones for class 0.

    A tree votes with the largest absolute value of its nodes; each node divides this vote between the classes in
    proportion to its value. The classes and confidences of the nodes are set. `sizes` is the number of nodes of each
    tree. `record` has, for each tree, its weighted error, the weights of both classes, and their recalls after it.
    """
    n_trees, starts = len(sizes), np.cumsum([0, *sizes])
    votes = np.maximum.reduceat(np.abs(values), starts[:-1])
    shares = np.abs(values) / np.maximum(np.repeat(votes, sizes), np.finfo(float).tiny)
    nodes["class"], nodes["confidence"] = values > 0.0, (1.0 + shares) / 2.0
    ones = np.ones(n_trees)
    history = {
        "alpha": votes,
        "weighted_error": record[:, 0],
        "normaliser": ones,
        "class_cost": np.ones((n_trees, 2)),
        "class_weight": record[:, 1:3],
        "class_recall": record[:, 3:],
        "bound": ones,
    }
    return Ensemble(
        models=Trees(nodes, starts, bin_mapper),
        votes=np.repeat(votes[:, None], 2, axis=1),
        decision=np.ones(2),
        negative_class=0,
        factors=np.ones((n_trees, 2, 2)),
        history=history,
        finished=True,
    )

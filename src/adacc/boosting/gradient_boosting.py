"""Gradient boosting of symmetric trees on one bag, for two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc import kernels
from adacc.boosting.divided_votes import divide_votes
from adacc.data.binning import BinMapper
from adacc.data.rows import Rows
from adacc.kernels import dtypes
from adacc.learners.growth import Growth, full_tree_depth
from adacc.learners.tree import initial_random_state
from adacc.model.ensemble import Ensemble

LEARNING_RATE, COST_EXPONENT = 0.2, 0.1
"""Factor on the value of each leaf, and exponent of the cost of each round."""

PENALTY = 3.0
"""L2 penalty on the value of a leaf: this many rows of mean weight without a gradient."""

SUBSAMPLE = 0.8
"""Share of the rows that the splits of a tree are chosen on."""

ROWS_PER_LEAF, DEPTH_RANGE = 64, (4, 6)
"""The depth of trees is that of a full tree with this many rows per leaf, within a range, unless `growth` limits it."""


def boost_gradients(
    bins: NDArray[np.unsignedinteger], rows: Rows, bin_mapper: BinMapper, growth: Growth, n_rounds: int, seed: int
) -> Ensemble:
    """Boost symmetric trees by the gradient of the log loss.

    The cumulative costs of AdaCC are the class weights: in every round, the weight of the class with the larger error
    rate of the ensemble is multiplied by ``(1 + error rate) ** COST_EXPONENT``.
    """
    n_rows, n_features = len(rows.weight), len(bin_mapper.features)
    depth = full_tree_depth(n_rows, ROWS_PER_LEAF, DEPTH_RANGE)
    if growth.max_depth is not None:
        depth = min(depth, growth.max_depth)
    if growth.max_leaf_nodes is not None:
        depth = min(depth, growth.max_leaf_nodes.bit_length() - 1)
    # With many missing values, which have branches of their own, a tree may stop before it has this depth.
    capacity = min((3 ** (depth + 1) - 1) // 2, dtypes.MAX_DIVIDED_NODES)
    n_slots = min(3**depth, 3 * capacity)
    branches = tuple(np.empty(3 * n_slots, dtype=np.int64) for _ in range(4))
    work = (
        np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64),
        np.empty((2, n_slots * bin_mapper.max_bins), dtype=np.int64), np.empty(n_slots, dtype=np.int64), branches,
        np.empty(n_slots, dtype=np.int64), np.arange(n_features), np.empty(bin_mapper.max_bins),
        (np.empty(n_rows), np.empty(n_rows)),
    )  # fmt: skip
    shape = n_rounds, capacity
    features, cuts = np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.uint32)
    children, n_nodes = np.full((*shape, 3), -1, dtype=np.int32), np.zeros(n_rounds, dtype=np.int64)
    values, gains, covers, record = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros((n_rounds, 5))
    kernels.boost_gradients(
        bins, bin_mapper.offsets, bin_mapper.categorical, int(rows.starts[1]), rows.weight, rows.class_weight,
        LEARNING_RATE, COST_EXPONENT, PENALTY, SUBSAMPLE, depth, growth.n_candidates(n_features),
        initial_random_state(seed, 0), work, n_nodes, features, cuts, children, values, gains, covers, record,
    )  # fmt: skip
    is_node = np.arange(capacity) < n_nodes[:, None]
    nodes = np.empty(int(n_nodes.sum()), dtype=dtypes.NODE)
    fields = {"feature": features, "cut": cuts, "children": children, "gain": gains, "cover": covers}
    for name, column in fields.items():
        nodes[name] = column[is_node]
    return divide_votes(nodes, n_nodes, values[is_node], bin_mapper, record)

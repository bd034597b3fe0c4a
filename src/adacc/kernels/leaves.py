"""The leaves of rows in trees, and the sum of their values."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import inner_kernel, kernel
from adacc.kernels.splits import branch_of

BLOCK = 4096
"""Number of rows that are processed together."""

PACKED_BLOCK = 256
"""The same for packed trees: the values of a block, row by row, stay in the cache."""

ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(n) for n in range(1, 9))
"""Unsigned, so that an index needs no check whether it is negative."""


@kernel
def find_leaves(bins, offsets, categorical, features, cuts, children, leaves):
    """The leaf of each row, or the node whose branch for the row has no child."""
    nodes = np.empty(BLOCK if len(leaves) > BLOCK else len(leaves), dtype=np.int64)
    for begin in range(0, len(leaves), BLOCK):
        end = begin + BLOCK if begin + BLOCK < len(leaves) else len(leaves)
        _descend(bins, begin, end, offsets, categorical, features, cuts, children, nodes)
        for i in range(begin, end):
            leaves[i] = nodes[i - begin]


@kernel
def add_leaves(bins, offsets, categorical, starts, features, cuts, children, values, scores):
    """Add the values of the leaf of each row to its scores, for every tree.

    All trees are applied to a block of rows before the next block, so that the bins of the block stay in the cache.
    """
    nodes = np.empty(BLOCK if len(scores) > BLOCK else len(scores), dtype=np.int64)
    for begin in range(0, len(scores), BLOCK):
        end = begin + BLOCK if begin + BLOCK < len(scores) else len(scores)
        for t in range(len(starts) - 1):
            tree = slice(starts[t], starts[t + 1])
            node_values = values[tree]
            _descend(bins, begin, end, offsets, categorical, features[tree], cuts[tree], children[tree], nodes)
            for i in range(begin, end):
                for c in range(scores.shape[1]):
                    scores[i, c] += node_values[nodes[i - begin], c]


@kernel
def add_packed_leaves(
    bins, features, categories, missing, nodes, roots, depths, values, block, has_missing, scores
):  # fmt: skip
    """`add_leaves` for packed trees (`learners.tree_scorer`); rows with missing values are marked and left out.

    The values of a block of rows are copied row by row. Eight rows go down a tree together, without a branch in the
    loop: their steps are independent, so that the processor executes several at a time. `values` and `scores` have a
    row for each output, and `scores` a column for each row of whole blocks of `PACKED_BLOCK`; `block`, with a value for
    each column of so many rows, is a workspace.
    """
    n_rows, n_columns, n_outputs = bins.shape[1], len(features), np.uint64(len(scores))
    width = np.uint64(n_columns)
    for begin in range(0, n_rows, PACKED_BLOCK):
        n_in_block = PACKED_BLOCK if begin + PACKED_BLOCK < n_rows else n_rows - begin
        for c in range(n_columns):
            _copy_column(bins[features[c]], begin, n_in_block, categories[c], missing[c], c, width, block, has_missing)
        sums = scores[:, begin : begin + PACKED_BLOCK]
        n_groups = np.uint64((n_in_block + 7) // 8)  # after the last row of the block come rows of the block before
        for t in range(len(roots)):
            root = nodes[roots[t]]
            i, r_0 = np.uint64(0), np.uint64(0)
            for _ in range(n_groups):
                r_1, r_2, r_3, r_4 = r_0 + width, r_0 + TWO * width, r_0 + THREE * width, r_0 + FOUR * width
                r_5, r_6, r_7 = r_4 + width, r_4 + TWO * width, r_4 + THREE * width
                n_0, n_1 = _child(root, block, r_0), _child(root, block, r_1)
                n_2, n_3 = _child(root, block, r_2), _child(root, block, r_3)
                n_4, n_5 = _child(root, block, r_4), _child(root, block, r_5)
                n_6, n_7 = _child(root, block, r_6), _child(root, block, r_7)
                for _ in range(1, depths[t]):
                    n_0, n_1 = _child(nodes[n_0], block, r_0), _child(nodes[n_1], block, r_1)
                    n_2, n_3 = _child(nodes[n_2], block, r_2), _child(nodes[n_3], block, r_3)
                    n_4, n_5 = _child(nodes[n_4], block, r_4), _child(nodes[n_5], block, r_5)
                    n_6, n_7 = _child(nodes[n_6], block, r_6), _child(nodes[n_7], block, r_7)
                for k in range(n_outputs):
                    of_node, of_row = values[k], sums[k]
                    of_row[i] += of_node[n_0]
                    of_row[i + ONE] += of_node[n_1]
                    of_row[i + TWO] += of_node[n_2]
                    of_row[i + THREE] += of_node[n_3]
                    of_row[i + FOUR] += of_node[n_4]
                    of_row[i + FIVE] += of_node[n_5]
                    of_row[i + SIX] += of_node[n_6]
                    of_row[i + SEVEN] += of_node[n_7]
                i, r_0 = i + EIGHT, r_4 + FOUR * width


@inner_kernel
def _child(node, block, row):
    """The index of the node below a packed node that a row goes to."""
    goes_right = block[row + np.uint64(np.uint16(node))] > np.uint16(node >> np.uint64(16))
    return np.uint32((node >> np.uint64(32)) + np.uint64(goes_right))


@kernel(inline="always")
def _copy_column(column, begin, n_rows, category, missing, c, width, block, has_missing):
    """The values of a column of packed trees for a block of rows."""
    at = np.uint64(c)
    for i in range(n_rows):
        bin_ = column[begin + i]
        block[at] = bin_ if category < 0 else (0 if bin_ == category else 1)
        has_missing[begin + i] |= bin_ == missing
        at += width


@inner_kernel
def _descend(bins, begin, end, offsets, categorical, features, cuts, children, nodes):
    """The leaves of the rows of a block.

    All rows move down one level before the next, without a branch in the loop: the steps of different rows are
    independent, so that the processor executes several at a time.
    """
    for i in range(len(nodes)):
        nodes[i] = 0
    any_moves = True
    while any_moves:
        any_moves = False
        for i in range(begin, end):
            node = nodes[i - begin]
            f = features[node] if features[node] >= 0 else 0
            branch = branch_of(bins[f, i], cuts[node], offsets[f + 1] - offsets[f] - 1, categorical[f])
            child = children[node, branch]
            moves = features[node] >= 0 and child >= 0
            nodes[i - begin] = child if moves else node
            any_moves |= moves

"""The leaves of rows in trees, and the sum of their values."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import inner_kernel, kernel
from adacc.kernels.splits import branch_of

BLOCK = 4096
"""Number of rows that are processed together."""

PACKED_BLOCK = 256
"""The same for packed trees: the values of a block, row by row, stay in the cache."""

BLOCK_SIZE = np.uint64(PACKED_BLOCK)
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
    bins, features, categories, missing, nodes, roots, depths, values, tests, conditions, tables, table_values,
    nan_code, block, patterns, has_missing, scores,
):  # fmt: skip
    """`add_leaves` for packed trees (`learners.tree_scorer`).

    Rows with missing values are marked. Their scores are wrong unless `nan_code` is the number that stands for missing
    values; None is faster. `values`, `table_values` and `scores` have a row for each output, and `scores` a column for
    each row of whole blocks of `PACKED_BLOCK`. The workspaces `block`, with a row for each column of the trees, and
    `patterns` have as many.
    """
    n_rows = bins.shape[1]
    for begin in range(0, n_rows, PACKED_BLOCK):
        n_in_block = PACKED_BLOCK if begin + PACKED_BLOCK < n_rows else n_rows - begin
        for c in range(1, len(features)):
            _copy_column(
                bins[features[c]], begin, n_in_block, categories[c], missing[c], nan_code, block[c], has_missing
            )
        sums = scores[:, begin : begin + PACKED_BLOCK]
        for t in range(len(roots)):
            if nan_code is None and tests[t] < tests[t + 1]:
                _look_up(block, n_in_block, conditions, tests[t], tests[t + 1], patterns)
                for k in range(len(scores)):
                    of_pattern, of_row = table_values[k, tables[t] :], sums[k]
                    for i in range(n_in_block):
                        of_row[i] += of_pattern[np.uint64(patterns[i])]
            else:
                _descend_packed(block, n_in_block, nan_code, nodes, nodes[roots[t]], depths[t], values, sums)


@inner_kernel
def _look_up(block, n_rows, conditions, begin, end, patterns):
    """The pattern of each row of a block: bit j is set if the row goes right at test j of a tree."""
    for i in range(n_rows):
        patterns[i] = 0
    for j in range(begin, end):
        column, cut, bit = block[conditions[j, 0]], block.dtype.type(conditions[j, 1]), np.uint8(1 << (j - begin))
        for i in range(n_rows):
            patterns[i] |= bit if column[i] > cut else np.uint8(0)


@inner_kernel
def _descend_packed(block, n_rows, nan_code, nodes, root, depth, values, sums):
    """Add the values of the leaves of a block of rows in a packed tree to their sums.

    Eight rows go down the tree together, without a branch in the loop: their steps are independent, so that the
    processor executes several at a time. After the last row of the block come rows of the block before.
    """
    flat = block.reshape(block.size)
    for group in range(np.uint64((n_rows + 7) // 8)):
        i = EIGHT * group
        n_0, n_1 = _child(root, flat, i, nan_code), _child(root, flat, i + ONE, nan_code)
        n_2, n_3 = _child(root, flat, i + TWO, nan_code), _child(root, flat, i + THREE, nan_code)
        n_4, n_5 = _child(root, flat, i + FOUR, nan_code), _child(root, flat, i + FIVE, nan_code)
        n_6, n_7 = _child(root, flat, i + SIX, nan_code), _child(root, flat, i + SEVEN, nan_code)
        for _ in range(1, depth):
            n_0, n_1 = _child(nodes[n_0], flat, i, nan_code), _child(nodes[n_1], flat, i + ONE, nan_code)
            n_2, n_3 = _child(nodes[n_2], flat, i + TWO, nan_code), _child(nodes[n_3], flat, i + THREE, nan_code)
            n_4, n_5 = _child(nodes[n_4], flat, i + FOUR, nan_code), _child(nodes[n_5], flat, i + FIVE, nan_code)
            n_6, n_7 = _child(nodes[n_6], flat, i + SIX, nan_code), _child(nodes[n_7], flat, i + SEVEN, nan_code)
        for k in range(len(values)):
            of_node, of_row = values[k], sums[k]
            of_row[i] += of_node[n_0]
            of_row[i + ONE] += of_node[n_1]
            of_row[i + TWO] += of_node[n_2]
            of_row[i + THREE] += of_node[n_3]
            of_row[i + FOUR] += of_node[n_4]
            of_row[i + FIVE] += of_node[n_5]
            of_row[i + SIX] += of_node[n_6]
            of_row[i + SEVEN] += of_node[n_7]


@inner_kernel
def _child(node, block, row, nan_code):
    """The index of the node below a packed node that a row goes to."""
    value = block[np.uint64(np.uint16(node)) * BLOCK_SIZE + row]
    child = np.uint32((node >> np.uint64(32)) + np.uint64(value > np.uint16(node >> np.uint64(16))))
    if nan_code is None:
        return child
    return np.uint32(child + np.uint32(value == nan_code))


@kernel(inline="always")
def _copy_column(column, begin, n_rows, category, missing, nan_code, copy, has_missing):
    """The values of a column of packed trees for a block of rows."""
    for i in range(n_rows):
        bin_ = column[begin + i]
        is_missing = bin_ == missing
        has_missing[begin + i] |= is_missing
        copy[i] = bin_ if category < 0 else (0 if bin_ == category else 1)
        if nan_code is not None and is_missing:
            copy[i] = nan_code


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

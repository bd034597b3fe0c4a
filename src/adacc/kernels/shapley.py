"""Exact Shapley values of sums of trees.

The score of a tree is a sum over its leaves: the value of the leaf times, for each feature of the path to it, whether
the row meets the conditions on this feature. So all is computed leaf by leaf. Rows that meet the same conditions of a
path get the same values: these are computed once for each such pattern.
"""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, inner_kernel, kernel

MAX_PATTERN_FEATURES = 16
"""Maximum number of features of a path for which rows of equal pattern are found; else each row is a pattern."""


@kernel
def add_shapley_values(bins, background, trees, values, has_missing, quadrature, weights, work, phi, expected):
    """Add the Shapley values to `phi` (outputs, features, rows), and the expected scores to `expected` (outputs).

    With `background` bins, unknown features have the values of the background rows; if it is None, a row goes down all
    branches of an unknown feature in proportion to their shares, and `expected` is computed. `trees` and `work` are
    the arrays of `learners.tree_shapley.TreeShapley`, `values` are by tree, class and output. `has_missing` tells which
    features have missing values in the rows or in the background.
    """
    nodes, ends, path, rows, others, workspace, table = work
    for t in range(len(trees[2]) - 1):
        for q in range(len(phi)):
            base, n_ends = find_ends(trees, t, values[t], q, has_missing, nodes, ends)
            expected[q] += base
            for end in range(n_ends):
                delta = ends[2][end] - base
                if delta == 0.0:
                    continue
                n_path, n_excluded = follow_path(trees, t, ends[0][end], ends[1][end], nodes, path)
                n_patterns = _find_patterns(bins, path, n_path, n_excluded, rows)
                if background is None:
                    expected[q] += delta * _multiply(path[3], n_path)
                    _weigh_by_shares(path[3], n_path, rows, n_patterns, delta, quadrature, workspace, table)
                if background is not None:
                    n_others = _find_patterns(background, path, n_path, n_excluded, others)
                    _weigh_by_background(
                        n_path, rows, n_patterns, others, n_others, delta / background.shape[1], weights, table
                    )
                for k in range(n_path):
                    _add(table[k], rows[1], phi[q, path[0][k]])


@kernel
def add_interactions(bins, background, trees, values, has_missing, quadrature, weights, work, phi):
    """Add the Shapley interaction values of all pairs of features to `phi` (outputs, features, features, rows).

    The value of the features i and j is added at [i, j] or at [j, i]. The other arguments are those of
    `add_shapley_values`.
    """
    nodes, ends, path, rows, others, workspace, table = work
    for t in range(len(trees[2]) - 1):
        for q in range(len(phi)):
            base, n_ends = find_ends(trees, t, values[t], q, has_missing, nodes, ends)
            for end in range(n_ends):
                delta = ends[2][end] - base
                if delta == 0.0:
                    continue
                n_path, n_excluded = follow_path(trees, t, ends[0][end], ends[1][end], nodes, path)
                n_patterns = _find_patterns(bins, path, n_path, n_excluded, rows)
                if background is None:
                    _weigh_pairs_by_shares(path[3], n_path, rows, n_patterns, delta, quadrature, workspace, table)
                if background is not None:
                    n_others = _find_patterns(background, path, n_path, n_excluded, others)
                    _weigh_pairs_by_background(
                        n_path, rows, n_patterns, others, n_others, delta / background.shape[1], weights, table
                    )
                at = ZERO
                for i in range(n_path):
                    for j in range(i + 1, n_path):
                        _add(table[at], rows[1], phi[q, path[0][i], path[0][j]])
                        at += 1


@inner_kernel
def find_ends(trees, t, values, q, has_missing, nodes, ends):
    """List where rows end in a tree, with the value of output q; returns a frequent value, and the number of ends.

    A node below which all values are equal is an end: its splits have no effect. A branch without a child is an end
    with the value of its node; `ends` holds the node, the branch (-1: the node itself), and the value.
    """
    _, categorical, starts, features, _, children, leaf_codes, _ = trees
    parents, branches, node_values, is_end = nodes
    end_nodes, end_branches, end_values = ends
    begin, n_nodes = starts[t], starts[t + 1] - starts[t]
    for node in range(n_nodes - 1, -1, -1):  # children come after their parents
        f = features[begin + node]
        parents[node] = -1
        own = values[leaf_codes[begin + node], q]
        node_values[node], is_end[node], n_seen = own, 1, 0
        if f >= 0:
            for branch in range(3):
                child = children[begin + node, branch]
                if child >= 0 or branch < 2 or (has_missing[f] and not categorical[f]):
                    value = node_values[child] if child >= 0 else own
                    if n_seen == 0:
                        node_values[node] = value
                    if value != node_values[node] or (child >= 0 and is_end[child] == 0):
                        is_end[node] = 0
                    n_seen += 1
    n_ends = ZERO
    for node in range(n_nodes):
        f = features[begin + node]
        if node > 0 and parents[node] < 0:
            continue  # below an end
        if is_end[node] == 1:
            end_nodes[n_ends], end_branches[n_ends], end_values[n_ends] = node, -1, node_values[node]
            n_ends += 1
            continue
        for branch in range(3):
            child = children[begin + node, branch]
            if child >= 0:
                parents[child], branches[child] = node, branch
            elif branch < 2 or (has_missing[f] and not categorical[f]):
                end_nodes[n_ends], end_branches[n_ends] = node, branch
                end_values[n_ends] = values[leaf_codes[begin + node], q]
                n_ends += 1
    first, other, n_first = end_values[0], end_values[0], 0
    for end in range(n_ends):
        if end_values[end] == first:
            n_first += 1
        else:
            other = end_values[end]
    return first if 2 * n_first >= n_ends else other, n_ends


@inner_kernel
def follow_path(trees, t, node, branch, nodes, path):
    """The path from the root to an end; returns the number of its features, and of the excluded categories.

    A row meets the conditions on a feature if its bin is from low to high and none of the excluded ones. The share is
    that of the training rows of the nodes that split on the feature.
    """
    offsets, categorical, starts, features, cuts, _, _, shares = trees
    parents, branches = nodes[0], nodes[1]
    path_features, lows, highs, path_shares, excluded, excluded_at = path
    begin, n_path, n_excluded = starts[t], ZERO, ZERO
    share = 0.0  # of a branch without a child
    if branch < 0:
        share, branch, node = shares[begin + node], branches[node], parents[node]
    while node >= 0:
        f, cut = features[begin + node], np.int64(cuts[begin + node])
        last = offsets[f + 1] - offsets[f] - 1
        k = ZERO
        while k < n_path and path_features[k] != f:
            k += 1
        if k == n_path:
            path_features[k], lows[k], highs[k], path_shares[k] = f, 0, last, 1.0
            n_path += 1
        path_shares[k] *= share
        if branch == 0:
            highs[k] = min(highs[k], cut)
            if categorical[f]:
                lows[k] = max(lows[k], cut)
        elif branch == 2:
            lows[k] = last
        elif categorical[f]:
            excluded[n_excluded], excluded_at[n_excluded] = cut, k
            n_excluded += 1
        else:
            lows[k] = max(lows[k], cut + 1)
            highs[k] = min(highs[k], last - 1)
        share, branch, node = shares[begin + node], branches[node], parents[node]
    return n_path, n_excluded


@inner_kernel
def _find_patterns(bins, path, n_path, n_excluded, rows):
    """Find the pattern of each row: which features of the path meet their conditions; returns the number of patterns.

    `rows` are whether each feature of the path (first index) meets its conditions in each row, the pattern of each row,
    a row with each pattern, the number of its rows, and the workspaces: codes of the rows and patterns of the codes.
    """
    meets, pattern_of, examples, counts, codes, patterns = rows
    features, lows, highs, _, excluded, excluded_at = path
    n_rows = bins.shape[1]
    for k in range(n_path):
        column, met = bins[features[k]], meets[k]
        low, high = bins.dtype.type(lows[k]), bins.dtype.type(highs[k])
        for i in range(n_rows):
            met[i] = (column[i] >= low) & (column[i] <= high)
    for e in range(n_excluded):
        met = meets[excluded_at[e]]
        column, category = bins[features[excluded_at[e]]], bins.dtype.type(excluded[e])
        for i in range(n_rows):
            met[i] &= column[i] != category
    if n_path > MAX_PATTERN_FEATURES:
        for i in range(n_rows):
            pattern_of[i], examples[i], counts[i] = i, i, 1.0
        return n_rows
    for i in range(n_rows):
        codes[i] = 0
    for k in range(n_path):
        met, bit = meets[k], np.uint16(k)
        for i in range(n_rows):
            codes[i] |= np.uint16(met[i]) << bit
    n_patterns = ZERO
    for i in range(n_rows):
        if patterns[codes[i]] < 0:
            patterns[codes[i]], examples[n_patterns], counts[n_patterns] = n_patterns, i, 0.0
            n_patterns += 1
        pattern_of[i] = patterns[codes[i]]
        counts[pattern_of[i]] += 1.0
    for p in range(n_patterns):
        patterns[codes[examples[p]]] = -1
    return n_patterns


@inner_kernel
def _multiply(shares, n_path):
    product = 1.0
    for k in range(n_path):
        product *= shares[k]
    return product


@inner_kernel
def _add(by_pattern, pattern_of, sums):
    for i in range(len(sums)):
        sums[i] += by_pattern[pattern_of[i]]


@inner_kernel
def _weigh_by_shares(shares, n_path, rows, n_patterns, delta, quadrature, workspace, table):
    """The Shapley values of each pattern: ``(o_j - z_j) ∫ Π_{i≠j} (o_i t + z_i (1 - t)) dt`` for t from 0 to 1.

    o_i is whether the row meets the conditions on feature i, and z_i the share of the branches. The integral is the sum
    over the sets of known features with Shapley's weights [Owen 1972]; the quadrature is exact for polynomials.
    """
    meets, examples = rows[0], rows[2]
    positions, masses = quadrature
    factors, before = workspace
    n_positions = (n_path + 1) // 2
    for p in range(n_patterns):
        row = examples[p]
        for k in range(n_path):
            table[k, p] = 0.0
        for m in range(n_positions):
            position, product = positions[n_positions, m], masses[n_positions, m] * delta
            for k in range(n_path):
                factors[k] = meets[k, row] * position + shares[k] * (1.0 - position)
                before[k] = product
                product *= factors[k]
            after = 1.0
            for k in range(n_path - 1, -1, -1):
                table[k, p] += before[k] * after
                after *= factors[k]
        for k in range(n_path):
            table[k, p] *= meets[k, row] - shares[k]


@inner_kernel
def _weigh_by_background(n_path, rows, n_patterns, others, n_others, delta, weights, table):
    """The Shapley values of each pattern, summed over the background rows.

    If a features of the path meet their conditions only in the row and c only in the background row, and none in
    neither, then each of the former gets ``(a-1)! c! / (a+c)!``, each of the latter ``-a! (c-1)! / (a+c)!``.
    """
    meets, examples, their_meets, their_examples, counts = rows[0], rows[2], others[0], others[2], others[3]
    for p in range(n_patterns):
        row = examples[p]
        for k in range(n_path):
            table[k, p] = 0.0
        for r in range(n_others):
            other, a, c, k = their_examples[r], ZERO, ZERO, ZERO
            while k < n_path and meets[k, row] | their_meets[k, other]:
                a += meets[k, row] > their_meets[k, other]
                c += meets[k, row] < their_meets[k, other]
                k += 1
            if k == n_path:
                amount = delta * counts[r]
                for k in range(n_path):
                    if meets[k, row] > their_meets[k, other]:
                        table[k, p] += amount * weights[a, c]
                    elif meets[k, row] < their_meets[k, other]:
                        table[k, p] -= amount * weights[c, a]


@inner_kernel
def _weigh_pairs_by_shares(shares, n_path, rows, n_patterns, delta, quadrature, workspace, table):
    """Half of ``(o_i - z_i) (o_j - z_j) ∫ Π_{k≠i,j} (o_k t + z_k (1 - t)) dt``, see `_weigh_by_shares`."""
    meets, examples = rows[0], rows[2]
    positions, masses = quadrature
    factors, after = workspace
    n_positions = (n_path + 1) // 2
    for p in range(n_patterns):
        row = examples[p]
        for at in range(n_path * (n_path - 1) // 2):
            table[at, p] = 0.0
        for m in range(n_positions):
            position, product = positions[n_positions, m], 1.0
            for k in range(n_path - 1, -1, -1):
                factors[k] = meets[k, row] * position + shares[k] * (1.0 - position)
                after[k] = product
                product *= factors[k]
            before, at = 0.5 * masses[n_positions, m] * delta, ZERO
            for i in range(n_path):
                between = before * (meets[i, row] - shares[i])
                for j in range(i + 1, n_path):
                    table[at, p] += between * (meets[j, row] - shares[j]) * after[j]
                    between *= factors[j]
                    at += 1
                before *= factors[i]


@inner_kernel
def _weigh_pairs_by_background(n_path, rows, n_patterns, others, n_others, delta, weights, table):
    """Half of the interaction of each pair, summed over the background rows; see `_weigh_by_background`.

    Two features that meet their conditions only in the row have ``(a-2)! c! / (a+c-1)!``, two that do so only in the
    background row ``a! (c-2)! / (a+c-1)!``, and one of each ``-(a-1)! (c-1)! / (a+c-1)!``.
    """
    meets, examples, their_meets, their_examples, counts = rows[0], rows[2], others[0], others[2], others[3]
    for p in range(n_patterns):
        row = examples[p]
        for at in range(n_path * (n_path - 1) // 2):
            table[at, p] = 0.0
        for r in range(n_others):
            other, a, c, k = their_examples[r], ZERO, ZERO, ZERO
            while k < n_path and meets[k, row] | their_meets[k, other]:
                a += meets[k, row] > their_meets[k, other]
                c += meets[k, row] < their_meets[k, other]
                k += 1
            if k == n_path:
                amount, at = 0.5 * delta * counts[r], ZERO
                for i in range(n_path):
                    for j in range(i + 1, n_path):
                        if meets[i, row] != their_meets[i, other] and meets[j, row] != their_meets[j, other]:
                            if meets[i, row] != meets[j, row]:
                                table[at, p] -= amount * weights[a, c - 1]
                            elif meets[i, row]:
                                table[at, p] += amount * weights[a - 1, c]
                            else:
                                table[at, p] += amount * weights[c - 1, a]
                        at += 1

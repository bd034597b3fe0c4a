"""Growing trees, and finding the leaves of rows."""

from __future__ import annotations

import numpy as np

from adacc.kernels.histograms import add_four, add_rows
from adacc.kernels.jit import ZERO, kernel
from adacc.kernels.splits import (
    ENTROPY,
    GINI,
    best_splits_of,
    best_splits_two,
    branch_of,
    heaviest_class,
    purity,
)

BLOCK = 4096
"""Number of rows that are processed together."""

MAX_SMALL_NODE_ROWS = 32
"""Nodes of at most this many rows use histograms of the occurring bins only."""


@kernel
def grow_tree(
    bins, offsets, categorical, rows, by, sizes, begins, criterion, negative_class, tie, max_depth, max_leaf_nodes,
    min_rows, max_features, random_state, histograms, features, cuts, children, classes, gains, cells, mass,
):  # fmt: skip
    """Grow a tree on the listed rows and return the number of its nodes; node 0 is the root.

    `rows` are grouped by class: those of class k begin at ``begins[k]``. Their weights `by` sum to 1. A leaf has at
    least `min_rows` rows, where each counts `sizes`; with 0, `sizes` is empty and not used. All three arrays are
    reordered. A node splits on `features` (-1: a leaf) at `cuts` and has three `children`; -1 stands for a branch
    without rows, for which the node itself predicts `classes`, as for a leaf. The node of the largest gain is split
    first if `max_leaf_nodes` limits the tree; leaves of missing values do not count. A node considers `max_features`
    random features, and more until one has a split. `cells` receives the leaf of each row, `mass` the weight of each
    (true, predicted) pair.

    If all features are considered, the histogram of the largest child is that of its parent less those of its siblings.
    """
    n_classes, n_rows = len(begins) - 1, len(rows)
    room = len(features)
    edges = np.empty((room, n_classes + 1), dtype=np.int64)  # where the rows of each class begin and end in each node
    totals, depths, slots = np.zeros((room, n_classes)), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    even, order = np.ones(n_classes), np.arange(len(bins))
    feature_gains, feature_cuts = np.zeros(len(bins)), np.zeros(len(bins), dtype=np.int64)
    spare_rows, spare_by, spare_sizes = np.empty_like(rows), np.empty_like(by), np.empty_like(sizes)
    branches, places = np.empty(n_rows, dtype=np.uint8), np.empty((3, n_classes), dtype=np.int64)
    free = np.arange(len(histograms))[::-1].copy()
    n_free, n_open, n_nodes, n_leaves = len(free), 0, 1, 1
    opened = np.empty(room, dtype=np.int64)
    sample = max_features < len(bins)
    workspace = _make_workspace(np.max(np.diff(offsets)), len(histograms[0]))

    edges[0], depths[0], slots[0] = begins, 0, free[0] if sample else free[n_free - 1]
    _weigh_node(by, edges[0], totals[0])
    _, classes[0] = heaviest_class(totals[0], negative_class, tie)
    features[0], gains[0] = -1, 0.0
    if not sample:
        n_free -= 1
        histograms[slots[0]] = 0.0
        _fill(bins, offsets, rows, by, sizes, edges[0], histograms[slots[0]])
    if max_depth > 0 and _is_mixed(totals[0]):
        gains[0], features[0], cuts[0] = _find_split(
            bins, offsets, categorical, rows, by, sizes, edges[0], totals[0], even, criterion, tie, min_rows,
            max_features, random_state, order, histograms[slots[0]], workspace, feature_gains, feature_cuts,
        )  # fmt: skip
        if features[0] >= 0:
            opened[0], n_open = 0, 1
    while n_open > 0:
        at = n_open - 1
        if max_leaf_nodes < n_rows:
            for i in range(n_open):
                if gains[opened[i]] > gains[opened[at]]:
                    at = i
        node = opened[at]
        opened[at] = opened[n_open - 1]
        n_open -= 1
        f, cut = features[node], cuts[node]
        n_children = _partition_rows(
            bins[f], cut, offsets[f + 1] - offsets[f] - 1, categorical[f], rows, by, sizes, edges[node],
            spare_rows, spare_by, spare_sizes, branches, places, edges[n_nodes : n_nodes + 3],
        )  # fmt: skip
        if n_children == 0 or n_leaves == max_leaf_nodes:  # the gain was rounding, or the tree has all its leaves
            features[node] = -1
            if not sample:
                free[n_free] = slots[node]
                n_free += 1
            continue
        n_leaves += 1
        largest, size, first = -1, -1, n_nodes
        for branch in range(3):
            begin, end = edges[first + branch, 0], edges[first + branch, n_classes]
            children[node, branch] = -1
            if end > begin:
                child = n_nodes
                if child != first + branch:
                    edges[child] = edges[first + branch]
                children[node, branch] = child
                depths[child], gains[child], features[child] = depths[node] + 1, 0.0, -1
                _weigh_node(by, edges[child], totals[child])
                _, classes[child] = heaviest_class(totals[child], negative_class, tie)
                if end - begin > size:
                    largest, size = child, end - begin
                n_nodes += 1
        deeper = depths[node] + 1 < max_depth
        if not sample:
            keep = deeper and _is_mixed(totals[largest])
            for child in range(first, n_nodes):
                if child != largest and deeper and (keep or _is_mixed(totals[child])):
                    n_free -= 1
                    slots[child] = free[n_free]
                    histograms[slots[child]] = 0.0
                    _fill(bins, offsets, rows, by, sizes, edges[child], histograms[slots[child]])
                    if keep:
                        _subtract(histograms[slots[child]], histograms[slots[node]])
            slots[largest] = slots[node]
        for branch in range(n_nodes - first):  # the largest first: few histograms are in use
            other = first + branch - 1
            child = largest if branch == 0 else other + (1 if other >= largest else 0)
            found = -1
            if deeper and _is_mixed(totals[child]):
                gains[child], found, cuts[child] = _find_split(
                    bins, offsets, categorical, rows, by, sizes, edges[child], totals[child], even, criterion, tie,
                    min_rows, max_features, random_state, order, histograms[slots[child] if not sample else free[0]],
                    workspace, feature_gains, feature_cuts,
                )  # fmt: skip
            features[child] = found
            if found >= 0:
                opened[n_open] = child
                n_open += 1
            elif not sample and (child == largest or (deeper and (keep or _is_mixed(totals[child])))):
                free[n_free] = slots[child]
                n_free += 1
    for node in range(n_nodes):
        if features[node] < 0:
            for i in range(edges[node, 0], edges[node, n_classes]):
                cells[rows[i]] = node
            for k in range(n_classes):
                mass[k, classes[node]] += totals[node, k]
    return n_nodes


@kernel
def _weigh_node(by, edges, total):
    """Weight of each class of a node's rows."""
    for k in range(len(total)):
        total[k] = 0.0
        for amount in by[edges[k] : edges[k + 1]]:
            total[k] += amount


@kernel
def _is_mixed(total):
    """Whether more than one class has weight."""
    n_present = 0
    for weight in total:
        n_present += 1 if weight > 0.0 else 0
    return n_present > 1


@kernel
def _fill(bins, offsets, rows, by, sizes, edges, histogram):
    """Add the rows of a node to the empty histograms of these features."""
    add_rows(bins, offsets, rows, by, edges[:-1], edges[1:], histogram)
    if len(sizes) > 0:
        n_classes = len(edges) - 1
        add_rows(bins, offsets, rows, sizes, edges[:1], edges[n_classes:], histogram[n_classes:])


@kernel
def _fill_drawn(bins, offsets, drawn, rows, by, sizes, edges, histogram):
    """`_fill` for up to four features in any order, whose histograms are set to zero first."""
    for f in drawn:
        histogram[:, offsets[f] : offsets[f + 1]] = 0.0
    if len(drawn) == 4 and len(sizes) == 0:
        for k in range(len(edges) - 1):
            of_class = slice(edges[k], edges[k + 1])
            add_four(bins, offsets, drawn[0], drawn[1], drawn[2], drawn[3], rows[of_class], by[of_class], histogram[k])
    else:
        for f in drawn:
            _fill(bins[f : f + 1], offsets[f : f + 1], rows, by, sizes, edges, histogram)


@kernel
def _subtract(child, parent):
    """Subtract the histogram of a child from that of its parent; negative results are rounding and set to 0."""
    for k in range(len(child)):
        subtracted, rest = child[k], parent[k]
        for i in range(len(subtracted)):
            rest[i] = max(rest[i] - subtracted[i], 0.0)


@kernel
def _find_split(
    bins, offsets, categorical, rows, by, sizes, edges, total, even, criterion, tie, min_rows, max_features,
    random_state, order, histogram, workspace, gains, cuts,
):  # fmt: skip
    """Gain, feature and cut of the best split of a node; feature -1 if no split has a gain.

    If only some features are considered, their histograms are computed here. Small nodes use histograms of the
    occurring bins: most nodes of a tree are small, and empty bins would take most of the time.
    """
    n_features, best, feature = len(bins), 0.0, -1
    if max_features == n_features:
        _search(histogram, even, total, offsets, categorical, criterion, ZERO, n_features, tie, min_rows, gains, cuts)
        for f in range(n_features):
            if gains[f] > best + tie:
                best, feature = gains[f], f
        return best, feature, cuts[max(feature, 0)]
    n_drawn, n_seen = 0, 0
    is_small = edges[len(total)] - edges[0] <= MAX_SMALL_NODE_ROWS
    enough = _max_gain(total, criterion) - tie  # no split is better
    while n_seen < n_features and (n_seen < max_features or feature < 0) and best < enough:
        if n_seen == n_drawn:
            n_drawn = min(n_seen + 4, max_features) if n_seen < max_features else n_seen + 1
            for at in range(n_seen, n_drawn):
                random_state[0] = random_state[0] * 48271 % 2147483647  # Park and Miller's generator [1988]
                other = at + random_state[0] % (n_features - at)
                order[at], order[other] = order[other], order[at]
            if not is_small:
                _fill_drawn(bins, offsets, order[n_seen:n_drawn], rows, by, sizes, edges, histogram)
        f = order[n_seen]
        if is_small and not categorical[f]:
            _find_split_of_small(
                bins[f], offsets[f + 1] - offsets[f] - 1, rows, by, sizes, edges, total, even, criterion, tie, min_rows,
                workspace, gains[f : f + 1], cuts[f : f + 1],
            )  # fmt: skip
        else:
            if is_small:
                _fill_drawn(bins, offsets, order[n_seen : n_seen + 1], rows, by, sizes, edges, histogram)
            _search(histogram, even, total, offsets, categorical, criterion, f, f + 1, tie, min_rows, gains, cuts)
        if gains[f] > best + tie:
            best, feature = gains[f], f
        n_seen += 1
    return best, feature, cuts[max(feature, 0)]


@kernel
def _max_gain(total, criterion):
    """The gain of a split into pure leaves."""
    pure = 0.0
    if criterion != ENTROPY:
        for weight in total:
            pure += weight
    return pure - purity(total, criterion)


@kernel
def _search(histogram, scale, total, offsets, categorical, criterion, first, last, tie, min_rows, gains, cuts):
    """The best splits of some features, by the faster kernel if it applies."""
    if len(total) == 2 and criterion == GINI and min_rows == 0.0:
        best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts)
    else:
        best_splits_of(
            histogram, scale, total, offsets, categorical, criterion, first, last, tie, min_rows, gains, cuts
        )


@kernel
def _make_workspace(n_bins, n_rows_of_histogram):
    """Arrays of `_find_split_of_small`: marks and positions by bin, the occurring bins, their histogram, its offsets
    and whether the feature is categorical.
    """
    max_occurring = MAX_SMALL_NODE_ROWS + 2
    return (
        np.zeros(n_bins, dtype=np.int64), np.empty(n_bins, dtype=np.int64), np.empty(max_occurring, dtype=np.int64),
        np.empty((n_rows_of_histogram, max_occurring)), np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.bool_),
    )  # fmt: skip


@kernel
def _find_split_of_small(
    column, missing, rows, by, sizes, edges, total, even, criterion, tie, min_rows, workspace, gains, cuts
):  # fmt: skip
    """`_search` for a numeric feature of a small node, without empty bins.

    Bin 0 and the bin of missing values are always included, as the first and the last.
    """
    occurs, places, occurring, histogram, offsets, categorical = workspace
    n_classes = len(total)
    occurring[0], occurs[0] = 0, 1
    n_occurring = 1
    for i in range(edges[0], edges[n_classes]):
        bin_ = column[rows[i]]
        if bin_ != missing and occurs[bin_] == 0:
            occurs[bin_] = 1
            at = n_occurring
            while occurring[at - 1] > bin_:
                occurring[at] = occurring[at - 1]
                at -= 1
            occurring[at] = bin_
            n_occurring += 1
    occurring[n_occurring] = missing
    for j in range(n_occurring + 1):
        places[occurring[j]] = j
        occurs[occurring[j]] = 0
        for k in range(len(histogram)):
            histogram[k, j] = 0.0
    for k in range(n_classes):
        for i in range(edges[k], edges[k + 1]):
            at = places[column[rows[i]]]
            histogram[k, at] += by[i]
            if len(sizes) > 0:
                histogram[n_classes, at] += sizes[i]
    offsets[1] = n_occurring + 1
    _search(histogram, even, total, offsets, categorical, criterion, ZERO, ZERO + 1, tie, min_rows, gains, cuts)
    cuts[0] = occurring[cuts[0]]


@kernel
def _partition_rows(
    column, cut, last, categorical, rows, by, sizes, edges, spare_rows, spare_by, spare_sizes, branches, places, parts
):  # fmt: skip
    """Order the rows of a node by branch (left, right, missing) and class, keeping their order within a class.

    `parts` receives the edges of the three branches. Returns the number of branches with rows; 0 if there is only one.
    """
    n_classes, begin, end = len(edges) - 1, edges[0], edges[len(edges) - 1]
    parts[:] = 0
    for k in range(n_classes):
        for i in range(edges[k], edges[k + 1]):
            branches[i] = branch_of(column[rows[i]], cut, last, categorical)
            parts[branches[i], k + 1] += 1
    n_parts, at = 0, begin
    for branch in range(3):
        parts[branch, 0] = at
        for k in range(n_classes):
            places[branch, k] = at
            at += parts[branch, k + 1]
            parts[branch, k + 1] = at
        n_parts += 1 if at > parts[branch, 0] else 0
    if n_parts < 2:
        return 0
    for k in range(n_classes):
        for i in range(edges[k], edges[k + 1]):
            to = places[branches[i], k]
            places[branches[i], k] = to + 1
            spare_rows[to], spare_by[to] = rows[i], by[i]
            if len(sizes) > 0:
                spare_sizes[to] = sizes[i]
    rows[begin:end] = spare_rows[begin:end]
    by[begin:end] = spare_by[begin:end]
    if len(sizes) > 0:
        sizes[begin:end] = spare_sizes[begin:end]
    return n_parts


@kernel
def find_leaves(bins, offsets, categorical, features, cuts, children, cells):
    """The leaf of each row, or the node whose branch for the row has no child."""
    nodes = np.empty(min(BLOCK, len(cells)), dtype=np.int64)
    for begin in range(0, len(cells), BLOCK):
        end = min(begin + BLOCK, len(cells))
        _descend(bins, begin, end, offsets, categorical, features, cuts, children, nodes)
        for i in range(begin, end):
            cells[i] = nodes[i - begin]


@kernel
def add_leaves(bins, offsets, categorical, starts, features, cuts, children, values, scores):
    """Add the values of the leaf of each row to its scores, for every tree.

    All trees are applied to a block of rows before the next block, so that the bins of the block stay in the cache.
    """
    nodes = np.empty(min(BLOCK, len(scores)), dtype=np.int64)
    for begin in range(0, len(scores), BLOCK):
        end = min(begin + BLOCK, len(scores))
        for t in range(len(starts) - 1):
            tree = slice(starts[t], starts[t + 1])
            node_values = values[tree]
            _descend(bins, begin, end, offsets, categorical, features[tree], cuts[tree], children[tree], nodes)
            for i in range(begin, end):
                for c in range(scores.shape[1]):
                    scores[i, c] += node_values[nodes[i - begin], c]


@kernel
def _descend(bins, begin, end, offsets, categorical, features, cuts, children, nodes):
    """The leaves of the rows of a block.

    All rows move down one level before the next, without a branch in the loop: the steps of different rows are
    independent, so that the processor executes several at a time.
    """
    nodes[:] = 0
    any_moves = True
    while any_moves:
        any_moves = False
        for i in range(begin, end):
            node = nodes[i - begin]
            f = max(features[node], 0)
            branch = branch_of(bins[f, i], cuts[node], offsets[f + 1] - offsets[f] - 1, categorical[f])
            child = children[node, branch]
            moves = features[node] >= 0 and child >= 0
            nodes[i - begin] = child if moves else node
            any_moves |= moves

"""Growing trees."""

from __future__ import annotations

import numpy as np

from adacc.kernels.histograms import add_four, add_rows
from adacc.kernels.jit import ZERO, inner_kernel, kernel
from adacc.kernels.monotonic import is_closed, keep_order, signs_from
from adacc.kernels.splits import (
    ENTROPY,
    best_splits_of,
    best_splits_packed,
    branch_of,
    count_of,
    heaviest_class,
    max_bins,
    purity,
)

MAX_SMALL_NODE_ROWS = 32
"""Nodes of at most this many rows use histograms of the occurring bins only."""

ONE = np.uint64(1)
"""Loops over rows and bins have unsigned indices: tests for negative ones would take a tenth of the time."""


@kernel
def grow_tree(
    bins, offsets, categorical, rows, by, sizes, packing, begins, criterion, negative_class, tie, max_depth,
    max_leaf_nodes, min_rows, max_features, random_state, histograms, free, monotonic, work, features, cuts, children,
    classes, gains, predicted, mass,
):  # fmt: skip
    """Grow a tree on the listed rows and return the number of its nodes; node 0 is the root.

    `rows` are grouped by class: those of class k begin at ``begins[k]``. Their weights `by` sum to 1. A leaf has at
    least `min_rows` rows, where each counts `sizes`; with 0, `sizes` is empty and not used. For two classes and Gini,
    `sizes` is None and `by` holds packed numbers (`best_splits_packed`); else `packing` is None. Numba compiles neither
    the branches for what is None nor the functions that they call. The arrays by row are reordered. A node splits on
    `features` (-1: a leaf) at `cuts` and has three `children`; -1 stands for a branch without rows, for which the node
    itself predicts `classes`, as for a leaf. The node of the largest gain is split first if `max_leaf_nodes` limits the
    tree; leaves of missing values do not count. A node considers `max_features` random features, and more until one
    has a split; if there are as many, all are considered, and `random_state` is None. `predicted` receives the class of
    each row, `mass` the weight of each (true, predicted) pair.

    If all features are considered, the histogram of the largest child is that of its parent less those of its siblings,
    and `free` are the numbers of the histograms; else it is None. `monotonic` holds the constraints of the features and
    an array of zeros by node, in which nodes that must stay leaves are marked (`keep_order`); None: no constraints.
    `work` are the arrays of `learners.tree.make_workspace`.
    """
    n_classes, by_gain = len(begins) - 1, max_leaf_nodes < len(rows)
    (
        edges, totals, counts, depths, slots, opened, order, even, spare, places, small, feature_gains, feature_cuts,
    ) = work  # fmt: skip
    n_free, n_open, n_nodes, n_leaves = len(histograms) - 1, ZERO, ZERO + 1, 1
    for k in range(n_classes + 1):
        edges[0, k] = begins[k]
    depths[0], slots[0], features[0], gains[0] = 0, 0, -1, 0.0
    classes[0], counts[0] = _weigh_node(by, sizes, packing, edges[0], negative_class, tie, totals[0])
    if free is not None:
        _fill(bins, offsets, rows, by, sizes, edges[0], histograms[0])
    first, largest, keep = 0, 0, True
    while first < n_nodes:  # the nodes from `first` on are new: find their splits, then split the next node
        deeper = depths[first] < max_depth
        for i in range(n_nodes - first):  # the largest first: few histograms are in use
            child = largest if i == 0 else first + i - (1 if first + i <= largest else 0)
            may_grow = deeper and _is_mixed(totals[child]) and counts[child] >= 2 * min_rows
            if may_grow and not is_closed(monotonic, child):
                if random_state is not None:
                    gains[child], features[child], cuts[child] = _find_split_sampled(
                        bins, offsets, categorical, rows, by, sizes, packing, edges[child], totals[child],
                        counts[child], even, criterion, tie, min_rows, monotonic, max_features, random_state, order,
                        histograms[0], small, feature_gains, feature_cuts,
                    )  # fmt: skip
                if free is not None:
                    gains[child], features[child], cuts[child] = _find_split(
                        sizes, packing, offsets, categorical, totals[child], counts[child], even, criterion, tie,
                        min_rows, monotonic, histograms[slots[child]], feature_gains, feature_cuts,
                    )  # fmt: skip
            if features[child] >= 0:
                opened[n_open] = child
                n_open += 1
            elif free is not None:
                if child == largest or (deeper and (keep or _is_mixed(totals[child]))):
                    n_free = _release(free, n_free, slots[child])
        first = n_nodes
        while n_open > 0 and first == n_nodes:
            at = _next_node(opened, n_open, gains) if by_gain else n_open - 1
            node = opened[at]
            n_open -= 1
            opened[at] = opened[n_open]
            f = features[node]
            n_children = _partition_rows(
                bins[f], cuts[node], offsets[f + 1] - offsets[f] - 1, categorical[f], rows, by, sizes, edges[node],
                spare, places, edges[n_nodes : n_nodes + 3],
            )  # fmt: skip
            if n_children == 0 or n_leaves == max_leaf_nodes:  # the gain was rounding, or the tree has all its leaves
                features[node] = -1
                n_free = _release(free, n_free, slots[node])
                continue
            n_leaves += 1
            n_nodes, largest = _add_children(edges, node, n_nodes, children)
            for child in range(first, n_nodes):
                depths[child], features[child], gains[child] = depths[node] + 1, -1, 0.0
                classes[child], counts[child] = _weigh_node(
                    by, sizes, packing, edges[child], negative_class, tie, totals[child]
                )
            if monotonic is not None:
                keep_order(monotonic, f, offsets[f + 1] - offsets[f] - 2, node, totals, cuts, children, classes)
            if free is not None:
                deeper = depths[first] < max_depth
                keep = deeper and _is_mixed(totals[largest])
                for child in range(first, n_nodes):
                    if child != largest and deeper and (keep or _is_mixed(totals[child])):
                        n_free -= 1
                        slots[child] = free[n_free]
                        _fill(bins, offsets, rows, by, sizes, edges[child], histograms[slots[child]])
                        if keep:
                            _subtract(histograms[slots[child]], histograms[slots[node]])
                slots[largest] = slots[node]
    _predict(rows, edges, features, classes, totals, n_nodes, predicted, mass)
    return n_nodes


@kernel(inline="always")
def _release(free, n_free, slot):
    """Mark a histogram as free; returns the number of free ones."""
    if free is not None:
        free[n_free] = slot
    return n_free + 1


@kernel(inline="always")
def _next_node(opened, n_open, gains):
    """The position of the node with the largest gain, of equal ones the last."""
    at = n_open - 1
    for i in range(n_open):
        at = i if gains[opened[i]] > gains[opened[at]] else at
    return at


@kernel(inline="always")
def _add_children(edges, node, n_nodes, children):
    """Number the branches of a node that have rows; returns the number of nodes, and the child with the most rows."""
    first, last, largest, size = n_nodes, len(edges[0]) - 1, -1, -1
    for branch in range(3):
        children[node, branch] = -1
        n_rows = edges[first + branch, last] - edges[first + branch, 0]
        if n_rows > 0:
            children[node, branch] = n_nodes
            for k in range(last + 1):
                edges[n_nodes, k] = edges[first + branch, k]
            if n_rows > size:
                largest, size = n_nodes, n_rows
            n_nodes += 1
    return n_nodes, largest


@kernel(inline="always")
def _predict(rows, edges, features, classes, totals, n_nodes, predicted, mass):
    """The class of each row, and the weight of each (true, predicted) pair."""
    for node in range(n_nodes):
        if features[node] < 0:
            for i in range(np.uint64(edges[node, 0]), np.uint64(edges[node, len(mass)])):
                predicted[rows[i]] = classes[node]
            for k in range(len(mass)):
                mass[k, classes[node]] += totals[node, k]


@inner_kernel
def _weigh_node(by, sizes, packing, edges, negative_class, tie, total):
    """Weight of each class of a node's rows; returns the predicted class, and the number of rows."""
    n_rows = 0.0
    if packing is not None:
        for k in range(2):
            packed = np.int64(0)
            for i in range(np.uint64(edges[k]), np.uint64(edges[k + 1])):
                packed += by[i]
            total[k] = packing[1] * (packed >> packing[0])
            n_rows += count_of(packed, ZERO, packing[0])
    if sizes is not None:
        for k in range(len(total)):
            total[k] = 0.0
            for i in range(edges[k], edges[k + 1]):
                total[k] += by[i]
        for i in range(edges[0], edges[len(total)] if len(sizes) > 0 else edges[0]):
            n_rows += sizes[i]
    return heaviest_class(total, negative_class, tie)[1], n_rows


@inner_kernel
def _is_mixed(total):
    """Whether more than one class has weight."""
    n_present = 0
    for weight in total:
        n_present += 1 if weight > 0.0 else 0
    return n_present > 1


@inner_kernel
def _fill(bins, offsets, rows, by, sizes, edges, histogram):
    """Histograms of the rows of a node, of these features."""
    for k in range(len(histogram)):
        for at in range(offsets[0], offsets[len(bins)]):
            histogram[k, at] = 0.0
    add_rows(bins, offsets, rows, by, edges[:-1], edges[1:], histogram)
    if sizes is not None:
        if len(sizes) > 0:
            n_classes = len(edges) - 1
            add_rows(bins, offsets, rows, sizes, edges[:1], edges[n_classes:], histogram[n_classes:])


@inner_kernel
def _fill_drawn(bins, offsets, drawn, rows, by, sizes, edges, histogram):
    """`_fill` for a few features in any order: four of them together, or one by one."""
    n_classes = len(edges) - 1
    for k in range(len(histogram)):
        for f in drawn:
            for at in range(np.uint64(offsets[f]), np.uint64(offsets[f + 1])):
                histogram[k, at] = 0.0
    for k in range(n_classes):
        if len(drawn) == 4:
            add_four(
                bins, offsets, drawn[0], drawn[1], drawn[2], drawn[3], rows, by, k, edges[k], edges[k + 1], histogram
            )
        else:
            for f in drawn:
                offset = np.uint64(offsets[f])
                for i in range(np.uint64(edges[k]), np.uint64(edges[k + 1])):
                    histogram[k, offset + bins[f, rows[i]]] += by[i]
    if sizes is not None:
        if len(sizes) > 0:
            for f in drawn:
                for i in range(edges[0], edges[n_classes]):
                    histogram[n_classes, offsets[f] + bins[f, rows[i]]] += sizes[i]


@inner_kernel
def _subtract(child, parent):
    """Subtract the histogram of a child from that of its parent; negative results are rounding and set to 0."""
    for k in range(len(child)):
        subtracted, rest = child[k], parent[k]
        for i in range(len(subtracted)):
            rest[i] = max(rest[i] - subtracted[i], 0)


@inner_kernel
def _find_split(
    sizes, packing, offsets, categorical, total, n_rows, even, criterion, tie, min_rows, monotonic, histogram, gains,
    cuts,
):  # fmt: skip
    """Gain, feature and cut of the best split of a node; feature -1 if no split has a gain."""
    n_features, best, feature = len(categorical), 0.0, -1
    _search(
        sizes, packing, histogram, even, total, n_rows, offsets, categorical, criterion, ZERO, n_features, tie,
        min_rows, signs_from(monotonic, ZERO), gains, cuts,
    )  # fmt: skip
    for f in range(n_features):
        if gains[f] > best + tie:
            best, feature = gains[f], f
    return best, feature, cuts[feature if feature >= 0 else 0]


@inner_kernel
def _find_split_sampled(
    bins, offsets, categorical, rows, by, sizes, packing, edges, total, n_rows, even, criterion, tie, min_rows,
    monotonic, max_features, random_state, order, histogram, small, gains, cuts,
):  # fmt: skip
    """`_find_split` for random features, whose histograms are computed here.

    Small nodes use histograms of the occurring bins: most nodes of a tree are small, and empty bins would take most of
    the time.
    """
    n_features, best, feature, best_cut, n_drawn, n_seen = len(bins), 0.0, -1, ZERO, 0, 0
    occurring, small_histogram, small_offsets, is_category = small[2], small[3], small[4], small[5]
    is_small = edges[len(total)] - edges[0] <= MAX_SMALL_NODE_ROWS
    enough = -tie  # no split is better than one into pure leaves
    if packing is not None:
        enough += 2.0 * total[0] * total[1] / (total[0] + total[1])
    if sizes is not None:
        enough += _max_gain(total, criterion)
    while n_seen < n_features and (n_seen < max_features or feature < 0) and best < enough:
        if n_seen == n_drawn:
            n_drawn = (
                n_seen + 1 if n_seen >= max_features else n_seen + 4 if n_seen + 4 < max_features else max_features
            )
            for at in range(n_seen, n_drawn):
                random_state[0] = random_state[0] * 48271 % 2147483647  # Park and Miller's generator [1988]
                other = at + random_state[0] % (n_features - at)
                order[at], order[other] = order[other], order[at]
            if not is_small:
                _fill_drawn(bins, offsets, order[n_seen:n_drawn], rows, by, sizes, edges, histogram)
        f = order[n_seen]
        searched, its_offsets, its_kinds, at = histogram, offsets, categorical, f
        if is_small and not categorical[f]:
            _fill_small(bins[f], offsets[f + 1] - offsets[f] - 1, rows, by, sizes, edges, small)
            searched, its_offsets, its_kinds, at = small_histogram, small_offsets, is_category, ZERO
        elif is_small:
            _fill_drawn(bins, offsets, order[n_seen : n_seen + 1], rows, by, sizes, edges, histogram)
        _search(
            sizes, packing, searched, even, total, n_rows, its_offsets, its_kinds, criterion, at, at + 1, tie,
            min_rows, signs_from(monotonic, f - at), gains, cuts,
        )  # fmt: skip
        if gains[at] > best + tie:
            best, feature, best_cut = gains[at], f, occurring[cuts[at]] if is_small and not categorical[f] else cuts[at]
        n_seen += 1
    return best, feature, best_cut


@inner_kernel
def _max_gain(total, criterion):
    """The gain of a split into pure leaves."""
    pure = 0.0
    if criterion != ENTROPY:
        for weight in total:
            pure += weight
    return pure - purity(total, criterion)


@kernel(inline="always")
def _search(
    sizes, packing, histogram, scale, total, n_rows, offsets, categorical, criterion, first, last, tie, min_rows,
    signs, gains, cuts,
):  # fmt: skip
    """The best splits of some features, by the faster kernel for packed numbers."""
    if packing is not None:
        best_splits_packed(
            histogram, packing, total, n_rows, offsets, categorical, first, last, tie, min_rows, signs, gains, cuts
        )
    if sizes is not None:
        workspace = np.empty((4, max_bins(offsets, first, last)))
        best_splits_of(
            histogram, scale, total, offsets, categorical, criterion, first, last, tie, min_rows, signs, workspace,
            gains, cuts,
        )  # fmt: skip


@inner_kernel
def _fill_small(column, missing, rows, by, sizes, edges, small):
    """Histogram of a numeric feature of a small node, without empty bins.

    Bin 0 and the bin of missing values are always included, as the first and the last.
    """
    occurs, places, occurring, histogram, offsets, _ = small
    n_classes = len(edges) - 1
    occurring[0], occurs[0] = 0, 1
    n_occurring = ONE
    for i in range(np.uint64(edges[0]), np.uint64(edges[n_classes])):
        bin_ = column[rows[i]]
        if bin_ != missing and occurs[bin_] == 0:
            occurs[bin_] = 1
            at = n_occurring
            while occurring[at - ONE] > bin_:
                occurring[at] = occurring[at - ONE]
                at -= ONE
            occurring[at] = bin_
            n_occurring += ONE
    occurring[n_occurring] = missing
    for j in range(n_occurring + ONE):
        at = np.uint64(occurring[j])
        places[at], occurs[at] = j, 0
        for k in range(len(histogram)):
            histogram[k, j] = 0.0
    for k in range(n_classes):
        for i in range(np.uint64(edges[k]), np.uint64(edges[k + 1])):
            at = np.uint64(places[column[rows[i]]])
            histogram[k, at] += by[i]
            if sizes is not None:
                if len(sizes) > 0:
                    histogram[n_classes, at] += sizes[i]
    offsets[1] = n_occurring + ONE


@kernel(inline="always")
def _partition_rows(
    column, cut, last, categorical, rows, by, sizes, edges, spare, places, parts
):  # fmt: skip
    """Order the rows of a node by branch (left, right, missing) and class, keeping their order within a class.

    `parts` receives the edges of the three branches. Returns the number of branches with rows; 0 if there is only one.
    """
    n_classes, begin, end = len(edges) - 1, edges[0], edges[len(edges) - 1]
    spare_rows, spare_by, spare_sizes, branches = spare
    for k in range(n_classes):
        n_right = n_missing = 0
        for i in range(np.uint64(edges[k]), np.uint64(edges[k + 1])):
            branches[i] = branch_of(column[rows[i]], cut, last, categorical)
            n_right += branches[i] == 1
            n_missing += branches[i] == 2
        parts[0, k + 1] = edges[k + 1] - edges[k] - n_right - n_missing
        parts[1, k + 1], parts[2, k + 1] = n_right, n_missing
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
        left, right, missing = np.uint64(places[0, k]), np.uint64(places[1, k]), np.uint64(places[2, k])
        for i in range(np.uint64(edges[k]), np.uint64(edges[k + 1])):
            is_left, is_right = branches[i] == 0, branches[i] == 1
            to = left if is_left else right if is_right else missing
            left, right = left + np.uint64(is_left), right + np.uint64(is_right)
            missing += ONE - np.uint64(is_left) - np.uint64(is_right)
            spare_rows[to], spare_by[to] = rows[i], by[i]
            if sizes is not None:
                if len(sizes) > 0:
                    spare_sizes[to] = sizes[i]
    for i in range(np.uint64(begin), np.uint64(end)):
        rows[i], by[i] = spare_rows[i], spare_by[i]
        if sizes is not None:
            if len(sizes) > 0:
                sizes[i] = spare_sizes[i]
    return n_parts

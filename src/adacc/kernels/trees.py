"""Splits to a tree, and rows to its leaves."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel
from adacc.kernels.splits import (
    ENTROPY,
    GINI,
    add_four,
    add_rows,
    best_splits_of,
    best_splits_two,
    branch_of,
    heaviest_class,
    purity,
)

BLOCK = 4096
"""Rows that are looked at together."""

FEW = 32
"""Rows of a node whose histograms are only of the codes that these rows have."""


@kernel
def grow_tree(
    codes, offsets, categorical, rows, by, sizes, begins, criterion, negative_class, tie, max_depth, max_leaves, least,
    max_features, luck, histograms, features, cuts, children, classes, gains, cells, mass,
):  # fmt: skip
    """Grow a tree on the listed rows; the number of its nodes, of which 0 is the root.

    `rows` are grouped by class, those of class k from ``begins[k]`` on, and weigh `by` each, 1 in all. A leaf has
    `least` of them at least, each counting `sizes`; with 0 these are not looked at, and empty. All three are reordered.
    A node splits on `features` (-1: a leaf) at `cuts`, and has three `children`, of which -1 stands for a
    branch that no row takes: there, as in a leaf, `classes` is predicted. With `max_leaves`, against which leaves of
    missing values do not count, the node of the largest gain is split first. A node looks at `max_features` features,
    drawn by `luck`, or at more until one has a split.
    `cells` receives the leaf of each row, `mass` the weight of each (true, predicted) pair.

    Where all features are looked at, the largest child takes over its parent's histogram, less that of the others.
    """
    n_classes, n_rows = len(begins) - 1, len(rows)
    room = len(features)
    edges = np.empty((room, n_classes + 1), dtype=np.int64)  # where the rows of each class begin and end in a node
    totals, depths, slots = np.zeros((room, n_classes)), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    even, order = np.ones(n_classes), np.arange(len(codes))
    feature_gains, feature_cuts = np.zeros(len(codes)), np.zeros(len(codes), dtype=np.int64)
    spare_rows, spare_by, spare_sizes = np.empty_like(rows), np.empty_like(by), np.empty_like(sizes)
    branches, places = np.empty(n_rows, dtype=np.uint8), np.empty((3, n_classes), dtype=np.int64)
    free = np.arange(len(histograms))[::-1].copy()
    n_free, n_open, n_nodes, n_leaves = len(free), 0, 1, 1
    opened = np.empty(room, dtype=np.int64)
    sample = max_features < len(codes)
    few = _room_for_few(np.max(np.diff(offsets)), len(histograms[0]))

    edges[0], depths[0], slots[0] = begins, 0, free[0] if sample else free[n_free - 1]
    _weigh_node(by, edges[0], totals[0])
    _, classes[0] = heaviest_class(totals[0], negative_class, tie)
    features[0], gains[0] = -1, 0.0
    if not sample:
        n_free -= 1
        histograms[slots[0]] = 0.0
        _fill(codes, offsets, rows, by, sizes, edges[0], histograms[slots[0]])
    if max_depth > 0 and _is_mixed(totals[0]):
        gains[0], features[0], cuts[0] = _find_split(
            codes, offsets, categorical, rows, by, sizes, edges[0], totals[0], even, criterion, tie, least,
            max_features, luck, order, histograms[slots[0]], few, feature_gains, feature_cuts,
        )  # fmt: skip
        if features[0] >= 0:
            opened[0], n_open = 0, 1
    while n_open > 0:
        at = n_open - 1
        if max_leaves < n_rows:
            for i in range(n_open):
                if gains[opened[i]] > gains[opened[at]]:
                    at = i
        node = opened[at]
        opened[at] = opened[n_open - 1]
        n_open -= 1
        f, cut = features[node], cuts[node]
        n_children = _part_rows(
            codes[f], cut, offsets[f + 1] - offsets[f] - 1, categorical[f], rows, by, sizes, edges[node],
            spare_rows, spare_by, spare_sizes, branches, places, edges[n_nodes : n_nodes + 3],
        )  # fmt: skip
        if n_children == 0 or n_leaves == max_leaves:  # the gain was rounding, or no room is left
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
                    _fill(codes, offsets, rows, by, sizes, edges[child], histograms[slots[child]])
                    if keep:
                        _subtract(histograms[slots[child]], histograms[slots[node]])
            slots[largest] = slots[node]
        for branch in range(n_nodes - first):  # the largest first, so that few wait for their turn
            other = first + branch - 1
            child = largest if branch == 0 else other + (1 if other >= largest else 0)
            found = -1
            if deeper and _is_mixed(totals[child]):
                gains[child], found, cuts[child] = _find_split(
                    codes, offsets, categorical, rows, by, sizes, edges[child], totals[child], even, criterion, tie,
                    least, max_features, luck, order, histograms[slots[child] if not sample else free[0]],
                    few, feature_gains, feature_cuts,
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
def _fill(codes, offsets, rows, by, sizes, edges, histogram):
    """Add a node's rows to the histograms of these features, which are empty."""
    add_rows(codes, offsets, rows, by, edges[:-1], edges[1:], histogram)
    if len(sizes) > 0:
        n_classes = len(edges) - 1
        add_rows(codes, offsets, rows, sizes, edges[:1], edges[n_classes:], histogram[n_classes:])


@kernel
def _fill_drawn(codes, offsets, drawn, rows, by, sizes, edges, histogram):
    """The same for up to four features from anywhere, whose histograms may not be empty yet."""
    for f in drawn:
        histogram[:, offsets[f] : offsets[f + 1]] = 0.0
    if len(drawn) == 4 and len(sizes) == 0:
        for k in range(len(edges) - 1):
            own = slice(edges[k], edges[k + 1])
            add_four(codes, offsets, drawn[0], drawn[1], drawn[2], drawn[3], rows[own], by[own], histogram[k])
    else:
        for f in drawn:
            _fill(codes[f : f + 1], offsets[f : f + 1], rows, by, sizes, edges, histogram)


@kernel
def _subtract(part, whole):
    """Leave in `whole` what is not in `part`; what would be negative is rounding."""
    for k in range(len(part)):
        some, rest = part[k], whole[k]
        for i in range(len(some)):
            rest[i] = max(rest[i] - some[i], 0.0)


@kernel
def _find_split(
    codes, offsets, categorical, rows, by, sizes, edges, total, even, criterion, tie, least, max_features, luck, order,
    histogram, few, gains, cuts,
):  # fmt: skip
    """Gain, feature and cut of a node's best split; feature -1 if none gains anything.

    Where only some features are looked at, their histograms are made here, else they are there. Those of few rows are
    made of the codes that these have: most of a tree's nodes are small, and would spend their time on empty bins.
    """
    n_features, best, feature = len(codes), 0.0, -1
    if max_features == n_features:
        _look(histogram, even, total, offsets, categorical, criterion, ZERO, n_features, tie, least, gains, cuts)
        for f in range(n_features):
            if gains[f] > best + tie:
                best, feature = gains[f], f
        return best, feature, cuts[max(feature, 0)]
    n_drawn, n_seen = 0, 0
    is_small = edges[len(total)] - edges[0] <= FEW
    most = _most_gain(total, criterion) - tie  # beyond which nothing is better
    while n_seen < n_features and (n_seen < max_features or feature < 0) and best < most:
        if n_seen == n_drawn:
            n_drawn = min(n_seen + 4, max_features) if n_seen < max_features else n_seen + 1
            for at in range(n_seen, n_drawn):
                luck[0] = luck[0] * 48271 % 2147483647  # Park and Miller's generator [1988]
                other = at + luck[0] % (n_features - at)
                order[at], order[other] = order[other], order[at]
            if not is_small:
                _fill_drawn(codes, offsets, order[n_seen:n_drawn], rows, by, sizes, edges, histogram)
        f = order[n_seen]
        if is_small and not categorical[f]:
            _find_split_of_few(
                codes[f], offsets[f + 1] - offsets[f] - 1, rows, by, sizes, edges, total, even, criterion, tie, least,
                few, gains[f : f + 1], cuts[f : f + 1],
            )  # fmt: skip
        else:
            if is_small:
                _fill_drawn(codes, offsets, order[n_seen : n_seen + 1], rows, by, sizes, edges, histogram)
            _look(histogram, even, total, offsets, categorical, criterion, f, f + 1, tie, least, gains, cuts)
        if gains[f] > best + tie:
            best, feature = gains[f], f
        n_seen += 1
    return best, feature, cuts[max(feature, 0)]


@kernel
def _most_gain(total, criterion):
    """What a split into leaves of one class each would gain."""
    pure = 0.0
    if criterion != ENTROPY:
        for weight in total:
            pure += weight
    return pure - purity(total, criterion)


@kernel
def _look(histogram, scale, total, offsets, categorical, criterion, first, last, tie, least, gains, cuts):
    """The best splits of some features, the quick way where there is one."""
    if len(total) == 2 and criterion == GINI and least == 0.0:
        best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts)
    else:
        best_splits_of(histogram, scale, total, offsets, categorical, criterion, first, last, tie, least, gains, cuts)


@kernel
def _room_for_few(n_codes, n_rows_of_histogram):
    """Marks and places by code, the codes that few rows have, their histogram, its offsets and kinds."""
    most = FEW + 2
    return (
        np.zeros(n_codes, dtype=np.int64), np.empty(n_codes, dtype=np.int64), np.empty(most, dtype=np.int64),
        np.empty((n_rows_of_histogram, most)), np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.bool_),
    )  # fmt: skip


@kernel
def _find_split_of_few(
    column, missing, rows, by, sizes, edges, total, even, criterion, tie, least, few, gains, cuts
):  # fmt: skip
    """Gain and cut of the best split of a numeric feature that `_look` would find, the empty bins left out.

    Code 0 stays in any case, as does that of missing values, at the end: there `_look` begins and ends.
    """
    is_there, places, seen, histogram, offsets, categorical = few
    n_classes = len(total)
    seen[0], is_there[0] = 0, 1
    n_seen = 1
    for i in range(edges[0], edges[n_classes]):
        code = column[rows[i]]
        if code != missing and is_there[code] == 0:
            is_there[code] = 1
            at = n_seen
            while seen[at - 1] > code:
                seen[at] = seen[at - 1]
                at -= 1
            seen[at] = code
            n_seen += 1
    seen[n_seen] = missing
    for j in range(n_seen + 1):
        places[seen[j]] = j
        is_there[seen[j]] = 0
        for k in range(len(histogram)):
            histogram[k, j] = 0.0
    for k in range(n_classes):
        for i in range(edges[k], edges[k + 1]):
            at = places[column[rows[i]]]
            histogram[k, at] += by[i]
            if len(sizes) > 0:
                histogram[n_classes, at] += sizes[i]
    offsets[1] = n_seen + 1
    _look(histogram, even, total, offsets, categorical, criterion, ZERO, ZERO + 1, tie, least, gains, cuts)
    cuts[0] = seen[cuts[0]]


@kernel
def _part_rows(
    column, cut, last, categorical, rows, by, sizes, edges, spare_rows, spare_by, spare_sizes, branches, places, parts
):  # fmt: skip
    """Put a node's rows that go left, right and to the missing branch one after the other, each class in its order.

    `parts` receives the edges of the three. The number of parts that have rows; 0 if all have gone one way.
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
def find_leaves(codes, offsets, categorical, features, cuts, children, cells):
    """The leaf of each row, or the node whose branch for it has none."""
    nodes = np.empty(min(BLOCK, len(cells)), dtype=np.int64)
    for begin in range(0, len(cells), BLOCK):
        end = min(begin + BLOCK, len(cells))
        _descend(codes, begin, end, offsets, categorical, features, cuts, children, nodes)
        for i in range(begin, end):
            cells[i] = nodes[i - begin]


@kernel
def add_leaves(codes, offsets, categorical, starts, features, cuts, children, values, scores):
    """Add to each row's scores the values of the leaf in which it ends, of every tree.

    All trees look at some rows before the next ones come, so that the codes of these stay in the cache.
    """
    nodes = np.empty(min(BLOCK, len(scores)), dtype=np.int64)
    for begin in range(0, len(scores), BLOCK):
        end = min(begin + BLOCK, len(scores))
        for t in range(len(starts) - 1):
            tree = slice(starts[t], starts[t + 1])
            of_node = values[tree]
            _descend(codes, begin, end, offsets, categorical, features[tree], cuts[tree], children[tree], nodes)
            for i in range(begin, end):
                for c in range(scores.shape[1]):
                    scores[i, c] += of_node[nodes[i - begin], c]


@kernel
def _descend(codes, begin, end, offsets, categorical, features, cuts, children, nodes):
    """Where the rows of a block end.

    All rows take a step before any takes the next, and none decides what is done: so the steps of many rows are under
    way at once, where a single row's would wait for each other.
    """
    nodes[:] = 0
    moves = True
    while moves:
        moves = False
        for i in range(begin, end):
            node = nodes[i - begin]
            f = max(features[node], 0)
            branch = branch_of(codes[f, i], cuts[node], offsets[f + 1] - offsets[f] - 1, categorical[f])
            child = children[node, branch]
            goes = features[node] >= 0 and child >= 0
            nodes[i - begin] = child if goes else node
            moves |= goes

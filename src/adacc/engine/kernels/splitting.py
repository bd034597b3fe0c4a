"""Codes to histograms, these to a split, and splits to a tree."""

from __future__ import annotations

import numpy as np

from adacc.engine.jit import kernel

GINI, ENTROPY, ERROR = 0, 1, 2

EMPTY = 1e-15
"""A leaf lighter than this, of a total of 1, is empty but for the rounding of the difference that it is."""

BLOCK = 4096
"""Rows that are looked at together."""

FEW = 32
"""Rows of a node whose histograms are only of the codes that these rows have."""

SURE = 1e-6
"""What a gain must lack to be out of the race: so much more than a tie that no chain of ties leads there."""

# A product and a sum in one instruction, which halves the time from one cut to the next.
_FUSE = {"contract"}


@kernel
def add_rows(codes, offsets, rows, by, begins, ends, histogram):
    """Add `by` of each listed row to its class's histogram, for the features whose codes these are.

    Those of class k are listed from ``begins[k]`` to ``ends[k]``.
    """
    for k in range(len(begins)):
        # Slices, here and below: their loops need no test for negative numbers, which takes half as long again.
        listed, amounts, bins = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        f = 0
        while f + 4 <= len(codes) and len(listed) > 0:
            _add_four(codes, offsets, f, f + 1, f + 2, f + 3, listed, amounts, bins)
            f += 4
        while f < len(codes) and len(listed) > 0:
            codes_0, at_0 = codes[f], np.uint64(offsets[f])
            for j in range(len(listed)):
                bins[at_0 + codes_0[listed[j]]] += amounts[j]
            f += 1


@kernel
def _add_four(codes, offsets, f_0, f_1, f_2, f_3, listed, amounts, bins):
    """Four features at a time: four independent additions hide each other's latency, and a row's number and amount are
    read once for all four.
    """
    codes_0, codes_1, codes_2, codes_3 = codes[f_0], codes[f_1], codes[f_2], codes[f_3]
    at_0, at_1 = np.uint64(offsets[f_0]), np.uint64(offsets[f_1])
    at_2, at_3 = np.uint64(offsets[f_2]), np.uint64(offsets[f_3])
    for j in range(len(listed)):
        i, amount = listed[j], amounts[j]
        bins[at_0 + codes_0[i]] += amount
        bins[at_1 + codes_1[i]] += amount
        bins[at_2 + codes_2[i]] += amount
        bins[at_3 + codes_3[i]] += amount


@kernel
def add_entries(row_starts, places, rows, by, begins, ends, histogram):
    """As `add_rows`, for sparse columns: the places in the histogram of each row's entries, row by row."""
    for k in range(len(begins)):
        listed, amounts, bins = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        for j in range(len(listed)):
            i, amount = listed[j], amounts[j]
            for place in places[row_starts[i] : row_starts[i + np.uint32(1)]]:
                bins[place] += amount


@kernel
def fill_defaults(scale, total, begins, ends, defaults, histogram):
    """Give the commonest code of each sparse column what the others leave of the total.

    Its place in the histogram is `defaults`, its column's places go from `begins` to `ends`.
    """
    for k in range(len(scale)):
        for c in range(len(defaults)):
            others = 0.0
            for at in range(begins[c], ends[c]):
                others += histogram[k, at] if at != defaults[c] else 0.0
            left = total[k] - scale[k] * others
            histogram[k, defaults[c]] = left / scale[k] if left > EMPTY * total[k] else 0.0


# Histograms to a split.


@kernel
def best_splits(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """Gain and cut of the best split of each feature first ... last-1; gain 0 where no split helps.

    ``histogram * scale`` are weights that sum to `total` per class and to 1 in all. Of cuts equal within `tie` the
    lowest wins. In a numeric feature the missing rows are a leaf of their own in every split.
    """
    best_splits_of(histogram, scale, total, offsets, categorical, criterion, first, last, tie, 0.0, gains, cuts)


@kernel
def best_splits_of(histogram, scale, total, offsets, categorical, criterion, first, last, tie, least, gains, cuts):
    """`best_splits`, leaving `least` rows at least on either side: the histogram's last row, after the classes, says
    how many there are of each code. With 0 there is no such row.
    """
    n_classes = len(scale)
    present, missing = np.empty(n_classes), np.empty(n_classes)
    unsplit = _purity(total, criterion)
    for f in range(first, last):
        begin, end = offsets[f], offsets[f + 1] - 1  # the last code: missing, or a category not seen in training
        some_missing, rest = False, 0.0
        for k in range(n_classes):
            missing[k] = 0.0 if categorical[f] else scale[k] * histogram[k, end]
            present[k] = total[k] - missing[k]
            some_missing = some_missing or missing[k] > 0.0
        if some_missing:
            rest = _purity(missing, criterion)
        elif not categorical[f]:
            end -= 1  # everything up to the last bin is no split
        keep = 0.0 if categorical[f] else 1.0
        n_present = 0.0
        if least > 0.0:
            for n_rows in histogram[n_classes, begin : offsets[f + 1] - (0 if categorical[f] else 1)]:
                n_present += n_rows
        best, cuts[f] = _scan(
            histogram, begin, end, scale, present, keep, criterion, unsplit - rest, tie, least, n_present
        )
        gains[f] = best + rest - unsplit


@kernel
def _scan(histogram, begin, end, scale, present, keep, criterion, best, tie, least, n_present):
    """Best purity of left and right, and its cut. `keep` is 1 where the left leaf grows from cut to cut, else 0."""
    cut, n_left = 0, 0.0
    left, right = np.empty(len(scale)), np.empty(len(scale))
    for k in range(len(scale)):
        left[k] = 0.0
    for at in range(end - begin):
        for k in range(len(scale)):
            left[k] = keep * left[k] + scale[k] * histogram[k, begin + at]
            right[k] = present[k] - left[k]
        if least > 0.0:
            n_left = keep * n_left + histogram[len(scale), begin + at]
            if n_left < least or n_present - n_left < least:
                continue
        value = _purity(left, criterion) + _purity(right, criterion)
        if value > best + tie:
            best, cut = value, at
    return best, cut


@kernel(fastmath=_FUSE)
def best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """`best_splits` for two classes and Gini, the case that must be fast. A feature that is out of the race, given
    those before it, may be said to gain nothing.

    With d the excess of the second class in the left leaf over its share of all that are present, the gain of a cut is
    2·d²·present / (left·right). What is known to be gained is compared with it times the denominator, for many cuts at
    a time; only where one of them gains more they are looked at one by one.
    """
    scale_0, scale_1 = scale[0], scale[1]
    unsplit, found = (total[0] * total[0] + total[1] * total[1]) / (total[0] + total[1]), 0.0
    widest = 0
    for f in range(first, last):
        widest = max(widest, offsets[f + 1] - offsets[f])
    lefts, lefts_1 = np.empty(widest), np.empty(widest)
    for f in range(first, last):
        begin, end = offsets[f], offsets[f + 1] - 1
        keep = 0.0 if categorical[f] else 1.0
        missing_0, missing_1 = keep * scale_0 * histogram[0, end], keep * scale_1 * histogram[1, end]
        present_0, present_1 = total[0] - missing_0, total[1] - missing_1
        missing, present, apart = missing_0 + missing_1, present_0 + present_1, 0.0
        if missing > EMPTY:
            apart += (missing_0 * missing_0 + missing_1 * missing_1) / missing
        if present > EMPTY:
            apart += (present_0 * present_0 + present_1 * present_1) / present
        if not categorical[f] and missing == 0.0:
            end -= 1
        share = present_1 / present if present > EMPTY else 0.0
        left, left_1 = lefts[: end - begin], lefts_1[: end - begin]
        _weigh_left(histogram[0, begin:end], histogram[1, begin:end], scale_0, scale_1, categorical[f], left, left_1)
        best, cut = unsplit - apart, 0  # not above 0: telling the missing apart is a gain
        if _any_gains(left, left_1, present, share, max(best, best + found - SURE)):
            for at in range(len(left)):
                right, excess = present - left[at], left_1[at] - share * left[at]
                gain, spread = 2.0 * present * (excess * excess), left[at] * right
                if gain >= (best + tie) * spread:  # a division takes its time
                    gain = gain / spread if left[at] > EMPTY and right > EMPTY else 0.0  # one branch and the missing
                    if gain > best + tie:
                        best, cut = gain, at
        cuts[f] = cut
        gains[f] = best + apart - unsplit
        found = max(found, gains[f])


@kernel(fastmath=_FUSE)
def _weigh_left(bins_0, bins_1, scale_0, scale_1, categorical, left, left_1):
    """The weight of the left leaf of every cut, and that of the second class in it."""
    if categorical:
        for at in range(len(left)):
            left_1[at] = scale_1 * bins_1[at]
            left[at] = scale_0 * bins_0[at] + left_1[at]
        return
    whole, ones = 0.0, 0.0
    for at in range(len(left)):
        one = scale_1 * bins_1[at]
        whole += scale_0 * bins_0[at] + one
        ones += one
        left[at], left_1[at] = whole, ones


@kernel(fastmath=_FUSE)
def _any_gains(left, left_1, present, share, known):
    """Whether some cut gains as much as is known."""
    n_cuts, twice = 0, 2.0 * present
    for at in range(len(left)):
        excess = left_1[at] - share * left[at]
        n_cuts += 1 if twice * (excess * excess) >= known * (left[at] * (present - left[at])) else 0
    return n_cuts > 0


@kernel
def _purity(weights, criterion):
    """Weight of a leaf times (1 - impurity), up to a constant: what a split may only increase.

    Gini: Σ w_k²/w. Entropy: Σ w_k·ln(w_k/w). Error: max w_k.
    """
    whole, value = 0.0, 0.0
    for weight in weights:
        whole += weight
    if whole <= EMPTY:
        return 0.0
    if criterion == GINI:
        for weight in weights:
            value += weight * weight
        return value / whole
    for weight in weights:
        if criterion == ERROR:
            value = max(value, weight)
        elif weight > 0.0:
            value += weight * np.log(weight / whole)
    return value


@kernel
def choose_split(gains, cuts, histogram, scale, offsets, categorical, tie_class, tie, leaves, classes, lookup, mass):
    """(feature, cut) of the largest gain; the first of those equal within `tie`, feature -1 if none gains anything.

    `leaves` receives the weights by class of its left, right and missing branch and of all rows, `classes` the class of
    each, `lookup` the class of each code, `mass` the weight of each (true, predicted) pair. The heaviest class wins; of
    equal ones `tie_class` where there are two classes, the first where more. An empty branch predicts what all rows
    together would.
    """
    feature, best = -1, 0.0
    for f in range(len(gains)):
        if gains[f] > best + tie:
            feature, best = f, gains[f]
    f = 0 if feature < 0 else feature
    n_classes, begin, last, cut = len(scale), offsets[f], offsets[f + 1] - offsets[f] - 1, cuts[f]
    for k in range(n_classes):
        for leaf in range(4):
            leaves[leaf, k] = 0.0
        for code in range(last + 1):
            weight = scale[k] * histogram[k, begin + code]
            leaves[_leaf(code, cut, last, categorical[f]), k] += weight
            leaves[3, k] += weight
    for leaf in range(3, -1, -1):
        heaviest, chosen = _heaviest(leaves[leaf], tie_class, tie)
        empty = leaf < 3 and (feature < 0 or leaves[leaf, heaviest] <= 0.0)
        classes[leaf] = classes[3] if empty else chosen
    for code in range(last + 1):
        lookup[code] = classes[_leaf(code, cut, last, categorical[f])]
    for k in range(n_classes):
        for p in range(n_classes):
            mass[k, p] = 0.0
        for leaf in range(3):
            mass[k, classes[leaf]] += leaves[leaf, k]
    return feature, cut


@kernel
def _heaviest(weights, tie_class, tie):
    """The heaviest class, and the one chosen: of equal ones `tie_class` where there are two classes, else the first."""
    heaviest, n_equal = 0, 1
    for k in range(1, len(weights)):
        lead = weights[k] - weights[heaviest]
        if lead > tie:
            heaviest, n_equal = k, 1
        elif lead >= -tie:
            n_equal += 1
    return heaviest, tie_class if len(weights) == 2 and n_equal == 2 else heaviest


@kernel
def _leaf(code, cut, last, categorical):
    """0 left, 1 right, 2 missing."""
    if categorical:
        return 0 if code == cut else 1
    if code == last:
        return 2
    return 0 if code <= cut else 1


# Splits to a tree.


@kernel
def grow_tree(
    codes, offsets, categorical, rows, by, sizes, begins, criterion, tie_class, tie, max_depth, max_leaves, least,
    max_features, luck, histograms, features, cuts, children, classes, gains, cells, mass,
):  # fmt: skip
    """Grow a tree on the listed rows; the number of its nodes, of which 0 is the root.

    `rows` are grouped by class, those of class k from ``begins[k]`` on, and weigh `by` each, 1 in all. A leaf has
    `least` of them at least, each counting `sizes`; with 0 these are not looked at, and empty. All three are reordered.
    A node splits on `features` (-1: a leaf) at `cuts`, and has three `children`, of which -1 stands for a
    branch that no row takes: there, as in a leaf, `classes` is predicted. With `max_leaves` the node of the largest
    gain is split first. A node looks at `max_features` features, drawn by `luck`, or at more until one has a split.
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
    _, classes[0] = _heaviest(totals[0], tie_class, tie)
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
        if n_children == 0 or n_leaves + n_children - 1 > max_leaves:  # the gain was rounding, or no room is left
            features[node] = -1
            if not sample:
                free[n_free] = slots[node]
                n_free += 1
            continue
        n_leaves += n_children - 1
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
                _, classes[child] = _heaviest(totals[child], tie_class, tie)
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
            _add_four(codes, offsets, drawn[0], drawn[1], drawn[2], drawn[3], rows[own], by[own], histogram[k])
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
        _look(histogram, even, total, offsets, categorical, criterion, 0, n_features, tie, least, gains, cuts)
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
    return pure - _purity(total, criterion)


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
    _look(histogram, even, total, offsets, categorical, criterion, 0, 1, tie, least, gains, cuts)
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
            branches[i] = _leaf(column[rows[i]], cut, last, categorical)
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
            branch = _leaf(codes[f, i], cuts[node], offsets[f + 1] - offsets[f] - 1, categorical[f])
            child = children[node, branch]
            goes = features[node] >= 0 and child >= 0
            nodes[i - begin] = child if goes else node
            moves |= goes

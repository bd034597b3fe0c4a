"""Every compiled function. They know arrays and nothing else.

All in one file, because Numba's disk cache does not notice edits to a callee elsewhere. Rows stand grouped by class:
``starts[k]:starts[k + 1]`` are the rows of class k, so no label is ever looked up. Outputs come last, preallocated.
"""

from __future__ import annotations

import numpy as np

from adacc.engine.jit import kernel

GINI, ENTROPY, ERROR = 0, 1, 2

EMPTY = 1e-15
"""A leaf lighter than this, of a total of 1, is empty but for the rounding of the difference that it is."""

# Sums whose order of addition may be chosen by the compiler, so that they vectorise; the same on every run.
_REORDER = {"reassoc", "nsz"}


@kernel
def cut_points(values, weights, max_bins, out):
    """Thresholds of one feature: midway between neighbouring distinct values, at most ``max_bins - 1`` of them.

    `values` ascend and hold no NaN; `weights` go with them, or are empty if every row counts 1. With more distinct
    values than bins each bin is closed once it holds its share of the weight that is left, and before a value that
    fills a bin alone, so that a heavy value (zero, often) does not swallow the bins of the others.
    """
    n, weighted = len(values), len(weights) > 0
    n_distinct = 0
    total = 0.0
    for i in range(n):
        total += weights[i] if weighted else 1.0
        if i == 0 or values[i] != values[i - 1]:
            n_distinct += 1
    n_cuts, bins_left, left, held = 0, max_bins, total, 0.0
    i = 0
    while i < n:
        end, here = _run_of_equals(values, weights, i)
        held += here
        if end == n:
            break
        close = n_distinct <= max_bins
        if not close and bins_left > 1:
            share = left / bins_left
            close = held >= share or _run_of_equals(values, weights, end)[1] >= share
        if close:
            out[n_cuts] = _midway(values[i], values[end])
            n_cuts += 1
            left -= held
            held = 0.0
            bins_left -= 1
        i = end
    return n_cuts


@kernel
def _run_of_equals(values, weights, start):
    """End and weight of the run of equal values that begins at `start`."""
    end, weight = start, 0.0
    while end < len(values) and values[end] == values[start]:
        weight += weights[end] if len(weights) > 0 else 1.0
        end += 1
    return end, weight


@kernel
def _midway(low, high):
    """A number t with low <= t < high, halfway if floats allow; halves first, so that huge values do not overflow."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


@kernel
def code_column(values, thresholds, order, out):
    """``out[i]`` = number of thresholds below ``values[order[i]]``; NaN gets the code after the last bin.

    Two rounds of counting, over the last threshold of each block of 16 and then within one block: counting vectorises
    and never mispredicts, which makes it several times faster than bisection.
    """
    n_blocks = len(thresholds) // 16 + 1
    padded = np.full(16 * n_blocks, np.inf)
    padded[: len(thresholds)] = thresholds
    ends = padded[15::16].copy()
    missing = len(thresholds) + 1
    for i in range(len(order)):
        value = values[order[i]]
        low, high = 0, n_blocks
        while high - low > 32:
            middle = (low + high) // 2
            if value > ends[middle]:
                low = middle
            else:
                high = middle + 1
        block = low
        for end in ends[low:high]:
            block += 1 if value > end else 0
        code = 16 * block
        for threshold in padded[code : code + 16]:
            code += 1 if value > threshold else 0
        out[i] = code if value == value else missing


@kernel
def add_rows(codes, offsets, rows, by, starts, first, last, histogram):
    """Add `by` of each listed row to its class's histogram, for the features first ... last-1.

    Four features at a time: four independent additions hide each other's latency, and a row's number and amount are
    read once for all four.
    """
    for k in range(len(starts) - 1):
        begin, end = starts[k], starts[k + 1]
        bins = histogram[k]
        f = first
        while f + 4 <= last and begin < end:
            codes_0, codes_1, codes_2, codes_3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
            at_0, at_1 = np.uint64(offsets[f]), np.uint64(offsets[f + 1])
            at_2, at_3 = np.uint64(offsets[f + 2]), np.uint64(offsets[f + 3])
            for j in range(begin, end):
                i, amount = rows[j], by[j]
                bins[at_0 + codes_0[i]] += amount
                bins[at_1 + codes_1[i]] += amount
                bins[at_2 + codes_2[i]] += amount
                bins[at_3 + codes_3[i]] += amount
            f += 4
        while f < last and begin < end:
            codes_0, at_0 = codes[f], np.uint64(offsets[f])
            for j in range(begin, end):
                bins[at_0 + codes_0[rows[j]]] += by[j]
            f += 1


@kernel
def best_splits(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """Gain and cut of the best split of each feature first ... last-1; gain 0 where no split helps.

    ``histogram * scale`` are weights that sum to `total` per class and to 1 in all. Of cuts equal within `tie` the
    lowest wins. In a numeric feature the missing rows are a leaf of their own in every split.
    """
    n_classes = len(scale)
    present, missing = np.zeros(n_classes), np.zeros(n_classes)
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
        bins = histogram[:, begin:end]
        if n_classes == 2 and criterion == GINI:
            best, cuts[f] = _scan_two(bins, scale, present, keep, unsplit - rest, tie)
        else:
            best, cuts[f] = _scan(bins, scale, present, keep, criterion, unsplit - rest, tie)
        gains[f] = best + rest - unsplit


@kernel
def _scan(bins, scale, present, keep, criterion, best, tie):
    """Best purity of left and right, and its cut. `keep` is 1 where the left leaf grows from cut to cut, else 0."""
    cut = 0
    left, right = np.zeros(len(scale)), np.zeros(len(scale))
    for at in range(bins.shape[1]):
        for k in range(len(scale)):
            left[k] = keep * left[k] + scale[k] * bins[k, at]
            right[k] = present[k] - left[k]
        value = _purity(left, criterion) + _purity(right, criterion)
        if value > best + tie:
            best, cut = value, at
    return best, cut


@kernel
def _scan_two(bins, scale, present, keep, best, tie):
    """`_scan` for two classes and Gini, the case that must be fast: no arrays, one division."""
    cut = 0
    bins_0, bins_1 = bins[0], bins[1]
    scale_0, scale_1, present_0, present_1 = scale[0], scale[1], present[0], present[1]
    left_0, left_1 = 0.0, 0.0
    for at in range(len(bins_0)):
        left_0 = keep * left_0 + scale_0 * bins_0[at]
        left_1 = keep * left_1 + scale_1 * bins_1[at]
        right_0, right_1 = present_0 - left_0, present_1 - left_1
        left, right = left_0 + left_1, right_0 + right_1
        if left > EMPTY and right > EMPTY:
            squares_left, squares_right = left_0 * left_0 + left_1 * left_1, right_0 * right_0 + right_1 * right_1
            value = (squares_left * right + squares_right * left) / (left * right)
            if value > best + tie:
                best, cut = value, at
    return best, cut


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
def choose_split(gains, cuts, histogram, scale, offsets, categorical, tie_class, tie, lookup):
    """(feature, cut, left, right, missing): the split of the largest gain and the class of each of its leaves.

    `lookup` receives the class of each code of that feature. Of features equal within `tie` the first wins; feature
    -1 if none gains anything. An empty leaf predicts what all rows together would.
    """
    feature, best = -1, 0.0
    for f in range(len(gains)):
        if gains[f] > best + tie:
            feature, best = f, gains[f]
    f = max(feature, 0)
    n_classes, begin, last, cut = len(scale), offsets[f], offsets[f + 1] - offsets[f] - 1, cuts[f]
    leaves = np.zeros((3, n_classes))
    for k in range(n_classes):
        for code in range(last + 1):
            leaves[_leaf(code, cut, last, categorical[f]), k] += scale[k] * histogram[k, begin + code]
    classes = np.full(3, _heaviest(leaves.sum(axis=0), tie_class, tie))
    for leaf in range(3):
        if feature >= 0 and leaves[leaf].sum() > 0.0:
            classes[leaf] = _heaviest(leaves[leaf], tie_class, tie)
    for code in range(last + 1):
        lookup[code] = classes[_leaf(code, cut, last, categorical[f])]
    return feature, cut, classes[0], classes[1], classes[2]


@kernel
def _leaf(code, cut, last, categorical):
    """0 left, 1 right, 2 missing."""
    if categorical:
        return 0 if code == cut else 1
    if code == last:
        return 2
    return 0 if code <= cut else 1


@kernel
def _heaviest(weights, tie_class, tie):
    """Class of the largest weight; of equal ones `tie_class` where there are two classes, the first where more."""
    heaviest = weights.max() - tie
    if len(weights) == 2 and weights.min() >= heaviest:
        return tie_class
    for k in range(len(weights)):
        if weights[k] >= heaviest:
            return k
    return 0


@kernel(fastmath=_REORDER)
def predict_rows(cells, lookup, raw, scale, starts, predicted, mass):
    """Class of each row from its cell, and the weight of each (true, predicted) pair."""
    for i in range(len(cells)):
        predicted[i] = lookup[cells[i]]
    mass[:] = 0.0
    for k in range(len(scale)):
        # Slices, here and below: their loops need no test for negative numbers, and vectorise.
        classes, weights = predicted[starts[k] : starts[k + 1]], raw[starts[k] : starts[k + 1]]
        if len(scale) == 2:
            zeros, ones = 0.0, 0.0
            for i in range(len(classes)):
                one = np.float64(classes[i])
                zeros += weights[i] * (1.0 - one)
                ones += weights[i] * one
            mass[k, 0], mass[k, 1] = scale[k] * zeros, scale[k] * ones
        else:
            for i in range(len(classes)):
                mass[k, classes[i]] += scale[k] * weights[i]


@kernel(fastmath=_REORDER)
def add_votes(predicted, votes, weight, starts, boundary, scores, right):
    """Two classes: move each row's score by the vote of its predicted class; weight of the rows now rightly decided.

    The second class is decided where the score exceeds `boundary`.
    """
    against, in_favour = votes[0], votes[1]
    for k in range(2):
        classes, weights = predicted[starts[k] : starts[k + 1]], weight[starts[k] : starts[k + 1]]
        block = scores[starts[k] : starts[k + 1]]
        zeros, ones = 0.0, 0.0
        for i in range(len(block)):
            score = block[i] + (against if classes[i] == 0 else in_favour)
            block[i] = score
            zeros += 0.0 if score > boundary else weights[i]
            ones += weights[i] if score > boundary else 0.0
        right[k] = zeros if k == 0 else ones


@kernel
def add_votes_each(predicted, votes, weight, starts, rounding, scores, right):
    """More than two classes: as `add_votes`, with one score per class; the first of the largest decides."""
    n_classes = scores.shape[1]
    for k in range(n_classes):
        right[k] = 0.0
        for i in range(starts[k], starts[k + 1]):
            row = scores[i]
            row[predicted[i]] += votes[predicted[i]]
            largest = row[0]
            for c in range(1, n_classes):
                largest = max(largest, row[c])
            c = 0
            while row[c] < largest - rounding:
                c += 1
            if c == k:
                right[k] += weight[i]


@kernel
def reweigh(predicted, factors, starts, raw, scale, stale, rows, by, changed):
    """Multiply each row by ``factors[true, predicted]``; list the rows whose raw weight changed, and how much.

    The factor of the rightly predicted rows goes into the scale of the class. That is possible while wrong rows gain
    and numbers stay within range; otherwise the class is stale: its rows take all, and all are listed with what they
    have. The list is written without a branch: which rows are wrong is as good as random to the processor.
    """
    ratio = np.empty(len(scale))
    at = np.uint64(0)
    for k in range(len(scale)):
        right, gain, most = factors[k, k], np.inf, 0.0
        for p in range(len(scale)):
            gain, most = min(gain, factors[k, p]), max(most, factors[k, p])
        moved = scale[k] * right
        stale[k] = gain < right or not (1e-100 < moved < 1e100) or most > 1e100 * right
        base = scale[k] if stale[k] else 1.0 / right
        for p in range(len(scale)):
            ratio[p] = base * factors[k, p] if stale[k] or p != k else 1.0
        scale[k] = 1.0 if stale[k] else moved
        changed[k] = at
        kept = 0.0 if stale[k] else 1.0
        classes, weights, begin = predicted[starts[k] : starts[k + 1]], raw[starts[k] : starts[k + 1]], starts[k]
        for i in range(len(classes)):
            p = classes[i]
            before = weights[i]
            after = before * ratio[p]
            weights[i] = after
            rows[at] = begin + i
            by[at] = after - kept * before
            at += np.uint64(1 if p != k or stale[k] else 0)
    changed[len(scale)] = at


@kernel
def add_table(codes, table, scores):
    """Add the row of `table` that each code names to the scores: one feature's share of an additive model."""
    for i in range(len(codes)):
        for c in range(table.shape[1]):
            scores[i, c] += table[codes[i], c]

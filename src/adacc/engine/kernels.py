"""Every compiled function. They know arrays and nothing else.

All in one file, because Numba's disk cache does not notice edits to a callee elsewhere, in this order: values to codes
and to step functions; codes to histograms; histograms to a split; a split to scores and weights. Rows stand grouped by
class: ``starts[k]:starts[k + 1]`` are the rows of class k, so no label is ever looked up. Outputs come last,
preallocated.
"""

from __future__ import annotations

import numpy as np

from adacc.engine.jit import kernel

GINI, ENTROPY, ERROR = 0, 1, 2

EMPTY = 1e-15
"""A leaf lighter than this, of a total of 1, is empty but for the rounding of the difference that it is."""

SHRUNK = 1e-3
"""Sums that have lost more than this leaves, by subtraction, are made anew: they may have lost three digits."""

BLOCK = 512
"""Rows that are looked at together, where each step is done for all of them before the next."""

# Sums whose order of addition may be chosen by the compiler, so that they vectorise; the same on every run.
_REORDER = {"reassoc", "nsz"}

# A product and a sum in one instruction, which halves the time from one cut to the next.
_FUSE = {"contract"}


# Values to codes, and to step functions.


@kernel
def take_columns(X, rows, first, out):
    """``out[c, i] = X[rows[i], first + c]``: as many columns of a row-major matrix as `out` has rows."""
    for begin in range(0, len(rows), BLOCK):
        some = rows[begin : begin + BLOCK]
        for c in range(len(out)):
            column, values = np.uint64(first + c), out[c, begin : begin + BLOCK]
            for i in range(len(some)):
                values[i] = X[some[i], column]


@kernel
def find_thresholds(values, weights, max_bins, out):
    """Thresholds between ascending `values`, midway between neighbours; their number, and that of distinct values.

    One between each two distinct values; if there are more values than `max_bins`, between bins of even weight. A bin
    is closed once it holds its share of the weight that is left, and before a value that fills a bin alone, so that a
    heavy value (zero, often) does not swallow the bins of the others. Without `weights` every value counts 1.
    """
    weighted = len(weights) > 0
    left = 0.0 if weighted else float(len(values))
    for weight in weights:
        left += weight
    n_distinct = min(1, len(values))
    before, after = values[:-1], values[1:]
    for i in range(len(after)):
        n_distinct += 1 if after[i] != before[i] else 0
    every = n_distinct <= max_bins
    close_to = 1.0 - 1e-9  # so that rounding does not decide
    share = left / max_bins * close_to
    n_found, held, end = 0, 0.0, 0
    heavy = 0.0  # weight of a run of equal values
    while end < len(values):
        held += heavy
        begin, value = end, values[end]
        heavy = weights[end] if weighted else 1.0
        end += 1
        while end < len(values) and values[end] == value:
            heavy += weights[end] if weighted else 1.0
            end += 1
        if begin > 0 and (every or (n_found < max_bins - 1 and (held >= share or heavy >= share))):
            low = values[begin - 1]
            middle = low / 2 + value / 2  # halves first, so that huge values do not overflow
            out[n_found] = middle if low <= middle < value else low
            n_found += 1
            left -= held
            held = 0.0
            share = left / max(max_bins - n_found, 1) * close_to
    return n_found, n_distinct


@kernel
def code_values(values, thresholds, out):
    """``out[i]`` = number of thresholds below ``values[i]``; NaN gets the code after the last bin."""
    missing = np.uint64(len(thresholds) + 1)
    padded, n_blocks = _pad(thresholds)
    codes = np.empty(BLOCK, dtype=np.uint64)
    for begin in range(0, len(values), BLOCK):
        block, part = values[begin : begin + BLOCK], out[begin : begin + BLOCK]
        _count_below(block, padded, n_blocks, codes)
        for i in range(len(block)):
            part[i] = codes[i] if block[i] == block[i] else missing


@kernel
def _pad(thresholds):
    """The thresholds in 16 blocks of a power of two, filled up with infinity, and how many blocks are full.

    Blocks of 1 or at least 16, which `_count_below` is fastest with.
    """
    size = 1 if len(thresholds) < 16 else 16
    while 16 * size <= len(thresholds):
        size *= 2
    padded = np.empty(16 * size)
    for j in range(len(padded)):
        padded[j] = thresholds[j] if j < len(thresholds) else np.inf
    return padded, len(thresholds) // size


@kernel
def _count_below(values, padded, n_blocks, counts):
    """How many thresholds lie below each of a few values.

    The ends of the blocks are counted one after the other, then the block is halved until one threshold is left: each
    step does the same for all values, without a branch, and vectorises.
    """
    size = np.uint64(len(padded) // 16)
    if size == np.uint64(16):  # the usual 255 bins: with numbers that the compiler knows it is twice as fast
        _count_ends(values, padded, np.uint64(16), 15, counts)
        _halve(values, padded, np.uint64(8), counts)
        _halve(values, padded, np.uint64(4), counts)
        _halve(values, padded, np.uint64(2), counts)
        _halve(values, padded, np.uint64(1), counts)
    else:
        _count_ends(values, padded, size, n_blocks, counts)
        while size > np.uint64(1):
            size = size >> np.uint64(1)
            _halve(values, padded, size, counts)


@kernel
def _count_ends(values, padded, size, n_blocks, counts):
    for i in range(len(values)):
        counts[i] = np.uint64(0)
    for b in range(n_blocks):
        last = padded[size * np.uint64(b) + size - np.uint64(1)]
        for i in range(len(values)):
            counts[i] += size if values[i] > last else np.uint64(0)


@kernel
def _halve(values, padded, size, counts):
    ends = padded[size - np.uint64(1) :]
    for i in range(len(values)):
        counts[i] += size if values[i] > ends[counts[i]] else np.uint64(0)


@kernel
def add_steps(X, columns, starts, thresholds, values, scores):
    """Add each column's step function to the scores.

    So many rows at a time that all their columns stay in the cache.
    """
    n_rows, n_outputs = scores.shape
    block, codes = np.empty(BLOCK), np.empty(BLOCK, dtype=np.uint64)
    for top in range(0, n_rows, 4 * BLOCK):
        bottom = min(top + 4 * BLOCK, n_rows)
        for u in range(len(columns)):
            padded, n_blocks = _pad(thresholds[starts[u] : starts[u + 1]])
            steps = values[starts[u] + 2 * u : starts[u + 1] + 2 * u + 2]
            missing = np.uint64(len(steps) - 1)
            for begin in range(top, bottom, BLOCK):
                size = min(BLOCK, bottom - begin)
                for i in range(size):
                    block[i] = X[begin + i, columns[u]]
                _count_below(block[:size], padded, n_blocks, codes)
                for i in range(size):
                    code = codes[i] if block[i] == block[i] else missing
                    for c in range(n_outputs):
                        scores[begin + i, c] += steps[code, c]


# Codes to histograms.


@kernel
def hash_rows(codes, keys, hashes):
    """Add ``keys[f] * code`` of every feature to each row's hash: equal rows get equal hashes, others hardly ever.

    Whole blocks at a time: in plain Python a product of arrays may wrap around, as it should, and one of numbers warns.
    """
    for f in range(len(codes)):
        for begin in range(0, len(hashes), 8 * BLOCK):
            some = hashes[begin : begin + 8 * BLOCK]
            some += keys[f] * codes[f, begin : begin + 8 * BLOCK].astype(np.uint64)


@kernel
def add_rows(codes, offsets, rows, by, begins, ends, histogram):
    """Add `by` of each listed row to its class's histogram, for the features whose codes these are.

    Those of class k are listed from ``begins[k]`` to ``ends[k]``. Four features at a time: four independent additions
    hide each other's latency, and a row's number and amount are read once for all four.
    """
    for k in range(len(begins)):
        # Slices, here and below: their loops need no test for negative numbers, which takes half as long again.
        listed, amounts, bins = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        f = 0
        while f + 4 <= len(codes) and len(listed) > 0:
            codes_0, codes_1, codes_2, codes_3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
            at_0, at_1 = np.uint64(offsets[f]), np.uint64(offsets[f + 1])
            at_2, at_3 = np.uint64(offsets[f + 2]), np.uint64(offsets[f + 3])
            for j in range(len(listed)):
                i, amount = listed[j], amounts[j]
                bins[at_0 + codes_0[i]] += amount
                bins[at_1 + codes_1[i]] += amount
                bins[at_2 + codes_2[i]] += amount
                bins[at_3 + codes_3[i]] += amount
            f += 4
        while f < len(codes) and len(listed) > 0:
            codes_0, at_0 = codes[f], np.uint64(offsets[f])
            for j in range(len(listed)):
                bins[at_0 + codes_0[listed[j]]] += amounts[j]
            f += 1


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
        best, cuts[f] = _scan(histogram, begin, end, scale, present, keep, criterion, unsplit - rest, tie)
        gains[f] = best + rest - unsplit


@kernel
def _scan(histogram, begin, end, scale, present, keep, criterion, best, tie):
    """Best purity of left and right, and its cut. `keep` is 1 where the left leaf grows from cut to cut, else 0."""
    cut = 0
    left, right = np.empty(len(scale)), np.empty(len(scale))
    for k in range(len(scale)):
        left[k] = 0.0
    for at in range(end - begin):
        for k in range(len(scale)):
            left[k] = keep * left[k] + scale[k] * histogram[k, begin + at]
            right[k] = present[k] - left[k]
        value = _purity(left, criterion) + _purity(right, criterion)
        if value > best + tie:
            best, cut = value, at
    return best, cut


@kernel(fastmath=_FUSE)
def best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """`best_splits` for two classes and Gini, the case that must be fast: no arrays, and hardly ever a division.

    With d the excess of the second class in the left leaf over its share of all that are present, the gain of a cut is
    2·d²·present / (left·right). The best so far is compared with it times the denominator.
    """
    scale_0, scale_1 = scale[0], scale[1]
    unsplit = (total[0] * total[0] + total[1] * total[1]) / (total[0] + total[1])
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
        bins_0, bins_1 = histogram[0, begin:end], histogram[1, begin:end]
        best, cut, left, left_1 = unsplit - apart, 0, 0.0, 0.0  # not above 0: telling the missing apart is a gain
        bar, twice = best + tie, 2.0 * present
        for at in range(len(bins_0)):
            one = scale_1 * bins_1[at]
            left = keep * left + (scale_0 * bins_0[at] + one)
            left_1 = keep * left_1 + one
            right, excess = present - left, left_1 - share * left
            gain, spread = twice * (excess * excess), left * right
            if gain >= bar * spread:
                gain = gain / spread if left > EMPTY and right > EMPTY else 0.0  # or one branch beside the missing rows
                if gain > bar:
                    best, cut, bar = gain, at, gain + tie
        cuts[f] = cut
        gains[f] = best + apart - unsplit


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
        heaviest, n_equal = 0, 1
        for k in range(1, n_classes):
            lead = leaves[leaf, k] - leaves[leaf, heaviest]
            if lead > tie:
                heaviest, n_equal = k, 1
            elif lead >= -tie:
                n_equal += 1
        empty = leaf < 3 and (feature < 0 or leaves[leaf, heaviest] <= 0.0)
        classes[leaf] = classes[3] if empty else tie_class if n_classes == 2 and n_equal == 2 else heaviest
    for code in range(last + 1):
        lookup[code] = classes[_leaf(code, cut, last, categorical[f])]
    for k in range(n_classes):
        for p in range(n_classes):
            mass[k, p] = 0.0
        for leaf in range(3):
            mass[k, classes[leaf]] += leaves[leaf, k]
    return feature, cut


@kernel
def _leaf(code, cut, last, categorical):
    """0 left, 1 right, 2 missing."""
    if categorical:
        return 0 if code == cut else 1
    if code == last:
        return 2
    return 0 if code <= cut else 1


# A split to scores and weights.


@kernel
def weigh_pairs(cells, lookup, raw, scale, starts, mass):
    """Weight of each (true, predicted) pair, added to `mass`; the class of a row is that of its cell."""
    for k in range(len(scale)):
        column, weights = cells[starts[k] : starts[k + 1]], raw[starts[k] : starts[k + 1]]
        for i in range(len(column)):
            mass[k, lookup[column[i]]] += scale[k] * weights[i]


@kernel(fastmath=_REORDER)
def add_votes(cells, lookup, votes, weight, starts, boundary, predicted, scores, counts, right):
    """Two classes: move each row's score by the vote of its predicted class, which is that of its cell.

    `counts` receives the number of rows of each (true, predicted) pair, `right` the weight of the rows of each class
    that are now rightly decided: the second class is decided where the score exceeds `boundary`. Without `weight` every
    row counts 1.
    """
    against, in_favour = votes[0], votes[1]
    up_to = _end_of_first_run(lookup)
    for k in range(2):
        n_ones, n_decided, decided = 0, 0, 0.0
        # Small loops that each vectorise, over so few rows that what one wrote the next finds in the cache.
        for begin in range(starts[k], starts[k + 1], 4 * BLOCK):
            end = min(begin + 4 * BLOCK, starts[k + 1])
            classes, block, weights = predicted[begin:end], scores[begin:end], weight[begin:end]
            _look_up(cells[begin:end], lookup, up_to, classes)
            for i in range(len(classes)):
                n_ones += int(classes[i])
            for i in range(len(block)):
                block[i] += against if classes[i] == 0 else in_favour
            if len(weight) == 0:
                for i in range(len(block)):
                    n_decided += 1 if block[i] > boundary else 0
            elif k == 0:
                for i in range(len(block)):
                    decided += 0.0 if block[i] > boundary else weights[i]
            else:
                for i in range(len(block)):
                    decided += weights[i] if block[i] > boundary else 0.0
        n_rows = starts[k + 1] - starts[k]
        counts[k, 0], counts[k, 1] = n_rows - n_ones, n_ones
        right[k] = decided if len(weight) > 0 else n_decided if k == 1 else n_rows - n_decided


@kernel
def _end_of_first_run(lookup):
    """The last code of the first class, if another class has all codes after it but for that of missing; else -1."""
    last, up_to = len(lookup) - 1, 0
    while up_to + 1 < last and lookup[up_to + 1] == lookup[0]:
        up_to += 1
    for code in range(up_to + 1, last):
        if lookup[code] != lookup[up_to + 1]:
            return -1
    return up_to


@kernel
def _look_up(column, lookup, up_to, classes):
    """The class of each code. Where a threshold decides, comparing is several times faster than looking up."""
    if up_to < 0:
        for i in range(len(column)):
            classes[i] = lookup[column[i]]
        return
    last = len(lookup) - 1
    left, right, missing = lookup[0], lookup[min(up_to + 1, last)], lookup[last]
    for i in range(len(column)):
        classes[i] = left if column[i] <= up_to else right
    if missing != right:
        for i in range(len(column)):
            classes[i] = missing if column[i] == last else classes[i]


@kernel
def add_votes_each(cells, lookup, votes, weight, starts, rounding, predicted, scores, counts, right):
    """More than two classes: as `add_votes`, with one score per class; the first of the largest decides."""
    n_classes = scores.shape[1]
    for k in range(n_classes):
        right[k] = 0.0
        for p in range(n_classes):
            counts[k, p] = 0
        for i in range(starts[k], starts[k + 1]):
            p, row = lookup[cells[i]], scores[i]
            predicted[i] = p
            counts[k, p] += 1
            row[p] += votes[p]
            largest = row[0]
            for c in range(1, n_classes):
                largest = max(largest, row[c])
            c = 0
            while row[c] < largest - rounding:
                c += 1
            if c == k:
                right[k] += weight[i] if len(weight) > 0 else 1.0


@kernel
def reweigh(predicted, counts, mass, starts, factors, raw, scale, shrunk, class_weight, stale, rows, by, ends):
    """Multiply each row by ``factors[true, predicted]`` over their mean; that mean, and the number of stale classes.

    `factors` are divided by their mean in place, and `class_weight` receives the weight of each class thereafter. The
    factor of the commonest prediction of a class goes into its scale, so that only the rows that are predicted
    otherwise change: these are listed, from ``starts[k]`` to ``ends[k]``, with what each gained or lost. Sums that are
    kept up to date by what is lost lose accuracy with it: where the product of the losses, `shrunk`, has become small,
    or numbers leave the range of floats, the class is stale. Then its rows take all, and all are listed with what they
    have. The list is written without a branch: who is predicted otherwise is as good as random to the processor.
    """
    n_classes, n_stale, mean = len(scale), 0, 0.0
    ratio = np.empty(n_classes)
    for k in range(n_classes):
        class_weight[k] = 0.0
        for p in range(n_classes):
            class_weight[k] += factors[k, p] * mass[k, p]
        mean += class_weight[k]
    for k in range(n_classes):
        class_weight[k] /= mean
        common = 0
        for p in range(n_classes):
            factors[k, p] /= mean
            common = p if counts[k, p] > counts[k, common] else common
        kept = factors[k, common]
        moved = scale[k] * kept
        least, most = 1.0, 1.0
        if kept > 0.0:
            for p in range(n_classes):
                ratio[p] = factors[k, p] / kept
                if counts[k, p] > 0:
                    least, most = min(least, ratio[p]), max(most, ratio[p])
        shrunk[k] *= least
        stale[k] = not (1e-100 < moved < 1e100) or most > 1e100 or shrunk[k] < SHRUNK
        begin, classes, weights = starts[k], predicted[starts[k] : starts[k + 1]], raw[starts[k] : starts[k + 1]]
        listed, amounts = rows[starts[k] : starts[k + 1]], by[starts[k] : starts[k + 1]]
        if stale[k]:
            n_stale += 1
            for p in range(n_classes):
                ratio[p] = scale[k] * factors[k, p]
            for i in range(len(classes)):
                weights[i] *= ratio[classes[i]]
                listed[i], amounts[i] = begin + i, weights[i]
            scale[k], shrunk[k], ends[k] = 1.0, 1.0, starts[k + 1]
            continue
        scale[k] = moved
        at = np.uint64(0)
        for i in range(len(classes)):
            listed[at] = begin + i
            at += np.uint64(1 if classes[i] != common else 0)
        ends[k] = begin + np.int64(at)
        for j in range(ends[k] - begin):
            i = listed[j]
            before = raw[i]
            raw[i] = before * ratio[predicted[i]]
            amounts[j] = raw[i] - before
    return mean, n_stale

"""Scores and weights of the rows, from the predictions of a weak model."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel

MIN_REMAINING = 1e-3
"""Minimum share that subtractions may leave of a sum, which then has lost up to three decimal digits of accuracy."""

TRACKED_ROUND_LOSS = 0.99
"""Assumed accuracy left after a round with tracked rows: their histograms restart after at most about 700 rounds."""

BLOCK = 2048
"""Number of rows that are processed together: small enough for the cache and for counts in 16 bits."""

# The compiler may reorder these sums to vectorise them. The order is the same on every run.
_REORDER = {"reassoc", "nsz"}


@kernel
def weigh_pairs(leaves, lookup, raw, scale, starts, mass):
    """Add the weight of each (true, predicted) pair to `mass`; `lookup` is the class of each leaf."""
    for k in range(len(scale)):
        column, weights = leaves[starts[k] : starts[k + 1]], raw[starts[k] : starts[k + 1]]
        for i in range(len(column)):
            mass[k, lookup[column[i]]] += scale[k] * weights[i]


@kernel(fastmath=_REORDER)
def add_votes(leaves, lookup, votes, weight, starts, boundary, predicted, scores, counts, right):
    """Two classes: add the vote of the predicted class of each row to its score; `lookup` is the class of each leaf.

    `counts` receives the number of rows of each (true, predicted) pair, `right` the weight of the correctly classified
    rows of each class: the ensemble predicts the second class if the score exceeds `boundary`. If `weight` is empty,
    every row has weight 1.
    """
    vote_0, vote_1 = votes[0], votes[1]
    cut = _find_cut(lookup)
    for k in range(2):
        n_ones, n_above, weight_right = 0, 0, 0.0
        if_above, if_not = float(k), 1.0 - k
        # Several small loops vectorise better than one; the rows of a block stay in the cache.
        for begin in range(starts[k], starts[k + 1], BLOCK):
            end = min(begin + BLOCK, starts[k + 1])
            classes, block, weights = predicted[begin:end], scores[begin:end], weight[begin:end]
            _look_up(leaves[begin:end], lookup, cut, classes)
            n_ones_in_block = np.uint16(0)  # a narrow type vectorises better
            for i in range(len(classes)):
                n_ones_in_block = np.uint16(n_ones_in_block + classes[i])
            n_ones += int(n_ones_in_block)
            if len(weight) == 0:
                for i in range(len(block)):
                    block[i] += vote_0 if classes[i] == 0 else vote_1
                    n_above += 1 if block[i] > boundary else 0
            else:
                for i in range(len(block)):
                    block[i] += vote_0 if classes[i] == 0 else vote_1
                    weight_right += weights[i] * (if_above if block[i] > boundary else if_not)
        n_rows = starts[k + 1] - starts[k]
        counts[k, 0], counts[k, 1] = n_rows - n_ones, n_ones
        right[k] = weight_right if len(weight) > 0 else n_above if k == 1 else n_rows - n_above


@kernel
def _find_cut(lookup):
    """The last bin of the left branch if the lookup is that of a threshold with a missing bin at the end; else -1."""
    last, cut = len(lookup) - 1, 0
    while cut + 1 < last and lookup[cut + 1] == lookup[0]:
        cut += 1
    for bin_ in range(cut + 1, last):
        if lookup[bin_] != lookup[cut + 1]:
            return -1
    return cut


@kernel
def _look_up(column, lookup, cut, classes):
    """The class of each leaf. For a threshold (`cut` >= 0) comparisons are several times faster than a lookup."""
    if cut < 0:
        for i in range(len(column)):
            classes[i] = lookup[column[i]]
        return
    last = len(lookup) - 1
    left, right, missing = lookup[0], lookup[min(cut + 1, last)], lookup[last]
    last_left, missing_bin = column.dtype.type(cut), column.dtype.type(last)
    for i in range(len(column)):
        other = missing if column[i] == missing_bin else right
        classes[i] = left if column[i] <= last_left else other


@kernel
def add_votes_each(leaves, lookup, votes, weight, starts, rounding, predicted, scores, counts, right):
    """`add_votes` for more than two classes, with a score per class; the first of the largest scores wins."""
    n_classes, cut = len(scores), _find_cut(lookup)
    is_predicted = np.zeros(n_classes, dtype=np.bool_)
    for p in lookup:
        if p < n_classes:  # the lookup of external classifiers is the identity on all class numbers
            is_predicted[p] = True
    before, largest = np.empty(BLOCK), np.empty(BLOCK)  # largest scores of the classes before k, and of all classes
    for k in range(n_classes):
        right[k] = 0.0
        for p in range(n_classes):
            counts[k, p] = 0
        for begin in range(starts[k], starts[k + 1], BLOCK):
            end = min(begin + BLOCK, starts[k + 1])
            classes = predicted[begin:end]
            _look_up(leaves[begin:end], lookup, cut, classes)
            for i in range(len(classes)):
                largest[i] = -np.inf
            for c in range(n_classes):
                class_scores = scores[c, begin:end]
                if is_predicted[c]:
                    counts[k, c] += _add_vote(classes, c, votes[c], class_scores)
                for i in range(len(class_scores)):
                    before[i] = largest[i] if c == k else before[i]
                    largest[i] = class_scores[i] if class_scores[i] > largest[i] else largest[i]
            right[k] += _weigh_right(scores[k, begin:end], before, largest, rounding, weight[begin:end])


@kernel
def _add_vote(classes, c, vote, scores):
    """Add a vote to the scores of the rows that are predicted as class c; their number."""
    n_predicted, class_ = 0, np.uint8(c)
    for i in range(len(scores)):
        scores[i] += vote if classes[i] == class_ else 0.0
        n_predicted += 1 if classes[i] == class_ else 0
    return n_predicted


@kernel
def _weigh_right(scores, before, largest, rounding, weight):
    """Weight, or number, of the rows whose score of the true class is the first of the largest scores."""
    n_right, weight_right = 0, 0.0
    for i in range(len(scores)):
        threshold = largest[i] - rounding
        is_right = (scores[i] >= threshold) & (before[i] < threshold)
        n_right += 1 if is_right else 0
        if len(weight) > 0:
            weight_right += weight[i] if is_right else 0.0
    return weight_right if len(weight) > 0 else float(n_right)


@kernel
def reweigh(
    predicted, counts, mass, starts, factors, pass_in_rows, raw, scale, remaining, tracked, growth,
    class_weight, stale, tracked_factor, rows, amounts, ends,
):  # fmt: skip
    """Multiply the weight of each row by ``factors[true, predicted]`` divided by their mean.

    Returns the mean, the number of stale histograms, and the number of classes with tracked rows. `factors` are divided
    by their mean in place, and `class_weight` receives the new weight of each class. The factor of the most frequent
    prediction of a class goes into its scale, so that only the raw weights of the other rows change. These rows are
    listed in ``rows[starts[k]:ends[k]]``, with the change of their raw weight in `amounts`.

    Tracked rows: if nearly the same rows change as before, they have a histogram of their own. Then only rows that
    enter or leave the tracked rows are listed, up to ``ends[n_classes + k]``, with plus or minus their raw weight, and
    afterwards all tracked rows change by the factor ``tracked_factor[k]``. This must save more than `pass_in_rows`, the
    number of rows that can be added in the time of one pass over a histogram.

    Accuracy: a sum that is updated by subtraction keeps the absolute error that it had when it was larger. The weight
    of a row is at least ``remaining[0, k]`` times its maximum so far, ``remaining[1, k]`` if it is tracked. If this is
    below `MIN_REMAINING`, or numbers would overflow or underflow, the class is stale: the factors go into the raw
    weights, and all rows are listed with their raw weight. The error in the histogram of the tracked rows grows with
    them, by ``growth[k]``, and stays in bins whose rows have left. Before it is too large for what remains, this
    histogram starts from zero. It also does after a round in which rows changed outside of it: then ``growth[k]`` is
    infinite.
    """
    n_classes, n_stale, n_tracked, mean = len(scale), 0, 0, 0.0
    ratio = np.empty(n_classes)
    for k in range(n_classes):
        class_weight[k] = 0.0
        for p in range(n_classes):
            class_weight[k] += factors[k, p] * mass[k, p]
        mean += class_weight[k]
    for k in range(n_classes):
        class_weight[k] /= mean
        for p in range(n_classes):
            factors[k, p] /= mean
        common, second, min_ratio, max_ratio = _compare_factors(factors[k], counts[k], ratio)
        begin, end, k_tracked = starts[k], starts[k + 1], n_classes + k
        classes, marks, listed, changes = predicted[begin:end], tracked[begin:end], rows[begin:end], amounts[begin:end]
        n_others = len(classes) - counts[k, common]
        may_track = n_others > pass_in_rows and n_others == counts[k, second]
        n_crossed = n_others
        if may_track:
            n_crossed = _count_crossed(classes, common, marks, n_others - pass_in_rows)
        tracks = may_track and n_crossed + pass_in_rows < n_others
        if n_crossed > 0:
            remaining[0, k] = remaining[1, k] = min(remaining[0, k], remaining[1, k])
        restarts = tracks and not MIN_REMAINING * growth[k] * ratio[second] < remaining[0, k]
        if growth[k] < np.inf and (restarts or (n_others > 0 and not tracks)):
            remaining[0, k] /= growth[k]
            remaining[1, k] /= growth[k]
        if tracks:
            remaining[0, k] *= TRACKED_ROUND_LOSS
            remaining[1, k] = min(1.0, remaining[1, k] * ratio[second]) * TRACKED_ROUND_LOSS
        else:
            remaining[0, k] *= min_ratio
            remaining[1, k] *= min_ratio
        inaccurate = min(remaining[0, k], remaining[1, k]) < MIN_REMAINING
        stale[k] = inaccurate or max_ratio > 1e100 or not 1e-100 < scale[k] * factors[k, common] < 1e100
        stale[k_tracked], tracked_factor[k], ends[k], ends[k_tracked] = False, 1.0, begin, begin
        if stale[k]:
            n_stale += 1
            _list_all(classes, scale[k] * factors[k], begin, raw[begin:end], listed, changes)
            scale[k], remaining[0, k], remaining[1, k], growth[k], ends[k] = 1.0, 1.0, 1.0, np.inf, end
            continue
        scale[k] *= factors[k, common]
        if tracks:
            n_tracked += 1
            if restarts:
                n_stale += 1
                marks[:], stale[k_tracked] = 0, True
            tracked_factor[k], growth[k] = ratio[second], 1.0 if restarts else max(1.0, growth[k] * ratio[second])
            ends[k_tracked] += _list_crossed(predicted, common, begin, end, marks, raw, listed, changes)
            _multiply_others(classes, common, ratio[second], raw[begin:end])
        elif n_others > 0:
            growth[k] = np.inf
            ends[k] += _list_changed(predicted, common, begin, end, ratio, raw, listed, changes)
        if may_track:  # also after `_list_crossed`, which overwrites the marks
            for i in range(len(classes)):
                marks[i] = _is_other(classes[i], common)
    return mean, n_stale, n_tracked


@kernel
def _compare_factors(factors, counts, ratio):
    """The most frequent prediction of a class and the second; the smallest and the largest `ratio` of a factor to that
    of the most frequent prediction, over all predictions that occur.
    """
    common, second, min_ratio, max_ratio = 0, -1, 1.0, 1.0
    for p in range(1, len(counts)):
        if counts[p] > counts[common]:
            common, second = p, common
        elif second < 0 or counts[p] > counts[second]:
            second = p
    for p in range(len(counts)):
        ratio[p] = factors[p] / factors[common] if factors[common] > 0.0 else 1.0
        if counts[p] > 0:
            min_ratio, max_ratio = min(min_ratio, ratio[p]), max(max_ratio, ratio[p])
    return common, second, min_ratio, max_ratio


@kernel
def _is_other(predicted, common):
    """1 or 0 as a byte, so that the loops over rows vectorise well."""
    return np.uint8(1 if predicted != np.uint8(common) else 0)


@kernel
def _count_crossed(classes, common, marks, limit):
    """Number of rows that enter or leave the tracked rows; counting ends at `limit`."""
    n_crossed = 0
    for begin in range(0, len(classes), BLOCK):
        block, block_marks = classes[begin : begin + BLOCK], marks[begin : begin + BLOCK]
        n_in_block = np.uint16(0)
        for i in range(len(block)):
            n_in_block += np.uint16(block_marks[i] ^ _is_other(block[i], common))
        n_crossed += int(n_in_block)
        if n_crossed >= limit:
            break
    return n_crossed


@kernel
def _list_all(classes, factors, begin, raw, listed, amounts):
    """Multiply all rows by their factors, and list them with their new raw weight."""
    for i in range(len(classes)):
        raw[i] *= factors[classes[i]]
        listed[i], amounts[i] = begin + i, raw[i]


@kernel
def _list_changed(predicted, common, begin, end, ratio, raw, listed, amounts):
    """Multiply the rows not predicted as `common`, and list them with the change of their raw weight; their number."""
    n_listed = _list_others(predicted[begin:end], common, begin, listed)
    for j in range(n_listed):
        i = listed[j]
        before = raw[i]
        raw[i] = before * ratio[predicted[i]]
        amounts[j] = raw[i] - before
    return n_listed


@kernel
def _list_crossed(predicted, common, begin, end, marks, raw, listed, amounts):
    """List the rows that enter the tracked rows with their raw weight, and those that leave with minus it; their
    number.

    Afterwards `marks` are 1 for the listed rows.
    """
    classes = predicted[begin:end]
    for i in range(len(classes)):
        marks[i] ^= _is_other(classes[i], common)
    n_listed = _list_others(marks, ZERO, begin, listed)
    for j in range(n_listed):
        i = listed[j]
        amounts[j] = raw[i] if predicted[i] != common else -raw[i]
    return n_listed


@kernel
def _multiply_others(classes, common, factor, raw):
    """Multiply the rows that are not predicted as `common`."""
    for i in range(len(classes)):
        raw[i] *= factor if _is_other(classes[i], common) else 1.0


@kernel
def _list_others(classes, common, begin, listed):
    """List the rows of another class than `common`, where `begin` is the number of the first row; their number.

    The loop has no branch, because the processor could not predict it.
    """
    n_listed = np.uint64(0)
    for i in range(len(classes)):
        listed[n_listed] = begin + i
        n_listed += np.uint64(1 if classes[i] != common else 0)
    return np.int64(n_listed)

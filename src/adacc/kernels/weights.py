"""Scores and weights of the rows, from the predictions of a weak model."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import inner_kernel, kernel

MIN_REMAINING = 1e-3
"""Minimum share that subtractions may leave of a sum, which then has lost up to three decimal digits of accuracy."""

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
        n_ones, n_above, weight_right = np.int64(0), 0, 0.0
        if_above, if_not = float(k), 1.0 - k
        # Several small loops vectorise better than one; the rows of a block stay in the cache.
        for begin in range(starts[k], starts[k + 1], BLOCK):
            end = begin + BLOCK if begin + BLOCK < starts[k + 1] else starts[k + 1]
            classes, block, weights = predicted[begin:end], scores[begin:end], weight[begin:end]
            _look_up(leaves[begin:end], lookup, cut, classes)
            n_ones_in_block = np.uint16(0)  # a narrow type vectorises better
            for i in range(len(classes)):
                n_ones_in_block = np.uint16(n_ones_in_block + classes[i])
            n_ones += np.int64(n_ones_in_block)
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


@kernel(inline="always")
def _find_cut(lookup):
    """The last bin of the left branch if the lookup is that of a threshold with a missing bin at the end; else -1."""
    last, cut = len(lookup) - 1, 0
    while cut + 1 < last and lookup[cut + 1] == lookup[0]:
        cut += 1
    for bin_ in range(cut + 1, last):
        if lookup[bin_] != lookup[cut + 1]:
            return -1
    return cut


@kernel(inline="always")
def _look_up(column, lookup, cut, classes):
    """The class of each leaf. For a threshold (`cut` >= 0) comparisons are several times faster than a lookup."""
    if cut < 0:
        for i in range(len(column)):
            classes[i] = lookup[column[i]]
        return
    last = len(lookup) - 1
    left, right, missing = lookup[0], lookup[cut + 1 if cut < last else last], lookup[last]
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


@inner_kernel
def _add_vote(classes, c, vote, scores):
    """Add a vote to the scores of the rows that are predicted as class c; their number."""
    n_predicted, class_ = 0, np.uint8(c)
    for i in range(len(scores)):
        scores[i] += vote if classes[i] == class_ else 0.0
        n_predicted += 1 if classes[i] == class_ else 0
    return n_predicted


@inner_kernel
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
    predicted, counts, mass, starts, factors, raw, scale, remaining, ratio, class_weight, stale, rows, amounts, ends
):  # fmt: skip
    """Multiply the weight of each row by ``factors[true, predicted]`` divided by their mean.

    Returns the mean and the number of stale histograms. `factors` are divided by their mean in place, and
    `class_weight` receives the new weight of each class. The factor of the most frequent prediction of a class goes
    into its scale, so that only the raw weights of the other rows change. These rows are listed in
    ``rows[starts[k]:ends[k]]``, with the change of their raw weight in `amounts`. `ratio` is a workspace.

    Accuracy: a sum that is updated by subtraction keeps the absolute error that it had when it was larger. The weight
    of a row is at least ``remaining[k]`` times its maximum so far. If this is below `MIN_REMAINING`, or numbers would
    overflow or underflow, the class is stale: the factors go into the raw weights, and all rows are listed with their
    raw weight.
    """
    mean, n_stale = _normalize(factors, mass, class_weight), 0
    for k in range(len(scale)):
        common, min_ratio, max_ratio = _compare_factors(factors[k], counts[k], ratio)
        begin, end, before = starts[k], starts[k + 1], scale[k]
        remaining[k] *= min_ratio
        scale[k] *= factors[k, common]
        stale[k] = remaining[k] < MIN_REMAINING or max_ratio > 1e100 or not 1e-100 < scale[k] < 1e100
        ends[k] = begin
        if stale[k]:
            _list_all(predicted, before, factors[k], begin, end, raw, rows, amounts)
            scale[k], remaining[k], ends[k] = 1.0, 1.0, end
            n_stale += 1
        elif counts[k, common] < end - begin:
            ends[k] = _list_changed(predicted, common, begin, end, ratio, raw, rows, amounts)
    return mean, n_stale


@kernel(inline="always")
def _normalize(factors, mass, class_weight):
    """Divide the factors by their mean, and return it; `class_weight` receives the new weight of each class."""
    mean = 0.0
    for k in range(len(class_weight)):
        class_weight[k] = 0.0
        for p in range(len(class_weight)):
            class_weight[k] += factors[k, p] * mass[k, p]
        mean += class_weight[k]
    for k in range(len(class_weight)):
        class_weight[k] /= mean
        for p in range(len(class_weight)):
            factors[k, p] /= mean
    return mean


@kernel(inline="always")
def _compare_factors(factors, counts, ratio):
    """The most frequent prediction of a class; the smallest and the largest `ratio` of a factor to that of the most
    frequent prediction, over all predictions that occur.
    """
    common, min_ratio, max_ratio = 0, 1.0, 1.0
    for p in range(1, len(counts)):
        common = p if counts[p] > counts[common] else common
    for p in range(len(counts)):
        ratio[p] = factors[p] / factors[common] if factors[common] > 0.0 else 1.0
        if counts[p] > 0:
            min_ratio = ratio[p] if ratio[p] < min_ratio else min_ratio
            max_ratio = ratio[p] if ratio[p] > max_ratio else max_ratio
    return common, min_ratio, max_ratio


@kernel(inline="always")
def _list_all(predicted, scale, factors, begin, end, raw, listed, amounts):
    """Multiply all rows of a class by its scale and their factors, and list them with their new raw weight."""
    for i in range(begin, end):
        raw[i] *= scale * factors[predicted[i]]
        listed[i], amounts[i] = i, raw[i]


@kernel(inline="always")
def _list_changed(predicted, common, begin, end, ratio, raw, listed, amounts):
    """Multiply the rows not predicted as `common`, and list them with the change of their raw weight; the list's end.

    The first loop has no branch, because the processor could not predict it.
    """
    at = np.uint64(begin)
    for i in range(np.uint64(begin), np.uint64(end)):
        listed[at] = i
        at += np.uint64(1 if predicted[i] != common else 0)
    for j in range(np.uint64(begin), at):
        i = listed[j]
        before = raw[i]
        raw[i] = before * ratio[predicted[i]]
        amounts[j] = raw[i] - before
    return np.int64(at)

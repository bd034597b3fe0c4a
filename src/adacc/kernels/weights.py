"""A split to scores and weights."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel

SHRUNK = 1e-3
"""Sums that have lost more than this leaves, by subtraction, are made anew: they may have lost three digits."""

ROUNDED = 0.99
"""What carrying sums on leaves of their accuracy, so that they are made anew after some 700 rounds at the latest."""

BLOCK = 2048
"""Rows that are looked at together, where each step is done for all of them before the next."""

# Sums whose order of addition may be chosen by the compiler, so that they vectorise; the same on every run.
_REORDER = {"reassoc", "nsz"}


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
        if_above, if_not = float(k), 1.0 - k
        # Small loops that each vectorise, over so few rows that what one wrote the next finds in the cache.
        for begin in range(starts[k], starts[k + 1], BLOCK):
            end = min(begin + BLOCK, starts[k + 1])
            classes, block, weights = predicted[begin:end], scores[begin:end], weight[begin:end]
            _look_up(cells[begin:end], lookup, up_to, classes)
            n_ones_here = np.uint16(0)  # as narrow as a block allows, here and below: the more of them at a time
            for i in range(len(classes)):
                n_ones_here = np.uint16(n_ones_here + classes[i])
            n_ones += int(n_ones_here)
            if len(weight) == 0:
                for i in range(len(block)):
                    block[i] += against if classes[i] == 0 else in_favour
                    n_decided += 1 if block[i] > boundary else 0
            else:
                for i in range(len(block)):
                    block[i] += against if classes[i] == 0 else in_favour
                    decided += weights[i] * (if_above if block[i] > boundary else if_not)
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
    cut, absent = column.dtype.type(up_to), column.dtype.type(last)
    for i in range(len(column)):
        other = missing if column[i] == absent else right
        classes[i] = left if column[i] <= cut else other


@kernel
def add_votes_each(cells, lookup, votes, weight, starts, rounding, predicted, scores, counts, right):
    """More than two classes: as `add_votes`, with the scores of each class; the first of the largest decides."""
    n_classes, up_to = len(scores), _end_of_first_run(lookup)
    has_voters = np.zeros(n_classes, dtype=np.bool_)
    for p in lookup:
        if p < n_classes:  # foreign classifiers' predictions are their own cells, and the table goes on after the last
            has_voters[p] = True
    before, largest = np.empty(BLOCK), np.empty(BLOCK)  # of the classes before the true one, and of all
    for k in range(n_classes):
        right[k] = 0.0
        for p in range(n_classes):
            counts[k, p] = 0
        for begin in range(starts[k], starts[k + 1], BLOCK):
            end = min(begin + BLOCK, starts[k + 1])
            classes = predicted[begin:end]
            _look_up(cells[begin:end], lookup, up_to, classes)
            for i in range(len(classes)):
                largest[i] = -np.inf
            for c in range(n_classes):
                of_class = scores[c, begin:end]
                if has_voters[c]:
                    counts[k, c] += _add_vote(classes, c, votes[c], of_class)
                for i in range(len(of_class)):
                    before[i] = largest[i] if c == k else before[i]
                    largest[i] = of_class[i] if of_class[i] > largest[i] else largest[i]
            right[k] += _weigh_decided(scores[k, begin:end], before, largest, rounding, weight[begin:end])


@kernel
def _add_vote(classes, c, vote, scores):
    """Add a vote to the scores of the rows that are predicted as class c; their number."""
    n_predicted, of_class = 0, np.uint8(c)
    for i in range(len(scores)):
        scores[i] += vote if classes[i] == of_class else 0.0
        n_predicted += 1 if classes[i] == of_class else 0
    return n_predicted


@kernel
def _weigh_decided(own, before, largest, rounding, weight):
    """The weight, or number, of the rows whose own score is the first of the largest."""
    n_decided, decided = 0, 0.0
    for i in range(len(own)):
        least = largest[i] - rounding
        is_decided = (own[i] >= least) & (before[i] < least)
        n_decided += 1 if is_decided else 0
        if len(weight) > 0:
            decided += weight[i] if is_decided else 0.0
    return decided if len(weight) > 0 else float(n_decided)


@kernel
def reweigh(
    predicted, counts, mass, starts, factors, pass_in_rows, raw, scale, remaining, apart, grown,
    class_weight, stale, carried, rows, by, ends,
):  # fmt: skip
    """Multiply each row by ``factors[true, predicted]`` over their mean.

    Returned are that mean, how many sums begin anew, and in how many classes rows stand apart that are carried on.
    `factors` are divided by their mean in place, and `class_weight` receives the weight of each class thereafter. The
    factor of the commonest prediction of a class goes into its scale, so that only the rows that are predicted
    otherwise change: these are listed, from ``starts[k]`` to ``ends[k]``, with what each gained or lost.

    Where nearly the same rows change as before, they stand apart, with sums of their own that are carried on: only rows
    that cross over are listed, up to ``ends[n_classes + k]``, with what they bring or take away, and then all that
    stand apart change by the factor ``carried[k]``. That must save more than `pass_in_rows`, the rows that are added in
    the time of passing over sums.

    Sums that are kept up to date by what is lost lose accuracy with it. A row has at least ``remaining[0, k]`` of the
    most it ever had, ``remaining[1, k]`` if it stands apart: where that is little, or numbers leave the range of
    floats, the class is stale. Then its rows take all, and all are listed with what they have. What is wrong in the
    sums of those apart grows as they do, by ``grown[k]``, and stays where rows have left them: before that is too much
    for what remains they begin anew. They also do after rows have changed without them: then it is infinite.
    """
    n_classes, n_stale, n_carried, mean = len(scale), 0, 0, 0.0
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
        common, other, least, most = _compare(factors[k], counts[k], ratio)
        begin, end, of_apart = starts[k], starts[k + 1], n_classes + k
        classes, standing, listed, amounts = predicted[begin:end], apart[begin:end], rows[begin:end], by[begin:end]
        n_others = len(classes) - counts[k, common]
        alike = n_others > pass_in_rows and n_others == counts[k, other]
        n_crossed = n_others
        if alike:
            n_crossed = _count_crossed(classes, common, standing, n_others - pass_in_rows)
        again = alike and n_crossed + pass_in_rows < n_others
        if n_crossed > 0:
            remaining[0, k] = remaining[1, k] = min(remaining[0, k], remaining[1, k])
        anew = again and not SHRUNK * grown[k] * ratio[other] < remaining[0, k]
        if grown[k] < np.inf and (anew or (n_others > 0 and not again)):
            remaining[0, k] /= grown[k]
            remaining[1, k] /= grown[k]
        remaining[0, k] *= ROUNDED if again else least
        remaining[1, k] = min(1.0, remaining[1, k] * ratio[other]) * ROUNDED if again else remaining[1, k] * least
        lost = min(remaining[0, k], remaining[1, k]) < SHRUNK
        stale[k] = lost or most > 1e100 or not 1e-100 < scale[k] * factors[k, common] < 1e100
        stale[of_apart], carried[k], ends[k], ends[of_apart] = False, 1.0, begin, begin
        if stale[k]:
            n_stale += 1
            _list_all(classes, scale[k] * factors[k], begin, raw[begin:end], listed, amounts)
            scale[k], remaining[0, k], remaining[1, k], grown[k], ends[k] = 1.0, 1.0, 1.0, np.inf, end
            continue
        scale[k] *= factors[k, common]
        if again:
            n_carried += 1
            if anew:
                n_stale += 1
                n_crossed, standing[:], stale[of_apart] = n_others, 0, True
            carried[k], grown[k] = ratio[other], 1.0 if anew else max(1.0, grown[k] * ratio[other])
            ends[of_apart] += _list_crossed(predicted, common, n_crossed, begin, end, standing, raw, listed, amounts)
            _multiply_others(classes, common, ratio[other], raw[begin:end])
        elif n_others > 0:
            grown[k] = np.inf
            ends[k] += _list_changed(predicted, common, n_others, begin, end, ratio, raw, listed, amounts)
        if alike:  # after `_list_crossed` too, which has made them marks of something else
            for i in range(len(classes)):
                standing[i] = _is_other(classes[i], common)
    return mean, n_stale, n_carried


@kernel
def _compare(factors, counts, ratio):
    """The commonest prediction of a class and the next; the smallest and the largest `ratio` of a factor to that of
    the commonest, for what is predicted at all, itself included.
    """
    common, other, least, most = 0, -1, 1.0, 1.0
    for p in range(1, len(counts)):
        if counts[p] > counts[common]:
            common, other = p, common
        elif other < 0 or counts[p] > counts[other]:
            other = p
    for p in range(len(counts)):
        ratio[p] = factors[p] / factors[common] if factors[common] > 0.0 else 1.0
        if counts[p] > 0:
            least, most = min(least, ratio[p]), max(most, ratio[p])
    return common, other, least, most


@kernel
def _is_other(of_row, common):
    """1 or 0, as a byte: of these the processor takes many at a time."""
    return np.uint8(1 if of_row != np.uint8(common) else 0)


@kernel
def _count_crossed(classes, common, standing, too_many):
    """Rows of the common class that stand apart, and others that do not; counted up to `too_many`."""
    n_crossed = 0
    for begin in range(0, len(classes), BLOCK):
        block, stood = classes[begin : begin + BLOCK], standing[begin : begin + BLOCK]
        n_crossed_here = np.uint16(0)
        for i in range(len(block)):
            n_crossed_here += np.uint16(stood[i] ^ _is_other(block[i], common))
        n_crossed += int(n_crossed_here)
        if n_crossed >= too_many:
            break
    return n_crossed


@kernel
def _list_all(classes, factors, begin, weights, listed, amounts):
    """Multiply all rows, and list them with what they have then."""
    for i in range(len(classes)):
        weights[i] *= factors[classes[i]]
        listed[i], amounts[i] = begin + i, weights[i]


@kernel
def _list_changed(predicted, common, n_others, begin, end, ratio, raw, listed, amounts):
    """Multiply the others, and list them with what each gained or lost; their number."""
    n_listed = _list_others(predicted[begin:end], common, n_others, begin, listed)
    for j in range(n_listed):
        i = listed[j]
        before = raw[i]
        raw[i] = before * ratio[predicted[i]]
        amounts[j] = raw[i] - before
    return n_listed


@kernel
def _list_crossed(predicted, common, n_crossed, begin, end, standing, raw, listed, amounts):
    """List who joins those that stand apart, and with a minus who leaves them; their number. They are marked, and not
    `standing` any more.
    """
    classes = predicted[begin:end]
    for i in range(len(classes)):
        standing[i] ^= _is_other(classes[i], common)
    n_listed = _list_others(standing, ZERO, n_crossed, begin, listed)
    for j in range(n_listed):
        i = listed[j]
        amounts[j] = raw[i] if predicted[i] != common else -raw[i]
    return n_listed


@kernel
def _multiply_others(classes, common, by, weights):
    for i in range(len(classes)):
        weights[i] *= by if _is_other(classes[i], common) else 1.0


@kernel
def _list_others(classes, common, n_others, begin, listed):
    """List the rows, of which `begin` is the number of the first, that are of another class than the common one.

    They are found without a branch, since who is of another class is as good as random to the processor. To write takes
    the time: where others are few, four rows at a time are passed over if none of them is. The first of the four is the
    lowest byte, wherever Numba runs.
    """
    at, n_done = np.uint64(0), 0
    if 4 * n_others < len(classes):
        n_done = len(classes) // 4 * 4
        words, all_common = classes[:n_done].view(np.uint32), np.uint32(common * 0x01010101)
        mixed, n_mixed = np.empty(len(words), dtype=np.uint32), np.uint64(0)
        for w in range(len(words)):
            mixed[n_mixed] = w
            n_mixed += np.uint64(1 if words[w] != all_common else 0)
        for w in mixed[:n_mixed]:
            others, first = np.uint64(words[w] ^ all_common), np.uint64(begin) + np.uint64(4) * np.uint64(w)
            for j in range(4):
                listed[at] = first + np.uint64(j)
                at += np.uint64(1 if others & np.uint64(255) else 0)
                others >>= np.uint64(8)
    rest = classes[n_done:]
    for i in range(len(rest)):
        listed[at] = begin + n_done + i
        at += np.uint64(1 if rest[i] != common else 0)
    return np.int64(at)

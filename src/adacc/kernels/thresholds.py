"""Thresholds between bins, from the values of a column."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel

BLOCK = 512
"""Number of values that are processed together."""

LANES = 64
"""Number of independent minima and maxima, so that their loops vectorise."""

MIN_VALUES_PER_INTEGER = 4
"""Integers are counted if there are more values than this for each integer in their range."""

MAX_GROUPS = 2**14
"""Maximum number of groups in one pass: their counts stay in the cache."""

INSERTION_SORT_MAX = 64
"""Groups of at most this size are not divided further; they are sorted by insertion if their order matters."""


@kernel
def whole_range(values):
    """The minimum of integer values, ignoring NaN, and the distance of the maximum from it.

    The distance is negative if some values are not integers, or if there are few values per integer in the range.
    """
    for begin in range(0, len(values), BLOCK):
        block, n_fractions = values[begin : begin + BLOCK], 0
        for i in range(len(block)):
            n_fractions += 1 if block[i] != np.floor(block[i]) else 0
            n_fractions -= 1 if block[i] != block[i] else 0
        if n_fractions > 0:
            return 0.0, -1.0
    least, greatest = _range(values)
    if max(-least, greatest) > 2.0**53:  # beyond, all floats are integers
        return 0.0, -1.0
    distance = greatest - least
    return (0.0, -1.0) if MIN_VALUES_PER_INTEGER * distance >= len(values) else (least, distance)


@kernel
def _range(values):
    """Minimum and maximum, ignoring NaN: in `LANES` independent lanes first, so that the loop vectorises."""
    least, greatest = np.empty(LANES), np.empty(LANES)
    for i in range(LANES):
        least[i], greatest[i] = np.inf, -np.inf
    for begin in range(0, len(values), LANES):
        some = values[begin : begin + LANES]
        for i in range(len(some)):
            least[i] = some[i] if some[i] < least[i] else least[i]
            greatest[i] = some[i] if some[i] > greatest[i] else greatest[i]
    for i in range(LANES):
        least[0], greatest[0] = min(least[0], least[i]), max(greatest[0], greatest[i])
    return least[0], greatest[0]


@kernel
def find_thresholds(values, weights, least, distance, max_bins, out):
    """Thresholds midway between neighbouring values; returns their number, and whether each distinct value has a bin.

    If there are more distinct values than `max_bins`, bins of about equal weight are formed. A bin ends once it has its
    share of the remaining weight, and before a value that fills a bin alone, so that a frequent value (often zero) does
    not use up the bins of the others. If `weights` is empty, every value has weight 1. `least` and `distance` are the
    `whole_range` of the values, or of the values that these are drawn from.
    """
    if distance >= 0.0 and MIN_VALUES_PER_INTEGER * distance < len(values):
        n_numbers = int(distance) + 1
        ends, arranged, moved = np.empty(n_numbers, dtype=np.int64), np.empty(n_numbers), np.empty(n_numbers)
        n_groups = n_present = _count_integers(values, weights, least, ends, arranged, moved)
    else:
        ends, arranged, moved = np.empty(len(values) + 1, dtype=np.int64), np.empty(len(values)), np.empty(len(weights))
        n_groups, n_present = spread(values, weights, ends, arranged, moved)
    return _fill_bins(arranged[:n_present], moved[:n_present], ends[:n_groups], max_bins, out)


@kernel
def _count_integers(values, weights, least, ends, arranged, moved):
    """Number of distinct integers, ignoring NaN; each becomes a group with its summed weight.

    Even and odd rows are counted separately: an addition need not wait for the one before, which often has the same
    value.
    """
    counts, n_groups = np.zeros((2, len(ends))), 0
    for i in range(len(values)):
        if values[i] == values[i]:
            counts[i & 1, np.uint64(values[i] - least)] += weights[i] if len(weights) > 0 else 1.0
    for number in range(len(ends)):
        weight = counts[0, number] + counts[1, number]
        if weight > 0.0:
            arranged[n_groups], moved[n_groups] = least + number, weight
            n_groups += 1
            ends[n_groups - 1] = n_groups
    return n_groups


@kernel
def spread(values, weights, ends, arranged, moved):
    """Arrange the values in ascending groups; returns the number of groups, and of values that are not NaN.

    The group of a value is computed from its position between minimum and maximum. A large group of different values is
    divided again. Group g ends before ``arranged[ends[g]]``; values within a group are in no particular order. Weights,
    if there are any, are `moved` along with the values. `ends` has room for one more group than there are values.
    """
    n_groups, begin = 0, ZERO
    groups = np.empty(len(values), dtype=np.uint16)
    last = _group_evenly(values, groups)
    for end in _arrange(values, weights, groups, last, arranged, moved):
        if end - begin <= INSERTION_SORT_MAX or _all_equal(arranged[begin:end]):
            ends[n_groups] = end
            n_groups += 1 if end > begin else 0  # an empty group is overwritten by the next
        else:
            n_groups += _spread_again(arranged, moved, begin, end, ends[n_groups:])
        begin = end
    return n_groups, begin


@kernel
def _spread_again(arranged, moved, begin, end, ends):
    """Divide a group until all its subgroups are small or of one value; their number.

    A subgroup with more than half of the values of its group is divided by bits: its values have different orders of
    magnitude. Numba cannot cache recursive functions, so the subgroups to divide are on a stack.
    """
    later, by_bits = np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.bool_)
    groups = np.empty(end - begin, dtype=np.uint16)
    later[0], by_bits[0], n_later, n_groups = end, False, 1, 0
    while n_later > 0:
        n_later -= 1
        end = later[n_later]
        if end - begin <= INSERTION_SORT_MAX or _all_equal(arranged[begin:end]):
            ends[n_groups], begin = end, end
            n_groups += 1
            continue
        some, of_some = arranged[begin:end], moved[begin:end]
        last = _group_by_bits(some, groups) if by_bits[n_later] else _group_evenly(some, groups)
        found = _arrange(some.copy(), of_some.copy(), groups[: len(some)], last, some, of_some)
        for g in range(len(found) - 1, -1, -1):
            size = found[g] - (found[g - 1] if g > 0 else 0)
            if size > 0:
                later[n_later], by_bits[n_later] = begin + found[g], 2 * size > len(some)
                n_later += 1
    return n_groups


@kernel
def _arrange(values, weights, groups, last, arranged, moved):
    """Move each value into its group; returns the end of each group, some of them empty. NaN comes after the last."""
    ends = np.zeros(last + 2, dtype=np.int64)
    for group in groups:
        ends[group] += 1
    end = 0
    for g in range(len(ends)):  # the next free position of the group
        size = ends[g]
        ends[g] = end
        end += size
    for i in range(len(values)):
        at = np.uint64(ends[groups[i]])
        arranged[at] = values[i]
        if len(weights) > 0:
            moved[at] = weights[i]
        ends[groups[i]] = at + np.uint64(1)
    return ends[:-1]


@kernel
def _group_evenly(values, groups):
    """The group of each value by its distance from the minimum; returns the last group. NaN has the next number."""
    least, greatest = _range(values)
    if not greatest > least:  # one value, or only NaN
        for i in range(len(values)):
            groups[i] = np.uint16(0 if values[i] == values[i] else 1)
        return 0
    if not 1e-290 < greatest / 2 - least / 2 < 1e290:  # distances would overflow or underflow
        return _group_by_bits(values, groups)
    last = min(len(values), MAX_GROUPS)
    per_unit = last / (greatest - least)
    for i in range(len(values)):
        groups[i] = np.uint16((values[i] - least) * per_unit) if values[i] == values[i] else np.uint16(last + 1)
    return last


@kernel
def _group_by_bits(values, groups):
    """`_group_evenly` by the bits of the floats, which are in the same order: all orders of magnitude get groups."""
    sign = np.uint64(1) << np.uint64(63)
    keys = (values + 0.0).view(np.uint64)  # makes -0.0 positive
    least, greatest = ~np.uint64(0), np.uint64(0)
    for i in range(len(keys)):
        keys[i] = ~keys[i] if keys[i] & sign else keys[i] | sign
        if values[i] == values[i]:
            least, greatest = min(least, keys[i]), max(greatest, keys[i])
    last, shift = np.uint64(min(len(values), MAX_GROUPS)), np.uint64(0)
    while greatest > least and (greatest - least) >> shift > last:
        shift += np.uint64(1)
    for i in range(len(keys)):
        groups[i] = np.uint16((keys[i] - least) >> shift) if values[i] == values[i] else np.uint16(last + np.uint64(1))
    return np.int64(last)


@kernel
def _all_equal(values):
    first = values[0]
    for begin in range(0, len(values), BLOCK):
        n_others = 0
        for value in values[begin : begin + BLOCK]:
            n_others += 1 if value != first else 0
        if n_others > 0:
            return False
    return True


@kernel
def _fill_bins(values, weights, ends, max_bins, out):
    """`find_thresholds` for values in groups. If there are more groups than bins, only groups in which a bin may end
    are sorted.
    """
    weighted, few = len(weights) > 0, len(ends) <= max_bins
    exact = few and _sort_groups(values, weights, ends) <= max_bins
    left = _sum(weights, ZERO, len(weights)) if weighted else float(len(values))
    close_to = 1.0 - 1e-9  # a tolerance for rounding
    share = left / max_bins * close_to
    n_found, held = 0, 0.0
    begin, known_from = ZERO, ZERO  # from `known_from` on, values belong to the last run or group
    for end in ends:
        if not exact:
            whole = _sum(weights, begin, end) if weighted else float(end - begin)
            if held + whole < share:
                held += whole
                known_from, begin = begin, end
                continue
            if not few:
                _sort(values, weights, begin, end)
        while begin < end and n_found < max_bins - 1:
            value = values[begin]
            run = end if values[end - 1] == value else begin + 1
            while run < end and values[run] == value:
                run += 1
            heavy = _sum(weights, begin, run) if weighted else float(run - begin)
            if begin > 0 and (exact or held >= share or heavy >= share):
                low = _greatest(values, known_from, begin)
                middle = low / 2 + value / 2  # halve first, to avoid overflow
                out[n_found] = middle if low <= middle < value else low
                n_found += 1
                left -= held
                held = 0.0
                share = left / max(max_bins - n_found, 1) * close_to
            held += heavy
            known_from, begin = run - 1, run
        begin = end
    return n_found, exact


@kernel
def _sort_groups(values, weights, ends):
    """Sort all groups; the number of distinct values."""
    n_distinct, begin = 0, ZERO
    for end in ends:
        _sort(values, weights, begin, end)
        n_distinct += 1
        if values[end - 1] != values[begin]:
            for i in range(begin + 1, end):
                n_distinct += 1 if values[i] != values[i - 1] else 0
        begin = end
    return n_distinct


@kernel
def _sort(values, weights, begin, end):
    """Insertion sort of few or equal values."""
    for i in range(begin + 1, end):
        value, weight, at = values[i], weights[i] if len(weights) > 0 else 1.0, i
        while at > begin and values[at - 1] > value:
            values[at] = values[at - 1]
            if len(weights) > 0:
                weights[at] = weights[at - 1]
            at -= 1
        values[at] = value
        if len(weights) > 0:
            weights[at] = weight


@kernel
def _sum(weights, begin, end):
    whole = 0.0
    for i in range(begin, end):
        whole += weights[i]
    return whole


@kernel
def _greatest(values, begin, end):
    greatest = values[begin]
    for i in range(begin + 1, end):
        greatest = max(greatest, values[i])
    return greatest

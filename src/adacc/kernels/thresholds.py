"""Thresholds between bins, from the values of a column."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, inner_kernel, kernel

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
    if least < -(2.0**53) or greatest > 2.0**53:  # beyond, all floats are integers
        return 0.0, -1.0
    distance = greatest - least
    return (0.0, -1.0) if MIN_VALUES_PER_INTEGER * distance >= len(values) else (least, distance)


@kernel(inline="always")
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
        least[0] = least[i] if least[i] < least[0] else least[0]
        greatest[0] = greatest[i] if greatest[i] > greatest[0] else greatest[0]
    return least[0], greatest[0]


@kernel
def count_integers(values, weights, least, counts, ends, arranged, moved):
    """Number of distinct integers, ignoring NaN; each becomes a group with its summed weight.

    If `weights` is empty, every value has weight 1. Even and odd rows are counted separately, in the two rows of
    `counts`: an addition need not wait for the one before, which often has the same value.
    """
    n_groups = 0
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
def group_values(values, least, greatest, groups, ends, arranged):
    """Arrange the values in ascending groups; returns the number of groups, and of values that are not NaN.

    The group of a value is its position between `least` and `greatest`, in ``len(ends) - 2`` equal steps. Group g ends
    before ``arranged[ends[g]]``; values within a group are in no particular order. The number of groups is -1 if the
    values are too unevenly distributed, that is, if a group is larger than `INSERTION_SORT_MAX` and has different
    values.
    """
    last = len(ends) - 2
    per_unit = last / (greatest - least)
    for i in range(len(values)):
        groups[i] = np.uint16((values[i] - least) * per_unit) if values[i] == values[i] else np.uint16(last + 1)
    for g in range(len(ends)):
        ends[g] = 0
    for i in range(len(values)):
        ends[groups[i]] += 1
    _start_groups(ends)
    for i in range(len(values)):
        arranged[np.uint64(ends[groups[i]])] = values[i]
        ends[groups[i]] += 1
    return _check_groups(arranged, ends)


@kernel(inline="always")
def _start_groups(sizes):
    """Replace the size of each group by its first position."""
    begin = 0
    for g in range(len(sizes)):
        size = sizes[g]
        sizes[g] = begin
        begin += size


@kernel(inline="always")
def _check_groups(arranged, ends):
    """The results of `group_values`; `ends` then are those of the groups that are not empty."""
    n_groups, begin = 0, ZERO
    for g in range(len(ends) - 1):  # the last is NaN
        end = ends[g]
        if end - begin > INSERTION_SORT_MAX and not _all_equal(arranged, begin, end):
            return -1, 0
        ends[n_groups] = end
        n_groups += 1 if end > begin else 0  # an empty group is overwritten by the next
        begin = end
    return n_groups, begin


@kernel(inline="always")
def _all_equal(values, begin, end):
    i = begin + 1
    while i < end and values[i] == values[begin]:
        i += 1
    return i == end


@kernel
def fill_bins(values, weights, ends, max_bins, out):
    """Thresholds midway between neighbouring values; returns their number, and whether each distinct value has a bin.

    The values are in ascending groups, of which each ends before ``values[ends[g]]``; equal values are in one group.
    If there are more distinct values than `max_bins`, bins of about equal weight are formed. A bin ends once it has its
    share of the remaining weight, and before a value that fills a bin alone, so that a frequent value (often zero) does
    not use up the bins of the others. Groups are sorted where a bin may end. If `weights` is empty, every value has
    weight 1; otherwise the values must be sorted.
    """
    weighted, few = len(weights) > 0, len(ends) <= max_bins
    exact = few and _sort_groups(values, ends) <= max_bins
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
                _sort(values, begin, end)
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
                share = left / (max_bins - n_found) * close_to
            held += heavy
            known_from, begin = run - 1, run
        begin = end
    return n_found, exact


@kernel(inline="always")
def _sort_groups(values, ends):
    """Sort all groups; the number of distinct values."""
    n_distinct, begin = 0, ZERO
    for end in ends:
        _sort(values, begin, end)
        n_distinct += 1
        if values[end - 1] != values[begin]:
            for i in range(begin + 1, end):
                n_distinct += 1 if values[i] != values[i - 1] else 0
        begin = end
    return n_distinct


@inner_kernel
def _sort(values, begin, end):
    """Insertion sort of few or equal values."""
    for i in range(begin + 1, end):
        value, at = values[i], i
        while at > begin and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@inner_kernel
def _sum(weights, begin, end):
    whole = 0.0
    for i in range(begin, end):
        whole += weights[i]
    return whole


@kernel(inline="always")
def _greatest(values, begin, end):
    greatest = values[begin]
    for i in range(begin + 1, end):
        greatest = values[i] if values[i] > greatest else greatest
    return greatest

"""Values to thresholds between bins."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel

BLOCK = 512
"""Rows that are looked at together, where each step is done for all of them before the next."""

LANES = 64
"""Values that are compared with those of the same places before them."""

TIMES = 4
"""Whole numbers are counted where there are more values than so many for each number in their range."""

MOST_GROUPS = 2**14
"""Into which values are spread at a time: the counts of so many stay in the cache."""

FEW = 64
"""Values that need not be spread: where their order matters they are sorted by insertion."""


@kernel
def whole_range(values):
    """The least of whole numbers, NaN aside, and how far the greatest is from it.

    A distance below 0 for others, and where there are few values for each whole number in between.
    """
    for begin in range(0, len(values), BLOCK):
        block, n_broken = values[begin : begin + BLOCK], 0
        for i in range(len(block)):
            n_broken += 1 if block[i] != np.floor(block[i]) else 0
            n_broken -= 1 if block[i] != block[i] else 0
        if n_broken > 0:
            return 0.0, -1.0
    least, greatest = _range(values)
    too_large = max(-least, greatest) > 2.0**53  # where all floats are whole
    return (0.0, -1.0) if too_large or TIMES * (greatest - least) >= len(values) else (least, greatest - least)


@kernel
def _range(values):
    """The least and the greatest, NaN aside: first of every so many, so that none waits for the one before."""
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
    """Thresholds midway between neighbouring values; their number, and whether there is one between any two values.

    If there are more distinct values than `max_bins`, between bins of even weight. A bin is closed once it holds its
    share of the weight that is left, and before a value that fills a bin alone, so that a heavy value (zero, often)
    does not swallow the bins of the others. Without `weights` every value counts 1. `least` and `distance` are the
    `whole_range` of the values, or of others that these are drawn from.
    """
    if distance >= 0.0 and TIMES * distance < len(values):
        n_numbers = int(distance) + 1
        ends, arranged, moved = np.empty(n_numbers, dtype=np.int64), np.empty(n_numbers), np.empty(n_numbers)
        n_groups = n_present = _count_wholes(values, weights, least, ends, arranged, moved)
    else:
        ends, arranged, moved = np.empty(len(values) + 1, dtype=np.int64), np.empty(len(values)), np.empty(len(weights))
        n_groups, n_present = spread(values, weights, ends, arranged, moved)
    return _fill_bins(arranged[:n_present], moved[:n_present], ends[:n_groups], max_bins, out)


@kernel
def _count_wholes(values, weights, least, ends, arranged, moved):
    """How many whole numbers occur; each becomes a group of its own, with its weight. NaN aside.

    They are counted in two halves, every other row: a row need not wait for the one before, which often has the same
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
    """Put the values into groups that follow each other: the number of groups, and of values that are not NaN.

    A value's place between the least and the greatest says where it belongs; a group of many is spread again, unless
    they are equal. Group g ends before ``arranged[ends[g]]``; within a group values stand in any order. Weights, if
    there are any, are `moved` along. `ends` has room for one more group than there are values.
    """
    n_groups, begin = 0, ZERO
    groups = np.empty(len(values), dtype=np.uint16)
    last = _group_evenly(values, groups)
    for end in _arrange(values, weights, groups, last, arranged, moved):
        if end - begin <= FEW or _all_equal(arranged[begin:end]):
            ends[n_groups] = end
            n_groups += 1 if end > begin else 0  # an empty one is overwritten by the next
        else:
            n_groups += _spread_again(arranged, moved, begin, end, ends[n_groups:])
        begin = end
    return n_groups, begin


@kernel
def _spread_again(arranged, moved, begin, end, ends):
    """Spread a group until all that come of it are small or of one value; their number.

    One that keeps most values of the group before is then spread by bits: these lie on many scales. Numba loads no
    function that calls itself from its cache, so that the groups to come are kept in a list, the next one last.
    """
    later, by_bits = np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.bool_)
    groups = np.empty(end - begin, dtype=np.uint16)
    later[0], by_bits[0], n_later, n_groups = end, False, 1, 0
    while n_later > 0:
        n_later -= 1
        end = later[n_later]
        if end - begin <= FEW or _all_equal(arranged[begin:end]):
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
    """Put each value into its group; where these end, some of them empty. NaN comes after the last."""
    ends = np.zeros(last + 2, dtype=np.int64)
    for group in groups:
        ends[group] += 1
    end = 0
    for g in range(len(ends)):  # where the group begins, which moves on with every value that is put there
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
    """The group of each value, by its distance from the least; the last group there is, after which NaN comes."""
    least, greatest = _range(values)
    if not greatest > least:  # one value, or none but NaN
        for i in range(len(values)):
            groups[i] = np.uint16(0 if values[i] == values[i] else 1)
        return 0
    if not 1e-290 < greatest / 2 - least / 2 < 1e290:  # distances would leave the range of floats
        return _group_by_bits(values, groups)
    last = min(len(values), MOST_GROUPS)
    per_unit = last / (greatest - least)
    for i in range(len(values)):
        groups[i] = np.uint16((values[i] - least) * per_unit) if values[i] == values[i] else np.uint16(last + 1)
    return last


@kernel
def _group_by_bits(values, groups):
    """As `_group_evenly`, by the bits of the floats, which ascend as these do: each scale has as many groups."""
    sign = np.uint64(1) << np.uint64(63)
    keys = (values + 0.0).view(np.uint64)  # zero has no sign then
    least, greatest = ~np.uint64(0), np.uint64(0)
    for i in range(len(keys)):
        keys[i] = ~keys[i] if keys[i] & sign else keys[i] | sign
        if values[i] == values[i]:
            least, greatest = min(least, keys[i]), max(greatest, keys[i])
    last, shift = np.uint64(min(len(values), MOST_GROUPS)), np.uint64(0)
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
    """`find_thresholds`, of values in groups. Of more groups than bins those in which no bin can end are not looked
    into.
    """
    weighted, few = len(weights) > 0, len(ends) <= max_bins
    every = few and _sort_groups(values, weights, ends) <= max_bins
    left = _sum(weights, ZERO, len(weights)) if weighted else float(len(values))
    close_to = 1.0 - 1e-9  # so that rounding does not decide
    share = left / max_bins * close_to
    n_found, held = 0, 0.0
    begin, known_from = ZERO, ZERO  # all from `known_from` on are of the last run, or of the last group
    for end in ends:
        if not every:
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
            if begin > 0 and (every or held >= share or heavy >= share):
                low = _greatest(values, known_from, begin)
                middle = low / 2 + value / 2  # halves first, so that huge values do not overflow
                out[n_found] = middle if low <= middle < value else low
                n_found += 1
                left -= held
                held = 0.0
                share = left / max(max_bins - n_found, 1) * close_to
            held += heavy
            known_from, begin = run - 1, run
        begin = end
    return n_found, every


@kernel
def _sort_groups(values, weights, ends):
    """Sort all; the number of distinct values."""
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
    """By insertion: a few values, or equal ones."""
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

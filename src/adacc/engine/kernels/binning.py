"""Values to thresholds between bins."""

from __future__ import annotations

import numpy as np

from adacc.engine.jit import kernel

BLOCK = 512
"""Rows that are looked at together, where each step is done for all of them before the next."""


@kernel
def whole_range(values):
    """The least of whole numbers, NaN aside, and how far the greatest is from it.

    A distance below 0 for others, and where the first block has no more than two neighbours, as flags: these are sorted
    fast.
    """
    least, greatest = np.inf, -np.inf
    for begin in range(0, len(values), BLOCK):
        block, n_broken = values[begin : begin + BLOCK], 0
        for i in range(len(block)):
            n_broken += 1 if block[i] != np.floor(block[i]) else 0
            n_broken -= 1 if block[i] != block[i] else 0
        for i in range(len(block)):
            least = block[i] if block[i] < least else least
            greatest = block[i] if block[i] > greatest else greatest
        too_large = max(-least, greatest) > 2.0**53  # where all floats are whole
        if n_broken > 0 or too_large or not greatest > least + 1.0:
            return 0.0, -1.0
    return least, greatest - least


@kernel
def count_wholes(values, weights, least, counts):
    """Weight of each whole number from `least` on, NaN aside. Without `weights` every value counts 1.

    In two halves, every other row: a row need not wait for the one before, which often has the same value.
    """
    for i in range(len(values)):
        if values[i] == values[i]:
            counts[i & 1, np.uint64(values[i] - least)] += weights[i] if len(weights) > 0 else 1.0


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

"""Histograms of weights by class and bin."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import kernel

MIN_LEAF_WEIGHT = 1e-15
"""Leaves of a smaller weight, of a total of 1, are empty up to rounding."""


@kernel
def add_rows(bins, offsets, rows, by, begins, ends, histogram):
    """Add the amount `by` of each listed row to the histogram of its class, for the features of `bins`.

    The rows of class k are listed from ``begins[k]`` to ``ends[k]``.
    """
    n_in_fours = len(bins) // 4 * 4
    for k in range(len(begins)):
        for f in range(0, n_in_fours, 4):
            add_four(bins, offsets, f, f + 1, f + 2, f + 3, rows, by, k, begins[k], ends[k], histogram)
        for f in range(n_in_fours, len(bins)):
            # Unsigned indices, here and below, need no test for negative numbers, which would cost 50 % of the time.
            at, f_0, offset_0 = np.uint64(k), np.uint64(f), np.uint64(offsets[f])
            for j in range(np.uint64(begins[k]), np.uint64(ends[k])):
                histogram[at, offset_0 + bins[f_0, rows[j]]] += by[j]


@kernel(inline="always")
def add_four(bins, offsets, f_0, f_1, f_2, f_3, rows, by, k, begin, end, histogram):
    """`add_rows` for four features: four independent additions hide their latency, and the number and amount of a row
    are read once.
    """
    at, f_0, f_1, f_2, f_3 = np.uint64(k), np.uint64(f_0), np.uint64(f_1), np.uint64(f_2), np.uint64(f_3)
    offset_0, offset_1 = np.uint64(offsets[f_0]), np.uint64(offsets[f_1])
    offset_2, offset_3 = np.uint64(offsets[f_2]), np.uint64(offsets[f_3])
    for j in range(np.uint64(begin), np.uint64(end)):
        i, amount = rows[j], by[j]
        histogram[at, offset_0 + bins[f_0, i]] += amount
        histogram[at, offset_1 + bins[f_1, i]] += amount
        histogram[at, offset_2 + bins[f_2, i]] += amount
        histogram[at, offset_3 + bins[f_3, i]] += amount


@kernel
def add_entries(row_starts, places, rows, by, begins, ends, histogram):
    """`add_rows` for sparse columns; `places` are the positions of the entries of each row in the histogram."""
    for k in range(len(begins)):
        listed, amounts, sums = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        for j in range(len(listed)):
            i, amount = listed[j], amounts[j]
            for place in places[row_starts[i] : row_starts[i + np.uint32(1)]]:
                sums[place] += amount


@kernel
def fill_defaults(scale, total, begins, ends, defaults, histogram):
    """Set the weight of the default bin of each sparse column to the total less the weight of its other bins.

    Column c has the positions ``begins[c]:ends[c]`` in the histogram, and its default bin the position ``defaults[c]``.
    """
    for k in range(len(scale)):
        for c in range(len(defaults)):
            others = 0.0
            for at in range(begins[c], ends[c]):
                others += histogram[k, at] if at != defaults[c] else 0.0
            rest = total[k] - scale[k] * others
            histogram[k, defaults[c]] = rest / scale[k] if rest > MIN_LEAF_WEIGHT * total[k] else 0.0

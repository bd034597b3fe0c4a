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
    for k in range(len(begins)):
        # Slices, here and below: their indices need no test for negative numbers, which would cost 50 % of the time.
        listed, amounts, sums = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        if len(listed) == 0:
            continue
        n_in_fours = len(bins) // 4 * 4
        for f in range(0, n_in_fours, 4):
            add_four(bins, offsets, f, f + 1, f + 2, f + 3, listed, amounts, sums)
        for f in range(n_in_fours, len(bins)):
            bins_0, offset_0 = bins[f], np.uint64(offsets[f])
            for j in range(len(listed)):
                sums[offset_0 + bins_0[listed[j]]] += amounts[j]


@kernel
def add_four(bins, offsets, f_0, f_1, f_2, f_3, listed, amounts, sums):
    """`add_rows` for four features: four independent additions hide their latency, and the number and amount of a row
    are read once.
    """
    bins_0, bins_1, bins_2, bins_3 = bins[f_0], bins[f_1], bins[f_2], bins[f_3]
    offset_0, offset_1 = np.uint64(offsets[f_0]), np.uint64(offsets[f_1])
    offset_2, offset_3 = np.uint64(offsets[f_2]), np.uint64(offsets[f_3])
    for j in range(len(listed)):
        i, amount = listed[j], amounts[j]
        sums[offset_0 + bins_0[i]] += amount
        sums[offset_1 + bins_1[i]] += amount
        sums[offset_2 + bins_2[i]] += amount
        sums[offset_3 + bins_3[i]] += amount


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
def scale_tracked(tracked_factor, begin, end, histogram):
    """Multiply the tracked rows of each class by a factor; their histograms follow those of all classes."""
    n_classes = len(tracked_factor)
    for k in range(n_classes):
        factor, of_class, of_tracked = tracked_factor[k], histogram[k, begin:end], histogram[n_classes + k, begin:end]
        if factor != 1.0:
            for at in range(len(of_class)):
                of_class[at] += (factor - 1.0) * of_tracked[at]
                of_tracked[at] *= factor


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


# Histograms to a split.

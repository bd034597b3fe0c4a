"""The best split of histograms."""

from __future__ import annotations

import numpy as np

from adacc.kernels.histograms import MIN_LEAF_WEIGHT
from adacc.kernels.jit import inner_kernel, kernel
from adacc.kernels.monotonic import in_order

GINI, ENTROPY, ERROR = 0, 1, 2

MAX_TIE_CHAIN = 1e-6
"""Gains that are smaller than the best by more than this cannot win: it is much larger than a tie, so that no chain of
ties leads from one to the other.
"""

# Fused multiply-add, which halves the latency from one cut to the next.
_FUSE = {"contract"}


@kernel
def best_splits(histogram, scale, total, offsets, categorical, criterion, first, last, tie, workspace, gains, cuts):
    """Gain and cut of the best split of each feature first ... last-1; gain 0 if no split improves the criterion.

    ``histogram * scale`` are weights that sum to `total` per class and to 1 in all. Of cuts equal within `tie` the
    lowest wins. Missing values of a numeric feature are a leaf of their own in every split. `workspace` has four rows
    and a column for each bin of a feature.
    """
    best_splits_of(
        histogram, scale, total, offsets, categorical, criterion, first, last, tie, 0.0, None, workspace, gains, cuts
    )  # fmt: skip


@kernel
def best_monotone_splits(
    signs, histogram, scale, total, offsets, categorical, criterion, first, last, tie, workspace, gains, cuts
):  # fmt: skip
    """`best_splits` of two classes that keep the constraints `signs`, which are 1, -1 or 0 for each feature."""
    best_splits_of(
        histogram, scale, total, offsets, categorical, criterion, first, last, tie, 0.0, signs, workspace, gains, cuts
    )  # fmt: skip


@inner_kernel
def best_splits_of(
    histogram, scale, total, offsets, categorical, criterion, first, last, tie, min_rows, signs, workspace, gains, cuts
):  # fmt: skip
    """`best_splits` with at least `min_rows` rows on either side. If `min_rows` is positive, the histogram has one more
    row, after those of the classes, with the number of rows of each bin.

    With `signs`, for two classes, the share of the second class must not be larger in the left leaf than in the right
    one if the sign of the feature is 1, and not smaller if it is -1. Without constraints, `signs` is None.
    """
    n_classes = len(scale)
    present, missing = np.empty(n_classes), np.empty(n_classes)
    unsplit = purity(total, criterion)
    for f in range(first, last):
        begin, end = offsets[f], offsets[f + 1] - 1  # the last bin: missing values, or categories not seen in training
        some_missing, rest, whole = False, 0.0, 0.0
        for k in range(n_classes):
            missing[k] = 0.0 if categorical[f] else scale[k] * histogram[k, end]
            present[k] = total[k] - missing[k]
            whole += present[k]
            some_missing = some_missing or missing[k] > 0.0
        if some_missing:
            rest = purity(missing, criterion)
        elif not categorical[f]:
            end -= 1  # a cut at the last bin is no split
        n_cuts = end - begin
        left, pure_left, pure_right, of_class = (
            workspace[0, :n_cuts],
            workspace[1, :n_cuts],
            workspace[2, :n_cuts],
            workspace[3, :n_cuts],
        )
        for at in range(n_cuts):
            left[at] = pure_left[at] = pure_right[at] = 0.0
        for k in range(n_classes):
            _sum_left(histogram[k, begin:end], scale[k], categorical[f], of_class)
            _add_purity(of_class, present[k], criterion, left, pure_left, pure_right)
        if min_rows > 0.0:
            n_rows = histogram[n_classes, begin : offsets[f + 1] - (0 if categorical[f] else 1)]
            _rule_out(n_rows, categorical[f], min_rows, left)
        if signs is not None:  # `of_class` is that of the second class
            for at in range(n_cuts):
                excess = of_class[at] - present[1] / whole * left[at] if whole > MIN_LEAF_WEIGHT else 0.0
                left[at] = left[at] if in_order(signs, f, excess, tie) else np.nan
        best, cuts[f] = _best_cut(left, pure_left, pure_right, whole, criterion, unsplit - rest, tie)
        gains[f] = best + rest - unsplit


@kernel(inline="always")
def max_bins(offsets, first, last):
    """The largest number of bins of these features."""
    n_bins = 0
    for f in range(first, last):
        n_bins = offsets[f + 1] - offsets[f] if offsets[f + 1] - offsets[f] > n_bins else n_bins
    return n_bins


@inner_kernel
def _sum_left(sums, scale, categorical, left):
    """Weight of a class in the left leaf of every cut."""
    whole = 0.0
    for at in range(len(left)):
        whole = scale * sums[at] + (0.0 if categorical else whole)
        left[at] = whole


@inner_kernel
def _add_purity(of_class, present, criterion, left, pure_left, pure_right):
    """Add the contribution of a class to the weight of the left leaf and to the purity of both leaves of every cut."""
    if criterion == GINI:
        for at in range(len(left)):
            here, there = of_class[at], present - of_class[at]
            left[at] += here
            pure_left[at] += here * here
            pure_right[at] += there * there
    elif criterion == ERROR:
        for at in range(len(left)):
            here, there = of_class[at], present - of_class[at]
            left[at] += here
            pure_left[at] = here if here > pure_left[at] else pure_left[at]
            pure_right[at] = there if there > pure_right[at] else pure_right[at]
    else:
        for at in range(len(left)):
            here, there = of_class[at], present - of_class[at]
            left[at] += here
            pure_left[at] += here * np.log(here) if here > 0.0 else 0.0
            pure_right[at] += there * np.log(there) if there > 0.0 else 0.0


@inner_kernel
def _rule_out(n_rows, categorical, min_rows, left):
    """Set the weight of the left leaf to NaN for every cut with fewer than `min_rows` rows on either side."""
    n_present, n_left = 0.0, 0.0
    for n_in_bin in n_rows:
        n_present += n_in_bin
    for at in range(len(left)):
        n_left = n_rows[at] + (0.0 if categorical else n_left)
        if n_left < min_rows or n_present - n_left < min_rows:
            left[at] = np.nan


@inner_kernel
def _best_cut(left, pure_left, pure_right, present, criterion, best, tie):
    """The largest summed purity of both leaves, and its cut."""
    cut = 0
    for at in range(len(left)):
        here, there = left[at], present - left[at]
        divides = criterion == GINI and here > MIN_LEAF_WEIGHT and there > MIN_LEAF_WEIGHT  # divisions are slow
        if divides and pure_left[at] * there + pure_right[at] * here < (best + tie) * (here * there):
            continue
        value = _purity_of(pure_left[at], here, criterion) + _purity_of(pure_right[at], there, criterion)
        if value > best + tie and here == here:
            best, cut = value, at
    return best, cut


@inner_kernel
def _purity_of(contributed, whole, criterion):
    """The purity of a leaf from the summed contributions of its classes."""
    if whole <= MIN_LEAF_WEIGHT:
        return 0.0
    if criterion == GINI:
        return contributed / whole
    return contributed if criterion == ERROR else contributed - whole * np.log(whole)


@kernel(fastmath=_FUSE)
def best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, workspace, gains, cuts):
    """`best_splits` for two classes and Gini, the most frequent case. The gain of a feature that cannot win against the
    features before it may be returned as 0.

    With d the excess of the second class in the left leaf over its share of all non-missing weight, the gain of a cut
    is 2·d²·present / (left·right). All cuts are first compared with the best gain so far in a loop that vectorises and
    does not divide. Only if one of them is better, the cuts are examined one by one.
    """
    unsplit, found = (total[0] * total[0] + total[1] * total[1]) / (total[0] + total[1]), 0.0
    left, left_1 = workspace[0], workspace[1]
    for f in range(first, last):
        end = np.uint64(offsets[f + 1] - 1)
        keep = 0.0 if categorical[f] else 1.0
        missing_0, missing_1 = keep * scale[0] * histogram[0, end], keep * scale[1] * histogram[1, end]
        missing, present, pure, share = _weigh_present(total, missing_0, missing_1)
        n_cuts = end - np.uint64(offsets[f])
        if not categorical[f] and missing == 0.0:
            n_cuts -= np.uint64(1)
        _weigh_left(histogram, np.uint64(offsets[f]), n_cuts, scale[0], scale[1], categorical[f], left, left_1)
        best, cut = unsplit - pure, np.uint64(0)  # at most 0: a leaf of missing values is a gain
        if _any_gains(
            left, left_1, n_cuts, present, share, best + (found - MAX_TIE_CHAIN if found > MAX_TIE_CHAIN else 0.0)
        ):
            for at in range(n_cuts):
                right, excess = present - left[at], left_1[at] - share * left[at]
                gain, spread = 2.0 * present * (excess * excess), left[at] * right
                if gain >= (best + tie) * spread:  # divisions are slow
                    has_both = left[at] > MIN_LEAF_WEIGHT and right > MIN_LEAF_WEIGHT
                    gain = gain / spread if has_both else 0.0
                    if gain > best + tie:
                        best, cut = gain, np.uint64(at)
        cuts[f] = cut
        gains[f] = best + pure - unsplit
        found = gains[f] if gains[f] > found else found


@kernel(fastmath=_FUSE)
def best_splits_packed(
    histogram, packing, total, n_rows, offsets, categorical, first, last, tie, min_rows, signs, gains, cuts
):  # fmt: skip
    """`best_splits_two` on packed histograms of `n_rows` rows, with at least `min_rows` rows on either side and the
    constraints `signs` of `best_splits_of`.

    A packed number holds the weight of rows in units of ``packing[1]``, above the lowest ``packing[0]`` bits, and their
    number in these bits. Sums of packed numbers are exact, and one addition sums both.
    """
    shift, unit = packing
    unsplit, found = (total[0] * total[0] + total[1] * total[1]) / (total[0] + total[1]), 0.0
    for f in range(first, last):
        begin, end = np.uint64(offsets[f]), np.uint64(offsets[f + 1] - 1)
        n_present = n_rows if categorical[f] else n_rows - count_of(histogram[0, end], histogram[1, end], shift)
        keep = 0.0 if categorical[f] else unit
        missing_0, missing_1 = keep * (histogram[0, end] >> shift), keep * (histogram[1, end] >> shift)
        missing, present, pure, share = _weigh_present(total, missing_0, missing_1)
        if not categorical[f] and missing == 0.0:
            end -= np.uint64(1)
        best, cut = unsplit - pure, begin  # at most 0: a leaf of missing values is a gain
        # Gains that cannot win against the features before are not examined.
        least = best + (found - MAX_TIE_CHAIN if found > MAX_TIE_CHAIN else 0.0) + tie
        sum_0, sum_1 = np.int64(0), np.int64(0)
        for at in range(begin, end):
            sum_0 = histogram[0, at] + (np.int64(0) if categorical[f] else sum_0)
            sum_1 = histogram[1, at] + (np.int64(0) if categorical[f] else sum_1)
            weight_1 = unit * (sum_1 >> shift)
            weight = unit * (sum_0 >> shift) + weight_1
            excess, spread = weight_1 - share * weight, weight * (present - weight)
            gain = 2.0 * present * (excess * excess)
            # Divisions are slow, and few cuts come this far.
            if (
                gain > least * spread
                and in_order(signs, f, excess, tie)
                and _may_split(sum_0, sum_1, shift, min_rows, n_present, weight, present)
            ):
                best, cut = gain / spread, np.uint64(at)
                least = best + tie
        cuts[f] = cut - begin
        gains[f] = best + pure - unsplit
        found = gains[f] if gains[f] > found else found


@kernel(fastmath=_FUSE, inline="always")
def _weigh_present(total, missing_0, missing_1):
    """Weight of missing and other values, their summed purity, and the share of the second class in the others."""
    present_0, present_1 = total[0] - missing_0, total[1] - missing_1
    missing, present, pure, share = missing_0 + missing_1, present_0 + present_1, 0.0, 0.0
    if missing > MIN_LEAF_WEIGHT:
        pure = (missing_0 * missing_0 + missing_1 * missing_1) / missing
    if present > MIN_LEAF_WEIGHT:
        pure += (present_0 * present_0 + present_1 * present_1) / present
        share = present_1 / present
    return missing, present, pure, share


@kernel(inline="always")
def _may_split(sum_0, sum_1, shift, min_rows, n_present, weight, present):
    """Whether both leaves have enough rows, and weight."""
    n_left = count_of(sum_0, sum_1, shift)
    has_rows = n_left >= min_rows and n_present - n_left >= min_rows
    return has_rows and weight > MIN_LEAF_WEIGHT and present - weight > MIN_LEAF_WEIGHT


@kernel(inline="always")
def count_of(packed_0, packed_1, shift):
    """Number of rows of two packed numbers."""
    mask = (1 << shift) - 1
    return (packed_0 & mask) + (packed_1 & mask)


@kernel(fastmath=_FUSE, inline="always")
def _weigh_left(histogram, begin, n_cuts, scale_0, scale_1, categorical, left, left_1):
    """Weight of the left leaf of every cut, and of the second class in it."""
    whole, ones = 0.0, 0.0
    if categorical:
        for at in range(n_cuts):
            left_1[at] = scale_1 * histogram[1, begin + at]
            left[at] = scale_0 * histogram[0, begin + at] + left_1[at]
    else:
        for at in range(n_cuts):
            one = scale_1 * histogram[1, begin + at]
            whole += scale_0 * histogram[0, begin + at] + one
            ones += one
            left[at], left_1[at] = whole, ones


@kernel(fastmath=_FUSE, inline="always")
def _any_gains(left, left_1, n_cuts, present, share, known):
    """Whether a cut has at least the gain `known`."""
    n_found, twice = 0, 2.0 * present
    for at in range(n_cuts):
        excess = left_1[at] - share * left[at]
        n_found += 1 if twice * (excess * excess) >= known * (left[at] * (present - left[at])) else 0
    return n_found > 0


@inner_kernel
def purity(weights, criterion):
    """Weight of a leaf times (1 - impurity), up to a constant; a split never decreases the sum over the leaves.

    Gini: Σ w_k²/w. Entropy: Σ w_k·ln(w_k/w). Error: max w_k.
    """
    whole, value = 0.0, 0.0
    for weight in weights:
        whole += weight
    if whole <= MIN_LEAF_WEIGHT:
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
def choose_split(
    gains, cuts, histogram, scale, offsets, categorical, negative_class, tie, leaves, classes, lookup, mass
):
    """Feature, cut and the classes of the left, right and missing branch of the split with the largest gain.

    Of gains equal within `tie` the first wins; the feature is -1 if no split has a gain. `leaves` receives the weights
    by class of these branches and of all rows, `classes` the class of each, `lookup` the class of each bin, `mass` the
    weight of each (true, predicted) pair. A branch predicts its heaviest class; of equally heavy classes
    `negative_class` for two classes, else the first. An empty branch predicts the heaviest class of all rows.
    """
    feature, best = -1, 0.0
    for f in range(len(gains)):
        if gains[f] > best + tie:
            feature, best = f, gains[f]
    f = feature if feature >= 0 else 0
    n_classes, begin, n_bins, cut = len(scale), offsets[f], offsets[f + 1] - offsets[f], cuts[f]
    for bin_ in range(n_bins):
        lookup[bin_] = branch_of(bin_, cut, n_bins - 1, categorical[f])
    for k in range(n_classes):
        leaves[0, k] = leaves[1, k] = leaves[2, k] = 0.0
        for bin_ in range(n_bins):
            leaves[lookup[bin_], k] += scale[k] * histogram[k, begin + bin_]
        leaves[3, k] = leaves[0, k] + leaves[1, k] + leaves[2, k]
    for leaf in range(3, -1, -1):
        heaviest, chosen = heaviest_class(leaves[leaf], negative_class, tie)
        empty = leaf < 3 and (feature < 0 or leaves[leaf, heaviest] <= 0.0)
        classes[leaf] = classes[3] if empty else chosen
    for bin_ in range(n_bins):
        lookup[bin_] = classes[lookup[bin_]]
    for k in range(n_classes):
        for p in range(n_classes):
            mass[k, p] = 0.0
        for leaf in range(3):
            mass[k, classes[leaf]] += leaves[leaf, k]
    return feature, cut, classes[0], classes[1], classes[2]


@kernel(inline="always")
def heaviest_class(weights, negative_class, tie):
    """The heaviest class, and the predicted class: of equal ones `negative_class` for two classes, else the first."""
    heaviest, n_equal = 0, 1
    for k in range(1, len(weights)):
        lead = weights[k] - weights[heaviest]
        if lead > tie:
            heaviest, n_equal = k, 1
        elif lead >= -tie:
            n_equal += 1
    return heaviest, negative_class if len(weights) == 2 and n_equal == 2 else heaviest


@kernel(inline="always")
def branch_of(bin_, cut, last, categorical):
    """The branch of a bin: 0 left, 1 right, 2 missing."""
    if categorical:
        return 0 if bin_ == cut else 1
    if bin_ == last:
        return 2
    return 0 if bin_ <= cut else 1

"""Codes to histograms, and these to a split."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, kernel

GINI, ENTROPY, ERROR = 0, 1, 2

EMPTY = 1e-15
"""A leaf lighter than this, of a total of 1, is empty but for the rounding of the difference that it is."""

SURE = 1e-6
"""What a gain must lack to be out of the race: so much more than a tie that no chain of ties leads there."""

# A product and a sum in one instruction, which halves the time from one cut to the next.
_FUSE = {"contract"}


@kernel
def add_rows(codes, offsets, rows, by, begins, ends, histogram):
    """Add `by` of each listed row to its class's histogram, for the features whose codes these are.

    Those of class k are listed from ``begins[k]`` to ``ends[k]``.
    """
    for k in range(len(begins)):
        # Slices, here and below: their loops need no test for negative numbers, which takes half as long again.
        listed, amounts, bins = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        if len(listed) == 0:
            continue
        n_by_four = len(codes) // 4 * 4
        for f in range(0, n_by_four, 4):
            add_four(codes, offsets, f, f + 1, f + 2, f + 3, listed, amounts, bins)
        for f in range(n_by_four, len(codes)):
            codes_0, at_0 = codes[f], np.uint64(offsets[f])
            for j in range(len(listed)):
                bins[at_0 + codes_0[listed[j]]] += amounts[j]


@kernel
def add_four(codes, offsets, f_0, f_1, f_2, f_3, listed, amounts, bins):
    """Four features at a time: four independent additions hide each other's latency, and a row's number and amount are
    read once for all four.
    """
    codes_0, codes_1, codes_2, codes_3 = codes[f_0], codes[f_1], codes[f_2], codes[f_3]
    at_0, at_1 = np.uint64(offsets[f_0]), np.uint64(offsets[f_1])
    at_2, at_3 = np.uint64(offsets[f_2]), np.uint64(offsets[f_3])
    for j in range(len(listed)):
        i, amount = listed[j], amounts[j]
        bins[at_0 + codes_0[i]] += amount
        bins[at_1 + codes_1[i]] += amount
        bins[at_2 + codes_2[i]] += amount
        bins[at_3 + codes_3[i]] += amount


@kernel
def add_entries(row_starts, places, rows, by, begins, ends, histogram):
    """As `add_rows`, for sparse columns: the places in the histogram of each row's entries, row by row."""
    for k in range(len(begins)):
        listed, amounts, bins = rows[begins[k] : ends[k]], by[begins[k] : ends[k]], histogram[k]
        for j in range(len(listed)):
            i, amount = listed[j], amounts[j]
            for place in places[row_starts[i] : row_starts[i + np.uint32(1)]]:
                bins[place] += amount


@kernel
def carry(carried, begin, end, histogram):
    """Change all rows that stand apart by the factor of their class; their sums come after those of all classes."""
    for k in range(len(carried)):
        by, whole, apart = carried[k], histogram[k, begin:end], histogram[len(carried) + k, begin:end]
        if by != 1.0:
            for at in range(len(whole)):
                whole[at] += (by - 1.0) * apart[at]
                apart[at] *= by


@kernel
def fill_defaults(scale, total, begins, ends, defaults, histogram):
    """Give the commonest code of each sparse column what the others leave of the total.

    Its place in the histogram is `defaults`, its column's places go from `begins` to `ends`.
    """
    for k in range(len(scale)):
        for c in range(len(defaults)):
            others = 0.0
            for at in range(begins[c], ends[c]):
                others += histogram[k, at] if at != defaults[c] else 0.0
            left = total[k] - scale[k] * others
            histogram[k, defaults[c]] = left / scale[k] if left > EMPTY * total[k] else 0.0


# Histograms to a split.


@kernel
def best_splits(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """Gain and cut of the best split of each feature first ... last-1; gain 0 where no split helps.

    ``histogram * scale`` are weights that sum to `total` per class and to 1 in all. Of cuts equal within `tie` the
    lowest wins. In a numeric feature the missing rows are a leaf of their own in every split.
    """
    best_splits_of(histogram, scale, total, offsets, categorical, criterion, first, last, tie, 0.0, gains, cuts)


@kernel
def best_splits_of(histogram, scale, total, offsets, categorical, criterion, first, last, tie, least, gains, cuts):
    """`best_splits`, leaving `least` rows at least on either side: the histogram's last row, after the classes, says
    how many there are of each code. With 0 there is no such row.
    """
    n_classes = len(scale)
    present, missing, room = np.empty(n_classes), np.empty(n_classes), np.empty((4, _most_codes(offsets, first, last)))
    unsplit = purity(total, criterion)
    for f in range(first, last):
        begin, end = offsets[f], offsets[f + 1] - 1  # the last code: missing, or a category not seen in training
        some_missing, rest, whole = False, 0.0, 0.0
        for k in range(n_classes):
            missing[k] = 0.0 if categorical[f] else scale[k] * histogram[k, end]
            present[k] = total[k] - missing[k]
            whole += present[k]
            some_missing = some_missing or missing[k] > 0.0
        if some_missing:
            rest = purity(missing, criterion)
        elif not categorical[f]:
            end -= 1  # everything up to the last bin is no split
        n_cuts = end - begin
        left, pure_left, pure_right, of_class = room[0, :n_cuts], room[1, :n_cuts], room[2, :n_cuts], room[3, :n_cuts]
        for at in range(n_cuts):
            left[at] = pure_left[at] = pure_right[at] = 0.0
        for k in range(n_classes):
            _sum_left(histogram[k, begin:end], scale[k], categorical[f], of_class)
            _add_purity(of_class, present[k], criterion, left, pure_left, pure_right)
        if least > 0.0:
            n_rows = histogram[n_classes, begin : offsets[f + 1] - (0 if categorical[f] else 1)]
            _rule_out(n_rows, categorical[f], least, left)
        best, cuts[f] = _best_cut(left, pure_left, pure_right, whole, criterion, unsplit - rest, tie)
        gains[f] = best + rest - unsplit


@kernel
def _most_codes(offsets, first, last):
    """Of any of these features."""
    most = 0
    for f in range(first, last):
        most = max(most, offsets[f + 1] - offsets[f])
    return most


@kernel
def _sum_left(bins, scale, categorical, left):
    """What a class weighs in the left leaf of every cut."""
    whole = 0.0
    for at in range(len(left)):
        whole = scale * bins[at] + (0.0 if categorical else whole)
        left[at] = whole


@kernel
def _add_purity(of_class, present, criterion, left, pure_left, pure_right):
    """Add what a class contributes to the weight of the left leaf of every cut, and to the purity of both leaves."""
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


@kernel
def _rule_out(n_rows, categorical, least, left):
    """Take NaN for the left leaf of every cut that leaves fewer rows than `least` on either side."""
    n_present, n_left = 0.0, 0.0
    for n_here in n_rows:
        n_present += n_here
    for at in range(len(left)):
        n_left = n_rows[at] + (0.0 if categorical else n_left)
        if n_left < least or n_present - n_left < least:
            left[at] = np.nan


@kernel
def _best_cut(left, pure_left, pure_right, present, criterion, best, tie):
    """The best purity of left and right, and its cut."""
    cut = 0
    for at in range(len(left)):
        here, there = left[at], present - left[at]
        divides = criterion == GINI and here > EMPTY and there > EMPTY  # which takes its time
        if divides and pure_left[at] * there + pure_right[at] * here < (best + tie) * (here * there):
            continue
        value = _purity_of(pure_left[at], here, criterion) + _purity_of(pure_right[at], there, criterion)
        if value > best + tie and here == here:
            best, cut = value, at
    return best, cut


@kernel
def _purity_of(contributed, whole, criterion):
    """The purity of a leaf from what its classes contributed to it."""
    if whole <= EMPTY:
        return 0.0
    if criterion == GINI:
        return contributed / whole
    return contributed if criterion == ERROR else contributed - whole * np.log(whole)


@kernel(fastmath=_FUSE)
def best_splits_two(histogram, scale, total, offsets, categorical, criterion, first, last, tie, gains, cuts):
    """`best_splits` for two classes and Gini, the case that must be fast. A feature that is out of the race, given
    those before it, may be said to gain nothing.

    With d the excess of the second class in the left leaf over its share of all that are present, the gain of a cut is
    2·d²·present / (left·right). What is known to be gained is compared with it times the denominator, for many cuts at
    a time; only where one of them gains more they are looked at one by one.
    """
    scale_0, scale_1 = scale[0], scale[1]
    unsplit, found = (total[0] * total[0] + total[1] * total[1]) / (total[0] + total[1]), 0.0
    most = _most_codes(offsets, first, last)
    lefts, lefts_1 = np.empty(most), np.empty(most)
    for f in range(first, last):
        begin, end = offsets[f], offsets[f + 1] - 1
        keep = 0.0 if categorical[f] else 1.0
        missing_0, missing_1 = keep * scale_0 * histogram[0, end], keep * scale_1 * histogram[1, end]
        present_0, present_1 = total[0] - missing_0, total[1] - missing_1
        missing, present, apart = missing_0 + missing_1, present_0 + present_1, 0.0
        if missing > EMPTY:
            apart += (missing_0 * missing_0 + missing_1 * missing_1) / missing
        if present > EMPTY:
            apart += (present_0 * present_0 + present_1 * present_1) / present
        if not categorical[f] and missing == 0.0:
            end -= 1
        share = present_1 / present if present > EMPTY else 0.0
        left, left_1 = lefts[: end - begin], lefts_1[: end - begin]
        _weigh_left(histogram[0, begin:end], histogram[1, begin:end], scale_0, scale_1, categorical[f], left, left_1)
        best, cut = unsplit - apart, 0  # not above 0: telling the missing apart is a gain
        if _any_gains(left, left_1, present, share, max(best, best + found - SURE)):
            for at in range(len(left)):
                right, excess = present - left[at], left_1[at] - share * left[at]
                gain, spread = 2.0 * present * (excess * excess), left[at] * right
                if gain >= (best + tie) * spread:  # a division takes its time
                    gain = gain / spread if left[at] > EMPTY and right > EMPTY else 0.0  # one branch and the missing
                    if gain > best + tie:
                        best, cut = gain, at
        cuts[f] = cut
        gains[f] = best + apart - unsplit
        found = max(found, gains[f])


@kernel(fastmath=_FUSE)
def _weigh_left(bins_0, bins_1, scale_0, scale_1, categorical, left, left_1):
    """The weight of the left leaf of every cut, and that of the second class in it."""
    if categorical:
        for at in range(len(left)):
            left_1[at] = scale_1 * bins_1[at]
            left[at] = scale_0 * bins_0[at] + left_1[at]
        return
    whole, ones = 0.0, 0.0
    for at in range(len(left)):
        one = scale_1 * bins_1[at]
        whole += scale_0 * bins_0[at] + one
        ones += one
        left[at], left_1[at] = whole, ones


@kernel(fastmath=_FUSE)
def _any_gains(left, left_1, present, share, known):
    """Whether some cut gains as much as is known."""
    n_cuts, twice = 0, 2.0 * present
    for at in range(len(left)):
        excess = left_1[at] - share * left[at]
        n_cuts += 1 if twice * (excess * excess) >= known * (left[at] * (present - left[at])) else 0
    return n_cuts > 0


@kernel
def purity(weights, criterion):
    """Weight of a leaf times (1 - impurity), up to a constant: what a split may only increase.

    Gini: Σ w_k²/w. Entropy: Σ w_k·ln(w_k/w). Error: max w_k.
    """
    whole, value = 0.0, 0.0
    for weight in weights:
        whole += weight
    if whole <= EMPTY:
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
    """Feature, cut and the classes of the left, right and missing branch, of the largest gain; the first of those equal
    within `tie`, feature -1 if none gains anything.

    `leaves` receives the weights by class of these branches and of all rows, `classes` the class of each, `lookup` the
    class of each code, `mass` the weight of each (true, predicted) pair. The heaviest class wins; of equal ones
    `negative_class` where there are two classes, the first where more. An empty branch predicts what all rows together
    would.
    """
    feature, best = -1, 0.0
    for f in range(len(gains)):
        if gains[f] > best + tie:
            feature, best = f, gains[f]
    f = 0 if feature < 0 else feature
    n_classes, begin, last, cut = len(scale), offsets[f], offsets[f + 1] - offsets[f] - 1, cuts[f]
    from_left, from_missing = (cut, last + 1) if categorical[f] else (0, last)
    for k in range(n_classes):
        bins, by = histogram[k, begin : begin + last + 1], scale[k]
        before, left = _weigh(bins, ZERO, from_left, by), _weigh(bins, from_left, cut + 1, by)
        right, missing = _weigh(bins, cut + 1, from_missing, by), _weigh(bins, from_missing, last + 1, by)
        leaves[0, k], leaves[1, k], leaves[2, k] = left, before + right, missing
        leaves[3, k] = left + before + right + missing
    for leaf in range(3, -1, -1):
        heaviest, chosen = heaviest_class(leaves[leaf], negative_class, tie)
        empty = leaf < 3 and (feature < 0 or leaves[leaf, heaviest] <= 0.0)
        classes[leaf] = classes[3] if empty else chosen
    for code in range(last + 1):
        lookup[code] = classes[1]
    for code in range(from_left, cut + 1):
        lookup[code] = classes[0]
    for code in range(from_missing, last + 1):
        lookup[code] = classes[2]
    for k in range(n_classes):
        for p in range(n_classes):
            mass[k, p] = 0.0
        for leaf in range(3):
            mass[k, classes[leaf]] += leaves[leaf, k]
    return feature, cut, classes[0], classes[1], classes[2]


@kernel
def _weigh(bins, begin, end, scale):
    weight = 0.0
    for at in range(begin, end):
        weight += scale * bins[np.uint64(at)]
    return weight


@kernel
def heaviest_class(weights, negative_class, tie):
    """The heaviest class, and the one chosen: of equal ones `negative_class` for two classes, else the first."""
    heaviest, n_equal = 0, 1
    for k in range(1, len(weights)):
        lead = weights[k] - weights[heaviest]
        if lead > tie:
            heaviest, n_equal = k, 1
        elif lead >= -tie:
            n_equal += 1
    return heaviest, negative_class if len(weights) == 2 and n_equal == 2 else heaviest


@kernel
def branch_of(code, cut, last, categorical):
    """0 left, 1 right, 2 missing."""
    if categorical:
        return 0 if code == cut else 1
    if code == last:
        return 2
    return 0 if code <= cut else 1

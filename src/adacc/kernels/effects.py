"""Main effects and pairwise effects of sums of trees, as functions of bins.

A leaf adds its value times, for each feature of its path, whether the bin meets the conditions (`meets`, 0 or 1). If p
is the probability of that, ``meets = p + (meets - p)``, and the product over the features is a sum of effects: the main
effect of feature j is ``(meets_j - p_j) Π_{i≠j} p_i``, and that of two features is
``(meets_j - p_j) (meets_k - p_k) Π_{i≠j,k} p_i``.
"""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, inner_kernel, kernel
from adacc.kernels.shapley import find_ends, follow_path


@kernel
def add_main_effects(trees, values, has_missing, cumulative, work, constant, steps, bounds):
    """Add the constant (outputs), the steps of the main effects (outputs, bins) and bounds of the pairwise effects.

    The bins of feature f begin at ``offsets[f] + f``: there is one more position for steps after the last bin.
    `cumulative` are the cumulative probabilities of the bins, at the same positions; if it is None, the probabilities
    are the shares of the branches. `bounds` (features, features) receives, for each pair, the sum over the leaves of
    the standard deviations of their pairwise effects, which is an upper bound of that of the sum.
    """
    nodes, ends, path, chances, first, _ = work
    offsets = trees[0]
    for t in range(len(trees[2]) - 1):
        for q in range(len(steps)):
            base, n_ends = find_ends(trees, t, values[t], q, has_missing, nodes, ends)
            constant[q] += base
            for end in range(n_ends):
                delta = ends[2][end] - base
                if delta == 0.0:
                    continue
                n_path, n_excluded = follow_path(trees, t, ends[0][end], ends[1][end], nodes, path)
                _find_chances(offsets, cumulative, path, n_path, n_excluded, chances)
                constant[q] += delta * _product_without(chances, n_path, -1, -1)
                for i in range(n_path):
                    amount = delta * _product_without(chances, n_path, i, -1)
                    n_terms = _find_terms(offsets, path, i, n_excluded, chances[i], first)
                    at = offsets[path[0][i]] + path[0][i]
                    for a in range(n_terms):
                        steps[q, at + first[0][a]] += amount * first[2][a]
                        steps[q, at + first[1][a] + 1] -= amount * first[2][a]
                    for j in range(i + 1, n_path):
                        variance = chances[i] * (1.0 - chances[i]) * chances[j] * (1.0 - chances[j])
                        amount = np.abs(delta * _product_without(chances, n_path, i, j)) * np.sqrt(max(variance, 0.0))
                        bounds[path[0][i], path[0][j]] += amount


@kernel
def add_pair_effects(trees, values, has_missing, cumulative, pair_of, begins, work, steps):
    """Add the steps of the effects of some pairs of features to `steps` (outputs, cells of all pairs).

    ``pair_of[f, g]`` is the number of the pair, -1 if it is not wanted; the cells of pair n, one more in both
    directions than there are bins, begin at ``begins[n]``, row by row, the bins of f down and those of g across.
    """
    nodes, ends, path, chances, first, second = work
    offsets = trees[0]
    for t in range(len(trees[2]) - 1):
        for q in range(len(steps)):
            base, n_ends = find_ends(trees, t, values[t], q, has_missing, nodes, ends)
            for end in range(n_ends):
                delta = ends[2][end] - base
                if delta == 0.0:
                    continue
                n_path, n_excluded = follow_path(trees, t, ends[0][end], ends[1][end], nodes, path)
                _find_chances(offsets, cumulative, path, n_path, n_excluded, chances)
                for i in range(n_path):
                    for j in range(n_path):
                        pair = pair_of[path[0][i], path[0][j]]
                        if pair >= 0:
                            amount = delta * _product_without(chances, n_path, i, j)
                            n_first = _find_terms(offsets, path, i, n_excluded, chances[i], first)
                            n_second = _find_terms(offsets, path, j, n_excluded, chances[j], second)
                            width = offsets[path[0][j] + 1] - offsets[path[0][j]] + 1
                            for a in range(n_first):
                                for b in range(n_second):
                                    _add_rectangle(
                                        steps[q], begins[pair], width, first[0][a], first[1][a], second[0][b],
                                        second[1][b], amount * first[2][a] * second[2][b],
                                    )  # fmt: skip


@inner_kernel
def _find_chances(offsets, cumulative, path, n_path, n_excluded, chances):
    """The probability that each feature of a path meets its conditions."""
    features, lows, highs, shares, excluded, excluded_at = path
    for k in range(n_path):
        chances[k] = shares[k]
        if cumulative is not None:
            at = offsets[features[k]] + features[k]
            chances[k] = max(cumulative[at + highs[k] + 1] - cumulative[at + lows[k]], 0.0)
            for e in range(n_excluded):
                if excluded_at[e] == k and lows[k] <= excluded[e] <= highs[k]:
                    chances[k] -= cumulative[at + excluded[e] + 1] - cumulative[at + excluded[e]]


@inner_kernel
def _product_without(chances, n_path, i, j):
    """The product of the probabilities of all features of a path but two."""
    product = 1.0
    for k in range(n_path):
        if k != i and k != j:
            product *= chances[k]
    return product


@inner_kernel
def _find_terms(offsets, path, k, n_excluded, chance, terms):
    """``meets - p`` of a feature as a sum of constants on intervals of bins; returns their number."""
    features, lows, highs, _, excluded, excluded_at = path
    firsts, lasts, amounts = terms
    n_terms = ZERO + 1
    firsts[0], lasts[0], amounts[0] = 0, offsets[features[k] + 1] - offsets[features[k]] - 1, -chance
    if lows[k] <= highs[k]:
        firsts[1], lasts[1], amounts[1] = lows[k], highs[k], 1.0
        n_terms += 1
    for e in range(n_excluded):
        if excluded_at[e] == k and lows[k] <= excluded[e] <= highs[k]:
            firsts[n_terms], lasts[n_terms], amounts[n_terms] = excluded[e], excluded[e], -1.0
            n_terms += 1
    return n_terms


@inner_kernel
def _add_rectangle(steps, begin, width, top, bottom, left, right, amount):
    """Add a constant on a rectangle of bins, as steps at its corners."""
    steps[begin + top * width + left] += amount
    steps[begin + (bottom + 1) * width + left] -= amount
    steps[begin + top * width + right + 1] -= amount
    steps[begin + (bottom + 1) * width + right + 1] += amount

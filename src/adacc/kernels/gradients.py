"""Gradient boosting of symmetric trees for two classes.

All nodes of a level of a symmetric tree have the same split. Rows of the same leaf have the same number, their slot.
"""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import ZERO, inner_kernel, kernel
from adacc.kernels.splits import branch_of

WEIGHT_BITS, GRADIENT_BITS = 28, 34
"""The sums of weights and of gradients are packed into one integer, so that a histogram takes one addition per row."""

WEIGHT_MASK = 2**WEIGHT_BITS - 1

NEWTON_STEPS, SMALL_STEP = 10, 1e-3
"""Maximum number of Newton steps for the value of a leaf; a step below the second number is the last one."""

MAX_LEAF_VALUE = 20.0
"""Limit of the log-odds of a leaf, before they are multiplied by the learning rate."""


@kernel
def boost_gradients(
    bins, offsets, categorical, middle, weight, class_weight, learning_rate, cost_exponent, penalty, subsample,
    max_depth, max_features, random_state, work, n_nodes, features, cuts, children, values, gains, covers, record,
):  # fmt: skip
    """Boost symmetric trees by the gradient of the log loss, with the cumulative costs of AdaCC as class weights.

    Rows from `middle` on are of class 1. In each round the weight of the class with the larger error rate is multiplied
    by ``(1 + error rate) ** cost_exponent``. A level considers `max_features` random features. Each round is fitted to
    a random share `subsample` of the rows; the values of the leaves to all of them. The trees are the rows of the
    arrays by node. `record` receives, for each round, the weighted error of the tree, the weights of both classes
    during the round, and their recalls after it. `work` are the arrays of `boosting.gradient_boosting`.
    """
    odds, row_weight, packed, slots, histogram, sums, leaves, order, scores, sorted_rows = work
    n_rows, rates, costs = len(weight), np.zeros(2), np.ones(2)
    for i in range(n_rows):
        odds[i] = class_weight[0] / class_weight[1]
    _find_error_rates(odds, weight, class_weight, middle, rates)
    for t in range(len(features)):
        worse = 0 if rates[0] > rates[1] else 1
        costs[worse] *= (1.0 + rates[worse]) ** cost_exponent if rates[0] != rates[1] else 1.0
        deviation = _find_gradients(
            odds, weight, class_weight, middle, costs, subsample, random_state, row_weight, packed
        )
        total = costs[0] * class_weight[0] + costs[1] * class_weight[1]
        record[t, 1], record[t, 2] = costs[0] * class_weight[0] / total, costs[1] * class_weight[1] / total
        left = n_rows * np.exp(-t * learning_rate)
        noise = deviation * left / (1.0 + left)
        n_slots, n_nodes[t] = ZERO + 1, 1
        for i in range(n_rows):
            slots[i] = 0
        leaves[0, 0], features[t, 0], covers[t, 0] = 0, -1, class_weight[0] + class_weight[1]
        for _ in range(max_depth):
            f, cut = _find_symmetric_split(
                bins, offsets, categorical, slots, packed, n_slots, penalty, noise, max_features, random_state,
                histogram, sums, order, scores,
            )  # fmt: skip
            if f < 0 or n_nodes[t] + 3 * n_slots > features.shape[1]:
                break
            n_slots, n_nodes[t] = _split_leaves(
                bins[f], f, cut, offsets[f + 1] - offsets[f] - 1, categorical[f], weight, packed, penalty, slots,
                n_slots, n_nodes[t], sums, leaves, features[t], cuts[t], children[t], gains[t], covers[t],
            )  # fmt: skip
        record[t, 0] = _fit_leaves(
            odds, row_weight, middle, slots, n_slots, penalty, learning_rate, leaves, sorted_rows, values[t]
        )
        _average_nodes(n_nodes[t], features[t], children[t], covers[t], values[t])
        _find_error_rates(odds, weight, class_weight, middle, rates)
        record[t, 3], record[t, 4] = 1.0 - rates[0], 1.0 - rates[1]


@inner_kernel
def _uniform(random_state):
    random_state[0] = random_state[0] * 48271 % 2147483647  # Park and Miller's generator [1988]
    return random_state[0] / 2147483647.0


@inner_kernel
def _normal(random_state):
    return np.sqrt(-2.0 * np.log(_uniform(random_state))) * np.cos(2.0 * np.pi * _uniform(random_state))


@inner_kernel
def _find_error_rates(odds, weight, class_weight, middle, rates):
    """The error rate of each class. `odds` are those of class 0, which wins ties."""
    rates[0], rates[1] = 0.0, 0.0
    for i in range(len(odds)):
        k = 1 if i >= middle else 0
        if (odds[i] < 1.0) != (k == 1):
            rates[k] += weight[i]
    rates[0], rates[1] = rates[0] / class_weight[0], rates[1] / class_weight[1]


@inner_kernel
def _find_gradients(odds, weight, class_weight, middle, costs, subsample, random_state, row_weight, packed):
    """The weight of each row, with mean 1, and its packed weight and gradient, 0 for rows outside the subsample.

    Returns the root mean square of the gradients.
    """
    n_rows = len(odds)
    scale = n_rows / (costs[0] * class_weight[0] + costs[1] * class_weight[1])
    weight_unit, gradient_unit, squares = 2.0**WEIGHT_BITS / (2.0 * n_rows), 2.0**GRADIENT_BITS / (2.0 * n_rows), 0.0
    for i in range(n_rows):
        chance = 1.0 / (1.0 + odds[i])
        gradient = 1.0 - chance if i >= middle else -chance
        row_weight[i] = weight[i] * scale * (costs[1] if i >= middle else costs[0])
        squares += row_weight[i] * gradient * gradient
        packed[i] = 0
        if _uniform(random_state) < subsample:
            packed[i] = (np.int64(np.rint(row_weight[i] * gradient * gradient_unit)) << WEIGHT_BITS) + np.int64(
                np.rint(row_weight[i] * weight_unit)
            )
    return np.sqrt(squares / n_rows)


@inner_kernel
def _reduction(packed, unit, penalty):
    """The reduction of the squared error by a leaf, from its packed sums; `unit` is the weight of a row."""
    gradient = (packed >> WEIGHT_BITS) * (unit * 2.0 ** (WEIGHT_BITS - GRADIENT_BITS))
    return gradient * gradient / ((packed & WEIGHT_MASK) * unit + penalty)


@inner_kernel
def _find_symmetric_split(
    bins, offsets, categorical, slots, packed, n_slots, penalty, noise, max_features, random_state, histogram, sums,
    order, scores,
):  # fmt: skip
    """The feature and cut of the largest reduction of the squared error over all leaves; a feature of -1 for none.

    Normal `noise` is added to the root of the reduction of each feature, so that trees differ [Prokhorenkova et al.
    2018].
    """
    n_rows = len(slots)
    unit = 2.0 * n_rows / 2.0**WEIGHT_BITS
    for s in range(n_slots):
        sums[s, 0] = 0
    for i in range(n_rows):
        sums[slots[i], 0] += packed[i]
    before = 0.0
    for s in range(n_slots):
        before += _reduction(sums[s, 0], unit, penalty)
    found, found_cut, largest = ZERO - 1, ZERO, -np.inf
    for j in range(max_features):
        if max_features < len(order):
            other = j + np.int64(_uniform(random_state) * (len(order) - j))
            order[j], order[other] = order[other], order[j]
        f = order[j]
        n_bins = offsets[f + 1] - offsets[f]
        cut, reduction = _best_cut(
            bins[f], n_bins, categorical[f], slots, packed, n_slots, unit, penalty, histogram, sums, scores
        )
        if reduction > before * (1.0 + 1e-9):
            score = np.sqrt(reduction) + noise * _normal(random_state)
            if score > largest:
                found, found_cut, largest = f, cut, score
    return found, found_cut


@inner_kernel
def _best_cut(column, n_bins, is_categorical, slots, packed, n_slots, unit, penalty, histogram, sums, scores):
    """The cut of a feature with the largest reduction of the squared error, and that reduction."""
    for k in range(n_slots * n_bins):
        histogram[k] = 0
    for i in range(len(slots)):
        histogram[slots[i] * n_bins + column[i]] += packed[i]
    for k in range(n_bins - 1):
        scores[k] = 0.0
    for s in range(n_slots):
        total, left, begin = sums[s, 0], ZERO, s * n_bins
        alone = ZERO if is_categorical else histogram[begin + n_bins - 1]  # the branch of missing values
        third = _reduction(alone, unit, penalty)
        added = _reduction(total - alone, unit, penalty) + third
        for k in range(n_bins - 1):
            of_bin = histogram[begin + k]
            if of_bin != 0 or is_categorical:  # else the branches are the same as before
                left = of_bin if is_categorical else left + of_bin
                added = _reduction(left, unit, penalty) + _reduction(total - alone - left, unit, penalty) + third
            scores[k] += added
    best, largest = ZERO, 0.0
    for k in range(n_bins - 1):
        if scores[k] > largest:
            best, largest = k, scores[k]
    return best, largest


@inner_kernel
def _split_leaves(
    column, f, cut, last, is_categorical, weight, packed, penalty, slots, n_slots, n_nodes, sums, leaves, features,
    cuts, children, gains, covers,
):  # fmt: skip
    """Split all leaves whose rows take different branches; returns the numbers of leaves and of nodes.

    `leaves` has the node of each slot, and the new slot of each branch.
    """
    unit = 2.0 * len(slots) / 2.0**WEIGHT_BITS
    weights = np.zeros(3 * n_slots)
    for s in range(n_slots):
        sums[s, 0], sums[s, 1], sums[s, 2] = 0, 0, 0
    for i in range(len(slots)):
        s, branch = slots[i], branch_of(column[i], cut, last, is_categorical)
        sums[s, branch] += packed[i]
        weights[3 * s + branch] += weight[i]
        slots[i] = 3 * s + branch
    n_new = ZERO
    for s in range(n_slots):
        leaves[s, 2] = leaves[s, 0]
    for s in range(n_slots):
        node, n_branches = leaves[s, 2], 0
        for branch in range(3):
            n_branches += weights[3 * s + branch] > 0.0
        if n_branches > 1:
            features[node], cuts[node] = f, cut
            gains[node] = -_reduction(sums[s, 0] + sums[s, 1] + sums[s, 2], unit, penalty)
        for branch in range(3):
            if weights[3 * s + branch] > 0.0:
                if n_branches > 1:
                    children[node, branch] = n_nodes
                    covers[n_nodes], features[n_nodes] = weights[3 * s + branch], -1
                    gains[node] += _reduction(sums[s, branch], unit, penalty)
                    n_nodes += 1
                leaves[n_new, 0] = n_nodes - 1 if n_branches > 1 else node
                leaves[3 * s + branch, 1] = n_new
                n_new += 1
        gains[node] = max(gains[node], 0.0)
    for i in range(len(slots)):
        slots[i] = leaves[slots[i], 1]
    return n_new, n_nodes


@inner_kernel
def _fit_leaves(odds, row_weight, middle, slots, n_slots, penalty, learning_rate, leaves, sorted_rows, values):
    """Fit the values of the leaves by Newton steps and update the odds; returns the weighted error of the tree.

    The rows are sorted by leaf first, so that the sums of a Newton step are not looked up for each row.
    """
    sorted_odds, sorted_weight = sorted_rows
    ends = np.zeros(2 * n_slots + 1, dtype=np.int64)  # of the rows of each class in each leaf
    for i in range(len(slots)):
        ends[2 * slots[i] + (1 if i >= middle else 0) + 1] += 1
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    for i in range(len(slots) - 1, -1, -1):
        k = 2 * slots[i] + (1 if i >= middle else 0) + 1
        ends[k] -= 1
        sorted_odds[ends[k]], sorted_weight[ends[k]] = odds[i], row_weight[i]
    ratios, error = np.empty(n_slots), 0.0
    for s in range(n_slots):
        begin, change = ends[2 * s + 1], ends[2 * s + 2]
        end = ends[2 * s + 3] if s + 1 < n_slots else len(slots)
        logit, weights = _fit_leaf(sorted_odds, sorted_weight, begin, change, end, penalty)
        values[leaves[s, 0]] = learning_rate * logit
        ratios[s] = np.exp(-learning_rate * logit)
        error += weights[0] if logit > 0.0 else weights[1]
    for i in range(len(slots)):
        odds[i] *= ratios[slots[i]]
    return error / len(slots)


@inner_kernel
def _fit_leaf(odds, weight, begin, change, end, penalty):
    """The log-odds to add to the rows of a leaf, those of class 1 from `change` on, and the weights of the classes."""
    logit, first, second = 0.0, 0.0, 0.0
    for i in range(begin, change):
        first += weight[i]
    for i in range(change, end):
        second += weight[i]
    for _ in range(NEWTON_STEPS):
        ratio, gradient, curvature = np.exp(-logit), second, 0.0
        for i in range(begin, end):
            chance = 1.0 / (1.0 + odds[i] * ratio)
            gradient -= weight[i] * chance
            curvature += weight[i] * chance * (1.0 - chance)
        step = gradient / (curvature + penalty)
        logit = min(max(logit + step, -MAX_LEAF_VALUE), MAX_LEAF_VALUE)
        if np.abs(step) < SMALL_STEP:
            break
    return logit, (first, second)


@inner_kernel
def _average_nodes(n_nodes, features, children, covers, values):
    """The value of each node that splits, for rows without a branch: the mean of its leaves."""
    for node in range(n_nodes - 1, -1, -1):
        if features[node] >= 0:
            total = 0.0
            for branch in range(3):
                child = children[node, branch]
                if child >= 0:
                    total += covers[child] * values[child]
            values[node] = total / covers[node]

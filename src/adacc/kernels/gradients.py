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

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
"""Unsigned indices need no test for negative numbers."""


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
    odds, row_weight, packed, slots, histograms, sums, branches, leaves, order, scores, sorted_rows = work
    n_rows, rates, costs = len(weight), np.zeros(2), np.ones(2)
    for i in range(n_rows):
        odds[i] = class_weight[0] / class_weight[1]
    _find_error_rates(odds, weight, class_weight, middle, rates)
    for t in range(len(features)):
        worse = 0 if rates[0] > rates[1] else 1
        costs[worse] *= (1.0 + rates[worse]) ** cost_exponent if rates[0] != rates[1] else 1.0
        deviation, sums[0] = _find_gradients(
            odds, weight, class_weight, middle, costs, subsample, random_state, row_weight, packed
        )
        total = costs[0] * class_weight[0] + costs[1] * class_weight[1]
        record[t, 1], record[t, 2] = costs[0] * class_weight[0] / total, costs[1] * class_weight[1] / total
        left = n_rows * np.exp(-t * learning_rate)
        noise = deviation * left / (1.0 + left)
        n_slots, n_nodes[t] = ZERO + 1, 1
        for i in range(n_rows):
            slots[i] = 0
        leaves[0], features[t, 0] = 0, -1
        for _ in range(max_depth):
            f, cut = _find_symmetric_split(
                bins, offsets, categorical, slots, packed, n_slots, penalty, noise, max_features, random_state,
                histograms, sums, order, scores,
            )  # fmt: skip
            if f < 0 or n_nodes[t] + 3 * n_slots > features.shape[1]:
                break
            n_slots, n_nodes[t] = _split_leaves(
                bins[f], f, cut, offsets[f + 1] - offsets[f] - 1, categorical[f], packed, penalty, slots, n_slots,
                n_nodes[t], sums, branches, leaves, features[t], cuts[t], children[t], gains[t],
            )  # fmt: skip
        record[t, 0] = _fit_leaves(
            odds, weight, row_weight, middle, slots, n_slots, penalty, learning_rate, leaves, sorted_rows, values[t],
            covers[t],
        )  # fmt: skip
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

    Returns the root mean square of the gradients, and the sum of the packed numbers.
    """
    n_rows = len(odds)
    scale = n_rows / (costs[0] * class_weight[0] + costs[1] * class_weight[1])
    weight_unit, gradient_unit, squares = 2.0**WEIGHT_BITS / (2.0 * n_rows), 2.0**GRADIENT_BITS / (2.0 * n_rows), 0.0
    total = ZERO
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
        total += packed[i]
    return np.sqrt(squares / n_rows), total


@inner_kernel
def _reduction(packed, unit, penalty):
    """The reduction of the squared error by a leaf, from its packed sums; `unit` is the weight of a row."""
    gradient = (packed >> WEIGHT_BITS) * (unit * 2.0 ** (WEIGHT_BITS - GRADIENT_BITS))
    return gradient * gradient / ((packed & WEIGHT_MASK) * unit + penalty)


@inner_kernel
def _find_symmetric_split(
    bins, offsets, categorical, slots, packed, n_slots, penalty, noise, max_features, random_state, histograms, sums,
    order, scores,
):  # fmt: skip
    """The feature and cut of the largest reduction of the squared error over all leaves; a feature of -1 for none.

    Normal `noise` is added to the root of the reduction of each feature, so that trees differ [Prokhorenkova et al.
    2018].
    """
    n_rows = len(slots)
    unit = 2.0 * n_rows / 2.0**WEIGHT_BITS
    before = 0.0
    for s in range(n_slots):
        before += _reduction(sums[s], unit, penalty)
    for j in range(max_features if max_features < len(order) else 0):
        other = j + np.int64(_uniform(random_state) * (len(order) - j))
        order[j], order[other] = order[other], order[j]
    found, found_cut, largest = ZERO - 1, ZERO, -np.inf
    for j in range(max_features):
        f = order[j]
        if j % 2 == 0:
            f_1 = order[j + 1 if j + 1 < max_features else j]
            n_bins, n_bins_1 = offsets[f + 1] - offsets[f], offsets[f_1 + 1] - offsets[f_1]
            _add_two(bins[f], bins[f_1], n_bins, n_bins_1, slots, packed, n_slots, histograms)
        n_bins = offsets[f + 1] - offsets[f]
        cut, reduction = _best_cut(
            n_bins, categorical[f], packed, n_slots, unit, penalty, histograms[j % 2], sums, scores
        )
        if reduction > before * (1.0 + 1e-9):
            score = np.sqrt(reduction) + noise * _normal(random_state)
            if score > largest:
                found, found_cut, largest = f, cut, score
    return found, found_cut


@inner_kernel
def _add_two(column_0, column_1, n_bins_0, n_bins_1, slots, packed, n_slots, histograms):
    """The histograms of two features: two independent additions hide their latency."""
    for k in range(n_slots * max(n_bins_0, n_bins_1)):
        histograms[0, k] = histograms[1, k] = 0
    first, second, size_0, size_1 = histograms[0], histograms[1], np.uint64(n_bins_0), np.uint64(n_bins_1)
    for i in range(np.uint64(len(slots))):
        slot, amount = np.uint64(slots[i]), packed[i]
        first[slot * size_0 + column_0[i]] += amount
        second[slot * size_1 + column_1[i]] += amount


@inner_kernel
def _best_cut(n_bins, is_categorical, packed, n_slots, unit, penalty, histogram, sums, scores):
    """The cut of a feature with the largest reduction of the squared error, and that reduction."""
    for k in range(n_bins - 1):
        scores[k] = 0.0
    for s in range(n_slots):
        total, left, begin = sums[s], ZERO, s * n_bins
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
    column, f, cut, last, is_categorical, packed, penalty, slots, n_slots, n_nodes, sums, branches, leaves, features,
    cuts, children, gains,
):  # fmt: skip
    """Split all leaves whose rows take different branches; returns the numbers of leaves and of nodes.

    `leaves` are the nodes of the slots, `sums` their packed sums. `branches` receives the packed sum of each branch of
    each slot, the number of its rows, and its new slot, and the node of each slot before.
    """
    unit = 2.0 * len(slots) / 2.0**WEIGHT_BITS
    of_branch, sizes, new_slots, nodes = branches
    for k in range(3 * n_slots):
        of_branch[k], sizes[k] = 0, 0
    for i in range(np.uint64(len(slots))):
        new_slot = THREE * np.uint64(slots[i]) + np.uint64(branch_of(column[i], cut, last, is_categorical))
        of_branch[new_slot] += packed[i]
        sizes[new_slot] += 1
        slots[i] = new_slot
    n_new = ZERO
    for s in range(n_slots):
        nodes[s] = leaves[s]
    for s in range(n_slots):
        node, n_branches = nodes[s], 0
        for k in range(3 * s, 3 * s + 3):
            n_branches += sizes[k] > 0
        if n_branches > 1:
            of_node = of_branch[3 * s] + of_branch[3 * s + 1] + of_branch[3 * s + 2]
            features[node], cuts[node], gains[node] = f, cut, -_reduction(of_node, unit, penalty)
        for branch in range(3):
            k = 3 * s + branch
            if sizes[k] > 0:
                if n_branches > 1:
                    children[node, branch], features[n_nodes] = n_nodes, -1
                    gains[node] += _reduction(of_branch[k], unit, penalty)
                    n_nodes += 1
                leaves[n_new] = n_nodes - 1 if n_branches > 1 else node
                sums[n_new], new_slots[k] = of_branch[k], n_new
                n_new += 1
        gains[node] = max(gains[node], 0.0)
    for i in range(np.uint64(len(slots))):
        slots[i] = new_slots[np.uint64(slots[i])]
    return n_new, n_nodes


@inner_kernel
def _fit_leaves(
    odds, weight, row_weight, middle, slots, n_slots, penalty, learning_rate, leaves, sorted_rows, values, covers,
):  # fmt: skip
    """Fit the values of the leaves by Newton steps and update the odds; returns the weighted error of the tree.

    The rows are sorted by leaf first, so that the sums of a Newton step are not looked up for each row.
    """
    sorted_odds, sorted_weight = sorted_rows
    ends = np.zeros(2 * n_slots + 1, dtype=np.int64)  # of the rows of each class in each leaf
    for s in range(n_slots):
        covers[leaves[s]] = 0.0
    for i in range(np.uint64(len(slots))):
        slot = np.uint64(slots[i])
        ends[TWO * slot + (TWO if i >= middle else ONE)] += 1
        covers[leaves[slot]] += weight[i]
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    for j in range(1, np.uint64(len(slots) + 1)):
        row = np.uint64(len(slots)) - j
        part = TWO * np.uint64(slots[row]) + (TWO if row >= middle else ONE)
        ends[part] -= 1
        at = np.uint64(ends[part])
        sorted_odds[at], sorted_weight[at] = odds[row], row_weight[row]
    ratios, error = np.empty(n_slots), 0.0
    for s in range(n_slots):
        begin, change = ends[2 * s + 1], ends[2 * s + 2]
        end = ends[2 * s + 3] if s + 1 < n_slots else len(slots)
        logit, weights = _fit_leaf(sorted_odds, sorted_weight, begin, change, end, penalty)
        values[leaves[s]] = learning_rate * logit
        ratios[s] = np.exp(-learning_rate * logit)
        error += weights[0] if logit > 0.0 else weights[1]
    for i in range(np.uint64(len(slots))):
        odds[i] *= ratios[np.uint64(slots[i])]
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
    """The cover of each node that splits, and its value, for rows without a branch: the mean of its leaves."""
    for node in range(n_nodes - 1, -1, -1):
        if features[node] >= 0:
            total = covers[node] = 0.0
            for branch in range(3):
                child = children[node, branch]
                if child >= 0:
                    total += covers[child] * values[child]
                    covers[node] += covers[child]
            values[node] = total / covers[node]

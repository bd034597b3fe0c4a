"""Logistic regression on one bag, for two classes, as trees: its score is a sum of functions of one feature each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from adacc.algorithms.base import Array
from adacc.boosting.divided_votes import divide_votes
from adacc.data.binning import BinMapper
from adacc.data.rows import Rows
from adacc.kernels import dtypes
from adacc.model.ensemble import Ensemble

PENALTY = 3.0
"""L2 penalty on the coefficients, for rows with a mean weight of 1."""

MAX_COLUMNS = 100
"""Maximum number of columns of the regression: those that reduce the loss most, each by itself."""

MIN_WEIGHT = 5.0
"""Minimum weight of the missing values of a number, or of one of three or more categories, that has a column."""

MAX_STEPS, SMALL_STEP = 30, 1e-6
"""Maximum number of Newton steps; a step below the second number is the last one."""

DECIMALS = 9
"""Decimals of the values of the leaves. Further ones depend on the order in which a matrix product sums."""


class _Column(NamedTuple):
    """A column of the regression: a function of the bins of a feature."""

    feature: int
    category: int  # the bin that differs from all others, if the feature is categorical; else -1
    values: Array  # (n_bins,)


def fit_logistic_regression(bins: NDArray[np.unsignedinteger], rows: Rows, bin_mapper: BinMapper) -> Ensemble:
    """Fit a logistic regression to classes of the same total weight.

    Numbers are replaced by the normal scores of their bins, missing values and categories have indicators. Each numeric
    feature becomes a balanced tree over its bins, each category a stump, and the intercept, which is first, a leaf.
    """
    n_bins, true = np.diff(bin_mapper.offsets), rows.true.astype(np.float64)
    row_weight = len(true) / 2.0 * rows.weight / rows.class_weight[rows.true]

    def by_bin(amounts: Array) -> list[Array]:
        return [np.bincount(of_row, amounts, n) for of_row, n in zip(bins, n_bins, strict=True)]  # type: ignore[misc]

    weights = by_bin(rows.weight)
    columns = [column for f, weight in enumerate(weights) for column in _columns(f, weight, bin_mapper.categorical[f])]
    if len(columns) > MAX_COLUMNS:
        gains = _gains(columns, by_bin(row_weight * (true - 0.5)), by_bin(row_weight))
        columns = [columns[k] for k in np.sort(np.argsort(-gains, kind="stable")[:MAX_COLUMNS])]
    design = np.ones((len(columns) + 1, len(true)))
    for column, of_rows in zip(columns, design, strict=False):
        of_rows[:] = column.values[bins[column.feature]]
    coefficients = _fit(design, true, row_weight)
    functions: dict[tuple[int, int], Array] = {}
    for column, coefficient in zip(columns, coefficients, strict=False):
        key = column.feature, column.category
        functions[key] = functions.get(key, 0.0) + np.round(coefficient * column.values, DECIMALS)
    intercept = _new_nodes(1)
    intercept["cover"] = rows.weight.sum()
    trees = [(intercept, np.round(coefficients[-1:], DECIMALS))]
    trees += [_tree(f, category, values, weights[f]) for (f, category), values in functions.items()]
    scores = [np.full(len(true), coefficients[-1]), *(values[bins[f]] for (f, _), values in functions.items())]
    nodes, node_values = zip(*trees, strict=True)
    sizes, record = np.array([len(tree) for tree in nodes]), _record(scores, true, row_weight)
    return divide_votes(np.concatenate(nodes), sizes, np.concatenate(node_values), bin_mapper, record)


def _columns(feature: int, weight: Array, is_categorical: bool) -> Iterator[_Column]:
    """The columns of a feature; `weight` is the weight of each bin.

    Two categories are one column, with the same values as two numbers.
    """
    bins = np.arange(len(weight))
    present = np.flatnonzero(weight)
    if len(present) < 2:
        return
    if is_categorical and len(present) > 2:
        for category in np.flatnonzero(weight[:-1] >= MIN_WEIGHT).tolist():
            yield _Column(feature, category, (bins == category).astype(np.float64))
    elif is_categorical:
        first, other = _normal_scores(weight[present])
        yield _Column(feature, int(present[0]), np.where(bins == present[0], first, other))
    else:
        if np.count_nonzero(weight[:-1]) > 1:
            yield _Column(feature, -1, np.append(_normal_scores(weight[:-1]), 0.0))
        if weight[-1] >= MIN_WEIGHT:
            yield _Column(feature, -1, (bins == len(bins) - 1).astype(np.float64))


def _gains(columns: list[_Column], excess: list[Array], weights: list[Array]) -> Array:
    """How much the first Newton step of the coefficient of each column alone reduces the loss, beside the intercept.

    `excess` and `weights` are, for each bin of each feature, the summed weight of the rows of class 1 less half of all,
    and of all; both classes have the same weight.
    """
    gains = np.empty(len(columns))
    for k, (feature, _, values) in enumerate(columns):
        weight = weights[feature]
        gradient, variance = values @ excess[feature], weight @ values**2 - (weight @ values) ** 2 / weight.sum()
        gains[k] = gradient**2 / (variance / 4.0 + PENALTY) / 2.0
    return gains


def _normal_scores(weight: Array) -> Array:
    """The normal quantile of the share of the weight below the middle of each bin."""
    total = weight.sum()
    middle = (np.cumsum(weight) - weight / 2.0) / total
    return ndtri(np.clip(middle, 0.5 / total, 1.0 - 0.5 / total))


def _fit(design: Array, true: Array, weight: Array) -> Array:
    """The coefficients of the columns by Newton's method; that of the last one, the intercept, has no penalty.

    `design` has a row for each column.
    """
    penalty = np.append(np.full(len(design) - 1, PENALTY), 0.0)

    def evaluate(coefficients: Array) -> tuple[float, Array]:
        logit = coefficients @ design
        loss = weight @ (np.logaddexp(0.0, logit) - true * logit) + penalty @ coefficients**2 / 2.0
        return float(loss), logit

    coefficients, scaled = np.zeros(len(penalty)), np.empty_like(design)
    loss, logit = evaluate(coefficients)
    for _ in range(MAX_STEPS):
        chance = expit(logit)
        gradient = design @ (weight * (true - chance)) - penalty * coefficients
        np.multiply(design, weight * chance * (1.0 - chance), out=scaled)
        hessian = scaled @ design.T + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        changed, logit = evaluate(coefficients + step)
        while changed > loss and np.abs(step).max() > SMALL_STEP:
            step /= 2.0
            changed, logit = evaluate(coefficients + step)
        coefficients, loss = coefficients + step, changed
        if np.abs(step).max() < SMALL_STEP:
            break
    return coefficients


def _tree(feature: int, category: int, values: Array, weight: Array) -> tuple[NDArray[np.void], Array]:
    """The nodes of a tree over the bins of a feature that rows have, and the value of each node.

    `values` and `weight` are those of each bin. The value of a node that splits is the mean of its leaves.
    """
    missing = 0.0
    if category >= 0:
        cuts, leaf_values = np.array([category]), values[[category, category - 1]]  # all others have the same value
        covers = np.array([weight[category], weight.sum() - weight[category]])
    else:
        present, missing = np.flatnonzero(weight[:-1]), weight[-1]
        cuts = (present[:-1] + present[1:] - 1) // 2
        leaf_values, covers = values[present], weight[present]
    first, last, left = _balanced_tree(len(covers))
    n_nodes = len(first) + int(missing > 0.0)
    nodes, total = _new_nodes(n_nodes), np.zeros(n_nodes)
    splits = np.flatnonzero(left)
    nodes["feature"][splits] = feature
    nodes["children"][splits, 0], nodes["children"][splits, 1] = left[splits], left[splits] + 1
    nodes["cover"][: len(first)] = _sums(covers, first, last)
    total[: len(first)] = _sums(covers * leaf_values, first, last)
    if len(covers) > 1:
        nodes["cut"][splits] = cuts[last[left[splits]] - 1]
    else:  # the only split is that of the missing values
        nodes["cut"][0], nodes["children"][0, 1] = len(weight) - 2, -1
    if missing > 0.0:
        nodes["children"][0, 2], nodes["cover"][-1], total[-1] = n_nodes - 1, missing, missing * values[-1]
        nodes["cover"][0], total[0] = nodes["cover"][0] + missing, total[0] + total[-1]
    squares, children = total**2 / nodes["cover"], nodes["children"][splits]
    nodes["gain"][splits] = np.maximum(np.where(children >= 0, squares[children], 0.0).sum(axis=1) - squares[splits], 0)
    return nodes, total / nodes["cover"]


@cache
def _balanced_tree(n_leaves: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The range of leaves below each node, and its left child, which the right one follows; 0 for a leaf.

    A single leaf has a root above it.
    """
    ranges, left = [(0, n_leaves)], []
    for begin, end in ranges:  # which grows
        left.append(len(ranges) if end - begin > 1 else 0)
        if end - begin > 1:
            middle = (begin + end + 1) // 2
            ranges += [(begin, middle), (middle, end)]
    if n_leaves == 1:
        ranges, left = 2 * ranges, [1, 0]
    first, last = np.array(ranges).T
    return first, last, np.array(left)


def _sums(amounts: Array, first: NDArray[np.intp], last: NDArray[np.intp]) -> Array:
    """The sum of each range of amounts."""
    sums = np.append(0.0, np.cumsum(amounts))
    return sums[last] - sums[first]


def _new_nodes(n_nodes: int) -> NDArray[np.void]:
    """Leaves without a value."""
    nodes = np.zeros(n_nodes, dtype=dtypes.NODE)
    nodes["feature"], nodes["children"] = -1, -1
    return nodes


def _record(scores: list[Array], true: Array, weight: Array) -> Array:
    """The weighted error of each tree, the weights of both classes, and the recalls of the trees up to it.

    `scores` are those of the rows by each tree; `weight` has the same sum in both classes.
    """
    record, total = np.full((len(scores), 5), 0.5), np.zeros(len(true))
    share = weight / weight.sum()
    share_of_class = 2.0 * share * np.array([1.0 - true, true])
    for t, of_tree in enumerate(scores):
        total += of_tree
        record[t, 0] = share @ ((of_tree > 0.0) != true)
        record[t, 3:] = share_of_class @ ((total > 0.0) == true)
    return record

"""Monotonic constraints of two classes. Without constraints, an argument is None, and Numba compiles none of it."""

from __future__ import annotations

from adacc.kernels.jit import inner_kernel, kernel


@kernel(inline="always")
def in_order(signs, f, excess, tie):
    """Whether the constraint of a feature allows a left leaf with this excess of the second class over its share."""
    allowed = True
    if signs is not None:
        allowed = signs[f] * excess <= tie
    return allowed


@kernel(inline="always")
def signs_from(monotonic, first):
    """The constraints of the features from `first` on; None without constraints."""
    if monotonic is None:
        return None
    return monotonic[0][first:]


@kernel(inline="always")
def is_closed(monotonic, node):
    """Whether a constraint makes a node a leaf."""
    closed = False
    if monotonic is not None:
        closed = monotonic[1][node] > 0
    return closed


@inner_kernel
def keep_order(monotonic, f, last_cut, node, totals, cuts, children, classes):
    """Keep the constraint of the feature of a node, whose children are new.

    No leaf below the lower branch may be above a leaf below the upper one. With two classes, this means that either all
    rows of the lower branch get the first class, or all rows of the upper branch the second class. This branch becomes
    a leaf, and the other one may grow. It is the purer of both: the bound between the branches is the mean of their
    shares of the second class, as in scikit-learn, and a leaf is of the second class if its share exceeds one half.
    """
    signs, closed = monotonic
    left, right = children[node, 0], children[node, 1]
    if signs[f] == 0:
        return
    if left < 0 or right < 0:
        # The node splits off missing values. All others go left: in a branch without rows, the node itself would
        # predict, whose class depends on the missing values.
        children[node, 0], children[node, 1], cuts[node] = max(left, right), -1, last_cut
        return
    low, high = (left, right) if signs[f] > 0 else (right, left)
    if totals[low, 0] * (totals[high, 0] + totals[high, 1]) >= totals[high, 1] * (totals[low, 0] + totals[low, 1]):
        classes[low], closed[low] = 0, 1
    else:
        classes[high], closed[high] = 1, 1

"""All dtypes of the kernels."""

from __future__ import annotations

import numpy as np

ROW = np.dtype(np.uint32)  # unsigned: indexing needs no test for negative numbers
CLASS = np.dtype(np.uint8)
BINS = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))

MAX_CLASSES = 256

MAX_DIVIDED_NODES = 256
"""Maximum number of nodes of a tree that divides its votes: the number of a node must fit into a `CLASS`."""

STUMP = np.dtype(
    [
        ("feature", np.int32),  # -1: no split, all rows take the left branch
        ("cut", np.uint32),  # left if bin <= cut; for a categorical feature, left if bin == cut
        ("left", CLASS),
        ("right", CLASS),
        ("missing", CLASS),
    ]
)

NODE = np.dtype(
    [
        ("feature", np.int32),  # -1: a leaf
        ("cut", np.uint32),  # as in STUMP
        ("children", np.int32, 3),  # left, right, missing; -1: none, the node itself predicts
        ("class", CLASS),
        ("gain", np.float64),
        ("cover", np.float64),  # sample weight of the rows that the tree was grown on; NaN: unknown
        ("confidence", np.float64),  # share of the vote for the class, at least 1/2; the other class has the rest
    ]
)


def bin_dtype(n_bins: int) -> np.dtype[np.unsignedinteger]:
    """The smallest dtype that holds the bins 0 ... n_bins-1."""
    return BINS[0 if n_bins <= 2**8 else 1 if n_bins <= 2**16 else 2]

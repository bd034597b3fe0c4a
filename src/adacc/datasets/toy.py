"""The two-dimensional toy data of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles


def make_toy(n_rare: int = 5, n_common: int = 20, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Generate the toy data of the paper: rare points inside a ring of others, with noise.

    The 200 points of scikit-learn's ``make_circles(200, noise=0.3, factor=0.3, random_state=415)``, subsampled.

    Parameters
    ----------
    n_rare, n_common : int, default=5 and 20
        Points of each class, at most 100; the paper has 5 and 20, and 10 and 30.
    seed : int, default=0
        Random seed of the subsampling.

    Returns
    -------
    X : ndarray of shape (n_rare + n_common, 2)
    y : ndarray of shape (n_rare + n_common,)
        1 for the rare class.

    Examples
    --------
    >>> X, y = make_toy(10, 30)
    >>> X.shape, int(y.sum())
    ((40, 2), 10)
    """
    for name, value in (("n_rare", n_rare), ("n_common", n_common)):
        if not 1 <= value <= 100:
            raise ValueError(f"{name} must be from 1 to 100, got {value!r}")
    X, inner = make_circles(200, noise=0.3, factor=0.3, random_state=415)
    rng = np.random.default_rng(seed)
    kept = [rng.permutation(np.flatnonzero(inner == label))[:n] for label, n in ((0, n_common), (1, n_rare))]
    rows = np.concatenate(kept)
    return X[rows], inner[rows].astype(np.int8)

"""Draws of whole groups of rows, so that training and validation rows share no group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class GroupDraw:
    """Draws groups of rows, stratified by the rarest class in each group; every class needs a row."""

    def __init__(self, groups: NDArray[np.intp], y: NDArray[np.intp], n_classes: int) -> None:
        _, self._group = np.unique(groups, return_inverse=True)
        n_groups = int(self._group.max()) + 1
        by_rarity = np.argsort(np.bincount(y, minlength=n_classes), kind="stable")
        rarity = np.argsort(by_rarity)
        rarest = np.full(n_groups, n_classes)
        np.minimum.at(rarest, self._group, rarity[y])
        self._strata = [np.flatnonzero(rarest == k) for k in np.unique(rarest)]
        self._groups_of_class = [np.unique(self._group[y == k]) for k in range(n_classes)]

    def draw(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether the group of each row is drawn.

        At least one group of every class is drawn. A stratum of two or more groups is never drawn completely.
        """
        drawn = np.zeros(int(self._group.max()) + 1, dtype=bool)
        for groups in self._strata:
            n_drawn = min(max(round(share * len(groups)), 1), max(len(groups) - 1, 1))
            drawn[rng.choice(groups, n_drawn, replace=False)] = True
        for groups in self._groups_of_class:
            if not drawn[groups].any():
                drawn[rng.choice(groups)] = True
        return drawn[self._group]

    def leave_out(self, fold: int, n_folds: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether the group of each row is in another fold than this one.

        The folds are random, stratified, and the same for the same state of the random generator. A class whose groups
        are all in the fold keeps them.
        """
        kept = np.ones(int(self._group.max()) + 1, dtype=bool)
        for groups in self._strata:
            kept[rng.permutation(groups)[fold::n_folds]] = False
        for groups in self._groups_of_class:
            if not kept[groups].any():
                kept[groups] = True
        return kept[self._group]

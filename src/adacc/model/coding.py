"""Several classes as two-class problems: one class against another, or against the rest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array

Codes = NDArray[np.int8]
"""(n_problems, n_classes): the side of each class in each problem, 1 or -1; 0 if it takes no part in the problem."""


MARGIN_FACTOR = 4.0
"""Factor of the margins of pairs; docs/classes.md has the alternatives that were compared."""


def one_vs_one(n_classes: int) -> Codes:
    """A problem for every pair of classes.

    Examples
    --------
    >>> one_vs_one(3).tolist()
    [[1, -1, 0], [1, 0, -1], [0, 1, -1]]
    """
    pairs = list(combinations(range(n_classes), 2))
    codes = np.zeros((len(pairs), n_classes), dtype=np.int8)
    for code, (first, second) in zip(codes, pairs, strict=True):
        code[first], code[second] = 1, -1
    return codes


def one_vs_rest(n_classes: int) -> Codes:
    """A problem for every class, against all others.

    Examples
    --------
    >>> one_vs_rest(3).tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """
    return 2 * np.eye(n_classes, dtype=np.int8) - np.int8(1)


def is_pairwise(codes: Codes) -> bool:
    """Whether every problem has two classes."""
    return bool((np.abs(codes).sum(axis=1) == 2).all())


def class_scores(codes: Codes, scores: Array, largest: Array) -> Array:
    """Scores by class, whose argmax is the prediction, from the scores of the problems.

    One against the rest: the score of the class. One against one: the sum of tanh(4·margin) over its pairs, that is, of
    votes between -1 and 1. The margin of a pair is its score divided by the `largest` that its votes can add up to
    [Schapire et al. 1998]. Plain sums would be dominated by pairs of two other classes, whose scores may be large for
    any row.
    """
    return np.tanh(scores * margin_factors(largest)) @ codes if is_pairwise(codes) else scores @ (codes == 1)


def margin_factors(largest: Array) -> Array:
    """What the score of a pair is multiplied by before the tanh; 1 if it has no votes."""
    return np.where(largest > 0.0, MARGIN_FACTOR / np.where(largest > 0.0, largest, 1.0), 1.0)


@dataclass(frozen=True)
class Coding:
    """The two-class problems of an ensemble, with one score for each: above 0 it is in favour of the classes of code 1.

    Attributes
    ----------
    codes : ndarray of shape (n_problems, n_classes)
        The problems, by `one_vs_one` or `one_vs_rest`.
    problems : ndarray of shape (n_models,)
        The problem of each weak model, ascending.
    finished : ndarray of shape (n_problems,)
        Whether the boosting of each problem ended before its last round, so that no rounds can be added.
    """

    codes: Codes
    problems: NDArray[np.int64]
    finished: NDArray[np.bool_]

    @property
    def is_pairwise(self) -> bool:
        """Whether every problem has two classes."""
        return is_pairwise(self.codes)

    @property
    def edges(self) -> NDArray[np.intp]:
        """The weak models of problem p are those from ``edges[p]`` to ``edges[p + 1]``."""
        return np.searchsorted(self.problems, np.arange(len(self.codes) + 1))

    @property
    def n_rounds(self) -> int:
        """The largest number of rounds of a problem."""
        return int(np.diff(self.edges).max())

    def largest_scores(self, votes: Array, n_rounds: int | None = None) -> Array:
        """The largest absolute score of each problem after some or all rounds; `votes` are by model and class."""
        largest = np.abs(votes).max(axis=1)
        if n_rounds is not None:
            largest = largest * (np.arange(len(votes)) - self.edges[self.problems] < n_rounds)
        sums: Array = np.bincount(self.problems, largest, len(self.codes))  # type: ignore[assignment]
        return sums

    @property
    def pairs(self) -> list[tuple[int, int]] | None:
        """The two classes of every problem, that of code 1 first; None if classes are boosted against the rest."""
        if not self.is_pairwise:
            return None
        return [(int(np.argmax(code)), int(np.argmin(code))) for code in self.codes]

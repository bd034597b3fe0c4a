"""Bags of rows, a booster on each, and their votes as one ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.local import LocalBackend
from adacc.boosting.loop import Boosting
from adacc.data.binned import BinnedDataset
from adacc.data.groups import GroupDraw
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.growth import Growth
from adacc.learners.tree import TreeLearner, Trees
from adacc.model.ensemble import Ensemble, contributions

MOST_DRAWN = 20_000
"""Rows of a class in a bag, at most: there are many bags."""

BOOTSTRAP_SHARE = 1.0 - np.exp(-1.0)
"""Share of the groups in a bag: that of the rows which a bootstrap sample has."""

WATCHED = 3_000
"""Rows of a class that are asked about the bags they are not in: enough to know a rate to a point."""


@dataclass(frozen=True)
class BagSpec:
    """A kind of bag: what is drawn, and what is done with it. All classes weigh the same at first.

    Attributes
    ----------
    n_bags : int
        How often.
    ratio : float
        Most rows of a class for each of the rarest.
    n_rounds : int
        Rounds of the booster.
    growth : Growth
        Of its trees.
    """

    n_bags: int
    ratio: float
    n_rounds: int
    growth: Growth


@dataclass(frozen=True)
class Bags:
    """All of them.

    Attributes
    ----------
    kinds : tuple of BagSpec
        One after the other.
    criterion : str
        Of the splits.
    seed : int
        Of all that is drawn.
    """

    kinds: tuple[BagSpec, ...]
    criterion: str
    seed: int


class Forest(NamedTuple):
    """All bags' trees as one ensemble, and what rows out of the bags say of it.

    Attributes
    ----------
    ensemble : Ensemble
        The votes of all bags of a kind add up to 1, those of each to the same.
    kind : ndarray of shape (n_trees,)
        The kind of bag that each tree is of.
    asked : ndarray of int
        Rows, in the order of the layout, that were out of some bag of every kind.
    shares : ndarray of shape (n_kinds, n_asked, n_classes)
        Of each, the share of the votes that each class has among the bags of a kind that the row was not in.
    """

    ensemble: Ensemble
    kind: NDArray[np.intp]
    asked: NDArray[np.intp]
    shares: Array


def grow_forest(
    layout: BinnedDataset, plan: Plan, bags: Bags, threads: Threads, groups: NDArray[np.intp] | None = None
) -> Forest:
    """Boost on every bag, several at a time; the forest does not depend on how many.

    With `groups`, the number of each row's group in the order of the layout, a group is in or out of a bag as a whole.
    """
    rows, codes = layout.rows, layout.matrix
    group_draw = None if groups is None else GroupDraw(groups, rows.true.astype(np.intp), rows.n_classes)
    watched = _watched(rows, bags.seed)
    codes_watched = np.ascontiguousarray(codes[:, watched])

    kind_of_bag = np.repeat(np.arange(len(bags.kinds)), [kind.n_bags for kind in bags.kinds])

    def boost(number: int) -> tuple[Ensemble, NDArray[np.intp], Array]:
        kind = bags.kinds[kind_of_bag[number]]
        rng = np.random.default_rng([bags.seed, number])
        among = None if group_draw is None else group_draw.draw(BOOTSTRAP_SHARE, rng)
        bag, members = draw_bag(rows, kind.ratio, rng, among)
        learner = TreeLearner(
            np.ascontiguousarray(codes[:, members]), bag, layout.bin_mapper, bags.criterion, plan.negative_class,
            kind.growth, bags.seed + number,
        )  # fmt: skip
        boosting = Boosting(LocalBackend(plan, learner, initial=1.0 / bag.class_weight))
        boosting.run(kind.n_rounds)
        ensemble = boosting.ensemble()
        inside = np.zeros(len(rows.order), dtype=bool)
        inside[members if among is None else among] = True
        out = np.flatnonzero(~inside[watched])
        scorer = _trees_of(ensemble).compile(contributions(ensemble.votes, np.ones(rows.n_classes)))
        return ensemble, out, scorer.of_codes(np.ascontiguousarray(codes_watched[:, out])) / _strength(ensemble)

    n_kinds, n_outputs = len(bags.kinds), 1 if rows.n_classes == 2 else rows.n_classes
    heard, scores = np.zeros((n_kinds, len(watched))), np.zeros((n_kinds, len(watched), n_outputs))
    ensembles = []
    # The last ones first: they may take longest, and none should be left over when the others are done.
    grown = threads.each(boost, range(len(kind_of_bag))[::-1])[::-1]
    for kind, (ensemble, out, found) in zip(kind_of_bag, grown, strict=True):
        ensembles.append(ensemble)
        heard[kind, out] += 1.0
        scores[kind, out] += found
    asked = np.flatnonzero(heard.all(axis=0))
    mean = scores[:, asked] / heard[:, asked, None]
    shares = np.concatenate([1.0 - mean, 1.0 + mean], axis=2) / 2.0 if n_outputs == 1 else mean
    sizes = [len(ensemble) for ensemble in ensembles]
    say = 1.0 / np.bincount(kind_of_bag)[kind_of_bag]
    return Forest(_joined(ensembles, say), np.repeat(kind_of_bag, sizes), watched[asked], shares)


def _watched(rows: Rows, seed: int) -> NDArray[np.intp]:
    """Some rows of every class, or all."""
    rng = np.random.default_rng([seed, rows.n_classes])
    kept = []
    for begin, end in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        some = rng.choice(end - begin, WATCHED, replace=False) if end - begin > WATCHED else np.arange(end - begin)
        kept.append(begin + np.sort(some))
    return np.concatenate(kept)


def draw_bag(
    rows: Rows, ratio: float, rng: np.random.Generator, among: NDArray[np.bool_] | None = None
) -> tuple[Rows, NDArray[np.intp]]:
    """Rows of each class, by weight: as many as it has, but no more than `ratio` times those of the smallest.

    `among` marks the rows that may be drawn, some of every class; None is all.

    They are drawn with replacement: one that is drawn twice counts twice. A class whose rows have different weights is
    as large as so many of the same weight would be [Kish 1965]. Whatever the sum of the weights, a third of the rows
    at least thus stays out of the bag.
    """
    sizes = 1.0 / rows.by_class((rows.weight / rows.class_weight[rows.true]) ** 2)
    n_drawn = np.clip(np.round(np.minimum(sizes, ratio * sizes.min())), 1, MOST_DRAWN).astype(int)
    members, counts = [], []
    for k, (begin, end) in enumerate(zip(rows.starts[:-1], rows.starts[1:], strict=True)):
        able = np.arange(begin, end) if among is None else begin + np.flatnonzero(among[begin:end])
        weight = rows.weight[able]
        if (weight == weight[0]).all():
            drawn = rng.integers(len(able), size=n_drawn[k])
        else:
            places = np.cumsum(weight)
            drawn = np.minimum(np.searchsorted(places, rng.random(n_drawn[k]) * places[-1]), len(able) - 1)
        count = np.bincount(drawn, minlength=len(able))
        each = np.flatnonzero(count)
        members.append(able[each])
        counts.append(count[each].astype(np.float64))
    drawn_rows = np.concatenate(members)
    starts = np.cumsum([0, *map(len, members)])
    weight = np.array([count.sum() for count in counts])
    return Rows(rows.order[drawn_rows].astype(dtypes.ROW), starts, np.concatenate(counts), weight), drawn_rows


def _trees_of(ensemble: Ensemble) -> Trees:
    assert isinstance(ensemble.models, Trees)
    return ensemble.models


def _strength(ensemble: Ensemble) -> float:
    """What the votes for a class add up to where all rounds predict it."""
    return float(ensemble.votes.max(axis=1).sum()) or 1.0


def _joined(ensembles: list[Ensemble], say: Array) -> Ensemble:
    """One after the other, the votes of each adding up to its say."""
    first, trees = ensembles[0], [_trees_of(ensemble) for ensemble in ensembles]
    sizes = np.concatenate([np.diff(each.starts) for each in trees])
    return Ensemble(
        models=Trees(np.concatenate([each.nodes for each in trees]), np.cumsum([0, *sizes]), trees[0].bin_mapper),
        votes=np.concatenate(
            [each.votes * (part / _strength(each)) for each, part in zip(ensembles, say, strict=True)]
        ),
        decision=first.decision,
        negative_class=first.negative_class,
        factors=np.concatenate([each.factors for each in ensembles]),
        history={name: np.concatenate([each.history[name] for each in ensembles]) for name in first.history},
        finished=True,
    )

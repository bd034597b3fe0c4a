"""Bagging of boosters: one booster per bag of rows, combined into one ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.gradient_boosting import boost_gradients
from adacc.boosting.local_backend import LocalBackend
from adacc.boosting.logistic_regression import fit_logistic_regression
from adacc.boosting.loop import Boosting
from adacc.data.binned import BinnedDataset
from adacc.data.coarse import CoarseBins
from adacc.data.groups import GroupDraw
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.growth import Growth, full_tree_depth
from adacc.learners.splits import MonotonicCst
from adacc.learners.tree import TreeLearner, Trees
from adacc.model.ensemble import Ensemble

MAX_ROWS_OF_CLASS = 20_000
"""Maximum number of rows of a class in a bag, by default."""

ROWS_PER_LEAF, DEPTH_RANGE = 16, (4, 10)
"""If the depth of trees follows from the number of rows, a full tree has this many rows per leaf, within a range."""

BOOTSTRAP_SHARE = 1.0 - np.exp(-1.0)
"""Share of the groups in a bag: the expected share of distinct rows in a bootstrap sample."""

MAX_FOLDS = 5
"""Maximum number of folds of which bags without replacement leave out one each."""

MAX_OOB_ROWS_OF_CLASS = 3_000
"""Maximum number of rows of a class with out-of-bag votes: enough to estimate a rate to one percentage point."""


@dataclass(frozen=True)
class BagSpec:
    """Specification of bags of one kind.

    AdaCC2 and logistic regression give all classes the same total weight, AdaCC2 before the first round; gradient
    boosting begins with their weights in the bag.

    Attributes
    ----------
    n_bags : int
        Number of bags.
    ratio : float
        Maximum size of a class relative to the rarest class.
    n_rounds : int
        Boosting rounds per bag.
    growth : Growth
        Limits of the trees.
    depth_by_rows : bool
        Whether the maximum depth follows from the number of rows in the bag instead. In gradient boosting it always
        does, within `growth`.
    replacement : bool
        Whether rows are drawn with replacement. Otherwise, each bag leaves out one fold of the rows, in turn, and is
        drawn from the others without replacement.
    booster : {"adacc2", "gradient", "linear"}
        AdaCC2, or for two classes: symmetric trees boosted by the gradient of the log loss, or logistic regression as
        trees, which has neither `n_rounds` nor `growth`.
    max_rows_of_class : int
        Maximum number of rows of a class.
    """

    n_bags: int
    ratio: float
    n_rounds: int
    growth: Growth
    depth_by_rows: bool = False
    replacement: bool = True
    booster: Literal["adacc2", "gradient", "linear"] = "adacc2"
    max_rows_of_class: int = MAX_ROWS_OF_CLASS

    def growth_for(self, n_rows: int) -> Growth:
        """Limits of the trees on a bag of this many rows."""
        if not self.depth_by_rows:
            return self.growth
        return replace(self.growth, max_depth=full_tree_depth(n_rows, ROWS_PER_LEAF, DEPTH_RANGE))


@dataclass(frozen=True)
class Bags:
    """Specification of all bags of a forest.

    Attributes
    ----------
    specs : tuple of BagSpec
        The specification of each kind of bag.
    criterion : str
        Split criterion.
    seed : int
        Random seed.
    monotonic_cst : tuple of int or None
        Monotonic constraint of each feature; None: none.
    """

    specs: tuple[BagSpec, ...]
    criterion: str
    seed: int
    monotonic_cst: MonotonicCst | None = None


class Forest(NamedTuple):
    """The trees of all bags as one ensemble, and the out-of-bag votes.

    Attributes
    ----------
    ensemble : Ensemble
        The votes of all bags of a kind sum to 1, and every bag of a kind has the same share.
    kind_of_tree : ndarray of shape (n_trees,)
        Index of the kind of bag of each tree.
    oob_rows : ndarray of int
        Rows, in the order of the binned data set, that are out of at least one bag of every kind.
    oob_shares : ndarray of shape (n_kinds, n_oob_rows, n_classes)
        Share of the votes for each class among the bags of a kind that do not contain the row.
    """

    ensemble: Ensemble
    kind_of_tree: NDArray[np.intp]
    oob_rows: NDArray[np.intp]
    oob_shares: Array


def grow_forest(
    binned: BinnedDataset, plan: Plan, bags: Bags, threads: Threads, groups: NDArray[np.intp] | None = None
) -> Forest:
    """Train a booster on every bag, one per thread; the forest does not depend on the number of threads.

    `groups` are the group indices of the rows, in the order of the binned data set. A bag is drawn from the rows of
    some groups; only rows of the other groups are out of it.
    """
    rows, bins = binned.rows, binned.matrix
    units = np.arange(len(rows.order)) if groups is None else groups
    group_draw = GroupDraw(units, rows.true.astype(np.intp), rows.n_classes)
    candidates = _draw_oob_candidates(rows, bags.seed)
    candidate_bins = bins.take(candidates, axis=1)

    kind_of_bag = np.repeat(np.arange(len(bags.specs)), [spec.n_bags for spec in bags.specs])

    def draw_eligible(number: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
        spec = bags.specs[kind_of_bag[number]]
        if spec.replacement:
            return None if groups is None else group_draw.draw(BOOTSTRAP_SHARE, rng)
        n_folds = min(spec.n_bags, MAX_FOLDS)
        repeat, fold = divmod(number - int(np.argmax(kind_of_bag == kind_of_bag[number])), n_folds)
        return group_draw.leave_out(fold, n_folds, np.random.default_rng([bags.seed, repeat, 1]))

    def boost(number: int) -> tuple[Ensemble, NDArray[np.intp], Array]:
        spec = bags.specs[kind_of_bag[number]]
        rng = np.random.default_rng([bags.seed, number])
        eligible = draw_eligible(number, rng)
        bag, members = draw_bag(rows, spec.ratio, rng, eligible, spec.replacement, spec.max_rows_of_class)
        coarse = CoarseBins(binned.bin_mapper, rng)
        bag_bins, seed = coarse.apply(bins, members), bags.seed + number
        if spec.booster == "gradient":
            ensemble = boost_gradients(bag_bins, bag, coarse.bin_mapper, spec.growth, spec.n_rounds, seed)
        elif spec.booster == "linear":
            ensemble = fit_logistic_regression(bag_bins, bag, coarse.bin_mapper)
        else:
            learner = TreeLearner(
                bag_bins, bag, coarse.bin_mapper, bags.criterion, plan.negative_class, spec.growth_for(len(members)),
                seed, bags.monotonic_cst,
            )  # fmt: skip
            boosting = Boosting(LocalBackend(plan, learner, initial=1.0 / bag.class_weight))
            boosting.run(spec.n_rounds)
            ensemble = boosting.ensemble()
        trees = _trees_of(ensemble)
        coarse.restore(trees.nodes)
        ensemble = replace(ensemble, models=Trees(trees.nodes, trees.starts, binned.bin_mapper))
        in_bag = np.zeros(len(rows.order), dtype=bool)
        in_bag[members if groups is None else eligible] = True
        oob = np.flatnonzero(~in_bag[candidates])
        scorer = replace(_trees_of(ensemble).compile(ensemble.contributions), has_tables=False)  # faster for few rows
        scores = scorer.scores_of_bins(candidate_bins.take(oob, axis=1))
        return ensemble, oob, scores / _total_vote(ensemble)

    n_kinds, n_outputs = len(bags.specs), 1 if rows.n_classes == 2 else rows.n_classes
    n_votes, scores = np.zeros((n_kinds, len(candidates))), np.zeros((n_kinds, len(candidates), n_outputs))
    ensembles = []
    # The last bags may take longest; they start first, so that all threads finish at about the same time.
    grown = threads.each(boost, range(len(kind_of_bag))[::-1])[::-1]
    for kind, (ensemble, oob, oob_scores) in zip(kind_of_bag, grown, strict=True):
        ensembles.append(ensemble)
        n_votes[kind, oob] += 1.0
        scores[kind, oob] += oob_scores
    has_votes = np.flatnonzero(n_votes.all(axis=0))
    mean = scores[:, has_votes] / n_votes[:, has_votes, None]
    shares = np.concatenate([1.0 - mean, 1.0 + mean], axis=2) / 2.0 if n_outputs == 1 else mean
    sizes = [len(ensemble) for ensemble in ensembles]
    weights = 1.0 / np.bincount(kind_of_bag)[kind_of_bag]
    return Forest(_join(ensembles, weights), np.repeat(kind_of_bag, sizes), candidates[has_votes], shares)


def _draw_oob_candidates(rows: Rows, seed: int) -> NDArray[np.intp]:
    """Up to `MAX_OOB_ROWS_OF_CLASS` random rows of every class."""
    rng = np.random.default_rng([seed, rows.n_classes])
    kept = []
    for begin, end in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        n_rows = end - begin
        drawn = np.arange(n_rows)
        if n_rows > MAX_OOB_ROWS_OF_CLASS:
            drawn = rng.choice(n_rows, MAX_OOB_ROWS_OF_CLASS, replace=False)
        kept.append(begin + np.sort(drawn))
    return np.concatenate(kept)


def draw_bag(
    rows: Rows,
    ratio: float,
    rng: np.random.Generator,
    eligible: NDArray[np.bool_] | None = None,
    replacement: bool = True,
    max_rows_of_class: int = MAX_ROWS_OF_CLASS,
) -> tuple[Rows, NDArray[np.intp]]:
    """Draw rows of each class, with probabilities proportional to their weights.

    As many rows of a class are drawn with replacement as it has, but at most `ratio` times the number of rows of the
    smallest class, and at most `max_rows_of_class`. A row that is drawn twice has weight 2. Whatever the weights are,
    at least about a third of the rows of a class are out of the bag. Without replacement, the number is smaller by the
    share of the eligible rows, and rows are drawn more than once only if their weight is above the mean. `eligible`
    marks the rows that may be drawn, at least one of every class; None: all rows.
    """
    sizes = np.diff(rows.starts)
    limits = np.minimum(sizes, ratio * sizes.min())
    members, counts = [], []
    for k, (begin, end) in enumerate(zip(rows.starts[:-1], rows.starts[1:], strict=True)):
        of_class = np.arange(begin, end) if eligible is None else begin + np.flatnonzero(eligible[begin:end])
        weight = rows.weight[of_class]
        share = 1.0 if replacement else weight.sum() / rows.class_weight[k]
        n_drawn = int(np.clip(np.round(share * limits[k]), 1, max_rows_of_class))
        draw = _draw_with_replacement if replacement else _draw_systematically
        count = np.bincount(draw(weight, n_drawn, rng), minlength=len(of_class))
        distinct = np.flatnonzero(count)
        members.append(of_class[distinct])
        counts.append(count[distinct].astype(np.float64))
    drawn_rows = np.concatenate(members)
    starts = np.cumsum([0, *map(len, members)])
    class_weight, weight = np.array([count.sum() for count in counts]), np.concatenate(counts)
    return Rows(rows.order[drawn_rows].astype(dtypes.ROW), starts, weight, class_weight, weight), drawn_rows


def _draw_with_replacement(weight: Array, n_drawn: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices of rows, drawn independently with probabilities proportional to their weights."""
    if (weight == weight[0]).all():
        return rng.integers(len(weight), size=n_drawn)
    cumulative = np.cumsum(weight)
    return np.minimum(np.searchsorted(cumulative, rng.random(n_drawn) * cumulative[-1]), len(weight) - 1)


def _draw_systematically(weight: Array, n_drawn: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices of rows, by systematic sampling in random order: each as often as expected, rounded up or down."""
    order = rng.permutation(len(weight))
    cumulative = np.cumsum(weight[order])
    positions = (rng.random() + np.arange(n_drawn)) * (cumulative[-1] / n_drawn)
    return order[np.minimum(np.searchsorted(cumulative, positions, side="right"), len(weight) - 1)]


def _trees_of(ensemble: Ensemble) -> Trees:
    assert isinstance(ensemble.models, Trees)
    return ensemble.models


def _total_vote(ensemble: Ensemble) -> float:
    """Sum of the votes of all rounds."""
    return float(ensemble.votes.max(axis=1).sum()) or 1.0


def _join(ensembles: list[Ensemble], weights: Array) -> Ensemble:
    """Concatenate the ensembles, with the votes of each scaled to sum to its weight."""
    first, *later = ensembles
    return Ensemble(
        models=first.models.followed_by(*(each.models for each in later)),
        votes=np.concatenate(
            [each.votes * (weight / _total_vote(each)) for each, weight in zip(ensembles, weights, strict=True)]
        ),
        decision=first.decision,
        negative_class=first.negative_class,
        factors=np.concatenate([each.factors for each in ensembles]),
        history={name: np.concatenate([each.history[name] for each in ensembles]) for name in first.history},
        finished=True,
    )

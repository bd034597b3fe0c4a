"""Votes of a forest on rows that its bags, or the forest, were not fitted on: what it is tuned with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.bagging import Bags, Forest
from adacc.data.columns import Table
from adacc.data.training_set import TrainingSet
from adacc.estimators.forest_tuning import TuningRows
from adacc.learners.tree import Trees
from adacc.model.ensemble import contributions


def untuned_weights(forest: Forest, bags: Bags) -> NDArray[np.bool_]:
    """The weight of each kind of bags, 0 or 1, if there are no rows to tune it on.

    Balanced and linear bags, which find the rarest class without a tuned threshold, come before all others. Kinds in
    which no tree splits vote for one class always.
    """
    trees = forest.ensemble.models
    assert isinstance(trees, Trees)
    splits = np.logical_or.reduceat(trees.nodes["feature"] >= 0, trees.starts[:-1])
    can_split = np.bincount(forest.kind_of_tree, splits) > 0.0
    finds_rarest = np.array([spec.ratio == 1.0 or spec.booster == "linear" for spec in bags.specs])
    return next(each for each in (can_split & finds_rarest, can_split, ~can_split) if each.any())


def out_of_bag_rows(forest: Forest, training_set: TrainingSet) -> TuningRows:
    """The out-of-bag rows, with the votes of the bags that do not contain them."""
    rows, oob = training_set.rows, forest.oob_rows
    numbers = rows.order[oob].astype(np.intp)
    return TuningRows(rows.true[oob].astype(np.intp), rows.weight[oob], forest.oob_shares, numbers)


def as_in_training(rows: TuningRows, class_weight: Array) -> Array:
    """Weights of the tuning rows that give each class its weight in the training set."""
    by_class = np.bincount(rows.true, rows.weight, len(class_weight))
    return rows.weight * (class_weight / np.where(by_class > 0.0, by_class, 1.0))[rows.true]


def vote_shares_of(forest: Forest, table: Table) -> Array:
    """Fraction of the votes for each class, by kind of bag, for rows that the forest was not fitted on."""
    by_kind = []
    for kind in np.unique(forest.kind_of_tree):
        votes = forest.ensemble.votes * (forest.kind_of_tree == kind)[:, None]
        scores = replace(forest.ensemble, votes=votes).scores(table)
        by_kind.append(np.column_stack([1.0 - scores, 1.0 + scores]) / 2.0 if scores.ndim == 1 else scores)
    return np.array(by_kind)


def scores_of(vote_shares: Array, decision: Array) -> Array:
    """Scores as `Ensemble` computes them, from the fraction of the votes for each class."""
    scores: Array = vote_shares @ contributions(np.ones(len(decision)), decision)
    return scores

"""A forest of AdaCC boosters on bags of rows, with a decision threshold tuned on out-of-bag rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, ndtr
from sklearn.utils import Tags

from adacc.algorithms.adacc import AdaCC2
from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.bagging import Bags, BagSpec, Forest, grow_forest
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.columns import Table
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.folds import tuning_folds
from adacc.estimators.input_validation import columns_of, columns_restored_on_failure, read_training
from adacc.estimators.settings import check_folds, one_of, read_growth, read_n_jobs, read_seed, whole
from adacc.learners.splits import CRITERIA
from adacc.metrics import f1_of_totals
from adacc.model.calibration import Calibrator
from adacc.model.decision import class_index, snap_ties
from adacc.model.ensemble import contributions
from adacc.model.fitted import FittedModel

F1_WEIGHT = 0.1  # weight of F1, added to balanced accuracy, in the objective of the decision threshold
MAX_RATIO = 10.0  # maximum number of rows of another class per row of the rarest class, in a ratio-10 bag

BALANCED_BAGS_PER_RATIO_BAG, RATIO_BAG_ROUNDS_FACTOR = 6, 8
"""Number of balanced bags per ratio-10 bag, and the factor on the number of rounds of a ratio-10 bag."""

MIXING_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Candidate weights of the ratio-10 bags in the mixture; the balanced bags get the rest."""

N_THRESHOLDS = 201
"""Number of candidate thresholds."""

MAX_SCORES = 4000
"""Maximum number of scores per class in the threshold search; more scores are replaced by this many quantiles."""


@dataclass(eq=False, repr=False, kw_only=True)
class AdaCCForestClassifier(BaseAdditiveClassifier):
    """A forest of AdaCC boosters on bags of rows, which needs no parameter tuning.

    Rows are drawn with replacement into bags in which all classes have the same total weight, and AdaCC2 boosts trees
    on each bag. Balanced bags have the same number of rows of every class and few rounds, which makes them robust to
    noise. For every six balanced bags there is one ratio-10 bag, with up to ten rows of each other class per row of the
    rarest class and eight times as many rounds, which can fit complex class boundaries. The weights of the two kinds
    of bags and, for two classes, the decision threshold maximize balanced accuracy plus 0.1 times F1 on out-of-bag
    rows; no cost matrix and no cross-validation are needed. The scores are scaled on the same rows to half the log-odds
    of balanced classes, like those of AdaBoost.

    Parameters
    ----------
    n_estimators : int, default=40
        Number of balanced bags, with one booster each.
    n_rounds : int, default=5
        Maximum number of boosting rounds on a balanced bag.
    criterion : {"gini", "entropy", "error"}, default="gini"
        Impurity measure that a split minimizes.
    max_depth : int or None, default=8
        Maximum depth of a tree; None for no limit.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree, grown best-first by gain; None for no limit.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf. A leaf for missing values may have fewer.
    max_features : int, float, "sqrt", "2sqrt", "log2" or None, default="2sqrt"
        Number of features drawn at random as split candidates at each node: an int is the number, a float is a fraction
        of all features, "sqrt", "2sqrt" and "log2" are functions of their number, and None means all features.
    max_bins : int or None, default=255
        Maximum number of bins of a numeric feature; see `AdaCC1Classifier`.
    calibration : {None, "sigmoid", "isotonic"}, default=None
        Calibrate probabilities on the out-of-bag rows by Platt scaling or isotonic regression. Predictions do not
        change.
    tuning_cv : int, splitter or None, default=None
        Rows on which the decision threshold, the weights of the bags and the calibration are tuned: out-of-bag rows
        (None), or rows held out by cross-validation, scored by a forest fitted on the other rows. An int makes
        stratified folds that do not split the `groups` of `fit`; `TimeSplit` holds out rows later than the training
        rows.
    pos_label : label, default=None
        Positive class of a binary problem; None for the rarer class.
    n_jobs : int, default=None
        Number of threads, which fit different bags; -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        Print a summary of the fit to standard error if not 0.
    random_state : int, RandomState instance or None, default=None
        Seed for the bags, feature draws and folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_iter_ : int
        Number of trees.
    estimators_ : list of Tree
        The trees, bag by bag.
    estimator_weights_ : ndarray of shape (n_iter_,)
        Vote of each tree in its booster. In the forest, all boosters on bags of the same kind have the same weight.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature: its normalized share of the votes.
    oob_balanced_accuracy_ : float
        Balanced accuracy on the rows out of the bags, or held out by `tuning_cv`; NaN if a class has no such row. It is
        slightly optimistic, as the threshold and the weights of the bags were tuned on the same rows.
    history_ : dict of ndarray
        The `history_` of `AdaCC2Classifier`, concatenated over the bags.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from adacc import AdaCCForestClassifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, digit == 8, stratify=digit == 8, random_state=0)
    >>> model = AdaCCForestClassifier(random_state=0).fit(X, y)
    >>> round(float(balanced_accuracy_score(y_test, model.predict(X_test))), 2)
    0.97
    """

    n_estimators: int = 40
    n_rounds: int = 5
    criterion: str = "gini"
    max_depth: int | None = 8
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: Any = "2sqrt"
    max_bins: int | None = 255
    calibration: str | None = None
    tuning_cv: Any = None
    pos_label: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None) -> Any:
        """Grow the forest on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            NaN gets its own branch; boolean, string and category columns of a frame are used as categories.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 is drawn as often as two rows; a row of weight 0 is never drawn.
        groups : array of shape (n_samples,), default=None
            Group of each row, such as a patient. A bag contains all rows of a group or none, so that the out-of-bag
            rows used for tuning come from groups that the bag does not contain. With `tuning_cv`, the folds keep groups
            together instead.

        Returns
        -------
        self
        """
        with columns_restored_on_failure(self):
            bags, n_threads = self._bags(), read_n_jobs(self.n_jobs)
            training_set = read_training(self, X, y, sample_weight, groups)
            forest = self._grow(training_set, bags, n_threads)
            tuning_rows = self._tuning_rows(forest, training_set, bags, n_threads)
            self.fitted_model_ = self._tune(forest, training_set, tuning_rows)
            if self.verbose:
                sys.stderr.write(
                    f"{type(self).__name__}: {len(forest.ensemble)} trees, out-of-bag balanced "
                    f"accuracy {self.fitted_model_.oob_balanced_accuracy:.3f}\n"
                )
        return self

    def _bags(self) -> Bags:
        if not isinstance(self.verbose, bool):
            whole("verbose", self.verbose, least=0)
        if self.max_bins is not None:
            whole("max_bins", self.max_bins, least=2)
        if self.calibration is not None:
            one_of("calibration", self.calibration, ("sigmoid", "isotonic"))
        check_folds("tuning_cv", self.tuning_cv)
        return Bags(self._bag_specs(), one_of("criterion", self.criterion, CRITERIA), read_seed(self.random_state))

    def _bag_specs(self) -> tuple[BagSpec, BagSpec]:
        """Specifications of the balanced bags and the ratio-10 bags."""
        growth = read_growth(self.get_params(deep=False))
        n_bags = whole("n_estimators", self.n_estimators, least=1)
        n_rounds = whole("n_rounds", self.n_rounds, least=1)
        n_ratio_bags = max(n_bags // BALANCED_BAGS_PER_RATIO_BAG, 1)
        return (
            BagSpec(n_bags, 1.0, n_rounds, growth),
            BagSpec(n_ratio_bags, MAX_RATIO, RATIO_BAG_ROUNDS_FACTOR * n_rounds, growth),
        )

    def _grow(self, training_set: TrainingSet, bags: Bags, n_threads: int) -> Forest:
        with Threads(n_threads) as threads:
            columns = partial(Binning(training_set.rows.weight, self.max_bins).columns, training_set.table)
            binned = BinnedDataset(columns, training_set.table.n_columns, training_set.rows, threads)
            ones = np.ones(len(training_set.classes))
            plan = Plan(AdaCC2(), ones, ones, 1.0, training_set.negative_class)
            # Bags keep groups together only if the forest is tuned on out-of-bag rows.
            groups = training_set.groups if self.tuning_cv is None else None
            ordered = None if groups is None else groups[training_set.rows.order]
            return grow_forest(binned, plan, bags, threads, ordered)

    def _tuning_rows(self, forest: Forest, training_set: TrainingSet, bags: Bags, n_threads: int) -> TuningRows:
        """The rows on which the forest is tuned: out-of-bag rows, or rows held out by `tuning_cv`."""
        if self.tuning_cv is None:
            true, weight = training_set.rows.true, training_set.rows.weight
            return TuningRows(true[forest.oob_rows].astype(np.intp), weight[forest.oob_rows], forest.oob_shares)
        folds = tuning_folds(
            self.tuning_cv, training_set.y, training_set.classes, training_set.groups, bags.seed, "tuning_cv"
        )
        vote_shares = [
            _vote_shares(self._grow(training_set.subset(training), bags, n_threads), training_set.table.take(held_out))
            for training, held_out in folds
        ]
        rows = np.concatenate([held_out for _, held_out in folds])
        return TuningRows(training_set.y[rows], training_set.weight[rows], np.concatenate(vote_shares, axis=1))

    def _tune(self, forest: Forest, training_set: TrainingSet, tuning_rows: TuningRows) -> FittedModel:
        """Tune the weights of the bags, the decision threshold and the scale of the scores on the tuning rows."""
        rows = training_set.rows
        true, weight, vote_shares = tuning_rows
        by_class: Array = np.bincount(true, weight, rows.n_classes)  # type: ignore[assignment]
        ensemble, accuracy, calibrator = forest.ensemble, np.nan, None
        if len(true) and by_class.all():
            balanced = weight / by_class[true]
            weights = [np.array([1.0 - ratio_weight, ratio_weight]) for ratio_weight in MIXING_WEIGHTS]
            mixtures = [np.tensordot(pair, vote_shares, axes=1) for pair in weights]
            decisions = [
                _best_decision(mixture, true, balanced, rows.class_weight, ensemble.negative_class)
                for mixture in mixtures
            ]
            best = int(np.argmax([objective for objective, _ in decisions]))
            _, decision = decisions[best]
            scores = _scores(mixtures[best], decision)
            scale = _scale(scores, true, balanced)
            votes = ensemble.votes * weights[best][forest.kind_of_tree, None] * scale
            ensemble = replace(ensemble, votes=votes, decision=decision)
            correct = class_index(snap_ties(scores * scale), ensemble.negative_class) == true
            accuracy = float((balanced * correct).sum() / rows.n_classes)
            if self.calibration is not None:
                # Reweight the tuning rows so that each class has its weight in the training set.
                row_weight = weight * (rows.class_weight / by_class)[true]
                scaled = snap_ties(scores * scale)
                calibrator = Calibrator.fit(self.calibration, scaled, true, rows.n_classes, row_weight, rising=True)
        elif self.calibration is not None:
            raise ValueError(
                "calibration needs out-of-bag rows of every class, but a class has none: "
                "use more rows, or more bags (n_estimators)"
            )
        _, names = columns_of(self)
        return FittedModel(
            ensemble,
            training_set.classes,
            training_set.table.n_columns,
            names,
            calibrator,
            oob_balanced_accuracy=accuracy,
        )

    @property
    def oob_balanced_accuracy_(self) -> float | None:
        """Balanced accuracy on the tuning rows."""
        return self._model.oob_balanced_accuracy

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags


def n_bags(forest: AdaCCForestClassifier) -> int:
    """Number of bags, and so of boosters, of a forest with these parameters."""
    return sum(spec.n_bags for spec in forest._bag_specs())


class TuningRows(NamedTuple):
    """Rows on which a forest is tuned."""

    true: NDArray[np.intp]  # (n_rows,): class of each row, by number
    weight: Array  # (n_rows,): weight of each row
    vote_shares: Array  # (n_kinds, n_rows, n_classes): fraction of the votes for each class, by kind of bag


def _vote_shares(forest: Forest, table: Table) -> Array:
    """Fraction of the votes for each class, by kind of bag, for rows that the forest was not fitted on."""
    by_kind = []
    for kind in np.unique(forest.kind_of_tree):
        votes = forest.ensemble.votes * (forest.kind_of_tree == kind)[:, None]
        scores = replace(forest.ensemble, votes=votes).scores(table)
        by_kind.append(np.column_stack([1.0 - scores, 1.0 + scores]) / 2.0 if scores.ndim == 1 else scores)
    return np.array(by_kind)


def _scores(vote_shares: Array, decision: Array) -> Array:
    """Scores as `Ensemble` computes them, from the fraction of the votes for each class."""
    scores: Array = vote_shares @ contributions(np.ones(len(decision)), decision)
    return scores


def _best_decision(
    vote_shares: Array, true: NDArray[np.intp], balanced: Array, by_class: Array, negative_class: int
) -> tuple[float, Array]:
    """Value of the objective, and the factors on the votes for each class that maximize it.

    For two classes the objective is balanced accuracy plus `F1_WEIGHT` times F1. For more classes the factors are 1,
    and the objective is proportional to balanced accuracy. The true and false positive rates are smoothed by a Gaussian
    kernel with the bandwidth of Silverman's rule, because the best raw threshold has a high variance for few rows.
    """
    if len(by_class) > 2:
        return float((balanced * (class_index(vote_shares, negative_class) == true)).sum()), np.ones(len(by_class))
    positive = 1 - negative_class
    scores = vote_shares[:, positive]
    thresholds = np.linspace(scores.min(), scores.max(), N_THRESHOLDS)
    true_positive_rate = _fraction_above(scores[true == positive], balanced[true == positive], thresholds)
    false_positive_rate = _fraction_above(scores[true != positive], balanced[true != positive], thresholds)
    n_positive, n_negative = by_class[positive], by_class[negative_class]
    n_true_positive, n_false_positive = true_positive_rate * n_positive, false_positive_rate * n_negative
    f1 = f1_of_totals(n_true_positive, n_true_positive + n_false_positive + n_positive)
    objective = (true_positive_rate + 1.0 - false_positive_rate) / 2.0 + F1_WEIGHT * f1
    best = int(np.argmax(objective))
    decision = np.empty(2)
    decision[positive], decision[negative_class] = 2.0 - 2.0 * thresholds[best], 2.0 * thresholds[best]
    return float(objective[best]), decision


def _fraction_above(scores: Array, weight: Array, thresholds: Array) -> Array:
    """Smoothed fraction of the scores above each threshold."""
    order = np.argsort(scores)
    scores, cumulative = scores[order], np.cumsum(weight[order])
    bandwidth = 1.06 * scores.std() * len(scores) ** -0.2 + 1e-3
    if len(scores) > MAX_SCORES:
        scores = np.interp((np.arange(MAX_SCORES) + 0.5) / MAX_SCORES * cumulative[-1], cumulative, scores)
        weight = np.ones(MAX_SCORES)
    else:
        weight = weight[order]
    return ndtr((scores - thresholds[:, None]) / bandwidth) @ weight / weight.sum()


def _scale(scores: Array, true: NDArray[np.intp], balanced: Array) -> float:
    """Factor that makes twice the scores log-odds of balanced classes, by maximum likelihood.

    Smoothed targets [Platt 1999] keep the factor finite.
    """
    n_classes = int(true.max()) + 1
    outputs = np.column_stack([-scores[:, 0], scores[:, 0]]) if n_classes == 2 else 2.0 * scores
    smoothed = 1.0 / (len(true) / n_classes + 2.0)

    def loss(log_scale: float) -> float:
        logs = log_softmax(np.exp(log_scale) * outputs, axis=1)
        of_true_class = logs[np.arange(len(true)), true]
        return -float((balanced * ((1.0 - smoothed) * of_true_class + smoothed * logs.mean(axis=1))).sum())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 6.0), method="bounded").x))

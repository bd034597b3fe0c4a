"""A forest of AdaCC boosters on balanced bags, which tunes itself on the rows out of the bags."""

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
from adacc.estimators.reading import columns_of, columns_restored_on_failure, read_training
from adacc.estimators.settings import check_folds, one_of, read_growth, read_n_jobs, read_seed, whole
from adacc.learners.splits import CRITERIA
from adacc.model.calibration import Calibrator
from adacc.model.ensemble import class_index, contributions, snap_ties
from adacc.model.fitted import FittedModel

SHARE_OF_F1 = 0.1
"""What F1 counts beside balanced accuracy where the threshold is chosen."""

MAX_RATIO = 10.0
"""Most rows of another class for each of the rarest, in a wide bag."""

BALANCED_BAGS_PER_RATIO_BAG, RATIO_BAG_ROUNDS_FACTOR = 6, 8
"""How many narrow bags there are for a wide one, and how many times as many rounds it has."""

MIXING_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the wide bags: what is tried."""

GRID = 201
"""Thresholds that are looked at."""

MOST = 4000
"""Quantiles that stand for the scores of a class, where it has more."""


@dataclass(eq=False, repr=False, kw_only=True)
class AdaCCForestClassifier(BaseAdditiveClassifier):
    """A forest of AdaCC boosters: trees that see interactions, and no parameter that needs setting.

    Rows are drawn with replacement into bags in which all classes weigh the same, and trees are boosted on each by
    AdaCC2. Most bags are narrow, with as many rows of every class, and have a few rounds: noise does them little harm.
    One for every six of these is wide, with up to ten rows of other classes for each of the rarest, and has eight times
    as many rounds: they learn what is intricate. Rows out of the bags decide which of the two have how much say, and,
    of two classes, where the votes divide, by balanced accuracy (and a little F1): it takes no cost matrix and no
    folds. The same rows scale the scores to half the log-odds of balanced classes, as those of AdaBoost are.

    Parameters
    ----------
    n_estimators : int, default=40
        Narrow bags, a booster each.
    n_rounds : int, default=5
        Most rounds of their boosters.
    criterion : {"gini", "entropy", "error"}, default="gini"
        What a split minimises.
    max_depth : int or None, default=8
        Splits from the root of a tree to a leaf; None for no limit.
    max_leaf_nodes : int or None, default=None
        Most leaves of a tree; the splits of the largest gain come first.
    min_samples_leaf : int, default=1
        Rows that a leaf must have; a leaf of missing values may have fewer.
    max_features : int, float, "sqrt", "2sqrt", "log2" or None, default="2sqrt"
        Features that each node of a tree looks at, drawn anew: so many, such a share of all, the square root of their
        number or twice that, or all.
    max_bins : int or None, default=255
        Most bins of a numeric feature; see `AdaCC1Classifier`.
    calibration : {None, "sigmoid", "isotonic"}, default=None
        Turn scores into probabilities that are frequencies, on the rows out of the bags; decisions stay as they are.
    tuning_cv : int, splitter or None, default=None
        The rows that the decision, the mixture of bags and the calibration are tuned on: those out of the bags (None),
        or those that folds hold out, each scored by a forest of the other rows. An int makes stratified folds, which
        keep the `groups` of `fit` whole; `TimeSplit` holds out rows later than those trained on.
    pos_label : label, default=None
        The positive of two classes: None for the rarer one.
    n_jobs : int, default=None
        Bags at a time, in threads. The result does not depend on it.
    verbose : int, default=0
        Say on standard error what was grown, if not 0.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_iter_ : int
        Trees.
    estimators_ : list of Tree
        The trees, bag by bag.
    estimator_weights_ : ndarray of shape (n_iter_,)
        Vote of each tree in its booster; in the forest all boosters of a kind of bag count the same.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the votes.
    oob_balanced_accuracy_ : float
        Of rows out of the bags, or held out by `tuning_cv`; NaN where a class has none. The decision and the mixture of
        bags were tuned on them.
    history_ : dict of ndarray
        As of `AdaCC2Classifier`, one bag after the other.

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
            NaN is a branch of its own; boolean, string and category columns of a frame are used as categories.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 is drawn as often as two rows, one of weight 0 never.
        groups : array of shape (n_samples,), default=None
            The group of each row, such as a patient: a group is in or out of a bag as a whole, so that the rows out of
            the bags, which the forest is tuned on, are of groups that a bag has not seen. The folds of `tuning_cv` keep
            groups whole instead.

        Returns
        -------
        self
        """
        with columns_restored_on_failure(self):
            bags, n_threads = self._bags(), read_n_jobs(self.n_jobs)
            problem = read_training(self, X, y, sample_weight, groups)
            forest = self._grown(problem, bags, n_threads)
            evidence = self._evidence(forest, problem, bags, n_threads)
            self.fitted_model_ = self._tuned(forest, problem, evidence)
            if self.verbose:
                sys.stderr.write(
                    f"{type(self).__name__}: {len(forest.ensemble)} trees, balanced accuracy out "
                    f"of the bags {self.fitted_model_.oob_balanced_accuracy:.3f}\n"
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
        return Bags(self._kinds(), one_of("criterion", self.criterion, CRITERIA), read_seed(self.random_state))

    def _kinds(self) -> tuple[BagSpec, BagSpec]:
        """The narrow bags and the wide ones."""
        growth = read_growth(self.get_params(deep=False))
        n_bags = whole("n_estimators", self.n_estimators, least=1)
        n_rounds = whole("n_rounds", self.n_rounds, least=1)
        narrow = BagSpec(n_bags, 1.0, n_rounds, growth)
        return narrow, BagSpec(
            max(n_bags // BALANCED_BAGS_PER_RATIO_BAG, 1), MAX_RATIO, RATIO_BAG_ROUNDS_FACTOR * n_rounds, growth
        )

    def _grown(self, problem: TrainingSet, bags: Bags, n_threads: int) -> Forest:
        with Threads(n_threads) as threads:
            columns = partial(Binning(problem.rows.weight, self.max_bins).columns, problem.table)
            binned = BinnedDataset(columns, problem.table.n_columns, problem.rows, threads)
            even = np.ones(len(problem.classes))
            plan = Plan(AdaCC2(), even, even, 1.0, problem.negative_class)
            groups = problem.groups if self.tuning_cv is None else None  # only rows out of the bags need whole groups
            ordered = None if groups is None else groups[problem.rows.order]
            return grow_forest(binned, plan, bags, threads, ordered)

    def _evidence(self, forest: Forest, problem: TrainingSet, bags: Bags, n_threads: int) -> Evidence:
        """The rows that the forest is tuned on: those out of its bags, or those that `tuning_cv` holds out."""
        if self.tuning_cv is None:
            rows = problem.rows
            return Evidence(rows.true[forest.oob_rows].astype(np.intp), rows.weight[forest.oob_rows], forest.oob_shares)
        folds = tuning_folds(self.tuning_cv, problem.y, problem.classes, problem.groups, bags.seed, "tuning_cv")
        shares = [
            _shares_of(self._grown(problem.subset(training), bags, n_threads), problem.table.take(held_out))
            for training, held_out in folds
        ]
        judged = np.concatenate([held_out for _, held_out in folds])
        return Evidence(problem.y[judged], problem.weight[judged], np.concatenate(shares, axis=1))

    def _tuned(self, forest: Forest, problem: TrainingSet, evidence: Evidence) -> FittedModel:
        """The forest with the decision and the scale that are best on the tuning rows."""
        rows = problem.rows
        true, weight, shares = evidence
        by_class: Array = np.bincount(true, weight, rows.n_classes)  # type: ignore[assignment]
        ensemble, accuracy, calibrator = forest.ensemble, np.nan, None
        if len(true) and by_class.all():
            balanced = weight / by_class[true]
            says = [np.array([1.0 - say, say]) for say in MIXING_WEIGHTS]
            tries = [np.tensordot(say, shares, axes=1) for say in says]
            found = [_best_decision(each, true, balanced, rows.class_weight, ensemble.negative_class) for each in tries]
            best = int(np.argmax([worth for worth, _ in found]))
            _, decision = found[best]
            scores = _scores(tries[best], decision)
            scale = _scale(scores, true, balanced)
            votes = ensemble.votes * says[best][forest.kind_of_tree, None] * scale
            ensemble = replace(ensemble, votes=votes, decision=decision)
            right = class_index(snap_ties(scores * scale), ensemble.negative_class) == true
            accuracy = float((balanced * right).sum() / rows.n_classes)
            if self.calibration is not None:
                # Rows that were watched stand for all of their class.
                whole_weight = weight * (rows.class_weight / by_class)[true]
                known = snap_ties(scores * scale)
                calibrator = Calibrator.fit(self.calibration, known, true, rows.n_classes, whole_weight, rising=True)
        elif self.calibration is not None:
            raise ValueError(
                "calibration takes rows of every class that are out of some bag: give more rows, or more bags "
                "(`n_estimators`)"
            )
        _, names = columns_of(self)
        return FittedModel(
            ensemble, problem.classes, problem.table.n_columns, names, calibrator, oob_balanced_accuracy=accuracy
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
    """Number of bags that a forest of these parameters draws, a booster each."""
    return sum(spec.n_bags for spec in forest._kinds())


class Evidence(NamedTuple):
    """Rows that a forest is tuned on: class, weight, and the share of the votes of each class by kind of bag."""

    true: NDArray[np.intp]
    weight: Array
    shares: Array


def _shares_of(forest: Forest, table: Table) -> Array:
    """The share of the votes that each class has among the bags of each kind, for rows that are in none of them."""
    found = []
    for kind in np.unique(forest.kind_of_tree):
        votes = forest.ensemble.votes * (forest.kind_of_tree == kind)[:, None]
        scores = replace(forest.ensemble, votes=votes).scores(table)
        found.append(np.column_stack([1.0 - scores, 1.0 + scores]) / 2.0 if scores.ndim == 1 else scores)
    return np.array(found)


def _scores(shares: Array, decision: Array) -> Array:
    """As an ensemble has them, from the share of the votes that each class has."""
    by_class: Array = shares @ contributions(np.ones(len(decision)), decision)
    return by_class


def _best_decision(
    shares: Array, true: NDArray[np.intp], balanced: Array, by_class: Array, negative_class: int
) -> tuple[float, Array]:
    """How good the votes are, and what those of each class are multiplied by: for two, so that balanced accuracy is
    best, and a little F1; more are decided by most votes.

    The rates are smoothed, each score being spread by a Gaussian [Silverman's rule]: of few rows the best threshold
    would be luck.
    """
    if len(by_class) > 2:
        return float((balanced * (class_index(shares, negative_class) == true)).sum()), np.ones(len(by_class))
    positive = 1 - negative_class
    share = shares[:, positive]
    thresholds = np.linspace(share.min(), share.max(), GRID)
    caught = _share_above(share[true == positive], balanced[true == positive], thresholds)
    alarms = _share_above(share[true != positive], balanced[true != positive], thresholds)
    n_positive, n_others = by_class[positive], by_class[negative_class]
    f1 = 2.0 * caught * n_positive / (caught * n_positive + alarms * n_others + n_positive)
    worth = (caught + 1.0 - alarms) / 2.0 + SHARE_OF_F1 * f1
    best = int(np.argmax(worth))
    decision = np.empty(2)
    decision[positive], decision[negative_class] = 2.0 - 2.0 * thresholds[best], 2.0 * thresholds[best]
    return float(worth[best]), decision


def _share_above(scores: Array, weight: Array, thresholds: Array) -> Array:
    """Smoothed share of the scores that lie above each threshold."""
    order = np.argsort(scores)
    scores, heights = scores[order], np.cumsum(weight[order])
    spread = 1.06 * scores.std() * len(scores) ** -0.2 + 1e-3
    if len(scores) > MOST:
        scores = np.interp((np.arange(MOST) + 0.5) / MOST * heights[-1], heights, scores)
        weight = np.ones(MOST)
    else:
        weight = weight[order]
    return ndtr((scores - thresholds[:, None]) / spread) @ weight / weight.sum()


def _scale(scores: Array, true: NDArray[np.intp], balanced: Array) -> float:
    """What makes twice the scores log-odds where all classes weigh the same: most likely, and kept from infinity."""
    n_classes = int(true.max()) + 1
    both = np.column_stack([-scores[:, 0], scores[:, 0]]) if n_classes == 2 else 2.0 * scores
    smoothed = 1.0 / (len(true) / n_classes + 2.0)  # Platt's targets [1999]

    def loss(log_scale: float) -> float:
        logs = log_softmax(np.exp(log_scale) * both, axis=1)
        right = logs[np.arange(len(true)), true]
        return -float((balanced * ((1.0 - smoothed) * right + smoothed * logs.mean(axis=1))).sum())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 6.0), method="bounded").x))

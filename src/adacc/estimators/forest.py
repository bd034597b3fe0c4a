"""A forest of AdaCC boosters on bags of rows, with a decision threshold tuned on out-of-bag rows."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from adacc.algorithms.adacc import AdaCC2
from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.bagging import MAX_FOLDS, Bags, BagSpec, Forest, grow_forest
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.decisions import columns_in, decide, thinned
from adacc.estimators.duplicates import keep_copies_together
from adacc.estimators.folds import (
    dependent_groups,
    held_out_weight,
    is_number_of_folds,
    members_by_class,
    repeated_rows,
    tuning_folds,
)
from adacc.estimators.forest_tuning import OBJECTIVES, TuningRows, on_final_scale, tune_forest
from adacc.estimators.forest_votes import as_in_training, out_of_bag_rows, scores_of, untuned_weights, vote_shares_of
from adacc.estimators.input_validation import columns_of, columns_restored_on_failure, read_training
from adacc.estimators.monotonic import read_monotonic_cst
from adacc.estimators.settings import (
    EXPECTED_COST,
    check_folds,
    check_growth,
    one_of,
    read_growth,
    read_n_jobs,
    read_seed,
    whole,
)
from adacc.learners.splits import CRITERIA
from adacc.model.calibration import Calibrator
from adacc.model.decision import class_index, snap_ties
from adacc.model.decision_spec import read_decision
from adacc.model.fitted import FittedModel, TuningScores

RATIO = 10.0
"""Maximum number of rows of another class per row of the rarest class, in a ratio-10 bag."""

BALANCED_BAGS_PER_RATIO_BAG, BALANCED_BAGS_PER_FULL_BAG = 6, 10
"""Number of balanced bags per bag of the other kinds."""

LONG_ROUNDS_FACTOR, GRADIENT_ROUNDS_FACTOR = 8, 16
"""Factors on the number of rounds of ratio-10 and full bags, and of gradient bags."""

MIN_BAGS = 3
"""Minimum number of ratio-10 and of full bags: a row is tuned on only if it is out of at least one of each kind."""

FEW_ROWS = 1_500
"""Maximum number of rows of a training set with few rows.

It has more balanced bags, as its votes have a higher variance, and no ratio-10 bags if there are gradient bags.
"""

BAGS_FOR_FEW_ROWS, BAGS_FOR_MANY_ROWS, BAGS_BESIDE_GRADIENT_BAGS = 100, 50, 30
"""Number of balanced bags by default: for few rows, and for more rows without and with gradient bags."""

GRADIENT_BAGS = MAX_FOLDS
"""Number of gradient bags, and of linear bags; each leaves out one fold."""

LINEAR_BAG_ROWS_OF_CLASS = 2_500
"""Maximum number of rows of a class in a linear bag: with more rows, its few coefficients hardly change."""

FULL_BAG_LEAVES = 32
"""Maximum number of leaves of a tree on a full bag: grown best-first, it can be deep where classes are complex."""

FEW_ROWS_OF_CLASS = 100
"""With fewer rows (or groups) of a class, ratio-10 and full bags are drawn with replacement, too.

A row then has more out-of-bag votes.
"""


CALIBRATIONS = ("auto", "sigmoid", "isotonic")
"""How probabilities can be calibrated."""


@dataclass(eq=False, repr=False, kw_only=True)
class AdaCCForestClassifier(BaseAdditiveClassifier):
    """A forest of AdaCC boosters on bags of rows, which needs no parameter tuning.

    Trees are boosted on bags of rows, of which there are five kinds. On the first three, AdaCC2 begins with the same
    total weight of all classes. Balanced bags have the same number of rows of every class and few rounds, which makes
    them robust to noise. Ratio-10 bags have up to ten rows of each other class per row of the rarest class, full bags
    have the class ratio of the training set; with eight times as many rounds they can fit complex class boundaries. On
    gradient bags, for two classes and with the class ratio of the training set, symmetric trees are boosted by the
    gradient of the log loss; the cumulative costs of AdaCC are its class weights. Linear bags, also for two classes,
    have a logistic regression, as trees of one feature each, on at most 2,500 rows of each class. Balanced bags are
    drawn with replacement, ratio-10 and full bags too if a class has fewer than 100 rows (or groups), gradient and
    linear bags if one has fewer than five. Each of the others leaves out one fold of the rows; there are as many folds
    as bags of the kind, but at most five. Logistic regression on the out-of-bag votes gives each kind its weight and
    scales the scores to half the log-odds of balanced classes, like those of AdaBoost; for two classes its intercept is
    the decision threshold. No cost matrix and no cross-validation are needed.

    Parameters
    ----------
    n_estimators : int or "auto", default="auto"
        Number of balanced bags, with one booster each; "auto" is 100 for up to 1,500 rows and 30 for more. There are
        also 16 ratio-10 bags and 10 full bags for every 100 balanced bags, at least three of each kind. For two classes
        without `monotonic_cst` there are also five gradient and five linear bags, but no ratio-10 bags for up to 1,500
        rows; otherwise "auto" is 50 instead of 30.
    n_rounds : int, default=5
        Maximum number of boosting rounds on a balanced bag; eight times as many on ratio-10 and full bags, and sixteen
        times as many on gradient bags.
    criterion : {"gini", "entropy", "error"}, default="gini"
        Impurity measure that a split minimizes, except on gradient and linear bags.
    max_depth : int, "auto" or None, default="auto"
        Maximum depth of a tree; None for no limit. "auto" is the depth of a full tree with 16 rows of the bag per leaf,
        from 4 to 10; on full bags it is no limit, with at most 32 leaves unless `max_leaf_nodes` is given. Trees on
        gradient bags have a depth from 4 to 6, with 64 rows per leaf, but at most `max_depth`. It does not limit trees
        on linear bags, which split on one feature each.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree, grown best-first by gain; None for no limit (32 on full bags if `max_depth`
        is "auto"). On gradient bags it limits the depth to that of a full tree; trees on linear bags ignore it.
    min_samples_leaf : int, default=3
        Minimum number of rows in a leaf. A leaf for missing values may have fewer. Leaves on gradient bags have an L2
        penalty instead. Trees on linear bags have a leaf for every bin that rows have.
    max_features : int, float, "sqrt", "2sqrt", "log2", "auto" or None, default="auto"
        Number of features drawn at random as split candidates at each node, or at each level of a tree on a gradient
        bag: an int is the number, a float is a fraction of all features, "sqrt", "2sqrt" and "log2" are functions of
        their number, and None means all features. "auto" is "2sqrt", but at least 12. Linear bags use any feature.
    max_bins : int or None, default=255
        Maximum number of bins of a numeric feature; see `AdaCC1Classifier`.
    monotonic_cst : array of -1, 0 or 1 per feature, dict or None, default=None
        Monotonic constraint of each feature: with 1 the score of ``classes_[1]`` never falls as the feature rises and
        all others stay the same, with -1 it never rises, with 0 it is free. See `AdaCC1Classifier`.
    objective : {"balanced_accuracy", "f1"}, default="balanced_accuracy"
        How the decision threshold for two classes is tuned on the out-of-bag rows: it is the intercept of a logistic
        regression with balanced classes, or the threshold of the largest smoothed F1.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How `predict_proba` is fitted to the out-of-bag rows, so that it estimates the class frequencies of the training
        rows: by Platt scaling ("sigmoid") or by isotonic regression. "auto" is "sigmoid", or None, with a warning, if a
        class has no out-of-bag row. None: the probabilities of balanced classes, those by which `predict` decides. The
        calibration does not change predictions: a rare class is predicted at probabilities far below ½, about from its
        frequency on (see docs/probabilities.md).
    tuning_cv : int, splitter or None, default=None
        Rows on which the decision threshold, the weights of the bags and the calibration are tuned: out-of-bag rows
        (None), or rows held out by cross-validation, scored by a forest fitted on the other rows. An int makes
        stratified folds that do not split the `groups` of `fit`; `TimeSplit` holds out rows later than the training
        rows.
    decision : str, dict, array or None, default=None
        Rule by which `predict` decides, such as "recall>=0.9", tuned on the out-of-bag rows or those held out by
        `tuning_cv`; a dict or an array is a cost matrix. See `set_decision` and docs/decisions.md. None: by the votes.
    duplicates : {"auto", "together", "apart"}, default="auto"
        Whether bags and the folds of an int `tuning_cv` keep equal rows together, so that no out-of-bag row has a copy
        in the bag: "auto" if there is evidence that they are copies, with a warning; always ("together") or never
        ("apart"). Given `groups` and splitters decide alone. See docs/duplicates.md.
    pos_label : label, default=None
        Positive class of a binary problem; None for the rarer class (by summed weight; by rows if weights balance the
        classes). A score of 0 and a leaf with equal class weights predict the other one, the negative class.
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
        Share of each feature in the votes of the trees, by the gains of the splits. Like the impurity-based importance
        of scikit-learn it is too large for features with many values, also for noise; ``explain(X).importance()`` on
        new rows is not affected as much.
    oob_balanced_accuracy_ : float
        Balanced accuracy on the rows out of the bags, or held out by `tuning_cv`; NaN if a class has no such row. It is
        slightly optimistic, as the threshold and the weights of the bags were tuned on the same rows.
    history_ : dict of ndarray
        The `history_` of `AdaCC2Classifier`, concatenated over the bags. A gradient or linear bag has the vote of each
        tree as its alpha, and costs, normaliser and bound of 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from adacc import AdaCCForestClassifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, digit == 8, stratify=digit == 8, random_state=0)
    >>> model = AdaCCForestClassifier(random_state=0).fit(X, y)
    >>> bool(balanced_accuracy_score(y_test, model.predict(X_test)) > 0.95)
    True
    """

    n_estimators: int | str = "auto"
    n_rounds: int = 5
    criterion: str = "gini"
    max_depth: int | str | None = "auto"
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 3
    max_features: Any = "auto"
    max_bins: int | None = 255
    monotonic_cst: Any = None
    objective: str = "balanced_accuracy"
    calibration: str | None = "auto"
    tuning_cv: Any = None
    decision: Any = None
    duplicates: str = "auto"
    pos_label: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_cost: None = None,
    ) -> Any:
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
            Group of each row, such as a patient. Each bag is drawn from the rows of some groups, so that the out-of-bag
            rows used for tuning come from groups that the bag does not contain. With `tuning_cv`, the folds keep groups
            together instead.
        sample_cost : None
            Not supported; an error explains how to decide by the cost of each row (docs/row-costs.md).

        Returns
        -------
        self
        """
        with columns_restored_on_failure(self):
            self._check_parameters()
            if sample_cost is not None:
                raise ValueError(
                    f"sample_cost must be None for the AdaCC forest, which takes no costs. {EXPECTED_COST}"
                )
            spec = None if self.decision is None else read_decision(self.decision)
            n_threads, seed = read_n_jobs(self.n_jobs), read_seed(self.random_state)
            training_set = read_training(self, X, y, sample_weight, groups)
            growth = read_growth(self.get_params(deep=False) | {"max_depth": None})
            check_growth(growth, len(training_set.y), training_set.table.n_columns)
            training_set = keep_copies_together(training_set, self.duplicates, is_number_of_folds(self.tuning_cv))
            monotonic_cst = read_monotonic_cst(self, training_set.table.categorical, len(training_set.classes))
            of_classes = members_by_class(training_set.y, len(training_set.classes), self._groups_in_bags(training_set))
            has_gradient_bags = len(training_set.classes) == 2 and monotonic_cst is None
            specs = self._bag_specs(len(training_set.y), int(of_classes.min()), has_gradient_bags)
            bags = Bags(specs, self.criterion, seed, monotonic_cst)
            forest = self._grow(training_set, bags, n_threads)
            tuning_rows = self._tuning_rows(forest, training_set, bags, n_threads)
            model, tuning = self._tune(forest, training_set, tuning_rows, bags)
            if spec is not None:
                if spec.needs_tuning and tuning is None and len(training_set.classes) == 2:
                    raise ValueError(
                        f"decision={str(spec)!r} is tuned on out-of-bag rows, but a class has none: use more rows, or "
                        "fit without it and call set_decision with other rows"
                    )
                of_rows = training_set.numbers[tuning_rows.numbers]
                columns = {name: values[of_rows] for name, values in columns_in(X, spec).items()}
                model = replace(model, decision=decide(model, spec, tuning, columns))
            self.fitted_model_ = model
            if self.verbose:
                sys.stderr.write(
                    f"{type(self).__name__}: {len(model.ensemble)} trees, out-of-bag balanced "
                    f"accuracy {model.oob_balanced_accuracy:.3f}\n"
                )
        return self

    def _check_parameters(self) -> None:
        self._bag_specs(0, 0, True)
        one_of("criterion", self.criterion, CRITERIA)
        if not isinstance(self.verbose, bool):
            whole("verbose", self.verbose, least=0)
        if self.max_bins is not None:
            whole("max_bins", self.max_bins, least=2, or_else="None")
        if self.calibration is not None:
            one_of("calibration", self.calibration, CALIBRATIONS)
        one_of("objective", self.objective, OBJECTIVES)
        check_folds("tuning_cv", self.tuning_cv)

    def _bag_specs(self, n_rows: int, n_rarest: int, has_gradient_bags: bool) -> tuple[BagSpec, ...]:
        """Each kind of bags; `n_rarest` is the number of rows, or of groups, of the class with the fewest."""
        depth_by_rows = isinstance(self.max_depth, str) and self.max_depth == "auto"
        if self.max_depth is not None and not depth_by_rows:
            whole("max_depth", self.max_depth, least=1, or_else="'auto' or None")
        growth = read_growth(self.get_params(deep=False) | ({"max_depth": None} if depth_by_rows else {}))
        n_bags = BAGS_FOR_FEW_ROWS
        if n_rows > FEW_ROWS:
            n_bags = BAGS_BESIDE_GRADIENT_BAGS if has_gradient_bags else BAGS_FOR_MANY_ROWS
        if not isinstance(self.n_estimators, str) or self.n_estimators != "auto":
            n_bags = whole("n_estimators", self.n_estimators, least=1, or_else="'auto'")
        n_rounds = whole("n_rounds", self.n_rounds, least=1)
        n_ratio_bags = max(n_bags // BALANCED_BAGS_PER_RATIO_BAG, MIN_BAGS)
        n_full_bags = max(n_bags // BALANCED_BAGS_PER_FULL_BAG, MIN_BAGS)
        n_long_rounds, replacement = LONG_ROUNDS_FACTOR * n_rounds, n_rarest < FEW_ROWS_OF_CLASS
        best_first = depth_by_rows and self.max_leaf_nodes is None
        full_growth = replace(growth, max_leaf_nodes=FULL_BAG_LEAVES) if best_first else growth
        balanced = BagSpec(n_bags, 1.0, n_rounds, growth, depth_by_rows)
        ratio = BagSpec(n_ratio_bags, RATIO, n_long_rounds, growth, depth_by_rows, replacement)
        full = BagSpec(n_full_bags, np.inf, n_long_rounds, full_growth, depth_by_rows and not best_first, replacement)
        if not has_gradient_bags:
            return balanced, ratio, full
        gradient = BagSpec(
            GRADIENT_BAGS, np.inf, GRADIENT_ROUNDS_FACTOR * n_rounds, growth, replacement=n_rarest < GRADIENT_BAGS,
            booster="gradient",
        )  # fmt: skip
        linear = replace(gradient, booster="linear", max_rows_of_class=LINEAR_BAG_ROWS_OF_CLASS)
        return balanced, *([ratio] if n_rows > FEW_ROWS else []), full, gradient, linear

    def _grow(self, training_set: TrainingSet, bags: Bags, n_threads: int) -> Forest:
        with Threads(n_threads) as threads:
            columns = partial(Binning(training_set.rows.weight, self.max_bins).columns, training_set.table)
            binned = BinnedDataset.read(columns, training_set.table.n_columns, training_set.rows, threads)
            ones = np.ones(len(training_set.classes))
            plan = Plan(AdaCC2(), ones, ones, 1.0, training_set.negative_class)
            groups = self._groups_in_bags(training_set)
            ordered = None if groups is None else groups[training_set.rows.order]
            return grow_forest(binned, plan, bags, threads, ordered)

    def _groups_in_bags(self, training_set: TrainingSet) -> NDArray[np.intp] | None:
        """The groups that bags keep together: none if the forest is not tuned on out-of-bag rows."""
        return training_set.groups if self.tuning_cv is None else None

    def _tuning_rows(self, forest: Forest, training_set: TrainingSet, bags: Bags, n_threads: int) -> TuningRows:
        """The rows on which the forest is tuned: out-of-bag rows, or rows held out by `tuning_cv`."""
        if self.tuning_cv is None:
            return out_of_bag_rows(forest, training_set)
        folds = tuning_folds(
            self.tuning_cv, training_set.y, training_set.classes, training_set.groups, bags.seed, "tuning_cv"
        )
        vote_shares = [
            vote_shares_of(
                self._grow(training_set.subset(training), bags, n_threads), training_set.table.take(held_out)
            )
            for training, held_out in folds
        ]
        rows = np.concatenate([held_out for _, held_out in folds])
        number = np.repeat(np.arange(len(folds)), [len(held_out) for _, held_out in folds])
        weight, shares = held_out_weight(rows, training_set.weight), np.concatenate(vote_shares, axis=1)
        return TuningRows(training_set.y[rows], weight, shares, rows, number)

    def _tune(
        self, forest: Forest, training_set: TrainingSet, tuning_rows: TuningRows, bags: Bags
    ) -> tuple[FittedModel, TuningScores | None]:
        """Tune the weights of the bags, the decision threshold and the scale of the scores on the tuning rows.

        Also returns the scores of the tuning rows, if there are two classes.
        """
        rows = training_set.rows
        true, weight, vote_shares, numbers, _ = tuning_rows
        by_class: Array = np.bincount(true, weight, rows.n_classes)  # type: ignore[assignment]
        ensemble, accuracy, calibrator, tuning = forest.ensemble, np.nan, None, None
        if not by_class.all():
            if self.calibration not in (None, "auto"):
                raise ValueError(
                    f"calibration={self.calibration!r} needs out-of-bag rows of every class, but a class has none: use "
                    "more rows of it, or calibration=None"
                )
            lacking = ", ".join(repr(label) for label in training_set.classes[by_class == 0.0].tolist())
            warnings.warn(
                f"no rows of {lacking} are out of bag or held out, so that the forest cannot be tuned for them and its "
                "probabilities are those of balanced classes; use at least a few rows (or groups) of every class",
                UserWarning,
                stacklevel=3,
            )
        if np.count_nonzero(by_class) > 1:
            weights, decision = tune_forest(tuning_rows, rows.class_weight, 1 - ensemble.negative_class, self.objective)
            votes = ensemble.votes * weights[forest.kind_of_tree, None]
            ensemble = replace(ensemble, votes=votes, decision=decision)
            scores = snap_ties(scores_of(np.tensordot(weights, vote_shares, axes=1), decision))
            correct = class_index(scores, ensemble.negative_class) == true
            # The recalls of classes without errors are exactly 1, as numerator and denominator are the same sum.
            with np.errstate(invalid="ignore"):
                accuracy = float((np.bincount(true, weight * correct, rows.n_classes) / by_class).mean())
            row_weight = as_in_training(tuning_rows, rows.class_weight)
            if rows.n_classes == 2:
                oob_rows = out_of_bag_rows(forest, training_set)
                oob_scores = snap_ties(scores_of(np.tensordot(weights, oob_rows.vote_shares, axes=1), decision))
                oob_weight = as_in_training(oob_rows, rows.class_weight)
                scores = on_final_scale(scores, tuning_rows, oob_rows, oob_scores, oob_weight)
                groups = dependent_groups(self.tuning_cv, training_set.groups)
                groups = None if groups is None else groups[numbers]
                source = "out-of-bag" if self.tuning_cv is None else "held-out"
                tuning = TuningScores(
                    source, scores, true != ensemble.negative_class, row_weight, groups, numbers=repeated_rows(numbers)
                )
        else:
            votes = ensemble.votes * untuned_weights(forest, bags)[forest.kind_of_tree, None]
            ensemble = replace(ensemble, votes=votes)
        if by_class.all() and self.calibration is not None:
            kind = "sigmoid" if self.calibration == "auto" else self.calibration
            calibrator = Calibrator.fit(kind, scores, true, rows.n_classes, row_weight, True, numbers)
        _, names = columns_of(self)
        model = FittedModel(
            ensemble,
            training_set.classes,
            training_set.table.n_columns,
            names,
            calibrator,
            training={"n_bags": sum(spec.n_bags for spec in bags.specs)},
            oob_balanced_accuracy=accuracy,
            tuning_scores=None if tuning is None else thinned(tuning, 0),
        )
        return model, tuning

    @property
    def oob_balanced_accuracy_(self) -> float | None:
        """Balanced accuracy on the tuning rows."""
        return self._model.oob_balanced_accuracy

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags


def n_bags(model: BaseAdditiveClassifier) -> int | None:
    """Number of bags, and so of boosters, of a fitted forest; None for other models."""
    if not isinstance(model, AdaCCForestClassifier):
        return None
    training = model.fitted_model_.training
    recorded = training.get("n_bags") if isinstance(training, dict) else None
    if isinstance(recorded, int):
        return recorded
    if not isinstance(model.n_estimators, int):
        return None
    # The first forests did not record it: they had six balanced bags per ratio-10 bag.
    return model.n_estimators + max(model.n_estimators // BALANCED_BAGS_PER_RATIO_BAG, 1)

"""Meta-classifiers that decide by a rule, from the scores of any classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from adacc.algorithms.base import Array
from adacc.costs import class_costs
from adacc.data.columns import is_frame
from adacc.docstrings import described
from adacc.estimators.base import COLUMNS, ROWS, log_of
from adacc.estimators.decision_tuning import tune_rule
from adacc.estimators.decisions import check_calibrated, model_inside, rounded, row_costs, split_columns
from adacc.estimators.duplicates import copies_ignored, groups_of_copies
from adacc.estimators.folds import (
    check_groups,
    dependent_groups,
    group_values,
    held_out_weight,
    inner_folds,
    is_number_of_folds,
    on_training_rows,
    repeated_rows,
)
from adacc.estimators.input_validation import (
    check_labels,
    check_weight,
    columns_of,
    find_negative_class,
    set_columns,
)
from adacc.estimators.labelled_rows import LabelledRows
from adacc.estimators.score_matching import match_location_and_scale
from adacc.estimators.settings import read_n_jobs
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.model.cost_matrix import PROBABILITY_DECIMALS
from adacc.model.decision import Decision, untuned
from adacc.model.decision_spec import DecisionSpec, read_decision
from adacc.model.fitted import DECIMALS


class HeldOutFold(NamedTuple):
    """Rows that a fold holds out, with their probabilities or scores by class."""

    rows: NDArray[np.intp]
    responses: Array
    matched: Array  # the responses of two classes on the scale of the estimator that is fitted on all rows


class HeldOutRows(NamedTuple):
    """A fitted estimator, and rows with their responses by estimators fitted without them, fold by fold."""

    estimator: Any
    classes: NDArray[Any]
    class_weight: Array
    divisors: Array | None
    folds: list[HeldOutFold]
    true: NDArray[np.intp]
    weight: Array
    groups: NDArray[Any] | None  # of all rows: those of the user, or of copies

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the rows of all folds."""
        return np.concatenate([fold.rows for fold in self.folds])

    @property
    def responses(self) -> Array:
        """Probabilities or scores by class of all folds."""
        return np.concatenate([fold.responses for fold in self.folds])

    @property
    def matched(self) -> Array:
        """Probabilities or scores by class of all folds, on the scale of the fitted estimator."""
        return np.concatenate([fold.matched for fold in self.folds])

    @property
    def row_weight(self) -> Array:
        """Weights of the rows of all folds."""
        return held_out_weight(self.rows, self.weight)


def _estimator_has(name: str) -> Callable[[Any], bool]:
    """Whether the estimator of a meta-classifier has a method."""
    return lambda decision: hasattr(getattr(decision, "estimator_", decision.estimator), name)


class BaseDecision(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of meta-classifiers that tune on folds, with the parameters that are annotated first."""

    estimator: Any
    cv: Any
    undo_class_weight: Any
    duplicates: str
    n_jobs: int | None
    classes_: NDArray[Any]
    decision_: Decision

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    @available_if(_estimator_has("predict_proba"))
    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``, corrected by `undo_class_weight`."""
        check_is_fitted(self)
        return _shifted(self.estimator_.predict_proba(X), self._class_divisors)

    @available_if(_estimator_has("predict_proba"))
    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, -inf for a probability of 0."""
        return log_of(self.predict_proba(X))

    @available_if(_estimator_has("decision_function"))
    @described(ROWS, returns="ndarray of shape (n_samples,) or (n_samples, n_classes)")
    def decision_function(self, X: Any) -> Array:
        """`decision_function` of the estimator; the rule does not change it."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @described(ROWS | COLUMNS, returns="ndarray of shape (n_samples,)")
    def predict(self, X: Any, columns: Any = None) -> NDArray[Any]:
        """Predict the class of each row by the decision rule."""
        check_is_fitted(self)
        X, found = split_columns(self.decision_.spec, X, columns, columns_of(self.estimator_))
        by_score = self.decision_.spec.kind == "score"
        responses = _comparable(_responses(self.estimator_, X, by_score), self._class_divisors)
        return self.classes_[
            self.decision_.class_index(responses[:, self.decision_.positive], lambda: responses, found)
        ]

    @described({}, returns="MetadataRouter")
    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata that `fit` uses, and that it passes on to the estimator."""
        fit_to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=fit_to_fit)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            of_estimator = get_tags(self.estimator)
            tags.input_tags = of_estimator.input_tags
            if of_estimator.classifier_tags is not None:
                tags.classifier_tags.multi_class = of_estimator.classifier_tags.multi_class
        if self._two_classes_only():
            tags.classifier_tags.multi_class = False
        return tags

    @abstractmethod
    def _two_classes_only(self) -> bool:
        """Whether the rule needs two classes."""

    def _check_n_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            got = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no rows"
            raise ValueError(f"y must have at least 2 classes, got {got}")

    def _check_estimator(self, needs_probabilities: bool) -> None:
        if isinstance(self.estimator, type) or not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise TypeError(f"estimator must be a classifier, got {self.estimator!r}")
        if hasattr(self.estimator, "predict_proba"):
            return
        if needs_probabilities or self.undo_class_weight is not None:
            fix = "wrap it in scikit-learn's CalibratedClassifierCV"
            raise TypeError(f"estimator must have predict_proba, got {self.estimator!r}; {fix}")
        if not hasattr(self.estimator, "decision_function"):
            raise TypeError(f"estimator must have predict_proba or decision_function, got {self.estimator!r}")

    def _fit_held_out(self, X: Any, y: Any, sample_weight: Any, groups: Any, by_score: bool = False) -> HeldOutRows:
        """Fit the estimator on all rows, and once for each fold.

        The responses of the folds are probabilities, or scores if `by_score` or if the estimator has no probabilities.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = check_labels(y, "y")
        check_consistent_length(X, labels)
        groups = group_values(groups, len(labels))
        weight = check_weight(sample_weight, len(labels), "sample_weight")
        self._check_n_classes(np.unique(labels[weight > 0.0]))
        fit_params = self._fit_params(sample_weight, groups, len(labels))
        if groups is None and is_number_of_folds(self.cv):
            groups = groups_of_copies(X, labels, self.duplicates)
        with nullcontext() if groups is None else copies_ignored():
            estimator = clone(self.estimator).fit(X, labels, **fit_params)
        classes = np.asarray(estimator.classes_)
        self._check_n_classes(classes)
        true = _class_numbers(labels, weight, classes)
        class_weight = np.array([weight[true == k].sum() for k in range(len(classes))])
        divisors = self._divisors(classes, class_weight)
        found = self._held_out(estimator, X, labels, weight, fit_params, groups, by_score)
        folds = [HeldOutFold(rows, *(_comparable(each, divisors) for each in both)) for rows, *both in found]
        return HeldOutRows(estimator, classes, class_weight, divisors, folds, true, weight, groups)

    def _set_fitted(self, held_out: HeldOutRows, decision: Decision) -> None:
        set_columns(self, *columns_of(held_out.estimator))
        self.estimator_, self.classes_, self._class_divisors = held_out.estimator, held_out.classes, held_out.divisors
        self.decision_ = decision

    def _fit_params(self, sample_weight: Any, groups: Any, n_rows: int) -> dict[str, NDArray[Any]]:
        """The weights and groups that are passed to the `fit` of the estimator."""
        fit_params: dict[str, NDArray[Any]] = {}
        if sample_weight is not None:
            fit_params["sample_weight"] = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n_rows)
        if groups is not None:
            fit_params["groups"] = np.asarray(groups)
        if fit_params and get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **fit_params).estimator.fit)
        if "sample_weight" in fit_params and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(
                f"sample_weight was given, but the fit of {self.estimator!r} does not take it; a pipeline passes it on "
                "if scikit-learn's metadata routing is enabled"
            )
        if not has_fit_parameter(self.estimator, "groups"):
            fit_params.pop("groups", None)
        return fit_params

    def _divisors(self, classes: NDArray[Any], class_weight: Array) -> Array | None:
        if self.undo_class_weight is None:
            return None
        try:
            divisors = class_costs(self.undo_class_weight, classes, class_weight)
        except (TypeError, ValueError) as error:
            raise type(error)(f"undo_class_weight, read as costs: {error}") from None
        if not divisors.all():
            raise ValueError(f"undo_class_weight must be positive for every class, got {self.undo_class_weight!r}")
        return divisors

    def _held_out(
        self,
        fitted: Any,
        X: Any,
        labels: NDArray[Any],
        weight: Array,
        fit_params: dict[str, NDArray[Any]],
        groups: Any,
        by_score: bool,
    ) -> list[HeldOutFold]:
        """The rows held out by each fold, with their responses by an estimator fitted without them."""
        used, of_final = weight > 0.0, _responses(fitted, X, by_score)
        if on_training_rows(self.cv):
            return [HeldOutFold(np.flatnonzero(used), of_final[used], of_final[used])]

        def held_out(training: NDArray[np.intp], rows: NDArray[np.intp]) -> HeldOutFold:
            # cross_val_predict encodes the labels as numbers, which costs given by label do not match.
            params = {name: values[training] for name, values in fit_params.items()}
            with copies_ignored():
                estimator = clone(self.estimator).fit(_take(X, training), labels[training], **params)
            with unseen_ignored():
                found = _responses(estimator, _take(X, rows), by_score)
            if len(fitted.classes_) == len(estimator.classes_) == 2:
                of_fold = _responses(estimator, _take(X, training), by_score)
                return HeldOutFold(rows, found, _matched(found, of_fold, of_final[training], weight[training]))
            responses = np.zeros((len(rows), len(fitted.classes_)))  # 0 for classes of zero weight only
            responses[:, np.searchsorted(fitted.classes_, estimator.classes_)] = found
            return HeldOutFold(rows, responses, responses)

        folds = inner_folds(self.cv, labels, groups, used)
        read_n_jobs(self.n_jobs)  # raises an error that names it
        return Parallel(n_jobs=self.n_jobs)(delayed(held_out)(*fold) for fold in folds)


@dataclass(eq=False, repr=False)
class DecisionRule(BaseDecision):
    """Meta-classifier that decides by a rule such as "recall>=0.9", from the scores of any classifier.

    The threshold of the rule is tuned on rows held out by cross-validation. Classifiers of adacc need no
    meta-classifier: they have the parameter `decision` and the method `set_decision`.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`, or with `decision_function` for rules that need only a ranking. To use a
        fitted classifier without refitting it, wrap it in scikit-learn's `FrozenEstimator`; the rows given to `fit`
        should then not be the rows it was fitted on.
    rule : str, dict or array, default="f1"
        The rule, see docs/decisions.md: "recall>=0.9", "precision>=0.5", "alerts<=20/1000", "top=50",
        "top=50 per day of COLUMN", "f1", "fbeta=2", "threshold=0.3", "score=0", "cost=[[0, 1], [20, 0]]" or
        "fn=COLUMN, fp=5"; the last two also with "tuned" before, without which they refuse classifiers of adacc whose
        probabilities are not calibrated. A dict or an array is a cost matrix as in `CostDecision`.
    cv : int, splitter, iterable or "training", default=5
        Cross-validation as in scikit-learn, whose held-out rows tune the rule. Folds whose training rows lack a class
        are skipped, and a row that several folds hold out counts once. "training": use the training rows, which is fast
        but optimistic.
    pos_label : label, default=None
        Positive class; None for the rarer class.
    undo_class_weight : "balanced", dict or sequence, default=None
        Class weights that the estimator is trained with, which are undone as in `CostDecision`.
    duplicates : {"auto", "together", "apart"}, default="auto"
        Whether the folds of an int `cv` keep equal rows together: "auto" if there is evidence that they are copies,
        with a warning; always ("together") or never ("apart"). Given `groups` and splitters decide alone. See
        docs/duplicates.md.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel, as in scikit-learn; -1 for all cores.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted on all rows.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    decision_ : Decision
        The ``rule``, its ``threshold``, and a ``report`` of what it achieves on held-out rows with 95 % intervals for
        new rows.
    n_features_in_ : int
        Number of columns of X, if the estimator has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the estimator has this attribute.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from adacc import DecisionRule
    >>> X, y = load_breast_cancer(return_X_y=True)  # class 0, the rarer one, is malignant
    >>> model = DecisionRule(make_pipeline(StandardScaler(), LogisticRegression()), "recall>=0.99").fit(X, y)
    >>> print(model.decision_)
    recall>=0.99 (score >= 0.07006)
    >>> [round(each, 2) for each in model.decision_.report.achieved["precision"]]  # and its interval on new rows
    [0.83, 0.77, 0.87]
    """

    estimator: Any
    rule: Any = "f1"
    _: KW_ONLY
    cv: Any = 5
    pos_label: Any = None
    undo_class_weight: Any = None
    duplicates: str = "auto"
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        columns: Any = None,
    ) -> DecisionRule:
        """Fit the estimator, and tune the rule on held-out rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, in the rule and for the estimator, whose `fit` must take it.
        groups : array of shape (n_samples,), default=None
            Group of each row. The folds of an int `cv` do not split groups; a splitter receives them, and so does the
            estimator if its `fit` takes groups. The intervals then hold for new groups.
        columns : dict, frame or array of shape (n_samples,), default=None
            Columns that the rule names, by name; the values alone if it names one. By default they are columns of the
            frame X, which are features of the estimator, too.

        Returns
        -------
        self
        """
        spec = read_decision(self.rule)
        by_score = spec.kind == "score"
        self._check_estimator(spec.by_probability)
        if by_score:
            self._check_scores(spec)
        found: dict[str, NDArray[Any]] = {}
        if columns is not None or spec.needs_tuning:
            _, found = split_columns(spec, X, columns)
        held_out = self._fit_held_out(X, y, sample_weight, groups, by_score)
        spec = rounded(spec.for_classes(held_out.classes))
        model = model_inside(held_out.estimator)
        if model is not None:
            check_calibrated(model, spec)
        if len(held_out.classes) > 2:
            if self.pos_label is not None:
                raise ValueError(f"pos_label must be None for more than two classes, got {self.pos_label!r}")
            self._set_fitted(held_out, untuned(spec, 0))
            return self
        rows_of_class = np.bincount(held_out.true[held_out.weight > 0.0], minlength=2)
        positive = 1 - find_negative_class(self.pos_label, held_out.classes, held_out.class_weight, rows_of_class)
        self._set_fitted(held_out, self._tuned(spec, positive, held_out, found))
        return self

    def _check_scores(self, spec: DecisionSpec) -> None:
        if not hasattr(self.estimator, "decision_function"):
            raise TypeError(
                f"estimator must have decision_function for the rule {str(spec)!r}, got {self.estimator!r}; "
                "'threshold=P' compares its probabilities"
            )
        if self.undo_class_weight is not None:
            raise ValueError(
                f"undo_class_weight must be None for the rule {str(spec)!r}, which compares scores, got "
                f"{self.undo_class_weight!r}"
            )

    def _tuned(
        self, spec: DecisionSpec, positive: int, held_out: HeldOutRows, columns: dict[str, NDArray[Any]]
    ) -> Decision:
        decision, rows, responses = untuned(spec, positive), held_out.rows, held_out.matched
        if any(name not in columns for name in spec.columns):
            return decision
        of_rows = {name: values[rows] for name, values in columns.items()}
        number = dependent_groups(self.cv, check_groups(held_out.groups, len(held_out.true)))
        fn, fp = row_costs(spec, of_rows)
        labelled = LabelledRows(
            responses[:, positive] if spec.is_ranked
            else decision.statistic(responses[:, positive], lambda: responses, of_rows),
            held_out.true[rows] == positive, held_out.row_weight, None if number is None else number[rows], fn, fp,
            numbers=repeated_rows(rows),
        )  # fmt: skip
        return tune_rule(spec, positive, labelled, "training" if on_training_rows(self.cv) else "held-out")

    def _two_classes_only(self) -> bool:
        spec = read_decision(self.rule)
        return spec.kind != "cost" or spec.tuned


def _responses(estimator: Any, X: Any, by_score: bool) -> Array:
    """Probabilities by class; the scores of two classes, which are each other's negatives, if `by_score` or without."""
    if hasattr(estimator, "predict_proba") and not by_score:
        return np.round(estimator.predict_proba(X), PROBABILITY_DECIMALS)
    scores = estimator.decision_function(X)
    if np.ndim(scores) != 1:
        raise TypeError(f"estimator must have predict_proba for more than two classes, got {estimator!r}")
    return np.round(np.column_stack([-scores, scores]), DECIMALS)


def _matched(responses: Array, of_fold: Array, of_final: Array, weight: Array) -> Array:
    """Responses of two classes by a fold's estimator, on the scale of the one that is fitted on all rows."""
    are_scores = bool((of_final[:, 0] == -of_final[:, 1]).all())
    second = match_location_and_scale(responses[:, 1], of_fold[:, 1], of_final[:, 1], weight, not are_scores)
    return np.column_stack([-second, second] if are_scores else [1.0 - second, second])


def _class_numbers(labels: NDArray[Any], weight: Array, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Class of each row, by number; arbitrary for rows of zero weight whose class the estimator does not know."""
    unknown = np.setdiff1d(labels[weight > 0.0], classes)
    if len(unknown):
        raise ValueError(f"y has the label {unknown.tolist()[0]!r}, which the fitted estimator does not know")
    return np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def _shifted(probabilities: Array, divisors: Array | None) -> Array:
    """Correct probabilities for class weights [Elkan 2001], or for under-sampling [Dal Pozzolo et al. 2015]."""
    if divisors is None:
        return probabilities
    shifted = probabilities / divisors
    return shifted / shifted.sum(axis=1, keepdims=True)


def _comparable(responses: Array, divisors: Array | None) -> Array:
    """Rounded responses, corrected for class weights and rounded again: what rules compare with thresholds."""
    return responses if divisors is None else np.round(_shifted(responses, divisors), PROBABILITY_DECIMALS)


def _take(X: Any, rows: NDArray[Any]) -> Any:
    """Select rows of a frame, sparse matrix or array."""
    if is_frame(X):
        return nw.from_native(X)[rows.tolist(), :].to_native()
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(X)[rows]

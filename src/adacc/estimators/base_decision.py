"""Base of the meta-classifiers that decide by a rule: responses of any classifier on held-out rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
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
from adacc.estimators.decisions import split_columns
from adacc.estimators.duplicates import copies_ignored, groups_of_copies
from adacc.estimators.folds import (
    group_values,
    held_out_weight,
    inner_folds,
    is_number_of_folds,
    on_training_rows,
)
from adacc.estimators.input_validation import (
    check_labels,
    check_weight,
    columns_of,
    set_columns,
)
from adacc.estimators.score_matching import match_location_and_scale
from adacc.estimators.settings import read_n_jobs
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.model.cost_matrix import PROBABILITY_DECIMALS
from adacc.model.decision import Decision
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

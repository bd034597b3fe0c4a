"""Decisions of minimum expected cost, from the probabilities of any classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from adacc.algorithms.base import Array
from adacc.costs import class_costs
from adacc.data.columns import is_frame
from adacc.estimators.cutoffs import CostCurve, brier, cheapest, expected_threshold, read_cost_matrix, reliability
from adacc.estimators.folds import make_splitter
from adacc.estimators.reading import check_labels, check_weight, columns_of, set_attributes, set_columns
from adacc.estimators.settings import one_of
from adacc.estimators.unseen import unseen_ignored


class CostDecision(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Any classifier, deciding for the class of minimum expected cost.

    Parameters
    ----------
    estimator : classifier
        One with `predict_proba`, of adacc or of scikit-learn. A fitted one is used as it is inside scikit-learn's
        `FrozenEstimator`; the rows given to `fit` should then be others than it was fitted on.
    cost_matrix : dict or array of shape (n_classes, n_classes), default=None
        What decisions cost: ``{label: cost of missing it}``, ``{(true, predicted): cost}`` with right answers free
        unless they are named, or an array whose rows are true classes and whose columns are predicted ones, in sorted
        order. Gains are negative. None: every error costs 1.
    threshold : {"expected", "tuned"}, default="expected"
        "expected": what is cheapest if the probabilities are frequencies. "tuned", for two classes: the cut-off of
        least cost among all that there are on the held-out rows, which needs a good ranking only.
    cv : int, splitter, iterable or None, default=5
        Folds that hold out rows to tune the threshold and to judge by, as scikit-learn takes them. None: the rows that
        the estimator is fitted on, quick and flattering.
    undo_class_weight : "balanced", dict or sequence, default=None
        The class weights that the estimator itself was told to train with, such as its `class_weight`, the `costs` of
        `CGAdaClassifier`, or for under-sampled classes the shares of rows that were kept. They shift its probabilities
        by a known factor, which is then taken back: each is divided by the weight of its class.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted to all rows.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Cost of predicting the class of the column where that of the row is true.
    expected_cost_ : float
        Mean cost of a held-out row. Where the threshold is tuned on the same rows it is a little too good.
    brier_ : float
        Mean squared error of the held-out probabilities; for more than two classes summed over the classes.
    reliability_ : dict of ndarray
        Up to ten groups of held-out rows of like probability: the mean ``predicted`` one, how often it was
        ``observed``, and ``rows``, their weight. Of two classes for the second; of more for all together.
    threshold_ : float
        Two classes only: the second of ``classes_`` is predicted where its probability is above.
    threshold_spread_ : ndarray of shape (n_splits,)
        Two classes only: the thresholds that each fold alone would have tuned.
    cost_curve_ : dict of ndarray
        Two classes only: every ``threshold`` that makes a difference on the held-out rows, and its mean ``cost``.
    n_features_in_ : int
        Columns of X, where the estimator counts them.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the estimator has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier, CostDecision
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = {0: 10, 1: 1}  # of missing a malignant tumour, and of alarming somebody healthy
    >>> model = CostDecision(AdaCC1Classifier(n_estimators=20), costs, threshold="tuned").fit(X, y)
    >>> round(model.threshold_, 2), round(model.expected_cost_, 2)
    (0.99, 0.14)
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        estimator: Any,
        cost_matrix: Any = None,
        *,
        threshold: str = "expected",
        cv: Any = 5,
        undo_class_weight: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.threshold = threshold
        self.cv = cv
        self.undo_class_weight = undo_class_weight

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> CostDecision:
        """Fit the estimator, and see on held-out rows what its decisions cost.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows: for the estimator, whose `fit` must take it, and in the costs.
        groups : array of shape (n_samples,), default=None
            The group of each row: an int `cv` never splits a group, a splitter is given them, and so is the estimator
            where its `fit` takes groups.

        Returns
        -------
        self
        """
        self._check()
        if y is None:
            raise ValueError("CostDecision requires y to be passed, but the target y is None")
        labels = check_labels(y, "y")
        check_consistent_length(X, labels, groups)
        weight = check_weight(sample_weight, len(labels), "sample_weight")
        self._check_number_of(np.unique(labels[weight > 0.0]))
        given = self._for_estimator(sample_weight, groups, len(labels))
        estimator = clone(self.estimator).fit(X, labels, **given)
        classes = np.asarray(estimator.classes_)
        self._check_number_of(classes)
        codes = _codes(labels, weight, classes)
        costs = read_cost_matrix(self.cost_matrix, classes)
        divisors = self._divisors(classes, np.array([weight[codes == k].sum() for k in range(len(classes))]))
        folds = self._held_out(estimator, X, labels, given, groups)
        folds = [(rows[used], proba[used]) for rows, proba in folds if (used := weight[rows] > 0.0).any()]
        if not folds:
            raise ValueError(f"cv holds out no row of positive weight, got {self.cv!r}; a generator can be used once")
        found = self._judge([(_shifted(proba, divisors), codes[rows], weight[rows]) for rows, proba in folds], costs)
        set_attributes(self, dict.fromkeys(("threshold_", "threshold_spread_", "cost_curve_")) | found)
        set_columns(self, *columns_of(estimator))
        self.estimator_, self.classes_, self.cost_matrix_, self._class_divisors = estimator, classes, costs, divisors
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of minimum expected cost of each row; of two, by the threshold.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[_class_index(probabilities, self.cost_matrix_, getattr(self, "threshold_", None))]

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``: the estimator's, its class weights undone.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return _shifted(self.estimator_.predict_proba(X), self._class_divisors)

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata that `fit` takes for itself and hands on.

        Returns
        -------
        MetadataRouter
        """
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
        if self.threshold == "tuned":
            tags.classifier_tags.multi_class = False
        return tags

    def _check(self) -> None:
        if isinstance(self.estimator, type) or not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise TypeError(f"estimator must be a classifier, got {self.estimator!r}")
        if not hasattr(self.estimator, "predict_proba"):
            way = "inside scikit-learn's CalibratedClassifierCV it has one"
            raise TypeError(f"estimator must have predict_proba, which {self.estimator!r} lacks; {way}")
        one_of("threshold", self.threshold, ("expected", "tuned"))

    def _check_number_of(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            few = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no rows"
            raise ValueError(f"y must have at least 2 classes, got {few}")
        if len(classes) > 2 and self.threshold == "tuned":
            raise ValueError(
                "Only binary classification is supported by threshold='tuned'. The type of the target is multiclass, "
                f"of {len(classes)} classes: use threshold='expected'"
            )

    def _for_estimator(self, sample_weight: Any, groups: Any, n_rows: int) -> dict[str, NDArray[Any]]:
        """What the estimator's `fit` is given of the weights and groups, as they are."""
        given: dict[str, NDArray[Any]] = {}
        if sample_weight is not None:
            given["sample_weight"] = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), n_rows)
        if groups is not None:
            given["groups"] = np.asarray(groups)
        if given and get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **given).estimator.fit)
        if "sample_weight" in given and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(
                f"sample_weight was given, but the fit of {self.estimator!r} does not take it; a pipeline hands it on "
                "where scikit-learn's metadata routing is enabled"
            )
        if not has_fit_parameter(self.estimator, "groups"):
            given.pop("groups", None)
        return given

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
        self, fitted: Any, X: Any, labels: NDArray[Any], given: dict[str, NDArray[Any]], groups: Any
    ) -> list[tuple[NDArray[np.intp], Array]]:
        """Numbers of the rows that each fold holds out, and their probabilities by an estimator fitted without them."""
        if self.cv is None:
            return [(np.arange(len(labels)), fitted.predict_proba(X))]
        found, everyone = [], np.arange(len(labels))
        for fold in make_splitter(self.cv, labels, groups).split(np.zeros(len(labels)), labels, groups):
            # Not scikit-learn's cross_val_predict: it numbers the labels, and costs given by label would mean nothing.
            training, rows = (everyone[part] for part in fold)  # which may be masks
            part = {name: values[training] for name, values in given.items()}
            estimator = clone(self.estimator).fit(_take(X, training), labels[training], **part)
            proba = np.zeros((len(rows), len(fitted.classes_)))  # none for a class that this part has not seen
            with unseen_ignored():
                known = estimator.predict_proba(_take(X, rows))
            proba[:, np.searchsorted(fitted.classes_, estimator.classes_)] = known
            found.append((rows, proba))
        return found

    def _judge(self, folds: list[tuple[Array, NDArray[np.intp], Array]], costs: Array) -> dict[str, Any]:
        """What is found on held-out rows: probabilities, classes and weights of each fold."""
        proba, y, weight = (np.concatenate(parts) for parts in zip(*folds, strict=True))
        found: dict[str, Any] = {"brier_": brier(proba, y, weight), "reliability_": reliability(proba, y, weight)}
        if len(costs) == 2:
            curve, *of_folds = (CostCurve.of(p[:, 1], k == 1, w, costs) for p, k, w in [(proba, y, weight), *folds])
            found["threshold_"] = curve.best if self.threshold == "tuned" else expected_threshold(costs)
            found["threshold_spread_"] = np.array([each.best for each in of_folds])
            found["cost_curve_"] = {"threshold": curve.threshold, "cost": curve.cost}
        decided = _class_index(proba, costs, found.get("threshold_"))
        found["expected_cost_"] = float((weight * costs[y, decided]).sum() / weight.sum())
        return found


def _class_index(probabilities: Array, costs: Array, threshold: float | None) -> NDArray[np.intp]:
    if threshold is None:
        return cheapest(probabilities, costs)
    return (probabilities[:, 1] > threshold).astype(np.intp)


def _codes(labels: NDArray[Any], weight: Array, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of each row's class; any for rows without weight, whose class an estimator need not know."""
    unknown = np.setdiff1d(labels[weight > 0.0], classes)
    if len(unknown):
        raise ValueError(f"y has the label {unknown.tolist()[0]!r}, which the fitted estimator does not know")
    return np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def _shifted(probabilities: Array, divisors: Array | None) -> Array:
    """Probabilities where each class weighs less by its divisor [Elkan 2001; Dal Pozzolo et al. 2015 of samples]."""
    if divisors is None:
        return probabilities
    shifted = probabilities / divisors
    return shifted / shifted.sum(axis=1, keepdims=True)


def _take(X: Any, rows: NDArray[Any]) -> Any:
    """Rows of whatever X is."""
    if is_frame(X):
        return nw.from_native(X)[rows.tolist(), :].to_native()
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(X)[rows]

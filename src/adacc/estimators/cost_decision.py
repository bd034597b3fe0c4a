"""Predictions of minimum expected cost, from the probabilities of any classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
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
from adacc.docstrings import described
from adacc.estimators.base import ROWS
from adacc.estimators.cutoffs import CostCurve, brier, reliability
from adacc.estimators.folds import make_splitter
from adacc.estimators.input_validation import check_labels, check_weight, columns_of, set_attributes, set_columns
from adacc.estimators.settings import one_of
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.model.cost_matrix import cheapest, expected_threshold, read_cost_matrix


@dataclass(eq=False, repr=False)
class CostDecision(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Meta-classifier that predicts the class of minimum expected cost, from the probabilities of any classifier.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`. To use a fitted classifier without refitting it, wrap it in scikit-learn's
        `FrozenEstimator`; the rows given to `fit` should then not be the rows it was fitted on.
    cost_matrix : dict or array of shape (n_classes, n_classes), default=None
        Cost of each decision: ``{label: cost of misclassifying a row of this class}``; ``{(true, predicted): cost}``,
        where correct predictions cost 0 unless given; or an array whose rows are true classes and whose columns are
        predicted classes, in the sorted order of the labels. Gains are negative costs. None: every error costs 1.
    threshold : {"expected", "tuned"}, default="expected"
        "expected": minimize the expected cost, assuming calibrated probabilities. "tuned", for two classes: the
        threshold of minimum cost on the held-out rows, which needs a good ranking but no calibration.
    cv : int, splitter, iterable or None, default=5
        Cross-validation as in scikit-learn; the held-out rows are used to tune the threshold and to evaluate. None: use
        the training rows, which is fast but optimistic.
    undo_class_weight : "balanced", dict or sequence, default=None
        Class weights that the estimator is trained with, such as its `class_weight`, the `costs` of `CGAdaClassifier`,
        or for under-sampled classes the fraction of rows that was kept. They shift the probabilities by a known factor,
        which is corrected: each probability is divided by the weight of its class.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted on all rows.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Cost of predicting the class of the column if the class of the row is true.
    expected_cost_ : float
        Mean cost of a held-out row. It is slightly optimistic if the threshold is tuned on the same rows.
    brier_ : float
        Brier score of the held-out probabilities; for more than two classes summed over the classes.
    reliability_ : dict of ndarray
        Reliability diagram of the held-out rows in up to ten groups of similar probability: the mean ``predicted``
        probability, the ``observed`` frequency, and the total weight of the ``rows``. For two classes it refers to the
        second class, for more to all classes pooled.
    threshold_ : float
        Two classes only: ``classes_[1]`` is predicted if its probability is above the threshold.
    threshold_spread_ : ndarray of shape (n_splits,)
        Two classes only: the best threshold of each fold alone.
    cost_curve_ : dict of ndarray
        Two classes only: the distinct values of ``threshold`` on the held-out rows, and the mean ``cost`` of each.
    n_features_in_ : int
        Number of columns of X, if the estimator has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the estimator has this attribute.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier, CostDecision
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = {0: 10, 1: 1}  # of missing a malignant tumour, and of a false alarm
    >>> model = CostDecision(AdaCC1Classifier(n_estimators=20), costs, threshold="tuned").fit(X, y)
    >>> round(model.threshold_, 2), round(model.expected_cost_, 2)
    (0.99, 0.14)
    """

    estimator: Any
    cost_matrix: Any = None
    _: KW_ONLY
    threshold: str = "expected"
    cv: Any = 5
    undo_class_weight: Any = None

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> CostDecision:
        """Fit the estimator, and evaluate the cost of its decisions on held-out rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, in the costs and for the estimator, whose `fit` must take it.
        groups : array of shape (n_samples,), default=None
            Group of each row. The folds of an int `cv` do not split groups; a splitter receives them, and so does the
            estimator if its `fit` takes groups.

        Returns
        -------
        self
        """
        self._check_parameters()
        if y is None:
            raise ValueError("CostDecision requires y to be passed, but the target y is None")
        labels = check_labels(y, "y")
        check_consistent_length(X, labels, groups)
        weight = check_weight(sample_weight, len(labels), "sample_weight")
        self._check_n_classes(np.unique(labels[weight > 0.0]))
        fit_params = self._fit_params(sample_weight, groups, len(labels))
        estimator = clone(self.estimator).fit(X, labels, **fit_params)
        classes = np.asarray(estimator.classes_)
        self._check_n_classes(classes)
        true = _class_numbers(labels, weight, classes)
        costs = read_cost_matrix(self.cost_matrix, classes)
        divisors = self._divisors(classes, np.array([weight[true == k].sum() for k in range(len(classes))]))
        folds = self._held_out(estimator, X, labels, fit_params, groups)
        folds = [(rows[used], proba[used]) for rows, proba in folds if (used := weight[rows] > 0.0).any()]
        if not folds:
            raise ValueError(
                f"cv must hold out rows of positive weight, got {self.cv!r}; a generator can be used only once"
            )
        folds_by_class = [(_shifted(proba, divisors), true[rows], weight[rows]) for rows, proba in folds]
        evaluated = self._evaluate(folds_by_class, costs)
        set_attributes(self, dict.fromkeys(("threshold_", "threshold_spread_", "cost_curve_")) | evaluated)
        set_columns(self, *columns_of(estimator))
        self.estimator_, self.classes_, self.cost_matrix_, self._class_divisors = estimator, classes, costs, divisors
        return self

    @described(ROWS, returns="ndarray of shape (n_samples,)")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of minimum expected cost; for two classes, by the threshold."""
        probabilities = self.predict_proba(X)
        return self.classes_[_class_index(probabilities, self.cost_matrix_, getattr(self, "threshold_", None))]

    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``, corrected by `undo_class_weight`."""
        check_is_fitted(self)
        return _shifted(self.estimator_.predict_proba(X), self._class_divisors)

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
        if self.threshold == "tuned":
            tags.classifier_tags.multi_class = False
        return tags

    def _check_parameters(self) -> None:
        if isinstance(self.estimator, type) or not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise TypeError(f"estimator must be a classifier, got {self.estimator!r}")
        if not hasattr(self.estimator, "predict_proba"):
            fix = "wrap it in scikit-learn's CalibratedClassifierCV"
            raise TypeError(f"estimator must have predict_proba, got {self.estimator!r}; {fix}")
        one_of("threshold", self.threshold, ("expected", "tuned"))

    def _check_n_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            got = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "no rows"
            raise ValueError(f"y must have at least 2 classes, got {got}")
        if len(classes) > 2 and self.threshold == "tuned":
            raise ValueError(
                "Only binary classification is supported by threshold='tuned'. The type of the target is multiclass, "
                f"of {len(classes)} classes: use threshold='expected'"
            )

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
        self, fitted: Any, X: Any, labels: NDArray[Any], fit_params: dict[str, NDArray[Any]], groups: Any
    ) -> list[tuple[NDArray[np.intp], Array]]:
        """Indices of the rows held out by each fold, and their probabilities by an estimator fitted without them."""
        if self.cv is None:
            return [(np.arange(len(labels)), fitted.predict_proba(X))]
        held_out, all_rows = [], np.arange(len(labels))
        for fold in make_splitter(self.cv, labels, groups).split(np.zeros(len(labels)), labels, groups):
            # cross_val_predict encodes the labels as numbers, which costs given by label do not match.
            training, rows = (all_rows[side] for side in fold)  # indices or masks
            params = {name: values[training] for name, values in fit_params.items()}
            estimator = clone(self.estimator).fit(_take(X, training), labels[training], **params)
            proba = np.zeros((len(rows), len(fitted.classes_)))  # 0 for classes that the training rows lack
            with unseen_ignored():
                predicted = estimator.predict_proba(_take(X, rows))
            proba[:, np.searchsorted(fitted.classes_, estimator.classes_)] = predicted
            held_out.append((rows, proba))
        return held_out

    def _evaluate(self, folds: list[tuple[Array, NDArray[np.intp], Array]], costs: Array) -> dict[str, Any]:
        """Fitted attributes from the held-out rows: probabilities, classes and weights of each fold."""
        proba, y, weight = (np.concatenate(values) for values in zip(*folds, strict=True))
        attributes: dict[str, Any] = {"brier_": brier(proba, y, weight), "reliability_": reliability(proba, y, weight)}
        if len(costs) == 2:
            curve, *of_folds = (CostCurve.of(p[:, 1], k == 1, w, costs) for p, k, w in [(proba, y, weight), *folds])
            attributes["threshold_"] = curve.best if self.threshold == "tuned" else expected_threshold(costs)
            attributes["threshold_spread_"] = np.array([each.best for each in of_folds])
            attributes["cost_curve_"] = {"threshold": curve.threshold, "cost": curve.cost}
        predicted = _class_index(proba, costs, attributes.get("threshold_"))
        attributes["expected_cost_"] = float((weight * costs[y, predicted]).sum() / weight.sum())
        return attributes


def _class_index(probabilities: Array, costs: Array, threshold: float | None) -> NDArray[np.intp]:
    if threshold is None:
        return cheapest(probabilities, costs)
    return (probabilities[:, 1] > threshold).astype(np.intp)


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


def _take(X: Any, rows: NDArray[Any]) -> Any:
    """Select rows of a frame, sparse matrix or array."""
    if is_frame(X):
        return nw.from_native(X)[rows.tolist(), :].to_native()
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(X)[rows]

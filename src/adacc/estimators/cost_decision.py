"""Predictions of minimum expected cost, from the probabilities of any classifier."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adacc.algorithms.base import Array
from adacc.estimators.base_decision import BaseDecision, HeldOutRows
from adacc.estimators.cutoffs import CostCurve, brier, reliability
from adacc.estimators.decisions import model_inside
from adacc.estimators.input_validation import set_attributes
from adacc.estimators.settings import one_of
from adacc.model.cost_matrix import expected_threshold, read_cost_matrix
from adacc.model.decision import Decision
from adacc.model.decision_spec import DecisionSpec


@dataclass(eq=False, repr=False)
class CostDecision(BaseDecision):
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
        "expected": minimize the expected cost, assuming calibrated probabilities; a warning names classifiers of adacc
        whose probabilities are not calibrated. "tuned", for two classes: the
        threshold of minimum cost on the held-out rows, which needs a good ranking but no calibration.
    cv : int, splitter, iterable or "training", default=5
        Cross-validation as in scikit-learn; the held-out rows are used to tune the threshold and to evaluate. Folds
        whose training rows lack a class are skipped, and a row that several folds hold out counts once. "training": use
        the training rows, which is fast but optimistic.
    undo_class_weight : "balanced", dict or sequence, default=None
        Class weights that the estimator is trained with, such as its `class_weight`, the `costs` of `CGAdaClassifier`,
        or for under-sampled classes the fraction of rows that was kept. They shift the probabilities by a known factor,
        which is corrected: each probability is divided by the weight of its class.
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
    cost_matrix_ : ndarray of shape (n_classes, n_classes)
        Cost of predicting the class of the column if the class of the row is true.
    decision_ : Decision
        The rule with its threshold as plain data.
    expected_cost_ : float
        Mean cost of a held-out row. It is slightly optimistic if the threshold is tuned on the same rows.
    brier_ : float
        Brier score of the held-out probabilities; for more than two classes summed over the classes.
    reliability_ : dict of ndarray
        Reliability diagram of the held-out rows in up to ten groups of similar probability: the mean ``predicted``
        probability, the ``observed`` frequency, and the total weight of the ``rows``. For two classes it refers to the
        second class, for more to all classes pooled.
    threshold_ : float
        Two classes only: ``classes_[1]`` is predicted if its probability is at least the threshold.
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
    (0.99, 0.15)
    """

    estimator: Any
    cost_matrix: Any = None
    _: KW_ONLY
    threshold: str = "expected"
    cv: Any = 5
    undo_class_weight: Any = None
    duplicates: str = "auto"
    n_jobs: int | None = None

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
        one_of("threshold", self.threshold, ("expected", "tuned"))
        self._check_estimator(needs_probabilities=True)
        held_out = self._fit_held_out(X, y, sample_weight, groups)
        costs = read_cost_matrix(self.cost_matrix, held_out.classes)
        self._warn_if_not_calibrated(held_out)
        decision, evaluated = self._evaluate(held_out, costs)
        optional = dict.fromkeys(("threshold_", "threshold_spread_", "cost_curve_"))
        set_attributes(self, optional | evaluated)
        self.cost_matrix_ = costs
        self._set_fitted(held_out, decision)
        return self

    def _warn_if_not_calibrated(self, held_out: HeldOutRows) -> None:
        model = model_inside(held_out.estimator)
        if self.threshold == "expected" and model is not None and model.calibrator is None:
            or_tuned = ", or set threshold='tuned'" if len(held_out.classes) == 2 else ""
            warnings.warn(
                "threshold='expected' assumes calibrated probabilities, but those of the estimator are not: fit "
                f"it with calibration='sigmoid'{or_tuned}; `reliability_` and `expected_cost_` show the effect",
                UserWarning,
                stacklevel=3,
            )

    def _two_classes_only(self) -> bool:
        return self.threshold == "tuned"

    def _check_n_classes(self, classes: NDArray[Any]) -> None:
        super()._check_n_classes(classes)
        if len(classes) > 2 and self.threshold == "tuned":
            raise ValueError(
                "Only binary classification is supported by threshold='tuned'. The type of the target is multiclass, "
                f"of {len(classes)} classes: use threshold='expected'"
            )

    def _evaluate(self, held_out: HeldOutRows, costs: Array) -> tuple[Decision, dict[str, Any]]:
        """The decision, and fitted attributes from the held-out rows."""
        proba, y, weight = held_out.responses, held_out.true[held_out.rows], held_out.row_weight
        attributes: dict[str, Any] = {"brier_": brier(proba, y, weight), "reliability_": reliability(proba, y, weight)}
        proba = held_out.matched
        if len(costs) == 2:
            curve = CostCurve.of(proba[:, 1], y == 1, weight, costs)
            of_folds = [
                CostCurve.of(fold.matched[:, 1], held_out.true[fold.rows] == 1, held_out.weight[fold.rows], costs)
                for fold in held_out.folds
            ]
            attributes["threshold_"] = curve.best if self.threshold == "tuned" else expected_threshold(costs)
            attributes["threshold_spread_"] = np.array([each.best for each in of_folds])
            attributes["cost_curve_"] = {"threshold": curve.threshold, "cost": curve.cost}
        spec = DecisionSpec("cost", costs=tuple(map(tuple, costs.tolist())), tuned=self.threshold == "tuned")
        decision = Decision(spec, int(len(costs) == 2), attributes.get("threshold_"))
        predicted = decision.class_index(proba[:, decision.positive], lambda: proba, {})
        attributes["expected_cost_"] = float((weight * costs[y, predicted]).sum() / weight.sum())
        return decision, attributes

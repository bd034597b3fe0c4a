"""A fitted model of votes, whatever it came from: its scores, decisions, probabilities and explanations."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adacc.algorithms.base import Array
from adacc.data.columns import Table, is_frame
from adacc.estimators.reading import TableReader
from adacc.estimators.unseen import warn_of_unseen
from adacc.model.calibration import Calibrator, decision_scores
from adacc.model.ensemble import Ensemble
from adacc.model.explanations import Additive, Explanation, ShapeFunctions, additive


class BaseAdditiveClassifier(TableReader, ClassifierMixin, BaseEstimator):
    """What all classifiers of weighted votes share once they are fitted; a subclass brings parameters and `fit`."""

    classes_: NDArray[Any]
    n_features_in_: int
    _ensemble: Ensemble
    _calibrator: Calibrator | None
    _multipliers: Array | None

    def decision_function(self, X: Any) -> Array:
        """Score of each row; its sign (two classes) or argmax is the prediction.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            The votes for the second class of ``classes_`` less those for the first, or the votes for each class,
            calibrated or not; of calibrated AdaMEC and CGAda, log-probabilities shifted by the costs.
        """
        return self._decision_scores(self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after each round.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        table = self._read_known(X)
        for scores in self._ensemble.staged_scores(table):
            warn_of_unseen(table)
            yield self._decision_scores(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        return self.classes_[self._ensemble.classes(scores)]

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after each round.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[self._ensemble.classes(scores)]

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``.

        Without calibration it is 1/(1+exp(-2·score)), the softmax of twice the scores for more classes: a ranking,
        consistent with `predict`, rather than a frequency. After calibration it is a frequency among the training
        rows, and still rises with the score; `predict` goes on deciding by the score, so that a rare class may be
        predicted at a probability far below ½. docs/probabilities.md says more.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        if self._calibrator is not None:
            return self._calibrator.probabilities(scores)
        if scores.ndim == 1:
            return np.column_stack([expit(-2.0 * scores), expit(2.0 * scores)])
        return softmax(2.0 * scores, axis=1)

    def shape_functions(self) -> ShapeFunctions:
        """The model itself: what each feature adds to `decision_function`, for every value it may have.

        A sum of stumps is a constant and one step function for each feature, so these are exact. What `explain` says
        of models that have none holds here too.

        Returns
        -------
        ShapeFunctions
            A `ShapeFunction` for each feature, by number or name, and the ``intercept``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from adacc import AdaCC1Classifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = AdaCC1Classifier(n_estimators=20).fit(X, y)
        >>> curves = model.shape_functions()
        >>> score = sum(curve(X[curve.name]) for curve in curves) + curves.intercept
        >>> bool(abs(score - model.decision_function(X)).max() < 1e-9)
        True
        """
        return self._additive().shape_functions

    def explain(self, X: Any, background: Any = None) -> Explanation:
        """The score of each row as a sum of contributions of the features, exactly.

        What is explained is `decision_function`: the votes. Only of calibrated AdaMEC and CGAda it is something else:
        after ``calibration="sigmoid"`` of two classes the log-odds; here they come from the votes, while
        `decision_function` takes them from the probability, which near 0 and 1 loses digits and is cut off at 1e-15.
        Their isotonic calibration and any calibration of more classes leave no sum, nor do weak learners other than
        the native stumps: these are an error.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        background : array, sparse matrix or frame of shape (n_background, n_features), default=None
            Rows to compare with, such as the training rows. The contributions are then interventional SHAP values:
            how far each feature moves the score from the mean score of the background. None: the votes of the rounds
            that split on the feature, which may have a part that is the same for all rows.

        Returns
        -------
        Explanation
            ``contributions``, ``intercept`` and their sum, the ``scores``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from adacc import AdaCC1Classifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> explanation = AdaCC1Classifier(n_estimators=20).fit(X, y).explain(X, background=X)
        >>> explanation.frame().loc[0].nsmallest(2).round(2)
        worst concave points   -1.94
        worst radius           -1.64
        Name: 0, dtype: float64
        """
        table, model = self._read_known(X), self._additive()
        try:
            other = None if background is None else self._read_known(background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background: {error}") from None
        explanation = model.explain(table, other, getattr(X, "index", None) if is_frame(X) else None)
        warn_of_unseen(table)
        return explanation

    def save(self, path: str | PathLike[str], notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file that `adacc.load` reads, and that holds no code.

        Parameters
        ----------
        path : str or path
            The file. It is replaced as a whole or not at all.
        notes : dict, default=None
            Anything of your own that JSON can hold; the loaded model has it as ``notes_``.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_breast_cancer
        >>> import adacc
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = adacc.AdaCC1Classifier(n_estimators=20).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/cancer.adacc", notes={"data": "Wisconsin"})
        ...     again = adacc.load(f"{folder}/cancer.adacc")
        >>> again.notes_, bool((again.predict_proba(X) == model.predict_proba(X)).all())
        ({'data': 'Wisconsin'}, True)
        """
        from adacc.estimators.persistence import save  # which knows all classes, and so comes after them

        save(self, path, notes)

    @property
    def estimators_(self) -> list[Any]:
        """The weak models: a `Stump` each, or the fitted classifiers."""
        check_is_fitted(self)
        return self._ensemble.models.describe(self.classes_)

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the votes; sums to 1 unless no round splits."""
        check_is_fitted(self)
        by_round = self._ensemble.models.importances(self.n_features_in_)
        summed = self._ensemble.votes.mean(axis=1) @ by_round
        return summed / (summed.sum() or 1.0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    @property
    def _column_names(self) -> list[str]:
        """Of the columns of `fit`, or numbered where these had none."""
        return list(map(str, getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])))

    def _read_known(self, X: Any) -> Table:
        check_is_fitted(self)
        models = self._ensemble.models
        table = self._read(X, reset=False, has_labels=models.has_labels)
        models.check(table)
        return table

    def _scores(self, X: Any) -> Array:
        table = self._read_known(X)
        scores = self._ensemble.scores(table)
        warn_of_unseen(table)
        return scores

    def _decision_scores(self, scores: Array) -> Array:
        if self._calibrator is None or self._multipliers is None:
            return scores
        return decision_scores(self._calibrator.probabilities(scores), self._multipliers)

    def _additive(self) -> Additive:
        check_is_fitted(self)
        calibrator = None if self._multipliers is None else self._calibrator
        return additive(self._ensemble, calibrator, self._multipliers, tuple(self._column_names), self.classes_)


def attributes_of(ensemble: Ensemble, classes: NDArray[Any]) -> dict[str, Any]:
    """The attributes that make an estimator fitted, one without calibration."""
    return {
        "classes_": classes,
        "n_iter_": len(ensemble),
        "history_": ensemble.history,
        "estimator_weights_": ensemble.history["alpha"],
        "estimator_errors_": ensemble.history["weighted_error"],
        "_ensemble": ensemble,
        "_calibrator": None,
        "_multipliers": None,
    }

"""Base class of the classifiers: predictions, explanations and fitted attributes delegate to `FittedModel`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adacc.algorithms.base import Array
from adacc.boosting.problems import SIDES
from adacc.data.columns import Table, is_frame
from adacc.docstrings import described
from adacc.estimators.decisions import decide, split_columns
from adacc.estimators.folds import check_groups
from adacc.estimators.input_validation import check_labels, check_weight, columns_of, read_table, set_columns
from adacc.estimators.parameter_hints import check_constructor, hint
from adacc.estimators.saving import save
from adacc.estimators.settings import whole
from adacc.estimators.unseen_categories import warn_of_unseen
from adacc.model.decision import Decision
from adacc.model.decision_spec import read_decision
from adacc.model.explainers import RowsToExplain
from adacc.model.explanations import Explanation, ShapeFunctions
from adacc.model.fitted import FittedModel, TuningScores

ROWS = {"X": "array, sparse matrix or frame of shape (n_samples, n_features)\n    Rows with the columns of `fit`."}
"""Description of the argument of the methods that predict."""

COLUMNS = {
    "columns": """dict, frame or array of shape (n_samples,)
    Columns that the decision rule names, such as the costs of the rows, by name; the values alone if it names one. By
    default they are columns of the frame X. Columns of X that are not features are allowed if the rule names them."""
}
"""Description of the argument of `predict` that decision rules need."""


class BaseAdditiveClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers whose model is a weighted sum of votes; a subclass adds parameters and `fit`.

    Attributes
    ----------
    fitted_model_ : FittedModel
        The trained model as plain data.
    """

    pos_label: Any
    fitted_model_: FittedModel
    notes_: dict[str, Any]

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        if args or parameters:
            check_constructor(cls, args, parameters)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, as in scikit-learn.

        Parameters
        ----------
        **params
            Parameters by name.

        Returns
        -------
        self
        """
        if (said := hint(self._get_param_names(), params)) is not None:
            raise ValueError(f"{type(self).__name__} has {said}")
        return super().set_params(**params)

    def decision_function(self, X: Any) -> Array:
        """Score of each row; its sign (two classes) or argmax (more classes) is the prediction.

        A score of 0 predicts the negative class of two; of equal scores, the first of more classes is predicted.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            For two classes, the sum of the votes for ``classes_[1]`` minus the sum of those for ``classes_[0]``; for
            more classes see docs/classes.md: the sum of tanh(4·margin) over the pairs of a class, the score of the
            class against the rest, or the sum of the votes for it (``multi_class="joint"``). Calibration does not
            change it, except for AdaMEC and CGAda: calibrated, they return log-probabilities shifted by the costs.
        """
        return self._model.decision_scores(self._scores(X))

    @described(ROWS, yields="ndarray of shape (n_samples,) or (n_samples, n_classes)")
    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after each round."""
        table = self._read_known(X)
        for scores in self._model.staged_decision_scores(table):
            warn_of_unseen(table)
            yield scores

    @described(ROWS | COLUMNS, returns="ndarray of shape (n_samples,)")
    def predict(self, X: Any, columns: Any = None) -> NDArray[Any]:
        """Predict the class of each row, by the decision rule if there is one."""
        decision = self._model.decision
        X, found = split_columns(None if decision is None else decision.spec, X, columns, columns_of(self))
        return self.fitted_model_.predicted(self._scores(X), found)

    def set_decision(
        self,
        rule: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        columns: Any = None,
    ) -> Any:
        """Set the rule by which `predict` decides, without training again.

        Parameters
        ----------
        rule : str, dict, array or None
            The rule, such as "recall>=0.9"; a dict or an array is a cost matrix. See docs/decisions.md. None: the
            decision of the method.
        X : array, sparse matrix or frame of shape (n_samples, n_features), default=None
            Rows on which the rule is tuned; they should not be training rows. None: the out-of-bag or held-out rows
            that the model stores, if the rule needs tuning.
        y : array of shape (n_samples,), default=None
            Labels of the rows of X.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows of X; rows of weight 0 are not used.
        groups : array of shape (n_samples,), default=None
            Group of each row of X. The intervals then hold for new groups.
        columns : dict, frame or array of shape (n_samples,), default=None
            Columns that the rule names, as in `predict`.

        Returns
        -------
        self
            With the rule, its threshold and what it achieves as ``decision_``.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.model_selection import train_test_split
        >>> from adacc import AdaCC1Classifier
        >>> X, digit = load_digits(return_X_y=True)
        >>> X, X_tune, y, y_tune = train_test_split(X, digit == 8, random_state=0)
        >>> model = AdaCC1Classifier().fit(X, y).set_decision("recall>=0.95", X_tune, y_tune)
        >>> round(float(model.predict(X_tune)[y_tune].mean()), 2)
        0.96
        >>> [round(each, 2) for each in model.decision_.report.achieved["recall"]]  # and its interval on new rows
        [0.96, 0.83, 0.99]
        """
        model = self._model
        if rule is None:
            self.fitted_model_ = replace(model, decision=None)
            return self
        spec, tuning = read_decision(rule), model.tuning_scores
        found: dict[str, NDArray[Any]] = {}
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together")
        if X is not None:
            X, found = split_columns(spec, X, columns, columns_of(self))
            tuning, used = self._tuning_scores(X, y, sample_weight, groups)
            found = {name: values[used] for name, values in found.items()}
        elif not (sample_weight is None and groups is None and columns is None):
            raise ValueError("sample_weight, groups and columns must be given with X and y only")
        self.fitted_model_ = replace(model, decision=decide(model, spec, tuning, found))
        return self

    @property
    def decision_(self) -> Decision | None:
        """The decision rule with its threshold and a report; None if the method decides."""
        return self._model.decision

    @described(ROWS, yields="ndarray of shape (n_samples,)")
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The class of each row by the scores after each round, without a decision rule.

        A rule is tuned for the scores of the whole ensemble and does not apply to those of its first rounds, so that
        the last class can differ from `predict` if there is a rule.
        """
        yield from map(self._model.labels, self.staged_decision_function(X))

    @described(ROWS, yields="ndarray of shape (n_samples, n_classes)")
    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after each round; the calibration is that of the whole ensemble."""
        table = self._read_known(X)
        for n_rounds, scores in enumerate(self._model.ensemble.staged_scores(table), start=1):
            warn_of_unseen(table)
            yield self._model.probabilities(scores, n_rounds)

    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``.

        With calibration, which the forest has by default, it estimates the class frequency among the training rows.
        `predict` still uses the score, so that a rare class may be predicted at a probability far below 0.5. Without
        calibration, the default of boosters, it is 1/(1+exp(-2·score)), or the softmax of twice the scores for more
        than two classes: it ranks rows consistently with `predict`, but is not a calibrated probability. See
        docs/probabilities.md.
        """
        return self._model.probabilities(self._scores(X))

    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, -inf for a probability of 0."""
        return log_of(self.predict_proba(X))

    def shape_functions(self, background: Any = None, n_pairs: int = 10) -> ShapeFunctions:
        """Contribution of each feature to `decision_function`, as a function of the value of the feature.

        A sum of stumps is a constant plus one step function per feature, so that the shape functions are exact. For
        trees they are the main effects of a functional ANOVA, followed by the strongest pairwise effects: features are
        independent, and every effect has the mean 0 in each of its features.

        Parameters
        ----------
        background : array, sparse matrix or frame of shape (n_background, n_features), default=None
            Rows that define the distribution of each feature, such as the training rows. Shape functions then have the
            mean 0 over these rows, and those of trees come with the share of the variance that they explain. None: for
            trees, the branches of a split have their shares of the rows that the tree was grown on.
        n_pairs : int, default=10
            Maximum number of pairwise effects of trees.

        Returns
        -------
        ShapeFunctions
            A `ShapeFunction` per feature, indexed by number or name, and the ``intercept``; for trees also ``pairs``,
            ``main_share`` and ``pair_share``.

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
        whole("n_pairs", n_pairs, least=0)
        explainer = self._model.explainer()
        return explainer.shape_functions(self._read_background(background), n_pairs)

    def explain(self, X: Any, background: Any = None, interactions: bool = False) -> Explanation:
        """Decompose the score of each row exactly into contributions of the features.

        The contributions of trees are Shapley values [Lundberg et al. 2020]; so are those of stumps if there is a
        background. The explained score is `decision_function`, the sum of the votes; of more than two classes that are
        boosted in pairs, it is the score of each pair (docs/classes.md). For AdaMEC and CGAda with two
        classes and ``calibration="sigmoid"`` it is the shifted log-odds, computed here from the votes;
        `decision_function` computes them from the probability, which is less precise near 0 and 1 and is clipped at
        1e-15. An error is raised for AdaMEC and CGAda with isotonic calibration or with any calibration of more than
        two classes, whose score is no sum of votes, and for weak learners that are not those of adacc.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        background : array, sparse matrix or frame of shape (n_background, n_features), default=None
            Reference rows, such as some training rows. The contributions are then interventional SHAP values: how far
            each feature moves the score from the mean score of the background rows. None: for stumps, the sum of the
            votes of the rounds that split on the feature, which may include a constant that is the same for all rows;
            for trees, path-dependent SHAP values, where a row takes all branches of an unknown feature in proportion to
            the sample weight of the rows that the tree was grown on (`Tree.cover`).
        interactions : bool, default=False
            Also compute the Shapley interaction values of all pairs of features, for up to 64 features.

        Returns
        -------
        Explanation
            ``contributions``, ``intercept`` and their sum, the ``scores``; ``interactions`` if asked for.

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
        table, explainer = self._read_known(X), self._model.explainer()
        reference = self._read_background(background)
        index = getattr(X, "index", None) if is_frame(X) else None
        explanation = explainer.explain(RowsToExplain(table, X, index), reference, bool(interactions))
        warn_of_unseen(table)
        return explanation

    def to_shap(self) -> dict[str, Any]:
        """The trees of the model in the format of the package shap, for `shap.TreeExplainer`.

        The trees add up to `decision_function`, or to the scores of the pairs of classes. An error is raised if a tree
        splits on categories, which trees of shap cannot, and for stumps; ``explain(X).to_shap()`` works for all models.
        A missing value of a feature without missing values in training goes left in shap, whereas it ends in the node
        in adacc.

        Returns
        -------
        dict
            The argument of `shap.TreeExplainer`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from adacc import AdaCC1Classifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = AdaCC1Classifier(n_estimators=5, max_depth=3).fit(X, y)
        >>> trees = model.to_shap()  # shap.TreeExplainer(trees).shap_values(X)
        >>> len(trees["trees"]), trees["trees"][0]["children_left"][:3]
        (5, array([1, 9, 3], dtype=int32))
        """
        return self._model.explainer().to_shap()

    def save(self, path: str | PathLike[str], notes: dict[str, Any] | None = None) -> None:
        """Save the fitted model to a file that `adacc.load` reads. The file contains no executable code.

        Parameters
        ----------
        path : str or path
            Path of the file. An existing file is replaced atomically.
        notes : dict, default=None
            Custom JSON-serializable metadata; the loaded model has it as ``notes_``.

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
        check_is_fitted(self)
        save(self, path, notes)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        return self._model.classes

    @property
    def n_iter_(self) -> int:
        """Number of boosting rounds; with several two-class problems, the largest of them. Forests: of trees."""
        return self._model.ensemble.n_rounds

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """Training history, with one entry per round; with two-class problems, per round of each ``problem``."""
        ensemble = self._model.ensemble
        return (
            ensemble.history if ensemble.coding is None else {**ensemble.history, "problem": ensemble.coding.problems}
        )

    @property
    def estimator_weights_(self) -> NDArray[Any]:
        """Vote of each of the `estimators_`."""
        return self.history_["alpha"]

    @property
    def estimator_errors_(self) -> NDArray[Any]:
        """Weighted error of each of the `estimators_`."""
        return self.history_["weighted_error"]

    @property
    def estimators_(self) -> list[Any]:
        """The fitted weak learners: a `Stump` or `Tree` per round and two-class problem, or fitted classifiers."""
        ensemble = self._model.ensemble
        return ensemble.models.describe(self.classes_ if ensemble.coding is None else SIDES)

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the votes; sums to 1 unless no round splits. Noise has a share, too."""
        return self._model.feature_importances()

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_model_" in vars(self)

    @property
    def _model(self) -> FittedModel:
        check_is_fitted(self)
        return self.fitted_model_

    def _read_known(self, X: Any) -> Table:
        """Convert X to a table, and check that it has the columns of `fit`."""
        table = read_table(self, X, reset=False, has_labels=self._model.has_categories)
        self.fitted_model_.check(table)
        return table

    def _read_background(self, background: Any) -> Table | None:
        try:
            return None if background is None else self._read_known(background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background: {error}") from None

    def _tuning_scores(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[TuningScores | None, NDArray[np.bool_]]:
        """The scores of the labelled rows of positive weight, and which rows these are.

        The scores are None for more than two classes, whose rules need no tuning.
        """
        labels, scores = check_labels(y, "y"), self._scores(X)
        if len(labels) != len(scores):
            raise ValueError(f"y must have one label for each of the {len(scores)} rows of X, got {len(labels)}")
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y must have labels of {self.classes_.tolist()}, got {unknown.tolist()[0]!r}")
        weight, group = check_weight(sample_weight, len(labels), "sample_weight"), check_groups(groups, len(labels))
        used, positive = weight > 0.0, self.fitted_model_.positive_class
        if positive is None:
            return None, used
        is_positive = labels[used] == self.classes_[positive]
        return TuningScores(
            "given", scores[used], is_positive, weight[used], None if group is None else group[used]
        ), used

    def _scores(self, X: Any) -> Array:
        table = self._read_known(X)
        scores = self.fitted_model_.scores(table)
        warn_of_unseen(table)
        return scores


def read_known(estimator: BaseAdditiveClassifier, X: Any) -> Table:
    """Convert X to a table, and check that it has the columns of `fit`."""
    return estimator._read_known(X)


def log_of(probabilities: Any) -> Any:
    """Logarithms of probabilities, also of a Dask collection; -inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


E = TypeVar("E", bound=BaseAdditiveClassifier)


def restore(estimator: E, model: FittedModel) -> E:
    """Set the fitted model of an estimator."""
    set_columns(estimator, model.n_features, model.feature_names)
    estimator.fitted_model_ = model
    return estimator

"""Base class of the classifiers: predictions, explanations and fitted attributes delegate to `FittedModel`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, TypeVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adacc.algorithms.base import Array
from adacc.boosting.problems import SIDES
from adacc.data.columns import Table, is_frame
from adacc.docstrings import described
from adacc.estimators.input_validation import read_table, set_columns
from adacc.estimators.saving import save
from adacc.estimators.settings import whole
from adacc.estimators.unseen_categories import warn_of_unseen
from adacc.model.explainers import Rows
from adacc.model.explanations import Explanation, ShapeFunctions
from adacc.model.fitted import FittedModel

ROWS = {"X": "array, sparse matrix or frame of shape (n_samples, n_features)\n    Rows with the columns of `fit`."}
"""Description of the argument of the methods that predict."""


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

    def decision_function(self, X: Any) -> Array:
        """Score of each row; its sign (two classes) or argmax (more classes) is the prediction.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            For two classes, the sum of the votes for ``classes_[1]`` minus the sum of those for ``classes_[0]``; for
            more classes see docs/classes.md: the sum of tanh(score) over the pairs of a class, the score of the class
            against the rest, or the sum of the votes for it (``multi_class="joint"``). Calibration does not
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

    @described(ROWS, returns="ndarray of shape (n_samples,)")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        return self._model.labels(self.decision_function(X))

    @described(ROWS, yields="ndarray of shape (n_samples,)")
    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after each round."""
        yield from map(self._model.labels, self.staged_decision_function(X))

    @described(ROWS, returns="ndarray of shape (n_samples, n_classes)")
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of ``classes_``.

        Without calibration it is 1/(1+exp(-2·score)), or the softmax of twice the scores for more than two classes: it
        ranks rows consistently with `predict`, but is not a calibrated probability. With calibration it estimates the
        class frequency among the training rows. `predict` still uses the score, so that a rare class may be predicted
        at a probability far below 0.5. See docs/probabilities.md.
        """
        return self._model.probabilities(self._scores(X))

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
        background. The explained score is `decision_function`, the sum of the votes. For AdaMEC and CGAda with two
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
        explanation = explainer.explain(Rows(table, X, index), reference, bool(interactions))
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
        """Number of weak learners."""
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
        """Vote of each round."""
        return self.history_["alpha"]

    @property
    def estimator_errors_(self) -> NDArray[Any]:
        """Weighted error of each round."""
        return self.history_["weighted_error"]

    @property
    def estimators_(self) -> list[Any]:
        """The fitted weak learners: a `Stump` or `Tree` per round, or the fitted classifiers."""
        ensemble = self._model.ensemble
        return ensemble.models.describe(self.classes_ if ensemble.coding is None else SIDES)

    @property
    def feature_importances_(self) -> Array:
        """Normalized share of each feature in the votes; sums to 1 unless no round splits."""
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

    def _scores(self, X: Any) -> Array:
        table = self._read_known(X)
        scores = self.fitted_model_.scores(table)
        warn_of_unseen(table)
        return scores


def read_known(estimator: BaseAdditiveClassifier, X: Any) -> Table:
    """Convert X to a table, and check that it has the columns of `fit`."""
    return estimator._read_known(X)


E = TypeVar("E", bound=BaseAdditiveClassifier)


def restore(estimator: E, model: FittedModel) -> E:
    """Set the fitted model of an estimator."""
    set_columns(estimator, model.n_features, model.feature_names)
    estimator.fitted_model_ = model
    return estimator

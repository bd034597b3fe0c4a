"""The scikit-learn face: fit, scores, probabilities, explanations."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from adacc.engine.ensemble import Ensemble
from adacc.engine.loop import Boosting
from adacc.engine.table import Table, is_frame
from adacc.estimators.calibration import decide
from adacc.estimators.compat import CALLER_OF_FIT, CallbackRounds, CallbackSupportMixin, with_callbacks
from adacc.estimators.explanations import Additive, Explanation, ShapeFunctions, additive
from adacc.estimators.parameters import parameters
from adacc.estimators.reading import TableReader
from adacc.estimators.settings import Settings, read_settings
from adacc.estimators.training import Problem, calibrate, train
from adacc.rules.base import Array

NEVER_BETTER = "no round was better than chance, so that none has a vote: a larger subsample may help"
FAILED_AT_ONCE = "already the first weak learner is no better than chance; it is kept alone, with vote 1"


@parameters
class BaseBoosting(TableReader, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """What all boosting classifiers share; a subclass names its method and adds the method's own options."""

    estimator: Any = None
    n_estimators: int = 100
    learning_rate: float = 1.0
    criterion: str = "gini"
    max_depth: int | None = 1
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: Any = None
    subsample: float = 1.0
    rates: str = "training"
    max_bins: int | None = 255
    dialect: str = "paper"
    calibration: str | None = None
    calibration_cv: int | None = None
    pos_label: Any = None
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None

    _method: ClassVar[str]

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Any:
        """Boost on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            NaN is a branch of its own; boolean, string and category columns of a frame are used as categories.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, one of weight 0 as none.
        X_val, y_val, sample_weight_val : default=None
            Rows for early stopping instead of a part of X.

        Returns
        -------
        self
        """
        with self._columns_restored_on_failure():
            settings = read_settings(self._settable())
            start = self._ensemble if self.warm_start and hasattr(self, "_ensemble") else None
            if start is not None:
                settings = replace(settings, seed=self._seed)  # the same rows held out, the same samples
            problem = self._read_training(X, y, sample_weight, reset=start is None)
            if start is not None:
                self._check_warm_start(start, settings, problem)
            problem, held_out = self._hold_out(settings, problem, X_val, y_val, sample_weight_val)
            tell = CallbackRounds(self, X, y, settings.n_rounds)

            def after_round(boosting: Boosting, stops: bool) -> bool:
                self._report(boosting, settings.n_rounds)
                is_last = stops or boosting.rounds[-1].last or len(boosting.rounds) == settings.n_rounds
                return tell.end_round(lambda: fitted_attributes(boosting.ensemble(), problem), is_last)

            trained = train(settings, problem, held_out, start, after_round)
            if trained.failed:
                warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            elif not trained.ensemble.votes.any():
                warnings.warn(NEVER_BETTER, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            self.__dict__.update(fitted_attributes(trained.ensemble, problem, settings))
            tell.end()
        return self

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
        table = self._read_known(X)
        return self._decide(self._ensemble.scores(table))

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
            yield self._decide(scores)

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
        table = self._read_known(X)
        scores = self._ensemble.scores(table)
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
        return model.explain(table, other, getattr(X, "index", None) if is_frame(X) else None)

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

    def _settable(self) -> dict[str, Any]:
        """The parameters, the method among them."""
        return {"method": getattr(self, "_method", None), **self.get_params(deep=False)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = self.estimator is None or not hasattr(self.estimator, "__sklearn_tags__")
        takes = None if own else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = takes is None or takes.sparse
        tags.input_tags.allow_nan = takes is None or takes.allow_nan
        tags.input_tags.categorical = takes is None or takes.categorical
        return tags

    def _read_known(self, X: Any) -> Table:
        check_is_fitted(self)
        models = self._ensemble.models
        table = self._read(X, reset=False, has_labels=models.has_labels)
        models.check(table)
        return table

    def _check_warm_start(self, start: Ensemble, settings: Settings, problem: Problem) -> None:
        if self._trained_by != _training_of(settings):
            raise ValueError(f"warm_start goes on with the same method, options and weak learner: {self._trained_by}")
        start.models.check(problem.table)
        known, now = self.classes_.tolist(), problem.classes.tolist()
        if known != now:
            raise ValueError(f"warm_start needs the classes of the last fit, {known}; y has {now}")
        if settings.n_rounds < len(start):
            there = f"the {len(start)} rounds there are"
            raise ValueError(f"with warm_start n_estimators must be at least {there}, got {settings.n_rounds}")

    def _decide(self, scores: Array) -> Array:
        if self._calibrator is None or self._multipliers is None:
            return scores
        return decide(self._calibrator.probabilities(scores), self._multipliers)

    def _additive(self) -> Additive:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        calibrator = None if self._multipliers is None else self._calibrator
        return additive(self._ensemble, calibrator, self._multipliers, tuple(map(str, names)), self.classes_)

    def _report(self, boosting: Boosting, n_rounds: int) -> None:
        done = len(boosting.rounds)
        if self.verbose and (done % int(self.verbose) == 0 or done == n_rounds):
            latest = boosting.rounds[-1]
            recall = " ".join(f"{value:.3f}" for value in latest.class_recall)
            sys.stderr.write(
                f"{type(self).__name__}: round {done} of {n_rounds}, "
                f"weighted error {latest.weighted_error:.3f}, recall by class {recall}\n"
            )


def attributes_of(ensemble: Ensemble, classes: NDArray[Any], settings: Settings | None = None) -> dict[str, Any]:
    """The attributes that make an estimator fitted, one without calibration; `settings` if it may be gone on with."""
    history = ensemble.history
    origin = {} if settings is None else {"_trained_by": _training_of(settings), "_seed": settings.seed}
    return {
        **origin,
        "classes_": classes,
        "n_iter_": len(ensemble),
        "history_": history,
        "estimator_weights_": history["alpha"],
        "estimator_errors_": history["weighted_error"],
        "_ensemble": ensemble,
        "_calibrator": None,
        "_multipliers": None,
    }


def fitted_attributes(ensemble: Ensemble, problem: Problem, settings: Settings | None = None) -> dict[str, Any]:
    """The same of an ensemble just trained; with `settings`, calibrated where these say so."""
    attributes = attributes_of(ensemble, problem.classes, settings)
    if settings is not None and settings.calibration is not None:
        calibrator, multipliers = calibrate(settings, problem, ensemble, settings.calibration)
        attributes |= {"_calibrator": calibrator, "_multipliers": multipliers}
    return attributes


def _training_of(settings: Settings) -> str:
    """What must be the same for the rounds of two fits to make one ensemble.

    Calibration only where it decides: elsewhere it may be asked for, or changed, when the rounds are there.
    """
    kind = "stumps" if settings.growth.is_stump else f"trees of {settings.growth}"
    trees = f"{kind} by {settings.criterion} with max_bins={settings.max_bins}"
    learner = trees if settings.estimator is None else settings.estimator
    after = () if settings.method.decides_by_probability else ("calibration", "calibration_cv")
    options = {name: value for name, value in settings.options.items() if name not in after}
    rows = settings.method.sampler or ("all rows" if settings.subsample == 1.0 else f"a share of {settings.subsample}")
    judged = ", rated out of the bag" if settings.out_of_bag else ""
    return f"{settings.rule} on {rows}{judged} with {options}, {learner}"

"""The cost search: all costs of a grid boosted on one coding of the data, every number of rounds from one fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from adacc.algorithms import METHODS
from adacc.algorithms.base import Array
from adacc.boosting.session import FitSession, Trained, train_on
from adacc.boosting.settings import Settings
from adacc.costs import class_costs
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.estimators.base import restore
from adacc.estimators.booster import BaseBoosting, finish_model, settings_of
from adacc.estimators.folds import make_splitter
from adacc.estimators.reading import columns_of, read_training, set_columns
from adacc.estimators.scoring import ranks, read_scoring, score, scores_by_counts, without_predicting
from adacc.estimators.settings import whole
from adacc.estimators.unseen import unseen_ignored
from adacc.model.fitted import FittedModel


class Best(NamedTuple):
    """What a search found best."""

    costs: dict[Any, float]
    n_estimators: int
    score: float
    estimator: Any


@dataclass(frozen=True)
class Grid:
    """All that is tried: costs, as the estimator takes them and by label, and numbers of rounds."""

    estimator: Any
    settings: Settings
    feature_names: tuple[str, ...] | None
    costs: list[Any]
    by_label: list[dict[Any, float]]
    rounds: list[int]

    @cached_property
    def tries(self) -> list[Settings]:
        options = self.settings.options
        return [replace(self.settings, options={**options, "costs": costs}) for costs in self.costs]

    def model(self, i: int, trained: Trained, n_rounds: int, training_set: TrainingSet) -> Any:
        """The estimator with the i-th costs, fitted: what was trained, up to a number of rounds."""
        model = clone(self.estimator).set_params(costs=self.costs[i], n_estimators=n_rounds)
        ensemble = trained.ensemble.first(min(n_rounds, len(trained.ensemble)))
        fitted = FittedModel(ensemble, training_set.classes, training_set.table.n_columns, self.feature_names)
        return restore(model, finish_model(fitted, training_set, self.tries[i]))


def _of_best(name: str) -> Callable[..., Any]:
    """A method of the best estimator, as one of the search."""

    @wraps(getattr(BaseBoosting, name))
    def method(self: CostSearchCV, *args: Any, **options: Any) -> Any:
        return getattr(self._best(), name)(*args, **options)

    return method


class CostSearchCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """The best costs for a method that takes costs, found in the time of a few fits.

    The data are coded once and all costs are boosted on the same codes; every smaller number of rounds is a prefix of
    the largest, so that `rounds` add next to nothing.

    Parameters
    ----------
    estimator : classifier of adacc
        One whose method takes costs, such as ``CGAdaClassifier()``; its own `costs` are not used. Its `n_jobs` is the
        number of costs that are boosted at the same time.
    costs : list, default=None
        The costs to try, each as the estimator takes them: a dict {label: cost}, one number per class, or "balanced".
        None is the grid of the AdaCC paper for two classes: 1 for the positive class and 0.1, 0.2, ..., 1 for the
        other; for more classes ten steps from equal costs to balanced ones.
    scoring : str or callable, default="f1"
        What to maximise: a name that scikit-learn knows or a ``scorer(estimator, X, y)``. "f1", "precision", "recall",
        "jaccard", "average_precision" and "neg_brier_score" are those of the positive class (the estimator's
        `pos_label`; by default the rarer class), for more than two classes the first four are macro averages. A
        callable is given the rows' weights if it takes ``sample_weight``. Costs whose mean score is NaN rank last.
    cv : int, splitter, iterable or None, default=None
        None scores on the training data, as the paper does. Otherwise scikit-learn's cross-validation; the best costs
        are then fitted to all rows.
    rounds : list of int, default=None
        Numbers of rounds to try. None: the estimator's `n_estimators`.

    Attributes
    ----------
    best_costs_ : dict
        The best costs, by label.
    best_n_estimators_ : int
        The best number of rounds.
    best_score_ : float
        Their score.
    best_index_ : int
        Their place in ``cv_results_``.
    best_estimator_ : classifier
        The estimator fitted to all rows with the best costs and number of rounds.
    best_by_rounds_ : dict
        For each of `rounds` the best costs: ``costs``, ``n_estimators``, ``score`` and the fitted ``estimator``. The
        score is NaN where no costs have one.
    cv_results_ : dict of lists and ndarrays
        An entry for each pair of costs and rounds, named as in scikit-learn's searches: ``params``, ``param_costs``,
        ``param_n_estimators``, ``split0_test_score`` ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``. The scores are called ``train`` instead of ``test`` where they are of the training data.
    scorer_ : callable
        What was maximised.
    n_splits_ : int
        Folds; 0 without cross-validation.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from adacc import CGAdaClassifier, CostSearchCV
    >>> X, digit = load_digits(return_X_y=True)
    >>> search = CostSearchCV(CGAdaClassifier(), rounds=[25, 50, 100]).fit(X, digit == 8)
    >>> search.best_costs_, search.best_n_estimators_
    ({False: 0.4, True: 1.0}, 100)
    >>> {T: best.costs[False] for T, best in search.best_by_rounds_.items()}
    {25: 0.6, 50: 0.4, 100: 0.4}
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self, estimator: Any, costs: Any = None, scoring: Any = "f1", cv: Any = None, rounds: Any = None
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.scoring = scoring
        self.cv = cv
        self.rounds = rounds

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> CostSearchCV:
        """Search, and fit the best.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As in the estimator's `fit`.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, in the scores too.
        groups : array of shape (n_samples,), default=None
            The group of each row: an int `cv`, like the estimator's own folds, never splits a group, and a splitter is
            given them.

        Returns
        -------
        self
        """
        settings, rounds = read_search(self)
        template = clone(self.estimator)
        training_set = read_training(template, X, y, sample_weight, groups)
        columns = columns_of(template)
        grid = Grid(
            self.estimator,
            settings,
            columns[1],
            *read_costs(self.costs, training_set.classes, training_set.rows.class_weight, training_set.negative_class),
            rounds,
        )
        scorer = read_scoring(self.scoring, training_set, template)
        formula = without_predicting(self.scoring, training_set, settings)

        def scores(everyone: list[Trained], training_set: TrainingSet, judged: TrainingSet) -> Array:
            """Of each cost (row) and number of rounds (column) on the judged rows."""
            if formula is not None:
                return np.array([scores_by_counts(formula, each, judged, rounds) for each in everyone])
            rows = judged.table.native, judged.classes[judged.y], None if sample_weight is None else judged.weight
            models = [[grid.model(i, each, T, training_set) for T in rounds] for i, each in enumerate(everyone)]
            with unseen_ignored():
                return np.array([[score(scorer, model, *rows) for model in of_costs] for of_costs in models])

        with Threads(settings.n_threads) as threads:
            if self.cv is None:
                trained = dict(enumerate(_train_all(grid.tries, training_set, None, threads)))
                by_split = [scores(list(trained.values()), training_set, training_set)]
            else:
                folds = [
                    (training_set.subset(training), training_set.subset(judged))
                    for training, judged in _folds(self.cv, training_set, y, groups)
                ]
                by_split = [scores(_train_all(grid.tries, *fold, threads), *fold) for fold in folds]
            kind = "train" if self.cv is None else "test"
            mean = np.mean(by_split, axis=0)
            _check_defined(np.array(by_split), mean, kind)
            best = [int(ranks(of_rounds).argmin()) for of_rounds in mean.T]  # the first of equal ones
            if self.cv is not None:
                again = sorted(set(best))
                refitted = _train_all([grid.tries[i] for i in again], training_set, None, threads)
                trained = dict(zip(again, refitted, strict=True))

        found = [
            Best(grid.by_label[i], T, float(mean[i, t]), grid.model(i, trained[i], T, training_set))
            for t, (T, i) in enumerate(zip(rounds, best, strict=True))
        ]
        t = int(ranks(np.array([each.score for each in found])).argmin())
        self.best_by_rounds_ = dict(zip(rounds, found, strict=True))
        self.best_costs_, self.best_n_estimators_, self.best_score_, self.best_estimator_ = found[t]
        self.best_index_ = best[t] * len(rounds) + t
        self.cv_results_ = _results(grid, by_split, kind)
        self.n_splits_ = 0 if self.cv is None else len(by_split)
        self.scorer_ = scorer
        self.classes_ = training_set.classes
        set_columns(self, *columns)
        if trained[best[t]].failed:
            warnings.warn(
                "with the best costs already the first weak learner is no better than chance; it is kept alone",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    predict = _of_best("predict")
    predict_proba = _of_best("predict_proba")
    decision_function = _of_best("decision_function")
    shape_functions = _of_best("shape_functions")
    explain = _of_best("explain")

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """What the search maximised, of the best estimator on these rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        y : array of shape (n_samples,)
            Their labels.
        sample_weight : array of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float
        """
        best = self._best()
        return score(self.scorer_, best, X, y, sample_weight)

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, BaseBoosting):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def read_search(search: CostSearchCV) -> tuple[Settings, list[int]]:
    """The settings of the estimator, with the largest number of rounds, and all numbers of rounds, checked."""
    if not isinstance(search.estimator, BaseBoosting):
        raise TypeError(f"estimator must be a classifier of adacc that takes costs, got {search.estimator!r}")
    settings = settings_of(search.estimator)
    if not settings.rule.uses_costs:
        able = ", ".join(name for name, method in METHODS.items() if method.rule.uses_costs)
        raise ValueError(f"{search.estimator!r} takes no costs to search; those that do are {able}")
    if settings.patience is not None:
        raise ValueError("n_iter_no_change must be None in a cost search: give `rounds` to try instead")
    rounds = search.rounds
    if rounds is None:
        rounds = [settings.n_rounds]
    if not _is_list(rounds):
        raise ValueError(f"rounds must be a list of numbers of rounds, got {rounds!r}")
    rounds = sorted({whole(f"rounds[{at}]", n_rounds, least=1) for at, n_rounds in enumerate(rounds)})
    return replace(settings, n_rounds=rounds[-1]), rounds


def _is_list(value: Any) -> bool:
    """Whether it is a sequence of something."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and len(value) > 0
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0


def read_costs(
    costs: Any, classes: NDArray[Any], class_weight: Array, negative_class: int
) -> tuple[list[Any], list[dict[Any, float]]]:
    """The costs to try: as the estimator takes them, and as one number per label."""
    labels = classes.tolist()
    costs = _paper_grid(labels, class_weight, negative_class) if costs is None else costs
    if not _is_list(costs):
        raise ValueError(f"costs must be a list of costs to try, each a dict, a sequence or 'balanced', got {costs!r}")
    by_label = []
    for at, each in enumerate(costs):
        try:
            values = class_costs(each, classes, class_weight).tolist()
        except (TypeError, ValueError) as error:
            raise type(error)(f"costs[{at}]: {error}") from None
        if not isinstance(each, str):  # as the user gave them, which may be larger than 1
            values = [float(value) for value in ([each[label] for label in labels] if hasattr(each, "keys") else each)]
        by_label.append(dict(zip(labels, values, strict=True)))
    return list(costs), by_label


def _paper_grid(labels: list[Any], class_weight: Array, negative_class: int) -> list[dict[Any, float]]:
    """1 for the positive class, 0.1 ... 1 for the other; of more classes, ten steps from equal to balanced costs."""
    if len(labels) == 2:
        negative = labels[negative_class]
        return [{label: step / 10 if label == negative else 1.0 for label in labels} for step in range(1, 11)]
    rarity = class_weight.min() / class_weight
    return [dict(zip(labels, (rarity**power).tolist(), strict=True)) for power in np.linspace(0.0, 1.0, 10)]


def _train_all(
    tries: list[Settings], training_set: TrainingSet, held_out: TrainingSet | None, threads: Threads
) -> list[Trained]:
    """A model for each try, all on the same codes; as many at a time as there are threads."""
    session = FitSession(tries[0], training_set, held_out, None, threads, several=True)
    alike = [tries] if tries[0].rule.costs_decide_only else [[settings] for settings in tries]
    trained = threads.each(lambda several: train_on(session, several, Threads(1)), alike)
    return [each for several in trained for each in several]


def _folds(
    cv: Any, training_set: TrainingSet, y: ArrayLike, groups: Any
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and judged rows of each fold, numbered as in the training_set: rows without weight are not in it."""
    labels = np.asarray(y)
    check_consistent_length(labels, groups)
    place = np.full(len(labels), -1)
    place[training_set.numbers] = np.arange(len(training_set.numbers))
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for fold in make_splitter(cv, labels, groups).split(np.zeros(len(labels)), labels, groups):
        training, judged = _fold_rows(fold, place, len(folds))
        missing = np.setdiff1d(np.arange(len(training_set.classes)), training_set.y[training])
        if len(missing):
            label = training_set.classes.tolist()[missing[0]]
            raise ValueError(f"the training part of fold {len(folds)} has no row of class {label!r}")
        if len(judged) == 0:
            raise ValueError(f"fold {len(folds)} has no row of positive weight to judge by")
        folds.append((training, judged))
    if not folds:
        raise ValueError(f"cv gives no folds, got {cv!r}; a generator gives its folds only once")
    return folds


def _fold_rows(fold: Any, place: NDArray[np.intp], number: int) -> list[NDArray[np.intp]]:
    """Training and judged rows of a fold, each given by the numbers of the user's rows, or by a mask."""
    parts = [np.asarray(rows) for rows in fold]
    parts = [np.flatnonzero(part) if part.dtype == bool and part.shape == place.shape else part for part in parts]
    if any(part.ndim != 1 or (len(part) and part.dtype.kind not in "iu") for part in parts):
        raise ValueError(f"cv: fold {number} must be two arrays of row numbers, got {fold!r:.60}")
    if any(len(part) and not -len(place) <= part.min() <= part.max() < len(place) for part in parts):
        raise ValueError(f"cv: fold {number} has numbers of rows beyond the {len(place)} there are")
    return [(found := place[part.astype(np.intp)])[found >= 0] for part in parts]


def _check_defined(by_split: Array, mean: Array, kind: str) -> None:
    """Warn of scores that are NaN, or raise an error where no costs have a mean score that is not."""
    n_undefined = int(np.isnan(by_split).sum())
    if n_undefined == 0:
        return
    undefined = f"{n_undefined} of the {by_split.size} {kind} scores are NaN"
    if np.isnan(mean).all():
        raise ValueError(
            f"scoring must give a number in every fold for some costs, but {undefined}; a scorer of scikit-learn gives "
            "NaN where a fold lacks a class, or where the score is not defined for the model's predictions"
        )
    warnings.warn(f"{undefined}; costs whose mean score is NaN are ranked last", UserWarning, stacklevel=3)


def _results(grid: Grid, by_split: list[Array], kind: str) -> dict[str, Any]:
    params = [{"costs": by_label, "n_estimators": T} for by_label in grid.by_label for T in grid.rounds]
    splits = np.array([scores.ravel() for scores in by_split])
    mean = splits.mean(axis=0)
    return {
        "params": params,
        "param_costs": [each["costs"] for each in params],
        "param_n_estimators": [each["n_estimators"] for each in params],
        **{f"split{i}_{kind}_score": scores for i, scores in enumerate(splits)},
        f"mean_{kind}_score": mean,
        f"std_{kind}_score": splits.std(axis=0),
        f"rank_{kind}_score": ranks(mean),
    }

"""Cost search: all candidate costs are boosted on the same binned data, and one fit serves all numbers of rounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from adacc.algorithms import METHODS
from adacc.algorithms.base import Array
from adacc.boosting.session import FitSession, Trained, train, train_on
from adacc.boosting.settings import Settings
from adacc.costs import class_costs, cost_matrix, is_cost_matrix
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.estimators.base import restore
from adacc.estimators.booster import BaseBoosting, finish_model, settings_of, splits_rows
from adacc.estimators.decisions import columns_in
from adacc.estimators.duplicates import keep_copies_together
from adacc.estimators.folds import is_number_of_folds, on_training_rows, search_folds
from adacc.estimators.input_validation import columns_of, read_training, set_columns
from adacc.estimators.monotonic import constrain
from adacc.estimators.scoring import ranks, read_scoring, score, scores_by_counts, without_predicting
from adacc.estimators.settings import check_growth, check_takes_row_costs, whole
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.model.decision_spec import DecisionSpec, read_decision
from adacc.model.fitted import FittedModel

PAPER_COSTS = tuple(step / 10 for step in range(1, 11))
"""Candidate costs of the negative class in the AdaCC paper; that of the positive class is 1."""


class Best(NamedTuple):
    """The best candidate of a search."""

    costs: dict[Any, float]
    n_estimators: int
    score: float
    estimator: Any


@dataclass(frozen=True)
class Grid:
    """The candidates: costs (as the estimator takes them, and by label) and numbers of rounds."""

    estimator: Any
    settings: Settings
    feature_names: tuple[str, ...] | None
    costs: list[Any]
    by_label: list[dict[Any, float]]
    rounds: list[int]

    @cached_property
    def candidates(self) -> list[Settings]:
        """The settings with each of the costs."""
        return [self.settings.with_costs(costs) for costs in self.costs]

    def model(
        self, i: int, trained: Trained, n_rounds: int, training_set: TrainingSet, spec: DecisionSpec | None = None,
        columns: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> Any:  # fmt: skip
        """The fitted estimator with the i-th costs and the first `n_rounds` rounds of the trained ensemble.

        The decision rule `spec` is tuned with the columns that it names.
        """
        model = clone(self.estimator).set_params(costs=self.costs[i], n_estimators=n_rounds)
        ensemble = trained.ensemble.first(min(n_rounds, trained.ensemble.n_rounds))
        fitted = FittedModel(ensemble, training_set.classes, training_set.table.n_columns, self.feature_names)
        return restore(model, finish_model(fitted, training_set, self.candidates[i], spec, columns))


def _of_best(name: str) -> Callable[..., Any]:
    """A method of the search that delegates to the best estimator."""

    @wraps(getattr(BaseBoosting, name))
    def method(self: CostSearchCV, *args: Any, **options: Any) -> Any:
        return getattr(self._best(), name)(*args, **options)

    return method


class CostSearchCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Search for the best misclassification costs of a cost-sensitive method.

    The search takes the time of a few fits: the data are binned once, all costs are boosted on the same bins, and every
    smaller number of rounds is a prefix of the largest, so that additional `rounds` cost almost no time.

    Parameters
    ----------
    estimator : classifier of adacc
        Classifier whose method takes costs, such as ``CGAdaClassifier()``; its own `costs` are ignored. Its `n_jobs` is
        the number of candidates that are fitted in parallel. Candidates are scored by their predictions, with the
        `decision` of the classifier if it has one: the rule is tuned for each of them on its own training rows, which
        takes as many fits as folds of `calibration_cv`.
    costs : list, default=None
        Candidate costs, each in a form that the estimator takes: a dict {label: cost}, one number per class, a matrix
        (listed by its mean cost of each class), or "balanced". None uses the grid of the AdaCC paper for two classes: 1
        for the positive class and 0.1, 0.2, ..., 1 for the negative class; for more classes, ten steps from equal to
        balanced costs.
    scoring : str or callable, default="f1"
        Metric to maximize: the name of a scikit-learn scorer, or a callable ``scorer(estimator, X, y)``. "f1",
        "precision", "recall", "jaccard", "average_precision" and "neg_brier_score" refer to the positive class (the
        `pos_label` of the estimator; by default the rarer class); for more than two classes the first four are macro
        averages. A callable receives ``sample_weight`` if it takes that parameter. Costs whose mean score is NaN are
        ranked last.
    cv : int, splitter, iterable or "training", default=5
        Cross-validation as in scikit-learn; the estimator is then refitted on all rows with the best costs. Folds whose
        training rows lack a class, or that hold out no row, are skipped. "training" scores on the training rows, as in
        the paper, which is fast but optimistic.
    rounds : list of int, default=None
        Candidate numbers of rounds. None: the `n_estimators` of the estimator.

    Attributes
    ----------
    best_costs_ : dict
        The best costs, by label.
    best_n_estimators_ : int
        The best number of rounds.
    best_score_ : float
        Score of the best costs and number of rounds.
    best_index_ : int
        Index of the best candidate in ``cv_results_``.
    best_estimator_ : classifier
        Estimator fitted on all rows with the best costs and number of rounds.
    best_by_rounds_ : dict
        The best candidate for each of `rounds`: ``costs``, ``n_estimators``, ``score`` and the fitted ``estimator``.
        The score is NaN if it is NaN for all costs.
    cv_results_ : dict of lists and ndarrays
        One entry per pair of costs and number of rounds, with the names of `GridSearchCV`: ``params``,
        ``param_costs``, ``param_n_estimators``, ``split0_test_score`` ..., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``. With ``cv="training"`` the names have ``train`` instead of ``test``.
    scorer_ : callable
        The scorer that was maximized.
    n_splits_ : int
        Number of folds that are scored; 0 without cross-validation.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from adacc import CGAdaClassifier, CostSearchCV
    >>> X, digit = load_digits(return_X_y=True)
    >>> search = CostSearchCV(CGAdaClassifier(), rounds=[25, 50, 100]).fit(X, digit == 8)
    >>> search.best_costs_, search.best_n_estimators_
    ({False: 0.8, True: 1.0}, 100)
    >>> {T: best.costs[False] for T, best in search.best_by_rounds_.items()}
    {25: 0.4, 50: 0.3, 100: 0.8}
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(self, estimator: Any, costs: Any = None, scoring: Any = "f1", cv: Any = 5, rounds: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.scoring = scoring
        self.cv = cv
        self.rounds = rounds

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_cost: ArrayLike | None = None,
    ) -> CostSearchCV:
        """Run the search, and fit the estimator with the best candidate.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As in the `fit` of the estimator.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, also in the scores.
        groups : array of shape (n_samples,), default=None
            Group of each row. The folds of an int `cv` and of the estimator's own cross-validation do not split groups;
            a splitter receives them.
        sample_cost : array of shape (n_samples,), default=None
            Cost of misclassifying each row, by which the candidate costs of its class are multiplied; see the `fit` of
            the estimator.

        Returns
        -------
        self
        """
        settings, rounds = read_search(self)
        spec = None if self.estimator.decision is None else read_decision(self.estimator.decision)
        without_cv = on_training_rows(self.cv)
        template = clone(self.estimator)
        check_takes_row_costs(settings, sample_cost)
        training_set = read_training(template, X, y, sample_weight, groups, sample_cost=sample_cost)
        check_growth(settings.growth, len(training_set.y), training_set.table.n_columns)
        splits = is_number_of_folds(self.cv) or splits_rows(settings, spec)
        training_set = keep_copies_together(training_set, template.duplicates, splits)
        settings = constrain(settings, template, training_set.table.categorical, len(training_set.classes))
        columns = columns_of(template)
        grid = Grid(
            self.estimator,
            settings,
            columns[1],
            *read_costs(self.costs, training_set.classes, training_set.rows.class_weight, training_set.negative_class),
            rounds,
        )
        scorer = read_scoring(self.scoring, training_set, template)
        formula = None if spec is not None else without_predicting(self.scoring, training_set, settings)
        of_rule = columns_in(X, spec)

        def scores(trained: list[Trained], training_set: TrainingSet, test: TrainingSet) -> Array:
            """Scores on the test rows, by costs (rows) and number of rounds (columns)."""
            if formula is not None:
                return np.array([scores_by_counts(formula, each, test, rounds) for each in trained])
            rows = test.table.native, test.classes[test.y], None if sample_weight is None else test.weight
            with unseen_ignored(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "the decision ", UserWarning)  # the best model warns
                models = [
                    [grid.model(i, each, T, training_set, spec, of_rule) for T in rounds]
                    for i, each in enumerate(trained)
                ]
                return np.array([[score(scorer, model, *rows) for model in of_costs] for of_costs in models])

        folds = None
        if not without_cv:
            folds = [
                (training_set.subset(training), training_set.subset(test))
                for training, test in search_folds(self.cv, training_set, y, groups)
            ]
        with Threads(settings.n_threads) as threads:
            by_split, mean, best, trained = _search(grid, scores, training_set, folds, threads)

        winners = [
            Best(grid.by_label[i], T, float(mean[i, t]), grid.model(i, trained[i], T, training_set, spec, of_rule))
            for t, (T, i) in enumerate(zip(rounds, best, strict=True))
        ]
        t = int(ranks(np.array([each.score for each in winners])).argmin())
        self.best_by_rounds_ = dict(zip(rounds, winners, strict=True))
        self.best_costs_, self.best_n_estimators_, self.best_score_, self.best_estimator_ = winners[t]
        self.best_index_ = best[t] * len(rounds) + t
        self.cv_results_ = _results(grid, by_split, _kind(folds))
        self.n_splits_ = 0 if folds is None else len(by_split)
        self.scorer_ = scorer
        self.classes_ = training_set.classes
        set_columns(self, *columns)
        if trained[best[t]].failed:
            warnings.warn(
                "with the best costs, the first weak learner is no better than chance; the model consists of it alone",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    predict = _of_best("predict")
    predict_proba = _of_best("predict_proba")
    predict_log_proba = _of_best("predict_log_proba")
    decision_function = _of_best("decision_function")
    shape_functions = _of_best("shape_functions")
    explain = _of_best("explain")
    to_shap = _of_best("to_shap")

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score of the best estimator on these rows, by the metric that the search maximized.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        y : array of shape (n_samples,)
            Labels of the rows.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows.

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
    """Validate a search: the settings of the estimator with the largest number of rounds, and all numbers of rounds."""
    if not isinstance(search.estimator, BaseBoosting):
        raise TypeError(f"estimator must be a classifier of adacc that takes costs, got {search.estimator!r}")
    settings = settings_of(search.estimator)
    if not settings.rule.uses_costs:
        allowed = ", ".join(name for name, method in METHODS.items() if method.rule.uses_costs)
        raise ValueError(f"estimator must use a method with costs ({allowed}), got {search.estimator!r}")
    if settings.patience is not None:
        raise ValueError(
            f"n_iter_no_change must be None in a cost search, got {settings.patience}; "
            "give the candidate numbers of rounds as `rounds` instead"
        )
    rounds = search.rounds
    if rounds is None:
        rounds = [settings.n_rounds]
    if not _is_list(rounds):
        raise ValueError(f"rounds must be a list of numbers of rounds, got {rounds!r}")
    rounds = sorted({whole(f"rounds[{at}]", n_rounds, least=1) for at, n_rounds in enumerate(rounds)})
    return replace(settings, n_rounds=rounds[-1]), rounds


def _is_list(value: Any) -> bool:
    """Whether the value is a non-empty sequence, but no string."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and len(value) > 0
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0


def read_costs(
    costs: Any, classes: NDArray[Any], class_weight: Array, negative_class: int
) -> tuple[list[Any], list[dict[Any, float]]]:
    """The candidate costs: as the estimator takes them, and as one number per label."""
    labels = classes.tolist()
    costs = _paper_grid(labels, class_weight, negative_class) if costs is None else costs
    if not _is_list(costs):
        raise ValueError(f"costs must be a list of candidates, each a dict, a sequence or 'balanced', got {costs!r}")
    by_label = []
    for at, each in enumerate(costs):
        try:
            values = class_costs(each, classes, class_weight).tolist()
        except (TypeError, ValueError) as error:
            raise type(error)(f"costs[{at}]: {error}") from None
        if is_cost_matrix(each):
            values = (cost_matrix(each, classes).sum(axis=1) / (len(labels) - 1)).tolist()
        elif not isinstance(each, str):  # the user's values, which `class_costs` would scale to a maximum of 1
            values = [float(value) for value in ([each[label] for label in labels] if hasattr(each, "keys") else each)]
        by_label.append(dict(zip(labels, values, strict=True)))
    return list(costs), by_label


def _paper_grid(labels: list[Any], class_weight: Array, negative_class: int) -> list[dict[Any, float]]:
    """Two classes: 1 for the positive, 0.1 ... 1 for the negative; else ten steps from equal to balanced costs."""
    if len(labels) == 2:
        negative = labels[negative_class]
        return [{label: cost if label == negative else 1.0 for label in labels} for cost in PAPER_COSTS]
    rarity = class_weight.min() / class_weight
    return [dict(zip(labels, (rarity**power).tolist(), strict=True)) for power in np.linspace(0.0, 1.0, 10)]


class Searched(NamedTuple):
    """What a search finds; scores are by costs (rows) and number of rounds (columns)."""

    by_split: list[Array]
    mean: Array
    best: list[int]  # index of the best costs, by number of rounds
    trained: dict[int, Trained]  # ensembles on all rows, of the best costs at least


def _search(
    grid: Grid,
    scores: Callable[[list[Trained], TrainingSet, TrainingSet], Array],
    training_set: TrainingSet,
    folds: list[tuple[TrainingSet, TrainingSet]] | None,
    threads: Threads,
) -> Searched:
    """Score the candidates on the test rows of the folds, and train the best on all rows.

    `folds` None: the candidates are scored on the training rows.
    """
    if folds is None:
        trained = dict(enumerate(_train_all(grid.candidates, training_set, None, threads)))
        by_split = [scores(list(trained.values()), training_set, training_set)]
    else:
        by_split = [scores(_train_all(grid.candidates, *fold, threads), *fold) for fold in folds]
    mean = np.mean(by_split, axis=0)
    _check_defined(np.array(by_split), mean, _kind(folds))
    best = [int(ranks(of_rounds).argmin()) for of_rounds in mean.T]  # the first of equal scores
    if folds is not None:
        refit = sorted(set(best))
        refitted = _train_all([grid.candidates[i] for i in refit], training_set, None, threads)
        trained = dict(zip(refit, refitted, strict=True))
    return Searched(by_split, mean, best, trained)


def _kind(folds: Any) -> str:
    """The rows that scores are of, as `cv_results_` names them."""
    return "train" if folds is None else "test"


def _train_all(
    candidates: list[Settings], training_set: TrainingSet, held_out: TrainingSet | None, threads: Threads
) -> list[Trained]:
    """Bin the training rows, and train a model for each candidate."""
    if candidates[0].codes(len(training_set.classes)) is not None:
        return [train(settings, training_set) for settings in candidates]
    session = FitSession(candidates[0], training_set, held_out, None, threads, several=True)
    return train_candidates(session, candidates, threads)


def train_candidates(session: FitSession, candidates: list[Settings], threads: Threads) -> list[Trained]:
    """Train a model for each candidate on the same binned data, one per thread at a time.

    Candidates of a rule whose costs only change the decision share one ensemble.
    """
    groups = [candidates] if candidates[0].rule.costs_decide_only else [[settings] for settings in candidates]
    trained = threads.each(lambda group: train_on(session, group, Threads(1)), groups)
    return [each for group in trained for each in group]


def _check_defined(by_split: Array, mean: Array, kind: str) -> None:
    """Warn if some scores are NaN, and raise an error if the mean score of all candidates is NaN."""
    n_undefined = int(np.isnan(by_split).sum())
    if n_undefined == 0:
        return
    undefined = f"{n_undefined} of the {by_split.size} {kind} scores are NaN"
    if np.isnan(mean).all():
        raise ValueError(
            f"scoring must return a number in every fold for some costs, but {undefined}; scikit-learn's scorers "
            "return NaN if a fold lacks a class, or if the score is not defined for the model's predictions"
        )
    warnings.warn(f"{undefined}; costs whose mean score is NaN are ranked last", UserWarning, stacklevel=4)


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

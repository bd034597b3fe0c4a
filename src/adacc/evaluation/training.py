"""Training of one model by the name of its method, as `adacc train` and the comparison do it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import FORESTS
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.classifiers import BoostingClassifier
from adacc.estimators.folds import TimeSplit
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.estimators.search import CostSearchCV
from adacc.evaluation.baseline_models import FOREST_TIME_FOLDS
from adacc.evaluation.measure_scorer import scoring_of

CALIBRATION_FOLDS = 5


def fit_method(
    method: str,
    X: Any,
    y: NDArray[Any],
    pos_label: Any = None,  # the positive class of two; None: the rarer class
    rounds: int | None = None,  # `n_estimators`; None: the default of the method's class
    seed: int = 0,
    costs: Any = None,  # "balanced" or costs by label, instead of a search
    # Fitted to out-of-fold scores of five folds; of a forest to out-of-bag scores. None: the default of the method.
    calibration: str | None = None,
    groups: NDArray[Any] | None = None,  # inner splits keep them together or, if `in_time`, follow them as times
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    decision: Any = None,  # the decision rule, tuned on rows that are held out as for the calibration
    metric: str | None = None,  # what tuned costs maximize, a name of `adacc.evaluation.measures`; None: F1 or macro F1
    n_jobs: int | None = None,  # number of threads, which does not change the model
    duplicates: str = "auto",  # whether inner splits keep equal rows together, if there are no groups
) -> BaseAdditiveClassifier:
    """Fit a method; unless `costs` are given, costs are tuned on the training rows, by F1 as in the paper."""
    chosen = make_estimator(
        method, pos_label, rounds, seed, costs, calibration, in_time, monotonic_cst, metric, n_jobs, duplicates
    )
    if decision is not None:
        model = chosen.estimator if isinstance(chosen, CostSearchCV) else chosen
        model.set_params(decision=decision)
        if in_time and isinstance(model, BaseBoosting):
            model.set_params(calibration_cv=TimeSplit(CALIBRATION_FOLDS))
    chosen = chosen.fit(X, y, groups=groups)
    fitted = chosen.best_estimator_ if isinstance(chosen, CostSearchCV) else chosen
    return fitted.set_params(n_jobs=None)


def make_estimator(
    method: str,
    pos_label: Any = None,
    rounds: int | None = None,
    seed: int = 0,
    costs: Any = None,
    calibration: str | None = None,
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    metric: str | None = None,
    n_jobs: int | None = None,
    duplicates: str = "auto",
) -> BaseAdditiveClassifier | CostSearchCV:
    """The unfitted estimator of `fit_method`; a forest for F1 tunes its threshold for it."""
    if method not in FORESTS:
        return make_booster(
            method, pos_label, rounds, seed, costs, calibration, in_time, monotonic_cst, metric, n_jobs, duplicates
        )
    if costs is not None:
        raise ValueError(f"{method} has no option 'costs' (given {costs!r}); its bags are balanced")
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if in_time else None
    return AdaCCForestClassifier(
        pos_label=pos_label,
        random_state=seed,
        calibration=calibration or "auto",
        tuning_cv=tuning_cv,
        duplicates=duplicates,
        monotonic_cst=monotonic_cst,
        n_jobs=n_jobs,
        objective="f1" if metric == "f1" else "balanced_accuracy",
        **_size(rounds),
    )


def make_booster(
    method: str,
    pos_label: Any,
    rounds: int | None,
    seed: int,
    costs: Any,
    calibration: str | None = None,
    in_time: bool = False,
    monotonic_cst: dict[str, int] | None = None,
    metric: str | None = None,
    n_jobs: int | None = None,
    duplicates: str = "auto",
) -> BaseBoosting | CostSearchCV:
    """The unfitted estimator of `fit_method` for a boosting method."""
    folds = TimeSplit(CALIBRATION_FOLDS) if in_time else CALIBRATION_FOLDS
    model = BoostingClassifier(
        method,
        pos_label=pos_label,
        random_state=seed,
        costs=costs,
        calibration=calibration,
        calibration_cv=None if calibration is None else folds,
        duplicates=duplicates,
        monotonic_cst=monotonic_cst,
        n_jobs=n_jobs,
        **_size(rounds),
    )
    if not METHODS[method].rule.uses_costs or costs is not None:
        return model
    return CostSearchCV(model, scoring="f1" if metric is None else scoring_of(metric), cv="training")


def _size(rounds: int | None) -> dict[str, Any]:
    return {} if rounds is None else {"n_estimators": rounds}

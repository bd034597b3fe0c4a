"""Baselines: methods of other libraries with their defaults, and the AdaCC forest, on one fold.

Boosting methods have scores for every number of rounds T, from one fit if the library can predict with the first T
rounds. Methods without rounds (trees on resampled rows, forests, ensembles of fixed size) report under T = 1, as trees
do in the paper. Each method uses one thread and the random seed of the fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from adacc.algorithms.catalog import FORESTS
from adacc.estimators.classifiers import AdaBoostClassifier
from adacc.estimators.folds import TimeSplit
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.evaluation.fold_data import Array, FoldData, Scores
from adacc.evaluation.predictions import Predictions
from adacc.evaluation.thresholds import tuned_thresholds

if TYPE_CHECKING:
    import pandas as pd


FOREST_TIME_FOLDS = 3
"""Folds in time order for the tuning of a forest; each of them fits a forest."""


@dataclass(frozen=True)
class Baseline:
    """A method: label, description, distribution (on PyPI), function that fits and scores, whether it has rounds.

    `probability` maps the scores to the library's probabilities; most scores are log-odds. With `threshold_folds` the
    threshold is tuned for balanced accuracy on out-of-fold scores, and subtracted from the scores; the probabilities
    do not change, as in scikit-learn's TunedThresholdClassifierCV.
    """

    name: str
    about: str
    library: str
    scores: Callable[[FoldData], Scores]
    boosts: bool = True
    probability: Callable[[Array], Array] = expit
    threshold_folds: int | None = None

    def predict(self, fold: FoldData) -> dict[int, Predictions]:
        """Fit, and predict the test rows; by number of rounds."""
        thresholds = {} if self.threshold_folds is None else tuned_thresholds(self.scores, fold, self.threshold_folds)
        return {
            T: Predictions(scores - thresholds.get(T, 0.0), self.probability(scores))
            for T, scores in self.scores(fold).items()
        }


def _resampled_tree(sampler: str, fold: FoldData) -> Scores:
    """A decision tree on resampled rows with balanced classes."""
    X, X_test = _complete_numbers(fold)
    with threadpool_limits(1):  # the neighbour search has no n_jobs
        X, y = _sampler(sampler, _n_minority(fold), fold.seed).fit_resample(X, fold.y)
    return _probability(DecisionTreeClassifier(random_state=fold.seed).fit(X, y), X_test)


def _sampler(name: str, n_minority: int, seed: int) -> Any:
    if name == "RandomUnderSampler":
        return _library("imblearn.under_sampling").RandomUnderSampler(random_state=seed)
    over_sampling = _library("imblearn.over_sampling")
    if name == "SMOTE" and n_minority > 1:
        return over_sampling.SMOTE(k_neighbors=min(5, n_minority - 1), random_state=seed)
    # SMOTE needs two rows of the minority class; a single row is repeated.
    return over_sampling.RandomOverSampler(random_state=seed)


def _resampling_ensemble(classifier: str, fold: FoldData) -> Scores:
    """An ensemble of imbalanced-learn with its default parameters, including its size."""
    X, X_test = _complete_numbers(fold)
    model = getattr(_library("imblearn.ensemble"), classifier)(n_jobs=1, random_state=fold.seed)
    return _probability(model.fit(X, fold.y), X_test)


def _rusboost(fold: FoldData) -> Scores:
    """imbalanced-learn raises ValueError if the first stump is no better than chance."""
    X, X_test = _complete_numbers(fold)
    stump = DecisionTreeClassifier(max_depth=1)
    boosting = _library("imblearn.ensemble").RUSBoostClassifier
    model = boosting(stump, n_estimators=max(fold.rounds), random_state=fold.seed).fit(X, fold.y)
    return _at_rounds(model.staged_decision_function(X_test), fold.rounds)


def _lightgbm(fold: FoldData, weighted: bool = True, num_leaves: int = 31) -> Scores:
    X, X_test = _native_categories(fold)
    model = (
        _library("lightgbm")
        .LGBMClassifier(
            n_estimators=max(fold.rounds),
            num_leaves=num_leaves,
            is_unbalance=weighted,
            # Without these, LightGBM picks the faster data layout at run time, which changes rounding.
            deterministic=True,
            force_col_wise=True,
            n_jobs=1,
            random_state=fold.seed,
            verbose=-1,
        )
        .fit(X, fold.y)
    )
    return {T: np.asarray(model.predict(X_test, raw_score=True, num_iteration=T)) for T in fold.rounds}


def _shallow_lightgbm(fold: FoldData, weighted: bool = True) -> Scores:
    """200 trees of 8 leaves, instead of the default 100 of 31."""
    (scores,) = _lightgbm(replace(fold, rounds=[200]), weighted, num_leaves=8).values()
    return {1: scores}


def _xgboost(fold: FoldData, weighted: bool = True) -> Scores:
    X, X_test = _native_categories(fold)
    n_others, n_positive = np.bincount(fold.y, minlength=2)
    model = (
        _library("xgboost")
        .XGBClassifier(
            n_estimators=max(fold.rounds),
            scale_pos_weight=float(n_others / n_positive) if weighted else 1.0,
            enable_categorical=True,
            n_jobs=1,
            random_state=fold.seed,
            verbosity=0,
        )
        .fit(X, fold.y)
    )
    return {
        T: model.predict(X_test, output_margin=True, iteration_range=(0, T)).astype(np.float64) for T in fold.rounds
    }


def _hist_gradient_boosting(fold: FoldData, class_weight: str | None = "balanced") -> Scores:
    # The original column names, for its error messages.
    X, X_test = (frame.set_axis(fold.X.columns, axis=1) for frame in _native_categories(fold))
    model = HistGradientBoostingClassifier(
        max_iter=max(fold.rounds),
        class_weight=class_weight,
        categorical_features="from_dtype",
        early_stopping=False,
        random_state=fold.seed,
    )
    with threadpool_limits(1):  # it has no n_jobs
        return _at_rounds(model.fit(X, fold.y).staged_decision_function(X_test), fold.rounds)


def _adaboost(fold: FoldData) -> Scores:
    model = AdaBoostClassifier(n_estimators=max(fold.rounds), n_jobs=1, random_state=fold.seed).fit(fold.X, fold.y)
    return _at_rounds(model.staged_decision_function(fold.X_test), fold.rounds)


def _forest(fold: FoldData) -> Scores:
    """The AdaCC forest with its default parameters, including its number of bags."""
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if fold.in_time else None
    model = AdaCCForestClassifier(pos_label=1, n_jobs=1, random_state=fold.seed, tuning_cv=tuning_cv)
    model.fit(fold.X, fold.y, groups=fold.groups)
    return {1: model.decision_function(fold.X_test)}


def _logistic_regression(fold: FoldData) -> Scores:
    X, X_test = _complete_numbers(fold)
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    with threadpool_limits(1):
        return {1: model.fit(X, fold.y).decision_function(X_test)}


def _n_minority(fold: FoldData) -> int:
    """Number of training rows of the minority class."""
    return int(np.bincount(fold.y, minlength=2).min())


def _at_rounds(stages: Iterable[Array], rounds: list[int]) -> Scores:
    """The scores after each number of rounds, or after the last round if boosting stopped before."""
    by_rounds: Scores = {}
    for T, last in enumerate(stages, start=1):
        if T in rounds:
            by_rounds[T] = last
    return {T: by_rounds.get(T, last) for T in rounds}


def _probability(model: Any, X_test: Array) -> Scores:
    return {1: model.predict_proba(X_test)[:, 1] - 0.5}


def _from_probability(scores: Array) -> Array:
    """The inverse of `_probability`."""
    return scores + 0.5


def _from_half_log_odds(scores: Array) -> Array:
    return expit(2.0 * scores)


def _complete_numbers(fold: FoldData) -> tuple[Array, Array]:
    """Training and test rows as arrays, for methods that support neither categories nor missing values.

    Categories are one-hot encoded, with missing as a category. Missing numbers become the median of the training rows,
    or 0 if all are missing.
    """
    categories = list(fold.X.select_dtypes("category"))
    encoder = ColumnTransformer(
        [
            (
                "numbers",
                SimpleImputer(strategy="median", keep_empty_features=True),
                list(fold.X.columns.drop(categories)),
            ),
            ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
        ]
    )
    return encoder.fit_transform(fold.X), encoder.transform(fold.X_test)


def _native_categories(fold: FoldData) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows for methods that support `category` columns; unseen categories become missing.

    Columns are numbered, because LightGBM and XGBoost reject some characters in names.
    """
    known = {name: column.cat.categories for name, column in fold.X.select_dtypes("category").items()}
    X_test = fold.X_test.assign(**{name: fold.X_test[name].cat.set_categories(of) for name, of in known.items()})
    numbers = [f"x{i}" for i in range(fold.X.shape[1])]
    return fold.X.set_axis(numbers, axis=1), X_test[fold.X.columns].set_axis(numbers, axis=1)


def _library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'this baseline needs {module.split(".")[0]}: pip install "adacc[compare]"') from error


def _of_imblearn(
    name: str, about: str, scores: Callable[[FoldData], Scores], threshold_folds: int | None = None
) -> Baseline:
    """A method of imbalanced-learn without rounds."""
    return Baseline(
        name, about, "imbalanced-learn", scores, boosts=False, probability=_from_probability,
        threshold_folds=threshold_folds,
    )  # fmt: skip


BASELINES = {
    "adacc-forest": Baseline(
        FORESTS["adacc-forest"].label,
        f"{FORESTS['adacc-forest'].summary[0].upper()}{FORESTS['adacc-forest'].summary[1:]}.",
        "adacc",
        _forest,
        boosts=False,
        probability=_from_half_log_odds,
    ),
    "smote-tree": _of_imblearn(
        "SMOTE + D.T.", "A decision tree after SMOTE oversampling of the rare class.", partial(_resampled_tree, "SMOTE")
    ),
    "ros-tree": _of_imblearn(
        "ROS + D.T.",
        "A decision tree after random oversampling of the rare class.",
        partial(_resampled_tree, "RandomOverSampler"),
    ),
    "rus-tree": _of_imblearn(
        "RUS + D.T.",
        "A decision tree after random undersampling of the common class.",
        partial(_resampled_tree, "RandomUnderSampler"),
    ),
    "imblearn-rusboost": Baseline(
        "RUSBoost (imblearn)",
        "AdaBoost with random undersampling of the common class in each round.",
        "imbalanced-learn",
        _rusboost,
    ),
    "lightgbm": Baseline("LightGBM", "Gradient boosted trees with class weights.", "lightgbm", _lightgbm),
    "xgboost": Baseline("XGBoost", "Gradient boosted trees with class weights.", "xgboost", _xgboost),
    "hist-gradient-boosting": Baseline(
        "HistGradientBoosting",
        "Gradient boosted trees with class weights.",
        "scikit-learn",
        _hist_gradient_boosting,
    ),
    "balanced-random-forest": _of_imblearn(
        "Balanced R.F.",
        "A random forest; each tree is fitted to a balanced bootstrap sample.",
        partial(_resampling_ensemble, "BalancedRandomForestClassifier"),
    ),
    "easy-ensemble": _of_imblearn(
        "EasyEnsemble",
        "Bagging of AdaBoost, each fitted to a balanced sample.",
        partial(_resampling_ensemble, "EasyEnsembleClassifier"),
    ),
    "lightgbm-shallow": Baseline(
        "LightGBM, shallow",
        "Gradient boosted trees of eight leaves with class weights.",
        "lightgbm",
        _shallow_lightgbm,
        boosts=False,
    ),
    "balanced-random-forest-threshold": _of_imblearn(
        "Balanced R.F. + threshold",
        "A balanced random forest with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(_resampling_ensemble, "BalancedRandomForestClassifier"),
        threshold_folds=3,
    ),
    "easy-ensemble-threshold": _of_imblearn(
        "EasyEnsemble + threshold",
        "EasyEnsemble with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(_resampling_ensemble, "EasyEnsembleClassifier"),
        threshold_folds=3,
    ),
    "lightgbm-threshold": Baseline(
        "LightGBM + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(_lightgbm, weighted=False),
        threshold_folds=3,
    ),
    "lightgbm-shallow-threshold": Baseline(
        "LightGBM, shallow + threshold",
        "Gradient boosted trees of eight leaves with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(_shallow_lightgbm, weighted=False),
        boosts=False,
        threshold_folds=3,
    ),
    "xgboost-threshold": Baseline(
        "XGBoost + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "xgboost",
        partial(_xgboost, weighted=False),
        threshold_folds=3,
    ),
    "adaboost-threshold": Baseline(
        "AdaBoost + threshold",
        "AdaBoost with the threshold of best balanced accuracy on out-of-fold scores.",
        "adacc",
        _adaboost,
        probability=_from_half_log_odds,
        threshold_folds=5,
    ),
    "hist-gradient-boosting-threshold": Baseline(
        "HistGB + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "scikit-learn",
        partial(_hist_gradient_boosting, class_weight=None),
        threshold_folds=5,
    ),
    "logistic-regression": Baseline(
        "Logistic regression",
        "Logistic regression on standardised features with class weights.",
        "scikit-learn",
        _logistic_regression,
        boosts=False,
    ),
}

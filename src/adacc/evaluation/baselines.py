"""What the family is compared with: methods of other libraries, as they come, and our forest, on one fold.

Methods that boost have scores for every number of rounds T, from one fit where the library can predict with its first T
rounds. A method without rounds (a tree on resampled rows, a forest, an ensemble of fixed size) reports under T = 1, as
trees do in the paper. Each uses one thread, and the seed decides all that is random.
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
from adacc.evaluation.folds import Array, Fold, Scores
from adacc.evaluation.predictions import Predictions
from adacc.evaluation.thresholds import tuned_thresholds

if TYPE_CHECKING:
    import pandas as pd


FOREST_TIME_FOLDS = 3
"""Folds forward in time that a forest is tuned on, where rows have times: each takes a forest."""


@dataclass(frozen=True)
class Baseline:
    """A method: its label in tables, what it is, the distribution it comes from, its scores, whether it has rounds.

    `probability` turns the scores into the library's own probabilities: most are log-odds. With `threshold_folds` the
    threshold of best balanced accuracy on the rows that so many folds hold out decides instead of 0; the probabilities
    stay the library's own, as those of scikit-learn's TunedThresholdClassifierCV do.
    """

    name: str
    about: str
    library: str
    scores: Callable[[Fold], Scores]
    boosts: bool = True
    probability: Callable[[Array], Array] = expit
    threshold_folds: int | None = None

    def found(self, fold: Fold) -> dict[int, Predictions]:
        """By number of rounds."""
        thresholds = {} if self.threshold_folds is None else tuned_thresholds(self.scores, fold, self.threshold_folds)
        return {
            T: Predictions(scores - thresholds.get(T, 0.0), self.probability(scores))
            for T, scores in self.scores(fold).items()
        }


def _resampled_tree(sampler: str, fold: Fold) -> Scores:
    """A decision tree on as many rows of one class as of the other."""
    X, X_test = _complete_numbers(fold)
    with threadpool_limits(1):  # the search for neighbours takes all cores otherwise
        X, y = _sampler(sampler, _rarer(fold), fold.seed).fit_resample(X, fold.y)
    return _probability(DecisionTreeClassifier(random_state=fold.seed).fit(X, y), X_test)


def _sampler(name: str, n_rarer: int, seed: int) -> Any:
    if name == "RandomUnderSampler":
        return _library("imblearn.under_sampling").RandomUnderSampler(random_state=seed)
    over_sampling = _library("imblearn.over_sampling")
    if name == "SMOTE" and n_rarer > 1:
        return over_sampling.SMOTE(k_neighbors=min(5, n_rarer - 1), random_state=seed)
    # SMOTE, too, can but repeat a single row.
    return over_sampling.RandomOverSampler(random_state=seed)


def _resampling_ensemble(classifier: str, fold: Fold) -> Scores:
    """An ensemble of imbalanced-learn with its own defaults, the number of its members among them."""
    X, X_test = _complete_numbers(fold)
    model = getattr(_library("imblearn.ensemble"), classifier)(n_jobs=1, random_state=fold.seed)
    return _probability(model.fit(X, fold.y), X_test)


def _rusboost(fold: Fold) -> Scores:
    """Raises ValueError where already the first stump is no better than chance."""
    X, X_test = _complete_numbers(fold)
    stump = DecisionTreeClassifier(max_depth=1)
    boosting = _library("imblearn.ensemble").RUSBoostClassifier
    model = boosting(stump, n_estimators=max(fold.rounds), random_state=fold.seed).fit(X, fold.y)
    return _at_rounds(model.staged_decision_function(X_test), fold.rounds)


def _lightgbm(fold: Fold, weighted: bool = True, num_leaves: int = 31) -> Scores:
    X, X_test = _native_categories(fold)
    model = (
        _library("lightgbm")
        .LGBMClassifier(
            n_estimators=max(fold.rounds),
            num_leaves=num_leaves,
            is_unbalance=weighted,
            # Otherwise the layout of the data is whichever is faster at the moment, and sums are rounded accordingly.
            deterministic=True,
            force_col_wise=True,
            n_jobs=1,
            random_state=fold.seed,
            verbose=-1,
        )
        .fit(X, fold.y)
    )
    return {T: np.asarray(model.predict(X_test, raw_score=True, num_iteration=T)) for T in fold.rounds}


def _shallow_lightgbm(fold: Fold, weighted: bool = True) -> Scores:
    """Twice as many trees as by default, of a quarter of the leaves."""
    (scores,) = _lightgbm(replace(fold, rounds=[200]), weighted, num_leaves=8).values()
    return {1: scores}


def _xgboost(fold: Fold, weighted: bool = True) -> Scores:
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


def _hist_gradient_boosting(fold: Fold, class_weight: str | None = "balanced") -> Scores:
    # It takes any name, and its errors name columns.
    X, X_test = (part.set_axis(fold.X.columns, axis=1) for part in _native_categories(fold))
    model = HistGradientBoostingClassifier(
        max_iter=max(fold.rounds),
        class_weight=class_weight,
        categorical_features="from_dtype",
        early_stopping=False,
        random_state=fold.seed,
    )
    with threadpool_limits(1):  # it has no n_jobs
        return _at_rounds(model.fit(X, fold.y).staged_decision_function(X_test), fold.rounds)


def _adaboost(fold: Fold) -> Scores:
    model = AdaBoostClassifier(n_estimators=max(fold.rounds), n_jobs=1, random_state=fold.seed).fit(fold.X, fold.y)
    return _at_rounds(model.staged_decision_function(fold.X_test), fold.rounds)


def _forest(fold: Fold) -> Scores:
    """With its own defaults, the number of its bags among them."""
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if fold.in_time else None
    model = AdaCCForestClassifier(pos_label=1, n_jobs=1, random_state=fold.seed, tuning_cv=tuning_cv)
    model.fit(fold.X, fold.y, groups=fold.groups)
    return {1: model.decision_function(fold.X_test)}


def _logistic_regression(fold: Fold) -> Scores:
    X, X_test = _complete_numbers(fold)
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    with threadpool_limits(1):
        return {1: model.fit(X, fold.y).decision_function(X_test)}


def _rarer(fold: Fold) -> int:
    """Training rows of the rarer class."""
    return int(np.bincount(fold.y, minlength=2).min())


def _at_rounds(stages: Iterable[Array], rounds: list[int]) -> Scores:
    """The scores after the asked rounds; after the last one where boosting ended before."""
    found: Scores = {}
    for T, last in enumerate(stages, start=1):
        if T in rounds:
            found[T] = last
    return {T: found.get(T, last) for T in rounds}


def _probability(model: Any, X_test: Array) -> Scores:
    return {1: model.predict_proba(X_test)[:, 1] - 0.5}


def _from_probability(scores: Array) -> Array:
    """Back from what `_probability` gives."""
    return scores + 0.5


def _from_half_log_odds(scores: Array) -> Array:
    return expit(2.0 * scores)


def _complete_numbers(fold: Fold) -> tuple[Array, Array]:
    """Training and test rows as arrays, for methods that take neither categories nor gaps.

    Categories become one column for each that the training rows have, a gap among them being one of its own; a gap in a
    numeric column becomes the median of the training rows, and 0 where they have nothing but gaps.
    """
    categories = list(fold.X.select_dtypes("category"))
    coder = ColumnTransformer(
        [
            (
                "numbers",
                SimpleImputer(strategy="median", keep_empty_features=True),
                list(fold.X.columns.drop(categories)),
            ),
            ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
        ]
    )
    return coder.fit_transform(fold.X), coder.transform(fold.X_test)


def _native_categories(fold: Fold) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows for methods that read `category` columns: a category new to them is a gap.

    Columns go by number, because LightGBM and XGBoost refuse some signs in names.
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
    name: str, about: str, scores: Callable[[Fold], Scores], threshold_folds: int | None = None
) -> Baseline:
    """One without rounds."""
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
        "SMOTE + D.T.", "A decision tree; synthetic rows fill up the rare class.", partial(_resampled_tree, "SMOTE")
    ),
    "ros-tree": _of_imblearn(
        "ROS + D.T.",
        "A decision tree; rare rows are repeated at random.",
        partial(_resampled_tree, "RandomOverSampler"),
    ),
    "rus-tree": _of_imblearn(
        "RUS + D.T.",
        "A decision tree; common rows are left out at random.",
        partial(_resampled_tree, "RandomUnderSampler"),
    ),
    "imblearn-rusboost": Baseline(
        "RUSBoost (imblearn)",
        "AdaBoost; each round leaves out common rows at random.",
        "imbalanced-learn",
        _rusboost,
    ),
    "lightgbm": Baseline("LightGBM", "Gradient boosted trees, the classes weighted.", "lightgbm", _lightgbm),
    "xgboost": Baseline("XGBoost", "Gradient boosted trees, the classes weighted.", "xgboost", _xgboost),
    "hist-gradient-boosting": Baseline(
        "HistGradientBoosting",
        "Gradient boosted trees, the classes weighted.",
        "scikit-learn",
        _hist_gradient_boosting,
    ),
    "balanced-random-forest": _of_imblearn(
        "Balanced R.F.",
        "A random forest, each tree on as many common rows as rare ones.",
        partial(_resampling_ensemble, "BalancedRandomForestClassifier"),
    ),
    "easy-ensemble": _of_imblearn(
        "EasyEnsemble",
        "AdaBoosts, each on as many common rows as rare ones.",
        partial(_resampling_ensemble, "EasyEnsembleClassifier"),
    ),
    "lightgbm-shallow": Baseline(
        "LightGBM, shallow",
        "Gradient boosted trees of eight leaves, the classes weighted.",
        "lightgbm",
        _shallow_lightgbm,
        boosts=False,
    ),
    "balanced-random-forest-threshold": _of_imblearn(
        "Balanced R.F. + threshold",
        "A balanced random forest with the threshold of best balanced accuracy on held-out rows.",
        partial(_resampling_ensemble, "BalancedRandomForestClassifier"),
        threshold_folds=3,
    ),
    "easy-ensemble-threshold": _of_imblearn(
        "EasyEnsemble + threshold",
        "EasyEnsemble with the threshold of best balanced accuracy on held-out rows.",
        partial(_resampling_ensemble, "EasyEnsembleClassifier"),
        threshold_folds=3,
    ),
    "lightgbm-threshold": Baseline(
        "LightGBM + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on held-out rows.",
        "lightgbm",
        partial(_lightgbm, weighted=False),
        threshold_folds=3,
    ),
    "lightgbm-shallow-threshold": Baseline(
        "LightGBM, shallow + threshold",
        "Gradient boosted trees of eight leaves with the threshold of best balanced accuracy on held-out rows.",
        "lightgbm",
        partial(_shallow_lightgbm, weighted=False),
        boosts=False,
        threshold_folds=3,
    ),
    "xgboost-threshold": Baseline(
        "XGBoost + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on held-out rows.",
        "xgboost",
        partial(_xgboost, weighted=False),
        threshold_folds=3,
    ),
    "adaboost-threshold": Baseline(
        "AdaBoost + threshold",
        "AdaBoost with the threshold of best balanced accuracy on held-out rows.",
        "adacc",
        _adaboost,
        probability=_from_half_log_odds,
        threshold_folds=5,
    ),
    "hist-gradient-boosting-threshold": Baseline(
        "HistGB + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on held-out rows.",
        "scikit-learn",
        partial(_hist_gradient_boosting, class_weight=None),
        threshold_folds=5,
    ),
    "logistic-regression": Baseline(
        "Logistic regression",
        "A line through all features, the classes weighted.",
        "scikit-learn",
        _logistic_regression,
        boosts=False,
    ),
}

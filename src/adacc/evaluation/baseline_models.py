"""The models of the baselines: functions that fit to the training rows of a fold and return scores of its test rows.

Each method uses one thread and the random seed of the fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import ensemble
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from adacc.estimators.classifiers import AdaBoostClassifier
from adacc.estimators.folds import TimeSplit
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.evaluation.fold_data import Array, FoldData, Scores
from adacc.evaluation.thresholds import best_threshold

if TYPE_CHECKING:
    import pandas as pd


FOREST_TIME_FOLDS = 3
"""Folds in time order for the tuning of a forest; each of them fits a forest."""

BAGS, TRIALS = 20, 30
"""Number of bags of LightGBM, and of random parameters that are tried."""

SELF_PACED_TREES, ERROR_BINS = 50, 5
"""Number of trees, and of bins of the errors, of a self-paced ensemble: the defaults of the authors' library."""


def resampled_tree(sampler: str, fold: FoldData) -> Scores:
    """A decision tree on resampled rows with balanced classes."""
    model, X_test = fit_resampled_tree(sampler, fold)
    return _probability(model, X_test)


def fit_resampled_tree(sampler: str, fold: FoldData) -> tuple[DecisionTreeClassifier, Array]:
    """The tree, and the test rows as it takes them."""
    X, X_test = complete_numbers(fold)
    with threadpool_limits(1):  # the neighbour search has no n_jobs
        X, y = _sampler(sampler, n_minority(fold), fold.seed).fit_resample(X, fold.y)
    return DecisionTreeClassifier(random_state=fold.seed).fit(X, y), X_test


def _sampler(name: str, n_minority: int, seed: int) -> Any:
    if name == "RandomUnderSampler":
        return import_library("imblearn.under_sampling").RandomUnderSampler(random_state=seed)
    over_sampling = import_library("imblearn.over_sampling")
    if name == "SMOTE" and n_minority > 1:
        return over_sampling.SMOTE(k_neighbors=min(5, n_minority - 1), random_state=seed)
    # SMOTE needs two rows of the minority class; a single row is repeated.
    return over_sampling.RandomOverSampler(random_state=seed)


def resampling_ensemble(classifier: str, fold: FoldData) -> Scores:
    """An ensemble of imbalanced-learn with its default parameters, including its size."""
    X, X_test = complete_numbers(fold)
    return _probability(resampling_model(classifier, fold.seed).fit(X, fold.y), X_test)


def resampling_model(classifier: str, seed: int) -> Any:
    return getattr(import_library("imblearn.ensemble"), classifier)(n_jobs=1, random_state=seed)


def rusboost(fold: FoldData) -> Scores:
    """imbalanced-learn raises ValueError if the first stump is no better than chance."""
    X, X_test = complete_numbers(fold)
    model = rusboost_model(fold).fit(X, fold.y)
    return _at_rounds(model.staged_decision_function(X_test), fold.rounds)


def rusboost_model(fold: FoldData) -> Any:
    boosting = import_library("imblearn.ensemble").RUSBoostClassifier
    return boosting(DecisionTreeClassifier(max_depth=1), n_estimators=max(fold.rounds), random_state=fold.seed)


def lightgbm(fold: FoldData, weighted: bool = True, num_leaves: int = 31) -> Scores:
    X, X_test = native_categories(fold)
    model = lightgbm_model(fold.seed, n_estimators=max(fold.rounds), num_leaves=num_leaves, is_unbalance=weighted)
    model.fit(X, fold.y)
    return {T: np.asarray(model.predict(X_test, raw_score=True, num_iteration=T)) for T in fold.rounds}


def lightgbm_model(seed: int, **parameters: Any) -> Any:
    # Without the first two, LightGBM picks the faster data layout at run time, which changes rounding.
    fixed = {"deterministic": True, "force_col_wise": True, "n_jobs": 1, "verbose": -1}
    return import_library("lightgbm").LGBMClassifier(**fixed, random_state=seed, **parameters)


def shallow_lightgbm(fold: FoldData, weighted: bool = True) -> Scores:
    """200 trees of 8 leaves, instead of the default 100 of 31."""
    (scores,) = lightgbm(replace(fold, rounds=[200]), weighted, num_leaves=8).values()
    return {1: scores}


def bagged_lightgbm(fold: FoldData) -> Scores:
    """The mean probability of LightGBM on bags of all rows of the minority class and as many of the other."""
    X, X_test = native_categories(fold)
    rng = np.random.default_rng(fold.seed)
    by_class = [np.flatnonzero(fold.y == label) for label in (0, 1)]
    size = n_minority(fold)
    probabilities = []
    for _ in range(BAGS):
        rows = np.concatenate([rng.choice(rows, size, replace=False) for rows in by_class])
        model = lightgbm_model(fold.seed).fit(X.iloc[rows], fold.y[rows])
        probabilities.append(model.predict_proba(X_test)[:, 1])
    return {1: np.mean(probabilities, axis=0) - 0.5}


def tuned_lightgbm(fold: FoldData) -> Scores:
    """LightGBM with the best of random parameters, less the threshold of best balanced accuracy.

    Parameters are compared by average precision, and the threshold is chosen, on out-of-fold scores of the training
    rows. The first trial has the default parameters.
    """
    X, X_test = native_categories(fold)
    rng, folds = np.random.default_rng(fold.seed), fold.tuning_folds(3)
    y_held_out = fold.y[np.concatenate([test for _, test in folds])]
    trials = [{}, *(_random_parameters(rng, fold.y) for _ in range(TRIALS - 1))]
    results = []
    for parameters in trials:
        held_out = []
        for train, test in folds:
            model = lightgbm_model(fold.seed, **parameters).fit(X.iloc[train], fold.y[train])
            held_out.append(model.predict(X.iloc[test], raw_score=True))
        scores = np.concatenate(held_out)
        results.append((average_precision_score(y_held_out, scores), scores, parameters))
    _, scores, parameters = max(results, key=itemgetter(0))
    model = lightgbm_model(fold.seed, **parameters).fit(X, fold.y)
    return {1: model.predict(X_test, raw_score=True) - best_threshold(y_held_out, scores)}


def _random_parameters(rng: np.random.Generator, y: NDArray[np.int8]) -> dict[str, Any]:
    """Parameters of LightGBM: most of them log-uniform between wide limits."""

    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    n_others, n_positive = np.bincount(y, minlength=2)
    ratio = n_others / n_positive
    return {
        "n_estimators": round(log_uniform(50, 400)),
        "learning_rate": log_uniform(0.01, 0.3),
        "num_leaves": round(log_uniform(4, 128)),
        "min_child_samples": round(log_uniform(1, 100)),
        "min_child_weight": 1e-3,
        "subsample": rng.uniform(0.5, 1.0),
        "subsample_freq": 1,
        "colsample_bytree": rng.uniform(0.3, 1.0),
        "reg_lambda": log_uniform(1e-3, 10.0),
        "scale_pos_weight": log_uniform(min(1.0, ratio), max(1.0, ratio)),
    }


def self_paced_ensemble(fold: FoldData) -> Scores:
    """Decision trees on balanced samples; rows of the other class are drawn by how hard they are [Liu et al. 2020].

    The rows of the other class are divided into five bins by their error so far. A bin is drawn with a weight of one
    over its mean error plus a number that grows from 0 without limit, so that easy rows come first and all bins last.
    """
    X, X_test = complete_numbers(fold)
    rng = np.random.default_rng(fold.seed)
    (rare,), (others,) = np.nonzero(fold.y == 1), np.nonzero(fold.y == 0)
    if len(rare) > len(others):
        rare, others = others, rare
    rare_label = fold.y[rare[0]]
    errors, total = np.zeros(len(others)), np.zeros(len(X_test))
    for i in range(SELF_PACED_TREES):
        drawn = _draw_by_error(errors / max(i, 1), i, len(rare), rng)
        rows = np.concatenate([rare, others[drawn]])
        tree = DecisionTreeClassifier(random_state=fold.seed + i).fit(X[rows], fold.y[rows])
        errors += tree.predict_proba(X[others])[:, rare_label]
        total += tree.predict_proba(X_test)[:, 1]
    return {1: total / SELF_PACED_TREES - 0.5}


def _draw_by_error(errors: Array, i: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows for tree i of a self-paced ensemble."""
    low, high = errors.min(), errors.max()
    if low == high:
        return rng.choice(len(errors), size, replace=False)
    bins = np.minimum(((errors - low) / (high - low) * ERROR_BINS).astype(int), ERROR_BINS - 1)
    pace = np.tan(np.pi / 2 * i / SELF_PACED_TREES)
    members = [np.flatnonzero(bins == b) for b in range(ERROR_BINS)]
    weights = np.array([1.0 / (errors[rows].mean() + pace + 1e-12) if len(rows) else 0.0 for rows in members])
    sizes = np.ceil(weights / weights.sum() * size).astype(int)
    return np.concatenate(
        [rng.choice(rows, min(n, len(rows)), replace=False) for rows, n in zip(members, sizes, strict=True)]
    )


def xgboost(fold: FoldData, weighted: bool = True) -> Scores:
    X, X_test = native_categories(fold)
    n_others, n_positive = np.bincount(fold.y, minlength=2)
    weight = float(n_others / n_positive) if weighted else 1.0
    model = xgboost_model(fold, scale_pos_weight=weight).fit(X, fold.y)
    return {
        T: model.predict(X_test, output_margin=True, iteration_range=(0, T)).astype(np.float64) for T in fold.rounds
    }


def xgboost_model(fold: FoldData, **parameters: Any) -> Any:
    return import_library("xgboost").XGBClassifier(
        n_estimators=max(fold.rounds),
        enable_categorical=True,
        n_jobs=1,
        random_state=fold.seed,
        verbosity=0,
        **parameters,
    )


def hist_gradient_boosting(fold: FoldData, class_weight: str | None = "balanced") -> Scores:
    with threadpool_limits(1):  # it has no n_jobs
        model, X_test = fit_hist_gradient_boosting(fold, class_weight)
        return _at_rounds(model.staged_decision_function(X_test), fold.rounds)


def fit_hist_gradient_boosting(
    fold: FoldData, class_weight: str | None
) -> tuple[ensemble.HistGradientBoostingClassifier, pd.DataFrame]:
    """The model, and the test rows as it takes them."""
    # The original column names, for its error messages.
    X, X_test = (frame.set_axis(fold.X.columns, axis=1) for frame in native_categories(fold))
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=max(fold.rounds),
        class_weight=class_weight,
        categorical_features="from_dtype",
        early_stopping=False,
        random_state=fold.seed,
    )
    return model.fit(X, fold.y), X_test


def catboost(fold: FoldData, weighted: bool = True) -> Scores:
    """CatBoost with its default of 1,000 trees."""
    model, X_test = fit_catboost(fold, weighted)
    return {1: model.predict(X_test, prediction_type="RawFormulaVal")}


def fit_catboost(fold: FoldData, weighted: bool) -> tuple[Any, pd.DataFrame]:
    """The model, and the test rows as it takes them."""
    (X, X_test), categories = native_categories(fold), list(fold.X.dtypes == "category")
    # CatBoost takes text for categories, and does not take missing ones.
    for frame in (X, X_test):
        for name in X.columns[categories]:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
    model = import_library("catboost").CatBoostClassifier(
        auto_class_weights="Balanced" if weighted else None,
        cat_features=list(X.columns[categories]),
        thread_count=1,
        random_seed=fold.seed,
        verbose=False,
        allow_writing_files=False,
    )
    return model.fit(X, fold.y), X_test


def explainable_boosting(fold: FoldData) -> Scores:
    """The explainable boosting machine of InterpretML."""
    X, X_test = native_categories(fold)
    return {1: ebm_model(fold.seed).fit(X, fold.y).decision_function(X_test)}


def ebm_model(seed: int) -> Any:
    return import_library("interpret.glassbox").ExplainableBoostingClassifier(n_jobs=1, random_state=seed)


def adaboost(fold: FoldData) -> Scores:
    model = AdaBoostClassifier(n_estimators=max(fold.rounds), n_jobs=1, random_state=fold.seed).fit(fold.X, fold.y)
    return _at_rounds(model.staged_decision_function(fold.X_test), fold.rounds)


def sklearn_adaboost(fold: FoldData) -> Scores:
    X, X_test = complete_numbers(fold)
    return _at_rounds(sklearn_adaboost_model(fold).fit(X, fold.y).staged_decision_function(X_test), fold.rounds)


def sklearn_adaboost_model(fold: FoldData) -> Any:
    return ensemble.AdaBoostClassifier(n_estimators=max(fold.rounds), random_state=fold.seed)


def forest(fold: FoldData) -> Scores:
    """The AdaCC forest with its default parameters, including its number of bags."""
    return {1: fit_forest(fold, pos_label=1).decision_function(fold.X_test)}


def fit_forest(fold: FoldData, pos_label: int | None) -> AdaCCForestClassifier:
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if fold.in_time else None
    model = AdaCCForestClassifier(pos_label=pos_label, n_jobs=1, random_state=fold.seed, tuning_cv=tuning_cv)
    return model.fit(fold.X, fold.y, groups=fold.groups)


def logistic_regression(fold: FoldData) -> Scores:
    X, X_test = complete_numbers(fold)
    with threadpool_limits(1):
        return {1: logistic_model().fit(X, fold.y).decision_function(X_test)}


def logistic_model() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))


def n_minority(fold: FoldData) -> int:
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


def from_probability(scores: Array) -> Array:
    """The inverse of `_probability`."""
    return scores + 0.5


def from_half_log_odds(scores: Array) -> Array:
    return expit(2.0 * scores)


def complete_numbers(fold: FoldData) -> tuple[Array, Array]:
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


def native_categories(fold: FoldData) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows for methods that support `category` columns; unseen categories become missing.

    Columns are numbered, because LightGBM and XGBoost reject some characters in names.
    """
    known = {name: column.cat.categories for name, column in fold.X.select_dtypes("category").items()}
    X_test = fold.X_test.assign(**{name: fold.X_test[name].cat.set_categories(of) for name, of in known.items()})
    numbers = [f"x{i}" for i in range(fold.X.shape[1])]
    return fold.X.set_axis(numbers, axis=1), X_test[fold.X.columns].set_axis(numbers, axis=1)


def import_library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        library = module.split(".")[0]
        extra = "peers" if library in ("catboost", "interpret") else "compare"
        raise ImportError(f'this baseline needs {library}: pip install "adacc[{extra}]"') from error

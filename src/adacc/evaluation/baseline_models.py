"""The models of the baselines: functions that fit to the training rows of a fold and return a scorer of other rows.

Each method uses one thread and the random seed of the fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adacc.estimators.classifiers import AdaBoostClassifier
from adacc.estimators.folds import TimeSplit
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.evaluation import scorers
from adacc.evaluation.fold_data import Array, FoldData, Scores
from adacc.evaluation.scorers import FittedScorer, NamedCategories, NativeCategories, TextCategories, complete_numbers

FOREST_TIME_FOLDS = 3
"""Folds in time order for the tuning of a forest; each of them fits a forest."""

SHALLOW = {"n_estimators": 200, "num_leaves": 8}
"""Size of LightGBM with shallow trees, instead of the default 100 trees of 31 leaves."""

BAGS, TRIALS = 20, 30
"""Number of bags of LightGBM, and of random parameters that are tried."""

SELF_PACED_TREES, ERROR_BINS = 50, 5
"""Number of trees, and of bins of the errors, of a self-paced ensemble: the defaults of the authors' library."""


def resampled_tree(sampler: str, fold: FoldData, score: Any = scorers.probability_scores) -> FittedScorer[Any]:
    """A decision tree on resampled rows with balanced classes."""
    prepare = complete_numbers(fold.X)
    X, y = _sampler(sampler, n_minority(fold), fold.seed).fit_resample(prepare(fold.X), fold.y)
    return FittedScorer(prepare, DecisionTreeClassifier(random_state=fold.seed).fit(X, y), score)


def _sampler(name: str, n_minority: int, seed: int) -> Any:
    if name == "RandomUnderSampler":
        return import_library("imblearn.under_sampling").RandomUnderSampler(random_state=seed)
    over_sampling = import_library("imblearn.over_sampling")
    if name == "SMOTE" and n_minority > 1:
        return over_sampling.SMOTE(k_neighbors=min(5, n_minority - 1), random_state=seed)
    # SMOTE needs two rows of the minority class; a single row is repeated.
    return over_sampling.RandomOverSampler(random_state=seed)


def resampling_ensemble(classifier: str, fold: FoldData) -> FittedScorer[Scores]:
    """An ensemble of imbalanced-learn with its default parameters, including its size."""
    return with_numbers(resampling_model(classifier, fold.seed), fold, scorers.probability_scores)


def resampling_model(classifier: str, seed: int) -> Any:
    return getattr(import_library("imblearn.ensemble"), classifier)(n_jobs=1, random_state=seed)


def rusboost(fold: FoldData) -> FittedScorer[Scores]:
    """imbalanced-learn raises ValueError if the first stump is no better than chance."""
    return with_numbers(rusboost_model(fold), fold, partial(scorers.staged_scores, rounds=fold.rounds))


def rusboost_model(fold: FoldData) -> Any:
    boosting = import_library("imblearn.ensemble").RUSBoostClassifier
    return boosting(DecisionTreeClassifier(max_depth=1), n_estimators=max(fold.rounds), random_state=fold.seed)


def lightgbm(fold: FoldData, weighted: bool = True) -> FittedScorer[Scores]:
    model = lightgbm_model(fold.seed, n_estimators=max(fold.rounds), is_unbalance=weighted)
    return with_categories(model, fold, partial(scorers.lightgbm_scores, trees={T: T for T in fold.rounds}))


def lightgbm_model(seed: int, **parameters: Any) -> Any:
    # Without the first two, LightGBM picks the faster data layout at run time, which changes rounding.
    fixed = {"deterministic": True, "force_col_wise": True, "n_jobs": 1, "verbose": -1}
    return import_library("lightgbm").LGBMClassifier(**fixed, random_state=seed, **parameters)


def shallow_lightgbm(fold: FoldData, weighted: bool = True) -> FittedScorer[Scores]:
    model = lightgbm_model(fold.seed, **SHALLOW, is_unbalance=weighted)
    return with_categories(model, fold, partial(scorers.lightgbm_scores, trees={1: SHALLOW["n_estimators"]}))


def bagged_lightgbm(fold: FoldData) -> FittedScorer[Scores]:
    """The mean probability of LightGBM on bags of all rows of the minority class and as many of the other."""
    prepare = NativeCategories(fold.X)
    X, rng = prepare(fold.X), np.random.default_rng(fold.seed)
    by_class = [np.flatnonzero(fold.y == label) for label in (0, 1)]
    size, models = n_minority(fold), []
    for _ in range(BAGS):
        rows = np.concatenate([rng.choice(rows, size, replace=False) for rows in by_class])
        models.append(lightgbm_model(fold.seed).fit(X.iloc[rows], fold.y[rows]))
    return FittedScorer(prepare, models, scorers.mean_probability_scores)


def default_lightgbm(fold: FoldData, **parameters: Any) -> FittedScorer[Scores]:
    """LightGBM with its default parameters, including its size, but those that are given."""
    return with_categories(lightgbm_model(fold.seed, **parameters), fold, scorers.raw_lightgbm_scores)


def random_parameters(fold: FoldData) -> Iterator[dict[str, Any]]:
    """Random parameters of LightGBM, one trial fewer than `TRIALS`, as the first has the default parameters."""
    rng = np.random.default_rng(fold.seed)
    for _ in range(TRIALS - 1):
        yield _random_parameters(rng, fold.y)


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


def self_paced_ensemble(fold: FoldData) -> FittedScorer[Scores]:
    """Decision trees on balanced samples; rows of the other class are drawn by how hard they are [Liu et al. 2020].

    The rows of the other class are divided into five bins by their error so far. A bin is drawn with a weight of one
    over its mean error plus a number that grows from 0 without limit, so that easy rows come first and all bins last.
    """
    prepare = complete_numbers(fold.X)
    X, rng = prepare(fold.X), np.random.default_rng(fold.seed)
    (rare,), (others,) = np.nonzero(fold.y == 1), np.nonzero(fold.y == 0)
    if len(rare) > len(others):
        rare, others = others, rare
    rare_label = fold.y[rare[0]]
    errors, trees = np.zeros(len(others)), []
    for i in range(SELF_PACED_TREES):
        drawn = _draw_by_error(errors / max(i, 1), i, len(rare), rng)
        rows = np.concatenate([rare, others[drawn]])
        tree = DecisionTreeClassifier(random_state=fold.seed + i).fit(X[rows], fold.y[rows])
        errors += tree.predict_proba(X[others])[:, rare_label]
        trees.append(tree)
    return FittedScorer(prepare, trees, scorers.mean_probability_scores)


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


def xgboost(fold: FoldData, weighted: bool = True) -> FittedScorer[Scores]:
    n_others, n_positive = np.bincount(fold.y, minlength=2)
    weight = float(n_others / n_positive) if weighted else 1.0
    model = xgboost_model(fold, scale_pos_weight=weight)
    return with_categories(model, fold, partial(scorers.xgboost_scores, rounds=fold.rounds))


def xgboost_model(fold: FoldData, **parameters: Any) -> Any:
    return import_library("xgboost").XGBClassifier(
        n_estimators=max(fold.rounds),
        enable_categorical=True,
        n_jobs=1,
        random_state=fold.seed,
        verbosity=0,
        **parameters,
    )


def hist_gradient_boosting(fold: FoldData, class_weight: str | None = "balanced") -> FittedScorer[Scores]:
    score = partial(scorers.staged_scores, rounds=fold.rounds)
    return fit_prepared(NamedCategories(fold.X), hist_gradient_boosting_model(fold, class_weight), fold, score)


def hist_gradient_boosting_model(fold: FoldData, class_weight: str | None) -> ensemble.HistGradientBoostingClassifier:
    return ensemble.HistGradientBoostingClassifier(
        max_iter=max(fold.rounds),
        class_weight=class_weight,
        categorical_features="from_dtype",
        early_stopping=False,
        random_state=fold.seed,
    )


def catboost(fold: FoldData, weighted: bool = True, score: Any = scorers.catboost_scores) -> FittedScorer[Any]:
    """CatBoost with its default of 1,000 trees."""
    prepare = TextCategories(fold.X)
    model = import_library("catboost").CatBoostClassifier(
        auto_class_weights="Balanced" if weighted else None,
        cat_features=prepare.categories,
        thread_count=1,
        random_seed=fold.seed,
        verbose=False,
        allow_writing_files=False,
    )
    return fit_prepared(prepare, model, fold, score)


def explainable_boosting(fold: FoldData) -> FittedScorer[Scores]:
    """The explainable boosting machine of InterpretML."""
    return with_categories(ebm_model(fold.seed), fold, scorers.decision_scores)


def ebm_model(seed: int) -> Any:
    return import_library("interpret.glassbox").ExplainableBoostingClassifier(n_jobs=1, random_state=seed)


def adaboost(fold: FoldData) -> FittedScorer[Scores]:
    model = AdaBoostClassifier(n_estimators=max(fold.rounds), n_jobs=1, random_state=fold.seed)
    return fit_prepared(scorers.unchanged, model, fold, partial(scorers.staged_scores, rounds=fold.rounds))


def sklearn_adaboost(fold: FoldData) -> FittedScorer[Scores]:
    return with_numbers(sklearn_adaboost_model(fold), fold, partial(scorers.staged_scores, rounds=fold.rounds))


def sklearn_adaboost_model(fold: FoldData) -> Any:
    return ensemble.AdaBoostClassifier(n_estimators=max(fold.rounds), random_state=fold.seed)


class ForestScorer(FittedScorer[Scores]):
    """A forest, whose probabilities are calibrated."""

    def probability(self, scores: Array) -> Array:
        return self.model.fitted_model_.probabilities(scores)[:, 1]


def forest(fold: FoldData) -> ForestScorer:
    """The AdaCC forest with its default parameters, including its number of bags."""
    return ForestScorer(scorers.unchanged, fit_forest(fold, pos_label=1), scorers.decision_scores)


def fit_forest(fold: FoldData, pos_label: int | None) -> AdaCCForestClassifier:
    tuning_cv = TimeSplit(FOREST_TIME_FOLDS) if fold.in_time else None
    model = AdaCCForestClassifier(
        pos_label=pos_label, n_jobs=1, random_state=fold.seed, tuning_cv=tuning_cv, duplicates=fold.duplicates
    )
    return model.fit(fold.X, fold.y, groups=fold.groups)


def logistic_regression(fold: FoldData) -> FittedScorer[Scores]:
    return with_numbers(logistic_model(), fold, scorers.decision_scores)


def logistic_model() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))


def n_minority(fold: FoldData) -> int:
    """Number of training rows of the minority class."""
    return int(np.bincount(fold.y, minlength=2).min())


def with_numbers(model: Any, fold: FoldData, score: Any) -> FittedScorer[Any]:
    """Fit a model that supports neither categories nor missing values."""
    return fit_prepared(complete_numbers(fold.X), model, fold, score)


def with_categories(model: Any, fold: FoldData, score: Any, **fit_parameters: Any) -> FittedScorer[Any]:
    """Fit a model that supports categories and missing values."""
    return fit_prepared(NativeCategories(fold.X), model, fold, score, **fit_parameters)


def fit_prepared(prepare: Any, model: Any, fold: FoldData, score: Any, **fit_parameters: Any) -> FittedScorer[Any]:
    return FittedScorer(prepare, model.fit(prepare(fold.X), fold.y, **fit_parameters), score)


def import_library(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        library = module.split(".")[0]
        extra = "peers" if library in ("catboost", "interpret") else "compare"
        raise ImportError(f'this baseline needs {library}: pip install "adacc[{extra}]"') from error

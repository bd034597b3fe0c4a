"""The models of the baselines on more than two classes: functions that fit to a fold and predict its test rows.

Classes are numbered from 0, and all of them have training rows. Each method uses one thread, the random seed of the
fold, its largest number of rounds and, if the library has them, class weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

from adacc.evaluation import baseline_models as models
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.predictions import ClassPredictions


def predictions_of(model: Any, X_test: Any) -> ClassPredictions:
    """Predicted classes and probabilities of a fitted classifier whose classes are 0, 1, ..., K-1."""
    with threadpool_limits(1):
        predicted = np.ravel(model.predict(X_test)).astype(np.intp)  # CatBoost returns a column
        return ClassPredictions(predicted, np.asarray(model.predict_proba(X_test), dtype=np.float64))


def forest(fold: FoldData) -> ClassPredictions:
    """The AdaCC forest with its default parameters, including its number of bags."""
    return predictions_of(models.fit_forest(fold, pos_label=None), fold.X_test)


def resampled_tree(sampler: str, fold: FoldData) -> ClassPredictions:
    """A decision tree on resampled rows with balanced classes."""
    return predictions_of(*models.fit_resampled_tree(sampler, fold))


def resampling_ensemble(classifier: str, fold: FoldData) -> ClassPredictions:
    """An ensemble of imbalanced-learn with its default parameters, including its size."""
    return _with_numbers(models.resampling_model(classifier, fold.seed), fold)


def rusboost(fold: FoldData) -> ClassPredictions:
    return _with_numbers(models.rusboost_model(fold), fold)


def sklearn_adaboost(fold: FoldData) -> ClassPredictions:
    return _with_numbers(models.sklearn_adaboost_model(fold), fold)


def logistic_regression(fold: FoldData) -> ClassPredictions:
    return _with_numbers(models.logistic_model(), fold)


def lightgbm(fold: FoldData, n_estimators: int | None = None, num_leaves: int = 31) -> ClassPredictions:
    size = {"n_estimators": n_estimators or max(fold.rounds), "num_leaves": num_leaves}
    return _with_categories(models.lightgbm_model(fold.seed, class_weight="balanced", **size), fold)


def shallow_lightgbm(fold: FoldData) -> ClassPredictions:
    """200 trees of 8 leaves, instead of the default 100 of 31."""
    return lightgbm(fold, n_estimators=200, num_leaves=8)


def xgboost(fold: FoldData) -> ClassPredictions:
    """XGBoost takes the weights of more than two classes as sample weights only."""
    return _with_categories(models.xgboost_model(fold), fold, compute_sample_weight("balanced", fold.y))


def hist_gradient_boosting(fold: FoldData) -> ClassPredictions:
    with threadpool_limits(1):  # it has no n_jobs
        return predictions_of(*models.fit_hist_gradient_boosting(fold, "balanced"))


def catboost(fold: FoldData) -> ClassPredictions:
    """CatBoost with its default of 1,000 trees."""
    return predictions_of(*models.fit_catboost(fold, weighted=True))


def explainable_boosting(fold: FoldData) -> ClassPredictions:
    """The explainable boosting machine of InterpretML."""
    return _with_categories(models.ebm_model(fold.seed), fold)


def _with_numbers(model: Any, fold: FoldData) -> ClassPredictions:
    X, X_test = models.complete_numbers(fold)
    with threadpool_limits(1):
        return predictions_of(model.fit(X, fold.y), X_test)


def _with_categories(model: Any, fold: FoldData, sample_weight: Any = None) -> ClassPredictions:
    X, X_test = models.native_categories(fold)
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    return predictions_of(model.fit(X, fold.y, **options), X_test)

"""The models of the baselines on more than two classes: functions that fit to a fold and return a scorer of other rows.

Classes are numbered from 0, and all of them have training rows. Each method uses one thread, the random seed of the
fold, its largest number of rounds and, if the library has them, class weights.
"""

from __future__ import annotations

from sklearn.utils.class_weight import compute_sample_weight

from adacc.evaluation import baseline_models as models
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.predictions import ClassPredictions
from adacc.evaluation.scorers import FittedScorer, NamedCategories, predictions_of, unchanged

ClassScorer = FittedScorer[ClassPredictions]


def forest(fold: FoldData) -> ClassScorer:
    """The AdaCC forest with its default parameters, including its number of bags."""
    return FittedScorer(unchanged, models.fit_forest(fold, pos_label=None), predictions_of)


def resampled_tree(sampler: str, fold: FoldData) -> ClassScorer:
    """A decision tree on resampled rows with balanced classes."""
    return models.resampled_tree(sampler, fold, predictions_of)


def resampling_ensemble(classifier: str, fold: FoldData) -> ClassScorer:
    """An ensemble of imbalanced-learn with its default parameters, including its size."""
    return models.with_numbers(models.resampling_model(classifier, fold.seed), fold, predictions_of)


def rusboost(fold: FoldData) -> ClassScorer:
    return models.with_numbers(models.rusboost_model(fold), fold, predictions_of)


def sklearn_adaboost(fold: FoldData) -> ClassScorer:
    return models.with_numbers(models.sklearn_adaboost_model(fold), fold, predictions_of)


def logistic_regression(fold: FoldData) -> ClassScorer:
    return models.with_numbers(models.logistic_model(), fold, predictions_of)


def lightgbm(fold: FoldData) -> ClassScorer:
    model = models.lightgbm_model(fold.seed, class_weight="balanced", n_estimators=max(fold.rounds))
    return models.with_categories(model, fold, predictions_of)


def shallow_lightgbm(fold: FoldData) -> ClassScorer:
    model = models.lightgbm_model(fold.seed, class_weight="balanced", **models.SHALLOW)
    return models.with_categories(model, fold, predictions_of)


def xgboost(fold: FoldData) -> ClassScorer:
    """XGBoost takes the weights of more than two classes as sample weights only."""
    weight = compute_sample_weight("balanced", fold.y)
    return models.with_categories(models.xgboost_model(fold), fold, predictions_of, sample_weight=weight)


def hist_gradient_boosting(fold: FoldData) -> ClassScorer:
    model = models.hist_gradient_boosting_model(fold, "balanced")
    return models.fit_prepared(NamedCategories(fold.X), model, fold, predictions_of)


def catboost(fold: FoldData) -> ClassScorer:
    """CatBoost with its default of 1,000 trees."""
    return models.catboost(fold, score=predictions_of)


def explainable_boosting(fold: FoldData) -> ClassScorer:
    """The explainable boosting machine of InterpretML."""
    return models.with_categories(models.ebm_model(fold.seed), fold, predictions_of)

"""Baselines: methods of other libraries with their defaults, and the AdaCC forest, on one fold.

Boosting methods have scores for every number of rounds T, from one fit if the library can predict with the first T
rounds. Methods without rounds (trees on resampled rows, forests, ensembles of fixed size) report under T = 1, as trees
do in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scipy.special import expit

from adacc.algorithms.catalog import FORESTS
from adacc.evaluation import baseline_models as models
from adacc.evaluation import multiclass_models as multiclass
from adacc.evaluation.fold_data import Array, FoldData, Scores
from adacc.evaluation.predictions import ClassPredictions, Predictions
from adacc.evaluation.thresholds import tuned_thresholds


@dataclass(frozen=True)
class Baseline:
    """A method: label, description, distribution (on PyPI), function that fits and scores, whether it has rounds.

    `probability` maps the scores to the library's probabilities; most scores are log-odds. With `threshold_folds` the
    threshold is tuned for balanced accuracy on out-of-fold scores, and subtracted from the scores; the probabilities
    do not change, as in scikit-learn's TunedThresholdClassifierCV. `predict_classes` fits and predicts more than two
    classes, with the last number of rounds of the fold; None if the method supports two classes only.
    """

    name: str
    about: str
    library: str
    scores: Callable[[FoldData], Scores]
    boosts: bool = True
    probability: Callable[[Array], Array] = expit
    threshold_folds: int | None = None
    extra: str = "compare"  # the optional dependency that installs the library
    predict_classes: Callable[[FoldData], ClassPredictions] | None = None

    def predict(self, fold: FoldData) -> dict[int, Predictions]:
        """Fit, and predict the test rows; by number of rounds."""
        thresholds = {} if self.threshold_folds is None else tuned_thresholds(self.scores, fold, self.threshold_folds)
        return {
            T: Predictions(scores - thresholds.get(T, 0.0), self.probability(scores))
            for T, scores in self.scores(fold).items()
        }


def _of_imblearn(
    name: str,
    about: str,
    scores: Callable[[FoldData], Scores],
    predict_classes: Callable[[FoldData], ClassPredictions] | None = None,
    threshold_folds: int | None = None,
) -> Baseline:
    """A method of imbalanced-learn without rounds."""
    return Baseline(
        name, about, "imbalanced-learn", scores, boosts=False, probability=models.from_probability,
        threshold_folds=threshold_folds, predict_classes=predict_classes,
    )  # fmt: skip


BASELINES = {
    "adacc-forest": Baseline(
        FORESTS["adacc-forest"].label,
        f"{FORESTS['adacc-forest'].summary[0].upper()}{FORESTS['adacc-forest'].summary[1:]}.",
        "adacc",
        models.forest,
        boosts=False,
        probability=models.from_half_log_odds,
        predict_classes=multiclass.forest,
    ),
    "smote-tree": _of_imblearn(
        "SMOTE + D.T.",
        "A decision tree after SMOTE oversampling of the rare class.",
        partial(models.resampled_tree, "SMOTE"),
        partial(multiclass.resampled_tree, "SMOTE"),
    ),
    "ros-tree": _of_imblearn(
        "ROS + D.T.",
        "A decision tree after random oversampling of the rare class.",
        partial(models.resampled_tree, "RandomOverSampler"),
        partial(multiclass.resampled_tree, "RandomOverSampler"),
    ),
    "rus-tree": _of_imblearn(
        "RUS + D.T.",
        "A decision tree after random undersampling of the common class.",
        partial(models.resampled_tree, "RandomUnderSampler"),
        partial(multiclass.resampled_tree, "RandomUnderSampler"),
    ),
    "imblearn-rusboost": Baseline(
        "RUSBoost (imblearn)",
        "AdaBoost with random undersampling of the common class in each round.",
        "imbalanced-learn",
        models.rusboost,
        predict_classes=multiclass.rusboost,
    ),
    "sklearn-adaboost": Baseline(
        "AdaBoost (scikit-learn)",
        "AdaBoost of scikit-learn on stumps, without class weights.",
        "scikit-learn",
        models.sklearn_adaboost,
        predict_classes=multiclass.sklearn_adaboost,
    ),
    "lightgbm": Baseline(
        "LightGBM",
        "Gradient boosted trees with class weights.",
        "lightgbm",
        models.lightgbm,
        predict_classes=multiclass.lightgbm,
    ),
    "xgboost": Baseline(
        "XGBoost",
        "Gradient boosted trees with class weights.",
        "xgboost",
        models.xgboost,
        predict_classes=multiclass.xgboost,
    ),
    "hist-gradient-boosting": Baseline(
        "HistGradientBoosting",
        "Gradient boosted trees with class weights.",
        "scikit-learn",
        models.hist_gradient_boosting,
        predict_classes=multiclass.hist_gradient_boosting,
    ),
    "balanced-random-forest": _of_imblearn(
        "Balanced R.F.",
        "A random forest; each tree is fitted to a balanced bootstrap sample.",
        partial(models.resampling_ensemble, "BalancedRandomForestClassifier"),
        partial(multiclass.resampling_ensemble, "BalancedRandomForestClassifier"),
    ),
    "easy-ensemble": _of_imblearn(
        "EasyEnsemble",
        "Bagging of AdaBoost, each fitted to a balanced sample.",
        partial(models.resampling_ensemble, "EasyEnsembleClassifier"),
        partial(multiclass.resampling_ensemble, "EasyEnsembleClassifier"),
    ),
    "self-paced-ensemble": Baseline(
        "Self-paced ensemble",
        "Trees on balanced samples; rows of the common class are drawn by how hard they are.",
        "scikit-learn",
        models.self_paced_ensemble,
        boosts=False,
        probability=models.from_probability,
    ),
    "bagged-lightgbm": Baseline(
        "Bagged LightGBM",
        "Gradient boosted trees on each of 20 balanced samples.",
        "lightgbm",
        models.bagged_lightgbm,
        boosts=False,
        probability=models.from_probability,
    ),
    "catboost": Baseline(
        "CatBoost",
        "Gradient boosted trees with class weights.",
        "catboost",
        models.catboost,
        boosts=False,
        extra="peers",
        predict_classes=multiclass.catboost,
    ),
    "ebm": Baseline(
        "EBM",
        "Explainable boosting machine: a sum of functions of one and two features.",
        "interpret-core",
        models.explainable_boosting,
        boosts=False,
        extra="peers",
        predict_classes=multiclass.explainable_boosting,
    ),
    "lightgbm-shallow": Baseline(
        "LightGBM, shallow",
        "Gradient boosted trees of eight leaves with class weights.",
        "lightgbm",
        models.shallow_lightgbm,
        boosts=False,
        predict_classes=multiclass.shallow_lightgbm,
    ),
    "balanced-random-forest-threshold": _of_imblearn(
        "Balanced R.F. + threshold",
        "A balanced random forest with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(models.resampling_ensemble, "BalancedRandomForestClassifier"),
        threshold_folds=3,
    ),
    "easy-ensemble-threshold": _of_imblearn(
        "EasyEnsemble + threshold",
        "EasyEnsemble with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(models.resampling_ensemble, "EasyEnsembleClassifier"),
        threshold_folds=3,
    ),
    "lightgbm-threshold": Baseline(
        "LightGBM + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(models.lightgbm, weighted=False),
        threshold_folds=3,
    ),
    "lightgbm-shallow-threshold": Baseline(
        "LightGBM, shallow + threshold",
        "Gradient boosted trees of eight leaves with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(models.shallow_lightgbm, weighted=False),
        boosts=False,
        threshold_folds=3,
    ),
    "xgboost-threshold": Baseline(
        "XGBoost + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "xgboost",
        partial(models.xgboost, weighted=False),
        threshold_folds=3,
    ),
    "catboost-threshold": Baseline(
        "CatBoost + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "catboost",
        partial(models.catboost, weighted=False),
        boosts=False,
        extra="peers",
        threshold_folds=3,
    ),
    "ebm-threshold": Baseline(
        "EBM + threshold",
        "Explainable boosting machine with the threshold of best balanced accuracy on out-of-fold scores.",
        "interpret-core",
        models.explainable_boosting,
        boosts=False,
        extra="peers",
        threshold_folds=3,
    ),
    "lightgbm-tuned": Baseline(
        "LightGBM, tuned",
        "Gradient boosted trees with the best of 30 random parameters and the threshold of best balanced accuracy.",
        "lightgbm",
        models.tuned_lightgbm,
        boosts=False,
    ),
    "adaboost-threshold": Baseline(
        "AdaBoost + threshold",
        "AdaBoost with the threshold of best balanced accuracy on out-of-fold scores.",
        "adacc",
        models.adaboost,
        probability=models.from_half_log_odds,
        threshold_folds=5,
    ),
    "hist-gradient-boosting-threshold": Baseline(
        "HistGB + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "scikit-learn",
        partial(models.hist_gradient_boosting, class_weight=None),
        threshold_folds=3,
    ),
    "logistic-regression": Baseline(
        "Logistic regression",
        "Logistic regression on standardised features with class weights.",
        "scikit-learn",
        models.logistic_regression,
        boosts=False,
        predict_classes=multiclass.logistic_regression,
    ),
}

"""Baselines: methods of other libraries with their defaults, and the AdaCC forest, on one fold.

Boosting methods have scores for every number of rounds T, from one fit if the library can predict with the first T
rounds. Methods without rounds (trees on resampled rows, forests, ensembles of fixed size) report under T = 1, as trees
do in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from scipy.special import expit
from threadpoolctl import threadpool_limits

from adacc.algorithms.catalog import FORESTS, METHODS
from adacc.evaluation import baseline_models as models
from adacc.evaluation import baseline_tuning as tuning
from adacc.evaluation import multiclass_models as multiclass
from adacc.evaluation.encodings import CODES, NATIVE, ONE_HOT
from adacc.evaluation.fold_data import Array, FoldData, Scores
from adacc.evaluation.predictions import ClassPredictions, Predictions
from adacc.evaluation.scorers import from_half_log_odds, from_probability

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FittedBaseline:
    """A baseline fitted to two classes, with its thresholds by number of rounds."""

    scorer: Callable[[pd.DataFrame], Scores]
    thresholds: Mapping[int, float]
    probability: Callable[[Array], Array]
    encoding: str | None  # that of the categories, if inner folds chose it

    def predict(self, X: pd.DataFrame) -> dict[int, Predictions]:
        """Predict the rows of X, which has the columns of the training rows; by number of rounds."""
        return {
            T: Predictions(scores - self.thresholds.get(T, 0.0), self.probability(scores), encoding=self.encoding)
            for T, scores in self.scorer(X).items()
        }


@dataclass(frozen=True)
class FittedClasses:
    """A baseline fitted to more than two classes."""

    scorer: Callable[[pd.DataFrame], ClassPredictions]
    encoding: str | None

    def predict(self, X: pd.DataFrame) -> ClassPredictions:
        """Predict the rows of X, which has the columns of the training rows."""
        return self.scorer(X)._replace(encoding=self.encoding)


@dataclass(frozen=True)
class Baseline:
    """A method: label, description, distribution (on PyPI), function that fits a scorer, whether it has rounds.

    `probability` maps the scores to the library's probabilities; most scores are log-odds, and None is the method
    ``probability`` of the fitted scorer. `encodings` are those of categories among which inner folds choose. `trials`
    are parameters of `fit_scorer` that are tried after its defaults; they need `threshold_folds`. With these the
    threshold is tuned for balanced accuracy on out-of-fold scores, and subtracted from the scores; the probabilities
    do not change, as in scikit-learn's TunedThresholdClassifierCV. `fit_scorer` fits two classes; `fit_classes` fits
    more than two, with the last number of rounds of the fold, and is None if the method supports two classes only.
    """

    name: str
    about: str
    library: str
    fit_scorer: Callable[..., Any]
    boosts: bool = True
    probability: Callable[[Array], Array] | None = expit
    threshold_folds: int | None = None
    extra: str = "compare"  # the optional dependency that installs the library
    fit_classes: Callable[[FoldData], Callable[[pd.DataFrame], ClassPredictions]] | None = None
    encodings: Sequence[str] = ()
    trials: Callable[[FoldData], Iterable[Mapping[str, Any]]] | None = None

    def fit(self, fold: FoldData) -> FittedBaseline:
        """Fit to the training rows of two classes, in one thread; the test rows are not used."""
        with threadpool_limits(1):  # some models have no n_jobs
            folds = None if self.threshold_folds is None else fold.tuning_folds(self.threshold_folds)
            best = tuning.choose_encoding(self.fit_scorer, self.encodings, fold, folds, tuning.average_precision)
            if folds is not None and self.trials is not None:
                trials = self.trials(fold)
                best = tuning.choose_parameters(best, self.fit_scorer, trials, fold, folds, tuning.average_precision)
            thresholds = {} if folds is None else tuning.thresholds_of(best, fold, folds)
            scorer: Any = best.fit(fold)
            return FittedBaseline(scorer, thresholds, self.probability or scorer.probability, best.encoding)

    def fit_several(self, fold: FoldData) -> FittedClasses:
        """Fit to the training rows of more than two classes, in one thread; the test rows are not used."""
        if self.fit_classes is None:
            raise ValueError(f"{self.name} supports two classes only")
        with threadpool_limits(1):
            best = tuning.choose_encoding(self.fit_classes, self.encodings, fold, None, tuning.mean_average_precision)
            return FittedClasses(best.fit(fold), best.encoding)

    def predict(self, fold: FoldData) -> dict[int, Predictions]:
        """Fit, and predict the test rows; by number of rounds."""
        return self.fit(fold).predict(fold.X_test)

    def predict_classes(self, fold: FoldData) -> ClassPredictions:
        """Fit more than two classes, and predict the test rows."""
        return self.fit_several(fold).predict(fold.X_test)


CATEGORY_ENCODINGS = NATIVE, CODES, ONE_HOT
"""Encodings of libraries that support category columns."""

NUMBER_ENCODINGS = ONE_HOT, CODES
"""Encodings of trees that take numbers only."""


def _of_imblearn(
    name: str,
    about: str,
    fit_scorer: Callable[[FoldData], Callable[[pd.DataFrame], Scores]],
    fit_classes: Callable[[FoldData], Callable[[pd.DataFrame], ClassPredictions]] | None = None,
    threshold_folds: int | None = None,
    encodings: Sequence[str] = (),
) -> Baseline:
    """A method of imbalanced-learn without rounds."""
    return Baseline(
        name, about, "imbalanced-learn", fit_scorer, boosts=False, probability=from_probability,
        threshold_folds=threshold_folds, fit_classes=fit_classes, encodings=encodings,
    )  # fmt: skip


BASELINES = {
    "adacc-forest": Baseline(
        FORESTS["adacc-forest"].label,
        f"{FORESTS['adacc-forest'].summary[0].upper()}{FORESTS['adacc-forest'].summary[1:]}.",
        "adacc",
        models.forest,
        boosts=False,
        probability=None,
        fit_classes=multiclass.forest,
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
        fit_classes=multiclass.rusboost,
    ),
    "sklearn-adaboost": Baseline(
        "AdaBoost (scikit-learn)",
        "AdaBoost of scikit-learn on stumps, without class weights.",
        "scikit-learn",
        models.sklearn_adaboost,
        fit_classes=multiclass.sklearn_adaboost,
        encodings=NUMBER_ENCODINGS,
    ),
    "lightgbm": Baseline(
        "LightGBM",
        "Gradient boosted trees with class weights.",
        "lightgbm",
        models.lightgbm,
        fit_classes=multiclass.lightgbm,
        encodings=CATEGORY_ENCODINGS,
    ),
    "xgboost": Baseline(
        "XGBoost",
        "Gradient boosted trees with class weights.",
        "xgboost",
        models.xgboost,
        fit_classes=multiclass.xgboost,
        encodings=CATEGORY_ENCODINGS,
    ),
    "hist-gradient-boosting": Baseline(
        "HistGradientBoosting",
        "Gradient boosted trees with class weights.",
        "scikit-learn",
        models.hist_gradient_boosting,
        fit_classes=multiclass.hist_gradient_boosting,
        encodings=CATEGORY_ENCODINGS,
    ),
    "balanced-random-forest": _of_imblearn(
        "Balanced R.F.",
        "A random forest; each tree is fitted to a balanced bootstrap sample.",
        partial(models.resampling_ensemble, "BalancedRandomForestClassifier"),
        partial(multiclass.resampling_ensemble, "BalancedRandomForestClassifier"),
        encodings=NUMBER_ENCODINGS,
    ),
    "easy-ensemble": _of_imblearn(
        "EasyEnsemble",
        "Bagging of AdaBoost, each fitted to a balanced sample.",
        partial(models.resampling_ensemble, "EasyEnsembleClassifier"),
        partial(multiclass.resampling_ensemble, "EasyEnsembleClassifier"),
        encodings=NUMBER_ENCODINGS,
    ),
    "self-paced-ensemble": Baseline(
        "Self-paced ensemble",
        "Trees on balanced samples; rows of the common class are drawn by how hard they are.",
        "scikit-learn",
        models.self_paced_ensemble,
        boosts=False,
        probability=from_probability,
        encodings=NUMBER_ENCODINGS,
    ),
    "bagged-lightgbm": Baseline(
        "Bagged LightGBM",
        "Gradient boosted trees on each of 20 balanced samples.",
        "lightgbm",
        models.bagged_lightgbm,
        boosts=False,
        probability=from_probability,
        encodings=CATEGORY_ENCODINGS,
    ),
    "catboost": Baseline(
        "CatBoost",
        "Gradient boosted trees with class weights.",
        "catboost",
        models.catboost,
        boosts=False,
        extra="peers",
        fit_classes=multiclass.catboost,
    ),
    "ebm": Baseline(
        "EBM",
        "Explainable boosting machine: a sum of functions of one and two features.",
        "interpret-core",
        models.explainable_boosting,
        boosts=False,
        extra="peers",
        fit_classes=multiclass.explainable_boosting,
    ),
    "lightgbm-shallow": Baseline(
        "LightGBM, shallow",
        "Gradient boosted trees of eight leaves with class weights.",
        "lightgbm",
        models.shallow_lightgbm,
        boosts=False,
        fit_classes=multiclass.shallow_lightgbm,
        encodings=CATEGORY_ENCODINGS,
    ),
    "balanced-random-forest-threshold": _of_imblearn(
        "Balanced R.F. + threshold",
        "A balanced random forest with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(models.resampling_ensemble, "BalancedRandomForestClassifier"),
        threshold_folds=3,
        encodings=NUMBER_ENCODINGS,
    ),
    "easy-ensemble-threshold": _of_imblearn(
        "EasyEnsemble + threshold",
        "EasyEnsemble with the threshold of best balanced accuracy on out-of-fold scores.",
        partial(models.resampling_ensemble, "EasyEnsembleClassifier"),
        threshold_folds=3,
        encodings=NUMBER_ENCODINGS,
    ),
    "lightgbm-threshold": Baseline(
        "LightGBM + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(models.lightgbm, weighted=False),
        threshold_folds=3,
        encodings=CATEGORY_ENCODINGS,
    ),
    "lightgbm-shallow-threshold": Baseline(
        "LightGBM, shallow + threshold",
        "Gradient boosted trees of eight leaves with the threshold of best balanced accuracy on out-of-fold scores.",
        "lightgbm",
        partial(models.shallow_lightgbm, weighted=False),
        boosts=False,
        threshold_folds=3,
        encodings=CATEGORY_ENCODINGS,
    ),
    "xgboost-threshold": Baseline(
        "XGBoost + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "xgboost",
        partial(models.xgboost, weighted=False),
        threshold_folds=3,
        encodings=CATEGORY_ENCODINGS,
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
        models.default_lightgbm,
        boosts=False,
        threshold_folds=3,
        trials=models.random_parameters,
        encodings=CATEGORY_ENCODINGS,
    ),
    "adaboost-threshold": Baseline(
        "AdaBoost + threshold",
        "AdaBoost with the threshold of best balanced accuracy on out-of-fold scores.",
        "adacc",
        models.adaboost,
        probability=from_half_log_odds,
        threshold_folds=5,
    ),
    "hist-gradient-boosting-threshold": Baseline(
        "HistGB + threshold",
        "Gradient boosted trees with the threshold of best balanced accuracy on out-of-fold scores.",
        "scikit-learn",
        partial(models.hist_gradient_boosting, class_weight=None),
        threshold_folds=3,
        encodings=CATEGORY_ENCODINGS,
    ),
    "logistic-regression": Baseline(
        "Logistic regression",
        "Logistic regression on standardised features with class weights.",
        "scikit-learn",
        models.logistic_regression,
        boosts=False,
        fit_classes=multiclass.logistic_regression,
    ),
}


def label_of(method: str) -> str:
    """The label of a method of adacc or of a baseline, for tables and figures."""
    return METHODS[method].label if method in METHODS else BASELINES[method].name

"""Boosting for rare classes: AdaCC and the cost-sensitive family, as scikit-learn classifiers."""

from adacc.estimators.classifiers import (
    AdaBoostClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCC1Classifier,
    AdaCC2Classifier,
    AdaCostClassifier,
    AdaMECClassifier,
    AdaNCC1Classifier,
    AdaNCC2Classifier,
    BoostingClassifier,
    CGAdaClassifier,
    CSB1Classifier,
    CSB2Classifier,
    RareBoostClassifier,
    RUSBoostClassifier,
    SMOTEBoostClassifier,
)
from adacc.estimators.search import CostSearchCV
from adacc.rules import Rule, methods

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCC1Classifier",
    "AdaCC2Classifier",
    "AdaCostClassifier",
    "AdaMECClassifier",
    "AdaNCC1Classifier",
    "AdaNCC2Classifier",
    "BoostingClassifier",
    "CGAdaClassifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CostSearchCV",
    "RUSBoostClassifier",
    "RareBoostClassifier",
    "Rule",
    "SMOTEBoostClassifier",
    "__version__",
    "methods",
]

"""Boosting for rare classes: AdaCC and the cost-sensitive family, as scikit-learn classifiers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adacc.algorithms import Rule, methods
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
    from adacc.estimators.cost_decision import CostDecision
    from adacc.estimators.decision_rule import DecisionRule
    from adacc.estimators.duplicates import CopiedRowsWarning
    from adacc.estimators.folds import TimeSplit
    from adacc.estimators.forest import AdaCCForestClassifier
    from adacc.estimators.loading import load
    from adacc.estimators.search import CostSearchCV
    from adacc.estimators.unseen_categories import UnseenCategoryWarning
    from adacc.model.serialization.archive import ModelFileError
    from adacc.report.from_python import Comparison, compare

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCC1Classifier",
    "AdaCC2Classifier",
    "AdaCCForestClassifier",
    "AdaCostClassifier",
    "AdaMECClassifier",
    "AdaNCC1Classifier",
    "AdaNCC2Classifier",
    "BoostingClassifier",
    "CGAdaClassifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "Comparison",
    "CopiedRowsWarning",
    "CostDecision",
    "CostSearchCV",
    "DecisionRule",
    "ModelFileError",
    "RUSBoostClassifier",
    "RareBoostClassifier",
    "Rule",
    "SMOTEBoostClassifier",
    "TimeSplit",
    "UnseenCategoryWarning",
    "__version__",
    "compare",
    "load",
    "methods",
]

_MODULES = (
    "algorithms", "model.serialization.archive", "estimators.classifiers", "estimators.folds", "estimators.forest",
    "estimators.search", "estimators.cost_decision", "estimators.decision_rule", "estimators.unseen_categories",
    "estimators.duplicates", "estimators.loading", "report.from_python",
)  # fmt: skip
_SHOWN = ("datasets", "distributed", "export", "inspect", "metrics", "tables")


def __getattr__(name: str) -> Any:
    """A public name when it is first used: the command line's help should not wait for scikit-learn and Numba."""
    if name in _SHOWN:
        return import_module(f"adacc.{name}")
    if name in __all__:
        for path in _MODULES:
            module = import_module(f"adacc.{path}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module 'adacc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SHOWN})

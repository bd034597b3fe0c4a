"""scikit-learn's own checks, over every class; each expected failure with its reason."""

import inspect

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from support import ALIKE

import adacc

CLASSES = [getattr(adacc, name) for name in adacc.__all__ if name.endswith("Classifier")]
CLASSES_ALIKE = [cls for cls in CLASSES if getattr(cls, "_method", None) in (*ALIKE, "adac2", "csb2")]
VARIANTS = [
    adacc.AdaCC2Classifier(calibration="isotonic", calibration_cv="training"),
    adacc.AdaC2Classifier(estimator=GaussianNB()),
    adacc.AdaCCForestClassifier(n_estimators=10),
    adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=5), cv="training", rounds=[3, 5]),
    adacc.CostDecision(LogisticRegression()),
]
MORE_VARIANTS = [
    adacc.AdaMECClassifier(calibration="sigmoid", calibration_cv="training"),
    adacc.CGAdaClassifier(calibration="isotonic", calibration_cv="training"),
    adacc.AdaCC1Classifier(max_bins=None, n_jobs=2, criterion="entropy"),
    adacc.AdaCCForestClassifier(),
    adacc.CostDecision(adacc.AdaCC1Classifier(n_estimators=10), undo_class_weight="balanced", cv="training"),
    adacc.AdaBoostClassifier(calibration="sigmoid", calibration_cv="training"),
    adacc.AdaCC1Classifier(calibration="sigmoid", calibration_cv="training"),
    adacc.AdaCC2Classifier(estimator=DecisionTreeClassifier(max_depth=3)),
    adacc.CostDecision(LogisticRegression(), threshold="tuned"),
    adacc.DecisionRule(LogisticRegression()),
]
WEIGHTS_ARE_REPEATS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected_failures(estimator):
    failures = {}
    if isinstance(estimator, adacc.RUSBoostClassifier | adacc.AdaCCForestClassifier):
        reason = "draws rows at random, so that a repeated row is drawn apart from its twin and a weighted one is not"
        failures |= dict.fromkeys(WEIGHTS_ARE_REPEATS, reason)
    if isinstance(estimator, adacc.CSB1Classifier):
        reason = "CSB1's constant step of e^±1, as printed, overshoots: it is less accurate than the check asks for"
        failures["check_classifiers_train"] = reason
    if getattr(estimator, "calibration", None) and isinstance(estimator, adacc.AdaCC2Classifier):
        failures["check_classifiers_train"] = "probabilities are frequencies, and the votes decide, not the largest one"
    if getattr(estimator, "calibration", None) and getattr(estimator, "calibration_cv", None) == "training":
        reason = "a calibration counts rows: a copy is one more row, a weight is relative"
        failures |= dict.fromkeys(WEIGHTS_ARE_REPEATS, reason)
    if isinstance(getattr(estimator, "estimator", None), DecisionTreeClassifier):
        reason = "of splits that separate a pair of classes equally well, rounding of the weights decides"
        failures |= dict.fromkeys(WEIGHTS_ARE_REPEATS, reason)
    if getattr(estimator, "threshold", None) == "tuned" or getattr(estimator, "rule", None) == "f1":
        failures["check_classifiers_train"] = "the cut-off is the cheapest one, not one half"
        if not XFAIL_STRICT:
            reason = "checks of old make two classes of three by the first row, which is another one of the two fits"
            failures |= dict.fromkeys(WEIGHTS_ARE_REPEATS, reason)
    return failures


XFAIL_STRICT = {"xfail_strict": True} if "xfail_strict" in inspect.signature(parametrize_with_checks).parameters else {}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [cls() for cls in CLASSES_ALIKE] + MORE_VARIANTS, expected_failed_checks=expected_failures, **XFAIL_STRICT
)
def test_scikit_learn_compatibility_of_those_like_others(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [cls() for cls in CLASSES if cls not in (*CLASSES_ALIKE, adacc.AdaCCForestClassifier)] + VARIANTS,
    expected_failed_checks=expected_failures,
    **XFAIL_STRICT,
)
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)

"""Every parameter of every estimator: values of a wrong type or out of range raise an error that names it."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest

import adacc

ROWS = 40
X = np.random.default_rng(0).normal(size=(ROWS, 3))
y = np.tile([0, 0, 0, 1], ROWS // 4)
ARRAY, HUGE = np.array([1, 2]), 10**400
NO_NUMBER = ["x", b"x", None, True, [], {}, ARRAY]
NO_FRACTION = [*NO_NUMBER, np.nan, np.inf, -0.5, HUGE]
NO_COUNT = [*NO_NUMBER, 0, -1, 1.5, np.nan, HUGE]
NO_COUNT_OR_NONE = [value for value in NO_COUNT if value is not None]
NO_NAME = ["x", b"x", 0, 1.5, True, [], {}, ARRAY]

INVALID = {
    "n_estimators": NO_COUNT,
    "n_rounds": NO_COUNT,
    "learning_rate": [*NO_FRACTION, 0, 11],
    "criterion": [*NO_NAME, None],
    "max_depth": NO_COUNT_OR_NONE,
    "max_leaf_nodes": [*NO_COUNT_OR_NONE, 1],
    "min_samples_leaf": [*NO_COUNT, ROWS + 1, 10**9],
    "max_features": ["x", b"x", True, [], {}, ARRAY, 0, -1, 0.0, 1.5, np.nan, 4, 1000, HUGE],
    "subsample": [*NO_FRACTION, 0, 1.5],
    "rates": [*NO_NAME, None],
    "max_bins": [*NO_COUNT_OR_NONE, 1],
    "monotonic_cst": ["x", b"x", 0, 1.5, True, [], ARRAY, [2, 0, 0], {"a": 1}],
    "dialect": NO_NAME,
    "alpha": NO_NAME,
    "calibration": NO_NAME,
    "calibration_cv": ["x", b"x", 0, 1, 1.5, True, [], {}, ARRAY],
    "tuning_cv": ["x", b"x", 0, 1, 1.5, True, [], {}, ARRAY],
    "multi_class": [*NO_NAME, None],
    "duplicates": [*NO_NAME, None],
    "objective": [*NO_NAME, None],
    "pos_label": ["x", "1", b"x", 2, 1.5, [], {}, ARRAY],
    "n_iter_no_change": NO_COUNT_OR_NONE,
    "validation_fraction": [*NO_FRACTION, 0, 1],
    "warm_start": ["x", b"x", None, 0, 1, 1.5, [], {}, ARRAY],
    "n_jobs": ["x", b"x", True, [], {}, ARRAY, 0, 1.5, np.nan, HUGE],
    "verbose": ["x", b"x", None, [], {}, ARRAY, -1, 1.5, np.nan, HUGE],
    "random_state": ["x", b"x", [], {}, -1, 1.5, np.nan, HUGE],
    "decision": ["x", b"x", 0, 1.5, True, ARRAY],
    "estimator": ["x", b"x", 0, 1.5, [], {}, object],
    "costs": ["x", b"x", 0, 1.5, [], {}, [1, -1], [0, 0], [1, 2, 3], {0: 1, 2: 1}, {0: np.nan, 1: 1}],
    "costs_on": NO_NAME,  # None is the default of the method for its own options
    "sampling_ratio": [value for value in [*NO_FRACTION, 0, 1.5] if value is not None],
    "n_synthetic": NO_COUNT_OR_NONE,
    "k_neighbors": NO_COUNT_OR_NONE,
    "method": ["x", b"x", None, 0, 1.5, [], {}],
}
"""Invalid values by parameter, for two classes, `ROWS` rows and three features."""

OF_METHODS = {"alpha", "costs", "costs_on", "sampling_ratio", "n_synthetic", "k_neighbors"}
"""Options of some methods: `BoostingClassifier` names the methods that have them."""

CLASSES = [getattr(adacc, name) for name in adacc.__all__ if name.endswith("Classifier")]
CASES = [
    pytest.param(cls, name, id=f"{cls.__name__}-{name}")
    for cls in CLASSES
    for name in signature(cls).parameters
    if cls is not adacc.BoostingClassifier or name not in OF_METHODS
]


NAMED_BY = {"decision": "decision|cost_matrix"}


@pytest.mark.parametrize(("cls", "name"), CASES)
def test_invalid_values_of_classifiers(cls, name):
    names = signature(cls).parameters
    trees = {"max_depth": 2} if "warm_start" in names and name not in ("max_depth", "estimator") else {}
    for value in INVALID[name]:
        with pytest.raises((ValueError, TypeError), match=NAMED_BY.get(name, name)) as raised:
            cls(**{"n_estimators": 2, **trees, name: value}).fit(X, y)
        assert len(str(raised.value)) < 600  # also for an integer of 400 digits


@pytest.mark.parametrize("cls", [adacc.AdaCC1Classifier, adacc.AdaCCForestClassifier])
def test_limits_of_trees_are_those_of_the_rows(cls):
    """The largest values that are allowed."""
    cls(max_depth=2, n_estimators=2, max_features=3, min_samples_leaf=ROWS).fit(X, y)
    cls(max_depth=2, n_estimators=2, max_features=np.int64(1)).fit(X, y)


@pytest.mark.parametrize("cls", [adacc.DecisionRule, adacc.CostDecision])
def test_invalid_numbers_of_workers(cls):
    options = {"rule": "f1"} if cls is adacc.DecisionRule else {"cost_matrix": [[0, 1], [5, 0]], "threshold": "tuned"}
    for n_jobs in ("x", b"x", True, [], {}, ARRAY, 0, 1.5, np.nan, HUGE):
        with pytest.raises((ValueError, TypeError), match="n_jobs must be"):
            cls(adacc.AdaCC1Classifier(n_estimators=2), n_jobs=n_jobs, **options).fit(X, y)


COMPARE = {
    "methods": ["x", b"x", 0, 1.5, None, True, (1, 2), ARRAY],
    "positive": ["x", "1", b"x", 2, 1.5, [], {}, ARRAY],
    "groups": ["x", 0, 1.5, True, [], {}, ARRAY, X],
    "times": ["x", 0, 1.5, True, [], {}, ARRAY, X],
    "duplicates": [*NO_NAME, None],
    "metric": [*NO_NAME, None],
    "folds": [*NO_COUNT, 1],
    "repeats": NO_COUNT,
    "n_estimators": NO_COUNT,
    "n_jobs": ["x", b"x", True, [], {}, ARRAY, 0, 1.5, np.nan, HUGE],
    "random_state": ["x", b"x", None, True, [], {}, ARRAY, -1, 1.5, 2**32, HUGE],
}


@pytest.mark.parametrize("name", COMPARE)
def test_invalid_values_of_a_comparison(name):
    for value in COMPARE[name]:
        with pytest.raises((ValueError, TypeError), match=name.removesuffix("s")):
            adacc.compare(X, y, **{"methods": ["adacc1"], "folds": 2, "n_estimators": 2, name: value})


def test_columns_of_several_levels():
    """A classifier takes them by position, as scikit-learn does; a comparison shows names."""
    frame = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    model = adacc.AdaCC1Classifier(n_estimators=2).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), model.predict(X))
    with pytest.raises(ValueError, match="X must have one name for each column, got a MultiIndex of 2 levels"):
        adacc.compare(frame, y, methods=["adacc1"], folds=2)

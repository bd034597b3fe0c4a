import numpy as np
import pandas as pd
import pytest

from adacc.costs import class_costs

CLASSES = np.array(["fine", "fraud"])
COUNTS = np.array([90.0, 10.0])


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ("balanced", [1 / 9, 1.0]),
        ({"fraud": 20, "fine": 5}, [0.25, 1.0]),
        ([3, 6], [0.5, 1.0]),
        (np.array([1.0, 0.0]), [1.0, 0.0]),
        (pd.Series({"fraud": 20.0, "fine": 5.0}), [0.25, 1.0]),
    ],
)
def test_the_largest_is_one(costs, expected):
    np.testing.assert_allclose(class_costs(costs, CLASSES, COUNTS), expected)


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ("equal", ValueError, "costs must be 'balanced', a mapping or a sequence, got 'equal'"),
        ({"fraud": 1}, ValueError, "no value for class 'fine'"),
        ({"fraud": 1, "fine": 1, "odd": 1}, ValueError, "the label 'odd', which is not among the classes"),
        ([1], ValueError, "one value per class"),
        ([1, -2], ValueError, r"not negative, got -2.0 for class 'fraud'"),
        ([1, np.nan], ValueError, "finite and not negative, got nan for class 'fraud'"),
        ([0, 0], ValueError, "must not be zero for every class"),
        ([1, "much"], TypeError, "costs must be numbers"),
        (7, TypeError, "got int: 7"),
        (np.array(5.0), TypeError, "got ndarray"),
        ({1, 2}, TypeError, "got set"),
        ({"fine": [1], "fraud": [2]}, TypeError, "costs must be numbers"),
    ],
)
def test_wrong_costs_are_named(costs, error, message):
    with pytest.raises(error, match=message):
        class_costs(costs, CLASSES, COUNTS)

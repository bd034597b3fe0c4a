import numpy as np
import pandas as pd
import pytest

from adacc.costs import class_costs, cost_matrix

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


THREE = np.array(["a", "b", "c"])


def test_a_matrix_gives_every_class_the_mean_cost_of_its_errors():
    matrix = [[0, 1, 3], [2, 0, 2], [8, 0, 0]]
    np.testing.assert_allclose(class_costs(matrix, THREE, np.ones(3)), np.array([2, 2, 4]) / 4)
    np.testing.assert_allclose(class_costs(np.array([[0, 5], [20, 0]]), CLASSES, COUNTS), [0.25, 1.0])


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ([[0, 1], [1, 0]], ValueError, r"a row and a column for each class of .*, got the shape \(2, 2\)"),
        ([[0, 1, 1], [1, 0], [1, 1, 0]], TypeError, "costs must be a matrix of numbers"),
        ([[0, 1, 1], [1, 2, 1], [1, 1, 0]], ValueError, "0 on the diagonal, .*, got 2.0 for class 'b'"),
        ([[0, 1, 1], [1, 0, -1], [1, 1, 0]], ValueError, "not negative, got -1.0 for class 'b' predicted as 'c'"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], ValueError, "finite and not negative, got inf for class 'a'"),
        ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], ValueError, "zero in both directions, but are for 'a' and 'c'"),
    ],
)  # fmt: skip
def test_wrong_matrices_are_named(costs, error, message):
    with pytest.raises(error, match=message):
        cost_matrix(costs, THREE)

"""Hostile data: any table works with sound results, or is refused in words; never a crash, a warning or a NaN.

ADACC_EXAMPLES=N raises the number of tables; ``python tests/hostile/count.py N`` also says what became of them.
"""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hostile.hostile_law import check_model, check_results, judge
from hostile.hostile_tables import cases
from hypothesis import given, settings
from support import thinned

import adacc

N_EXAMPLES = int(os.environ.get("ADACC_EXAMPLES", "250"))
LARGEST = np.finfo(float).max


@pytest.mark.compiled
@settings(max_examples=N_EXAMPLES)
@given(cases())
def test_every_table_works_or_is_refused_in_words(case):
    judge(case)


def overlapping(n=40):
    """One column that tells something of the class."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 1)) + y[:, None], y


@pytest.mark.compiled
@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_one_row_in_a_hundred_thousand(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_001, 2)).round(2), np.arange(100_001) == 77
    model = adacc.BoostingClassifier(method, n_estimators=5, random_state=0).fit(X, y)
    check_model(model)
    assert check_results(model, X[:200], 200)


def test_ten_thousand_classes_are_refused():
    y = np.arange(20_000) // 2
    with pytest.raises(ValueError, match="y must have from 2 to 256 classes, got 10000 classes"):
        adacc.AdaCC1Classifier().fit(y[:, None].astype(float), y)


@pytest.mark.parametrize("method", thinned(adacc.methods(), {*adacc.methods()} - {"adacc1", "rareboost", "smoteboost"}))
def test_as_many_classes_as_there_may_be(method):
    y = np.arange(512) // 2
    model = adacc.BoostingClassifier(method, n_estimators=2, random_state=0).fit(y[:, None].astype(float), y)
    check_model(model)
    assert check_results(model, np.zeros((3, 1)), 3)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1.0, LARGEST])
def test_numbers_of_any_size_are_split_alike(scale):
    """scikit-learn's check adds up all cells, which of the largest floats of both signs gives NaN and a warning."""
    X = np.tile([[-1.0], [1.0]], (50, 1)) * scale
    y = np.tile([0, 1], 50)
    model = adacc.AdaCC1Classifier(n_estimators=3).fit(X, y)
    assert (model.predict(X) == y).all()
    assert (model.predict(X.astype(object)) == y).all()


def test_minus_zero_is_zero():
    X, y = np.array([[-0.0], [0.0]] * 10), np.tile([0, 1], 10)
    with pytest.warns(UserWarning, match="no better than chance"):
        model = adacc.AdaCC1Classifier().fit(X, y)
    assert len(set(model.decision_function(X))) == 1


@pytest.mark.parametrize("make", [pd.DataFrame, pd.DataFrame.to_numpy])
def test_whole_numbers_too_large_for_a_float_are_refused(make):
    X = pd.DataFrame({"a": pd.Series([1, 10**400] * 20, dtype=object)})
    with pytest.raises(
        ValueError, match=r"holds (a whole number that is too large for a float|the integer 10+; beyond 2\^53)"
    ):
        adacc.AdaCC1Classifier().fit(make(X), np.tile([0, 1], 20))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(np.ones((40, 3)), columns=["a", "b", "a"]),
        pa.table([pa.array(np.ones(40))] * 2, names=["a", "a"]),
    ],
)
def test_columns_of_one_name_are_refused(X):
    with pytest.raises(ValueError, match="columns of different names, but several are called 'a'"):
        adacc.AdaCC1Classifier().fit(X, np.tile([0, 1], 20))


def test_missing_values_of_pandas_in_an_array_of_objects():
    X, y = overlapping()
    X[::5] = np.nan
    objects = np.where(np.isnan(X), pd.NA, X.astype(object))
    expected = adacc.AdaCC1Classifier(n_estimators=9).fit(X, y)
    model = adacc.AdaCC1Classifier(n_estimators=9).fit(objects, y)
    assert model.estimators_ == expected.estimators_
    np.testing.assert_array_equal(model.decision_function(objects), expected.decision_function(X))


@pytest.mark.parametrize("odd", [("t", 1), frozenset({1}), {"a": 1}])
def test_what_is_no_number_is_named_with_its_place(odd):
    X, y = overlapping()
    X = X.astype(object)
    X[3, 0] = odd
    with pytest.raises((TypeError, ValueError), match=r"\(X holds .* in row 3, column 0\)"):
        adacc.AdaCC1Classifier().fit(X, y)


@pytest.mark.parametrize("labels", [[0, "a"], ["a", 0], ["a", True]])
def test_labels_of_several_kinds_are_refused(labels):
    X, _ = overlapping()
    with pytest.raises(TypeError, match=r"y must have labels of one kind, got (bool|int), str"):
        adacc.AdaCC1Classifier().fit(X, np.array(labels * 20, dtype=object))


def test_smoteboost_refuses_numbers_whose_distances_overflow():
    X, y = overlapping()
    y[::4] = 1
    with pytest.raises(ValueError, match=r"column 0 must be within ±1e\+140 for smoteboost, got .*e\+300"):
        adacc.SMOTEBoostClassifier().fit(X * 1e300, y)


@pytest.mark.parametrize("method", ["adacost", "cgada", "adamec-cal", "adac2"])
@pytest.mark.parametrize("light", [5e-324, 1e-308, 1e-200])
def test_a_class_that_weighs_next_to_nothing(method, light):
    """The balanced cost of such a class is the inverse of its weight."""
    X, y = overlapping()
    weight = np.where(y == 1, light, 1e6)
    model = adacc.BoostingClassifier(method, n_estimators=10).fit(X, y, sample_weight=weight)
    assert model.classes_.tolist() == [0, 1]
    assert check_results(model, X, 40)


@pytest.mark.parametrize("dialect", ["paper", "authors"])
@pytest.mark.parametrize("method", adacc.methods())
def test_the_fastest_learning_from_the_heaviest_rows(method, dialect):
    """A learner without errors on rows that count as 1e15, ten times as strong: its factors must stay floats."""
    X = np.repeat(np.arange(6.0), 10)[:, None]
    weight = 10.0 ** np.linspace(-150, 150, 60)
    for labels in (X[:, 0] > 3, X[:, 0]):
        model = adacc.BoostingClassifier(method, learning_rate=10.0, n_estimators=5, dialect=dialect, random_state=0)
        model.fit(X, labels, sample_weight=weight)
        check_model(model)
        assert check_results(model, X, 60)

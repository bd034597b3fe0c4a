"""Columns of whole numbers are counted instead of sorted; bins and codes must be those of any other column."""

import numpy as np
import pytest

from adacc.engine import binning
from adacc.engine.binning import NONE, Numbers, find_thresholds
from adacc.estimators.reading import number_labels

N_VALUES = 1500  # more than two blocks


def columns():
    rng = np.random.default_rng(0)
    flags = rng.integers(0, 2, N_VALUES).astype(float)
    later = flags.copy()
    later[-10:] = 7.0
    broken = rng.integers(0, 9, N_VALUES).astype(float)
    broken[-1] = 3.5
    negative_zeros = rng.integers(0, 3, N_VALUES) * -1.0
    heavy = rng.integers(0, 300, N_VALUES) * (rng.random(N_VALUES) < 0.4)
    whole = {
        "a few": rng.integers(0, 10, N_VALUES),
        "below and above zero": rng.integers(-40, 40, N_VALUES),
        "gaps": rng.choice([-7, 2, 3, 100, 300], N_VALUES),
        "more than bins": rng.integers(0, 340, N_VALUES),
        "a heavy zero": heavy,
        "large": rng.integers(0, 50, N_VALUES) + 2**50,
        "negative zeros": negative_zeros,
    }
    other = {
        "hardly any twice": rng.integers(0, 1200, N_VALUES).astype(float),
        "flags": flags,
        "flags at first": later,
        "one broken": broken,
        "huge": rng.choice([-1.7e308, 0.0, 1.7e308], N_VALUES),
        "far apart": rng.choice([0.0, 1e6, 1e300], N_VALUES),
        "infinite": rng.choice([0.0, 5.0, np.inf], N_VALUES),
        "one value": np.full(N_VALUES, 4.0),
        "missing": np.full(N_VALUES, np.nan),
        "nothing": np.empty(0),
    }
    for name, values in whole.items():
        yield name, values.astype(float), True
        with_missing = values.astype(float)
        with_missing[rng.random(N_VALUES) < 0.2] = np.nan
        yield f"{name}, some missing", with_missing, True
    for name, values in other.items():
        yield name, values, False


@pytest.mark.parametrize(("values", "is_counted"), [pytest.param(v, w, id=name) for name, v, w in columns()])
@pytest.mark.parametrize("max_bins", [255, 6, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_whole_numbers_are_binned_as_if_they_were_sorted(monkeypatch, values, is_counted, max_bins, weighted):
    assert (binning.whole_numbers(values) is not None) == is_counted
    weights = np.random.default_rng(1).random(len(values)) if weighted else NONE
    thresholds, n_distinct = find_thresholds(values, weights, max_bins)
    codes = Numbers(thresholds).code(values)
    missing = np.isnan(values)
    np.testing.assert_array_equal(codes[~missing], np.searchsorted(thresholds, values[~missing]))
    assert (codes[missing] == len(thresholds) + 1).all()
    assert n_distinct == len(np.unique(values[~missing]))
    monkeypatch.setattr(binning, "whole_numbers", lambda values: None)
    sorted_thresholds, sorted_distinct = find_thresholds(values, weights, max_bins)
    np.testing.assert_array_equal(thresholds, sorted_thresholds)
    assert n_distinct == sorted_distinct
    sorted_codes = Numbers(thresholds).code(values)
    assert codes.dtype == sorted_codes.dtype
    np.testing.assert_array_equal(codes, sorted_codes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64, bool, float, "<U3", object])
def test_labels_are_numbered_in_their_order(dtype):
    rng = np.random.default_rng(0)
    for low, high in [(0, 2), (100, 127), (0, 100)] + [(-128, 127), (-3, 4)] * (np.dtype(dtype).kind in "if"):
        labels = rng.integers(low, high, 300).astype(dtype if dtype is not object else str).astype(dtype)
        classes, numbers = number_labels(labels)
        expected, which = np.unique(labels, return_inverse=True)
        assert classes.dtype == expected.dtype
        np.testing.assert_array_equal(classes, expected)
        np.testing.assert_array_equal(numbers, which)


def test_labels_at_the_ends_of_their_type():
    for labels in (np.array([-(2**63), 2**63 - 1, 5]), np.array([2**64 - 1, 2**64 - 2] * 3, dtype=np.uint64)):
        classes, numbers = number_labels(labels)
        np.testing.assert_array_equal(classes, np.unique(labels))
        np.testing.assert_array_equal(classes[numbers], labels)

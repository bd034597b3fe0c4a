"""Thresholds and bins, however a column's values are found: counted if they are whole, else grouped."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from support import thinned

import adacc
from adacc import kernels
from adacc.data.binning import FEW_ROWS, NONE, NumericBins, find_thresholds, whole_range
from adacc.data.columns import read
from adacc.data.threads import Threads
from adacc.estimators.input_validation import number_labels
from adacc.kernels.thresholds import INSERTION_SORT_MAX

N_VALUES = 1500  # more than two blocks


def columns():
    rng = np.random.default_rng(0)
    flags = rng.integers(0, 2, N_VALUES).astype(float)
    later = flags.copy()
    later[-10:] = 7.0
    broken = rng.integers(0, 9, N_VALUES).astype(float)
    broken[-20:] = 3.5
    negative_zeros = rng.integers(0, 3, N_VALUES) * -1.0
    heavy = rng.integers(0, 300, N_VALUES) * (rng.random(N_VALUES) < 0.4)
    normal, log_normal = rng.normal(size=N_VALUES), rng.lognormal(sigma=3.0, size=N_VALUES)
    outliers = normal.copy()
    outliers[[3, 700, -1]] = 1e9, -1e15, 1e300
    whole = {
        "a few": rng.integers(0, 10, N_VALUES),
        "below and above zero": rng.integers(-40, 40, N_VALUES),
        "gaps": rng.choice([-7, 2, 3, 100, 300], N_VALUES),
        "more than bins": rng.integers(0, 340, N_VALUES),
        "a heavy zero": heavy,
        "large": rng.integers(0, 50, N_VALUES) + 2**50,
        "negative zeros": negative_zeros,
        "flags": flags,
        "flags at first": later,
        "one value": np.full(N_VALUES, 4.0),
    }
    other = {
        "hardly any twice": rng.integers(0, 1200, N_VALUES).astype(float),
        "one broken": broken,
        "huge": rng.choice([-1.7e308, 0.0, 1.7e308], N_VALUES),
        "huge, many": rng.uniform(-1.0, 1.0, N_VALUES) * 1.7e308,
        "tiny": rng.integers(-400, 400, N_VALUES) * 5e-324,
        "the tiniest": rng.integers(-1, 2, N_VALUES) * 5e-324,
        "the tiniest neighbours": rng.integers(3, 5, N_VALUES) * 5e-324,
        "infinite": rng.choice([-np.inf, 0.0, 5.0, np.inf], N_VALUES),
        "nothing but infinite": np.full(N_VALUES, np.inf),
        "zeros of both signs, and all scales": rng.choice([-1.0, -0.0, 0.0, 1.0], N_VALUES)
        * 10.0 ** rng.uniform(-308, 308, N_VALUES),
        "far apart": rng.choice([0.0, 1e6, 1e300], N_VALUES),
        "normal": normal,
        "two decimals": np.round(normal, 2),
        "skewed": log_normal,
        "skewed to the left": -log_normal,
        "skewed, and zero": log_normal * (rng.random(N_VALUES) < 0.3),
        "outliers": outliers,
        "each a fraction of the one before": 1.5 ** -np.arange(N_VALUES, dtype=float),
        "close to one": 1.0 + rng.integers(0, 900, N_VALUES) * 2.0**-52,
        "descending": np.arange(N_VALUES, 0.0, -1.0) / 3,
        "two values": rng.choice([0.1, 0.3], N_VALUES),
        "one value": np.full(N_VALUES, 0.4),
        "two rows": np.array([0.3, 0.1]),
        "one row": np.array([0.3]),
        "missing": np.full(N_VALUES, np.nan),
        "nothing": np.empty(0),
    }
    for kind, is_whole in ((whole, True), (other, False)):
        for name, values in kind.items():
            yield name, values.astype(float), is_whole
            with_missing = values.astype(float)
            with_missing[rng.random(len(values)) < 0.2] = np.nan
            yield f"{name}, some missing", with_missing, is_whole


def plain_thresholds(values, weights, max_bins):
    """The rule, told once more in plain Python, from the distinct values and their weights."""
    values, which = np.unique(values, return_inverse=True)
    held = np.bincount(which, weights, len(values)).tolist()
    if len(values) <= max_bins:
        ends = range(1, len(values))
    else:
        ends, in_bin, left = [], held[0], sum(held)
        for end in range(1, len(values)):
            share = left / (max_bins - len(ends)) * (1 - 1e-9)
            if len(ends) < max_bins - 1 and (in_bin >= share or held[end] >= share):
                ends.append(end)
                in_bin, left = 0.0, left - in_bin
            in_bin += held[end]
    thresholds = []
    for low, high in ((float(values[end - 1]), float(values[end])) for end in ends):
        middle = low / 2 + high / 2
        thresholds.append(middle if low <= middle < high else low)
    return thresholds


def weighted_columns():
    """Columns with weights and without; `make test` has those with missing values weighted, and the others not."""
    for number, (name, values, is_whole) in enumerate(columns()):
        for weighted in (False, True):
            marks = [pytest.mark.thorough] if weighted != number % 2 else []
            yield pytest.param(values, is_whole, weighted, id=f"{name}{', weighted' * weighted}", marks=marks)


@pytest.mark.parametrize(("values", "is_whole", "weighted"), [*weighted_columns()])
@pytest.mark.parametrize("max_bins", thinned([255, 6, None], [6]))
def test_bins_are_those_of_the_plain_rule(values, is_whole, max_bins, weighted):
    wholes = whole_range(values)
    assert (wholes[1] >= 0.0) == is_whole
    weights = np.random.default_rng(1).random(len(values)) if weighted else np.ones(len(values))
    present = ~np.isnan(values)
    before = values.copy()
    most = len(values) if max_bins is None else max_bins
    expected = plain_thresholds(values[present], weights[present], most)
    for known in (wholes, (0.0, -1.0)):  # whole numbers are binned as any others
        thresholds, every = find_thresholds(values, weights if weighted else NONE, known, max_bins)
        assert thresholds.tolist() == expected
        assert every == (len(np.unique(values[present])) <= most)
        bins = NumericBins(thresholds).bins(values, known)
        np.testing.assert_array_equal(bins[present], np.searchsorted(thresholds, values[present]))
        assert (bins[~present] == len(thresholds) + 1).all()
    np.testing.assert_array_equal(values, before)


def grouped(values):
    arranged, ends = np.empty(len(values)), np.empty(len(values) + 2, dtype=np.int64)
    groups = np.empty(len(values), dtype=np.uint16)
    found = kernels.group_values(values, np.nanmin(values), np.nanmax(values), groups, ends, arranged)
    return *found, arranged, ends


@pytest.mark.parametrize("values", [pytest.param(v, id=name) for name, v, _ in columns()])
def test_groups_ascend_and_are_small_or_of_one_value(values):
    present = values[~np.isnan(values)]
    if (
        len(present) == 0 or not 1e-290 < float(present.max()) / 2 - float(present.min()) / 2 < 1e290
    ):  # these are sorted
        return
    n_groups, n_present, arranged, ends = grouped(values)
    if n_groups < 0:  # unevenly distributed
        return
    np.testing.assert_array_equal(np.sort(arranged[:n_present]), np.sort(present))
    groups = np.split(arranged[:n_present], ends[:n_groups])[:-1] if n_groups else []
    assert all(len(group) > 0 for group in groups)
    assert all(len(group) <= INSERTION_SORT_MAX or len(set(group)) == 1 for group in groups)
    assert all(one.max() < next_one.min() for one, next_one in pairwise(groups))


def test_even_values_are_grouped_and_uneven_ones_are_not():
    even, uneven = np.random.default_rng(0).random(5000), np.random.default_rng(0).lognormal(0.0, 5.0, 5000)
    assert grouped(even)[0] > 1000
    assert grouped(uneven)[0] == -1


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


def test_few_rows_are_binned_as_many_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    frame["whole"], frame["kind"] = rng.integers(0, 30, 500), pd.Categorical(rng.choice(["u", "v", "w"], 500))
    frame.loc[::7, "b"] = np.nan
    model = adacc.AdaCC1Classifier(n_estimators=2).fit(frame, rng.integers(0, 2, 500))
    bin_mapper, order = model.fitted_model_.bin_mapper, np.array([5, 2, 2, 40], dtype=np.uint32)
    whole = bin_mapper.bins(read(frame), np.arange(500, dtype=np.uint32), Threads(1))
    np.testing.assert_array_equal(bin_mapper.bins(read(frame[:50]), order, Threads(1)), whole[:, order])
    several = np.arange(FEW_ROWS, dtype=np.uint32)
    np.testing.assert_array_equal(bin_mapper.bins(read(frame), several, Threads(1)), whole[:, several])

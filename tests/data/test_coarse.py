"""Coarse bins: those of their own thresholds, whose cuts are cuts of the original bins."""

import numpy as np
import pytest

from adacc.data.binning import BinMapper, CategoryBins, NumericBins
from adacc.data.coarse import MAX_THRESHOLDS, CoarseBins
from adacc.data.columns import read
from adacc.data.threads import Threads
from adacc.kernels import dtypes


@pytest.fixture
def fine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    counts = 253, MAX_THRESHOLDS, 1000
    return X, BinMapper(tuple(NumericBins(np.sort(rng.normal(size=n))) for n in counts))


def bins_of(bin_mapper, X):
    table = read(X)
    return bin_mapper.bins(table, table.every_row, Threads(1))


def test_coarse_bins_are_those_of_the_coarse_thresholds(fine):
    X, bin_mapper = fine
    rows = np.array([3, 3, 0, 399, 17])
    bins = bins_of(bin_mapper, X)
    for seed in range(5):
        coarse = CoarseBins(bin_mapper, np.random.default_rng(seed))
        assert [len(each.thresholds) <= MAX_THRESHOLDS for each in coarse.bin_mapper.features] == [True] * 3
        np.testing.assert_array_equal(coarse.apply(bins, rows), bins_of(coarse.bin_mapper, X[rows]))


def test_restored_cuts_have_the_same_thresholds(fine):
    _, bin_mapper = fine
    coarse = CoarseBins(bin_mapper, np.random.default_rng(1))
    for j, feature in enumerate(coarse.bin_mapper.features):
        n_cuts = feature.n_bins - 1  # the last cut separates the missing values
        nodes = np.zeros(n_cuts + 1, dtype=dtypes.NODE)
        nodes["feature"], nodes["cut"] = j, np.arange(n_cuts + 1)
        nodes["feature"][-1] = -1  # the cut of a leaf has no meaning
        coarse.restore(nodes)
        cuts = nodes["cut"][:-1]
        np.testing.assert_array_equal(bin_mapper.features[j].thresholds[cuts[:-1]], feature.thresholds)
        assert cuts[-1] == len(bin_mapper.features[j].thresholds)
        assert nodes["cut"][-1] == n_cuts


def test_draws_differ_and_together_keep_every_threshold(fine):
    _, bin_mapper = fine
    kept = [CoarseBins(bin_mapper, np.random.default_rng(seed)).bin_mapper.features[0].thresholds for seed in range(60)]
    np.testing.assert_array_equal(np.unique(np.concatenate(kept)), bin_mapper.features[0].thresholds)


def test_categories_are_not_merged():
    bin_mapper = BinMapper((CategoryBins(tuple(range(200))),))
    coarse = CoarseBins(bin_mapper, np.random.default_rng(0))
    bins = np.arange(201, dtype=np.uint8)[None]
    assert coarse.bin_mapper == bin_mapper
    np.testing.assert_array_equal(coarse.apply(bins, np.arange(201)), bins)

"""What is done for speed alone must not show: equal rows made one, threads, bins from a draw, bins by counting, cuts
compared many at a time.
"""

from functools import partial

import numpy as np
import pytest
from support import compare

import adacc
from adacc import kernels
from adacc.boosting.session import train
from adacc.data import binned, binning
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning, NumericBins, whole_range
from adacc.data.columns import ArrayTable
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.estimators.settings import read_settings
from adacc.learners import external
from adacc.learners import stump as learners
from adacc.learners.splits import TIE


def repeated(seed=0, n_distinct=25, n_rows=90):
    """Rows many of which are equal, some of them in different classes; the last two columns are sparse."""
    rng = np.random.default_rng(seed)
    few = rng.integers(1, 5, size=(n_distinct, 2)) * (rng.random((n_distinct, 2)) < 0.15)
    distinct = np.column_stack([rng.normal(size=(n_distinct, 2)), few])
    distinct[rng.random(n_distinct) < 0.2, 1] = np.nan
    X = distinct[rng.integers(0, n_distinct, n_rows)]
    y = (X[:, 0] + rng.normal(size=n_rows) > 0.5).astype(int)
    return X, y


def bin_rows(X, y, weight=None, collapse=True, n_threads=1):
    weight = np.ones(len(y)) if weight is None else weight
    rows = Rows.group(np.asarray(y, dtype=np.intp), y.max() + 1, weight)
    columns = partial(Binning(rows.weight, None).columns, ArrayTable(X))
    with Threads(n_threads) as threads:
        return BinnedDataset.read(columns, X.shape[1], rows, threads, collapse)


def test_equal_rows_of_a_class_are_one_with_the_sum_of_their_weights():
    X, y = repeated()
    weight = np.random.default_rng(1).random(len(y))
    coded = bin_rows(X, y, weight)
    keys = list(map(str, np.column_stack([X, y]).tolist()))
    expected = dict.fromkeys(keys, 0.0)
    for key, each in zip(keys, weight, strict=True):
        expected[key] += each
    merged = {keys[row]: each for row, each in zip(coded.rows.order, coded.rows.weight, strict=True)}
    assert len(merged) == len(coded.rows.order) < 0.6 * len(y)
    assert merged == pytest.approx(expected)
    np.testing.assert_array_equal(np.repeat(np.arange(2), np.diff(coded.rows.starts)), y[coded.rows.order])
    assert all(block.dense.bins.flags.c_contiguous for block in coded.blocks)  # others take twice the time
    apart = bin_rows(X, y, weight, collapse=False)
    np.testing.assert_allclose(coded.histogram, apart.histogram)
    for j in range(4):
        np.testing.assert_array_equal(coded.column(j), apart.column(j)[np.argsort(apart.rows.order)][coded.rows.order])


def test_columns_of_dense_and_sparse_features():
    rng = np.random.default_rng(3)
    X = rng.integers(1, 9, size=(60, 48)) * (rng.random((60, 48)) < 0.15)
    X[:, ::5] = rng.integers(0, 9, size=X[:, ::5].shape)  # dense ones between the sparse
    coded = bin_rows(X.astype(float), rng.integers(0, 2, 60), collapse=False)
    for j in range(X.shape[1]):
        bins = np.unique(X[:, j], return_inverse=True)[1]
        np.testing.assert_array_equal(coded.column(j), bins[coded.rows.order])


@pytest.mark.parametrize("method", ["adacc1", "csb2", "rareboost", "adac3", "adamec"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_rows_change_nothing(method, weighted):
    X, y = repeated()
    weight = np.random.default_rng(2).integers(0, 4, len(y)) if weighted else None
    compare(X, y, method, costs=[0.6, 1.0], n_rounds=60, sample_weight=weight)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_few_features_tell_that_rows_differ_but_not_that_they_are_equal(n_jobs):
    rng = np.random.default_rng(3)
    alike, differ = rng.integers(0, 2, size=(25, 9)), rng.normal(size=(25, 3))
    X = np.column_stack([alike, differ])[rng.integers(0, 25, 90)]  # more features than a glance takes in
    y = (X[:, 9] + rng.normal(size=90) > 0.5).astype(int)
    for columns in (X, X[:, ::-1], X[:, :9]):
        expected = len(np.unique(np.column_stack([columns, y]), axis=0))
        assert len(bin_rows(columns, y, n_threads=n_jobs).rows.order) == expected < 80
        compare(columns, y, "adacc1")
    assert len(bin_rows(rng.normal(size=(90, 12)), y, n_threads=n_jobs).rows.order) == 90


def test_rows_that_share_but_their_hash_stay_apart(monkeypatch):
    X, y = repeated()
    X = X[:, :2]
    monkeypatch.setattr(kernels, "hash_rows", lambda bins, offsets, keys, hashes: None)
    assert len(bin_rows(X, y).rows.order) == len(y)
    compare(X, y, "adacc1")


def test_few_equal_rows_are_not_worth_it():
    X, y = np.arange(100.0)[:, None], np.tile([0, 1], 50)
    X[2] = X[0]
    assert len(bin_rows(X, y).rows.order) == 100


@pytest.mark.parametrize(("method", "all_rows"), [("rusboost", True), ("adaboost", False)])
def test_equal_rows_stay_apart_where_a_sampler_draws_from_them(method, all_rows):
    X, y = repeated()
    problem = TrainingSet(ArrayTable(X), y, np.ones(len(y)), np.arange(2), 0, np.arange(len(y)))
    settings = read_settings(adacc.BoostingClassifier(method, n_estimators=1).get_params(deep=False))
    seen = []
    train(settings, problem, after_round=lambda boosting, _: seen.append(len(boosting.backend.rows.order)))
    assert (seen == [len(y)]) == all_rows


@pytest.mark.parametrize("method", ["adacc1", "rusboost"])
def test_threads_change_no_bit(monkeypatch, method):
    monkeypatch.setattr(learners, "MIN_THREADED_NANOSECONDS", 0)
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(300, 5)), rng.random((300, 4)) < 0.1])
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    models = [adacc.BoostingClassifier(method, n_estimators=40, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.estimator_weights_, models[0].estimator_weights_)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))


def thresholds_of(values, weight=None, max_bins=8):
    binning = Binning(np.ones(len(values)) if weight is None else weight, max_bins)
    return binning.thresholds(values, whole_range(values))


def test_bins_from_a_draw_are_nearly_even(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 2000)
    values = np.random.default_rng(4).normal(size=30_000)
    shares = np.bincount(np.searchsorted(thresholds_of(values), values)) / len(values)
    assert len(shares) == 8
    assert abs(shares - 1 / 8).max() < 0.02
    assert not np.array_equal(thresholds_of(values), thresholds_of(values[:2000]))


def test_a_draw_goes_by_weight(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 2000)
    values = np.random.default_rng(5).random(30_000)
    weight = np.where(values < 0.1, 90.0, 1.0)
    shares = np.bincount(np.searchsorted(thresholds_of(values, weight), values), weight) / weight.sum()
    assert abs(shares - 1 / 8).max() < 0.02


def test_few_values_are_told_apart_even_if_the_draw_misses_some(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 100)
    values = np.zeros(30_000)
    values[[5, 77]] = 1.0, 2.0
    assert thresholds_of(values).tolist() == [0.5, 1.5]


@pytest.mark.parametrize("unit", [1.0, 1e300])  # on a grid or, where distances are too large for it, by counting
@pytest.mark.parametrize("n_thresholds", [0, 1, 2, 7, 8, 15, 16, 17, 31, 100, 254, 255, 256, 257, 1000, 5000])
def test_bins_count_the_thresholds_below(n_thresholds, unit):
    rng = np.random.default_rng(n_thresholds)
    thresholds = np.sort(rng.normal(size=n_thresholds)) * unit
    values = np.concatenate([rng.normal(size=1200) * unit, thresholds[:300], [np.nan, -1e305, 1e305]])
    bins = NumericBins(thresholds).bins(values, whole_range(values))
    expected = np.searchsorted(thresholds, values)
    expected[np.isnan(values)] = n_thresholds + 1
    np.testing.assert_array_equal(bins, expected)


def test_how_an_array_lies_in_memory_does_not_matter():
    rng = np.random.default_rng(6)
    X = rng.integers(-50, 50, size=(120, 75)).astype(float)  # more than two blocks of columns
    y = (X[:, 70] + 30 * rng.normal(size=120) > 20).astype(int)
    wide = np.repeat(X, 2, axis=1)
    expected = adacc.AdaCC1Classifier(n_estimators=8).fit(X, y)
    for same in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1], X.astype(np.float32), X.astype(np.int8)):
        model = adacc.AdaCC1Classifier(n_estimators=8).fit(same, y)
        assert model.estimators_ == expected.estimators_
        np.testing.assert_array_equal(model.decision_function(same), expected.decision_function(X))


def test_a_column_is_sparse_by_the_exact_count_of_its_most_frequent_bin():
    """The share must be 80 % of all rows, whatever the screening of some rows finds."""
    for share, is_sparse in ((0.78, False), (0.82, True)):
        bins = np.zeros(10_000, dtype=np.uint8)
        bins[: round((1 - share) * 10_000)] = 7
        assert (binned._find_default(np.random.default_rng(0).permutation(bins)) == 0) == is_sparse


@pytest.mark.parametrize("seed", range(40))
def test_the_quick_search_for_a_cut_finds_that_of_the_plain_one(seed):
    """Two classes and Gini: features of any width, some with gaps, empty bins, copies of each other and near ties."""
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(2, 80, size=rng.integers(1, 12))
    categorical = rng.random(len(n_bins)) < 0.3
    offsets = np.cumsum([0, *n_bins])
    histogram = np.zeros((2, offsets[-1]))
    weight = rng.random(200) if seed % 2 else np.ones(200)
    label = rng.random(200) < 0.3
    for f, n in enumerate(n_bins):
        signal = rng.choice([0.0, 0.2, 1.0]) * label
        code = np.clip((signal + rng.random(200)) * 0.5 * n, 0, n - 2).astype(int)
        if f and rng.random() < 0.3 and n_bins[f - 1] == n:
            histogram[:, offsets[f] : offsets[f + 1]] = histogram[:, offsets[f - 1] : offsets[f]]
            continue
        if rng.random() < 0.4:
            code[rng.random(200) < 0.2] = n - 1  # missing, or a category not seen in training: here it is
        np.add.at(histogram, (label.astype(int), offsets[f] + code), weight)
    scale = rng.random(2)
    total = scale * [weight[~label].sum(), weight[label].sum()]
    scale, total = scale / total.sum(), total / total.sum()
    found = []
    for search in (kernels.best_splits, kernels.best_splits_two):
        gains, cuts = np.zeros(len(n_bins)), np.zeros(len(n_bins), dtype=np.int64)
        room = np.empty((4, n_bins.max()))
        search(histogram, scale, total, offsets, categorical, kernels.GINI, 0, len(n_bins), TIE, room, gains, cuts)
        leaves, classes, W = np.empty((4, 2)), np.empty(4, dtype=np.int64), np.empty((2, 2))
        lookup = np.empty(n_bins.max(), dtype=np.uint8)
        chosen = kernels.choose_split(
            gains, cuts, histogram, scale, offsets, categorical, 0, TIE, leaves, classes, lookup, W
        )
        found.append((chosen, gains.max()))
    (plain, gain), (quick, quick_gain) = found
    assert quick == plain
    assert quick_gain == pytest.approx(gain, abs=1e-13)


@pytest.mark.parametrize("columns", [range(300, 600), [*range(150), *range(700, 999)], [5, 3, 3, 998], []])
def test_columns_in_long_slices_are_those_that_are_taken_one_by_one(columns):
    matrix = np.random.default_rng(0).integers(0, 250, (7, 999)).astype(np.uint8)
    columns = np.array(columns, dtype=np.intp)
    np.testing.assert_array_equal(binned._take_columns(matrix, columns), matrix[:, columns])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [3, 7])
def test_votes_for_many_classes_are_counted_as_row_by_row(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    true = np.sort(rng.integers(0, n_classes, 5000))  # more of each than are looked at together
    true[true == 1] = 2  # and none of one
    starts = np.searchsorted(true, np.arange(n_classes + 1))
    weight = rng.random(len(true)) if weighted else np.empty(0)
    scores = rng.integers(0, 3, (n_classes, len(true))).astype(float)  # many are equal
    predicted, counts = np.empty(len(true), dtype=np.uint8), np.empty((n_classes, n_classes), dtype=np.int64)
    right, expected = np.empty(n_classes), scores.copy()
    by_bin, by_cut = rng.integers(0, n_classes, 20), np.repeat([1, 2, 0], [9, 10, 1])
    for lookup, n_leaves in [(by_bin, 20), (by_cut, 20), (external.IDENTITY, n_classes)]:
        leaves = rng.integers(0, n_leaves, len(true)).astype(np.uint8)
        votes = rng.integers(1, 3, n_classes).astype(float)
        kernels.add_votes_each(
            leaves, lookup.astype(np.uint8), votes, weight, starts, 1e-10, predicted, scores, counts, right
        )
        np.testing.assert_array_equal(predicted, lookup[leaves])
        expected[predicted, np.arange(len(true))] += votes[predicted]
        np.testing.assert_array_equal(scores, expected)
        np.testing.assert_array_equal(counts, np.histogram2d(true, predicted, np.arange(n_classes + 1) - 0.5)[0])
        is_right = expected.argmax(axis=0) == true  # the first of the largest
        each = weight if weighted else np.ones(len(true))
        np.testing.assert_allclose(right, np.bincount(true, each * is_right, n_classes), rtol=1e-12)

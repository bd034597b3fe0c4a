"""The exact stump against scikit-learn's own, and what the engine promises about threads, rows and bins."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from support import run_engine

import adacc
from adacc.algorithms.base import Rule
from adacc.algorithms.catalog import resolve_options
from adacc.boosting.backend import Plan
from adacc.boosting.local_backend import LocalBackend
from adacc.boosting.loop import Boosting
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.columns import ArrayTable
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.learners.stump import StumpLearner


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_an_exact_stump_is_scikit_learns(criterion, n_classes):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 4))
        y = rng.integers(0, n_classes, 60)
        X[np.arange(60), y % 4] += 1.0
        X = X.astype(np.float32)  # as its trees see it
        weight = rng.random(60)
        tree = DecisionTreeClassifier(max_depth=1, criterion=criterion).fit(X, y, sample_weight=weight)
        stump = run_engine(
            X, y, "adaboost", sample_weight=weight, n_estimators=1, max_bins=None, criterion=criterion
        ).stumps[0]
        assert stump.feature == tree.tree_.feature[0]
        assert stump.threshold == pytest.approx(tree.tree_.threshold[0], abs=1e-12)
        assert [stump.left, stump.right] == [int(tree.classes_[tree.tree_.value[leaf, 0].argmax()]) for leaf in (1, 2)]


def test_boosting_is_scikit_learns_adaboost():
    from sklearn.ensemble import AdaBoostClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    for y in [
        (X[:, 0] + rng.normal(size=300) > 1).astype(int),
        np.digitize(X[:, 1] + rng.normal(size=300), [-0.5, 0.7]),
    ]:
        theirs = AdaBoostClassifier(n_estimators=40).fit(X, y)
        ours = adacc.AdaBoostClassifier(n_estimators=40, max_bins=None, multi_class="joint").fit(X, y)
        assert [stump.feature for stump in ours.estimators_] == [e.tree_.feature[0] for e in theirs.estimators_]
        np.testing.assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
        np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("n_columns", [1, 3, 4, 9])
def test_threads_give_the_same_bits(n_columns):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, n_columns))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (rng.random(400) < 0.2).astype(int)
    models = [adacc.AdaCC1Classifier(n_estimators=25, n_jobs=n, max_bins=32).fit(X, y) for n in (1, 2, 3)]
    for other in models[1:]:
        assert other.estimators_ == models[0].estimators_
        np.testing.assert_array_equal(other.estimator_weights_, models[0].estimator_weights_)
        np.testing.assert_array_equal(other.decision_function(X), models[0].decision_function(X))


@given(seed=st.integers(0, 2**20), method=st.sampled_from(["adacc1", "adacc2", "rareboost", "adac1"]))
def test_the_order_of_rows_does_not_matter(seed, method):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(50, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 5, 50) > 6).astype(int)
    y[:2] = [0, 1]
    order = rng.permutation(50)
    one = adacc.BoostingClassifier(method, n_estimators=15).fit(X, y)
    other = adacc.BoostingClassifier(method, n_estimators=15).fit(X[order], y[order])
    assert one.estimators_ == other.estimators_
    np.testing.assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=1e-9)


@given(seed=st.integers(0, 2**20))
def test_bins_depend_neither_on_the_order_of_rows_nor_on_the_scale_of_weights(seed):
    rng = np.random.default_rng(seed)
    values, weights = np.round(rng.normal(size=80), 1), rng.choice([0.1, 0.2, 0.3, 0.7], 80)
    order = rng.permutation(80)
    expected = coder_of(values, weights, max_bins=7).features[0].thresholds
    for scale in (1.0, 0.1, 1 / weights.sum()):
        other = coder_of(values[order], weights[order] * scale, max_bins=7).features[0].thresholds
        np.testing.assert_array_equal(other, expected)


@given(seed=st.integers(0, 2**20), max_bins=st.sampled_from([2, 5, 16, None]))
def test_an_integer_weight_is_that_many_copies(seed, max_bins):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 2)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.tile([0, 0, 0, 1], 10)
    weight = rng.integers(0, 4, 40)
    weight[:4] = 1
    weighted = adacc.AdaCC1Classifier(n_estimators=12, max_bins=max_bins).fit(X, y, sample_weight=weight)
    repeated = adacc.AdaCC1Classifier(n_estimators=12, max_bins=max_bins).fit(
        X.repeat(weight, axis=0), y.repeat(weight)
    )
    assert weighted.estimators_ == repeated.estimators_
    np.testing.assert_allclose(weighted.estimator_weights_, repeated.estimator_weights_, rtol=1e-9)


def coder_of(values, weights=None, max_bins=255):
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    table = ArrayTable(np.asarray(values, dtype=float)[:, None])
    rows = Rows.group(np.zeros(len(values), dtype=np.intp), 1, weights)
    return BinnedDataset.read(
        partial(Binning(weights, max_bins).columns, table), table.n_columns, rows, Threads(1)
    ).bin_mapper


@given(
    values=st.lists(st.floats(allow_infinity=False, width=64) | st.integers(-3, 3), min_size=1, max_size=60),
    max_bins=st.sampled_from([2, 3, 8, 40, None]),
)
def test_bins_say_which_thresholds_lie_below(values, max_bins):
    values = np.array(values, dtype=float)
    bin_mapper = coder_of(values, max_bins=max_bins)
    thresholds = bin_mapper.features[0].thresholds
    assert len(thresholds) < (max_bins or len(values) + 1)
    assert (np.diff(thresholds) > 0).all()
    assert np.isfinite(thresholds).all()
    table = ArrayTable(values[:, None])
    bins = bin_mapper.bins(table, np.arange(len(values), dtype=np.uint32), Threads(1))[0]
    expected = [len(thresholds) + 1 if np.isnan(v) else int((v > thresholds).sum()) for v in values]
    assert bins.tolist() == expected
    distinct = np.unique(values[~np.isnan(values)])
    if max_bins is None or len(distinct) <= max_bins:
        assert len(thresholds) == max(len(distinct) - 1, 0)


def test_bins_of_very_many_thresholds():
    values = np.random.default_rng(0).permutation(3000).astype(float)
    bin_mapper = coder_of(values, max_bins=None)
    bins = bin_mapper.bins(ArrayTable(values[:, None]), np.arange(3000, dtype=np.uint32), Threads(1))[0]
    assert bins.dtype == np.uint16
    np.testing.assert_array_equal(bins, values)


def test_bins_hold_even_shares_and_a_heavy_value_does_not_swallow_them():
    values = np.concatenate([np.zeros(9000), np.random.default_rng(0).random(1000)])
    bins = np.digitize(values, coder_of(values, max_bins=21).features[0].thresholds)
    counts = np.bincount(bins)
    assert counts[0] == 9000
    assert len(counts) == 21
    assert counts[1:].max() < 2.5 * counts[1:].min()


def test_a_heavy_value_has_a_bin_of_its_own_wherever_it_stands():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(480) - 2, np.zeros(9000), rng.random(520) + 1])
    counts = np.bincount(np.digitize(values, coder_of(values, max_bins=21).features[0].thresholds))
    assert 9000 in counts


def boosting_of(X, y, rule, costs):
    table, ones, threads = ArrayTable(X), np.ones(len(y)), Threads(1)
    rows, columns = Rows.group(y, 2, ones), partial(Binning(ones, 16).columns, table)
    binned = BinnedDataset.read(columns, table.n_columns, rows, threads)
    learner = StumpLearner(binned, binned.histogram, "gini", 0, threads)
    return Boosting(LocalBackend(Plan(rule, np.array(costs, dtype=float), np.ones(2), 1.0, 0), learner))


def assert_histograms_are_those_of_the_weights(boosting, rtol):
    backend = boosting.backend
    learner, rows, weights = backend.learner, backend.rows, backend.weights.values
    learner.fit(backend.weights, None, 0)
    kept = learner.histogram[:2] * backend.weights.scale[:, None]
    for k in range(2):
        block = slice(*rows.starts[k : k + 2])
        for f in range(len(learner.bin_mapper.features)):
            begin, end = learner.bin_mapper.offsets[f : f + 2]
            fresh = np.bincount(learner.binned.column(f)[block], weights[block], end - begin)
            np.testing.assert_allclose(kept[k, begin:end], fresh, rtol=rtol, atol=1e-30)


def test_incremental_histograms_stay_those_of_the_weights():
    """After hundreds of rounds of additions, the histograms equal ones made from scratch."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 1).astype(np.intp)
    shrinking = {"costs_on": "errors"}  # wrong rows of the cheap class lose weight: additions would lose all accuracy
    cases = [("adacc1", [1, 1], {}), ("adac2", [0.99, 1], {}), ("csb2", [0.97, 1], {}), ("csb1", [0.01, 1], shrinking)]
    for name, costs, options in cases:
        boosting = boosting_of(X, y, resolve_options(name, options)[1], costs)
        boosting.run(400)
        assert_histograms_are_those_of_the_weights(boosting, rtol=1e-11)


def test_only_rows_predicted_otherwise_than_most_of_their_class_are_touched():
    X = np.random.default_rng(7).normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] > 1).astype(np.intp)
    boosting = boosting_of(X, y, resolve_options("adaboost", {})[1], [1, 1])

    def find_best(boosting, model):
        backend = boosting.backend
        starts, weights, predicted = backend.rows.starts, backend.weights, backend.score_tracker.predicted
        for k in range(2):
            listed = weights.listing[0][starts[k] : weights.listing[3][k]]
            block = predicted[starts[k] : starts[k + 1]]
            common = np.bincount(block, minlength=2).argmax()
            if not weights.stale[k]:
                np.testing.assert_array_equal(listed, starts[k] + np.flatnonzero(block != common))
        return False

    boosting.run(60, find_best)
    assert len(boosting.rounds) == 60


@dataclass(frozen=True)
class Fading(Rule):
    """The rightly predicted rows of the first class lose most of their weight every round, and nothing else changes."""

    def vote(self, W, costs):
        return 0.1

    def factors(self, alpha, costs):
        return np.array([[0.3, 1.0], [1.0, 1.0]])


def test_what_is_left_after_many_losses_is_summed_anew():
    """The few right rows are listed, and lose: kept up to date by subtraction alone, their sum would be lost too."""
    X = np.repeat([0.0, 1.0, 1.0], [10, 90, 100])[:, None]
    y = np.repeat([0, 0, 1], [10, 90, 100]).astype(np.intp)
    boosting = boosting_of(X, y, Fading(), [1, 1])
    anew = []
    boosting.run(18, lambda boosting, _: anew.append(bool(boosting.backend.weights.stale[0])))
    assert anew == [False, False, False, False, False, True] * 3  # 0.3**6 is below 0.001
    weights = boosting.backend.weights.values
    assert weights[0] < 1e-9 * weights[-1]
    assert_histograms_are_those_of_the_weights(boosting, rtol=1e-12)


def test_votes_that_cancel_are_a_tie():
    """0.1 + 0.2 - 0.3 is not 0 in floats; what is left of it must not decide."""
    X, y = np.arange(12.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0])
    ensemble = run_engine(X, y, "adaboost", n_estimators=3).ensemble
    records = ensemble.models.records.copy()
    records["feature"], records["left"] = -1, [1, 1, 0]
    votes = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    for negative_class in (0, 1):
        tied = replace(
            ensemble, models=replace(ensemble.models, records=records), votes=votes, negative_class=negative_class
        )
        for scores in (tied.scores(ArrayTable(X)), list(tied.staged_scores(ArrayTable(X)))[-1]):
            assert (scores == 0.0).all()
            assert (tied.classes(scores) == negative_class).all()

"""Ten thousand rounds: nothing overflows, nothing drifts, and the model can still be used."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from support import ALIKE, thinned

from adacc.algorithms.catalog import METHODS, resolve_options
from adacc.boosting.backend import Plan
from adacc.boosting.local_backend import LocalBackend
from adacc.boosting.loop import Boosting
from adacc.data.binned import BinnedDataset
from adacc.data.binning import BinMapper, Binning, NumericBins
from adacc.data.columns import ArrayTable
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.stump import StumpLearner, Stumps

ROUNDS = 10_000
DETERMINISTIC = [name for name, method in METHODS.items() if method.sampler is None and not method.calibration]


class Watched(StumpLearner):
    """A learner that compares its histograms with ones made from scratch, every so many rounds."""

    drift = 0.0

    def fit(self, weights, sample, t):
        fitted = super().fit(weights, sample, t)
        if t % 200 == 199:
            values = weights.values
            assert np.isfinite(values).all()
            assert (values > 0.0).all()
            assert values.sum() == pytest.approx(1.0, rel=1e-9)
            for k, scale in enumerate(weights.scale):
                block = slice(*self.rows.starts[k : k + 2])
                for f in range(len(self.bin_mapper.features)):
                    begin, end = self.bin_mapper.offsets[f : f + 2]
                    fresh = np.bincount(self.binned.column(f)[block], values[block], end - begin)
                    off = np.abs(self.histogram[k, begin:end] * scale - fresh).max() / values[block].sum()
                    self.drift = max(self.drift, off)
        return fitted


def boosting_of(name, n_classes, learning_rate):
    """Rows that no sum of stumps separates; the last column is sparse, and the first class common."""
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([rng.integers(0, 12, size=(120, 2)), rng.integers(0, 3, 120) * (rng.random(120) < 0.15)])
    y = np.minimum(rng.integers(0, n_classes + 2, 120), n_classes - 1)[::-1].astype(np.intp)
    ones, threads = np.ones(120), Threads(1)
    columns = partial(Binning(ones, 16).columns, ArrayTable(X.astype(float)))
    binned = BinnedDataset.read(columns, 3, Rows.group(y, n_classes, ones), threads)
    rule, costs = resolve_options(name, {})[1], np.linspace(0.99, 1.0, n_classes)
    plan = Plan(rule, costs, rule.decision(costs), learning_rate, 0)
    return Boosting(LocalBackend(plan, Watched(binned, binned.histogram, "gini", 0, threads)))


@pytest.mark.compiled
@pytest.mark.parametrize(("n_classes", "learning_rate"), [(2, 1.0), (3, 0.01)])
@pytest.mark.parametrize("name", thinned(DETERMINISTIC, [*ALIKE, "adaboost", "adac2"]))
def test_ten_thousand_rounds_neither_overflow_nor_drift(name, n_classes, learning_rate):
    """With three classes and slow votes the costs make a class nearly vanish: its sums must not vanish before it."""
    boosting = boosting_of(name, n_classes, learning_rate)
    boosting.run(ROUNDS)
    assert boosting.backend.learner.drift < 1e-9
    assert np.isfinite(boosting.backend.score_tracker.scores).all()
    ensemble = boosting.ensemble()
    for record in (ensemble.votes, ensemble.factors, ensemble.history["class_weight"]):
        assert np.isfinite(record).all()
    if learning_rate < 1.0:  # the others may well end sooner, no learner being better than chance
        assert len(boosting.rounds) == ROUNDS


def many_bins(n_rounds, n_bins):
    """Stumps on one feature, and what each adds."""
    rng = np.random.default_rng(0)
    records = np.zeros(n_rounds, dtype=dtypes.STUMP)
    records["cut"] = rng.integers(0, n_bins - 2, n_rounds)
    records["right"] = records["missing"] = 1
    return Stumps(records, BinMapper((NumericBins(np.arange(n_bins - 2.0)),))), rng.normal(size=(n_rounds, 2, 1))


def test_many_rounds_on_many_thresholds_are_compiled_in_little_memory():
    """Rounds times bins, all at once, would be 80 MB here, and gigabytes of a large model with max_bins=None."""
    stumps, added = many_bins(n_rounds=200, n_bins=50_000)
    tracemalloc.start()
    stumps.step_functions(added)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 50_000 * 8


def test_contributions_are_added_in_the_order_of_the_rounds():
    stumps, added = many_bins(n_rounds=300, n_bins=40)
    ((_, total),) = stumps._by_bin(added)
    np.testing.assert_array_equal(total, np.sum([added[t][stumps.lookup(t)] for t in range(300)], axis=0))

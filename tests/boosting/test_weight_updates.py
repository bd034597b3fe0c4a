"""Weights that change round by round, and histograms that follow them: every bin must stay exact."""

from functools import partial

import numpy as np
import pytest
from support import thinned

from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.columns import ArrayTable
from adacc.data.rows import Rows, Weights
from adacc.data.threads import Threads

N_ROWS = 300


class Script:
    """Weights that are multiplied as a test says, and the histograms that follow them."""

    def __init__(self, seed, n_classes=2):
        self.rng = rng = np.random.default_rng(seed)
        self.x = rng.random(N_ROWS)
        sparse = rng.integers(0, 4, N_ROWS) * (rng.random(N_ROWS) < 0.1)
        X = np.column_stack([self.x, rng.normal(size=N_ROWS), sparse])
        y = rng.integers(0, n_classes, N_ROWS).astype(np.intp)
        sample_weight, threads = rng.random(N_ROWS) + 0.1, Threads(1)
        columns = partial(Binning(sample_weight, 16).columns, ArrayTable(X))
        self.binned = BinnedDataset.read(columns, 3, Rows.group(y, n_classes, sample_weight), threads)
        self.rows, self.histogram = self.binned.rows, self.binned.histogram
        self.x = self.x[self.rows.order]
        self.commonest = np.bincount(self.binned.column(2)).argmax()
        self.weights = Weights(self.rows, np.linspace(1.0, 2.0, n_classes))

    def round(self, predicted, F):
        """One round, after which every bin of the histograms must be what the rows have."""
        n_classes, weights, true = self.rows.n_classes, self.weights, self.rows.true
        predicted = np.asarray(predicted, dtype=np.uint8)
        pairs = true.astype(np.intp) * n_classes + predicted
        W = np.bincount(pairs, weights.values, n_classes**2).reshape(n_classes, n_classes)
        counts = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
        wanted = weights.values * F[true, predicted]
        weights.update(F.copy(), W, predicted, counts)
        np.testing.assert_allclose(weights.values, wanted / wanted.sum(), rtol=1e-9)
        (block,) = self.binned.blocks
        block.follow(weights, self.histogram)
        block.complete(weights.scale, weights.class_weight, self.histogram)
        offsets = self.binned.bin_mapper.offsets
        fresh = np.zeros((n_classes, offsets[-1]))
        for f in range(3):
            cells = true * offsets[-1] + offsets[f] + self.binned.column(f)
            fresh += np.bincount(cells, weights.values, fresh.size).reshape(fresh.shape)
        kept = self.histogram * weights.scale[:, None]
        own = np.arange(offsets[-1]) != offsets[2] + self.commonest  # that is what the others leave
        np.testing.assert_allclose(kept[:, own], fresh[:, own], rtol=1e-12, atol=0.0)


def factors(ratio):
    """Wrong rows gain `ratio` over right ones."""
    return np.array([[1.0, ratio], [ratio, 1.0]])


@pytest.mark.parametrize("seed", thinned(range(8), range(3, 8)))
def test_cuts_that_wander_and_change_their_sign(seed):
    script = Script(seed)
    cut = 0.4
    for _ in range(250):
        cut = np.clip(cut + script.rng.normal(0.0, 0.01), 0.05, 0.95)
        predicted = (script.x > cut) ^ script.rng.integers(2)
        script.round(predicted, factors(np.exp(script.rng.normal(0.0, 1.5))))


@pytest.mark.parametrize("ratio", [5.0, 0.2])
def test_rows_that_stop_changing_are_not_affected_by_those_that_go_on(ratio):
    """Some rows change no more; the others gain or lose in every round."""
    script = Script(0)
    for i in range(60):
        script.round(script.x > 0.4 + 0.15 * (i > 10) * (i % 20) / 20, np.array([[1.0, ratio], [1.0, ratio]]))


def test_rows_that_lose_with_the_others_and_leave_before_they_gain():
    """They lose again and again, though those that stay never do on the whole."""
    script = Script(0)
    for i in range(60):
        gain = 5.0 if i % 2 else 0.2
        script.round(script.x > (0.75 if i % 2 else 0.6), np.array([[1.0, gain], [1.0, gain]]))


@pytest.mark.parametrize("seed", range(3))
def test_heavy_rows_lose_their_weight_late(seed):
    """Heavy rows stay as they are while others gain, and then lose most of their weight."""
    script = Script(seed)
    many, few = script.x > 0.55, script.x > 0.75

    def change(those, by):
        script.round(those, np.array([[1.0, by], [1.0, by]]))

    for _ in range(3):
        change(many & ~few, 1e4)
    for by in (1.0, 1.01, 1 / 1.01):
        change(many, by)
    for _ in range(3):
        change(few, 9.8)
    change(many & ~few, 0.0012)


def test_rows_that_change_by_themselves_in_between():
    """Many rows change in most rounds, and a few in every fourth."""
    script = Script(1)
    for i in range(120):
        cut = 0.995 if i % 4 == 3 else 0.4
        script.round(script.x > cut, factors(np.exp(script.rng.normal())))


def test_nobody_or_everybody_changes():
    script = Script(2)
    for i in range(60):
        script.round(np.full(N_ROWS, i % 2) if i % 3 == 2 else script.x > 0.4, factors(np.exp(script.rng.normal())))


def test_three_classes():
    """Rows that are not predicted as most of their class may have two predictions, with different factors."""
    script = Script(3, n_classes=3)
    for i in range(150):
        left, middle, right = script.rng.permutation(3) if i % 2 else (0, 1, 1)
        predicted = np.where(script.x < 0.3, left, np.where(script.x < 0.35, middle, right))
        script.round(predicted, np.exp(script.rng.normal(size=(3, 3))))

"""What the samplers promise: which rows the learner sees, with what weight, fresh each round."""

import numpy as np
import pytest

from adacc.boosting.samplers import KeptSmote, Smote, Subsampler
from adacc.data.columns import ArrayTable
from adacc.data.rows import Rows, Weights


@pytest.fixture
def rows():
    y = np.r_[np.zeros(60, dtype=np.intp), np.ones(25, dtype=np.intp), np.full(10, 2)]
    return Rows.group(np.random.default_rng(0).permutation(y), 3, np.ones(95))


@pytest.mark.parametrize(("ratio", "kept"), [(1.0, [10, 10, 10]), (0.5, [20, 20, 10]), (0.2, [50, 25, 10])])
def test_under_sampling_keeps_all_rare_rows_and_draws_the_others_anew(rows, ratio, kept):
    weights = Weights(rows, np.array([1.0, 2.0, 3.0]))
    sampler = Subsampler.under(rows, seed=1, ratio=ratio)
    samples = [sampler.draw(weights, t) for t in range(3)]
    for sample in samples:
        assert np.diff(sample.starts).tolist() == kept
        assert set(range(85, 95)) <= set(sample.rows.tolist())
        assert len(set(sample.rows.tolist())) == len(sample.rows)
        for k in range(3):
            block = sample.rows[sample.starts[k] : sample.starts[k + 1]]
            assert ((rows.starts[k] <= block) & (block < rows.starts[k + 1])).all()
        np.testing.assert_array_equal(sample.weight, weights.values[sample.rows])
    assert not np.array_equal(samples[0].rows, samples[1].rows)
    np.testing.assert_array_equal(samples[2].rows, Subsampler.under(rows, seed=1, ratio=ratio).draw(weights, 2).rows)


def test_smote_rows_lie_between_neighbours_and_are_fresh(rows):
    rng = np.random.default_rng(2)
    table = ArrayTable(rng.normal(size=(95, 2)))
    made = {}

    def prepare(new, order):
        made["rows"] = new.native
        return new.native

    sampler = Smote(table, rows, prepare, range(4), seed=0, n_synthetic=6, k_neighbors=1)
    weights = Weights(rows, np.ones(3))
    seen = []
    for t in range(4):
        sample = sampler.draw(weights, t)
        assert len(sample.rows) == 95
        np.testing.assert_array_equal(sample.weight, weights.values)
        assert np.diff(sample.extra.starts).tolist() == [0, 6, 6]
        np.testing.assert_allclose(sample.extra.weight, 1 / 95)
        for k in (1, 2):
            members = table.native[rows.order[rows.starts[k] : rows.starts[k + 1]]]
            distance = np.linalg.norm(members[:, None] - members, axis=2) + np.where(np.eye(len(members)), np.inf, 0.0)
            nearest = members[distance.argmin(axis=1)]
            for new in made["rows"][sample.extra.rows[sample.extra.starts[k] : sample.extra.starts[k + 1]]]:
                off = np.linalg.norm(new - members, axis=1) + np.linalg.norm(new - nearest, axis=1)
                assert (off - np.linalg.norm(nearest - members, axis=1)).min() < 1e-9
        seen.append(made["rows"][sample.extra.rows])
    assert len(np.unique(np.concatenate(seen), axis=0)) == 48


def test_kept_smote_rows_stay_and_change_their_weights_as_the_real_ones_do(rows):
    table = ArrayTable(np.random.default_rng(2).normal(size=(95, 2)))
    sampler = KeptSmote(table, rows, lambda new, order: new.native, range(3), seed=0, n_synthetic=6, k_neighbors=1)
    weights = Weights(rows, np.ones(3))
    lookup = np.array([0, 1, 2], dtype=np.uint8)
    F = np.array([[0.5, 2.0, 3.0], [1.5, 0.4, 2.5], [1.2, 1.7, 0.3]])
    before = {}
    for t in range(3):
        sample = sampler.draw(weights, t)
        extra = sample.extra
        assert np.diff(extra.starts).tolist() == [0, 6 * (t + 1), 6 * (t + 1)]
        assert sample.class_weight.sum() == pytest.approx(1.0)
        now = dict(zip(extra.rows.tolist(), extra.weight.tolist(), strict=True))
        n = 95 + 12 * t
        new = now.keys() - before.keys()
        assert len(new) == 12
        np.testing.assert_allclose([now[row] for row in new], 1 / n / (1 + 12 / n))
        np.testing.assert_allclose([now[row] for row in before], [w / (1 + 12 / n) for w in before.values()])

        # The kept rows are predicted as their number says; the real ones rightly. `F` is relative to these.
        judged = sampler.judge(np.diag(weights.class_weight), lambda new: (np.arange(len(new)) % 3, lookup))
        true = np.repeat([0, 1, 2], np.diff(extra.starts))
        expected = np.diag(np.bincount(np.repeat([0, 1, 2], np.diff(rows.starts)), sample.weight))
        np.add.at(expected, (true, extra.rows % 3), extra.weight)
        np.testing.assert_allclose(judged, expected)
        sampler.update(F)
        after = extra.weight * F[true, extra.rows % 3]
        whole = sample.weight.sum() + after.sum()
        before = dict(zip(extra.rows.tolist(), after / whole, strict=True))

"""Small tables for comparisons with the naive implementation, and the samples that a run draws."""

import numpy as np

import adacc.boosting.samplers as samplers


def clouds(n_classes, seed=0):
    """No ties: random reals."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.choice(n_classes, 42, p=[0.6, 0.4] if n_classes == 2 else [0.5, 0.3, 0.2]))
    X = rng.normal(size=(42, 3))
    X[:, 0] += y
    return X, y


def small_integers(n_classes):
    """Many ties: few values, equal rows of different classes, a constant column, two equal columns."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(40, 4)).astype(float)
    X[:, 2] = 3.0
    X[:, 3] = X[:, 0]
    y = (X[:, 0] + rng.integers(0, 3, 40) > 3).astype(int)
    if n_classes == 3:
        y = np.minimum(y + (X[:, 1] > 1), 2)
    return X, y


def with_gaps(n_classes):
    """Missing values: some informative, one column missing altogether."""
    X, y = clouds(n_classes, seed=2)
    rng = np.random.default_rng(3)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[y == 1, 1] = np.where(rng.random((y == 1).sum()) < 0.7, np.nan, X[y == 1, 1])
    return np.column_stack([X, np.full(len(X), np.nan)]), y


def mostly_zero(n_classes):
    """Columns of one value but for a few rows (missing, in one of them), beside an ordinary one."""
    X, y = clouds(n_classes, seed=6)
    rng = np.random.default_rng(7)
    few = rng.integers(1, 4, size=(len(y), 4)) * (rng.random((len(y), 4)) < 0.15).astype(float)
    few[:, 0] += y * (rng.random(len(y)) < 0.2)
    few[few[:, 2] == 0, 2] = np.nan
    return np.column_stack([few, X[:, 0]]), y


DATA = {"clouds": clouds, "small integers": small_integers, "gaps": with_gaps, "mostly zero": mostly_zero}
WEIGHTS = np.tile([1, 2, 0, 1, 3, 1], 8)


def recorded_samples(monkeypatch, sampler):
    """Keep what the sampler of a run draws, in the form that naive.boost asks for."""
    drawn, made = [], []
    original_draw, original_make = sampler.draw, samplers.synthesise

    def draw(self, weights, t):
        sample = original_draw(self, weights, t)
        drawn.append((self.rows.order[sample.rows], sample))
        return sample

    def make(*args):
        made.append(original_make(*args))
        return made[-1]

    monkeypatch.setattr(sampler, "draw", draw)
    monkeypatch.setattr(samplers, "synthesise", make)

    def sample(t, D):
        rows, recorded = drawn[t]
        if recorded.extra is None:
            return rows, D[rows], [], [], []
        extra = recorded.extra
        earlier = drawn[t - 1][1].extra.rows if t else []
        new = ~np.isin(extra.rows, earlier)  # rows that are kept are drawn again
        classes = np.repeat(np.arange(len(extra.starts) - 1), np.diff(extra.starts))[new]
        X = np.concatenate(made)[extra.rows[new]]
        return rows, D[rows], X.tolist(), classes.tolist(), extra.weight[new].tolist()

    return sample

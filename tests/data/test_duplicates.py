"""The rule that tells copies of rows from rows that coincide by chance."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adacc.data.columns import read
from adacc.data.duplicates import find_copies, group_duplicates

N_ROWS = 1000


def labels(rng, n_rows=N_ROWS):
    return (rng.random(n_rows) < 0.1).astype(int)


def continuous(rng):
    return rng.normal(size=(N_ROWS, 6))


def one_continuous_column(rng):
    return np.column_stack([rng.normal(size=N_ROWS), rng.integers(0, 2, (N_ROWS, 5))])


def rounded(rng):
    return rng.normal(size=(N_ROWS, 4)).round(1)


def missing(rng):
    X = rng.normal(size=(N_ROWS, 6))
    return np.where(rng.random(X.shape) < 0.1, np.nan, X)


def frame(rng):
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 2)), columns=["a", "b"])
    return X.assign(c=rng.choice(["x", "y", None], N_ROWS), d=rng.random(N_ROWS) < 0.5)


def wide(rng):
    return rng.normal(size=(N_ROWS, 50))


def discrete(rng):
    return rng.integers(0, 3, (N_ROWS, 6))


def sparsely_discrete(rng):
    """2,187 different rows are possible."""
    return rng.integers(0, 3, (N_ROWS, 7))


def survey(rng):
    """Answers that depend on each other."""
    return np.clip((rng.normal(size=(N_ROWS, 1)) + 0.5 * rng.normal(size=(N_ROWS, 8))).round(), -2, 2)


def one_hot(rng):
    return pd.get_dummies(pd.DataFrame(rng.integers(0, 4, (N_ROWS, 5))).astype(str)).to_numpy(dtype=float)


def rare_ones(rng):
    return (rng.random((N_ROWS, 40)) < 0.02).astype(float)


def zeros_often(rng):
    """Two fifths of the rows are zero in all columns."""
    return rng.normal(size=(N_ROWS, 5)) * (rng.random((N_ROWS, 1)) < 0.6)


def single(rng):
    return rng.integers(0, 300, (N_ROWS, 1))


CONTINUOUS = [continuous, one_continuous_column, rounded, missing, frame, wide]
DISCRETE = [discrete, sparsely_discrete, survey, one_hot, rare_ones, zeros_often, single]


def take(X, rows):
    return X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows]


def found(X, y):
    return find_copies(read(X), y, int(y.max()) + 1)


def over_sampled(y, rng):
    rare = np.flatnonzero(y == 1)
    return np.concatenate([np.arange(len(y)), rng.choice(rare, len(y) - 2 * len(rare))])


@pytest.mark.parametrize("make", CONTINUOUS + DISCRETE)
def test_rows_that_coincide_by_chance_are_no_copies(make):
    rng = np.random.default_rng(0)
    assert found(make(rng), labels(rng)) is None


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("make", CONTINUOUS)
def test_copies_of_continuous_rows_are_found_and_grouped_by_their_original(make, share):
    rng = np.random.default_rng(1)
    X, y = make(rng), labels(rng)
    original = np.concatenate([np.arange(N_ROWS), rng.choice(N_ROWS, round(share * N_ROWS), replace=False)])
    copies = found(take(X, original), y[original])
    assert copies is not None
    if make is not rounded:  # some of its rows coincide by chance, too
        assert (copies.groups == original).all()
        assert copies.n_copies.sum() == round(share * N_ROWS)


@pytest.mark.parametrize("make", [*CONTINUOUS, sparsely_discrete, one_hot])
def test_over_sampling_shows_as_copies_in_one_class(make):
    rng = np.random.default_rng(2)
    X, y = make(rng), labels(rng)
    rows = over_sampled(y, rng)
    copies = found(take(X, rows), y[rows])
    assert copies is not None
    assert copies.n_copies[1] >= len(rows) - N_ROWS


def test_one_of_several_classes_may_be_over_sampled():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (N_ROWS, 6)), rng.integers(0, 4, N_ROWS)
    assert found(X, y) is None
    rows = np.concatenate([np.arange(N_ROWS), rng.choice(np.flatnonzero(y == 2), 2000)])
    assert found(X[rows], y[rows]) is not None


@pytest.mark.parametrize("make", [continuous, one_continuous_column, sparsely_discrete, survey, one_hot])
@pytest.mark.parametrize("copied", [False, True])
def test_order_of_rows_and_columns_does_not_matter(make, copied):
    rng = np.random.default_rng(4)
    X, y = make(rng), labels(rng)
    rows = over_sampled(y, rng) if copied else np.arange(N_ROWS)
    X, y = X[rows], y[rows]
    expected = found(X, y)
    for _ in range(3):
        order, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
        again = found(X[order][:, columns], y[order])
        assert (again is None) == (expected is None)
        if again is not None:
            same = expected.groups[order]
            assert (
                len(np.unique(same)) == len(np.unique(again.groups)) == len(set(zip(same, again.groups, strict=True)))
            )


def test_equal_rows_form_one_group_whatever_their_class():
    rng = np.random.default_rng(5)
    X, y = np.repeat(rng.normal(size=(N_ROWS, 3)), 3, axis=0), np.tile([0, 0, 1], N_ROWS)
    copies = group_duplicates(read(X), y, 2)
    assert (copies.groups == np.repeat(np.arange(N_ROWS), 3)).all()
    assert copies.n_copies.tolist() == [N_ROWS, 0]


def test_a_number_given_after_copying_hides_the_copies():
    rng = np.random.default_rng(6)
    X, y = continuous(rng), labels(rng)
    X, y = np.concatenate([X, X]), np.concatenate([y, y])
    assert found(X, y) is not None
    assert found(np.column_stack([X, np.arange(len(y))]), y) is None


def test_few_copies_change_nothing():
    rng = np.random.default_rng(7)
    X, y = continuous(rng), labels(rng)
    for n_copies, expected in ((4, False), (40, True)):
        rows = np.concatenate([np.arange(N_ROWS), np.flatnonzero(y == 0)[:n_copies]])
        assert (found(X[rows], y[rows]) is not None) == expected


def test_a_class_of_fewer_than_five_distinct_rows_is_left_ungrouped():
    """Folds could not hold out some of its rows and train on others."""
    rng = np.random.default_rng(8)
    X, y = continuous(rng), (np.arange(N_ROWS) < 4).astype(int)
    rows = over_sampled(y, rng)
    assert found(X[rows], y[rows]) is None


def test_zeros_of_either_sign_missing_values_and_constants_are_equal_values():
    X = np.array([[0.0, np.nan, 7.0], [-0.0, np.nan, 7.0], [0.0, 1.0, 7.0]])
    payload = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)[0]  # another NaN
    X[1, 1] = payload
    assert group_duplicates(read(X), np.array([0, 1, 1]), 2).groups.tolist() == [0, 0, 1]


def test_sparse_matrices_and_frames_of_categories_agree_with_arrays():
    rng = np.random.default_rng(9)
    X, y = rare_ones(rng) * rng.normal(size=(N_ROWS, 1)), labels(rng)
    rows = np.concatenate([np.arange(N_ROWS), np.arange(300)])
    expected = group_duplicates(read(X[rows]), y[rows], 2).groups
    assert (group_duplicates(read(sparse.csr_array(X[rows])), y[rows], 2).groups == expected).all()
    texts = pd.DataFrame(X[rows]).map(str).add_prefix("x")
    assert len(np.unique(group_duplicates(read(texts), y[rows], 2).groups)) >= len(np.unique(expected))


def test_many_rows_are_sampled():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(80_000, 2)).round(3), np.zeros(80_000, dtype=int)
    y[:500] = 1
    assert found(X, y) is None
    rows = np.concatenate([np.arange(80_000), rng.choice(80_000, 4_000, replace=False)])
    assert found(X[rows], y[rows]) is not None

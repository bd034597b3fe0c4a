"""Columns that nothing can be learnt from."""

import numpy as np
import pandas as pd
import pytest

from adacc.tables import check_features

N = 120
GOOD = {
    "age": np.arange(N) % 7,
    "score": np.arange(N) / 3,  # different in every row, as measurements are
    "spread": np.arange(N) * 2,
    "town": pd.Categorical(["Bonn", "Kiel"] * (N // 2)),
    "fifty": pd.Categorical([f"t{j % 50}" for j in range(N)]),
    "half": pd.Categorical([f"t{j % 60}" for j in range(N)]),
    "gaps": [1.0] + [np.nan] * (N - 1),
    "ok": np.arange(N) % 2 == 0,
}


def test_what_will_do():
    check_features(pd.DataFrame(GOOD), "mine.csv")
    check_features(pd.DataFrame({"n": range(49)}), "mine.csv")
    check_features(pd.DataFrame({"name": pd.Categorical([f"t{j}" for j in range(50)])}), "mine.csv")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"customer": pd.Categorical([f"c{j}" for j in range(N)])},
            "column 'customer' has a distinct value in each row, like an id: leave it out",
        ),
        (
            {"customer": pd.Categorical([f"c{j % 61}" for j in range(N)])},
            "column 'customer' has 61 distinct values in 120 rows, like an id: leave it out",
        ),
        (
            {"n": np.random.default_rng(0).permutation(N) + 1000},
            "column 'n' has a distinct value in each row, like an id: leave it out",
        ),
        ({"x": [np.nan] * N}, "column 'x' has no value in any row: leave it out"),
        ({"x": pd.Categorical([None] * N)}, "column 'x' has no value in any row: leave it out"),
        (
            {"a x": [np.nan] * N, "n": range(N), "m": range(-5, N - 5)},
            "column 'n' has a distinct value in each row, like an id, "
            "column 'm' has a distinct value in each row, like an id, "
            "column 'a x' has no value in any row: leave them out",
        ),
    ],
)
def test_what_will_not_do(refused, columns, message):
    assert refused(check_features, pd.DataFrame({**GOOD, **columns}), "mine.csv") == f"mine.csv: {message}"


def test_nothing_left(refused):
    said = refused(check_features, pd.DataFrame(index=range(5)), "-")
    assert said == "standard input has no features; at least one column besides the target is needed"

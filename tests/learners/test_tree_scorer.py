"""Packed trees: the same scores, to the last bit, as those of the trees as they are."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import adacc
from adacc.data.columns import read
from adacc.learners.tree_scorer import MAX_TESTS


def scorer_of(model):
    ensemble = model.fitted_model_.ensemble
    return ensemble.models.compile(ensemble.contributions)


def assert_packed_and_plain_agree(model, X):
    packed, plain = scorer_of(model), scorer_of(model)
    stepped = replace(packed, has_tables=False)
    assert packed._packed is not None
    vars(plain)["_packed"] = None
    for rows in (slice(None), slice(0, 1), slice(3, 12), slice(0, 300)):
        table = read(X[rows] if isinstance(X, np.ndarray) else X.iloc[rows])
        np.testing.assert_array_equal(packed.scores(table), plain.scores(table))
        np.testing.assert_array_equal(stepped.scores(table), plain.scores(table))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_numbers(n_classes, gaps):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(700, 6))
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=700) / 3, np.linspace(-0.5, 0.5, n_classes - 1))
    X[rng.random(X.shape) < gaps] = np.nan
    model = adacc.AdaCC2Classifier(n_estimators=7, max_depth=5, multi_class="joint").fit(X, y)
    assert_packed_and_plain_agree(model, X)
    X[::3, 2] = np.nan  # also where training had none
    assert_packed_and_plain_agree(model, X)


def test_categories_and_branches_without_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "c": pd.Categorical(rng.choice(list("abcdef"), 500)), "d": pd.Categorical(rng.choice(["u", None], 500)),
        "x": np.where(rng.random(500) < 0.3, np.nan, 1.0), "z": rng.normal(size=500),
    })  # fmt: skip
    y = (frame["c"].isin(["a", "e"]) ^ frame["x"].isna() ^ (rng.random(500) < 0.1)).astype(int)
    model = adacc.AdaCC1Classifier(n_estimators=9, max_depth=4).fit(frame, y)
    assert_packed_and_plain_agree(model, frame)


@pytest.mark.parametrize("max_depth", [2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_with_few_tests_have_tables(max_depth, n_classes):
    rng = np.random.default_rng(max_depth)
    frame = pd.DataFrame({
        "c": pd.Categorical(rng.choice(list("abc"), 900)), "x": rng.normal(size=900), "z": rng.integers(0, 4, 900)
    })  # fmt: skip
    frame.loc[rng.random(900) < 0.1, "x"] = np.nan
    y = ((frame["c"] == "b").astype(int) + 2 * (frame["x"].fillna(2.0) > 0.3) + frame["z"]) % n_classes
    y[rng.random(900) < 0.1] = 0
    model = adacc.AdaCC2Classifier(n_estimators=12, max_depth=max_depth, multi_class="joint").fit(frame, y)
    scorer = scorer_of(model)
    has_table = np.diff(scorer._packed.tests) > 0
    trees = [scorer.nodes[begin:end] for begin, end in itertools.pairwise(scorer.starts)]
    n_tests = np.array([len(np.unique(tree[tree["feature"] >= 0][["feature", "cut"]])) for tree in trees])
    np.testing.assert_array_equal(has_table, (n_tests > 0) & (n_tests <= MAX_TESTS))
    assert has_table.any()
    assert max_depth < 4 or not has_table.all()
    assert_packed_and_plain_agree(model, frame)


def test_symmetric_trees_have_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=1_000) > 1.0
    model = adacc.AdaCCForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert (np.diff(scorer_of(model)._packed.tests) > 0).sum() >= 400  # 5 bags of 80 trees
    assert_packed_and_plain_agree(model, X)


def test_bins_of_more_than_16_bits_are_not_packed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 1))
    model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=2, max_bins=None).fit(X, X[:, 0] > 1.0)
    scorer = scorer_of(model)
    assert scorer._packed is None
    np.testing.assert_array_equal(scorer.scores(read(X))[:, 0] > 0, X[:, 0] > 1.0)

"""Shape functions of trees: equal to the functional ANOVA computed on a full grid, and to the definition by covers."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from tree_games import EXACT, fit, mixed, numbers, scores_of_trees

import adacc

SIZES = (6, 5, 4)


def grid_model(n_classes=2, kind="trees"):
    """A model of three features with few values, one of them a category with gaps; all rows that there can be."""
    rng = np.random.default_rng(0)
    levels = [*np.arange(SIZES[0] - 1.0), np.nan], ["a", "b", "c", None, "d"], np.arange(1.0, SIZES[2] + 1.0)
    every = pd.DataFrame(list(product(*levels)), columns=list("xyz")).astype({"x": float, "y": object, "z": float})
    X = every.iloc[rng.integers(0, len(every), 400)].reset_index(drop=True)
    score = X["x"].fillna(3) * (X["y"] == "b") + X["z"] * (X["x"] > 2) + 1.5 * rng.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.85][: n_classes - 1]))
    return fit(kind, X, y), X, every


def anova(model, background, every):
    """Constant, main and pairwise effects of scores on the full grid, by weighted means over independent features."""
    scores = model.explain(every, background=every[:1]).scores.reshape(*SIZES, -1)
    weights = []
    for name in every:
        levels = every[name].drop_duplicates().tolist()  # in the order of the grid
        same = [background[name].isna() if pd.isna(level) else background[name] == level for level in levels]
        weights.append(np.mean(same, axis=1))

    def mean(kept):
        found = scores
        for axis in range(3):
            if axis not in kept:
                found = np.expand_dims(np.tensordot(weights[axis], found, axes=(0, axis)), axis)
        return found

    constant = mean(())
    mains = [mean((j,)) - constant for j in range(3)]
    pairs = {(i, j): mean((i, j)) - mains[i] - mains[j] - constant for i, j in combinations(range(3), 2)}
    return constant, mains, pairs, weights, scores


@pytest.mark.parametrize(("kind", "n_classes"), [("trees", 2), ("joint", 3), ("forest", 2)])
def test_effects_of_a_background_are_the_functional_anova(kind, n_classes):
    model, X, every = grid_model(n_classes, kind)
    background = X[:120]
    functions = model.shape_functions(background)
    constant, mains, pairs, weights, _ = anova(model, background, every)
    np.testing.assert_allclose(np.ravel(functions.intercept), np.ravel(constant), **EXACT)
    shape = (*SIZES, -1)
    for j, curve in enumerate(functions):
        found = curve(every[curve.name]).reshape(shape)
        np.testing.assert_allclose(found, np.broadcast_to(mains[j], found.shape), **EXACT)
    assert {pair.features for pair in functions.pairs} == set(pairs)
    assert [pair.strength for pair in functions.pairs] == sorted([p.strength for p in functions.pairs], reverse=True)
    for pair in functions.pairs:
        found = pair(every[pair.names[0]], every[pair.names[1]]).reshape(shape)
        expected = pairs[pair.features]
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), **EXACT)
        assert np.abs(expected).max() > 0.01
        for axis in pair.features:  # purified: the mean is 0 in each feature
            np.testing.assert_allclose(np.tensordot(weights[axis], found, axes=(0, axis)), 0.0, atol=1e-12)
        squares = np.einsum("a,b,c,abcq->q", *weights, np.broadcast_to(expected, found.shape) ** 2)
        assert pair.strength == pytest.approx(np.sqrt(squares).mean())


def test_shares_are_those_of_the_background_rows():
    model, X, _ = grid_model()
    functions = model.shape_functions(X, n_pairs=3)
    scores = model.decision_function(X)
    mains = functions.intercept + sum(curve(X[curve.name]) for curve in functions)
    pairs = mains + sum(pair(X[pair.names[0]], X[pair.names[1]]) for pair in functions.pairs)
    assert functions.main_share == pytest.approx(1.0 - (scores - mains).var() / scores.var())
    assert functions.pair_share == pytest.approx(1.0 - (scores - pairs).var() / scores.var())
    assert 0.2 < functions.main_share < functions.pair_share <= 1.0
    none = model.shape_functions(X, n_pairs=0)
    assert none.pairs == ()
    assert none.pair_share == none.main_share == functions.main_share


def test_two_features_are_explained_by_their_effects():
    X, y = numbers()
    model = adacc.AdaCC1Classifier(n_estimators=5, max_depth=4).fit(X[:, :2], y)
    functions = model.shape_functions(X[:, :2])
    assert functions.pair_share == pytest.approx(1.0)
    assert functions.main_share < 0.99


@pytest.mark.filterwarnings("ignore::adacc.UnseenCategoryWarning")
@pytest.mark.parametrize("kind", ["trees", "forest"])
def test_effects_without_a_background_are_those_of_the_covers(kind):
    X, y = mixed()
    model = fit(kind, X, y)
    rows, n = X[:6], X.shape[1]
    sets = [(), *((j,) for j in range(n)), *combinations(range(n), 2)]
    value = scores_of_trees(model, rows, sets)
    functions = model.shape_functions(n_pairs=4)
    assert functions.main_share is functions.pair_share is None
    assert functions.intercept == pytest.approx(value[()][0, 0])
    for j, curve in enumerate(functions):
        np.testing.assert_allclose(curve(rows[curve.name]), (value[(j,)] - value[()])[:, 0], **EXACT)
    assert len(functions.pairs) == 4
    for pair in functions.pairs:
        f, g = pair.features
        expected = (value[f, g] - value[(f,)] - value[(g,)] + value[()])[:, 0]
        np.testing.assert_allclose(pair(rows[pair.names[0]], rows[pair.names[1]]), expected, **EXACT)


def test_stumps_have_main_effects_only():
    X, y = mixed()
    stumps = adacc.AdaCC1Classifier(n_estimators=8).fit(X, y)
    trees = adacc.AdaCC1Classifier(n_estimators=8, max_leaf_nodes=2).fit(X, y)
    of_stumps, of_trees = stumps.shape_functions(X[:90]), trees.shape_functions(X[:90])
    assert of_trees.pairs == of_stumps.pairs == ()
    assert of_trees.main_share == pytest.approx(of_stumps.main_share) == 1.0
    assert of_stumps.intercept == pytest.approx(of_trees.intercept)
    for one, other in zip(of_stumps, of_trees, strict=True):
        np.testing.assert_allclose(other(X[one.name]), one(X[one.name]), **EXACT)
        assert abs(one(X[one.name][:90]).mean()) < 1e-12


def test_wrong_arguments_are_named():
    X, y = numbers()
    model = fit("trees", X, y)
    with pytest.raises(ValueError, match="n_pairs must be a whole number of at least 0, got -1"):
        model.shape_functions(n_pairs=-1)
    with pytest.raises(ValueError, match=r"^background: X has 3 features"):
        model.shape_functions(X[:, :3])

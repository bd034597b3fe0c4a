"""Explanations of trees: equal to Shapley's definition over all subsets of features, and to the package shap."""

import sys
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support import thinned
from tree_games import (
    EXACT,
    FOREST,
    THREE,
    asked,
    fit,
    mixed,
    numbers,
    scores_of_trees,
    scores_with_background,
    subsets,
)

import adacc
from adacc.datasets import CATALOGUE
from adacc.model.serialization import archive

GOLDEN = Path(__file__).parents[1] / "estimators" / "golden"


def shapley(value, n):
    """Shapley values from the value of every set of features."""
    phi = []
    for j in range(n):
        total = 0.0
        for S in subsets([i for i in range(n) if i != j]):
            weight = factorial(len(S)) * factorial(n - len(S) - 1) / factorial(n)
            total = total + weight * (value[tuple(sorted((*S, j)))] - value[S])
        phi.append(total)
    return np.array(phi)


def interactions(value, n):
    """The off-diagonal Shapley interaction values [Lundberg et al. 2020, equation 7]."""
    found = np.zeros((n, n, *value[()].shape))
    for i, j in combinations(range(n), 2):
        for S in subsets([k for k in range(n) if k not in (i, j)]):
            weight = factorial(len(S)) * factorial(n - len(S) - 2) / (2 * factorial(n - 1))
            gain = value[tuple(sorted((*S, i, j)))] - value[tuple(sorted((*S, i)))] - value[tuple(sorted((*S, j)))]
            found[i, j] += weight * (gain + value[S])
        found[j, i] = found[i, j]
    return found


def check(model, rows, background=None):
    """Compare an explanation, and its interactions, with the definition."""
    n = model.n_features_in_
    if background is None:
        value = scores_of_trees(model, rows, subsets(range(n)))
    else:
        value = scores_with_background(model, rows, background, subsets(range(n)))
    found = model.explain(rows, background=background, interactions=True)
    n_rows = len(rows)
    contributions = found.contributions.reshape(n_rows, n, -1)
    np.testing.assert_allclose(contributions.transpose(1, 0, 2), shapley(value, n), **EXACT)
    np.testing.assert_allclose(np.broadcast_to(found.intercept, value[()].shape[1:]), value[()][0], **EXACT)
    pairs = found.interactions.reshape(n_rows, n, n, -1).transpose(1, 2, 0, 3)
    expected_pairs = interactions(value, n)
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(pairs[off], expected_pairs[off], **EXACT)
    np.testing.assert_allclose(pairs.sum(axis=1), contributions.transpose(1, 0, 2), **EXACT)
    assert np.abs(contributions).max() > 0.01
    assert np.abs(expected_pairs).max() > 0.001
    check_sum(model, rows, background)


def check_sum(model, rows, background=None):
    found = model.explain(rows, background=background)
    np.testing.assert_allclose(found.contributions.sum(axis=1) + found.intercept, found.scores, **EXACT)
    if model.fitted_model_.pairs is None:
        np.testing.assert_allclose(found.scores, model.decision_function(rows), **EXACT)


KINDS = ["forest", "trees", "joint", "pairs", "forest of three", "rest", "sampled"]


@pytest.mark.filterwarnings("ignore::adacc.UnseenCategoryWarning")
@pytest.mark.parametrize("kind", thinned(KINDS, KINDS[3:]))
class TestDefinition:
    def test_path_dependent(self, kind):
        X, y = mixed(n_classes=3 if kind in THREE else 2)
        check(fit(kind, X, y, sample_weight=np.random.default_rng(2).integers(1, 5, len(y)) / 2.0), asked(X))

    def test_interventional(self, kind):
        X, y = mixed(n_classes=3 if kind in THREE else 2)
        check(fit(kind, X, y), asked(X), X[200:203])


def covers(tree, X, weight):
    """The weight of the rows of each node, by dropping every row through the tree."""
    found = np.zeros(len(tree.feature))
    for row, amount in zip(X, weight, strict=True):
        node = 0
        while node >= 0:
            found[node] += amount
            value, children = row[tree.feature[node]], (tree.left[node], tree.right[node], tree.missing[node])
            leaf = tree.feature[node] < 0
            node = -1 if leaf else children[2 if np.isnan(value) else 0 if value <= tree.threshold[node] else 1]
    return found


class TestCovers:
    def test_compare_as_the_sample_weights_of_the_rows(self):
        X, y = numbers()
        X[::5, 2] = np.nan
        weight = np.random.default_rng(0).integers(0, 9, len(y)) / 4.0
        same, whole = np.full(len(y), 2.0), np.ceil(weight)
        for options in ({}, {"max_leaf_nodes": 5}, {"max_features": 2, "random_state": 0}, {"min_samples_leaf": 3}):
            for given in (weight, same, whole):
                model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=4, **options).fit(X, y, sample_weight=given)
                for tree in model.estimators_:
                    expected = covers(tree, X, given)
                    np.testing.assert_allclose(tree.cover / tree.cover[0], expected / expected[0], rtol=1e-12)
                    assert 1.0 <= tree.cover[0] / np.count_nonzero(given) < 2.0  # scaled by a power of two

    def test_of_a_forest_are_those_of_the_bags(self):
        X, y = numbers()
        model = adacc.AdaCCForestClassifier(**FOREST).fit(X, y)
        roots = {tree.cover[0] for tree in model.estimators_}
        assert roots == {2.0 * (y == 1).sum(), 2.0 / 3.0 * len(y)}  # balanced bags; others leave out one of three folds
        for tree in model.estimators_:
            split = tree.feature >= 0
            below = np.array([tree.left, tree.right, tree.missing]).T[split]
            np.testing.assert_array_equal(np.where(below >= 0, tree.cover[below], 0.0).sum(axis=1), tree.cover[split])

    def test_of_synthetic_rows_count_one(self):
        X, y = numbers()
        model = adacc.BoostingClassifier("smoteboost", n_estimators=2, max_depth=2, random_state=0).fit(X, y)
        assert all(tree.cover[0] > len(y) for tree in model.estimators_)
        check_sum(model, X[:5])

    def test_are_needed_without_a_background(self, tmp_path):
        path = next(GOLDEN.glob("format-1-forest.adacc"))
        model = adacc.load(path)
        X = np.random.default_rng(0).normal(size=(9, model.n_features_in_))
        with pytest.raises(ValueError, match="earlier versions do not contain: pass background="):
            model.explain(X)
        with pytest.raises(ValueError, match="earlier versions do not contain: fit the model again"):
            model.to_shap()
        check_sum(model, X, X[:4])
        model.save(tmp_path / "again.adacc")  # what is unknown stays unknown
        with pytest.raises(ValueError, match="pass background="):
            adacc.load(tmp_path / "again.adacc").explain(X)

    def test_are_saved(self, tmp_path):
        X, y = mixed()
        model = fit("trees", X, y)
        model.save(tmp_path / "model.adacc")
        again = adacc.load(tmp_path / "model.adacc")
        np.testing.assert_array_equal(again.explain(X[:9]).contributions, model.explain(X[:9]).contributions)


class TestLaws:
    @pytest.mark.filterwarnings("ignore::adacc.UnseenCategoryWarning")
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_trees_of_one_split_are_explained_as_stumps(self, n_classes):
        X, y = mixed(n_classes=n_classes)
        options = {"n_estimators": 12, "multi_class": "joint"}
        stumps = adacc.AdaCC1Classifier(**options).fit(X, y)
        trees = adacc.AdaCC1Classifier(max_leaf_nodes=2, **options).fit(X, y)
        np.testing.assert_allclose(trees.decision_function(X), stumps.decision_function(X), **EXACT)
        for rows, background in ((X, X[:50]), (asked(X), X)):
            found, expected = trees.explain(rows, background), stumps.explain(rows, background)
            np.testing.assert_allclose(found.contributions, expected.contributions, **EXACT)
            np.testing.assert_allclose(found.intercept, expected.intercept, **EXACT)
        # The training rows of a single split are a background.
        found, expected = trees.explain(X), stumps.explain(X, background=X)
        np.testing.assert_allclose(found.contributions, expected.contributions, **EXACT)
        np.testing.assert_allclose(found.intercept, expected.intercept, **EXACT)
        paired = stumps.explain(X, background=X, interactions=True).interactions
        np.testing.assert_array_equal(np.einsum("ijj...->ij...", paired), expected.contributions)
        assert np.abs(paired).sum() == pytest.approx(np.abs(expected.contributions).sum())

    def test_rows_do_not_depend_on_each_other(self):
        X, y = numbers(1030)
        model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=4).fit(X, y)
        for background in (None, X[:30]):
            together = model.explain(X, background=background).contributions
            for i in (0, 1023, 1024, 1029):
                alone = model.explain(X[i : i + 1], background=background).contributions[0]
                np.testing.assert_allclose(together[i], alone, rtol=0.0, atol=1e-12)

    def test_sparse_rows_and_fine_bins(self):
        X, y = numbers()
        X[np.abs(X) < 0.8] = 0.0
        for max_bins in (255, None):
            model = adacc.AdaCC1Classifier(n_estimators=3, max_depth=3, max_bins=max_bins).fit(X, y)
            for background in (None, sparse.csr_array(X[:9])):
                found = model.explain(sparse.csr_array(X[:20]), background=background).contributions
                dense = None if background is None else X[:9]
                np.testing.assert_array_equal(found, model.explain(X[:20], background=dense).contributions)

    def test_more_bins_than_a_byte_holds(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(700, 2))
        model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=3, max_bins=None).fit(X, X[:, 0] * X[:, 1] > 0.3)
        value = scores_of_trees(model, X[:4], subsets(range(2)))
        np.testing.assert_allclose(model.explain(X[:4]).contributions.T, shapley(value, 2)[..., 0], **EXACT)

    @pytest.mark.parametrize("costs", [[1, 1], [1, 6]])
    def test_calibrated_scores(self, costs):
        X, y = numbers()
        model = adacc.AdaMECClassifier(n_estimators=4, max_depth=2, costs=costs, calibration="sigmoid").fit(X, y)
        check_sum(model, X[:20])
        check_sum(model, X[:20], X[:5])

    def test_features_that_no_tree_uses_get_nothing(self):
        X, y = numbers()
        model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=2).fit(X, y)
        unused = model.feature_importances_ == 0.0
        assert unused.any()
        assert not model.explain(X, background=X[:9]).contributions[:, unused].any()
        assert not model.explain(X).contributions[:, unused].any()

    def test_of_one_background_row_explains_the_difference_to_it(self):
        X, y = numbers()
        model = fit("trees", X, y)
        found = model.explain(X[:40], background=X[[50]])
        assert not found.contributions[X[:40] == X[50]].any()

    def test_too_many_features_for_pairs(self):
        X = np.random.default_rng(0).normal(size=(60, 65))
        for depth in (1, 2):
            model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=depth).fit(X, X[:, 0] > 0)
            with pytest.raises(ValueError, match=r"interactions=True needs a model of at most 64 features.*got 65"):
                model.explain(X, interactions=True)

    @pytest.mark.compiled
    @pytest.mark.parametrize("name", thinned(sorted(CATALOGUE), sorted(CATALOGUE)[3:]))
    def test_the_sum_on_the_sets_of_the_paper(self, name, load_table):
        X, y = load_table(name)
        rows = np.random.default_rng(0).choice(len(y), min(len(y), 2000), replace=False)
        X, y = X.iloc[rows], y[rows]
        for model in (adacc.AdaCCForestClassifier(**FOREST), adacc.AdaCC1Classifier(n_estimators=3, max_depth=4)):
            model.fit(X, y)
            check_sum(model, X.iloc[:8])
            check_sum(model, X.iloc[:8], X.iloc[100:120])


@pytest.mark.compiled
class TestShap:
    """The package shap, which has the same values in C++."""

    @pytest.fixture(autouse=True)
    def shap(self):
        return pytest.importorskip("shap", reason="the package shap is not installed")

    def compare(self, shap, model, rows, background):
        trees = model.to_shap()
        path = shap.TreeExplainer(trees, feature_perturbation="tree_path_dependent")
        found = model.explain(rows)
        expected = path.shap_values(rows, check_additivity=False)
        np.testing.assert_allclose(found.contributions, expected.reshape(found.contributions.shape), **EXACT)
        np.testing.assert_allclose(np.ravel(found.intercept), np.ravel(path.expected_value), **EXACT)
        given = shap.TreeExplainer(trees, background, feature_perturbation="interventional")
        found = model.explain(rows, background=background)
        expected = given.shap_values(rows, check_additivity=False).reshape(found.contributions.shape)
        # shap computes with weights, thresholds and values of single precision here (`float` in its cext/tree_shap.h).
        np.testing.assert_allclose(found.contributions, expected, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(np.ravel(found.intercept), np.ravel(given.expected_value), **EXACT)

    @pytest.mark.parametrize("kind", ["forest", "trees", "joint", "forest of three", "pairs", "deep"])
    def test_agrees(self, shap, kind):
        X, y = numbers(600, n_classes=3 if kind in THREE else 2)
        X[::7, 0] = X[::9, 2] = np.nan
        self.compare(shap, fit(kind, X, y), X[:25], X[200:240])

    def test_agrees_on_paths_of_many_features(self, shap):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(900, 40)), rng.integers(0, 2, 900)
        model = adacc.AdaCC1Classifier(n_estimators=2, max_depth=None, max_features=1, random_state=0).fit(X, y)
        assert max(len(set(path)) for tree in model.estimators_ for path in paths(tree)) > 16
        self.compare(shap, model, X[:20], X[100:130])

    def test_agrees_on_interactions(self, shap):
        X, y = numbers()
        model = fit("trees", X, y)
        explainer = shap.TreeExplainer(model.to_shap(), feature_perturbation="tree_path_dependent")
        expected = explainer.shap_interaction_values(X[:10])
        np.testing.assert_allclose(model.explain(X[:10], interactions=True).interactions, expected, **EXACT)

    def test_calibrated_scores_have_the_shift(self, shap):
        X, y = numbers()
        model = adacc.AdaMECClassifier(n_estimators=4, max_depth=2, costs=[1, 6], calibration="sigmoid").fit(X, y)
        self.compare(shap, model, X[:10], X[20:30])

    def test_explanations_are_converted(self, shap):
        X, y = mixed(n_classes=3)
        explanation = fit("joint", X, y).explain(X[:7])
        converted = explanation.to_shap()
        assert isinstance(converted, shap.Explanation)
        np.testing.assert_array_equal(converted.values, explanation.contributions)
        np.testing.assert_allclose(converted.values.sum(axis=1) + converted.base_values, explanation.scores, **EXACT)
        assert converted.feature_names == X.columns.tolist()
        assert converted.data[0].tolist() == X.iloc[0].tolist()
        np.testing.assert_array_equal(converted[:, :, "1"].values, explanation.contributions[..., 1])
        stumps = adacc.AdaCC1Classifier(n_estimators=3).fit(X["a"].to_frame(), y > 0)
        assert stumps.explain(X["a"].to_frame()).to_shap().base_values.shape == (len(X),)


def paths(tree, node=0):
    """The features of the path to each leaf."""
    if tree.feature[node] < 0:
        return [[]]
    below = [child for child in (tree.left[node], tree.right[node], tree.missing[node]) if child >= 0]
    return [[tree.feature[node], *path] for child in below for path in paths(tree, child)]


def test_what_shap_cannot_represent_is_refused():
    X, y = mixed()
    with pytest.raises(ValueError, match=r"categories of column 'b', which trees of shap cannot: explain\(X\).to_shap"):
        fit("trees", X, y).to_shap()
    with pytest.raises(ValueError, match=r"needs a model of trees .* got stumps"):
        adacc.AdaCC1Classifier(n_estimators=2).fit(X, y).to_shap()


def test_explanations_of_edited_files_stay_within_the_arrays(tmp_path):
    """Kernels do not check bounds; in plain Python no index out of range goes unnoticed."""
    X, y = mixed()
    model = fit("trees", X, y)
    model.save(tmp_path / "model.adacc")
    document, arrays = archive.unpack((tmp_path / "model.adacc").read_bytes())
    sizes, rng = arrays["tree_sizes"], np.random.default_rng(0)
    numbers_in_tree = np.concatenate([np.arange(size) for size in sizes])
    n_cuts = np.diff(model.fitted_model_.bin_mapper.offsets) - 1
    for _ in range(8):
        changed = {name: array.copy() for name, array in arrays.items()}
        features = rng.integers(-1, X.shape[1], len(numbers_in_tree)).astype(np.int32)
        children = rng.integers(numbers_in_tree[:, None] + 1, np.repeat(sizes, sizes)[:, None] + 1, (len(features), 3))
        children[(children == np.repeat(sizes, sizes)[:, None]) | (rng.random(children.shape) < 0.2)] = -1
        changed["node_feature"], changed["node_children"] = features, children.astype(np.int32)
        changed["node_cut"] = rng.integers(0, n_cuts[features]).astype(np.uint32)
        changed["node_cover"] = rng.integers(0, 3, len(features)).astype(float)
        (tmp_path / "edited.adacc").write_bytes(archive.pack(document, changed))
        edited = adacc.load(tmp_path / "edited.adacc")
        for background in (None, X[5:9]):
            found = edited.explain(X[:5], background=background, interactions=True)
            assert np.isfinite(found.contributions).all()
            assert np.isfinite(found.interactions).all()
            assert np.isfinite(edited.shape_functions(background).intercept)


def test_without_the_package_shap_the_error_says_how_to_install_it(monkeypatch):
    X, y = numbers()
    explanation = fit("trees", X, y).explain(X[:2], background=X[:3])
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="to_shap needs the package shap: pip install shap"):
        explanation.to_shap()

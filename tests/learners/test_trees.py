"""Native trees: against scikit-learn's, against a slow one that is obviously right, and against the stump."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier
from support import DETERMINISTIC, thinned

import adacc
from adacc import kernels
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.columns import read
from adacc.data.rows import Rows, Weights
from adacc.data.threads import Threads
from adacc.learners.growth import Growth
from adacc.learners.tree import TreeLearner
from adacc.model.serialization import archive

TIE = 1e-12


def learner_of(X, y, weight, growth, criterion="gini", max_bins=None, seed=0):
    table = read(X)
    rows = Rows.group(y, int(y.max()) + 1, weight)
    columns = partial(Binning(rows.weight, max_bins).columns, table)
    binned = BinnedDataset.read(columns, table.n_columns, rows, Threads(1))
    return TreeLearner(binned.matrix, rows, binned.bin_mapper, criterion, 0, growth, seed)


def grown(X, y, weight, growth, criterion="gini", **options):
    """The nodes, each row's leaf in the order of the rows, and W; `weight` is as boosting has made it."""
    learner = learner_of(X, y, np.ones(len(y)), growth, criterion, **options)
    weights = Weights(learner.rows, np.ones(int(y.max()) + 1))
    weights.raw[:] = weight[learner.rows.order] / weight.sum() * len(y)
    nodes, (predicted, lookup), W = learner.fit(weights, None, 0)
    found = np.empty(len(y), dtype=np.uint32)
    columns = [np.ascontiguousarray(nodes[name]) for name in ("feature", "cut", "children")]
    kernels.find_leaves(learner.bins, learner.offsets, learner.categorical, *columns, found)
    np.testing.assert_array_equal(lookup[predicted], nodes["class"][found])
    leaves = np.empty(len(y), dtype=int)
    leaves[learner.rows.order] = found
    return nodes, leaves, W


def same_parts(some, others):
    """Whether two labellings of rows part them in the same way."""
    return len(set(zip(some, others, strict=True))) == len(set(some)) == len(set(others))


@pytest.mark.parametrize("criterion", thinned(["gini", "entropy"], ["entropy"]))
@pytest.mark.parametrize(
    "growth",
    [Growth(1), Growth(2), Growth(3), Growth(None, 6), Growth(3, None, 8), Growth(None, 9, 5)],
    ids=["depth 1", "depth 2", "depth 3", "6 leaves", "8 rows a leaf", "9 leaves of 5 rows"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_are_those_of_scikit_learn(criterion, growth, n_classes):
    """Values all different, each with a code of its own. Where two features part the last rows equally well, it is
    chance which one scikit-learn takes.
    """
    n_same = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, weight = rng.normal(size=(200, 4)), rng.uniform(0.5, 1.5, 200)
        y = np.digitize(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=200), [0.3, 1.0][: n_classes - 1])
        _, leaves, W = grown(X, y, weight, growth, criterion)
        peer = DecisionTreeClassifier(
            criterion=criterion, max_depth=growth.max_depth, max_leaf_nodes=growth.max_leaf_nodes,
            min_samples_leaf=growth.min_samples_leaf, random_state=0,
        ).fit(X, y, sample_weight=weight)  # fmt: skip
        n_same += same_parts(leaves, peer.apply(X))
        assert np.trace(W) == pytest.approx(peer.score(X, y, weight), abs=1e-12)
    assert n_same >= 4


def purity(weights):
    return (weights**2).sum() / weights.sum() if weights.sum() > 0 else 0.0


def slow_tree(columns, y, weight, depth, n_classes, rows=None):
    """(prediction, split, branches), Gini: numbers split at each value, labels one against the rest, NaN by itself."""
    rows = np.arange(len(y)) if rows is None else rows
    by_class = np.bincount(y[rows], weight[rows], n_classes)
    prediction = int(np.flatnonzero(by_class >= by_class.max() - TIE)[0])
    best, parts = 0.0, None
    if depth > 0 and (by_class > 0).sum() > 1:
        for f, column in enumerate(columns):
            values = column[rows]
            labels = values.dtype == object
            gone = np.array([value is None for value in values]) if labels else np.isnan(values)
            for value in sorted(set(values[~gone].tolist())) + ([None] if labels and gone.any() else []):
                left = np.array([each == value for each in values]) if labels else values <= value
                missing = np.zeros_like(left) if labels else gone
                split = [rows[left], rows[~left & ~missing], rows[missing]]
                gain = sum(purity(np.bincount(y[part], weight[part], n_classes)) for part in split) - purity(by_class)
                if sum(map(len, split)) > max(map(len, split)) and gain > best + TIE:
                    best, parts = gain, (f, split)
    if parts is None:
        return prediction, None, []
    f, split = parts
    return (
        prediction,
        f,
        [slow_tree(columns, y, weight, depth - 1, n_classes, part) if len(part) else None for part in split],
    )


def assert_same_tree(nodes, slow, node=0):
    prediction, feature, branches = slow
    assert nodes[node]["class"] == prediction
    assert nodes[node]["feature"] == (-1 if feature is None else feature)
    for child, branch in zip(nodes[node]["children"], branches, strict=False):
        assert (child < 0) == (branch is None)
        if branch is not None:
            assert_same_tree(nodes, branch, child)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gaps_and_categories_as_a_slow_tree_has_them(n_classes):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 90
        number, rare = rng.normal(size=n).round(1), np.where(rng.random(n) < 0.9, 0.0, rng.integers(1, 4, n))
        number[rng.random(n) < 0.15] = np.nan
        town = rng.choice(np.array(["Bonn", "Jena", "Ulm", None], dtype=object), n)
        y = ((town == "Ulm") ^ (number > 0)).astype(int) + (n_classes == 3) * (rare > 1)
        weight = rng.uniform(0.5, 1.5, n) / n
        X = pd.DataFrame({"number": number, "rare": rare, "town": pd.Categorical(town)})
        nodes, _, _ = grown(X, y, weight, Growth(3))
        assert_same_tree(nodes, slow_tree([number, rare, town], y, weight / weight.sum(), 3, n_classes))


@pytest.mark.parametrize("method", thinned(DETERMINISTIC))
def test_a_tree_of_one_split_is_a_stump(method, monkeypatch):
    """NaN, categories and sparse columns included."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :6].round(1), y[::2]
    X.iloc[::7, 0] = np.nan
    X["kind"] = pd.Categorical(np.where(X["mean area"] > 600, "large", None))
    X["seldom"] = np.where(np.arange(len(X)) % 9 == 0, X["mean texture"], 0.0)
    classes = y + (X["mean smoothness"] > 0.1)
    for labels in (y, classes):
        stumps = adacc.BoostingClassifier(method, n_estimators=8).fit(X, labels)
        with monkeypatch.context() as patched:
            patched.setattr(Growth, "is_stump", False)
            trees = adacc.BoostingClassifier(method, n_estimators=8).fit(X, labels)
        assert [len(tree.feature) > 1 for tree in trees.estimators_] == [
            s.feature is not None for s in stumps.estimators_
        ]
        np.testing.assert_allclose(trees.estimator_weights_, stumps.estimator_weights_, rtol=1e-9)
        np.testing.assert_array_equal(trees.predict(X), stumps.predict(X))
        np.testing.assert_allclose(trees.feature_importances_, stumps.feature_importances_, atol=1e-9)


def test_leaves_of_missing_values_leave_room_for_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:5] = np.nan
    y = (X[:, 0] + 0.5 * X[:, 1] > 0.8).astype(int)
    stumps = adacc.AdaCC1Classifier(n_estimators=15).fit(X, y)
    two_leaves = adacc.AdaCC1Classifier(n_estimators=15, max_depth=None, max_leaf_nodes=2).fit(X, y)
    np.testing.assert_allclose(two_leaves.decision_function(X), stumps.decision_function(X), atol=1e-9)
    for max_leaf_nodes in (3, 6):
        model = adacc.AdaCC1Classifier(n_estimators=5, max_depth=None, max_leaf_nodes=max_leaf_nodes).fit(X, y)
        assert [(tree.feature >= 0).sum() for tree in model.estimators_] == [max_leaf_nodes - 1] * 5


@pytest.mark.compiled
def test_without_a_limit_a_tree_is_as_deep_as_it_takes():
    x, y = np.arange(2600.0)[:, None], np.arange(2600) % 2
    model = adacc.AdaBoostClassifier(n_estimators=1, max_depth=None, max_bins=None).fit(x, y)
    assert model.score(x, y) == 1.0


def test_limits_beyond_all_rows_are_none():
    x, y = np.arange(100.0)[:, None], np.arange(100) % 2
    for limits in ({"max_depth": 10**18}, {"max_depth": None, "max_leaf_nodes": 10**18}):
        model = adacc.AdaBoostClassifier(n_estimators=1, max_bins=None, **limits).fit(x, y)
        assert model.score(x, y) == 1.0
    with pytest.warns(ConvergenceWarning):
        adacc.AdaBoostClassifier(n_estimators=1, max_depth=3, min_samples_leaf=100).fit(x, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_categories_may_stand_before_numbers(n_jobs):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "green", "blue"], 300), "size": rng.normal(size=300)})
    frame["shape"], frame["height"] = rng.choice(["round", "square"], 300), rng.normal(size=300)
    y = (frame["colour"] == "red") & (frame["size"] > 0) & (frame["height"] < 1)
    model = adacc.AdaBoostClassifier(n_estimators=1, max_depth=3, n_jobs=n_jobs)
    orders = [["colour", "size", "shape", "height"], ["size", "height", "colour", "shape"]]
    first, second = (model.fit(frame[names], y).decision_function(frame[names]) for names in orders)
    assert model.score(frame[orders[1]], y) == 1.0
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("growth", [{"max_depth": 3}, {"max_depth": None, "max_leaf_nodes": 5}])
def test_weights_are_repeated_rows_and_order_does_not_matter(growth):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, size=(120, 4)).astype(float)
    y, times = (X[:, 0] * X[:, 1] + rng.integers(0, 20, 120) > 30).astype(int), rng.integers(1, 4, 120)
    repeated = np.repeat(np.arange(120), times)
    order = rng.permutation(120)
    model = adacc.AdaCC1Classifier(n_estimators=15, **growth)
    weighted = model.fit(X, y, sample_weight=times).decision_function(X)
    np.testing.assert_allclose(model.fit(X[repeated], y[repeated]).decision_function(X), weighted, atol=1e-9)
    np.testing.assert_allclose(model.fit(X[order], y[order], times[order]).decision_function(X), weighted, atol=1e-9)


@pytest.mark.parametrize("weigh", [lambda rng, n: rng.random(n), lambda rng, n: 100.0 ** rng.random(n)])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_min_samples_leaf_counts_rows_whatever_their_weights(weigh, criterion):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 40, size=(400, 3)).astype(float)
    y, weight = (X[:, 0] + X[:, 1] + rng.normal(0, 9, 400) > 45).astype(int), weigh(rng, 400)
    model = adacc.AdaBoostClassifier(n_estimators=6, max_depth=None, min_samples_leaf=7, criterion=criterion)
    smallest = []
    for tree in model.fit(X, y, sample_weight=weight).estimators_:
        leaf = np.zeros(400, dtype=int)
        for _ in range(20):
            inside = tree.feature[leaf] >= 0
            goes_left = X[np.arange(400), tree.feature[leaf]] <= tree.threshold[leaf]
            leaf = np.where(inside, np.where(goes_left, tree.left[leaf], tree.right[leaf]), leaf)
        smallest.append(np.unique(leaf, return_counts=True)[1].min())
    assert 7 <= min(smallest) <= 9


@pytest.mark.compiled
def test_a_node_looks_at_some_features_only():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 9))
    y = (X[:, 0] > 0.5).astype(int)  # one split says all, where it is looked at
    roots = [
        grown(X, y, np.ones(400), Growth(2, max_features="sqrt"), seed=seed)[0][0]["feature"] for seed in range(300)
    ]
    share = np.mean(np.array(roots) == 0)
    assert share == pytest.approx(1 / 3, abs=0.1)
    assert len(set(roots)) > 4
    again = [
        grown(X, y, np.ones(400), Growth(2, max_features="sqrt"), seed=seed)[0][0]["feature"] for seed in range(20)
    ]
    assert again == roots[:20]


def test_where_drawn_features_are_constant_others_are_looked_at():
    X = np.zeros((40, 30))
    X[:, 17] = np.arange(40)
    y = (X[:, 17] > 25).astype(int)
    for seed in range(20):
        assert grown(X, y, np.ones(40), Growth(1, max_features=1), seed=seed)[0][0]["feature"] == 17


def test_auto_considers_at_least_twelve_features():
    growth = Growth(3, max_features="auto")
    assert [growth.n_candidates(n) for n in (1, 12, 20, 36, 64, 400)] == [1, 12, 12, 12, 16, 40]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = (X[:, 3] + X[:, 7] * X[:, 8] > 0.3).astype(int)
    whole, drawn = (grown(X, y, np.ones(300), each)[0] for each in (Growth(3), growth))
    for field in ("feature", "cut", "class"):  # all features are drawn: the same tree, as no gains are equal
        np.testing.assert_array_equal(drawn[field], whole[field])


def test_trees_see_interactions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] * X[:, 1] > 0.5).astype(int)
    stumps, trees = (adacc.AdaCC1Classifier(n_estimators=25, max_depth=depth).fit(X[:300], y[:300]) for depth in (1, 3))
    assert trees.score(X[300:], y[300:]) > stumps.score(X[300:], y[300:]) + 0.1


def test_stages_warm_start_and_early_stopping_go_with_trees():
    X, y = (each[::2] for each in load_breast_cancer(return_X_y=True))
    whole = adacc.AdaCC2Classifier(n_estimators=12, max_depth=3, max_features="sqrt", random_state=0).fit(X, y)
    staged = list(whole.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], whole.decision_function(X), atol=1e-9)
    half = adacc.AdaCC2Classifier(n_estimators=5, max_depth=3, max_features="sqrt", random_state=0, warm_start=True)
    half.fit(X, y)
    np.testing.assert_allclose(half.decision_function(X), staged[4], atol=1e-9)
    half.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(half.decision_function(X), staged[-1], atol=1e-6)
    early = adacc.AdaCC1Classifier(n_estimators=60, max_depth=2, n_iter_no_change=3, random_state=0).fit(X, y)
    assert early.n_iter_ < 60


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_tree_model_is_kept_in_a_file(tmp_path, n_classes):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :5], y[::2]
    X = X.assign(kind=pd.Categorical(np.where(X["mean area"] > 600, "large", "small")))
    labels = y + (n_classes == 3) * (X["mean smoothness"] > 0.1)
    model = adacc.AdaCC1Classifier(n_estimators=8, max_depth=3, calibration="sigmoid").fit(X, labels)
    model.save(tmp_path / "trees.adacc")
    again = adacc.load(tmp_path / "trees.adacc")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


@pytest.fixture(scope="module")
def tree_file(tmp_path_factory):
    """The content of a model file with trees."""
    path = tmp_path_factory.mktemp("trees") / "trees.adacc"
    X, y = load_breast_cancer(return_X_y=True)
    adacc.AdaCC1Classifier(n_estimators=3, max_depth=3).fit(X[::4], y[::4]).save(path)
    return path.read_bytes()


def change(name, *where_and_what):
    def changed(arrays):
        arrays[name] = arrays[name].copy()
        for where, what in where_and_what:
            arrays[name][where] = what

    return changed


def set_confidence(value):
    def changed(arrays):
        arrays["node_confidence"] = np.ones(len(arrays["node_class"]))
        arrays["node_confidence"][-1] = value  # a leaf

    return changed


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (change("node_children", ((0, 0), 0)), "node_children.npy must hold -1, or later nodes of the same tree"),
        (change("node_children", ((0, 1), 10_000)), "node_children.npy must hold -1, or later nodes of the same tree"),
        (change("node_children", ((0, 2), -2)), "node_children.npy must hold -1, or later nodes of the same tree"),
        (change("node_feature", (0, 99)), "node_feature.npy must hold numbers from -1 to 29"),
        (change("node_cut", (0, 2**31)), "node_cut.npy must hold indices of existing thresholds or categories"),
        (change("node_class", (0, 2)), "node_class.npy must hold class numbers from 0 to 1"),
        (change("node_gain", (0, np.nan)), "node_gain.npy"),
        (change("node_cover", (0, np.nan)), "node_cover.npy must hold finite"),
        (change("node_cover", (0, -1.0)), "node_cover.npy must not hold negative"),
        (set_confidence(np.nan), "node_confidence.npy must hold finite"),
        (set_confidence(0.4), "node_confidence.npy must hold numbers from 0.5 to 1, for two classes"),
        (set_confidence(1.1), "node_confidence.npy must hold numbers from 0.5 to 1, for two classes"),
        (change("tree_sizes", (0, 0)), "tree_sizes.npy must hold the number of nodes of each tree"),
        (change("tree_sizes", (0, 2**62), (1, 2**62)), "tree_sizes.npy must hold the number of nodes of each tree"),
    ],
)
def test_a_file_of_no_tree_is_refused(tmp_path, tree_file, tamper, says):
    document, arrays = archive.unpack(tree_file)
    tamper(arrays)
    path = tmp_path / "trees.adacc"
    path.write_bytes(archive.pack(document, arrays))
    with pytest.raises(adacc.ModelFileError, match=says):
        adacc.load(path)


def test_divided_votes_of_an_edited_file(tmp_path):
    """They are scored, but boosting cannot continue from them, as their leaves have more codes than there are classes.

    They need two classes, and trees with codes of eight bits.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))

    def load(y, confidence, **parameters):
        parameters = {"n_estimators": 3, "max_depth": 3, "warm_start": True} | parameters
        adacc.AdaCC1Classifier(**parameters).fit(X, y).save(tmp_path / "trees.adacc")
        document, arrays = archive.unpack((tmp_path / "trees.adacc").read_bytes())
        set_confidence(confidence)(arrays)
        (tmp_path / "edited.adacc").write_bytes(archive.pack(document, arrays))
        return adacc.load(tmp_path / "edited.adacc")

    y = (X[:, 0] * X[:, 1] > 0.5) ^ (rng.random(3000) < 0.1)
    whole, divided = load(y, 1.0), load(y, 0.75)
    assert (whole.decision_function(X) != divided.decision_function(X)).any()
    whole.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="boosting cannot continue from trees whose leaves divide their vote"):
        divided.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(adacc.ModelFileError, match="must have at most 256 nodes"):
        load(y, 0.75, max_depth=None)
    with pytest.raises(adacc.ModelFileError, match="for two classes"):
        load(y + 2 * (X[:, 2] > 1), 0.75, multi_class="joint")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1 or None, got 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number of at least 2 or None, got 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1, got 0"),
        ({"max_features": "all"}, "fraction of at most 1.0, 'sqrt', '2sqrt', 'log2', 'auto' or None, got 'all'"),
        ({"max_features": 1.5}, "must be a whole number of at least 1, a fraction of at most 1.0, .*, got 1.5"),
        (
            {"max_features": 0},
            "max_features must be a whole number of at least 1, a fraction of at most 1.0, .* or None, got 0",
        ),
    ],
)
def test_bad_growth_is_named(options, says):
    with pytest.raises(ValueError, match=says):
        adacc.AdaCC1Classifier(**options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("criterion", thinned(["gini", "entropy"], ["entropy"]))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("n_rows", [9, 32, 200])
def test_nodes_that_draw_features_find_the_splits_of_those_that_see_all(n_rows, least, n_classes, criterion):
    """Of a column and its copies it does not matter which are drawn; few rows are looked at in a way of their own."""
    rng = np.random.default_rng(n_rows)
    for _ in range(3):
        column = np.where(rng.random(n_rows) < 0.2, np.nan, np.round(rng.normal(size=n_rows), 1))
        X, y = np.repeat(column[:, None], 6, axis=1), np.arange(n_rows) % n_classes
        weight = rng.integers(1, 4, n_rows).astype(float)
        drawn, all_seen = (
            grown(X, y, weight / weight.sum(), Growth(None, min_samples_leaf=least, max_features=features), criterion)
            for features in (3, None)
        )
        for name in ("cut", "children", "class"):
            np.testing.assert_array_equal(drawn[0][name], all_seen[0][name])
        np.testing.assert_allclose(drawn[0]["gain"], all_seen[0]["gain"], atol=1e-15)  # of differences of histograms


def test_trees_without_a_vote_are_not_walked():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    model = adacc.AdaCC1Classifier(n_estimators=12, max_depth=3).fit(X, y)
    trees, table = model.fitted_model_.ensemble.models, read(X)
    shares = np.random.default_rng(0).normal(size=(12, 2, 1))
    shares[[0, 4, 5, 11]] = 0.0
    scorer = trees.compile(shares)
    rounds = trees.leaves(table, table.every_row)
    expected = sum(share[lookup[leaves]] for (leaves, lookup), share in zip(rounds, shares, strict=True))
    np.testing.assert_allclose(scorer.scores(table), expected, rtol=0, atol=1e-12)
    assert len(scorer.starts) == 8 + 1
    assert not trees.compile(np.zeros_like(shares)).scores(table).any()

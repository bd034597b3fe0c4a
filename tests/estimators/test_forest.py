"""The forest: against its own bags taken one by one, and by what it promises."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight

import adacc
from adacc.algorithms.adacc import AdaCC2
from adacc.boosting import bagging
from adacc.boosting.backend import Plan
from adacc.boosting.bagging import Bags, BagSpec, draw_bag, grow_forest
from adacc.data.binned import BinnedDataset
from adacc.data.binning import Binning
from adacc.data.columns import read
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.learners.growth import Growth

SMALL = {"n_estimators": 15, "random_state": 0}


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(1200, 10, n_informative=4, weights=[0.9], flip_y=0.1, random_state=0)
    return train_test_split(X, y, stratify=y, random_state=0)


def end_of_path(tree, x):
    """The node of a described tree in which a row ends."""
    node = 0
    while tree.feature[node] >= 0:
        value = x[tree.feature[node]]
        branch = tree.missing if np.isnan(value) else tree.left if value <= tree.threshold[node] else tree.right
        if branch[node] < 0:
            break
        node = branch[node]
    return node


@pytest.fixture
def drawn(monkeypatch):
    """The bags of a forest that is grown on one thread, from the last to the first."""
    bags = []

    def draw(*given):
        bags.append(draw_bag(*given))
        return bags[-1]

    monkeypatch.setattr(bagging, "draw_bag", draw)
    return bags


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_out_of_the_bags_hear_only_the_bags_they_are_not_in(n_classes, drawn):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.sort(rng.choice(n_classes, 90, p=[0.7, 0.3] if n_classes == 2 else [0.5, 0.3, 0.2]))
    rows = Rows.group(y, n_classes, rng.integers(1, 4, 90).astype(float))
    binned = BinnedDataset.read(partial(Binning(rows.weight, None).columns, read(X)), 3, rows, Threads(1))
    even = np.ones(n_classes)
    specs = (
        BagSpec(4, 1.0, 1, Growth(max_depth=None)),
        BagSpec(3, 1.5, 4, Growth(max_depth=2, max_features=2)),
        BagSpec(7, np.inf, 3, Growth(max_depth=2), replacement=False),
    )
    if n_classes == 2:
        specs += (BagSpec(5, np.inf, 6, Growth(), replacement=False, booster="gradient"),)
        specs += (BagSpec(5, np.inf, 1, Growth(), replacement=False, booster="linear"),)
    n_kinds, kinds = len(specs), np.repeat(np.arange(len(specs)), [spec.n_bags for spec in specs])
    bags = Bags(specs, criterion="gini", seed=5)
    forest = grow_forest(binned, Plan(AdaCC2(), even, even, 1.0, 0), bags, Threads(1))

    spec_divides = [spec.booster != "adacc2" for spec in specs]
    trees, votes = forest.ensemble.models.describe(np.arange(n_classes)), forest.ensemble.votes
    heard, total, at = np.zeros((n_kinds, 90)), np.zeros((n_kinds, 90, n_classes)), 0
    for kind, (bag, members) in zip(kinds, drawn[::-1], strict=True):
        share = 1.0 / specs[kind].n_bags
        counts = np.zeros(90)
        counts[members] = bag.weight
        sizes = np.bincount(y)
        most = specs[kind].ratio * min(sizes)
        totals = [counts[y == k].sum() for k in range(n_classes)]
        if specs[kind].replacement:
            assert totals == [round(min(size, most)) for size in sizes]
        else:
            assert totals == pytest.approx([0.8 * size for size in sizes], rel=0.2)
        end = at + 1
        while end < len(votes) and votes[at:end, 0].sum() < share - 1e-9:
            end += 1
        assert votes[at:end, 0].sum() == pytest.approx(share)
        assert (forest.kind_of_tree[at:end] == kind).all()
        for i in np.setdiff1d(np.arange(90), members):
            heard[kind, i] += 1
            for tree, vote in zip(trees[at:end], votes[at:end], strict=True):
                end_node = end_of_path(tree, X[i])
                predicted, confidence = tree.prediction[end_node], tree.confidence[end_node]
                assert spec_divides[kind] or confidence == 1.0
                total[kind, i, predicted] += confidence * vote[predicted] / share
                if n_classes == 2:
                    total[kind, i, 1 - predicted] += (1.0 - confidence) * vote[predicted] / share
        at = end
    assert at == len(votes)
    asked = np.flatnonzero(heard.all(axis=0))
    assert len(asked) > 30
    np.testing.assert_array_equal(forest.oob_rows, asked)
    np.testing.assert_allclose(forest.oob_shares, total[:, asked] / heard[:, asked, None], atol=1e-12)


def grow_full_bags(y, n_bags, weight=None, groups=None, **options):
    """A forest of bags without replacement on one feature."""
    n_classes = int(y.max()) + 1
    rows = Rows.group(y, n_classes, np.ones(len(y)) if weight is None else weight)
    X = np.random.default_rng(1).normal(size=(len(y), 1))
    binned = BinnedDataset.read(partial(Binning(rows.weight, None).columns, read(X)), 1, rows, Threads(1))
    bags = Bags((BagSpec(n_bags, np.inf, 1, Growth(max_depth=1), replacement=False, **options),), "gini", 0)
    ones = np.ones(n_classes)
    return grow_forest(binned, Plan(AdaCC2(), ones, ones, 1.0, 0), bags, Threads(1), groups)


@pytest.mark.parametrize(("n_bags", "n_folds"), [(5, 5), (10, 5), (3, 3)])
def test_without_replacement_each_row_is_left_out_once_by_every_set_of_folds(drawn, n_bags, n_folds):
    y = np.repeat([0, 1, 2, 3], [50, 23, 2, 1])
    forest = grow_full_bags(y, n_bags)
    assert len(drawn) == n_bags
    assert all((bag.weight == 1.0).all() for bag, _ in drawn)
    inside = sum(np.bincount(members, minlength=len(y)) for _, members in drawn)
    np.testing.assert_array_equal(inside[:-1], n_bags - n_bags // n_folds)
    assert inside[-1] == n_bags  # a class needs a row
    np.testing.assert_array_equal(forest.oob_rows, np.arange(len(y) - 1))


def test_without_replacement_heavy_rows_count_more(drawn):
    y = np.repeat([0, 1], [600, 200])
    weight = np.where(np.arange(800) % 4 == 0, 3.0, 1.0)
    for _ in range(3):
        grow_full_bags(y, 5, weight)
    counts = sum(np.bincount(members, bag.weight, len(y)) for bag, members in drawn)
    heavy = np.arange(800) % 4 == 0
    for k in (0, 1):
        assert counts[heavy & (y == k)].mean() / counts[~heavy & (y == k)].mean() == pytest.approx(3.0, rel=0.15)
        expected = weight / weight[y == k].mean()
        for bag, members in drawn:
            rows = members[y[members] == k]
            assert (np.abs(np.bincount(members, bag.weight, len(y))[rows] - expected[rows]) < 1.2).all()


def test_without_replacement_large_classes_are_cut(drawn):
    y = np.repeat([0, 1], [100, 22])
    grow_full_bags(y, 5, max_rows_of_class=20)
    for bag, members in drawn:
        assert (bag.weight == 1.0).all()
        assert np.bincount(y[members]).tolist() in ([20, 17], [20, 18])


def test_without_replacement_groups_stay_together(drawn):
    y = np.repeat([0, 1], [60, 20])
    groups = np.arange(80) // 4
    forest = grow_full_bags(y, 5, groups=groups)
    for _, members in drawn:
        assert set(np.bincount(groups[members], minlength=20)) == {0, 4}
        assert np.bincount(y[members]).tolist() == [48, 16]
    np.testing.assert_array_equal(forest.oob_rows, np.arange(80))


@pytest.mark.parametrize(
    ("n_rare", "n_groups", "once"), [(99, None, 10), (100, None, 13), (100, 50, 10), (200, 100, 13)]
)
def test_unbalanced_bags_have_each_row_once_if_no_class_has_few(drawn, n_rare, n_groups, once):
    y = np.repeat([0, 1], [400, n_rare])
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + y[:, None]
    groups = None if n_groups is None else np.concatenate([np.arange(400), 1000 + np.arange(n_rare) % n_groups])
    adacc.AdaCCForestClassifier(n_estimators=6, random_state=0).fit(X, y, groups=groups)
    assert len(drawn) == 6 + 3 + 5 + 5
    assert [bool((bag.weight == 1.0).all()) for bag, _ in drawn[::-1]] == [False] * (19 - once) + [True] * once


def test_kinds_of_bags(noisy):
    X, _, y, _ = noisy

    def kinds(n_rows, classes=y, **parameters):
        model = adacc.AdaCCForestClassifier(n_rounds=1, random_state=0, **parameters)
        rows = np.resize(np.arange(len(y)), n_rows)
        votes = model.fit(X[rows], classes[rows]).fitted_model_.training["n_bags"]
        return votes, len(model.estimators_)

    increasing = {"monotonic_cst": [1] + [0] * 9}
    linear = 5 * (1 + 10)  # an intercept and ten numbers
    assert kinds(900) == (100 + 10 + 5 + 5, 100 + 10 * 8 + 5 * 16 + linear)
    assert kinds(1501) == (30 + 5 + 3 + 5 + 5, 30 + 8 * 8 + 5 * 16 + linear)
    assert kinds(10_001) == (30 + 5 + 3 + 5 + 5, 30 + 8 * 8 + 5 * 16 + linear)
    assert kinds(1501, **increasing) == (50 + 8 + 5, 50 + 13 * 8)
    assert kinds(1501, np.arange(len(y)) % 3) == (50 + 8 + 5, 50 + 13 * 8)
    assert kinds(1501, n_estimators=12) == (12 + 3 + 3 + 5 + 5, 12 + 6 * 8 + 5 * 16 + linear)


def depth_and_leaves(tree):
    depth = np.zeros(len(tree.feature), dtype=int)
    for node in np.flatnonzero(tree.feature >= 0):  # children follow their parents
        depth[[child for child in (tree.left[node], tree.right[node]) if child >= 0]] = depth[node] + 1
    return depth.max(), (tree.feature < 0).sum()


def test_trees_on_full_bags_are_deep_where_a_feature_sets_few_rows_apart():
    """Each of 20 rare words means the rare class, so a tree must ask for one after the other."""
    X = (np.random.default_rng(0).random((600, 20)) < 0.02).astype(float)
    y = X.any(axis=1)

    def depths_and_leaves(**parameters):
        model = adacc.AdaCCForestClassifier(n_estimators=6, random_state=0, **parameters).fit(X, y)
        return np.transpose([depth_and_leaves(tree) for tree in model.estimators_])

    depths, leaves = depths_and_leaves(n_rounds=2)
    assert depths.max() > 10  # the largest depth on other bags
    assert leaves[depths > 10].max() <= 32
    assert depths_and_leaves(max_depth=4)[0].max() == 4
    assert depths_and_leaves(max_leaf_nodes=5)[1].max() == 5


def test_the_rows_out_of_the_bags_decide_who_has_a_say():
    """Long boosters learn what is intricate, and the noise as well."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 4))
    clean = np.sin(9 * X[:, 0]) * np.sin(9 * X[:, 1]) > 0.5
    noisy = rng.random(3000) < np.where(X[:, 0] > 0, 0.3, 0.1)
    says = []
    for y in (clean, noisy):
        model = adacc.AdaCCForestClassifier(n_estimators=24, random_state=0).fit(X, y)
        votes = model.fitted_model_.ensemble.votes.max(axis=1)
        assert len(votes) == 24 * 5 + 4 * 40 + 3 * 40 + 5 * 80 + 5 * 5
        balanced, _, full, _ = np.split(votes, np.cumsum([24 * 5, 4 * 40, 3 * 40]))
        says.append(full.sum() / (balanced.sum() + full.sum()))
    assert says[0] > says[1]


def test_it_sees_interactions_that_stumps_do_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 4))
    y = (X[:, 0] * X[:, 1] > 0.3) ^ (rng.random(3000) < 0.02)
    train, test = slice(2000), slice(2000, None)
    forest = adacc.AdaCCForestClassifier(random_state=0).fit(X[train], y[train])
    stumps = adacc.AdaCC1Classifier().fit(X[train], y[train])
    found = {m: balanced_accuracy_score(y[test], m.predict(X[test])) for m in (forest, stumps)}
    assert found[forest] > 0.92 > 0.85 > found[stumps]
    assert forest.feature_importances_[:2].sum() > 0.6
    assert forest.oob_balanced_accuracy_ == pytest.approx(found[forest], abs=0.04)


def test_the_rows_out_of_the_bags_foretell_the_test():
    found = []
    for seed in range(8):
        X, y = make_classification(4000, 10, n_informative=4, weights=[0.9], flip_y=0.1, random_state=seed)
        model = adacc.AdaCCForestClassifier(n_estimators=50, random_state=seed).fit(X[:900], y[:900])
        found.append((model.oob_balanced_accuracy_, balanced_accuracy_score(y[900:], model.predict(X[900:]))))
    foretold, came = np.mean(found, axis=0)
    assert foretold == pytest.approx(came, abs=0.03)


@pytest.mark.parametrize("weigh", ["all ten", "balanced", "rare twenty", "rare next to nothing"])
def test_weights_of_whole_classes_leave_rows_out_of_the_bags(noisy, weigh):
    """However much they weigh: a class has no more rows than it has."""
    X, X_test, y, y_test = noisy
    weight = {
        "all ten": np.full(len(y), 10.0),
        "balanced": compute_sample_weight("balanced", y),
        "rare twenty": np.where(y == 1, 20.0, 1.0),
        "rare next to nothing": np.where(y == 1, 1e-250, 1.0),
    }[weigh]
    plain = adacc.AdaCCForestClassifier(**SMALL).fit(X, y)
    weighted = adacc.AdaCCForestClassifier(**SMALL).fit(X, y, sample_weight=weight)
    if weigh == "all ten":
        np.testing.assert_allclose(weighted.decision_function(X_test), plain.decision_function(X_test), atol=1e-6)
    assert weighted.oob_balanced_accuracy_ == pytest.approx(plain.oob_balanced_accuracy_, abs=0.05)
    came = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in (plain, weighted)]
    assert came[1] == pytest.approx(came[0], abs=0.05)


def test_heavy_rows_are_drawn_more_often(noisy):
    _, _, y, _ = noisy
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(len(y)) < 0.1, 50.0, 1.0)
    rows = Rows.group(y, 2, weight)
    counts = np.zeros(len(y))
    for seed in range(200):
        bag, members = draw_bag(rows, 1.0, np.random.default_rng(seed))
        counts[members] += bag.weight
        assert len(members) < 0.5 * len(y)
    rare = slice(*rows.starts[1:])
    heavy = rows.weight[rare] > 1.0
    assert counts[rare][heavy].mean() / counts[rare][~heavy].mean() == pytest.approx(50.0, rel=0.25)


def test_one_heavy_row_does_not_hide_the_others(noisy):
    X, X_test, y, y_test = noisy
    weight = np.where(np.arange(len(y)) == np.argmax(y == 0), 1e4, 1.0)
    plain, weighted = (adacc.AdaCCForestClassifier(**SMALL).fit(X, y, each) for each in (None, weight))
    expected, auc = (roc_auc_score(y_test, model.decision_function(X_test)) for model in (plain, weighted))
    assert auc > expected - 0.05


def test_two_rare_rows_are_recognised_without_tuning():
    rng = np.random.default_rng(0)
    y, y_test = np.arange(4000) < 2, np.arange(4000) < 1000
    X, X_test = rng.normal(size=(2, 4000, 8))
    X[y, :3] += 3.0
    X_test[y_test, :3] += 3.0
    with pytest.warns(UserWarning, match="no rows of True are out of bag or held out"):
        model = adacc.AdaCCForestClassifier(random_state=0).fit(X, y)
    assert balanced_accuracy_score(y_test, model.predict(X_test)) > 0.9


@pytest.mark.parametrize("data", [load_breast_cancer, load_digits])
def test_threads_files_and_pickles_change_nothing(data, tmp_path):
    X, y = data(return_X_y=True)
    model = adacc.AdaCCForestClassifier(**SMALL, calibration="sigmoid").fit(X, y)
    twin = adacc.AdaCCForestClassifier(**SMALL, calibration="sigmoid", n_jobs=2).fit(X, y)
    model.save(tmp_path / "forest.adacc")
    for other in (twin, adacc.load(tmp_path / "forest.adacc"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.oob_balanced_accuracy_ == model.oob_balanced_accuracy_


def test_a_fit_draws_one_seed_from_a_random_state(noisy):
    X, _, y, _ = noisy
    given, twin = (np.random.RandomState(0) for _ in range(2))
    adacc.AdaCCForestClassifier(n_estimators=3, n_rounds=1, random_state=given).fit(X, y)
    twin.randint(np.iinfo(np.int32).max)
    assert given.randint(1000) == twin.randint(1000)


def test_probabilities_agree_with_decisions_and_calibrated_ones_with_frequencies(noisy):
    X, X_test, y, y_test = noisy
    plain = adacc.AdaCCForestClassifier(n_estimators=50, random_state=0, calibration=None).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X_test), plain.predict_proba(X_test)[:, 1] > 0.5)
    for kind in ("sigmoid", "isotonic"):
        model = adacc.AdaCCForestClassifier(n_estimators=50, random_state=0, calibration=kind).fit(X, y)
        probability = model.predict_proba(X_test)[:, 1]
        np.testing.assert_array_equal(model.predict(X_test), plain.predict(X_test))
        assert probability.mean() == pytest.approx(y_test.mean(), abs=0.03)
        assert np.mean((probability - y_test) ** 2) < np.mean((plain.predict_proba(X_test)[:, 1] - y_test) ** 2)


def test_default_probabilities_are_frequencies_and_the_votes_decide(noisy):
    """The sigmoid is that of scikit-learn on the stored out-of-bag scores; `predict` alerts from the base rate on."""
    X, X_test, y, y_test = noisy
    model = adacc.AdaCCForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    named = clone(model).set_params(calibration="sigmoid").fit(X, y)
    plain = clone(model).set_params(calibration=None).fit(X, y)
    p, score = model.predict_proba(X_test)[:, 1], model.decision_function(X_test)
    np.testing.assert_array_equal(p, named.predict_proba(X_test)[:, 1])
    np.testing.assert_array_equal(score, plain.decision_function(X_test))
    np.testing.assert_array_equal(model.predict(X_test), plain.predict(X_test))
    np.testing.assert_array_equal(model.predict(X_test), score > 0.0)
    oob = model.fitted_model_.tuning_scores
    platt = _SigmoidCalibration().fit(oob.scores, oob.is_positive, oob.weight)
    np.testing.assert_allclose(p, platt.predict(score), atol=2e-3)
    assert p.sum() == pytest.approx(y_test.sum(), rel=0.15)
    assert plain.predict_proba(X_test)[:, 1].sum() > 1.5 * y_test.sum()
    assert p[model.predict(X_test) == 1].min() == pytest.approx(y.mean(), rel=0.3)


def test_default_probabilities_of_several_classes_are_frequencies():
    X, y = make_classification(
        5000, 10, n_informative=6, n_classes=3, weights=[0.8, 0.15], class_sep=0.7, random_state=1
    )
    X, X_test, y, y_test = train_test_split(X, y, train_size=1500, stratify=y, random_state=0)
    model = adacc.AdaCCForestClassifier(**SMALL).fit(X, y)
    plain = clone(model).set_params(calibration=None).fit(X, y)
    p, balanced = model.predict_proba(X_test), plain.predict_proba(X_test)
    rows = np.bincount(y_test)
    np.testing.assert_allclose(p.sum(axis=0) / rows, 1.0, atol=0.2)
    assert balanced.sum(axis=0)[2] > 1.4 * rows[2]
    assert log_loss(y_test, p) < log_loss(y_test, balanced)
    np.testing.assert_allclose(balanced, softmax(2.0 * model.decision_function(X_test), axis=1))
    for each in (model, plain):
        np.testing.assert_array_equal(each.predict(X_test), model.decision_function(X_test).argmax(axis=1))


def test_rows_without_weight_are_not_there(noisy):
    X, _, y, _ = noisy
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    given = adacc.AdaCCForestClassifier(**SMALL).fit(X, y, sample_weight=weight)
    left = adacc.AdaCCForestClassifier(**SMALL).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(given.decision_function(X), left.decision_function(X))


def test_frames_with_gaps_and_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "green", None], 400), "size": rng.normal(size=400)})
    frame.loc[rng.random(400) < 0.2, "size"] = np.nan
    y = np.where((frame["colour"] == "red") & (frame["size"] > 0), "rare", "common")
    model = adacc.AdaCCForestClassifier(**SMALL).fit(frame, y)
    assert model.score(frame, y) > 0.97
    assert model.classes_.tolist() == ["common", "rare"]


def test_a_class_of_one_row():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    with pytest.warns(UserWarning, match="its probabilities are those of balanced classes"):
        model = adacc.AdaCCForestClassifier(**SMALL, min_samples_leaf=1).fit(X, y)
    assert np.isnan(model.oob_balanced_accuracy_)
    assert model.predict(X)[-1] == 1
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(2.0 * model.decision_function(X)))
    with pytest.raises(ValueError, match="calibration='sigmoid' needs out-of-bag rows of every class"):
        adacc.AdaCCForestClassifier(**SMALL, calibration="sigmoid").fit(X, y)


def test_what_the_file_says_of_the_bags_is_checked(tmp_path):
    from adacc.model.serialization import archive

    X, y = load_breast_cancer(return_X_y=True)
    adacc.AdaCCForestClassifier(**SMALL).fit(X, y).save(tmp_path / "forest.adacc")
    document, arrays = archive.unpack((tmp_path / "forest.adacc").read_bytes())
    archive.write(tmp_path / "forged.adacc", archive.pack({**document, "out_of_bag": 1.5}, arrays))
    with pytest.raises(adacc.ModelFileError, match=r"'out_of_bag' must be from 0 to 1, or null, got 1\.5"):
        adacc.load(tmp_path / "forged.adacc")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1 or 'auto', got 0"),
        ({"n_rounds": 1.5}, "n_rounds must be a whole number of at least 1, got 1.5"),
        ({"max_depth": 0}, "max_depth must be a whole number of at least 1 or 'auto' or None, got 0"),
        ({"max_depth": "Auto"}, "max_depth must be a whole number of at least 1 or 'auto' or None, got 'Auto'"),
        ({"max_features": "all"}, "fraction of at most 1.0, 'sqrt', '2sqrt', 'log2', 'auto' or None, got 'all'"),
        ({"calibration": "platt"}, "calibration must be 'auto' or 'sigmoid' or 'isotonic', got 'platt'"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive number of threads, or -1"),
        ({"max_bins": 1}, "max_bins must be a whole number of at least 2 or None, got 1"),
    ],
)
def test_bad_parameters_are_named(options, says):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match=says):
        adacc.AdaCCForestClassifier(**options).fit(X, y)


def test_its_name_leads_to_its_class():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    with pytest.raises(ValueError, match="'adacc-forest' has a classifier of its own: AdaCCForestClassifier"):
        adacc.BoostingClassifier("adacc-forest").fit(X, y)
    with pytest.raises(ValueError, match="but a class has none: use more rows of it"):
        adacc.AdaCCForestClassifier(calibration="sigmoid", **SMALL).fit(X, y)


def test_a_class_of_one_row_does_not_harm_the_others():
    X, y = load_wine(return_X_y=True)
    alone = adacc.AdaCCForestClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    with pytest.warns(UserWarning, match="no rows of 3 are out of bag or held out"):
        model = adacc.AdaCCForestClassifier(random_state=0).fit(np.r_[X[::2], X[:1] * 9], np.r_[y[::2], 3])
    assert model.score(X[1::2], y[1::2]) > alone - 0.03
    assert np.isnan(model.oob_balanced_accuracy_)
    assert model.fitted_model_.ensemble.decision[3] == 1.0


def test_one_positive_row_is_recognised_and_cannot_tune_a_rule():
    X = np.random.default_rng(0).normal(size=(51, 3))
    X[0] += 20.0
    y = np.r_[1, np.zeros(50, dtype=int)]
    # No bag has a row of the positive class to spare, and balanced bags of two rows cannot be split.
    with pytest.warns(UserWarning, match="no rows of 1 are out of bag or held out"):
        assert adacc.AdaCCForestClassifier(random_state=0).fit(X, y).predict(X).tolist() == y.tolist()
    with (
        pytest.warns(UserWarning, match="no rows of 1 are"),
        pytest.raises(ValueError, match=r"decision='recall>=0.9' is tuned on out-of-bag rows, but a class has none"),
    ):
        adacc.AdaCCForestClassifier(decision="recall>=0.9").fit(X, y)


def test_displays_take_it_but_for_the_course_of_training(noisy):
    X, _, y, _ = noisy
    model = adacc.AdaCCForestClassifier(**SMALL).fit(X, y)
    shares = adacc.inspect.ImportanceDisplay.from_estimators([model]).frame()
    np.testing.assert_allclose(shares.to_numpy().sum(), 1.0)
    with pytest.raises(TypeError, match="must be a fitted boosting classifier of adacc, got AdaCCForestClassifier"):
        adacc.inspect.TrainingDisplay.from_estimators([model])


@pytest.mark.parametrize("n_rows", [55, 211])  # for 55, a sum of shares of rows is 1 + 2e-16
def test_a_forest_without_out_of_bag_errors_can_be_saved(tmp_path, n_rows):
    X = np.arange(3.0 * n_rows).reshape(-1, 1)
    model = adacc.AdaCCForestClassifier(n_estimators=20, random_state=0).fit(X, X[:, 0] > 2 * n_rows)
    assert model.oob_balanced_accuracy_ <= 1.0
    model.save(tmp_path / "model.adacc")
    assert adacc.load(tmp_path / "model.adacc").oob_balanced_accuracy_ == model.oob_balanced_accuracy_


def test_a_rule_is_tuned_on_a_sample_of_a_large_class_and_its_report_counts_it(monkeypatch):
    """The figures count the sampled rows; the weights give every class its rows of the training set."""
    from adacc.cli.decisions import format_decision

    X, y = make_classification(1500, 5, weights=[0.9], random_state=0)
    monkeypatch.setattr(bagging, "MAX_OOB_ROWS_OF_CLASS", 400)
    model = adacc.AdaCCForestClassifier(**SMALL, decision="recall>=0.8").fit(X, y)
    oob, report = model.fitted_model_.tuning_scores, model.decision_.report
    assert (report.n_rows, report.n_positive) == (400 + y.sum(), y.sum()) == (len(oob.scores), oob.is_positive.sum())
    np.testing.assert_allclose([oob.weight[~oob.is_positive].sum(), oob.weight.sum()], [(y == 0).sum(), len(y)])
    alert = oob.scores >= model.decision_.threshold
    assert report.achieved["alerts_per_1000"].value == pytest.approx(1000 * np.average(alert, weights=oob.weight))
    said = format_decision(model.decision_).splitlines()[0]
    assert f"measured on {400 + y.sum()} out-of-bag rows, {y.sum()} positive (at most 400 random rows of each" in said

"""Models of trees as ONNX: what onnxruntime answers is what the models answer."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

import adacc
from adacc.algorithms.base import ROUNDING

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from export import onnx_answers
from export.onnx_answers import FRAME, LABELS, NUMBERS, TABLES, THREE, TWO, N, fed, session_of

from adacc.export import to_onnx
from adacc.export.trees import LARGEST_SUM

assert_same = partial(onnx_answers.assert_same, within=1e-11)
MIXED = FRAME[["number", "gaps", "text", "flag", "coded"]]
GROWTHS = {"depth": {"max_depth": 4}, "leaves": {"max_depth": None, "max_leaf_nodes": 9}}


def with_gaps(load):
    X, y = load(return_X_y=True)
    X = X.astype(np.float32)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def trees(X, y, method="adacc1", **options):
    options = {"n_estimators": 15, "max_depth": 4, "random_state": 0} | options
    return adacc.BoostingClassifier(method, **options).fit(X, y)


def ensemble_of(model, dtype="float32"):
    """The attributes of the one node that holds the trees."""
    (node,) = (node for node in to_onnx(model, dtype).graph.node if node.op_type == "TreeEnsembleRegressor")
    return {each.name: each for each in node.attribute}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_real_data_with_gaps(load, growth, dtype):
    X, y = with_gaps(load)
    assert_same(trees(X, y, n_estimators=40, **GROWTHS[growth]), X, dtype=dtype)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["wilt", "bank"])
def test_more_real_data(name, load_table):
    X, y = load_table(name)
    texts = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.astype({column: np.float32 for column in X if column not in texts})
    feeds = {c: X[[c]].astype(object).fillna("").to_numpy() if c in texts else X[[c]].to_numpy() for c in X}
    assert_same(trees(X, y, n_estimators=100, max_depth=6), X, feeds if texts else {"X": X.to_numpy()})


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("method", ["adac3", "cgada", "rareboost", "rusboost"])
def test_methods(method, classes, table):
    assert_same(trees(TABLES[table], LABELS[classes], method), TABLES[table])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("method", ["adamec", "cgada", "adacc2"])
def test_calibrated(method, calibration, classes, table):
    """By probabilities times costs, or, of the last method, by votes."""
    X, y = TABLES[table], LABELS[classes]
    costs = None if method == "adacc2" else [1.0, 2.0, 1.5][: len(np.unique(y))]
    assert_same(trees(X, y, method, calibration=calibration, costs=costs, max_depth=2), X)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_leaves_of_a_forest_divide_their_vote(dtype):
    X, y = with_gaps(load_breast_cancer)
    model = adacc.AdaCCForestClassifier(n_estimators=3, n_rounds=2, calibration="sigmoid", random_state=0).fit(X, y)
    assert any(0.5 < tree.confidence.min() < 1.0 for tree in model.estimators_)
    assert_same(model, X, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("classes", LABELS)
def test_strings_numbers_and_booleans_are_categories(classes, dtype):
    model = trees(MIXED, LABELS[classes], n_estimators=30)
    asked = {type(category) for tree in model.estimators_ for category in tree.category}
    assert asked >= {str, bool, float}
    assert_same(model, MIXED, dtype=dtype)


@pytest.mark.parametrize("classes", LABELS)
def test_unknown_categories_and_gaps_where_there_were_none(classes):
    """A category of no branch goes where all others go; of a number that was never missing the node itself predicts."""
    known = MIXED.fillna({"text": "b", "number": 0.0, "gaps": 0.0}).assign(coded=MIXED["coded"].fillna(7))
    model = trees(known, LABELS[classes], n_estimators=30)
    new = known.astype({"text": object, "coded": float, "flag": float})
    new.loc[::2, "text"] = [None, "new"] * (N // 4)
    new.loc[::3, ["coded", "flag"]] = [12.0, np.nan]
    new.loc[::5, ["number", "gaps"]] = np.nan
    ours = new.assign(coded=pd.Categorical(new["coded"]), flag=new["flag"].map({0.0: False, 1.0: True}).astype(object))
    assert_same(model, ours, fed(new))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("missing", ["text", "coded", "number"])
def test_what_is_missing_may_be_all_that_matters(missing, dtype):
    X = MIXED.assign(**{missing: MIXED[missing].where(MIXED.index % 3 > 0, None)})
    y = X[missing].isna() & X["flag"]
    model = trees(X, y, n_estimators=3)
    assert_same(model, X, dtype=dtype)
    assert (model.predict(X) == y).all()


FLOATS = st.floats(-1e39, 1e39) | st.floats(-3.0, 3.0) | st.floats(-1e-44, 1e-44)


@given(st.lists(FLOATS, min_size=4, max_size=12, unique=True))
@settings(max_examples=20)
def test_a_float32_falls_on_the_right_side_of_every_threshold(values):
    X = np.array(values)[:, None]
    model = trees(X, np.arange(len(X)) % 3, n_estimators=3, max_bins=None)
    thresholds = [threshold for tree in model.estimators_ for threshold in tree.threshold]
    with np.errstate(over="ignore"):
        near = np.array([*values, *thresholds]).astype(np.float32)
        points = np.concatenate([near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))])
    assert_same(model, points[~np.isinf(points), None])


def test_float64_tells_more_values_apart():
    X = (1_700_000_000.0 + np.arange(60.0))[:, None]
    model = trees(X, np.arange(60) // 5 % 3)
    assert_same(model, X, dtype="float64")


def test_ties_go_where_ours_go():
    model = trees(NUMBERS, THREE, "adaboost", multi_class="joint")
    model.fitted_model_.ensemble.votes[:] = [1.0, 1.0, 1.0 + ROUNDING / 100]
    assert_same(model, NUMBERS)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_votes_of_all_sizes_add_up(scale):
    """The float32 of the runtime would be wrong in the eighth digit."""
    model = trees(NUMBERS, THREE, n_estimators=60)
    votes = model.fitted_model_.ensemble.votes
    votes[:] = scale * 10.0 ** np.random.default_rng(1).uniform(-12, 0, votes.shape)
    assert_same(model, NUMBERS)


def test_whatever_is_added_stays_where_float32_has_all_whole_numbers():
    model = trees(NUMBERS, THREE, n_estimators=60)
    attributes = ensemble_of(model)
    largest = np.zeros((len(model.fitted_model_.ensemble), attributes["n_targets"].i))
    weights, targets = np.abs(attributes["target_weights"].floats), attributes["target_ids"].ints
    np.maximum.at(largest, (attributes["target_treeids"].ints, targets), weights)
    assert (weights == np.rint(weights)).all()
    assert largest.sum(axis=0).max() <= LARGEST_SUM


@pytest.mark.parametrize("nothing", [slice(None), slice(0, None, 2), (slice(None), 1)], ids=["all", "half", "a class"])
@pytest.mark.parametrize("classes", LABELS)
def test_trees_that_vote_for_nothing(classes, nothing):
    model = trees(NUMBERS, LABELS[classes])
    model.fitted_model_.ensemble.votes[nothing] = 0.0
    assert_same(model, NUMBERS)


@pytest.mark.parametrize("classes", LABELS)
def test_trees_that_split_on_nothing(classes):
    X = np.ones((N, 2), dtype=np.float32)
    assert_same(trees(X, LABELS[classes]), X)


def test_branches_that_agree_are_one():
    """Of a split whose branches all predict one class nothing is written."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 10, dtype=np.float32)
    model = trees(X, np.array([0, 0, 0, 1] * 10), n_estimators=1, max_depth=2)
    modes = [mode.decode() for mode in ensemble_of(model)["nodes_modes"].strings]
    assert modes == ["BRANCH_LEQ", "LEAF", "LEAF"]
    assert_same(model, np.append(X, [[np.nan]], axis=0))


@pytest.mark.parametrize("table", TABLES)
def test_no_rows_have_no_answers(table):
    session = session_of(trees(TABLES[table], TWO))
    assert [len(answer) for answer in session.run(None, fed(TABLES[table][:0]))] == [0, 0, 0]

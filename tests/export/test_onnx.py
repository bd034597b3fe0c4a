"""Models as ONNX: what onnxruntime answers is what the models answer."""

import importlib
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from support import thinned

import adacc
from adacc.algorithms.base import ROUNDING
from adacc.model.calibration import Calibrator, Isotonic, Sigmoid

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from export.onnx_answers import FRAME, LABELS, NUMBERS, TABLES, THREE, TWO, N, assert_same, fed, session_of

from adacc.export import to_onnx


def rows(method, table):
    X = TABLES[table]
    if method != "smoteboost":
        return X
    return X[["text", "flag"]].fillna("z") if table == "frame" else np.nan_to_num(X)  # it takes no gaps


def fit(X, y=TWO, **options):
    return adacc.AdaCC1Classifier(n_estimators=2, **options).fit(X, y)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_every_method_answers_the_same(method, classes, table):
    X = rows(method, table)
    model = adacc.BoostingClassifier(method, n_estimators=15, random_state=0).fit(X, LABELS[classes])
    assert_same(model, X)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("method", ["cgada", "adamec", "adacc2", "rareboost"])
def test_so_does_a_calibrated_one(method, calibration, classes, table):
    """By probabilities, or, of the last two methods, by votes."""
    X, y = TABLES[table], LABELS[classes]
    costs = [1.0, 2.0, 1.5][: len(np.unique(y))] if method in ("cgada", "adamec") else None
    model = adacc.BoostingClassifier(method, n_estimators=15, calibration=calibration, costs=costs, random_state=0)
    model.fit(X, y)
    assert_same(model, X)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["wilt", "bank", "satimage", "adult"])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "adacc1"},
        {"method": "cgada", "calibration": "isotonic"},
        {"method": "adacc2", "calibration": "sigmoid"},
    ],
)
def test_real_data(name, options, load_table):
    X, y = load_table(name)
    texts = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.astype({column: np.float32 for column in X if column not in texts})
    model = adacc.BoostingClassifier(n_estimators=200, **options).fit(X, y)
    feeds = {"X": X.to_numpy()}
    if texts:
        feeds = {c: X[[c]].astype(object).fillna("").to_numpy() if c in texts else X[[c]].to_numpy() for c in X}
    assert_same(model, X, feeds)


FLOATS = st.floats(-1e39, 1e39) | st.floats(-3.0, 3.0) | st.floats(-1e-44, 1e-44)


@given(st.lists(FLOATS, min_size=4, max_size=12, unique=True))
@settings(max_examples=40)
@example([1.0, np.nextafter(1.0, 2.0), 1.5, 2.0])  # thresholds that no float32 has
@example([3.4e38, 3.5e38, 1e39, 0.0])  # and beyond all of them
@example([-1e-46, 1e-46, 0.0, 1.0])
def test_a_float32_falls_on_the_right_side_of_every_threshold(values):
    X = np.array(values)[:, None]
    model = adacc.AdaCC1Classifier(n_estimators=6, max_bins=None).fit(X, np.arange(len(X)) % 3)
    thresholds = [stump.threshold for stump in model.estimators_ if stump.threshold is not None]
    with np.errstate(over="ignore"):
        near = np.array([*values, *thresholds]).astype(np.float32)
        points = np.concatenate([near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))])
    assert_same(model, points[np.isfinite(points), None])


def test_float64_tells_more_values_apart():
    X = (1_700_000_000.0 + np.arange(60.0))[:, None]
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, np.arange(60) >= 30)
    assert_same(model, X, dtype="float64")
    label, _, _ = session_of(model).run(None, fed(X))
    assert (label != model.predict(X)).any()


def test_unknown_categories_and_gaps_where_there_were_none():
    known = FRAME.fillna({"text": "b", "number": 0.0, "gaps": 0.0}).assign(coded=FRAME["coded"].fillna(7))
    model = adacc.AdaCC1Classifier(n_estimators=30).fit(known, TWO)
    new = known.astype({"text": object, "coded": float, "flag": float})
    new.loc[::2, "text"] = [None, "new"] * (N // 4)
    new.loc[::3, ["coded", "flag"]] = [12.0, np.nan]
    new.loc[::5, ["number", "gaps"]] = np.nan
    ours = new.assign(coded=pd.Categorical(new["coded"]), flag=new["flag"].map({0.0: False, 1.0: True}).astype(object))
    assert_same(model, ours, fed(new))


@pytest.mark.parametrize("split_on", ["a", "b", None])
def test_an_unknown_string_is_none_of_the_known(split_on):
    X = pd.DataFrame({"text": ["a", "b", "c", None] * 10})
    model = fit(X, X["text"].isna() if split_on is None else X["text"] == split_on)
    assert_same(model, pd.DataFrame({"text": ["a", "b", "c", None, "d"]}))


def test_the_empty_string_is_itself_where_nothing_was_missing():
    X = pd.DataFrame({"text": ["", "a", "b", ""] * 10})
    model = adacc.AdaCC1Classifier(n_estimators=3).fit(X, X["text"] == "")
    assert_same(model, X)


def test_numbers_and_booleans_as_categories_are_columns_of_the_matrix():
    X = FRAME.drop(columns="text")
    model = adacc.AdaCC1Classifier(n_estimators=20).fit(X, TWO)
    assert {type(stump.category) for stump in model.estimators_} >= {bool, float}
    assert_same(model, X, {"X": X.to_numpy(np.float32)})


@pytest.mark.parametrize("depth", [1, 2])
def test_numbers_that_are_one_as_float32_need_float64(depth):
    X = pd.DataFrame({"id": pd.Categorical([2**24, 2**24 + 1, 2**24 + 2] * 10)})
    model = adacc.AdaCC1Classifier(n_estimators=5, max_depth=depth).fit(X, X["id"] == 2**24 + 1)
    with pytest.raises(ValueError, match=r"16777216 and 16777217 of column 'id' are one float32: use dtype='float64'"):
        to_onnx(model)
    assert_same(model, X, {"X": X.to_numpy(float)}, dtype="float64")


@pytest.mark.parametrize("right", range(1, 8))
@pytest.mark.parametrize("wrong", range(1, 8))
def test_where_costs_balance_the_probability_the_label_is_ours(right, wrong):
    """There the last bit of a logarithm decides, and runtimes have others."""
    X = np.repeat([0.0, 1.0], [right + wrong, 4])[:, None]
    y = np.repeat([0, 1], [wrong, right + 4])
    options = {"calibration": "isotonic", "calibration_cv": "training", "costs": [right, wrong]}
    model = adacc.AdaMECClassifier(n_estimators=2, **options).fit(X, y)
    assert_same(model, X)


@pytest.mark.parametrize("slope", [-40.0, 0.0, 40.0])
def test_certainty_has_the_scores_that_rounding_leaves_of_it(slope):
    model = adacc.AdaMECClassifier(n_estimators=10, calibration="sigmoid", costs=[1, 3]).fit(NUMBERS, TWO)
    model.fitted_model_ = replace(model.fitted_model_, calibrator=Calibrator((Sigmoid(slope, 0.3),)))
    assert_same(model, NUMBERS)


def test_curves_of_one_knot_and_classes_that_none_is_sure_of():
    model = adacc.AdaMECClassifier(n_estimators=10, calibration="isotonic", multi_class="joint").fit(NUMBERS, THREE)
    never = Isotonic(np.array([0.0]), np.array([0.0]))
    often = Isotonic(np.array([0.0, 1.0, 1.1, 9.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    model.fitted_model_ = replace(model.fitted_model_, calibrator=Calibrator((never, often, often)))
    probabilities = model.predict_proba(NUMBERS)
    assert (probabilities == 1.0 / 3.0).all(axis=1).any()
    assert (probabilities == [0.0, 0.5, 0.5]).all(axis=1).any()
    assert_same(model, NUMBERS)


@pytest.mark.parametrize("labels", [TWO, THREE])
def test_a_model_that_splits_on_nothing(labels):
    X = np.ones((N, 2), dtype=np.float32)
    assert_same(adacc.AdaCC1Classifier().fit(X, labels), X)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_ties_go_where_ours_go(pos_label):
    X = np.array([[0.0], [0.0], [1.0], [1.0]] * 3, dtype=np.float32)
    model = adacc.AdaBoostClassifier(n_estimators=1, pos_label=pos_label).fit(X, [0, 1, 1, 1] * 3)
    model.fitted_model_.ensemble.votes[:] = 0.8 * ROUNDING
    assert (model.decision_function(X) == 0.0).all()
    assert_same(model, X)


def test_of_classes_as_good_as_equal_the_first_is_chosen():
    model = adacc.AdaBoostClassifier(n_estimators=15, multi_class="joint").fit(NUMBERS, THREE)
    model.fitted_model_.ensemble.votes[:] = [1.0, 1.0, 1.0 + ROUNDING / 100]
    assert_same(model, NUMBERS)


@pytest.mark.parametrize("p", [0.38149293263992, 0.4, 0.5])  # the first has two logarithms in onnxruntime
def test_of_probabilities_that_are_equal_too(p):
    model = adacc.AdaMECClassifier(n_estimators=5, calibration="isotonic", costs=[1, 1, 1]).fit(NUMBERS, THREE)
    model.fitted_model_ = replace(
        model.fitted_model_,
        calibrator=Calibrator(tuple(Isotonic(np.zeros(1), np.array([value])) for value in (1 - 2 * p, p, p))),
    )
    for n_rows in range(1, 10):  # a runtime may take the logarithms of the last few apart from the others
        assert_same(model, NUMBERS[:n_rows])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("classes", LABELS)
def test_inputs_and_outputs(classes, table):
    session = session_of(adacc.AdaCC1Classifier(n_estimators=5).fit(TABLES[table], LABELS[classes]))
    given = {each.name: (each.type, each.shape) for each in session.get_inputs()}
    number, text = ("tensor(float)", ["rows", 1]), ("tensor(string)", ["rows", 1])
    columns = {name: text if name == "text" else number for name in FRAME}
    assert given == ({"X": ("tensor(float)", ["rows", 4])} if table == "numbers" else columns)
    got = {each.name: (each.type, each.shape) for each in session.get_outputs()}
    per_class = ["rows", 2 if classes == "two" else 3]
    assert got == {
        "label": ("tensor(string)" if classes == "two" else "tensor(int64)", ["rows"]),
        "probabilities": ("tensor(float)", per_class),
        "scores": ("tensor(double)", ["rows"] if classes == "two" else per_class),
    }


@pytest.mark.parametrize("table", TABLES)
def test_no_rows_have_no_answers(table):
    session = session_of(adacc.AdaCC1Classifier(n_estimators=5).fit(TABLES[table], THREE))
    assert [len(answer) for answer in session.run(None, fed(TABLES[table][:0]))] == [0, 0, 0]


@pytest.mark.parametrize("kind", [bool, np.uint8, float])
def test_labels_of_other_types_are_whole_numbers(kind):
    label, _, _ = session_of(fit(NUMBERS, TWO.astype(kind))).run(None, fed(NUMBERS))
    assert label.dtype == np.int64
    assert set(label) == {0, 1}


def test_columns_may_have_any_name_but_an_outputs():
    within = to_onnx(adacc.AdaCC1Classifier(n_estimators=10).fit(FRAME, TWO)).graph
    names = within.node[0].output[0], within.node[5].output[0], within.initializer[0].name, "a b/c"
    X = FRAME.rename(columns=dict(zip(["number", "gaps", "coded", "flag"], names, strict=True)))
    model = adacc.AdaCC1Classifier(n_estimators=10).fit(X, TWO)
    assert_same(model, X)
    for name in ("label", "probabilities", "scores", ""):
        named = adacc.AdaCC1Classifier(n_estimators=2).fit(FRAME.rename(columns={"gaps": name}), TWO)
        with pytest.raises(ValueError, match=f"a column is named '{name}', which is .*: rename it"):
            to_onnx(named)


def test_what_a_search_found_can_be_exported():
    search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=5), cv="training").fit(NUMBERS, TWO)
    assert_same(search.best_estimator_, NUMBERS)


def mixed(*values):
    return pd.DataFrame({"c": np.resize(np.array(values, dtype=object), N)})


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: DecisionTreeClassifier(), TypeError, "must be a classifier of adacc, got DecisionTreeClassifier"),
        (lambda: adacc.AdaCC1Classifier(), NotFittedError, "not fitted"),
        (
            lambda: fit(np.nan_to_num(NUMBERS), estimator=DecisionTreeClassifier(max_depth=2)),
            ValueError,
            r"only native stumps and trees \(estimator=None\) .* of the type DecisionTreeClassifier",
        ),
        (lambda: fit(mixed(1, "1", None)), ValueError, "column 'c' must be all strings.* of the types int, str"),
        (lambda: fit(mixed("", "a", None)), ValueError, "column 'c' has both empty strings and missing values"),
        (
            lambda: fit(NUMBERS, TWO * np.uint64(2**63)),
            ValueError,
            r"64 bits with a sign .*, got \[0, 9223372036854775808\]",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        to_onnx(make())


def test_a_type_that_is_none():
    with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got 'float16'"):
        to_onnx(fit(NUMBERS), dtype="float16")


def test_without_onnx_the_way_to_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "adacc.export")
    with pytest.raises(ImportError, match=r"pip install 'adacc\[onnx\]'"):
        importlib.import_module("adacc.export")

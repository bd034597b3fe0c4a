"""Pipelines that end in one of our classifiers, converted by skl2onnx."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import adacc
from adacc.algorithms.catalog import ESTIMATORS

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")

from skl2onnx.common.data_types import FloatTensorType, StringTensorType  # noqa: E402

from adacc.export import register_skl2onnx  # noqa: E402

RNG = np.random.default_rng(4)
N = 160
X = RNG.normal(size=(N, 4)).astype(np.float32)
TWO = np.where(X[:, 0] + RNG.normal(size=N) > 1.0, "rare", "common")
THREE = np.argmax(X[:, :3] + RNG.normal(size=(N, 3)), axis=1)
FRAME = pd.DataFrame(
    {
        "number": X[:, 0],
        "text": [("a", "b", "c")[THREE[i] if i % 3 else i % 2] for i in range(N)],
        "flag": THREE + X[:, 3] > 1.0,
        "count": RNG.integers(0, 2**28, N),
    }
)
AS_MATRIX = {"zipmap": False}


@pytest.fixture(autouse=True)
def registered():
    register_skl2onnx()


def run(converted, feeds):
    onnx.checker.check_model(converted, full_check=True)
    return onnxruntime.InferenceSession(converted.SerializeToString()).run(None, feeds)


def columns(frame):
    return {name: frame[[name]].to_numpy(object if name == "text" else None) for name in frame}


def assert_same(pipeline, given, feeds, **options):
    label, probabilities = run(skl2onnx.to_onnx(pipeline, given[:1], options=AS_MATRIX, **options), feeds)
    np.testing.assert_array_equal(label, pipeline.predict(given))
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(given), rtol=0, atol=1e-7)
    return probabilities


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_class_is_known(name):
    model = getattr(adacc, name)(n_estimators=5, random_state=0).fit(X, TWO)
    assert_same(model, X, {"X": X})


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("opset", [13, 15, 18, None])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_pipeline(depth, opset, y):
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    steps = SimpleImputer(strategy="median"), SelectKBest(k=3)
    model = adacc.CGAdaClassifier(n_estimators=15, calibration="isotonic", max_depth=depth)
    pipeline = make_pipeline(*steps, model).fit(gaps, y)
    assert_same(pipeline, gaps, {"X": gaps}, target_opset=opset)


@pytest.mark.parametrize("depth", [1, 3])
def test_doubles_stay_doubles(depth):
    wide = X.astype(float)
    model = adacc.AdaCC1Classifier(n_estimators=15, max_depth=depth)
    pipeline = make_pipeline(StandardScaler(), model).fit(wide, THREE)
    assert assert_same(pipeline, wide, {"X": wide}).dtype == np.float64


def test_whole_numbers_keep_their_digits():
    whole = 2**30 + RNG.permutation(4 * N).reshape(N, 4)
    model = adacc.AdaCC1Classifier(n_estimators=15, max_bins=None).fit(whole, THREE)
    assert assert_same(model, whole, {"X": whole}).dtype == np.float32


def test_probabilities_by_label():
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, TWO)
    label, probabilities = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(pd.DataFrame(probabilities)[["common", "rare"]], model.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_frame_with_categories(depth, y):
    frame = FRAME[["number", "count", "text", "flag"]]
    model = adacc.AdaCC1Classifier(n_estimators=20, max_depth=depth).fit(frame, y)
    asked = np.hstack([np.array(each.category, dtype=object) for each in model.estimators_])
    assert str in set(map(type, asked))
    assert_same(model, frame, columns(frame))


def test_columns_that_are_transformed_each_in_their_way():
    to_numbers = make_column_transformer(
        (StandardScaler(), ["number"]), (OneHotEncoder(sparse_output=False), ["text"]), ("passthrough", ["flag"])
    )
    known = FRAME.astype({"flag": np.float32}).drop(columns="count")
    pipeline = make_pipeline(to_numbers, adacc.AdaCC2Classifier(n_estimators=15)).fit(known, TWO)
    assert_same(pipeline, known, columns(known))


@pytest.mark.parametrize(
    ("given", "types"),
    [(FRAME, [("all", StringTensorType([None, 4]))]), (X, [("a", StringTensorType([None, 4]))])],
    ids=["strings and numbers in one", "strings for numbers"],
)
def test_inputs_of_another_kind_are_refused(given, types):
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(given, TWO)
    with pytest.raises(
        ValueError, match=r"must be given 4 inputs of one column each.* got (all|a) \(StringTensorType\)"
    ):
        skl2onnx.to_onnx(model, initial_types=types)


def test_what_cannot_be_converted_is_refused():
    trees = adacc.AdaCC1Classifier(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=2).fit(X, TWO)
    with pytest.raises(ValueError, match="only native stumps and trees"):
        skl2onnx.to_onnx(trees, X[:1])
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, TWO)
    with pytest.raises(ValueError, match="adacc needs a target_opset of 13 or more, got 12"):
        skl2onnx.to_onnx(model, initial_types=[("X", FloatTensorType([None, 4]))], target_opset=12)


def test_without_skl2onnx_the_way_to_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'adacc\[onnx\]'"):
        register_skl2onnx()


def test_a_pipeline_given_to_to_onnx_is_told_the_way():
    pipeline = make_pipeline(StandardScaler(), adacc.AdaCC1Classifier(n_estimators=3)).fit(X, THREE)
    with pytest.raises(TypeError, match="got a Pipeline") as caught:
        adacc.export.to_onnx(pipeline)
    register, convert = re.search(r"Call (.*\)), and then (skl2onnx.*\))$", str(caught.value)).groups()
    names = {"adacc": adacc, "skl2onnx": skl2onnx, "pipeline": pipeline, "X": X.astype(np.float32)}
    eval(register, names)
    label, _ = run(eval(convert, names), {"X": X.astype(np.float32)})
    np.testing.assert_array_equal(label, pipeline.predict(X.astype(np.float32)))

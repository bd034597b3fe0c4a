"""Tables to train on, and what onnxruntime answers beside what the model does."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd

from adacc.export import to_onnx

RNG = np.random.default_rng(3)
N = 160
NUMBERS = RNG.normal(size=(N, 4)).astype(np.float32)
TWO = NUMBERS[:, 0] + RNG.normal(size=N) > 1.2
THREE = np.argmax(NUMBERS[:, :3] + RNG.normal(size=(N, 3)), axis=1)
NUMBERS[RNG.random((N, 4)) < 0.1] = np.nan
FRAME = pd.DataFrame(
    {
        "number": NUMBERS[:, 0],
        "text": [("a", "b", "ü", None)[THREE[i] + TWO[i] if i % 3 else i % 4] for i in range(N)],
        "flag": [bool(TWO[i] if i % 4 else i % 8) for i in range(N)],
        "coded": pd.Categorical([(7, 8.5, 9, None)[(THREE[i] if i % 5 else i) % 4] for i in range(N)]),
        "gaps": NUMBERS[:, 1],
    }
)
LABELS = {"two": np.where(TWO, "rare", "common"), "three": THREE}
TABLES = {"numbers": NUMBERS, "frame": FRAME}


def fed(X, dtype="float32"):
    """What a graph for X is given."""
    if not isinstance(X, pd.DataFrame):
        return {"X": X.astype(dtype)}
    return {
        name: X[[name]].astype(object).fillna("").to_numpy() if name == "text" else X[[name]].to_numpy(dtype)
        for name in X
    }


def session_of(model, dtype="float32"):
    made = to_onnx(model, dtype)
    onnx.checker.check_model(made, full_check=True)
    return onnxruntime.InferenceSession(made.SerializeToString())


def assert_same(model, X, feeds=None, dtype="float32", within=1e-9):
    label, probabilities, scores = session_of(model, dtype).run(None, feeds or fed(X, dtype))
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=within)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-7)
    assert (probabilities.dtype, scores.dtype) == (dtype, "float64")

"""Conversion of a fitted model to a stand-alone ONNX model."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.settings import one_of
from adacc.export.decisions import extra_columns
from adacc.export.graph import ML, ML_OPSET, ONNX_TYPES, OPSET, OnnxGraph
from adacc.export.outputs import class_labels, write_model
from adacc.export.votes import fitted_model, votes_of

IR_VERSION = 7
"""The IR version of `OPSET`."""

OUTPUTS = ("label", "probabilities", "scores")


def to_onnx(model: BaseAdditiveClassifier, dtype: str = "float32") -> onnx.ModelProto:
    """Convert a fitted model to ONNX.

    Parameters
    ----------
    model : classifier of adacc
        Fitted classifier of native stumps or trees (``estimator=None``).
    dtype : {"float32", "float64"}, default="float32"
        Type of the numeric inputs and of the probabilities. Use float64 if values differ by less than the precision of
        float32.

    Returns
    -------
    onnx.ModelProto
        Inputs: ``X`` of shape (n_rows, n_features), booleans as 0 and 1, NaN for missing. If some columns are
        strings, there is one input of shape (n_rows, 1) for each column, with its name; empty strings are missing.
        Columns that the decision rule names and that are no features are further inputs of shape (n_rows, 1) in
        float64.
        Outputs: ``label`` (int64 or text), by the decision rule if there is one, ``probabilities`` of shape (n_rows,
        n_classes), and ``scores``, which is `decision_function` in float64.

    Raises
    ------
    ValueError
        The weak learners are not native stumps or trees, ONNX has no type for the labels or categories, or the decision
        rule ranks the rows of each day.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier
    >>> from adacc.export import to_onnx
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaCC1Classifier(n_estimators=20).fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, probabilities, scores = session.run(None, {"X": X.astype(np.float32)})
    >>> bool((label == model.predict(X)).all()), bool(abs(scores - model.decision_function(X)).max() < 1e-12)
    (True, True)
    """
    one_of("dtype", dtype, tuple(ONNX_TYPES))
    fitted = fitted_model(model)
    votes = votes_of(fitted, dtype)
    others = extra_columns(fitted)
    inputs = _inputs(fitted.column_names, votes.is_text.tolist(), ONNX_TYPES[dtype])
    _check_names(others, [each.name for each in inputs])
    graph = OnnxGraph(reserved=(*(each.name for each in inputs), *others, *OUTPUTS))
    names = [each.name for each in inputs]
    answers = write_model(graph, fitted, votes, names, dtype, dict(zip(others, others, strict=True)))
    inputs += [helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["rows", 1]) for name in others]
    for result, name in zip(answers, OUTPUTS, strict=True):
        graph.give(result, name)
    outputs = _outputs(class_labels(fitted), ONNX_TYPES[dtype])
    return helper.make_model(
        helper.make_graph(graph.nodes, type(model).__name__, inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="adacc",
        producer_version=version("adacc"),
    )


def _inputs(names: Sequence[str], is_text: list[bool], of_numbers: int) -> list[onnx.ValueInfoProto]:
    if not any(is_text):
        return [helper.make_tensor_value_info("X", of_numbers, ["rows", len(names)])]
    for name in names:
        if name in ("", *OUTPUTS):
            why = "which is the name of an output" if name else "which is no name in ONNX"
            raise ValueError(f"a column is named {name!r}, {why}: rename it before training")
    types = [TensorProto.STRING if text else of_numbers for text in is_text]
    return [helper.make_tensor_value_info(name, each, ["rows", 1]) for name, each in zip(names, types, strict=True)]


def _check_names(others: Sequence[str], inputs: Sequence[str]) -> None:
    for name in others:
        if name in ("", *OUTPUTS, *inputs):
            raise ValueError(f"the decision rule names a column {name!r}, which is the name of another input or output")


def _outputs(labels: NDArray[Any], of_numbers: int) -> list[onnx.ValueInfoProto]:
    of_labels = TensorProto.STRING if labels.dtype == object else TensorProto.INT64
    row: list[str | int] = ["rows"]
    matrix = [*row, len(labels)]
    return [
        helper.make_tensor_value_info("label", of_labels, row),
        helper.make_tensor_value_info("probabilities", of_numbers, matrix),
        helper.make_tensor_value_info("scores", TensorProto.DOUBLE, row if len(labels) == 2 else matrix),
    ]

"""Converters of skl2onnx for the classifiers of adacc."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from adacc.algorithms.catalog import ESTIMATORS
from adacc.estimators import classifiers, forest
from adacc.export.decisions import extra_columns
from adacc.export.graph import ML_OPSET, ONNX_TYPES, OPSET, Graph
from adacc.export.outputs import class_labels, write_model
from adacc.export.votes import fitted_model, votes_of

ALIAS = "AdaccBoosting"


def register_skl2onnx() -> None:
    """Register the classifiers of adacc with skl2onnx, to convert pipelines that contain them.

    The outputs are those of other classifiers: the label, and the probabilities as dictionaries or, with the option
    ``zipmap=False``, as a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from adacc import AdaCC1Classifier
    >>> from adacc.export import register_skl2onnx
    >>> register_skl2onnx()
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), AdaCC1Classifier(n_estimators=20)).fit(X, y)
    >>> onnx_model = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32), options={"zipmap": False})
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'probabilities']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError("register_skl2onnx needs skl2onnx: pip install 'adacc[onnx]'") from None
    # skl2onnx requires all three options; "nocl" (class indices instead of labels) is not supported.
    options = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [False]}
    for name in ESTIMATORS:
        estimator = getattr(classifiers, name, None) or getattr(forest, name)
        update_registered_converter(estimator, ALIAS, _set_types, _convert, options=options)


class SklearnGraph(Graph):
    """Adds nodes to the current conversion of skl2onnx."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def node(
        self, operator: str, *inputs: str | NDArray[Any], domain: str = "", output: int = 0, **attributes: Any
    ) -> str:
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        result = self.scope.get_unique_variable_name(operator.lower())
        unused = [self.scope.get_unique_variable_name("unused") for _ in range(output)]
        self._add(operator, names, [*unused, result], domain, **attributes)
        return result

    def give(self, result: str, name: str) -> None:
        self._add("Identity", [result], [name], "")

    def _add(self, operator: str, inputs: list[str], outputs: list[str], domain: str, **attributes: Any) -> None:
        name = self.scope.get_unique_operator_name(operator)
        version = ML_OPSET if domain else None  # the default of skl2onnx is later than it supports
        self.container.add_node(
            operator, inputs, outputs, op_domain=domain, op_version=version, name=name, **attributes
        )

    def _constant(self, values: NDArray[Any]) -> str:
        name = self.scope.get_unique_variable_name("constant")
        if values.dtype == object:
            content = [text.encode() for text in values]
            self.container.add_initializer(name, TensorProto.STRING, values.shape, content)
        else:
            self.container.add_initializer(name, None, None, numpy_helper.from_array(np.asarray(values, order="C")))
        return name


def _set_types(operator: Any) -> None:
    """Set the types of the outputs, the shape calculator of skl2onnx."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    model = fitted_model(operator.raw_operator)
    n_rows = operator.inputs[0].get_first_dimension()
    of_labels = StringTensorType if class_labels(model).dtype == object else Int64TensorType
    of_probabilities = DoubleTensorType if _has(operator, DoubleTensorType) else FloatTensorType
    operator.outputs[0].set_type(of_labels([n_rows]))
    operator.outputs[1].set_type(of_probabilities([n_rows, len(model.classes)]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Convert the model, the converter of skl2onnx."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType

    if container.target_opset < OPSET:
        raise ValueError(f"adacc needs a target_opset of {OPSET} or more, got {container.target_opset}")
    model, graph = fitted_model(operator.raw_operator), SklearnGraph(scope, container)
    others = extra_columns(model)
    if others:
        raise ValueError(
            f"the decision {str(model.decision)!r} needs the column {others[0]!r}, which is no feature, and a pipeline "
            "cannot pass it on: export the model alone with adacc.export.to_onnx, or remove the rule with "
            "set_decision(None)"
        )
    # Integers can exceed the precision of float32.
    dtype = "float64" if _has(operator, DoubleTensorType) or _has(operator, Int64TensorType) else "float32"
    votes = votes_of(model, dtype)
    inputs = _columns(graph, operator, votes.is_text.tolist(), dtype)
    outputs = write_model(graph, model, votes, inputs, "float64" if _has(operator, DoubleTensorType) else "float32")
    graph.give(outputs.label, operator.outputs[0].full_name)
    graph.give(outputs.probabilities, operator.outputs[1].full_name)


def _has(operator: Any, kind: type) -> bool:
    return any(isinstance(variable.type, kind) for variable in operator.inputs)


def _columns(graph: Graph, operator: Any, is_text: list[bool], dtype: str) -> list[str]:
    """The inputs as one matrix of numbers, or as single columns if some are strings."""
    from skl2onnx.common.data_types import StringTensorType

    given = [isinstance(variable.type, StringTensorType) for variable in operator.inputs]
    if any(is_text + given) and given != is_text:
        names = ", ".join(f"{variable.raw_name} ({type(variable.type).__name__})" for variable in operator.inputs)
        text = [j for j, each in enumerate(is_text) if each]
        raise ValueError(
            f"the model must be given {len(is_text)} inputs of one column each, with strings in the columns {text} and "
            f"numbers in the others, as in training, or one matrix if all are numbers; got {names}"
        )
    columns = [
        variable.full_name if text else graph.node("Cast", variable.full_name, to=ONNX_TYPES[dtype])
        for variable, text in zip(operator.inputs, given, strict=True)
    ]
    return columns if any(is_text) or len(columns) == 1 else [graph.node("Concat", *columns, axis=1)]

"""Graph builders: for a stand-alone ONNX model, or a conversion of skl2onnx."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

ML = "ai.onnx.ml"
"""The domain of the operators for classical machine learning."""

OPSET, ML_OPSET = 13, 3
"""Operator set versions. Later versions have the same semantics for the operators that are used."""

ONNX_TYPES = {"float32": onnx.TensorProto.FLOAT, "float64": onnx.TensorProto.DOUBLE}

FLAT = np.array([-1], dtype=np.int64)
"""Shape argument of Reshape for one dimension."""


class Graph(ABC):
    """Adds nodes and constants, which are identified by the name of their result."""

    @abstractmethod
    def node(
        self, operator: str, *inputs: str | NDArray[Any], domain: str = "", output: int = 0, **attributes: Any
    ) -> str:
        """Add a node; inputs are names of results, or arrays, which become constants. Only one output is used."""

    @abstractmethod
    def give(self, result: str, name: str) -> None:
        """Give a result another name, such as that of an output."""


class OnnxGraph(Graph):
    """Builds an ONNX graph; `reserved` names are not used for results."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._taken = set(reserved)

    def node(
        self, operator: str, *inputs: str | NDArray[Any], domain: str = "", output: int = 0, **attributes: Any
    ) -> str:
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        result = self._free(operator.lower())
        outputs = [*(self._free("unused") for _ in range(output)), result]
        self.nodes.append(helper.make_node(operator, names, outputs, name=result, domain=domain, **attributes))
        return result

    def give(self, result: str, name: str) -> None:
        self.nodes.append(helper.make_node("Identity", [result], [name], name=f"give_{name}"))

    def _constant(self, values: NDArray[Any]) -> str:
        name = self._free("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def _free(self, stem: str) -> str:
        number = len(self.nodes) + len(self.constants)
        while (name := f"{stem}_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name


def for_each_row(graph: Graph, column: NDArray[Any], matrix: str) -> str:
    """Repeat a column of constants for each row of the matrix."""
    n_rows = graph.node("Gather", graph.node("Shape", matrix), np.array([0], dtype=np.int64))
    return graph.node("Expand", column, graph.node("Concat", np.array([1], dtype=np.int64), n_rows, axis=0))


def rounded(graph: Graph, values: str, decimals: int) -> str:
    """Round as `np.round` does."""
    power = np.array(10.0**decimals)
    return graph.node("Div", graph.node("Round", graph.node("Mul", values, power)), power)

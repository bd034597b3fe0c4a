"""What a graph is written to: a file of our own, or a conversion of skl2onnx."""

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
"""The versions whose operators are used. Later ones mean the same by these, and any runtime in use knows them."""

ONNX_TYPES = {"float32": onnx.TensorProto.FLOAT, "float64": onnx.TensorProto.DOUBLE}

FLAT = np.array([-1], dtype=np.int64)
"""The shape of one dimension."""


class Graph(ABC):
    """Nodes and constants, each known by the name of its one result."""

    @abstractmethod
    def node(self, operator: str, *inputs: str | NDArray[Any], domain: str = "", **attributes: Any) -> str:
        """Add a node; an input is the name of a result, or an array, which becomes a constant."""

    @abstractmethod
    def give(self, result: str, name: str) -> None:
        """Make a result known by another name, such as that of an output."""


class OnnxGraph(Graph):
    """Nodes and constants as ONNX keeps them; `reserved` names are not given to results."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._taken = set(reserved)

    def node(self, operator: str, *inputs: str | NDArray[Any], domain: str = "", **attributes: Any) -> str:
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        result = self._free(operator.lower())
        self.nodes.append(helper.make_node(operator, names, [result], name=result, domain=domain, **attributes))
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
    """A column of constants as often as the matrix has rows."""
    n_rows = graph.node("Gather", graph.node("Shape", matrix), np.array([0], dtype=np.int64))
    return graph.node("Expand", column, graph.node("Concat", np.array([1], dtype=np.int64), n_rows, axis=0))

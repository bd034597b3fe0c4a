"""Writes trees to an ONNX graph, as one ensemble of binary nodes whose leaves hold integers.

`TreeEnsembleRegressor` compares the cells: ``x <= threshold`` or ``x != category``. Its nodes have two branches. If
missing values have a branch of their own, a second node tests ``x <= infinity``, which is false for NaN only.

Its outputs are float32, which is too coarse for votes, but sums of integers up to 2**24 are exact in any order. Each
vote is therefore written as an integer number of large units plus an integer number of smaller units, and so on. The
units are summed separately, and the few sums are combined in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from scipy.sparse import csr_matrix

from adacc.algorithms.base import Array
from adacc.data.binning import CategoryBins
from adacc.export.columns import codes_of_strings, keys_of_numbers, largest_up_to, look_up, text_columns
from adacc.export.graph import ML, ONNX_TYPES, Graph, for_each_row
from adacc.learners.tree import Trees

LARGEST_SUM = 2.0**24
"""float32 represents all integers up to this one."""

NEGLIGIBLE = 2.0**-48
"""Of the largest score possible: a few dozen doubles, added one by one, are no closer to their sum."""

LEFT, RIGHT, MISSING = range(3)
"""The branches of a node: of the engine's, and of a question's, where left is yes and right is no."""


@dataclass(frozen=True)
class Forest:
    """The votes of trees as a TreeEnsembleRegressor."""

    constant: Array  # (n_outputs,): what trees add that predict the same for every row
    attributes: dict[str, Any]  # the other trees, as `TreeEnsembleRegressor` takes them; empty where there are none
    columns: NDArray[np.int64]  # the columns that are looked at, in the order of the attributes' features
    # of those the columns of strings, and the codes of their strings; the next code is for all others
    words: dict[int, dict[str, int]]
    units: Array  # (n_units,): what the targets count: every output by the first unit, then by the second
    is_text: NDArray[np.bool_]  # (n_columns,): which columns hold strings
    dtype: str  # of the cells

    def write(self, graph: Graph, inputs: Sequence[str]) -> str:
        """Add the trees to a graph: the votes, shape (n_outputs, n_rows)."""
        constant = self.constant[:, None]
        if not self.attributes:
            return for_each_row(graph, constant, inputs[0])
        cells = self._cells(graph, inputs)
        counts = graph.node("TreeEnsembleRegressor", cells, domain=ML, **self.attributes)
        by_unit = graph.node("Cast", counts, to=TensorProto.DOUBLE)
        # onnxruntime 1.18 would fuse Transpose and MatMul to an operator that exists only for float32.
        return graph.node("Gemm", np.kron(self.units, np.eye(len(constant))), by_unit, constant, transB=1)

    def _cells(self, graph: Graph, inputs: Sequence[str]) -> str:
        """The columns that the trees use, as one matrix of numbers."""
        if len(inputs) == 1 and not self.words:
            return graph.node("Gather", inputs[0], self.columns, axis=1)
        columns = {column: inputs[column] for column in self.columns.tolist()}
        for column, codes in self.words.items():
            found = look_up(graph, inputs[column], codes, other=len(codes))
            columns[column] = graph.node("Cast", found, to=ONNX_TYPES[self.dtype])
        return graph.node("Concat", *columns.values(), axis=1)


@dataclass(frozen=True)
class Questions:
    """The condition of every node and its three branches."""

    # Whether it asks ``x != operand`` instead of ``x <= operand``. (Of nodes that ask ``x == operand`` one after the
    # other onnxruntime 1.31 makes one, if their leaves have the same weights, though it be for other targets.)
    unequal: NDArray[np.bool_]
    operand: NDArray[np.floating]  # in the type of the cells
    # (n_nodes, 3): where cells go of which that is true, those of which it is not, and NaN: to a node, counted over all
    # trees, or to the end of the path, a leaf code as ``~code`` (`Trees.leaf_codes`)
    leads: NDArray[np.int64]


def as_forest(trees: Trees, shares: Array, names: Sequence[str], dtype: str) -> Forest:
    """Convert trees to an ensemble for columns of these names and inputs of this type."""
    is_text = text_columns(trees.bin_mapper, names)
    questions = _questions(trees, is_text, names, dtype)
    voting = shares.any(axis=(1, 2))
    starts, shares = trees.starts[:-1][voting], shares[voting]
    roots, asked = _prune_constant(questions.leads, starts)
    constant = shares[roots < 0, ~roots[roots < 0]].sum(axis=0)
    if not len(asked):
        return Forest(constant, {}, np.empty(0, dtype=np.int64), {}, np.empty(0), is_text, dtype)
    tree = np.searchsorted(starts, asked, side="right") - 1
    columns, feature = np.unique(trees.nodes["feature"][asked], return_inverse=True)
    units, counts = _in_units(shares)
    attributes = _attributes(questions, asked, tree, feature, counts)
    words = {
        column: codes_of_strings(each.values)
        for column, each in enumerate(trees.bin_mapper.features)
        if is_text[column] and column in columns and isinstance(each, CategoryBins)
    }
    return Forest(constant, attributes, columns.astype(np.int64), words, units, is_text, dtype)


def _questions(trees: Trees, is_text: NDArray[np.bool_], names: Sequence[str], dtype: str) -> Questions:
    nodes = trees.nodes
    own = ~trees.leaf_codes.astype(np.int64)[:, None]
    first = np.repeat(trees.starts[:-1], np.diff(trees.starts))[:, None]
    leads = np.where(nodes["children"] >= 0, nodes["children"] + first, own)
    unequal, operand = np.zeros(len(nodes), dtype=bool), np.zeros(len(nodes), dtype=dtype)
    for column in np.unique(nodes["feature"][nodes["feature"] >= 0]).tolist():
        of_column = np.flatnonzero(nodes["feature"] == column)
        feature, cut = trees.bin_mapper.features[column], nodes["cut"][of_column]
        if not isinstance(feature, CategoryBins):
            thresholds = np.append(
                largest_up_to(feature.thresholds, dtype), np.inf
            )  # the last threshold separates missing values
            operand[of_column] = thresholds[cut]
            continue
        leads[of_column] = leads[of_column][:, [RIGHT, LEFT, RIGHT]]
        unequal[of_column] = True
        if is_text[column]:
            operand[of_column] = cut
            continue
        operand[of_column] = keys_of_numbers(feature.values, dtype, names[column])[cut]
        # Where missing is the category: NaN is unequal to itself, too, but not a number.
        nan = of_column[np.isnan(operand[of_column])]
        unequal[nan], operand[nan] = False, np.inf
        leads[nan, MISSING] = leads[nan, RIGHT]
    return Questions(unequal, operand, leads)


def _prune_constant(leads: NDArray[np.int64], roots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Skip the nodes whose paths all end in one leaf code.

    Returns where each tree begins then, at its root or at the leaf code that it always reaches, as ``~code``; and
    the nodes that are left, ascending.
    """
    settled, asked = np.arange(len(leads)), []
    for level in reversed(list(_levels(leads, roots))):
        leads[level] = np.where(leads[level] >= 0, settled[leads[level]], leads[level])
        end = leads[level, LEFT]
        same = (leads[level] == end[:, None]).all(axis=1) & (end < 0)
        settled[level[same]] = end[same]
        asked.append(level[~same])
    return settled[roots], np.sort(np.concatenate([roots[:0], *asked]))


def _levels(leads: NDArray[np.int64], roots: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The nodes of all trees by depth."""
    level = roots
    while len(level):
        yield level
        level = np.unique(leads[level][leads[level] >= 0])


def _in_units(shares: Array) -> tuple[Array, Array]:
    """Shares as whole numbers of ever smaller units, whose sums over the trees are all exact in float32.

    Returns
    -------
    units : ndarray of shape (n_units,)
        Powers of two.
    counts : ndarray of shape (n_trees, n_codes, n_units, n_outputs)
        How many of each unit.
    """
    units: list[float] = []
    counts: list[Array] = []
    left = shares
    whole = reach = _largest_sum(left)
    while reach > NEGLIGIBLE * whole:
        # The rounding error of each count is at most 0.5.
        units.append(2.0 ** np.ceil(np.log2(reach / (LARGEST_SUM - len(shares) / 2))))
        counts.append(np.rint(left / units[-1]))
        left = left - counts[-1] * units[-1]
        reach = _largest_sum(left)
    return np.array(units), np.stack(counts, axis=2)


def _largest_sum(shares: Array) -> float:
    """An upper bound of the sum of one class of each tree."""
    return float(np.abs(shares).max(axis=(1, 2)).sum())


def _attributes(
    questions: Questions, asked: NDArray[np.int64], tree: NDArray[np.int64], feature: NDArray[np.int64], counts: Array
) -> dict[str, Any]:
    """The used nodes as attributes of `TreeEnsembleRegressor`."""
    unequal, operand, leads = questions.unequal[asked], questions.operand[asked], questions.leads[asked]
    left, right, missing = leads.T
    apart, ends = (missing != left) & (missing != right), leads < 0
    # Each becomes up to five nodes: itself, a test for NaN, and a leaf for each branch that ends.
    exists = np.column_stack([np.ones_like(apart), apart, ends[:, :MISSING], ends[:, MISSING] & apart])
    number = np.cumsum(exists).reshape(exists.shape)
    number -= number[np.searchsorted(tree, tree), :1]  # from 0 on in every tree
    leaf = number[:, 2:]
    place = np.where(ends, leaf, number[np.searchsorted(asked, np.where(ends, 0, leads)), 0])

    def listed(itself: Any, asks_nan: Any, leaves: Any) -> Any:
        return np.stack(np.broadcast_arrays(itself, asks_nan, leaves, leaves, leaves), axis=1)[exists]

    at, branch = np.nonzero(exists[:, 2:])
    n_codes = counts.shape[1]
    by_end = csr_matrix(counts.reshape(len(counts) * n_codes, -1))  # of the outputs most have none
    weights = by_end[tree[at] * n_codes + ~leads[at, branch]]
    weighted = np.repeat(np.arange(len(at)), np.diff(weights.indptr))
    return {
        "nodes_treeids": listed(tree, tree, tree).tolist(),
        "nodes_nodeids": number[exists].tolist(),
        "nodes_featureids": listed(feature, feature, 0).tolist(),
        "nodes_modes": np.array(["BRANCH_LEQ", "BRANCH_NEQ", "LEAF"])[listed(unequal, 0, 2)].tolist(),
        "nodes_truenodeids": listed(place[:, LEFT], place[:, RIGHT], 0).tolist(),
        "nodes_falsenodeids": listed(np.where(apart, number[:, 1], place[:, RIGHT]), place[:, MISSING], 0).tolist(),
        "nodes_missing_value_tracks_true": listed(~apart & (missing == left), 0, 0).tolist(),
        "target_treeids": tree[at][weighted].tolist(),
        "target_nodeids": leaf[at, branch][weighted].tolist(),
        "target_ids": weights.indices.tolist(),
        "n_targets": weights.shape[1],
        **_floats("nodes_values", listed(operand, np.inf, 0.0).astype(operand.dtype)),
        **_floats("target_weights", weights.data.astype(operand.dtype)),
    }


def _floats(name: str, values: NDArray[np.floating]) -> dict[str, Any]:
    """An attribute for the input type: one for float32 and one for all others."""
    if values.dtype == np.float32:
        return {name: values.tolist()}
    return {f"{name}_as_tensor": numpy_helper.from_array(values, name)}

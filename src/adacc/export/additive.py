"""Writes a sum of stumps to an ONNX graph, as conditions on columns and the amount that each adds to the scores.

A sum of stumps is a constant and a step function per feature. A step is the condition ``x > threshold``. Missing values
and numeric categories are conditions, too; strings are looked up in a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from adacc.algorithms.base import Array
from adacc.data.binning import CategoryBins
from adacc.export.columns import codes_of_strings, keys_of_numbers, largest_up_to, look_up, text_columns
from adacc.export.graph import FLAT, Graph, for_each_row
from adacc.learners.stump import Stumps

BLOCK = 64
"""Conditions evaluated together: each takes about 12 bytes per row of X."""


@dataclass(frozen=True)
class Conditions:
    """Conditions with one operator, and the amount that each adds to the scores if true."""

    operator: str  # {"Greater", "GreaterOrEqual", "Equal", "IsNaN"}: of ONNX, with the cell on the left
    columns: NDArray[np.int64]  # (n_conditions,): the column that each looks at
    # (n_conditions,): what the cell is compared with, in the type of the cells; NaN where it is compared with nothing
    operands: NDArray[np.floating]
    amounts: Array  # (n_outputs, n_conditions): what is added to each output


@dataclass(frozen=True)
class Words:
    """A column of strings: the code of those that are known, and what each code adds; the last is for all others."""

    column: int  # its number
    codes: dict[str, int]  # among them `MISSING`, where missing values were seen in training
    amounts: Array  # (n_outputs, n_codes): what is added to each output


@dataclass(frozen=True)
class Sum:
    """The votes of stumps as a sum of conditions."""

    constant: Array  # (n_outputs,): what is there before any condition
    conditions: tuple[Conditions, ...]  # of the columns that hold numbers
    words: tuple[Words, ...]  # the columns of strings that matter
    is_text: NDArray[np.bool_]  # (n_columns,): which columns hold strings

    def write(self, graph: Graph, inputs: Sequence[str]) -> str:
        """Add the sum to a graph: the votes, shape (n_outputs, n_rows)."""
        votes: str | NDArray[Any] = self.constant[:, None]
        if self.conditions:
            used = np.unique(np.concatenate([each.columns for each in self.conditions]))
            cells, number = inputs[0], np.arange(used[-1] + 1)
            if len(inputs) > 1:
                cells = graph.node("Concat", *(inputs[column] for column in used), axis=1)
                number[used] = np.arange(len(used))
            # Transposed, so that a condition on a feature reads contiguous memory.
            rows = graph.node("Transpose", cells, perm=[1, 0])
            for each in self.conditions:
                votes = add_conditions(graph, votes, rows, each, number[each.columns])
        for words in self.words:
            codes = look_up(graph, inputs[words.column], words.codes, other=words.amounts.shape[1] - 1)
            amounts = graph.node("Gather", words.amounts, graph.node("Reshape", codes, FLAT), axis=1)
            votes = graph.node("Add", votes, amounts)
        return votes if isinstance(votes, str) else for_each_row(graph, votes, inputs[0])


def as_sum(stumps: Stumps, shares: Array, names: Sequence[str], dtype: str) -> Sum:
    """Convert stumps to a sum of conditions, for columns of these names and inputs of this type."""
    is_text = text_columns(stumps.bin_mapper, names)
    steps = stumps.step_functions(shares)
    constant, found, words = steps.constant, [], []
    for column, coding, values in steps.curves():
        if not isinstance(coding, CategoryBins):
            constant = constant + values[0]
            thresholds = largest_up_to(coding.thresholds, dtype)
            found += [("Greater", column, *each) for each in zip(thresholds, np.diff(values[:-1], axis=0), strict=True)]
            found.append(("IsNaN", column, np.nan, values[-1] - values[0]))
        elif is_text[column]:
            words.append(Words(column, codes_of_strings(coding.values), values.T.copy()))
        else:
            constant = constant + values[-1]
            keys = keys_of_numbers(coding.values, dtype, names[column])
            found += [
                ("IsNaN" if np.isnan(key) else "Equal", column, key, amount)
                for key, amount in zip(keys, values[:-1] - values[-1], strict=True)
            ]
    return Sum(constant, tuple(_grouped(found, dtype)), tuple(words), is_text)


def add_conditions(
    graph: Graph, votes: str | NDArray[Any], rows: str, conditions: Conditions, numbers: NDArray[np.int64]
) -> str | NDArray[Any]:
    """Add the amounts of conditions to the votes; matrices are transposed."""
    for begin in range(0, len(numbers), BLOCK):
        some = slice(begin, begin + BLOCK)
        operands = () if conditions.operator == "IsNaN" else (conditions.operands[some, None],)
        holds = graph.node(conditions.operator, graph.node("Gather", rows, numbers[some], axis=0), *operands)
        amounts = graph.node("MatMul", conditions.amounts[:, some], graph.node("Cast", holds, to=TensorProto.DOUBLE))
        votes = graph.node("Add", votes, amounts)
    return votes


def _grouped(found: Iterable[tuple[str, int, Any, Array]], dtype: str) -> Iterator[Conditions]:
    """Conditions by operator, without those that add nothing."""
    matter = [each for each in found if each[3].any()]
    for operator in ("Greater", "Equal", "IsNaN"):
        some = [each[1:] for each in matter if each[0] == operator]
        if some:
            columns, operands, amounts = zip(*some, strict=True)
            yield Conditions(
                operator, np.array(columns, dtype=np.int64), np.array(operands, dtype=dtype), np.transpose(amounts)
            )

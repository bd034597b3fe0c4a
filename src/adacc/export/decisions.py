"""Writes decision rules to an ONNX graph, with the operations of `adacc.model.decision`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from onnx import TensorProto

from adacc.export.graph import FLAT, Graph, rounded
from adacc.model.cost_matrix import PROBABILITY_DECIMALS, cost_rounding
from adacc.model.decision import Decision
from adacc.model.fitted import DECIMALS, FittedModel

ONE_ROW = np.array([1, -1], dtype=np.int64)
"""Shape argument of Reshape for one row of numbers."""


def extra_columns(model: FittedModel) -> list[str]:
    """The columns that the decision rule names and that are no features."""
    if model.decision is None:
        return []
    return [name for name in model.decision.spec.columns if name not in (model.feature_names or ())]


def rule_columns(graph: Graph, model: FittedModel, inputs: Sequence[str], others: Mapping[str, str]) -> dict[str, str]:
    """The columns that the decision rule names, as one row of doubles each."""
    assert model.decision is not None
    if model.decision.spec.day_of is not None:
        raise ValueError(
            f"the decision {model.decision.rule!r} ranks the rows of each day, which ONNX cannot express: use top=K "
            "without days, or export the model without the rule, set_decision(None), and rank its scores"
        )
    found = {}
    for name in model.decision.spec.columns:
        if name in others:
            column = others[name]
        else:
            at = model.column_names.index(name)
            matrix = graph.node("Gather", inputs[0], np.array([at]), axis=1)
            column = matrix if len(inputs) == 1 else inputs[at]
        found[name] = graph.node("Reshape", graph.node("Cast", column, to=TensorProto.DOUBLE), ONE_ROW)
    return found


def write_decision(
    graph: Graph, model: FittedModel, scores: str, probabilities: str, columns: Mapping[str, str]
) -> str:
    """Add the decision rule: the number of the predicted class of each row.

    Scores, probabilities and columns have one column per row of X, and the probabilities one row per class.
    """
    decision = model.decision
    assert decision is not None
    probabilities = rounded(graph, probabilities, PROBABILITY_DECIMALS)
    if decision.threshold is None and not decision.spec.is_ranked:
        return _cheapest(graph, decision, probabilities)
    if decision.spec.by_probability:
        statistic = _by_probability(graph, decision, probabilities, columns)
    else:
        sign = np.array(1.0 if decision.positive == 1 else -1.0)
        statistic = graph.node("Mul", rounded(graph, scores, DECIMALS), sign)
    if decision.spec.is_ranked:
        alert = _largest(graph, graph.node("Reshape", statistic, FLAT), int(decision.spec.value))
    else:
        alert = graph.node("GreaterOrEqual", statistic, np.array(decision.threshold))
    return graph.node("Where", alert, np.array(decision.positive), np.array(1 - decision.positive))


def _by_probability(graph: Graph, decision: Decision, probabilities: str, columns: Mapping[str, str]) -> str:
    p = graph.node("Gather", probabilities, np.array([decision.positive]), axis=0)
    spec = decision.spec
    if spec.kind != "row_cost":
        return p
    missed, alarm = (columns[cost] if isinstance(cost, str) else np.array(cost) for cost in (spec.fn, spec.fp))
    both = graph.node("Add", missed, alarm)
    exact = graph.node("Div", alarm, graph.node("Where", _above_zero(graph, both), both, np.array(1.0)))
    nearest = rounded(graph, exact, PROBABILITY_DECIMALS)
    threshold = graph.node("Where", _above_zero(graph, nearest), nearest, exact)
    of_negative = graph.node("Mul", p, missed)
    of_positive = graph.node("Mul", graph.node("Sub", np.array(1.0), p), alarm)
    total = graph.node("Add", of_negative, of_positive)
    some = _above_zero(graph, total)
    share = graph.node("Div", of_negative, graph.node("Where", some, total, np.array(1.0)))
    tied = graph.node("Equal", p, threshold)
    return graph.node("Where", some, graph.node("Where", tied, np.array(0.5), share), np.array(0.0))


def _above_zero(graph: Graph, values: str) -> str:
    return graph.node("Greater", values, np.array(0.0))


def _largest(graph: Graph, statistic: str, k: int) -> str:
    """Whether each row is among the k largest; of equal ones the first rows are."""
    n_rows = graph.node("Shape", statistic)
    k_or_all = graph.node("Min", n_rows, np.array([k], dtype=np.int64))
    chosen = graph.node("TopK", statistic, k_or_all, output=1)
    none = graph.node("Expand", np.array([0], dtype=np.int64), n_rows)
    ones = graph.node("Expand", np.array([1], dtype=np.int64), graph.node("Shape", chosen))
    return graph.node("Cast", graph.node("ScatterElements", none, chosen, ones, axis=0), to=TensorProto.BOOL)


def _cheapest(graph: Graph, decision: Decision, probabilities: str) -> str:
    """The class of minimum expected cost, the first of equal ones."""
    costs = np.array(decision.spec.costs)
    shifted = (costs - costs.max(axis=1, keepdims=True)).T
    expected = graph.node("MatMul", np.ascontiguousarray(shifted), probabilities)
    least = graph.node("GatherElements", expected, graph.node("ArgMin", expected, axis=0), axis=0)
    of_class, constant = cost_rounding(costs)
    slack = graph.node("Add", graph.node("MatMul", of_class[None], probabilities), np.array(constant))
    limit = graph.node("Add", least, slack)
    equal = graph.node("Cast", graph.node("LessOrEqual", expected, limit), to=TensorProto.DOUBLE)
    return graph.node("ArgMax", equal, axis=0, keepdims=0)

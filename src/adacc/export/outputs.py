"""The ONNX graph of a model, from its inputs to labels, probabilities and scores.

All outputs are computed from the votes in double precision, on transposed matrices with one column per row of X.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from adacc.algorithms.base import ROUNDING
from adacc.export.additive import Conditions, add_conditions
from adacc.export.decisions import rule_columns, write_decision
from adacc.export.graph import FLAT, ONNX_TYPES, Graph, rounded
from adacc.export.votes import Votes
from adacc.model.calibration import DECIMALS, Calibrator, Isotonic, Sigmoid
from adacc.model.coding import Coding, margin_factors
from adacc.model.decision import LOG_ROUNDING, decision_scores
from adacc.model.ensemble import Ensemble
from adacc.model.fitted import FittedModel

MIN_PROBABILITY = 1e-15  # the probability at which `decision_scores` clips before the logarithm
BISECTIONS = 100  # enough bisections to reach adjacent floats from any range of scores


class Outputs(NamedTuple):
    """Names of the outputs: labels (n_rows,), probabilities (n_rows, n_classes), scores as in `decision_function`."""

    label: str
    probabilities: str
    scores: str


class Decision(NamedTuple):
    """Names of results with one column per row: index of the label in `labels`, probabilities and scores."""

    labels: NDArray[Any]
    position: str
    probabilities: str
    scores: str


def write_model(
    graph: Graph,
    model: FittedModel,
    voter: Votes,
    inputs: Sequence[str],
    dtype: str,
    others: Mapping[str, str] = MappingProxyType({}),
) -> Outputs:
    """Add a model to a graph; `inputs` are one matrix, or one matrix of shape (n_rows, 1) per column.

    `others` are the inputs, by column, that the decision rule needs in addition.
    """
    votes = voter.write(graph, inputs)
    decided = _decide_two(graph, model, votes) if len(model.classes) == 2 else _decide_more(graph, model, votes)
    if model.decision is not None:
        columns = rule_columns(graph, model, inputs, others)
        position = write_decision(graph, model, decided.scores, decided.probabilities, columns)
        decided = decided._replace(labels=class_labels(model), position=position)
    turned = graph.node("Transpose", decided.probabilities, perm=[1, 0])
    return Outputs(
        graph.node("Gather", decided.labels, graph.node("Reshape", decided.position, FLAT)),
        graph.node("Cast", turned, to=ONNX_TYPES[dtype]),
        graph.node("Reshape", decided.scores, FLAT)
        if len(model.classes) == 2
        else graph.node("Transpose", decided.scores, perm=[1, 0]),
    )


def class_labels(model: FittedModel) -> NDArray[Any]:
    """The labels as ONNX types: strings, or integers, to which booleans and floats are converted."""
    labels = model.classes.tolist()
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    if any(abs(int(label)) >= 2**63 for label in labels):
        raise ValueError(f"the classes must be strings or numbers of 64 bits with a sign to be exported, got {labels}")
    return np.array(labels, dtype=np.int64)


def _decide_two(graph: Graph, model: FittedModel, votes: str) -> Decision:
    tied = graph.node("LessOrEqual", graph.node("Abs", votes), np.array(ROUNDING))
    scores = votes = graph.node("Where", tied, np.array(0.0), votes)
    labels, turn = class_labels(model), ROUNDING / 2 if model.ensemble.negative_class == 0 else -ROUNDING / 2
    if model.calibrator is None:
        probabilities = _expit(graph, graph.node("Mul", votes, np.array([[-2.0], [2.0]])))
    else:
        snapped = rounded(graph, votes, DECIMALS)
        p = _calibrated(graph, model.calibrator, snapped)
        probabilities = graph.node("Concat", graph.node("Sub", np.array(1.0), p), p, axis=0)
        if model.multipliers is not None:  # the prediction follows from probabilities
            turn, sides = _decision_threshold(model)
            labels, votes = labels[sides], snapped
            odds = graph.node("MatMul", np.array([[-1.0, 1.0]]), _logs(graph, probabilities))
            scores = graph.node("Add", odds, decision_scores(np.ones((1, 2)), model.multipliers))
    above = graph.node("Greater", votes, np.array(turn))
    return Decision(labels, graph.node("Cast", above, to=TensorProto.INT64), probabilities, scores)


def _decision_threshold(model: FittedModel) -> tuple[float, list[int]]:
    """The score at which the prediction of a calibrated model of two classes changes, and the classes on both sides.

    It is found by bisection with the model itself, because logarithms of runtimes differ in the last bit.
    """

    def predict(score: float) -> int:
        return int(model.ensemble.classes(model.decision_scores(np.array([score])))[0])

    high = 1.0 + float(np.abs(model.ensemble.votes * model.ensemble.decision).sum())
    low = -high
    sides = [predict(low), predict(high)]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if predict(middle) == sides[0] else (low, middle)
    return low, sides


def _decide_more(graph: Graph, model: FittedModel, votes: str) -> Decision:
    coding = model.ensemble.coding
    if coding is not None:
        tied = graph.node("LessOrEqual", graph.node("Abs", votes), np.array(ROUNDING))
        votes = _class_scores(graph, model.ensemble, coding, graph.node("Where", tied, np.array(0.0), votes))
    scores = tied = _snap_ties(graph, votes, ROUNDING)
    if model.calibrator is None:
        probabilities = graph.node("Softmax", graph.node("Mul", scores, np.array(2.0)), axis=0)
    else:
        n_classes = len(model.classes)
        each = _calibrated(graph, model.calibrator, rounded(graph, tied, DECIMALS))
        whole = graph.node("MatMul", np.ones((1, n_classes)), each)
        some = graph.node("Greater", whole, np.array(0.0))
        probabilities = graph.node("Where", some, graph.node("Div", each, whole), np.array(1.0 / n_classes))
        if model.multipliers is not None:  # the prediction follows from probabilities
            by_costs = decision_scores(np.ones((1, n_classes)), model.multipliers).T
            scores = graph.node("Add", _logs(graph, probabilities), by_costs)
            tied = _snap_ties(graph, scores, LOG_ROUNDING)
    return Decision(class_labels(model), graph.node("ArgMax", tied, axis=0, keepdims=0), probabilities, scores)


def _class_scores(graph: Graph, ensemble: Ensemble, coding: Coding, problems: str) -> str:
    """`Ensemble.class_scores`, shape (n_classes, n_rows)."""
    if coding.is_pairwise:
        margins = graph.node("Mul", problems, margin_factors(ensemble.largest_scores())[:, None])
        return graph.node("MatMul", coding.codes.T.astype(np.float64), graph.node("Tanh", margins))
    return graph.node("MatMul", np.equal(coding.codes.T, 1).astype(np.float64), problems)


def _snap_ties(graph: Graph, scores: str, tolerance: float) -> str:
    """Set scores within a tolerance of the largest to the largest, so that ArgMax returns the first."""
    # Not ReduceMax, whose axes became an input in opset 18.
    largest = graph.node("GatherElements", scores, graph.node("ArgMax", scores, axis=0), axis=0)
    equal = graph.node("GreaterOrEqual", scores, graph.node("Sub", largest, np.array(tolerance)))
    return graph.node("Where", equal, largest, scores)


def _calibrated(graph: Graph, calibrator: Calibrator, scores: str) -> str:
    """The probabilities of each calibration curve, shape (n_curves, n_rows)."""
    curves = calibrator.curves
    if isinstance(curves[0], Sigmoid):
        slopes, intercepts = np.array([(curve.slope, curve.intercept) for curve in curves]).T[:, :, None]
        return _expit(graph, graph.node("Add", graph.node("Mul", slopes, scores), intercepts))
    each = [_on_curve(graph, curve, scores, k) for k, curve in enumerate(curves)]
    return graph.node("Concat", *each, axis=0)


def _on_curve(graph: Graph, curve: Isotonic, scores: str, k: int) -> str:
    """Linear interpolation with the operations of `np.interp`, for bit-equal results."""
    n_knots = len(curve.scores)
    knots = Conditions("GreaterOrEqual", np.full(n_knots, k), curve.scores, np.ones((1, n_knots)))
    passed = graph.node(
        "Cast", add_conditions(graph, np.zeros((1, 1)), scores, knots, knots.columns), to=TensorProto.INT64
    )
    slopes = np.concatenate([[0.0], np.diff(curve.values) / np.diff(curve.scores), [0.0]])
    starts, values = (np.concatenate([column[:1], column]) for column in (curve.scores, curve.values))
    row = graph.node("Gather", scores, np.array([k]), axis=0)
    beyond = graph.node("Sub", row, graph.node("Gather", starts, passed))
    risen = graph.node("Mul", graph.node("Gather", slopes, passed), beyond)
    return graph.node("Add", risen, graph.node("Gather", values, passed))


def _expit(graph: Graph, x: str) -> str:
    """The formula of SciPy; the Sigmoid operator can differ in the last bit, which matters for 1 - p near p = 1."""
    one = np.array(1.0)
    return graph.node("Div", one, graph.node("Add", one, graph.node("Exp", graph.node("Neg", x))))


def _logs(graph: Graph, probabilities: str) -> str:
    return graph.node("Log", graph.node("Clip", probabilities, np.array(MIN_PROBABILITY), np.array(1.0)))

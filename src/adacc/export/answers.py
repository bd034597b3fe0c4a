"""The graph of a model, from its columns to labels, probabilities and scores.

Answers are worked out from the votes in double precision, with a column for each row of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from adacc.algorithms.base import ROUNDING
from adacc.export.graph import FLAT, ONNX_TYPES, Graph
from adacc.export.sums import Conditions, add_conditions
from adacc.export.votes import Votes
from adacc.model.calibration import DECIMALS, Calibrator, Isotonic, Sigmoid, decision_scores
from adacc.model.fitted import FittedModel

LEAST = 1e-15
"""The probability below which `decision_scores` takes no logarithm."""

LOG_NOISE = 1e-13
"""Scores closer than this are equal after logarithms: a runtime's differ in the last bit, even among themselves."""

BISECTIONS = 100
"""More than it takes to halve any range of scores down to two neighbouring numbers."""


class Answers(NamedTuple):
    """Names of the results: labels (n_rows,), probabilities (n_rows, n_classes), scores as in `decision_function`."""

    label: str
    probabilities: str
    scores: str


class Decided(NamedTuple):
    """Names of results with a column for each row: the position of its label in `labels`, probabilities and scores."""

    labels: NDArray[Any]
    position: str
    probabilities: str
    scores: str


def write_model(graph: Graph, model: FittedModel, adding: Votes, inputs: Sequence[str], dtype: str) -> Answers:
    """Add a model to a graph; `inputs` are one matrix with all columns, or each column as a matrix of one."""
    votes = adding.write(graph, inputs)
    decided = _decide_two(graph, model, votes) if len(model.classes) == 2 else _decide_more(graph, model, votes)
    turned = graph.node("Transpose", decided.probabilities, perm=[1, 0])
    return Answers(
        graph.node("Gather", decided.labels, graph.node("Reshape", decided.position, FLAT)),
        graph.node("Cast", turned, to=ONNX_TYPES[dtype]),
        graph.node("Reshape", decided.scores, FLAT)
        if len(model.classes) == 2
        else graph.node("Transpose", decided.scores, perm=[1, 0]),
    )


def class_labels(model: FittedModel) -> NDArray[Any]:
    """The labels as ONNX has them: strings, or whole numbers, which booleans and floats become."""
    labels = model.classes.tolist()
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    if any(abs(int(label)) >= 2**63 for label in labels):
        raise ValueError(f"the classes must be strings or numbers of 64 bits with a sign to be exported, got {labels}")
    return np.array(labels, dtype=np.int64)


def _decide_two(graph: Graph, model: FittedModel, votes: str) -> Decided:
    tied = graph.node("LessOrEqual", graph.node("Abs", votes), np.array(ROUNDING))
    scores = votes = graph.node("Where", tied, np.array(0.0), votes)
    labels, turn = class_labels(model), ROUNDING / 2 if model.ensemble.negative_class == 0 else -ROUNDING / 2
    if model.calibrator is None:
        probabilities = _expit(graph, graph.node("Mul", votes, np.array([[-2.0], [2.0]])))
    else:
        rounded = _rounded(graph, votes)
        p = _calibrated(graph, model.calibrator, rounded)
        probabilities = graph.node("Concat", graph.node("Sub", np.array(1.0), p), p, axis=0)
        if model.multipliers is not None:  # the probabilities decide
            turn, sides = _turning_score(model)
            labels, votes = labels[sides], rounded
            odds = graph.node("MatMul", np.array([[-1.0, 1.0]]), _logs(graph, probabilities))
            scores = graph.node("Add", odds, decision_scores(np.ones((1, 2)), model.multipliers))
    above = graph.node("Greater", votes, np.array(turn))
    return Decided(labels, graph.node("Cast", above, to=TensorProto.INT64), probabilities, scores)


def _turning_score(model: FittedModel) -> tuple[float, list[int]]:
    """Where a calibrated model of two classes changes its mind, and the classes below and above.

    Sought with the model itself: where probability and costs balance, the last bit of a logarithm decides, and a
    runtime may have another.
    """

    def answer(score: float) -> int:
        return int(model.ensemble.classes(model.decision_scores(np.array([score])))[0])

    high = 1.0 + float(np.abs(model.ensemble.votes * model.ensemble.decision).sum())
    low = -high
    sides = [answer(low), answer(high)]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if answer(middle) == sides[0] else (low, middle)
    return low, sides


def _decide_more(graph: Graph, model: FittedModel, votes: str) -> Decided:
    scores = settled = _first_of_equals(graph, votes, ROUNDING)
    if model.calibrator is None:
        probabilities = graph.node("Softmax", graph.node("Mul", scores, np.array(2.0)), axis=0)
    else:
        n_classes = len(model.classes)
        each = _calibrated(graph, model.calibrator, _rounded(graph, settled))
        whole = graph.node("MatMul", np.ones((1, n_classes)), each)
        some = graph.node("Greater", whole, np.array(0.0))
        probabilities = graph.node("Where", some, graph.node("Div", each, whole), np.array(1.0 / n_classes))
        if model.multipliers is not None:  # the probabilities decide
            by_costs = decision_scores(np.ones((1, n_classes)), model.multipliers).T
            scores = graph.node("Add", _logs(graph, probabilities), by_costs)
            settled = _first_of_equals(graph, scores, LOG_NOISE)
    return Decided(class_labels(model), graph.node("ArgMax", settled, axis=0, keepdims=0), probabilities, scores)


def _first_of_equals(graph: Graph, scores: str, closer: float) -> str:
    """The scores with those as good as the largest made equal to it, so that of equals the first is chosen."""
    # ReduceMax would do, but takes its axes elsewhere from opset 18 on.
    largest = graph.node("GatherElements", scores, graph.node("ArgMax", scores, axis=0), axis=0)
    equal = graph.node("GreaterOrEqual", scores, graph.node("Sub", largest, np.array(closer)))
    return graph.node("Where", equal, largest, scores)


def _rounded(graph: Graph, scores: str) -> str:
    """As `Calibrator.probabilities` rounds them."""
    power = np.array(10.0**DECIMALS)
    return graph.node("Div", graph.node("Round", graph.node("Mul", scores, power)), power)


def _calibrated(graph: Graph, calibrator: Calibrator, scores: str) -> str:
    """The probability on each curve, shape (n_curves, n_rows)."""
    curves = calibrator.curves
    if isinstance(curves[0], Sigmoid):
        slopes, intercepts = np.array([(curve.slope, curve.intercept) for curve in curves]).T[:, :, None]
        return _expit(graph, graph.node("Add", graph.node("Mul", slopes, scores), intercepts))
    each = [_on_curve(graph, curve, scores, k) for k, curve in enumerate(curves)]
    return graph.node("Concat", *each, axis=0)


def _on_curve(graph: Graph, curve: Isotonic, scores: str, k: int) -> str:
    """The line between two knots in the operations of `np.interp`, to the last bit: 1 - p may be all rounding."""
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
    """As SciPy works it out; a Sigmoid may differ in the last bit, which is all that 1 - p has where p is nearly 1."""
    one = np.array(1.0)
    return graph.node("Div", one, graph.node("Add", one, graph.node("Exp", graph.node("Neg", x))))


def _logs(graph: Graph, probabilities: str) -> str:
    return graph.node("Log", graph.node("Clip", probabilities, np.array(LEAST), np.array(1.0)))

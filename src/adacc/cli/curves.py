"""What each value of a feature adds to the score, in a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.saved import Saved
from adacc.cli.show import bar, number, plain, width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.model.explanations import ShapeFunction

MOST_LINES = 6
"""Of a feature, beside those for missing and unknown values."""

LONGEST = 26
"""Of the names of values."""


class Step(NamedTuple):
    """Some values of a feature, and what the least and the most of them add; of more than two classes to each class."""

    name: str
    low: Any
    high: Any


def shape_lines(saved: Saved, curves: Sequence[ShapeFunction]) -> list[str]:
    """The curves of these features, one below the other."""
    steps = {curve.name: _steps(curve, saved.positive) for curve in curves}
    if saved.positive is None:
        lines = ["What a value adds to the votes, for the two classes it speaks for most:"]
        draw = _votes_for(saved)
    else:
        lines = [f"What a value adds to the score; above 0 speaks for {plain(saved.labels[saved.positive], 40)}:"]
        draw = _signed([step for several in steps.values() for step in several])
    for name, several in steps.items():
        lines += ["", plain(name, width())]
        lines += [f"  {plain(step.name, LONGEST):<{LONGEST}}  {draw(step)}".rstrip() for step in several]
    return lines


def _signed(steps: Sequence[Step]) -> Any:
    """How to draw steps of two classes: all to one scale."""
    largest = max((abs(value) for step in steps for value in (step.low, step.high)), default=0.0)
    room = max(width() - LONGEST - 24, 10)

    def draw(step: Step) -> str:
        middle = (step.low + step.high) / 2
        ends = list(dict.fromkeys(f"{value:+.2f}" for value in (step.low, step.high)))
        return f"{' to '.join(ends):<15}  {bar(middle, largest, room, '+' if middle > 0 else '-')}"

    return draw


def _votes_for(saved: Saved) -> Any:
    """How to draw steps of more classes."""

    def draw(step: Step) -> str:
        middle = (step.low + step.high) / 2
        first = sorted(range(len(middle)), key=lambda k: -middle[k])[:2]
        said = [f"{plain(saved.labels[k], 20)} {middle[k]:+.2f}" for k in first if middle[k] > 0.0]
        return ", ".join(said) or "nothing"

    return draw


def _steps(curve: ShapeFunction, positive: int | None) -> list[Step]:
    sign = -1.0 if positive == 0 else 1.0
    values = sign * curve.values
    steps = _of_labels(curve, values) if curve.thresholds is None else _of_numbers(curve.thresholds, values)
    steps.append(Step("(missing)", sign * curve.missing, sign * curve.missing))
    if curve.other is not None and curve.categories != (False, True):  # of booleans there is no third
        steps.append(Step("(not seen in training)", sign * curve.other, sign * curve.other))
    return steps


def _of_numbers(thresholds: NDArray[Any], values: NDArray[Any]) -> list[Step]:
    """Intervals between the largest jumps; smaller ones are within."""
    import numpy as np

    jumps = np.abs(np.diff(values, axis=0)).reshape(len(thresholds), -1).sum(axis=1)
    chosen = np.sort(np.argsort(-jumps, kind="stable")[: MOST_LINES - 1])
    parts, ends = np.split(values, chosen + 1), [number(thresholds[at]) for at in chosen]
    if not ends:
        names = ["any"]
    else:
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        names = [f"up to {ends[0]}", *between, f"above {ends[-1]}"]
    return [Step(name, part.min(axis=0), part.max(axis=0)) for name, part in zip(names, parts, strict=True)]


def _of_labels(curve: ShapeFunction, values: NDArray[Any]) -> list[Step]:
    """The labels that add most and least; the others together."""
    import numpy as np

    labels = curve.categories or ()
    strength = np.abs(values).reshape(len(labels), -1).max(axis=1) if len(labels) else np.empty(0)
    order = np.argsort(-strength, kind="stable").tolist()
    steps = [Step(str(labels[j]), values[j], values[j]) for j in order[:MOST_LINES]]
    if rest := order[MOST_LINES:]:
        steps.append(Step(f"({len(rest)} more)", values[rest].min(axis=0), values[rest].max(axis=0)))
    return steps

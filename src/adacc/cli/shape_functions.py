"""Shape functions as text: the contribution of each value of a feature to the score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.model_file import ModelFile
from adacc.cli.terminal import draw_bar, format_number, printable, terminal_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.model.explanations import ShapeFunction

MAX_INTERVALS = 6  # lines of a feature, besides those for missing and unknown values
NAME_WIDTH = 26  # characters of the names of values


class Step(NamedTuple):
    """Some values of a feature, and the range of their contributions (arrays by class if multi-class)."""

    name: str
    low: Any
    high: Any


def shape_lines(model_file: ModelFile, curves: Sequence[ShapeFunction]) -> list[str]:
    """The lines of several shape functions."""
    steps = {curve.name: _steps(curve, model_file.positive) for curve in curves}
    if model_file.positive is None:
        what = "two classes" if model_file.model.fitted_model_.pairs is None else "pair of classes"
        lines = [f"Contribution to the score, for the {what} with the largest:"]
        draw = _largest_classes(model_file)
    else:
        lines = [
            f"Contribution to the score; positive supports {printable(model_file.labels[model_file.positive], 40)}:"
        ]
        draw = _signed([step for several in steps.values() for step in several])
    for name, several in steps.items():
        lines += ["", printable(name, terminal_width())]
        lines += [f"  {printable(step.name, NAME_WIDTH):<{NAME_WIDTH}}  {draw(step)}".rstrip() for step in several]
    return lines


def _signed(steps: Sequence[Step]) -> Any:
    """A function that draws steps of two classes on a common scale."""
    largest = max((abs(value) for step in steps for value in (step.low, step.high)), default=0.0)
    max_length = max(terminal_width() - NAME_WIDTH - 24, 10)

    def draw(step: Step) -> str:
        middle = (step.low + step.high) / 2
        ends = list(dict.fromkeys(f"{value:+.2f}" for value in (step.low, step.high)))
        return f"{' to '.join(ends):<15}  {draw_bar(middle, largest, max_length, '+' if middle > 0 else '-')}"

    return draw


def _largest_classes(model_file: ModelFile) -> Any:
    """A function that draws steps of a multi-class model: the two classes, or the pair of classes, with the largest."""
    names, pairs = [printable(label, 20) for label in model_file.labels], model_file.model.fitted_model_.pairs
    if pairs is not None:
        names = [f"{names[i]} vs {names[j]}" for i, j in [*pairs, *(pair[::-1] for pair in pairs)]]

    def draw(step: Step) -> str:
        middle = (step.low + step.high) / 2
        both = [*middle, *(-middle)] if pairs is not None else middle
        first = sorted(range(len(both)), key=lambda k: -both[k])[: 2 if pairs is None else 1]
        return ", ".join(f"{names[k]} {both[k]:+.2f}" for k in first if both[k] > 0.0) or "none"

    return draw


def _steps(curve: ShapeFunction, positive: int | None) -> list[Step]:
    sign = -1.0 if positive == 0 else 1.0
    values = sign * curve.values
    steps = _category_steps(curve, values) if curve.thresholds is None else _number_steps(curve.thresholds, values)
    steps.append(Step("(missing)", sign * curve.missing, sign * curve.missing))
    if curve.other is not None and curve.categories != (False, True):  # booleans have no other value
        steps.append(Step("(not seen in training)", sign * curve.other, sign * curve.other))
    return steps


def _number_steps(thresholds: NDArray[Any], values: NDArray[Any]) -> list[Step]:
    """Intervals between the largest jumps."""
    import numpy as np

    jumps = np.abs(np.diff(values, axis=0)).reshape(len(thresholds), -1).sum(axis=1)
    chosen = np.sort(np.argsort(-jumps, kind="stable")[: MAX_INTERVALS - 1])
    pieces, ends = np.split(values, chosen + 1), [format_number(thresholds[j]) for j in chosen]
    if not ends:
        names = ["any"]
    else:
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        names = [f"up to {ends[0]}", *between, f"above {ends[-1]}"]
    return [Step(name, piece.min(axis=0), piece.max(axis=0)) for name, piece in zip(names, pieces, strict=True)]


def _category_steps(curve: ShapeFunction, values: NDArray[Any]) -> list[Step]:
    """The categories of the largest contributions; the others as one step."""
    import numpy as np

    labels = curve.categories or ()
    strength = np.abs(values).reshape(len(labels), -1).max(axis=1) if len(labels) else np.empty(0)
    order = np.argsort(-strength, kind="stable").tolist()
    steps = [Step(str(labels[j]), values[j], values[j]) for j in order[:MAX_INTERVALS]]
    if rest := order[MAX_INTERVALS:]:
        steps.append(Step(f"({len(rest)} more)", values[rest].min(axis=0), values[rest].max(axis=0)))
    return steps

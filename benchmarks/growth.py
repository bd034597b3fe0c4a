"""Growth of the fit time of adacc with rows, columns, rounds and threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np
import plot
from data import Data, synthetic
from peers import ADACC, ROUNDS
from report import Report
from settings import Settings
from tables import aligned, number
from timing import say, seconds_of, seconds_of_short, take_turns

ASKED_OF_EXPONENT = 1.05

# Each number is twice the one before; the smallest is such that the fixed cost of a fit is a small part.
ROWS = [12_500 * 2**i for i in range(7)]
COLUMNS = [25 * 2**i for i in range(7)]
ROUND_COUNTS = [50 * 2**i for i in range(7)]
QUICK_POINTS = 3

LARGE = (1_000_000, 30)
QUICK_LARGE = (100_000, 30)
# A fit in which there is next to nothing to do.
TINY = (200, 12)


@dataclass(frozen=True)
class Curve:
    """Seconds by one size, the others staying as they are; one entry a repeat."""

    size: str
    rest: str
    points: list[int]
    all_seconds: list[list[float]]
    rounds_fitted: list[int]

    @cached_property
    def seconds(self) -> list[float]:
        return [median(repeats) for repeats in self.all_seconds]

    @cached_property
    def line(self) -> tuple[float, float]:
        """Exponent and factor of the power law nearest to all points, by least squares of the logarithms."""
        exponent, intercept = np.polyfit(np.log(self.points), np.log(self.seconds), 1)
        return float(exponent), float(np.exp(intercept))

    @property
    def exponent(self) -> float:
        return self.line[0]

    @property
    def last_step(self) -> float:
        """What the last point takes, in times of the one before: at large sizes fixed costs no longer hide growth."""
        return self.seconds[-1] / self.seconds[-2]

    @property
    def gain(self) -> float:
        """How many times faster the last point is than the first."""
        return self.seconds[0] / self.seconds[-1]


@dataclass(frozen=True)
class _Point:
    data: Data
    rounds: int
    threads: int

    def fit(self) -> tuple[float, int]:
        """Seconds, and the rounds made, which may be fewer than asked."""
        model = ADACC.make(self.rounds, self.threads)
        seconds = seconds_of(lambda: model.fit(self.data.X, self.data.y))
        return seconds, ADACC.fitted_rounds(model)


def measure(settings: Settings, report: Report) -> None:
    tiny = synthetic(*TINY)
    fixed_cost = seconds_of_short(lambda: ADACC.make(1, 1).fit(tiny.X, tiny.y))
    curves = [_by_rows(settings), _by_columns(settings), _by_rounds(settings)]
    by_threads = _by_threads(settings)
    report.show(_table([*curves, by_threads], fixed_cost))
    report.write_csv("growth.csv", [record for curve in [*curves, by_threads] for record in _records(curve)])
    why_not = plot.draw(curves, by_threads, report.folder / "growth.png")
    if why_not is not None:
        report.show(why_not)
    for curve in curves:
        report.headline(f"growth with {curve.size}: exponent", curve.exponent, "", at_most=ASKED_OF_EXPONENT)


def _by_rows(settings: Settings) -> Curve:
    points = _some(ROWS, settings)
    data = synthetic(points[-1], 20)
    parts = [_Point(Data(data.name, data.X[:rows], data.y[:rows]), 100, settings.threads) for rows in points]
    return _curve("rows", "20 columns, 100 rounds", points, parts, settings)


def _by_columns(settings: Settings) -> Curve:
    points = _some(COLUMNS, settings)
    data = synthetic(5_000, points[-1])
    parts = [
        _Point(Data(data.name, np.ascontiguousarray(data.X[:, :columns]), data.y), 100, settings.threads)
        for columns in points
    ]
    return _curve("columns", "5,000 rows, 100 rounds", points, parts, settings)


def _by_rounds(settings: Settings) -> Curve:
    points = _some(ROUND_COUNTS, settings)
    data = synthetic(20_000, 20)
    parts = [_Point(data, rounds, settings.threads) for rounds in points]
    return _curve("rounds", data.shape.size, points, parts, settings)


def _by_threads(settings: Settings) -> Curve:
    cores = os.cpu_count() or 1
    points = [threads for threads in (2**i for i in range(cores.bit_length())) if threads <= cores]
    data = synthetic(*(QUICK_LARGE if settings.quick else LARGE))
    parts = [_Point(data, ROUNDS, threads) for threads in points]
    return _curve("threads", f"{data.shape.size}, {ROUNDS} rounds", points, parts, settings)


def _some(points: list[int], settings: Settings) -> list[int]:
    return points[:QUICK_POINTS] if settings.quick else points


def _curve(size: str, rest: str, points: list[int], parts: Sequence[_Point], settings: Settings) -> Curve:
    say(f"growth with {size}")
    parts[0].fit()  # kernels load
    results = take_turns(dict(zip(points, (part.fit for part in parts), strict=True)), settings.repeats)
    all_seconds = [[seconds for seconds, _ in results[point]] for point in points]
    return Curve(size, rest, points, all_seconds, [results[point][0][1] for point in points])


def _table(curves: Sequence[Curve], fixed_cost: float) -> str:
    rows = [
        [
            curve.size,
            curve.rest,
            f"{curve.points[0]:,} to {curve.points[-1]:,}",
            number(curve.seconds[0]),
            number(curve.seconds[-1]),
            f"{curve.gain:.2f} × as fast"
            if curve.size == "threads"
            else f"exponent {curve.exponent:.2f}, last doubling × {curve.last_step:.2f}",
        ]
        for curve in curves
    ]
    header = [["with", "at", "from", "seconds", "seconds", "growth"], ["", "", "", "at first", "at last", ""]]
    stopped = [
        f"{curve.size} {point:,}: stopped by itself after {fitted:,} rounds"
        for curve in curves
        if curve.size == "rounds"
        for point, fitted in zip(curve.points, curve.rounds_fitted, strict=True)
        if fitted < point
    ]
    note = (
        f"A fit with next to nothing to do takes {1000 * fixed_cost:.1f} ms: where that is much of the whole, time "
        "hardly grows,\nso the points begin above. Exponents are least squares of the logarithms over all points."
    )
    return "\n".join(["Growth of the time of adacc's fit", aligned(header, rows, left=(0, 1, 2, 5)), note, *stopped])


def _records(curve: Curve) -> list[dict[str, Any]]:
    return [
        {
            "size": curve.size,
            "at": curve.rest,
            "value": point,
            "repeats": len(seconds),
            "seconds": f"{median(seconds):.5f}",
            "seconds_min": f"{min(seconds):.5f}",
            "seconds_max": f"{max(seconds):.5f}",
            "rounds_fitted": fitted,
            "exponent": f"{curve.exponent:.4f}" if len(curve.points) > 1 else "",
        }
        for point, seconds, fitted in zip(curve.points, curve.all_seconds, curve.rounds_fitted, strict=True)
    ]

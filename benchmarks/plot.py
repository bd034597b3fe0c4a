"""Draws the figure of growth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from growth import Curve

# Of Okabe and Ito, told apart by the colour-blind too.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"
SECONDS = [step * 10.0**power for power in range(-4, 4) for step in (1, 2, 5)]


def draw(curves: Sequence[Curve], by_threads: Curve, file: Path) -> str | None:
    """Write the figure; what it returns says why it could not."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return f"{file.name}: not drawn, matplotlib is not installed"
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    *panels, last = figure.subplots(2, 2).ravel()
    for panel, curve in zip(panels, curves, strict=True):
        points = np.array(curve.points)
        exponent, factor = curve.line
        _draw_measured(panel, curve)
        panel.plot(points, factor * points**exponent, color=ORANGE, label="least squares over all points")
        _draw_ideal(panel, curve, points / points[0], "twice the size, twice the time")
        _name(panel, curve, f"{curve.size}: exponent {exponent:.2f}")
    points = np.array(by_threads.points)
    _draw_measured(last, by_threads)
    _draw_ideal(last, by_threads, points[0] / points, "twice the threads, half the time")
    _name(last, by_threads, f"threads: {by_threads.gain:.2f} × as fast")
    figure.suptitle("Seconds of adacc's fit", fontsize=14)
    figure.savefig(file, dpi=120)
    return None


def _draw_measured(panel: Any, curve: Curve) -> None:
    """Medians, with bars from the fastest repeat to the slowest."""
    seconds = np.array(curve.seconds)
    fastest, slowest = (np.array([end(repeats) for repeats in curve.all_seconds]) for end in (min, max))
    reach = [seconds - fastest, slowest - seconds]
    panel.errorbar(curve.points, seconds, reach, fmt="o", color=BLUE, capsize=3, label="measured, median and range")


def _draw_ideal(panel: Any, curve: Curve, growth: NDArray[np.float64], label: str) -> None:
    panel.plot(curve.points, curve.seconds[0] * growth, color=GREY, linestyle="--", label=label)


def _name(panel: Any, curve: Curve, title: str) -> None:
    panel.set_title(f"{title}  ({curve.rest})", fontsize=11)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(curve.points, [f"{point:,}" for point in curve.points], fontsize=9)
    lowest, highest = panel.get_ylim()
    ticks = [step for step in SECONDS if lowest <= step <= highest]
    panel.set_yticks(ticks, [f"{step:g}" for step in ticks])
    panel.set_yticks([], minor=True)
    panel.set_xlabel(curve.size)
    panel.set_ylabel("seconds")
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)

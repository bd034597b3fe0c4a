"""Results as text to read and as CSV to compute with."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from data import Shape
from fresh import FirstFits, Imports, Memory
from peers import ADACC, ROUNDS, Peer

MB = 1e6
NONE = "-"


@dataclass(frozen=True)
class Result:
    """One library on one shape."""

    shape: Shape
    peer: Peer
    threads: int
    rounds: int
    fitted_rounds: int
    # Of the rounds that were run, one entry a repeat.
    run_seconds: list[float]
    balanced_accuracy: float
    weighted_balanced_accuracy: float | None
    memory: Memory

    @property
    def is_extrapolated(self) -> bool:
        return self.rounds < ROUNDS

    @property
    def seconds(self) -> float:
        return self.for_all_rounds(median(self.run_seconds))

    def for_all_rounds(self, seconds: float) -> float:
        return seconds * ROUNDS / self.rounds

    @property
    def bytes_per_cell(self) -> float:
        return self.memory.of_fit / self.shape.cells

    @property
    def note(self) -> str:
        notes = []
        if self.is_extrapolated:
            notes.append(f"from {self.rounds} rounds: seconds × {ROUNDS / self.rounds:g}, accuracy as it is then")
        if self.fitted_rounds < self.rounds:
            notes.append(f"stopped by itself after {self.fitted_rounds} rounds")
        if self.threads > 1 and not self.peer.threaded:
            notes.append("one thread, it has no more")
        return "; ".join(notes)


@dataclass(frozen=True)
class Start:
    """One line on what happens before a fit is fast."""

    what: str
    seconds: list[float]


def starts(fits: FirstFits, imported: Imports, fitted: Shape) -> list[Start]:
    fit = f"fit of {fitted.name}"
    return [
        Start(f"first {fit} on a machine (kernels compiled)", fits.cold),
        Start(f"first {fit} of a process (kernels from the disk cache)", fits.cached),
        Start(f"warm {fit}", fits.warm),
        Start("import sklearn.base, sklearn.ensemble", imported.sklearn),
        *(Start(f"import {module}, on top of these", seconds) for module, seconds in imported.on_top.items()),
    ]


def machine(peers: Sequence[Peer]) -> str:
    libraries = [peer.distribution for peer in peers] + ["numba", "numpy"]
    return "\n".join(
        [
            f"{_cpu()}, {os.cpu_count()} cores, {platform.system()}",
            ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in libraries)]),
        ]
    )


def _cpu() -> str:
    """The CPU's name, which no one call gives on every system."""
    for command, label in ((["lscpu"], "Model name:"), (["sysctl", "machdep.cpu.brand_string"], "machdep.cpu.")):
        try:
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        except (OSError, subprocess.CalledProcessError):
            continue
        names = [line.split(":", 1)[1].strip() for line in lines if line.strip().startswith(label)]
        if names:
            return f"{names[0]} ({platform.machine()})"
    return platform.machine()


def fit_table(results: Sequence[Result]) -> str:
    """One shape's results, the first of them adacc's."""
    shape, threads = results[0].shape, results[0].threads
    title = f"{shape.title}: fit of {ROUNDS} stumps, {threads} thread{'s' if threads > 1 else ''}"
    rows = [_fit_row(result, _adacc_seconds(results)) for result in results]
    return f"{title}\n{_aligned(FIT_HEADER, rows, left=(0, len(FIT_HEADER[0]) - 1))}"


FIT_HEADER = [
    ["", "", "", "balanced", "with class", "peak MB", "bytes", "MB before", ""],
    ["library", "seconds", "× adacc", "accuracy", "weights", "of fit", "per cell", "fit", ""],
]


def _fit_row(result: Result, adacc_seconds: float) -> list[str]:
    weighted = result.weighted_balanced_accuracy
    return [
        result.peer.name,
        _seconds(result.seconds),
        f"{result.seconds / adacc_seconds:.1f}",
        f"{result.balanced_accuracy:.3f}",
        NONE if weighted is None else f"{weighted:.3f}",
        f"{result.memory.of_fit / MB:.1f}",
        f"{result.bytes_per_cell:.1f}",
        f"{result.memory.before / MB:.0f}",
        result.note,
    ]


def start_table(lines: Sequence[Start]) -> str:
    rows = [[line.what, _seconds(median(line.seconds)), str(len(line.seconds))] for line in lines]
    return f"Start of adacc\n{_aligned([['', 'seconds', 'median of']], rows, left=(0,))}"


def _adacc_seconds(results: Sequence[Result]) -> float:
    return next(result.seconds for result in results if result.peer is ADACC)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def _aligned(header: list[list[str]], rows: list[list[str]], left: Sequence[int]) -> str:
    """Columns of equal width, those in `left` flush left (words) and the others flush right (numbers)."""
    columns = [
        [cell.ljust(width) if number in left else cell.rjust(width) for cell in column]
        for number, column in enumerate(zip(*header, *rows, strict=True))
        for width in [max(map(len, column))]
    ]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    rule = "-" * max(map(len, lines))
    return "\n".join([*lines[: len(header)], rule, *lines[len(header) :]])


def write_fit_csv(file: Path, by_shape: Sequence[Sequence[Result]]) -> None:
    _write_csv(file, [_fit_record(result, _adacc_seconds(results)) for results in by_shape for result in results])


def _fit_record(result: Result, adacc_seconds: float) -> dict[str, Any]:
    weighted = result.weighted_balanced_accuracy
    return {
        "rows": result.shape.rows,
        "columns": result.shape.columns,
        "positive_share": result.shape.positive_share,
        "library": result.peer.name,
        "version": result.peer.version,
        "model": result.peer.model,
        "threads": result.threads if result.peer.threaded else 1,
        "stumps": ROUNDS,
        "rounds_run": result.rounds,
        "rounds_fitted": result.fitted_rounds,
        "repeats": len(result.run_seconds),
        "seconds": f"{result.seconds:.4f}",
        "seconds_min": f"{result.for_all_rounds(min(result.run_seconds)):.4f}",
        "seconds_max": f"{result.for_all_rounds(max(result.run_seconds)):.4f}",
        "seconds_extrapolated": result.is_extrapolated,
        "ratio_to_adacc": f"{result.seconds / adacc_seconds:.2f}",
        "balanced_accuracy": f"{result.balanced_accuracy:.4f}",
        "balanced_accuracy_class_weights": "" if weighted is None else f"{weighted:.4f}",
        "fit_peak_mb": f"{result.memory.of_fit / MB:.2f}",
        "fit_peak_bytes_per_cell": f"{result.bytes_per_cell:.2f}",
        "before_fit_mb": f"{result.memory.before / MB:.1f}",
    }


def write_start_csv(file: Path, lines: Sequence[Start]) -> None:
    _write_csv(
        file,
        [
            {
                "what": line.what,
                "seconds": f"{median(line.seconds):.4f}",
                "seconds_min": f"{min(line.seconds):.4f}",
                "seconds_max": f"{max(line.seconds):.4f}",
                "repeats": len(line.seconds),
            }
            for line in lines
        ],
    )


def _write_csv(file: Path, records: list[dict[str, Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)

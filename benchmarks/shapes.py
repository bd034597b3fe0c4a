"""Fits of all libraries to synthetic rows: seconds, memory, and the fraction of memory bandwidth that adacc reaches."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bandwidth
from data import Data, save_rows, synthetic
from fit import MARKS, Fit, fit_in_turns, of_adacc
from fresh import Memory, memory_of_fit
from peers import ROUNDS, Peer
from report import GB, Report
from settings import Settings
from tables import aligned, counted, number, ratio
from timing import SAMPLED_ROUNDS, say

MB = 1e6
SHAPES = ((100_000, 50), (1_000_000, 30), (5_000, 2_000))
QUICK_SHAPES = ((10_000, 50), (500, 2_000))

# The shape whose fit is held against the time of reading its bins, and how many times that it may take.
LARGE = (1_000_000, 30)
ASKED_OF_LARGE = 2.5

# The peak comes with the first round: what each round adds to a model is a few bytes.
ROUNDS_FOR_MEMORY = SAMPLED_ROUNDS[0]

HEADER = [
    ["", "", "", "ns per cell", "× reading", "peak MB", "bytes", "MB before"],
    ["library", "seconds", "× adacc", "and round", "the bins", "of fit", "per cell", "fit"],
]


@dataclass(frozen=True)
class Result:
    """Of one library on one shape."""

    fit: Fit
    memory: Memory
    # A byte for each cell, which is what adacc's bins are, once a round.
    seconds_to_read_bins: float

    @property
    def bytes_per_cell(self) -> float:
        return self.memory.of_fit / self.fit.shape.cells

    @property
    def times_reading(self) -> float | None:
        return None if self.fit.stopped else self.fit.seconds / self.seconds_to_read_bins


def measure(settings: Settings, report: Report) -> None:
    say("speed of the memory")
    bytes_per_second = bandwidth.measure()
    report.show(
        f"One thread reads memory at {bytes_per_second / GB:.1f} GB/s. Reading the bins: a byte for each cell, "
        f"{ROUNDS} times, at that speed.\n"
        f"Peak MB of fit: beyond those before it, of {ROUNDS_FOR_MEMORY} rounds in a fresh process.\n{MARKS}"
    )
    by_shape = []
    for rows, columns in QUICK_SHAPES if settings.quick else SHAPES:
        say(f"{rows}x{columns}: making the data")
        by_shape.append(_measure(synthetic(rows, columns), settings, bytes_per_second))
        report.show(_table(by_shape[-1]))
    report.write_csv("shapes.csv", [_record(result, results) for results in by_shape for result in results])
    for results in by_shape:
        _put_in_headline(report, results)


def _measure(data: Data, settings: Settings, bytes_per_second: float) -> list[Result]:
    fits = fit_in_turns(data, settings)
    seconds_to_read_bins = data.shape.cells * ROUNDS / bytes_per_second
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        save_rows(data, file)

        def memory(peer: Peer) -> Memory:
            say(f"{data.name}: memory of {peer.name}")
            return memory_of_fit(peer, file, ROUNDS_FOR_MEMORY, settings.threads)

        return [Result(fit, memory(fit.peer), seconds_to_read_bins) for fit in fits]


def _adacc(results: Sequence[Result]) -> Fit:
    return of_adacc([result.fit for result in results])


def _table(results: Sequence[Result]) -> str:
    fit = results[0].fit
    title = (
        f"{fit.shape.size}, {100 * fit.shape.positive_share:.0f} % positive: fit of {ROUNDS} stumps, "
        f"{counted(fit.threads, 'thread')}; reading the bins: {number(results[0].seconds_to_read_bins)} s"
    )
    rows = [
        [
            result.fit.peer.name,
            result.fit.cell,
            ratio(result.fit.ratio_to(_adacc(results))),
            number(result.fit.nanoseconds_per_cell_and_round),
            ratio(result.times_reading),
            f"{result.memory.of_fit / MB:.1f}",
            f"{result.bytes_per_cell:.1f}",
            f"{result.memory.before / MB:.0f}",
        ]
        for result in results
    ]
    return f"{title}\n{aligned(HEADER, rows)}"


def _record(result: Result, results: Sequence[Result]) -> dict[str, object]:
    per_cell, reading = result.fit.nanoseconds_per_cell_and_round, result.times_reading
    return {
        **result.fit.record(_adacc(results)),
        "ns_per_cell_and_round": "" if per_cell is None else f"{per_cell:.4f}",
        "seconds_to_read_codes": f"{result.seconds_to_read_bins:.4f}",
        "times_reading_codes": "" if reading is None else f"{reading:.3f}",
        "memory_gb_per_second": f"{result.fit.shape.cells * ROUNDS / result.seconds_to_read_bins / GB:.2f}",
        "fit_peak_mb": f"{result.memory.of_fit / MB:.2f}",
        "fit_peak_bytes_per_cell": f"{result.bytes_per_cell:.2f}",
        "before_fit_mb": f"{result.memory.before / MB:.1f}",
    }


def _put_in_headline(report: Report, results: Sequence[Result]) -> None:
    adacc = next(result for result in results if result.fit is _adacc(results))
    if (adacc.fit.shape.rows, adacc.fit.shape.columns) == LARGE and adacc.times_reading is not None:
        what = f"fit of {adacc.fit.shape.size}: seconds / seconds to read its bins {ROUNDS} times from memory"
        report.headline(what, adacc.times_reading, "×", at_most=ASKED_OF_LARGE)

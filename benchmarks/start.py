"""Start-up time: compilation and loading of kernels, and imports."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from data import save_rows, synthetic
from fresh import first_fits, imports
from report import Report
from settings import Settings
from tables import aligned, number
from timing import say

SHAPE = (10_000, 20)
MOST_REPEATS = 3  # each starts several processes and compiles all kernels
LIBRARY_OF_ALL = "sklearn"


@dataclass(frozen=True)
class Start:
    what: str
    seconds: list[float]


def measure(settings: Settings, report: Report) -> None:
    say("start of adacc")
    repeats = min(settings.repeats, MOST_REPEATS)
    data = synthetic(*SHAPE)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        save_rows(data, file)
        fits = first_fits(file, settings.threads, repeats)
    modules = dict.fromkeys(peer.module for peer in settings.peers if not peer.module.startswith(LIBRARY_OF_ALL))
    imported = imports(list(modules), repeats)
    fit = f"fit of {data.shape.size}"
    starts = [
        Start(f"first {fit} on a machine (kernels compiled)", fits.cold),
        Start(f"first {fit} of a process (kernels from the disk cache)", fits.cached),
        Start(f"warm {fit}", fits.warm),
        Start("import sklearn.base, sklearn.ensemble", imported.sklearn),
        *(Start(f"import {module}, on top of these", seconds) for module, seconds in imported.on_top.items()),
    ]
    report.show(_table(starts))
    report.write_csv("start.csv", [_record(start) for start in starts])


def _table(starts: Sequence[Start]) -> str:
    rows = [[start.what, number(median(start.seconds)), str(len(start.seconds))] for start in starts]
    return f"Start of adacc\n{aligned([['', 'seconds', 'median of']], rows)}"


def _record(start: Start) -> dict[str, Any]:
    return {
        "what": start.what,
        "seconds": f"{median(start.seconds):.4f}",
        "seconds_min": f"{min(start.seconds):.4f}",
        "seconds_max": f"{max(start.seconds):.4f}",
        "repeats": len(start.seconds),
    }

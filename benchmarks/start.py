"""Start-up time: compilation and loading of kernels, by use and by kernel, commands, and imports."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from fresh import command_seconds, first_uses, imports
from report import Report
from settings import Settings
from tables import aligned, number
from timing import say

MOST_REPEATS = 3  # each starts several processes and compiles all kernels
LIBRARY_OF_ALL = "sklearn"
SHOWN_KERNELS = 15
COLD, CACHED = "kernels compiled", "kernels from the cache"


@dataclass(frozen=True)
class Start:
    what: str
    seconds: list[float]


def measure(settings: Settings, report: Report) -> None:
    say("start of adacc")
    repeats = min(settings.repeats, MOST_REPEATS)
    starts: dict[str, list[float]] = {}
    kernels: dict[str, list[float]] = {}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            for state in (COLD, CACHED):  # the first process finds the folder empty and fills it for the second
                found = first_uses(Path(folder))
                for use, seconds in found["uses"].items():
                    starts.setdefault(f"first use ({state}): {use}", []).append(seconds)
                for name, seconds in found["kernels"].items():
                    kernels.setdefault(name, []).append(seconds)
        for name, seconds in _commands().items():
            starts.setdefault(name, []).append(seconds)
    modules = dict.fromkeys(peer.module for peer in settings.peers if not peer.module.startswith(LIBRARY_OF_ALL))
    imported = imports(["adacc", *modules], repeats)
    starts["import sklearn.base, sklearn.ensemble"] = imported.sklearn
    starts |= {f"import {module}, on top of these": seconds for module, seconds in imported.on_top.items()}
    by_kernel = sorted(kernels.items(), key=lambda item: -median(item[1]))
    report.show(_table("Start of adacc", starts.items()))
    report.show(_table("Compilation by kernel, without the kernels that it calls", by_kernel[:SHOWN_KERNELS]))
    named = [*starts.items(), *((f"compilation of {name}", seconds) for name, seconds in by_kernel)]
    report.write_csv("start.csv", [_record(Start(what, seconds)) for what, seconds in named])


def _commands() -> dict[str, float]:
    """Seconds of commands on a small table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (f"{i * 37 % 1009 / 7},{i * 61 % 997 / 3},{'yes' if i * 37 % 1009 > 900 else 'no'}" for i in range(2000))
        (folder / "rows.csv").write_text("\n".join(["a,b,label", *rows]))
        data, model = str(folder / "rows.csv"), str(folder / "model.adacc")
        train = ["train", data, "--target", "label", "--model", model]
        return {
            "adacc --help": command_seconds(["--help"]),
            f"adacc train, 2,000 rows ({COLD})": command_seconds(train, folder),
            f"adacc train, 2,000 rows ({CACHED})": command_seconds(train, folder),
            f"adacc predict, 2,000 rows ({CACHED})": command_seconds(["predict", model, data], folder),
        }


def _table(title: str, starts: Sequence[tuple[str, list[float]]] | Any) -> str:
    rows = [[what, *(number(each) for each in (median(s), min(s), max(s))), str(len(s))] for what, s in starts]
    return f"{title}\n{aligned([['', 'seconds', 'least', 'most', 'runs']], rows)}"


def _record(start: Start) -> dict[str, Any]:
    return {
        "what": start.what,
        "seconds": f"{median(start.seconds):.4f}",
        "seconds_min": f"{min(start.seconds):.4f}",
        "seconds_max": f"{max(start.seconds):.4f}",
        "repeats": len(start.seconds),
    }

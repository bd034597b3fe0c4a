"""Output of a run: text, CSV files and the headline."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from peers import Peer
from tables import aligned, counted, number

GB = 1e9


@dataclass(frozen=True)
class Headline:
    """A figure beside what is asked of it: at least or at most so much."""

    what: str
    figure: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def asked(self) -> str:
        sign, bound = ("≥", self.at_least) if self.at_most is None else ("≤", self.at_most)
        return f"{sign} {bound:g}"

    @property
    def is_met(self) -> bool:
        return (self.at_least is None or self.figure >= self.at_least) and (
            self.at_most is None or self.figure <= self.at_most
        )

    @property
    def row(self) -> list[str]:
        return [self.what, number(self.figure), self.unit, self.asked, "yes" if self.is_met else "no"]


class Report:
    """Collects what the parts of the benchmark find; each piece is on the disk as soon as it is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.headlines: list[Headline] = []
        self.failures: list[str] = []
        self._texts: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)

    def show(self, text: str) -> None:
        print(text, end="\n\n", flush=True)
        self._texts.append(text)
        (self.folder / "report.txt").write_text("\n\n".join(self._texts) + "\n", encoding="utf-8")

    def write_csv(self, name: str, records: Sequence[dict[str, Any]]) -> None:
        with (self.folder / name).open("w", newline="", encoding="utf-8") as opened:
            writer = csv.DictWriter(opened, fieldnames=list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)

    def headline(self, what: str, figure: float, unit: str, **bound: float) -> None:
        self.headlines.append(Headline(what, figure, unit, **bound))

    def fail(self, what: str) -> None:
        """Note a wrong answer, which fails the run; being slow does not, on a machine that others may use too."""
        self.failures.append(f"FAILED: {what}")

    def close(self) -> None:
        if self.headlines:
            header = [["", "measured", "", "asked", "met"]]
            rows = [headline.row for headline in self.headlines]
            self.show(f"Headline\n{aligned(header, rows, left=(0, 2, 4))}")
        if self.failures:
            self.show("\n".join(self.failures))


def machine(peers: Sequence[Peer], threads: int) -> str:
    libraries = dict.fromkeys([*(peer.distribution for peer in peers), "numba", "numpy"])
    return "\n".join(
        [
            f"{_cpu()}, {os.cpu_count()} cores, {_memory()}{platform.system()}",
            ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in libraries)]),
            f"{counted(threads, 'thread')} for each library that can use them",
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


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / GB:.0f} GB, "
    except (AttributeError, OSError, ValueError):  # not every system tells
        return ""

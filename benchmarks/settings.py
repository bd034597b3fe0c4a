"""Settings of the parts of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from data import Data, load_set
from peers import Peer


@dataclass(frozen=True)
class Settings:
    """`quick` is a small run that shows that everything works; its figures say little."""

    peers: list[Peer]
    set_files: list[Path]
    repeats: int
    threads: int
    quick: bool

    def sets(self) -> Iterator[Data]:
        """One after the other: together they would fill much memory."""
        return map(load_set, self.set_files)

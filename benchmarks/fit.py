"""Seconds to fit 200 stumps, including reading and binning of the data, by each library on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, NamedTuple

from data import Data, Shape
from peers import ADACC, ROUNDS, Peer
from settings import Settings
from tables import number
from timing import SAMPLED_ROUNDS, at_all_rounds, is_sampled, say, seconds_of, take_turns

MARKS = (
    f"* from {SAMPLED_ROUNDS[0]} and {SAMPLED_ROUNDS[1]} rounds, along a straight line\n"
    "† stopped by itself after so many rounds: the seconds are theirs, and no ratio is formed"
)


class Timed(NamedTuple):
    """One measurement; no seconds where the library refused the data."""

    seconds: float | None
    rounds_run: int
    rounds_fitted: int


@dataclass(frozen=True)
class Fit:
    """One library on one set of data: its seconds, one entry a repeat, for all rounds even where few were run."""

    shape: Shape
    peer: Peer
    threads: int
    rounds_run: int
    rounds_fitted: int
    all_seconds: list[float]

    @property
    def is_refused(self) -> bool:
        return not self.all_seconds

    @property
    def is_extrapolated(self) -> bool:
        return self.rounds_run < ROUNDS and not self.stopped

    @property
    def stopped(self) -> bool:
        return self.rounds_fitted < self.rounds_run

    @property
    def seconds(self) -> float | None:
        return None if self.is_refused else median(self.all_seconds)

    @property
    def nanoseconds_per_cell_and_round(self) -> float | None:
        if self.stopped:
            return None
        return self.seconds / self.shape.cells / ROUNDS * 1e9

    def ratio_to(self, other: Fit) -> float | None:
        """How many times the other's seconds; only of two that made all stumps."""
        if self.stopped or other.stopped:
            return None
        return self.seconds / other.seconds

    @property
    def cell(self) -> str:
        """The seconds with their mark."""
        if self.is_refused:
            return "refused"
        mark = "*" if self.is_extrapolated else f" †{self.rounds_fitted}" if self.stopped else ""
        return f"{number(self.seconds)}{mark}"

    def record(self, adacc: Fit) -> dict[str, Any]:
        """A line of CSV."""
        ratio = self.ratio_to(adacc)
        return {
            "data": self.shape.name,
            "rows": self.shape.rows,
            "columns": self.shape.columns,
            "positive_share": f"{self.shape.positive_share:.4f}",
            "library": self.peer.name,
            "version": self.peer.version,
            "model": self.peer.model,
            "threads": self.threads if self.peer.threaded else 1,
            "stumps": ROUNDS,
            "rounds_run": self.rounds_run,
            "rounds_fitted": self.rounds_fitted,
            "repeats": len(self.all_seconds),
            "seconds": "" if self.is_refused else f"{self.seconds:.5f}",
            "seconds_min": "" if self.is_refused else f"{min(self.all_seconds):.5f}",
            "seconds_max": "" if self.is_refused else f"{max(self.all_seconds):.5f}",
            "seconds_extrapolated": self.is_extrapolated,
            "ratio_to_adacc": "" if ratio is None else f"{ratio:.3f}",
        }


def of_adacc(fits: Sequence[Fit]) -> Fit:
    return next(fit for fit in fits if fit.peer is ADACC)


def fit_in_turns(data: Data, settings: Settings) -> list[Fit]:
    """Fits of all libraries to all rows."""
    for peer in settings.peers:
        if not peer.slow:
            # Kernels and libraries load at the first fit; what that costs is measured on its own.
            peer.make(SAMPLED_ROUNDS[0], settings.threads).fit(peer.read(data), data.y)

    def run(peer: Peer) -> Timed:
        say(f"{data.name}: {peer.name}")
        return time_fit(peer, data, settings.threads)

    results = take_turns(
        {peer: partial(run, peer) for peer in settings.peers},
        settings.repeats,
        slow=[peer for peer in settings.peers if peer.slow],
    )
    return [_summary(data.shape, peer, settings.threads, repeats) for peer, repeats in results.items()]


def time_fit(peer: Peer, data: Data, threads: int) -> Timed:
    X = peer.read(data)
    try:
        if not is_sampled(peer, X):
            return _time_rounds(peer, X, data.y, ROUNDS, threads)
        few, more = (_time_rounds(peer, X, data.y, rounds, threads) for rounds in SAMPLED_ROUNDS)
    except peer.refusal:
        return Timed(None, ROUNDS, 0)
    if more.rounds_fitted < more.rounds_run:
        return more
    return more._replace(seconds=at_all_rounds(SAMPLED_ROUNDS, (few.seconds, more.seconds)))


def _time_rounds(peer: Peer, X: Any, y: Any, rounds: int, threads: int) -> Timed:
    model = peer.make(rounds, threads)
    seconds = seconds_of(lambda: model.fit(X, y))
    return Timed(seconds, rounds, peer.fitted_rounds(model))


def _summary(shape: Shape, peer: Peer, threads: int, repeats: list[Timed]) -> Fit:
    _, rounds_run, rounds_fitted = repeats[0]
    all_seconds = [timed.seconds for timed in repeats if timed.seconds is not None]
    return Fit(shape, peer, threads, rounds_run, rounds_fitted, all_seconds)

"""Time measurement: repeated in turns, and extrapolated from few rounds for slow libraries."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

from peers import ROUNDS, Peer

T = TypeVar("T")

# What has taken so many seconds in all is not repeated again, but for the repeats that make a median.
PATIENCE = 5.0
LEAST_REPEATS = 3

# As many calls of something short, or fewer if they take more seconds than this.
SHORT_CALLS = 100
SHORT_PATIENCE = 0.1
LEAST_SHORT_CALLS = 5

# A slow library boosts all rounds on this many cells or fewer, and on more of them these two numbers of rounds.
CELLS_IN_FULL = 50_000
SAMPLED_ROUNDS = (2, 12)


def seconds_of(call: Callable[[], Any]) -> float:
    gc.collect()
    start = perf_counter()
    call()
    return perf_counter() - start


def seconds_of_short(call: Callable[[], Any]) -> float:
    """Of what is too short to be measured once: the median of many calls."""
    seconds: list[float] = []
    while len(seconds) < LEAST_SHORT_CALLS or (len(seconds) < SHORT_CALLS and sum(seconds) < SHORT_PATIENCE):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return median(seconds)


def take_turns(runs: Mapping[T, Callable[[], Any]], repeats: int, slow: Collection[T] = ()) -> dict[T, list[Any]]:
    """What the runs give, each repeated.

    They take turns, in a changing order, so that a busy moment of the machine hits all. One that has used up `PATIENCE`
    has no more turns once it had `LEAST_REPEATS`, or one if it is `slow`.
    """
    results: dict[T, list[Any]] = {name: [] for name in runs}
    spent = dict.fromkeys(runs, 0.0)
    names = list(runs)
    for repeat in range(repeats):
        first = repeat % len(names)
        for name in names[first:] + names[:first]:
            least = 1 if name in slow else LEAST_REPEATS
            if len(results[name]) >= least and spent[name] > PATIENCE:
                continue
            start = perf_counter()
            results[name].append(runs[name]())
            spent[name] += perf_counter() - start
    return results


def is_sampled(peer: Peer, X: Any) -> bool:
    """Whether only few rounds of the library are run on these cells."""
    return peer.slow and X.shape[0] * X.shape[1] > CELLS_IN_FULL


def at_all_rounds(rounds: Sequence[int], seconds: Sequence[float]) -> float:
    """The seconds of `ROUNDS` on the straight line through two measurements, so that fixed costs are not multiplied."""
    per_round = (seconds[1] - seconds[0]) / (rounds[1] - rounds[0])
    return seconds[0] + per_round * (ROUNDS - rounds[0])


def say(text: str) -> None:
    """Progress, apart from the results on standard output."""
    print(text, file=sys.stderr, flush=True)

"""Training rows in several places: in pieces on disk, or on the workers of a cluster.

Each place keeps a shard: the codes of its rows. What happens to the rows is written in a log, a few numbers a round,
and a shard stands where as much of the log as it has read brings it. So one that is lost needs only be coded again: it
reads the log from the beginning, and stands where it stood. What comes back from a shard is one histogram a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.scores import ScoreTracker
from adacc.data.binned import BinnedDataset
from adacc.data.binning import BinMapper, Column
from adacc.data.rows import Rows, Weights
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.base import Models
from adacc.learners.splits import Split, Splitter
from adacc.learners.stump import Stumps
from adacc.model.ensemble import snap_ties


@dataclass(frozen=True)
class BinnedShard:
    """Rows as codes.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
    y : ndarray of shape (n_rows,)
        Classes by number.
    weight : ndarray of shape (n_rows,)
        None of them zero.
    """

    codes: NDArray[np.unsignedinteger]
    y: NDArray[np.uint8]
    weight: Array


class Begin(NamedTuple):
    """The first entry of a log: what is boosted."""

    plan: Plan


class Vote(NamedTuple):
    """A stump, as the class that it predicts for each code of its feature, votes."""

    feature: int
    lookup: NDArray[np.uint8]
    alpha: Any


class Reweigh(NamedTuple):
    """The weights are multiplied by ``F / Z``; `W` is what the stump before predicts of the rows of all shards."""

    F: Array
    W: Array


Log = Sequence[Begin | Vote | Reweigh]


class Answer(NamedTuple):
    """Of some rows, at the end of the log.

    Attributes
    ----------
    right : ndarray of shape (n_classes,)
        Weight of the rows of each class that the votes decide rightly.
    wrong : ndarray of shape (n_classes,)
        Weight of the rows of each class that the latest stump alone gets wrong.
    histogram : ndarray of shape (n_classes, n_codes) or None
        Weights by class and code; None while a round is going on, in which they do not change.
    """

    right: Array
    wrong: Array
    histogram: Array | None


def total(answers: Sequence[Answer | None]) -> Answer | None:
    """Of the rows of all shards; None if one of them could not answer."""
    if any(answer is None for answer in answers):
        return None
    rights, wrongs, histograms = zip(*answers, strict=True)
    return Answer(sum(rights), sum(wrongs), None if histograms[0] is None else sum(histograms))


class ShardState:
    """Where the rows of a shard stand: their weights, scores and histograms."""

    def __init__(self, layout: BinnedDataset, plan: Plan) -> None:
        self.layout = layout
        self.weights = Weights(layout.rows, plan.rule.initial(plan.costs), layout.pass_in_rows)
        self.score_tracker = ScoreTracker(layout.rows, plan)
        self.wrong = np.zeros(layout.rows.n_classes)
        self._needs_wrong = plan.rule.costs_follow == "learner"
        self._histogram = layout.copy_histogram()

    def add_vote(self, vote: Vote) -> None:
        self.score_tracker.add_vote((self.layout.column(vote.feature), vote.lookup), vote.alpha)
        if self._needs_wrong:
            self.wrong = self.score_tracker.wrong_at_last

    def reweigh(self, F: Array, W: Array) -> None:
        self.weights.update(F.copy(), W, self.score_tracker.predicted, self.score_tracker.counts)
        for part in self.layout.parts:
            part.follow(self.weights, self._histogram)

    @property
    def histogram(self) -> Array:
        weights = self.weights
        for part in self.layout.parts:
            if part.is_sparse:
                own = weights.scale * self.layout.rows.by_class(weights.raw)
                part.complete(weights.scale, own, self._histogram)
        return self._histogram[: len(weights.scale)] * weights.scale[:, None]


class Shard:
    """Some of the training rows. To others it is a constant: a copy, or one that is coded again, has read no log yet.

    `class_weight` is the summed sample weight of each class wherever its rows are.
    """

    def __init__(self, pieces: Sequence[BinnedShard], bin_mapper: BinMapper, class_weight: Array) -> None:
        y = np.concatenate([piece.y for piece in pieces])
        weight = np.concatenate([piece.weight for piece in pieces])
        rows = replace(Rows.group(y, len(class_weight), weight), class_weight=class_weight)

        def columns(order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
            for j in wanted:
                yield j, bin_mapper.features[j], np.concatenate([piece.codes[j] for piece in pieces])[order]

        self.layout = BinnedDataset(columns, len(bin_mapper.features), rows, Threads(1), collapse=True)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Stand as if no log had been read, so that another can be."""
        self._n_read = 0
        self.standing: ShardState | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"layout": self.layout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.layout = state["layout"]
        self.begin_anew()

    def __sizeof__(self) -> int:
        codes = sum(part.dense.nbytes for part in self.layout.parts)
        return codes + BYTES_OF_A_ROW * len(self.layout.rows.order)

    def read(self, first: int, entries: Log) -> Answer | None:
        """What is to be said after these entries of the log, of which `first` is the number of the first one.

        None if the shard has not read all that stands before them.
        """
        if self._n_read < first:
            return None
        for entry in entries[self._n_read - first :]:
            if isinstance(entry, Begin):
                self.standing = ShardState(self.layout, entry.plan)
            elif isinstance(entry, Vote):
                self._now.add_vote(entry)
            else:
                self._now.reweigh(*entry)
            self._n_read += 1
        now = self._now
        return Answer(now.score_tracker.right, now.wrong, None if isinstance(entries[-1], Vote) else now.histogram)

    def tally(self, log: Log, class_weight: Array) -> list[Tally]:
        """The scores at the end of the log, of the second of two classes or of each: rows count `class_weight` each."""
        self.read(0, log)
        rows, scores = self.layout.rows, self._now.score_tracker.scores
        weight = rows.weight * class_weight[rows.true]
        scores = snap_ties(scores.reshape(-1, len(rows.order)).T)
        if scores.ndim == 1:
            return [_tally(scores, rows.true == 1, weight)]
        return [_tally(scores[:, k], rows.true == k, weight) for k in range(rows.n_classes)]

    @property
    def _now(self) -> ShardState:
        assert self.standing is not None, "a log begins with Begin"
        return self.standing


Tally = tuple[Array, NDArray[np.bool_], Array]
"""Scores, whether they are of rows of the class, and the weight of these."""

MOST_SCORES = 100_000
"""Beyond as many different scores of a shard, neighbours become one."""


def _tally(scores: Array, positive: NDArray[np.bool_], weight: Array) -> Tally:
    """Rows of equal scores as one."""
    found = []
    for side in (False, True):
        own = positive == side
        values, numbers = np.unique(scores[own], return_inverse=True)
        sums = np.bincount(numbers, weight[own], len(values))
        if len(values) > MOST_SCORES:
            begins = np.linspace(0, len(values), MOST_SCORES, endpoint=False).astype(np.intp)
            together = np.add.reduceat(sums, begins)
            values, sums = np.add.reduceat(values * sums, begins) / together, together
        found.append((values, np.full(len(values), side), sums))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


BYTES_OF_A_ROW = 46
"""Beside its codes: order, sample weight, weight, score, prediction, whether it stands apart, and room for the list of
changed rows.
"""


class ShardExecutor(Protocol):
    """Those who keep the shards."""

    def ask(self, log: Log) -> Answer:
        """Let every shard read the log to its end; their answers, summed."""

    def tallies(self, log: Log, class_weight: Array) -> list[list[Tally]]:
        """Every shard's scores at the end of the log."""


class ShardedBackend:
    """The ground of a loop whose rows are elsewhere.

    Two questions a round where the costs follow the error rates, one elsewhere: the answer to the last one holds the
    histogram of the round to come.
    """

    def __init__(
        self, plan: Plan, bin_mapper: BinMapper, class_weight: Array, criterion: str, crew: ShardExecutor
    ) -> None:
        self.plan, self.bin_mapper, self.crew = plan, bin_mapper, crew
        self.given_weight = class_weight
        initial = plan.rule.initial(plan.costs) * class_weight
        self.class_weight = initial / initial.sum()
        self._splitter = Splitter(bin_mapper, len(class_weight), criterion, plan.negative_class)
        self.log: list[Begin | Vote | Reweigh] = []
        self._answer = self._ask(Begin(plan))
        self._split: Split

    def _ask(self, *entries: Begin | Vote | Reweigh) -> Answer:
        self.log += entries
        return self.crew.ask(self.log)

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        histogram, even = self._answer.histogram, np.ones(len(self.given_weight))
        assert histogram is not None
        self._splitter.find_best(histogram, even, self.class_weight, 0, len(self.bin_mapper.features))
        self._split, W = self._splitter.choose(histogram, even)
        return self._split, W, W

    def _vote(self, alpha: Any) -> Vote:
        feature = self._split[0]
        return Vote(max(feature, 0), self._splitter.lookup(feature).copy(), alpha)

    def add_vote(self, alpha: Any) -> Array:
        self._answer = self._ask(self._vote(alpha))
        return self._answer.right / self.given_weight

    def error_rates(self) -> Array:
        return self._answer.wrong / self.given_weight

    def finish_round(self, change: Any, F: Array, W: Array) -> tuple[Array, float]:
        self._answer = self._ask(self._vote(change), Reweigh(F.copy(), W))
        Z = float((F * W).sum())
        F /= Z
        self.class_weight = (F * W).sum(axis=1)
        return self._answer.right / self.given_weight, Z

    def scores(self, class_weight: Array) -> list[Tally]:
        """The scores after all rounds, of the second of two classes or of each: rows count `class_weight` each."""
        if isinstance(self.log[-1], Vote):  # of a round that was then discarded
            self.log.append(self.log[-1]._replace(alpha=-self.log[-1].alpha))
        tallies = self.crew.tallies(self.log, class_weight)
        return [
            tuple(np.concatenate(parts) for parts in zip(*of_output, strict=True))  # type: ignore[misc]
            for of_output in zip(*tallies, strict=True)
        ]

    def models(self, fitted: list[Any]) -> Models:
        return Stumps(np.array(fitted, dtype=dtypes.STUMP), self.bin_mapper)

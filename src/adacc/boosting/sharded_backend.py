"""Training backend for shards of rows on disk or on the workers of a cluster.

A shard holds the binned rows. The votes and weight updates of all rounds are recorded in a log of a few numbers per
round, and a shard applies the entries that it has not applied yet. A lost shard is binned again and applies the log
from the beginning. A shard returns one histogram per round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.problems import SIDES
from adacc.boosting.scores import ScoreTracker
from adacc.data.binned import BinnedDataset
from adacc.data.binning import BinMapper, Column
from adacc.data.rows import Rows, Weights
from adacc.data.threads import Threads
from adacc.kernels import dtypes
from adacc.learners.base import Models
from adacc.learners.splits import MonotonicCst, Split, Splitter
from adacc.learners.stump import Stumps
from adacc.model.coding import class_scores
from adacc.model.decision import snap_ties
from adacc.model.ensemble import contributions


@dataclass(frozen=True)
class BinnedShard:
    """Binned rows.

    Attributes
    ----------
    bins : ndarray of shape (n_features, n_rows)
    y : ndarray of shape (n_rows,)
        Class indices.
    weight : ndarray of shape (n_rows,)
        Sample weights, all positive.
    """

    bins: NDArray[np.unsignedinteger]
    y: NDArray[np.uint8]
    weight: Array


class Begin(NamedTuple):
    """First entry of a log: the rule, costs and settings, and a two-class problem if there are more classes.

    `code` is the side of each class, 1 or -1, or 0 if it takes no part; `class_weight` is the weight of both sides.
    """

    plan: Plan
    code: NDArray[np.int8] | None = None
    class_weight: Array | None = None


class Vote(NamedTuple):
    """The vote of a stump, given by the class that it predicts for each bin of its feature."""

    feature: int
    lookup: NDArray[np.uint8]
    alpha: Any


class Reweigh(NamedTuple):
    """Multiply the weights by ``F / Z``; `W` is the weight of each (true, predicted) pair over all shards."""

    F: Array
    W: Array


Log = Sequence[Begin | Vote | Reweigh]


class Answer(NamedTuple):
    """State of some rows after the last entry of the log.

    Attributes
    ----------
    right : ndarray of shape (n_classes,)
        Weight of the rows of each class that the ensemble classifies correctly.
    wrong : ndarray of shape (n_classes,)
        Weight of the rows of each class that the latest stump misclassifies.
    histogram : ndarray of shape (n_classes, n_bins) or None
        Weights by class and bin; None within a round, while the weights do not change.
    """

    right: Array
    wrong: Array
    histogram: Array | None


def total(answers: Sequence[Answer | None]) -> Answer | None:
    """Sum of the answers of all shards; None if one of them is None."""
    if any(answer is None for answer in answers):
        return None
    rights, wrongs, histograms = zip(*answers, strict=True)
    return Answer(sum(rights), sum(wrongs), None if histograms[0] is None else sum(histograms))


class ShardState:
    """Weights, scores and histogram of the rows of a shard."""

    def __init__(self, binned: BinnedDataset, plan: Plan) -> None:
        self.binned = binned
        self.weights = Weights(binned.rows, plan.rule.initial(plan.costs))
        self.score_tracker = ScoreTracker(binned.rows, plan)
        self.wrong = np.zeros(binned.rows.n_classes)
        self._needs_wrong = plan.rule.costs_follow == "learner"
        self._histogram = binned.histogram.copy()

    def add_vote(self, vote: Vote) -> None:
        self.score_tracker.add_vote((self.binned.column(vote.feature), vote.lookup), vote.alpha)
        if self._needs_wrong:
            self.wrong = self.score_tracker.wrong_at_last

    def reweigh(self, F: Array, W: Array) -> None:
        self.weights.update(F.copy(), W, self.score_tracker.predicted, self.score_tracker.counts)
        for block in self.binned.blocks:
            block.follow(self.weights, self._histogram)

    @property
    def right(self) -> Array:
        """Weight of the correctly classified rows of each class."""
        return self.score_tracker.right

    @property
    def histogram(self) -> Array:
        return self.binned.class_histogram(self.weights, self._histogram)


class EmptyState:
    """The state of a shard without rows of a two-class problem."""

    def __init__(self, n_bins: int) -> None:
        self.right = self.wrong = np.zeros(2)
        self.histogram = np.zeros((2, n_bins))

    def add_vote(self, vote: Vote) -> None:
        pass

    def reweigh(self, F: Array, W: Array) -> None:
        pass


class Shard:
    """Some of the training rows. A copy, or a shard that was binned again, has applied no log entries yet.

    `class_weight` is the summed sample weight of each class over all shards.
    """

    def __init__(self, pieces: Sequence[BinnedShard], bin_mapper: BinMapper, class_weight: Array) -> None:
        y = np.concatenate([piece.y for piece in pieces])
        weight = np.concatenate([piece.weight for piece in pieces])
        rows = replace(Rows.group(y, len(class_weight), weight), class_weight=class_weight)

        def columns(order: NDArray[np.uint32], wanted: Sequence[int]) -> Iterator[Column]:
            for j in wanted:
                yield j, bin_mapper.features[j], np.concatenate([piece.bins[j] for piece in pieces])[order]

        self.binned = BinnedDataset.read(columns, len(bin_mapper.features), rows, Threads(1), collapse=True)
        self.reset()

    def reset(self) -> None:
        """Discard the state, so that a log can be applied from its beginning."""
        self._n_read = 0
        self.state: ShardState | EmptyState | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"binned": self.binned}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.binned = state["binned"]
        self.reset()

    def __sizeof__(self) -> int:
        return self.binned.dense_nbytes + BYTES_OF_A_ROW * len(self.binned.rows.order)

    def read(self, first: int, entries: Log) -> Answer | None:
        """Apply the entries of the log that start at position `first`, and return the state after them.

        None if the shard has not applied all entries before `first`.
        """
        if self._n_read < first:
            return None
        # A problem begins anew: the entries of those before it are not needed.
        begins = [at for at, entry in enumerate(entries) if isinstance(entry, Begin)]
        self._n_read = max(self._n_read, first + begins[-1] if begins else 0)
        for entry in entries[self._n_read - first :]:
            if isinstance(entry, Begin):
                self.state = self._start(entry)
            elif isinstance(entry, Vote):
                self._started.add_vote(entry)
            else:
                self._started.reweigh(*entry)
            self._n_read += 1
        state = self._started
        histogram = None if isinstance(entries[-1], Vote) else state.histogram
        return Answer(state.right, state.wrong, histogram)

    def _start(self, begin: Begin) -> ShardState | EmptyState:
        if begin.code is None or begin.class_weight is None:
            return ShardState(self.binned, begin.plan)
        rows = self.binned.rows
        sides = [np.flatnonzero(begin.code[rows.true] == side) for side in SIDES]
        members = np.concatenate(sides)
        if len(members) == 0:
            return EmptyState(self.binned.histogram.shape[1])

        order, starts = np.arange(len(members), dtype=dtypes.ROW), np.cumsum([0, *map(len, sides)])
        of_problem = Rows(order, starts, rows.weight[members], begin.class_weight)
        return ShardState(self.binned.take(members, of_problem), begin.plan)

    def weighted_scores(self, log: Log, class_weight: Array) -> list[WeightedScores]:
        """Scores after the whole log, one entry per score; a row of class k counts `class_weight[k]`."""
        rows = self.binned.rows
        if isinstance(log[0], Begin) and log[0].code is not None:
            scores = self._class_scores(log)
        else:
            self.read(0, log)
            assert isinstance(self._started, ShardState)
            scores = self._started.score_tracker.scores.reshape(-1, len(rows.order)).T
        weight = rows.weight * class_weight[rows.true]
        scores = snap_ties(scores)
        if scores.ndim == 1:
            return [_weighted_scores(scores, rows.true == 1, weight)]
        return [_weighted_scores(scores[:, k], rows.true == k, weight) for k in range(rows.n_classes)]

    def _class_scores(self, log: Log) -> Array:
        """Scores of all rows by class, after two-class problems, which have been boosted on some of the rows each.

        A round may have a provisional vote and its correction, and ends with `Reweigh`; a discarded round never ends.
        """
        codes, scores, largest = [], [], []
        for entry in log:
            if isinstance(entry, Begin):
                codes.append(entry.code)
                scores.append(np.zeros(len(self.binned.rows.order)))
                largest.append(0.0)
                decision, of_round = entry.plan.decision, np.zeros(2)
            elif isinstance(entry, Vote):
                by_side = contributions(np.broadcast_to(entry.alpha, 2), decision)[:, 0]
                scores[-1] += by_side[entry.lookup][self.binned.column(entry.feature)]
                of_round += by_side
            else:
                largest[-1] += np.abs(of_round).max()
                of_round = np.zeros(2)
        return class_scores(np.array(codes), np.column_stack(scores), np.array(largest))

    @property
    def _started(self) -> ShardState | EmptyState:
        assert self.state is not None, "the first entry of a log must be Begin"
        return self.state


WeightedScores = tuple[Array, NDArray[np.bool_], Array]
"""Distinct scores of a class (of the second of two), whether they belong to rows of the class, and their weights."""

MAX_SCORES = 100_000
"""If a shard has more distinct scores, neighbouring scores are averaged."""


def _weighted_scores(scores: Array, positive: NDArray[np.bool_], weight: Array) -> WeightedScores:
    """Sum the weights of rows with equal scores."""
    found = []
    for side in (False, True):
        own = positive == side
        values, numbers = np.unique(scores[own], return_inverse=True)
        sums = np.bincount(numbers, weight[own], len(values))
        if len(values) > MAX_SCORES:
            begins = np.linspace(0, len(values), MAX_SCORES, endpoint=False).astype(np.intp)
            together = np.add.reduceat(sums, begins)
            values, sums = np.add.reduceat(values * sums, begins) / together, together
        found.append((values, np.full(len(values), side), sums))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


BYTES_OF_A_ROW = 46
"""Memory per row besides its bins: order, sample weight, weight, score, prediction, mark, list of changed rows."""


class ShardExecutor(Protocol):
    """Holds the shards and runs their operations."""

    def ask(self, log: Log) -> Answer:
        """Apply the log on every shard and return the sum of their answers."""

    def weighted_scores(self, log: Log, class_weight: Array) -> list[list[WeightedScores]]:
        """Scores of every shard after the whole log."""


class ShardedBackend:
    """Training state in shards.

    A round needs one request to the shards, two if the costs follow the error rates. The answer to the last request of
    a round contains the histogram of the next round. Several two-class problems, each with its `code`, share a log.
    """

    def __init__(
        self,
        plan: Plan,
        bin_mapper: BinMapper,
        class_weight: Array,
        n_rows: int,
        criterion: str,
        executor: ShardExecutor,
        code: NDArray[np.int8] | None = None,
        log: list[Begin | Vote | Reweigh] | None = None,
        monotonic_cst: MonotonicCst | None = None,
    ) -> None:
        self.plan, self.bin_mapper, self.executor = plan, bin_mapper, executor
        self.given_weight, self.n_rows, self.vote_costs = class_weight, n_rows, plan.costs
        initial = plan.rule.initial(plan.costs) * class_weight
        self.class_weight = initial / initial.sum()
        self._splitter = Splitter(bin_mapper, len(class_weight), criterion, plan.negative_class, monotonic_cst)
        self.log = [] if log is None else log
        self._answer = self._ask(Begin(plan) if code is None else Begin(plan, code, class_weight))
        self._split: Split

    def _ask(self, *entries: Begin | Vote | Reweigh) -> Answer:
        self.log += entries
        return self.executor.ask(self.log)

    def fit(self, t: int) -> tuple[Any, Array, Array]:
        histogram, scale = self._answer.histogram, np.ones(len(self.given_weight))
        assert histogram is not None
        self._splitter.find_best(histogram, scale, self.class_weight, 0, len(self.bin_mapper.features))
        self._split, W = self._splitter.choose(histogram, scale)
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

    def end(self) -> None:
        """End the log: subtract the votes after the last complete round, which are those of a discarded one."""
        discarded = list(takewhile(lambda entry: isinstance(entry, Vote), reversed(self.log)))
        alpha = sum(vote.alpha for vote in discarded)
        if np.any(alpha != 0.0):
            self.log.append(discarded[0]._replace(alpha=-alpha))

    def scores(self, class_weight: Array) -> list[WeightedScores]:
        """Scores after all rounds, as in `Shard.weighted_scores`, concatenated over all shards."""
        self.end()
        weighted_scores = self.executor.weighted_scores(self.log, class_weight)
        return [
            tuple(np.concatenate(parts) for parts in zip(*by_shard, strict=True))  # type: ignore[misc]
            for by_shard in zip(*weighted_scores, strict=True)
        ]

    def models(self, fitted: list[Any]) -> Models:
        return Stumps(np.array(fitted, dtype=dtypes.STUMP), self.bin_mapper)

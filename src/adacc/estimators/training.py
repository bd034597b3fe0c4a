"""From checked data and settings to an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.costs import class_costs
from adacc.engine.binning import Binning, Coder
from adacc.engine.ensemble import Ensemble
from adacc.engine.ground import Audience, Here, Plan
from adacc.engine.groups import GroupDraw, GroupSubsampler
from adacc.engine.layout import Layout
from adacc.engine.learners import ClassifierLearner, Learner, StumpLearner
from adacc.engine.loop import Boosting
from adacc.engine.rows import Rows
from adacc.engine.samplers import KeptSmote, Sampler, Smote, Subsampler
from adacc.engine.table import Table
from adacc.engine.threads import Threads
from adacc.engine.trees import TreeLearner
from adacc.estimators.calibration import Calibrator
from adacc.estimators.folds import tuning_folds
from adacc.estimators.settings import Settings
from adacc.rules.base import Array


@dataclass(frozen=True)
class Problem:
    """Rows with their classes as numbers, and their weights, none of them zero.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows,)
        The user's number of each row.
    groups : ndarray of shape (n_rows,) or None
        Number of each row's group: no split separates the rows of a group.
    """

    table: Table
    y: NDArray[np.intp]
    weight: Array
    classes: NDArray[Any]
    tie_class: int
    numbers: NDArray[np.intp]
    groups: NDArray[np.intp] | None = None

    @cached_property
    def rows(self) -> Rows:
        return Rows.group(self.y, len(self.classes), self.weight)

    def plan(self, settings: Settings) -> Plan:
        return make_plan(settings, self.classes, self.rows.class_weight, self.tie_class)

    def subset(self, rows: NDArray[np.intp]) -> Problem:
        return replace(
            self,
            table=self.table.take(rows),
            y=self.y[rows],
            weight=as_counts(self.weight[rows]),
            numbers=self.numbers[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def split(self, fraction: float, seed: int) -> tuple[Problem, Problem]:
        """A part to train on and one to watch, each with rows of every class; groups stay whole."""
        rng = np.random.default_rng(seed)
        if self.groups is not None:
            return self._split_groups(fraction, rng)
        watched = np.zeros(len(self.y), dtype=bool)
        for k, label in enumerate(self.classes.tolist()):
            members = rng.permutation(np.flatnonzero(self.y == k))
            if len(members) < 2:
                raise ValueError(
                    "early stopping (n_iter_no_change) holds out rows of every class, "
                    f"but {label!r} has only one: give X_val and y_val"
                )
            watched[members[: min(max(round(fraction * len(members)), 1), len(members) - 1)]] = True
        return self.subset(np.flatnonzero(~watched)), self.subset(np.flatnonzero(watched))

    def _split_groups(self, fraction: float, rng: np.random.Generator) -> tuple[Problem, Problem]:
        assert self.groups is not None
        n_classes = len(self.classes)
        trained = GroupDraw(self.groups, self.y, n_classes).draw(1.0 - fraction, rng)
        missing = np.setdiff1d(np.arange(n_classes), self.y[~trained])
        if len(missing):
            raise ValueError(
                "early stopping (n_iter_no_change) holds out groups with rows of every class, but the groups that "
                f"could be held out have none of {self.classes.tolist()[missing[0]]!r}: give X_val and y_val"
            )
        return self.subset(np.flatnonzero(trained)), self.subset(np.flatnonzero(~trained))


MOST_ROWS = 1e15
LEAST_WEIGHT = 1e-200
"""Of lighter rows, beside others that count as a row or more, the products and inverses would leave floats' range."""


class Weighing(NamedTuple):
    """What must be known of all weights to read them as numbers of rows.

    Attributes
    ----------
    largest : float
        The largest weight.
    whole : float
        The sum of all, the largest being 1.
    n_rows : int
        Those that are not zero.
    """

    largest: float
    whole: float
    n_rows: int

    @classmethod
    def of(cls, weight: Array) -> Weighing:
        largest = float(weight.max(initial=0.0))
        return cls(largest, float((weight / (largest or 1.0)).sum()), int(np.count_nonzero(weight)))

    def __or__(self, other: Weighing) -> Weighing:
        largest = max(self.largest, other.largest)
        whole = sum(each.whole * (each.largest / (largest or 1.0)) for each in (self, other))
        return Weighing(largest, whole, self.n_rows + other.n_rows)

    def counts(self, weight: Array) -> Array:
        """Weights as numbers of rows: those that add up to fewer than the rows there are, or to a number out of all
        reason, say only how rows compare, and are brought to an average of 1 or to `MOST_ROWS`. No row that counts
        counts less than `LEAST_WEIGHT`.
        """
        largest, whole, n_rows = self
        counts = weight
        if not n_rows / whole <= largest <= MOST_ROWS / whole:
            counts = weight / largest * (n_rows if largest < n_rows / whole else MOST_ROWS) / whole
        return np.where(weight > 0.0, np.maximum(counts, LEAST_WEIGHT), 0.0)


def as_counts(weight: Array) -> Array:
    """Weights as numbers of rows; see `Weighing`."""
    return Weighing.of(weight).counts(weight)


class Bench:
    """Rows made ready for boosting, by one model or by `several`: the codes are made once.

    Attributes
    ----------
    problem : Problem
        The training rows.
    held_out : Problem or None
        Rows to watch.
    start : Ensemble or None
        What to go on from.
    """

    def __init__(
        self,
        settings: Settings,
        problem: Problem,
        held_out: Problem | None,
        start: Ensemble | None,
        threads: Threads,
        several: bool = False,
    ) -> None:
        self.problem, self.held_out, self.start, self._several = problem, held_out, start, several
        self._layout: Layout | None = None
        if settings.estimator is None:
            source: Binning | Coder = Binning(problem.rows.weight, settings.max_bins)
            if start is not None:
                source = start.models.coder  # type: ignore[attr-defined]
            collapse = not settings.draws_rows  # one by one
            columns = partial(source.columns, problem.table)
            self._layout = Layout(columns, problem.table.n_columns, problem.rows, threads, collapse)
        self.prepared: Any = None
        if held_out is not None:
            self.prepared = self.learner(settings, threads).prepare(held_out.table, held_out.rows.order)

    def learner(self, settings: Settings, threads: Threads) -> Learner:
        if self._layout is None:
            return ClassifierLearner(settings.estimator, self.problem.table, self.problem.rows, settings.seed)
        if not settings.growth.is_stump:
            layout = self._layout
            return TreeLearner(
                layout.matrix, layout.rows, layout.coder, settings.criterion, self.problem.tie_class, settings.growth,
                settings.seed,
            )  # fmt: skip
        histogram = self._layout.copy_histogram() if self._several else self._layout.histogram
        return StumpLearner(self._layout, histogram, settings.criterion, self.problem.tie_class, threads)


class Watch:
    """Recall of each class on held-out rows, round by round; says stop when balanced accuracy has not risen for long.

    Attributes
    ----------
    recall : list of ndarray
        After each round.
    """

    def __init__(self, bench: Bench, plan: Plan, learner: Learner, patience: int | None) -> None:
        held_out = bench.held_out
        assert held_out is not None
        self.learner, self.patience = learner, patience
        self.audience = Audience(held_out.rows, plan)
        self.prepared = bench.prepared
        self.present = held_out.rows.class_weight > 0
        self.recall: list[Array] = []
        self.accuracy: list[float] = []
        if bench.start is not None:
            past = bench.start.models.cells(held_out.table, held_out.rows.order)
            for cells, votes in zip(past, bench.start.votes, strict=True):
                self._hear(cells, votes)

    @property
    def best_round(self) -> int:
        return int(np.argmax(self.accuracy))

    def __call__(self, boosting: Boosting, model: Any) -> bool:
        self._hear(self.learner.see(model, self.prepared), boosting.rounds[-1].alpha)
        return self.patience is not None and len(self.accuracy) - 1 - self.best_round >= self.patience

    def _hear(self, cells: Any, alpha: Any) -> None:
        self.recall.append(self.audience.hear(cells, alpha))
        self.accuracy.append(float(self.recall[-1][self.present].mean()))


AfterRound = Callable[[Boosting, bool], bool]
"""Told of each round, and whether early stopping ends boosting with it; says whether to stop."""


class Trained(NamedTuple):
    """An ensemble, whether already its first learner was no better than chance, and its recall on held-out rows."""

    ensemble: Ensemble
    failed: bool
    held_out_recall: Array | None


def train(
    settings: Settings,
    problem: Problem,
    held_out: Problem | None = None,
    start: Ensemble | None = None,
    after_round: AfterRound = lambda *_: False,
) -> Trained:
    """Boost.

    With `held_out` rows and patience the ensemble ends at the round that did best on them; with `start` it goes on from
    there.
    """
    with Threads(settings.n_threads) as threads:
        bench = Bench(settings, problem, held_out, start, threads)
        return train_on(bench, [settings], threads, after_round)[0]


def train_on(
    bench: Bench, several: list[Settings], threads: Threads, after_round: AfterRound = lambda *_: False
) -> list[Trained]:
    """As `train`, on rows that are ready; the settings may differ from the bench's in what the rows do not depend on.

    Several at once if they differ in nothing but costs that only decide: they are boosted once.
    """
    settings, problem, start = several[0], bench.problem, bench.start
    plan, *alike = plans = [problem.plan(each) for each in several]
    learner = bench.learner(settings, threads)
    sampler = _sampler(settings, problem, learner, start)
    ground = Here(plan, learner, sampler, alike, settings.out_of_bag)
    boosting = Boosting(ground, goes_on=settings.subsample < 1.0)
    if start is not None:
        boosting.resume(start, ground.replay(start, problem.table))
    watched = [] if bench.held_out is None else plans
    watches = [Watch(bench, each, learner, settings.patience) for each in watched]

    def ask_all(boosting: Boosting, model: Any) -> bool:
        stops = False
        for watch in watches:  # all of them: each must hear the round
            stops = watch(boosting, model) or stops
        return after_round(boosting, stops) or stops

    boosting.run(settings.n_rounds, ask_all)
    model = boosting.ensemble()
    ensembles = zip_longest([model, *ground.decided_otherwise(model)], watches)
    return [_trained(boosting, ensemble, watch, settings.patience) for ensemble, watch in ensembles]


def _trained(boosting: Boosting, ensemble: Ensemble, watch: Watch | None, patience: int | None) -> Trained:
    if watch is None:
        return Trained(ensemble, boosting.failed_at_once, None)
    if patience is not None:
        ensemble.history["validation_balanced_accuracy"] = np.array(watch.accuracy)
        ensemble = ensemble.first(watch.best_round + 1)
    return Trained(ensemble, boosting.failed_at_once, np.array(watch.recall))


def make_plan(settings: Settings, classes: NDArray[Any], class_weight: Array, tie_class: int) -> Plan:
    """The rule with the costs of these classes."""
    rule = settings.rule
    costs = np.ones(len(classes))
    if rule.uses_costs:
        costs = class_costs(settings.options["costs"], classes, class_weight)
    # A method that decides by probabilities applies its costs to these, not to the votes.
    decision = rule.decision(np.ones_like(costs) if settings.decides_by_probability else costs)
    return Plan(rule, costs, decision, settings.learning_rate, tie_class)


def _sampler(settings: Settings, problem: Problem, learner: Learner, start: Ensemble | None) -> Sampler | None:
    options, rows = settings.options, problem.rows
    if settings.method.sampler == "under-sample":
        return Subsampler.under(rows, settings.seed, options["sampling_ratio"])
    if settings.method.sampler == "smote":
        return _smote(settings, problem, learner, start)
    if settings.out_of_bag and problem.groups is not None:
        return GroupSubsampler(rows, problem.groups[rows.order], settings.seed, settings.subsample)
    return None if settings.subsample == 1.0 else Subsampler.share(rows, settings.seed, settings.subsample)


def _smote(settings: Settings, problem: Problem, learner: Learner, start: Ensemble | None) -> Smote:
    options = settings.options
    n_before = 0 if start is None else len(start)
    common = settings.seed, options["n_synthetic"], options["k_neighbors"]
    if settings.rule.dialect == "paper":
        return Smote(problem.table, problem.rows, learner.prepare, range(n_before, settings.n_rounds), *common)
    sampler = KeptSmote(problem.table, problem.rows, learner.prepare, range(settings.n_rounds), *common)
    if start is not None and sampler.made is not None:
        sampler.replay(zip(start.models.cells(sampler.made, sampler.made.every_row), start.factors, strict=True))
    return sampler


def calibrate(settings: Settings, problem: Problem, ensemble: Ensemble, kind: str) -> tuple[Calibrator, Array | None]:
    """What turns the scores into probabilities, and what these are multiplied by where they decide."""
    cv, rows = settings.options["calibration_cv"], np.arange(len(problem.y))
    if cv is None:
        scores = ensemble.scores(problem.table)
    else:
        rows, scores = held_out_scores(replace(settings, n_rounds=len(ensemble)), problem, cv)
    terms, y = calibration_terms(settings, problem.plan(settings)), problem.y[rows]
    weight = problem.weight[rows] * terms.class_weight[y]
    return Calibrator.fit(kind, scores, y, len(problem.classes), weight, terms.rising), terms.multipliers


class CalibrationTerms(NamedTuple):
    """What rows of each class weigh in calibration, what probabilities are multiplied by where they decide, and
    whether these must rise with the score, since it is the score that decides.
    """

    class_weight: Array
    multipliers: Array | None
    rising: bool


def calibration_terms(settings: Settings, plan: Plan) -> CalibrationTerms:
    if not settings.decides_by_probability:
        # Frequencies among the rows as they are, whatever weights the method gave them in training.
        return CalibrationTerms(np.ones(len(plan.costs)), None, True)
    return CalibrationTerms(plan.rule.initial(plan.costs), plan.rule.decision(plan.costs), False)


def held_out_scores(settings: Settings, problem: Problem, cv: Any) -> tuple[NDArray[np.intp], Array]:
    """Rows that are held out by folds, and their scores from ensembles that were trained without them."""
    folds = tuning_folds(cv, problem.y, problem.classes, problem.groups, settings.seed, "calibration_cv")
    scores = [
        train(settings, problem.subset(training)).ensemble.scores(problem.table.take(held_out))
        for training, held_out in folds
    ]
    return np.concatenate([held_out for _, held_out in folds]), np.concatenate(scores)

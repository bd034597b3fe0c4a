"""From checked data and settings to an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from adacc.costs import class_costs
from adacc.engine.binning import Binning, Coder
from adacc.engine.ensemble import Ensemble
from adacc.engine.learners import ClassifierLearner, Learner, StumpLearner
from adacc.engine.loop import Audience, Boosting, Plan
from adacc.engine.rows import Rows
from adacc.engine.samplers import Sampler, Smote, UnderSampler
from adacc.engine.table import Table
from adacc.engine.threads import Threads
from adacc.estimators.settings import Settings
from adacc.rules.base import Array


@dataclass(frozen=True)
class Problem:
    """Rows with their classes as numbers, and their weights, none of them zero."""

    table: Table
    y: NDArray[np.intp]
    weight: Array
    classes: NDArray[Any]
    tie_class: int

    @cached_property
    def rows(self) -> Rows:
        return Rows.group(self.y, len(self.classes), self.weight)

    def subset(self, rows: NDArray[np.intp]) -> Problem:
        return replace(self, table=self.table.take(rows), y=self.y[rows], weight=self.weight[rows])

    def split(self, fraction: float, seed: int) -> tuple[Problem, Problem]:
        """A part to train on and one to watch, each with rows of every class."""
        rng = np.random.default_rng(seed)
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


class Watch:
    """Balanced accuracy on held-out rows, round by round; says stop when it has not risen for a while."""

    def __init__(self, held_out: Problem, plan: Plan, learner: Learner, patience: int, start: Ensemble | None) -> None:
        self.learner, self.patience = learner, patience
        self.audience = Audience(held_out.rows, plan)
        self.prepared = learner.prepare(held_out.table, held_out.rows.order)
        self.present = held_out.rows.class_weight > 0
        self.accuracy: list[float] = []
        if start is not None:
            for cells, votes in zip(start.models.cells(held_out.table, held_out.rows.order), start.votes, strict=True):
                self._hear(cells, votes)

    @property
    def best_round(self) -> int:
        return int(np.argmax(self.accuracy))

    def __call__(self, boosting: Boosting, model: Any) -> bool:
        self._hear(self.learner.see(model, self.prepared), boosting.rounds[-1].alpha)
        return len(self.accuracy) - 1 - self.best_round >= self.patience

    def _hear(self, cells: Any, alpha: Any) -> None:
        self.accuracy.append(float(self.audience.hear(cells, alpha)[self.present].mean()))


AfterRound = Callable[[Boosting, bool], bool]
"""Told of each round, and whether early stopping ends boosting with it; says whether to stop."""


def train(
    settings: Settings,
    problem: Problem,
    held_out: Problem | None = None,
    start: Ensemble | None = None,
    after_round: AfterRound = lambda *_: False,
) -> tuple[Ensemble, bool]:
    """Boost; the ensemble, and whether already its first learner was no better than chance.

    With `held_out` rows the ensemble ends at the round that did best on them; with `start` it goes on from there.
    """
    plan = make_plan(settings, problem)
    watch: Watch | None = None
    with Threads(settings.n_threads) as threads:
        learner = _learner(settings, problem, start, threads)
        n_before = 0 if start is None else len(start)
        boosting = Boosting(plan, problem.rows, learner, _sampler(settings, problem, learner, n_before))
        if start is not None:
            boosting.resume(start, problem.table)
        if held_out is not None and settings.patience is not None:
            watch = Watch(held_out, plan, learner, settings.patience, start)

        def ask_all(boosting: Boosting, model: Any) -> bool:
            stops = watch is not None and watch(boosting, model)
            return bool(after_round(boosting, stops)) or stops

        boosting.run(settings.n_rounds, ask_all)
    ensemble = boosting.ensemble()
    if watch is not None:
        ensemble.history["validation_balanced_accuracy"] = np.array(watch.accuracy)
        ensemble = ensemble.first(watch.best_round + 1)
    return ensemble, boosting.failed_at_once


def make_plan(settings: Settings, problem: Problem) -> Plan:
    """The rule with this problem's costs."""
    rule = settings.rule
    costs = np.ones(len(problem.classes))
    if rule.uses_costs:
        costs = class_costs(settings.options["costs"], problem.classes, problem.rows.class_weight)
    # A calibrated method applies its costs to the probabilities, not to the votes.
    decision = rule.decision(costs if settings.calibration is None else np.ones_like(costs))
    return Plan(rule, costs, decision, settings.learning_rate, problem.tie_class)


def _learner(settings: Settings, problem: Problem, start: Ensemble | None, threads: Threads) -> Learner:
    if settings.estimator is not None:
        return ClassifierLearner(settings.estimator, problem.table, problem.rows, settings.seed)
    if start is None:
        source: Binning | Coder = Binning(problem.rows.weight, settings.max_bins)
    else:
        source = start.models.coder  # type: ignore[attr-defined]
    return StumpLearner(source, problem.table, problem.rows, settings.criterion, problem.tie_class, threads)


def _sampler(settings: Settings, problem: Problem, learner: Learner, n_before: int) -> Sampler | None:
    options, rows = settings.options, problem.rows
    if settings.method.sampler == "under-sample":
        return UnderSampler(rows, settings.seed, options["sampling_ratio"])
    if settings.method.sampler == "smote":
        rounds = range(n_before, settings.n_rounds)
        return Smote(
            problem.table, rows, learner.prepare, rounds, settings.seed, options["n_synthetic"], options["k_neighbors"]
        )
    return None


def held_out_scores(settings: Settings, problem: Problem, n_folds: int) -> Array:
    """Scores of every row from ensembles that were trained without it."""
    counts = np.diff(problem.rows.starts)
    if counts.min() < n_folds:
        label = problem.classes.tolist()[counts.argmin()]
        raise ValueError(
            f"calibration_cv={n_folds} needs as many rows of every class, but {label!r} has {counts.min()}"
        )
    shape = (len(problem.y),) if len(problem.classes) == 2 else (len(problem.y), len(problem.classes))
    scores = np.empty(shape)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=settings.seed)
    for training, rest in folds.split(np.zeros(len(problem.y)), problem.y):
        ensemble, _ = train(settings, problem.subset(training))
        scores[rest] = ensemble.scores(problem.table.take(rest))
    return scores

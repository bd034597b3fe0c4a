"""From checked data and settings to an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.early_stopping import EarlyStopping
from adacc.boosting.local import LocalBackend
from adacc.boosting.loop import Boosting
from adacc.boosting.samplers import GroupSubsampler, KeptSmote, Sampler, Smote, Subsampler
from adacc.boosting.settings import Settings
from adacc.costs import class_costs
from adacc.data.binned import BinnedDataset
from adacc.data.binning import BinMapper, Binning
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.learners.base import Learner, LearnerInput
from adacc.learners.catalog import LEARNERS
from adacc.learners.external import ClassifierLearner
from adacc.model.ensemble import Ensemble


class FitSession:
    """Rows made ready for boosting, by one model or by `several`: the codes are made once.

    Attributes
    ----------
    problem : TrainingSet
        The training rows.
    held_out : TrainingSet or None
        Rows to watch.
    start : Ensemble or None
        What to go on from.
    """

    def __init__(
        self,
        settings: Settings,
        problem: TrainingSet,
        held_out: TrainingSet | None,
        start: Ensemble | None,
        threads: Threads,
        several: bool = False,
    ) -> None:
        self.problem, self.held_out, self.start, self._several = problem, held_out, start, several
        self._layout: BinnedDataset | None = None
        if settings.native_learner is not None:
            source: Binning | BinMapper = Binning(problem.rows.weight, settings.max_bins)
            if start is not None and start.models.bin_mapper is not None:
                source = start.models.bin_mapper
            collapse = not settings.draws_rows  # one by one
            columns = partial(source.columns, problem.table)
            self._layout = BinnedDataset(columns, problem.table.n_columns, problem.rows, threads, collapse)
        self.prepared: Any = None
        if held_out is not None:
            self.prepared = self.learner(settings, threads).prepare(held_out.table, held_out.rows.order)

    def learner(self, settings: Settings, threads: Threads) -> Learner:
        if self._layout is None or settings.native_learner is None:
            return ClassifierLearner(settings.estimator, self.problem.table, self.problem.rows, settings.seed)
        return LEARNERS[settings.native_learner].make(
            LearnerInput(
                self._layout, settings.criterion, self.problem.negative_class, settings.growth, settings.seed,
                threads, self._several,
            )
        )  # fmt: skip


AfterRound = Callable[[Boosting, bool], bool]
"""Told of each round, and whether early stopping ends boosting with it; says whether to stop."""


class Trained(NamedTuple):
    """An ensemble, whether already its first learner was no better than chance, and its recall on held-out rows."""

    ensemble: Ensemble
    failed: bool
    held_out_recall: Array | None


def train(
    settings: Settings,
    problem: TrainingSet,
    held_out: TrainingSet | None = None,
    start: Ensemble | None = None,
    after_round: AfterRound = lambda *_: False,
) -> Trained:
    """Boost.

    With `held_out` rows and patience the ensemble ends at the round that did best on them; with `start` it goes on from
    there.
    """
    with Threads(settings.n_threads) as threads:
        session = FitSession(settings, problem, held_out, start, threads)
        return train_on(session, [settings], threads, after_round)[0]


def train_on(
    session: FitSession, several: list[Settings], threads: Threads, after_round: AfterRound = lambda *_: False
) -> list[Trained]:
    """As `train`, on rows that are ready; the settings may differ from the session's in what the rows do not depend on.

    Several at once if they differ in nothing but costs that only decide: they are boosted once.
    """
    settings, problem, start = several[0], session.problem, session.start
    plan, *alike = plans = [plan_for(each, problem) for each in several]
    learner = session.learner(settings, threads)
    sampler = _sampler(settings, problem, learner, start)
    backend = LocalBackend(plan, learner, sampler, alike, settings.out_of_bag)
    boosting = Boosting(backend, goes_on=settings.subsample < 1.0)
    if start is not None:
        boosting.resume(start, backend.replay(start, problem.table))
    watches: list[EarlyStopping] = []
    if session.held_out is not None:
        about = session.held_out, session.prepared, start
        watches = [EarlyStopping(*about, each, learner, settings.patience) for each in plans]

    def ask_all(boosting: Boosting, model: Any) -> bool:
        stops = False
        for watch in watches:  # all of them: each must see the round
            stops = watch(boosting, model) or stops
        return after_round(boosting, stops) or stops

    boosting.run(settings.n_rounds, ask_all)
    model = boosting.ensemble()
    ensembles = zip_longest([model, *backend.decided_otherwise(model)], watches)
    return [_trained(boosting, ensemble, watch, settings.patience) for ensemble, watch in ensembles]


def _trained(boosting: Boosting, ensemble: Ensemble, watch: EarlyStopping | None, patience: int | None) -> Trained:
    if watch is None:
        return Trained(ensemble, boosting.failed_at_once, None)
    if patience is not None:
        ensemble.history["validation_balanced_accuracy"] = np.array(watch.accuracy)
        ensemble = ensemble.first(watch.best_round + 1)
    return Trained(ensemble, boosting.failed_at_once, np.array(watch.recall))


def make_plan(settings: Settings, classes: NDArray[Any], class_weight: Array, negative_class: int) -> Plan:
    """The rule with the costs of these classes."""
    rule = settings.rule
    costs = np.ones(len(classes))
    if rule.uses_costs:
        costs = class_costs(settings.options["costs"], classes, class_weight)
    # A method that decides by probabilities applies its costs to these, not to the votes.
    decision = rule.decision(np.ones_like(costs) if settings.decides_by_probability else costs)
    return Plan(rule, costs, decision, settings.learning_rate, negative_class)


def plan_for(settings: Settings, problem: TrainingSet) -> Plan:
    """The rule with the costs of a training set."""
    return make_plan(settings, problem.classes, problem.rows.class_weight, problem.negative_class)


def _sampler(settings: Settings, problem: TrainingSet, learner: Learner, start: Ensemble | None) -> Sampler | None:
    options, rows = settings.options, problem.rows
    if settings.method.sampler == "under-sample":
        return Subsampler.under(rows, settings.seed, options["sampling_ratio"])
    if settings.method.sampler == "smote":
        return _smote(settings, problem, learner, start)
    if settings.out_of_bag and problem.groups is not None:
        return GroupSubsampler(rows, problem.groups[rows.order], settings.seed, settings.subsample)
    return None if settings.subsample == 1.0 else Subsampler.share(rows, settings.seed, settings.subsample)


def _smote(settings: Settings, problem: TrainingSet, learner: Learner, start: Ensemble | None) -> Smote:
    options = settings.options
    n_before = 0 if start is None else len(start)
    common = settings.seed, options["n_synthetic"], options["k_neighbors"]
    if settings.rule.dialect == "paper":
        return Smote(problem.table, problem.rows, learner.prepare, range(n_before, settings.n_rounds), *common)
    sampler = KeptSmote(problem.table, problem.rows, learner.prepare, range(settings.n_rounds), *common)
    if start is not None and sampler.made is not None:
        sampler.replay(zip(start.models.cells(sampler.made, sampler.made.every_row), start.factors, strict=True))
    return sampler

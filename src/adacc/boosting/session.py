"""Training: from checked data and settings to an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.early_stopping import EarlyStopping
from adacc.boosting.local_backend import LocalBackend
from adacc.boosting.loop import Boosting
from adacc.boosting.problems import SharedBins, problem_rows, problem_settings
from adacc.boosting.row_costs import RowCostBackend, row_costs
from adacc.boosting.samplers import GroupSubsampler, KeptSmote, Sampler, Smote, Subsampler
from adacc.boosting.settings import Settings
from adacc.costs import class_costs
from adacc.data.binned import BinnedDataset, Columns
from adacc.data.binning import Binning
from adacc.data.rows import Rows
from adacc.data.threads import Threads
from adacc.data.training_set import TrainingSet
from adacc.learners.base import Learner, LearnerInput
from adacc.learners.catalog import LEARNERS
from adacc.learners.external import ClassifierLearner
from adacc.model.coding import Codes
from adacc.model.ensemble import Ensemble, join


class FitSession:
    """Binned training rows, shared by all models that are boosted on them.

    With `several`, every learner gets its own copy of the histogram. `read` returns the binned rows, and merges
    equal ones if its second argument is true; None: the table is binned here.

    Attributes
    ----------
    training_set : TrainingSet
        The training rows.
    held_out : TrainingSet or None
        Rows for early stopping, or to measure recall on.
    start : Ensemble or None
        Ensemble to continue from.
    """

    def __init__(
        self,
        settings: Settings,
        training_set: TrainingSet,
        held_out: TrainingSet | None,
        start: Ensemble | None,
        threads: Threads,
        several: bool = False,
        read: Callable[[Rows, bool], BinnedDataset] | None = None,
    ) -> None:
        if start is not None and start.contributions.shape[1] > start.votes.shape[1]:  # as in an edited model file
            raise ValueError("boosting cannot continue from trees whose leaves divide their vote: fit a new model")
        self.training_set, self.held_out, self.start, self._several = training_set, held_out, start, several
        self._binned: BinnedDataset | None = None
        if settings.native_learner is not None:
            # Samplers draw single rows, and rows with equal bins may have different costs.
            collapse = not settings.draws_rows and training_set.cost is None
            if read is not None:
                self._binned = read(training_set.rows, collapse)
            else:
                self._binned = _binned(settings, training_set, start, threads, collapse)
        self.prepared: Any = None
        if held_out is not None:
            self.prepared = self.learner(settings, threads).prepare(held_out.table, held_out.rows.order)

    def learner(self, settings: Settings, threads: Threads) -> Learner:
        if self._binned is None or settings.native_learner is None:
            return ClassifierLearner(settings.estimator, self.training_set.table, self.training_set.rows, settings.seed)
        return LEARNERS[settings.native_learner].make(
            LearnerInput(
                self._binned, settings.criterion, self.training_set.negative_class, settings.growth, settings.seed,
                threads, self._several, settings.monotonic_cst,
            )
        )  # fmt: skip


def _binned(
    settings: Settings, training_set: TrainingSet, start: Ensemble | None, threads: Threads, collapse: bool
) -> BinnedDataset:
    """The binned training rows, by the bins of `start` if there are any."""
    table, rows = training_set.table, training_set.rows
    if start is not None and start.models.bin_mapper is not None:
        columns: Columns = partial(start.models.bin_mapper.columns, table)
    else:
        columns = partial(Binning(rows.weight, settings.max_bins).columns, table)
    return BinnedDataset.read(columns, table.n_columns, rows, threads, collapse)


AfterRound = Callable[[Boosting, bool], bool]
"""Callback of each round. Its second argument tells whether early stopping ends boosting; returns whether to stop."""


class Trained(NamedTuple):
    """An ensemble, whether its first learner was no better than chance, and its recall on held-out rows."""

    ensemble: Ensemble
    failed: bool
    held_out_recall: Array | None


def train(
    settings: Settings,
    training_set: TrainingSet,
    held_out: TrainingSet | None = None,
    start: Ensemble | None = None,
    after_round: AfterRound = lambda *_: False,
) -> Trained:
    """Train an ensemble.

    With `held_out` rows and patience the ensemble ends at the round of the best balanced accuracy on these rows. With
    `start`, boosting continues from that ensemble. Two-class problems are boosted independently, each with its own
    early stopping.
    """
    codes = settings.codes(len(training_set.classes))
    with Threads(settings.n_threads) as threads:
        if codes is not None:
            return _train_problems(settings, training_set, codes, held_out, start, threads, after_round)
        session = FitSession(settings, training_set, held_out, start, threads)
        return train_on(session, [settings], threads, after_round)[0]


def _train_problems(
    settings: Settings,
    training_set: TrainingSet,
    codes: Codes,
    held_out: TrainingSet | None,
    start: Ensemble | None,
    threads: Threads,
    after_round: AfterRound,
) -> Trained:
    """Boost every two-class problem, one per thread, on the bins of all rows."""
    if training_set.cost is not None:  # every row keeps the cost of its own class in all problems
        training_set = replace(training_set, cost=row_costs(settings, training_set))
        settings = settings.with_costs("balanced")
    shared = None
    if settings.native_learner is not None:
        shared = SharedBins(_binned(settings, training_set, start, threads, collapse=False))

    def boost(p: int) -> Trained:
        problem, members = problem_rows(training_set, codes[p])
        its_settings = problem_settings(settings, training_set.classes, training_set.rows.class_weight, codes[p])
        session = FitSession(
            its_settings, problem, None if held_out is None else problem_rows(held_out, codes[p])[0],
            None if start is None else start.problem(p), Threads(1),
            read=None if shared is None else partial(shared.take, members),
        )  # fmt: skip
        return train_on(session, [its_settings], Threads(1), after_round)[0]

    trained = threads.each(boost, range(len(codes)))
    return Trained(join([each.ensemble for each in trained], codes), all(each.failed for each in trained), None)


def train_on(
    session: FitSession, several: list[Settings], threads: Threads, after_round: AfterRound = lambda *_: False
) -> list[Trained]:
    """Train on the rows of a session; the settings may differ from the session's where binning does not depend on them.

    Several settings may be given if they differ only in costs that enter the decision alone: these are boosted once.
    """
    settings, training_set, start = several[0], session.training_set, session.start
    plan, *decision_variants = plans = [plan_for(each, training_set) for each in several]
    learner = session.learner(settings, threads)
    sampler = _sampler(settings, training_set, learner, start)
    if training_set.cost is None:
        backend = LocalBackend(plan, learner, sampler, decision_variants, settings.out_of_bag)
    else:
        costs = row_costs(settings, training_set)
        backend = RowCostBackend(plan, learner, sampler, settings.out_of_bag, costs)
    boosting = Boosting(backend, skips_failed_rounds=settings.subsample < 1.0)
    if start is not None:
        boosting.resume(start, backend.replay(start, training_set.table))
    stoppers: list[EarlyStopping] = []
    if session.held_out is not None:
        stoppers = [
            EarlyStopping(session.held_out, session.prepared, start, each, learner, settings.patience) for each in plans
        ]

    def stop_after(boosting: Boosting, model: Any) -> bool:
        stops = False
        for stopper in stoppers:  # every stopper must record the round
            stops = stopper(boosting, model) or stops
        return after_round(boosting, stops) or stops

    boosting.run(settings.n_rounds, stop_after)
    ensemble = boosting.ensemble()
    check_monotone(settings, ensemble)
    ensembles = zip_longest([ensemble, *backend.variant_ensembles(ensemble)], stoppers)
    return [_trained(boosting, ensemble, stopper, settings.patience) for ensemble, stopper in ensembles]


def _trained(boosting: Boosting, ensemble: Ensemble, stopper: EarlyStopping | None, patience: int | None) -> Trained:
    if stopper is None:
        return Trained(ensemble, boosting.failed_at_once, None)
    if patience is not None:
        ensemble.history["validation_balanced_accuracy"] = np.array(stopper.accuracy)
        ensemble = ensemble.first(stopper.best_round + 1)
    return Trained(ensemble, boosting.failed_at_once, np.array(stopper.recall))


def check_monotone(settings: Settings, ensemble: Ensemble) -> None:
    """Raise an error if negative votes of a custom rule break the monotonic constraints of the weak models."""
    if settings.monotonic_cst is not None and (ensemble.votes.min() < 0.0 or ensemble.decision.min() < 0.0):
        raise ValueError(
            f"monotonic_cst needs a rule without negative votes, but {type(settings.rule).__name__} gave a vote of "
            f"{ensemble.votes.min():g}; set monotonic_cst=None, or change its vote or decision"
        )


def make_plan(settings: Settings, classes: NDArray[Any], class_weight: Array, negative_class: int) -> Plan:
    """The plan of these settings, with the cost of each class."""
    rule = settings.rule
    costs = np.ones(len(classes))
    if rule.uses_costs:
        costs = class_costs(settings.options["costs"], classes, class_weight)
    # A method that decides by calibrated probabilities applies the costs to these, not to the votes.
    decision = rule.decision(np.ones_like(costs) if settings.decides_by_probability else costs)
    return Plan(rule, costs, decision, settings.learning_rate, negative_class)


def plan_for(settings: Settings, training_set: TrainingSet) -> Plan:
    """The plan of these settings for a training set; with costs by row, the cost of a class is the mean of its rows."""
    class_weight = training_set.rows.class_weight
    plan = make_plan(settings, training_set.classes, class_weight, training_set.negative_class)
    if training_set.cost is None:
        return plan
    weighted = training_set.weight * row_costs(settings, training_set)
    return replace(plan, costs=np.bincount(training_set.y, weighted, len(class_weight)) / class_weight)


def _sampler(settings: Settings, training_set: TrainingSet, learner: Learner, start: Ensemble | None) -> Sampler | None:
    options, rows = settings.options, training_set.rows
    if settings.method.sampler == "under-sample":
        return Subsampler.under(rows, settings.seed, options["sampling_ratio"])
    if settings.method.sampler == "smote":
        return _smote(settings, training_set, learner, start)
    if settings.out_of_bag and training_set.groups is not None:
        return GroupSubsampler(rows, training_set.groups[rows.order], settings.seed, settings.subsample)
    return None if settings.subsample == 1.0 else Subsampler.share(rows, settings.seed, settings.subsample)


def _smote(settings: Settings, training_set: TrainingSet, learner: Learner, start: Ensemble | None) -> Smote:
    options = settings.options
    n_before = 0 if start is None else len(start)
    common = settings.seed, options["n_synthetic"], options["k_neighbors"]
    if not settings.rule.keeps_synthetic_rows:
        rounds = range(n_before, settings.n_rounds)
        return Smote(training_set.table, training_set.rows, learner.prepare, rounds, *common)
    sampler = KeptSmote(training_set.table, training_set.rows, learner.prepare, range(settings.n_rounds), *common)
    if start is not None and sampler.made is not None:
        sampler.replay(zip(start.models.leaves(sampler.made, sampler.made.every_row), start.factors, strict=True))
    return sampler

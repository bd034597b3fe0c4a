"""Trains the methods of adacc on one fold: data are binned once, and all costs and numbers of rounds share fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from adacc.algorithms.base import Array
from adacc.boosting.session import FitSession, Trained, plan_for
from adacc.boosting.settings import Settings
from adacc.data.columns import Table, read
from adacc.data.threads import Threads
from adacc.estimators.booster import settings_of
from adacc.estimators.classifiers import BoostingClassifier
from adacc.estimators.input_validation import read_training
from adacc.estimators.scoring import BY_COUNTS, scores_by_counts
from adacc.estimators.search import PAPER_COSTS, train_candidates
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.predictions import Predictions
from adacc.metrics import f1_of_counts
from adacc.model.calibration import Calibrator
from adacc.model.decision import decision_scores
from adacc.model.ensemble import Ensemble

VALIDATION_SHARE = 0.4
"""Share of the training rows on which costs are tuned if `tuned_on` is "validation"."""


@dataclass(frozen=True)
class TrainingOptions:
    """How the methods are trained; the defaults are those of the paper.

    Attributes
    ----------
    costs : tuple of float
        Candidate costs of the negative class; that of the positive class is 1.
    tuned_on : {"training", "validation"}
        Rows on which the cost has the best F1: the training rows, or a part of them that is held out.
    max_bins : int or None
        Maximum number of bins of a feature; None: one per distinct value.
    criterion : str
        Split criterion.
    """

    costs: tuple[float, ...] = PAPER_COSTS
    tuned_on: str = "training"
    max_bins: int | None = 255
    criterion: str = "gini"


class FoldTrainer:
    """Trains the methods on one fold of two classes; they share the binned rows.

    Parameters
    ----------
    fold : FoldData
        Training and test rows, numbers of rounds and the random seed.
    options : TrainingOptions
        Candidate costs, and how stumps are grown.
    """

    def __init__(self, fold: FoldData, options: TrainingOptions) -> None:
        self.fold, self.options, self.test = fold, options, read(_plain(fold.X_test))
        problem = read_training(BoostingClassifier(pos_label=1), _plain(fold.X), fold.y)
        self.problem, self.held_out = problem, None
        if options.tuned_on == "validation":
            self.problem, self.held_out = problem.split(VALIDATION_SHARE, fold.seed)
        self._threads = Threads(1)
        self._trained: dict[Any, Trained] = {}
        self._calibrators: dict[Any, Calibrator] = {}

    def bin_rows(self) -> None:
        """Bin the rows now, so that the time is not part of the first method's time."""
        _ = self._session

    def predict(self, method: str, dialect: str = "paper") -> dict[int, Predictions]:
        """Predictions for the test rows, by number of rounds."""
        settings = self._settings(method, dialect)
        if settings.rule.uses_costs:
            return dict(self._tuned(settings))
        (trained,) = self._train([settings])
        return {T: Predictions(*self._scores(settings, trained, T, self.test)) for T in self.fold.rounds}

    def _tuned(self, settings: Settings) -> Iterator[tuple[int, Predictions]]:
        """For each number of rounds, the predictions at the cost of best F1; ties go to the smallest cost."""
        costs = self.options.costs
        candidates = [settings.with_costs({0: cost, 1: 1.0}) for cost in costs]
        models = self._train(candidates)
        by_cost = np.array([self._f1_by_rounds(*pair) for pair in zip(candidates, models, strict=True)])
        for T, best in zip(self.fold.rounds, by_cost.argmax(axis=0).tolist(), strict=True):
            yield T, Predictions(*self._scores(candidates[best], models[best], T, self.test), costs[best])

    def _f1_by_rounds(self, settings: Settings, trained: Trained) -> Array:
        """F1 on the tuning rows after each number of rounds."""
        rounds, tuning = self.fold.rounds, self.held_out or self.problem
        if settings.calibration is None:
            return scores_by_counts(BY_COUNTS["f1"], trained, tuning, rounds)
        table, y, weight = self._training_rows if self.held_out is None else (tuning.table, tuning.y, tuning.weight)
        return np.array([_f1(self._scores(settings, trained, T, table)[0], y, weight) for T in rounds])

    def _scores(self, settings: Settings, trained: Trained, n_rounds: int, table: Table) -> tuple[Array, Array]:
        """Scores and probabilities after some rounds, equal to `decision_function` and `predict_proba`."""
        ensemble = first(trained, n_rounds)
        scores = ensemble.scores(table)
        if settings.calibration is None:
            return scores, expit(2.0 * scores)
        plan = plan_for(settings, self.problem)
        initial = plan.rule.initial(plan.costs)
        key = id(trained.ensemble), len(ensemble), initial.tobytes()
        if key not in self._calibrators:
            training, y, weight = self._training_rows
            training_scores = scores if table is training else ensemble.scores(training)
            self._calibrators[key] = Calibrator.fit_each(
                settings.calibration,
                [(training_scores, y == 1, weight * initial[y])],
                len(self.problem.y),
                rising=False,
            )
        probabilities = self._calibrators[key].probabilities(scores)
        return decision_scores(probabilities, plan.rule.decision(plan.costs)), probabilities[:, 1]

    @cached_property
    def _training_rows(self) -> tuple[Table, NDArray[Any], Array]:
        """Training rows as the learner stores them: duplicates are merged."""
        rows = self._session.learner(self._settings("adaboost"), self._threads).rows
        return self.problem.table.take(rows.order), rows.true.astype(np.intp), rows.weight

    def _train(self, several: list[Settings]) -> list[Trained]:
        """A model for each settings; settings that give the same ensemble share one fit."""
        plans = [plan_for(settings, self.problem) for settings in several]
        keys = []
        for settings, plan in zip(several, plans, strict=True):
            costs = () if plan.rule.costs_decide_only else plan.costs.tolist()
            keys.append((settings.method.sampler, plan.rule, *costs, *plan.decision.tolist()))
        new = {key: settings for key, settings in zip(keys, several, strict=True) if key not in self._trained}
        if new:
            session = self._session if several[0].method.sampler is None else self._make_session(several[0])
            self._trained.update(zip(new, train_candidates(session, [*new.values()], self._threads), strict=True))
        return [self._trained[key] for key in keys]

    @cached_property
    def _session(self) -> FitSession:
        return self._make_session(self._settings("adaboost"))

    def _make_session(self, settings: Settings) -> FitSession:
        return FitSession(settings, self.problem, self.held_out, None, self._threads, several=True)

    def _settings(self, method: str, dialect: str = "paper") -> Settings:
        model = BoostingClassifier(
            method,
            dialect=dialect,
            n_estimators=self.fold.rounds[-1],
            max_bins=self.options.max_bins,
            criterion=self.options.criterion,
            random_state=self.fold.seed,
        )
        return settings_of(model)


def _plain(X: Any) -> Any:
    """A numeric frame as an array: rows are scored about a hundred times, and arrays are faster to read."""
    if any(kind.kind not in "iuf" for kind in X.dtypes):
        return X
    return X.to_numpy(dtype=np.float64)


def first(trained: Trained, n_rounds: int) -> Ensemble:
    """The ensemble of the first `n_rounds` rounds, or of all rounds if boosting stopped before."""
    return trained.ensemble.first(min(n_rounds, len(trained.ensemble)))


def _f1(scores: Array, y: NDArray[np.intp], weight: Array) -> float:
    _, false_positives, false_negatives, true_positives = np.bincount(2 * y + (scores > 0.0), weight, 4)
    return float(f1_of_counts(true_positives, false_positives, false_negatives))

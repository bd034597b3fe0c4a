"""The methods of adacc on one training part: the data are coded once, every cost and number of rounds shares a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from adacc.algorithms.base import Array
from adacc.boosting.session import FitSession, Trained, plan_for, train_on
from adacc.boosting.settings import Settings
from adacc.data.columns import Table, read
from adacc.data.threads import Threads
from adacc.estimators.booster import settings_of
from adacc.estimators.classifiers import BoostingClassifier
from adacc.estimators.reading import read_training
from adacc.estimators.scoring import BY_COUNTS, Counts, scores_by_counts
from adacc.evaluation.predictions import Predictions
from adacc.model.calibration import Calibrator, decision_scores
from adacc.model.ensemble import Ensemble
from adacc.study.plan import Protocol, Variant

VALIDATION = 0.4
"""Share of a training part on which costs are tuned, where they are not tuned on all of it."""

F1 = BY_COUNTS["f1"]


class Family:
    """One training part, made ready for all methods.

    Parameters
    ----------
    protocol : Protocol
        The study.
    X, y : frame, array of 0 and 1
        Training rows; 1 is the positive class.
    X_test : frame
        Rows to score.
    seed : int
        Of samplers and of the split for tuning.
    """

    def __init__(self, protocol: Protocol, X: Any, y: NDArray[Any], X_test: Any, seed: int) -> None:
        self.protocol, self.seed, self.test = protocol, seed, read(_plain(X_test))
        problem = read_training(BoostingClassifier(pos_label=1), _plain(X), y)
        self.problem, self.held_out = problem, None
        if protocol.tuned_on == "validation":
            self.problem, self.held_out = problem.split(VALIDATION, seed)
        self._threads = Threads(1)
        self._trained: dict[Any, Trained] = {}
        self._calibrators: dict[Any, Calibrator] = {}

    def code(self) -> None:
        """Code the rows, which all methods share; otherwise the first of them does."""
        _ = self._session

    def scores(self, variant: Variant) -> dict[int, Predictions]:
        """Scores of the test rows for every number of rounds, positive where the positive class is predicted."""
        settings = self._settings(variant)
        if settings.rule.uses_costs:
            return dict(self._tuned(settings))
        (trained,) = self._train([settings])
        return {T: Predictions(*self._decided(settings, trained, T, self.test)) for T in self.protocol.rounds}

    def _tuned(self, settings: Settings) -> Iterator[tuple[int, Predictions]]:
        """For each number of rounds those of the cost with the best F1; of equal ones the smallest."""
        costs = self.protocol.costs
        tries = [replace(settings, options={**settings.options, "costs": {0: cost, 1: 1.0}}) for cost in costs]
        everyone = self._train(tries)
        each = zip(tries, everyone, strict=True)
        by_cost = np.array([self._f1_of_rounds(*one) for one in each])
        for T, best in zip(self.protocol.rounds, by_cost.argmax(axis=0).tolist(), strict=True):
            yield T, Predictions(*self._decided(tries[best], everyone[best], T, self.test), costs[best])

    def _f1_of_rounds(self, settings: Settings, trained: Trained) -> Array:
        """On the rows that costs are tuned on, after each number of rounds."""
        rounds, judged = list(self.protocol.rounds), self.held_out or self.problem
        if settings.calibration is None:
            return scores_by_counts(F1, trained, judged, rounds)
        table, y, weight = self._training_rows if self.held_out is None else (judged.table, judged.y, judged.weight)
        return np.array([_f1(self._decided(settings, trained, T, table)[0], y, weight) for T in rounds])

    def _decided(self, settings: Settings, trained: Trained, n_rounds: int, table: Table) -> tuple[Array, Array]:
        """Scores after some rounds, and probabilities, as `decision_function` and `predict_proba` have them."""
        ensemble = first(trained, n_rounds)
        scores = ensemble.scores(table)
        if settings.calibration is None:
            return scores, expit(2.0 * scores)
        plan = plan_for(settings, self.problem)
        initial = plan.rule.initial(plan.costs)
        key = id(trained.ensemble), len(ensemble), initial.tobytes()
        if key not in self._calibrators:
            training, y, weight = self._training_rows
            known = scores if table is training else ensemble.scores(training)
            self._calibrators[key] = Calibrator.fit(settings.calibration, known, y, 2, weight * initial[y])
        probabilities = self._calibrators[key].probabilities(scores)
        return decision_scores(probabilities, plan.rule.decision(plan.costs)), probabilities[:, 1]

    @cached_property
    def _training_rows(self) -> tuple[Table, NDArray[Any], Array]:
        """As the engine keeps them: equal ones are one."""
        rows = self._session.learner(self._settings(Variant("adaboost", "paper")), self._threads).rows
        return self.problem.table.take(rows.order), rows.true.astype(np.intp), rows.weight

    def _train(self, several: list[Settings]) -> list[Trained]:
        """A model for each; what boosts and decides alike is boosted once."""
        plans = [plan_for(settings, self.problem) for settings in several]
        keys = []
        for settings, plan in zip(several, plans, strict=True):
            costs = () if plan.rule.costs_decide_only else plan.costs.tolist()
            keys.append((settings.method.sampler, plan.rule, *costs, *plan.decision.tolist()))
        new = {key: settings for key, settings in zip(keys, several, strict=True) if key not in self._trained}
        together = [list(new)] if several[0].rule.costs_decide_only else [[key] for key in new]
        for group in filter(None, together):
            session = self._session if several[0].method.sampler is None else self._make_session(several[0])
            trained = train_on(session, [new[key] for key in group], self._threads)
            self._trained.update(zip(group, trained, strict=True))
        return [self._trained[key] for key in keys]

    @cached_property
    def _session(self) -> FitSession:
        return self._make_session(self._settings(Variant("adaboost", "paper")))

    def _make_session(self, settings: Settings) -> FitSession:
        return FitSession(settings, self.problem, self.held_out, None, self._threads, several=True)

    def _settings(self, variant: Variant) -> Settings:
        protocol = self.protocol
        model = BoostingClassifier(
            variant.method,
            dialect=variant.dialect,
            n_estimators=protocol.rounds[-1],
            max_bins=protocol.max_bins,
            criterion=protocol.criterion,
            random_state=self.seed,
        )
        return settings_of(model)


def _plain(X: Any) -> Any:
    """A frame of numbers as an array: the rows are scored some hundred times, and a frame is slow to read."""
    if any(kind.kind not in "iuf" for kind in X.dtypes):
        return X
    return X.to_numpy(dtype=np.float64)


def first(trained: Trained, n_rounds: int) -> Ensemble:
    """The ensemble after so many rounds, or after its last where boosting ended before."""
    return trained.ensemble.first(min(n_rounds, len(trained.ensemble)))


def _f1(scores: Array, y: NDArray[np.intp], weight: Array) -> float:
    left_alone, alarms, missed, caught = np.bincount(2 * y + (scores > 0.0), weight, 4)[:, None]
    return float(F1(Counts(caught, missed, alarms, left_alone))[0])

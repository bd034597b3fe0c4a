"""Scores of rows held out by cross-validation, and the calibration on these or on the training rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.row_costs import row_costs
from adacc.boosting.session import plan_for, train
from adacc.boosting.settings import Settings
from adacc.data.training_set import TrainingSet
from adacc.estimators.folds import groups_for, held_out_weight, members_by_class, on_training_rows, tuning_folds
from adacc.estimators.score_matching import match_location_and_scale
from adacc.model.calibration import Calibrator
from adacc.model.ensemble import Ensemble

DEFAULT_FOLDS = 5


class HeldOut(NamedTuple):
    """Numbers of rows in the training set, and their scores by ensembles that were trained without them."""

    rows: NDArray[np.intp]
    scores: Array
    matched: Array  # the scores of two classes on the scale of the ensemble that was trained on all rows


def calibrates_on_folds(settings: Settings) -> bool:
    """Whether the calibration needs scores of held-out rows."""
    return settings.calibration is not None and not on_training_rows(settings.options["calibration_cv"])


def calibrate(
    settings: Settings, training_set: TrainingSet, ensemble: Ensemble, kind: str, held_out: HeldOut | None
) -> tuple[Calibrator, Array | None]:
    """The calibrator, and the factors on the probabilities if these decide (None if the scores decide)."""
    if held_out is None or not calibrates_on_folds(settings):
        rows = np.arange(len(training_set.y))
        scores = ensemble.class_scores(ensemble.scores(training_set.table))
    else:
        rows, scores = held_out.rows, held_out.scores
    terms, y = calibration_terms(settings, plan_for(settings, training_set)), training_set.y[rows]
    weight = held_out_weight(rows, training_set.weight)
    if settings.decides_by_probability and training_set.cost is not None:
        weight = weight * settings.rule.initial(row_costs(settings, training_set))[rows]
    else:
        weight = weight * terms.class_weight[y]
    calibrator = Calibrator.fit(kind, scores, y, len(training_set.classes), weight, terms.rising, rows)
    return calibrator, terms.multipliers


class CalibrationTerms(NamedTuple):
    """Options of a calibration."""

    class_weight: Array  # (n_classes,): weight of a row of each class
    multipliers: Array | None  # (n_classes,): factors on the probabilities if these decide; None if the scores decide
    rising: bool  # whether the probability must not decrease with the score: if the scores decide, or are constrained


def calibration_terms(settings: Settings, plan: Plan) -> CalibrationTerms:
    if not settings.decides_by_probability:
        # The probabilities refer to the original class distribution, not to the weights that the method trains with.
        return CalibrationTerms(np.ones(len(plan.costs)), None, True)
    # With monotonic constraints, the probability must be monotone in the score as well.
    rising = settings.monotonic_cst is not None
    return CalibrationTerms(plan.rule.initial(plan.costs), plan.rule.decision(plan.costs), rising)


def held_out_scores(settings: Settings, training_set: TrainingSet, final: Ensemble) -> HeldOut:
    """Scores of the rows that the folds of `calibration_cv` hold out, five by default.

    `final` is the ensemble that was trained on all rows.
    """
    cv, classes = settings.options["calibration_cv"], training_set.classes
    if cv is None or on_training_rows(cv):
        counts = members_by_class(training_set.y, len(classes), training_set.groups)
        cv = int(min(DEFAULT_FOLDS, max(counts.min(), 2)))
    groups = groups_for(cv, training_set)
    folds = tuning_folds(cv, training_set.y, classes, groups, settings.seed, "calibration_cv")
    table, weight, scores, matched = training_set.table, training_set.weight, [], []
    of_final = final.class_scores(final.scores(table)) if len(classes) == 2 else None
    for training, held_out in folds:
        ensemble = train(settings, training_set.subset(training)).ensemble
        scores.append(ensemble.class_scores(ensemble.scores(table.take(held_out))))
        if of_final is not None:
            of_fold = ensemble.class_scores(ensemble.scores(table.take(training)))
            matched.append(match_location_and_scale(scores[-1], of_fold, of_final[training], weight[training]))
    rows = np.concatenate([held_out for _, held_out in folds])
    return HeldOut(rows, np.concatenate(scores), np.concatenate(matched or scores))

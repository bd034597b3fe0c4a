"""From pieces of rows, wherever they are, to an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.loop import Boosting
from adacc.boosting.session import make_plan
from adacc.boosting.settings import Settings
from adacc.boosting.sharded import ShardedBackend, ShardExecutor
from adacc.data.binning import BinMapper
from adacc.distributed.survey import Columns, Labels, PartitionTask, look_at_columns, look_at_labels, look_at_values
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.calibration import calibration_terms
from adacc.estimators.provenance import training_record
from adacc.estimators.reading import columns_of, find_negative_class
from adacc.model.calibration import Calibrator
from adacc.model.fitted import FittedModel


@dataclass(frozen=True)
class Surveyed:
    """What is known of all rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    class_weight : ndarray of shape (n_classes,)
        Summed sample weight of each class.
    n_rows : ndarray of shape (n_pieces,)
        Rows of each piece that count.
    bin_mapper : BinMapper
        The bins and categories of every feature.
    known : tuple
        What the functions of the survey want to know beside a piece; `code` the bin mapper besides.
    """

    classes: NDArray[Any]
    class_weight: Array
    n_rows: NDArray[np.int64]
    bin_mapper: BinMapper
    known: tuple[Any, ...]


class Pieces(Protocol):
    """The rows, a piece at a time.

    Attributes
    ----------
    names : list of str
        How to speak of each piece.
    """

    names: list[str]

    def each(self, look: PartitionTask) -> list[Any]:
        """What is said of each piece."""

    def executor(self, found: Surveyed) -> ShardExecutor:
        """Code all pieces, make shards of them, and those who keep them."""


def check_supported(settings: Settings, warm_start: bool) -> None:
    """Refuse what needs all rows in one place."""
    if settings.estimator is not None:
        raise ValueError("estimator must be None: rows that are not in one place are boosted on native stumps only")
    if not settings.growth.is_stump:
        raise ValueError("max_depth must be 1, and its companions at their defaults, where rows are not in one place")
    if settings.draws_rows:
        raise ValueError(
            "rusboost, smoteboost and subsample draw rows anew each round, which takes all of them in one place; "
            "choose another method, or fit on a part of the rows that fits into memory"
        )
    if warm_start:
        raise ValueError("warm_start must be False where rows are not in one place")
    if settings.options["calibration_cv"] is not None:
        raise ValueError("calibration_cv must be None where rows are not in one place: folds would take many fits")
    if settings.patience is not None:
        raise ValueError("n_iter_no_change must be None where rows are not in one place; set n_estimators")


def survey(pieces: Pieces, reader: BaseBoosting, max_bins: int | None) -> Surveyed:
    """Look at all rows: at their labels, at what their columns hold, and at those of few values once more."""
    labels = Labels(pieces.each(PartitionTask(look_at_labels, columns=())))
    known = (reader, labels.classes, labels.weighing)
    columns = Columns(pieces.each(PartitionTask(look_at_columns, known, labels.places())), pieces.names, max_bins)
    tallies = pieces.each(PartitionTask(look_at_values, known, columns=columns.undecided)) if columns.undecided else []
    return Surveyed(labels.classes, labels.class_weight.sum(axis=1), labels.n_rows, columns.bin_mapper(tallies), known)


def train(
    settings: Settings,
    pieces: Pieces,
    reader: BaseBoosting,
    after_round: Callable[[Boosting, Any], bool] = lambda *_: False,
) -> tuple[FittedModel, bool]:
    """Boost: the model, and whether the first stump was no better than chance."""
    found = survey(pieces, reader, settings.max_bins)
    return boost(settings, found, pieces.executor(found), reader, after_round)


def boost(
    settings: Settings,
    found: Surveyed,
    executor: ShardExecutor,
    reader: BaseBoosting,
    after_round: Callable[[Boosting, Any], bool] = lambda *_: False,
) -> tuple[FittedModel, bool]:
    """The same once the rows are coded."""
    negative_class = find_negative_class(reader.pos_label, found.classes, found.class_weight)
    plan = make_plan(settings, found.classes, found.class_weight, negative_class)
    backend = ShardedBackend(plan, found.bin_mapper, found.class_weight, settings.criterion, executor)
    boosting = Boosting(backend)
    boosting.run(settings.n_rounds, after_round)
    calibrator = multipliers = None
    if settings.calibration is not None:
        terms = calibration_terms(settings, plan)
        calibrator = Calibrator.fit_each(settings.calibration, backend.scores(terms.class_weight), terms.rising)
        multipliers = terms.multipliers
    model = FittedModel(
        ensemble=boosting.ensemble(),
        classes=found.classes,
        n_features=len(found.bin_mapper.features),
        feature_names=columns_of(reader)[1],
        calibrator=calibrator,
        multipliers=multipliers,
        training=training_record(settings, found.classes),
        seed=settings.seed,
    )
    return model, boosting.failed_at_once

"""Training on partitions of rows, on disk or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.boosting.backend import Plan
from adacc.boosting.loop import Boosting
from adacc.boosting.problems import SIDES, heavier_side, problem_settings, side_weights
from adacc.boosting.session import check_monotone, make_plan
from adacc.boosting.settings import Settings
from adacc.boosting.sharded_backend import ShardedBackend, ShardExecutor
from adacc.data.binning import BinMapper
from adacc.distributed.partition_stats import (
    ColumnStatistics,
    LabelStatistics,
    PartitionTask,
    column_statistics,
    count_values,
    label_statistics,
)
from adacc.estimators.booster import BaseBoosting
from adacc.estimators.calibration import calibration_terms
from adacc.estimators.folds import on_training_rows
from adacc.estimators.input_validation import columns_of, find_negative_class
from adacc.estimators.monotonic import constrain
from adacc.estimators.provenance import training_record
from adacc.model.calibration import Calibrator
from adacc.model.coding import Codes
from adacc.model.ensemble import Ensemble, join
from adacc.model.fitted import FittedModel


@dataclass(frozen=True)
class DataStatistics:
    """Statistics of all rows."""

    classes: NDArray[Any]  # (n_classes,): the labels
    class_weight: Array  # (n_classes,): summed sample weight of each class
    class_rows: NDArray[np.int64]  # (n_classes,): rows of nonzero weight of each class
    n_rows: NDArray[np.int64]  # (n_partitions,): rows of nonzero weight of each partition
    bin_mapper: BinMapper  # the bins and categories of every feature
    arguments: tuple[Any, ...]  # arguments of the functions of `partition_stats` that are the same for all partitions


class PartitionSource(Protocol):
    """The rows as a sequence of partitions."""

    names: list[str]  # name of each partition in messages

    def run(self, task: PartitionTask) -> list[Any]:
        """The results of a task on all partitions."""

    def shard_executor(self, statistics: DataStatistics) -> ShardExecutor:
        """Bin all partitions and build shards of them."""


def check_supported(settings: Settings, warm_start: bool, decision: Any) -> None:
    """Raise ValueError for settings that need all rows in the memory of one process."""
    if settings.estimator is not None:
        raise ValueError(
            "estimator must be None in distributed and out-of-core training, which supports stumps only, got "
            f"{settings.estimator!r:.80}"
        )
    if not settings.growth.is_stump:
        raise ValueError(
            "max_depth must be 1, and other tree parameters at their defaults, in distributed and out-of-core "
            f"training, got {', '.join(f'{name}={value!r}' for name, value in asdict(settings.growth).items())}"
        )
    if settings.draws_rows:
        raise ValueError(
            "rusboost, smoteboost and subsample draw rows in each round, which needs all rows in memory; "
            "choose another method, or fit on a sample that fits into memory"
        )
    if warm_start:
        raise ValueError("warm_start must be False in distributed and out-of-core training, got True")
    cv = settings.options["calibration_cv"]
    if not on_training_rows(cv) and (settings.calibration is not None or cv is not None):
        raise ValueError(f"calibration_cv must be 'training' in distributed and out-of-core training, got {cv!r}")
    if decision is not None:
        raise ValueError(
            f"decision must be None in distributed and out-of-core training, got {decision!r}; call set_decision "
            "afterwards"
        )
    if settings.patience is not None:
        raise ValueError("n_iter_no_change must be None in distributed and out-of-core training; set n_estimators")


def collect_statistics(partitions: PartitionSource, estimator: BaseBoosting, max_bins: int | None) -> DataStatistics:
    """Collect the labels, the bins of all columns and, for columns of few values, the counts of all values."""
    labels = LabelStatistics(partitions.run(PartitionTask(label_statistics, columns=())))
    arguments = (estimator, labels.classes, labels.weight_scaler)
    columns = ColumnStatistics(
        partitions.run(PartitionTask(column_statistics, arguments, labels.places())), partitions.names, max_bins
    )
    value_counts = (
        partitions.run(PartitionTask(count_values, arguments, columns=columns.unbinned)) if columns.unbinned else []
    )
    return DataStatistics(
        labels.classes,
        labels.class_weight.sum(axis=1),
        labels.class_rows,
        labels.n_rows,
        columns.bin_mapper(value_counts),
        arguments,
    )


def train(
    settings: Settings,
    partitions: PartitionSource,
    estimator: BaseBoosting,
    after_round: Callable[[Boosting, Any], bool] = lambda *_: False,
) -> tuple[FittedModel, bool]:
    """The model, and whether the first stump was no better than chance."""
    statistics = collect_statistics(partitions, estimator, settings.max_bins)
    settings = constrain(settings, estimator, statistics.bin_mapper.categorical, len(statistics.classes))
    return boost(settings, statistics, partitions.shard_executor(statistics), estimator, after_round)


def boost(
    settings: Settings,
    statistics: DataStatistics,
    executor: ShardExecutor,
    estimator: BaseBoosting,
    after_round: Callable[[Boosting, Any], bool] = lambda *_: False,
) -> tuple[FittedModel, bool]:
    """`train` on rows that are binned already."""
    codes = settings.codes(len(statistics.classes))
    if codes is not None:
        return _boost_problems(settings, statistics, executor, estimator, after_round, codes)
    negative_class = find_negative_class(
        estimator.pos_label, statistics.classes, statistics.class_weight, statistics.class_rows
    )
    plan = make_plan(settings, statistics.classes, statistics.class_weight, negative_class)
    backend = ShardedBackend(
        plan, statistics.bin_mapper, statistics.class_weight, int(statistics.class_rows.sum()), settings.criterion,
        executor, monotonic_cst=settings.monotonic_cst,
    )  # fmt: skip
    boosting = Boosting(backend)
    boosting.run(settings.n_rounds, after_round)
    ensemble = boosting.ensemble()
    check_monotone(settings, ensemble)
    model = _calibrated(_model(settings, statistics, estimator, ensemble), settings, statistics, plan, backend)
    return model, boosting.failed_at_once


def _boost_problems(
    settings: Settings,
    statistics: DataStatistics,
    executor: ShardExecutor,
    estimator: BaseBoosting,
    after_round: Callable[[Boosting, Any], bool],
    codes: Codes,
) -> tuple[FittedModel, bool]:
    """Boost the two-class problems of more than two classes, one after another."""
    classes, class_weight, bin_mapper = statistics.classes, statistics.class_weight, statistics.bin_mapper
    ensembles, failed = [], []
    log: list[Any] = []
    for code in codes:
        weights = side_weights(class_weight, code)
        plan = make_plan(problem_settings(settings, classes, class_weight, code), SIDES, weights, heavier_side(weights))
        n_rows = int(statistics.class_rows[code != 0].sum())
        backend = ShardedBackend(plan, bin_mapper, weights, n_rows, settings.criterion, executor, code, log)
        boosting = Boosting(backend)
        boosting.run(settings.n_rounds, after_round)
        backend.end()
        ensembles.append(boosting.ensemble())
        failed.append(boosting.failed_at_once)
    plan = make_plan(settings, classes, class_weight, 0)
    model = _model(settings, statistics, estimator, join(ensembles, codes))
    model = _calibrated(model, settings, statistics, plan, backend)
    return model, all(failed)


def _calibrated(
    model: FittedModel, settings: Settings, statistics: DataStatistics, plan: Plan, backend: ShardedBackend
) -> FittedModel:
    if settings.calibration is None:
        return model
    terms = calibration_terms(settings, plan)
    scores, n_rows = backend.scores(terms.class_weight), int(statistics.class_rows[terms.class_weight > 0.0].sum())
    calibrator = Calibrator.fit_each(settings.calibration, scores, n_rows, terms.rising)
    return replace(model, calibrator=calibrator, multipliers=terms.multipliers)


def _model(settings: Settings, statistics: DataStatistics, estimator: BaseBoosting, ensemble: Ensemble) -> FittedModel:
    return FittedModel(
        ensemble=ensemble,
        classes=statistics.classes,
        n_features=len(statistics.bin_mapper.features),
        feature_names=columns_of(estimator)[1],
        training=training_record(settings, statistics.classes),
        seed=settings.seed,
    )

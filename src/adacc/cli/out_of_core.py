"""`adacc train --memory-limit`: train on a table larger than memory."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adacc.algorithms.catalog import FORESTS
from adacc.cli.decisions import expects_calibration, other_columns
from adacc.cli.options import open_input
from adacc.cli.progress import progress_bar
from adacc.cli.train_shared import (
    TrainingResult,
    check_rule_columns,
    costs_by_label,
    dropped_columns,
    monotonic_by_name,
    split_columns,
)
from adacc.distributed.memory import read_size
from adacc.distributed.parquet import count_pairs, fit_partitions, open_partitions
from adacc.distributed.partition_stats import PartitionTask
from adacc.evaluation.training import make_booster
from adacc.tables.chunks import Chunks
from adacc.tables.features import check_chunks
from adacc.tables.target import choose_positive, count_labels, name_of_rest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.model.decision_spec import DecisionSpec


def train_from_disk(options: Namespace, spec: DecisionSpec | None) -> TrainingResult:
    """Train out of core; the model is the same as in memory."""
    limit = read_size(options.memory_limit, "--memory-limit")
    if options.calibrate is not None:
        raise ValueError(
            "--calibrate needs all rows in memory for cross-validation; give either --calibrate or --memory-limit"
        )
    if options.method in FORESTS:
        raise ValueError(
            f"--method {options.method} needs all rows in memory to draw bags; choose another method, or leave out "
            "--memory-limit"
        )
    if spec is not None and spec.needs_tuning:
        raise ValueError(
            f"the rule {str(spec)!r} needs all rows in memory for cross-validation: train without it, and then set it "
            "with `adacc decide MODEL DATA --rule RULE` on rows that were not used for training"
        )
    if expects_calibration(spec):
        raise ValueError(
            f"the rule {str(spec)!r} needs calibrated probabilities, for which all rows must be in memory: train "
            "without it, and then tune a rule with `adacc decide MODEL DATA --rule 'tuned ...'` on rows "
            "that were not used for training"
        )
    for name in ("metric", "folds"):
        if getattr(options, name):
            raise ValueError(
                f"--{name} needs all rows in memory: leave it out, and estimate measures with `adacc evaluate` on rows "
                "that were not used for training"
            )
    opened = open_input(options)
    check_rule_columns(spec, opened, options)
    # There are no inner splits, so groups and times are only removed from the features.
    not_features = [*dropped_columns(options), *split_columns(options)]
    chunks = Chunks(opened, not_features, options.target, categorical=options.categorical)
    values, n_rows = count_labels(chunks, options.target)
    labels, positive, others, relabel = values.tolist(), None, [], None
    if options.positive is not None or len(labels) == 2:
        positive = labels[choose_positive(labels, n_rows, options.positive, options.target, options.data)]
    if positive is not None and len(labels) > 2:
        others = [str(labels[k]) for k in sorted(range(len(labels)), key=lambda k: -n_rows[k]) if labels[k] != positive]
        relabel, positive = _merge_rest(positive, name_of_rest(labels)), str(positive)
        values = relabel(values)
    costs = costs_by_label(options.costs, values)
    estimator = make_booster(
        options.method, positive, options.rounds, options.seed, costs,
        monotonic_cst=monotonic_by_name(options.monotonic, chunks.kinds, values, positive), n_jobs=options.jobs,
    )  # fmt: skip
    with progress_bar() as report_progress:
        partitions = open_partitions(
            estimator, chunks, options.target, None, limit, options.scratch, report_progress, relabel
        )
        model = fit_partitions(estimator, partitions, check_chunks)
        if spec is not None and not (spec.is_ranked or other_columns(spec, chunks.kinds)):
            model.set_decision(spec)
        counts = sum(partitions.results(PartitionTask(count_pairs, ([model],))))[0]
    if spec is not None:
        model.set_decision(spec)
    why = "training with --memory-limit holds out no rows; `adacc evaluate` measures the model on other rows"
    return TrainingResult(model, chunks.kinds, positive, others, counts, no_held_out=why)


def _merge_rest(positive: Any, rest: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    import numpy as np

    return lambda labels: np.where(labels == positive, str(positive), rest).astype(object)

"""Out-of-core training on a Parquet table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from adacc.algorithms.base import Array
from adacc.boosting.loop import Boosting
from adacc.boosting.settings import Settings
from adacc.data.binning import BinMapper, CategoryBins
from adacc.distributed.files import DiskShardExecutor, FilePartitions, Progress
from adacc.distributed.memory import MemoryBudget, read_size
from adacc.distributed.mmap_store import scratch_folder
from adacc.distributed.partition_stats import Partition, PartitionTask
from adacc.distributed.training import DataStatistics, boost, check_supported, collect_statistics
from adacc.estimators.base import restore
from adacc.estimators.booster import FAILED_AT_ONCE, BaseBoosting, report_round, settings_of
from adacc.estimators.input_validation import find_negative_class, read_weight, set_columns
from adacc.estimators.monotonic import constrain
from adacc.estimators.scoring import BY_COUNTS, Counts, ranks
from adacc.estimators.search import CostSearchCV, read_costs, read_search
from adacc.metrics import f1_of_totals
from adacc.tables.chunks import Chunks
from adacc.tables.errors import Source
from adacc.tables.features import check_any


def fit_parquet(
    estimator: BaseBoosting | CostSearchCV,
    source: Source,
    target: str,
    *,
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    sample_weight: str | None = None,
    memory_limit: str | int = "1GB",
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> BaseBoosting:
    """Fit a classifier to a Parquet table of any size with limited memory.

    The model equals that of ``estimator.fit`` on the same rows in memory: the same splits, and votes up to the rounding
    of sums. The table is read two or three times in partitions. The binned values, one byte per cell and about 45 bytes
    per row, are stored in temporary memory-mapped files.

    Parameters
    ----------
    estimator : classifier of adacc, or CostSearchCV of one
        The estimator, which is not modified. Not supported: weak learners other than stumps, methods that sample rows,
        early stopping, `warm_start`, ``max_bins=None``, calibration by cross-validation, and `sample_cost`. Its
        `n_jobs` is the number of threads. A search must maximize F1 on the training rows (``scoring="f1",
        cv="training", rounds=None``); its best classifier is returned.
    source : str or path
        A Parquet file, or a directory of Parquet files with the same columns. Text, and booleans with missing values,
        are categories; see `adacc.tables.read_frame`.
    target : str
        The target column.
    drop : iterable of str, default=()
        Columns to leave out.
    categorical : iterable of str, default=()
        Features whose numbers are codes: they become categories of strings.
    sample_weight : str, default=None
        The column of sample weights.
    memory_limit : str or int, default="1GB"
        Memory limit of this process including libraries, in bytes or as text such as ``"800MB"``.
    folder : str or path, default=None
        Directory for the memory-mapped files; by default that of TMPDIR, or /var/tmp.
    progress : callable, default=None
        Called with ``(stage, done, total)``, such as ``("binning", 3, 40)``.

    Returns
    -------
    classifier
        A fitted classifier of the class of the estimator.

    Raises
    ------
    TableError
        The table cannot be used.
    ValueError
        A parameter is invalid, such as a memory limit that is too low.
    OSError
        There is no space left in the directory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np, pandas as pd
    >>> from adacc import AdaCC1Classifier
    >>> from adacc.distributed import fit_parquet
    >>> x = np.arange(1000) % 97
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame({"x": x, "rare": x > 90}).to_parquet(f"{folder}/big.parquet")
    ...     model = fit_parquet(AdaCC1Classifier(n_estimators=5), f"{folder}/big.parquet", "rare", memory_limit="4GB")
    >>> model.predict(pd.DataFrame({"x": [90, 91]}))
    array([False,  True])
    """
    keep = [] if sample_weight is None else [sample_weight]
    with closing(Chunks(source, drop, target, keep, categorical)) as chunks:
        partitions = open_partitions(estimator, chunks, target, sample_weight, memory_limit, folder, progress)
        return fit_partitions(estimator, partitions)


def open_partitions(
    estimator: BaseBoosting | CostSearchCV,
    chunks: Chunks,
    target: str,
    sample_weight: str | None,
    memory_limit: str | int,
    folder: str | os.PathLike[str] | None,
    progress: Progress | None,
    relabel: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> FilePartitions:
    """The partitions of a table, whose size follows from the memory limit."""
    _, settings = _read(estimator)
    check_any(chunks.where, len(chunks.kinds))
    budget = MemoryBudget.of(read_size(memory_limit), chunks.kinds, chunks.n_rows, settings.n_threads)
    report_progress = progress or (lambda *_: None)
    return FilePartitions(chunks, target, sample_weight, budget, scratch_folder(folder), report_progress, relabel)


def fit_partitions(
    estimator: BaseBoosting | CostSearchCV,
    partitions: FilePartitions,
    check: Callable[[Chunks, Mapping[str, int]], None] = lambda *_: None,
) -> BaseBoosting:
    """Fit to partitions; `check` gets the number of labels of each categorical column before binning."""
    model, settings = _read(estimator)
    statistics, chunks = collect_statistics(partitions, model, settings.max_bins), partitions.chunks
    labels = _labels(chunks, statistics.bin_mapper)
    chunks.note_labels(labels)
    check(chunks, {name: len(column_labels) for name, column_labels in labels.items()})
    set_columns(model, len(chunks.kinds), chunks.kinds)
    settings = constrain(settings, model, statistics.bin_mapper.categorical, len(statistics.classes))
    executor = partitions.shard_executor(statistics)
    if isinstance(estimator, CostSearchCV):
        model, failed = _search(estimator, model, settings, partitions, statistics, executor)
    else:
        fitted, failed = boost(
            settings, statistics, executor, model, _round_reporter(model, settings, partitions.report_progress)
        )
        restore(model, fitted)
    if failed:
        warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=3)
    return model


def _read(estimator: Any) -> tuple[BaseBoosting, Settings]:
    """The classifier to fit and its settings; raise ValueError if these are not supported."""
    if isinstance(estimator, CostSearchCV):
        settings, _ = read_search(estimator)
        given = {"scoring": "f1", "cv": "training", "rounds": None}
        for name, value in given.items():
            if getattr(estimator, name) != value:
                raise ValueError(f"{name} must be {value!r} in an out-of-core search, got {getattr(estimator, name)!r}")
        model = clone(estimator.estimator)
    else:
        if not isinstance(estimator, BaseBoosting):
            raise TypeError(f"estimator must be a classifier of adacc or a CostSearchCV, got {estimator!r}")
        model = clone(estimator)
        settings = settings_of(model)
    check_supported(settings, model.warm_start, model.decision)
    if settings.max_bins is None:
        raise ValueError("max_bins must be an integer in out-of-core training, got None")
    return model, settings


def _labels(chunks: Chunks, bin_mapper: BinMapper) -> dict[str, set[Any]]:
    """The labels of each categorical column."""
    pairs = zip(chunks.kinds, bin_mapper.features, strict=True)
    return {name: {*each.values} - {None} for name, each in pairs if isinstance(each, CategoryBins)}


def _round_reporter(
    model: BaseBoosting, settings: Settings, report_progress: Progress, done: int = 0, runs: int = 1
) -> Callable[[Boosting, Any], bool]:
    """A callback that reports each round, after `done` of `runs` fits."""

    def after_round(boosting: Boosting, _: Any) -> bool:
        report_round(model, boosting, settings.n_rounds)
        report_progress("boosting", done * settings.n_rounds + len(boosting.rounds), runs * settings.n_rounds)
        return False

    return after_round


def _search(
    search: CostSearchCV,
    template: BaseBoosting,
    settings: Settings,
    partitions: FilePartitions,
    statistics: DataStatistics,
    executor: DiskShardExecutor,
) -> tuple[BaseBoosting, bool]:
    """Fit a model for each candidate of costs; return that of best F1, and whether it failed in the first round."""
    negative_class = find_negative_class(
        template.pos_label, statistics.classes, statistics.class_weight, statistics.class_rows
    )
    costs, _ = read_costs(search.costs, statistics.classes, statistics.class_weight, negative_class)
    models: list[BaseBoosting] = []
    failed = []
    for each in costs:
        these = settings.with_costs(each)
        after_round = _round_reporter(template, these, partitions.report_progress, len(models), len(costs))
        fitted, failed_at_once = boost(these, statistics, executor, template, after_round)
        models.append(restore(clone(template).set_params(costs=each), fitted))
        failed.append(failed_at_once)
    if len(statistics.classes) == 2 and not settings.decides_by_probability:
        recall = np.array([model.history_["class_recall"][-1] for model in models])
        scores = BY_COUNTS["f1"](Counts.of(recall * statistics.class_weight, statistics.class_weight, negative_class))
    else:
        pairs = sum(partitions.results(PartitionTask(count_pairs, (models,))))
        scores = _f1(pairs, negative_class)
    best = int(ranks(scores).argmin())
    return models[best], failed[best]


def count_pairs(partition: Partition, models: list[BaseBoosting]) -> Array:
    """Weight of the rows of each (true, predicted) pair of classes, by model."""
    classes = models[0].classes_
    n_classes, weight = len(classes), read_weight(partition.weight, len(partition.y), "sample_weight")
    used = weight > 0.0  # the labels of the other rows need not be classes
    true, weight = n_classes * np.searchsorted(classes, np.asarray(partition.y)[used]), weight[used]
    predicted = [np.searchsorted(classes, model.predict(partition.X)[used]) for model in models]
    pairs = [np.bincount(true + numbers, weight, n_classes**2) for numbers in predicted]
    return np.reshape(pairs, (len(models), n_classes, n_classes))


def _f1(pairs: Array, negative: int) -> Array:
    """F1 of the positive class, or the mean over classes if multi-class."""
    right = np.diagonal(pairs, axis1=1, axis2=2)
    if pairs.shape[1] == 2:
        return BY_COUNTS["f1"](Counts.of(right, pairs.sum(axis=2)[0], negative))
    return f1_of_totals(right, pairs.sum(axis=1) + pairs.sum(axis=2)).mean(axis=1)

"""Training on one machine from a Parquet table that is larger than its memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from adacc.algorithms.base import Array
from adacc.boosting.loop import Boosting
from adacc.boosting.settings import Settings
from adacc.data.binning import BinMapper, CategoryBins
from adacc.distributed.files import DiskShardExecutor, FilePieces, Progress
from adacc.distributed.memory import MemoryBudget, read_size
from adacc.distributed.shelf import scratch_folder
from adacc.distributed.survey import PartitionTask, Piece
from adacc.distributed.training import Surveyed, boost, check_supported, survey
from adacc.estimators.base import restore
from adacc.estimators.booster import FAILED_AT_ONCE, BaseBoosting, report_round, settings_of
from adacc.estimators.reading import find_negative_class, read_weight, set_columns
from adacc.estimators.scoring import BY_COUNTS, Counts, ranks
from adacc.estimators.search import CostSearchCV, read_costs, read_search
from adacc.tables.chunks import Chunks
from adacc.tables.errors import Source
from adacc.tables.features import check_any


def fit_parquet(
    estimator: BaseBoosting | CostSearchCV,
    source: Source,
    target: str,
    *,
    drop: Iterable[str] = (),
    sample_weight: str | None = None,
    memory_limit: str | int = "1GB",
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> BaseBoosting:
    """Fit a classifier to a Parquet table of any size, in a memory of fixed size.

    The model is the one that ``estimator.fit`` makes of the same rows in memory: the same splits, and votes up to the
    rounding of sums. The table is read two or three times, some rows at a time; what boosting needs of it,
    a byte a cell and some 45 bytes a row, goes to files that are mapped to memory, and that are gone when the process
    is.

    Parameters
    ----------
    estimator : classifier of adacc, or CostSearchCV of one
        What to fit; it stays as it is. Not here: weak learners other than stumps, the methods that sample rows, early
        stopping, `warm_start`, ``max_bins=None``, and calibration by held-out folds. Its `n_jobs` is the number of
        threads. Of a search, which must be one for F1 on the training rows (``scoring="f1", cv=None, rounds=None``),
        the best classifier is what is returned.
    source : str or path
        A Parquet file, or a folder of Parquet files with the same columns. Text, and booleans with gaps, are
        categories; see `adacc.tables.read_frame`.
    target : str
        The column to predict.
    drop : iterable of str, default=()
        Columns to leave out.
    sample_weight : str, default=None
        The column with the weights of the rows.
    memory_limit : str or int, default="1GB"
        The most memory that this process may have, its libraries included: bytes, or a text such as ``"800MB"``.
    folder : str or path, default=None
        Where the mapped files go. None is the folder of the variable TMPDIR, or /var/tmp.
    progress : callable, default=None
        Told ``(stage, done, whole)``, such as ``("coding", 3, 40)``.

    Returns
    -------
    classifier
        A fitted one of the estimator's class, with nothing special about it.

    Raises
    ------
    TableError
        The table cannot be used as it is.
    ValueError
        Something else cannot, such as a limit that is too low; the message says what would do.
    OSError
        There is no space left in the folder.

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
    with closing(Chunks(source, drop, target, [] if sample_weight is None else [sample_weight])) as chunks:
        pieces = open_pieces(estimator, chunks, target, sample_weight, memory_limit, folder, progress)
        return fit_pieces(estimator, pieces)


def open_pieces(
    estimator: BaseBoosting | CostSearchCV,
    chunks: Chunks,
    target: str,
    sample_weight: str | None,
    memory_limit: str | int,
    folder: str | os.PathLike[str] | None,
    progress: Progress | None,
    relabel: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> FilePieces:
    """The rows of a table, as many at a time as there is memory for when this is fitted to them."""
    _, settings = _read(estimator)
    check_any(chunks.where, len(chunks.kinds))
    room = MemoryBudget.of(read_size(memory_limit), chunks.kinds, chunks.n_rows, settings.n_threads)
    tell = progress or (lambda *_: None)
    return FilePieces(chunks, target, sample_weight, room, scratch_folder(folder), tell, relabel)


def fit_pieces(
    estimator: BaseBoosting | CostSearchCV,
    pieces: FilePieces,
    check: Callable[[Chunks, Mapping[str, int]], None] = lambda *_: None,
) -> BaseBoosting:
    """Fit; `check` is told how many labels each column of categories has, before rows are coded."""
    model, settings = _read(estimator)
    found, chunks = survey(pieces, model, settings.max_bins), pieces.chunks
    labels = _labels(chunks, found.bin_mapper)
    chunks.note_labels(labels)
    check(chunks, {name: len(own) for name, own in labels.items()})
    set_columns(model, len(chunks.kinds), chunks.kinds)
    executor = pieces.executor(found)
    if isinstance(estimator, CostSearchCV):
        model, failed = _search(estimator, model, settings, pieces, found, executor)
    else:
        fitted, failed = boost(settings, found, executor, model, _teller(model, settings, pieces.tell))
        restore(model, fitted)
    if failed:
        warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=3)
    return model


def _read(estimator: Any) -> tuple[BaseBoosting, Settings]:
    """The classifier to fit, and its settings, if all rows need not be in one place for it."""
    if isinstance(estimator, CostSearchCV):
        settings, _ = read_search(estimator)
        given = {"scoring": "f1", "cv": None, "rounds": None}
        for name, value in given.items():
            if getattr(estimator, name) != value:
                raise ValueError(
                    f"{name} must be {value!r} in a search out of memory, got {getattr(estimator, name)!r}"
                )
        model = clone(estimator.estimator)
    else:
        if not isinstance(estimator, BaseBoosting):
            raise TypeError(f"estimator must be a classifier of adacc or a CostSearchCV, got {estimator!r}")
        model = clone(estimator)
        settings = settings_of(model)
    check_supported(settings, model.warm_start)
    if settings.max_bins is None:
        raise ValueError("max_bins must be a number where rows do not fit into memory: None keeps all values there are")
    return model, settings


def _labels(chunks: Chunks, bin_mapper: BinMapper) -> dict[str, set[Any]]:
    """Of each column of categories."""
    pairs = zip(chunks.kinds, bin_mapper.features, strict=True)
    return {name: {*each.values} - {None} for name, each in pairs if isinstance(each, CategoryBins)}


def _teller(
    model: BaseBoosting, settings: Settings, tell: Progress, done: int = 0, runs: int = 1
) -> Callable[[Boosting, Any], bool]:
    """Tells of each round, `done` runs of all being over."""

    def after_round(boosting: Boosting, _: Any) -> bool:
        report_round(model, boosting, settings.n_rounds)
        tell("boosting", done * settings.n_rounds + len(boosting.rounds), runs * settings.n_rounds)
        return False

    return after_round


def _search(
    search: CostSearchCV,
    template: BaseBoosting,
    settings: Settings,
    pieces: FilePieces,
    found: Surveyed,
    executor: DiskShardExecutor,
) -> tuple[BaseBoosting, bool]:
    """A model for each of the costs, all on the same codes; the one of best F1, and whether it failed at once."""
    negative_class = find_negative_class(template.pos_label, found.classes, found.class_weight)
    costs, _ = read_costs(search.costs, found.classes, found.class_weight, negative_class)
    models: list[BaseBoosting] = []
    failed = []
    for each in costs:
        these = replace(settings, options={**settings.options, "costs": each})
        after_round = _teller(template, these, pieces.tell, len(models), len(costs))
        fitted, failed_at_once = boost(these, found, executor, template, after_round)
        models.append(restore(clone(template).set_params(costs=each), fitted))
        failed.append(failed_at_once)
    if len(found.classes) == 2 and not settings.decides_by_probability:
        recall = np.array([model.history_["class_recall"][-1] for model in models])
        scores = _f1_of_positive(recall * found.class_weight, found.class_weight, negative_class)
    else:
        pairs = sum(pieces.answers(PartitionTask(count_pairs, (models,))))
        scores = _f1(pairs, negative_class)
    best = int(ranks(scores).argmin())
    return models[best], failed[best]


def _f1_of_positive(right: Array, class_weight: Array, negative: int) -> Array:
    wrong, positive = class_weight - right, 1 - negative
    return BY_COUNTS["f1"](Counts(right[:, positive], wrong[:, positive], wrong[:, negative], right[:, negative]))


def count_pairs(piece: Piece, models: list[BaseBoosting]) -> Array:
    """Weight of the rows of each (true, predicted) pair of classes, by model."""
    classes = models[0].classes_
    n_classes, weight = len(classes), read_weight(piece.weight, len(piece.y), "sample_weight")
    true = n_classes * np.searchsorted(classes, piece.y)
    pairs = [np.bincount(true + np.searchsorted(classes, m.predict(piece.X)), weight, n_classes**2) for m in models]
    return np.reshape(pairs, (len(models), n_classes, n_classes))


def _f1(pairs: Array, negative: int) -> Array:
    """Of the positive class of two, of more the mean of all."""
    right = np.diagonal(pairs, axis1=1, axis2=2)
    if pairs.shape[1] == 2:
        return _f1_of_positive(right, pairs.sum(axis=2)[0], negative)
    either = pairs.sum(axis=1) + pairs.sum(axis=2)
    return (2.0 * right / either).mean(axis=1)

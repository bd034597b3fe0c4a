"""Weak learners: the native stump, and any scikit-learn classifier.

A learner is asked each round for a weak model and for what it predicts, which it gives as a cell per row and the
class of each cell: for a stump the cells are a feature's codes, for a foreign classifier its predictions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adacc.engine import dtypes, kernels
from adacc.engine.binning import Categories, Coder
from adacc.engine.layout import Layout, Part
from adacc.engine.rows import Cells, Rows, Weights
from adacc.engine.samplers import Sample
from adacc.engine.splits import Splitter
from adacc.engine.steps import Steps, compile_stumps
from adacc.engine.table import Table
from adacc.engine.threads import Threads
from adacc.rules.base import Array

WORTH_THREADS = 200_000
"""Nanoseconds of a round below which handing it to threads takes longer than it saves."""


class Scorer(Protocol):
    """All rounds as one function of a row."""

    def scores(self, table: Table) -> Array:
        """Shape (n_rows, n_outputs)."""


class Models(Protocol):
    """The weak models of all rounds."""

    def __len__(self) -> int: ...

    def __getitem__(self, rounds: slice) -> Models: ...

    def __add__(self, later: Any) -> Models: ...

    def cells(self, table: Table, order: NDArray[np.uint32]) -> Iterator[Cells]:
        """Prediction of every row, round by round."""

    def compile(self, contributions: Array) -> Scorer:
        """What sums the contributions (round, predicted class, output) of all rounds for every row."""

    def importances(self, n_features: int) -> Array:
        """How much each round (row) relies on each feature."""

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        """The models as a user sees them."""

    def check(self, table: Table) -> None:
        """Refuse a table whose columns cannot be what they were in training."""

    @property
    def has_labels(self) -> bool:
        """Whether some columns are read as categories."""


class Learner(Protocol):
    """What the loop asks of a weak learner.

    Attributes
    ----------
    rows : Rows
        The training rows as the learner keeps them: equal ones may have been made one.
    pass_in_rows : float
        How many changed rows it takes in in the time of a pass over all it has summed; infinite if it sums nothing.
    """

    rows: Rows
    pass_in_rows: float

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, Cells, Array]:
        """A weak model for these weights, its prediction of every training row, and ``W``.

        ``W`` is the weight of each (true, predicted) pair.
        """

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> Any:
        """Other rows, in the form in which `see` and a sampler's extra rows want them."""

    def see(self, model: Any, prepared: Any) -> Cells:
        """The prediction that the model fitted last makes of prepared rows."""

    def models(self, fitted: list[Any]) -> Models:
        """The weak models of all rounds, as one object that predicts."""


def weigh_pairs(cells: Cells, weights: Weights) -> Array:
    """``W``, the weight of each (true, predicted) pair, from the rows."""
    W = np.zeros((weights.rows.n_classes, weights.rows.n_classes))
    kernels.weigh_pairs(*cells, weights.raw, weights.scale, weights.rows.starts, W)
    return W


def used_features(records: NDArray[np.void]) -> NDArray[np.int32]:
    """Features of stumps or nodes; -1 stands for none."""
    features = np.unique(records["feature"])
    return features[features >= 0]


class Stump(NamedTuple):
    """One split: ``x <= threshold`` or ``x == category`` takes the left branch; NaN among numbers its own."""

    feature: int | None
    threshold: float | None
    category: Any
    left: Any
    right: Any
    missing: Any


@dataclass(frozen=True)
class Stumps:
    """Fitted stumps as a record array, with the coder that reads their cuts."""

    records: NDArray[np.void]
    coder: Coder

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, rounds: slice) -> Stumps:
        return Stumps(self.records[rounds], self.coder)

    def __add__(self, later: Stumps) -> Stumps:
        return Stumps(np.concatenate([self.records, later.records]), self.coder)

    @property
    def used(self) -> NDArray[np.int32]:
        """Features that some stump splits on."""
        return used_features(self.records)

    def lookup(self, t: int) -> NDArray[np.uint8]:
        """Class that stump t predicts for each code of its feature."""
        stump = self.records[t]
        feature = self.coder.features[max(stump["feature"], 0)]
        codes = np.arange(feature.n_codes)
        if stump["feature"] < 0:
            return np.full(len(codes), stump["left"])
        if feature.categorical:
            return np.where(codes == stump["cut"], stump["left"], stump["right"])
        lookup = np.where(codes <= stump["cut"], stump["left"], stump["right"])
        lookup[-1] = stump["missing"]
        return lookup

    def cells(self, table: Table, order: NDArray[np.uint32]) -> Iterator[Cells]:
        columns = {j: codes for j, _, codes in self.coder.columns(table, order, self.used.tolist())}
        nothing = np.zeros(len(order), dtype=np.uint8)
        for t, feature in enumerate(self.records["feature"].tolist()):
            yield columns.get(feature, nothing), self.lookup(t)

    def pruned(self) -> Stumps:
        """The same predictions, without the splits whose branches all predict the same class."""
        lookups = (self.lookup(t) for t in range(len(self)))
        records = self.records.copy()
        records["feature"][[(lookup == lookup[0]).all() for lookup in lookups]] = -1
        return Stumps(records, self.coder)

    def compile(self, contributions: Array) -> Steps:
        return compile_stumps(self.coder, self._by_code(contributions), self._constant(contributions))

    def _by_code(self, contributions: Array) -> Iterator[tuple[int, Array]]:
        """Each used feature with the summed contribution of each of its codes."""
        for feature in self.used.tolist():
            first, *later = np.flatnonzero(self.records["feature"] == feature).tolist()
            total = contributions[first][self.lookup(first)]
            for t in later:  # one at a time: all of them would be rounds × codes in memory
                total += contributions[t][self.lookup(t)]
            yield feature, total

    def _constant(self, contributions: Array) -> Array:
        unsplit = np.flatnonzero(self.records["feature"] < 0)
        return contributions[unsplit, self.records["left"][unsplit]].sum(axis=0)

    def importances(self, n_features: int) -> Array:
        return (self.records["feature"][:, None] == np.arange(n_features)).astype(float)

    def describe(self, classes: NDArray[Any]) -> list[Stump]:
        return [self._describe(record, classes.tolist()) for record in self.records]

    def _describe(self, record: Any, classes: list[Any]) -> Stump:
        branches = [classes[record[branch]] for branch in ("left", "right", "missing")]
        if record["feature"] < 0:
            return Stump(None, None, None, *branches)
        feature, cut = self.coder.features[record["feature"]], int(record["cut"])
        if isinstance(feature, Categories):
            return Stump(int(record["feature"]), None, feature.values[cut], *branches)
        threshold = float(feature.thresholds[cut]) if cut < len(feature.thresholds) else np.inf
        return Stump(int(record["feature"]), threshold, None, *branches)

    def check(self, table: Table) -> None:
        self.coder.check(table)

    @property
    def has_labels(self) -> bool:
        return bool(self.coder.categorical.any())


class StumpLearner:
    """Depth-1 trees on codes, from weighted class histograms that follow the weights from round to round.

    `histogram` is the layout's, or a copy of it where several learners share the layout.
    """

    def __init__(self, layout: Layout, histogram: Array, criterion: str, tie_class: int, threads: Threads) -> None:
        self.layout, self.rows, self.coder = layout, layout.rows, layout.coder
        self.pass_in_rows = layout.pass_in_rows
        self.threads = threads
        self._threads_of_round = threads if layout.work > WORTH_THREADS else Threads(1)
        self.histogram = histogram
        self.splitter = Splitter(self.coder, self.rows.n_classes, criterion, tie_class)

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, Cells, Array]:
        if sample is None:
            return self._split(Part.follow, weights, weights.scale, weights.class_weight)
        self.histogram[: self.rows.n_classes] = 0.0
        whole = sample.class_weight.sum()
        scale, total = np.full(self.rows.n_classes, 1.0 / whole), sample.class_weight / whole
        model, cells, _ = self._split(self._add, sample, scale, total)
        return model, cells, weigh_pairs(cells, weights)

    def _add(self, part: Part, sample: Sample, histogram: Array) -> None:
        part.add(sample.listing, histogram)
        if sample.extra is not None:
            own = slice(part.first, part.last)
            codes, offsets = sample.extra.prepared[own], self.splitter.offsets[own]
            kernels.add_rows(codes, offsets, *sample.extra.listing, histogram)

    def _split(
        self, sum_up: Callable[[Part, Any, Array], None], source: Any, scale: Array, total: Array
    ) -> tuple[Any, Cells, Array]:
        """Sum up the source and find the best split in the histograms, a range of features per thread."""
        histogram = self.histogram

        def work(part: Part) -> None:
            sum_up(part, source, histogram)
            part.complete(scale, total, histogram)
            self.splitter.look(histogram, scale, total, part.first, part.last)

        self._threads_of_round.each(work, self.layout.parts)
        split, W = self.splitter.choose(histogram, scale)
        return split, self._cells(split[0], self.layout.column(max(split[0], 0))), W

    def _cells(self, feature: int, column: NDArray[Any]) -> Cells:
        return column, self.splitter.lookup(feature)

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> NDArray[np.unsignedinteger]:
        return self.coder.codes(table, order, self.threads).astype(self.layout.dtype, copy=False)

    def see(self, model: Any, prepared: Any) -> Cells:
        return self._cells(model[0], prepared[max(model[0], 0)])

    def models(self, fitted: list[Any]) -> Stumps:
        return Stumps(np.array(fitted, dtype=dtypes.STUMP), self.coder)


IDENTITY = np.arange(dtypes.MAX_CLASSES, dtype=dtypes.CLASS)


@dataclass(frozen=True)
class Classifiers:
    """Fitted scikit-learn classifiers, one a round; they speak of classes by number."""

    fitted: list[Any]

    def __len__(self) -> int:
        return len(self.fitted)

    def __getitem__(self, rounds: slice) -> Classifiers:
        return Classifiers(self.fitted[rounds])

    def __add__(self, later: Classifiers) -> Classifiers:
        return Classifiers(self.fitted + later.fitted)

    def cells(self, table: Table, order: NDArray[np.uint32]) -> Iterator[Cells]:
        for model in self.fitted:
            yield model.predict(table.native)[order].astype(dtypes.CLASS), IDENTITY

    def compile(self, contributions: Array) -> Votes:
        return Votes(self, contributions)

    def importances(self, n_features: int) -> Array:
        return np.array([model.feature_importances_ for model in self.fitted])

    def describe(self, classes: NDArray[Any]) -> list[Any]:
        return self.fitted

    def check(self, table: Table) -> None:
        """The classifiers look for themselves."""

    @property
    def has_labels(self) -> bool:
        return False


@dataclass(frozen=True)
class Votes:
    """The contributions of foreign classifiers, which must each be asked."""

    models: Classifiers
    contributions: Array

    def scores(self, table: Table) -> Array:
        scores = np.zeros((table.n_rows, self.contributions.shape[2]))
        cells = self.models.cells(table, table.every_row)
        for (predicted, _), contribution in zip(cells, self.contributions, strict=True):
            scores += contribution[predicted]
        return scores


class ClassifierLearner:
    """Any scikit-learn classifier whose ``fit`` takes sample_weight."""

    pass_in_rows = np.inf

    def __init__(self, estimator: Any, table: Table, rows: Rows, seed: int) -> None:
        self.estimator, self.table, self.rows, self.seed = estimator, table, rows, seed
        self.y = np.empty(len(rows.order), dtype=np.intp)
        self.y[rows.order] = rows.true

    def fit(self, weights: Weights, sample: Sample | None, t: int) -> tuple[Any, Cells, Array]:
        model = clone(self.estimator)
        seeds = {name: self._seed(t) for name in model.get_params() if name.split("__")[-1] == "random_state"}
        model.set_params(**seeds)
        # Weights that average 1, not 1/n: what a learner's own regularisation was made for.
        n_rows = len(self.y)
        if sample is None:
            weight = np.empty(n_rows)
            weight[self.rows.order] = weights.values * n_rows
            model.fit(self.table.native, self.y, sample_weight=weight)
        else:
            X, y, weight = self._sampled(sample)
            model.fit(X, y, sample_weight=weight * n_rows)
        cells = self.see(model, self.prepare(self.table, self.rows.order))
        return model, cells, weigh_pairs(cells, weights)

    def _seed(self, t: int) -> int:
        return int(np.random.default_rng([self.seed, t]).integers(2**31))

    def _sampled(self, sample: Sample) -> tuple[Any, NDArray[np.intp], Array]:
        chosen = self.rows.order[sample.rows]
        table, y, weight = self.table.take(chosen), self.y[chosen], sample.weight
        if sample.extra is not None:
            extra = sample.extra
            table = table.append(extra.prepared[0].take(extra.rows))
            y = np.concatenate([y, np.repeat(np.arange(self.rows.n_classes), np.diff(extra.starts))])
            weight = np.concatenate([weight, extra.weight])
        return table.native, y, weight

    def prepare(self, table: Table, order: NDArray[np.uint32]) -> tuple[Table, NDArray[np.uint32]]:
        return table, order

    def see(self, model: Any, prepared: Any) -> Cells:
        table, order = prepared
        return model.predict(table.native)[order].astype(dtypes.CLASS), IDENTITY

    def models(self, fitted: list[Any]) -> Classifiers:
        return Classifiers(fitted)

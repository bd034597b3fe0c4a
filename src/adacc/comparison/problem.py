"""What the problems of a comparison have in common: two classes, or several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.data.calendar_days import read_order
from adacc.data.columns import read
from adacc.data.duplicates import Copies, find_duplicates
from adacc.evaluation.measures import Measure


class BaseProblem(ABC):
    """Features and a target, whose classes are numbered."""

    source: str  # file name of the table
    target: str  # the column to predict
    X: pd.DataFrame  # (n_rows, n_features): the features
    y: NDArray[np.int8]  # (n_rows,): number of the class of each row
    n_rows_of_source: int  # number of rows before sampling
    dropped: tuple[str, ...]  # columns that are not used as features
    # (n_rows,): group of each row, which splits keep together; time of each row, which splits follow
    group: pd.Series | None
    time: pd.Series | None
    duplicates: str  # whether splits keep equal rows together: "auto", "together" or "apart"

    measures: ClassVar[Mapping[str, Measure]]  # of each method, by name
    tuned: ClassVar[str]  # what is tuned on the training rows

    @property
    @abstractmethod
    def labels(self) -> Sequence[Any]:
        """The label of each class, by number."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Classes and numbers of rows as plain data."""

    @abstractmethod
    def evaluate(self, rows: NDArray[np.intp], predictions: Any) -> dict[str, Any]:
        """The measures of predictions of some rows, without the seconds."""

    @abstractmethod
    def pooled(self, rows: NDArray[np.intp], predictions: Any, folds: NDArray[np.intp]) -> dict[str, Any]:
        """Counts and curves of predictions of the test rows of all `folds`, as plain data."""

    @cached_property
    def dependence(self) -> NDArray[Any] | None:
        """The group, the time (which sorts) or the distinct row of each row; None if rows are independent."""
        if self.time is not None:
            return read_order(self.time, f"the column {str(self.time.name)!r}")
        if self.group is not None:
            return self.group.to_numpy()
        return None if self.copies is None else self.copies.groups

    @cached_property
    def copies(self) -> Copies | None:
        """The equal rows that splits keep together; None if there are none, or if a group or a time decides."""
        if self.group is not None or self.time is not None:
            return None
        return find_duplicates(read(self.X), self.y.astype(np.intp), len(self.labels), self.duplicates)

    @property
    def class_rows(self) -> NDArray[np.intp]:
        """Number of rows of each class."""
        return np.bincount(self.y, minlength=len(self.labels))

    @property
    @abstractmethod
    def class_order(self) -> Sequence[int]:
        """Numbers of the classes, in the order in which they are checked and sampled."""

    def sample(self, n_rows: int, seed: int) -> Self:
        """A stratified random sample of at most `n_rows` rows."""
        if n_rows >= len(self.y):
            return self
        rng, kept = np.random.default_rng(seed), []
        for k, size in self._sample_sizes(n_rows):
            kept.append(rng.choice(np.flatnonzero(self.y == k), size, replace=False))
        return self.take(np.sort(np.concatenate(kept)))

    def _sample_sizes(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Classes and their number of rows in a sample: in proportion, at least one; the last class fills up."""
        left, n_later = n_rows, len(self.class_order)
        for k in self.class_order[:-1]:
            n_later -= 1
            size = max(min(max(round(n_rows * int(self.class_rows[k]) / len(self.y)), 1), left - n_later), 0)
            yield k, size
            left -= size
        yield self.class_order[-1], min(left, int(self.class_rows[self.class_order[-1]]))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """The problem with these rows only."""
        return replace(  # type: ignore[type-var]
            self,
            X=self.X.iloc[rows].reset_index(drop=True),
            y=self.y[rows],
            group=None if self.group is None else self.group.iloc[rows],
            time=None if self.time is None else self.time.iloc[rows],
        )

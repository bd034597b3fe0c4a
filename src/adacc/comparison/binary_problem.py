"""The binary classification problem of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.comparison import curves
from adacc.comparison.problem import BaseProblem
from adacc.evaluation.measures import MEASURES, Measure, binary_measures
from adacc.evaluation.predictions import Predictions


@dataclass(frozen=True)
class BinaryProblem(BaseProblem):
    """Features and a binary target."""

    source: str  # file name of the table
    target: str  # the column to predict
    # labels of the positive class and of the negative one; ``"other"`` if that consists of several labels
    positive: Any
    negative: Any
    X: pd.DataFrame  # (n_rows, n_features): the features
    y: NDArray[np.int8]  # (n_rows,): 1 for the positive class
    n_rows_of_source: int  # number of rows before sampling
    dropped: tuple[str, ...] = ()  # columns that are not used as features
    # (n_rows,): group of each row, which splits keep together; time of each row, which splits follow
    group: pd.Series | None = None
    time: pd.Series | None = None
    duplicates: str = "auto"  # whether splits keep equal rows together: "auto", "together" or "apart"
    # number of labels of the target; if more than two, the negative class consists of all but the positive one
    n_labels: int = 2
    # columns of the decision report: the name of that of today's decisions, whether they are alerts, and subgroups
    baseline: str | None = None
    today: NDArray[np.bool_] | None = None
    subgroups: pd.DataFrame | None = None

    measures: ClassVar[Mapping[str, Measure]] = MEASURES
    tuned: ClassVar[str] = "the cost of the common class, by F1 on the training rows"
    class_order: ClassVar[Sequence[int]] = (1, 0)

    @property
    def labels(self) -> Sequence[Any]:
        return self.negative, self.positive

    def take(self, rows: NDArray[np.intp]) -> Self:
        return replace(
            super().take(rows),
            today=None if self.today is None else self.today[rows],
            subgroups=None if self.subgroups is None else self.subgroups.iloc[rows],
        )

    def describe(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "target": self.target,
            "positive": str(self.positive),
            "negative": str(self.negative),
            "rows": self.n_rows_of_source,
            "rows_used": len(self.y),
            "positives": int(self.y.sum()),
        }

    def evaluate(self, rows: NDArray[np.intp], predictions: Predictions) -> dict[str, Any]:
        found = binary_measures(
            self.y[rows] == 1, predictions.scores > 0.0, predictions.scores, predictions.probabilities
        )
        # Precision without positive predictions counts as 0 in the mean over folds.
        return {**found, "precision": float(np.nan_to_num(found["precision"]))}

    def pooled(self, rows: NDArray[np.intp], predictions: Predictions, folds: NDArray[np.intp]) -> dict[str, Any]:
        return curves.pooled(self.y[rows], predictions.probabilities, predictions.scores > 0.0, folds)

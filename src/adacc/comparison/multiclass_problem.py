"""The problem of a comparison on all classes of a target with more than two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.comparison.problem import BaseProblem
from adacc.evaluation.measures import MULTICLASS_MEASURES, Measure, multiclass_measures
from adacc.evaluation.predictions import ClassPredictions
from adacc.evaluation.statistics import wilson
from adacc.metrics import confusion


@dataclass(frozen=True)
class MulticlassProblem(BaseProblem):
    """Features and a target of more than two classes."""

    source: str  # file name of the table
    target: str  # the column to predict
    classes: tuple[Any, ...]  # the labels, sorted
    X: pd.DataFrame  # (n_rows, n_features): the features
    y: NDArray[np.int8]  # (n_rows,): index of the label of each row
    n_rows_of_source: int  # number of rows before sampling
    dropped: tuple[str, ...] = ()  # columns that are not used as features
    # (n_rows,): group of each row, which splits keep together; time of each row, which splits follow
    group: pd.Series | None = None
    time: pd.Series | None = None
    duplicates: str = "auto"  # whether splits keep equal rows together: "auto", "together" or "apart"

    measures: ClassVar[Mapping[str, Measure]] = MULTICLASS_MEASURES
    tuned: ClassVar[str] = "the costs of the classes, by macro F1 on the training rows"

    @property
    def labels(self) -> Sequence[Any]:
        return self.classes

    @cached_property
    def class_order(self) -> Sequence[int]:
        return sorted(range(len(self.classes)), key=lambda k: (self.class_rows[k], k))

    def describe(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "target": self.target,
            "classes": [str(label) for label in self.classes],
            "class_rows": self.class_rows.tolist(),
            "rows": self.n_rows_of_source,
            "rows_used": len(self.y),
        }

    def evaluate(self, rows: NDArray[np.intp], predictions: ClassPredictions) -> dict[str, Any]:
        """The measures, and the recall of each class by label."""
        found = multiclass_measures(self.y[rows], predictions.predicted, predictions.probabilities)
        recalls = found.pop("recall")
        return {**found, "recall": dict(zip(map(str, self.classes), recalls, strict=True))}

    def pooled(self, rows: NDArray[np.intp], predictions: ClassPredictions, folds: NDArray[np.intp]) -> dict[str, Any]:
        """The confusion matrix (rows are true classes), and the recall of each class with its Wilson interval."""
        counts = confusion(self.y[rows], predictions.predicted, labels=range(len(self.classes))).astype(int)
        return {
            "confusion": counts.tolist(),
            "recall": {
                str(label): _recall(int(counts[k, k]), int(counts[k].sum())) for k, label in enumerate(self.classes)
            },
        }


def _recall(correct: int, rows: int) -> dict[str, Any]:
    if not rows:  # of a class without finished folds
        return {"rows": 0, "correct": 0, "recall": None, "low": None, "high": None}
    return {"rows": rows, "correct": correct, "recall": correct / rows, **wilson(correct, rows)._asdict()}

"""Learning curves: a measure after each number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adacc import metrics
from adacc.evaluation.baselines import label_of
from adacc.inspect.display import Display, as_rare, named
from adacc.inspect.style import line_of, styled
from adacc.study.summary import Summary

BY_PREDICTION: dict[str, Callable[..., float]] = {
    "balanced_accuracy": metrics.balanced_accuracy,
    "gmean": metrics.gmean,
    "tpr": lambda y, predicted: metrics.tpr(y, predicted, pos_label=True),
    "tnr": lambda y, predicted: metrics.tnr(y, predicted, pos_label=True),
    "f1": lambda y, predicted: metrics.f1(y, predicted, pos_label=True),
}


class LearningCurveDisplay(Display):
    """A measure on test rows by round.

    Parameters
    ----------
    curves : DataFrame
        Columns ``method``, ``round`` and the measure.
    measure : str
        Name of the measure.
    """

    def __init__(self, curves: pd.DataFrame, measure: str) -> None:
        self.curves, self.measure = curves, measure

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: ArrayLike, measure: str = "balanced_accuracy"
    ) -> LearningCurveDisplay:
        """Create the display from fitted classifiers and test rows; the measure must depend on predictions only."""
        if measure not in BY_PREDICTION:
            raise ValueError(f"measure must be one of {', '.join(BY_PREDICTION)}, got {measure!r}")
        frames = []
        for label, model in named(estimators).items():
            true = as_rare(model, y)
            values = [BY_PREDICTION[measure](true, as_rare(model, predicted)) for predicted in model.staged_predict(X)]
            frames.append(pd.DataFrame({"method": label, "round": np.arange(1, len(values) + 1), measure: values}))
        return cls(pd.concat(frames, ignore_index=True), measure)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, measure: str = "balanced_accuracy"
    ) -> LearningCurveDisplay:
        """Create the display from one fitted classifier."""
        return cls.from_estimators([estimator], X, y, measure)

    @classmethod
    def from_study(
        cls, summary: Summary, measure: str = "balanced_accuracy", dialect: str = "paper"
    ) -> LearningCurveDisplay:
        """Create the display from a study: means over its sets at its numbers of rounds."""
        if measure not in summary.measures:
            raise ValueError(f"measure must be one of {', '.join(summary.measures)}, got {measure!r}")
        frames = []
        for T in summary.protocol.rounds:
            methods = summary.compared(dialect)
            means = summary.by_set(methods, T, measure).mean().to_numpy()
            labels = [label_of(method) for method, _ in methods]
            frames.append(pd.DataFrame({"method": labels, "round": T, measure: means}))
        return cls(pd.concat(frames, ignore_index=True), measure)

    def frame(self) -> pd.DataFrame:
        """A row for each method and round."""
        return self.curves

    def plot(self, ax: Any = None) -> LearningCurveDisplay:
        """Draw all methods in one axes."""
        with styled():
            axes = self._canvas(ax, (6.4, 3.8))
            for method, curve in self.curves.groupby("method", sort=False):
                axes.plot(curve["round"], curve[self.measure], label=method, **line_of(str(method), len(curve)))
            axes.set(xlabel="rounds", ylabel=self.measure.replace("_", " "))
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self

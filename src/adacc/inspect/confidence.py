"""Distribution of the confidence (normalised margin) of ensembles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adacc.algorithms.base import Array
from adacc.estimators.base import read_known
from adacc.inspect.display import Display, as_rare, named, rare_class
from adacc.inspect.style import line_of, styled

PANELS = ("rare class", "other class", "overall")
CURVE_POINTS = 201


class ConfidenceDisplay(Display):
    """Cumulative distribution of confidence: votes for the true class minus votes against it, over all votes.

    A row with a confidence below 0 is misclassified: the curve at 0 is the error rate.

    Parameters
    ----------
    curves : DataFrame
        Columns ``method``, ``panel`` ("rare class", "other class", "overall"), ``confidence`` from -1 to 1, and
        ``share``, the share of rows with at most this confidence.
    rounds : int or None
        Number of rounds.
    """

    _arguments: ClassVar = {"rounds": "int or None\n    Number of boosting rounds; None for all."}

    def __init__(self, curves: pd.DataFrame, rounds: int | None = None) -> None:
        self.curves, self.rounds = curves, rounds

    @classmethod
    def from_estimators(cls, estimators: Any, X: Any, y: ArrayLike, rounds: int | None = None) -> ConfidenceDisplay:
        """Create the display from fitted classifiers and rows, after `rounds` rounds; None: after all."""
        levels = np.linspace(-1.0, 1.0, CURVE_POINTS)
        frames = []
        for label, model in named(estimators).items():
            is_rare = as_rare(model, y)
            values = confidences(model, X, is_rare, rounds)
            for panel, of_panel in zip(PANELS, (values[is_rare], values[~is_rare], values), strict=True):
                share = np.searchsorted(np.sort(of_panel), levels, side="right") / max(len(of_panel), 1)
                frames.append(pd.DataFrame({"method": label, "panel": panel, "confidence": levels, "share": share}))
        return cls(pd.concat(frames, ignore_index=True), rounds)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, rounds: int | None = None) -> ConfidenceDisplay:
        """Create the display from one fitted classifier."""
        return cls.from_estimators([estimator], X, y, rounds)

    @classmethod
    def mean_of(cls, displays: Iterable[ConfidenceDisplay]) -> ConfidenceDisplay:
        """The mean over several data sets with equal weights."""
        several = list(displays)
        means = pd.concat([each.curves for each in several]).groupby(["method", "panel", "confidence"], sort=False)
        return cls(means.mean().reset_index(), several[0].rounds)

    def frame(self) -> pd.DataFrame:
        """The curves."""
        return self.curves

    def plot(self, ax: Any = None) -> ConfidenceDisplay:
        """Draw panels for the rare class, the other class and all rows."""
        with styled():
            axes = self._canvas(ax, (11.5, 3.4), 1, 3, sharey=True)
            each = np.ravel(np.asarray(axes, dtype=object))
            if len(each) != 3:
                raise ValueError(f"ax must hold three axes, got {len(each)}")
            for panel, where in zip(PANELS, each, strict=True):
                for method, curve in self.curves[self.curves["panel"] == panel].groupby("method", sort=False):
                    style = line_of(str(method), len(curve))
                    where.plot(curve["confidence"], curve["share"], label=str(method), **style)
                where.axvline(0.0, color="black", linewidth=0.6)
                where.set(xlim=(-1, 1), ylim=(0, 1), xlabel="confidence", title=panel)
                where.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0], ["−1", "−0.5", "0", "0.5", "1"])
            each[0].set_ylabel("share of rows" + ("" if self.rounds is None else f", T = {self.rounds}"))
            each[-1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self


def confidences(model: Any, X: Any, is_rare: Any, rounds: int | None = None) -> Array:
    """Score of the true class over the sum of all votes, from -1 to 1."""
    ensemble = model.fitted_model_.ensemble
    if rounds is not None:
        ensemble = ensemble.first(min(rounds, len(ensemble)))
    scores = ensemble.scores(read_known(model, X))
    towards_rare = scores if rare_class(model) == 1 else -scores
    most = np.abs(ensemble.votes * ensemble.decision).max(axis=1).sum()
    return np.where(is_rare, towards_rare, -towards_rare) / most

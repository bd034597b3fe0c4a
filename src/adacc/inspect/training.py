"""Training history by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from adacc.estimators.booster import BaseBoosting
from adacc.inspect.display import Display, named, rare_class
from adacc.inspect.style import line_of, styled

QUANTITIES = {
    "rare_weight": "weight of the rare class",
    "alpha": "vote (alpha)",
    "balanced_error": "balanced training error",
    "tpr": "training TPR",
    "tnr": "training TNR",
    "cost": "cost of errors of the rare class",
    "error": "training error",
    "bound": "bound of the training error",
}


class TrainingDisplay(Display):
    """Training history of several methods, by round.

    Parameters
    ----------
    rounds : DataFrame
        Columns ``method``, ``round`` (from 1) and the quantities: ``rare_weight`` (that the weak learner was fitted
        with), ``alpha`` (RareBoost: of predicting the rare class), ``balanced_error``, ``tpr`` and ``tnr`` of the
        ensemble on the training rows, ``cost`` of the rare class, ``error`` under the initial weights and its
        ``bound``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from adacc import AdaBoostClassifier, AdaCC1Classifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> models = [AdaBoostClassifier().fit(X, digit == 8), AdaCC1Classifier().fit(X, digit == 8)]
    >>> display = TrainingDisplay.from_estimators(models)
    >>> display.frame().query("round == 100")[["method", "rare_weight", "tpr"]].round(2)
           method  rare_weight   tpr
    99   adaboost         0.50  0.85
    199    adacc1         0.47  0.97
    >>> _ = display.plot("balanced_error")
    """

    _arguments: ClassVar = {
        "quantities": "str or sequence of str\n    Names of the recorded quantities to draw.",
        "log": "bool or sequence of str\n    Quantities to draw on a log axis.",
    }

    def __init__(self, rounds: pd.DataFrame) -> None:
        self.rounds = rounds

    @classmethod
    def from_estimators(cls, estimators: Any) -> TrainingDisplay:
        """Create the display from fitted classifiers: a dict by label, or a list."""
        return cls(
            pd.concat(
                [_rounds(label, each) for label, each in named(estimators, BaseBoosting).items()], ignore_index=True
            )
        )

    @classmethod
    def from_estimator(cls, estimator: Any) -> TrainingDisplay:
        """Create the display from one fitted classifier."""
        return cls.from_estimators([estimator])

    @classmethod
    def mean_of(cls, displays: Iterable[TrainingDisplay]) -> TrainingDisplay:
        """The mean over several data sets; if boosting stopped early, the values of the last round are repeated."""
        padded = []
        for display in displays:
            for method, of_method in display.rounds.groupby("method", sort=False):
                most = display.rounds["round"].max()
                table = of_method.set_index("round").drop(columns="method").reindex(range(1, most + 1)).ffill()
                padded.append(table.assign(method=method).reset_index())
        everything = pd.concat(padded)
        order = list(dict.fromkeys(everything["method"]))
        means = everything.groupby(["method", "round"]).mean().reindex(order, level="method")
        return cls(means.reset_index())

    def frame(self) -> pd.DataFrame:
        """A row for each method and round."""
        return self.rounds

    def plot(
        self,
        quantities: str | Sequence[str] = "balanced_error",
        ax: Any = None,
        log: bool | Sequence[str] = False,
    ) -> TrainingDisplay:
        """Draw one quantity, or several side by side; `log`: whether, or for which quantities, the y-axis is log."""
        chosen = [quantities] if isinstance(quantities, str) else list(quantities)
        for name in chosen:
            if name not in QUANTITIES:
                raise ValueError(f"quantity must be one of {', '.join(QUANTITIES)}, got {name!r}")
        with styled():
            axes = self._canvas(ax, (4.6 * len(chosen) + 1.6, 3.6), 1, len(chosen))
            each = np.ravel(np.asarray(axes, dtype=object))
            if len(each) != len(chosen):
                raise ValueError(f"ax must hold {len(chosen)} axes, one for each quantity, got {len(each)}")
            for name, panel in zip(chosen, each, strict=True):
                self._draw(name, panel)
                if log is True or (log and name in log):
                    panel.set_yscale("log")
            handles, labels = each[0].get_legend_handles_labels()
            each[-1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self

    def _draw(self, name: str, ax: Any) -> None:
        for method, of_method in self.rounds.groupby("method", sort=False):
            ax.plot(of_method["round"], of_method[name], label=method, **line_of(str(method), len(of_method)))
        if name == "rare_weight":
            ax.axhline(0.5, color="black", linewidth=0.6)
        ax.set(xlabel="round", ylabel=QUANTITIES[name])


class BoundDisplay(TrainingDisplay):
    """The training error (under the initial weights) and its upper bound (thin, dashed).

    The bound is the product of the normalisers. It holds only for methods with a proved bound.

    Attributes
    ----------
    rounds : DataFrame
        The record of the rounds, as in `TrainingDisplay`.
    """

    def plot(self, ax: Any = None) -> BoundDisplay:  # type: ignore[override]
        """Draw error and bound on a log axis; errors of 0 are not drawn."""
        with styled():
            axes = self._canvas(ax, (6.4, 3.8))
            for method, of_method in self.rounds.groupby("method", sort=False):
                style = line_of(str(method), len(of_method))
                axes.plot(of_method["round"], of_method["error"].where(of_method["error"] > 0), label=method, **style)
                axes.plot(of_method["round"], of_method["bound"], color=style["color"], linewidth=0.8, linestyle="--")
            axes.set(xlabel="round", ylabel="training error, and its bound (thin)", yscale="log")
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self


def _rounds(label: str, model: Any) -> pd.DataFrame:
    rare, history = rare_class(model), model.history_
    recall, alpha = history["class_recall"], history["alpha"]
    initial = history["class_weight"][0]
    return pd.DataFrame(
        {
            "method": label,
            "round": np.arange(1, len(recall) + 1),
            "rare_weight": history["class_weight"][:, rare],
            "alpha": alpha if alpha.ndim == 1 else alpha[:, rare],
            "balanced_error": 1.0 - recall.mean(axis=1),
            "tpr": recall[:, rare],
            "tnr": recall[:, 1 - rare],
            "cost": history["class_cost"][:, rare],
            "error": (initial * (1.0 - recall)).sum(axis=1) / initial.sum(),
            "bound": history["bound"],
        }
    )

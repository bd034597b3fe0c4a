"""Feature importances of several methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from adacc.inspect.display import Display, named
from adacc.inspect.style import line_of, styled


class ImportanceDisplay(Display):
    """Grouped bars: a group for each feature, a bar for each method.

    Parameters
    ----------
    importances : DataFrame
        A row for each feature, a column for each method.
    """

    def __init__(self, importances: pd.DataFrame) -> None:
        self.importances = importances

    @classmethod
    def from_estimators(cls, estimators: Any, max_features: int | None = None) -> ImportanceDisplay:
        """Create the display from fitted classifiers; `max_features` limits it to the most important features."""
        models = named(estimators)
        names = list(next(iter(models.values())).fitted_model_.column_names)
        table = pd.DataFrame({label: model.feature_importances_ for label, model in models.items()}, index=names)
        if max_features is not None:
            table = table.loc[table.mean(axis=1).sort_values(ascending=False, kind="stable").index[:max_features]]
        return cls(table)

    @classmethod
    def from_estimator(cls, estimator: Any, max_features: int | None = None) -> ImportanceDisplay:
        """Create the display from one fitted classifier."""
        return cls.from_estimators([estimator], max_features)

    def frame(self) -> pd.DataFrame:
        """A row for each feature, a column for each method."""
        return self.importances

    def plot(self, ax: Any = None) -> ImportanceDisplay:
        """Draw bars; horizontal ones if names are long."""
        table = self.importances
        n_features, n_methods = table.shape
        longest = max(len(str(name)) for name in table.index)
        horizontal = longest * n_features > 90
        width = 0.84 / n_methods
        length = max(4.5, 0.35 + n_features * max(0.35, 0.11 * n_methods))
        with styled():
            axes = self._canvas(ax, (6.5, min(length, 40.0)) if horizontal else (min(length + 1.6, 40.0), 3.6))
            positions = np.arange(n_features)
            for j, method in enumerate(table):
                style = line_of(str(method))
                bar = {"color": style["color"], "edgecolor": "white", "linewidth": 0.4, "label": str(method)}
                # Methods of one family share a colour; the hatching differs.
                bar["hatch"] = {"-": "", "--": "////", "-.": "xxxx", ":": "...."}[style["linestyle"]]
                at = positions + (j - (n_methods - 1) / 2) * width
                if horizontal:
                    axes.barh(at, table[method], width, **bar)
                else:
                    axes.bar(at, table[method], width, **bar)
            if horizontal:
                axes.set(xlabel="share of the votes", ylim=(n_features - 0.5, -0.5))
                axes.set_yticks(positions, list(map(str, table.index)))
                axes.grid(False, axis="y")
            else:
                axes.set(ylabel="share of the votes")
                axes.set_xticks(positions, list(map(str, table.index)))
                axes.grid(False, axis="x")
            if n_methods > 1:
                axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return self

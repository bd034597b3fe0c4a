"""Decision boundaries in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from adacc.algorithms.base import Array
from adacc.data.columns import read
from adacc.estimators.base import read_known
from adacc.inspect.display import Display, as_rare, named, rare_class
from adacc.inspect.style import COMMON, RARE, styled

GRID_POINTS = 240  # grid points in each dimension
MEAN_DOT_AREA = 14.0  # area of the dot of a row with mean weight


class Panel(NamedTuple):
    """One panel: the prediction at each grid point, and the weight of each row."""

    title: str
    regions: NDArray[np.bool_]
    weights: Array


class BoundaryDisplay(Display):
    """A row of panels for each model: its weak learners, with row weights as dot sizes, and the ensemble.

    Parameters
    ----------
    X : array of shape (n_rows, 2)
        The points.
    rare : array of shape (n_rows,)
        Whether each point is of the rare class.
    panels : dict
        Panels of each model, by label.
    sides : tuple of ndarray
        The grid's coordinates.
    """

    _arguments: ClassVar = {
        "columns": "int\n    Number of columns of the grid.",
        "rounds": "sequence of int\n"
        "    Rounds whose weak learners are drawn, from 1; None: the first five. An empty list: only the ensembles.",
        "X": "array of shape (n_samples, 2)\n    Training rows.",
    }

    def __init__(
        self, X: Array, rare: NDArray[np.bool_], panels: dict[str, list[Panel]], sides: tuple[Array, Array]
    ) -> None:
        self.X, self.rare, self.panels, self.sides = X, rare, panels, sides

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: ArrayLike, y: ArrayLike, rounds: Sequence[int] | None = None
    ) -> BoundaryDisplay:
        """Create the display from fitted classifiers and their training rows."""
        points, models = np.asarray(X, dtype=np.float64), named(estimators)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X must have two features, got the shape {points.shape}")
        margin = 0.08 * np.ptp(points, axis=0) + 1e-9
        sides = tuple(
            np.linspace(low, high, GRID_POINTS)
            for low, high in zip(points.min(0) - margin, points.max(0) + margin, strict=True)
        )
        grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
        chosen = list(range(1, 6)) if rounds is None else list(rounds)
        panels = {label: _panels(model, points, y, grid, chosen) for label, model in models.items()}
        return cls(points, as_rare(next(iter(models.values())), y), panels, (sides[0], sides[1]))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, rounds: Sequence[int] | None = None
    ) -> BoundaryDisplay:
        """Create the display from one fitted classifier."""
        return cls.from_estimators([estimator], X, y, rounds)

    def frame(self) -> pd.DataFrame:
        """The weight of each row in each panel."""
        frames = [
            pd.DataFrame({"method": label, "panel": panel.title, "row": np.arange(len(self.X)), "x1": self.X[:, 0],
                          "x2": self.X[:, 1], "rare": self.rare, "weight": panel.weights})
            for label, panels in self.panels.items() for panel in panels
        ]  # fmt: skip
        return pd.concat(frames, ignore_index=True)

    def plot(self, ax: Any = None, columns: int | None = None) -> BoundaryDisplay:
        """Draw a row for each model; models with one panel are arranged in `columns`."""
        widest = max(len(panels) for panels in self.panels.values())
        if widest == 1:
            n_columns = columns or min(len(self.panels), 5)
            n_rows = -(-len(self.panels) // n_columns)
        else:
            n_rows, n_columns = len(self.panels), widest
        with styled():
            axes = self._canvas(ax, (1.75 * n_columns + 0.4, 1.75 * n_rows + 0.3), n_rows, n_columns, squeeze=False)
            grid = np.asarray(axes, dtype=object).reshape(n_rows, n_columns)
            for where in grid.ravel():
                where.set_axis_off()
            titled = [len(panels) for panels in self.panels.values()].index(widest)
            for row, (label, panels) in enumerate(self.panels.items()):
                for column, panel in enumerate(panels):
                    last = column == len(panels) - 1  # the ensemble, also of a model with fewer rounds
                    place = divmod(row, n_columns) if widest == 1 else (row, n_columns - 1 if last else column)
                    title = label if widest == 1 else panel.title if row == titled else ""
                    self._draw(grid[place], panel, title)
                if widest > 1:
                    grid[row, 0].set_ylabel(label)
        return self

    def _draw(self, ax: Any, panel: Panel, title: str) -> None:
        ax.set_axis_on()
        ax.grid(False)
        ax.set(xticks=[], yticks=[], title=title)
        shape = len(self.sides[1]), len(self.sides[0])
        regions = panel.regions.reshape(shape).astype(float)
        ax.contourf(*self.sides, regions, levels=[-0.5, 0.5, 1.5], colors=[COMMON, RARE], alpha=0.18)
        if 0.0 < regions.mean() < 1.0:
            ax.contour(*self.sides, regions, levels=[0.5], colors="black", linewidths=0.8)
        sizes = np.clip(MEAN_DOT_AREA * panel.weights * len(self.X), 2.0, 12.0 * MEAN_DOT_AREA)
        for which, color, marker in ((~self.rare, COMMON, "o"), (self.rare, RARE, "^")):
            ax.scatter(*self.X[which].T, s=sizes[which], c=color, marker=marker, edgecolors="white", linewidths=0.3)


def _panels(model: Any, X: Array, y: ArrayLike, grid: Array, rounds: Sequence[int]) -> list[Panel]:
    ensemble, rare = model.fitted_model_.ensemble, rare_class(model)
    at_grid, every = read(grid), np.arange(len(grid), dtype=np.uint32)
    weights = row_weights(model, X, y)
    panels = []
    for t in rounds:
        if t <= len(ensemble):
            ((cells, lookup),) = ensemble.models[t - 1 : t].leaves(at_grid, every)
            panels.append(Panel(f"round {t}", lookup[cells] == rare, weights[t - 1]))
    predicted = model.predict(grid) == model.classes_[rare]
    equal = np.full(len(X), 1.0 / len(X))
    return [*panels, Panel("ensemble", predicted, equal)]


def row_weights(model: Any, X: ArrayLike, y: ArrayLike) -> Array:
    """The boosting weight of each training row in each round, shape (n_rounds, n_rows).

    Computed from the stored weight factors. The rows must be those of `fit`, with equal sample weights.
    """
    ensemble = model.fitted_model_.ensemble
    true = np.searchsorted(model.classes_, np.asarray(y))
    table = read_known(model, X)
    by_class = ensemble.history["class_weight"][0] / np.bincount(true, minlength=len(model.classes_))
    weights = np.empty((len(ensemble), len(true)))
    now = by_class[true]
    for t, (cells, lookup) in enumerate(ensemble.models.leaves(table, table.every_row)):
        weights[t] = now
        now = now * ensemble.factors[t][true, lookup[cells]]
    return weights

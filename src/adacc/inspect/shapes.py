"""Shape functions, and contributions of the features to scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pandas as pd

from adacc.inspect.display import Display, named, rare_class
from adacc.inspect.style import COMMON, GREY, RARE, styled
from adacc.model.explanations import Explanation, ShapeFunction, ShapeFunctions

RUG_VALUES_MAX = 400
"""Values of the data drawn below a shape function."""


class ShapeDisplay(Display):
    """Shape functions of the most important features, with a rug of the data below them.

    Parameters
    ----------
    functions : ShapeFunctions
        Shape functions of a binary model.
    features : list of int
        Features to draw.
    rugs : dict
        Values of the data, by feature.
    classes : list
        The two labels; values above 0 increase the score of the second.
    rare : int, default=1
        Index of the rare class, which determines the colours.
    """

    _arguments: ClassVar = {
        "estimator": "classifier of adacc\n    A fitted classifier on stumps.",
        "X": "frame or array\n    Rows for the rug; also used to rank the features.",
        "features": "list of int or str\n"
        "    Features to draw, by index or name; None: the `max_features` most important.",
    }

    def __init__(
        self, functions: ShapeFunctions, features: list[int], rugs: dict[int, Any], classes: list[Any], rare: int = 1
    ) -> None:
        self.functions, self.features, self.rugs, self.classes, self.rare = functions, features, rugs, classes, rare

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, features: Sequence[int | str] | None = None, max_features: int = 9
    ) -> ShapeDisplay:
        """Create the display from a fitted binary classifier."""
        ((_, model),) = named([estimator]).items()
        if len(model.classes_) != 2:
            raise ValueError(f"estimator must have two classes, got {len(model.classes_)}")
        functions = model.shape_functions()
        if features is not None:
            chosen = [functions[feature].feature for feature in features]
        else:
            importance = (
                np.array([np.ptp(curve.values) for curve in functions])
                if X is None
                else model.explain(X, background=X).importance().to_numpy()
            )
            order = np.argsort(-importance, kind="stable")[:max_features]
            chosen = [int(j) for j in order if importance[j] > 0.0]
        rugs = {} if X is None else {j: _column(X, j) for j in chosen}
        return cls(functions, chosen, rugs, model.classes_.tolist(), rare_class(model))

    def frame(self) -> pd.DataFrame:
        """A row for each step: feature, lower and upper end, and value."""
        return pd.concat([_steps(self.functions[j]) for j in self.features], ignore_index=True)

    def plot(self, ax: Any = None) -> ShapeDisplay:
        """Draw a panel for each feature; new axes share one y-scale."""
        n = max(len(self.features), 1)
        columns = min(n, 3)
        rows = -(-n // columns)
        with styled():
            axes = self._canvas(ax, (3.3 * columns, 2.3 * rows), rows, columns, squeeze=False, sharey=True)
            panels = np.ravel(np.asarray(axes, dtype=object))
            if len(panels) < len(self.features):
                raise ValueError(f"ax must hold {len(self.features)} axes, one for each feature, got {len(panels)}")
            for panel in panels[len(self.features) :]:
                panel.set_axis_off()
            for panel, j in zip(panels, self.features, strict=False):
                curve = self.functions[j]
                (self._draw_steps if curve.kind == "numeric" else self._draw_bars)(panel, curve)
                panel.axhline(0.0, color="black", linewidth=0.6)
                panel.set_title(_short(curve.name, 34))
            for panel in panels[::columns]:
                panel.set_ylabel(f"score of {_short(str(self.classes[1]), 12)}")
        return self

    def _shows_missing(self, curve: ShapeFunction) -> bool:
        """Whether the value for missing values is not 0, and the data have missing values or are unknown."""
        known = self.rugs.get(curve.feature)
        return bool(curve.missing != 0.0) and (known is None or bool(pd.isna(known).any()))

    def _draw_steps(self, ax: Any, curve: ShapeFunction) -> None:
        above, below = _colors(self.rare == 1)
        thresholds = np.asarray(curve.thresholds)
        rug = np.asarray(self.rugs.get(curve.feature, []), dtype=np.float64)
        rug = rug[~np.isnan(rug)]
        known = np.concatenate([thresholds, rug]) if len(thresholds) + len(rug) else np.array([0.0, 1.0])
        margin = 0.05 * np.ptp(known) or 1.0
        edges = np.concatenate([[known.min() - margin], thresholds, [known.max() + margin]])
        ax.stairs(curve.values, edges, baseline=None, color=above, linewidth=1.6)
        if self._shows_missing(curve):
            ax.axhline(float(curve.missing), color=below, linestyle=":", linewidth=1.2)
            ax.annotate("missing", (1.0, float(curve.missing)), xycoords=("axes fraction", "data"), fontsize=7,
                        ha="right", va="bottom", color=below)  # fmt: skip
        if len(rug):
            some = np.quantile(rug, np.linspace(0.0, 1.0, min(len(rug), RUG_VALUES_MAX)), method="nearest")
            bottom = np.zeros(len(some))
            ax.plot(some, bottom, "|", color=GREY, markersize=6, alpha=0.35, transform=ax.get_xaxis_transform())

    def _draw_bars(self, ax: Any, curve: ShapeFunction) -> None:
        labels = [_short(str(each), 14) for each in curve.categories or ()]
        values = list(curve.values)
        if self._shows_missing(curve):
            labels, values = [*labels, "missing"], [*values, float(curve.missing)]
        order = np.argsort(values, kind="stable")
        above, below = _colors(self.rare == 1)
        colors = [above if values[i] > 0 else below for i in order]
        ax.bar(np.arange(len(order)), [values[i] for i in order], color=colors)
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if len(order) > 3 else {}
        ax.set_xticks(np.arange(len(order)), [labels[i] for i in order], **turned)
        ax.grid(False, axis="x")


class WaterfallDisplay(Display):
    """Contributions of the features to the score of one row.

    Parameters
    ----------
    parts : DataFrame
        Columns ``part``, a feature with its value, and ``contribution``, the largest first; the rest are summed.
    intercept, score : float
        Start and end of the waterfall.
    label : str
        The class that is predicted for scores above 0.
    is_rare : bool, default=True
        Whether this is the rare class, which determines the colours.
    """

    _arguments: ClassVar = {"row": "int\n    Position of the row in X."}

    def __init__(self, parts: pd.DataFrame, intercept: float, score: float, label: str, is_rare: bool = True) -> None:
        self.parts, self.intercept, self.score, self.label, self.is_rare = parts, intercept, score, label, is_rare

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, row: int = 0, background: Any = None, max_features: int = 10
    ) -> WaterfallDisplay:
        """Create the display from a row of X; with a background the intercept is its mean score."""
        ((_, model),) = named([estimator]).items()
        if len(model.classes_) != 2:
            raise ValueError(f"estimator must have two classes, got {len(model.classes_)}")
        n_rows = len(_column(X, 0))
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be an index of the {n_rows} rows of X, got {row}")
        explained: Explanation = model.explain(X, background=background)
        contributions, names = explained.contributions[row], list(explained.feature_names)
        order = np.argsort(-np.abs(contributions), kind="stable")
        shown = [j for j in order[:max_features].tolist() if contributions[j] != 0.0]
        lines = [(f"{_short(names[j], 30)} = {_text(_column(X, j)[row])}", contributions[j]) for j in shown]
        n_rest = int(np.count_nonzero(contributions)) - len(shown)
        if n_rest:
            lines.append((f"{n_rest} others", contributions.sum() - contributions[shown].sum()))
        parts = pd.DataFrame(lines, columns=["part", "contribution"])
        intercept, score = float(explained.intercept), float(explained.scores[row])
        return cls(parts, intercept, score, str(model.classes_[1]), rare_class(model) == 1)

    def frame(self) -> pd.DataFrame:
        """The contributions, largest first."""
        return self.parts

    def plot(self, ax: Any = None) -> WaterfallDisplay:
        """Draw the waterfall."""
        contributions = self.parts["contribution"].to_numpy(dtype=np.float64)
        ends = self.intercept + np.cumsum(contributions)
        begins = np.concatenate([[self.intercept], ends[:-1]])
        with styled():
            axes = self._canvas(ax, (6.6, 0.34 * len(self.parts) + 1.1))
            positions = np.arange(len(self.parts))
            above, below = _colors(self.is_rare)
            colors = [above if each > 0 else below for each in contributions]
            axes.barh(positions, contributions, left=begins, color=colors, height=0.6)
            axes.vlines(ends[:-1], positions[:-1] - 0.3, positions[1:] + 0.3, color=GREY, linewidth=0.7)
            for position, value, end in zip(positions, contributions, ends, strict=True):
                side = 3 if value > 0 else -3
                axes.annotate(f"{value:+.2f}", (end, position), (side, 0), textcoords="offset points", fontsize=7,
                              va="center", ha="left" if value > 0 else "right")  # fmt: skip
            axes.axvline(0.0, color="black", linewidth=0.6)
            axes.axvline(self.intercept, color=GREY, linestyle=":", linewidth=0.9)
            axes.set_yticks(positions, list(self.parts["part"]))
            axes.set(ylim=(len(positions) - 0.4, -0.6), xlabel=f"score (above 0: {self.label})")
            axes.set_title(f"from {self.intercept:+.2f} to {self.score:+.2f}")
            axes.use_sticky_edges = False  # leaves room for the numbers of bars at the edge
            axes.margins(x=0.14)
            axes.grid(False, axis="y")
        return self


class ContributionDisplay(Display):
    """Mean absolute contribution of each feature to the score.

    Parameters
    ----------
    importance : Series
        Mean absolute contribution by feature, largest first.
    """

    def __init__(self, importance: pd.Series) -> None:
        self.importance = importance

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, background: Any = None, max_features: int = 20
    ) -> ContributionDisplay:
        """Create the display from the rows of X, relative to the background; None: relative to X."""
        ((_, model),) = named([estimator]).items()
        importance = model.explain(X, background=X if background is None else background).importance()
        return cls(importance.sort_values(ascending=False, kind="stable").iloc[:max_features])

    def frame(self) -> pd.DataFrame:
        """The features and their mean absolute contributions."""
        return self.importance.rename("mean_absolute_contribution").rename_axis("feature").reset_index()

    def plot(self, ax: Any = None) -> ContributionDisplay:
        """Draw bars, with the largest on top."""
        with styled():
            axes = self._canvas(ax, (6.0, 0.26 * len(self.importance) + 0.9))
            positions = np.arange(len(self.importance))
            axes.barh(positions, self.importance, color=RARE, height=0.7)
            axes.set_yticks(positions, [_short(str(name), 40) for name in self.importance.index])
            axes.set(ylim=(len(positions) - 0.4, -0.6), xlabel="mean absolute contribution to the score")
            axes.grid(False, axis="y")
        return self


def _colors(above_is_rare: bool) -> tuple[str, str]:
    """Colours of values above and below 0."""
    return (RARE, COMMON) if above_is_rare else (COMMON, RARE)


def _steps(curve: ShapeFunction) -> pd.DataFrame:
    if curve.kind == "numeric":
        edges = np.concatenate([[-np.inf], np.asarray(curve.thresholds), [np.inf]])
        steps = pd.DataFrame({"above": edges[:-1], "up_to": edges[1:], "category": None, "value": curve.values})
    else:
        steps = pd.DataFrame({"above": np.nan, "up_to": np.nan, "category": curve.categories, "value": curve.values})
    steps.loc[len(steps)] = [np.nan, np.nan, "missing", curve.missing]
    return steps.assign(feature=curve.name)[["feature", "above", "up_to", "category", "value"]]


def _column(X: Any, j: int) -> Any:
    """The j-th column's values."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, j].to_numpy()
    return X[:, [j]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X)[:, j]


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else _short(str(value), 18)

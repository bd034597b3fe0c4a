"""What a model is made of: a curve for each feature, and what they add up to for a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from adacc.inspect.display import Display, named, rare_class
from adacc.inspect.style import COMMON, GREY, RARE, styled
from adacc.model.explanations import Explanation, ShapeFunction, ShapeFunctions

MOST_RUG = 400
"""Values of the data that are drawn below a curve."""


class ShapeDisplay(Display):
    """The curves of the features that matter most, with the data's values below them.

    Parameters
    ----------
    functions : ShapeFunctions
        Of a model of two classes.
    features : list of int
        Which to draw.
    rugs : dict
        By feature, values of the data.
    classes : list
        The two labels; values above 0 speak for the second.
    rare : int, default=1
        The number of the rare class, which decides the colours.
    """

    def __init__(
        self, functions: ShapeFunctions, features: list[int], rugs: dict[int, Any], classes: list[Any], rare: int = 1
    ) -> None:
        self.functions, self.features, self.rugs, self.classes, self.rare = functions, features, rugs, classes, rare

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, features: Sequence[int | str] | None = None, max_features: int = 9
    ) -> ShapeDisplay:
        """Of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier of adacc
            Fitted, with stumps.
        X : frame or array, default=None
            Rows whose values are drawn below the curves; they also decide which features matter most.
        features : list of int or str, default=None
            Which to draw, by number or name; None: the `max_features` that move the score most.
        max_features : int, default=9
            How many.
        """
        ((_, model),) = named([estimator]).items()
        if len(model.classes_) != 2:
            raise ValueError(f"shape functions are drawn for two classes, got {len(model.classes_)}")
        functions = model.shape_functions()
        if features is not None:
            chosen = [functions[feature].feature for feature in features]
        else:
            matters = (
                np.array([np.ptp(curve.values) for curve in functions])
                if X is None
                else model.explain(X, background=X).importance().to_numpy()
            )
            order = np.argsort(-matters, kind="stable")[:max_features]
            chosen = [int(j) for j in order if matters[j] > 0.0]
        rugs = {} if X is None else {j: _column(X, j) for j in chosen}
        return cls(functions, chosen, rugs, model.classes_.tolist(), rare_class(model))

    def frame(self) -> pd.DataFrame:
        """A row for each step: feature, from where up to where, and the value there."""
        return pd.concat([_steps(self.functions[j]) for j in self.features], ignore_index=True)

    def plot(self, ax: Any = None) -> ShapeDisplay:
        """Draw a panel for each feature, each on its own scale."""
        n = max(len(self.features), 1)
        columns = min(n, 3)
        rows = -(-n // columns)
        with styled():
            axes = self._canvas(ax, (3.3 * columns, 2.3 * rows), rows, columns, squeeze=False)
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
                panel.set_ylabel(f"towards {_short(str(self.classes[1]), 12)}")
        return self

    def _shows_missing(self, curve: ShapeFunction) -> bool:
        """Whether values may be missing, as far as is known, and count for something."""
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
            some = np.quantile(rug, np.linspace(0.0, 1.0, min(len(rug), MOST_RUG)), method="nearest")
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
    """How the score of one row comes about.

    Parameters
    ----------
    parts : DataFrame
        Columns ``part``, a feature with its value, and ``contribution``, the largest first; the rest in one line.
    intercept, score : float
        Where it begins and where it ends.
    label : str
        The class that a positive score speaks for.
    is_rare : bool, default=True
        Whether it is the rare one, which decides the colours.
    """

    def __init__(self, parts: pd.DataFrame, intercept: float, score: float, label: str, is_rare: bool = True) -> None:
        self.parts, self.intercept, self.score, self.label, self.is_rare = parts, intercept, score, label, is_rare

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, row: int = 0, background: Any = None, max_features: int = 10
    ) -> WaterfallDisplay:
        """Of one row of X; with a background it begins at the background's mean score."""
        ((_, model),) = named([estimator]).items()
        if len(model.classes_) != 2:
            raise ValueError(f"a waterfall is drawn for two classes, got {len(model.classes_)}")
        n_rows = len(_column(X, 0))
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be one of the {n_rows} rows of X, from 0, got {row}")
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
        """The parts, from the largest."""
        return self.parts

    def plot(self, ax: Any = None) -> WaterfallDisplay:
        """Draw bars that begin where the one above ended."""
        contributions = self.parts["contribution"].to_numpy(dtype=np.float64)
        ends = self.intercept + np.cumsum(contributions)
        begins = np.concatenate([[self.intercept], ends[:-1]])
        with styled():
            axes = self._canvas(ax, (6.6, 0.34 * len(self.parts) + 1.1))
            places = np.arange(len(self.parts))
            above, below = _colors(self.is_rare)
            colors = [above if each > 0 else below for each in contributions]
            axes.barh(places, contributions, left=begins, color=colors, height=0.6)
            axes.vlines(ends[:-1], places[:-1] - 0.3, places[1:] + 0.3, color=GREY, linewidth=0.7)
            for place, value, end in zip(places, contributions, ends, strict=True):
                side = 3 if value > 0 else -3
                axes.annotate(f"{value:+.2f}", (end, place), (side, 0), textcoords="offset points", fontsize=7,
                              va="center", ha="left" if value > 0 else "right")  # fmt: skip
            axes.axvline(0.0, color="black", linewidth=0.6)
            axes.axvline(self.intercept, color=GREY, linestyle=":", linewidth=0.9)
            axes.set_yticks(places, list(self.parts["part"]))
            axes.set(ylim=(len(places) - 0.4, -0.6), xlabel=f"score, towards {self.label} above 0")
            axes.set_title(f"from {self.intercept:+.2f} to {self.score:+.2f}")
            axes.use_sticky_edges = False  # or a bar at the edge would have no room for its number
            axes.margins(x=0.14)
            axes.grid(False, axis="y")
        return self


class ContributionDisplay(Display):
    """How much each feature moves the score: its mean absolute contribution.

    Parameters
    ----------
    importance : Series
        By feature, the largest first.
    """

    def __init__(self, importance: pd.Series) -> None:
        self.importance = importance

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, background: Any = None, max_features: int = 20
    ) -> ContributionDisplay:
        """Over the rows of X; against their own mean, if there is no other background."""
        ((_, model),) = named([estimator]).items()
        importance = model.explain(X, background=X if background is None else background).importance()
        return cls(importance.sort_values(ascending=False, kind="stable").iloc[:max_features])

    def frame(self) -> pd.DataFrame:
        """Features and their mean absolute contributions."""
        return self.importance.rename("mean_absolute_contribution").rename_axis("feature").reset_index()

    def plot(self, ax: Any = None) -> ContributionDisplay:
        """Draw bars, the largest on top."""
        with styled():
            axes = self._canvas(ax, (6.0, 0.26 * len(self.importance) + 0.9))
            places = np.arange(len(self.importance))
            axes.barh(places, self.importance, color=RARE, height=0.7)
            axes.set_yticks(places, [_short(str(name), 40) for name in self.importance.index])
            axes.set(ylim=(len(places) - 0.4, -0.6), xlabel="mean absolute contribution to the score")
            axes.grid(False, axis="y")
        return self


def _colors(above_is_rare: bool) -> tuple[str, str]:
    """Of what is above 0 and below it."""
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

"""Contributions of the features to scores: of one row, and of many."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.estimators.base import COLUMNS
from adacc.estimators.decisions import split_columns
from adacc.estimators.input_validation import columns_of
from adacc.evaluation.explanations import explain, value_ranks
from adacc.evaluation.row_decision import decide_row
from adacc.inspect.display import Display, column, named, rare_class, shortened
from adacc.inspect.style import GREY, RARE, signed_colors, styled
from adacc.model.explanations import Explanation

TITLE_WIDTH = 90
"""Maximum number of characters of a line of a title."""

LEVELS = "cividis"
"""Colour map of the values of a feature; the colours of the classes are not in it."""


class WaterfallDisplay(Display):
    """Contributions of the features to the score of one row.

    Parameters
    ----------
    parts : DataFrame
        Columns ``part``, a feature with its value, and ``contribution``, the largest first; the rest are summed.
    intercept, score : float
        Start and end of the waterfall.
    label : str
        The class that high scores favour.
    is_rare : bool, default=True
        Whether this is the rare class, which determines the colours.
    threshold : float or None, default=0.0
        The score above which the class is predicted; None if the decision rule does not compare the score.
    decision : str, default=""
        The sentence about the decision that is the title: its rule, threshold and costs.
    """

    _arguments: ClassVar = {"row": "int\n    Position of the row in X.", **COLUMNS}

    def __init__(
        self,
        parts: pd.DataFrame,
        intercept: float,
        score: float,
        label: str,
        is_rare: bool = True,
        threshold: float | None = 0.0,
        decision: str = "",
    ) -> None:
        self.parts, self.intercept, self.score, self.label, self.is_rare = parts, intercept, score, label, is_rare
        self.threshold, self.decision = threshold, decision

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, row: int = 0, background: Any = None, max_features: int = 10, columns: Any = None
    ) -> WaterfallDisplay:
        """Create the display from a row of X; with a background the intercept is its mean score.

        The decision is that of `predict` on all rows of X.
        """
        ((_, model),) = named([estimator]).items()
        if len(model.classes_) != 2:
            raise ValueError(f"estimator must have two classes, got {len(model.classes_)}")
        n_rows = len(column(X, 0))
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be an index of the {n_rows} rows of X, got {row}")
        rule = model.decision_
        X, found = split_columns(None if rule is None else rule.spec, X, columns, columns_of(model))
        decided = decide_row(model, X, row % n_rows, found)
        threshold = decided.threshold
        if threshold is not None and model.fitted_model_.positive_class == 0:
            threshold = -threshold
        explained: Explanation = model.explain(X, background=background)
        contributions, names = explained.contributions[row], list(explained.feature_names)
        order = np.argsort(-np.abs(contributions), kind="stable")
        shown = [j for j in order[:max_features].tolist() if contributions[j] != 0.0]
        lines = [(f"{shortened(names[j], 30)} = {_text(column(X, j)[row])}", contributions[j]) for j in shown]
        n_rest = int(np.count_nonzero(contributions)) - len(shown)
        if n_rest:
            lines.append((f"{n_rest} others", contributions.sum() - contributions[shown].sum()))
        parts = pd.DataFrame(lines, columns=["part", "contribution"])
        intercept, score = float(explained.intercept), float(explained.scores[row])
        return cls(parts, intercept, score, str(model.classes_[1]), rare_class(model) == 1, threshold, decided.reason)

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
            above, below = signed_colors(self.is_rare)
            colors = [above if each > 0 else below for each in contributions]
            axes.barh(positions, contributions, left=begins, color=colors, height=0.6)
            axes.vlines(ends[:-1], positions[:-1] - 0.3, positions[1:] + 0.3, color=GREY, linewidth=0.7)
            for position, value, end in zip(positions, contributions, ends, strict=True):
                side = 3 if value > 0 else -3
                axes.annotate(f"{value:+.2f}", (end, position), (side, 0), textcoords="offset points", fontsize=7,
                              va="center", ha="left" if value > 0 else "right")  # fmt: skip
            if self.threshold is not None:
                axes.axvline(self.threshold, color="black", linewidth=0.6)
            axes.axvline(self.intercept, color=GREY, linestyle=":", linewidth=0.9)
            axes.set_yticks(positions, list(self.parts["part"]))
            favours = "high" if self.threshold is None else f"above {self.threshold:.4g}"
            axes.set(ylim=(len(positions) - 0.4, -0.6), xlabel=f"score ({favours}: {self.label})")
            title = [f"from {self.intercept:+.2f} to {self.score:+.2f}", *wrap(self.decision, TITLE_WIDTH)]
            axes.set_title("\n".join(title), fontsize=8)
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
            axes.set_yticks(positions, [shortened(str(name), 40) for name in self.importance.index])
            axes.set(ylim=(len(positions) - 0.4, -0.6), xlabel="mean absolute contribution to the score")
            axes.grid(False, axis="y")
        return self


class BeeswarmDisplay(Display):
    """Contributions of the most important features to the scores of many rows, one point per row.

    Points to the right increase the score of the rare class. Their colour is the rank of the value of the feature.

    Parameters
    ----------
    points : DataFrame
        Columns ``feature``, ``value``, ``level`` (rank of a number among the rows, from 0 to 1; NaN for categories and
        missing values) and ``contribution``; the most important feature first.
    label : str
        The rare class.
    """

    def __init__(self, points: pd.DataFrame, label: str) -> None:
        self.points, self.label = points, label

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, background: Any = None, max_features: int | None = 12
    ) -> BeeswarmDisplay:
        """Create the display from the rows of X.

        Contributions are relative to the background; None: to X for stumps, to the training rows for trees.
        """
        model, explained, sign = _explain_binary(estimator, X, background)
        contributions = sign * explained.contributions
        importance = np.abs(contributions).mean(axis=0)
        order = [j for j in np.argsort(-importance, kind="stable")[:max_features].tolist() if importance[j] > 0.0]
        parts = []
        for j in order:
            values = column(X, j)
            parts.append(
                pd.DataFrame(
                    {
                        "feature": explained.feature_names[j],
                        "value": pd.Series(list(values), dtype=object),
                        "level": value_ranks(values),
                        "contribution": contributions[:, j],
                    }
                )
            )
        columns = ["feature", "value", "level", "contribution"]
        points = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
        return cls(points, str(model.classes_[rare_class(model)]))

    def frame(self) -> pd.DataFrame:
        """A row for each point: feature, value of the feature, its level among the rows, and contribution."""
        return self.points

    def plot(self, ax: Any = None) -> BeeswarmDisplay:
        """Draw a line of points for each feature, the most important on top."""
        names = list(dict.fromkeys(self.points["feature"]))
        with styled():
            axes = self._canvas(ax, (6.6, 0.38 * max(len(names), 1) + 1.0))
            for position, name in enumerate(names):
                points = self.points[self.points["feature"] == name]
                x = points["contribution"].to_numpy(dtype=np.float64)
                offsets = position + 0.38 * swarm_offsets(x)
                level = points["level"].to_numpy(dtype=np.float64)
                unknown = np.isnan(level)
                axes.scatter(x[unknown], offsets[unknown], s=6, color=GREY, linewidths=0)
                drawn = axes.scatter(x[~unknown], offsets[~unknown], s=6, c=level[~unknown], cmap=LEVELS,
                                     vmin=0.0, vmax=1.0, linewidths=0)  # fmt: skip
            axes.axvline(0.0, color="black", linewidth=0.6)
            axes.set_yticks(range(len(names)), [shortened(str(name), 30) for name in names])
            axes.set(ylim=(len(names) - 0.4, -0.6), xlabel=f"contribution to the score of {shortened(self.label, 20)}")
            axes.grid(False, axis="y")
            if names:
                bar = self.figure_.colorbar(drawn, ax=axes, ticks=[0.0, 1.0], fraction=0.03, aspect=30)
                bar.ax.set_yticklabels(["low", "high"])
                bar.set_label("value of the feature", labelpad=-12)
                bar.outline.set_visible(False)
        return self


class DependenceDisplay(Display):
    """Contribution of one feature to the score of each row, by the value of the feature.

    A sum of stumps has the same contribution for the same value. With trees, the vertical spread at a value shows
    interactions with other features.

    Parameters
    ----------
    points : DataFrame
        Columns ``value``, ``contribution`` and, if there is a second feature, ``color``, its values.
    feature : str
        Name of the feature.
    label : str
        The rare class: values above 0 increase its score.
    color_feature : str, default=None
        Name of the feature that colours the points.
    """

    _arguments: ClassVar = {
        "feature": "int or str\n    The feature, by index or name.",
        "color_feature": "int or str\n    A second feature, whose value colours the points.",
    }

    def __init__(self, points: pd.DataFrame, feature: str, label: str, color_feature: str | None = None) -> None:
        self.points, self.feature, self.label, self.color_feature = points, feature, label, color_feature

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, feature: int | str, color_feature: int | str | None = None, background: Any = None
    ) -> DependenceDisplay:
        """Create the display from the rows of X; contributions are as in `BeeswarmDisplay`."""
        model, explained, sign = _explain_binary(estimator, X, background)
        j = _position(explained, feature, "feature")
        points = pd.DataFrame(
            {"value": pd.Series(list(column(X, j))), "contribution": sign * explained.contributions[:, j]}
        )
        name = None
        if color_feature is not None:
            other = _position(explained, color_feature, "color_feature")
            name, points["color"] = explained.feature_names[other], list(column(X, other))
        return cls(points, explained.feature_names[j], str(model.classes_[rare_class(model)]), name)

    def frame(self) -> pd.DataFrame:
        """The points."""
        return self.points

    def plot(self, ax: Any = None) -> DependenceDisplay:
        """Draw the points; categories are ordered by their mean contribution."""
        with styled():
            axes = self._canvas(ax, (5.0, 3.2))
            x, is_number = self.points["value"], pd.api.types.is_numeric_dtype(self.points["value"])
            if not is_number:
                x = x.astype(object).where(x.notna(), "missing").astype(str)
                order = self.points["contribution"].groupby(x).mean().sort_values().index.tolist()
                places = x.map({name: place for place, name in enumerate(order)}).to_numpy(dtype=np.float64)
                axes.set_xticks(range(len(order)), [shortened(name, 14) for name in order], rotation=40, ha="right",
                                rotation_mode="anchor")  # fmt: skip
                x = places + np.random.default_rng(0).uniform(-0.25, 0.25, len(places))
            self._draw_points(axes, np.asarray(x, dtype=np.float64))
            axes.axhline(0.0, color="black", linewidth=0.6)
            axes.set(xlabel=shortened(self.feature, 40), ylabel=f"contribution to {shortened(self.label, 16)}")
        return self

    def _draw_points(self, axes: Any, x: NDArray[np.float64]) -> None:
        y = self.points["contribution"].to_numpy()
        above, below = signed_colors(True)
        if self.color_feature is None:
            axes.scatter(x, y, s=8, c=np.where(y > 0.0, above, below), linewidths=0, alpha=0.7)
            return
        level = value_ranks(self.points["color"].to_numpy())
        drawn = axes.scatter(x, y, s=8, c=level, cmap=LEVELS, vmin=0.0, vmax=1.0, linewidths=0, plotnonfinite=True)
        bar = self.figure_.colorbar(drawn, ax=axes, ticks=[0.0, 1.0], fraction=0.04)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label(shortened(self.color_feature, 30), labelpad=-12)
        bar.outline.set_visible(False)


def _explain_binary(estimator: Any, X: Any, background: Any) -> tuple[Any, Explanation, float]:
    """A fitted model of two classes, its explanation of X, and the sign that makes the rare class positive."""
    ((_, model),) = named([estimator]).items()
    sign = 1.0 if rare_class(model) == 1 else -1.0
    return model, explain(model, X, X, background), sign


def _position(explained: Explanation, feature: int | str, argument: str) -> int:
    names = list(explained.feature_names)
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"{argument} must be the name of a column, got {feature!r}")
        return names.index(feature)
    if not -len(names) <= feature < len(names):
        raise ValueError(f"{argument} must be an index of the {len(names)} columns, got {feature}")
    return feature % len(names)


def swarm_offsets(x: NDArray[np.float64], n_bins: int = 60) -> NDArray[np.float64]:
    """Offsets from -1 to 1 that spread points of similar x, wider where there are more of them."""
    width = np.ptp(x) if len(x) else 0.0
    bins = np.zeros(len(x), dtype=np.intp) if width == 0.0 else np.minimum((x - x.min()) / width * n_bins, n_bins - 1)
    bins = np.asarray(bins, dtype=np.intp)
    counts = np.bincount(bins, minlength=1)
    offsets = np.empty(len(x))
    for number, count in enumerate(counts.tolist()):
        rank = np.arange(count)
        side = np.where(rank % 2 == 0, 1.0, -1.0) * ((rank + 1) // 2)
        offsets[bins == number] = side / max(counts.max() / 2, 3.0)
    return offsets


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else shortened(str(value), 18)

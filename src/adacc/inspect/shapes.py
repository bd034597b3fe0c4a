"""Shape functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from adacc.inspect.display import Display, column, named, rare_class, shortened
from adacc.inspect.style import GREY, signed_colors, styled
from adacc.model.explanations import ShapeFunction, ShapeFunctions

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
        "estimator": "classifier of adacc\n    A fitted binary classifier; of trees, the main effects are drawn.",
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
        rugs = {} if X is None else {j: column(X, j) for j in chosen}
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
                panel.set_title(shortened(curve.name, 34))
            for panel in panels[::columns]:
                panel.set_ylabel(f"score of {shortened(str(self.classes[1]), 12)}")
        return self

    def _shows_missing(self, curve: ShapeFunction) -> bool:
        """Whether the value for missing values is not 0, and the data have missing values or are unknown."""
        known = self.rugs.get(curve.feature)
        return bool(curve.missing != 0.0) and (known is None or bool(pd.isna(known).any()))

    def _draw_steps(self, ax: Any, curve: ShapeFunction) -> None:
        above, below = signed_colors(self.rare == 1)
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
        labels = [shortened(str(each), 14) for each in curve.categories or ()]
        values = list(curve.values)
        if self._shows_missing(curve):
            labels, values = [*labels, "missing"], [*values, float(curve.missing)]
        order = np.argsort(values, kind="stable")
        above, below = signed_colors(self.rare == 1)
        colors = [above if values[i] > 0 else below for i in order]
        ax.bar(np.arange(len(order)), [values[i] for i in order], color=colors)
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if len(order) > 3 else {}
        ax.set_xticks(np.arange(len(order)), [labels[i] for i in order], **turned)
        ax.grid(False, axis="x")


def _steps(curve: ShapeFunction) -> pd.DataFrame:
    if curve.kind == "numeric":
        edges = np.concatenate([[-np.inf], np.asarray(curve.thresholds), [np.inf]])
        steps = pd.DataFrame({"above": edges[:-1], "up_to": edges[1:], "category": None, "value": curve.values})
    else:
        categories = pd.Series(curve.categories, dtype=object)  # booleans too, as the last row has text
        steps = pd.DataFrame({"above": np.nan, "up_to": np.nan, "category": categories, "value": curve.values})
    steps.loc[len(steps)] = [np.nan, np.nan, "missing", curve.missing]
    return steps.assign(feature=curve.name)[["feature", "above", "up_to", "category", "value"]]

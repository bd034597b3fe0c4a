"""Explainers: the score of a model as an exact sum of contributions of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import CategoryBins, Feature, NumericBins
from adacc.data.columns import Table
from adacc.learners.step_functions import Steps
from adacc.learners.tree_effects import TreeEffects
from adacc.learners.tree_shapley import MAX_PAIRED_FEATURES, TreeShapley
from adacc.model.calibration import Calibrator, straight_line
from adacc.model.ensemble import Ensemble
from adacc.model.explanations import Explanation, PairEffect, ShapeFunction, ShapeFunctions
from adacc.model.shap_format import as_shap_trees


class RowsToExplain(NamedTuple):
    """RowsToExplain to explain, as a table and as the user gave them."""

    table: Table
    native: Any
    index: Any  # pandas.Index or None


@dataclass(frozen=True)
class Score:
    """The explained score, ``slope · votes + shift``: that of `decision_function`, or those of pairs of classes."""

    ensemble: Ensemble
    names: tuple[str, ...]  # of the features
    outputs: NDArray[Any]  # names of the outputs
    slope: float
    shift: float

    def of(self, table: Table) -> Array:
        """Score of every row."""
        return self.slope * self.ensemble.scores(table) + self.shift

    def explanation(
        self, rows: RowsToExplain, contributions: Array, intercept: Any, interactions: Array | None
    ) -> Explanation:
        return Explanation(
            contributions, intercept, self.of(rows.table), self.names, self.outputs, rows.index, interactions,
            rows.native,
        )  # fmt: skip

    def check_pairs(self) -> None:
        """Raise an error if there are too many pairs of features."""
        if len(self.names) > MAX_PAIRED_FEATURES:
            raise ValueError(
                f"interactions=True needs a model of at most {MAX_PAIRED_FEATURES} features, because each row has a "
                f"value for every pair, got {len(self.names)}: fit a model on the features of largest importance"
            )


@dataclass(frozen=True)
class AdditiveExplainer:
    """Explains a sum of functions of single features: ``score = slope · (constant + curves) + shift``."""

    score: Score
    steps: Steps
    features: tuple[Feature, ...]

    def shape_functions(self, background: Table | None = None, n_pairs: int = 0) -> ShapeFunctions:
        """The curves, each less its mean over the background if there is one; `n_pairs` is for trees."""
        functions = self._functions()
        if background is None:
            return functions
        curves, intercept = list(functions), functions.intercept
        for j, values in functions._contributions(background):
            mean, curve = values.mean(axis=0), curves[j]
            other = None if curve.other is None else curve.other - mean
            curves[j] = replace(curve, values=curve.values - mean, missing=curve.missing - mean, other=other)
            intercept = intercept + mean
        return ShapeFunctions(tuple(curves), intercept)

    def _functions(self) -> ShapeFunctions:
        used = {j: (bins, values) for j, bins, values in self.steps.curves()}
        curves, slope = [], self.score.slope
        for j, (feature, name) in enumerate(zip(self.features, self.score.names, strict=True)):
            bins, values = used.get(j) or self._unused(feature)
            curves.append(_shape_function(j, name, bins, _squeeze(slope * values)))
        return ShapeFunctions(tuple(curves), _squeeze(slope * self.steps.constant + self.score.shift))

    def to_shap(self) -> dict[str, Any]:
        raise ValueError(
            "to_shap needs a model of trees (max_depth > 1), got stumps: explain(X, background).to_shap() gives their "
            "SHAP values"
        )

    def _unused(self, feature: Feature) -> tuple[Feature, Array]:
        """The bins and the contributions, which are 0, of a feature that no stump splits on."""
        bins = feature if isinstance(feature, CategoryBins) else NumericBins(np.empty(0))
        return bins, np.zeros((bins.n_bins, len(self.steps.constant)))

    def explain(self, rows: RowsToExplain, background: Table | None, interactions: bool) -> Explanation:
        """Contributions to the score of each row, minus their means over the background if there is one.

        With a background these are interventional Shapley values: for an additive model, the Shapley value of a feature
        is its contribution minus the mean of this contribution over the background rows. No features interact.
        """
        functions = self._functions()
        intercept = functions.intercept
        by_feature = np.zeros((rows.table.n_rows, len(functions), *np.shape(intercept)))
        for j, values in functions._contributions(rows.table):
            by_feature[:, j] = values
        if background is not None:
            for j, values in functions._contributions(background):
                mean = values.mean(axis=0)
                by_feature[:, j] -= mean
                intercept = intercept + mean
        pairs = None
        if interactions:
            self.score.check_pairs()
            pairs = _with_main_effects(np.zeros((*by_feature.shape[:2], *by_feature.shape[1:])), by_feature)
        return self.score.explanation(rows, by_feature, intercept, pairs)


@dataclass(frozen=True)
class TreeExplainer:
    """Explains a sum of trees by Shapley values."""

    score: Score
    shapley: TreeShapley

    def shape_functions(self, background: Table | None = None, n_pairs: int = 10) -> ShapeFunctions:
        """Main effects and the strongest pairwise effects; see `TreeEffects` for the meaning of the background."""
        bins = None if background is None else self.shapley.bins(background)
        effects, slope, names = TreeEffects(self.shapley, bins), self.score.slope, self.score.names
        features = self.shapley.bin_mapper.features
        constant, mains, _ = effects.main
        pairs = effects.strongest_pairs(n_pairs) if n_pairs else []
        shares: tuple[float | None, float | None] = None, None
        if background is not None and bins is not None:
            votes = np.reshape(self.score.ensemble.scores(background), (background.n_rows, -1))
            additive = constant + sum(effect[bins[j]] for j, effect in enumerate(mains))
            shares = _share(votes, additive), _share(votes, additive + sum(v[bins[f], bins[g]] for f, g, v, _ in pairs))
        curves = [_main_effect(j, names[j], features[j], slope * effect) for j, effect in enumerate(mains)]
        made = tuple(_pair_effect(f, g, names, features, slope * v, abs(slope) * sd) for f, g, v, sd in pairs)
        return ShapeFunctions(tuple(curves), _squeeze(slope * constant + self.score.shift), made, *shares)

    def to_shap(self) -> dict[str, Any]:
        return as_shap_trees(self.shapley, self.score.names, self.score.slope, self.score.shift)

    def explain(self, rows: RowsToExplain, background: Table | None, interactions: bool) -> Explanation:
        """Shapley values of the score of each row; see `TreeShapley` for the meaning of the background."""
        if interactions:
            self.score.check_pairs()
        slope, shift = self.score.slope, self.score.shift
        values, expected = self.shapley.values(rows.table, background)
        by_feature, pairs = _squeeze(slope * values), None
        if interactions:
            pairs = _squeeze(slope * self.shapley.interactions(rows.table, background))
            pairs = _with_main_effects(pairs, by_feature)
        intercept = _squeeze(slope * expected + shift)
        if background is not None:
            intercept = self.score.of(background).mean(axis=0)
        return self.score.explanation(rows, by_feature, intercept, pairs)


def _with_main_effects(pairs: Array, by_feature: Array) -> Array:
    """Set the diagonal to the rest of each feature's contribution, so that the rows of the matrix sum to it."""
    every = np.arange(by_feature.shape[1])
    pairs[:, every, every] = by_feature - pairs.sum(axis=2)
    return pairs


def _share(scores: Array, found: Array) -> float:
    """Share of the variance of the scores that is explained, the mean of the outputs."""
    variance, rest = scores.var(axis=0), (scores - found).var(axis=0)
    return float(np.mean(1.0 - rest / np.where(variance > 0.0, variance, 1.0)))


def _main_effect(j: int, name: str, feature: Feature, by_bin: Array) -> ShapeFunction:
    """The shape function of a feature, with a threshold at each step only."""
    if isinstance(feature, NumericBins):
        present = by_bin[:-1]
        steps = np.flatnonzero((present[1:] != present[:-1]).any(axis=1))
        feature, by_bin = NumericBins(feature.thresholds[steps]), by_bin[[*steps, len(present) - 1, len(present)]]
    return _shape_function(j, name, feature, _squeeze(by_bin))


def _pair_effect(
    f: int, g: int, names: tuple[str, ...], features: tuple[Feature, ...], values: Array, strength: float
) -> PairEffect:
    both = features[f], features[g]
    thresholds = tuple(each.thresholds if isinstance(each, NumericBins) else None for each in both)
    categories = tuple(each.values if isinstance(each, CategoryBins) else None for each in both)
    return PairEffect((f, g), (names[f], names[g]), thresholds, categories, _squeeze(values), strength)


def _squeeze(values: Array) -> Any:
    """Remove the last axis if it has a single output, as for two classes."""
    return values if values.shape[-1] > 1 else values[..., 0][()]


Explainer = AdditiveExplainer | TreeExplainer


def make_explainer(
    ensemble: Ensemble, calibrator: Calibrator | None, multipliers: Any, names: tuple[str, ...], classes: NDArray[Any]
) -> Explainer:
    """The explainer of a model; raises an error if there is none."""
    models, contributions = ensemble.models, ensemble.contributions
    steps, shapley = models.step_functions(contributions), models.shapley(contributions)
    if (steps is None and shapley is None) or models.bin_mapper is None:
        kind = type(models.describe(classes)[0]).__name__
        raise ValueError(
            f"explanations need the weak learners of adacc, got the type {kind}: use stumps or trees (estimator=None, "
            "max_depth=...), or sklearn.inspection.permutation_importance, which takes any model"
        )
    line = (1.0, 0.0) if calibrator is None else straight_line(calibrator, multipliers)
    if line is None:
        two = len(classes) == 2
        what = "isotonic calibration" if two else "the calibration of more than two classes"
        use = 'calibration="sigmoid", or a model without calibration' if two else "a model without calibration"
        raise ValueError(f"{what} makes the score a non-additive function of the votes: use {use}")
    score = Score(ensemble, names, _output_names(ensemble, classes), *line)
    if steps is not None:
        return AdditiveExplainer(score, steps, models.bin_mapper.features)
    assert shapley is not None
    return TreeExplainer(score, shapley)


def _output_names(ensemble: Ensemble, classes: NDArray[Any]) -> NDArray[Any]:
    """The classes, or the names of the pairs of classes if these are boosted one against one."""
    pairs: Sequence[tuple[int, int]] | None = None if ensemble.coding is None else ensemble.coding.pairs
    return classes if pairs is None else np.array([f"{classes[first]} vs {classes[second]}" for first, second in pairs])


def _shape_function(j: int, name: str, bins: Feature, by_bin: Array) -> ShapeFunction:
    if isinstance(bins, NumericBins):
        return ShapeFunction(j, name, "numeric", bins.thresholds, None, by_bin[:-1], by_bin[-1], None)
    labels, other = bins.values, by_bin[-1]
    has_missing = bool(labels) and labels[-1] is None
    known = labels[:-1] if has_missing else labels
    missing = by_bin[len(known)]  # without missing values in training, it equals `other`
    return ShapeFunction(j, name, "categorical", None, known, by_bin[: len(known)], missing, other)

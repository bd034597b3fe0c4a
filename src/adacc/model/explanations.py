"""Exact explanations: a sum of stumps is a sum of step functions, one per feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins, Feature, NumericBins
from adacc.data.columns import ArrayTable, Table, read
from adacc.learners.step_functions import Steps
from adacc.model.calibration import Calibrator, straight_line
from adacc.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """Contribution of one feature to the score, as a function of the value of the feature.

    A contribution is one number for two classes (positive values favour ``classes_[1]``), and one per class for more.

    Attributes
    ----------
    feature : int
        Number of the column.
    name : str
        Name of the column in training, or "x3" for column 3 if the columns had no names.
    kind : {"numeric", "categorical"}
        Numeric features are split by thresholds, categorical ones by equality.
    thresholds : ndarray of shape (n_thresholds,) or None
        Numeric features: where the contribution changes, ascending. ``x <= thresholds[0]`` has ``values[0]``.
    categories : tuple or None
        Categorical features: the categories seen in training.
    values : ndarray of shape (n_thresholds + 1,) or (n_categories,); (..., n_classes) for more than two classes
        Contribution up to the first threshold, between the thresholds, and after the last; or of each category.
    missing : float or ndarray of shape (n_classes,)
        Contribution of a missing value.
    other : float, ndarray of shape (n_classes,) or None
        Contribution of a category not seen in training.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> curve = AdaCC1Classifier(n_estimators=20).fit(X, y).shape_functions()["worst texture"]
    >>> curve.thresholds.round(1), curve.values.round(1)
    (array([20.2, 23.4]), array([ 1.7,  0.1, -1.7]))
    >>> curve([20.0, 23.0, 40.0]).round(1)
    array([ 1.7,  0.1, -1.7])
    """

    feature: int
    name: str
    kind: str
    thresholds: Array | None
    categories: tuple[Any, ...] | None
    values: Array
    missing: Any
    other: Any

    def __call__(self, values: Any) -> Array:
        """Contribution of each of these values.

        Parameters
        ----------
        values : 1-D array, list or series
            Values of the feature; None and NaN are missing.

        Returns
        -------
        ndarray of shape (n_values,), or (n_values, n_classes) for more than two classes
        """
        table = _as_table(values, self.name)
        bin_mapper = BinMapper((self._bins,))
        bin_mapper.check(table)
        [(_, _, bins)] = bin_mapper.columns(table, table.every_row, [0])
        return self._by_bin[bins]

    @property
    def _bins(self) -> Feature:
        """Maps values to the bins that index `_by_bin`."""
        if self.thresholds is not None:
            return NumericBins(self.thresholds)
        return CategoryBins((*(self.categories or ()), None))

    @property
    def _by_bin(self) -> Array:
        """Contribution of each bin."""
        last = [self.missing] if self.other is None else [self.missing, self.other]
        return np.concatenate([self.values, last])


@dataclass(frozen=True, eq=False)
class ShapeFunctions:
    """The score of a model as one shape function per feature, indexed by number or name, and a constant.

    Attributes
    ----------
    curves : tuple of ShapeFunction
        One per column, in the order of the columns.
    intercept : float, or ndarray of shape (n_classes,) for more than two classes
        The part of the score that does not depend on a feature: rounds without a split or with the same vote in all
        branches, and the intercept of a calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> curves = AdaCC1Classifier(n_estimators=3).fit(X, y).shape_functions()
    >>> [curve.name for curve in curves if curve.values.any()]
    ['worst radius', 'worst texture', 'worst concave points']
    >>> curves["worst radius"] is curves[20]
    True
    """

    curves: tuple[ShapeFunction, ...]
    intercept: Any

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self.curves)

    def __getitem__(self, feature: int | str) -> ShapeFunction:
        if not isinstance(feature, str):
            return self.curves[feature]
        named = [curve for curve in self.curves if curve.name == feature]
        if not named:
            raise KeyError(f"the model has no feature named {feature!r}")
        return named[0]

    def _contributions(self, table: Table) -> Iterator[tuple[int, Array]]:
        """Contributions to the score of every row, for each feature whose contributions are not all zero."""
        by_bin = [curve._by_bin for curve in self.curves]
        used = [j for j, values in enumerate(by_bin) if values.any()]
        bin_mapper = BinMapper(tuple(curve._bins for curve in self.curves))
        for j, _, bins in bin_mapper.columns(table, table.every_row, used):
            yield j, by_bin[j][bins]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The scores of rows as sums of contributions: ``contributions.sum(axis=1) + intercept`` are the `scores`.

    Attributes
    ----------
    contributions : ndarray of shape (n_rows, n_features), or (n_rows, n_features, n_classes) for more than two classes
        Contribution of each feature to the score of each row. For two classes, positive values favour the second class.
    intercept : float, or ndarray of shape (n_classes,) for more than two classes
        The score without the contributions; with a background, the mean score of the background rows.
    scores : ndarray of shape (n_rows,), or (n_rows, n_classes) for more than two classes
        The explained scores, those of `decision_function`. If classes are boosted one against one, the scores of the
        pairs: there is one for each pair of classes, and ``classes`` are their names, such as "a vs b".
    feature_names : tuple of str
        Names of the columns.
    classes : ndarray of shape (n_classes,)
        The class labels, sorted.
    index : pandas.Index or None
        Index of the rows, if X was a pandas frame.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from adacc import AdaCC1Classifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> explanation = AdaCC1Classifier(n_estimators=20).fit(X, y).explain(X, background=X)
    >>> explanation.importance().nlargest(3).round(2)
    worst texture           1.26
    worst concave points    1.21
    worst radius            1.09
    dtype: float64
    """

    contributions: Array
    intercept: Any
    scores: Array
    feature_names: tuple[str, ...]
    classes: NDArray[Any]
    index: Any

    def importance(self) -> Any:
        """Mean absolute contribution of each feature over the rows (and over the classes, if there are more than two).

        With a background these are mean absolute SHAP values. Without one they include the part that is the same for
        all rows, which makes features harder to compare.

        Returns
        -------
        pandas.Series
            By feature name, in the order of the columns.
        """
        import pandas as pd

        axes = tuple(axis for axis in range(self.contributions.ndim) if axis != 1)
        return pd.Series(np.abs(self.contributions).mean(axis=axes), index=list(self.feature_names))

    def frame(self) -> Any:
        """The contributions as a frame.

        Returns
        -------
        pandas.DataFrame
            One column per feature; for more than two classes, one per pair (class, feature), so that
            ``frame()[label]`` has the contributions to one class.
        """
        import pandas as pd

        names = list(self.feature_names)
        if self.contributions.ndim == 2:
            return pd.DataFrame(self.contributions, index=self.index, columns=names)
        side_by_side = self.contributions.transpose(0, 2, 1).reshape(len(self.contributions), -1)
        pairs = pd.MultiIndex.from_product([self.classes.tolist(), names], names=["class", "feature"])
        return pd.DataFrame(side_by_side, index=self.index, columns=pairs)


@dataclass(frozen=True)
class Additive:
    """A fitted model as a sum of functions: ``scores = slope · (constant + curves) + shift``.

    The scores are those of `decision_function`, or of the pairs of classes if these are boosted one against one.
    """

    ensemble: Ensemble
    steps: Steps
    features: tuple[Feature, ...]
    names: tuple[str, ...]
    classes: NDArray[Any]
    slope: float
    shift: float

    @property
    def shape_functions(self) -> ShapeFunctions:
        used = {j: (bins, values) for j, bins, values in self.steps.curves()}
        curves = []
        for j, (feature, name) in enumerate(zip(self.features, self.names, strict=True)):
            bins, values = used.get(j) or self._unused(feature)
            curves.append(_shape_function(j, name, bins, self._squeeze(self.slope * values)))
        return ShapeFunctions(tuple(curves), self._squeeze(self.slope * self.steps.constant + self.shift))

    def _unused(self, feature: Feature) -> tuple[Feature, Array]:
        """The bins and the contributions, which are 0, of a feature that no stump splits on."""
        bins = feature if isinstance(feature, CategoryBins) else NumericBins(np.empty(0))
        return bins, np.zeros((bins.n_bins, len(self.steps.constant)))

    def explain(self, table: Table, background: Table | None, index: Any) -> Explanation:
        """Contributions to the score of each row, minus their means over the background if there is one.

        With a background these are interventional Shapley values: for an additive model, the Shapley value of a feature
        is its contribution minus the mean of this contribution over the background rows.
        """
        functions = self.shape_functions
        intercept = functions.intercept
        by_feature = np.zeros((table.n_rows, len(functions), *np.shape(intercept)))
        for j, values in functions._contributions(table):
            by_feature[:, j] = values
        if background is not None:
            for j, values in functions._contributions(background):
                mean = values.mean(axis=0)
                by_feature[:, j] -= mean
                intercept = intercept + mean
        scores = self.slope * self.ensemble.scores(table) + self.shift
        return Explanation(by_feature, intercept, scores, self.names, self.classes, index)

    def _squeeze(self, values: Array) -> Any:
        """Remove the last axis if it has a single output, as for two classes."""
        return values if values.shape[-1] > 1 else values[..., 0][()]


def additive(
    ensemble: Ensemble, calibrator: Calibrator | None, multipliers: Any, names: tuple[str, ...], classes: NDArray[Any]
) -> Additive:
    """The model as a sum of functions of single features; raises an error if it is not additive."""
    models = ensemble.models
    steps = models.step_functions(ensemble.contributions)
    if steps is None or models.bin_mapper is None:
        kind = type(models.describe(classes)[0]).__name__
        raise ValueError(
            f"explanations need weak learners that use a single feature, got the type {kind}, which may combine "
            "features: use the native stumps (estimator=None, max_depth=1), or "
            "sklearn.inspection.permutation_importance, which takes any model"
        )
    line = (1.0, 0.0) if calibrator is None else straight_line(calibrator, multipliers)
    if line is None:
        two = len(classes) == 2
        what = "isotonic calibration" if two else "the calibration of more than two classes"
        use = 'calibration="sigmoid", or a model without calibration' if two else "a model without calibration"
        raise ValueError(f"{what} makes the score a non-additive function of the features: use {use}")
    outputs = classes
    if ensemble.coding is not None and ensemble.coding.pairs is not None:
        outputs = np.array([f"{classes[first]} vs {classes[second]}" for first, second in ensemble.coding.pairs])
    return Additive(ensemble, steps, models.bin_mapper.features, names, outputs, *line)


def _shape_function(j: int, name: str, bins: Feature, by_bin: Array) -> ShapeFunction:
    if isinstance(bins, NumericBins):
        return ShapeFunction(j, name, "numeric", bins.thresholds, None, by_bin[:-1], by_bin[-1], None)
    labels, other = bins.values, by_bin[-1]
    has_missing = bool(labels) and labels[-1] is None
    known = labels[:-1] if has_missing else labels
    missing = by_bin[len(known)]  # without missing values in training, it equals `other`
    return ShapeFunction(j, name, "categorical", None, known, by_bin[: len(known)], missing, other)


class _Column(ArrayTable):
    """A table of one named column."""

    def __init__(self, values: NDArray[Any], name: str) -> None:
        super().__init__(values[:, None])
        self._name = name

    def name(self, column: int) -> str:
        return f"column {self._name!r}"


def _as_table(values: Any, name: str) -> Table:
    """Convert the values of one feature to a table, so that they are read in the same way as X."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return read(series.alias(name).to_frame().to_native())
    if isinstance(values, str) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"column {name!r} must be a list, a series or an array of one dimension, got {values!r:.60}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        assert_all_finite(values, allow_nan=True, input_name=name)
        return _Column(values, name)
    return _Column(np.fromiter(values, dtype=object, count=len(values)), name)

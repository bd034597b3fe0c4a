"""Exact explanations: contributions of the features to scores, and shape functions."""

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


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """Contribution of one feature to the score, as a function of the value of the feature.

    A contribution is one number for two classes (positive values favour ``classes_[1]``). For more it is one per
    output: per class, or per pair of classes if they are boosted one against one.

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
    values : ndarray of shape (n_thresholds + 1,) or (n_categories,); (..., n_outputs) for more than two classes
        Contribution up to the first threshold, between the thresholds, and after the last; or of each category.
    missing : float or ndarray of shape (n_outputs,)
        Contribution of a missing value.
    other : float, ndarray of shape (n_outputs,) or None
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
        ndarray of shape (n_values,), or (n_values, n_outputs) for more than two classes
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
class PairEffect:
    """Joint effect of two features on the score of a model of trees, beyond their shape functions.

    Attributes
    ----------
    features : tuple of int
        Numbers of the two columns.
    names : tuple of str
        Names of the two columns.
    thresholds : tuple of (ndarray or None)
        Thresholds of each of the two features; None for a categorical one.
    categories : tuple of (tuple or None)
        Categories of each of the two features; None for a numeric one.
    values : ndarray of shape (n_first, n_second), or (n_first, n_second, n_outputs) for more than two classes
        Effect of each pair of intervals or categories. After the intervals of a feature come missing values, after the
        categories (of which None stands for missing) those not seen in training.
    strength : float
        Standard deviation of the effect.
    """

    features: tuple[int, int]
    names: tuple[str, str]
    thresholds: tuple[Array | None, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    values: Array
    strength: float

    def __call__(self, first: Any, second: Any) -> Array:
        """Effect of each pair of values of the two features.

        Parameters
        ----------
        first, second : 1-D array, list or series
            Values of the first and of the second feature; None and NaN are missing.

        Returns
        -------
        ndarray of shape (n_values,), or (n_values, n_outputs) for more than two classes
        """
        return self.values[tuple(self._encode(axis, values) for axis, values in enumerate((first, second)))]

    def _encode(self, axis: int, values: Any) -> NDArray[Any]:
        table = _as_table(values, self.names[axis])
        thresholds = self.thresholds[axis]
        bins: Feature = CategoryBins(self.categories[axis] or ()) if thresholds is None else NumericBins(thresholds)
        bin_mapper = BinMapper((bins,))
        bin_mapper.check(table)
        [(_, _, found)] = bin_mapper.columns(table, table.every_row, [0])
        return found


@dataclass(frozen=True, eq=False)
class ShapeFunctions:
    """The score of a model as one shape function per feature, indexed by number or name, and a constant.

    For stumps their sum is the score. For trees they are its main effects, and there are pairwise effects.

    Attributes
    ----------
    curves : tuple of ShapeFunction
        One per column, in the order of the columns.
    intercept : float, or ndarray of shape (n_outputs,) for more than two classes
        The part of the score that does not depend on a feature: rounds without a split or with the same vote in all
        branches, and the intercept of a calibration. For trees, and with a background, the mean score.
    pairs : tuple of PairEffect
        The strongest pairwise effects of trees, largest first; empty for stumps.
    main_share, pair_share : float or None
        Share of the variance of the score of the background rows that the shape functions explain, and that these and
        `pairs` explain; for more than two classes, the mean of the outputs. 1 for stumps. None for trees without a
        background.

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
    pairs: tuple[PairEffect, ...] = ()
    main_share: float | None = 1.0
    pair_share: float | None = 1.0

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[ShapeFunction]:
        return iter(self.curves)

    def __getitem__(self, feature: int | str) -> ShapeFunction:
        if not isinstance(feature, str):
            return self.curves[feature]
        named = [curve for curve in self.curves if curve.name == feature]
        if not named:
            some = ", ".join(repr(curve.name) for curve in self.curves[:10])
            more = ", ..." if len(self.curves) > 10 else ""
            raise KeyError(f"the model has no feature named {feature!r}, but {some}{more}")
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
    contributions : ndarray of shape (n_rows, n_features), or (n_rows, n_features, n_outputs) for more than two classes
        Contribution of each feature to the score of each row. For two classes, positive values favour the second class.
    intercept : float, or ndarray of shape (n_outputs,) for more than two classes
        The score without the contributions: with a background, the mean score of the background rows; for trees without
        one, the mean score of the training rows of the trees.
    scores : ndarray of shape (n_rows,), or (n_rows, n_outputs) for more than two classes
        The explained scores, those of `decision_function`. If classes are boosted one against one, the scores of the
        pairs: there is one for each pair of classes, and ``classes`` are their names, such as "a vs b".
    feature_names : tuple of str
        Names of the columns.
    classes : ndarray of shape (n_outputs,)
        Names of the outputs: the class labels, or those of the pairs.
    index : pandas.Index or None
        Index of the rows, if X was a pandas frame.
    interactions : ndarray of shape (n_rows, n_features, n_features), or (..., n_outputs); None if not asked for
        Shapley interaction values. Each pair of features has half of its interaction at [i, j] and half at [j, i]; the
        diagonal has the rest, the main effects, so that ``interactions.sum(axis=2)`` are the contributions.
    data : array, sparse matrix or frame
        The explained rows.

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
    interactions: Array | None = None
    data: Any = None

    def importance(self) -> Any:
        """Mean absolute contribution of each feature over the rows (and over the classes, if there are more than two).

        With a background, and for trees also without one, these are mean absolute SHAP values. For stumps without a
        background they include the part that is the same for all rows, which makes features harder to compare.

        Returns
        -------
        pandas.Series
            By feature name, in the order of the columns.
        """
        import pandas as pd

        axes = tuple(axis for axis in range(self.contributions.ndim) if axis != 1)
        return pd.Series(np.abs(self.contributions).mean(axis=axes), index=list(self.feature_names))

    def to_shap(self) -> Any:
        """The explanation for the plots of the package shap, which must be installed.

        Returns
        -------
        shap.Explanation
            With the contributions as ``values``, the intercept as ``base_values``, and the rows as ``data``. For more
            than two classes, the last axis is the class: ``explanation[:, :, "a"]`` selects class "a".
        """
        try:
            import shap
        except ImportError:
            raise ImportError("to_shap needs the package shap: pip install shap") from None
        data = self.data.toarray() if hasattr(self.data, "toarray") else self.data
        labels = None if self.contributions.ndim == 2 else [str(label) for label in self.classes.tolist()]
        return shap.Explanation(
            self.contributions,
            base_values=np.broadcast_to(self.intercept, self.scores.shape).copy(),
            data=None if data is None else np.asarray(data),
            feature_names=list(self.feature_names),
            output_names=labels,
        )

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

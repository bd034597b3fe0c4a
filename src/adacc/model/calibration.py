"""Calibration of scores: Platt scaling or isotonic regression, one-vs-rest for more than two classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from adacc.algorithms.base import Array
from adacc.model.decision import log_multipliers

DECIMALS = 10
"""Decimals to which scores are rounded: an isotonic curve could jump between scores that differ by rounding errors."""

TOLERANCE = 1e-12  # gradients and changes of the mean loss below this are treated as zero
MAX_NEWTON_STEPS = 100  # maximum number of Newton steps; about eight are needed


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(-(slope·score + intercept)))."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
        """Maximum likelihood with smoothed targets [Platt 1999], which make the estimate finite.

        The sum of the weights is the number of rows.
        """
        n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
        low, high = _smoothed_targets(n_positive, n_negative)
        target = np.where(positive, high, low)
        spread = scores.std() or 1.0  # standardized scores are well scaled, whatever the size of the votes
        line = np.array([1.0, np.log((n_positive + 1.0) / (n_negative + 1.0))])
        slope, intercept = _logistic_regression(scores / spread, target, weight / weight.sum(), line).tolist()
        return cls(slope / spread, intercept)

    @classmethod
    def fit_rising(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
        """Like `fit`, with a slope of at least 0: if the best slope is negative, the best curve is constant."""
        curve = cls.fit(scores, positive, weight)
        return curve if curve.slope >= 0.0 else cls(0.0, cls.fit(np.zeros_like(scores), positive, weight).intercept)

    def predict(self, scores: Array) -> Array:
        return expit(self.slope * scores + self.intercept)


def _smoothed_targets(n_positive: float, n_negative: float) -> tuple[float, float]:
    """Targets that replace 0 and 1 [Platt 1999]."""
    return 1.0 / (n_negative + 2.0), (n_positive + 1.0) / (n_positive + 2.0)


def _logistic_regression(x: Array, target: Array, weight: Array, line: Array) -> Array:
    """Slope and intercept of logistic regression on one variable, by Newton's method with step halving.

    Products are summed by NumPy, because the threads of BLAS would cost more time than they save here.
    """

    def loss(z: Array) -> float:
        return (weight * (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - target * z)).sum()

    z = line[0] * x + line[1]
    current = loss(z)
    for _ in range(MAX_NEWTON_STEPS):
        p = 0.5 + 0.5 * np.tanh(0.5 * z)
        residual, curvature = weight * (p - target), weight * p * (1.0 - p)
        gradient = np.array([(residual * x).sum(), residual.sum()])
        if np.abs(gradient).max() <= TOLERANCE:
            break
        mixed = curvature * x
        hessian = np.array([[(mixed * x).sum(), mixed.sum()], [mixed.sum(), curvature.sum()]])
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]  # the hessian is singular if all scores are equal
        size, limit = 1.0, current + TOLERANCE
        while size > TOLERANCE and loss((line[0] - size * step[0]) * x + (line[1] - size * step[1])) > limit:
            size /= 2.0
        line = line - size * step
        z = line[0] * x + line[1]
        current = loss(z)
    return line


def _bounds(fitted: Array, positive: NDArray[np.bool_], weight: Array) -> tuple[float, float]:
    """The smallest and the largest probability that the rows at the ends of an isotonic curve support.

    Each is the most extreme of Laplace's estimates ``(k + 1) / (n + 2)``, for k positive of n rows, of the ranges of
    the curve that begin at its end and consist of whole steps. Two positive rows alone at the top support 3/4.
    """
    steps = np.unique(fitted, return_inverse=True)[1]
    k, n = np.bincount(steps, weight * positive), np.bincount(steps, weight)
    low = (k.cumsum() + 1.0) / (n.cumsum() + 2.0)
    high = (k[::-1].cumsum() + 1.0) / (n[::-1].cumsum() + 2.0)
    return float(low.min()), float(high.max())


@dataclass(frozen=True)
class Isotonic:
    """Isotonic regression with linear interpolation.

    The values are limited by the numbers of rows at the two ends of the curve (`_bounds`); otherwise ranges with rows
    of a single class would have the probability 0 or 1, however few the rows.
    """

    scores: Array
    values: Array

    @classmethod
    def fit(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Isotonic:
        """Weighted least squares; the sum of the weights is the number of rows."""
        model = IsotonicRegression()
        fitted = model.fit(scores, positive.astype(float), sample_weight=weight).predict(scores)
        # Rounding gives classes of equal weight equal bounds, so that ties between them stay ties.
        low, high = np.round(_bounds(fitted, positive, weight), DECIMALS)
        return cls(model.X_thresholds_, np.clip(model.y_thresholds_, low, high))

    def predict(self, scores: Array) -> Array:
        return np.interp(scores, self.scores, self.values)


@dataclass(frozen=True)
class Calibrator:
    """Maps the scores of an ensemble to one probability per class."""

    curves: tuple[Any, ...]

    @classmethod
    def fit(
        cls, kind: str, scores: Array, y: NDArray[np.intp], n_classes: int, weight: Array, rising: bool = False,
        numbers: NDArray[np.intp] | None = None,
    ) -> Calibrator:  # fmt: skip
        """Fit one curve for two classes, or one per class; `rising` forbids a sigmoid that decreases with the score.

        `numbers` are those of the rows, of which some may occur repeatedly; None if all are distinct.
        """
        used = weight > 0.0
        n_rows = int(used.sum()) if numbers is None else len(np.unique(numbers[used]))
        if scores.ndim == 1:
            return cls.fit_each(kind, [(scores, y == 1, weight)], n_rows, rising)
        return cls.fit_each(kind, [(scores[:, k], y == k, weight) for k in range(n_classes)], n_rows, rising)

    @classmethod
    def fit_each(
        cls, kind: str, outputs: Iterable[tuple[Array, NDArray[np.bool_], Array]], n_rows: int, rising: bool
    ) -> Calibrator:
        """Fit one curve per output, which has the scores, whether each row belongs to the class, and the weights.

        Only the ratios of the weights matter; `n_rows` is the number of distinct rows of positive weight.
        """
        fit = Isotonic.fit if kind == "isotonic" else Sigmoid.fit_rising if rising else Sigmoid.fit
        return cls(
            tuple(
                fit(np.round(scores, DECIMALS), positive, weight * (n_rows / weight.sum()))
                for scores, positive, weight in outputs
            )
        )

    def probabilities(self, scores: Array) -> Array:
        """Shape (n_rows, n_classes); each row sums to 1."""
        scores = np.round(scores, DECIMALS)
        if scores.ndim == 1:
            p = self.curves[0].predict(scores)
            return np.column_stack([1.0 - p, p])
        each = np.column_stack([curve.predict(scores[:, k]) for k, curve in enumerate(self.curves)])
        total = each.sum(axis=1, keepdims=True)
        return np.divide(each, total, out=np.full_like(each, 1.0 / each.shape[1]), where=total > 0.0)


def straight_line(calibrator: Calibrator, multipliers: Array) -> tuple[float, float] | None:
    """Slope and intercept of `decision_scores` as a linear function of the score, or None if it is not linear.

    It is linear, apart from the clipping, for Platt's sigmoid of two classes. With more classes the probabilities are
    divided by their sum.
    """
    curve = calibrator.curves[0]
    if not isinstance(curve, Sigmoid) or len(multipliers) > 2:
        return None
    logs = log_multipliers(multipliers)
    return curve.slope, float(curve.intercept + logs[1] - logs[0])

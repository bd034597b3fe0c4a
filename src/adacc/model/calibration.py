"""Probabilities from scores: Platt's sigmoid or isotonic regression, one against the rest for several classes."""

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
"""Scores that differ beyond are equal: an isotonic curve may jump between them."""

FLAT = 1e-12
"""A gradient, or a gain in likelihood, smaller than this is zero where the weights sum to 1."""

MOST_STEPS = 100
"""Of Newton's method, which takes about eight."""


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(-(slope·score + intercept)))."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
        """Platt's fit [1999]: maximum likelihood with targets kept a little off 0 and 1, so that it always has one."""
        n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
        least, most = _bounds(n_positive, n_negative)
        target = np.where(positive, most, least)
        spread = scores.std() or 1.0  # in units of the spread the problem is well scaled whatever the votes' size
        line = np.array([1.0, np.log((n_positive + 1.0) / (n_negative + 1.0))])
        slope, intercept = _most_likely(scores / spread, target, weight / weight.sum(), line).tolist()
        return cls(slope / spread, intercept)

    @classmethod
    def fit_rising(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Sigmoid:
        """The same among the curves that do not fall: a flat one where the best would, for the loss is convex."""
        curve = cls.fit(scores, positive, weight)
        return curve if curve.slope >= 0.0 else cls(0.0, cls.fit(np.zeros_like(scores), positive, weight).intercept)

    def predict(self, scores: Array) -> Array:
        return expit(self.slope * scores + self.intercept)


def _bounds(n_positive: float, n_negative: float) -> tuple[float, float]:
    """What Platt [1999] puts in the place of 0 and 1: Laplace's estimate from so many rows of each class."""
    return 1.0 / (n_negative + 2.0), (n_positive + 1.0) / (n_positive + 2.0)


def _most_likely(x: Array, target: Array, weight: Array, line: Array) -> Array:
    """Slope and intercept of logistic regression on one variable, by Newton's method with halved steps.

    Sums are of products rather than BLAS's, which would wake its threads for them.
    """

    def loss(z: Array) -> float:
        return (weight * (np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - target * z)).sum()

    z = line[0] * x + line[1]
    now = loss(z)
    for _ in range(MOST_STEPS):
        p = 0.5 + 0.5 * np.tanh(0.5 * z)
        slack, bend = weight * (p - target), weight * p * (1.0 - p)
        gradient = np.array([(slack * x).sum(), slack.sum()])
        if np.abs(gradient).max() <= FLAT:
            break
        bent = bend * x
        hessian = np.array([[(bent * x).sum(), bent.sum()], [bent.sum(), bend.sum()]])
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]  # scores that are all the same leave the slope open
        size = 1.0
        while size > FLAT and loss((line[0] - size * step[0]) * x + (line[1] - size * step[1])) > now + FLAT:
            size /= 2.0
        line = line - size * step
        z = line[0] * x + line[1]
        now = loss(z)
    return line


@dataclass(frozen=True)
class Isotonic:
    """The monotone step function of least squares, read with straight lines between the steps.

    It keeps within the targets of the sigmoid: where it has seen one class alone it would else say 0 or 1, however few
    rows that were.
    """

    scores: Array
    values: Array

    @classmethod
    def fit(cls, scores: Array, positive: NDArray[np.bool_], weight: Array) -> Isotonic:
        # Rounded, so that classes of the same weight have the same bounds, and ties between them stay ties.
        least, most = np.round(_bounds(weight[positive].sum(), weight[~positive].sum()), DECIMALS)
        model = IsotonicRegression(y_min=least, y_max=most)
        model.fit(scores, positive.astype(float), sample_weight=weight)
        return cls(model.X_thresholds_, model.y_thresholds_)

    def predict(self, scores: Array) -> Array:
        return np.interp(scores, self.scores, self.values)


@dataclass(frozen=True)
class Calibrator:
    """Scores of an ensemble to one probability per class."""

    curves: tuple[Any, ...]

    @classmethod
    def fit(
        cls, kind: str, scores: Array, y: NDArray[np.intp], n_classes: int, weight: Array, rising: bool = False
    ) -> Calibrator:
        """`rising`: a sigmoid must not fall where scores rise, which an isotonic curve never does."""
        if scores.ndim == 1:
            return cls.fit_each(kind, [(scores, y == 1, weight)], rising)
        return cls.fit_each(kind, [(scores[:, k], y == k, weight) for k in range(n_classes)], rising)

    @classmethod
    def fit_each(cls, kind: str, outputs: Iterable[tuple[Array, NDArray[np.bool_], Array]], rising: bool) -> Calibrator:
        """The same from scores, whether the row is of the class, and weights: of the second class, or of each."""
        make = Isotonic.fit if kind == "isotonic" else Sigmoid.fit_rising if rising else Sigmoid.fit
        return cls(tuple(make(np.round(scores, DECIMALS), positive, weight) for scores, positive, weight in outputs))

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
    """Slope and intercept of `decision_scores` as a function of the score, where it is linear but for the clipping.

    That is Platt's sigmoid for two classes; those of more classes are divided by their sum.
    """
    curve = calibrator.curves[0]
    if not isinstance(curve, Sigmoid) or len(multipliers) > 2:
        return None
    logs = log_multipliers(multipliers)
    return curve.slope, float(curve.intercept + logs[1] - logs[0])

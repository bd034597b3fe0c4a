"""Tuning of a forest on rows that its bags do not contain: the weights of the bags, the decision, and the scale.

The forest votes by kinds of bags. A logistic regression on the vote shares of the kinds, fitted to the tuning rows,
gives each kind its weight. A second one, with balanced class weights, scales the sum to log-odds of balanced classes.
For two classes its intercept is the decision threshold; more classes get a factor on their votes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, ndtr

from adacc.algorithms.base import Array
from adacc.estimators.score_matching import match_quantiles
from adacc.metrics import f1_of_totals

OBJECTIVES = ("balanced_accuracy", "f1")
"""Measures for which the decision threshold can be tuned."""

RIDGE = 0.1
"""Penalty on unequal weights, to be divided by the number of tuning rows of the rarest class."""

MAX_LOG_ODDS = 60.0
"""Bound of a coefficient: vote shares differ by at most 1."""

MAX_LOG_FACTOR = 3.0
"""Bound of the logarithm of the factor of a class."""

N_THRESHOLDS = 401
"""Number of candidate thresholds for F1."""

MAX_SCORES = 4000
"""Maximum number of scores per class in the threshold search; more scores are replaced by this many quantiles."""


class TuningRows(NamedTuple):
    """Rows on which a forest is tuned."""

    true: NDArray[np.intp]  # (n_rows,): class of each row, by number
    weight: Array  # (n_rows,): weight of each row
    vote_shares: Array  # (n_kinds, n_rows, n_classes): fraction of the votes for each class, by kind of bag
    numbers: NDArray[np.intp]  # (n_rows,): number of each row in the training set
    folds: NDArray[np.intp] | None = None  # (n_rows,): fold that each row was held out by; None if rows are out-of-bag


class Tuning(NamedTuple):
    """The tuned parameters of a forest."""

    kind_weights: Array  # (n_kinds,): factor on the votes of the bags of each kind
    decision: Array  # (n_classes,): factor on the votes for each class


def tune_forest(rows: TuningRows, class_weight: Array, positive: int, objective: str) -> Tuning:
    """Fit the weights of the kinds of bags and the decision to the tuning rows.

    `class_weight` is the summed weight of each class in the training set, `positive` the positive one of two classes.
    """
    true, weight, shares, numbers, _ = rows
    n_kinds, n_classes = len(shares), len(class_weight)
    per_class = weight / np.bincount(true, weight, n_classes)[true]
    balanced, natural = per_class / n_classes, per_class * (class_weight / class_weight.sum())[true]
    distinct = np.unique(numbers, return_index=True)[1]  # several folds may hold out the same rows
    n_rows = np.bincount(true[distinct][weight[distinct] > 0.0], minlength=n_classes)
    targets = _targets(true, n_rows, n_classes)
    alone = [_fit_logistic(share[None], targets, balanced, np.ones(1), 0.0) for share in shares]
    logits = np.array([slope * share + intercepts for share, (slope, intercepts) in zip(shares, alone, strict=True)])
    equal = np.full(n_kinds, 1.0 / n_kinds)
    ridge = RIDGE / n_rows[n_rows > 0].min()
    weights, _ = _fit_logistic(logits, targets, natural, equal, ridge)
    factors: Array = weights * np.concatenate([slope for slope, _ in alone])
    if not factors.any():
        factors = equal
    mixture = np.tensordot(factors, shares, axes=1)
    # Smoothed alike: with a stronger smoothing of the rarest class it would be predicted too rarely.
    targets = _targets(true, np.repeat(n_rows.sum(), n_classes), n_classes)
    scale, intercepts = _fit_logistic(mixture[None], targets, balanced, np.ones(1), 0.0)
    factors *= max(scale[0], np.exp(-3.0)) / 2.0  # half the log-odds, as the scores of AdaBoost
    decision = np.ones(n_classes)
    if n_classes == 2:
        intercept = (intercepts[positive] - intercepts[1 - positive]) / 2.0
        if objective == "f1":
            scores = factors @ (shares[:, :, positive] - shares[:, :, 1 - positive])
            intercept = -_best_f1_threshold(scores, true == positive, natural)
        # A score is the sum of the votes for the positive class times its factor, less those for the other class.
        decision[positive] = np.clip(1.0 + intercept / factors.sum(), 0.0, 2.0)
        decision[1 - positive] = 2.0 - decision[positive]
    else:
        mixture = 2.0 * np.tensordot(factors, shares, axes=1)
        decision = _fit_class_factors(mixture, targets, balanced, ridge, n_rows > 0)
    return Tuning(factors, decision)


def on_final_scale(scores: Array, rows: TuningRows, oob_rows: TuningRows, oob_scores: Array, weight: Array) -> Array:
    """Scores of held-out rows by the forests of the folds, on the scale of the forest that is grown on all rows.

    `oob_scores` are the out-of-bag scores of that forest, and `weight` the weights of its out-of-bag rows. The scores
    of each fold get the distribution of the out-of-bag scores of the same rows.
    """
    if rows.folds is None:
        return scores
    matched = scores.copy()
    for fold in np.unique(rows.folds):
        here = np.flatnonzero(rows.folds == fold)
        _, of_fold, of_final = np.intersect1d(rows.numbers[here], oob_rows.numbers, return_indices=True)
        if len(of_final):
            matched[here] = match_quantiles(scores[here], scores[here][of_fold], oob_scores[of_final], weight[of_final])
    return matched


def _targets(true: NDArray[np.intp], n_rows: NDArray[np.intp], n_classes: int) -> Array:
    """Smoothed probabilities of the true classes, which keep the coefficients finite.

    For a class of n rows that of the true class is ``(n + 1) / (n + 2)`` [Platt 1999].
    """
    smoothed = 1.0 / (n_rows + 2.0)
    targets = np.repeat(smoothed[true, None] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(len(true)), true] = 1.0 - smoothed[true]
    return targets


def _fit_logistic(terms: Array, targets: Array, weight: Array, prior: Array, ridge: float) -> tuple[Array, Array]:
    """Coefficients and intercepts of a logistic regression.

    The log-odds are ``sum(coefficients * terms)``, of shape (n_rows, n_classes), plus an intercept if there are two
    classes. Coefficients are not negative; `ridge` is the penalty on their squared distance from `prior`.
    """
    n_terms, _, n_classes = terms.shape
    excess, target = terms[:, :, -1] - terms[:, :, 0], targets[:, -1]

    def loss_of_two(parameters: Array) -> tuple[float, Array]:
        coefficients = parameters[:-1]
        logit = coefficients @ excess + parameters[-1]
        errors = weight * (expit(logit) - target)
        value = float(weight @ (np.logaddexp(0.0, logit) - target * logit))
        slopes = excess @ errors + 2.0 * ridge * (coefficients - prior)
        return value + ridge * float(((coefficients - prior) ** 2).sum()), np.append(slopes, errors.sum())

    def loss(coefficients: Array) -> tuple[float, Array]:
        logs = log_softmax(np.tensordot(coefficients, terms, axes=1), axis=1)
        errors = weight[:, None] * (np.exp(logs) - targets)
        value = -float((weight[:, None] * targets * logs).sum()) + ridge * float(((coefficients - prior) ** 2).sum())
        return value, (terms * errors).sum(axis=(1, 2)) + 2.0 * ridge * (coefficients - prior)

    bounds, intercepts = [(0.0, MAX_LOG_ODDS)] * n_terms, np.zeros(n_classes)
    if n_classes > 2:
        return minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x, intercepts
    bounds, start = [*bounds, (-MAX_LOG_ODDS, MAX_LOG_ODDS)], np.append(prior, 0.0)
    fitted = minimize(loss_of_two, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    intercepts[-1] = fitted[-1]
    return fitted[:-1], intercepts


def _fit_class_factors(
    logits: Array, targets: Array, weight: Array, ridge: float, has_rows: NDArray[np.bool_]
) -> Array:
    """Factors on the log-odds of each class, by logistic regression; `ridge` is the penalty on their squared logs.

    The factor of a class without rows is 1.
    """

    def loss(logs: Array) -> tuple[float, Array]:
        scaled = logits * np.exp(logs)
        log_probabilities = log_softmax(scaled, axis=1)
        errors = weight[:, None] * (np.exp(log_probabilities) - targets)
        value = -float((weight[:, None] * targets * log_probabilities).sum()) + ridge * float((logs**2).sum())
        return value, (errors * scaled).sum(axis=0) + 2.0 * ridge * logs

    bounds = [(-MAX_LOG_FACTOR, MAX_LOG_FACTOR) if tuned else (0.0, 0.0) for tuned in has_rows]
    return np.exp(minimize(loss, np.zeros(logits.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x)


def _best_f1_threshold(scores: Array, positive: NDArray[np.bool_], weight: Array) -> float:
    """The threshold of the largest F1.

    The true and false positive rates are smoothed by a Gaussian kernel with the bandwidth of Silverman's rule, because
    the best raw threshold has a high variance for few rows.
    """
    thresholds = np.linspace(scores.min(), scores.max(), N_THRESHOLDS)
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    true_positives = n_positive * _fraction_above(scores[positive], weight[positive], thresholds)
    false_positives = n_negative * _fraction_above(scores[~positive], weight[~positive], thresholds)
    f1 = f1_of_totals(true_positives, true_positives + false_positives + n_positive)
    return float(thresholds[np.argmax(f1)])


def _fraction_above(scores: Array, weight: Array, thresholds: Array) -> Array:
    """Smoothed fraction of the scores above each threshold."""
    order = np.argsort(scores)
    scores, cumulative = scores[order], np.cumsum(weight[order])
    bandwidth = 1.06 * scores.std() * len(scores) ** -0.2 + 1e-3
    if len(scores) > MAX_SCORES:
        scores = np.interp((np.arange(MAX_SCORES) + 0.5) / MAX_SCORES * cumulative[-1], cumulative, scores)
        weight = np.ones(MAX_SCORES)
    else:
        weight = weight[order]
    return ndtr((scores - thresholds[:, None]) / bandwidth) @ weight / weight.sum()

"""Scores of the models of cross-validation folds, on the scale of the model that is fitted on all rows.

A threshold tuned on held-out rows is applied to another model, whose scores may be on another scale because it has more
training rows. Both models are compared on common rows: rows that both were fitted on, or rows that neither was.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from adacc.algorithms.base import Array

MAX_COMMON_VALUES = 0.5
"""If more of the held-out scores than this share are among the scores of the final model, they are on a common grid."""


def match_location_and_scale(
    scores: Array, of_fold: Array, of_final: Array, weight: Array, are_probabilities: bool = False
) -> Array:
    """Scores of a fold's model, shifted and scaled as its scores of common training rows differ from the final model's.

    Scores of training rows are too extreme, but those of both models are. Only two moments are compared, because the
    tails of the scores of training rows are not like those of new rows. Scores on a common grid, such as shares of the
    same number of neighbours or trees, stay as they are, as do those of a model that was not fitted again.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of held-out rows by the model of the fold.
    of_fold, of_final : ndarray of shape (n_common,)
        Scores of the common training rows by the model of the fold, and by the model that was fitted on all rows.
    weight : ndarray of shape (n_common,)
        Weights of the common rows.
    are_probabilities : bool, default=False
        Whether the scores are probabilities, whose log-odds are compared.

    Examples
    --------
    >>> common = np.array([-1.0, 0.0, 1.0])
    >>> match_location_and_scale(np.array([0.5, 3.0]), common, 2.0 * common + 1.0, np.ones(3)).tolist()
    [2.0, 7.0]
    """
    if np.isin(scores, of_final).mean() > MAX_COMMON_VALUES:
        return scores
    if are_probabilities:  # rows of probability 0 or 1, whose log-odds are infinite, are not compared
        scores, of_fold, of_final = logit(scores), logit(of_fold), logit(of_final)
    compared = np.isfinite(of_fold) & np.isfinite(of_final)
    if compared.any():
        (mean, spread), (final_mean, final_spread) = (
            _moments(each[compared], weight[compared]) for each in (of_fold, of_final)
        )
        if spread > 0.0 and final_spread > 0.0:
            scores = final_mean + (scores - mean) * (final_spread / spread)
    return expit(scores) if are_probabilities else scores


def match_quantiles(scores: Array, of_fold: Array, of_final: Array, weight: Array) -> Array:
    """Scores of a fold's model, each replaced by the final model's score of the same quantile of common rows.

    The rows are common ones that neither model was fitted on, whose scores have the distribution of new rows'. If they
    are the held-out rows themselves, the share of rows above a threshold is that of the final model.
    """
    (before, share_before), (after, share_after) = (_quantiles(each, weight) for each in (of_fold, of_final))
    matched = np.interp(np.interp(scores, before, share_before), share_after, after)
    beyond = np.fmax(scores - before[-1], 0.0) + np.fmin(scores - before[0], 0.0)
    return matched + beyond


def _moments(values: Array, weight: Array) -> tuple[float, float]:
    mean = float(np.average(values, weights=weight))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))


def _quantiles(values: Array, weight: Array) -> tuple[Array, Array]:
    """The distinct values, and the share of the rows below each, half of the equal ones included."""
    levels, level = np.unique(values, return_inverse=True)
    at = np.bincount(level, weight)
    return levels, (np.cumsum(at) - at / 2.0) / at.sum()

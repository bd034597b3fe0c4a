"""Held-out scores on the scale of the model of all rows: the oracle of tests of tuned rules, by standardised scores."""

import numpy as np
from sklearn.base import clone


def cross_val_matched(estimator, X, y, cv, method="decision_function", weight=None):
    """The score of each row by the fold that holds it out, NaN without; `cv` is a splitter or a list of folds."""
    weight = np.ones(len(y)) if weight is None else weight
    of_proba = method == "predict_proba"

    def scores(training):
        sample_weight = {} if (weight == 1.0).all() else {"sample_weight": weight[training]}
        found = getattr(clone(estimator).fit(X[training], y[training], **sample_weight), method)(X)
        return np.log(found[:, 1] / found[:, 0]) if of_proba else found

    def standard(values, of):
        mean = np.average(of, weights=weight_here)
        spread = np.average((of - mean) ** 2, weights=weight_here) ** 0.5
        return (values - mean) / spread, mean, spread

    final, matched = scores(np.arange(len(y))), np.full(len(y), np.nan)
    for training, test in cv if isinstance(cv, list) else cv.split(X, y):
        weight_here = weight[training]
        of_fold = scores(training)
        _, mean, spread = standard(0.0, final[training])
        matched[test] = mean + spread * standard(of_fold[test], of_fold[training])[0]
    return 1 / (1 + np.exp(-matched)) if of_proba else matched

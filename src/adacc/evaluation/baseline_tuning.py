"""What a baseline chooses on inner folds of its training rows: encoding, parameters and thresholds.

Candidates are compared by average precision, which needs no threshold, of the scores of the held-out rows of all inner
folds; for more than two classes by its mean over the classes. Ties go to the candidate that is named first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from adacc.estimators.folds import Fold
from adacc.evaluation.encodings import ENCODERS, candidates
from adacc.evaluation.fold_data import FoldData, Scores
from adacc.evaluation.predictions import ClassPredictions
from adacc.evaluation.scorers import FittedScorer
from adacc.evaluation.thresholds import best_threshold

if TYPE_CHECKING:
    import pandas as pd

Result = TypeVar("Result")
Fit = Callable[..., Callable[["pd.DataFrame"], Result]]
"""Fits to a fold, with parameters as keyword arguments, and returns a scorer of other rows."""

Average = Callable[[NDArray[np.int8], Sequence[Result]], float]
"""The average precision of the results of several folds, given the classes of their held-out rows."""

ENCODING_FOLDS = 3
"""Inner folds that choose the encoding of a baseline without tuned threshold."""


@dataclass(frozen=True)
class Candidate(Generic[Result]):
    """An encoding and parameters, and the results on the held-out rows of the inner folds."""

    fit: Fit[Result]
    encoding: str | None
    held_out: Sequence[Result]


def choose_encoding(
    fit: Fit[Result], encodings: Sequence[str], fold: FoldData, folds: Sequence[Fold] | None, average: Average[Result]
) -> Candidate[Result]:
    """The encoding of largest average precision; the first if there are no inner folds, None without categories."""
    names: Sequence[str | None] = candidates(encodings, fold.X) or (None,)
    if folds is None and len(names) > 1:
        try:
            folds = fold.tuning_folds(ENCODING_FOLDS)
        except ValueError:  # too few rows of a class
            names = names[:1]
    tried = [Candidate(encoded := _encoded(fit, name), name, _held_out(encoded, fold, folds)) for name in names]
    return _best(tried, fold, folds, average)


def choose_parameters(
    default: Candidate[Result],
    fit: Fit[Result],
    trials: Iterable[Mapping[str, Any]],
    fold: FoldData,
    folds: Sequence[Fold],
    average: Average[Result],
) -> Candidate[Result]:
    """The default or the trial of largest average precision, all with the encoding of the default."""
    tried = [default]
    for parameters in trials:
        of_trial = _encoded(partial(fit, **parameters), default.encoding)
        tried.append(Candidate(of_trial, default.encoding, _held_out(of_trial, fold, folds)))
    return _best(tried, fold, folds, average)


def thresholds_of(candidate: Candidate[Scores], fold: FoldData, folds: Sequence[Fold]) -> dict[int, float]:
    """The threshold of best balanced accuracy on the held-out scores, by number of rounds."""
    y = _held_out_classes(fold, folds)
    rounds = candidate.held_out[0]
    return {T: best_threshold(y, np.concatenate([scores[T] for scores in candidate.held_out])) for T in rounds}


def average_precision(y: NDArray[np.int8], held_out: Sequence[Scores]) -> float:
    """Of two classes, after the last number of rounds."""
    last = max(held_out[0])
    return float(average_precision_score(y, np.concatenate([scores[last] for scores in held_out])))


def mean_average_precision(y: NDArray[np.int8], held_out: Sequence[ClassPredictions]) -> float:
    """The mean over the classes, each against the others."""
    probabilities = np.concatenate([predictions.probabilities for predictions in held_out])
    of_class = y[:, None] == np.arange(probabilities.shape[1])
    return float(average_precision_score(of_class, probabilities, average="macro"))


def _encoded(fit: Fit[Result], encoding: str | None) -> Fit[Result]:
    """The same with encoded categories."""
    encoder = None if encoding is None else ENCODERS.get(encoding)
    return fit if encoder is None else partial(_fit_encoded, encoder, fit)


def _fit_encoded(encoder: Callable[[pd.DataFrame], Any], fit: Fit[Result], fold: FoldData) -> FittedScorer[Result]:
    encode = encoder(fold.X)
    return FittedScorer(encode, fit(replace(fold, X=encode(fold.X))), _scores)


def _scores(scorer: Callable[[pd.DataFrame], Result], X: pd.DataFrame) -> Result:
    return scorer(X)


def _held_out(fit: Fit[Result], fold: FoldData, folds: Sequence[Fold] | None) -> list[Result]:
    """The results for the held-out rows of each inner fold."""
    results = []
    for train, test in folds or ():
        inner = replace(fold, X=fold.X.iloc[train], y=fold.y[train], X_test=fold.X.iloc[test], groups=None)
        results.append(fit(inner)(inner.X_test))
    return results


def _held_out_classes(fold: FoldData, folds: Sequence[Fold]) -> NDArray[np.int8]:
    return fold.y[np.concatenate([test for _, test in folds])]


def _best(
    tried: Sequence[Candidate[Result]], fold: FoldData, folds: Sequence[Fold] | None, average: Average[Result]
) -> Candidate[Result]:
    """The first candidate of largest average precision; a single one needs no inner folds."""
    if folds is None or len(tried) == 1:
        return tried[0]
    y = _held_out_classes(fold, folds)
    return max(tried, key=lambda each: average(y, each.held_out))

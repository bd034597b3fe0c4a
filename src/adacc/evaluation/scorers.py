"""Fitted baselines: what prepares rows for a model, the model, and how it scores them. All can be pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from scipy.special import expit
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from adacc.evaluation.encodings import Codes
from adacc.evaluation.fold_data import Array, Scores
from adacc.evaluation.predictions import ClassPredictions

if TYPE_CHECKING:
    import pandas as pd

Result = TypeVar("Result")

HISTOGRAM_LEVELS_MAX = 255
"""Levels of a category column that HistGradientBoosting takes: as many as bins."""


@dataclass(frozen=True)
class FittedScorer(Generic[Result]):
    """A model fitted to the training rows of a fold; calling it scores other rows, in one thread."""

    prepare: Callable[[pd.DataFrame], Any]  # rows as the model takes them
    model: Any
    score: Callable[[Any, Any], Result]  # of a model and prepared rows

    def __call__(self, X: pd.DataFrame) -> Result:
        with threadpool_limits(1):
            return self.score(self.model, self.prepare(X))


def unchanged(X: pd.DataFrame) -> pd.DataFrame:
    """For models that take frames with categories and missing values."""
    return X


def complete_numbers(X: pd.DataFrame) -> Callable[[pd.DataFrame], Array]:
    """Rows as arrays, for models that support neither categories nor missing values; fitted to the training rows.

    Categories are one-hot encoded, with missing as a category. Missing numbers become the median of the training rows,
    or 0 if all are missing.
    """
    categories = list(X.select_dtypes("category"))
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    encoder = ColumnTransformer(
        [
            ("numbers", imputer, list(X.columns.drop(categories))),
            ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
        ]
    )
    return encoder.fit(X).transform


class NativeCategories:
    """Rows for models that support `category` columns; categories that training rows lack become missing.

    Columns are numbered, because LightGBM and XGBoost reject some characters in names.
    """

    def __init__(self, X: pd.DataFrame) -> None:
        self.columns = X.columns
        self.levels = {name: column.cat.categories for name, column in X.select_dtypes("category").items()}

    @property
    def names(self) -> Sequence[str]:
        return [f"x{i}" for i in range(len(self.columns))]

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        known = {name: X[name].cat.set_categories(levels) for name, levels in self.levels.items()}
        return X.assign(**known)[self.columns].set_axis(self.names, axis=1)


class NamedCategories(NativeCategories):
    """Rows for HistGradientBoosting, with the original column names, for its error messages.

    Columns of more levels than it takes have integer codes.
    """

    def __init__(self, X: pd.DataFrame) -> None:
        super().__init__(X)
        wide = [name for name in self.levels if X[name].nunique() > HISTOGRAM_LEVELS_MAX]
        self.codes = Codes(X, wide)
        for name in wide:
            del self.levels[name]

    @property
    def names(self) -> Sequence[str]:
        return self.columns

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        return super().__call__(self.codes(X))


class TextCategories(NativeCategories):
    """Rows for CatBoost, which takes text for categories, and does not take missing ones."""

    @property
    def categories(self) -> list[str]:
        return [name for name, of in zip(self.names, self.columns, strict=True) if of in self.levels]

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        frame = super().__call__(X)
        text = {
            name: frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
            for name in self.categories
        }
        return frame.assign(**text)


def staged_scores(model: Any, X: Any, rounds: Sequence[int]) -> Scores:
    """The scores after each number of rounds, or after the last round if boosting stopped before."""
    by_rounds: Scores = {}
    stages: Iterable[Array] = model.staged_decision_function(X)
    for T, last in enumerate(stages, start=1):
        if T in rounds:
            by_rounds[T] = last
    return {T: by_rounds.get(T, last) for T in rounds}


def lightgbm_scores(model: Any, X: Any, trees: Mapping[int, int]) -> Scores:
    """`trees`: the number of trees for each number of rounds that is reported."""
    return {T: np.asarray(model.predict(X, raw_score=True, num_iteration=n)) for T, n in trees.items()}


def raw_lightgbm_scores(model: Any, X: Any) -> Scores:
    return {1: model.predict(X, raw_score=True)}


def xgboost_scores(model: Any, X: Any, rounds: Sequence[int]) -> Scores:
    return {T: model.predict(X, output_margin=True, iteration_range=(0, T)).astype(np.float64) for T in rounds}


def catboost_scores(model: Any, X: Any) -> Scores:
    return {1: model.predict(X, prediction_type="RawFormulaVal")}


def decision_scores(model: Any, X: Any) -> Scores:
    return {1: model.decision_function(X)}


def probability_scores(model: Any, X: Any) -> Scores:
    return {1: model.predict_proba(X)[:, 1] - 0.5}


def mean_probability_scores(models: Sequence[Any], X: Any) -> Scores:
    """Scores of several models."""
    return {1: np.mean([model.predict_proba(X)[:, 1] for model in models], axis=0) - 0.5}


def from_probability(scores: Array) -> Array:
    """The inverse of `probability_scores`."""
    return scores + 0.5


def from_half_log_odds(scores: Array) -> Array:
    return expit(2.0 * scores)


def predictions_of(model: Any, X: Any) -> ClassPredictions:
    """Predicted classes and probabilities of a fitted classifier whose classes are 0, 1, ..., K-1."""
    with threadpool_limits(1):
        predicted = np.ravel(model.predict(X)).astype(np.intp)  # CatBoost returns a column
        return ClassPredictions(predicted, np.asarray(model.predict_proba(X), dtype=np.float64))

"""A scikit-learn classifier of a baseline, fitted as in a comparison."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adacc.algorithms.catalog import suggestion
from adacc.estimators.base import log_of
from adacc.estimators.duplicates import groups_of_copies
from adacc.estimators.input_validation import check_labels
from adacc.evaluation.baselines import BASELINES, Baseline
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.predictions import ClassPredictions

if TYPE_CHECKING:
    import pandas as pd


def _has_two_classes(model: BaselineClassifier) -> bool:
    return len(getattr(model, "classes_", ())) <= 2


class BaselineClassifier(ClassifierMixin, BaseEstimator):
    """A baseline of `adacc compare`, by name: the same model, encoding of the columns and tuned threshold.

    Parameters
    ----------
    method : str
        Name of the baseline, as listed by `adacc methods`.
    n_estimators : int
        Number of boosting rounds; methods of fixed size ignore it.
    pos_label : object or None
        The positive class of two; None: the rarer class.
    in_time : bool
        Whether the groups of `fit` are times, and the splits that choose an encoding or tune a threshold follow them.
    random_state : int
        Random seed.
    duplicates : {"auto", "together", "apart"}
        Whether the splits that tune a threshold keep equal rows together: "auto" if there is evidence that they are
        copies, with a warning. Given groups decide alone. See docs/duplicates.md.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    feature_names_in_ : ndarray
        Names of the columns; x0, x1, ... if X is an array.
    n_features_in_ : int
        Number of columns.
    encoding_ : str or None
        Encoding of the categories that inner folds chose; None if the method has no choice, or X no categories.
    """

    def __init__(
        self,
        method: str = "lightgbm-threshold",
        n_estimators: int = 100,
        pos_label: Any = None,
        in_time: bool = False,
        random_state: int = 0,
        duplicates: str = "auto",
    ) -> None:
        self.method = method
        self.n_estimators = n_estimators
        self.pos_label = pos_label
        self.in_time = in_time
        self.random_state = random_state
        self.duplicates = duplicates

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit to a frame or an array of numbers.

        Text columns are categories, booleans are numbers, and values may be missing. Splits that choose an encoding or
        tune a threshold keep `groups` together.
        """
        baseline, frame, y = self._checked(), _as_frame(X), check_labels(y, "y")
        if len(y) != len(frame):
            raise ValueError(f"y must have one label for each of the {len(frame)} rows of X, got shape {y.shape}")
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must have at least two classes, got {classes.tolist()}")
        if len(classes) > 2 and baseline.fit_classes is None:
            raise ValueError(f"method {self.method!r} supports two classes only, got {len(classes)}")
        frame = frame.astype({name: "category" for name in frame if _is_text(frame[name])})
        copies = groups_of_copies(frame, y, self.duplicates) if groups is None and not self.in_time else None
        groups = copies if groups is None else np.asarray(groups)
        fold = FoldData(
            frame, numbers.astype(np.int8), frame.head(0), [self.n_estimators], self.random_state, groups, self.in_time,
            duplicates="apart",
        )  # fmt: skip
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        self.n_features_in_, self.classes_ = frame.shape[1], classes
        self._categories = list(frame.select_dtypes("category"))
        if len(classes) == 2:
            self._positive = self._positive_number(numbers)
            self._fitted: Any = baseline.fit(replace(fold, y=(numbers == self._positive).astype(np.int8)))
        else:
            self._fitted = baseline.fit_several(fold)
        self.encoding_ = self._fitted.encoding
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted labels; with a tuned threshold, not always the labels of largest probability."""
        found = self._predictions(X)
        if isinstance(found, ClassPredictions):
            return self.classes_[found.predicted]
        return self.classes_[np.where(found.scores > 0.0, self._positive, 1 - self._positive)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of `classes_`."""
        found = self._predictions(X)
        if isinstance(found, ClassPredictions):
            return found.probabilities
        by_class = np.empty((len(found.probabilities), 2))
        by_class[:, self._positive] = found.probabilities
        by_class[:, 1 - self._positive] = 1.0 - found.probabilities
        return by_class

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities, -inf for 0."""
        return log_of(self.predict_proba(X))

    @available_if(_has_two_classes)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of two classes, less the threshold: above 0 the second class is predicted.

        The negative class is predicted at the threshold. If it is the second class, the score there is the smallest
        positive number.
        """
        scores = self._predictions(X).scores
        return scores if self._positive == 1 else np.where(scores == 0.0, np.finfo(np.float64).tiny, -scores)

    def _checked(self) -> Baseline:
        """The baseline, if the parameters are valid."""
        if self.method not in BASELINES:
            hint = suggestion(self.method, BASELINES) or f"choose one of {', '.join(BASELINES)}"
            raise ValueError(f"method must be the name of a baseline, got {self.method!r}; {hint}")
        for name, least in (("n_estimators", 1), ("random_state", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
        return BASELINES[self.method]

    def _positive_number(self, numbers: NDArray[np.intp]) -> int:
        if self.pos_label is None:
            n_first, n_second = np.bincount(numbers)
            return int(n_second <= n_first)
        labels = self.classes_.tolist()
        if self.pos_label not in labels:
            raise ValueError(f"pos_label must be one of the labels {labels}, got {self.pos_label!r}")
        return labels.index(self.pos_label)

    def _predictions(self, X: Any) -> Any:
        """`Predictions` of two classes, `ClassPredictions` of several."""
        check_is_fitted(self)
        frame = _as_frame(X)
        missing = [name for name in self.feature_names_in_ if name not in frame]
        if missing or (not _has_names(X) and frame.shape[1] != self.n_features_in_):
            what = f"column {missing[0]!r} is missing" if missing else f"it has {frame.shape[1]}"
            raise ValueError(f"X must have the {self.n_features_in_} columns of the training rows, but {what}")
        frame = frame[list(self.feature_names_in_)]
        text = [name for name in frame if name not in self._categories and not _is_number(frame[name])]
        if text:
            raise ValueError(f"column {text[0]!r} of X must be numeric, as in the training rows")
        of_levels = [name for name in self._categories if frame[name].dtype != "category"]
        predictions = self._fitted.predict(frame.astype(dict.fromkeys(of_levels, "category")))
        return next(iter(predictions.values())) if isinstance(predictions, dict) else predictions


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns")


def _as_frame(X: Any) -> pd.DataFrame:
    """A pandas frame with booleans as numbers."""
    import pandas as pd

    if not _has_names(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be a frame or an array of two dimensions, got shape {X.shape}")
        X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).infer_objects()
    elif not isinstance(X, pd.DataFrame):
        raise TypeError(f"X must be a pandas DataFrame or an array, got {type(X).__name__}")
    return X.astype(dict.fromkeys(X.select_dtypes("bool"), np.int8))


def _is_number(column: pd.Series) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def _is_text(column: pd.Series) -> bool:
    import pandas as pd

    return column.dtype != "category" and bool(
        pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype)
    )

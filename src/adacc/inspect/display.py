"""Base class and helpers of the displays."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adacc.docstrings import described
from adacc.estimators import booster
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.booster import BaseBoosting

ARGUMENTS = {
    "ax": "matplotlib Axes or array of Axes\n    Axes to draw on; None creates a figure.",
    "background": "array or frame of shape (n_background, n_features)\n    Rows to compare with.",
    "dialect": '{"paper", "authors"}\n    The dialect of the methods.',
    "displays": "iterable of displays\n    One display per data set.",
    "estimator": "classifier of adacc\n    A fitted classifier.",
    "estimators": "dict or list of classifiers\n    Fitted classifiers, by label or in a list.",
    "max_features": "int or None\n    Maximum number of features; None for all.",
    "measure": "str\n    Name of a measure of `adacc.metrics`.",
    "rounds": "int\n    Number of boosting rounds.",
    "scores": "array or frame of shape (n_sets, n_methods)\n    Scores, larger is better.",
    "summary": "Summary\n    The results of a study.",
    "X": "array or frame of shape (n_samples, n_features)\n    Rows with the columns of `fit`.",
    "y": "array of shape (n_samples,)\n    Their labels.",
}
"""Descriptions of the arguments of the displays' methods."""


class Display:
    """Base class: `plot` draws the display and returns it, `frame` returns its data.

    Docstrings of methods need no sections: they are added from `ARGUMENTS` and, for a class, `_arguments`.

    Attributes
    ----------
    ax_ : Axes or ndarray of Axes
        Axes of the last plot.
    figure_ : Figure
        Figure of the last plot.
    """

    ax_: Any
    figure_: Any
    _arguments: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        returned = {"plot": "self", "frame": "pandas.DataFrame"}
        for name, member in vars(cls).items():
            method = getattr(member, "__func__", member)  # of a class method
            if inspect.isfunction(method) and not name.startswith("_"):
                described(ARGUMENTS | cls._arguments, returns=returned.get(name, "display"))(method)

    def _canvas(self, ax: Any, size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> Any:
        """The given axes, or new ones."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(rows, columns, figsize=size, layout="constrained", **options)
        first = np.ravel(np.asarray(ax, dtype=object))[0]
        self.ax_, self.figure_ = ax, first.figure
        return ax


def named(estimators: Any, kind: type[BaseAdditiveClassifier] = BaseAdditiveClassifier) -> dict[str, Any]:
    """Fitted classifiers of adacc by label; a list is labelled by the names of the methods."""
    if not hasattr(estimators, "items"):
        estimators = {method_of(each): each for each in estimators}
    if not estimators:
        raise ValueError("estimators must hold at least one fitted classifier")
    for label, each in estimators.items():
        if not isinstance(getattr(each, "best_estimator_", each), kind):
            expected = "classifier" if kind is BaseAdditiveClassifier else "boosting classifier"
            raise TypeError(f"{label} must be a fitted {expected} of adacc, got {each!r}")
        check_is_fitted(each)
    return {label: getattr(each, "best_estimator_", each) for label, each in estimators.items()}


def method_of(estimator: Any) -> str:
    """The method name of an estimator."""
    inner = getattr(estimator, "estimator", None)
    chosen = inner if isinstance(inner, BaseBoosting) else estimator
    return str(booster.method_of(chosen)) if isinstance(chosen, BaseBoosting) else type(estimator).__name__


def rare_class(estimator: BaseBoosting) -> int:
    """Index of the positive class in `classes_`."""
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"this display is for two classes, got {len(estimator.classes_)}: {estimator.classes_.tolist()}"
        )
    return 1 - estimator.fitted_model_.ensemble.negative_class


def as_rare(estimator: BaseBoosting, y: Any) -> NDArray[np.bool_]:
    """Which rows are of the positive class."""
    labels = np.asarray(y)
    unknown = np.setdiff1d(labels, estimator.classes_)
    if len(unknown):
        raise ValueError(f"y must have labels of {estimator.classes_.tolist()}, got {unknown.tolist()[0]!r}")
    return labels == estimator.classes_[rare_class(estimator)]


def column(X: Any, j: int) -> Any:
    """The j-th column's values."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, j].to_numpy()
    return X[:, [j]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X)[:, j]


def shortened(text: str, most: int) -> str:
    """The text, cut to at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"

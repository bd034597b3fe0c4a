"""The votes of a model for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from adacc.estimators.voting import BaseAdditiveClassifier
from adacc.export.graph import Graph
from adacc.export.sums import as_sum
from adacc.export.trees import as_forest
from adacc.learners.stump import Stumps
from adacc.learners.tree import Trees
from adacc.model.ensemble import contributions


class Votes(Protocol):
    """Computes the votes of a model, before ties, calibration and decision."""

    @property
    def is_text(self) -> NDArray[np.bool_]:
        """Which columns contain strings."""

    def write(self, graph: Graph, inputs: Sequence[str]) -> str:
        """Add the votes to a graph, shape (n_outputs, n_rows); the inputs are those of `write_model`."""


def votes_of(model: Any, dtype: str) -> Votes:
    """The votes of a fitted model for inputs of this type; raises an error if it cannot be exported."""
    names, ensemble = checked(model)._column_names, model._ensemble
    shares = contributions(ensemble.votes, ensemble.decision)
    if isinstance(ensemble.models, Trees):
        return as_forest(ensemble.models, shares, names, dtype)
    return as_sum(ensemble.models, shares, names, dtype)


def checked(model: Any) -> BaseAdditiveClassifier:
    """Return the model if it is fitted and has stumps or trees."""
    if isinstance(model, Pipeline):
        raise TypeError(
            "the model must be a classifier of adacc, got a Pipeline: skl2onnx converts these once it knows adacc's "
            "classifiers. Call adacc.export.register_skl2onnx(), and then skl2onnx.to_onnx(pipeline, X[:1], "
            'options={"zipmap": False})'
        )
    if not isinstance(model, BaseAdditiveClassifier):
        raise TypeError(f"the model must be a classifier of adacc, got {type(model).__name__}: {model!r:.80}")
    check_is_fitted(model)
    if not isinstance(model._ensemble.models, Stumps | Trees):
        raise ValueError(
            "only native stumps and trees (estimator=None) can be exported, and this model's weak learner is "
            f"{model.get_params(deep=False)['estimator']!r}"
        )
    return model

"""The votes of a model for each class."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from adacc.estimators.base import BaseAdditiveClassifier
from adacc.export.graph import Graph
from adacc.learners.catalog import LEARNERS
from adacc.model.fitted import FittedModel


class Votes(Protocol):
    """Computes the votes of a model, before ties, calibration and decision."""

    @property
    def is_text(self) -> NDArray[np.bool_]:
        """Which columns contain strings."""

    def write(self, graph: Graph, inputs: Sequence[str]) -> str:
        """Add the votes to a graph, shape (n_outputs, n_rows); the inputs are those of `write_model`."""


def votes_of(model: FittedModel, dtype: str) -> Votes:
    """The votes of a fitted model for inputs of this type; raises an error if it cannot be exported."""
    models, ensemble = model.ensemble.models, model.ensemble
    writer = None if models.learner is None else LEARNERS[models.learner].onnx
    if writer is None:
        raise ValueError(
            "only native stumps and trees (estimator=None) can be exported, and this model's weak learners are of the "
            f"type {type(models.describe(model.classes)[0]).__name__}"
        )
    module, _, name = writer.partition(":")
    make = getattr(import_module(module), name)
    return make(models, ensemble.contributions, model.column_names, dtype)


def fitted_model(estimator: Any) -> FittedModel:
    """The model of a fitted classifier of adacc."""
    if isinstance(estimator, Pipeline):
        raise TypeError(
            "the model must be a classifier of adacc, got a Pipeline: skl2onnx converts these once it knows adacc's "
            "classifiers. Call adacc.export.register_skl2onnx(), and then skl2onnx.to_onnx(pipeline, X[:1], "
            'options={"zipmap": False})'
        )
    if not isinstance(estimator, BaseAdditiveClassifier):
        raise TypeError(f"the model must be a classifier of adacc, got {type(estimator).__name__}: {estimator!r:.80}")
    check_is_fitted(estimator)
    return estimator.fitted_model_

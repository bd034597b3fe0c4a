"""Saving of fitted estimators to model files, and the validated content of such files for `loading.py`."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from adacc.algorithms.catalog import ESTIMATORS
from adacc.estimators.folds import SPLITTERS
from adacc.learners.catalog import LEARNERS
from adacc.model.fitted import FittedModel
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError
from adacc.model.serialization.fields import FieldReader
from adacc.model.serialization.jsonable import decode, encode
from adacc.model.serialization.reader import read_model
from adacc.model.serialization.writer import describe


class SavedEstimator(NamedTuple):
    """The content of a model file: the estimator's class and parameters, its model, and the user's notes."""

    estimator: str
    parameters: dict[str, Any]
    model: FittedModel
    notes: dict[str, Any]


def save(estimator: Any, path: str | os.PathLike[str], notes: dict[str, Any] | None) -> None:
    """Save a fitted estimator to a file, after checking that the content can be read back."""
    content = pack(estimator, notes)
    try:
        unpack(content)
    except ModelFileError as error:
        raise ValueError(f"this model cannot be saved to a model file: {error}; use pickle instead") from None
    archive.write(path, content)


def pack(estimator: Any, notes: dict[str, Any] | None) -> bytes:
    """The content of the model file of a fitted estimator."""
    cls, model = type(estimator), estimator.fitted_model_
    if cls.__name__ not in ESTIMATORS or not cls.__module__.startswith("adacc.estimators."):
        raise TypeError(f"a model file can store the classifiers of adacc only, got {cls.__name__}; use pickle instead")
    parameters = estimator.get_params(deep=False)
    learner = parameters.get("estimator")
    if model.ensemble.models.learner is None or not isinstance(learner, str | None):
        raise ValueError(
            "a model file can store native stumps and trees (estimator=None) only, but this model has the weak learner "
            f"{learner!r}; use pickle, joblib or skops.io instead"
        )
    encoded = {name: encode(value, f"the parameter {name!r}", SPLITTERS) for name, value in parameters.items()}
    return archive.pack(*describe(model, cls.__name__, encoded, {} if notes is None else notes))


def unpack(content: bytes) -> SavedEstimator:
    """Read and validate the content of a model file."""
    fields = FieldReader(*archive.unpack(content))
    fields.entry("versions", dict)  # for information only
    name, given = fields.entry("class", str), fields.entry("parameters", dict)
    if name not in ESTIMATORS:
        raise ModelFileError(f"'class' must be one of {', '.join(ESTIMATORS)}, got {name!r:.80}")
    parameters = {each: decode(value, f"the parameter {each!r}", SPLITTERS) for each, value in given.items()}
    learner = parameters.get("estimator")
    if learner is not None and not (isinstance(learner, str) and learner in LEARNERS):
        raise ModelFileError(
            f"the parameter 'estimator' must be None or the name of a native learner in a model file, "
            f"got {learner!r:.80}"
        )
    saved = SavedEstimator(name, parameters, read_model(fields), fields.entry("notes", dict))
    fields.check_nothing_left()
    return saved

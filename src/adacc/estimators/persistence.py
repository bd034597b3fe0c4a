"""A fitted model to a file and back."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adacc import archive
from adacc.algorithms.base import Array
from adacc.archive import ModelFileError
from adacc.data.binning import CategoryBins, NumericBins
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.estimators.jsonable import encode
from adacc.estimators.revival import CLASSES, revive
from adacc.estimators.voting import BaseAdditiveClassifier
from adacc.kernels import dtypes
from adacc.learners.stump import Stumps
from adacc.learners.tree import Trees
from adacc.model.calibration import Sigmoid


def save(model: BaseAdditiveClassifier, path: str | os.PathLike[str], notes: dict[str, Any] | None) -> None:
    """Write a fitted model to a file; what could not be read again is not written."""
    content = archive.pack(*describe(model, {} if notes is None else notes))
    try:
        revive(*archive.unpack(content))
    except ModelFileError as error:
        raise ValueError(f"this model cannot be kept in a model file: {error}; it can be pickled") from None
    archive.write(path, content)


def load(path: str | os.PathLike[str]) -> BaseAdditiveClassifier:
    """The model that was saved to a file.

    Nothing that the file holds is run, imported or unpickled, and all of it is checked.

    Parameters
    ----------
    path : str or path
        A file that a model's `save` has written.

    Returns
    -------
    classifier
        Of the class, with the parameters and the answers of the model that was saved, and with ``notes_``.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or holds what no model can have.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import adacc
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["fine", "fine", "fine", "fraud"]
    >>> with TemporaryDirectory() as folder:
    ...     adacc.CGAdaClassifier(costs={"fine": 1, "fraud": 20}).fit(X, y).save(f"{folder}/fraud.adacc")
    ...     model = adacc.load(f"{folder}/fraud.adacc")
    >>> model
    CGAdaClassifier(costs={'fine': 1, 'fraud': 20})
    >>> model.predict([[2.9]])
    array(['fraud'], dtype='<U5')
    """
    content = archive.read(path)
    with archive.naming(path):
        return revive(*archive.unpack(content))


def describe(model: BaseAdditiveClassifier, notes: dict[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and the arrays that a fitted model is made of."""
    check_is_fitted(model)
    name, ensemble = type(model).__name__, model._ensemble
    if CLASSES.get(name) is not type(model):
        raise TypeError(f"a model file holds adacc's own classes, and {name} is none of them; it can be pickled")
    learner = getattr(model, "estimator", None)
    if learner is not None or not isinstance(ensemble.models, Stumps | Trees):
        raise ValueError(
            "a model file holds native stumps and trees (estimator=None), and this model's weak learner is "
            f"{learner!r}: use pickle, joblib or skops.io"
        )
    _check_notes(notes)
    features, kind, of_calibration = ensemble.models.bin_mapper.features, *_describe_calibration(model)
    names = getattr(model, "feature_names_in_", None)
    document = {
        "versions": {library: version(library) for library in ("adacc", "numpy", "scikit-learn")},
        "class": name,
        "parameters": {
            parameter: encode(value, f"the parameter {parameter!r}")
            for parameter, value in model.get_params(deep=False).items()
        },
        "classes": encode(model.classes_, "classes_"),
        "n_features": len(features),
        "feature_names": None if names is None else names.tolist(),
        "categories": [
            [j, encode(list(feature.values), f"a category of column {j if names is None else names[j]!r}")]
            for j, feature in enumerate(features)
            if isinstance(feature, CategoryBins)
        ],
        "tie_class": int(ensemble.negative_class),
        "finished": bool(ensemble.finished),
        "calibration": kind,
        "training": getattr(model, "_trained_by", None),
        "seed": getattr(model, "_seed", None),
        "notes": notes,
    }
    if isinstance(model, AdaCCForestClassifier):
        accuracy = model.oob_balanced_accuracy_
        document["out_of_bag"] = None if np.isnan(accuracy) else accuracy
    thresholds = [feature.thresholds if isinstance(feature, NumericBins) else np.empty(0) for feature in features]
    arrays = {
        "n_thresholds": np.array([len(each) for each in thresholds], dtype=np.int64),
        "thresholds": np.concatenate(thresholds),
        **_describe_models(ensemble.models),
        "votes": ensemble.votes,
        "decision": ensemble.decision,
        "factors": ensemble.factors,
        **{f"history_{name}": record for name, record in ensemble.history.items()},
        **of_calibration,
    }
    return document, arrays


def _describe_models(models: Stumps | Trees) -> dict[str, NDArray[Any]]:
    if isinstance(models, Stumps):
        return {f"stump_{field}": models.records[field] for field in dtypes.STUMP.names or ()}
    nodes = {f"node_{field}": np.ascontiguousarray(models.nodes[field]) for field in dtypes.NODE.names or ()}
    return {"tree_sizes": np.diff(models.starts), **nodes}


def _check_notes(notes: dict[str, Any]) -> None:
    try:
        kept = isinstance(notes, dict) and json.loads(json.dumps(notes, allow_nan=False)) == notes
    except (TypeError, ValueError, RecursionError):
        kept = False
    if not kept:
        what = "with strings for names, of strings, finite numbers, booleans, None, and lists and dicts of these"
        raise TypeError(f"notes must be a dict that JSON can hold, {what}; got {notes!r:.80}")


def _describe_calibration(model: BaseAdditiveClassifier) -> tuple[str | None, dict[str, Array]]:
    if model._calibrator is None:
        return None, {}
    curves = model._calibrator.curves
    multipliers = {} if model._multipliers is None else {"multipliers": model._multipliers}
    if isinstance(curves[0], Sigmoid):
        return "sigmoid", multipliers | {"sigmoid": np.array([[curve.slope, curve.intercept] for curve in curves])}
    return "isotonic", multipliers | {
        "isotonic_sizes": np.array([len(curve.scores) for curve in curves], dtype=np.int64),
        "isotonic_scores": np.concatenate([curve.scores for curve in curves]),
        "isotonic_values": np.concatenate([curve.values for curve in curves]),
    }

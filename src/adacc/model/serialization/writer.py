"""Conversion of a `FittedModel` to the document and the arrays of a model file."""

from __future__ import annotations

import json
from importlib.metadata import version
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import CategoryBins, NumericBins
from adacc.model.calibration import Calibrator, Sigmoid
from adacc.model.decision import Decision, Interval
from adacc.model.fitted import FittedModel, TuningScores
from adacc.model.serialization.jsonable import encode


def describe(
    model: FittedModel, estimator: str, parameters: dict[str, Any], notes: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Make the document and the arrays of a model file.

    `estimator` and `parameters` are the name and the encoded parameters of the scikit-learn class that holds the model.
    """
    ensemble, bin_mapper = model.ensemble, model.bin_mapper
    if bin_mapper is None:
        raise ValueError("a model with external weak learners cannot be saved to a model file")
    _check_notes(notes)
    features, names = bin_mapper.features, model.column_names
    calibration, calibration_arrays = _describe_calibration(model.calibrator)
    document = {
        "versions": {library: version(library) for library in ("adacc", "numpy", "scikit-learn")},
        "class": estimator,
        "parameters": parameters,
        "classes": encode(model.classes, "classes_"),
        "n_features": len(features),
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "categories": [
            [j, encode(list(feature.values), f"a category of column {names[j]!r}")]
            for j, feature in enumerate(features)
            if isinstance(feature, CategoryBins)
        ],
        "learner": ensemble.models.learner,
        "tie_class": int(ensemble.negative_class),
        "finished": bool(ensemble.finished),
        "calibration": calibration,
        "training": model.training,
        "seed": model.seed,
        "notes": notes,
    }
    accuracy = model.oob_balanced_accuracy
    if accuracy is not None:
        document["out_of_bag"] = None if np.isnan(accuracy) else accuracy
    thresholds = [feature.thresholds if isinstance(feature, NumericBins) else np.empty(0) for feature in features]
    arrays = {
        "n_thresholds": np.array([len(each) for each in thresholds], dtype=np.int64),
        "thresholds": np.concatenate(thresholds),
        **ensemble.models.to_arrays(),
        "votes": ensemble.votes,
        "decision": ensemble.decision,
        "factors": ensemble.factors,
        **{f"history_{name}": record for name, record in ensemble.history.items()},
        **calibration_arrays,
    }
    if ensemble.coding is not None:
        coding = ensemble.coding
        arrays |= {"codes": coding.codes.astype(np.int64), "problems": coding.problems}
        arrays["problems_finished"] = coding.finished.astype(np.uint8)
    if model.calibrator is not None and model.multipliers is not None:
        arrays["multipliers"] = model.multipliers
    if model.decision is not None:
        document["decision_rule"] = _describe_decision(model.decision)
    if model.tuning_scores is not None:
        document["tuning_rows"] = model.tuning_scores.rows
        arrays |= _tuning_arrays(model.tuning_scores)
    return document, arrays


def _describe_decision(decision: Decision) -> dict[str, Any]:
    report = decision.report
    described: dict[str, Any] = {"rule": decision.rule, "threshold": decision.threshold, "report": None}
    if report is not None:
        described["report"] = {
            "rows": report.rows,
            "n_rows": report.n_rows,
            "n_positive": report.n_positive,
            "met": report.met,
            "threshold": None if report.threshold is None else _or_null(report.threshold),
            "achieved": {name: _or_null(interval) for name, interval in report.achieved.items()},
        }
    return described


def _or_null(interval: Interval) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [value if isfinite(value) else None for value in interval]


def _tuning_arrays(tuning: TuningScores) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "tuning_scores": tuning.scores,
        "tuning_positive": tuning.is_positive.astype(np.uint8),
    }
    if (tuning.weight != 1.0).any():
        arrays["tuning_weight"] = tuning.weight
    if tuning.groups is not None:
        arrays["tuning_groups"] = tuning.groups.astype(np.int64)
    if tuning.numbers is not None:
        arrays["tuning_numbers"] = tuning.numbers.astype(np.int64)
    return arrays


def _check_notes(notes: dict[str, Any]) -> None:
    try:
        valid = isinstance(notes, dict) and json.loads(json.dumps(notes, allow_nan=False)) == notes
    except (TypeError, ValueError, RecursionError):
        valid = False
    if not valid:
        wanted = (
            "a dict that JSON can represent: string keys, and strings, finite numbers, booleans, None, lists or dicts"
        )
        raise TypeError(f"notes must be {wanted}, got {notes!r:.80}")


def _describe_calibration(calibrator: Calibrator | None) -> tuple[str | None, dict[str, Array]]:
    if calibrator is None:
        return None, {}
    curves = calibrator.curves
    if isinstance(curves[0], Sigmoid):
        return "sigmoid", {"sigmoid": np.array([[curve.slope, curve.intercept] for curve in curves])}
    return "isotonic", {
        "isotonic_sizes": np.array([len(curve.scores) for curve in curves], dtype=np.int64),
        "isotonic_scores": np.concatenate([curve.scores for curve in curves]),
        "isotonic_values": np.concatenate([curve.values for curve in curves]),
    }

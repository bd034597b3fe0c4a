"""Validating reader that makes a `FittedModel` from the content of a model file.

Kernels do not check bounds: an invalid feature, bin or class number would read memory outside an array. All content is
therefore validated as untrusted input. docs/model-file.md describes the format.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins, Feature, NumericBins
from adacc.kernels import dtypes
from adacc.learners.base import Models
from adacc.learners.catalog import LEARNERS
from adacc.model.calibration import Calibrator, Isotonic, Sigmoid
from adacc.model.coding import Codes, Coding, one_vs_one, one_vs_rest
from adacc.model.ensemble import Ensemble
from adacc.model.fitted import FittedModel
from adacc.model.serialization.archive import ModelFileError
from adacc.model.serialization.decisions import read_decision_rule, read_tuning_scores
from adacc.model.serialization.fields import FieldReader
from adacc.model.serialization.jsonable import decode, decode_labels

BY_CLASS = ("class_cost", "class_weight", "class_recall")
AFTER_EARLY_STOPPING = "validation_balanced_accuracy"
HISTORY = ("alpha", "weighted_error", "normaliser", *BY_CLASS, "bound", AFTER_EARLY_STOPPING)
"""Records of the rounds, with one number per round or one per class; `alpha` has either."""


def read_model(fields: FieldReader) -> FittedModel:
    """Make the fitted model that the fields describe."""
    classes = _classes(fields)
    features = _features(fields)
    ensemble = _ensemble(fields, features, len(classes))
    calibrator, multipliers = _calibration(fields, len(classes))
    positive = 1 - ensemble.negative_class if len(classes) == 2 else 0
    return FittedModel(
        ensemble=ensemble,
        classes=classes,
        n_features=len(features),
        feature_names=_feature_names(fields, len(features)),
        calibrator=calibrator,
        multipliers=multipliers,
        training=fields.entry("training", dict, str, type(None)),
        seed=_seed(fields),
        oob_balanced_accuracy=_fraction(fields, "out_of_bag") if "out_of_bag" in fields.document else None,
        decision=read_decision_rule(fields, classes, positive) if "decision_rule" in fields.document else None,
        tuning_scores=read_tuning_scores(fields, len(classes)) if "tuning_rows" in fields.document else None,
    )


def _classes(fields: FieldReader) -> NDArray[Any]:
    plain = fields.entry("classes", dict)
    classes = decode(plain, "'classes'")
    if not isinstance(classes, np.ndarray) or not 2 <= len(classes) <= dtypes.MAX_CLASSES:
        raise ModelFileError(f"'classes' must be an array of 2 to {dtypes.MAX_CLASSES} labels, got {plain!r:.80}")
    labels = classes.tolist()
    if len(set(labels)) < len(labels) or any(label is None or label != label for label in labels):
        raise ModelFileError(f"'classes' must be distinct labels without missing values, got {plain!r:.80}")
    return classes


def _seed(fields: FieldReader) -> int | None:
    seed = fields.entry("seed", int, type(None))
    if seed is not None and not 0 <= seed < 2**31:
        raise ModelFileError(f"'seed' must be from 0 to {2**31 - 1}, got {seed}")
    return seed


def _fraction(fields: FieldReader, name: str) -> float:
    """Number from 0 to 1; null stands for NaN, which JSON does not have."""
    value = fields.entry(name, float, type(None))
    if value is not None and not 0.0 <= value <= 1.0:
        raise ModelFileError(f"{name!r} must be from 0 to 1, or null, got {value}")
    return np.nan if value is None else value


def _feature_names(fields: FieldReader, n_features: int) -> tuple[str, ...] | None:
    names = fields.entry("feature_names", list, type(None))
    if names is None:
        return None
    if len(names) != n_features or not all(type(name) is str for name in names):
        raise ModelFileError(f"'feature_names' must be {n_features} strings, one for each feature")
    return tuple(names)


def _features(fields: FieldReader) -> tuple[Feature, ...]:
    n_features = fields.entry("n_features", int)
    sizes = fields.array("n_thresholds", np.int64, None)
    if n_features < 1 or len(sizes) != n_features:
        raise ModelFileError(f"'n_features' is {n_features}, but n_thresholds.npy has {len(sizes)} features")
    by_feature = _split(fields.finite("thresholds", None), sizes, "thresholds")
    for j, thresholds in enumerate(by_feature):
        if (thresholds[1:] <= thresholds[:-1]).any():
            raise ModelFileError(f"the thresholds of feature {j} must be strictly increasing")
    features: list[Feature] = [NumericBins(thresholds) for thresholds in by_feature]
    previous = -1
    for pair in fields.entry("categories", list):
        match pair:
            case [int(j), list(plain)] if type(j) is int and previous < j < n_features and sizes[j] == 0:
                labels = decode_labels(plain, f"the categories of feature {j}")
            case _:
                raise ModelFileError(
                    f"'categories' must list features without thresholds in ascending order, got {pair!r:.80}"
                )
        if None in labels[:-1]:
            raise ModelFileError(f"None must be the last category of feature {j}, got {plain!r:.80}")
        features[j], previous = CategoryBins(tuple(labels)), j
    return tuple(features)


def _split(joined: Array, sizes: NDArray[np.int64], name: str) -> list[Array]:
    """Split an array into pieces of these sizes."""
    # Each size is checked before their sum, which could overflow.
    if (sizes < 0).any() or (sizes > len(joined)).any() or sizes.sum() != len(joined):
        raise ModelFileError(
            f"{name}.npy has {len(joined)} elements, but the sizes of its pieces do not add up to that"
        )
    return np.split(joined, np.cumsum(sizes)[:-1])


def _ensemble(fields: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Ensemble:
    codes = _codes(fields, n_classes) if "codes" in fields.arrays else None
    n_predicted = n_classes if codes is None else 2  # number of classes that a weak model predicts
    models = _models(fields, features, n_predicted)
    n_rounds = len(models)
    negative_class = fields.entry("tie_class", int)
    if not 0 <= negative_class < n_predicted:
        raise ModelFileError(f"'tie_class' must be from 0 to {n_predicted - 1}, got {negative_class}")
    factors = fields.finite("factors", n_rounds, n_predicted, n_predicted)
    if (factors < 0.0).any():
        raise ModelFileError("factors.npy must not hold negative numbers")
    return Ensemble(
        models=models,
        votes=fields.finite("votes", n_rounds, n_predicted),
        decision=fields.finite("decision", *((n_classes,) if codes is None else (len(codes), 2))),
        negative_class=negative_class,
        factors=factors,
        history=_history(fields, n_rounds, n_predicted),
        finished=fields.entry("finished", bool),
        coding=None if codes is None else _coding(fields, codes, n_rounds),
    )


def _codes(fields: FieldReader, n_classes: int) -> Codes:
    """The two-class problems of a model of more than two classes."""
    codes = fields.array("codes", np.int64, None, n_classes)
    if n_classes < 3 or not any(np.array_equal(codes, known(n_classes)) for known in (one_vs_one, one_vs_rest)):
        raise ModelFileError("codes.npy must hold every pair of three or more classes, or each of them and the rest")
    return codes.astype(np.int8)


def _coding(fields: FieldReader, codes: Codes, n_rounds: int) -> Coding:
    problems = fields.array("problems", np.int64, n_rounds)
    if problems[0] != 0 or problems[-1] != len(codes) - 1 or not np.isin(np.diff(problems), (0, 1)).all():
        raise ModelFileError(f"problems.npy must hold the ascending numbers from 0 to {len(codes) - 1}")
    finished = fields.array("problems_finished", np.uint8, len(codes))
    if finished.max() > 1:
        raise ModelFileError("problems_finished.npy must hold only 0 and 1")
    return Coding(codes, problems, finished.astype(bool))


def _models(fields: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Models:
    # Files of format 1, and early files of format 2, do not name the learner.
    name = "tree" if "tree_sizes" in fields.arrays else "stump"
    if "learner" in fields.document:
        name = fields.entry("learner", str)
    if name not in LEARNERS:
        raise ModelFileError(f"'learner' must be one of {', '.join(LEARNERS)}, got {name!r:.80}")
    try:
        return LEARNERS[name].models.from_arrays(fields, BinMapper(features), n_classes)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def _history(fields: FieldReader, n_rounds: int, n_classes: int) -> dict[str, Array]:
    by_class = [*BY_CLASS]
    if "history_alpha" in fields.arrays and fields.arrays["history_alpha"].ndim == 2:
        by_class.append("alpha")
    return {
        name: fields.array(f"history_{name}", np.float64, n_rounds, *((n_classes,) if name in by_class else ()))
        for name in HISTORY
        if name != AFTER_EARLY_STOPPING or f"history_{name}" in fields.arrays
    }


def _calibration(fields: FieldReader, n_classes: int) -> tuple[Calibrator | None, Array | None]:
    kind, n_curves = fields.entry("calibration", str, type(None)), 1 if n_classes == 2 else n_classes
    if kind is None:
        return None, None
    # Without multipliers the votes decide, not the probabilities.
    multipliers = fields.finite("multipliers", n_classes) if "multipliers" in fields.arrays else None
    if kind == "sigmoid":
        lines = fields.finite("sigmoid", n_curves, 2).tolist()
        return Calibrator(tuple(Sigmoid(slope, intercept) for slope, intercept in lines)), multipliers
    if kind != "isotonic":
        raise ModelFileError(f"'calibration' must be 'sigmoid', 'isotonic' or null, got {kind!r:.80}")
    sizes = fields.array("isotonic_sizes", np.int64, n_curves)
    scores = _split(fields.finite("isotonic_scores", None), sizes, "isotonic_scores")
    values = _split(fields.finite("isotonic_values", None), sizes, "isotonic_values")
    for x, p in zip(scores, values, strict=True):
        if len(x) == 0 or (x[1:] <= x[:-1]).any() or (p < 0.0).any() or (p > 1.0).any():
            raise ModelFileError(
                "the scores of an isotonic curve must be strictly increasing, and its values from 0 to 1"
            )
    return Calibrator(tuple(map(Isotonic, scores, values))), multipliers

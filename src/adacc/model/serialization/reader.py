"""Reads a `FittedModel` from the content of a model file, and validates all of it.

Kernels do not check bounds: an invalid feature, bin or class number would read memory outside an array. Every number
is therefore checked before a model is made of it, as if the file came from an attacker. docs/model-file.md describes
the file.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins, Feature, NumericBins
from adacc.kernels import dtypes
from adacc.learners.base import Models
from adacc.learners.catalog import LEARNERS
from adacc.model.calibration import Calibrator, Isotonic, Sigmoid
from adacc.model.ensemble import Ensemble
from adacc.model.fitted import FittedModel
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError
from adacc.model.serialization.jsonable import decode, decode_labels

T = TypeVar("T")

BY_CLASS = ("class_cost", "class_weight", "class_recall")
AFTER_EARLY_STOPPING = "validation_balanced_accuracy"
HISTORY = ("alpha", "weighted_error", "normaliser", *BY_CLASS, "bound", AFTER_EARLY_STOPPING)
"""Records of the rounds: one number a round, or one per class; `alpha` may be either."""


class FieldReader:
    """Takes the fields of a file out one by one; each must exist, and `check_nothing_left` finds unknown ones."""

    def __init__(self, document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.document, self.arrays = dict(document), dict(arrays)

    def entry(self, name: str, *kinds: type[T]) -> T:
        """An entry of the document, of one of these types."""
        if name not in self.document:
            raise ModelFileError(f"{archive.DOCUMENT} has no {name!r}")
        value = self.document.pop(name)
        if type(value) not in kinds:
            allowed = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFileError(f"{name!r} must be of type {allowed}, got {value!r:.80}")
        return value

    def array(self, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]:
        """An array of this dtype and shape, None for any size."""
        if name not in self.arrays:
            raise ModelFileError(f"there is no {name}.npy")
        array = self.arrays.pop(name)
        if array.dtype != dtype:
            raise ModelFileError(f"{name}.npy must be of dtype {np.dtype(dtype)}, not {array.dtype}")
        fits = [size in (None, found) for size, found in zip(shape, array.shape, strict=False)]
        if array.ndim != len(shape) or not all(fits):
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise ModelFileError(f"{name}.npy must have the shape ({wanted}), not {array.shape}")
        return array

    def finite(self, name: str, *shape: int | None) -> Array:
        """An array of finite floats."""
        array = self.array(name, np.float64, *shape)
        if not np.isfinite(array).all():
            raise ModelFileError(f"{name}.npy must hold finite numbers")
        return array

    def check_nothing_left(self) -> None:
        left = [*self.document, *(f"{name}.npy" for name in self.arrays)]
        if left:
            raise ModelFileError(f"there is {left[0]!r:.80}, which format {archive.VERSION} does not have")


def read_model(fields: FieldReader) -> FittedModel:
    """The fitted model that the fields describe."""
    classes = _classes(fields)
    features = _features(fields)
    ensemble = _ensemble(fields, features, len(classes))
    calibrator, multipliers = _calibration(fields, len(classes))
    return FittedModel(
        ensemble=ensemble,
        classes=classes,
        n_features=len(features),
        feature_names=_feature_names(fields, len(features)),
        calibrator=calibrator,
        multipliers=multipliers,
        training=fields.entry("training", dict, str, type(None)),
        seed=_seed(fields),
        oob_balanced_accuracy=_share(fields, "out_of_bag") if "out_of_bag" in fields.document else None,
    )


def _classes(fields: FieldReader) -> NDArray[Any]:
    plain = fields.entry("classes", dict)
    classes = decode(plain, "'classes'")
    if not isinstance(classes, np.ndarray) or not 2 <= len(classes) <= dtypes.MAX_CLASSES:
        raise ModelFileError(f"'classes' must be an array of 2 to {dtypes.MAX_CLASSES} labels, got {plain!r:.80}")
    labels = classes.tolist()
    if len(set(labels)) < len(labels) or any(label is None or label != label for label in labels):
        raise ModelFileError(f"'classes' must be different labels, none of them missing, got {plain!r:.80}")
    return classes


def _seed(fields: FieldReader) -> int | None:
    seed = fields.entry("seed", int, type(None))
    if seed is not None and not 0 <= seed < 2**31:
        raise ModelFileError(f"'seed' must be from 0 to {2**31 - 1}, got {seed}")
    return seed


def _share(fields: FieldReader, name: str) -> float:
    """A number from 0 to 1, or NaN, which JSON does not have."""
    share = fields.entry(name, float, type(None))
    if share is not None and not 0.0 <= share <= 1.0:
        raise ModelFileError(f"{name!r} must be from 0 to 1, or null, got {share}")
    return np.nan if share is None else share


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
        raise ModelFileError(f"'n_features' is {n_features}, but n_thresholds.npy is of {len(sizes)} features")
    pieces = _split(fields.finite("thresholds", None), sizes, "thresholds")
    for j, piece in enumerate(pieces):
        if (piece[1:] <= piece[:-1]).any():
            raise ModelFileError(f"the thresholds of feature {j} must ascend")
    features: list[Feature] = [NumericBins(piece) for piece in pieces]
    before = -1
    for pair in fields.entry("categories", list):
        match pair:
            case [int(j), list(plain)] if type(j) is int and before < j < n_features and sizes[j] == 0:
                labels = decode_labels(plain, f"the categories of feature {j}")
            case _:
                raise ModelFileError(f"'categories' must be of ascending features without thresholds, got {pair!r:.80}")
        if None in labels[:-1]:
            raise ModelFileError(f"of the categories of feature {j} None must be the last, got {plain!r:.80}")
        features[j], before = CategoryBins(tuple(labels)), j
    return tuple(features)


def _split(joined: Array, sizes: NDArray[np.int64], name: str) -> list[Array]:
    """The pieces of an array, of these sizes."""
    # The sizes one by one first: a sum of numbers near the end of their range could come out at anything.
    if (sizes < 0).any() or (sizes > len(joined)).any() or sizes.sum() != len(joined):
        raise ModelFileError(f"{name}.npy has {len(joined)} elements, and the sizes of its parts do not add up to that")
    return np.split(joined, np.cumsum(sizes)[:-1])


def _ensemble(fields: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Ensemble:
    models = _models(fields, features, n_classes)
    n_rounds = len(models)
    negative_class = fields.entry("tie_class", int)
    if not 0 <= negative_class < n_classes:
        raise ModelFileError(f"'tie_class' must be from 0 to {n_classes - 1}, got {negative_class}")
    factors = fields.finite("factors", n_rounds, n_classes, n_classes)
    if (factors < 0.0).any():
        raise ModelFileError("factors.npy must not hold negative numbers")
    return Ensemble(
        models=models,
        votes=fields.finite("votes", n_rounds, n_classes),
        decision=fields.finite("decision", n_classes),
        negative_class=negative_class,
        factors=factors,
        history=_history(fields, n_rounds, n_classes),
        finished=fields.entry("finished", bool),
    )


def _models(fields: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Models:
    # Early files of format 2, and those of format 1, hold stumps or trees and do not name them.
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
    # Without multipliers the probabilities do not decide: the votes do.
    multipliers = fields.finite("multipliers", n_classes) if "multipliers" in fields.arrays else None
    if kind == "sigmoid":
        lines = fields.finite("sigmoid", n_curves, 2).tolist()
        return Calibrator(tuple(Sigmoid(slope, intercept) for slope, intercept in lines)), multipliers
    if kind != "isotonic":
        raise ModelFileError(f"'calibration' must be 'sigmoid', 'isotonic' or null, got {kind!r:.80}")
    sizes = fields.array("isotonic_sizes", np.int64, n_curves)
    scores = _split(fields.finite("isotonic_scores", None), sizes, "isotonic_scores")
    values = _split(fields.finite("isotonic_values", None), sizes, "isotonic_values")
    for of_curve, given in zip(scores, values, strict=True):
        if len(of_curve) == 0 or (of_curve[1:] <= of_curve[:-1]).any() or (given < 0.0).any() or (given > 1.0).any():
            raise ModelFileError("the points of an isotonic curve must ascend, and their values lie from 0 to 1")
    return Calibrator(tuple(map(Isotonic, scores, values))), multipliers

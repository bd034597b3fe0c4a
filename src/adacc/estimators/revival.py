"""A model from what a file holds, checked as if it had been written in malice.

The kernels look nothing up twice: a feature, cut or class that is not there would be read from memory that is not
theirs. So nothing becomes a model before it is found to be one. docs/model-file.md describes the file.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adacc import archive
from adacc.algorithms.base import Array
from adacc.archive import ModelFileError
from adacc.data.binning import BinMapper, CategoryBins, Feature, NumericBins
from adacc.estimators import classifiers, forest
from adacc.estimators.base import BaseBoosting
from adacc.estimators.jsonable import decode, decode_labels
from adacc.estimators.voting import BaseAdditiveClassifier, attributes_of
from adacc.kernels import dtypes
from adacc.learners.stump import Stumps
from adacc.learners.tree import Trees
from adacc.model.calibration import Calibrator, Isotonic, Sigmoid
from adacc.model.ensemble import Ensemble

T = TypeVar("T")

CLASSES: dict[str, type[BaseAdditiveClassifier]] = {
    name: cls
    for name, cls in (*vars(classifiers).items(), *vars(forest).items())
    if isinstance(cls, type)
    and issubclass(cls, BaseAdditiveClassifier)
    and cls not in (BaseAdditiveClassifier, BaseBoosting)
}
"""The only classes that a file can name."""

BY_CLASS = ("class_cost", "class_weight", "class_recall")
AFTER_EARLY_STOPPING = "validation_balanced_accuracy"
HISTORY = ("alpha", "weighted_error", "normaliser", *BY_CLASS, "bound", AFTER_EARLY_STOPPING)
"""The records of the rounds: one number a round, or one for each class; of the votes either."""


class FieldReader:
    """What a file holds, taken out piece by piece; each piece must be there, and in the end none be left."""

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


def revive(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> BaseAdditiveClassifier:
    """The fitted model that a document and arrays describe, once they are found to describe one."""
    parts = FieldReader(document, arrays)
    parts.entry("versions", dict)  # for people
    model = _estimator(parts)
    classes = _classes(parts)
    features = _features(parts)
    ensemble = _ensemble(parts, features, len(classes))
    calibrator, multipliers = _calibration(parts, len(classes))
    attributes = {
        **attributes_of(ensemble, classes),
        "_calibrator": calibrator,
        "_multipliers": multipliers,
        "_trained_by": parts.entry("training", dict, str, type(None)),
        "_seed": _seed(parts),
        "n_features_in_": len(features),
        "feature_names_in_": _feature_names(parts, len(features)),
        "notes_": parts.entry("notes", dict),
    }
    if isinstance(model, forest.AdaCCForestClassifier):
        attributes["oob_balanced_accuracy_"] = _share(parts, "out_of_bag")
    parts.check_nothing_left()
    may_lack = ("_trained_by", "_seed", "feature_names_in_")
    model.__dict__.update({k: v for k, v in attributes.items() if v is not None or k not in may_lack})
    return model


def _estimator(parts: FieldReader) -> BaseAdditiveClassifier:
    """The estimator with its parameters; those that it did not have when the file was written are at their defaults."""
    name, given = parts.entry("class", str), parts.entry("parameters", dict)
    if name not in CLASSES:
        raise ModelFileError(f"'class' must be one of {', '.join(CLASSES)}, got {name!r:.80}")
    known = CLASSES[name]().get_params(deep=False)
    for parameter in given:
        if parameter not in known:
            raise ModelFileError(f"{name} has no parameter {parameter!r:.80}: is the file of a later adacc?")
    values = {parameter: decode(value, f"the parameter {parameter!r}") for parameter, value in given.items()}
    if values.get("estimator") is not None:
        raise ModelFileError(f"the parameter 'estimator' must be None in a model file, got {values['estimator']!r:.80}")
    return CLASSES[name](**values)


def _classes(parts: FieldReader) -> NDArray[Any]:
    plain = parts.entry("classes", dict)
    classes = decode(plain, "'classes'")
    if not isinstance(classes, np.ndarray) or not 2 <= len(classes) <= dtypes.MAX_CLASSES:
        raise ModelFileError(f"'classes' must be an array of 2 to {dtypes.MAX_CLASSES} labels, got {plain!r:.80}")
    labels = classes.tolist()
    if len(set(labels)) < len(labels) or any(label is None or label != label for label in labels):
        raise ModelFileError(f"'classes' must be different labels, none of them missing, got {plain!r:.80}")
    return classes


def _seed(parts: FieldReader) -> int | None:
    seed = parts.entry("seed", int, type(None))
    if seed is not None and not 0 <= seed < 2**31:
        raise ModelFileError(f"'seed' must be from 0 to {2**31 - 1}, got {seed}")
    return seed


def _share(parts: FieldReader, name: str) -> float:
    """A number from 0 to 1, or NaN, which JSON does not have."""
    share = parts.entry(name, float, type(None))
    if share is not None and not 0.0 <= share <= 1.0:
        raise ModelFileError(f"{name!r} must be from 0 to 1, or null, got {share}")
    return np.nan if share is None else share


def _feature_names(parts: FieldReader, n_features: int) -> NDArray[np.object_] | None:
    names = parts.entry("feature_names", list, type(None))
    if names is None:
        return None
    if len(names) != n_features or not all(type(name) is str for name in names):
        raise ModelFileError(f"'feature_names' must be {n_features} strings, one for each feature")
    return np.array(names, dtype=object)


def _features(parts: FieldReader) -> tuple[Feature, ...]:
    n_features = parts.entry("n_features", int)
    sizes = parts.array("n_thresholds", np.int64, None)
    if n_features < 1 or len(sizes) != n_features:
        raise ModelFileError(f"'n_features' is {n_features}, but n_thresholds.npy is of {len(sizes)} features")
    pieces = _split(parts.finite("thresholds", None), sizes, "thresholds")
    for j, piece in enumerate(pieces):
        if (piece[1:] <= piece[:-1]).any():
            raise ModelFileError(f"the thresholds of feature {j} must ascend")
    features: list[Feature] = [NumericBins(piece) for piece in pieces]
    before = -1
    for pair in parts.entry("categories", list):
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


def _ensemble(parts: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Ensemble:
    read = _trees if "tree_sizes" in parts.arrays else _stumps
    models = read(parts, features, n_classes)
    n_rounds = len(models)
    negative_class = parts.entry("tie_class", int)
    if not 0 <= negative_class < n_classes:
        raise ModelFileError(f"'tie_class' must be from 0 to {n_classes - 1}, got {negative_class}")
    factors = parts.finite("factors", n_rounds, n_classes, n_classes)
    if (factors < 0.0).any():
        raise ModelFileError("factors.npy must not hold negative numbers")
    return Ensemble(
        models=models,
        votes=parts.finite("votes", n_rounds, n_classes),
        decision=parts.finite("decision", n_classes),
        negative_class=negative_class,
        factors=factors,
        history=_history(parts, n_rounds, n_classes),
        finished=parts.entry("finished", bool),
    )


def _stumps(parts: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Stumps:
    feature = parts.array("stump_feature", np.int32, None)
    n_rounds = len(feature)
    if n_rounds == 0:
        raise ModelFileError("stump_feature.npy must hold at least one round")
    records = np.empty(n_rounds, dtypes.STUMP)
    records["feature"] = feature
    records["cut"] = parts.array("stump_cut", np.uint32, n_rounds)
    _check_cuts(records, features, "stump")
    for branch in ("left", "right", "missing"):
        records[branch] = parts.array(f"stump_{branch}", dtypes.CLASS, n_rounds)
        if records[branch].max() >= n_classes:
            raise ModelFileError(f"stump_{branch}.npy must hold numbers of classes, from 0 to {n_classes - 1}")
    return Stumps(records, BinMapper(features))


def _trees(parts: FieldReader, features: tuple[Feature, ...], n_classes: int) -> Trees:
    sizes = parts.array("tree_sizes", np.int64, None)
    feature = parts.array("node_feature", np.int32, None)
    n_nodes = len(feature)
    if len(sizes) == 0 or sizes.min() < 1 or sizes.max() > n_nodes or sizes.sum() != n_nodes:
        raise ModelFileError(f"tree_sizes.npy must hold the numbers of nodes of the trees, {n_nodes} in all")
    nodes = np.empty(n_nodes, dtypes.NODE)
    nodes["feature"] = feature
    nodes["cut"] = parts.array("node_cut", np.uint32, n_nodes)
    nodes["children"] = parts.array("node_children", np.int32, n_nodes, 3)
    nodes["class"] = parts.array("node_class", dtypes.CLASS, n_nodes)
    nodes["gain"] = parts.finite("node_gain", n_nodes)
    _check_cuts(nodes, features, "node")
    if nodes["class"].max() >= n_classes:
        raise ModelFileError(f"node_class.npy must hold numbers of classes, from 0 to {n_classes - 1}")
    # A child comes after its parent, in the same tree: so every path comes to an end.
    starts = np.cumsum([0, *sizes.tolist()])
    numbers = np.arange(n_nodes) - np.repeat(starts[:-1], sizes)
    split, children = feature >= 0, nodes["children"]
    too_small = (children <= numbers[:, None]) & (children != -1)
    too_large = children >= np.repeat(sizes, sizes)[:, None]
    if ((too_small | too_large)[split]).any():
        raise ModelFileError("node_children.npy must hold -1, or later nodes of the same tree")
    return Trees(nodes, starts, BinMapper(features))


def _check_cuts(records: NDArray[np.void], features: tuple[Feature, ...], name: str) -> None:
    feature = records["feature"]
    if feature.min() < -1 or feature.max() >= len(features):
        raise ModelFileError(f"{name}_feature.npy must hold numbers from -1 to {len(features) - 1}")
    # The last code is for missing numbers or for unknown categories; nothing cuts there.
    n_cuts = np.array([feature.n_codes - 1 for feature in features])
    if ((feature >= 0) & (records["cut"] >= n_cuts[feature])).any():
        raise ModelFileError(f"{name}_cut.npy must hold numbers of thresholds or categories that there are")


def _history(parts: FieldReader, n_rounds: int, n_classes: int) -> dict[str, Array]:
    by_class = [*BY_CLASS]
    if "history_alpha" in parts.arrays and parts.arrays["history_alpha"].ndim == 2:
        by_class.append("alpha")
    return {
        name: parts.array(f"history_{name}", np.float64, n_rounds, *((n_classes,) if name in by_class else ()))
        for name in HISTORY
        if name != AFTER_EARLY_STOPPING or f"history_{name}" in parts.arrays
    }


def _calibration(parts: FieldReader, n_classes: int) -> tuple[Calibrator | None, Array | None]:
    kind, n_curves = parts.entry("calibration", str, type(None)), 1 if n_classes == 2 else n_classes
    if kind is None:
        return None, None
    # Without multipliers the probabilities do not decide: the votes do.
    multipliers = parts.finite("multipliers", n_classes) if "multipliers" in parts.arrays else None
    if kind == "sigmoid":
        lines = parts.finite("sigmoid", n_curves, 2).tolist()
        return Calibrator(tuple(Sigmoid(slope, intercept) for slope, intercept in lines)), multipliers
    if kind != "isotonic":
        raise ModelFileError(f"'calibration' must be 'sigmoid', 'isotonic' or null, got {kind!r:.80}")
    sizes = parts.array("isotonic_sizes", np.int64, n_curves)
    scores = _split(parts.finite("isotonic_scores", None), sizes, "isotonic_scores")
    values = _split(parts.finite("isotonic_values", None), sizes, "isotonic_values")
    for of_curve, given in zip(scores, values, strict=True):
        if len(of_curve) == 0 or (of_curve[1:] <= of_curve[:-1]).any() or (given < 0.0).any() or (given > 1.0).any():
            raise ModelFileError("the points of an isotonic curve must ascend, and their values lie from 0 to 1")
    return Calibrator(tuple(map(Isotonic, scores, values))), multipliers

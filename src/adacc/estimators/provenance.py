"""Record of the training settings, which `warm_start` compares with those of the new fit.

The record is JSON, and model files store it unchanged. It contains no `repr` of an object, because that depends on the
print options of scikit-learn and abbreviates long values.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from adacc.boosting.settings import Settings
from adacc.costs import class_costs, cost_matrix, is_cost_matrix

_TAGS = frozenset({"dict", "set", "array", "name", "unknown"})
"""Keys that mark a JSON object as an encoded value rather than a group of entries."""


def training_record(settings: Settings, classes: NDArray[Any], has_row_costs: bool = False) -> dict[str, Any]:
    """The settings that must be equal for a warm start; `has_row_costs` tells whether the rows have their own costs.

    Calibration is included only if its probabilities decide; otherwise it can be changed after training.
    """
    learner: dict[str, Any] = {"estimator": _plain(settings.estimator)}
    if settings.estimator is None:
        learner |= {"criterion": settings.criterion, "max_bins": settings.max_bins}
        learner |= {name: _plain(value) for name, value in asdict(settings.growth).items()}
    if settings.monotonic_cst is not None:
        learner["monotonic_cst"] = list(settings.monotonic_cst)
    return {
        "method": _class(type(settings.rule)),
        "rows": {
            "sampler": settings.method.sampler,
            "subsample": settings.subsample,
            "rates": "out-of-bag" if settings.out_of_bag else "training",
        },
        "options": _options(settings, classes),
        "learner": learner,
        **({} if settings.codes(len(classes)) is None else {"multi_class": settings.multi_class}),
        **({"sample_cost": True} if has_row_costs else {}),
    }


def check_same_training(
    last: dict[str, Any] | str | None, settings: Settings, classes: NDArray[Any], has_row_costs: bool
) -> None:
    """Raise an error that names the first difference between the last fit and these settings, if there is any."""
    if last is None:
        raise ValueError("warm_start needs the record of the last fit, which this model lacks; set warm_start=False")
    if isinstance(last, str):
        text = _format_1_text(settings)
        if last == text:
            return
        raise ValueError(
            f"warm_start needs the same method, options and weak learner as in the last fit: was {last}, got {text}. "
            "The model file has format 1, which stores the settings as text: the order of the costs must also be equal"
        )
    if has_row_costs != bool(last.get("sample_cost")):
        was, got = ("without", "with") if has_row_costs else ("with", "without")
        raise ValueError(f"warm_start needs the sample_cost of the last fit: that was {was} sample_cost, this is {got}")
    difference = _difference(last, training_record(settings, classes, has_row_costs), ())
    if difference is None:
        return
    path, was, got = difference
    name = ".".join(path[1:] or path) or "training"
    if _text(was) == _text(got):
        raise ValueError(
            f"warm_start cannot compare {name} with that of the last fit: {_display(got)}. It compares numbers, "
            "strings, containers of these, estimators, and importable functions and classes; set warm_start=False"
        )
    raise ValueError(f"warm_start needs the same {name} as in the last fit: was {_display(was)}, got {_display(got)}")


def _options(settings: Settings, classes: NDArray[Any]) -> dict[str, Any]:
    """The options of the method; costs as one number per class, or as a matrix, scaled to a maximum of 1."""
    ignored = () if settings.method.decides_by_probability else ("calibration", "calibration_cv")
    options = {name: _plain(value) for name, value in settings.options.items() if name not in ignored}
    # An int and a float of the same value are equal.
    options |= {name: int(value) for name, value in options.items() if type(value) is float and value.is_integer()}
    if "costs" in options and not isinstance(options["costs"], str):
        costs = settings.options["costs"]
        if is_cost_matrix(costs) and len(classes) > 2:
            matrix = cost_matrix(costs, classes)
            options["costs"] = (matrix / matrix.max()).tolist()
        else:
            options["costs"] = class_costs(costs, classes, np.ones(len(classes))).tolist()
    return options


def _plain(value: Any) -> Any:
    """Encode a value as JSON.

    Equal values have equal encodings, regardless of the order of a dict and of NumPy types. 1 and 1.0 differ, because
    they have different meanings for `max_features`.
    """
    if value is None:
        return None
    if isinstance(value, str | bool | np.bool_):
        return str(value) if isinstance(value, str) else bool(value)
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {"dict": sorted(([_plain(key), _plain(item)] for key, item in value.items()), key=_text)}
    if isinstance(value, set | frozenset):
        return {"set": sorted(map(_plain, value), key=_text)}
    if isinstance(value, np.ndarray):
        return {"array": _plain(value.tolist()), "dtype": value.dtype.str}
    if isinstance(value, BaseEstimator) and _is_defined_by_parameters(value):
        # `random_state` is ignored, because boosting sets the seeds of weak learners.
        params = {name: item for name, item in value.get_params(deep=False).items() if name != "random_state"}
        return {"class": _class(type(value)), **{name: _plain(item) for name, item in params.items()}}
    name = _importable_name(value)
    return {"unknown": f"an object of type {type(value).__name__}"} if name is None else {"name": name}


def _class(cls: type) -> Any:
    return _importable_name(cls) or {"unknown": f"the class {cls.__qualname__}"}


def _is_defined_by_parameters(estimator: BaseEstimator) -> bool:
    """Whether the parameters define the estimator; a `FrozenEstimator` also has a fitted state."""
    return type(estimator).__sklearn_clone__ is BaseEstimator.__sklearn_clone__


def _importable_name(value: Any) -> str | None:
    """Qualified name of a function or class that can be imported; without the module for those of adacc."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    imported: Any = sys.modules.get(module)
    for attribute in name.split("."):
        imported = getattr(imported, attribute, None)
    if imported is not value:
        return None
    return name if module.startswith("adacc.") else f"{module}.{name}"


def _difference(was: Any, got: Any, path: tuple[str, ...]) -> tuple[tuple[str, ...], Any, Any] | None:
    """Path and values of the first entry that differs or that cannot be compared."""
    if _is_group(was) and _is_group(got):
        differences = (_difference(was.get(name), got.get(name), (*path, name)) for name in {**was, **got})
        return next((each for each in differences if each is not None), None)
    same = _text(was) == _text(got) and '{"unknown": ' not in _text(got)
    return None if same else (path, was, got)


def _is_group(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys() & _TAGS


def _text(plain: Any) -> str:
    """JSON text for comparison: 1, 1.0 and True differ, and NaN equals NaN."""
    return json.dumps(plain, sort_keys=True)


def _display(plain: Any) -> str:
    """A value of the record as text for error messages."""
    match plain:
        case {"unknown": str(what)} | {"name": str(what)}:
            return what
        case {"class": str(what)}:
            return what.rpartition(".")[2]
        case {"dict": list(pairs)}:
            return f"{{{', '.join(f'{_display(key)}: {_display(item)}' for key, item in pairs)}}}"[:200]
    return repr(plain)[:200]


def _format_1_text(settings: Settings) -> str:
    """The text that model files of format 1 store instead of the record."""
    growth = ", ".join(
        f"{name}={getattr(settings.growth, name)!r}"
        for name in ("max_depth", "max_leaf_nodes", "min_samples_leaf", "max_features")
    )
    kind = "stumps" if settings.growth.is_stump else f"trees of Growth({growth})"
    trees = f"{kind} by {settings.criterion} with max_bins={settings.max_bins}"
    learner = trees if settings.estimator is None else "another weak learner"
    ignored = () if settings.method.decides_by_probability else ("calibration", "calibration_cv")
    options = {name: value for name, value in settings.options.items() if name not in ignored}
    rows = settings.method.sampler or ("all rows" if settings.subsample == 1.0 else f"a share of {settings.subsample}")
    rates = ", rated out of the bag" if settings.out_of_bag else ""
    return f"{settings.rule} on {rows}{rates} with {options}, {learner}"

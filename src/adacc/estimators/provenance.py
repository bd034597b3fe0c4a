"""How an ensemble was trained, as plain values: `warm_start` goes on only where all of them are equal.

The record is JSON, a model file holds it as it is. Nothing in it is the printed form of an object: that depends on how
scikit-learn is told to print, and leaves out the middle of what is long.
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
from adacc.costs import class_costs

_TAGS = frozenset({"dict", "set", "array", "name", "unknown"})
"""Names of what is no JSON; an object of the record that has one of them is a value, and not a group of entries."""


def training_record(settings: Settings, classes: NDArray[Any]) -> dict[str, Any]:
    """What must be equal for the rounds of two fits to make one ensemble.

    Calibration only where it decides: elsewhere it may be asked for, or changed, when the rounds are there.
    """
    learner: dict[str, Any] = {"estimator": _plain(settings.estimator)}
    if settings.estimator is None:
        learner |= {"criterion": settings.criterion, "max_bins": settings.max_bins}
        learner |= {name: _plain(value) for name, value in asdict(settings.growth).items()}
    return {
        "method": _class(type(settings.rule)),
        "rows": {
            "sampler": settings.method.sampler,
            "subsample": settings.subsample,
            "rates": "out-of-bag" if settings.out_of_bag else "training",
        },
        "options": _options(settings, classes),
        "learner": learner,
    }


def check_same_training(last: dict[str, Any] | str | None, settings: Settings, classes: NDArray[Any]) -> None:
    """Raise an error that names what differs between the last fit and these settings, if anything does."""
    if last is None:
        raise ValueError("warm_start needs the record of the last fit, which this model lacks; set warm_start=False")
    if isinstance(last, str):
        now = _text_of_early_files(settings)
        if last == now:
            return
        raise ValueError(
            f"warm_start needs the same method, options and weak learner as in the last fit: was {last}, got {now}. "
            "This model was saved by an early adacc, which kept them as text: costs must be in the same order, too"
        )
    difference = _difference(last, training_record(settings, classes), ())
    if difference is None:
        return
    path, was, got = difference
    name = ".".join(path[1:] or path) or "training"
    if _text(was) == _text(got):
        raise ValueError(
            f"warm_start cannot compare {name} with that of the last fit: {_shown(got)}. It compares numbers, strings, "
            "containers of these, estimators, and functions and classes that can be imported; set warm_start=False"
        )
    raise ValueError(f"warm_start needs the same {name} as in the last fit: was {_shown(was)}, got {_shown(got)}")


def _options(settings: Settings, classes: NDArray[Any]) -> dict[str, Any]:
    """The method's options; costs one for each class, the largest being 1, as it is their ratios that matter."""
    after = () if settings.method.decides_by_probability else ("calibration", "calibration_cv")
    options = {name: _plain(value) for name, value in settings.options.items() if name not in after}
    # An option may be a whole number or a float of the same value.
    options |= {name: int(value) for name, value in options.items() if type(value) is float and value.is_integer()}
    if "costs" in options and not isinstance(options["costs"], str):
        options["costs"] = class_costs(settings.options["costs"], classes, np.ones(len(classes))).tolist()
    return options


def _plain(value: Any) -> Any:
    """A value as JSON. Equal values are equal JSON, whatever the order of a dict and the type of a number; 1 and 1.0
    differ, as they do for `max_features`.
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
    if isinstance(value, BaseEstimator) and _is_its_parameters(value):
        # Boosting seeds weak learners itself.
        params = {name: item for name, item in value.get_params(deep=False).items() if name != "random_state"}
        return {"class": _class(type(value)), **{name: _plain(item) for name, item in params.items()}}
    name = _importable_name(value)
    return {"unknown": f"an object of type {type(value).__name__}"} if name is None else {"name": name}


def _class(cls: type) -> Any:
    return _importable_name(cls) or {"unknown": f"the class {cls.__qualname__}"}


def _is_its_parameters(estimator: BaseEstimator) -> bool:
    """Whether a clone has nothing but the parameters; a `FrozenEstimator` is fitted."""
    return type(estimator).__sklearn_clone__ is BaseEstimator.__sklearn_clone__


def _importable_name(value: Any) -> str | None:
    """The name by which a function or class is found; of adacc's own without the module, which may change."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value:
        return None
    return name if module.startswith("adacc.") else f"{module}.{name}"


def _difference(was: Any, got: Any, path: tuple[str, ...]) -> tuple[tuple[str, ...], Any, Any] | None:
    """The first entry that differs, or that cannot be compared: where it is, and its two values."""
    if _is_group(was) and _is_group(got):
        found = (_difference(was.get(name), got.get(name), (*path, name)) for name in {**was, **got})
        return next((each for each in found if each is not None), None)
    same = _text(was) == _text(got) and '{"unknown": ' not in _text(got)
    return None if same else (path, was, got)


def _is_group(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys() & _TAGS


def _text(plain: Any) -> str:
    """Text to compare by: it tells 1, 1.0 and True apart, and NaN is equal to itself."""
    return json.dumps(plain, sort_keys=True)


def _shown(plain: Any) -> str:
    """A value of the record for people."""
    match plain:
        case {"unknown": str(what)} | {"name": str(what)}:
            return what
        case {"class": str(what)}:
            return what.rpartition(".")[2]
        case {"dict": list(pairs)}:
            return f"{{{', '.join(f'{_shown(key)}: {_shown(item)}' for key, item in pairs)}}}"[:200]
    return repr(plain)[:200]


def _text_of_early_files(settings: Settings) -> str:
    """What files of format 1 hold in place of the record."""
    growth = ", ".join(
        f"{name}={getattr(settings.growth, name)!r}"
        for name in ("max_depth", "max_leaf_nodes", "min_samples_leaf", "max_features")
    )
    kind = "stumps" if settings.growth.is_stump else f"trees of Growth({growth})"
    trees = f"{kind} by {settings.criterion} with max_bins={settings.max_bins}"
    learner = trees if settings.estimator is None else "another weak learner"
    after = () if settings.method.decides_by_probability else ("calibration", "calibration_cv")
    options = {name: value for name, value in settings.options.items() if name not in after}
    rows = settings.method.sampler or ("all rows" if settings.subsample == 1.0 else f"a share of {settings.subsample}")
    judged = ", rated out of the bag" if settings.out_of_bag else ""
    return f"{settings.rule} on {rows}{judged} with {options}, {learner}"

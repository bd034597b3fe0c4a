"""Validation of estimator parameters: each error names the parameter, its value and the allowed values."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from adacc.algorithms import Method
from adacc.algorithms.catalog import resolve_options
from adacc.boosting.settings import Settings
from adacc.estimators.folds import on_training_rows
from adacc.estimators.parameters import OPTIONS_OF_ALL, SHARED
from adacc.learners.catalog import LEARNERS
from adacc.learners.growth import FEATURES_BY_NAME, Growth
from adacc.learners.splits import CRITERIA

MAX_WHOLE = 2**63 - 1
"""Largest integer of the compiled code."""

MULTI_CLASS = ("auto", "one_vs_one", "one_vs_rest", "joint")


def read_settings(params: dict[str, Any]) -> Settings:
    """Validate the parameters of an estimator, including `method`."""
    shared = {"method", *SHARED} - OPTIONS_OF_ALL
    given = {name: value for name, value in params.items() if name not in shared}
    method, rule, options = resolve_options(params["method"], given)
    _check_options(options)
    estimator = params["estimator"]
    if isinstance(estimator, str):
        one_of("estimator", estimator, LEARNERS)
    elif estimator is not None and not _can_be_boosted(estimator):
        raise TypeError(f"estimator must be a classifier whose fit takes sample_weight, got {estimator!r}")
    if not isinstance(params["verbose"], bool):
        whole("verbose", params["verbose"], least=0)
    if not isinstance(params["warm_start"], bool | np.bool_):
        raise TypeError(f"warm_start must be True or False, got {params['warm_start']!r:.80}")
    max_bins, patience = params["max_bins"], params["n_iter_no_change"]
    n_threads = read_n_jobs(params["n_jobs"])
    return Settings(
        method=method,
        rule=rule,
        options=options,
        estimator=estimator,
        n_rounds=whole("n_estimators", params["n_estimators"], least=1),
        learning_rate=number("learning_rate", params["learning_rate"], least=1e-6, most=10.0),
        criterion=one_of("criterion", params["criterion"], CRITERIA),
        growth=read_growth(params),
        subsample=_subsample(params, method),
        out_of_bag=_out_of_bag(params),
        max_bins=None if max_bins is None else whole("max_bins", max_bins, least=2, or_else="None"),
        patience=None if patience is None else whole("n_iter_no_change", patience, least=1),
        validation_fraction=number("validation_fraction", params["validation_fraction"], least=1e-6, most=1 - 1e-6),
        n_threads=n_threads,
        seed=read_seed(params["random_state"]),
        multi_class=one_of("multi_class", params["multi_class"], MULTI_CLASS),
    )


def check_takes_row_costs(settings: Settings, sample_cost: Any) -> None:
    """Raise an error if `sample_cost` is given and the method has no formulas for costs by row."""
    rule, label = settings.rule, settings.method.label
    if sample_cost is None or rule.takes_row_costs:
        return
    if rule.costs_decide_only:
        raise ValueError(f"sample_cost must be None for {label}, whose costs apply in predict. {EXPECTED_COST}")
    if not rule.uses_costs:
        raise ValueError(f"sample_cost must be None for {label}, which takes no costs. {EXPECTED_COST}")
    raise ValueError(f"sample_cost must be None for {rule}, whose formulas do not hold for costs by row")


EXPECTED_COST = (
    "Fit without it, with calibration, and decide by the expected cost of each row, which saves most "
    "(docs/row-costs.md), or use cgada, csb1, csb2, adacost, adac1, adac2 or adac3"
)
"""What to do with costs by row if the method does not take them."""


def read_growth(params: dict[str, Any]) -> Growth:
    """Validate the parameters that limit the growth of trees."""
    depth, leaves = params["max_depth"], params["max_leaf_nodes"]
    return Growth(
        max_depth=None if depth is None else whole("max_depth", depth, least=1, or_else="None"),
        max_leaf_nodes=None if leaves is None else whole("max_leaf_nodes", leaves, least=2, or_else="None"),
        min_samples_leaf=whole("min_samples_leaf", params["min_samples_leaf"], least=1),
        max_features=_max_features(params["max_features"]),
    )


def check_growth(growth: Growth, n_rows: int, n_features: int) -> None:
    """Check the limits of the growth of trees that depend on the size of the training set."""
    if isinstance(growth.max_features, int) and growth.max_features > n_features:
        raise ValueError(
            f"max_features must be at most the number of features, {n_features}, got {growth.max_features}; None means "
            "all of them"
        )
    if growth.min_samples_leaf > max(n_rows, SMALL_LEAF):
        raise ValueError(
            f"min_samples_leaf must be at most the number of training rows, {n_rows}, got {growth.min_samples_leaf}"
        )


SMALL_LEAF = 3
"""The default `min_samples_leaf` of the forest, which is allowed for fewer rows, too."""


def _max_features(features: Any) -> int | float | str | None:
    names = ", ".join(map(repr, FEATURES_BY_NAME))
    wanted = f"a whole number of at least 1, a fraction of at most 1.0, {names} or None"
    if features is None or (isinstance(features, str) and features in FEATURES_BY_NAME):
        return features
    if not isinstance(features, str | Real) or isinstance(features, bool):
        raise TypeError(f"max_features must be {wanted}, got {features!r}")
    if isinstance(features, Integral) and int(features) >= 1:
        return int(features)
    if isinstance(features, str | Integral) or not 0.0 < float(features) <= 1.0:
        raise ValueError(f"max_features must be {wanted}, got {features!r}")
    return float(features)


def _subsample(params: dict[str, Any], method: Method) -> float:
    subsample = number("subsample", params["subsample"], least=1e-6, most=1.0)
    if subsample < 1.0 and method.sampler is not None:
        raise ValueError(f"subsample must be 1.0 for a method with its own sampling, got {subsample}")
    return subsample


def _out_of_bag(params: dict[str, Any]) -> bool:
    rates = one_of("rates", params["rates"], ("training", "out-of-bag"))
    if rates == "out-of-bag" and params["subsample"] == 1.0:
        raise ValueError("subsample must be below 1 for rates='out-of-bag', got 1.0")
    return rates == "out-of-bag"


def _can_be_boosted(estimator: Any) -> bool:
    return (
        isinstance(estimator, BaseEstimator)
        and is_classifier(estimator)
        and has_fit_parameter(estimator, "sample_weight")
    )


def read_n_jobs(n_jobs: Any) -> int:
    """Number of threads for a value of `n_jobs`."""
    if n_jobs is not None:
        whole("n_jobs", n_jobs)
    if n_jobs == 0:
        raise ValueError("n_jobs must be None, a positive number of threads, or -1 for all cores, got 0")
    return int(effective_n_jobs(n_jobs))


def read_seed(random_state: Any) -> int:
    """An integer seed from a `random_state`."""
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except (TypeError, ValueError):
        wanted = "None, a whole number from 0 to 2**32 - 1, or a RandomState"
        raise ValueError(f"random_state must be {wanted}, got {random_state!r}") from None


def _check_options(options: dict[str, Any]) -> None:
    if options["calibration"] is not None:
        one_of("calibration", options["calibration"], ("sigmoid", "isotonic"))
    check_folds("calibration_cv", options["calibration_cv"], or_training=True)
    if "sampling_ratio" in options:
        number("sampling_ratio", options["sampling_ratio"], least=1e-6, most=1.0)
    if "n_synthetic" in options:
        whole("n_synthetic", options["n_synthetic"], least=1)
        whole("k_neighbors", options["k_neighbors"], least=1)


def check_folds(name: str, cv: Any, or_training: bool = False) -> None:
    """Check that `cv` is None, a number of folds or a splitter, or if allowed "training"."""
    if or_training and on_training_rows(cv):
        return
    if cv is None or (callable(getattr(cv, "split", None)) and not isinstance(cv, str | bytes | type)):
        return
    if not isinstance(cv, Integral) or isinstance(cv, bool):
        also = "'training', " if or_training else ""
        raise TypeError(f"{name} must be None, {also}a whole number of at least 2, or a splitter, got {cv!r}")
    whole(name, cv, least=2)


def whole(name: str, value: Any, least: int | None = None, or_else: str = "", most: int = MAX_WHOLE) -> int:
    """Validate an integer from `least` to `most`; `or_else` names another value that the caller accepts."""
    wanted = "a whole number" if least is None else f"a whole number of at least {least}"
    wanted += f" or {or_else}" if or_else else ""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be {wanted}, got {value!r:.80}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    if int(value) > most:
        raise ValueError(f"{name} must be a whole number of at most {most}, got {value!r:.80}")
    return int(value)


def number(name: str, value: Any, least: float, most: float) -> float:
    """Validate a number, which must lie between two limits."""
    wanted = f"a number from {least:g} to {most:g}"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be {wanted}, got {value!r:.80}")
    # An integer is compared as it is: it may be too large for a float.
    if not least <= (value if isinstance(value, int) else float(value)) <= most:
        raise ValueError(f"{name} must be {wanted}, got {value!r:.80}")
    return float(value)


def one_of(name: str, value: Any, allowed: Collection[str]) -> str:
    """Validate a string, which must be one of the allowed names."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return value

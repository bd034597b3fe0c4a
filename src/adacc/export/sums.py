"""A fitted model as a graph can say it: conditions on columns, and what each adds to the scores where it holds.

A sum of stumps is a constant and a step function for each feature. A step is a condition, ``x > threshold``; so is a
missing value, and a number among categories. Only strings are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adacc.engine.binning import Categories
from adacc.engine.ensemble import contributions
from adacc.engine.learners import Stumps
from adacc.estimators.base import BaseBoosting
from adacc.rules.base import Array

MISSING = ""
"""What stands for a missing string: ONNX has none."""


@dataclass(frozen=True)
class Conditions:
    """Conditions of one kind, and what each adds where it holds.

    Attributes
    ----------
    operator : {"Greater", "GreaterOrEqual", "Equal", "IsNaN"}
        Of ONNX, with the cell on the left.
    columns : ndarray of shape (n_conditions,)
        The column that each looks at.
    operands : ndarray of shape (n_conditions,)
        What the cell is compared with, in the type of the cells; NaN where it is compared with nothing.
    amounts : ndarray of shape (n_outputs, n_conditions)
        What is added to each output.
    """

    operator: str
    columns: NDArray[np.int64]
    operands: NDArray[np.floating]
    amounts: Array


@dataclass(frozen=True)
class Words:
    """A column of strings: the code of those that are known, and what each code adds; the last is for all others.

    Attributes
    ----------
    column : int
        Its number.
    codes : dict of str to int
        Among them `MISSING`, where missing values were seen in training.
    amounts : ndarray of shape (n_outputs, n_codes)
        What is added to each output.
    """

    column: int
    codes: dict[str, int]
    amounts: Array


@dataclass(frozen=True)
class Sum:
    """The votes of a model, before ties, calibration and decision.

    Attributes
    ----------
    constant : ndarray of shape (n_outputs,)
        What is there before any condition.
    conditions : tuple of Conditions
        Of the columns that hold numbers.
    words : tuple of Words
        The columns of strings that matter.
    is_text : ndarray of shape (n_columns,)
        Which columns hold strings.
    """

    constant: Array
    conditions: tuple[Conditions, ...]
    words: tuple[Words, ...]
    is_text: NDArray[np.bool_]


def as_sum(model: BaseBoosting, dtype: str) -> Sum:
    """The sum that a fitted model is, for cells of this type, or an error that says why it cannot be exported."""
    models = checked(model)._ensemble.models
    assert isinstance(models, Stumps)
    is_text = _text_columns(model)
    steps = models.pruned().compile(contributions(model._ensemble.votes, model._ensemble.decision))
    constant, found, words = steps.constant, [], []
    for column, coding, values in steps.curves():
        if not isinstance(coding, Categories):
            constant = constant + values[0]
            thresholds = _largest_up_to(coding.thresholds, dtype)
            found += [("Greater", column, *each) for each in zip(thresholds, np.diff(values[:-1], axis=0), strict=True)]
            found.append(("IsNaN", column, np.nan, values[-1] - values[0]))
        elif is_text[column]:
            words.append(Words(column, _codes_of_strings(coding.values), values.T.copy()))
        else:
            constant = constant + values[-1]
            keys = _keys_of_numbers(coding.values, dtype, column_names(model)[column])
            found += [
                ("IsNaN" if np.isnan(key) else "Equal", column, key, amount)
                for key, amount in zip(keys, values[:-1] - values[-1], strict=True)
            ]
    return Sum(constant, tuple(_grouped(found, dtype)), tuple(words), is_text)


def checked(model: Any) -> BaseBoosting:
    """The model, if it is fitted and made of stumps."""
    if not isinstance(model, BaseBoosting):
        raise TypeError(f"the model must be a classifier of adacc, got {type(model).__name__}: {model!r:.80}")
    check_is_fitted(model)
    if not isinstance(model._ensemble.models, Stumps):
        learner = f"a tree of max_depth={model.max_depth}" if model.estimator is None else repr(model.estimator)
        raise ValueError(
            "only native stumps (estimator=None, max_depth=1) can be exported, and this model's weak learner is "
            f"{learner}"
        )
    return model


def column_names(model: BaseBoosting) -> list[str]:
    """Names of the columns in training, or "x3" for column 3 where the columns had none."""
    return list(map(str, getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])))


def class_labels(model: BaseBoosting) -> NDArray[Any]:
    """The labels as ONNX has them: strings, or whole numbers, which booleans and floats become."""
    labels = model.classes_.tolist()
    if isinstance(labels[0], str):
        return np.array(labels, dtype=object)
    if any(abs(int(label)) >= 2**63 for label in labels):
        raise ValueError(f"the classes must be strings or numbers of 64 bits with a sign to be exported, got {labels}")
    return np.array(labels, dtype=np.int64)


def _text_columns(model: BaseBoosting) -> NDArray[np.bool_]:
    """Which columns hold strings; an error for one that holds what ONNX cannot."""
    models = model._ensemble.models
    assert isinstance(models, Stumps)
    return np.array(
        [
            isinstance(feature, Categories) and _are_strings(feature.values, name)
            for feature, name in zip(models.coder.features, column_names(model), strict=True)
        ]
    )


def _largest_up_to(values: Array, dtype: str) -> NDArray[np.floating]:
    """Of each value the largest number of the type that does not exceed it: ``x <= value`` is the same with either."""
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    return np.where(rounded > values, np.nextafter(rounded, -np.inf, dtype=dtype), rounded)


def _are_strings(labels: Sequence[Any], name: str) -> bool:
    known = [label for label in labels if label is not None]
    if all(isinstance(label, str) for label in known):
        if MISSING in known and None in labels:
            raise ValueError(
                f"column {name!r} has both empty strings and missing values, and in ONNX the empty string is the "
                "missing value: train with one of the two"
            )
        return True
    if all(isinstance(label, Real) for label in known):
        return False
    kinds = ", ".join(sorted({type(label).__name__ for label in known}))
    raise ValueError(
        f"the categories of column {name!r} must be all strings, or all numbers and booleans, to be exported; "
        f"they are of the types {kinds}"
    )


def _codes_of_strings(labels: Sequence[Any]) -> dict[str, int]:
    return {MISSING if label is None else label: code for code, label in enumerate(labels)}


def _keys_of_numbers(labels: Sequence[Any], dtype: str, name: str) -> NDArray[np.floating]:
    """The numbers and booleans as cells hold them, NaN for missing."""
    with np.errstate(over="ignore"):
        keys = np.array([np.nan if label is None else float(label) for label in labels]).astype(dtype)
    seen: dict[float, Any] = {}
    for key, label in zip(keys.tolist(), labels, strict=True):
        if key in seen:
            advice = "use dtype='float64'" if dtype == "float32" else "make them strings before training"
            raise ValueError(f"the categories {seen[key]!r} and {label!r} of column {name!r} are one {dtype}: {advice}")
        seen[key] = label
    return keys


def _grouped(found: Iterable[tuple[str, int, Any, Array]], dtype: str) -> Iterator[Conditions]:
    """Conditions by kind, without those that add nothing."""
    matter = [each for each in found if each[3].any()]
    for operator in ("Greater", "Equal", "IsNaN"):
        some = [each[1:] for each in matter if each[0] == operator]
        if some:
            columns, operands, amounts = zip(*some, strict=True)
            yield Conditions(
                operator, np.array(columns, dtype=np.int64), np.array(operands, dtype=dtype), np.transpose(amounts)
            )

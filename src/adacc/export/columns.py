"""Input columns as ONNX types: numbers of one type, and strings."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins
from adacc.export.graph import ML, Graph

MISSING = ""
"""The string for missing values, as ONNX has no missing strings."""


def text_columns(bin_mapper: BinMapper, names: Sequence[str]) -> NDArray[np.bool_]:
    """Which columns contain strings; raises ValueError for types that ONNX lacks."""
    return np.array(
        [
            isinstance(feature, CategoryBins) and _are_strings(feature.values, name)
            for feature, name in zip(bin_mapper.features, names, strict=True)
        ]
    )


def largest_up_to(values: Array, dtype: str) -> NDArray[np.floating]:
    """The largest number of the type up to each value, so that ``x <= value`` is unchanged."""
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    return np.where(rounded > values, np.nextafter(rounded, -np.inf, dtype=dtype), rounded)


def codes_of_strings(labels: Sequence[Any]) -> dict[str, int]:
    return {MISSING if label is None else label: code for code, label in enumerate(labels)}


def keys_of_numbers(labels: Sequence[Any], dtype: str, name: str) -> NDArray[np.floating]:
    """Categories that are numbers or booleans as cells of the input, NaN for missing."""
    with np.errstate(over="ignore"):
        keys = np.array([np.nan if label is None else float(label) for label in labels]).astype(dtype)
    seen: dict[float, Any] = {}
    for key, label in zip(keys.tolist(), labels, strict=True):
        if key in seen:
            advice = "use dtype='float64'" if dtype == "float32" else "make them strings before training"
            raise ValueError(f"the categories {seen[key]!r} and {label!r} of column {name!r} are one {dtype}: {advice}")
        seen[key] = label
    return keys


def look_up(graph: Graph, column: str, codes: dict[str, int], other: int) -> str:
    """The category index of each string of a column, shape (n_rows, 1)."""
    return graph.node(
        "LabelEncoder",
        column,
        domain=ML,
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=other,
    )


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

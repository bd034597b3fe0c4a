"""Type-preserving JSON encoding of parameters and labels: 1, 1.0, True, "1", NaN, None and NumPy scalars differ.

Values that JSON supports are stored unchanged; others are objects whose key names the type, such as
``{"tuple": [1, 2]}`` or ``{"scalar": 1, "dtype": "<i8"}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.model.serialization.archive import ModelFileError

_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iuf][248]|[<>]U\d{1,7}|\|O")
_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str}

MAX_CHARACTERS = 2**24
"""Maximum number of characters of an array of strings, as a short file can name a dtype of very long strings."""


Known = Mapping[str, type]
"""Classes, by name, whose instances are stored as their parameters."""


def encode(value: Any, what: str, known: Known = MappingProxyType({})) -> Any:
    """Encode a value as JSON; `what` names the value in error messages."""
    kind = type(value)
    if value is None or kind in (bool, str) or (kind is int and _is_small(value)):
        return value
    if kind is float:
        return value if isfinite(value) else {"float": str(value)}
    if kind is list:
        return [encode(item, what, known) for item in value]
    if kind is tuple:
        return {"tuple": [encode(item, what, known) for item in value]}
    if kind is dict:
        return {"dict": [[encode(key, what, known), encode(item, what, known)] for key, item in value.items()]}
    if isinstance(value, np.generic) and _DTYPE.fullmatch(value.dtype.str):
        return {"scalar": encode(value.item(), what), "dtype": value.dtype.str}
    if isinstance(value, np.ndarray) and value.ndim == 1 and _DTYPE.fullmatch(value.dtype.str):
        return {"array": [encode(item, what, known) for item in value.tolist()], "dtype": value.dtype.str}
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.size and _DTYPE.fullmatch(value.dtype.str):
        return {"matrix": [[encode(item, what) for item in row] for row in value.tolist()], "dtype": value.dtype.str}
    if known.get(kind.__name__) is kind:
        return {"splitter": kind.__name__, "parameters": encode(vars(value), what)}
    raise TypeError(
        f"{what} cannot be saved to a model file: {value!r:.80}, of type {kind.__name__}. Allowed are None, booleans, "
        "strings, numbers of up to 64 bits, and lists, tuples, dicts and arrays of these; or use pickle or joblib"
    )


def decode(plain: Any, what: str, known: Known = MappingProxyType({})) -> Any:
    """Decode a value; `what` names the value in error messages."""
    match plain:
        case None | bool() | str():
            return plain
        case int() if _is_small(plain):
            return plain
        case float() if isfinite(plain):
            return plain
        case list():
            return [decode(item, what, known) for item in plain]
        case {"float": "nan" | "inf" | "-inf" as text} if len(plain) == 1:
            return float(text)
        case {"tuple": list(items)} if len(plain) == 1:
            return tuple(decode(item, what, known) for item in items)
        case {"dict": list(pairs)} if len(plain) == 1:
            return dict(_decode_pair(pair, what, known) for pair in pairs)
        case {"scalar": value, "dtype": str(dtype)} if len(plain) == 2:
            return _array([value], dtype, what)[0]
        case {"array": list(values), "dtype": str(dtype)} if len(plain) == 2:
            return _array(values, dtype, what)
        case {"matrix": [list(), *_] as rows, "dtype": str(dtype)} if len(plain) == 2:
            return _matrix(rows, dtype, what)
        case {"splitter": str(name), "parameters": parameters} if len(plain) == 2 and name in known:
            return _instance(known[name], decode(parameters, what), what)
    raise ModelFileError(f"{what} has an invalid value: {plain!r:.80}")


def _instance(cls: type, parameters: Any, what: str) -> Any:
    try:
        return cls(**parameters)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{what} has invalid parameters of {cls.__name__}, {parameters!r:.80}: {error}") from None


def decode_labels(plain: Any, what: str) -> list[Any]:
    """Decode a list of distinct scalars."""
    labels = [decode(value, what) for value in plain] if isinstance(plain, list) else None
    if labels is None or not all(map(_is_label, labels)):
        raise ModelFileError(f"{what} must be a list of strings, numbers, booleans or None, got {plain!r:.80}")
    if len(set(labels)) < len(labels):
        raise ModelFileError(f"{what} must be distinct, got {plain!r:.80}")
    return labels


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _is_small(value: int) -> bool:
    """Whether an integer has at most 64 bits; larger integers could be crafted to have equal hashes."""
    return -(2**63) <= value < 2**64


def _decode_pair(pair: Any, what: str, known: Known) -> tuple[Any, Any]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise ModelFileError(f"{what} has an invalid value: {pair!r:.80}")
    [key] = decode_labels(pair[:1], what)
    return key, decode(pair[1], what, known)


def _matrix(rows: list[Any], dtype: str, what: str) -> NDArray[Any]:
    if not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        raise ModelFileError(f"{what} has rows of different lengths: {rows!r:.80}")
    return np.stack([_array(row, dtype, what) for row in rows])


def _array(values: list[Any], dtype: str, what: str) -> NDArray[Any]:
    """Make an array of a dtype that represents all values exactly."""
    items = [decode(value, what) for value in values]
    invalid = ModelFileError(f"{what} cannot be of dtype {dtype!r:.80}: {values!r:.80}")
    if not _DTYPE.fullmatch(dtype):
        raise invalid
    kind = dtype[1]
    if not all(_is_label(item) if kind == "O" else type(item) is _TYPES[kind] for item in items):
        raise invalid
    if kind == "U" and int(dtype[2:]) * len(items) > MAX_CHARACTERS:
        raise invalid
    if kind in "iu" and not all(np.iinfo(dtype).min <= item <= np.iinfo(dtype).max for item in items):
        raise invalid  # NumPy 1 would wrap around
    array = np.empty(len(items), dtype)
    with np.errstate(over="ignore"):
        array[:] = items
    if array.tolist() != items:
        raise invalid
    return array

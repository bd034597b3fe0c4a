"""Access to the fields of a model file."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError

T = TypeVar("T")


class FieldReader:
    """Reads and removes the fields of a file; each must exist, and `check_nothing_left` reports unknown ones."""

    def __init__(self, document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.document, self.arrays = dict(document), dict(arrays)

    def entry(self, name: str, *kinds: type[T]) -> T:
        """Entry of the document, which must have one of these types."""
        if name not in self.document:
            raise ModelFileError(f"{archive.DOCUMENT} has no {name!r}")
        value = self.document.pop(name)
        if type(value) not in kinds:
            allowed = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFileError(f"{name!r} must be of type {allowed}, got {value!r:.80}")
        return value

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return name in self.arrays

    def array(self, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]:
        """Array with this dtype and shape; None stands for any size."""
        if name not in self.arrays:
            raise ModelFileError(f"there is no {name}.npy")
        array = self.arrays.pop(name)
        if array.dtype != dtype:
            raise ModelFileError(f"{name}.npy must be of dtype {np.dtype(dtype)}, got {array.dtype}")
        fits = [wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=False)]
        if array.ndim != len(shape) or not all(fits):
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            raise ModelFileError(f"{name}.npy must have the shape ({wanted}), got {array.shape}")
        return array

    def finite(self, name: str, *shape: int | None) -> Array:
        """Array of finite floats."""
        array = self.array(name, np.float64, *shape)
        if not np.isfinite(array).all():
            raise ModelFileError(f"{name}.npy must hold finite numbers")
        return array

    def check_nothing_left(self) -> None:
        unknown = [*self.document, *(f"{name}.npy" for name in self.arrays)]
        if unknown:
            raise ModelFileError(f"format {archive.VERSION} has no field {unknown[0]!r:.80}")

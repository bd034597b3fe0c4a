"""Compilation of the common kernels in advance.

``python -m adacc.kernels.warmup CLAIMS GROUP ...`` compiles them from last to first, in the background of a command
that compiles them from first to last. Before a process compiles a kernel, it creates a file with its name in the folder
CLAIMS; the other process then leaves it out.
"""

from __future__ import annotations

import logging
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numba import types

from adacc import kernels
from adacc.kernels.jit import is_cached, logger

Signature = tuple[str, tuple[Any, ...]]
"""Name and argument types of a kernel."""

_int, _float = types.int64, types.float64
_i1, _i2, _f1, _f2 = _int[::1], _int[:, ::1], _float[::1], _float[:, ::1]
_u8, _bins, _rows, _hashes, _bool = (
    types.uint8[::1],
    types.uint8[:, ::1],
    types.uint32[::1],
    types.uint64[::1],
    types.b1[::1],
)
_nodes = types.int32[::1], _rows, types.int32[:, ::1]


def _tree(sizes: Any, random_state: Any) -> tuple[Any, ...]:
    is_packed, free = sizes is types.none, types.none if random_state is _i1 else _i1
    amount, packing = (_int, types.Tuple((_int, _float))) if is_packed else (_float, types.none)
    work = types.Tuple(
        (
            _i2, _f2, _f1, _i1, _i1, _i1, _i1, _f1, types.Tuple((_rows, amount[::1], _f1, _u8)), _i2,
            types.Tuple((_i1, _i1, _i1, amount[:, ::1], _i1, _bool)), _f1, _i1,
        )
    )  # fmt: skip
    return (
        _bins, _i1, _bool, _rows, amount[::1], sizes, packing, _i1, _int, _int, _float, _int, _int,
        _float, _int, random_state, amount[:, :, ::1], free, types.none, work, *_nodes, _u8, _f1, _u8, _f2,
    )  # fmt: skip


_path = types.Tuple((_i1, _i1, _i1, _f1, _i1, _i1))
_explained = types.Tuple((_i1, _bool, _i1, *_nodes, _u8, _f1)), _float[:, :, ::1], _bool  # trees, values, has_missing
_ends = types.Tuple((_i1, _i1, _f1, _u8)), types.Tuple((_i1, _i1, _f1))
_patterns = types.Tuple((_bins, _rows, _i1, _f1, types.uint16[::1], types.int32[::1]))
_shapley_work = types.Tuple((*_ends, _path, _patterns, types.none, types.UniTuple(_f1, 2), _f2))
_shapley = types.UniTuple(_f2, 2), _f2, _shapley_work, _float[:, :, ::1], _f1
_terms = types.Tuple((_i1, _i1, _f1))
_steps = _i1, _i1, _f1, _i1, _f2, _f1, _hashes, _f2
_splits = _f2, _f1, _f1, _i1, _bool, _int, _int, _int, _float, _f2, _f1, _i1

_gradients = (
    _bins, _i1, _bool, _int, _f1, _f1, _float, _float, _float, _float, _int, _int, _i1,
    types.Tuple((_f1, _f1, _i1, _i1, _i2, _i1, types.UniTuple(_i1, 4), _i1, _i1, _f1, types.UniTuple(_f1, 2))), _i1,
    types.int32[:, ::1], types.uint32[:, ::1], types.int32[:, :, ::1], _f2, _f2, _f2, _f2,
)  # fmt: skip

_packed = (_bins, _i1, _i1, _i1, _hashes, _i1, _i1, _f2, _i1, _i2, _i1, _f2)
_packed_work = _bins, types.uint8[::1], _bool, _f2

GROUPS: dict[str, list[Signature]] = {
    "stumps": [  # on numbers, two classes, in the order of their use
        ("take_columns", (_f2, _rows, _int, _f2)),
        ("group_values", (_f1, _float, _float, types.uint16[::1], _i1, _f1)),
        ("fill_bins", (_f1, _f1, _i1, _int, _f1)),
        ("bin_on_grid", (_f1, _f1, _hashes, _float, _f1, _hashes, _u8)),
        ("add_rows", (_bins, _i1, _rows, _f1, _i1, _i1, _f2)),
        ("best_splits_two", _splits),
        ("choose_split", (_f1, _i1, _f2, _f1, _i1, _bool, _int, _float, _f2, _i1, _u8, _f2)),
        ("add_votes", (_u8, _u8, types.UniTuple(_float, 2), _f1, _i1, _float, _u8, _f1, _i2, _f1)),
        ("reweigh", (_u8, _i2, _f2, _i1, _f2, _f1, _f1, _f1, _f1, _f1, _bool, _rows, _f1, _i1)),
        ("add_steps", (_f2, *_steps)),
    ],
    "frames": [  # integers, equal rows, few values
        ("whole_range", (_f1,)),
        ("count_integers", (_f1, _f1, _float, _f2, _i1, _f1, _f1)),
        ("bin_integers", (_f1, _f1, _float, _int, _u8)),
        ("bin_by_search", (_f1, _f1, _int, _hashes, _u8)),
        ("hash_rows", (_bins, _i1, _hashes, _hashes)),
        ("find_first", (_hashes, _rows, _rows)),
        ("all_same", (_u8, _i1, _rows)),
        ("add_steps", (_float[::1, :], *_steps)),
    ],
    "sparse": [
        ("add_entries", (_i1, _rows, _rows, _f1, _i1, _i1, _f2)),
        ("fill_defaults", (_f1, _f1, _i1, _i1, _i1, _f2)),
        ("hash_entries", (_rows, _u8, _int, _hashes, _hashes)),
    ],
    "samplers": [("weigh_pairs", (_u8, _u8, _f1, _f1, _i1, _f2))],
    "trees": [
        ("grow_tree", _tree(types.none, _i1)),
        ("boost_gradients", _gradients),
        ("add_packed_leaves", (*_packed, types.none, *_packed_work)),
        ("bin_rows", (_f2, _i1, _f1, _i1, _i1, _bins)),
    ],
    "explanations": [  # of trees for two classes, in a report
        ("add_shapley_values", (_bins, types.none, *_explained, *_shapley)),
        ("add_main_effects", (*_explained, _f1, types.Tuple((*_ends, _path, _f1, _terms, _terms)), _f1, _f2, _f2)),
    ],
    "missing": [  # trees for rows with missing values
        ("add_packed_leaves", (*_packed, types.uint8, *_packed_work)),
    ],
    "classes": [  # three or more
        ("best_splits", _splits),
        ("add_votes_each", (_u8, _u8, _f1, _f1, _i1, _float, _u8, _f2, _i2, _f1)),
        ("grow_tree", _tree(_f1, _i1)),
        ("find_leaves", (_bins, _i1, _bool, *_nodes, _rows)),
    ],
}
"""The common kernels."""


LONGEST = "grow_tree"
"""The kernel that takes the longest to compile."""


def signatures(*groups: str) -> list[Signature]:
    """The kernels of some groups, of all if none is named."""
    return [signature for group in groups or GROUPS for signature in GROUPS[group]]


def missing(wanted: Sequence[Signature]) -> list[str]:
    """Names of the kernels that are not cached."""
    found = {name: getattr(kernels, name) for name, _ in wanted}
    return [name for name, each in found.items() if hasattr(each, "signatures") and not is_cached(each)]


def compile_kernels(wanted: Sequence[Signature], claims: Path | None = None) -> Iterator[str]:
    """Compile kernels or read them from the cache; yields the name of each when it is ready, or left to the other."""
    for name, argument_types in wanted:
        dispatcher = getattr(kernels, name)
        claim = f"{name}-{zlib.crc32(repr(argument_types).encode())}"  # a kernel may be wanted for several types
        if hasattr(dispatcher, "compile") and (claims is None or _claim(claims / claim)):  # else the JIT is disabled
            dispatcher.compile(argument_types)
        yield name


def _claim(file: Path) -> bool:
    """Create a file; returns whether this process has created it."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


if __name__ == "__main__":
    logger.setLevel(logging.ERROR)
    backwards = signatures(*sys.argv[2:])[::-1]
    backwards.sort(key=lambda signature: signature[0] != LONGEST)  # nothing is left to do beside it at the end
    for _ in compile_kernels(backwards, Path(sys.argv[1])):
        pass

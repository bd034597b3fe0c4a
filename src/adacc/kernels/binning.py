"""Values to bins, step functions, and hashes of binned rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adacc.kernels.jit import inner_kernel, kernel
from adacc.kernels.thresholds import BLOCK

ROWS_PER_COPY = 16
"""Number of rows that columns are copied from in one step: few enough that the address translations of their pages stay
cached."""


@kernel
def take_columns(X, rows, first, out):
    """``out[c, i] = X[rows[i], first + c]``: copy ``len(out)`` columns of a row-major matrix."""
    for begin in range(0, len(rows), ROWS_PER_COPY):
        some = rows[begin : begin + ROWS_PER_COPY]
        for c in range(len(out)):
            column, values = np.uint64(first + c), out[c, begin : begin + ROWS_PER_COPY]
            for i in range(len(some)):
                values[i] = X[some[i], column]


@kernel
def bin_integers(values, thresholds, least, n_integers, out):
    """``out[i]`` = number of thresholds below ``values[i]``; NaN gets the bin after the last one.

    For integers: the bins of all integers from `least` on are in a table.
    """
    table, bin_, missing = np.empty(n_integers, dtype=out.dtype), 0, len(thresholds) + 1
    for number in range(n_integers):
        while bin_ < len(thresholds) and least + number > thresholds[bin_]:
            bin_ += 1
        table[number] = bin_
    for i in range(len(values)):
        out[i] = table[np.uint64(values[i] - least)] if values[i] == values[i] else missing


@kernel
def bin_on_grid(values, thresholds, below, half, padded, bins, out):
    """`bin_integers` for any values, by the cells of an equidistant grid.

    The cell of a value determines the number of thresholds below it, except for thresholds in the same cell. These are
    found by binary search, with as many steps as the fullest cell needs: usually one. `below` has a zero for each cell,
    `half` is half the distance of the last threshold from the first, and `padded` has room for twice the thresholds.
    `bins` is a workspace for `BLOCK` values.
    """
    first, last = thresholds[0], thresholds[-1]
    per_unit = (len(below) - 1) / half / 2
    size = _count_in_cells(thresholds, per_unit, below)
    for j in range(len(padded)):
        padded[j] = thresholds[j] if j < len(thresholds) else np.inf
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        for i in range(len(block)):
            value = block[i] if block[i] > first else first
            value = value if value < last else last
            bins[i] = np.uint64((value - first) * per_unit)
        for i in range(len(block)):
            bins[i] = below[bins[i]]
        step = size
        while step > np.uint64(0):
            _halve(block, padded, step, bins)
            step >>= np.uint64(1)
        _put(block, bins, len(thresholds) + 1, out[begin : begin + BLOCK])


@kernel(inline="always")
def _count_in_cells(thresholds, per_unit, below):
    """``below[c]`` = number of thresholds before cell c; returns the largest power of two up to the fullest cell."""
    for j in range(len(thresholds)):
        below[np.uint64((thresholds[j] - thresholds[0]) * per_unit)] += np.uint64(1)
    n_below, fullest, size = np.uint64(0), np.uint64(0), np.uint64(1)
    for cell in range(len(below)):
        n_inside = below[cell]
        below[cell] = n_below
        n_below += n_inside
        fullest = n_inside if n_inside > fullest else fullest
    while size + size <= fullest:
        size += size
    return size


@kernel
def bin_by_search(values, padded, n_thresholds, bins, out):
    """`bin_integers` for any values, by binary search in thresholds padded by `pad`; `bins` is a workspace for `BLOCK`
    values.
    """
    n_blocks = n_thresholds // (len(padded) // 16)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        _count_below(block, padded, n_blocks, bins)
        _put(block, bins, n_thresholds + 1, out[begin : begin + BLOCK])


@kernel
def bin_rows(values, positions, thresholds, starts, columns, out):
    """Bins of a few rows: ``values[i, positions[j]]`` is a value of the feature ``columns[j]``, whose thresholds are
    those from ``starts[j]`` to ``starts[j + 1]``.
    """
    for j in range(len(columns)):
        for i in range(len(values)):
            value, low, high = values[i, positions[j]], starts[j], starts[j + 1]
            while low < high:
                middle = (low + high) // 2
                if thresholds[middle] < value:
                    low = middle + 1
                else:
                    high = middle
            out[columns[j], i] = low - starts[j] if value == value else starts[j + 1] - starts[j] + 1


@kernel(inline="always")
def _put(values, bins, missing, out):
    """Store the bins, with `missing` for NaN."""
    for i in range(len(values)):
        out[i] = bins[i] if values[i] == values[i] else np.uint64(missing)


def pad(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The thresholds in 16 blocks whose size is a power of two, padded with infinity, for `_count_below`.

    The size is 1 or at least 16, for which `_count_below` is fastest.
    """
    size = 1 if len(thresholds) < 16 else 16
    while 16 * size <= len(thresholds):
        size *= 2
    padded = np.full(16 * size, np.inf)
    padded[: len(thresholds)] = thresholds
    return padded


@inner_kernel
def _count_below(values, padded, n_blocks, counts):
    """Number of thresholds below each value of a block.

    The last thresholds of the blocks are compared one by one, then follows a binary search within a block. Each step
    does the same for all values, without a branch, and vectorises.
    """
    size = np.uint64(len(padded) // 16)
    if size == np.uint64(16):  # the default of 255 bins: constants make it twice as fast
        _count_ends(values, padded, np.uint64(16), np.int64(15), counts)
        _halve(values, padded, np.uint64(8), counts)
        _halve(values, padded, np.uint64(4), counts)
        _halve(values, padded, np.uint64(2), counts)
        _halve(values, padded, np.uint64(1), counts)
    else:
        _count_ends(values, padded, size, n_blocks, counts)
        while size > np.uint64(1):
            size = size >> np.uint64(1)
            _halve(values, padded, size, counts)


@inner_kernel
def _count_ends(values, padded, size, n_blocks, counts):
    """Count the thresholds of all blocks whose last threshold is below the value."""
    for i in range(len(values)):
        counts[i] = np.uint64(0)
    for b in range(n_blocks):
        last = padded[size * np.uint64(b) + size - np.uint64(1)]
        for i in range(len(values)):
            counts[i] += size if values[i] > last else np.uint64(0)


@inner_kernel
def _halve(values, padded, size, counts):
    """One step of a binary search."""
    ends = padded[size - np.uint64(1) :]
    for i in range(len(values)):
        counts[i] += size if values[i] > ends[counts[i]] else np.uint64(0)


@kernel
def add_steps(X, columns, starts, padded, padded_starts, values, block, bins, scores):
    """Add the step function of each column to the scores.

    `padded` are the thresholds of all columns, each padded by `pad`. Rows are processed in blocks that stay in the
    cache; `block` and `bins` are workspaces for `BLOCK` values.
    """
    n_rows, n_outputs = scores.shape
    for top in range(0, n_rows, 4 * BLOCK):
        bottom = top + 4 * BLOCK if top + 4 * BLOCK < n_rows else n_rows
        for u in range(len(columns)):
            ends = padded[padded_starts[u] : padded_starts[u + 1]]
            steps = values[starts[u] + 2 * u : starts[u + 1] + 2 * u + 2]
            missing = np.uint64(len(steps) - 1)
            n_blocks = (len(steps) - 2) // (len(ends) // 16)
            for begin in range(top, bottom, BLOCK):
                size = BLOCK if begin + BLOCK < bottom else bottom - begin
                for i in range(size):
                    block[i] = X[begin + i, columns[u]]
                _count_below(block[:size], ends, n_blocks, bins)
                for i in range(size):
                    step = bins[i] if block[i] == block[i] else missing
                    for c in range(n_outputs):
                        scores[begin + i, c] += steps[step, c]


@kernel
def hash_rows(bins, offsets, keys, hashes):
    """Combine the keys of all bins of each row: equal rows get equal hashes, others almost never [Zobrist 1970]."""
    for begin in range(0, len(hashes), BLOCK):
        block = hashes[begin : begin + BLOCK]
        for f in range(len(bins)):
            column, column_keys = bins[f, begin : begin + BLOCK], keys[offsets[f] :]
            for i in range(len(block)):
                block[i] ^= column_keys[column[i]]


@kernel
def hash_entries(rows, bins, default, keys, hashes):
    """`hash_rows` for the entries of a sparse column, that is, the rows whose bin is not `default`."""
    for j in range(len(rows)):
        hashes[rows[j]] ^= keys[bins[j]] ^ keys[default]


@kernel
def find_first(hashes, table, first):
    """``first[i]`` = the first row with the hash of row i; returns the number of distinct hashes.

    `table` is an open-addressing hash table whose size is a power of two larger than the number of rows. Free slots
    contain the number of rows.
    """
    n_rows, mask, n_distinct = len(hashes), np.uint64(len(table) - 1), 0
    for i in range(n_rows):
        hash_ = hashes[i]
        slot = hash_ & mask
        while table[slot] < n_rows and hashes[table[slot]] != hash_:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == n_rows:
            table[slot] = i
            n_distinct += 1
        first[i] = table[slot]
    return n_distinct


@kernel
def all_same(bins, some, others):
    """Whether the rows `some` have the same bins as the rows `others`, pair by pair."""
    n_different = 0
    for i in range(len(some)):
        n_different += 1 if bins[some[i]] != bins[others[i]] else 0
    return n_different == 0

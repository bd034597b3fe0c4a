"""Values to codes, and to step functions."""

from __future__ import annotations

import numpy as np

from adacc.kernels.jit import kernel
from adacc.kernels.thresholds import BLOCK

AT_A_TIME = 16
"""Rows that columns are taken from: so few that the processor knows the pages that these are on."""

MANY = 8
"""Thresholds, that a grid is faster than counting those below."""

CELLS = 8
"""Of a grid, for each threshold: unless values are skewed, most have none then, and the others one."""


@kernel
def take_columns(X, rows, first, out):
    """``out[c, i] = X[rows[i], first + c]``: as many columns of a row-major matrix as `out` has rows."""
    for begin in range(0, len(rows), AT_A_TIME):
        some = rows[begin : begin + AT_A_TIME]
        for c in range(len(out)):
            column, values = np.uint64(first + c), out[c, begin : begin + AT_A_TIME]
            for i in range(len(some)):
                values[i] = X[some[i], column]


@kernel
def code_values(values, thresholds, least, distance, out):
    """``out[i]`` = number of thresholds below ``values[i]``; NaN gets the code after the last bin.

    `least` and `distance` are the `whole_range` of the values.
    """
    missing = len(thresholds) + 1
    half = thresholds[-1] / 2 - thresholds[0] / 2 if len(thresholds) >= MANY else 0.0
    if distance >= 0.0:
        _code_wholes(values, thresholds, least, int(distance) + 1, missing, out)
    elif len(thresholds) <= len(values) and 1e-290 < half < 1e290:  # so that no distance leaves the range of floats
        _code_on_grid(values, thresholds, min(CELLS * len(thresholds), len(values)), half, missing, out)
    else:
        padded, n_blocks = _pad(thresholds)
        codes = np.empty(BLOCK, dtype=np.uint64)
        for begin in range(0, len(values), BLOCK):
            block = values[begin : begin + BLOCK]
            _count_below(block, padded, n_blocks, codes)
            _put(block, codes, missing, out[begin : begin + BLOCK])


@kernel
def _code_wholes(values, thresholds, least, n_numbers, missing, out):
    """By a table of the codes of all whole numbers from `least` on."""
    table, code = np.empty(n_numbers, dtype=out.dtype), 0
    for number in range(n_numbers):
        while code < len(thresholds) and least + number > thresholds[code]:
            code += 1
        table[number] = code
    for i in range(len(values)):
        out[i] = table[np.uint64(values[i] - least)] if values[i] == values[i] else missing


@kernel
def _put(values, codes, missing, out):
    for i in range(len(values)):
        out[i] = codes[i] if values[i] == values[i] else np.uint64(missing)


@kernel
def _code_on_grid(values, thresholds, n_cells, half, missing, out):
    """The cell of an even grid that a value is in tells of all thresholds but those in the same cell.

    Among these the place is found by halving, which takes as many steps as the fullest cell needs: mostly one.
    """
    first, last = thresholds[0], thresholds[-1]
    per_unit = (n_cells - 1) / half / 2
    below, fullest = np.zeros(n_cells, dtype=np.uint64), np.uint64(0)
    for threshold in thresholds:
        below[np.uint64((threshold - first) * per_unit)] += np.uint64(1)
    n_below = np.uint64(0)
    for cell in range(n_cells):
        n_inside = below[cell]
        below[cell] = n_below
        n_below += n_inside
        fullest = max(fullest, n_inside)
    largest = np.uint64(1)
    while largest + largest <= fullest:
        largest += largest
    padded = np.empty(len(thresholds) + int(largest))
    for j in range(len(padded)):
        padded[j] = thresholds[j] if j < len(thresholds) else np.inf
    codes = np.empty(BLOCK, dtype=np.uint64)
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        for i in range(len(block)):
            value = block[i] if block[i] > first else first
            value = value if value < last else last
            codes[i] = np.uint64((value - first) * per_unit)
        for i in range(len(block)):
            codes[i] = below[codes[i]]
        size = largest
        while size > np.uint64(0):
            _halve(block, padded, size, codes)
            size >>= np.uint64(1)
        _put(block, codes, missing, out[begin : begin + BLOCK])


@kernel
def _pad(thresholds):
    """The thresholds in 16 blocks of a power of two, filled up with infinity, and how many blocks are full.

    Blocks of 1 or at least 16, which `_count_below` is fastest with.
    """
    size = 1 if len(thresholds) < 16 else 16
    while 16 * size <= len(thresholds):
        size *= 2
    padded = np.empty(16 * size)
    for j in range(len(padded)):
        padded[j] = thresholds[j] if j < len(thresholds) else np.inf
    return padded, len(thresholds) // size


@kernel
def _count_below(values, padded, n_blocks, counts):
    """How many thresholds lie below each of a few values.

    The ends of the blocks are counted one after the other, then the block is halved until one threshold is left: each
    step does the same for all values, without a branch, and vectorises.
    """
    size = np.uint64(len(padded) // 16)
    if size == np.uint64(16):  # the usual 255 bins: with numbers that the compiler knows it is twice as fast
        _count_ends(values, padded, np.uint64(16), 15, counts)
        _halve(values, padded, np.uint64(8), counts)
        _halve(values, padded, np.uint64(4), counts)
        _halve(values, padded, np.uint64(2), counts)
        _halve(values, padded, np.uint64(1), counts)
    else:
        _count_ends(values, padded, size, n_blocks, counts)
        while size > np.uint64(1):
            size = size >> np.uint64(1)
            _halve(values, padded, size, counts)


@kernel
def _count_ends(values, padded, size, n_blocks, counts):
    for i in range(len(values)):
        counts[i] = np.uint64(0)
    for b in range(n_blocks):
        last = padded[size * np.uint64(b) + size - np.uint64(1)]
        for i in range(len(values)):
            counts[i] += size if values[i] > last else np.uint64(0)


@kernel
def _halve(values, padded, size, counts):
    ends = padded[size - np.uint64(1) :]
    for i in range(len(values)):
        counts[i] += size if values[i] > ends[counts[i]] else np.uint64(0)


@kernel
def commonest(codes, step, counts):
    """The commonest of every so many codes and its share; `counts` receives how many there are of each."""
    most, n_seen = 0, 0
    for i in range(0, len(codes), step):
        counts[codes[i]] += 1
        n_seen += 1
    for code in range(len(counts)):
        most = code if counts[code] > counts[most] else most
    return most, counts[most] / max(1, n_seen)


@kernel
def add_steps(X, columns, starts, thresholds, values, scores):
    """Add each column's step function to the scores.

    So many rows at a time that all their columns stay in the cache.
    """
    n_rows, n_outputs = scores.shape
    block, codes = np.empty(BLOCK), np.empty(BLOCK, dtype=np.uint64)
    for top in range(0, n_rows, 4 * BLOCK):
        bottom = min(top + 4 * BLOCK, n_rows)
        for u in range(len(columns)):
            padded, n_blocks = _pad(thresholds[starts[u] : starts[u + 1]])
            steps = values[starts[u] + 2 * u : starts[u + 1] + 2 * u + 2]
            missing = np.uint64(len(steps) - 1)
            for begin in range(top, bottom, BLOCK):
                size = min(BLOCK, bottom - begin)
                for i in range(size):
                    block[i] = X[begin + i, columns[u]]
                _count_below(block[:size], padded, n_blocks, codes)
                for i in range(size):
                    code = codes[i] if block[i] == block[i] else missing
                    for c in range(n_outputs):
                        scores[begin + i, c] += steps[code, c]


@kernel
def hash_rows(codes, offsets, keys, hashes):
    """Combine the keys of all codes of each row: equal rows get equal hashes, others hardly ever [Zobrist 1970]."""
    for begin in range(0, len(hashes), BLOCK):
        some = hashes[begin : begin + BLOCK]
        for f in range(len(codes)):
            column, own = codes[f, begin : begin + BLOCK], keys[offsets[f] :]
            for i in range(len(some)):
                some[i] ^= own[column[i]]


@kernel
def hash_entries(rows, codes, default, keys, hashes):
    """As `hash_rows`, for a sparse column: of the rows that have not its commonest code, which is `default`."""
    for j in range(len(rows)):
        hashes[rows[j]] ^= keys[codes[j]] ^ keys[default]


@kernel
def find_first(hashes, table, first):
    """``first[i]`` = the first row that has the hash of row i; the number of different hashes.

    `table` has a power of two of places, at least one more than rows, each with the number of rows in it: free.
    """
    n_rows, mask, n_different = len(hashes), np.uint64(len(table) - 1), 0
    for i in range(n_rows):
        own = hashes[i]
        place = own & mask
        while table[place] < n_rows and hashes[table[place]] != own:
            place = (place + np.uint64(1)) & mask
        if table[place] == n_rows:
            table[place] = i
            n_different += 1
        first[i] = table[place]
    return n_different


@kernel
def all_same(codes, some, others):
    """Whether some rows have the same codes as others, one by one."""
    n_different = 0
    for i in range(len(some)):
        n_different += 1 if codes[some[i]] != codes[others[i]] else 0
    return n_different == 0

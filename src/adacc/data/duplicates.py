"""Equal rows: whether they are copies of each other, or coincide because columns have few distinct values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adacc.data.columns import Table

Hashes = NDArray[np.uint64]

MIN_COPIES, MIN_SHARE = 5, 0.01
"""Least number and least share of the rows of a class that repeat another row of the class, to look for copies."""

EXCESS = 10.0
"""Rows are copies if they coincide this many times as often as by chance."""

EXCESS_OVER_CLASSES = 5.0
"""Rows are copies if, relative to chance, they coincide this many times as often as in the other classes.

It is smaller than `EXCESS`, as the estimates of chance for the classes of one table have about the same bias.
"""

SAMPLE_OF_CLASS = 30_000
"""Maximum number of rows of a class on which chance is estimated."""

MAX_BLOCKS, N_PARTITIONS = 32, 3
"""Maximum number of blocks of columns that are left out, and number of random partitions of the blocks in quarters."""

MAX_SETS_PAIRED = 8
"""Number of sets of columns with most near-coincidences, of which all pairs give an estimate of chance."""

MIN_TRIPLES, EXCESS_OF_TRIPLES = 10.0, 2.0
"""Rows are copies if this many triples of equal rows are expected, and besides this many times as many as there are."""

N_MOST_FREQUENT = 5
"""Number of distinct rows of a class, the most frequent ones, whose pairs are not evidence for copies."""

MIN_GROUPS = 5
"""A class with copies must have this many distinct rows, so that folds can hold some of them out."""


class Copies(NamedTuple):
    """Groups of equal rows.

    Attributes
    ----------
    groups : ndarray of shape (n_rows,)
        Number of the distinct row, in the order of first occurrence.
    n_copies : ndarray of shape (n_classes,)
        Number of rows of each class that repeat an earlier row of the class.
    n_rows : ndarray of shape (n_classes,)
        Number of rows of each class.
    """

    groups: NDArray[np.intp]
    n_copies: NDArray[np.intp]
    n_rows: NDArray[np.intp]


def find_copies(table: Table, y: NDArray[np.intp], n_classes: int) -> Copies | None:
    """Groups of equal rows if there is evidence that rows were copied; None if they may coincide by chance.

    Rows are equal if all columns are, missing values included. The label is not compared: equal rows form one group
    whatever their classes, since a group by class would train a model against its held-out rows.

    A class is examined if at least 5 and 1 % of its rows repeat another of its rows. E is its number of pairs of equal
    rows, without those of its five most frequent rows: one row that occurs very often, such as one of zeros, is no
    evidence. The number of pairs that chance explains follows from near-coincidences. For two sets of columns, let
    U1 and U2 be the numbers of pairs of rows of the class that differ in the first or in the second set only, and V
    the number of those that differ in both sets only. If the two sets were independent, given all other columns,
    U1 · U2 / V pairs would be equal; if they depend on each other, more are. Copies of rows with continuous columns
    have no near-coincidences. The sets are the single columns (of more than 32 columns, 32 blocks of them), and the
    quarters of three random partitions, for columns that change together, such as those of a one-hot encoding; all
    pairs of the eight sets with the largest U are tried. A further lower bound follows from equal rows of different
    classes, which are no copies: D such pairs imply D · (pairs within the class) / (pairs across classes) equal pairs
    within the class if labels are independent of the columns. C is the largest of these estimates.

    Rows are copies if, in some class,

    - rows occur too regularly: a row that occurs with the same chance in every draw has a number of occurrences with a
      Poisson distribution, so that the numbers of pairs and triples of equal rows and of rows, N2, N3 and N, have
      N3 >= 2 · N2² / (3 · N) on average. Copies made once have pairs without triples: 2 · N2² / (3 · N) >= 10 + 2 · N3;
    - E >= 10 · C + 5: rows coincide far more often than by chance; or
    - E / (C + 1) · C' >= 5 · (E' + 5), where E' and C' are the sums of the other classes, with the pairs of their most
      frequent rows: they coincide far more often, relative to chance, than in the other classes, as after
      over-sampling.

    Otherwise, and in tables of one column, equal rows are left ungrouped: new rows will coincide with training rows,
    too. They are also left ungrouped if a class with copies has fewer than five distinct rows, since folds could then
    not hold out every class. The decision depends neither on the order of the rows nor on that of the columns, except
    that of more than 30,000 rows of a class a random sample is examined. A column that is unique to every row, such as
    a number that was given after copying, hides all copies.
    """
    members = _members(y, n_classes)
    if table.n_columns == 1:
        return None
    hashes = _hash_rows(table, members)
    if hashes is None:
        return None
    counts = [_run_lengths(hashes[rows]) for rows in members]
    if any(len(each) < MIN_GROUPS and each.max() > 1 for each in counts):
        return None
    examined = _may_be_copied(_count_copies(hashes, members), members)
    too_regular = np.array([_occur_too_regularly(each) for each in counts])
    if not (examined & (too_regular | _coincidences(table, members).show_copies())).any():
        return None
    return _group(table, hashes, members)


def find_duplicates(table: Table, y: NDArray[np.intp], n_classes: int, duplicates: str) -> Copies | None:
    """The equal rows that splits keep together: copies ("auto"), all ("together") or none ("apart")."""
    if duplicates == "apart":
        return None
    return (find_copies if duplicates == "auto" else group_duplicates)(table, y, n_classes)


def group_duplicates(table: Table, y: NDArray[np.intp], n_classes: int) -> Copies | None:
    """Groups of equal rows, whether they are copies or coincide by chance; None if there are none."""
    members = _members(y, n_classes)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for column in _hash_columns(table, range(table.n_columns), table.every_row):
        hashes += column
    return _group(table, hashes, members) if len(np.unique(hashes)) < table.n_rows else None


def _occur_too_regularly(counts: NDArray[np.intp]) -> bool:
    """Whether rows occur twice, but not three times, more often than is possible in a random sample.

    The number of times that each distinct row occurs has a Poisson distribution with its own mean. For the sums of
    the factorial powers, S_j, of these numbers, the Cauchy-Schwarz inequality gives S_2² <= S_1 · S_3 on average.
    """
    numbers = counts.astype(np.float64)
    pairs = numbers * (numbers - 1.0)
    triples, expected = (pairs * (numbers - 2.0)).sum() / 6.0, pairs.sum() ** 2 / numbers.sum() / 6.0
    return bool(expected >= MIN_TRIPLES + EXCESS_OF_TRIPLES * triples)


def _members(y: NDArray[np.intp], n_classes: int) -> list[NDArray[np.intp]]:
    """The rows of each class."""
    order = np.argsort(y, kind="stable")
    return np.split(order, np.cumsum(np.bincount(y, minlength=n_classes))[:-1])


def _hash_rows(table: Table, members: Sequence[NDArray[np.intp]]) -> Hashes | None:
    """A hash of each row; None if the first columns show already that too few rows are equal."""
    hashes, begin = np.zeros(table.n_rows, dtype=np.uint64), 0
    while begin < table.n_columns:
        end = min(max(2 * begin, 2), table.n_columns)
        for column in _hash_columns(table, range(begin, end), table.every_row):
            hashes += column
        if not _may_be_copied(_count_copies(hashes, members), members).any():
            return None
        begin = end
    return hashes


def _hash_columns(table: Table, wanted: Iterable[int], rows: NDArray[np.uint32]) -> Iterator[Hashes]:
    """Hashes of the values of each column, different for different values of a column; columns have different keys."""
    wanted, categorical = list(wanted), table.categorical
    for j, values in table.numbers([j for j in wanted if not categorical[j]], rows):
        values = values + 0.0  # a copy, in which -0.0 is 0.0
        values[np.isnan(values)] = np.nan
        yield _mix(values.view(np.uint64), j)
    for j in wanted:
        if categorical[j]:
            numbers, labels = table.numbered(j)
            position = {label: i for i, label in enumerate(labels)}
            yield _mix(np.array([position[label] for label in labels], dtype=np.uint64)[numbers[rows]], j)


def _mix(values: Hashes, key: int) -> Hashes:
    """The bijection of SplitMix64 [Steele et al. 2014] of the values, shifted by the key."""
    mixed: Hashes = values + np.uint64((key + 1) * 0x9E3779B97F4A7C15 % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _count_copies(hashes: Hashes, members: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Number of rows of each class that are equal to an earlier row of the class."""
    return np.array([len(rows) - len(_run_lengths(hashes[rows])) for rows in members])


def _may_be_copied(n_copies: NDArray[np.intp], members: Sequence[NDArray[np.intp]]) -> NDArray[np.bool_]:
    n_rows = np.array([len(rows) for rows in members])
    return n_copies >= np.maximum(MIN_COPIES, MIN_SHARE * n_rows)


def _run_lengths(hashes: Hashes) -> NDArray[np.intp]:
    """Number of rows with each hash."""
    if len(hashes) == 0:
        return np.empty(0, dtype=np.intp)
    ordered = np.sort(hashes)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return np.diff(np.append(starts, len(ordered)))


def _n_pairs(hashes: Hashes) -> int:
    """Number of pairs of rows with the same hash."""
    counts = _run_lengths(hashes)
    return int((counts * (counts - 1) // 2).sum())


class Coincidences(NamedTuple):
    """Pairs of equal rows within each class.

    Attributes
    ----------
    equal : ndarray of shape (n_classes,)
        Number of pairs of equal rows.
    rarer : ndarray of shape (n_classes,)
        Number of pairs without those of the most frequent rows.
    chance : ndarray of shape (n_classes,)
        Number of pairs that chance explains.
    """

    equal: NDArray[np.float64]
    rarer: NDArray[np.float64]
    chance: NDArray[np.float64]

    def show_copies(self) -> NDArray[np.bool_]:
        """The rule of `find_copies`, by class."""
        others_equal, others_chance = self.equal.sum() - self.equal, self.chance.sum() - self.chance
        beyond_chance = self.rarer >= EXCESS * self.chance + MIN_COPIES
        expected = self.rarer / (self.chance + 1.0) * others_chance
        return beyond_chance | (expected >= EXCESS_OVER_CLASSES * (others_equal + MIN_COPIES))


def _coincidences(table: Table, members: Sequence[NDArray[np.intp]]) -> Coincidences:
    rng = np.random.default_rng(0)
    sampled = [
        rows if len(rows) <= SAMPLE_OF_CLASS else rng.choice(rows, SAMPLE_OF_CLASS, replace=False) for rows in members
    ]
    ends = np.cumsum([len(rows) for rows in sampled])
    slices = [slice(end - len(rows), end) for end, rows in zip(ends, sampled, strict=True)]
    blocks = _hash_blocks(table, np.concatenate(sampled).astype(np.uint32))
    hashes: Hashes = blocks.sum(axis=0, dtype=np.uint64)
    equal = np.array([_n_pairs(hashes[of_class]) for of_class in slices], dtype=np.float64)
    frequent = np.array([_n_pairs_of_most_frequent(hashes[of_class]) for of_class in slices])
    n_rows = np.array([len(rows) for rows in sampled], dtype=np.float64)
    across = (n_rows.sum() ** 2 - (n_rows**2).sum()) / 2.0
    by_labels = n_rows * (n_rows - 1.0) / 2.0 * ((_n_pairs(hashes) - equal.sum()) / across)
    by_columns = [_chance(blocks[:, of_class], equal[k]) for k, of_class in enumerate(slices)]
    return Coincidences(equal, equal - frequent, np.maximum(by_labels, by_columns))


def _n_pairs_of_most_frequent(hashes: Hashes) -> int:
    counts = np.sort(_run_lengths(hashes))[-N_MOST_FREQUENT:]
    return int((counts * (counts - 1) // 2).sum())


def _chance(blocks: Hashes, n_equal: float) -> float:
    """The largest estimate, from two sets of columns, of the number of pairs of equal rows that chance explains."""
    hashes: Hashes = blocks.sum(axis=0, dtype=np.uint64)
    weight_of_pair = (len(hashes) / len(_run_lengths(hashes))) ** 2  # if rows are copied, so are near-coincidences
    sets = _sets_of_columns(len(blocks))
    inside = [blocks[sorted(each)].sum(axis=0, dtype=np.uint64) for each in sets]
    near = np.array([_n_pairs(hashes - each) - n_equal for each in inside])
    most = [i for i in np.argsort(-near, kind="stable")[:MAX_SETS_PAIRED].tolist() if near[i] > 0.0]
    largest = 0.0
    for first, second in combinations(most, 2):
        if not sets[first] & sets[second]:
            n_outside = _n_pairs(hashes - inside[first] - inside[second])
            differing_in_both = n_outside - n_equal - near[first] - near[second]
            largest = max(largest, near[first] * near[second] / (differing_in_both + weight_of_pair))
    return largest


def _hash_blocks(table: Table, rows: NDArray[np.uint32]) -> Hashes:
    """The sum of the hashes of the columns in each block, by block and row.

    A block is one column, unless there are too many. The order of the columns changes neither the blocks nor their
    order, which follow from the numbers of rows with each value.
    """
    n_blocks = min(table.n_columns, MAX_BLOCKS)
    blocks, signatures = np.zeros((n_blocks, len(rows)), dtype=np.uint64), []
    for at, column in enumerate(_hash_columns(table, range(table.n_columns), rows)):
        counts = np.sort(_run_lengths(column)).astype(np.uint64)
        signatures.append(_mix(counts + _mix(np.arange(len(counts), dtype=np.uint64), 0), 1).sum(dtype=np.uint64))
        blocks[at if table.n_columns <= MAX_BLOCKS else int(signatures[-1]) % n_blocks] += column
    return blocks[np.argsort(signatures)] if table.n_columns <= MAX_BLOCKS else blocks


def _sets_of_columns(n_blocks: int) -> list[set[int]]:
    """The blocks, and the quarters of random partitions of the blocks."""
    sets = [{block} for block in range(n_blocks)]
    rng = np.random.default_rng(0)
    for _ in range(N_PARTITIONS if n_blocks >= 8 else 0):
        sets += [set(quarter.tolist()) for quarter in np.array_split(rng.permutation(n_blocks), 4)]
    return sets


def _group(table: Table, hashes: Hashes, members: Sequence[NDArray[np.intp]]) -> Copies:
    """Groups of equal rows, by their hashes; the values are compared too, as different rows may have the same hash."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    representative = first[inverse]
    collides = np.zeros(len(hashes), dtype=bool)
    for column in _hash_columns(table, range(table.n_columns), table.every_row):
        collides |= column != column[representative]
    representative[collides] = np.flatnonzero(collides)
    groups = np.unique(representative, return_inverse=True)[1]
    n_rows = np.array([len(rows) for rows in members])
    return Copies(groups, n_rows - [len(np.unique(groups[rows])) for rows in members], n_rows)

"""Checks of the data of a comparison: missing values, constant columns, duplicate rows, suspected target leakage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.comparison.problem import BaseProblem
from adacc.comparison.splits import Split
from adacc.estimators.duplicates import describe_copies

LEAK_AUC_MIN = 0.98  # a column with at least this AUC on its own is reported as a suspected leak of the target
STRONG_AUC_MIN = 0.9  # a column with at least this AUC on its own is reported in a note
ROWS_MIN = 30  # with fewer rows of a class to find a warning says that the measures are uncertain
CLASSES_NAMED_MAX = 5  # small classes that the warning names
AUC_SAMPLE_ROWS = 20_000  # rows drawn to compute the AUC of single columns
ROWS_PER_BIN_MIN, BINS_MAX = 40, 64  # limits of the bins of a numeric column, for its AUC


def check_data(problem: BaseProblem, splits: Sequence[Split], seed: int = 0) -> dict[str, Any]:
    """Describe the data of a comparison as plain data; `findings` are the warnings and notes for the user."""
    columns = list(_columns(problem, seed))
    duplicates = count_duplicates(problem, splits)
    return {
        **problem.describe(),
        "columns": columns,
        "dropped": list(problem.dropped),
        "duplicates": duplicates,
        "findings": list(_findings(problem, columns, duplicates)),
    }


def _columns(problem: BaseProblem, seed: int) -> Iterator[dict[str, Any]]:
    sample = problem.sample(AUC_SAMPLE_ROWS, seed)
    half = _stratified_half(sample.y, seed)
    # The positive class of two, or every class against the rest.
    classes = [1] if len(problem.labels) == 2 else list(range(len(problem.labels)))
    for name in problem.X:
        column = problem.X[name]
        distinct = int(column.nunique())
        varies = distinct + bool(column.isna().any()) > 1
        yield {
            "name": str(name),
            "kind": _kind(column),
            "missing": int(column.isna().sum()),
            "distinct": distinct,
            "alone": _single_column_auc(sample.X[name], sample.y, half, classes) if varies else None,
        }


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "boolean"
    return "number" if pd.api.types.is_numeric_dtype(column) else "category"


def _stratified_half(y: Any, seed: int) -> Any:
    """Mask of a random half of the rows of each class."""
    half = np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    for label in range(int(y.max()) + 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        half[rows[::2]] = True
    return half


def _single_column_auc(column: pd.Series, y: Any, half: Any, classes: Sequence[int]) -> float | None:
    """AUC of one column, whose bins are scored by the share of a class in the other half; the mean over the classes.

    Missing values are a bin of their own. The relation to the target need not be monotonic.
    """
    bins = _bin_values(column)
    size = (int(bins.max()) + 1, int(y.max()) + 1)
    parts = [
        np.bincount(bins[rows] * size[1] + y[rows], minlength=size[0] * size[1]).reshape(size) for rows in (half, ~half)
    ]
    if min(part.sum(axis=0).min() for part in parts) == 0:
        return None
    prior = (parts[0] + parts[1]).sum(axis=0) / len(y)
    aucs = []
    for known, asked in (parts, parts[::-1]):
        for k in classes:
            share = (known[:, k] + prior[k]) / (known.sum(axis=1) + 1.0)  # an empty bin gets the prior
            aucs.append(_auc_of_bins(share, asked[:, k], asked.sum(axis=1) - asked[:, k]))
    return round(max(float(np.mean(aucs)), 0.5), 4)


def _auc_of_bins(scores: Any, positives: Any, negatives: Any) -> float:
    """The area under the ROC curve, from the score and the rows of both classes in each bin; ties count half."""
    levels, level = np.unique(scores, return_inverse=True)
    positives, negatives = (np.bincount(level, rows, len(levels)) for rows in (positives, negatives))
    below = np.cumsum(negatives) - negatives / 2
    return float((positives * below).sum() / (positives.sum() * negatives.sum()))


def _bin_values(column: pd.Series) -> NDArray[np.intp]:
    """Bin of each row: one for each category or quantile of a numeric column, and the last for missing values."""
    codes, values = column.factorize(sort=_kind(column) != "category")
    n_bins = min(max(len(column) // ROWS_PER_BIN_MIN, 8), BINS_MAX)
    if _kind(column) == "number" and len(values) > n_bins:
        cuts = np.unique(np.quantile(codes[codes >= 0], np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
        codes = np.where(codes < 0, -1, np.searchsorted(cuts, codes, side="left"))
    return np.where(codes < 0, codes.max() + 1, codes)


def count_duplicates(problem: BaseProblem, splits: Sequence[Split]) -> dict[str, Any]:
    """Count rows equal to an earlier row, test rows equal to a training row, and equal rows of different classes.

    `together` tells whether the splits keep equal rows together.
    """
    hashes = pd.util.hash_pandas_object(problem.X, index=False).to_numpy()
    _, row_id = np.unique(hashes, return_inverse=True)
    n_rows = np.bincount(row_id)
    lowest, highest = np.full(len(n_rows), np.iinfo(np.int8).max), np.zeros(len(n_rows), dtype=np.int8)
    np.minimum.at(lowest, row_id, problem.y)
    np.maximum.at(highest, row_id, problem.y)
    of_several_classes = lowest < highest
    return {
        "rows": int(len(row_id) - len(n_rows)),
        "across_folds": sum(
            int(np.isin(row_id[split.test], row_id[split.train]).sum()) for split in splits if split.repeat == 0
        ),
        "together": problem.copies is not None,
        "contradicting": int(n_rows[of_several_classes].sum()),
    }


def _findings(
    problem: BaseProblem, columns: list[dict[str, Any]], duplicates: dict[str, Any]
) -> Iterator[dict[str, str]]:
    def finding(level: str, title: str, text: str) -> dict[str, str]:
        return {"level": level, "title": title, "text": text}

    other = "the other" if len(problem.labels) == 2 else "another"
    for column in columns:
        auc = column["alone"] or 0.0
        if auc >= LEAK_AUC_MIN:
            yield finding(
                "warning",
                f"Column {column['name']!r} may leak the target",
                f"On its own it separates the classes with an AUC of {auc:.3f}. If it is not known before the target, "
                f"leave it out (`drop`) and compare again.",
            )
        elif auc >= STRONG_AUC_MIN:
            yield finding(
                "note",
                f"Column {column['name']!r} is a strong predictor on its own",
                f"It separates the classes with an AUC of {auc:.3f}. Check that it is known before the target.",
            )
    if small := _small_classes(problem):
        # Splits in time order do not depend on a seed, so `repeats` does not apply to them.
        advice = "Treat them as estimates" + (", and increase `repeats`." if problem.time is None else ".")
        yield finding("warning", small, f"One row changes the measures by whole percentage points. {advice}")
    if problem.copies is not None:
        yield finding(
            "note",
            f"{duplicates['rows']:,} rows are {'copies of' if problem.duplicates == 'auto' else 'equal to'} other rows",
            f"{describe_copies(problem.copies, list(map(str, problem.labels)), problem.duplicates)}. Set "
            "`duplicates` to 'apart' to split them.",
        )
    if duplicates["across_folds"]:
        yield finding(
            "warning" if duplicates["across_folds"] > 0.05 * len(problem.y) else "note",
            f"{duplicates['across_folds']:,} test rows have a duplicate among the training rows",
            "The rows may coincide because columns have few distinct values, as new rows will. If duplicates are one "
            "case recorded twice, measures are too optimistic: set `duplicates` to 'together', or name the column of "
            "their groups as `group`.",
        )
    if duplicates["contradicting"]:
        yield finding(
            "note",
            f"{duplicates['contradicting']:,} rows have a duplicate of {other} class",
            "No method can classify all of them correctly.",
        )
    if problem.n_rows_of_source > len(problem.y):
        yield finding(
            "note",
            f"{len(problem.y):,} of {problem.n_rows_of_source:,} rows were used",
            "They are a stratified random sample; `max_rows` sets its size.",
        )


def _small_classes(problem: BaseProblem) -> str:
    """A title that names the classes of few rows: the positive class of two, or any of several; empty if none."""
    few = [(problem.labels[k], n) for k in problem.class_order if (n := int(problem.class_rows[k])) < ROWS_MIN]
    if len(problem.labels) == 2:
        few = [(problem.labels[1], n)] if (n := int(problem.class_rows[1])) < ROWS_MIN else []
    if len(few) < 2:
        return "".join(f"Only {n} rows are {label!r}" for label, n in few)
    named = ", ".join(f"{label!r} ({n})" for label, n in few[:CLASSES_NAMED_MAX])
    rest = f" and {len(few) - CLASSES_NAMED_MAX} more" if len(few) > CLASSES_NAMED_MAX else ""
    return f"{len(few)} classes have fewer than {ROWS_MIN} rows: {named}{rest}"

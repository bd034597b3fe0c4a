"""Checks of the data of a comparison: missing values, constant columns, duplicate rows, suspected target leakage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc import metrics
from adacc.compare.binary_problem import Problem
from adacc.compare.splits import Split

LEAK_AUC_MIN = 0.98  # a column with at least this AUC on its own is reported as a suspected leak of the target
STRONG_AUC_MIN = 0.9  # a column with at least this AUC on its own is reported in a note
POSITIVES_MIN = 30  # with fewer rows of the positive class a warning says that the measures are uncertain
AUC_SAMPLE_ROWS = 20_000  # rows drawn to compute the AUC of single columns
ROWS_PER_BIN_MIN, BINS_MAX = 40, 64  # limits of the bins of a numeric column, for its AUC


def check_data(problem: Problem, splits: Sequence[Split], seed: int = 0) -> dict[str, Any]:
    """Describe the data of a comparison as plain data; `findings` are the warnings and notes for the user."""
    columns = list(_columns(problem, seed))
    duplicates = count_duplicates(problem, splits)
    return {
        "source": problem.source,
        "target": problem.target,
        "positive": str(problem.positive),
        "negative": str(problem.negative),
        "rows": problem.n_rows_of_source,
        "rows_used": len(problem.y),
        "positives": int(problem.y.sum()),
        "columns": columns,
        "dropped": list(problem.dropped),
        "duplicates": duplicates,
        "findings": list(_findings(problem, columns, duplicates)),
    }


def _columns(problem: Problem, seed: int) -> Iterator[dict[str, Any]]:
    sample = problem.sample(AUC_SAMPLE_ROWS, seed)
    half = _stratified_half(sample.y, seed)
    for name in problem.X:
        column = problem.X[name]
        distinct = int(column.nunique())
        varies = distinct + bool(column.isna().any()) > 1
        yield {
            "name": str(name),
            "kind": _kind(column),
            "missing": int(column.isna().sum()),
            "distinct": distinct,
            "alone": _single_column_auc(sample.X[name], sample.y, half) if varies else None,
        }


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "boolean"
    return "number" if pd.api.types.is_numeric_dtype(column) else "category"


def _stratified_half(y: Any, seed: int) -> Any:
    """Mask of a random half of the rows of each class."""
    half = np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        half[rows[::2]] = True
    return half


def _single_column_auc(column: pd.Series, y: Any, half: Any) -> float | None:
    """AUC of one column, whose bins are scored by the share of positive rows in the other half (two-fold).

    Missing values are a bin of their own. The relation to the target need not be monotonic.
    """
    if min(np.bincount(y[half], minlength=2).min(), np.bincount(y[~half], minlength=2).min()) == 0:
        return None
    bins, prior, aucs = _bin_values(column), y.mean(), []
    for rows in (half, ~half):
        n_rows = np.bincount(bins[rows], minlength=bins.max() + 1)
        n_positive = np.bincount(bins[rows], y[rows], minlength=bins.max() + 1)
        share = (n_positive + prior) / (n_rows + 1.0)  # an empty bin gets the prior
        aucs.append(metrics.auc(y[~rows], share[bins[~rows]], pos_label=1))
    return round(max(float(np.mean(aucs)), 0.5), 4)


def _bin_values(column: pd.Series) -> NDArray[np.intp]:
    """Bin of each row: one for each category or quantile of a numeric column, and the last for missing values."""
    codes, values = column.factorize(sort=_kind(column) != "category")
    n_bins = min(max(len(column) // ROWS_PER_BIN_MIN, 8), BINS_MAX)
    if _kind(column) == "number" and len(values) > n_bins:
        cuts = np.unique(np.quantile(codes[codes >= 0], np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
        codes = np.where(codes < 0, -1, np.searchsorted(cuts, codes, side="left"))
    return np.where(codes < 0, codes.max() + 1, codes)


def count_duplicates(problem: Problem, splits: Sequence[Split]) -> dict[str, int]:
    """Count rows equal to an earlier row, test rows equal to a training row, and equal rows of both classes."""
    hashes = pd.util.hash_pandas_object(problem.X, index=False).to_numpy()
    _, row_id = np.unique(hashes, return_inverse=True)
    n_rows = np.bincount(row_id)
    n_positive = np.bincount(row_id, problem.y)
    of_both_classes = (n_positive > 0) & (n_positive < n_rows)
    return {
        "rows": int(len(row_id) - len(n_rows)),
        "across_folds": sum(
            int(np.isin(row_id[split.test], row_id[split.train]).sum()) for split in splits if split.repeat == 0
        ),
        "contradicting": int(n_rows[of_both_classes].sum()),
    }


def _findings(problem: Problem, columns: list[dict[str, Any]], duplicates: dict[str, int]) -> Iterator[dict[str, str]]:
    def finding(level: str, title: str, text: str) -> dict[str, str]:
        return {"level": level, "title": title, "text": text}

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
    n_positive = int(problem.y.sum())
    if n_positive < POSITIVES_MIN:
        # Splits in time order do not depend on a seed, so `repeats` does not apply to them.
        advice = "Treat them as estimates" + (", and increase `repeats`." if problem.time is None else ".")
        yield finding(
            "warning",
            f"Only {n_positive} rows are {problem.positive!r}",
            f"One row changes the measures by whole percentage points. {advice}",
        )
    if duplicates["across_folds"]:
        yield finding(
            "warning" if duplicates["across_folds"] > 0.05 * len(problem.y) else "note",
            f"{duplicates['across_folds']:,} test rows have a duplicate among the training rows",
            "Measures are too optimistic for methods that memorise rows. If duplicates are one case recorded twice, "
            "keep one of them; if they belong to one group, name its column as `group`.",
        )
    if duplicates["contradicting"]:
        yield finding(
            "note",
            f"{duplicates['contradicting']:,} rows have a duplicate of the other class",
            "No method can classify all of them correctly.",
        )
    if problem.n_rows_of_source > len(problem.y):
        yield finding(
            "note",
            f"{len(problem.y):,} of {problem.n_rows_of_source:,} rows were used",
            "They are a stratified random sample; `max_rows` sets its size.",
        )

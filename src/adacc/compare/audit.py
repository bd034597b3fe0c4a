"""A look at the data before anyone believes a result: gaps, constants, equal rows, columns that know too much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc import metrics
from adacc.compare.problem import Problem
from adacc.compare.splits import Split

LEAK = 0.98
"""AUC of a single column from which on it is suspected to know the target."""

STRONG = 0.9
"""From which on it is worth a second look."""

FEW_ROWS = 30
"""Rows of the rare class in all, below which figures are shaky."""

ROWS_TO_JUDGE_BY = 20_000

ROWS_OF_A_GROUP, MOST_GROUPS = 40, 64
"""Of rows of like value, by which a column is judged."""


def look(problem: Problem, splits: Sequence[Split], seed: int = 0) -> dict[str, Any]:
    """The data of a comparison as plain data; `findings` are what a user should know."""
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
    judged = problem.sample(ROWS_TO_JUDGE_BY, seed)
    half = _halves(judged.y, seed)
    for name in problem.X:
        column = problem.X[name]
        distinct = int(column.nunique())
        varies = distinct + bool(column.isna().any()) > 1
        yield {
            "name": str(name),
            "kind": _kind(column),
            "missing": int(column.isna().sum()),
            "distinct": distinct,
            "alone": _alone(judged.X[name], judged.y, half) if varies else None,
        }


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "boolean"
    return "number" if pd.api.types.is_numeric_dtype(column) else "category"


def _halves(y: Any, seed: int) -> Any:
    """Every second row of each class, at random."""
    half = np.zeros(len(y), dtype=bool)
    rng = np.random.default_rng(seed)
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        half[rows[::2]] = True
    return half


def _alone(column: pd.Series, y: Any, half: Any) -> float | None:
    """AUC of the share of positive rows among those of like value, as counted on the other half of the rows.

    A gap is a value of its own, and values need not speak in order.
    """
    if min(np.bincount(y[half], minlength=2).min(), np.bincount(y[~half], minlength=2).min()) == 0:
        return None
    group, overall, found = _like_values(column), y.mean(), []
    for rows in (half, ~half):
        n_rows = np.bincount(group[rows], minlength=group.max() + 1)
        n_rare = np.bincount(group[rows], y[rows], minlength=group.max() + 1)
        share = (n_rare + overall) / (n_rows + 1.0)  # what has not been seen is as likely as all
        found.append(metrics.auc(y[~rows], share[group[~rows]], pos_label=1))
    return round(max(float(np.mean(found)), 0.5), 4)


def _like_values(column: pd.Series) -> NDArray[np.intp]:
    """Rows by number of their group: the same category, or numbers next to each other; gaps are the last."""
    codes, values = column.factorize(sort=_kind(column) != "category")
    most = min(max(len(column) // ROWS_OF_A_GROUP, 8), MOST_GROUPS)
    if _kind(column) == "number" and len(values) > most:
        cuts = np.unique(np.quantile(codes[codes >= 0], np.linspace(0.0, 1.0, most + 1)[1:-1]))
        codes = np.where(codes < 0, -1, np.searchsorted(cuts, codes, side="left"))
    return np.where(codes < 0, codes.max() + 1, codes)


def count_duplicates(problem: Problem, splits: Sequence[Split]) -> dict[str, int]:
    """Rows equal to an earlier one in all features, scored rows equal to one trained on, equal rows of both classes."""
    whole = pd.util.hash_pandas_object(problem.X, index=False).to_numpy()
    _, number = np.unique(whole, return_inverse=True)
    times = np.bincount(number)
    rare = np.bincount(number, problem.y)
    both = (rare > 0) & (rare < times)
    return {
        "rows": int(len(number) - len(times)),
        "across_folds": sum(
            int(np.isin(number[split.test], number[split.train]).sum()) for split in splits if split.repeat == 0
        ),
        "contradicting": int(times[both].sum()),
    }


def _findings(problem: Problem, columns: list[dict[str, Any]], duplicates: dict[str, int]) -> Iterator[dict[str, str]]:
    def finding(level: str, title: str, text: str) -> dict[str, str]:
        return {"level": level, "title": title, "text": text}

    for column in columns:
        alone = column["alone"] or 0.0
        if alone >= LEAK:
            yield finding(
                "warning",
                f"Column {column['name']!r} alone all but gives the target away",
                f"It separates the classes with an AUC of {alone:.3f}. Is it known before the target is? If not, it "
                f"leaks the answer: leave it out (`drop`) and compare again.",
            )
        elif alone >= STRONG:
            yield finding(
                "note",
                f"Column {column['name']!r} is strong by itself",
                f"It separates the classes with an AUC of {alone:.3f}; make sure that it is known in time.",
            )
    n_rare = int(problem.y.sum())
    if n_rare < FEW_ROWS:
        # Splits in the order of time are always the same.
        more = ", and increase `repeats`" if problem.time is None else ""
        yield finding(
            "warning",
            f"Only {n_rare} rows are {problem.positive!r}",
            f"A single row more or less moves the figures by points; take them as a hint{more}.",
        )
    if duplicates["across_folds"]:
        yield finding(
            "warning" if duplicates["across_folds"] > 0.05 * len(problem.y) else "note",
            f"{duplicates['across_folds']:,} scored rows have an equal row among those trained on",
            "Figures flatter methods that learn rows by heart. If equal rows are one case recorded twice, keep one; if "
            "they belong together, name the column that says so as `group`.",
        )
    if duplicates["contradicting"]:
        yield finding(
            "note",
            f"{duplicates['contradicting']:,} rows have an equal row of the other class",
            "No method can be right about all of them.",
        )
    if problem.n_rows_of_source > len(problem.y):
        yield finding(
            "note",
            f"{len(problem.y):,} of {problem.n_rows_of_source:,} rows were used",
            "They were drawn at random, each class by its share; `max_rows` limits their number.",
        )

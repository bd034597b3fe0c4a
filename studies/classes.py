"""Fills the marked sections of docs/classes.md from studies/results/classes.

    adacc study run classes --data-dir DATA --out DIR --jobs 2
    adacc study tables DIR --out studies/results/classes --format csv
    python studies/classes.py

DATA is a directory of Parquet files with a column `target`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from document import fill

from adacc.study.multiclass_tables import MulticlassSummary, all_tables, read_summary
from adacc.study.tables import render

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "classes.md"
IN_TABLE_OF_SETS = (
    "adacc1", "adacc1:one_vs_rest", "adacc1:joint", "adacc-forest", "balanced-random-forest", "lightgbm", "xgboost"
)  # fmt: skip


def tables(summary: MulticlassSummary) -> dict[str, str]:
    return {table.name: render(table, "markdown") for table in all_tables(summary)}


def main() -> None:
    summary = read_summary(HERE / "results" / "classes")
    some = replace(summary, frame=summary.frame[summary.frame["method"].isin(IN_TABLE_OF_SETS)])
    fill(DOCUMENT, {**tables(summary), "sets": tables(some)["sets"]})


if __name__ == "__main__":
    main()

"""Replaces results of some methods on some sets in the CSV files of a study, after these alone were run again.

    adacc study run forest --datasets bank --methods lightgbm,xgboost --out DIR
    adacc study tables DIR --out MEANS --format csv
    python studies/replace_rows.py MEANS studies/results/forest
    adacc study tables studies/results/forest --out studies/results/forest --format csv

Every other line of the files stays as it is.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pandas as pd

KEYS = ["method", "dialect", "rounds"]


def replaced(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The table with other values in the rows of the same method, dialect and number of rounds.

    Values are text. The column of the encodings is added; the table has no other column that it did not have before.
    """
    keys = [name for name in KEYS if name in rows]
    columns = dict.fromkeys([*table, *rows.columns.intersection(["encoding"])])
    by_key = {tuple(row[name] for name in keys): row for _, row in rows.iterrows()}
    merged = [by_key.pop(tuple(row[name] for name in keys), row) for _, row in table.iterrows()]
    if by_key:
        raise ValueError(f"the study has no results of {', '.join(map(' '.join, by_key))}")
    return pd.DataFrame(merged).reindex(columns=list(columns)).fillna("")


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("means", type=Path, help="a folder of `adacc study tables --out`")
    parser.add_argument("results", type=Path, help="the folder of the study")
    options = parser.parse_args()
    for path in sorted(options.means.glob("sets/*.csv")):
        table, rows = (
            pd.read_csv(folder / "sets" / path.name, dtype=str, keep_default_na=False)
            for folder in (options.results, options.means)
        )
        replaced(table, rows).to_csv(options.results / "sets" / path.name, index=False)
        print(path.name, ", ".join(dict.fromkeys(rows["method"])))


if __name__ == "__main__":
    main()

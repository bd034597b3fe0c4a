"""The results of a study in small: mean and spread of every measure over the parts of each set."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adacc.study.plan import Protocol
from adacc.study.store import Store, StudyError

MEASURES = ("balanced_accuracy", "gmean", "tpr", "tnr", "f1", "auc", "opm")
KEYS = ["dataset", "method", "dialect", "rounds"]
SETS = "sets"
"""The folder of the CSV files, one a set."""


@dataclass(frozen=True)
class Summary:
    """What the tables are made from.

    Attributes
    ----------
    protocol : Protocol
        The study.
    frame : DataFrame
        A row for each set, method, dialect and number of rounds: how many parts there are and how many failed, the mean
        cost, and of each measure the mean and the standard deviation over the parts, in percent.
    unfinished : list of str
        Sets that lack some part, and are left out.
    """

    protocol: Protocol
    frame: pd.DataFrame
    unfinished: list[str]

    @cached_property
    def sets(self) -> list[str]:
        """Those that are complete, by name."""
        return sorted(self.frame["dataset"].unique())

    def by_set(self, methods: list[tuple[str, str]], rounds: int, measure: str) -> pd.DataFrame:
        """A measure with a row for each set and a column for each (method, dialect)."""
        chosen = self.frame[self.frame["rounds"] == rounds]
        table = chosen.pivot_table(index="dataset", columns=["method", "dialect"], values=measure)
        return table.reindex(index=self.sets, columns=pd.MultiIndex.from_tuples(methods))


def summarise(store: Store) -> Summary:
    """Of all sets that are complete."""
    protocol = store.protocol()
    rows: list[dict[str, Any]] = []
    missing = {task.dataset for task in protocol.tasks() if not store.path(task).exists()}
    for task, record in store.records():
        if task.dataset not in missing:
            for each in record["series"]:
                rows.append({"dataset": task.dataset, **{name: each[name] for name in (*KEYS[1:], "cost", "library")},
                             "failed": each["error"] is not None, **each["measures"]})  # fmt: skip
    unfinished = sorted(missing)
    if not rows:
        raise StudyError(f"no set of {store.folder} is complete yet: `adacc study status {store.folder}` says more")
    return Summary(protocol, _condense(pd.DataFrame(rows)), unfinished)


def _condense(parts: pd.DataFrame) -> pd.DataFrame:
    parts[list(MEASURES)] = parts.reindex(columns=MEASURES).astype(float) * 100
    parts["cost"] = parts["cost"].astype(float)
    groups = parts.groupby(KEYS, sort=False)
    frame = groups.agg(
        parts=("failed", "size"), failed=("failed", "sum"), library=("library", "first"), cost=("cost", "mean")
    )
    for measure in MEASURES:
        frame[measure] = groups[measure].mean()
        frame[f"{measure}_std"] = groups[measure].std(ddof=0)
    return frame.reset_index()


def read_summary(folder: str | Path) -> Summary:
    """From a study's results, or from the CSV files that `write_summary` made of them."""
    folder = Path(folder)
    if not (folder / SETS).is_dir():
        return summarise(Store(folder))
    protocol = Store(folder).protocol()
    files = sorted((folder / SETS).glob("*.csv"))
    if not files:
        raise StudyError(f"{folder / SETS} has no CSV files")
    frame = pd.concat([pd.read_csv(file, keep_default_na=False, na_values=[""]) for file in files], ignore_index=True)
    frame["dialect"] = frame["dialect"].fillna("")
    return Summary(protocol, frame, sorted(set(protocol.datasets) - set(frame["dataset"])))


def write_summary(summary: Summary, folder: Path) -> list[Path]:
    """A CSV file for each set, and the plan."""
    (folder / SETS).mkdir(parents=True, exist_ok=True)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(summary.protocol.to_json(), indent=1) + "\n")
    paths = [plan]
    for name in summary.sets:
        of_set = summary.frame[summary.frame["dataset"] == name]
        paths.append(folder / SETS / f"{name}.csv")
        of_set.replace({np.nan: None}).to_csv(paths[-1], index=False, float_format="%.4f")
    return paths

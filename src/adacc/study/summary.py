"""Summary of a study: mean and standard deviation of every measure over the folds of each set."""

from __future__ import annotations

import json
import shlex
import typing
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adacc.datasets.tables import EXACT
from adacc.evaluation.baselines import BASELINES
from adacc.study.folder import BaseProtocol, StudyFolder
from adacc.study.protocol import StudyProtocol
from adacc.study.store import Store, StudyError

MEASURES = ("balanced_accuracy", "gmean", "tpr", "tnr", "f1", "auc", "opm", "average_precision")
NO_ROUNDS = [name for name, baseline in BASELINES.items() if not baseline.boosts]
"""Methods without rounds, reported under T = 1."""
DIGITS = 4  # decimals of percentages; smaller differences count as ties
KEYS = ["dataset", "method", "dialect", "rounds"]
SETS = "sets"  # folder of the CSV files, one for each set


@dataclass(frozen=True)
class Summary:
    """The data of the tables."""

    protocol: StudyProtocol  # the study
    # A row for each set, method, dialect and number of rounds, sorted by set: the number of folds (``parts``) and of
    # failures, the mean cost, the mean seconds to train and to score, and the mean and standard deviation over the
    # folds of each measure, in per cent; also the encodings of categories, if baselines have chosen some. Values are
    # rounded as in the CSV files, which give the same tables.
    frame: pd.DataFrame
    unfinished: list[str]  # sets that are left out because a fold is missing

    @cached_property
    def sets(self) -> list[str]:
        """Names of the complete sets, sorted."""
        return sorted(self.frame["dataset"].unique())

    def by_set(self, methods: list[tuple[str, str]], rounds: int, measure: str) -> pd.DataFrame:
        """A table of a measure, with a row for each set and a column for each (method, dialect).

        Methods without rounds have the same value for any number of rounds.
        """
        without_rounds = self.frame["method"].isin(NO_ROUNDS)
        chosen = self.frame[(self.frame["rounds"] == rounds) | without_rounds]
        table = chosen.pivot_table(index="dataset", columns=["method", "dialect"], values=measure)
        return table.reindex(index=self.sets, columns=pd.MultiIndex.from_tuples(methods))

    @cached_property
    def measures(self) -> list[str]:
        """The measures with results; studies of earlier versions have no average precision."""
        return [name for name in MEASURES if name in self.frame and self.frame[name].notna().any()]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The methods of each table of means."""
        protocol = self.protocol
        return protocol.tables or {"results": [*protocol.methods, *protocol.baselines]}

    def in_dialect(self, methods: Iterable[str], dialect: str) -> list[tuple[str, str]]:
        """The methods that have results, in the given dialect or in the only one they have."""
        known = set(zip(self.frame["method"], self.frame["dialect"], strict=True))
        forms = [[(method, form) for form in (dialect, *self.protocol.dialects, "")] for method in methods]
        found = [next((key for key in each if key in known), None) for each in forms]
        return [key for key in found if key is not None]

    def compared(self, dialect: str) -> list[tuple[str, str]]:
        """The methods of ranks and tests: those of the first table that have a value on every set."""
        found = self.in_dialect(next(iter(self.groups.values())), dialect)
        if not found:
            return []
        tables = np.array([self.by_set(found, T, MEASURES[0]) for T in self.protocol.rounds])
        return [each for j, each in enumerate(found) if not np.isnan(tables[:, :, j]).any()]


def summarise(store: Store) -> Summary:
    """Summarise the complete sets of a study."""
    protocol = store.protocol()
    rows: list[dict[str, Any]] = []
    missing = {task.dataset for task in protocol.tasks() if not store.path(task).exists()}
    for task, record in store.records():
        if task.dataset not in missing:
            for each in record["series"]:
                kept = {name: each[name] for name in (*KEYS[1:], "cost", "library", "seconds")}
                failed = each["error"] is not None
                encoding = each.get("encoding")  # results of earlier versions have none
                rows.append(
                    {"dataset": task.dataset, **kept, "failed": failed, **each["measures"], "encoding": encoding}
                )
    unfinished = sorted(missing)
    if not rows:
        raise no_set_is_complete(store)
    return Summary(protocol, _condense(pd.DataFrame(rows)), unfinished)


def no_set_is_complete(store: StudyFolder) -> StudyError:
    """The error of a summary of no sets."""
    return StudyError(
        f"no set of {store.folder} is complete yet; see `adacc study status {shlex.quote(str(store.folder))}`"
    )


def _condense(folds: pd.DataFrame) -> pd.DataFrame:
    folds[list(MEASURES)] = folds.reindex(columns=MEASURES).astype(float) * 100
    folds["cost"] = folds["cost"].astype(float)
    groups = folds.groupby(KEYS, sort=False)
    frame = groups.agg(
        parts=("failed", "size"),
        failed=("failed", "sum"),
        library=("library", "first"),
        cost=("cost", "mean"),
        seconds=("seconds", "mean"),
    )
    for measure in MEASURES:
        frame[measure] = groups[measure].mean()
        frame[f"{measure}_std"] = groups[measure].std(ddof=0)
    if folds["encoding"].notna().any():
        frame["encoding"] = groups["encoding"].agg(count_encodings)
    return frame.round(DIGITS).reset_index().sort_values("dataset", kind="stable", ignore_index=True)


def count_encodings(encodings: Iterable[str | None]) -> str | None:
    """The encodings that were chosen, with the number of folds of each.

    Examples
    --------
    >>> count_encodings(["native", "codes", "native"])
    'codes 1, native 2'
    """
    counts = Counter(name for name in encodings if isinstance(name, str))
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or None


def read_summary(folder: str | Path) -> Summary:
    """Read the results of a study, or the CSV files of `write_summary`."""
    store = Store(folder)
    protocol = store.protocol()
    frame = read_sets(store, (*KEYS[:-1], "library"))
    if frame is None:
        return summarise(store)
    frame["dialect"] = frame["dialect"].fillna("")
    return Summary(protocol, frame, sorted(set(protocol.datasets) - set(frame["dataset"])))


def read_sets(store: StudyFolder, texts: Iterable[str]) -> pd.DataFrame | None:
    """The CSV files of `write_summary`, with some columns as text; None if there are none, or if there are results."""
    protocol, folder = store.protocol(), store.folder / SETS
    files = [file for name in sorted(protocol.datasets) if (file := folder / f"{name}.csv").is_file()]
    if not files or any(store.path(task).exists() for task in protocol.tasks()):
        return None
    kinds = dict.fromkeys(texts, str)
    each = [pd.read_csv(file, dtype=kinds, keep_default_na=False, na_values=[""], **EXACT) for file in files]
    return pd.concat(each, ignore_index=True)


class SetSummary(typing.Protocol):
    """A summary that `write_summary` writes: the protocol of the study, and a table that is sorted by set."""

    @property
    def protocol(self) -> BaseProtocol: ...

    @property
    def frame(self) -> pd.DataFrame: ...

    @property
    def sets(self) -> list[str]: ...


def write_summary(summary: SetSummary, folder: Path) -> list[Path]:
    """Write a CSV file for each set, and the protocol."""
    (folder / SETS).mkdir(parents=True, exist_ok=True)
    protocol = folder / "plan.json"
    protocol.write_text(json.dumps(summary.protocol.to_json(), indent=1) + "\n", encoding="utf-8")
    paths = [protocol]
    for name in summary.sets:
        of_set = summary.frame[summary.frame["dataset"] == name]
        paths.append(folder / SETS / f"{name}.csv")
        of_set.replace({np.nan: None}).to_csv(paths[-1], index=False, float_format=f"%.{DIGITS}f")
    return paths

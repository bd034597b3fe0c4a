"""Stores the results of a study of two classes.

The archive of a task holds the indices of the test rows, their targets, the scores of every method after every number
of rounds, and the record that describes the scores.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.study.folder import DamagedResultWarning, StudyError, StudyFolder, record_of
from adacc.study.protocol import StudyProtocol, Task

__all__ = ["DamagedResultWarning", "Result", "Series", "Store", "StudyError"]

CHANGEABLE = ("datasets", "repeats", "files", "tables")
"""Entries of the protocol that may change between runs into the same folder."""


@dataclass(frozen=True)
class Series:
    """The results of a method after some number of rounds, on one test fold."""

    method: str
    dialect: str
    rounds: int
    cost: float | None  # tuned cost of the negative class
    library: str  # library of the method, with its version
    seconds: float  # processor time to train for all numbers of rounds and costs, and to score
    measures: dict[str, float]  # those of `adacc.metrics.evaluate`, and the average precision
    error: str | None = None  # traceback if the method failed; then `measures` is empty
    encoding: str | None = None  # that of the categories, if the method has chosen it


@dataclass(frozen=True)
class Result:
    """The results of a task."""

    rows: NDArray[np.int32]  # (n_test,): indices of the test rows in the data set
    y: NDArray[np.int8]  # (n_test,): their targets
    scores: NDArray[np.float32]  # (n_series, n_test): above 0 the positive class is predicted; NaN if the method failed
    series: list[Series]  # descriptions of the rows of `scores`
    seconds: float  # time for all methods


class Store(StudyFolder):
    """The folder of a study's results."""

    arrays = ("rows", "y", "scores")

    def protocol(self) -> StudyProtocol:
        """The protocol of the study in the folder."""
        entries = self.stored_entries()
        try:
            return StudyProtocol.from_json(entries)
        except (TypeError, ValueError, AttributeError) as error:
            raise self.unreadable(error) from None

    def adopt(self, protocol: StudyProtocol) -> None:
        """Write the protocol to the folder; sets and repeats are added to those of the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.has_protocol:
            known = self.protocol()
            others = _differences(known, protocol)
            if others:
                raise self.other_study(others)
            protocol = replace(
                protocol,
                datasets=tuple(dict.fromkeys(known.datasets + protocol.datasets)),
                repeats=max(known.repeats, protocol.repeats),
                files={**known.files, **protocol.files},
            )
        self.write_protocol(protocol)

    def write(self, task: Task, result: Result) -> None:
        """Write a result, unless another run has written it meanwhile; the two differ only in seconds."""
        arrays = {"rows": result.rows, "y": result.y, "scores": result.scores}
        self.write_arrays(task, arrays, [asdict(each) for each in result.series], result.seconds)

    def read(self, task: Task) -> Result:
        """The result of a task, with its scores."""
        with self.open(task) as arrays:
            record = record_of(arrays)
            series = [Series(**each) for each in record["series"]]
            return Result(arrays["rows"], arrays["y"], arrays["scores"], series, record["seconds"])


def _differences(known: StudyProtocol, other: StudyProtocol) -> list[str]:
    """The differences that keep two studies from sharing a folder."""
    # The order of the methods does not change results.
    old, new = ({**each.to_json(), "methods": dict.fromkeys(each.methods, True)} for each in (known, other))
    found = []
    for name in old:
        if name in CHANGEABLE or old[name] == new[name]:
            continue
        if isinstance(old[name], dict):
            differing = sorted(key for key in old[name] | new[name] if old[name].get(key) != new[name].get(key))
            found.append(f"{name} differ in {', '.join(differing)}")
        else:
            found.append(f"{name}: {_plain(old[name])} there, {_plain(new[name])} now")
    for name in known.datasets:
        before, now = known.files.get(name), other.files.get(name)
        if name in other.datasets and before != now:
            found.append(f"data of {name}: {_place(before)} there, {_place(now)} now")
    return found


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _place(file: tuple[str, str | None] | None) -> str:
    return "of the paper" if file is None else f"{file[0]}, column {file[1] or 'target'}"

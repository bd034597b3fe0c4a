"""The protocol of a study on data sets with more than two classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import suggestion
from adacc.evaluation.baselines import BASELINES, label_of
from adacc.study.protocol import Task, check_set_names, check_whole, read_entries

PROBLEM = "multiclass"
"""The entry `problem` of such a study, in TOML files and in its folder."""

STRATEGIES = {"one_vs_one": "pairs", "one_vs_rest": "rest", "joint": "joint"}
"""Values of `multi_class` that a method name may end with, and their names in tables."""

OVERHEAD_ROWS = 500
"""The fixed time of a task, in the time of so many rows."""


@dataclass(frozen=True)
class MulticlassProtocol:
    """The settings of a study; the comments of `classes.toml` explain each entry."""

    repeats: int
    folds: int
    seed: int
    methods: tuple[str, ...]
    datasets: dict[str, dict[str, int]] = field(default_factory=dict)  # number of rows by label, of each data set
    problem: str = PROBLEM

    def tasks(self) -> list[Task]:
        """All tasks, by data set."""
        return [
            Task(name, repeat, fold)
            for name in self.datasets
            for repeat in range(self.repeats)
            for fold in range(self.folds)
        ]

    def work(self, task: Task) -> float:
        """Estimated work of a task, to predict the remaining time."""
        return OVERHEAD_ROWS + sum(self.datasets[task.dataset].values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> MulticlassProtocol:
        """Read and check the entries of a TOML or JSON file."""
        known = {each.name for each in fields(cls)}
        unknown = [name for name in entries if name not in known]
        if unknown:
            raise ValueError(
                f"a study of several classes has no entry {unknown[0]!r}; it has {', '.join(sorted(known))}"
            )
        missing = known - entries.keys() - {"datasets"}
        if missing:
            raise ValueError(f"the study lacks {', '.join(sorted(missing))}")
        if not isinstance(entries["methods"], list | tuple):
            raise ValueError(f"methods must be a list, got {entries['methods']!r}")
        if not isinstance(entries.get("datasets", {}), dict):
            raise ValueError(f"datasets must be a table, got {entries['datasets']!r}")
        return check(cls(**{**entries, "methods": tuple(entries["methods"])}))


def read_multiclass_protocol(name: str | Path) -> MulticlassProtocol:
    """Read a study that the package ships, by name, or a TOML file.

    Examples
    --------
    >>> protocol = read_multiclass_protocol("classes")
    >>> protocol.repeats, protocol.folds, protocol.methods[:2]
    (3, 3, ('adacc1', 'adacc1:one_vs_one'))
    """
    entries = read_entries(name)
    try:
        return MulticlassProtocol.from_json(entries)
    except (TypeError, ValueError) as error:
        raise ValueError(f"study {str(name)!r}: {error}") from None


def is_multiclass(entries: Any) -> bool:
    """Whether the entries of a TOML or JSON file are those of a study on more than two classes."""
    return isinstance(entries, dict) and entries.get("problem") == PROBLEM


def check(protocol: MulticlassProtocol) -> MulticlassProtocol:
    """Return the protocol if it is valid, or raise ValueError."""
    for name, least in {"repeats": 1, "folds": 2, "seed": 0}.items():
        check_whole(name, getattr(protocol, name), least)
    if not protocol.methods:
        raise ValueError("methods must name at least one method")
    for name, count in Counter(protocol.methods).items():
        _check_method(name)
        if count > 1:
            raise ValueError(f"methods must name each method once, got {name!r} {count} times")
    check_set_names(protocol.datasets)
    for name, rows in protocol.datasets.items():
        label, n_rows = min(rows.items(), key=lambda item: item[1])
        if n_rows < protocol.folds:
            raise ValueError(
                f"folds must be at most {n_rows}, the number of rows of class {label!r} of {name}, got {protocol.folds}"
            )
    return protocol


def _check_method(name: Any) -> None:
    several = [each for each, baseline in BASELINES.items() if baseline.fit_classes is not None]
    method, _, strategy = str(name).partition(":")
    if method in BASELINES and method not in several:
        raise ValueError(f"method {method!r} supports two classes only; others are {', '.join(several)}")
    if method not in METHODS and method not in BASELINES:
        known = [*METHODS, *several]
        hint = suggestion(method, known) or f"known are {', '.join(known)}"
        raise ValueError(f"method {name!r} is unknown: {hint}")
    if ":" in str(name) and (method in BASELINES or strategy not in STRATEGIES):
        example = ", ".join(f"'adacc1:{each}'" for each in STRATEGIES)
        raise ValueError(
            f"methods of adacc take a value of `multi_class` after a colon, such as {example}, got {name!r}"
        )


def label(method: str) -> str:
    """The label of a method in tables.

    Examples
    --------
    >>> label("adacc1"), label("adacc1:one_vs_one"), label("lightgbm")
    ('AdaCC1', 'AdaCC1, pairs', 'LightGBM')
    """
    name, _, strategy = method.partition(":")
    return f"{label_of(name)}, {STRATEGIES[strategy]}" if strategy else label_of(name)


def differences(known: MulticlassProtocol, other: MulticlassProtocol) -> Iterable[str]:
    """What keeps two studies from sharing a folder; sets and repeats may be added."""
    for name in ("folds", "seed"):
        before, now = getattr(known, name), getattr(other, name)
        if before != now:
            yield f"{name}: {before} there, {now} now"
    differing = sorted(set(known.methods) ^ set(other.methods))
    if differing:
        yield f"methods differ in {', '.join(differing)}"
    for name, rows in other.datasets.items():
        if known.datasets.get(name, rows) != rows:
            yield f"the classes of {name} have other numbers of rows"

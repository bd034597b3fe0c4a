"""The protocol of a study: data sets, methods, repeats and folds."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import suggestion
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_trainer import TrainingOptions
from adacc.learners.splits import CRITERIA

IN_TWO_DIALECTS = ("adacc1", "adan-cc1", "csb1", "adac1", "adac3", "adacost", "smoteboost")
"""Methods whose formulas differ between the paper and the authors' code."""


class Task(NamedTuple):
    """One fold of one repeat on one data set: the unit of computing and of storage."""

    dataset: str
    repeat: int
    fold: int

    def __str__(self) -> str:
        return f"{self.dataset}, repeat {self.repeat}, fold {self.fold}"


class Variant(NamedTuple):
    """A method in one of its dialects."""

    method: str
    dialect: str


@dataclass(frozen=True)
class StudyProtocol:
    """The settings of a study; the comments of `paper.toml` explain each entry."""

    name: str
    datasets: tuple[str, ...]
    repeats: int
    folds: int
    seed: int
    rounds: tuple[int, ...]
    costs: tuple[float, ...]
    tuned_on: str
    max_bins: int | None
    criterion: str
    dialects: tuple[str, ...]
    methods: tuple[str, ...]
    baselines: dict[str, int]
    fewer_repeats: dict[str, int]
    tables: dict[str, list[str]]
    files: dict[str, tuple[str, str | None]]  # the user's own data: file and target column by name of the data set

    def tasks(self) -> list[Task]:
        """All tasks, by data set."""
        return [
            Task(dataset, repeat, fold)
            for dataset in self.datasets
            for repeat in range(self.repeats)
            for fold in range(self.folds)
        ]

    def variants(self) -> Iterator[Variant]:
        """The methods of adacc, in both dialects if the dialects differ."""
        for method in self.methods:
            for dialect in self.dialects if method in IN_TWO_DIALECTS else self.dialects[:1]:
                yield Variant(method, dialect)

    @property
    def training_options(self) -> TrainingOptions:
        """How the methods of adacc are trained."""
        return TrainingOptions(self.costs, self.tuned_on, self.max_bins, self.criterion)

    def baselines_of(self, task: Task) -> list[str]:
        """The baselines of a task."""
        if task.repeat >= self.fewer_repeats.get(task.dataset, self.repeats):
            return []
        return [name for name, repeats in self.baselines.items() if task.repeat < repeats]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, entries: dict[str, Any]) -> StudyProtocol:
        """Read and check the entries of a TOML or JSON file."""
        known = {field.name for field in fields(cls)}
        for name in entries:
            if name not in known:
                raise ValueError(f"a study has no entry {name!r}{_hint(name, known)}")
        missing = known - entries.keys() - {"files", "tables"}
        if missing:
            raise ValueError(f"the study lacks {', '.join(sorted(missing))}")
        frozen: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in entries.items()
        }
        frozen = {"tables": {}, "files": {}, **frozen}
        if isinstance(frozen["methods"], dict):  # earlier versions stored a label with each method
            frozen["methods"] = tuple(frozen["methods"])
        if frozen["max_bins"] == "exact":  # TOML has no None
            frozen["max_bins"] = None
        _check_kinds(cls, frozen)
        frozen["files"] = {name: _file_and_target(name, given) for name, given in frozen["files"].items()}
        return check(cls(**frozen))


def read_protocol(name: str | Path) -> StudyProtocol:
    """Read a study of two classes that the package ships, by name, or a TOML file.

    Examples
    --------
    >>> protocol = read_protocol("paper")
    >>> len(protocol.datasets), protocol.repeats, protocol.rounds
    (27, 10, (25, 50, 100, 200))
    """
    entries = read_entries(name)
    try:
        return StudyProtocol.from_json(entries)
    except (TypeError, ValueError) as error:
        raise ValueError(f"study {str(name)!r}: {error}") from None


def read_entries(name: str | Path) -> dict[str, Any]:
    """The entries of a study that the package ships, by name, or of a TOML file; they are not checked."""
    folder = resources.files("adacc.study")
    shipped = folder / f"{name}.toml"
    if str(name).isidentifier() and shipped.is_file():
        text = shipped.read_text(encoding="utf-8")
    elif Path(name).is_file():
        text = Path(name).read_text(encoding="utf-8")
    else:
        names = sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".toml"))
        raise ValueError(
            f"study must be one of {', '.join(map(repr, names))} or the path of a TOML file, got {str(name)!r}"
        )
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"study {str(name)!r}: {error}") from None


def choose_methods(protocol: StudyProtocol, names: Iterable[str]) -> StudyProtocol:
    """The study with only these methods; added baselines run in every repeat."""
    methods, baselines = [], {}
    for name in dict.fromkeys(names):
        if name in METHODS:
            methods.append(name)
        elif name in BASELINES:
            baselines[name] = protocol.baselines.get(name, protocol.repeats)
        else:
            raise ValueError(f"method {name!r} is unknown{_hint(name, [*METHODS, *BASELINES])}")
    return replace(protocol, methods=tuple(methods), baselines=baselines)


def check(protocol: StudyProtocol) -> StudyProtocol:
    """Return the protocol if it is valid, or raise ValueError."""
    for name, least in {"repeats": 1, "folds": 2, "seed": 0}.items():
        check_whole(name, getattr(protocol, name), least)
    rounds, costs = protocol.rounds, protocol.costs
    if not rounds or not all(_is_whole(T, 1) for T in rounds) or list(rounds) != sorted(set(rounds)):
        raise ValueError(f"rounds must be ascending whole numbers of at least 1, got {list(rounds)}")
    if not costs or any(not isinstance(cost, float | int) or not 0 < cost <= 1 for cost in costs):
        raise ValueError(f"costs must be numbers above 0 and at most 1, got {list(costs)}")
    if protocol.tuned_on not in ("training", "validation"):
        raise ValueError(f"tuned_on must be 'training' or 'validation', got {protocol.tuned_on!r}")
    if protocol.criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}, got {protocol.criterion!r}")
    if protocol.max_bins is not None and not _is_whole(protocol.max_bins, 2):
        raise ValueError(f"max_bins must be a whole number of at least 2, or 'exact', got {protocol.max_bins!r}")
    dialects = protocol.dialects
    if not dialects or not set(dialects) <= {"paper", "authors"} or len(set(dialects)) < len(dialects):
        raise ValueError(f"dialects must be 'paper' or 'authors' or both, got {list(dialects)}")
    if not protocol.datasets:
        raise ValueError("datasets must name at least one set")
    check_set_names(protocol.datasets)
    _check_methods(protocol)
    return protocol


def check_set_names(names: Iterable[str]) -> None:
    """Raise ValueError for a name that occurs twice, or cannot be the name of a folder."""
    for name, count in Counter([*names]).items():
        if count > 1:
            raise ValueError(
                f"datasets must name each set once, got {name!r} {count} times; rename a file if it is yours"
            )
        if not isinstance(name, str) or not name or set(name) & set("./\\"):  # the name becomes the name of a folder
            raise ValueError(f"datasets must have names without dots and slashes, got {name!r}")


def _check_methods(protocol: StudyProtocol) -> None:
    if not protocol.methods and not protocol.baselines:
        raise ValueError("methods must name at least one method")
    all_methods = {**METHODS, **BASELINES}
    groups: list[tuple[Iterable[str], Iterable[str]]] = [
        (protocol.methods, METHODS), (protocol.baselines, BASELINES),
        *((names, all_methods) for names in protocol.tables.values()),
    ]  # fmt: skip
    for names, known in groups:
        for name in names:
            if name not in known:
                raise ValueError(f"method {name!r} is unknown{_hint(str(name), known)}")
    for name, count in Counter(protocol.methods).items():
        if count > 1:
            raise ValueError(f"methods must name each method once, got {name!r} {count} times")
    for entry in ("baselines", "fewer_repeats"):
        for name, repeats in getattr(protocol, entry).items():
            check_whole(f"{entry}: {name}", repeats, 1)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise ValueError if an entry is not a whole number, or too small."""
    if not _is_whole(value, least):
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _check_kinds(cls: type[StudyProtocol], entries: dict[str, Any]) -> None:
    """Check the TOML or JSON type of each entry; `check` checks the values."""
    kinds: dict[str, tuple[type, str]] = {
        "str": (str, "a string"),
        "tuple": (tuple, "a list"),
        "dict": (dict, "a table"),
    }
    for field in fields(cls):
        kind, description = kinds.get(str(field.type).partition("[")[0], (object, ""))
        if not isinstance(entries[field.name], kind):
            raise ValueError(f"{field.name} must be {description}, got {entries[field.name]!r}")


def _file_and_target(name: str, given: Any) -> tuple[str, str | None]:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ValueError(f"files: {name} must be a list of a file and the name of its target column, got {given!r}")
    file, target = given
    return file, target


def _hint(name: str, known: Iterable[str]) -> str:
    question = suggestion(name, known)
    return f": {question}" if question else f"; known are {', '.join(sorted(known))}"

"""Every method on every split, several at a time."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import FORESTS, suggestion
from adacc.compare.problem import Problem
from adacc.compare.splits import Split
from adacc.estimators.forest import AdaCCForestClassifier
from adacc.estimators.unseen import unseen_ignored
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.folds import Fold
from adacc.evaluation.predictions import Predictions
from adacc.evaluation.workers import in_parallel
from adacc.kernels.jit import Compilation
from adacc.study.family import Family
from adacc.study.plan import Protocol, Variant, choose_methods, read_protocol

QUICK = (
    "lightgbm", "xgboost", "hist-gradient-boosting", "hist-gradient-boosting-threshold", "balanced-random-forest",
    "adaboost-threshold", "logistic-regression",
)  # fmt: skip
"""Baselines that are worth their time: weighted classes and tuned thresholds, which are what one would use today."""

WARM_UP_ROWS, WARM_UP_ROUNDS = 50, 2
"""Rows of each class, and rounds, that a process tries its methods with before it times them."""

MODULES = {"imbalanced-learn": "imblearn", "scikit-learn": "sklearn"}
"""What distributions are imported as, where not by their own name."""


@dataclass(frozen=True)
class Contestant:
    """A method that takes part."""

    name: str
    label: str
    library: str
    about: str
    is_own: bool


@dataclass(frozen=True)
class Plan:
    """Who takes part, and with how many rounds."""

    methods: tuple[str, ...]
    rounds: int
    seed: int

    @property
    def protocol(self) -> Protocol:
        """As the paper has it: the costs that are tried, what they are judged by."""
        chosen = choose_methods(PAPER, self.methods)
        return replace(chosen, rounds=(self.rounds,), seed=self.seed)

    def jobs(self, n_splits: int) -> list[Job]:
        """What is computed at a time: the boosters of the family share the coding of the data."""
        family = tuple(name for name in self.methods if name in METHODS)
        others = [(name,) for name in self.methods if name in BASELINES]
        return [Job(i, names) for i in range(n_splits) for names in filter(None, [family, *others])]

    def rounds_of(self, method: str) -> int:
        """Of a method of ours to be trained as it took part: for a forest, which takes part as it is, its bags."""
        return AdaCCForestClassifier().n_estimators if method in FORESTS else self.rounds


PAPER = read_protocol("paper")


def contestants() -> dict[str, Contestant]:
    """All methods whose library is installed."""
    family = {
        name: Contestant(name, method.label, f"adacc {version('adacc')}", _first_line(method.rule), True)
        for name, method in METHODS.items()
        if method.sampler != "smote" or find_spec("imblearn")
    }
    others = {
        name: Contestant(name, each.name, f"{each.library} {version(each.library)}", each.about, name in FORESTS)
        for name, each in BASELINES.items()
        if find_spec(MODULES.get(each.library, each.library))
    }
    return family | others


def missing_libraries() -> list[str]:
    """Libraries of baselines that are not installed."""
    libraries = dict.fromkeys(each.library for each in BASELINES.values())
    return [library for library in libraries if not find_spec(MODULES.get(library, library))]


def find_method(name: str, among: Mapping[str, Contestant]) -> str:
    """The name, if there is such a method and its library is installed."""
    if name in among:
        return name
    if name in METHODS or name in BASELINES:
        library = BASELINES[name].library if name in BASELINES else "imbalanced-learn"
        raise ValueError(f'method {name!r} needs {library}, which is not installed: pip install "adacc[compare]"')
    raise ValueError(f"method {name!r} is unknown: {suggestion(name, among) or '`adacc methods` lists them'}")


def _first_line(rule: type) -> str:
    return (rule.__doc__ or "").strip().partition("\n")[0]


class Job(NamedTuple):
    """A split, and methods to try on it."""

    split: int
    methods: tuple[str, ...]


class Outcome(NamedTuple):
    """What a method said of the scored rows of a split; None with the error where it failed."""

    split: int
    method: str
    found: Predictions | None
    seconds: float
    error: str | None


def contest(problem: Problem, splits: Sequence[Split], plan: Plan, n_jobs: int = 1) -> Iterator[Outcome]:
    """Each outcome as soon as it is known.

    Parameters
    ----------
    problem : Problem
        The table.
    splits : list of Split
        Of `make_splits`.
    plan : Plan
        Who takes part.
    n_jobs : int, default=1
        Worker processes; 1 works in this one.
    """
    jobs = plan.jobs(len(splits))
    if n_jobs == 1:
        yield from _each(in_parallel(partial(play, problem, splits, plan), jobs, executor="local"))
        return
    with TemporaryDirectory(prefix="adacc-") as folder:
        # Read once by each worker, instead of sent with each job.
        path = Path(folder, "problem")
        path.write_bytes(pickle.dumps((problem, splits), protocol=5))
        yield from _each(in_parallel(partial(_play_stored, path, plan), jobs, n_jobs))


def _each(several: Iterator[list[Outcome]]) -> Iterator[Outcome]:
    for outcomes in several:
        yield from outcomes


def _play_stored(path: Path, plan: Plan, job: Job) -> list[Outcome]:
    return play(*_stored(path), plan, job)


@lru_cache(maxsize=1)
def _stored(path: Path) -> tuple[Problem, list[Split]]:
    return pickle.loads(path.read_bytes())


def play(problem: Problem, splits: Sequence[Split], plan: Plan, job: Job) -> list[Outcome]:
    """A job done."""
    split = splits[job.split]
    with warnings.catch_warnings(), threadpool_limits(1), unseen_ignored():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _warm_up(problem, split, plan, job)
        return _play_rows(problem, split.train, split.test, plan, job)


def _play_rows(
    problem: Problem, train: NDArray[np.intp], test: NDArray[np.intp], plan: Plan, job: Job
) -> list[Outcome]:
    X, y, X_test = problem.X.iloc[train], problem.y[train], problem.X.iloc[test]
    seed = plan.seed + job.split
    if job.methods[0] in BASELINES:
        (name,) = job.methods
        groups = None if problem.dependence is None else problem.dependence[train]
        fold = Fold(
            _as_baselines_take(X), y, _as_baselines_take(X_test), [plan.rounds], seed, groups,
            in_time=problem.time is not None,
        )  # fmt: skip
        return [_timed(job.split, name, partial(BASELINES[name].found, fold), 0.0)]
    with Stopwatch() as coding:
        family = Family(plan.protocol, X, y, X_test, seed)
        family.code()
    asks = {name: partial(family.scores, Variant(name, "paper")) for name in job.methods}
    return [_timed(job.split, name, ask, coding.seconds) for name, ask in asks.items()]


_WARM: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
"""Methods, and kinds of columns, that this process has tried already."""


def _warm_up(problem: Problem, split: Split, plan: Plan, job: Job) -> None:
    """Try the methods on a few rows, once in a process: loading kernels and importing libraries is not timed."""
    key = job.methods, tuple(sorted({str(dtype) for dtype in problem.X.dtypes}))
    if key in _WARM:
        return
    _WARM.add(key)
    few = np.concatenate([split.train[problem.y[split.train] == label][:WARM_UP_ROWS] for label in (0, 1)])
    with suppress(Exception):  # what is wrong with these rows is no matter, and with all rows will be seen
        _play_rows(problem, few, few, replace(plan, rounds=WARM_UP_ROUNDS), job)


def _as_baselines_take(X: Any) -> Any:
    """Booleans as numbers."""
    return X.astype(dict.fromkeys(X.select_dtypes("bool"), np.int8))


class Stopwatch:
    """Seconds that a piece of work takes, compiling kernels left out: that is done once on a machine."""

    seconds: float

    def __enter__(self) -> Stopwatch:
        self._compilation = Compilation().__enter__()
        self._began = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        elapsed = time.perf_counter() - self._began
        self._compilation.__exit__(*error)
        self.seconds = elapsed - self._compilation.seconds


def _timed(split: int, method: str, ask: Callable[[], dict[int, Predictions]], before: float) -> Outcome:
    with Stopwatch() as watch:
        try:
            (found,) = ask().values()
            error = None if np.isfinite(found.scores).all() else "its scores are not numbers"
        except Exception as fault:  # a method that fails is a line of the result, and no reason to lose the others
            found, error = None, " ".join(f"{type(fault).__name__}: {fault}".split())
    return Outcome(split, method, None if error else found, before + watch.seconds, error)


def of_rows(outcomes: Sequence[Outcome], splits: Sequence[Split]) -> tuple[NDArray[np.intp], Predictions]:
    """The outcomes of a method on the splits of one repeat as one: every row scored by a model that has not seen it."""
    scored = [(splits[each.split].test, each.found) for each in outcomes if each.found is not None]
    scores = np.concatenate([found.scores for _, found in scored])
    probabilities = np.concatenate([found.probabilities for _, found in scored])
    return np.concatenate([rows for rows, _ in scored]), Predictions(scores, probabilities)

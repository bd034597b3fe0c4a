"""Runs every method on every split, in parallel worker processes."""

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
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adacc.algorithms import METHODS
from adacc.algorithms.catalog import FORESTS, suggestion
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.problem import BaseProblem
from adacc.comparison.splits import Split
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.fold_trainer import FoldTrainer, TrainingOptions
from adacc.evaluation.predictions import ClassPredictions, Predictions
from adacc.evaluation.scorers import predictions_of
from adacc.evaluation.training import make_estimator
from adacc.evaluation.workers import in_parallel
from adacc.kernels.jit import Compilation

QUICK = (
    "lightgbm", "lightgbm-threshold", "xgboost", "xgboost-threshold", "hist-gradient-boosting",
    "balanced-random-forest", "adaboost-threshold", "logistic-regression",
)  # fmt: skip
"""Baselines of the default comparison: those with class weights or tuned thresholds that run fast."""

WARM_UP_ROWS, WARM_UP_ROUNDS = 50, 2
"""Rows of each class, and rounds, of the untimed fit that a process starts with."""

MODULES = {"imbalanced-learn": "imblearn", "scikit-learn": "sklearn", "interpret-core": "interpret"}
"""Import names of the distributions that are imported by another name."""


@dataclass(frozen=True)
class MethodInfo:
    """A method of the comparison."""

    name: str
    label: str
    library: str
    about: str
    is_own: bool


@dataclass(frozen=True)
class Plan:
    """The methods of a comparison, their number of rounds and the random seed."""

    methods: tuple[str, ...]
    rounds: int
    seed: int
    left_out: tuple[str, ...] = ()  # chosen methods that support two classes only

    def jobs(self, n_splits: int, several_classes: bool = False) -> list[Job]:
        """Units of work: the boosting methods run together on a split of two classes, as they share the binned data."""
        boosting = tuple(name for name in self.methods if name in METHODS)
        together = [(name,) for name in boosting] if several_classes else [boosting]
        baselines = [(name,) for name in self.methods if name in BASELINES]
        return [Job(i, names) for i in range(n_splits) for names in filter(None, [*together, *baselines])]

    def rounds_of(self, method: str) -> int | None:
        """`n_estimators` of an adacc method as in the comparison: None, its default, for a forest."""
        return None if method in FORESTS else self.rounds


def available_methods() -> dict[str, MethodInfo]:
    """All methods whose library is installed."""
    boosting = {
        name: MethodInfo(name, method.label, f"adacc {version('adacc')}", _first_line(method.rule), True)
        for name, method in METHODS.items()
        if method.sampler != "smote" or find_spec("imblearn")
    }
    baselines = {
        name: MethodInfo(name, each.name, f"{each.library} {version(each.library)}", each.about, name in FORESTS)
        for name, each in BASELINES.items()
        if find_spec(MODULES.get(each.library, each.library))
    }
    return boosting | baselines


def missing_libraries() -> list[str]:
    """Libraries of the common baselines that are not installed."""
    libraries = dict.fromkeys(each.library for each in BASELINES.values() if each.extra == "compare")
    return [library for library in libraries if not find_spec(MODULES.get(library, library))]


def supports_classes(name: str) -> bool:
    """Whether a method supports more than two classes; all boosting methods do."""
    return name in METHODS or BASELINES[name].fit_classes is not None


def find_method(name: str, among: Mapping[str, MethodInfo]) -> str:
    """Return the name if the method exists and its library is installed, or raise ValueError."""
    if name in among:
        return name
    if name in METHODS or name in BASELINES:
        baseline = BASELINES.get(name)
        library, extra = (baseline.library, baseline.extra) if baseline else ("imbalanced-learn", "compare")
        raise ValueError(f'method {name!r} needs {library}, which is not installed: pip install "adacc[{extra}]"')
    raise ValueError(f"method {name!r} is unknown: {suggestion(name, among) or '`adacc methods` lists them'}")


def expand_methods(given: Sequence[str], available: Mapping[str, MethodInfo]) -> tuple[str, ...]:
    """Names of methods, with the names of groups expanded."""
    # CatBoost and EBM take minutes per fold: they run only if they are named.
    usual = [name for name in available if name not in BASELINES or BASELINES[name].extra == "compare"]
    groups = {
        "family": [name for name in usual if available[name].is_own],
        "baselines": [name for name in usual if not available[name].is_own],
        "default": [name for name in usual if available[name].is_own or name in QUICK],
        "all": usual,
    }
    chosen = [name for each in given for name in groups.get(each) or [find_method(each, available)]]
    return tuple(dict.fromkeys(chosen))


def unsupported(methods: Sequence[str], problem: BaseProblem) -> list[str]:
    """The methods that do not support the classes of the problem."""
    return [] if len(problem.labels) == 2 else [name for name in methods if not supports_classes(name)]


def _first_line(rule: type) -> str:
    return (rule.__doc__ or "").strip().partition("\n")[0]


class Job(NamedTuple):
    """A split, and the methods to run on it."""

    split: int
    methods: tuple[str, ...]


class Outcome(NamedTuple):
    """Predictions of a method for the test rows of a split; None, with the error, if it failed."""

    split: int
    method: str
    predictions: Predictions | ClassPredictions | None
    seconds: float
    error: str | None


def run_comparison(problem: BaseProblem, splits: Sequence[Split], plan: Plan, n_jobs: int = 1) -> Iterator[Outcome]:
    """Run all jobs in `n_jobs` worker processes (1: in this process), and yield each outcome when it is ready."""
    jobs = plan.jobs(len(splits), isinstance(problem, MulticlassProblem))
    if n_jobs == 1:
        results = in_parallel(partial(run_job, problem, splits, plan), jobs, executor="local")
        yield from chain.from_iterable(results)
        return
    with TemporaryDirectory(prefix="adacc-") as folder:
        # Each worker reads the file once; the data are not sent with each job.
        path = Path(folder, "problem")
        path.write_bytes(pickle.dumps((problem, splits), protocol=5))
        yield from chain.from_iterable(in_parallel(partial(_run_stored, path, plan), jobs, n_jobs))


def _run_stored(path: Path, plan: Plan, job: Job) -> list[Outcome]:
    return run_job(*_stored(path), plan, job)


@lru_cache(maxsize=1)
def _stored(path: Path) -> tuple[BaseProblem, list[Split]]:
    return pickle.loads(path.read_bytes())


def run_job(problem: BaseProblem, splits: Sequence[Split], plan: Plan, job: Job) -> list[Outcome]:
    """Fit and score the methods of a job."""
    split = splits[job.split]
    with warnings.catch_warnings(), threadpool_limits(1), unseen_ignored():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _warm_up(problem, split, plan, job)
        return _run_on_rows(problem, split.train, split.test, plan, job)


def _run_on_rows(
    problem: BaseProblem, train: NDArray[np.intp], test: NDArray[np.intp], plan: Plan, job: Job
) -> list[Outcome]:
    X, y, X_test = problem.X.iloc[train], problem.y[train], problem.X.iloc[test]
    groups = None if problem.dependence is None else problem.dependence[train]
    seed, in_time = plan.seed + job.split, problem.time is not None
    fold = FoldData(X, y, X_test, [plan.rounds], seed, groups, in_time, duplicates="apart")
    if job.methods[0] in BASELINES:
        fold = replace(fold, X=_booleans_as_numbers(X), X_test=_booleans_as_numbers(X_test))
    if isinstance(problem, MulticlassProblem):
        return [_timed(job.split, name, partial(_predict_classes, name, fold), 0.0) for name in job.methods]
    if job.methods[0] in BASELINES:
        (name,) = job.methods
        return [_timed(job.split, name, partial(_only, BASELINES[name].predict, fold), 0.0)]
    with Stopwatch() as binning:
        trainer = FoldTrainer(fold, TrainingOptions())
        trainer.bin_rows()
    calls = {name: partial(_only, trainer.predict, name) for name in job.methods}
    return [_timed(job.split, name, predict, binning.seconds) for name, predict in calls.items()]


def _only(predict: Callable[[Any], dict[int, Predictions]], given: Any) -> Predictions:
    """The predictions after the only number of rounds."""
    (predictions,) = predict(given).values()
    return predictions


def _predict_classes(name: str, fold: FoldData) -> ClassPredictions:
    """Fit a method to several classes, as `fit_method` does, and predict the test rows."""
    if name in BASELINES:
        return BASELINES[name].predict_classes(fold)
    (rounds,) = fold.rounds
    model = make_estimator(name, rounds=rounds, seed=fold.seed, in_time=fold.in_time, duplicates=fold.duplicates)
    return predictions_of(model.fit(fold.X, fold.y, groups=fold.groups), fold.X_test)


_WARMED_UP: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
"""Methods and column dtypes that this process has fitted already."""


def _warm_up(problem: BaseProblem, split: Split, plan: Plan, job: Job) -> None:
    """Fit the methods to a few rows, once in a process, so that loading kernels and libraries is not timed."""
    # With a tuned threshold or without, a baseline uses the same library.
    methods = tuple(name.removesuffix("-threshold") for name in job.methods)
    key = methods, tuple(sorted({str(dtype) for dtype in problem.X.dtypes}))
    if key in _WARMED_UP:
        return
    _WARMED_UP.add(key)
    classes = range(len(problem.labels))
    rows = np.concatenate([split.train[problem.y[split.train] == label][:WARM_UP_ROWS] for label in classes])
    with suppress(Exception):  # an error that also occurs with all rows is recorded there
        _run_on_rows(problem, rows, rows, replace(plan, rounds=WARM_UP_ROUNDS), job)


def _booleans_as_numbers(X: Any) -> Any:
    return X.astype(dict.fromkeys(X.select_dtypes("bool"), np.int8))


class Stopwatch:
    """Measures elapsed seconds without the time to compile kernels, which happens once on a machine."""

    seconds: float

    def __enter__(self) -> Stopwatch:
        self._compilation = Compilation().__enter__()
        self._began = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        elapsed = time.perf_counter() - self._began
        self._compilation.__exit__(*error)
        self.seconds = elapsed - self._compilation.seconds


def _timed(split: int, method: str, predict: Callable[[], Predictions | ClassPredictions], before: float) -> Outcome:
    predictions: Predictions | ClassPredictions | None
    with Stopwatch() as watch:
        try:
            predictions = predict()
            error = None if predictions.is_finite else "its scores are not numbers"
        except Exception as fault:  # the failure of one method is recorded and does not end the comparison
            predictions, error = None, " ".join(f"{type(fault).__name__}: {fault}".split())
    return Outcome(split, method, None if error else predictions, before + watch.seconds, error)


def pool_predictions(
    outcomes: Sequence[Outcome], splits: Sequence[Split]
) -> tuple[NDArray[np.intp], Any, NDArray[np.intp]]:
    """Test rows, their predictions and their splits, concatenated over the splits of one repeat."""
    done = [(each.split, each.predictions) for each in outcomes if each.predictions is not None]
    kind: Any = type(done[0][1])
    arrays = zip(*(predictions[:2] for _, predictions in done), strict=True)
    tests = [splits[split].test for split, _ in done]
    folds = np.repeat([split for split, _ in done], list(map(len, tests)))
    return np.concatenate(tests), kind(*map(np.concatenate, arrays)), folds

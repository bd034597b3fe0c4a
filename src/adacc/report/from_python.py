"""The comparison from Python: `adacc.compare(X, y)`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from adacc.algorithms.catalog import FORESTS
from adacc.comparison import available_methods, make_splits, run_comparison
from adacc.comparison.cross_validation import Plan, expand_methods, unsupported
from adacc.comparison.leaderboard import Leaderboard
from adacc.comparison.leaderboard import report as as_plain_data
from adacc.comparison.problem import BaseProblem
from adacc.comparison.reading import frame_problem
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.duplicates import DUPLICATES
from adacc.estimators.settings import one_of, read_n_jobs, whole
from adacc.evaluation.baseline_classifier import BaselineClassifier
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.training import fit_method
from adacc.report import multiclass_text, page, text
from adacc.report.notebook import to_html


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `adacc.compare`; a notebook shows its verdict, a table and charts.

    Attributes
    ----------
    result : dict
        All results as plain data, as the command `adacc compare` writes them to a JSON file.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import adacc
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = adacc.compare(X, y, methods=["adacc1", "adaboost"], folds=3)
    >>> found.table["balanced_accuracy"].round(2)
    adacc1      0.97
    adaboost    0.96
    Name: balanced_accuracy, dtype: float64
    """

    result: dict[str, Any]
    _problem: BaseProblem = field(repr=False)
    _plan: Plan = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """The methods by name, the best first: label, mean of each measure over the folds, difference from the best
        method in the measure that ranks, and its p-value (corrected resampled t-test, Holm).
        """
        rows = {}
        for method in text.finished(self.result):
            versus = method["versus_best"] or {}
            rows[method["name"]] = {
                "label": method["label"],
                **{name: (each or {}).get("mean") for name, each in method["metrics"].items()},
                "difference": versus.get("difference", 0.0),
                "p": versus.get("p"),
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def verdict(self) -> str:
        """Which method is best, by how much, and which others are not significantly different."""
        words = multiclass_text if multiclass_text.has_several_classes(self.result) else text
        return " ".join(words.summary(self.result)).replace("\xa0", " ")

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report, one file that works offline.

        Parameters
        ----------
        path : str or path
            The file; an existing file is replaced.
        """
        page.write(self.result, path)

    def best_estimator(self, own: bool = False) -> BaseAdditiveClassifier | BaselineClassifier:
        """The best method, fitted to all rows with the settings of the comparison.

        Parameters
        ----------
        own : bool, default=False
            Whether to take the best method of adacc if a baseline is better.

        Returns
        -------
        classifier
            A fitted classifier of adacc, or a `BaselineClassifier`. Its labels are those of y; for one class against
            the rest, 0 and 1.
        """
        names = [method["name"] for method in text.finished(self.result) if method["own"] or not own]
        if not names:
            raise ValueError("no method of adacc completed the comparison, so there is none to fit")
        problem, plan, name = self._problem, self._plan, names[0]
        labels, positive = self._labels()
        in_time, groups = problem.time is not None, problem.dependence
        if name in BASELINES and name not in FORESTS:
            baseline = BaselineClassifier(name, plan.rounds, positive, in_time, plan.seed, problem.duplicates)
            return baseline.fit(problem.X, labels, groups)
        return fit_method(
            name, problem.X, labels, pos_label=positive, rounds=plan.rounds_of(name), seed=plan.seed,
            groups=groups, in_time=in_time, duplicates=problem.duplicates,
        )  # fmt: skip

    def _labels(self) -> tuple[np.ndarray[Any, Any], Any]:
        """The labels to fit to, and the positive one."""
        problem = self._problem
        if multiclass_text.has_several_classes(self.result):
            return np.array(problem.labels)[problem.y], None
        if getattr(problem, "n_labels", 2) > 2:
            return problem.y, 1
        return np.array(problem.labels)[problem.y], problem.labels[1]

    def _repr_html_(self) -> str:
        return to_html(self.result, self.verdict)


def compare(
    X: Any,
    y: Any,
    *,
    methods: str | Sequence[str] = "default",
    positive: Any = None,
    groups: Any = None,
    times: Any = None,
    duplicates: str = "auto",
    metric: str = "balanced_accuracy",
    folds: int = 5,
    repeats: int = 1,
    n_estimators: int = 100,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Comparison:
    """Cross-validate adacc's methods and the baselines on the same splits.

    This is `adacc compare` for data in memory. It needs the libraries of ``pip install "adacc[compare]"``.

    Parameters
    ----------
    X : frame or array of shape (n_rows, n_features)
        The features. Text and category columns are categories.
    y : array of shape (n_rows,)
        The labels, two or more.
    methods : str or list of str, default="default"
        Names of methods as `adacc methods` lists them, or "family", "baselines", "default", "all".
    positive : label, default=None
        The positive class, which is compared with all others. None: the rarer of two labels; more than two labels are
        classes of their own.
    groups : array of shape (n_rows,), default=None
        Groups that splits keep together.
    times : array of shape (n_rows,), default=None
        Times; each fold is trained on earlier rows and tested on later rows.
    duplicates : {"auto", "together", "apart"}, default="auto"
        Whether splits keep equal rows together: "auto" if there is evidence that they are copies; always ("together")
        or never ("apart"). Given `groups` and `times` decide alone. See docs/duplicates.md.
    metric : str, default="balanced_accuracy"
        The measure that ranks the methods.
    folds, repeats : int, default=5 and 1
        Number of cross-validation folds, and of repeats with other folds.
    n_estimators : int, default=100
        Number of boosting rounds; the AdaCC forest keeps its own size.
    n_jobs : int, default=None
        Number of worker processes; None is 1, -1 all cores.
    random_state : int, default=0
        Random seed.

    Returns
    -------
    Comparison
        With `table`, `verdict`, `report(path)` and `best_estimator()`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import adacc
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = adacc.compare(X, y, methods=["adacc1", "adaboost"], folds=3)
    >>> model = found.best_estimator()
    """
    whole("folds", folds, least=2)
    whole("repeats", repeats, least=1)
    whole("n_estimators", n_estimators, least=1)
    whole("random_state", random_state, least=0, most=2**32 - 1)
    one_of("duplicates", duplicates, DUPLICATES)
    n_workers, available = read_n_jobs(n_jobs), available_methods()
    names = list(methods) if isinstance(methods, Iterable) and not isinstance(methods, str) else [methods]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"methods must be a name or a list of names, got {methods!r:.80}")
    chosen = expand_methods(names, available)
    problem = frame_problem(X, y, positive, groups, times, duplicates)
    if not isinstance(metric, str) or metric not in problem.measures:
        known = ", ".join(problem.measures)
        raise ValueError(f"metric must be one of {known} for {len(problem.labels)} classes, got {metric!r}")
    left_out = unsupported(chosen, problem)
    kept = tuple(name for name in chosen if name not in left_out)
    if not kept:
        raise ValueError(f"methods must support {len(problem.labels)} classes, got {', '.join(left_out)}")
    plan = Plan(kept, n_estimators, random_state, tuple(left_out))
    splits = make_splits(problem, folds, repeats, random_state)
    leaderboard = Leaderboard(problem, splits, plan, metric, available)
    for outcome in run_comparison(problem, splits, plan, n_workers):
        leaderboard.add(outcome)
    if not leaderboard.ranking():
        raise ValueError(f"no method completed all folds: {leaderboard.failure_reasons()}")
    return Comparison(as_plain_data(leaderboard, "adacc.compare(X, y)", folds, repeats), problem, plan)

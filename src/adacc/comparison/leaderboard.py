"""The outcomes of a comparison as plain data: measures, ranks and tests against the best method."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from adacc.comparison import explained_rows
from adacc.comparison.binary_problem import BinaryProblem
from adacc.comparison.cross_validation import MethodInfo, Outcome, Plan, pool_predictions
from adacc.comparison.data_checks import check_data
from adacc.comparison.decision import HeldOutScores, describe_decision
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.problem import BaseProblem
from adacc.comparison.splits import Split, describe
from adacc.estimators.unseen_categories import unseen_ignored
from adacc.evaluation.model_description import describe_model
from adacc.evaluation.statistics import holm, resampled_t_test
from adacc.evaluation.training import fit_method
from adacc.schemas import head

SIGNIFICANCE_LEVEL = 0.05

LIBRARIES = ("adacc", "numpy", "scikit-learn", "numba", "pandas", "imbalanced-learn", "lightgbm", "xgboost")


def measure(outcome: Outcome, splits: Sequence[Split], problem: BaseProblem) -> dict[str, Any]:
    """All measures of a method on the test rows of a split."""
    if outcome.predictions is None:
        return {}
    return {**problem.evaluate(splits[outcome.split].test, outcome.predictions), "seconds": outcome.seconds}


def spread(values: list[float], splits: Sequence[Split], unlimited: bool = False) -> dict[str, Any]:
    """Mean, standard deviation and 95 % interval of a measure over folds (corrected resampled t-test)."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return {"mean": mean, "std": None, "low": None, "high": None, "by_fold": values}
    margin = resampled_t_test(values, _test_per_train(splits)).margin
    low, high = max(mean - margin, 0.0), mean + margin
    if not unlimited:
        high = min(high, 1.0)
    return {"mean": mean, "std": float(np.std(values, ddof=1)), "low": low, "high": high, "by_fold": values}


def _test_per_train(splits: Sequence[Split]) -> float:
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))


@dataclass
class Leaderboard:
    """The ranking of the methods, updated with each outcome."""

    problem: BaseProblem
    splits: Sequence[Split]
    plan: Plan
    metric: str
    methods: dict[str, MethodInfo]
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    measures: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Add an outcome."""
        # Measured first: Ctrl-C may come meanwhile, and an outcome without its measures would be no failure either.
        measured = measure(outcome, self.splits, self.problem)
        if outcome.predictions is not None:
            self.measures.setdefault(outcome.method, {})[outcome.split] = measured
        self.outcomes.setdefault(outcome.method, []).append(outcome)

    def ranking(self) -> list[str]:
        """Names of the methods, best first; ties keep the order of the plan.

        A method that failed in a fold is not ranked: the mean over its other folds cannot be compared.
        """
        sign = 1.0 if self.problem.measures[self.metric].low_is_good else -1.0
        complete = [name for name in self.measures if not self._failed(name)]
        mean = {name: sign * float(np.mean(self._by_fold(name, self.metric))) for name in complete}
        return sorted(mean, key=lambda name: (mean[name], self.plan.methods.index(name)))

    def means(self, name: str) -> dict[str, float]:
        """Means of all measures of a method over the folds done so far."""
        return {measure: float(np.mean(self._by_fold(name, measure))) for measure in self.problem.measures}

    def table(self) -> list[dict[str, Any]]:
        """An entry for each method: the ranked methods first, then those that failed."""
        ranked = self.ranking()
        against = self._against_best(ranked)
        failed = [name for name in self.plan.methods if name in self.outcomes and name not in ranked]
        return [
            {
                "name": name,
                "label": self.methods[name].label,
                "own": self.methods[name].is_own,
                "library": self.methods[name].library,
                "about": self.methods[name].about,
                **self._spreads(name, name in ranked),
                "cost": self._costs(name),
                **({"encodings": encodings} if (encodings := self._encodings(name)) else {}),
                "versus_best": against.get(name),
                "failed": self._failed(name),
            }
            for name in [*ranked, *failed]
        ]

    def failure_reasons(self) -> str:
        """The errors of the methods, for the case that all of them failed."""
        failed = {self.methods[name].label: self._failed(name) for name in self.outcomes}
        return ", ".join(f"{label}: {each['reason']}" for label, each in failed.items() if each)

    def pooled(self, name: str) -> dict[str, Any]:
        """Curves and counts of a method on the pooled test rows of the first repeat."""
        return self.problem.pooled(*pool_predictions(self._of_first_repeat(name), self.splits))

    def held_out(self, name: str) -> HeldOutScores:
        """The scores of a method of two classes on the test rows of the first repeat."""
        rows, predictions, folds = pool_predictions(self._of_first_repeat(name), self.splits)
        return HeldOutScores(rows, folds, predictions.scores)

    def _of_first_repeat(self, name: str) -> list[Outcome]:
        outcomes = self._in_order(name)
        first = [each for each in outcomes if each.predictions and self.splits[each.split].repeat == 0]
        return first or outcomes

    def _in_order(self, name: str) -> list[Outcome]:
        """The outcomes of a method by split; parallel workers return them in any order."""
        return sorted(self.outcomes[name], key=lambda outcome: outcome.split)

    def _by_fold(self, name: str, measure: str) -> list[Any]:
        by_split = self.measures[name]
        return [by_split[split][measure] for split in sorted(by_split)]

    def _spreads(self, name: str, is_ranked: bool) -> dict[str, Any]:
        """The measures over the folds and, for several classes, the recall of each class."""
        found: dict[str, Any] = {"metrics": {}}
        if is_ranked:
            names = self.problem.measures
            found["metrics"] = {
                each: spread(self._by_fold(name, each), self.splits, unlimited=each == "seconds") for each in names
            }
            if isinstance(self.problem, MulticlassProblem):
                recalls = self._by_fold(name, "recall")
                found["recall"] = {
                    label: spread([each[label] for each in recalls], self.splits) for label in recalls[0]
                }
        return found

    def _against_best(self, ranked: list[str]) -> dict[str, dict[str, Any]]:
        """Difference of each method from the best on their common splits, its 95 % interval and Holm's p-value.

        The p-value is None if there are fewer than two common splits, or if the difference is the same on all of them.
        """
        versus: dict[str, dict[str, Any]] = {}
        p_values: dict[str, float] = {}
        for name in ranked[1:]:
            best, own = self.measures[ranked[0]], self.measures[name]
            both = sorted(best.keys() & own.keys())
            differences = [own[split][self.metric] - best[split][self.metric] for split in both]
            difference = float(np.mean(differences)) if both else None
            versus[name] = {"difference": difference, "low": None, "high": None, "p": None, "folds": len(both)}
            if len(both) < 2:
                continue
            test = resampled_t_test(differences, _test_per_train(self.splits))
            if not math.isnan(test.p_value):
                versus[name] |= {"low": test.mean - test.margin, "high": test.mean + test.margin}
                p_values[name] = test.p_value
        for name, p_value in zip(p_values, holm(list(p_values.values())), strict=True):
            versus[name]["p"] = float(p_value)
        return {
            name: {**each, "significant": each["p"] is not None and each["p"] < SIGNIFICANCE_LEVEL}
            for name, each in versus.items()
        }

    def _costs(self, name: str) -> list[float] | None:
        of_splits = [each.predictions for each in self._in_order(name) if each.predictions is not None]
        return [each.cost for each in of_splits if each.cost is not None] or None

    def _encodings(self, name: str) -> list[str]:
        """The encodings of categories that a baseline chose, by split; none if it chooses none."""
        of_splits = [each.predictions for each in self._in_order(name) if each.predictions is not None]
        return [each.encoding for each in of_splits if each.encoding is not None]

    def _failed(self, name: str) -> dict[str, Any] | None:
        errors = [each.error for each in self._in_order(name) if each.error is not None]
        return {"folds": len(errors), "reason": errors[-1]} if errors else None


def report(leaderboard: Leaderboard, command: str, folds: int, repeats: int, stopped: bool = False) -> dict[str, Any]:
    """The whole comparison as plain data, ready for JSON and for `adacc.report`."""
    problem, plan, table = leaderboard.problem, leaderboard.plan, leaderboard.table()
    for entry in table:
        if entry["metrics"]:
            entry["pooled"] = leaderboard.pooled(entry["name"])
    n_done = {name: len(outcomes) for name, outcomes in leaderboard.outcomes.items()}
    model = _best_own_model(leaderboard, table)
    return plain(
        {
            **head("compare", version("adacc"), command),
            "versions": versions(),
            "stopped": stopped,
            "data": check_data(problem, leaderboard.splits, plan.seed),
            "protocol": {
                "folds": folds,
                "repeats": repeats,
                "splits": describe(problem),
                "rounds": plan.rounds,
                "seed": plan.seed,
                "metric": leaderboard.metric,
                "n_folds": len(leaderboard.splits),
                "n_folds_done": min(n_done.get(name, 0) for name in plan.methods),
                "tuned": problem.tuned,
                **({"left_out": [leaderboard.methods[name].label for name in plan.left_out]} if plan.left_out else {}),
            },
            "methods": table,
            "model": model,
            **({} if model is None else _decision(leaderboard, model)),
        }
    )


def _best_own_model(leaderboard: Leaderboard, table: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The best adacc method that can be fitted to all rows; None if there is none."""
    problem, plan = leaderboard.problem, leaderboard.plan
    with_missing = problem.X.columns[problem.X.isna().any()].astype(str)
    for entry in table:
        if entry["own"] and entry["metrics"]:
            # A method may fail on all rows though no fold failed; then try the next.
            with suppress(ValueError), ThreadPoolExecutor(1) as beside:
                rounds = plan.rounds_of(entry["name"])
                positive = None if isinstance(problem, MulticlassProblem) else 1
                examples = None if positive is None else beside.submit(_examples, leaderboard, entry["name"])
                fitted = fit_method(
                    entry["name"], problem.X, problem.y, pos_label=positive, rounds=rounds, seed=plan.seed,
                    groups=problem.dependence, in_time=problem.time is not None, duplicates="apart",
                )  # fmt: skip
                described = describe_model(fitted, positive, set(with_missing), problem.X)
                if examples is not None:
                    described["contributions"] = explained_rows.describe_contributions(
                        fitted, problem.X, problem.y, positive, plan.seed
                    )
                    described["examples"] = examples.result()
                return {"method": entry["name"], "label": entry["label"], **described}
    return None


def _decision(leaderboard: Leaderboard, model: dict[str, Any]) -> dict[str, Any]:
    """The decision report of the best adacc method of two classes: ``"decision"`` of a report."""
    problem = leaderboard.problem
    if not isinstance(problem, BinaryProblem):
        return {}
    decided = describe_decision(problem, leaderboard.held_out(model["method"]))
    return {"decision": {"method": model["method"], "label": model["label"], **decided}}


def _examples(leaderboard: Leaderboard, method: str) -> list[dict[str, Any]]:
    """Explained test rows of the last split, by a model that is fitted to its training rows."""
    problem, plan, split = leaderboard.problem, leaderboard.plan, leaderboard.splits[-1]
    groups = None if problem.dependence is None else problem.dependence[split.train]
    fitted = fit_method(
        method, problem.X.iloc[split.train], problem.y[split.train], pos_label=1, rounds=plan.rounds_of(method),
        seed=plan.seed, groups=groups, in_time=problem.time is not None, duplicates="apart",
    )  # fmt: skip
    is_sample = len(problem.y) < problem.n_rows_of_source
    numbers = [None] * len(split.test) if is_sample else (split.test + 1).tolist()
    X_test, y_test = problem.X.iloc[split.test], problem.y[split.test]
    with unseen_ignored():
        found = explained_rows.describe_examples(fitted, X_test, y_test, 1, numbers)
    return [{**each, "prediction": str(problem.labels[each["prediction"]])} for each in found]


def versions() -> dict[str, str]:
    """Versions of Python and of the installed libraries that take part."""
    installed = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            installed[library] = version(library)
        except PackageNotFoundError:
            continue
    return installed


def plain(value: Any) -> Any:
    """The value as JSON can store it: None for NaN, and valid Unicode."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value

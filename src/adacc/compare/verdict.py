"""The outcomes of a comparison as plain data: measures, ranks, which differences are real."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from adacc import metrics
from adacc.compare import audit, curves, model
from adacc.compare.contest import Contestant, Outcome, Plan, of_rows
from adacc.compare.problem import Problem
from adacc.compare.splits import Split, describe
from adacc.evaluation.statistics import holm, resampled_t_test

FORMAT = 1

MEASURES = {
    "balanced_accuracy": "bal.acc",
    "gmean": "gmean",
    "tpr": "TPR",
    "tnr": "TNR",
    "precision": "precision",
    "f1": "F1",
    "auc": "AUC",
    "average_precision": "AP",
    "opm": "OPM",
    "brier": "Brier",
    "seconds": "seconds",
}
"""What each method is measured by, with short names for tables."""

SMALLER_IS_BETTER = ("brier", "seconds")

SIGNIFICANCE = 0.05

LIBRARIES = ("adacc", "numpy", "scikit-learn", "numba", "pandas", "imbalanced-learn", "lightgbm", "xgboost")


def measure(outcome: Outcome, splits: Sequence[Split], problem: Problem) -> dict[str, float]:
    """All measures of a method on the rows of a split."""
    if outcome.found is None:
        return {}
    y, found = problem.y[splits[outcome.split].test], outcome.found
    predicted = found.scores > 0.0
    n_called = int(predicted.sum())
    return {
        **metrics.evaluate(y, predicted.astype(np.int8), found.scores, pos_label=1),
        "precision": int(predicted[y == 1].sum()) / n_called if n_called else 0.0,
        "average_precision": float(average_precision_score(y, found.scores)),
        "brier": float(np.mean((found.probabilities - y) ** 2)),
        "seconds": outcome.seconds,
    }


@dataclass
class Leaderboard:
    """How the contest stands: outcomes are told as they come, and at any time there is a ranking."""

    problem: Problem
    splits: Sequence[Split]
    plan: Plan
    metric: str
    contestants: dict[str, Contestant]
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    measures: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)

    def tell(self, outcome: Outcome) -> None:
        self.outcomes.setdefault(outcome.method, []).append(outcome)
        if outcome.found is not None:
            by_split = self.measures.setdefault(outcome.method, {})
            by_split[outcome.split] = measure(outcome, self.splits, self.problem)

    def ranking(self) -> list[str]:
        """Methods that have been scored, the best first; the order of the plan where they are equal.

        One that failed in a part has no place: the parts that it could do may have been the easy ones.
        """
        sign = 1.0 if self.metric in SMALLER_IS_BETTER else -1.0
        whole = [name for name in self.measures if not self._failed(name)]
        mean = {name: sign * float(np.mean(self._parts(name, self.metric))) for name in whole}
        return sorted(mean, key=lambda name: (mean[name], self.plan.methods.index(name)))

    def means(self, name: str) -> dict[str, float]:
        """Of a method, over the splits so far."""
        return {measure: float(np.mean(self._parts(name, measure))) for measure in MEASURES}

    def table(self) -> list[dict[str, Any]]:
        """A line for each method: the ranked ones first, then those that failed."""
        ranked = self.ranking()
        against = self._against_best(ranked)
        failed = [name for name in self.plan.methods if name in self.outcomes and name not in ranked]
        return [
            {
                "name": name,
                "label": self.contestants[name].label,
                "own": self.contestants[name].is_own,
                "library": self.contestants[name].library,
                "about": self.contestants[name].about,
                "metrics": {measure: self._spread(name, measure) for measure in MEASURES} if name in ranked else {},
                "cost": self._costs(name),
                "versus_best": against.get(name),
                "failed": self._failed(name),
            }
            for name in [*ranked, *failed]
        ]

    def why_none(self) -> str:
        """What each method failed of, where all did."""
        failed = {self.contestants[name].label: self._failed(name) for name in self.outcomes}
        return ", ".join(f"{label}: {each['reason']}" for label, each in failed.items() if each)

    def pooled(self, name: str) -> dict[str, Any]:
        """What can be seen of all rows of the first repeat at once."""
        first = [each for each in self._in_order(name) if each.found and self.splits[each.split].repeat == 0]
        rows, found = of_rows(first or self._in_order(name), self.splits)
        return curves.pooled(self.problem.y[rows], found.probabilities, found.scores > 0.0)

    def _in_order(self, name: str) -> list[Outcome]:
        """Of the splits: outcomes of several workers come as they like."""
        return sorted(self.outcomes[name], key=lambda outcome: outcome.split)

    def _parts(self, name: str, measure: str) -> list[float]:
        by_split = self.measures[name]
        return [by_split[split][measure] for split in sorted(by_split)]

    def _spread(self, name: str, measure: str) -> dict[str, Any]:
        parts = self._parts(name, measure)
        mean = float(np.mean(parts))
        if len(parts) < 2:
            return {"mean": mean, "std": None, "low": None, "high": None, "parts": parts}
        margin = resampled_t_test(parts, self._test_per_train).margin
        low, high = max(mean - margin, 0.0), mean + margin
        if measure != "seconds":
            high = min(high, 1.0)
        return {"mean": mean, "std": float(np.std(parts, ddof=1)), "low": low, "high": high, "parts": parts}

    def _against_best(self, ranked: list[str]) -> dict[str, dict[str, Any]]:
        """Each method's difference from the best on the splits that both have, p-values corrected for their number."""
        found, p_values = {}, {}
        for name in ranked[1:]:
            best, own = self.measures[ranked[0]], self.measures[name]
            both = sorted(best.keys() & own.keys())
            differences = [own[split][self.metric] - best[split][self.metric] for split in both]
            if len(both) < 2:
                found[name] = {"difference": float(np.mean(differences)) if both else None, "p": None}
                continue
            test = resampled_t_test(differences, self._test_per_train)
            found[name], p_values[name] = {"difference": test.mean}, test.p_value
        for name, p_value in zip(p_values, holm(list(p_values.values())), strict=True):
            found[name]["p"] = float(p_value)
        return {
            name: {**each, "significant": each["p"] is not None and each["p"] < SIGNIFICANCE}
            for name, each in found.items()
        }

    @property
    def _test_per_train(self) -> float:
        return float(np.mean([len(split.test) / len(split.train) for split in self.splits]))

    def _costs(self, name: str) -> list[float] | None:
        found = [each.found.cost for each in self._in_order(name) if each.found is not None]
        costs = [cost for cost in found if cost is not None]
        return costs or None

    def _failed(self, name: str) -> dict[str, Any] | None:
        errors = [each.error for each in self._in_order(name) if each.error is not None]
        return {"parts": len(errors), "reason": errors[-1]} if errors else None


def report(standing: Leaderboard, command: str, folds: int, repeats: int, stopped: bool = False) -> dict[str, Any]:
    """The whole comparison as plain data, ready for JSON and for `adacc.report`."""
    problem, plan, table = standing.problem, standing.plan, standing.table()
    for line in table:
        if line["metrics"]:
            line["pooled"] = standing.pooled(line["name"])
    n_done = {name: len(outcomes) for name, outcomes in standing.outcomes.items()}
    return _plain(
        {
            "format": FORMAT,
            "adacc": version("adacc"),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": command,
            "versions": versions(),
            "stopped": stopped,
            "data": audit.look(problem, standing.splits, plan.seed),
            "protocol": {
                "folds": folds,
                "repeats": repeats,
                "splits": describe(problem),
                "rounds": plan.rounds,
                "seed": plan.seed,
                "metric": standing.metric,
                "parts": len(standing.splits),
                "parts_done": min(n_done.get(name, 0) for name in plan.methods),
                "tuned": "the cost of the common class, by F1 on the training rows",
            },
            "methods": table,
            "model": _model(standing, table),
        }
    )


def _model(standing: Leaderboard, table: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The best of our own methods that can be fitted to all rows; None if there is none."""
    problem, plan = standing.problem, standing.plan
    gaps = problem.X.columns[problem.X.isna().any()].astype(str)
    for line in table:
        if line["own"] and line["metrics"]:
            with suppress(ValueError):  # what the parts allow all rows may not, as gaps in a few of them; then the next
                rounds = plan.rounds_of(line["name"])
                fitted = model.fit(
                    line["name"], problem.X, problem.y, pos_label=1, rounds=rounds, seed=plan.seed,
                    groups=problem.dependence, in_time=problem.time is not None,
                )  # fmt: skip
                return {"method": line["name"], "label": line["label"], **model.describe(fitted, 1, set(gaps))}
    return None


def versions() -> dict[str, str]:
    """Of what had a part in the figures."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def _plain(value: Any) -> Any:
    """What JSON has; it has no NaN, and of names of files no bytes that are no text."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value

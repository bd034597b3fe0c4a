"""The decision report of the best adacc method of a comparison, from its predictions of test rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adacc.comparison.binary_problem import BinaryProblem
from adacc.estimators.decision_tuning import find_threshold, tune_rule
from adacc.estimators.labelled_rows import LabelledRows
from adacc.evaluation.assessment import DecidedRows, assess, describe_report
from adacc.evaluation.decision_costs import Policy, compare_policies
from adacc.model.decision_spec import DecisionSpec, read_decision

USUAL_RULES = ("f1", "recall>=0.9", "precision>=0.5", "alerts<=20/1000")
"""Rules that the report compares; others are added if decisions of today are known."""


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of test rows, each by the model of a fold that was not fitted on it."""

    rows: NDArray[np.intp]  # numbers of the rows
    folds: NDArray[np.intp]
    scores: NDArray[np.float64]  # above 0 the method predicts the positive class

    def labelled(self, problem: BinaryProblem, which: NDArray[np.bool_] | slice = slice(None)) -> LabelledRows:
        """Some of the rows, to tune a rule on."""
        rows = self.rows[which]
        groups = None
        if problem.time is None and problem.dependence is not None:
            groups = pd.factorize(problem.dependence[rows])[0].astype(np.intp)
        return LabelledRows(self.scores[which], problem.y[rows] == 1, np.ones(len(rows)), groups)

    def alerts(self, spec: DecisionSpec | None, problem: BinaryProblem) -> NDArray[np.bool_]:
        """The decisions of a rule whose threshold for the rows of a fold is tuned on the other folds.

        In time order it is tuned on earlier folds only, and no row of the first fold is an alert. A limit on alerts is
        a share of the fold's own scores, which needs no classes; scores of models with fewer training rows are on
        another scale. None is the decision of the method.
        """
        if spec is None:
            return self.scores > 0.0
        alert = np.zeros(len(self.rows), dtype=bool)
        for fold in np.unique(self.folds[self.has_threshold(problem)]).tolist():
            here = self.folds == fold
            others = ~here if problem.time is None else self.folds < fold
            tuned_on = here if spec.kind == "alerts" else others
            alert[here] = self.scores[here] >= find_threshold(spec, self.labelled(problem, tuned_on))
        return alert

    def has_threshold(self, problem: BinaryProblem) -> NDArray[np.bool_]:
        """Which rows a threshold can be tuned for without later rows: in time order not those of the first fold."""
        return self.folds > self.folds.min() if problem.time is not None else np.ones(len(self.folds), dtype=bool)


def describe_decision(problem: BinaryProblem, found: HeldOutScores) -> dict[str, Any]:
    """A recommended rule, what it achieves on the test rows, and other rules, as plain data."""
    several_folds = len(np.unique(found.folds)) > 1
    tested = found.has_threshold(problem) if several_folds else np.ones(len(found.rows), dtype=bool)
    rows = found.rows[tested]
    is_positive = problem.y[rows] == 1
    today = None if problem.today is None else problem.today[rows]
    spec, reason = _recommend(today) if several_folds else (None, "only one fold is complete, and rules need another")
    alert = found.alerts(spec, problem)[tested]
    if spec is not None and spec.kind == "alerts" and today is not None:
        reason += f" (on the test rows it raises {int(alert.sum()):,}, and today’s decisions {int(today.sum()):,})"
    assessment = assess(
        DecidedRows(is_positive, alert, found.scores[tested], today, groups=_groups(problem, rows)),
        {} if problem.subgroups is None else {name: each.iloc[rows] for name, each in problem.subgroups.items()},
        None if problem.time is None else (str(problem.time.name), problem.time.iloc[rows]),
    )
    rules = _rules(problem, found, tested, is_positive, today) if several_folds else []
    return {
        "positive": str(problem.positive),
        "negative": str(problem.negative),
        "assessment": assessment.to_dict(),
        "decision_rule": _describe_rule(spec, problem, found),
        "reason": reason,
        "rules": list(rules),
        "columns": {"baseline": problem.baseline, "time": None if problem.time is None else str(problem.time.name)},
        "commands": {},
    }


def _groups(problem: BinaryProblem, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """The number of the group of each row; None without groups."""
    return None if problem.group is None else pd.factorize(problem.group.iloc[rows])[0]


def _recommend(today: NDArray[np.bool_] | None) -> tuple[DecisionSpec | None, str]:
    """A rule, and why it is recommended."""
    if today is not None and today.any():
        return _as_many_as(today), "its tuning allows at most as many alerts as today’s decisions raise"
    return read_decision("f1"), "it balances recall and precision, where neither the costs nor a capacity are known"


def _as_many_as(today: NDArray[np.bool_]) -> DecisionSpec:
    return read_decision(f"alerts<={1000 * float(today.mean()):.3g}/1000")


def _rules(
    problem: BinaryProblem,
    found: HeldOutScores,
    tested: NDArray[np.bool_],
    is_positive: NDArray[np.bool_],
    today: NDArray[np.bool_] | None,
) -> Iterator[dict[str, Any]]:
    """What the method's own decision and some rules achieve on the `tested` rows, whose labels `is_positive` are."""
    names = list(USUAL_RULES)
    if today is not None and today.any():
        names.insert(0, str(_as_many_as(today)))
        if (today & is_positive).any():
            names.insert(1, f"recall>={float(today[is_positive].mean()):.3g}")
    groups = _groups(problem, found.rows[tested])
    for name in (None, *dict.fromkeys(names)):
        alert = found.alerts(None if name is None else read_decision(name), problem)[tested]
        policy: Policy = compare_policies(is_positive, alert, alert, None, groups)[0]
        yield {
            "rule": name,
            **{
                each: vars(getattr(policy, each))
                for each in ("recall", "precision", "alerts_per_1000", "true_negative_rate")
            },
        }


def _describe_rule(spec: DecisionSpec | None, problem: BinaryProblem, found: HeldOutScores) -> dict[str, Any]:
    """The rule tuned on all test rows, with the intervals that it states for new rows."""
    if spec is None:
        return {"rule": None, "statistic": None, "threshold": None, "stated": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a rule that cannot be met is visible in the figures
        decision = tune_rule(spec, 1, found.labelled(problem), "held-out")
    return {
        "rule": str(spec),
        "statistic": None,  # the threshold of the model that is trained on all rows is another one
        "threshold": None,
        "stated": describe_report(decision.report),
    }

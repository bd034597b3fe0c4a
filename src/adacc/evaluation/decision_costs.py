"""What decisions cost: those of a rule, of today, no alert at all, and an alert for every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.evaluation.estimates import Array, Estimate, Groups, share_of, totals
from adacc.model.decision import read_costs
from adacc.model.decision_spec import DecisionSpec


@dataclass(frozen=True)
class Costs:
    """Cost of each outcome, of all rows or of each row."""

    false_negative: Array | float
    false_positive: Array | float
    true_negative: float = 0.0
    true_positive: float = 0.0

    def by_row(self, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_]) -> Array:
        """The cost of the decision of each row."""
        with_alert = np.where(is_positive, self.true_positive, self.false_positive)
        without = np.where(is_positive, self.false_negative, self.true_negative)
        return np.where(alert, with_alert, without).astype(np.float64)


def costs_of(spec: DecisionSpec | None, positive: int, columns: Mapping[str, NDArray[Any]]) -> Costs | None:
    """The costs that a rule for two classes names; None if it names none. `positive` numbers the positive class."""
    if spec is None or spec.kind not in ("cost", "row_cost"):
        return None
    if spec.kind == "row_cost":
        return Costs(read_costs(spec.fn, columns), read_costs(spec.fp, columns))
    (tn, fp), (fn, tp) = np.array(spec.costs, dtype=np.float64)[np.ix_(*[[1 - positive, positive]] * 2)].tolist()
    return Costs(fn, fp, tn, tp)


@dataclass(frozen=True)
class Policy:
    """A way to decide about all rows, and what it achieves.

    Attributes
    ----------
    name : {"rule", "today", "nothing", "always"}
        The decision rule, the decisions of today, never an alert, or always one.
    cost, cost_per_1000 : float or None
        Total cost, and cost of 1,000 rows; None without costs.
    saved : Estimate or None
        Total cost that the rule saves compared with this policy, on these rows.
    """

    name: str
    alerts: int
    alerts_per_1000: Estimate
    recall: Estimate
    precision: Estimate
    true_negative_rate: Estimate
    cost: float | None = None
    cost_per_1000: float | None = None
    saved: Estimate | None = None


@dataclass(frozen=True)
class Agreement:
    """Number of positive rows that the rule and today's decisions find."""

    both: int
    rule_only: int
    today_only: int
    neither: int

    @classmethod
    def of(cls, is_positive: NDArray[np.bool_], rule: NDArray[np.bool_], today: NDArray[np.bool_]) -> Agreement:
        pairs = ((rule & today), (rule & ~today), (~rule & today), (~rule & ~today))
        return cls(*(int((each & is_positive).sum()) for each in pairs))


def compare_policies(
    is_positive: NDArray[np.bool_],
    rule: NDArray[np.bool_],
    today: NDArray[np.bool_] | None,
    costs: Costs | None,
    groups: Groups = None,
) -> list[Policy]:
    """The rule beside today's decisions and, if there are costs, beside no alerts and alerts only.

    Empty if there is nothing to compare with.
    """
    decisions = {"rule": rule}
    if today is not None:
        decisions["today"] = today
    if costs is not None:
        decisions |= {"nothing": np.zeros_like(rule), "always": np.ones_like(rule)}
    if len(decisions) == 1:
        return []
    money: dict[str, dict[str, Any]] = {name: {} for name in decisions}
    if costs is not None:
        by_row = np.array([costs.by_row(is_positive, alert) for alert in decisions.values()])
        saved = totals(by_row - by_row[0], is_positive, groups)
        for name, each, estimate in zip(decisions, by_row, saved, strict=True):
            total = float(each.sum())
            money[name] = {
                "cost": total,
                "cost_per_1000": 1000 * total / len(each),
                "saved": None if name == "rule" else estimate,
            }
    return [_policy(name, is_positive, alert, groups, money[name]) for name, alert in decisions.items()]


def _policy(
    name: str, is_positive: NDArray[np.bool_], alert: NDArray[np.bool_], groups: Groups, money: Mapping[str, Any]
) -> Policy:
    found = alert & is_positive
    return Policy(
        name,
        int(alert.sum()),
        share_of(alert, np.ones(len(alert)), groups).times(1000),
        share_of(found, is_positive, groups),
        share_of(found, alert, groups),
        share_of(~alert & ~is_positive, ~is_positive, groups),
        **money,
    )

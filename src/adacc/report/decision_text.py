"""Sentences about a decision rule and what it achieves, for the report, the model card and the terminal."""

from __future__ import annotations

from typing import Any

from adacc.evaluation.group_tests import FEW_POSITIVES
from adacc.model.decision_spec import DecisionSpec
from adacc.report.numbers import percent, significant
from adacc.report.text import NAMES_MAX, listed, p_value, quoted

FIGURES = {
    "recall": ("Recall", "share of the positive rows that are alerts (found)"),
    "precision": ("Precision", "share of the alerts that are positive rows (justified alerts)"),
    "alerts_per_1000": ("Alerts per 1,000 rows", "rows that are predicted positive"),
    "true_negative_rate": ("True negative rate", "specificity: share of the negative rows without an alert"),
    "balanced_accuracy": ("Balanced accuracy", "mean of recall and true negative rate"),
    "auc": ("AUC", "area under the ROC curve: probability that a positive row scores above a negative one"),
    "average_precision": ("Average precision", "mean precision over all values of the recall"),
}
"""Name and description of each figure, by its key in JSON."""

PERCENT = ("recall", "precision", "true_negative_rate", "balanced_accuracy", "positive_rate")

POLICIES = {
    "rule": "the decision rule",
    "today": "today’s decisions",
    "nothing": "doing nothing (never an alert)",
    "always": "an alert for every row",
}


def figure(name: str, value: float | None) -> str:
    """A figure as text.

    Examples
    --------
    >>> figure("recall", 0.8766), figure("auc", 0.98765), figure("alerts_per_1000", 12.345), figure("auc", None)
    ('87.7%', '0.988', '12.3', '–')
    """
    if value is None:
        return "–"
    if name in PERCENT:
        return f"{percent(value, 1)}%"
    return f"{value:.3f}" if name in ("auc", "average_precision") else significant(value, 3)


def interval(name: str, estimate: dict[str, Any] | None, joined: str = " to ") -> str:
    """The interval of an estimate; empty if there is none.

    Examples
    --------
    >>> interval("recall", {"value": 0.8, "low": 0.7, "high": 0.9})
    '70.0 to 90.0%'
    """
    if estimate is None or estimate["low"] is None:
        return ""
    low, high = figure(name, estimate["low"]), figure(name, estimate["high"])
    return f"{low.removesuffix('%')}{joined}{high}"


def of_training_rows(share: float | None) -> str:
    """How many of the rows are training rows of the model.

    Examples
    --------
    >>> of_training_rows(1.0), of_training_rows(0.124)
    ('all rows, or nearly all, are training rows of the model', 'about 12% of the rows are training rows of the model')
    """
    if share is not None and share >= 0.95:
        return "all rows, or nearly all, are training rows of the model"
    return f"about {100 * (share or 0.0):.0f}% of the rows are training rows of the model"


def money(value: float) -> str:
    """An amount in the unit of the costs.

    Examples
    --------
    >>> money(1234567.8), money(-12.345), money(0.5)
    ('1,234,568', '−12.3', '0.5')
    """
    return significant(value, 3)


def rule_in_words(spec: DecisionSpec | None, positive: Any) -> str:
    """What a rule for two classes does."""
    label = quoted(positive)
    if spec is None:
        return f"The model has no decision rule. The method decides: a score above 0 is an alert for {label}."
    share = f"{100 * spec.value:g}%"
    number = f"{spec.value:g}"
    if spec.kind in ("cost", "row_cost"):
        return _costs_in_words(spec, label)
    per_day = "" if spec.day_of is None else f" of each day of {quoted(spec.day_of)}"
    return {
        "recall": f"A row is an alert if its score is at least a threshold. The threshold is the highest one whose "
        f"recall is at least {share} on the tuning rows: the fewest alerts that find this share of {label}.",
        "precision": f"A row is an alert if its score is at least a threshold. The threshold is the one that finds "
        f"most rows of {label} with a precision of at least {share} on the tuning rows.",
        "alerts": f"A row is an alert if its score is at least a threshold, which allows at most {number} alerts per "
        f"{spec.per:,.0f} rows on the tuning rows.",
        "top": f"The {spec.value:,.0f} rows{per_day} with the highest scores are alerts"
        + ("." if per_day else ", of each table that is predicted."),
        "fbeta": "A row is an alert if its score is at least a threshold, the one of the best "
        + ("F1 (harmonic mean of precision and recall)" if spec.value == 1.0 else f"F-beta (beta = {number})")
        + " on the tuning rows.",
        "threshold": f"A row is an alert if its probability of {label} is at least {number}.",
        "score": f"A row is an alert if its score is at least {number}.",
    }[spec.kind]


def _costs_in_words(spec: DecisionSpec, label: str) -> str:
    if spec.kind == "row_cost":
        each = [f"the value of {quoted(cost)}" if isinstance(cost, str) else f"{cost:g}" for cost in (spec.fn, spec.fp)]
        costs = f"A false negative (missed row) costs {each[0]}, a false positive (false alarm) {each[1]}."
    else:
        costs = f"The costs by true and predicted class are {spec.costs}."
    if spec.tuned:
        return f"{costs} A row is an alert for {label} above the threshold of the lowest cost on the tuning rows."
    return f"{costs} A row is an alert for {label} where that has the lower expected cost."


def headline(assessment: dict[str, Any], positive: Any) -> str:
    """The sentence that a report begins with."""
    figures, label = assessment["figures"], quoted(positive)
    recall, precision = figures["recall"], figures["precision"]
    alerts = f"{figure('alerts_per_1000', figures['alerts_per_1000']['value'])} alerts per 1,000 rows"
    if recall["value"] is None:
        return f"There are no rows of {label}, so that recall and precision are unknown. The rule raises {alerts}."
    found = (
        f"The rule finds {figure('recall', recall['value'])} of the rows of {label} (recall; 95% interval "
        f"{interval('recall', recall)})"
    )
    if precision["value"] is None:
        return f"{found}: it raises no alert."
    return (
        f"{found} and raises {alerts}, of which {figure('precision', precision['value'])} are {label} (precision; "
        f"{interval('precision', precision)})."
    )


def rule_costs(assessment: dict[str, Any]) -> str:
    """A sentence about the cost of the rule; empty without costs."""
    policies = {each["name"]: each for each in assessment["policies"]}
    if not policies or policies["rule"]["cost"] is None:
        return ""
    compared = []
    for name in ("nothing", "always", "today"):
        saved = policies[name]["saved"] if name in policies else None
        if saved is None:
            continue
        other = POLICIES[name].partition(" (")[0]
        amount = money(abs(saved["value"]))
        text = f"saves {amount} compared with {other}" if saved["value"] >= 0 else f"costs {amount} more than {other}"
        compared.append(text + (" (the interval includes 0)" if saved["low"] <= 0 <= saved["high"] else ""))
    return f"The rule costs {money(policies['rule']['cost'])} on these rows. It {listed(compared)}."


def chance(assessment: dict[str, Any]) -> str:
    """How groups are compared, and how often they would be marked by chance; empty without groups."""
    if not any(test["p"] is not None for test in assessment["tests"]):
        return ""
    return (
        "A mark means that a group differs significantly from the other rows, by one χ² test for each column and "
        "measure (p\xa0<\xa00.05, corrected over the columns and the periods by Holm). If no group differed, about one "
        "report in 20 would have a marked recall by chance, and one in 20 a marked precision."
    )


def tests_of(assessment: dict[str, Any], column: str | None) -> list[dict[str, Any]]:
    """The tests of the groups of a column, or of the periods."""
    return [test for test in assessment["tests"] if test["column"] == column]


def differences(groups: list[dict[str, Any]], tests: list[dict[str, Any]]) -> list[str]:
    """Sentences about the groups of a column that differ from the other rows, and those of few positive rows.

    `tests` are those of the column.
    """
    p_values = {test["measure"]: test["p"] for test in tests}
    sentences = [
        f"{group['name']}: the {name} is {figure(name, group[name]['value'])} ({interval(name, group[name])}), "
        f"{'below' if group[name]['value'] < group['others'][name] else 'above'} the "
        f"{figure(name, group['others'][name])} of the other rows (the groups differ with {p_value(p_values[name])})."
        for group in groups
        for name in group["differs"]
    ]
    few = [f"{group['name']} ({group['positives']:,})" for group in groups if group["positives"] < FEW_POSITIVES]
    if few:
        named = few if len(few) <= NAMES_MAX else [*few[:NAMES_MAX], f"{len(few) - NAMES_MAX} more"]
        sentences.append(f"Fewer than {FEW_POSITIVES} positive rows, so that the recall is uncertain: {listed(named)}.")
    return sentences

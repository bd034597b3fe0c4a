"""The tables of a decision rule; each cell has its text, the number it is sorted by, and the smaller text below."""

from __future__ import annotations

from typing import Any

from adacc.model.decision_spec import read_decision
from adacc.report.decision_text import (
    FIGURES,
    POLICIES,
    chance,
    differences,
    figure,
    headline,
    interval,
    money,
    rule_costs,
    rule_in_words,
    tests_of,
)
from adacc.report.numbers import significant
from adacc.report.tables import Table, cell
from adacc.report.text import quoted

STATED = ("recall", "precision", "alerts_per_1000")
GROUP_HEADS = ("Rows", "Positive rate", "Alerts", "Alerts per 1,000", "Recall", "Precision")


def about_decision(decided: dict[str, Any]) -> dict[str, Any]:
    """Texts and tables of the sections about a decision rule.

    `decided` has ``assessment`` and ``decision_rule`` as in the JSON file of `adacc evaluate`, the labels ``positive``
    and ``negative``, ``commands`` by purpose, and ``columns``, the names of those of today's decisions and of times.
    """
    assessment, rule = decided["assessment"], decided["decision_rule"]
    return {
        "sections": sections(assessment),
        "positive": quoted(decided["positive"]),
        "headline": headline(assessment, decided["positive"]),
        "figures": [
            {
                "figure": figure(name, assessment["figures"][name]["value"]),
                "interval": interval(name, assessment["figures"][name]),
                "label": label,
                "about": about,
            }
            for name, (label, about) in FIGURES.items()
        ],
        "rule": rule,
        "intro": None,
        "baseline_note": "",
        "rules": None,
        "stated": stated(assessment, rule, decided["columns"].get("cost") is None),
        "stated_note": "A value outside means that these rows differ from the tuning rows, or chance (one in 20).",
        "confusion": confusion(decided),
        "commands": decided["commands"],
        "policies": policies(assessment),
        "costs": rule_costs(assessment),
        "agreement": assessment["agreement"],
        "baseline": decided["columns"].get("baseline"),
        "capacity": capacity(assessment),
        "per_day": assessment["rule"]["alerts_per_day"] is not None,
        "gains": gains(assessment),
        "subgroups": [
            {
                "column": column,
                "chart": f"subgroup{number}",
                "table": groups(column, of_column),
                "differences": differences(of_column, tests_of(assessment, column)),
            }
            for number, (column, of_column) in enumerate(assessment["subgroups"].items())
        ],
        "periods": periods(assessment, decided["columns"].get("time")),
        "chance": chance(assessment),
        "has_positives": bool(assessment["positives"]),
    }


def about_comparison_decision(decided: dict[str, Any]) -> dict[str, Any]:
    """Texts and tables about the rule that is recommended for the best adacc method of a comparison."""
    spec = None if decided["decision_rule"]["rule"] is None else read_decision(decided["decision_rule"]["rule"])
    rule = {**decided["decision_rule"], "words": rule_in_words(spec, decided["positive"])}
    n_groups = decided["assessment"]["groups"]
    of_groups = "" if n_groups is None else f" for new groups, as those of these {n_groups:,} groups"
    what = "The method’s own decision is shown" if spec is None else "The rule is recommended"
    return {
        **about_decision({**decided, "decision_rule": rule}),
        "intro": f"What {decided['label']}, the best method of adacc, achieves on the test rows. "
        f"Every row is predicted by a model that was not fitted on it, with a threshold that is tuned on the other "
        f"folds. {what} because {decided['reason']}. Ranges are 95% intervals{of_groups}.",
        "rules": rules(decided),
        "baseline_note": "It is not a feature of the models, since today’s decision can contain the answer.",
        "stated_note": "They are those of a threshold that is tuned on all test rows.",
    }


def rules(decided: dict[str, Any]) -> Table | None:
    """What some rules achieve; the recommended one is marked."""
    names = ("recall", "precision", "alerts_per_1000", "true_negative_rate")
    rows = [
        {
            "label": each["rule"] or "no rule: the method decides",
            "cells": [estimate(name, each[name]) for name in names],
            "best": each["rule"] == decided["decision_rule"]["rule"],
        }
        for each in decided["rules"]
    ]
    return {"heads": ["Rule", *(FIGURES[name][0] for name in names)], "rows": rows} if rows else None


def sections(assessment: dict[str, Any]) -> list[tuple[str, str]]:
    """Ids and names of the sections, for the contents."""
    has_costs = assessment["policies"] and assessment["policies"][0]["cost"] is not None
    return [
        ("rule", "Rule"),
        *([("policies", "Costs" if has_costs else "Today")] if assessment["policies"] else []),
        *([("capacity", "Alerts"), ("gains", "Gains")] if assessment["positives"] else []),
        *([("subgroups", "Subgroups")] if assessment["subgroups"] else []),
        *([("periods", "Over time")] if assessment["periods"] else []),
    ]


def estimate(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """A cell with a value and its interval."""
    return cell(figure(name, value["value"]), value["value"], interval(name, value))


def stated(assessment: dict[str, Any], rule: dict[str, Any], own_costs: bool) -> Table | None:
    """What the rule achieved on its tuning rows, beside what it achieves here; None if it was not measured.

    The mean cost is included if the costs are those of the rule.
    """
    if rule["stated"] is None:
        return None
    achieved, rows = rule["stated"]["achieved"], []
    for name in STATED:
        then, here = estimate(name, achieved[name]), estimate(name, assessment["figures"][name])
        rows.append(_stated_row(FIGURES[name][0], then, here, achieved[name]))
    if own_costs and "mean_cost" in achieved and assessment["policies"]:
        mean, cost = achieved["mean_cost"], assessment["policies"][0]["cost_per_1000"] / 1000
        then = cell(money(mean["value"]), mean["value"], f"{money(mean['low'])} to {money(mean['high'])}")
        rows.append(_stated_row("Mean cost of a row", then, cell(money(cost), cost), mean))
    heads = ["Measure", f"Stated, on {rule['stated']['n_rows']:,} {rule['stated']['rows']} rows", "On these rows"]
    return {"heads": [*heads, "Stated interval"], "rows": rows}


def _stated_row(
    label: str, then: dict[str, Any], here: dict[str, Any], interval: dict[str, float | None]
) -> dict[str, Any]:
    verdict, low, high = "–", interval["low"], interval["high"]
    if low is not None and high is not None and here["sort"] is not None:
        verdict = "inside" if low <= here["sort"] <= high else "outside"
    return {"label": label, "cells": [then, here, cell(verdict)]}


def confusion(decided: dict[str, Any]) -> Table:
    """The confusion matrix in counts."""
    counts = decided["assessment"]["confusion"]
    words = {
        "true_positives": "true positives (found)",
        "false_negatives": "false negatives (missed)",
        "false_positives": "false positives (false alarms)",
        "true_negatives": "true negatives",
    }
    cells = [cell(f"{counts[name]:,}", counts[name], about) for name, about in words.items()]
    labels = [f"Actual {quoted(decided[name])}" for name in ("positive", "negative")]
    rows = [{"label": labels[0], "cells": cells[:2]}, {"label": labels[1], "cells": cells[2:]}]
    return {"heads": ["", "Alert", "No alert"], "rows": rows}


def policies(assessment: dict[str, Any]) -> Table | None:
    """The rule beside today's decisions, no alerts and alerts only; None if there is nothing to compare with."""
    found = assessment["policies"]
    if not found:
        return None
    with_costs = found[0]["cost"] is not None
    rows = []
    for each in found:
        cells = [cell(f"{each['alerts']:,}", each["alerts"])]
        names = ("alerts_per_1000", "recall", "precision", "true_negative_rate")
        cells += [estimate(name, each[name]) for name in names]
        if each["name"] in ("nothing", "always"):  # known without these rows
            cells = [cell(known["text"], known["sort"]) for known in cells]
        if with_costs:
            saved = each["saved"]
            cells.append(cell(money(each["cost"]), each["cost"], f"{money(each['cost_per_1000'])} per 1,000 rows"))
            cells.append(
                cell("")
                if saved is None
                else cell(money(saved["value"]), saved["value"], f"{money(saved['low'])} to {money(saved['high'])}")
            )
        name = POLICIES[each["name"]]
        rows.append({"label": name[0].upper() + name[1:], "cells": cells, "best": each["name"] == "rule"})
    heads = ["Decision", "Alerts", "Per 1,000 rows", "Recall", "Precision", "True negative rate"]
    return {"heads": heads + (["Cost", "The rule saves"] if with_costs else []), "rows": rows}


def capacity(assessment: dict[str, Any]) -> Table:
    """Recall and precision by number of alerts; the rule has a row."""
    per_day = assessment["rule"]["alerts_per_day"] is not None
    found = sorted(
        [*((each, False) for each in assessment["capacity"]), (assessment["rule"], True)],
        key=lambda pair: pair[0]["rows"],
    )
    rows = []
    for each, is_rule in found:
        cells = [cell(significant(each["alerts_per_day"], 3), each["alerts_per_day"])] if per_day else []
        cells += [cell(f"{each['rows']:,.0f}", each["rows"])]
        cells += [estimate(name, each[name]) for name in ("recall", "precision")]
        label = significant(each["alerts_per_1000"], 3)
        rows.append({"label": f"{label}: the rule" if is_rule else label, "cells": cells, "best": is_rule})
    heads = ["Alerts per 1,000 rows", *(["Alerts per day"] if per_day else []), "Alerts", "Recall", "Precision"]
    return {"heads": heads, "rows": rows}


def gains(assessment: dict[str, Any]) -> Table:
    """Recall, precision and lift of the rows of the highest scores."""
    rows = [
        {
            "label": f"Top {100 * each['share']:g}%",
            "cells": [
                cell(f"{each['rows']:,.0f}", each["rows"]),
                estimate("recall", each["recall"]),
                estimate("precision", each["precision"]),
                cell(figure("lift", each["lift"]["value"]), each["lift"]["value"], interval("lift", each["lift"])),
            ],
        }
        for each in assessment["gains"]
    ]
    return {"heads": ["Highest scores", "Rows", "Recall (gain)", "Precision", "Lift"], "rows": rows}


def group_cells(group: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures of a group."""
    return [
        cell(f"{group['rows']:,}", group["rows"], f"{group['positives']:,} positive"),
        estimate("positive_rate", group["positive_rate"]),
        cell(f"{group['alerts']:,}", group["alerts"]),
        estimate("alerts_per_1000", group["alerts_per_1000"]),
        *({**estimate(name, group[name]), "differs": name in group["differs"]} for name in ("recall", "precision")),
    ]


def groups(column: str, of_column: list[dict[str, Any]]) -> Table:
    """The figures of each group."""
    rows = [{"label": group["name"], "cells": group_cells(group)} for group in of_column]
    return {"heads": [column, *GROUP_HEADS], "rows": rows}


def periods(assessment: dict[str, Any], column: str | None) -> dict[str, Any] | None:
    """The figures of each period; None without times."""
    found = assessment["periods"]
    if found is None:
        return None
    rows = []
    for each in found["periods"]:
        cells = group_cells(each["figures"])
        cells[3] = estimate("alerts_per_day", each["alerts_per_day"])
        rows.append({"label": each["figures"]["name"], "cells": cells})
    heads = ["Period", *GROUP_HEADS]
    heads[4] = "Alerts per day"
    return {
        "column": column,
        "unit": found["unit"],
        "days": found["days"],
        "rows_per_day": significant(found["rows_per_day"], 3),
        "first_day": found["periods"][0]["first_day"],
        "last_day": found["periods"][-1]["last_day"],
        "has_charts": len(found["periods"]) > 1,
        "table": {"heads": heads, "rows": rows},
        "differences": differences([each["figures"] for each in found["periods"]], tests_of(assessment, None)),
    }

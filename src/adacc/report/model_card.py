"""A model card in Markdown: what adacc knows of a model, and lines for what only its user knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from adacc.report.calibration_text import verdict
from adacc.report.decision_text import FIGURES, POLICIES, chance, differences, figure, interval, money, tests_of
from adacc.report.text import listed, share

COLUMNS_MAX = 100
"""Columns that are listed by name."""

LIMITS = (
    "The intervals hold for rows like those that the figures come from. They do not cover changes over time or "
    "another source of rows.",
    "adacc does not check whether a column is known at the time of a decision, or contains the answer (leakage); "
    "`adacc compare` looks for columns that predict the target almost alone.",
    "adacc does not check how the labels came about. If only rows that raised suspicion were ever checked, the "
    "figures hold for such rows.",
)


def to_fill_in(text: str) -> str:
    """A line for the user, marked as such."""
    return f"- **To be filled in:** {text}"


def model_card(card: dict[str, Any]) -> str:
    """The card as Markdown.

    `card` has ``file``, ``adacc``, ``created``, ``method``, ``size``, ``parameters``, ``target``, ``labels``,
    ``positive`` (None for several classes), ``columns`` (kind by name), ``training`` (``source``, ``command``,
    ``class_rows``, ``date``, ``versions``), ``rule`` (None, or as ``decision_rule`` of `adacc evaluate`) and
    ``figures``: ``rows`` (which rows), ``command``, ``versions``, and either ``assessment``, ``achieved`` (figures with
    intervals), ``by_class`` with ``measures``, or ``none``, a sentence.
    """
    sections = (
        _head(card),
        _section("Intended use", _intended_use(card)),
        _section("Training data", _training_data(card)),
        _section("Method and parameters", _method(card)),
        _section("Decision rule", _rule(card)),
        _section("Figures", _figures(card["figures"])),
        *_subgroups(card["figures"].get("assessment")),
        _section("Limits, and what was not checked", _limits(card)),
        _section("How to reproduce", _reproduce(card)),
    )
    return "\n\n".join(sections) + "\n"


def code(text: Any) -> str:
    """Text as a code span, which shows it as it is, also in a table.

    Examples
    --------
    >>> code("a`b"), code(" x  y ")
    ('`` a`b ``', '`x y`')
    """
    plain = " ".join(str(text).split()).replace("|", "\\|") or " "
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {plain} {fence}" if longest else f"`{plain}`"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is left-aligned."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines)


def _head(card: dict[str, Any]) -> str:
    return f"# Model card: {code(card['file'])}\n\nWritten by adacc {card['adacc']} on {card['created'][:10]}."


def _intended_use(card: dict[str, Any]) -> list[str]:
    positive = "" if card["positive"] is None else f"; the positive class is {code(card['positive'])}"
    return [
        f"- Predicts {code(card['target'])}, one of {listed([code(label) for label in card['labels']])}{positive}.",
        to_fill_in("which decisions the predictions support, who takes them, and who is affected."),
        to_fill_in("uses that are out of scope."),
        to_fill_in("owner of the model, and whom to ask."),
    ]


def _training_data(card: dict[str, Any]) -> list[str]:
    training, columns = card["training"], card["columns"]
    lines = []
    lines.append(f"- Source: {code(training['source'])}." if training["source"] else to_fill_in("source of the rows."))
    if training["class_rows"] is None:
        lines.append(to_fill_in("number of rows and classes; the model file does not store them."))
    else:
        total = sum(training["class_rows"].values())
        each = [f"{code(label)} {n:,} ({share(n, total)})" for label, n in training["class_rows"].items()]
        lines.append(f"- Rows: {total:,}. Classes: {', '.join(each)}.")
    date = training["date"]
    lines.append(to_fill_in("date of training.") if date is None else f"- Trained on {date[:10]}.")
    shown = [f"{code(name)} ({kind})" for name, kind in list(columns.items())[:COLUMNS_MAX]]
    more = f" and {len(columns) - COLUMNS_MAX} more" if len(columns) > COLUMNS_MAX else ""
    lines.append(f"- Columns that the model uses as features: {len(columns)}. {', '.join(shown)}{more}.")
    lines.append(to_fill_in("period and population of the rows, how the labels were assigned, and known gaps."))
    return lines


def _method(card: dict[str, Any]) -> list[str]:
    method = card["method"]
    lines = [f"- {method['label']} ({code(method['name'])}): {method['summary']} [{method['reference']}]."]
    lines.append(f"- Size: {card['size']}.")
    given = ", ".join(code(f"{name}={value!r}") for name, value in card["parameters"].items())
    lines.append(f"- Parameters that differ from the defaults: {given or 'none'}.")
    return lines


def _rule(card: dict[str, Any]) -> list[str]:
    rule = card["rule"]
    if rule is None:
        return ["No rule: the class of the highest score is predicted."]
    lines = [rule["words"]]
    if rule["rule"] is not None:
        threshold = "" if rule["threshold"] is None else f", threshold {rule['threshold']:.10g}"
        lines.insert(0, f"{code(rule['rule'])}{threshold}.")
    if rule["stated"] is not None:
        stated = rule["stated"]
        achieved = [
            [FIGURES[name][0], figure(name, each["value"]), interval(name, each)]
            for name, each in stated["achieved"].items()
            if name in FIGURES
        ]
        lines += [
            "",
            f"Measured on {stated['n_rows']:,} {stated['rows']} rows, {stated['n_positive']:,} of them positive; the "
            "intervals are for new rows:",
            "",
            table(["measure", "value", "95% interval"], achieved),
        ]
    return lines


def _figures(figures: dict[str, Any]) -> list[str]:
    if "none" in figures:
        return [figures["none"]]
    lines = [f"On {figures['rows']}.", ""]
    if "by_class" in figures:
        return [*lines, *_figures_by_class(figures)]
    found = figures["achieved"] if "achieved" in figures else figures["assessment"]["figures"]
    rows = [
        [f"{label}: {about}", figure(name, found[name]["value"]), interval(name, found[name]) or "–"]
        for name, (label, about) in FIGURES.items()
        if name in found
    ]
    lines.append(table(["measure", "value", "95% interval"], rows))
    if "achieved" in figures:
        return lines
    assessment = figures["assessment"]
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in assessment["confusion"].items())
    lines += ["", f"Confusion matrix: {counts}."]
    if assessment["groups"] is not None:
        lines += ["", f"The intervals are those of {assessment['groups']:,} groups of rows that depend on each other."]
    lines += ["", " ".join(verdict(figures["calibration"]))]
    if assessment["policies"]:
        lines += ["", _policies(assessment["policies"])]
    return lines


def _policies(policies: list[dict[str, Any]]) -> str:
    with_costs = policies[0]["cost"] is not None
    rows = []
    for each in policies:
        measures = [figure(name, each[name]["value"]) for name in ("recall", "precision")]
        rows.append([POLICIES[each["name"]], f"{each['alerts']:,}", *measures])
        if with_costs:
            saved = each["saved"]
            between = (
                "" if saved is None else f"{money(saved['value'])} ({money(saved['low'])} to {money(saved['high'])})"
            )
            rows[-1] += [money(each["cost"]), between]
    return table(["decision", "alerts", "recall", "precision", *(["cost", "saved"] if with_costs else [])], rows)


def _figures_by_class(figures: dict[str, Any]) -> list[str]:
    rows = []
    for label, each in figures["by_class"].items():
        recall = each["recall"]
        rows.append([code(label), f"{each['rows']:,}", figure("recall", recall["value"]), interval("recall", recall)])
    defined = {name: value for name, value in figures["measures"].items() if value is not None}
    means = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in defined.items())
    return [table(["class", "rows", "recall", "95% interval"], rows), "", f"Means over the classes: {means or 'none'}."]


def _subgroups(assessment: dict[str, Any] | None) -> list[str]:
    if assessment is None or not (assessment["subgroups"] or assessment["periods"]):
        return []
    parts = [chance(assessment)] if chance(assessment) else []
    of_periods = (assessment["periods"] or {}).get("periods", [])
    groups = [(code(column), column, of_column) for column, of_column in assessment["subgroups"].items()]
    if of_periods:
        groups.append(("period", None, [each["figures"] for each in of_periods]))
    for name, column, of_column in groups:
        heads = ["group", "rows", "positive rate", "alerts per 1,000", "recall", "precision"]
        rows = [[code(group["name"]), f"{group['rows']:,}", *_group_cells(group)] for group in of_column]
        parts += [f"By {name}:", table(heads, rows)]
        parts += [f"- {sentence}" for sentence in differences(of_column, tests_of(assessment, column))]
    return [_section("Subgroups and periods", ["\n\n".join(parts)])]


def _group_cells(group: dict[str, Any]) -> list[str]:
    return [
        f"{figure(name, group[name]['value'])} ({interval(name, group[name])})"
        if group[name]["value"] is not None
        else "–"
        for name in ("positive_rate", "alerts_per_1000", "recall", "precision")
    ]


def _limits(card: dict[str, Any]) -> list[str]:
    lines = [f"- {each}" for each in LIMITS]
    assessment = card["figures"].get("assessment")
    if assessment is None or not assessment["subgroups"]:
        lines.append("- Not checked: differences between subgroups.")
    if assessment is None or assessment["periods"] is None:
        lines.append("- Not checked: differences over time.")
    if card["figures"].get("seen") is not None:
        lines.append(f"- {card['figures']['seen']}")
    lines.append(to_fill_in("risks, affected groups, and how errors are noticed and corrected."))
    return lines


def _reproduce(card: dict[str, Any]) -> list[str]:
    training = card["training"]
    lines = []
    if training["command"]:
        lines += ["Training:", "", f"```\n{training['command']}\n```"]
    else:
        lines.append(to_fill_in("how the model was trained; the model file does not store a command."))
    if card["figures"].get("command"):
        lines += ["", "Figures:", "", f"```\n{card['figures']['command']}\n```"]
    for what, versions in (("training", training["versions"]), ("evaluation", card["figures"].get("versions"))):
        if versions is not None:
            each = ", ".join(f"{name} {version}" for name, version in versions.items())
            lines += ["", f"Versions in {what}: {each}."]
        elif what == "training":
            lines += ["", to_fill_in("versions of the libraries in training.")]
    return lines

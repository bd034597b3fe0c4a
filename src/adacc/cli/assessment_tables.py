"""The decision report as text: intervals, comparison with today, subgroups and periods."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from adacc.cli.terminal import format_table, printable, terminal_width


def format_assessment(assessment: dict[str, Any]) -> str:
    """The short version of a decision report."""
    from adacc.report.decision_text import chance, differences, tests_of

    def add(table: str, groups: list[dict[str, Any]], column: str | None) -> None:
        sentences = differences(groups, tests_of(assessment, column))
        parts.append("\n".join([table, *(fill(_plain(each), terminal_width()) for each in sentences)]))

    parts = [_figures(assessment["figures"])]
    if assessment["groups"] is not None:
        parts[0] += f"\nthe intervals are those of {assessment['groups']:,} groups"
    if assessment["policies"]:
        parts.append(_policies(assessment))
    for column, groups in assessment["subgroups"].items():
        add(_groups(printable(column, 24), groups), groups, column)
    if assessment["periods"] is not None:
        figures = [each["figures"] for each in assessment["periods"]["periods"]]
        add(_periods(assessment["periods"]), figures, None)
    if explained := chance(assessment):
        parts.append(fill(f"* {_plain(explained)}", terminal_width()))
    return "\n\n".join(parts)


def format_calibration(check: dict[str, Any], is_calibrated: bool, with_table: bool) -> str:
    """Whether the probabilities are true, in sentences and, if asked for, as a table."""
    from adacc.report.calibration_text import reliability, verdict

    sentences = [*verdict(check)]
    if not is_calibrated and (check["level"] != "true" or check["spread"] not in ("true", None)):
        sentences.append("The model is not calibrated; adacc train --calibrate does it.")
    text = fill(_plain(" ".join(sentences)), terminal_width())
    if not with_table:
        return text
    table = reliability(check)
    rows = [[row["label"], *(_with_interval(each) for each in row["cells"])] for row in table["rows"]]
    return f"{text}\n\n{format_table([head.lower() for head in table['heads']], rows)}"


def _with_interval(cell: dict[str, Any]) -> str:
    return (
        f"{cell['text']} [{cell['spread'].replace(' to ', ', ').replace('%', '')}]" if cell["spread"] else cell["text"]
    )


def _plain(text: str) -> str:
    return printable(text.replace("\xa0", " "))


def format_recommendation(decided: dict[str, Any]) -> str:
    """The rule that a comparison recommends, and what it achieves on the test rows."""
    rule = decided["decision_rule"]["rule"] or "none, the method decides"
    text = f"Decision rule recommended for {decided['label']}: {rule}; {decided['reason'].replace('’', chr(39))}."
    commands = "".join(f"\n\n{purpose}:\n  {command}" for purpose, command in list(decided["commands"].items())[:1])
    return f"{fill(text, terminal_width())}\n\n{format_assessment(decided['assessment'])}{commands}"


def _estimate(name: str, estimate: dict[str, Any], mark: bool = False) -> str:
    from adacc.report.decision_text import figure, interval

    if estimate["value"] is None:
        return "-"
    between = interval(name, estimate, ", ").replace("%", "")
    return f"{figure(name, estimate['value'])} [{between}]{'*' if mark else ''}".replace("−", "-")


def _figures(figures: dict[str, Any]) -> str:
    from adacc.report.decision_text import FIGURES

    rows = [[FIGURES[name][0], _estimate(name, each)] for name, each in figures.items()]
    return format_table(["figure", "value and 95% interval"], rows)


def _policies(assessment: dict[str, Any]) -> str:
    from adacc.report.decision_text import POLICIES, money

    policies = assessment["policies"]
    with_costs = policies[0]["cost"] is not None
    rows = []
    for each in policies:
        row = [POLICIES[each["name"]].replace("’", "'"), f"{each['alerts']:,}"]
        row += [_estimate(name, each[name]) for name in ("recall", "precision")]
        if with_costs:
            saved = each["saved"]
            row += [money(each["cost"]), "" if saved is None else _saved(saved)]
        rows.append([cell.replace("−", "-") for cell in row])
    heads = ["decision", "alerts", "recall", "precision", *(["cost", "the rule saves"] if with_costs else [])]
    text = format_table(heads, rows)
    agreement = assessment["agreement"]
    if agreement is None:
        return text
    return f"{text}\n\n" + fill(
        f"Positive rows found by both: {agreement['both']:,}; by the rule only: {agreement['rule_only']:,}; by today's "
        f"decisions only: {agreement['today_only']:,}; by neither: {agreement['neither']:,}.",
        terminal_width(),
    )


def _saved(saved: dict[str, Any]) -> str:
    from adacc.report.decision_text import money

    return f"{money(saved['value'])} [{money(saved['low'])}, {money(saved['high'])}]"


def _groups(column: str, groups: list[dict[str, Any]]) -> str:
    rows = [[printable(each["name"], 24), *_cells(each)] for each in groups]
    return format_table([column, "rows", "positive rate", "alerts", "recall", "precision"], rows)


def _cells(group: dict[str, Any]) -> list[str]:
    from adacc.report.decision_text import figure

    measures = [_estimate(name, group[name], name in group["differs"]) for name in ("recall", "precision")]
    rate = figure("positive_rate", group["positive_rate"]["value"])
    return [f"{group['rows']:,}", rate, f"{group['alerts']:,}", *measures]


def _periods(periods: dict[str, Any]) -> str:
    from adacc.report.decision_text import figure

    rows = []
    for each in periods["periods"]:
        cells = _cells(each["figures"])
        cells.insert(3, figure("alerts_per_day", each["alerts_per_day"]["value"]))
        rows.append([each["figures"]["name"], *cells])
    heads = [periods["unit"], "rows", "positive rate", "alerts", "per day", "recall", "precision"]
    return format_table(heads, rows)

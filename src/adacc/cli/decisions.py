"""Decision rules on the command line: options, the columns that rules name, and reports."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from adacc.cli.options import cost_value
from adacc.cli.terminal import format_number, format_percent

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.model.decision import Decision, Interval
    from adacc.model.decision_spec import DecisionSpec

RULES_HELP = """\
decision rules:
  recall>=0.9, precision>=0.5        a threshold of at least this recall or precision
  alerts<=20/1000                    a threshold of at most 20 alerts per 1,000 rows
  top=50, top=50 per day of COLUMN   the 50 rows of the highest score of the table, or of each day
  f1, fbeta=2                        the threshold of the best F-beta
  threshold=0.3, score=0             a threshold on the probability or the score
  cost=[[0, 1], [20, 0]]             minimum expected cost; rows are true classes, columns predicted ones
  cost={"fraud": 20, "fine": 1}      the same, with the cost of missing each class
  fn=amount, fp=5                    the same with costs by row: column or number for a false negative and a false alarm
"tuned" before the last three tunes the threshold instead of relying on calibrated probabilities.
"""
"""The rules, for the help texts."""

MEASURES = {
    "recall": "recall",
    "precision": "precision",
    "alerts_per_1000": "alerts per 1,000 rows",
    "fbeta": "F-beta",
    "mean_cost": "mean cost of a row",
}


IN_PERCENT = ("recall", "precision")


def add_rule_options(top: ArgumentParser, flag: str) -> None:
    top.add_argument(flag, metavar="RULE", help="Decision rule, such as 'recall>=0.9'; see below.")
    add_cost_options(top, ": the rule 'fn=COL, fp=--alarm-cost'")


def add_cost_options(top: Any, use: str) -> None:
    top.add_argument(
        "--cost-column", metavar="COL", help=f"Column of the cost of a false negative, such as an amount{use}."
    )
    top.add_argument("--alarm-cost", type=cost_value, metavar="C", help="Cost of a false alarm, with --cost-column.")


def read_rule(options: Namespace, flag: str) -> DecisionSpec | None:
    """The rule that the options ask for; None if they ask for none."""
    from adacc.model.decision_spec import read_decision

    text = getattr(options, flag[2:])
    if text is not None and (options.cost_column is not None or options.alarm_cost is not None):
        raise ValueError(f"{flag} and --cost-column are two rules; give one of them")
    return read_costs_given(options) if text is None else read_decision(text)


def read_costs_given(options: Namespace) -> DecisionSpec | None:
    """The rule of --cost-column and --alarm-cost; None if they are not given."""
    from adacc.model.decision_spec import DecisionSpec

    if options.cost_column is None and options.alarm_cost is None:
        return None
    if options.cost_column is None or options.alarm_cost is None:
        raise ValueError("--cost-column and --alarm-cost must be given together")
    return DecisionSpec("row_cost", fn=options.cost_column, fp=options.alarm_cost)


def expects_calibration(spec: DecisionSpec | None) -> bool:
    """Whether the rule relies on calibrated probabilities."""
    return spec is not None and spec.kind in ("cost", "row_cost") and not spec.tuned


def other_columns(spec: DecisionSpec, features: Collection[str]) -> list[str]:
    """The columns that the rule names and that are no features."""
    return [name for name in spec.columns if name not in features]


def rule_columns(
    spec: DecisionSpec, X: pd.DataFrame, kept: pd.DataFrame, decimal: str | None
) -> dict[str, NDArray[Any]]:
    """The columns that the rule names; costs in a text file, such as $1,200.50, are converted to numbers."""
    found = {}
    for name in spec.columns:
        column = X[name] if name in X else kept[name]
        is_text = column.dtype.kind not in "iufb" and name != spec.day_of
        found[name] = _numbers(column, decimal or ".") if is_text else column.to_numpy()
    return found


def _numbers(column: pd.Series, decimal: str) -> NDArray[Any]:
    """Text as numbers; unchanged if a cell is none, which `read_costs` reports."""
    import pyarrow as pa

    from adacc.tables.numeric_text import with_point

    try:
        return with_point(pa.array(column, pa.string(), from_pandas=True), decimal).cast(pa.float64()).to_numpy(False)
    except pa.ArrowException:
        return column.to_numpy()


def describe_decision(decision: Decision) -> dict[str, Any]:
    """The rule, its threshold and what it achieves, as plain data."""
    from adacc.evaluation.assessment import describe_report

    report = describe_report(decision.report)
    if report is not None and decision.report is not None:
        threshold = decision.report.threshold
        report["threshold"] = None if threshold is None else threshold._asdict()
    return {
        "rule": decision.rule,
        "statistic": decision.statistic_name,
        "threshold": decision.threshold,
        "report": report,
    }


def describe_check(
    decision: Decision,
    is_positive: NDArray[Any],
    alert: NDArray[Any],
    columns: dict[str, NDArray[Any]],
    groups: NDArray[Any] | None = None,
) -> dict[str, Any] | None:
    """What the rule achieves on evaluated rows beside the interval that it states; None if it states none."""
    from adacc.estimators.decisions import achieved_on

    report = decision.report
    if report is None:
        return None
    here = achieved_on(decision, is_positive, alert, columns, groups)
    measures = {
        name: {
            "achieved": here[name].value,
            "stated": stated._asdict(),
            "within": here[name].agrees_with(stated),
        }
        for name, stated in report.achieved.items()
    }
    return {"rows": report.rows, "n_rows": report.n_rows, "n_positive": report.n_positive, "measures": measures}


def format_check(rule: str, check: dict[str, Any]) -> str:
    """One line for the terminal."""
    each = []
    for name, label in MEASURES.items():
        if name in check["measures"]:
            found, percent = check["measures"][name], name in IN_PERCENT
            value, low, high = (
                format_percent(x) if percent else format_number(x)
                for x in (found["achieved"], found["stated"]["low"], found["stated"]["high"])
            )
            each.append(f"{label} {value} [{low}, {high}]{' (outside)' if found['within'] is False else ''}")
    return (
        f"decision {rule} on these rows, in brackets the interval stated by {check['n_rows']:,} {check['rows']} rows: "
        f"{', '.join(each)}"
    )


def format_decision(decision: Decision) -> str:
    """The rule, its threshold and what it achieves, in lines."""
    report = decision.report
    if report is None:
        return f"decision: {decision}"
    from adacc.boosting.bagging import MAX_OOB_ROWS_OF_CLASS

    sample = f" (at most {MAX_OOB_ROWS_OF_CLASS:,} random rows of each class, weighted to represent all of them)"
    lines = [
        f"decision: {decision.rule}, measured on {report.n_rows:,} {report.rows} rows, {report.n_positive:,} positive"
        f"{sample if report.rows == 'out-of-bag' else ''}; in brackets the 95% interval for new rows"
    ]
    if decision.threshold is not None and report.threshold is not None:
        lines.append(f"  threshold: {decision.statistic_name} >= {_format(report.threshold)}")
    for name, label in MEASURES.items():
        if name in report.achieved:
            lines.append(f"  {label}: {_format(report.achieved[name], percent=name in IN_PERCENT)}")
    return "\n".join(lines)


def _format(interval: Interval, percent: bool = False) -> str:
    value, low, high = (format_percent(x) if percent else format_number(x) for x in interval)
    return f"{value} [{low}, {high}]"

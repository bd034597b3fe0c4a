"""The decision report on the command line: options, the columns that they name, and the figures."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adacc.cli.options import command_line, names, option, text_format
from adacc.cli.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.cli.model_file import ModelFile
    from adacc.model.decision import Decision
    from adacc.model.decision_spec import DecisionSpec


def add_comparison_columns(group: Any) -> None:
    """The options that `evaluate` and `compare` share."""
    group.add_argument(
        "--baseline-column", metavar="COL",
        help="Column of the decisions taken today, to compare with: labels of the target, yes/no or 1/0. It is not "
        "used as a feature.",
    )  # fmt: skip
    group.add_argument(
        "--subgroup", type=names, action="extend", default=[], metavar="COL",
        help="Column by whose values results are reported too, a number by its quartiles; can be repeated.",
    )  # fmt: skip


def report_options(options: Namespace) -> list[str]:
    """The options of the decision report that are given; they need a model of two classes."""
    names = ("report", "baseline_column", "subgroup", "group", "time", "cost_column", "alarm_cost")
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, [])]


def columns_to_keep(options: Namespace) -> list[str]:
    """The columns of the decision report; costs are read as the rule's."""
    single = [each for each in (options.baseline_column, options.group, options.time) if each is not None]
    return [*dict.fromkeys([*single, *options.subgroup])]


def assess_rows(
    model_file: ModelFile,
    scored: list[NDArray[Any]],
    kept: pd.DataFrame,
    spec: DecisionSpec | None,
    columns: Mapping[str, NDArray[Any]],
    groups: NDArray[Any] | None,
    options: Namespace,
) -> dict[str, Any]:
    """The figures of the decisions of a model.

    `scored` are the true and predicted classes, scores and probabilities, `kept` the columns of the report, and
    `columns` those that `spec`, the rule that names the costs, names.
    """
    from adacc.evaluation.assessment import DecidedRows, assess
    from adacc.evaluation.decision_costs import costs_of
    from adacc.evaluation.today import read_alerts

    true, predicted, scores, _ = scored
    positive = model_file.positive
    assert positive is not None
    today = None
    if options.baseline_column is not None:
        negatives = [model_file.labels[1 - positive], *(model_file.notes.get("others") or [])]
        today = read_alerts(
            kept[options.baseline_column], options.baseline_column, model_file.labels[positive], negatives
        )
    costs = costs_of(spec, positive, columns)
    rows = DecidedRows(true == positive, predicted == positive, scores, today, costs, groups)
    times = None if options.time is None else (options.time, _cells(kept[options.time], options.decimal))
    return assess(rows, {name: _cells(kept[name], options.decimal) for name in options.subgroup}, times).to_dict()


def number_groups(kept: pd.DataFrame, options: Namespace) -> NDArray[Any] | None:
    """The number of the group of each row; None without `--group`."""
    import pandas as pd

    if options.group is None:
        return None
    cells = pd.Series(_cells(kept[options.group], options.decimal)).astype(object)
    numbers, values = pd.factorize(cells)
    if (numbers < 0).any():
        row = int((numbers < 0).argmax()) + 1
        raise ValueError(f"column {options.group!r} must have the group of every row, got a missing value in row {row}")
    if len(values) < 2:
        raise ValueError(f"column {options.group!r} must have at least two groups, got {values[0]!r} in all rows")
    return numbers


def _cells(column: pd.Series, decimal: str | None) -> Any:
    """A column as `adacc compare` reads it, from the text or the typed values of batches."""
    import pyarrow as pa
    from pandas.api.types import infer_dtype

    from adacc.tables.kinds import plain_cells

    is_text = infer_dtype(column, skipna=True) == "string"
    return plain_cells(pa.array(column, pa.string(), from_pandas=True), decimal or ".") if is_text else column


def describe_rule(model_file: ModelFile, decision: Decision | None, threshold: float | None) -> dict[str, Any]:
    """The rule that is applied, in words, and what it achieved on its tuning rows."""
    from adacc.evaluation.assessment import describe_report
    from adacc.model.decision_spec import DecisionSpec
    from adacc.report.decision_text import rule_in_words

    spec = None if decision is None else decision.spec
    if threshold is not None:
        spec = DecisionSpec("threshold", threshold)
    return {
        "rule": None if spec is None else str(spec),
        "words": rule_in_words(spec, model_file.labels[model_file.positive or 0]),
        "statistic": None if decision is None or decision.threshold is None else decision.statistic_name,
        "threshold": threshold if decision is None else decision.threshold,
        "stated": None if decision is None else describe_report(decision.report),
    }


def next_commands(model_file: ModelFile, options: Namespace, rule: str | None) -> dict[str, str]:
    """The commands that change the rule and that apply it to new rows."""
    stores_scores = model_file.model.fitted_model_.tuning_scores is not None
    rows = [] if stores_scores else ["LABELLED.csv", *text_format(options)]
    example = "recall>=0.9" if rule != "recall>=0.9" else "alerts<=20/1000"
    decide = ["adacc", "decide", str(model_file.path), *rows, "--rule", example]
    threshold = [] if options.threshold is None else option("--threshold", options.threshold)
    predict = ["adacc", "predict", str(model_file.path), "NEW.csv", *threshold, *text_format(options)]
    return {
        "Change the rule, without training again": shlex.join(decide),
        "Apply the rule to new rows": shlex.join([*predict, "--proba", "-o", "decisions.csv"]),
    }


def train_and_predict_commands(
    options: Namespace, train: str | None, decided: dict[str, Any], stem: str
) -> dict[str, str]:
    """The commands that train the best adacc method with the recommended rule, and apply it."""
    if train is None:
        return {}
    rule = decided["decision_rule"]["rule"]
    if rule is not None:
        train = f"{train} {shlex.join(option('--decide', rule))}"
    predict = ["adacc", "predict", f"{stem}.adacc", "NEW.csv", *text_format(options), "--proba", "-o", "decisions.csv"]
    return {
        f"Train {decided['label']} with this rule": printable(train),
        "Apply it to new rows": printable(shlex.join(predict)),
    }


def report_of(model_file: ModelFile, result: dict[str, Any], options: Namespace) -> dict[str, Any]:
    """The result of `adacc evaluate` with what its page needs besides."""
    from datetime import UTC, datetime
    from importlib.metadata import version

    from adacc.comparison.leaderboard import versions

    return {
        **result,
        "adacc": version("adacc"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": printable(command_line(options, "model", "data")),
        "versions": versions(),
        "method": model_file.method,
        "trained_on": model_file.notes.get("source"),
        "columns": {
            "baseline": options.baseline_column,
            "time": options.time,
            "cost": options.cost_column,
            "group": options.group,
        },
        "commands": next_commands(model_file, options, result["decision_rule"]["rule"]),
    }

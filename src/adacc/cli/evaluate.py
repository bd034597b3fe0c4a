"""`adacc evaluate`: measures of a model on labelled rows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from math import isnan
from textwrap import fill
from typing import TYPE_CHECKING, Any

from adacc.cli.assessment import (
    add_comparison_columns,
    assess_rows,
    columns_to_keep,
    describe_rule,
    number_groups,
    report_of,
    report_options,
)
from adacc.cli.assessment_tables import format_assessment, format_calibration
from adacc.cli.decisions import (
    add_cost_options,
    describe_check,
    format_check,
    other_columns,
    read_costs_given,
    rule_columns,
)
from adacc.cli.evaluate_classes import format_multiclass, multiclass_result
from adacc.cli.files import check_outputs, check_report_libraries
from adacc.cli.json_output import write_json
from adacc.cli.model_card import add_model_card, write_evaluation_card
from adacc.cli.model_file import ModelFile, open_model_file
from adacc.cli.options import add_model, add_text_format, add_threshold, command_line, path
from adacc.cli.terminal import echo, echo_note, format_table, join_names, printable, terminal_width

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.evaluation.fingerprints import SeenRows
    from adacc.model.decision import Decision
    from adacc.model.decision_spec import DecisionSpec

EXAMPLES = """\
examples:
  adacc evaluate fraud.adacc last_year.csv
  adacc evaluate fraud.adacc last_year.csv --threshold 0.2
  adacc evaluate fraud.adacc checked.parquet --target is_fraud --json fraud.json
  adacc evaluate fraud.adacc last_year.csv --report fraud.html --time day --subgroup region --baseline-column flagged
  adacc evaluate fraud.adacc last_year.csv --report fraud.html --cost-column amount --alarm-cost 5
"""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "evaluate", help="Evaluate a model on labelled rows.", epilog=EXAMPLES,
        description="Evaluate a model on labelled rows. Use rows that were not used for training,\n"
        "otherwise the results are optimistic.",
    )  # fmt: skip
    add_model(top)
    top.add_argument("data", metavar="DATA", help="Table with the target column; - is standard input.")
    top.add_argument("--target", metavar="COL", help="Target column (default: as in training).")
    add_threshold(top)
    add_text_format(top)
    report = top.add_argument_group("decision report (two classes)")
    report.add_argument(
        "--report", type=path, metavar="FILE.html",
        help="Write an HTML page for those who decide: figures with intervals, costs, alerts, subgroups, periods.",
    )  # fmt: skip
    add_comparison_columns(report)
    report.add_argument(
        "--group", metavar="COL",
        help="Column of groups of rows that depend on each other, such as the patient: all intervals are those of new "
        "groups.",
    )  # fmt: skip
    report.add_argument(
        "--time", metavar="COL",
        help="Column of times, to report by period and alerts by day: dates, text such as 2024-01-31, or numbers of "
        "days.",
    )  # fmt: skip
    add_cost_options(report, " (default: the costs of the model's rule, if it has some)")
    top.add_argument("--json", type=path, metavar="FILE", help="Write the results as JSON.")
    add_model_card(top)
    top.set_defaults(run=evaluate)


def evaluate(options: Namespace) -> None:
    outputs = check_outputs(options, ("report", "model_card", "json"), options.model, options.data)
    if options.report is not None:
        check_report_libraries()
    model_file = open_model_file(options.model)
    for flag in [*([] if options.threshold is None else ["--threshold"]), *report_options(options)]:
        model_file.check_two_classes(flag)
    target = options.target or model_file.notes.get("target")
    if not isinstance(target, str):
        raise ValueError(f"{model_file.path} does not store the name of its target column; give it with --target")
    with nullcontext() if options.report is None else _vega_in_background() as vega:
        result = _result(model_file, options, target)
        _write(model_file, result, options, vega)
    source = "standard input" if options.data == "-" else options.data
    echo(f"{model_file.path} on {result['rows']:,} rows of {source}\n")
    echo((format_multiclass if model_file.positive is None else _format_binary)(result))
    if result["decision_check"] is not None:
        echo(f"\n{format_check(result['decision'], result['decision_check'])}")
    if model_file.positive is not None:
        is_calibrated = model_file.model.fitted_model_.calibrator is not None
        echo(f"\n{format_calibration(result['calibration'], is_calibrated, bool(report_options(options)))}")
    if report_options(options):
        echo(f"\n{format_assessment(result['assessment'])}")
    for name in ("report", "model_card"):
        if name in outputs:
            echo(f"\n{name.replace('_', ' ').capitalize()}: {printable(outputs[name])}")


def _result(model_file: ModelFile, options: Namespace, target: str) -> dict[str, Any]:
    """All results as plain data."""
    import adacc
    from adacc.evaluation.fingerprints import SeenRows
    from adacc.report.decision_text import of_training_rows
    from adacc.schemas import head

    costs, decision = read_costs_given(options), model_file.rule(options)
    if options.baseline_column in model_file.kinds:
        echo_note(
            f"column {options.baseline_column!r} of --baseline-column is a feature of the model, which is then not "
            "independent of today's decisions"
        )
    seen = SeenRows(model_file.notes.get("training_rows"))
    scored, kept, columns = _score_rows(model_file, decision, costs, options, target, seen)
    if seen.share():
        echo_note(f"{of_training_rows(seen.share())}: the figures are optimistic")
    is_binary, groups = model_file.positive is not None, number_groups(kept, options)
    check = None
    if decision is not None and is_binary:
        true, predicted = scored[:2]
        alert = predicted == model_file.positive
        check = describe_check(decision, true == model_file.positive, alert, columns, groups)
    result: dict[str, Any] = {
        **head("evaluate", adacc.__version__, command_line(options, "model", "data")),
        "model": str(model_file.path),
        "data": options.data,
        "target": target,
        "threshold": options.threshold,
        "decision": None if decision is None else decision.rule,
        "decision_check": check,
        "rows": len(scored[0]),
        "training_rows": seen.share(),
        **(_binary_result(model_file, groups, *scored) if is_binary else multiclass_result(model_file.labels, *scored)),
    }
    if is_binary and (options.json is not None or options.model_card is not None or report_options(options)):
        spec = decision.spec if costs is None and decision is not None else costs
        result["decision_rule"] = describe_rule(model_file, decision, options.threshold)
        result["assessment"] = assess_rows(model_file, scored, kept, spec, columns, groups, options)
    return result


def _vega_in_background() -> Any:
    from adacc.report.vega import bundled_in_background

    return bundled_in_background()


def _write(model_file: ModelFile, result: dict[str, Any], options: Namespace, vega: Any) -> None:
    if options.json is not None:
        write_json(options.json, result)
    if options.report is not None:
        from adacc.report import write

        write(report_of(model_file, result, options), options.report, vega)
    if options.model_card is not None:
        write_evaluation_card(options, model_file, result)


def _score_rows(
    model_file: ModelFile,
    decision: Decision | None,
    costs: DecisionSpec | None,
    options: Namespace,
    target: str,
    seen: SeenRows,
) -> tuple[list[NDArray[Any]], pd.DataFrame, dict[str, NDArray[Any]]]:
    """What is known of each row: arrays, the columns of the decision report, and those that the rule and costs name.

    The arrays are the true and the predicted class index and, of two classes, the score and the probability of the
    positive class; of several, the probability of each class.
    """
    import numpy as np
    import pandas as pd

    from adacc.model.fitted import DECIMALS
    from adacc.tables.errors import TableError, source_name

    batches, reader = [], LabelReader(model_file, source_name(options.data), target)
    specs = [spec for spec in (None if decision is None else decision.spec, costs) if spec is not None]
    others = [name for spec in specs for name in other_columns(spec, model_file.kinds)]
    reported = columns_to_keep(options)
    ranked, named, kept_columns = decision is not None and decision.spec.is_ranked, [], []
    for X, kept in model_file.open(options, dict.fromkeys([target, *others, *reported])):
        found: dict[str, NDArray[Any]] = {}
        seen.add(X)
        for spec in specs:
            found |= rule_columns(spec, X, kept, options.decimal)
        of_rule = {} if decision is None else {name: found[name] for name in decision.spec.columns}
        index = np.zeros(len(X)) if ranked else model_file.class_index(X, options.threshold, of_rule)
        named.append(found)
        kept_columns.append(kept[reported])
        columns = [reader.read(kept[target]), index.astype(np.int16)]
        if model_file.positive is not None:
            sign = 1.0 if model_file.positive == 1 else -1.0
            columns += [
                sign * model_file.model.decision_function(X),
                model_file.model.predict_proba(X)[:, model_file.positive],
            ]
        else:
            columns.append(model_file.model.predict_proba(X))
        batches.append(columns)
    if not batches:
        raise TableError(f"{source_name(options.data)} has no rows, only column names")
    scored = [np.concatenate(column) for column in zip(*batches, strict=True)]
    together = {name: np.concatenate([each[name] for each in named]) for name in named[0]}
    if ranked:
        assert decision is not None
        scored[1] = decision.class_index(np.round(scored[2], DECIMALS), lambda: scored[3], together).astype(np.int16)
    return scored, pd.concat(kept_columns), together


class LabelReader:
    """Converts the cells of the target column to class indices; each label is looked up once."""

    def __init__(self, model_file: ModelFile, where: str, target: str) -> None:
        self._saved, self._where, self._target = model_file, where, target
        self._known: dict[Any, int] = {}
        self._rows = 0

    def read(self, cells: pd.Series) -> NDArray[Any]:
        import numpy as np

        from adacc.tables.labels import MISSING_WORDS

        codes, values = cells.factorize()
        self._check_missing(codes < 0)
        for value in values.tolist():
            if value not in self._known:
                k, here = self._class_of(value), codes == values.tolist().index(value)
                if k is None:
                    self._check_missing(here & (str(value).strip() in (*MISSING_WORDS, "")))
                    raise self._unknown(value, self._rows + int(here.argmax()) + 1)
                self._known[value] = k
        self._rows += len(cells)
        return np.array([self._known[value] for value in values.tolist()], dtype=np.int16)[codes]

    def _class_of(self, value: Any) -> int | None:
        from adacc.tables import find_label

        k = find_label(value, self._saved.labels)
        others = self._saved.notes.get("others")
        if k is None and self._saved.positive is not None and isinstance(others, list):
            return 1 - self._saved.positive if find_label(value, others) is not None else None
        return k

    def _check_missing(self, missing: NDArray[Any]) -> None:
        from adacc.tables.errors import TableError

        if missing.any():
            row = self._rows + int(missing.argmax()) + 1
            raise TableError(
                f"{self._where}: row {row}, column {self._target!r} has no label; remove the row or fill in the label"
            )

    def _unknown(self, value: Any, row: int) -> ValueError:
        from adacc.tables.errors import TableError

        known = join_names([repr(str(label)) for label in self._saved.labels], 20)
        return TableError(
            f"{self._where}: row {row}, column {self._target!r}: label {str(value)!r} is unknown to the model; "
            f"its labels are {known}. Remove such rows, or train with them"
        )


def _binary_result(
    model_file: ModelFile, groups: Any, true: Any, predicted: Any, scores: Any, p: Any
) -> dict[str, Any]:
    from adacc import metrics
    from adacc.evaluation.calibration_check import check_calibration
    from adacc.evaluation.measures import binary_measures, confusion_counts

    (tn, fp), (fn, tp) = metrics.confusion(true, predicted, labels=_order(model_file)).astype(int).tolist()
    measures = binary_measures(true == model_file.positive, predicted == model_file.positive, scores, p)
    return {
        "positive": model_file.labels[model_file.positive or 0],
        "negative": model_file.labels[1 - (model_file.positive or 0)],
        "confusion": confusion_counts(tp, fn, fp, tn),
        "measures": {name: None if isnan(measures[name]) else measures[name] for name in MEASURES},
        "calibration": check_calibration(true == model_file.positive, p, groups).to_dict(),
    }


def _order(model_file: ModelFile) -> list[int]:
    """The indices of the negative and the positive class."""
    return [1, 0] if model_file.positive == 0 else [0, 1]


MEASURES = {
    "tpr": "TPR: recall of {positive}",
    "tnr": "TNR: recall of {negative}",
    "balanced_accuracy": "balanced accuracy: mean of TPR and TNR",
    "gmean": "gmean: geometric mean of TPR and TNR",
    "precision": "precision: of rows predicted as {positive}",
    "f1": "F1: harmonic mean of precision and TPR",
    "auc": "AUC: area under the ROC curve",
    "average_precision": "average precision: of the ranking by score",
    "opm": "OPM: mean of six measures, as in the paper",
    "brier": "Brier score: of the probabilities, 0 is best",
}
COUNTS = {"positive": ("true_positives", "false_negatives"), "negative": ("false_positives", "true_negatives")}


def _format_binary(result: dict[str, Any]) -> str:
    from adacc.evaluation.measures import shown

    names = {name: printable(result[name], 24) for name in ("positive", "negative")}
    counts = result["confusion"]
    confusion = format_table(
        ["", f"predicted {names['positive']}", f"predicted {names['negative']}"],
        [
            [f"actual {names[label]}", *(f"{counts[key]:,} {key.replace('_', ' ')}" for key in keys)]
            for label, keys in COUNTS.items()
        ],
    )
    empty = next((label for label, keys in COUNTS.items() if not any(counts[key] for key in keys)), None)
    undefined = [name for name in MEASURES if empty and name != "precision" and result["measures"][name] is None]
    rows = [
        [text.format(**names), shown(name, result["measures"][name])]
        for name, text in MEASURES.items()
        if name not in undefined
    ]
    text = f"{confusion}\n\n{format_table(['measure', ''], rows)}"
    if empty is None:
        return text
    names_of_undefined = ", ".join(MEASURES[name].partition(":")[0] for name in undefined)
    return f"{text}\n\n" + fill(
        f"There are no rows of class {names[empty]}, so these are undefined: {names_of_undefined}.", terminal_width()
    )

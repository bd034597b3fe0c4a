"""`adacc decide`: set the decision rule of a model without training it again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adacc.cli.decisions import RULES_HELP, add_rule_options, format_decision, other_columns, read_rule, rule_columns
from adacc.cli.evaluate import LabelReader
from adacc.cli.files import check_output
from adacc.cli.model_file import ModelFile, open_model_file
from adacc.cli.options import add_model, add_text_format, path
from adacc.cli.terminal import echo, echo_note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.model.decision_spec import DecisionSpec
    from adacc.model.fitted import TuningScores

EXAMPLES = (
    """\
examples:
  adacc decide fraud.adacc                          show the rule of a model
  adacc decide fraud.adacc --rule 'recall>=0.9'     tune it on the out-of-bag or held-out rows that the model stores
  adacc decide fraud.adacc last_year.csv --rule 'alerts<=20/1000' -o alerts.adacc
  adacc decide fraud.adacc last_year.csv --cost-column amount --alarm-cost 5
  adacc decide fraud.adacc --rule none              remove the rule

"""
    + RULES_HELP
)


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "decide", help="Set the decision rule of a model.", epilog=EXAMPLES,
        description="Set the rule by which a model decides, without training it again, and report what it\n"
        "achieves. `adacc predict` and `adacc evaluate` then apply it.",
    )  # fmt: skip
    add_model(top)
    top.add_argument(
        "data", nargs="?", metavar="DATA",
        help="Table of labelled rows to tune the rule on, which must not be training rows (default: the out-of-bag or "
        "held-out rows that the model stores; see --decide of `adacc train`).",
    )  # fmt: skip
    add_rule_options(top, "--rule")
    top.add_argument("--target", metavar="COL", help="Target column of DATA (default: as in training).")
    top.add_argument("--group", metavar="COL", help="Column of groups of DATA: intervals hold for new groups.")
    add_text_format(top)
    top.add_argument("-o", "--output", type=path, metavar="FILE", help="Write to this file instead of MODEL.")
    top.set_defaults(run=decide)


def decide(options: Namespace) -> None:
    model_file = open_model_file(options.model)
    spec = None if options.rule == "none" else read_rule(options, "--rule")
    if options.rule is None and spec is None:
        if options.data is not None or options.output is not None:
            raise ValueError("DATA and --output need a --rule")
        shown = "none; the method decides" if model_file.decision is None else None
        echo(f"decision: {shown}" if model_file.decision is None else format_decision(model_file.decision))
        return
    output = options.model if options.output is None else options.output
    check_output(output, *([] if options.data is None else [options.data]))
    from adacc.estimators.decisions import NotCalibratedError

    model = model_file.model
    try:
        if spec is None:
            model.set_decision(None)
        elif options.data is None:
            _tune_on_stored(model_file, spec, options)
        else:
            _tune_on_table(model_file, spec, options)
    except NotCalibratedError as error:
        raise ValueError(
            f"{model_file.path}: {error.reason}: train it with --calibrate sigmoid{error.or_tuned}"
        ) from None
    model.save(output, model.notes_)
    echo("decision: none; the method decides" if model.decision_ is None else format_decision(model.decision_))
    echo(f"\nwritten to {output}")


def _tune_on_stored(model_file: ModelFile, spec: DecisionSpec, options: Namespace) -> None:
    from adacc.estimators.decisions import NeedsTuningRowsError

    if options.target is not None or options.group is not None:
        raise ValueError("--target and --group need DATA")
    try:
        model_file.model.set_decision(spec)
    except NeedsTuningRowsError as error:
        raise ValueError(
            f"{model_file.path}: {error.reason}: give DATA, labelled rows that it was not trained on"
        ) from None


def _tune_on_table(model_file: ModelFile, spec: DecisionSpec, options: Namespace) -> None:
    from adacc.estimators.decisions import decide as bind

    target = options.target or model_file.notes.get("target")
    if not isinstance(target, str):
        raise ValueError(f"{model_file.path} does not store the name of its target column; give it with --target")
    tuning, columns = _read_rows(model_file, spec, target, options)
    model = model_file.model
    model.fitted_model_ = replace(model.fitted_model_, decision=bind(model.fitted_model_, spec, tuning, columns))


def _read_rows(
    model_file: ModelFile, spec: DecisionSpec, target: str, options: Namespace
) -> tuple[TuningScores | None, dict[str, NDArray[Any]]]:
    """The scores of the rows of the table, and the columns that the rule names."""
    import numpy as np

    from adacc.estimators.folds import check_groups
    from adacc.evaluation.fingerprints import SeenRows
    from adacc.model.fitted import TuningScores
    from adacc.report.decision_text import of_training_rows
    from adacc.tables.errors import TableError, source_name

    reader, others = LabelReader(model_file, source_name(options.data), target), other_columns(spec, model_file.kinds)
    keep = dict.fromkeys([target, *others, *([] if options.group is None else [options.group])])
    seen = SeenRows(model_file.notes.get("training_rows"))
    true, scores, groups, columns = [], [], [], []
    for X, kept in model_file.open(options, keep):
        seen.add(X)
        true.append(reader.read(kept[target]))
        scores.append(model_file.scores(X))
        columns.append(rule_columns(spec, X, kept, options.decimal))
        if options.group is not None:
            groups.append(kept[options.group].to_numpy())
    if seen.share():
        echo_note(f"{of_training_rows(seen.share())}: the rule is tuned on scores that are optimistic")
    if not true:
        raise TableError(f"{source_name(options.data)} has no rows, only column names")
    together = {name: np.concatenate([each[name] for each in columns]) for name in spec.columns}
    if model_file.positive is None:
        return None, together
    is_positive = np.concatenate(true) == model_file.positive
    group = check_groups(np.concatenate(groups), len(is_positive)) if groups else None
    return TuningScores("given", np.concatenate(scores), is_positive, np.ones(len(is_positive)), group), together

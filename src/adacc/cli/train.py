"""`adacc train`: train a model on a table and save it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.compilation import compiled_kernels
from adacc.cli.decisions import RULES_HELP, add_rule_options, expects_calibration, read_rule
from adacc.cli.files import check_outputs
from adacc.cli.json_output import write_json
from adacc.cli.metrics import add_metric, check_metric
from adacc.cli.model_card import add_model_card, write_training_card
from adacc.cli.options import (
    QUOTING_HELP,
    add_categorical,
    add_duplicates,
    add_text_format,
    command_line,
    costs,
    count,
    folds,
    monotonic,
    names,
    open_input,
    path,
    rounds,
    seed,
)
from adacc.cli.terminal import echo, echo_note
from adacc.cli.train_result import describe, format_result
from adacc.cli.train_shared import (
    TrainingResult,
    check_rule_columns,
    class_rows,
    costs_by_label,
    dropped_columns,
    monotonic_by_name,
    predict_training_rows,
    split_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.model.decision_spec import DecisionSpec

EXAMPLES = (
    """\
examples:
  adacc train claims.csv --target fraud --model fraud.adacc
  adacc train claims.csv --target fraud --method cgada --costs fraud=20,fine=1 --model fraud.adacc
  adacc train claims.csv --target fraud --monotonic amount=+1,years=-1 --model fraud.adacc
  adacc train digits.parquet --target digit --positive 8 --id picture --model eight.adacc
  zcat claims.csv.gz | adacc train - --target fraud --drop agent,notes --model fraud.adacc
  adacc train big.parquet --target fraud --memory-limit 1GB --model fraud.adacc
  adacc train claims.csv --target fraud --decide 'recall>=0.9' --model fraud.adacc
  adacc train claims.csv --target fraud --method cgada --metric gmean --json fraud.json --model fraud.adacc
  adacc train claims.csv --target fraud --cost-column amount --alarm-cost 5 --model fraud.adacc
  adacc train claims.csv --target fraud --drop '"amount, EUR",town' --sep ';' --decimal , --model fraud.adacc

"""
    + QUOTING_HELP
    + "\n"
    + RULES_HELP
)


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "train", help="Train a model on a table and save it.", epilog=EXAMPLES,
        description="Train a model as `adacc compare` evaluates it, and save it to a file.",
    )  # fmt: skip
    top.add_argument(
        "data", metavar="DATA",
        help="Training data: a .csv, .tsv (also .gz), .parquet or .arrow file, a directory of .parquet files, or - for "
        "standard input. Text, booleans and missing values need no encoding.",
    )  # fmt: skip
    top.add_argument("--target", required=True, metavar="COL", help="Target column.")
    top.add_argument("--model", required=True, type=path, metavar="FILE", help="Model file to write.")
    top.add_argument(
        "--method",
        metavar="NAME",
        help="Method; see `adacc methods` (default: adacc-forest, the most accurate of adacc on most data; adacc1 with "
        "--memory-limit).",
    )
    top.add_argument(
        "--positive", metavar="LABEL",
        help="Label of the positive class (default: the rarer of two). With more than two classes, train this class "
        "against the rest, which is labelled 'other'; without it, train a multi-class model.",
    )  # fmt: skip
    add_rule_options(top, "--decide")
    add_text_format(top)
    top.add_argument("--drop", type=names, default=[], metavar="A,B", help="Columns to drop; see below for commas.")
    add_categorical(top)
    top.add_argument("--id", metavar="COL", help="Column that identifies the rows; it is not used as a feature.")
    top.add_argument(
        "--group", metavar="COL",
        help="Column of groups, such as patients: inner splits (calibration folds, bags of adacc-forest) keep the rows "
        "of a group together. It is not used as a feature.",
    )  # fmt: skip
    top.add_argument(
        "--time",
        metavar="COL",
        help="Column of times: inner splits train on earlier rows. It is not used as a feature.",
    )
    add_duplicates(top)
    top.add_argument(
        "--rounds", type=rounds, metavar="N",
        help="Number of boosting rounds (default: 100); for adacc-forest, of balanced bags (default: 100 for up to "
        "1,500 rows, else 30; 50 with more than two classes or --monotonic).",
    )  # fmt: skip
    top.add_argument(
        "--costs", type=costs, metavar="L=C,...",
        help="Misclassification cost of each class, such as fraud=20,fine=1 or '\"no, never\"=3,ok=1', or 'balanced', "
        "for cost-sensitive methods (default: the costs of best F1, or macro F1, on the training rows).",
    )  # fmt: skip
    top.add_argument(
        "--calibrate", choices=("sigmoid", "isotonic"),
        help="Calibrate probabilities, by 5-fold cross-validation or, for adacc-forest, on out-of-bag rows (default: "
        "sigmoid for adacc-forest, else none).",
    )  # fmt: skip
    top.add_argument(
        "--monotonic", type=monotonic, metavar="COL=+1,...",
        help="Monotonic constraints of numeric columns, such as age=+1,income=-1: with +1, the score of the positive "
        "class never falls as the column rises and all others stay the same; with -1, it never rises.",
    )  # fmt: skip
    top.add_argument("--seed", type=seed, default=0, metavar="N", help="Random seed (default: 0).")
    add_metric(
        top, None,
        "Measure of the held-out estimate (default: balanced_accuracy) and of the cost search (default: f1, or "
        "macro_f1 of more than two classes): {}. adacc-forest tunes its threshold for balanced_accuracy or f1.",
    )  # fmt: skip
    top.add_argument(
        "--folds", type=folds, metavar="N",
        help="Estimate the measures on held-out rows by N-fold cross-validation; 0 for no estimate (default: 5 folds; "
        "one fifth of the rows of more than 50,000; the out-of-bag rows of adacc-forest). The splits follow --group "
        "and --time.",
    )  # fmt: skip
    top.add_argument("--jobs", type=count, metavar="N", help="Number of threads (default: number of cores).")
    top.add_argument("--json", type=path, metavar="FILE", help="Write the results as JSON.")
    top.add_argument(
        "--memory-limit", metavar="SIZE",
        help="Memory limit including libraries, such as 1GB: train out of core on a Parquet table.",
    )  # fmt: skip
    top.add_argument(
        "--scratch", type=path, metavar="DIR",
        help="Directory for the temporary files of --memory-limit: 1 byte per cell and 45 per row (default: TMPDIR or "
        "/var/tmp).",
    )  # fmt: skip
    add_model_card(top)
    top.set_defaults(run=train)


RECOMMENDED, RECOMMENDED_OUT_OF_CORE = "adacc-forest", "adacc1"
"""Methods that are trained if none is named; the forest is trained in memory."""


class Labels(NamedTuple):
    """The label of each row, the positive label (None if multi-class), and the labels merged into 'other'."""

    y: NDArray[Any]
    positive: Any
    others: list[str]


def train(options: Namespace) -> None:
    check_outputs(options, ("model", "model_card", "json"), options.data)
    is_default = options.method is None
    if is_default:
        options.method = RECOMMENDED if options.memory_limit is None else RECOMMENDED_OUT_OF_CORE
    _check_method(options.method)
    spec = read_rule(options, "--decide")
    if _lacks_calibration(options, spec):
        options.calibrate = "sigmoid"
        echo_note("the decision rule needs calibrated probabilities: --calibrate sigmoid")
    if options.memory_limit is None:
        if options.scratch is not None:
            raise ValueError("--scratch needs --memory-limit")
        trained = _in_memory(options, spec)
    else:
        from adacc.cli.out_of_core import train_from_disk

        trained = train_from_disk(options, spec)
    notes = {
        "target": options.target,
        "kinds": trained.kinds,
        "positive": None if trained.positive is None else str(trained.positive),
        "others": trained.others,
        "command": command_line(options, "data"),
        "source": options.data,
        "class_rows": class_rows(trained),
    }
    if trained.fingerprints is not None:
        notes["training_rows"] = trained.fingerprints
    trained.model.save(options.model, notes)
    result = describe(options, trained)
    if options.model_card is not None:
        write_training_card(options, trained.model, notes)
    if options.json is not None:
        write_json(options.json, result)
    echo(format_result(options, trained, result, is_default))


def _lacks_calibration(options: Namespace, spec: DecisionSpec | None) -> bool:
    """Whether the rule relies on calibrated probabilities that the method does not have by default."""
    from adacc.algorithms.catalog import FORESTS

    if options.calibrate is not None or options.memory_limit is not None or options.method in FORESTS:
        return False
    return expects_calibration(spec)


def _in_memory(options: Namespace, spec: DecisionSpec | None) -> TrainingResult:
    from joblib import cpu_count
    from sklearn.metrics import confusion_matrix

    from adacc.algorithms.catalog import FORESTS
    from adacc.comparison.held_out import problem_of
    from adacc.comparison.splits import check_dependence
    from adacc.estimators.duplicates import describe_copies
    from adacc.evaluation.fingerprints import fingerprints
    from adacc.evaluation.training import fit_method
    from adacc.tables import check_features, kinds_of
    from adacc.tables.reader import read_frame_and_cells

    not_features = split_columns(options)
    with compiled_kernels("stumps", "frames", *(["trees"] if options.method in FORESTS else [])):
        opened = open_input(options)
        check_rule_columns(spec, opened, options)
        times = [] if options.time is None else [options.time]
        frame, cells = read_frame_and_cells(
            opened, dropped_columns(options), not_features, options.target, options.categorical, times
        )
    labels = _labels(frame, options)
    group = None if options.group is None else frame[options.group]
    time = None if options.time is None else cells[options.time]
    check_dependence(group, time, options.data)
    X = frame.drop(columns=[options.target, *not_features])
    check_features(X, options.data)
    given, kinds = costs_by_label(options.costs, labels.y), kinds_of(X)
    problem = problem_of(options.data, options.target, X, labels.y, labels.positive, group, time, options.duplicates)
    check_metric(options.metric, problem.measures, len(problem.labels), "--positive trains one class against the rest")
    if problem.copies is not None:
        labels_of_classes = list(map(str, problem.labels))
        echo_note(f"{describe_copies(problem.copies, labels_of_classes, options.duplicates)} (--duplicates)")
    training = {
        "pos_label": labels.positive, "rounds": options.rounds, "costs": given, "calibration": options.calibrate,
        "monotonic_cst": monotonic_by_name(options.monotonic, kinds, labels.y, labels.positive),
        "metric": options.metric, "duplicates": options.duplicates, "n_jobs": options.jobs or cpu_count(),
    }  # fmt: skip
    model = fit_method(
        options.method, X, labels.y, seed=options.seed, groups=problem.dependence, in_time=time is not None,
        decision=None if spec is None else str(spec), **training,
    )  # fmt: skip
    counts = confusion_matrix(labels.y, predict_training_rows(model, X), labels=model.classes_)
    return TrainingResult(
        model, kinds, labels.positive, labels.others, counts, *_held_out(options, model, problem, labels.y, training),
        fingerprints(X),
    )  # fmt: skip


def _held_out(
    options: Namespace, model: Any, problem: Any, y: NDArray[Any], training: dict[str, Any]
) -> tuple[dict[str, Any] | None, str | None]:
    """The held-out estimate; None, with the reason, if the rows do not allow one."""
    from adacc.comparison.held_out import cross_validate, out_of_bag

    if options.folds == 0:
        return None, None
    if options.folds is None and options.metric in (None, "balanced_accuracy"):
        found = out_of_bag(model, problem)
        if found is not None:
            return found, None
    try:
        return cross_validate(problem, y, options.folds, options.method, options.seed, **training), None
    except ValueError as error:
        if options.folds is not None:
            raise
        return None, str(error)


def _check_method(name: str) -> None:
    from adacc.algorithms.catalog import FORESTS, METHODS, unknown
    from adacc.cli.methods import not_trained
    from adacc.evaluation.baselines import BASELINES

    if name in BASELINES and name not in FORESTS:
        raise ValueError(f"adacc does not train {name}: {not_trained(name, BASELINES[name].library)}")
    if name not in METHODS and name not in FORESTS:
        raise unknown(name, [*METHODS, *FORESTS])


def _labels(frame: pd.DataFrame, options: Namespace) -> Labels:
    import numpy as np

    from adacc.tables import read_labels, read_target

    y = read_labels(frame, options.target, options.data)
    if options.positive is None and len(np.unique(y)) > 2:
        return Labels(y, None, [])
    target = read_target(frame, options.target, options.positive, options.data)
    if len(target.counts) == 2:
        return Labels(y, target.positive, [])
    one = str(target.positive)
    others = [str(label) for label in target.counts if label != target.positive]
    return Labels(np.where(target.y == 1, one, target.other).astype(object), one, others)

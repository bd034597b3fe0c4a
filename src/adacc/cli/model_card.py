"""`--model-card` of `adacc train` and `adacc evaluate`."""

from __future__ import annotations

from argparse import Namespace
from math import isnan
from typing import TYPE_CHECKING, Any

from adacc.cli.assessment import describe_rule
from adacc.cli.model_file import ModelFile
from adacc.cli.options import command_line, path
from adacc.cli.terminal import printable
from adacc.files import whole_file

if TYPE_CHECKING:
    from adacc.estimators.base import BaseAdditiveClassifier


def add_model_card(top: Any) -> None:
    top.add_argument(
        "--model-card", type=path, metavar="FILE.md",
        help="Write a model card in Markdown, with marked lines for what only you know.",
    )  # fmt: skip


def write_training_card(options: Namespace, model: BaseAdditiveClassifier, notes: dict[str, Any]) -> None:
    """The card of a model that was just trained: its figures are those of rows that were held out in training."""
    from datetime import UTC, datetime

    from adacc.comparison.leaderboard import versions

    model_file = ModelFile(options.model, model)
    training = {
        **_training(notes),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
    }
    _write(options, model_file, notes, training, _held_out(model_file))


def write_evaluation_card(options: Namespace, model_file: ModelFile, result: dict[str, Any]) -> None:
    """The card of a model with its figures on the rows of `adacc evaluate`."""
    from adacc.comparison.leaderboard import versions

    rows = f"{result['rows']:,} rows of {'standard input' if options.data == '-' else options.data}"
    figures: dict[str, Any] = {
        "rows": printable(rows),
        "command": printable(command_line(options, "model", "data")),
        "versions": versions(),
        "seen": _seen(result["training_rows"]),
    }
    if "assessment" in result:
        figures |= {"assessment": result["assessment"], "calibration": result["calibration"]}
    else:
        figures |= {"by_class": _with_intervals(result["by_class"]), "measures": result["measures"]}
    training = {**_training(model_file.notes), "date": None, "versions": None}
    _write(options, model_file, model_file.notes, training, figures)


def _seen(share: float | None) -> str:
    """Whether the figures come from training rows of the model."""
    from adacc.report.decision_text import of_training_rows

    if share is None:
        return "Not checked: whether the model was trained on some of the rows that the figures come from."
    if share:
        return f"The figures are optimistic: {of_training_rows(share)}."
    return "The figures come from rows of which none was found among the training rows of the model."


def _training(notes: dict[str, Any]) -> dict[str, Any]:
    return {"source": notes.get("source"), "command": notes.get("command"), "class_rows": notes.get("class_rows")}


def _write(
    options: Namespace,
    model_file: ModelFile,
    notes: dict[str, Any],
    training: dict[str, Any],
    figures: dict[str, Any],
) -> None:
    from datetime import UTC, datetime
    from importlib.metadata import version

    from adacc.algorithms.catalog import FORESTS, METHODS
    from adacc.report.model_card import model_card

    method = METHODS.get(model_file.method) or FORESTS[model_file.method]
    rule = None
    if model_file.positive is not None:
        threshold = getattr(options, "threshold", None)
        rule = describe_rule(model_file, None if threshold is not None else model_file.decision, threshold)
        if "achieved" in figures:
            rule["stated"] = None  # the same figures
    elif model_file.decision is not None:
        rule = {"rule": model_file.decision.rule, "words": "", "threshold": None, "stated": None}
    card = {
        "file": model_file.path,
        "adacc": version("adacc"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": {
            "name": model_file.method, "label": method.label, "summary": method.summary, "reference": method.reference,
        },
        "size": _size(model_file.model),
        "parameters": _parameters(model_file.model),
        "target": getattr(options, "target", None) or notes.get("target"),
        "labels": model_file.labels,
        "positive": None if model_file.positive is None else model_file.labels[model_file.positive],
        "columns": model_file.kinds,
        "training": training,
        "rule": rule,
        "figures": figures,
    }  # fmt: skip
    with whole_file(options.model_card) as file:
        file.write_bytes(model_card(card).encode("utf-8", "replace"))


def _size(model: BaseAdditiveClassifier) -> str:
    from adacc.estimators.forest import n_bags
    from adacc.report.text import size

    return size(model.n_iter_, n_bags(model))


def _parameters(model: BaseAdditiveClassifier) -> dict[str, Any]:
    """The parameters that differ from those of a new estimator; the method is described apart."""
    parameters, defaults = model.get_params(deep=False), type(model)().get_params(deep=False)
    return {
        name: value
        for name, value in parameters.items()
        if name != "method" and (name not in defaults or repr(value) != repr(defaults[name]))
    }


def _held_out(model_file: ModelFile) -> dict[str, Any]:
    """Figures of the rows that were held out in training; a sentence if there are none."""
    from adacc import metrics
    from adacc.estimators.decisions import decide
    from adacc.evaluation.assessment import describe_report
    from adacc.model.decision_spec import DecisionSpec

    fitted = model_file.model.fitted_model_
    tuning, accuracy = fitted.tuning_scores, fitted.oob_balanced_accuracy
    if tuning is None or fitted.positive_class is None:
        mean = ""
        if accuracy is not None and not isnan(accuracy):
            mean = f" The balanced accuracy on out-of-bag rows is {100 * accuracy:.1f}%."
        return {"none": f"The model stores no scores of rows that were held out in training.{mean} {HINT}"}
    decision = fitted.decision
    if decision is None:  # the method decides by the sign of the score
        decision = decide(fitted, DecisionSpec("score", 0.0), tuning, {})
    report = describe_report(decision.report)
    if report is None:
        return {"none": f"The rule needs columns or rows beside the stored {tuning.rows} scores. {HINT}"}
    auc = metrics.auc(tuning.is_positive, tuning.scores, pos_label=True, sample_weight=tuning.weight)
    points = {"auc": auc if fitted.positive_class == 1 else 1.0 - auc}
    if fitted.decision is None and accuracy is not None:  # of the method's own decision
        points["balanced_accuracy"] = accuracy
    return {
        "rows": f"{report['n_rows']:,} {report['rows']} rows of the training data, {report['n_positive']:,} of them "
        "positive; intervals are for new rows",
        "achieved": report["achieved"]
        | {name: {"value": each, "low": None, "high": None} for name, each in points.items()},
    }


HINT = "`adacc evaluate MODEL DATA --model-card FILE.md` writes a card with the figures of labelled rows."


def _with_intervals(by_class: dict[str, Any]) -> dict[str, Any]:
    from dataclasses import asdict

    from adacc.evaluation.estimates import share

    return {
        label: {"rows": each["rows"], "recall": asdict(share((each["recall"] or 0) * each["rows"], each["rows"]))}
        for label, each in by_class.items()
    }

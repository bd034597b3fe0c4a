"""The result of `adacc train`: as plain data for --json, and as text for the terminal."""

from __future__ import annotations

import shlex
from argparse import Namespace
from typing import Any

from adacc.cli.decisions import describe_decision, format_decision
from adacc.cli.flags import with_flags
from adacc.cli.options import command_line, text_format
from adacc.cli.terminal import format_number, format_percent, format_table, printable
from adacc.cli.train_shared import TrainingResult, decides_on


def describe(options: Namespace, trained: TrainingResult) -> dict[str, Any]:
    """The trained model, its training rows and its held-out estimate as plain data."""
    import adacc
    from adacc.estimators.forest import n_bags
    from adacc.evaluation.baselines import label_of
    from adacc.schemas import head

    model, class_rows = trained.model, trained.counts.sum(axis=1)
    labels = model.classes_.tolist()
    costs = model.get_params(deep=False).get("costs")
    is_binary = trained.positive is not None
    return {
        **head("train", adacc.__version__, command_line(options, "data")),
        "model": str(options.model),
        "data": options.data,
        "target": options.target,
        "method": options.method,
        "label": label_of(options.method),
        "rounds": int(model.n_iter_),
        "bags": n_bags(model),
        "seed": options.seed,
        "rows": round(float(class_rows.sum())),
        "features": len(trained.kinds),
        "classes": labels,
        "positive": trained.positive,
        "negative": next(label for label in labels if label != trained.positive) if is_binary else None,
        "class_rows": [round(float(n)) for n in class_rows],
        "training_recall": (trained.counts.diagonal() / class_rows).tolist(),
        "costs": {str(label): float(cost) for label, cost in costs.items()} if isinstance(costs, dict) else None,
        "costs_tuned_by": _tuned_by(options, is_binary) if isinstance(costs, dict) and not options.costs else None,
        "metric": options.metric or "balanced_accuracy",
        "held_out": trained.held_out,
        "no_held_out": trained.no_held_out,
        "decision": None if model.decision_ is None else describe_decision(model.decision_),
    }


def _tuned_by(options: Namespace, is_binary: bool) -> str:
    return options.metric or ("f1" if is_binary else "macro_f1")


def format_result(options: Namespace, trained: TrainingResult, result: dict[str, Any], is_default: bool) -> str:
    """The result as text, and the commands that use the model."""
    from adacc.evaluation.measures import in_sentence

    model = trained.model
    source = "standard input" if result["data"] == "-" else result["data"]
    lines = [f"{source}: {result['rows']:,} rows, {result['features']} features"]
    default = " (the default; --method names another)" if is_default else ""
    lines.append(f"method: {result['method']}{default}, {_size(result, model.n_estimators)}")
    if result["costs"] is not None:
        each = ", ".join(f"{printable(label, 40)} {format_number(cost)}" for label, cost in result["costs"].items())
        tuned = result["costs_tuned_by"]
        how = f" (of ten candidates, the costs of best {in_sentence(tuned)} on the training rows)" if tuned else ""
        lines.append(f"costs: {each}{how}")
    classes = _class_table(result, decides_on(model, trained.kinds))
    lines += ["", classes, "", with_flags(_held_out(result, options), options)]
    if model.decision_ is not None:
        lines += ["", format_decision(model.decision_)]
    if options.model_card is not None:
        lines += ["", f"Model card: {printable(options.model_card)}"]
    lines += ["", f"{options.model}: {_format_bytes(options.model.stat().st_size)}. Next:"]
    predict = ["adacc", "predict", str(options.model), "NEW.csv", *text_format(options), "--proba", "-o", "scores.csv"]
    explain = ["adacc", "explain", str(options.model)]
    return "\n".join([*lines, f"  {shlex.join(predict)}", f"  {shlex.join(explain)}"])


def _size(result: dict[str, Any], n_estimators: Any) -> str:
    from adacc.report.text import size

    if result["bags"] is None:
        return f"{result['rounds']} of {n_estimators} rounds"
    return size(result["rounds"], result["bags"])


def _class_table(result: dict[str, Any], with_rule: bool) -> str:
    """The training rows of each class, and how many are recognised; `with_rule`: by the decision rule, if any."""
    rows = []
    each = zip(result["classes"], result["class_rows"], result["training_recall"], strict=True)
    for label, n_rows, recall in sorted(each, key=lambda row: -row[1]):
        name = printable(label, 40) + (" (positive)" if label == result["positive"] else "")
        rows.append([name, f"{n_rows:,}", format_percent(n_rows / result["rows"]), format_percent(recall)])
    recall = "training recall" if with_rule else "training recall without the rule"
    return format_table([result["target"], "rows", "share", recall], rows)


def _held_out(result: dict[str, Any], options: Namespace) -> str:
    """The held-out estimate of the metric, and how it was estimated."""
    from adacc.evaluation.measures import FORMATS, shown, spread

    found, metric = result["held_out"], result["metric"]
    if found is None and result["no_held_out"] is None:
        return "Recall on training rows is optimistic; `adacc compare` estimates it on held-out rows."
    if found is None:
        return f"Recall on training rows is optimistic. There is no held-out estimate: {result['no_held_out']}."
    rows = "out-of-bag rows" if found["estimate"] == "out-of-bag" else "held-out rows"
    if options.group is not None:
        rows += f", whole groups of {printable(options.group)!r}"
    if options.time is not None:
        rows = f"held-out rows, later in {printable(options.time)!r} than the training rows"
    how = ""
    if found["estimate"] == "cross-validation":
        how = f"{found['folds']}-fold cross-validation"
    elif found["estimate"] == "split":
        how = f"{found['rows']:,} rows, and a model of the others"
    if result["decision"] is not None:
        how += f"{', ' if how else ''}without the decision rule"
    value = found["metrics"][metric]
    figure = "undefined" if value is None else f"{shown(metric, value['mean'])} {spread(metric, value['std'])}".strip()
    return (
        f"{FORMATS[metric].label} on {rows}{f' ({how})' if how else ''}: {figure}. "
        "Recall in the table is on training rows."
    )


def _format_bytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(n_bytes / 1e3, 0.1):.1f} kB"

"""`adacc evaluate` for models of more than two classes."""

from __future__ import annotations

from math import isnan
from textwrap import fill
from typing import Any

from adacc.cli.terminal import format_table, printable, terminal_width

MAX_CONFUSIONS = 10
"""Pairs of classes to print if the confusion matrix is wider than the terminal."""

MEASURES = {
    "balanced_accuracy": "balanced accuracy: mean recall of the classes",
    "gmean": "gmean: geometric mean of the recalls",
    "macro_f1": "macro F1: mean of the F1 of the classes",
    "auc": "AUC: mean over all pairs of classes",
}


def multiclass_result(labels: list[Any], true: Any, predicted: Any, probabilities: Any) -> dict[str, Any]:
    """Measures, recall, precision and F1 of each class, and the confusion matrix as plain data."""
    from adacc import metrics
    from adacc.evaluation.measures import multiclass_measures

    counts = metrics.confusion(true, predicted, labels=range(len(labels)))
    rows, n_predicted = counts.sum(axis=1), counts.sum(axis=0)
    measures = multiclass_measures(true, predicted, probabilities)
    recall = [_defined(value) for value in measures.pop("recall")]
    by_class = {
        str(label): {
            "rows": int(rows[k]),
            "recall": recall[k],
            "precision": float(counts[k, k] / n_predicted[k]) if n_predicted[k] else None,
            "f1": float(2 * counts[k, k] / (rows[k] + n_predicted[k])) if rows[k] else None,
        }
        for k, label in enumerate(labels)
    }
    return {
        "classes": labels,
        "class_rows": rows.astype(int).tolist(),
        "recall": recall,
        "by_class": by_class,
        "measures": {name: _defined(measures[name]) for name in MEASURES},
        "confusion": counts.astype(int).tolist(),
    }


def _defined(value: float) -> float | None:
    return None if isnan(value) else value


def format_multiclass(result: dict[str, Any]) -> str:
    from adacc.evaluation.measures import shown

    names = [printable(label, 16) for label in result["classes"]]
    rows = []
    for name, each in zip(names, result["by_class"].values(), strict=True):
        rows.append([name, f"{each['rows']:,}", *(shown(key, each[key]) for key in ("recall", "precision", "f1"))])
    heads = [printable(result["target"], 30), "rows", "recall", "precision", "F1"]
    tables = [format_table(heads, rows), _format_confusion(names, result["confusion"]), _format_means(result)]
    return "\n\n".join(tables)


def _format_means(result: dict[str, Any]) -> str:
    from adacc.evaluation.measures import shown

    measures, rows = result["measures"], zip(result["classes"], result["class_rows"], strict=True)
    present = [name for name, n in rows if n]
    if len(present) == 1:
        label = printable(present[0], 16)
        text = f"All rows are of class {label}, so balanced accuracy, gmean, macro F1 and AUC are undefined."
        return fill(text, terminal_width())
    table = format_table(["measure", ""], [[about, shown(name, measures[name])] for name, about in MEASURES.items()])
    if len(present) == len(result["classes"]):
        return table
    text = f"Balanced accuracy, gmean and AUC are means over the {len(present)} classes that have rows."
    return f"{table}\n\n{fill(text, terminal_width())}"


def _format_confusion(names: list[str], counts: list[list[int]]) -> str:
    """The confusion matrix if it fits the terminal, otherwise the most frequent confusions."""
    rows = [[f"actual {name}", *(f"{n:,}" for n in row)] for name, row in zip(names, counts, strict=True)]
    matrix = format_table(["", *(f"predicted {name}" for name in names)], rows)
    if max(map(len, matrix.splitlines())) <= terminal_width():
        return matrix
    pairs = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    pairs.sort(key=lambda pair: -pair[0])
    rows = [[f"actual {names[i]}", f"predicted {names[j]}", f"{n:,}"] for n, i, j in pairs[:MAX_CONFUSIONS]]
    rest = f"\n{len(pairs) - MAX_CONFUSIONS} more pairs; --json writes all" if len(pairs) > MAX_CONFUSIONS else ""
    return format_table(["", "", "rows"], rows, left=(0, 1)) + rest

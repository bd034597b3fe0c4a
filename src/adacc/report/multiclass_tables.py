"""The tables of a comparison on more than two classes: recall by class, confusions and the confusion matrix."""

from __future__ import annotations

from typing import Any

from adacc.evaluation.measures import MISSING, shown, spread
from adacc.report.multiclass_text import confusion_text, confusions
from adacc.report.tables import cell
from adacc.report.text import finished, quoted

CLASSES_MAX = 30
"""Classes of the chart and of the matrix; more would make the page too long and too wide."""

CONFUSIONS_MAX = 10


def hardest(result: dict[str, Any]) -> list[str]:
    """The classes of lowest recall by the best method, lowest first; at most `CLASSES_MAX`."""
    by_class = finished(result)[0]["pooled"]["recall"]
    return sorted(by_class, key=lambda label: by_class[label]["recall"] or 0.0)[:CLASSES_MAX]


def classes(result: dict[str, Any]) -> dict[str, Any] | None:
    """All tables of the section about classes; None if no method finished."""
    if not finished(result):
        return None
    best, labels = finished(result)[0], result["data"]["classes"]
    kept = set(hardest(result))
    shown_labels = [label for label in labels if label in kept]
    return {
        "label": best["label"],
        "number": len(labels),
        "cut": len(labels) > CLASSES_MAX,
        "max": CLASSES_MAX,
        "recalls": [_recall(label, each) for label, each in best["pooled"]["recall"].items()],
        "confusions": [f"{confusion_text(pair)}." for pair in confusions(best, labels)[:CONFUSIONS_MAX]],
        "matrix": _matrix(best["pooled"]["confusion"], labels, shown_labels),
        "methods": _recalls_of_methods(result, shown_labels),
    }


def _recall(label: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    low, high = shown("recall", found["low"]), shown("recall", found["high"])
    interval = MISSING if found["low"] is None else f"{low.removesuffix('%')} to {high}"
    return [
        cell(quoted(label)),
        cell(f"{found['rows']:,}", found["rows"]),
        cell(f"{found['correct']:,}", found["correct"]),
        cell(shown("recall", found["recall"]), found["recall"]),
        cell(interval, found["low"]),
    ]


def _matrix(counts: list[list[int]], labels: list[str], kept: list[str]) -> dict[str, Any]:
    """The rows of the confusion matrix: counts and shares of the true class; classes left out are one column."""
    columns = [labels.index(label) for label in kept]
    rows = []
    for i in columns:
        total = sum(counts[i])
        cells = [_count(counts[i][j], total, i == j) for j in columns]
        if len(kept) < len(labels):
            cells.append(_count(total - sum(counts[i][j] for j in columns), total, False))
        rows.append({"label": quoted(labels[i]), "cells": cells})
    heads = [quoted(label) for label in kept]
    return {"heads": [*heads, "others"] if len(kept) < len(labels) else heads, "rows": rows}


def _count(rows: int, total: int, is_right: bool) -> dict[str, Any]:
    share = rows / total if total else 0.0
    text = shown("recall", share) if rows else ""
    return {"count": f"{rows:,}", "share": round(share, 4), "text": text, "right": is_right}


def _recalls_of_methods(result: dict[str, Any], labels: list[str]) -> dict[str, Any]:
    """Mean recall of each class over the folds, by every method."""
    rows = []
    for method in finished(result):
        found = [method["recall"][label] for label in labels]
        cells = [cell(shown("recall", each["mean"]), each["mean"], spread("recall", each["std"])) for each in found]
        rows.append({"label": method["label"], "cells": cells})
    return {"heads": [quoted(label) for label in labels], "rows": rows}

"""Sentences about a comparison on more than two classes, for the report and the terminal."""

from __future__ import annotations

from typing import Any

from adacc.evaluation.measures import shown
from adacc.report.text import Method, compose, counted, finished, listed, mean, per_hundred, quoted, share

CONFUSIONS_IN_SUMMARY = 3
CLASSES_LISTED_MAX = 10


def has_several_classes(result: dict[str, Any]) -> bool:
    """Whether a comparison is on more than two classes."""
    return "classes" in result["data"]


def summary(result: dict[str, Any]) -> list[str]:
    """Two paragraphs, as for two classes: recalls instead of rates, and confusions instead of counts."""
    classes = result["data"]["classes"]
    return compose(result, lambda best: recalls_of_best(best, classes), lambda best: confusions_of_best(best, classes))


def recalls_of_best(best: Method, classes: list[str]) -> str:
    """Balanced accuracy of the best method, and its lowest and highest recall of a class, per hundred rows."""
    found, recalls = mean(best, "balanced_accuracy"), _recalls(best)
    if found is None or not recalls:
        return f"{best['label']} is the best method."
    low, high = (pick(recalls, key=lambda label: recalls[label]) for pick in (min, max))
    return (
        f"{best['label']} is the best method: as a mean over the {len(classes)} classes it predicts "
        f"{per_hundred(found)} of 100 rows correctly, from {per_hundred(recalls[low])} for {quoted(low)} to "
        f"{per_hundred(recalls[high])} for {quoted(high)}."
    )


def _recalls(method: Method) -> dict[str, float]:
    """The mean recall of each class over the folds."""
    return {label: each["mean"] for label, each in method["recall"].items() if each["mean"] is not None}


def confusions(method: Method, classes: list[str]) -> list[dict[str, Any]]:
    """Pairs of a true and a predicted class that differ, with their rows; the largest share of a class first."""
    pairs = []
    for i, row in enumerate((method.get("pooled") or {}).get("confusion") or []):
        total = sum(row)
        for j, rows in enumerate(row):
            if i != j and rows:
                pairs.append({"true": classes[i], "predicted": classes[j], "rows": rows, "of": total})
    return sorted(pairs, key=lambda pair: (-pair["rows"] / pair["of"], -pair["rows"]))


def confusion_text(pair: dict[str, Any]) -> str:
    """A confusion in words.

    Examples
    --------
    >>> confusion_text({"true": "b", "predicted": "c", "rows": 12, "of": 40})
    '‘b’ is predicted as ‘c’ in 12 of 40 rows (30.0%)'
    """
    rows, total = pair["rows"], pair["of"]
    of = f"{rows:,} of {counted(total, 'row')} ({share(rows, total)})"
    return f"{quoted(pair['true'])} is predicted as {quoted(pair['predicted'])} in {of}"


def confusions_of_best(best: Method, classes: list[str]) -> str:
    """The confusions of the best method that affect the largest shares of a class."""
    if not best.get("pooled"):
        return ""
    pairs = confusions(best, classes)
    if not pairs:
        return "It predicts every row correctly."
    largest = [confusion_text(pair) for pair in pairs[:CONFUSIONS_IN_SUMMARY]]
    return f"The largest confusions of {best['label']}: {listed(largest)}."


def headline(result: dict[str, Any]) -> list[dict[str, str]]:
    """The main measures of the best method, for the head of the report."""
    done = finished(result)
    if not done:
        return []
    best, recalls = done[0], _recalls(done[0])
    figures = [
        (shown("balanced_accuracy", mean(best, "balanced_accuracy")), "balanced accuracy: mean recall of the classes"),
        (shown("gmean", mean(best, "gmean")), "gmean: geometric mean of the recalls"),
        (shown("auc", mean(best, "auc")), "AUC: mean over all pairs of classes"),
    ]
    if recalls:
        low = min(recalls, key=lambda label: recalls[label])
        figures.insert(2, (shown("recall", recalls[low]), f"lowest recall, of {quoted(low)}"))
    return [{"figure": figure, "text": text} for figure, text in figures]


def class_counts(data: dict[str, Any], limit: int = CLASSES_LISTED_MAX) -> list[str]:
    """The classes with their number of rows, the largest first."""
    rows = sorted(zip(data["classes"], data["class_rows"], strict=True), key=lambda each: -each[1])
    texts = [f"{quoted(label)}: {counted(n, 'row')} ({share(n, data['rows_used'])})" for label, n in rows[:limit]]
    return [*texts, *([f"{len(rows) - limit} more classes"] if len(rows) > limit else [])]

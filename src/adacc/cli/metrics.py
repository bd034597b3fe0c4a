"""The option --metric: measures by their names in `adacc.evaluation.measures`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

NAMES = (
    "balanced_accuracy", "gmean", "tpr", "tnr", "precision", "f1", "macro_f1", "auc", "average_precision", "opm",
    "brier",
)  # fmt: skip
"""Measures to rank and tune by, of two classes or of several."""

CLASSES_HELP = "More than two classes have balanced_accuracy, gmean, macro_f1 and auc; macro_f1 is for them only."


def add_metric(group: Any, default: str | None, use: str) -> None:
    """Add --metric; `use` says what it does, with {} for the names."""
    group.add_argument(
        "--metric", choices=NAMES, default=default, metavar="METRIC",
        help=f"{use.format(', '.join(NAMES))} {CLASSES_HELP}",
    )  # fmt: skip


def check_metric(metric: str | None, measures: Collection[str], n_classes: int, hint: str) -> None:
    """Raise ValueError if the classes do not have this measure."""
    if metric is not None and metric not in measures:
        known = [name for name in NAMES if name in measures]
        hint = "" if n_classes == 2 else f"; {hint}"
        raise ValueError(f"--metric must be one of {', '.join(known)} for {n_classes} classes, got {metric}{hint}")

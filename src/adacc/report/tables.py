"""The tables of the report; each cell has its text and the number it is sorted by."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from adacc.evaluation.measures import (
    FORMATS,
    MEASURES,
    MISSING,
    MULTICLASS_MEASURES,
    Measure,
    in_sentence,
    shown,
    signed_difference,
    spread,
)
from adacc.report.multiclass_text import has_several_classes
from adacc.report.numbers import signed, significant
from adacc.report.text import Method, difference_interval, finished, is_like_best, mean, p_value, share

Table = dict[str, Any]
COLUMNS_OPEN_MAX = 12
"""A longer table of columns is collapsed at first."""


def cell(text: str, sort: float | None = None, spread: str = "") -> dict[str, Any]:
    """A cell: its text, its sort key, and the smaller text below."""
    return {"text": text, "sort": sort, "spread": spread}


def descriptions(result: dict[str, Any]) -> Mapping[str, Measure]:
    """The descriptions of the measures, for two classes or for several."""
    return MULTICLASS_MEASURES if has_several_classes(result) else MEASURES


def measures_of(result: dict[str, Any]) -> list[str]:
    """The measures of the result; the one that ranks is first."""
    first = result["protocol"]["metric"]
    has = [name for name in descriptions(result) if any(method["metrics"].get(name) for method in finished(result))]
    return sorted(has, key=lambda name: name != first)


def ranking(result: dict[str, Any]) -> Table:
    """Methods by rank, with every measure, its standard deviation, and the difference from the best."""
    names, metric = measures_of(result), result["protocol"]["metric"]
    tuned = any(method["cost"] for method in result["methods"])
    described = descriptions(result)
    heads = [{"text": described[name].short, "title": described[name].about} for name in names]
    if tuned:
        heads.append(
            {"text": "Cost", "title": "median tuned cost of the common class; the cost of the rare class is 1"}
        )
    rows = []
    for rank, method in enumerate(finished(result), 1):
        cells = [_measured(method, name) for name in names] + ([_cost(method)] if tuned else [])
        rows.append(_row(method, rank, cells, versus_best(method, metric)))
    empty = [cell(MISSING)] * len(heads)
    rows += [_row(each, None, empty, cell("failed")) for each in result["methods"] if not each["metrics"]]
    return {"heads": heads, "rows": rows, "metric": in_sentence(metric)}


def _row(method: Method, rank: int | None, cells: list[dict[str, Any]], versus: dict[str, Any]) -> dict[str, Any]:
    fields = {key: method[key] for key in ("name", "label", "own", "library", "about")}
    return {**fields, "rank": rank, "cells": cells, "versus_best": versus, "is_like_best": is_like_best(method)}


def _measured(method: Method, name: str) -> dict[str, Any]:
    values = method["metrics"].get(name) or {}
    return cell(shown(name, values.get("mean")), values.get("mean"), spread=spread(name, values.get("std")))


def _cost(method: Method) -> dict[str, Any]:
    costs = [cost for cost in method["cost"] or [] if cost is not None]
    return cell(significant(median(costs), 2), median(costs)) if costs else cell(MISSING)


def versus_best(method: Method, metric: str) -> dict[str, Any]:
    """Difference of a method from the best, its 95 % interval and its p-value."""
    versus = method["versus_best"]
    if versus is None:
        return cell("best", 0.0)
    difference, p = versus["difference"], versus["p"]
    if difference is None:
        return cell(MISSING)
    about = ", ".join(text for text in (difference_interval(method, metric), "" if p is None else p_value(p)) if text)
    return cell(signed_difference(metric, difference), -abs(difference), about)


def failures(result: dict[str, Any]) -> list[dict[str, str]]:
    """Methods that failed in some or all folds, with the error."""
    folds = result["protocol"]["n_folds"]
    return [
        {
            "label": method["label"],
            "where": f"in {method['failed']['folds']} of {folds} folds",
            "reason": method["failed"]["reason"],
        }
        for method in result["methods"]
        if method["failed"]
    ]


def intervals(result: dict[str, Any]) -> Table:
    """Mean and confidence interval of every measure, as in the chart of intervals."""
    names = measures_of(result)
    rows = [
        {"label": method["label"], "cells": [_interval(method["metrics"].get(name) or {}, name) for name in names]}
        for method in finished(result)
    ]
    return {"heads": [FORMATS[name].label for name in names], "rows": rows}


def _interval(values: dict[str, Any], name: str) -> dict[str, Any]:
    if values.get("mean") is None:
        return cell(MISSING)
    low, high = shown(name, values.get("low")), shown(name, values.get("high"))
    return cell(shown(name, values["mean"]), values["mean"], spread=f"{low.removesuffix('%')} to {high}")


def decisions(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Confusion counts of each method at its default threshold."""
    rows = []
    for method in finished(result):
        counts = (method.get("pooled") or {}).get("default")
        if counts:
            texts = [
                f"{counts[key]:,}" for key in ("true_positives", "false_negatives", "false_positives", "true_negatives")
            ]
            rows.append({"label": method["label"], "cells": texts})
    return rows


def areas(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Areas under the curves, and Brier scores."""
    names = [name for name in ("auc", "average_precision", "brier") if name in measures_of(result)]
    rows = [
        {"label": method["label"], "cells": [shown(name, mean(method, name)) for name in names]}
        for method in finished(result)
    ]
    return [{"heads": [MEASURES[name].label for name in names], "rows": rows}] if names else []


def columns(data: dict[str, Any]) -> Table:
    """The columns: kind, missing values, distinct values and the AUC of the column on its own."""
    rows = [
        [
            cell(str(column["name"])),
            cell(column["kind"]),
            cell(f"{column['missing']:,}" if column["missing"] else "0", column["missing"]),
            cell(share(column["missing"] or 0, data["rows_used"]), column["missing"]),
            cell(MISSING if column["distinct"] is None else f"{column['distinct']:,}", column["distinct"]),
            cell(shown("auc", column["alone"]), column["alone"]),
        ]
        for column in data["columns"]
    ]
    heads = ["Column", "Kind", "Missing", "Share missing", "Distinct values", "AUC on its own"]
    return {"heads": heads, "rows": rows, "folded": len(rows) > COLUMNS_OPEN_MAX}


def protocol(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Settings of the comparison."""
    how = result["protocol"]
    folds = f"{how['folds']} folds" + (f", {how['repeats']} repeats" if how["repeats"] > 1 else "")
    done = "" if how["n_folds_done"] == how["n_folds"] else f"; {how['n_folds_done']} of {how['n_folds']} folds done"
    return [
        ("Cross-validation", f"{folds}, {how['splits']}{done}"),
        ("Boosting rounds", f"{how['rounds']:,}"),
        ("Ranked by", in_sentence(how["metric"])),
        *([("Tuned", how["tuned"])] if how["tuned"] else []),
        ("Random seed", str(how["seed"])),
    ]


def importances(model: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Importance of every feature that the model uses."""
    shares = [(str(each["feature"]), each["share"]) for each in model["importances"]]
    return [[cell(feature), cell(f"{100 * share:.1f}%", share)] for feature, share in shares]


def rounds(model: dict[str, Any]) -> list[list[str]]:
    """Errors of both classes and the weight of the positive class, at about ten rounds."""
    history = model.get("rounds_history")
    if not history or not history["round"]:
        return []
    last = len(history["round"])
    at = sorted({n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n < last} | {last})
    keys = ("rare_error", "common_error", "balanced_error", "rare_weight")
    return [[str(history["round"][n - 1]), *(shown("tpr", history[key][n - 1]) for key in keys)] for n in at]


def strongest(row: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Feature, value and contribution, largest absolute contribution first."""
    ordered = sorted(row["contributions"], key=lambda each: -abs(each["contribution"]))
    return [(str(each["feature"]), value_text(each["value"]), each["contribution"]) for each in ordered]


def mean_contributions(model: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Mean absolute contribution of the most important features."""
    entries = model.get("contributions") or []
    return [
        [cell(str(each["feature"])), cell(significant(each["mean_absolute"], 3), each["mean_absolute"])]
        for each in entries
    ]


def contributions(row: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Contribution of each feature to the score of a row."""
    return [[cell(name), cell(value), cell(signed(added), added)] for name, value, added in strongest(row)]


def value_text(value: object) -> str:
    """The value of a feature as text."""
    if value is None:
        return "missing"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return significant(float(value), 3)
    return str(value)

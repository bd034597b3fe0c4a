"""The result as small tables of text, each cell with the number it is sorted by."""

from __future__ import annotations

from statistics import median
from typing import Any

from adacc.report.measures import MEASURES, MISSING, shown, signed, significant, spread
from adacc.report.words import Method, as_good, finished, mean, p_value, share

Table = dict[str, Any]
TABLE_FOLDS_AT = 12
"""Longer tables are folded."""


def cell(text: str, sort: float | None = None, spread: str = "") -> dict[str, Any]:
    """A cell: what is read, what it is sorted by, and what stands smaller below."""
    return {"text": text, "sort": sort, "spread": spread}


def measures_of(result: dict[str, Any]) -> list[str]:
    """The measures that the result has: the one of the ranking first."""
    first = result["protocol"]["metric"]
    has = [name for name in MEASURES if any(method["metrics"].get(name) for method in finished(result))]
    return sorted(has, key=lambda name: name != first)


def ranking(result: dict[str, Any]) -> Table:
    """Methods by rank: every measure with its spread, and how far behind the best."""
    names, metric = measures_of(result), result["protocol"]["metric"]
    tuned = any(method["cost"] for method in result["methods"])
    heads = [{"text": MEASURES[name].short, "title": MEASURES[name].about} for name in names]
    if tuned:
        heads.append({"text": "Cost", "title": "tuned cost of the common class, that of the rare one being 1: median"})
    rows = []
    for rank, method in enumerate(finished(result), 1):
        cells = [_measured(method, name) for name in names] + ([_cost(method)] if tuned else [])
        rows.append(_row(method, rank, cells, standing(method, metric)))
    empty = [cell(MISSING)] * len(heads)
    rows += [_row(each, None, empty, cell("failed")) for each in result["methods"] if not each["metrics"]]
    return {"heads": heads, "rows": rows, "metric": MEASURES[metric].label}


def _row(method: Method, rank: int | None, cells: list[dict[str, Any]], standing: dict[str, Any]) -> dict[str, Any]:
    told = {key: method[key] for key in ("name", "label", "own", "library", "about")}
    return {**told, "rank": rank, "cells": cells, "standing": standing, "as_good": as_good(method)}


def _measured(method: Method, name: str) -> dict[str, Any]:
    values = method["metrics"].get(name) or {}
    return cell(shown(name, values.get("mean")), values.get("mean"), spread=spread(name, values.get("std")))


def _cost(method: Method) -> dict[str, Any]:
    costs = [cost for cost in method["cost"] or [] if cost is not None]
    return cell(significant(median(costs), 2), median(costs)) if costs else cell(MISSING)


def standing(method: Method, metric: str) -> dict[str, Any]:
    """How far a method is behind the best, and the p-value of that."""
    versus = method["versus_best"]
    if versus is None:
        return cell("best", 0.0)
    difference, p = versus["difference"], versus["p"]
    if difference is None:
        return cell(MISSING)
    digits = 1 if MEASURES[metric].percent else 3
    size = f"{difference * MEASURES[metric].factor:+.{digits}f}".replace("-", "−")
    return cell(size, -abs(difference), "" if p is None else p_value(p))


def failures(result: dict[str, Any]) -> list[dict[str, str]]:
    """Methods that failed in a part or in all, and why."""
    parts = result["protocol"]["parts"]
    return [
        {
            "label": method["label"],
            "where": "everywhere" if not method["metrics"] else f"in {method['failed']['parts']} of {parts} parts",
            "reason": method["failed"]["reason"],
        }
        for method in result["methods"]
        if method["failed"]
    ]


def intervals(result: dict[str, Any]) -> Table:
    """Mean and interval of every measure: what the chart of intervals shows."""
    names = measures_of(result)
    rows = [
        {"label": method["label"], "cells": [_interval(method["metrics"].get(name) or {}, name) for name in names]}
        for method in finished(result)
    ]
    return {"heads": [MEASURES[name].label for name in names], "rows": rows}


def _interval(values: dict[str, Any], name: str) -> dict[str, Any]:
    if values.get("mean") is None:
        return cell(MISSING)
    low, high = shown(name, values.get("low")), shown(name, values.get("high"))
    return cell(shown(name, values["mean"]), values["mean"], spread=f"{low.removesuffix('%')} to {high}")


def decisions(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What each method's own decisions come to, as counts."""
    rows = []
    for method in finished(result):
        counts = (method.get("pooled") or {}).get("default")
        if counts:
            texts = [f"{counts[key]:,}" for key in ("caught", "missed", "alarms", "left_alone")]
            rows.append({"label": method["label"], "cells": texts})
    return rows


def areas(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What the curves come to: the areas below them, and how good the probabilities are."""
    names = [name for name in ("auc", "average_precision", "brier") if name in measures_of(result)]
    rows = [
        {"label": method["label"], "cells": [shown(name, mean(method, name)) for name in names]}
        for method in finished(result)
    ]
    return [{"heads": [MEASURES[name].label for name in names], "rows": rows}] if names else []


def columns(data: dict[str, Any]) -> Table:
    """The features: kind, gaps, values, and how well each tells the classes apart alone."""
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
    heads = ["Column", "Kind", "Missing", "of all rows", "Distinct values", "AUC alone"]
    return {"heads": heads, "rows": rows, "folded": len(rows) > TABLE_FOLDS_AT}


def protocol(result: dict[str, Any]) -> list[tuple[str, str]]:
    """How it was done."""
    how = result["protocol"]
    parts = f"{how['folds']} folds" + (f", {how['repeats']} times" if how["repeats"] > 1 else "")
    done = "" if how["parts_done"] == how["parts"] else f"; {how['parts_done']} of {how['parts']} parts done"
    return [
        ("Cross-validation", f"{parts}, {how['splits']}{done}"),
        ("Rounds of boosting", f"{how['rounds']:,}"),
        ("Ranked by", MEASURES[how["metric"]].label.lower()),
        *([("Tuned", how["tuned"])] if how["tuned"] else []),
        ("Seed", str(how["seed"])),
    ]


def importances(model: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """All features that the model uses."""
    shares = [(str(each["feature"]), each["share"]) for each in model["importances"]]
    return [[cell(feature), cell(f"{100 * share:.1f}%", share)] for feature, share in shares]


def rounds(model: dict[str, Any]) -> list[list[str]]:
    """A few rounds, closer at the start: errors by class and the weight of the rare one."""
    history = model.get("rounds_history")
    if not history or not history["round"]:
        return []
    last = len(history["round"])
    at = sorted({n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n < last} | {last})
    keys = ("rare_error", "common_error", "balanced_error", "rare_weight")
    return [[str(history["round"][n - 1]), *(shown("tpr", history[key][n - 1]) for key in keys)] for n in at]


def strongest(row: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Feature, value and contribution, the strongest first."""
    ordered = sorted(row["contributions"], key=lambda each: -abs(each["contribution"]))
    return [(str(each["feature"]), value_text(each["value"]), each["contribution"]) for each in ordered]


def contributions(row: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What each feature of a row adds to its score."""
    return [[cell(name), cell(value), cell(signed(added), added)] for name, value, added in strongest(row)]


def value_text(value: object) -> str:
    """A value of a feature as it is written beside its name."""
    if value is None:
        return "missing"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return significant(float(value), 3)
    return str(value)

"""Sentences and tables about a fitted model."""

from __future__ import annotations

from typing import Any

from adacc.report import tables
from adacc.report.model_charts import ERRORS, FEATURES_MAX, LEVELS, level
from adacc.report.numbers import signed, significant
from adacc.report.text import counted, listed, quoted, size


def about_model(model: dict[str, Any], positive: object, several_classes: bool = False) -> dict[str, Any]:
    """Texts and tables of the model section."""
    target = "the positive class" if positive is None else quoted(positive)
    row = model.get("row")
    return {
        "label": model["label"],
        "positive": target,
        "summary": _summary(model),
        "importances": tables.importances(model),
        "features_max": FEATURES_MAX,
        "no_shapes": "The command adacc explain shows the shape functions." if several_classes else "",
        "about_shapes": _about_shapes(model, target),
        "shapes": [{"feature": str(shape["feature"]), "text": shape_text(shape)} for shape in model["shapes"]],
        "errors": [{"label": label, "color": color, "dash": dash} for label, color, dash in ERRORS.values()],
        "rounds": tables.rounds(model),
        "train_command": model.get("train_command"),
        "contributions": tables.mean_contributions(model),
        "levels": _levels(model),
        "examples": [_example(each, target) for each in model.get("examples") or []],
        "row": row and {**row, "summary": row_text(row, target), "contributions": tables.contributions(row)},
    }


def _about_shapes(model: dict[str, Any], target: str) -> str:
    """How the shape functions are to be read."""
    share = model.get("main_share", 1.0)
    if share == 1.0:
        first = "The score is exactly the sum of the shape functions of all features."
    else:
        first = "The shape functions of trees are main effects: the mean score for each value of a feature."
        if share is not None:
            first += (
                f" Those of all features explain {100 * share:.0f}% of the variance of the score; the rest are joint "
                "effects of several features."
            )
    return f"{first} Values above 0 increase the score of {target}, values below 0 decrease it."


def _summary(model: dict[str, Any]) -> str:
    used = [each for each in model["importances"] if each["share"]]
    cost = "" if model["cost"] is None else f" and a cost of {significant(model['cost'], 2)} for the common class"
    text = f"{model['label']} with {size(model['rounds'], model.get('bags'))}{cost} uses"
    if not used:
        return f"{text} no feature."
    names = [quoted(each["feature"]) for each in used[:3]]
    most = f"{100 * sum(each['share'] for each in used[:3]):.0f}% of the effects are those of {listed(names)}"
    return f"{text} {counted(len(used), 'feature')}; {most}."


def shape_text(shape: dict[str, Any]) -> str:
    """Minimum and maximum of a shape function, as a description of its chart."""
    y = [value for value in shape["y"] if value is not None]
    if not y:
        return "not used"
    low, high = (f"{signed(level)} {_where(shape, level)}" for level in (min(y), max(y)))
    text = f"Lowest {low}, highest {high}" if min(y) < max(y) else f"{signed(y[0])} everywhere"
    return f"{text}." if shape["missing"] is None else f"{text}; missing {signed(shape['missing'])}."


def _where(shape: dict[str, Any], level: float) -> str:
    """The first category or range of x where a shape function has this value."""
    x, y = shape.get("x"), shape["y"]
    start = y.index(level)
    if x is None:
        return f"for {quoted(shape['labels'][start])}"
    end = next((at for at in range(start, len(y)) if y[at] != level), len(y))
    if start == 0:
        return f"up to {significant(x[end], 3)}"
    if end >= len(x) - 1:
        return f"above {significant(x[start], 3)}"
    return f"from {significant(x[start], 3)} to {significant(x[end], 3)}"


def _levels(model: dict[str, Any]) -> list[dict[str, str]]:
    """The legend of the contributions: levels of the values that occur."""
    occurring = {level(at) for each in model.get("contributions") or [] for at in each["levels"]}
    return [{"label": label, "color": color} for label, color in LEVELS.items() if label in occurring]


EXAMPLES = {
    "clear positive": "A clear positive (true positive)",
    "borderline": "A borderline row",
    "missed positive": "A missed positive (false negative)",
}


def _example(row: dict[str, Any], target: str) -> dict[str, Any]:
    """The title of an example, and what is said about it."""
    number = "" if row["number"] is None else f": row {row['number']:,}"
    score = (
        f"Its score is {signed(row['score'])}, which gives {target} a probability of {100 * row['probability']:.1f}%."
    )
    truth = "" if row["kind"] != "borderline" else f" It {'is' if row['is_positive'] else 'is not'} {target}."
    return {"title": f"{EXAMPLES[row['kind']]}{number}", "text": score + truth}


def row_text(row: dict[str, Any], positive: str) -> list[str]:
    """The prediction and score of a row, and its largest contributions."""
    first = f"Row {row['number']:,} is predicted to be {quoted(row['prediction'])}: its score is {signed(row['score'])}"
    if row["probability"] is not None:
        first += f", which gives {positive} a probability of {100 * row['probability']:.1f}%"
    reasons = [f"{name} = {value} ({signed(added)})" for name, value, added in tables.strongest(row)[:3]]
    return [f"{first}.", row["decision"], *([f"Largest contributions: {listed(reasons)}."] if reasons else [])]

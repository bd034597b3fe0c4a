"""A Python script that trains the baseline that won a comparison, with the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from adacc.comparison.cross_validation import Plan
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.problem import BaseProblem

SCRIPT = Template(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))


def winner_script(
    result: Mapping[str, Any],  # of `adacc.comparison.leaderboard.report`
    problem: BaseProblem,
    plan: Plan,
    source: str | None,  # the file of the table, "-" for standard input; None: the built-in digits
    text_format: tuple[str | None, str | None],  # field and decimal separator of a text file
    reading: Mapping[str, Any],  # other arguments of `read_problem`
    model_file: str,
) -> str | None:
    """The script if a baseline won, else None."""
    best = next((method for method in result["methods"] if method["metrics"]), None)
    if best is None or best["own"]:
        return None
    protocol, several = result["protocol"], isinstance(problem, MulticlassProblem)
    metric = protocol["metric"]
    is_sample = len(problem.y) < problem.n_rows_of_source
    is_whole = not result["stopped"]
    scores = "Predictions(model.decision_function(X_test), model.predict_proba(X_test)[:, 1])"
    return SCRIPT.substitute(
        label=best["label"],
        version=result["adacc"],
        command=result["command"],
        imports=_imports(source, several),
        table=_table(source, text_format, reading),
        sample=f"table.sample({len(problem.y)}, seed={plan.seed})" if is_sample else "table",
        method=repr(best["name"]),
        rounds=plan.rounds,
        in_time=problem.time is not None,
        duplicates=repr(problem.duplicates),
        metric=metric,
        figure=best["metrics"][metric]["mean"] if is_whole else "not computed on all of them",
        encodings=_encodings(best),
        printed_encoding=', "encoding of categories:", model.encoding_' if "encodings" in best else "",
        folds=protocol["folds"],
        repeats=protocol["repeats"],
        seed=plan.seed,
        groups="None" if problem.dependence is None else "problem.dependence[split.train]",
        predict="ClassPredictions(model.predict(X_test), model.predict_proba(X_test))" if several else scores,
        first_positive="" if several else ", pos_label=1",
        last_positive="" if several else ", pos_label=labels[1]",
        model_file=repr(model_file),
    )


def _encodings(best: Mapping[str, Any]) -> str:
    """A comment on the encodings of the folds, if there are categories and the baseline chooses their encoding."""
    if "encodings" not in best:
        return ""
    return (
        f"\n# Inner folds chose these encodings of the categories, as `fit` does again: {', '.join(best['encodings'])}."
    )


def _imports(source: str | None, several: bool) -> str:
    lines = [
        f"from adacc.comparison import {'digits, make_splits' if source is None else 'make_splits, read_problem'}",
        "from adacc.evaluation.baseline_classifier import BaselineClassifier",
        f"from adacc.evaluation.predictions import {'ClassPredictions' if several else 'Predictions'}",
        *([] if source is None else ["from adacc.tables import open_table"]),
    ]
    return "\n".join(lines)


def _table(source: str | None, text_format: tuple[str | None, str | None], reading: Mapping[str, Any]) -> str:
    """The expression that reads the table."""
    given = {name: value for name, value in reading.items() if value}
    if source is None:
        return f"digits({given['positive']!r})" if "positive" in given else "digits()"
    formats = zip(("separator", "decimal"), text_format, strict=True)
    opened = ", ".join([repr(source), *(f"{name}={value!r}" for name, value in formats if value is not None)])
    arguments = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"read_problem(open_table({opened}){arguments})"

"""Validating reader of the decision rule of a model file, and of the scores that rules are tuned on."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adacc.model.decision import Decision, DecisionReport, Interval, untuned
from adacc.model.decision_spec import read_decision
from adacc.model.fitted import TuningScores
from adacc.model.serialization.archive import ModelFileError
from adacc.model.serialization.fields import FieldReader

ROWS = ("out-of-bag", "held-out", "given")
MEASURES = ("recall", "precision", "alerts_per_1000", "fbeta", "mean_cost")


def read_decision_rule(fields: FieldReader, classes: NDArray[Any], positive: int) -> Decision:
    """The decision rule of a model of these classes, of which `positive` is the number of the positive one."""
    match fields.entry("decision_rule", dict):
        case {"rule": str(rule), "threshold": float() | int() | None as threshold, "report": dict() | None as report}:
            pass
        case other:
            raise ModelFileError(f"'decision_rule' must have a rule, a threshold and a report, got {other!r:.80}")
    try:
        spec = read_decision(rule).for_classes(classes)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"'decision_rule' has an invalid rule: {error}") from None
    plain = untuned(spec, positive)
    if (threshold is None) != (plain.threshold is None and not spec.needs_tuning) or isinstance(threshold, bool):
        raise ModelFileError(
            f"'decision_rule' has a threshold of {threshold}, which does not fit the rule {rule!r:.80}"
        )
    if threshold is not None and not isfinite(threshold):
        raise ModelFileError(f"the threshold of 'decision_rule' must be finite, got {threshold}")
    return Decision(spec, positive, None if threshold is None else float(threshold), _report(report))


def _report(plain: dict[str, Any] | None) -> DecisionReport | None:
    if plain is None:
        return None
    match plain:
        case {
            "rows": str(rows), "n_rows": int(n_rows), "n_positive": int(n_positive), "met": bool(met),
            "threshold": list() | None as threshold, "achieved": dict(achieved),
        } if len(plain) == 6 and rows in ROWS and set(achieved) <= set(MEASURES):  # fmt: skip
            intervals = {name: _interval(numbers) for name, numbers in achieved.items()}
            of_threshold = None if threshold is None else _interval(threshold)
            return DecisionReport(rows, n_rows, n_positive, intervals, of_threshold, met)
    raise ModelFileError(f"the report of 'decision_rule' is invalid: {plain!r:.80}")


def _interval(numbers: Any) -> Interval:
    if (
        not isinstance(numbers, list)
        or len(numbers) != 3
        or not all(type(x) in (int, float, type(None)) for x in numbers)
    ):
        raise ModelFileError(f"a measure of 'decision_rule' must be three numbers, got {numbers!r:.80}")
    return Interval(*(nan if value is None else float(value) for value in numbers))


def read_tuning_scores(fields: FieldReader, n_classes: int) -> TuningScores:
    """The scores of rows that the model was trained without."""
    rows = fields.entry("tuning_rows", str)
    if rows not in ROWS or n_classes != 2:
        raise ModelFileError(f"'tuning_rows' must be one of {', '.join(ROWS)}, for two classes, got {rows!r:.80}")
    scores = fields.finite("tuning_scores", None)
    n_rows = len(scores)
    is_positive = fields.array("tuning_positive", np.uint8, n_rows)
    weight = fields.finite("tuning_weight", n_rows) if "tuning_weight" in fields.arrays else np.ones(n_rows)
    groups, _, numbers = (  # earlier versions stored the folds, too
        fields.array(name, np.int64, n_rows) if fields.has(name) else None
        for name in ("tuning_groups", "tuning_folds", "tuning_numbers")
    )
    if n_rows == 0 or is_positive.max() > 1 or (weight <= 0.0).any():
        raise ModelFileError("the tuning scores must have rows, classes 0 and 1, and positive weights")
    for name, each in (("tuning_groups", groups), ("tuning_numbers", numbers)):
        if each is not None and not 0 <= each.min() <= each.max() < n_rows:
            raise ModelFileError(f"{name}.npy must hold numbers from 0 to the number of rows")
    return TuningScores(rows, scores, is_positive.astype(bool), weight, groups, numbers)

"""Decision rules of a fitted model: the columns that they name, and their tuning."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from adacc.algorithms.base import Array
from adacc.data.columns import is_frame
from adacc.estimators.decision_intervals import intervals_of_alerts
from adacc.estimators.decision_tuning import tune_rule, with_costs
from adacc.estimators.labelled_rows import LabelledRows
from adacc.model.cost_matrix import PROBABILITY_DECIMALS
from adacc.model.decision import Decision, Interval, read_costs, untuned
from adacc.model.decision_spec import DecisionSpec
from adacc.model.fitted import DECIMALS, FittedModel, TuningScores

MAX_STORED_ROWS = 10_000
"""Maximum number of rows of a class whose scores a model keeps."""


class NeedsTuningRowsError(ValueError):
    """A decision rule must be tuned, but the model does not store what it needs."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}: give rows X and y that the model was not trained on")
        self.reason = reason


class NotCalibratedError(ValueError):
    """A decision rule minimizes the expected cost, but the probabilities of the model are not calibrated."""

    def __init__(self, rule: str, n_classes: int) -> None:
        self.reason = (
            f"the decision {rule!r} minimizes the expected cost, but the probabilities of this model are not calibrated"
        )
        self.or_tuned = ", or put 'tuned' before the rule" if n_classes == 2 else ""
        super().__init__(f"{self.reason}: fit it with calibration='sigmoid'{self.or_tuned}")


def split_columns(
    spec: DecisionSpec | None,
    X: Any,
    columns: Any,
    features: tuple[int | None, Collection[str] | None] = (None, None),
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """X without the columns that are not features, and the columns that a rule names.

    `columns` are a mapping or frame of them, or the values of the only one. Columns that are not given there are taken
    from X. `features` are the number and the names of the features, if they are known.
    """
    if spec is None and columns is None:
        return X, {}
    names = () if spec is None else spec.columns
    if columns is not None and not names:
        reason = "there is no decision rule" if spec is None else f"the decision {str(spec)!r} needs none"
        raise ValueError(f"columns must be None, as {reason}")
    given = _given_columns(columns, names)
    frame = nw.from_native(X) if is_frame(X) else None
    found = {}
    for name in names:
        if name in given:
            found[name] = _values(given[name])
        elif frame is not None and name in frame.columns:
            found[name] = _local(frame[name]).to_numpy()
        else:
            raise ValueError(
                f"the decision {str(spec)!r} needs the column {name!r}: give it in a frame X, or as "
                f"columns={{{name!r}: values}}"
            )
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if found[name].shape != (n_rows,):
            shape = found[name].shape
            raise ValueError(
                f"columns: {name!r} must have a value for each of the {n_rows} rows, got the shape {shape}"
            )
    if frame is not None:
        n_features, feature_names = features
        others = [name for name in names if name in frame.columns and name not in (feature_names or ())]
        if feature_names is None and len(frame.columns) - len(others) != n_features:
            others = []
        X = frame.drop(others).to_native() if others else X
    return X, found


def _values(column: Any) -> NDArray[Any]:
    """A column that is given as a sequence, array or series; times of a series are local."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(column, arrow.Array):
        column = arrow.chunked_array([column])
    series = nw.from_native(column, series_only=True, pass_through=True)
    return _local(series).to_numpy() if isinstance(series, nw.Series) else np.asarray(column)


def _given_columns(columns: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if columns is None:
        return {}
    if is_frame(columns):
        frame = nw.from_native(columns)
        return {name: _local(frame[name]).to_numpy() for name in frame.columns}
    if isinstance(columns, Mapping):
        return columns
    if len(names) > 1:
        raise ValueError(f"columns must be a dict or a frame with the columns {', '.join(map(repr, names))}")
    return dict.fromkeys(names, columns)


def decide(
    model: FittedModel, spec: DecisionSpec, tuning: TuningScores | None, columns: Mapping[str, NDArray[Any]]
) -> Decision:
    """Bind a rule to a model, and tune it on scores of rows that the model was trained without."""
    spec = rounded(spec.for_classes(model.classes))
    positive = model.positive_class
    if positive is None:
        check_calibrated(model, spec)
        return untuned(spec, 0)
    missing = [name for name in spec.columns if name not in columns]
    if tuning is None or (missing and not spec.is_ranked):
        if spec.needs_tuning:
            reason = f"its column {missing[0]!r}" if tuning is not None else "scores of rows it was trained without"
            raise NeedsTuningRowsError(
                f"the decision {str(spec)!r} must be tuned, but the model does not store {reason}"
            )
        tuning = None
    check_calibrated(model, spec)
    decision = untuned(spec, positive)
    if tuning is None or spec.is_ranked:
        return decision
    scores = model.positive_scores(tuning.scores)
    statistic = decision.statistic(scores, lambda: model.rounded_probabilities(tuning.scores), columns)
    fn, fp = row_costs(spec, columns)
    rows = LabelledRows(statistic, tuning.is_positive, tuning.weight, tuning.groups, fn, fp, numbers=tuning.numbers)
    return tune_rule(spec, positive, rows, tuning.rows)


def rounded(spec: DecisionSpec) -> DecisionSpec:
    """The rule with its threshold rounded like the numbers it is compared with, so that equal numbers stay equal."""
    decimals = {"threshold": PROBABILITY_DECIMALS, "score": DECIMALS}.get(spec.kind)
    return spec if decimals is None else replace(spec, value=round(spec.value, decimals))


def row_costs(spec: DecisionSpec, columns: Mapping[str, NDArray[Any]]) -> tuple[Array | float, Array | float]:
    """Costs of a false negative and of a false positive; 1 if the rule has no costs by row."""
    if spec.kind != "row_cost":
        return 1.0, 1.0
    return read_costs(spec.fn, columns), read_costs(spec.fp, columns)


def achieved_on(
    decision: Decision,
    is_positive: NDArray[np.bool_],
    alert: NDArray[np.bool_],
    columns: Mapping[str, NDArray[Any]],
    groups: NDArray[np.intp] | None = None,
) -> dict[str, Interval]:
    """The measures of ``decision.report`` on other rows, with intervals; `columns` are those that the rule names."""
    fn, fp = row_costs(decision.spec, columns)
    rows = LabelledRows(np.zeros(len(alert)), is_positive, np.ones(len(alert)), groups, fn=fn, fp=fp)
    rows = with_costs(decision.spec, decision.positive, rows)
    return intervals_of_alerts(decision.spec, rows, alert)


def check_calibrated(model: FittedModel, spec: DecisionSpec) -> None:
    """Refuse rules by expected cost if the probabilities are only a ranking: they would alert on most rows."""
    if model.calibrator is None and spec.kind in ("cost", "row_cost") and not spec.tuned:
        raise NotCalibratedError(str(spec), len(model.classes))


def model_inside(estimator: Any) -> FittedModel | None:
    """The model of a fitted classifier of adacc, also of one in a pipeline or a search; None for other classifiers."""
    if hasattr(estimator, "best_estimator_"):
        return model_inside(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return model_inside(estimator.steps[-1][1])
    model = getattr(estimator, "fitted_model_", None)
    return model if isinstance(model, FittedModel) else None


def columns_in(X: Any, spec: DecisionSpec | None) -> dict[str, NDArray[Any]]:
    """The columns that a rule names, as far as X is a frame that has them."""
    if spec is None or not spec.columns or not is_frame(X):
        return {}
    frame = nw.from_native(X)
    return {name: _local(frame[name]).to_numpy() for name in spec.columns if name in frame.columns}


def _local(column: Any) -> Any:
    """A column whose times have no time zone, so that their days are those of the local calendar."""
    zone = getattr(column.dtype, "time_zone", None)
    return column if zone is None else column.dt.replace_time_zone(None)


def thinned(tuning: TuningScores, seed: int) -> TuningScores:
    """The scores that a model keeps: those of at most `MAX_STORED_ROWS` random rows of each class.

    The weights of the rows that are kept are increased so that the classes have the same total weight as before.
    """
    rng, kept, weight = np.random.default_rng(seed), [], tuning.weight.copy()
    for of_class in (~tuning.is_positive, tuning.is_positive):
        members = np.flatnonzero(of_class)
        if len(members) > MAX_STORED_ROWS:
            total = weight[members].sum()
            members = np.sort(rng.choice(members, MAX_STORED_ROWS, replace=False))
            weight[members] *= total / weight[members].sum()
        kept.append(members)
    some = np.sort(np.concatenate(kept))
    groups, numbers = (
        None if each is None else np.unique(each[some], return_inverse=True)[1].astype(np.int64)
        for each in (tuning.groups, tuning.numbers)
    )
    return TuningScores(tuning.rows, tuning.scores[some], tuning.is_positive[some], weight[some], groups, numbers)

"""Seconds of `predict` with models of 200 stumps, for 100,000 rows and for one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from data import SEED, Data, Shape, synthetic
from peers import ADACC, ROUNDS, RUSBOOST, Peer
from report import Report
from settings import Settings
from tables import aligned, counted, number, ratio, spanning
from timing import SAMPLED_ROUNDS, at_all_rounds, is_sampled, say, seconds_of, seconds_of_short, take_turns

from adacc.estimators.base import read_known

MANY = 100_000
MOST_REPEATS = 3  # predictions vary less than fits
SHAPE = (100_000, 20)
QUICK_SHAPE = (10_000, 20)

# What `predict` costs depends on the stumps, not on the number of rows that they were fitted to.
MOST_ROWS_TO_FIT = 20_000
MOST_ROWS_TO_FIT_SLOWLY = 2_000

ASKED_OF_MEAN = {"scikit-learn": 30, "LightGBM": 2}
ASKED_OF_ONE_ROW = 50.0  # microseconds
BEYOND = "beyond validation"

NOTES = (
    f"* from {SAMPLED_ROUNDS[0]} and {SAMPLED_ROUNDS[1]} stumps, along a straight line\n"
    "† boosting stopped by itself after so many stumps, and no ratio is formed\n"
    f"The models are fitted to at most {MOST_ROWS_TO_FIT:,} rows, scikit-learn's to {MOST_ROWS_TO_FIT_SLOWLY:,}.\n"
    "RUSBoost predicts by scikit-learn's code."
)
NOTES_ON_ONE_ROW = (
    f"{BEYOND}: adacc's scores and decision on a table that is checked already; a frame's columns are read only then"
)

Clock = Callable[[Callable[[], Any]], float]


@dataclass(frozen=True)
class Prediction:
    """One library on one set of data; seconds of `ROUNDS` stumps, one entry a repeat."""

    shape: Shape
    peer: Peer
    threads: int
    stumps_asked: int
    stumps_fitted: int
    many_rows: list[float]
    one_row: list[float]
    # Of adacc alone.
    one_row_beyond_validation: list[float] | None

    @property
    def is_extrapolated(self) -> bool:
        return self.stumps_asked < ROUNDS

    @property
    def stopped(self) -> bool:
        return self.stumps_fitted < self.stumps_asked

    @property
    def mark(self) -> str:
        return ("*" if self.is_extrapolated else "") + (f" †{self.stumps_fitted}" if self.stopped else "")


Predictions = Sequence[Prediction]
"""Of all libraries on one set of data, in the same order for each."""


def measure(settings: Settings, report: Report) -> None:
    peers = [peer for peer in settings.peers if peer is not RUSBOOST]
    made = _predict(synthetic(*(QUICK_SHAPE if settings.quick else SHAPE)), peers, settings)
    by_set = [_predict(data, peers, settings) for data in settings.sets()]
    everything = [made, *by_set]
    threads = counted(settings.threads, "thread")
    report.show(f"Predict {MANY:,} rows, {ROUNDS} stumps, {threads}\n{_many_rows(made, by_set)}\n{NOTES}")
    report.show(f"Predict one row, {ROUNDS} stumps, {threads}\n{_one_row(everything)}\n{NOTES_ON_ONE_ROW}")
    report.write_csv("predict.csv", [record for of_data in everything for each in of_data for record in _records(each)])
    _put_in_headline(report, made, by_set)


def _predict(data: Data, peers: Sequence[Peer], settings: Settings) -> list[Prediction]:
    repeats = min(settings.repeats, MOST_REPEATS)
    rng = np.random.default_rng(SEED)
    many = data.take(rng.integers(len(data.y), size=MANY))
    one = many.take(np.array([0]))
    predictors = {peer: _Predictor(peer, data, settings.threads) for peer in peers}

    def in_turns(rows: Data, clock: Clock) -> dict[Peer, list[float]]:
        runs = {peer: partial(predictor.seconds, rows, clock) for peer, predictor in predictors.items()}
        return take_turns(runs, repeats)

    say(f"{data.name}: predictions")
    of_many, of_one = in_turns(many, seconds_of), in_turns(one, seconds_of_short)
    beyond = [_seconds_beyond_validation(predictors[ADACC].models[-1], one) for _ in range(repeats)]
    return [
        Prediction(
            data.shape,
            peer,
            settings.threads,
            predictor.stumps_asked[-1],
            predictor.stumps_fitted[-1],
            of_many[peer],
            of_one[peer],
            beyond if peer is ADACC else None,
        )
        for peer, predictor in predictors.items()
    ]


class _Predictor:
    """A library's model of all stumps, or two of few stumps each where to fit all would take minutes."""

    def __init__(self, peer: Peer, data: Data, threads: int) -> None:
        say(f"{data.name}: {peer.name}, models to predict with")
        rows = data.sample(MOST_ROWS_TO_FIT_SLOWLY if peer.slow else MOST_ROWS_TO_FIT)
        X = peer.read(rows)
        self.peer = peer
        self.stumps_asked = SAMPLED_ROUNDS if is_sampled(peer, X) else (ROUNDS,)
        self.models = [peer.make(stumps, threads).fit(X, rows.y) for stumps in self.stumps_asked]
        self.stumps_fitted = [peer.fitted_rounds(model) for model in self.models]

    def seconds(self, rows: Data, clock: Clock) -> float:
        X = self.peer.read(rows)
        seconds = [clock(partial(model.predict, X)) for model in self.models]
        return seconds[0] if len(seconds) == 1 else at_all_rounds(self.stumps_fitted, seconds)


def _seconds_beyond_validation(model: Any, row: Data) -> float:
    """`predict` without the checks of X, which are scikit-learn's own."""
    table, fitted = read_known(model, row.X), model.fitted_model_

    def decide() -> Any:
        return fitted.labels(fitted.decision_scores(fitted.scores(table)))

    return seconds_of_short(decide)


def _adacc(predictions: Predictions) -> Prediction:
    return next(each for each in predictions if each.peer is ADACC)


def _ratios(predictions: Predictions) -> dict[str, float | None]:
    """By library; None where one of the two has not all stumps."""
    adacc = _adacc(predictions)
    return {
        each.peer.name: None if each.stopped or adacc.stopped else median(each.many_rows) / median(adacc.many_rows)
        for each in predictions
        if each.peer is not ADACC
    }


def _means(by_set: Sequence[Predictions]) -> dict[str, float]:
    """Geometric means over the sets, by library."""
    found: dict[str, list[float]] = {}
    for predictions in by_set:
        for library, value in _ratios(predictions).items():
            if value is not None:
                found.setdefault(library, []).append(value)
    return {library: geometric_mean(values) for library, values in found.items()}


def _many_rows(made: Predictions, by_set: Sequence[Predictions]) -> str:
    no_seconds = [""] * len(made)
    others = list(_ratios(made))
    header = [
        ["", "", *spanning("seconds", len(made)), *spanning("× adacc", len(others))],
        ["set", "columns", *(each.peer.name for each in made), *others],
    ]
    rows = [
        [
            *_name(predictions),
            *(f"{number(median(each.many_rows))}{each.mark}" for each in predictions),
            *map(ratio, _ratios(predictions).values()),
        ]
        for predictions in [made, *by_set]
    ]
    if not by_set:
        return aligned(header, rows)
    means = _means(by_set)
    rows.append(
        [
            f"geometric mean, {counted(len(by_set), 'set')}",
            "",
            *no_seconds,
            *(ratio(means.get(name)) for name in others),
        ]
    )
    return aligned(header, rows, last=1)


def _name(predictions: Predictions) -> tuple[str, str]:
    shape = predictions[0].shape
    return shape.name, f"{shape.columns:,}"


def _one_row(everything: Sequence[Predictions]) -> str:
    libraries = [each.peer.name for each in everything[0]]
    header = [
        ["", "", *spanning("microseconds", len(libraries)), ADACC.name],
        ["set", "columns", *libraries, BEYOND],
    ]
    rows = [
        [
            *_name(predictions),
            *(f"{_microseconds(each.one_row):,.0f}{each.mark}" for each in predictions),
            f"{_microseconds(_adacc(predictions).one_row_beyond_validation):,.0f}",
        ]
        for predictions in everything
    ]
    return aligned(header, rows)


def _microseconds(seconds: Sequence[float]) -> float:
    return 1e6 * median(seconds)


def _records(prediction: Prediction) -> list[dict[str, Any]]:
    """A line of CSV for many rows, for one, and for one beyond validation."""
    measured = [(MANY, "predict", prediction.many_rows), (1, "predict", prediction.one_row)]
    if prediction.one_row_beyond_validation is not None:
        measured.append((1, BEYOND, prediction.one_row_beyond_validation))
    return [
        {
            "data": prediction.shape.name,
            "columns": prediction.shape.columns,
            "library": prediction.peer.name,
            "version": prediction.peer.version,
            "threads": prediction.threads if prediction.peer.threaded else 1,
            "stumps": ROUNDS,
            "stumps_fitted": prediction.stumps_fitted,
            "rows": rows,
            "what": what,
            "repeats": len(seconds),
            "seconds": f"{median(seconds):.7f}",
            "seconds_min": f"{min(seconds):.7f}",
            "seconds_max": f"{max(seconds):.7f}",
            "seconds_extrapolated": prediction.is_extrapolated,
        }
        for rows, what, seconds in measured
    ]


def _put_in_headline(report: Report, made: Predictions, by_set: Sequence[Predictions]) -> None:
    for library, mean in _means(by_set).items():
        if library in ASKED_OF_MEAN:
            what = f"predict {MANY:,} rows, {counted(len(by_set), 'set')}, geometric mean: {library} / adacc"
            report.headline(what, mean, "×", at_least=ASKED_OF_MEAN[library])
    beyond = _adacc(made).one_row_beyond_validation
    what = f"predict one row of {made[0].shape.columns} columns, {BEYOND}"
    report.headline(what, _microseconds(beyond), "µs", at_most=ASKED_OF_ONE_ROW)

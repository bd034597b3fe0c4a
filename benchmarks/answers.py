"""Compares the compiled engine with the naive one of the tests, on rows of every set."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from data import Data, Shape
from numpy.typing import NDArray
from report import Report
from settings import Settings
from tables import aligned
from timing import say

from adacc import AdaCC1Classifier

# The plain engine tries every split on every row, in Python.
ROWS = 150
COLUMNS = 15
ROUNDS = 20

# Far below what a different answer would make, above what the order of additions does.
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


class Plain(NamedTuple):
    """The plain engine's rows: numbers, with a number for each category, whose labels are here by column."""

    X: NDArray[np.float64]
    labels: dict[int, list[Any]]


class Agreement(NamedTuple):
    shape: Shape
    categories: int
    rounds: int
    agreed_rounds: int
    same_answers: bool

    @property
    def is_full(self) -> bool:
        return self.agreed_rounds == self.rounds and self.same_answers


def measure(settings: Settings, report: Report) -> None:
    found = [_compare(_part(data)) for data in settings.sets()]
    if not found:
        return
    report.show(_table(found))
    report.write_csv("answers.csv", [_record(each) for each in found])
    full = sum(each.is_full for each in found)
    report.headline(f"sets with the plain engine's answers, of {len(found)}", full, "", at_least=len(found))
    for each in found:
        if not each.is_full:
            report.fail(f"{each.shape.name}: adacc answers otherwise than the plain engine")


def _part(data: Data) -> Data:
    """A few rows and columns, drawn from the whole width."""
    rows = data.sample(ROWS)
    columns = np.unique(np.linspace(0, rows.X.shape[1] - 1, COLUMNS).astype(int))
    X = rows.X[:, columns] if isinstance(rows.X, np.ndarray) else rows.X.iloc[:, columns]
    return Data(data.name, X, rows.y)


def _compare(data: Data) -> Agreement:
    say(f"{data.name}: the plain engine")
    plain = _numbers(data)
    expected = _naive().boost(plain.X, data.y, "adacc1", n_rounds=ROUNDS, categorical=tuple(plain.labels))
    model = AdaCC1Classifier(n_estimators=ROUNDS, max_bins=None).fit(data.X, data.y)
    stumps = model.estimators_
    agreed = [
        _is_same(stump, vote, each, plain)
        for stump, vote, each in zip(stumps, model.estimator_weights_, expected, strict=False)
    ]
    scores = expected[-1].scores
    same_answers = np.allclose(model.decision_function(data.X), scores, **CLOSE) and np.array_equal(
        model.predict(data.X), [_naive().decide(score, 0) for score in scores]
    )
    return Agreement(data.shape, len(plain.labels), max(len(stumps), len(expected)), sum(agreed), same_answers)


def _naive() -> Any:
    """The plain engine, which lives with the tests."""
    tests = str(Path(__file__).parents[1] / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    return import_module("naive")


def _numbers(data: Data) -> Plain:
    if isinstance(data.X, np.ndarray):
        return Plain(data.X, {})
    columns, labels = [], {}
    for j, name in enumerate(data.X):
        column = data.X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            labels[j] = sorted(column.unique())
            column = column.map({label: number for number, label in enumerate(labels[j])})
        columns.append(column.to_numpy(dtype=np.float64))
    return Plain(np.column_stack(columns), labels)


def _is_same(stump: Any, vote: Any, expected: Any, plain: Plain) -> bool:
    """Whether a round splits alike, predicts alike and votes alike."""
    if stump.feature != (None if expected.feature < 0 else expected.feature):
        return False
    if not np.allclose(vote, expected.alpha, **CLOSE):
        return False
    if stump.feature is None:
        return stump.left == expected.left
    if (stump.left, stump.right) != (expected.left, expected.right):
        return False
    if stump.feature in plain.labels:
        return stump.category == plain.labels[stump.feature][int(expected.cut)]
    return stump.missing == expected.missing and np.isclose(stump.threshold, expected.cut, **CLOSE)


def _table(found: Sequence[Agreement]) -> str:
    header = [["set", "rows × columns", "categorical", "rounds", "same", "same answers"]]
    rows = [
        [
            each.shape.name,
            each.shape.size,
            f"{each.categories}",
            f"{each.rounds}",
            f"{each.agreed_rounds}",
            "yes" if each.same_answers else "NO",
        ]
        for each in found
    ]
    full = sum(each.is_full for each in found)
    return (
        f"AdaCC1 beside the plain engine of the tests, every value a split\n{aligned(header, rows)}\n"
        f"{full} of {len(found)} sets: every round and every answer the same"
    )


def _record(agreement: Agreement) -> dict[str, Any]:
    return {
        "data": agreement.shape.name,
        "rows": agreement.shape.rows,
        "columns": agreement.shape.columns,
        "categorical_columns": agreement.categories,
        "rounds": agreement.rounds,
        "rounds_agreed": agreement.agreed_rounds,
        "same_answers": agreement.same_answers,
    }

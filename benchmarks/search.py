"""Times the cost search against a loop of fits, and checks that the models are identical."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from data import Data, synthetic
from report import Report
from settings import Settings
from sklearn.exceptions import ConvergenceWarning
from tables import aligned, number, ratio
from timing import say, seconds_of, take_turns

from adacc import BoostingClassifier, CostSearchCV
from adacc.algorithms import METHODS

SHAPE = (30_000, 40)
QUICK_SHAPE = (3_000, 40)
ROUNDS = 100
COSTS_OF_ONE_FIT = {0: 0.5, 1: 1.0}
ASKED_OF_SEARCH = 4.0  # single fits
TURNS = 3  # for each repeat of other parts: a turn takes less than a second, and a ratio of two is doubly uncertain

NOTE = (
    "The loop only fits; the search scores its models too.\n"
    "Rounds are those made: with some costs a method stops early.\n"
    "Same model: equal scores for every row, to the last bit."
)


@dataclass(frozen=True)
class Search:
    """One method: seconds of a fit, of the search, and of a fit for each of its costs; one entry a repeat."""

    method: str
    n_costs: int
    fit: list[float]
    search: list[float]
    loop: list[float]
    rounds_of_fit: int
    rounds_of_loop: int
    is_same: bool

    @property
    def in_fits(self) -> float:
        return _ratio(self.search, self.fit)

    @property
    def loop_in_searches(self) -> float:
        return _ratio(self.loop, self.search)


def _ratio(some: Sequence[float], others: Sequence[float]) -> float:
    """Of what was measured in the same turn: a machine that slows down for a minute does so for both.

    What has used up its patience has no part in the last turns.
    """
    return median(each / other for each, other in zip(some, others, strict=False))


def measure(settings: Settings, report: Report) -> None:
    data = synthetic(*(QUICK_SHAPE if settings.quick else SHAPE))
    # A calibrated method is the same search and then a calibration.
    names = [name for name, method in METHODS.items() if method.rule.uses_costs and method.calibration is None]
    searches = [_search(name, data, settings.repeats) for name in names]
    report.show(_table(searches, data))
    report.write_csv("search.csv", [_record(search, data) for search in searches])
    for search in searches:
        if not search.is_same:
            report.fail(f"the cost search of {search.method} found another model than a fit with the same costs")
    slowest = max(searches, key=lambda search: search.in_fits)
    what = f"search of {slowest.n_costs} costs, {data.shape.size}, slowest method ({slowest.method}): in single fits"
    report.headline(what, slowest.in_fits, "", at_most=ASKED_OF_SEARCH)


def _search(method: str, data: Data, repeats: int) -> Search:
    say(f"cost search: {method}")

    def model(costs: Any) -> Any:
        return BoostingClassifier(method, costs=costs, n_estimators=ROUNDS, n_jobs=1)

    one, search = model(COSTS_OF_ONE_FIT), CostSearchCV(model("balanced"), cv="training")
    with warnings.catch_warnings():
        # With some costs already the first stump is no better than chance; the table shows the rounds.
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(data.X, data.y)
        grid = [tried["costs"] for tried in search.cv_results_["params"]]
        alone = [model(costs) for costs in grid]
        seconds = take_turns(
            {
                "fit": lambda: _seconds_of_fits([one], data),
                "search": lambda: _seconds_of_fits([search], data),
                "loop": lambda: _seconds_of_fits(alone, data),
            },
            TURNS * repeats,
        )
    found = search.best_estimator_
    with_same_costs = alone[grid.index(found.costs)]
    return Search(
        method,
        len(grid),
        **seconds,
        rounds_of_fit=one.n_iter_,
        rounds_of_loop=sum(each.n_iter_ for each in alone),
        is_same=np.array_equal(found.decision_function(data.X), with_same_costs.decision_function(data.X)),
    )


def _seconds_of_fits(models: Sequence[Any], data: Data) -> float:
    def fit() -> None:
        for model in models:
            model.fit(data.X, data.y)

    return seconds_of(fit)


def _table(searches: Sequence[Search], data: Data) -> str:
    header = [
        ["", "one", "", "loop", "search", "loop /", "rounds of", "rounds of", "same"],
        ["method", "fit", "search", "of fits", "in fits", "search", "one fit", "the loop", "model"],
    ]
    rows = [
        [
            search.method,
            *(number(median(seconds)) for seconds in (search.fit, search.search, search.loop)),
            ratio(search.in_fits),
            ratio(search.loop_in_searches),
            f"{search.rounds_of_fit:,}",
            f"{search.rounds_of_loop:,}",
            "yes" if search.is_same else "NO",
        ]
        for search in searches
    ]
    means = [geometric_mean(getattr(search, name) for search in searches) for name in ("in_fits", "loop_in_searches")]
    rows.append(["geometric mean", "", "", "", *map(ratio, means), "", "", ""])
    title = f"Search of {searches[0].n_costs} costs: {data.shape.size}, {ROUNDS} rounds, one thread, seconds"
    return f"{title}\n{aligned(header, rows, last=1)}\n{NOTE}"


def _record(search: Search, data: Data) -> dict[str, Any]:
    return {
        "method": search.method,
        "rows": data.shape.rows,
        "columns": data.shape.columns,
        "rounds": ROUNDS,
        "costs": search.n_costs,
        "rounds_of_fit": search.rounds_of_fit,
        "rounds_of_loop": search.rounds_of_loop,
        "repeats": len(search.search),
        "seconds_fit": f"{median(search.fit):.5f}",
        "seconds_search": f"{median(search.search):.5f}",
        "seconds_loop": f"{median(search.loop):.5f}",
        "search_in_fits": f"{search.in_fits:.3f}",
        "loop_in_searches": f"{search.loop_in_searches:.3f}",
        "same_model": search.is_same,
    }

"""What several tests need: the engine's run, recorded round by round."""

from dataclasses import dataclass

import numpy as np

import adacc
from adacc.engine.table import read
from adacc.estimators.settings import read_settings
from adacc.estimators.training import Problem, train

RANDOM = ("rusboost", "smoteboost")
DETERMINISTIC = [name for name in adacc.methods() if name not in RANDOM]
WITH_COSTS = ["cgada", "adamec", "csb1", "csb2", "adacost", "adac1", "adac2", "adac3", "adamec-cal", "cgada-cal"]
OPTIONS = {
    "alpha": ["adacost", "adacc1", "adacc2", "adan-cc1", "adan-cc2"],
    "costs_on": ["csb1", "csb2"],
}


@dataclass
class Recorded:
    ensemble: object
    stumps: list
    weights_after: list
    scores: list


def run_engine(X, y, method, *, sample_weight=None, tie_class=0, **params):
    """Train as an estimator would, keeping every round's weights and scores in the order of the rows given."""
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = np.flatnonzero(weight)
    y = np.asarray(y)
    classes = np.unique(y[used])
    problem = Problem(read(X).take(used), np.searchsorted(classes, y[used]), weight[used], classes, tie_class)
    settings = read_settings(adacc.BoostingClassifier(method, **params).get_params(deep=False))
    weights_after, scores = [], []

    def record(boosting, model):
        unsorted = np.argsort(problem.rows.order)
        weights_after.append(boosting.weights.values[unsorted])
        scores.append(boosting.audience.scores[unsorted].copy())
        return False

    ensemble, _ = train(settings, problem, after_round=record)
    return Recorded(ensemble, ensemble.models.describe(classes), weights_after, scores)


def variants(method):
    """All combinations of options of a method, dialects included."""
    result = [{"dialect": "paper"}, {"dialect": "authors"}]
    if method in OPTIONS["alpha"]:
        result = [{**v, "alpha": a} for v in result for a in ("error", "cost")]
    if method in OPTIONS["costs_on"]:
        result = [{**v, "costs_on": c} for v in result for c in ("all", "errors")]
    return result

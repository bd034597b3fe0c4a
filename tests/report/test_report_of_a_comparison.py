"""From a real table to the page: what the slider shows is what the models said."""

import numpy as np
import pytest
from slider import COUNTS, counts_at_every_threshold

from adacc.comparison import Plan, available_methods, make_splits, read_problem, run_comparison
from adacc.comparison.leaderboard import Leaderboard, report
from adacc.report import write

METHODS = ("adacc1", "adamec-cal", "logistic-regression", "adaboost-threshold")


def run(source, target, methods, folds, rounds, n_jobs=1):
    """A comparison, and by method the true class, the probability and the decision for every row."""
    problem = read_problem(source, target)
    splits, plan = make_splits(problem, folds, repeats=1, seed=0), Plan(methods, rounds, seed=0)
    standing = Leaderboard(problem, splits, plan, "balanced_accuracy", available_methods())
    said = {name: [np.full(len(problem.y), np.nan), np.zeros(len(problem.y), dtype=bool)] for name in methods}
    for outcome in run_comparison(problem, splits, plan, n_jobs):
        standing.add(outcome)
        rows = splits[outcome.split].test
        said[outcome.method][0][rows] = outcome.predictions.probabilities
        said[outcome.method][1][rows] = outcome.predictions.scores > 0
    return report(standing, "adacc compare", folds, 1), problem.y == 1, said


def counted(rare, called):
    return [int(np.sum(each)) for each in (rare & called, rare & ~called, ~rare & called, ~rare & ~called)]


def check_page(page, result, rare, said):
    """Every method, at every place of the slider."""
    for method in result["methods"]:
        probability, decided = said[method["name"]]
        assert np.isfinite(probability).all()
        page.select_option("#threshold-method", label=method["label"])
        due = [counted(rare, probability >= at) for at in method["pooled"]["thresholds"]["at"]]
        assert counts_at_every_threshold(page) == due
        own = method["pooled"]["default"]
        assert counted(rare, decided) == [own[name] for name in COUNTS]


@pytest.mark.compiled
def test_counts_are_those_of_the_predictions(data_dir, opened, tmp_path):
    path = tmp_path / "bank.html"
    result, rare, said = run(str(data_dir("bank") / "bank.parquet"), "target", METHODS, folds=3, rounds=20)
    write(result, path)
    assert path.stat().st_size < 3e6
    with opened(path) as page:
        assert "bank.parquet" in page.title()
        check_page(page, result, rare, said)

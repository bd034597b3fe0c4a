"""The decision report of a comparison: thresholds of other folds, today's decisions, columns that are no features."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import command

from adacc.comparison import read_problem
from adacc.comparison.binary_problem import BinaryProblem
from adacc.comparison.decision import HeldOutScores, describe_decision
from adacc.estimators import decision_tuning
from adacc.evaluation import estimates
from adacc.model.decision_spec import read_decision


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(estimates, "N_RESAMPLES", 20)
    monkeypatch.setattr(decision_tuning, "N_RESAMPLES", 20)


def made(n=400, seed=0, **beside):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(np.int8)
    problem = BinaryProblem("t.csv", "y", "yes", "no", pd.DataFrame({"x": rng.normal(size=n)}), y, n, **beside)
    scores = rng.normal(size=n) + 1.5 * y - 0.8
    order = rng.permutation(n)
    return problem, HeldOutScores(order, np.arange(n) % 4, scores[order])


def test_the_threshold_of_a_fold_is_that_of_the_other_folds():
    problem, found = made()
    y = problem.y[found.rows] == 1
    alert = found.alerts(read_decision("recall>=0.75"), problem)
    for fold in range(4):
        here = found.folds == fold
        needed = np.sort(found.scores[~here & y])[::-1][int(np.ceil(0.75 * (~here & y).sum())) - 1]
        assert (alert[here & (found.scores >= needed)]).all()
        below = found.scores[~here & (found.scores < needed)].max()
        assert not alert[here & (found.scores <= below)].any()
    assert (found.alerts(None, problem) == (found.scores > 0)).all()


def test_in_time_order_later_rows_do_not_change_a_threshold():
    problem, found = made(time=pd.Series(np.arange(400), name="day"))
    alert = found.alerts(read_decision("f1"), problem)
    last = found.folds == 3
    changed = HeldOutScores(found.rows, found.folds, np.where(last, found.scores + 100, found.scores))
    assert (changed.alerts(read_decision("f1"), problem) == alert)[~last].all()
    second = HeldOutScores(found.rows, found.folds, np.where(found.folds == 1, found.scores + 100, found.scores))
    assert (second.alerts(read_decision("f1"), problem) != alert)[found.folds == 2].any()
    assert not alert[found.folds == 0].any()
    described = describe_decision(problem, found)
    assert described["assessment"]["rows"] == 300


def test_rows_of_a_fold_do_not_change_its_own_threshold():
    problem, found = made()
    first = found.folds == 0
    changed = HeldOutScores(found.rows, found.folds, np.where(first, found.scores + 100, found.scores))
    assert changed.alerts(read_decision("f1"), problem)[first].all()


def test_as_many_alerts_as_today_are_recommended():
    today = np.random.default_rng(1).random(400) < 0.1
    problem, found = made(baseline="checked", today=today)
    described = describe_decision(problem, found)
    rate = 1000 * today.mean()
    assert described["decision_rule"]["rule"] == f"alerts<={rate:.3g}/1000"
    assert described["assessment"]["figures"]["alerts_per_1000"]["value"] == pytest.approx(rate, rel=0.2)
    policy = described["assessment"]["policies"][1]
    assert (policy["name"], policy["alerts"]) == ("today", today.sum())
    assert described["columns"]["baseline"] == "checked"
    assert [each["rule"] for each in described["rules"]][:2] == [None, f"alerts<={rate:.3g}/1000"]
    assert describe_decision(*made())["decision_rule"]["rule"] == "f1"


@pytest.mark.parametrize("beside", [{}, {"time": pd.Series(np.arange(400), name="day")}], ids=["folds", "time"])
def test_the_alerts_that_are_reported_agree_with_the_limit_of_the_rule(beside):
    today = np.random.default_rng(1).random(400) < 0.2
    problem, found = made(baseline="checked", today=today, **beside)
    folds_on_other_scales = found.scores * (1.0 + found.folds) + found.folds
    described = describe_decision(problem, HeldOutScores(found.rows, found.folds, folds_on_other_scales))
    n_rows, rule = described["assessment"]["rows"], described["decision_rule"]["rule"]
    limit = read_decision(rule).value
    a_row_of_each_fold = 1000 * len(np.unique(found.folds)) / n_rows
    reported = [
        described["assessment"]["figures"]["alerts_per_1000"]["value"],
        next(each["alerts_per_1000"]["value"] for each in described["rules"] if each["rule"] == rule),
    ]
    for alerts in reported:
        assert limit - a_row_of_each_fold <= alerts <= limit
    raised = round(reported[0] * n_rows / 1000)
    tested = found.rows[found.has_threshold(problem)]
    assert f"raises {raised:,}, and today’s decisions {today[tested].sum():,})" in described["reason"]


def test_without_other_folds_the_method_decides():
    problem, found = made()
    described = describe_decision(problem, HeldOutScores(found.rows, np.zeros(400, dtype=np.intp), found.scores))
    assert described["decision_rule"]["rule"] is None
    assert described["rules"] == []
    assert described["assessment"]["rule"]["rows"] == (found.scores > 0).sum()


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    ill = rng.random(300) < 1 / (1 + np.exp(1.5 - 2 * frame["a"]))
    frame["town"] = rng.choice(["Ulm", "Bonn"], 300)
    frame["sex"] = rng.choice(["f", "m"], 300)
    frame["sent"] = np.where(ill & (rng.random(300) < 0.8), "yes", "no")
    frame["ill"] = np.where(ill, "ill", "well")
    frame.to_csv("t.csv", index=False)
    return frame


def test_the_baseline_is_no_feature_and_subgroups_may_be(table):
    problem = read_problem("t.csv", "ill", drop=["sex"], baseline="sent", subgroups=["town", "sex"])
    assert list(problem.X) == ["a", "b", "town"]
    assert problem.dropped == ("sex", "sent")
    assert (problem.today == (table["sent"] == "yes")).all()
    assert problem.subgroups["sex"].tolist() == table["sex"].tolist()
    few = problem.sample(100, seed=0)
    rows = [int(np.flatnonzero(np.isclose(table["a"], value))[0]) for value in few.X["a"]]
    assert (few.today == (table["sent"] == "yes").to_numpy()[rows]).all()
    assert few.subgroups["sex"].tolist() == table["sex"][rows].tolist()
    unchanged = read_problem("t.csv", "ill", drop=["sex", "sent"])
    pd.testing.assert_frame_equal(unchanged.X, problem.X)


def test_compare_reports_the_decision(table):
    code, out, err = command(
        "compare", "t.csv", "--target", "ill", "--drop", "sex", "--baseline-column", "sent", "--subgroup", "sex,town",
        "--methods", "adacc1", "--rounds", 5, "--folds", 3, "--jobs", 1, "--json", "c.json", "--report", "c.html",
    )  # fmt: skip
    assert code == 0, err
    assert "column 'sent' is not used as a feature" in err
    result = json.loads(Path("c.json").read_text())
    decided = result["decision"]
    assert decided["method"] == "adacc1"
    assert decided["assessment"]["rows"] == 300
    assert [*decided["assessment"]["subgroups"]] == ["sex", "town"]
    rule = decided["decision_rule"]["rule"]
    command_line = decided["commands"]["Train AdaCC1 with this rule"]
    assert command_line.endswith(f"--drop sex,sent --rounds 5 --model t.adacc --decide '{rule}'")
    assert result["model"]["train_command"].endswith("--drop sex,sent --rounds 5 --model t.adacc")
    assert "today's decisions" in out
    page = Path("c.html").read_text()
    assert all(f'id="{each}"' in page for each in ("rule", "policies", "capacity", "gains", "subgroups"))
    assert 'id="periods"' not in page
    code, _, err = command(*command_line.replace("'", "").split()[1:])
    assert code == 0, err
    code, out, _ = command("evaluate", "t.adacc", "t.csv", "--baseline-column", "sent")
    assert code == 0
    assert "ill" in out


WRONG = [
    (["--baseline-column", "town"], "the baseline column 'town' must hold labels of the target ('ill', 'well')"),
    (["--baseline-column", "ill"], "column 'ill' is what is predicted"),
    (["--subgroup", "sexx"], "has no column 'sexx'; did you mean 'sex'?"),
    (["--subgroup", "one", "--drop", "one"], "the subgroup column 'one' must have at least two values"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_wrong_columns_stop_the_comparison_before_it_begins(table, options, said):
    table.assign(one=1).to_csv("t.csv", index=False)
    code, _, err = command("compare", "t.csv", "--target", "ill", "--methods", "adacc1", *options)
    assert code == 2
    assert said in err

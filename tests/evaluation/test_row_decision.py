"""The reason of a decision: the threshold that it names is where `predict` changes its answer."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import adacc
from adacc.evaluation.row_decision import decide_row
from adacc.model.decision import alert_probability, cost_share

ROWS = 300


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(900, 6, n_informative=4, weights=[0.85], flip_y=0.1, random_state=0)
    amount = np.random.default_rng(0).lognormal(3.0, 1.0, 900)
    day = [f"2024-01-{1 + i % 7:02d}" for i in range(900)]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    return frame, np.where(y == 1, "fraud", "ok"), {"amount": amount[-ROWS:], "day": np.array(day[-ROWS:])}


@pytest.fixture(scope="module", params=["forest", "adacc1", "adamec"])
def model(request, table):
    frame, y, _ = table
    options = {"n_estimators": 10, "random_state": 0}
    made = {
        "forest": adacc.AdaCCForestClassifier(**options),
        "adacc1": adacc.AdaCC1Classifier(**options, calibration="isotonic", pos_label="fraud"),
        "adamec": adacc.AdaMECClassifier(**options, costs={"fraud": 6, "ok": 1}, calibration="sigmoid"),
    }
    return made[request.param].fit(frame[:-ROWS], y[:-ROWS])


def numbers(text):
    return [float(each.replace(",", "")) for each in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", text)]


RULES = [
    None,
    "recall>=0.9",
    "threshold=0.3",
    'cost={"fraud": 20, "ok": 1}',
    "fn=amount, fp=5",
    "tuned fn=amount, fp=5",
]


@pytest.mark.parametrize("rule", RULES)
def test_the_named_threshold_separates_alerts_from_the_rest(model, table, rule):
    frame, y, columns = table
    X = frame[-ROWS:]
    columns = {"amount": columns["amount"]} if rule and "amount" in rule else {}
    model.set_decision(rule, X, y[-ROWS:], columns=columns) if rule and "tuned" in rule else model.set_decision(rule)
    predicted = model.predict(X, columns=columns or None)
    p = model.predict_proba(X)[:, 0]  # of "fraud"
    score = -model.decision_function(X)
    for row in range(0, ROWS, 7):
        decided = decide_row(model, X, row, columns)
        alert = decided.prediction == "fraud"
        assert decided.prediction == predicted[row]
        if decided.threshold is not None:
            assert alert == (score[row] >= decided.threshold if rule else score[row] > 0.0)
        at = numbers(decided.reason.partition("predicts fraud ")[2] or decided.reason.partition("predicts fraud")[2])
        if "from a probability" in decided.reason:
            least, own = at[0] / 100, at[1] / 100
            assert own == pytest.approx(p[row], rel=6e-3)
            assert alert == (p[row] >= least) or p[row] == pytest.approx(least, rel=6e-3)
        else:
            _, least, own = at
            assert own == pytest.approx(score[row], rel=1e-3, abs=1e-4)
            rank = p >= least / 100 * (1 + 6e-3)
            assert (predicted[rank] == "fraud").all()
        if columns:
            assert f"a false negative costs {columns['amount'][row]:,.4g} and a false positive 5" in decided.reason


def test_a_ranking_rule_names_the_rank_among_all_rows(table):
    frame, y, columns = table
    X = frame[-ROWS:]
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(frame[:-ROWS], y[:-ROWS])  # many equal scores
    for rule, given in (("top=20", {}), ("top=3 per day of day", {"day": columns["day"]})):
        model.set_decision(rule)
        predicted = model.predict(X, columns=given or None)
        for row in range(ROWS):
            decided = decide_row(model, X, row, given)
            rank, n_rows = numbers(decided.reason.partition("rank ")[2])[:2]
            together = np.arange(ROWS) if not given else np.flatnonzero(given["day"] == given["day"][row])
            assert n_rows == len(together)
            assert (
                (decided.prediction == "fraud") == (rank <= model.decision_.spec.value) == (predicted[row] == "fraud")
            )


def test_of_several_classes_the_costs_are_named():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = adacc.AdaCC1Classifier(n_estimators=5, calibration="sigmoid").fit(X, y)
    assert "highest score" in decide_row(model, X, 0).reason
    costs = np.array([[0, 1, 5], [3, 0, 1], [9, 2, 0]])
    model.set_decision(costs)
    expected = model.predict_proba(X) @ costs
    for row in range(0, 300, 20):
        decided = decide_row(model, X, row)
        assert decided.prediction == expected[row].argmin() == model.predict(X)[row]
        for k in range(3):
            assert f"{expected[row, k]:.4g} for {k}" in decided.reason


def test_the_probability_of_an_alert_inverts_the_share_of_costs():
    p = np.linspace(0.0, 1.0, 2001)
    for missed, alarm, share in product((0.0, 0.5, 20.0), (0.5, 3.0), (0.1, 0.5, 0.9)):
        alerts = p[cost_share(p, missed, alarm) >= share]
        least = alert_probability(missed, alarm, share)
        assert (least is None) == (len(alerts) == 0)
        assert least is None or alerts.min() == pytest.approx(least, abs=6e-4)

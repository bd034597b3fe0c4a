"""What the report says, from small results written by hand."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import adacc
from adacc.comparison.explained_rows import describe_row
from adacc.report.model_charts import waterfall_steps
from adacc.report.model_text import about_model, row_text, shape_text
from adacc.report.tables import ranking, versus_best
from adacc.report.text import about_data, about_duplicates, class_counts, summary


def method(label, own=True, ba=0.8, tpr=0.83, tnr=0.85, versus=None):
    values = {"balanced_accuracy": ba, "tpr": tpr, "tnr": tnr}
    metrics = {
        name: {"mean": mean, "std": 0.01, "low": mean, "high": mean, "by_fold": [mean]} for name, mean in values.items()
    }
    told = {"name": label.lower(), "label": label, "own": own, "library": "", "about": "", "metrics": metrics}
    return told | {"cost": None, "failed": None, "versus_best": versus}


def versus(difference, p, significant=False, low=None, high=None, folds=5):
    interval = {"low": low, "high": high, "folds": folds}
    return {"difference": difference, **interval, "p": p, "significant": significant}


def result(*methods):
    return {"methods": list(methods), "protocol": {"metric": "balanced_accuracy"}, "data": {"positive": "yes"}}


def plain(text):
    return text.replace("\xa0", " ")


def test_best_method_and_a_difference_that_is_not_significant():
    first, _ = summary(result(method("AdaCC2"), method("LightGBM", own=False, versus=versus(-0.012, 0.2))))
    assert plain(first) == (
        "AdaCC2 is the best method: it finds 83 of 100 rows of ‘yes’ (true positives) and raises 15 false alarms per "
        "100 other rows (false positives). It is ahead of LightGBM by 1.2 percentage points of balanced accuracy, not "
        "a significant difference (p = 0.20)."
    )


def test_significant_difference():
    first, _ = summary(result(method("A"), method("B", versus=versus(-0.1, 0.0002, True))))
    assert plain(first).endswith(
        "by 10.0 percentage points of balanced accuracy, a significant difference (p < 0.001)."
    )


def test_one_fold_cannot_be_tested():
    first, _ = summary(result(method("A"), method("B", versus=versus(-0.1, None, folds=1))))
    assert first.endswith("which cannot be tested with one fold.")


def test_a_difference_without_a_spread_cannot_be_tested():
    first, _ = summary(result(method("A"), method("B", versus=versus(-0.1, None))))
    assert first.endswith("which cannot be tested as it is the same in all folds.")


@pytest.mark.parametrize(
    ("tpr", "tnr", "said"),
    [
        (0.9996, 1.0, "it finds 99.96 of 100 rows of ‘yes’ (true positives) and raises 0 false alarms per 100"),
        (1.0, 0.9996, "it finds 100 of 100 rows of ‘yes’ (true positives) and raises 0.04 false alarms per 100"),
        (0.00001, 0.99, "it finds 0.001 of 100 rows of ‘yes’ (true positives) and raises 1 false alarm per 100"),
    ],
)
def test_only_all_rows_are_100_of_100_and_only_none_are_0(tpr, tnr, said):
    assert said in summary(result(method("A", tpr=tpr, tnr=tnr)))[0]


def test_a_small_lead_has_its_size():
    behind = method("B", versus=versus(-0.0003, 0.01, True))
    first, _ = summary(result(method("A"), behind))
    assert plain(first).endswith(
        "It is ahead of B by 0.030 percentage points of balanced accuracy, a significant difference (p = 0.010)."
    )


def test_a_rank_that_contradicts_the_significance_is_explained():
    """B is closer to the best than C, but significantly different, as its difference varies less."""
    behind = [
        method("B", versus=versus(-0.02, 0.03, True, -0.03, -0.01)),
        method("C", versus=versus(-0.05, 0.2, False, -0.11, 0.01)),
    ]
    _, more = summary(result(method("A"), *behind))
    assert (
        "B is significantly different from the best and C, which ranks lower, is not, since its difference varies more "
        "over the folds: the 95% intervals of the differences are −3.0 to −1.0 and −11.0 to +1.0."
    ) in more
    assert "which ranks lower" not in summary(result(method("A"), *behind[::-1]))[1]
    assert [row["versus_best"]["spread"] for row in ranking(result(method("A"), *behind))["rows"]] == [
        "", "−3.0 to −1.0, p\xa0=\xa00.030", "−11.0 to +1.0, p\xa0=\xa00.20",
    ]  # fmt: skip


def test_equal_methods():
    first, _ = summary(result(method("A"), method("B", versus=versus(0.0, 1.0))))
    assert first.endswith("It is equal to B.")


@pytest.mark.parametrize(("own", "side"), [(True, "baseline"), (False, "method of adacc")])
def test_the_best_of_the_other_side_is_named(own, side):
    second = method("B", own=own, versus=versus(-0.01, 0.5))
    rival = method("C", own=not own, versus=versus(-0.02, 0.01, True))
    _, more = summary(result(method("A", own=own), second, rival))
    lead = "A is ahead of C by 2.0 percentage points of balanced accuracy, a significant difference (p = 0.010)."
    assert plain(more).startswith(f"The best {side} is C: {lead}")


def test_a_baseline_that_won_is_called_one():
    behind = method("B", own=True, versus=versus(-0.02, 0.01, True))
    first, _ = summary(result(method("A", own=False), behind))
    assert plain(first).endswith(
        "A baseline won: it is ahead of B by 2.0 percentage points of balanced accuracy, a significant difference "
        "(p = 0.010). B is the best method of adacc."
    )
    alone = method("B", own=False, versus=versus(-0.02, 0.01, True))
    assert "A baseline won" not in summary(result(method("A", own=False), alone))[0]


def test_methods_not_significantly_different_from_the_best():
    behind = [method(name, versus=versus(-0.01, 0.5)) for name in "BCD"]
    assert "B, C and D are not significantly different from the best (p ≥ 0.05)." in plain(
        summary(result(method("A"), *behind))[1]
    )
    many = [method(name, versus=versus(-0.01, 0.5)) for name in "BCDEFGH"]
    assert (
        "7 of the 7 other methods (marked ≈) are not significantly different from the best"
        in summary(result(method("A"), *many))[1]
    )


def test_alone_or_with_nobody():
    assert "nothing to compare it with" in summary(result(method("A")))[0]
    failed = method("A") | {"metrics": {}}
    assert summary(result(failed)) == ["No method finished, so there is nothing to compare."]


def test_counts_stand_beside_shares():
    counts = {"true_positives": 57, "false_negatives": 14, "false_positives": 10, "true_negatives": 347}
    _, more = summary(result(method("A") | {"pooled": {"default": counts}}))
    assert "In all, it found 57 of 71 rows of ‘yes’ and raised 10 false alarms." in more
    counts = {"true_positives": 0, "false_negatives": 14, "false_positives": 0, "true_negatives": 347}
    assert "raised 0 false alarms" in summary(result(method("A") | {"pooled": {"default": counts}}))[1]


def test_ranking_marks_what_is_as_good_as_the_best():
    behind = [method("B", versus=versus(-0.01, 0.5)), method("C", versus=versus(-0.2, 0.001, True))]
    failed = method("D") | {"metrics": {}}
    table = ranking(result(method("A"), *behind, failed))
    assert [(row["rank"], row["is_like_best"]) for row in table["rows"]] == [
        (1, False),
        (2, True),
        (3, False),
        (None, False),
    ]
    assert [row["versus_best"]["text"] for row in table["rows"]] == ["best", "−1.0", "−20.0", "failed"]
    assert table["heads"][0]["text"] == "Bal. acc."
    assert table["rows"][0]["cells"][0] == {"text": "80.0%", "sort": 0.8, "spread": "± 1.0"}


def test_a_measure_that_is_no_share_is_not_told_in_points():
    told = versus_best(method("B", versus=versus(0.004, 0.5)), "brier")
    assert (told["text"], told["sort"]) == ("+0.004", -0.004)


def test_data_in_words():
    columns = [
        {"name": "age", "kind": "number", "missing": 3, "distinct": 50},
        {"name": "flag", "kind": "boolean", "missing": 0, "distinct": 1},
    ]
    nothing = {"rows": 0, "across_folds": 0, "together": False, "contradicting": 0}
    data = {"rows": 120, "rows_used": 100, "positives": 4, "positive": "yes", "negative": "no"}
    data |= {"columns": columns, "dropped": ["id"], "duplicates": nothing}
    assert about_data(data) == [
        "100 of 120 rows used, 2 features: 1 numeric, 1 boolean.",
        "Not used as features: ‘id’.",
        "1 column has missing values.",
        "Constant column: ‘flag’.",
        "There are no duplicate rows.",
    ]
    assert class_counts(data) == ["‘yes’: 4 rows (4.0%, 1 to 24)", "‘no’: 96 rows"]


def test_duplicates_in_words():
    assert about_duplicates({"rows": 12, "across_folds": 0, "together": True, "contradicting": 0}) == (
        "12 rows are duplicates of an earlier row; the folds keep equal rows together."
    )
    assert about_duplicates({"rows": 12, "across_folds": 1, "together": False, "contradicting": 2}) == (
        "12 rows are duplicates of an earlier row; 1 test row has a duplicate among the training rows; 2 rows have a "
        "duplicate of the other class."
    )


def test_shapes_in_words():
    steps = {"kind": "number", "x": [0, 10, 20, 30], "y": [0.5, -1.0, 2.0], "missing": None}
    assert shape_text(steps) == "Lowest −1.00 from 10 to 20, highest +2.00 above 20."
    assert shape_text(steps | {"y": [0.5, -1.0, 2.0, 2.0], "missing": 0.25}).endswith("above 20; missing +0.25.")
    assert shape_text(steps | {"y": [0.5, 0.5, 0.5]}) == "+0.50 everywhere."
    labels = {"kind": "category", "labels": ["a", "b"], "y": [0.1, -0.1], "missing": None}
    assert shape_text(labels) == "Lowest −0.10 for ‘b’, highest +0.10 for ‘a’."


def row(n):
    parts = [{"feature": f"f{i}", "value": None if i else "x", "contribution": 1.0 / (i + 1)} for i in range(n)]
    score = -0.5 + sum(part["contribution"] for part in parts)
    told = {"number": 7, "score": score, "prediction": "yes", "probability": 0.8, "intercept": -0.5, "decision": "Why."}
    return told | {"contributions": parts}


def test_a_row_in_words():
    first, why, second = row_text(row(2), "‘yes’")
    assert first == "Row 7 is predicted to be ‘yes’: its score is +1.00, which gives ‘yes’ a probability of 80.0%."
    assert why == "Why."
    assert second == "Largest contributions: f0 = x (+1.00) and f1 = missing (+0.50)."


@pytest.mark.parametrize("n", [0, 3, 40])
def test_a_waterfall_ends_at_the_score(n):
    steps = waterfall_steps(row(n))
    assert len(steps) <= 15
    for before, after in pairwise(steps[:-1]):
        assert before["end"] == after["start"]
    assert steps[-2]["end"] == pytest.approx(row(n)["score"]) == steps[-1]["end"]


def test_a_forest_is_told_by_trees_and_bags():
    model = {"label": "F", "cost": None, "rounds": 1000, "bags": 100, "shapes": [], "rounds_history": None}
    model["importances"] = [{"feature": "age", "share": 0.6}, {"feature": "bmi", "share": 0.4}]
    told = about_model(model, "yes")
    assert told["summary"] == (
        "F with 1,000 trees on 100 bags uses 2 features; 100% of the effects are those of ‘age’ and ‘bmi’."
    )
    assert told["rounds"] == []


def test_a_model_without_a_single_split():
    model = {"label": "A", "cost": 0.3, "rounds": 1, "importances": [], "shapes": []}
    told = about_model(model, None)
    assert told["summary"] == "A with 1 round and a cost of 0.3 for the common class uses no feature."
    assert told["positive"] == "the positive class"


@pytest.mark.compiled
@pytest.mark.parametrize("other", ["fine", "ok"])
def test_a_waterfall_is_for_the_positive_class_whichever_label_sorts_first(rare, other):
    X, y = rare
    X = pd.DataFrame(X).add_prefix("x")
    model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, np.where(y == 1, "fraud", other))
    score = model.decision_function(X) * (1 if model.classes_[1] == "fraud" else -1)
    best = int(score.argmax())
    row = describe_row(model, X.iloc[[best]], X, best + 1, "fraud", "fraud")
    assert row["score"] == pytest.approx(score.max())
    kinds = {step["label"].partition(" =")[0]: step["kind"] for step in waterfall_steps(row)}
    for each in row["contributions"]:
        assert kinds[each["feature"]] == ("for" if each["contribution"] > 0 else "against")
    assert row["intercept"] + sum(each["contribution"] for each in row["contributions"]) == pytest.approx(score.max())

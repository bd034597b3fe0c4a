"""The figures of a decision report beside scikit-learn, SciPy and sums over rows."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import binomtest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)

from adacc import metrics
from adacc.evaluation import estimates
from adacc.evaluation.assessment import DecidedRows, assess
from adacc.evaluation.decision_costs import Costs, costs_of
from adacc.evaluation.group_tests import compare_groups
from adacc.evaluation.ranking_curve import RankingCurve
from adacc.evaluation.subgroups import by_group, read_groups
from adacc.model.decision_spec import read_decision


def scored(n=600, seed=0, rate=0.15, decimals=1):
    """True classes, scores with many ties, and decisions."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    scores = (rng.normal(size=n) + 1.5 * y).round(decimals)
    return y, scores, scores >= 1.0


def wilson(successes, n):
    interval = binomtest(int(successes), int(n)).proportion_ci(method="wilson")
    return interval.low, interval.high


def ends(estimate):
    return estimate.low, estimate.high


def test_figures_are_those_of_scikit_learn_with_wilsons_intervals():
    y, scores, alert = scored()
    found = assess(DecidedRows(y, alert, scores))
    figures = found.figures
    assert figures["recall"].value == pytest.approx(recall_score(y, alert))
    assert figures["precision"].value == pytest.approx(precision_score(y, alert))
    assert figures["true_negative_rate"].value == pytest.approx(recall_score(~y, ~alert))
    assert figures["balanced_accuracy"].value == pytest.approx(balanced_accuracy_score(y, alert))
    assert figures["auc"].value == pytest.approx(roc_auc_score(y, scores))
    assert figures["average_precision"].value == pytest.approx(average_precision_score(y, scores))
    assert figures["alerts_per_1000"].value == pytest.approx(1000 * alert.mean())
    tn, fp, fn, tp = confusion_matrix(y, alert).ravel().tolist()
    assert [*found.confusion.values()] == [tp, fn, fp, tn]
    assert ends(figures["recall"]) == pytest.approx(wilson(tp, tp + fn))
    assert ends(figures["precision"]) == pytest.approx(wilson(tp, tp + fp))
    assert ends(figures["true_negative_rate"]) == pytest.approx(wilson(tn, tn + fp))
    assert ends(figures["alerts_per_1000"]) == pytest.approx(1000 * np.array(wilson(tp + fp, len(y))))
    json.dumps(found.to_dict(), allow_nan=False)


def test_intervals_of_areas_are_those_of_a_bootstrap_within_classes():
    y, scores, _ = scored()
    areas = estimates.ranking_areas(scores, y)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(300):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (False, True)])
        drawn.append((roc_auc_score(y[rows], scores[rows]), average_precision_score(y[rows], scores[rows])))
    for area, low, high in zip(areas, *np.quantile(drawn, [0.025, 0.975], axis=0), strict=True):
        assert ends(area) == pytest.approx((low, high), abs=0.2 * (high - low))


def test_intervals_cover_the_truth_in_most_samples(monkeypatch):
    monkeypatch.setattr(estimates, "N_RESAMPLES", 150)
    truth = roc_auc_score(*scored(200_000, seed=99, decimals=3)[:2])
    y, scores, alert = scored(200_000, seed=99)
    balanced = balanced_accuracy_score(y, alert)
    covered = np.zeros(2)
    for seed in range(60):
        y, scores, alert = scored(400, seed=seed)
        figures = assess(DecidedRows(y, alert, scores)).figures
        covered += [not figures["auc"].excludes(truth), not figures["balanced_accuracy"].excludes(balanced)]
    assert (covered >= 51).all()  # 57 are expected, and fewer than 51 in one of 1,000 runs


def test_perfect_results_have_intervals_too():
    y = np.arange(40) < 4
    figures = assess(DecidedRows(y, y, y.astype(float))).figures
    assert all(each.value == 1.0 for name, each in figures.items() if name != "alerts_per_1000")
    assert figures["auc"].low == pytest.approx(wilson(4, 4)[0])
    assert figures["balanced_accuracy"].low < 0.9


def test_without_positive_rows_or_alerts_measures_are_undefined():
    nothing = np.zeros(20, dtype=bool)
    found = assess(DecidedRows(nothing, nothing, np.arange(20.0), costs=Costs(5.0, 1.0)), {"g": ["a", "b"] * 10})
    undefined = {name for name, each in found.figures.items() if each.value is None}
    assert undefined == {"recall", "precision", "balanced_accuracy", "auc", "average_precision"}
    json.dumps(found.to_dict(), allow_nan=False)


def test_gains_and_lift_are_means_over_random_orders_of_ties():
    y, scores, _ = scored(200)
    curve, rng = RankingCurve(scores, y), np.random.default_rng(0)
    for top in curve.gains():
        k, found = round(top.rows), []
        for _ in range(3000):
            order = np.lexsort([rng.random(200), -scores])
            found.append(y[order[:k]].sum())
        assert k == pytest.approx(top.share * 200)
        assert top.recall.value == pytest.approx(np.mean(found) / y.sum(), abs=0.01)
        assert top.precision.value == pytest.approx(np.mean(found) / k, abs=0.05)
        assert top.lift.value == pytest.approx(top.precision.value / y.mean())


def test_gains_without_ties_are_counted():
    rng = np.random.default_rng(3)
    y, scores = rng.random(1000) < 0.1, rng.random(1000)
    order = np.argsort(-scores)
    for top, k in zip(RankingCurve(scores, y).gains(), (10, 50, 100, 200), strict=True):
        assert top.recall.value == pytest.approx(y[order[:k]].sum() / y.sum())
    for top in RankingCurve(scores, y, days=20).capacities():
        k = round(top.alerts_per_1000)
        assert top.precision.value == pytest.approx(y[order[:k]].mean())
        assert top.alerts_per_day == pytest.approx(k / 20)


def test_the_curve_of_gains_ends_at_one_and_never_falls():
    y, scores, _ = scored()
    curve = RankingCurve(scores, y).curve()
    assert (curve["share"][-1], curve["recall"][-1]) == (1.0, 1.0)
    assert curve["precision"][-1] == pytest.approx(y.mean())
    assert (np.diff(curve["recall"]) >= 0).all()
    assert (np.diff(curve["share"]) > 0).all()


def test_costs_are_sums_over_rows():
    y, scores, alert = scored()
    rng = np.random.default_rng(1)
    amount, today = rng.gamma(2, 30, len(y)), rng.random(len(y)) < 0.1
    found = assess(DecidedRows(y, alert, scores, today, Costs(amount, 5.0)))
    policies = {each.name: each for each in found.policies}
    assert [*policies] == ["rule", "today", "nothing", "always"]
    assert policies["nothing"].cost == pytest.approx(amount[y].sum())  # every positive row is missed
    assert policies["always"].cost == pytest.approx(5.0 * (~y).sum())
    for name, decided in (("rule", alert), ("today", today)):
        due = metrics.cost_loss(y, decided, fp_cost=5.0, fn_cost=amount, pos_label=True)
        assert policies[name].cost == pytest.approx(due)
        assert policies[name].cost_per_1000 == pytest.approx(1000 * due / len(y))
        assert policies[name].recall.value == pytest.approx(recall_score(y, decided))
    for name in ("today", "nothing", "always"):
        saved = policies[name].saved
        assert saved.value == pytest.approx(policies[name].cost - policies["rule"].cost)
        assert saved.low < saved.value < saved.high
    assert policies["rule"].saved is None
    agreement = found.agreement
    assert (agreement.both + agreement.rule_only, agreement.both + agreement.today_only) == (
        (y & alert).sum(), (y & today).sum(),
    )  # fmt: skip
    assert sum(vars(agreement).values()) == y.sum()


def test_the_interval_of_savings_is_that_of_a_bootstrap_within_classes():
    y, scores, alert = scored()
    amount = np.random.default_rng(1).gamma(2, 30, len(y))
    nothing = assess(DecidedRows(y, alert, scores, costs=Costs(amount, 5.0))).policies[1]
    each = np.where(y, amount, 0.0) - np.where(alert, 5.0 * ~y, amount * y)
    rng, drawn = np.random.default_rng(2), []
    for _ in range(2000):
        drawn.append(sum(rng.choice(each[y == k], (y == k).sum()).sum() for k in (False, True)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert ends(nothing.saved) == pytest.approx((low, high), abs=0.1 * (high - low))


@pytest.mark.parametrize("positive", [0, 1])
def test_costs_of_a_matrix_go_by_the_positive_class(positive):
    spec = read_decision("cost=[[1, 2], [30, 4]]").for_classes(np.array(["a", "b"]))
    true = np.array([0, 0, 1, 1])
    predicted = np.array([0, 1, 0, 1])
    costs = costs_of(spec, positive, {}).by_row(true == positive, predicted == positive)
    assert costs.tolist() == [1, 2, 30, 4]
    assert costs_of(read_decision("f1"), positive, {}) is None


def test_without_costs_only_today_is_compared():
    y, scores, alert = scored()
    assert assess(DecidedRows(y, alert, scores)).policies == []
    rule, today = assess(DecidedRows(y, alert, scores, today=y)).policies
    assert (today.name, today.recall.value, today.cost, today.saved) == ("today", 1.0, None, None)
    assert rule.alerts == alert.sum()


def test_subgroups_are_counted():
    y, scores, alert = scored()
    town = np.random.default_rng(2).choice(["Ulm", "Bonn", "Köln"], len(y)).astype(object)
    town[::7] = None
    groups = assess(DecidedRows(y, alert, scores), {"town": town}).subgroups["town"]
    assert [each.name for each in groups] == ["Bonn", "Köln", "Ulm", "(missing)"]
    for each in groups:
        rows = pd.isna(town) if each.name == "(missing)" else town == each.name
        assert (each.rows, each.positives, each.alerts) == (rows.sum(), (y & rows).sum(), (alert & rows).sum())
        assert each.recall.value == pytest.approx(recall_score(y[rows], alert[rows]))
        assert ends(each.precision) == pytest.approx(wilson((y & alert & rows).sum(), (alert & rows).sum()))


def test_a_group_that_differs_is_marked_and_the_others_are_not():
    y, scores, alert = scored(4000)
    group = np.where(np.arange(4000) % 20 == 0, "bad", "good")
    alert = alert & ~((group == "bad") & y & (np.arange(4000) % 40 == 0))
    found = assess(DecidedRows(y, alert, scores), {"g": group})
    bad, good = found.subgroups["g"]
    assert "recall" in bad.differs
    assert "recall" in good.differs  # two groups differ from each other
    assert bad.others["recall"] == good.recall.value
    recall, precision = found.tests
    assert (recall.column, recall.measure, precision.measure) == ("g", "recall", "precision")
    missed = [[each.true_positives, each.positives - each.true_positives] for each in (bad, good)]
    due = stats.chi2_contingency(missed, correction=False)
    n = bad.positives + good.positives
    assert recall.p == pytest.approx(stats.chi2.sf(due.statistic * (n - 1) / n, 1))


def decided_by(recalls, n_positive, seed):
    """Rows of as many groups as there are recalls; the same precision in all."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, len(recalls), 6 * n_positive)
    y = np.arange(6 * n_positive) < n_positive
    alert = rng.random(6 * n_positive) < np.where(y, np.array(recalls)[group], 0.1)
    return DecidedRows(y, alert, alert.astype(float)), group.astype(str)


def test_married_and_single_differ():
    """43 and 54 % recall: Fisher's exact test has p = 0.02; each of the intervals includes the recall of all rows."""
    counts = {("married", True): 101, ("married", False): 134, ("single", True): 113, ("single", False): 96}
    group, found = (np.repeat([key[k] for key in counts], list(counts.values())) for k in (0, 1))
    assert stats.fisher_exact(np.reshape(list(counts.values()), (2, 2))).pvalue == pytest.approx(0.02, abs=3e-3)
    alert = np.concatenate([found == "True" if found.dtype.kind == "U" else found, np.zeros(400, dtype=bool)])
    y = np.arange(len(alert)) < len(found)
    groups = {"marital": np.concatenate([group, ["married", "single"] * 200])}
    married, single = assess(DecidedRows(y, alert, alert.astype(float)), groups).subgroups["marital"]
    assert married.differs == single.differs == ("recall",)
    overall = alert[y].mean()
    assert not married.recall.excludes(overall)
    assert not single.recall.excludes(overall)


def test_without_a_difference_one_report_in_twenty_marks_a_group(monkeypatch):
    monkeypatch.setattr(estimates, "N_RESAMPLES", 1)
    marked = []
    for seed in range(300):
        rows, two = decided_by([0.7, 0.7], 200, seed)
        others = {str(k): np.random.default_rng(seed + 1000 * k).integers(0, k, len(two)) for k in (3, 5)}
        found = compare_groups(
            {name: by_group(read_groups(values, name), rows.is_positive, rows.alert)
             for name, values in {"two": two, **others}.items()}
        )[0]  # fmt: skip
        marked.append(any("recall" in group.differs for groups in found.values() for group in groups))
    assert 0.05 - 3 * np.sqrt(0.05 * 0.95 / 300) <= np.mean(marked) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_only_the_group_that_differs_is_marked():
    rows, group = decided_by([0.7, 0.7, 0.3, 0.7, 0.7], 1000, 1)
    found = compare_groups({"g": by_group(read_groups(group, "g"), rows.is_positive, rows.alert)})[0]["g"]
    assert [each.name for each in found if "recall" in each.differs] == ["2"]


def test_numbers_with_many_values_are_cut_at_quartiles():
    values = np.random.default_rng(0).normal(size=400)
    groups = read_groups(values, "x")
    due = pd.qcut(values, 4, labels=False)
    assert (groups.number == due).all()
    assert len(groups.names) == 4
    text = read_groups([str(value) for value in values], "x")  # cells of a text file
    assert (text.number == due).all()


def test_a_value_that_most_rows_have_is_a_group():
    values = [0.0] * 90 + list(range(1, 21))
    assert np.bincount(read_groups(values, "x").number).tolist() == [90, 20]
    assert np.bincount(read_groups([-each for each in values], "x").number).tolist() == [20, 90]


def test_rare_values_of_many_are_merged():
    values = [f"v{k:02d}" for k in range(30) for _ in range(k + 1)]
    groups = read_groups(values, "x")
    assert groups.names == [*(f"v{k}" for k in range(21, 30)), "21 other values"]
    assert np.bincount(groups.number).tolist() == [*range(22, 31), sum(range(1, 22))]


def test_values_that_differ_stay_apart():
    assert read_groups(["(missing)", None, "a"], "x").names == ["‘(missing)’", "a", "(missing)"]
    assert read_groups(["01", "1", "01"], "x").names == ["01", "1"]
    assert read_groups([2**53, 2**53 + 1], "x").names == ["9007199254740992", "9007199254740993"]
    assert read_groups([0.1, 0.3, 0.1 + 0.2], "x").names == ["0.1", "0.3", "0.30000000000000004"]
    named = ["2 other values"] * 9 + [each for each in "abcdefgh" for _ in range(9)] + ["y", "z"]
    assert read_groups(named, "x").names == ["‘2 other values’", *"abcdefgh", "2 other values"]


def test_numbers_are_one_group_in_any_notation():
    for values in (["1", "1.0", "2", "2e0"], [1, 1.0, 2, 2.0], [1.0, 1.0, 2.0, 2.0]):
        groups = read_groups(values, "x")
        assert (groups.names, groups.number.tolist()) == (["1", "2"], [0, 0, 1, 1])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e17])
@pytest.mark.parametrize("offset", [0.0, 1.7])
def test_the_names_of_quartiles_say_which_rows_they_have(scale, offset):
    values = (offset + np.random.default_rng(5).random(40) * 1e-7 * (10 ** (7 * (offset == 0)))) * scale
    groups = read_groups(values, "x")
    assert len(set(groups.names)) == 4
    edges = [float(groups.names[0][2:]), *(float(each.split(" to ")[1]) for each in groups.names[1:3])]
    np.testing.assert_array_equal(groups.number, np.searchsorted(edges, values))


def test_a_constant_column_has_no_subgroups():
    with pytest.raises(ValueError, match=r"subgroup column 'x' must have at least two values, got 'a' in all rows"):
        read_groups(["a"] * 5, "x")


DAYS = [
    ("2024-03-01", 10, "day", 10),
    ("2024-03-01", 60, "week", 10),
    ("2024-01-01", 366, "month", 12),
    ("2024-01-20", 1000, "quarter", 12),
    ("2024-01-01", 4000, "year", 11),
    ("1990-01-01", 12000, "3 years", 12),
]


@pytest.mark.parametrize(("first", "n_days", "unit", "n_periods"), DAYS)
def test_periods_are_counted(first, n_days, unit, n_periods):
    y, scores, alert = scored(3000)
    day = np.random.default_rng(0).permutation(np.linspace(0, n_days - 1, 3000).round().astype(int))
    times = pd.date_range(first, periods=n_days)[day]
    found = assess(DecidedRows(y, alert, scores), times=("when", times)).periods
    assert (found.unit, found.days) == (unit, n_days)
    assert len(found.periods) <= n_periods
    starts, last = [pd.Timestamp(each.first_day) for each in found.periods], times.max()
    for each, start, end in zip(found.periods, starts, [*starts[1:], last + pd.Timedelta(days=1)], strict=True):
        rows = np.asarray((times >= start) & (times < end))
        assert each.figures.rows == rows.sum()
        assert each.days == (end - start).days
        assert each.alerts_per_day.value == pytest.approx((alert & rows).sum() / each.days)
        if y[rows].any():
            assert each.figures.recall.value == pytest.approx(recall_score(y[rows], alert[rows]))
    assert sum(each.figures.rows for each in found.periods) == 3000
    aligned = {"week": [each.day_of_week for each in starts[1:]], "month": [each.day - 1 for each in starts[1:]]}
    assert not any(aligned.get(unit, []))


def test_days_may_be_numbers():
    y, scores, alert = scored(1000)
    days = np.arange(1000) % 200 + 5
    found = assess(DecidedRows(y, alert, scores), times=("day", days))
    assert (found.periods.unit, found.periods.days, len(found.periods.periods)) == ("30 days", 200, 7)
    assert [each.first_day for each in found.periods.periods] == [str(each) for each in range(5, 205, 30)]
    assert found.rule.alerts_per_day == pytest.approx(alert.sum() / 200)

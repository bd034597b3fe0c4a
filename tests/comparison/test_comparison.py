"""Every method on every split, and what is made of it."""

import json
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics as sk

import adacc
from adacc.comparison import (
    BinaryProblem,
    Plan,
    available_methods,
    curves,
    data_checks,
    explained_rows,
    leaderboard,
    make_splits,
    run_comparison,
)
from adacc.comparison.cross_validation import Job, find_method, run_job
from adacc.comparison.leaderboard import Leaderboard, report
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.model_description import cost_of_others, describe_model
from adacc.evaluation.training import fit_method, make_estimator

FEW = ("adacc1", "cgada", "adamec-cal", "adaboost", "logistic-regression", "adaboost-threshold")


def make_problem(n=240):
    """Overlapping clouds, one row in eight positive, with a category, a boolean and gaps."""
    rng = np.random.default_rng(2)
    y = (np.arange(n) % 8 == 0).astype(np.int8)
    X = pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None] * [1.5, 1.0, 0.0], columns=["a", "b", "c"])
    X["town"] = pd.Categorical(np.where(rng.random(n) < 0.2 + 0.5 * y, "Kiel", "Bonn"))
    X["old"] = rng.random(n) < 0.3
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    return BinaryProblem("people.csv", "ill", "yes", "no", X, y, n)


@pytest.fixture(scope="module")
def held():
    """A comparison: problem, splits, plan, outcomes."""
    problem = make_problem()
    splits = make_splits(problem, folds=3, repeats=2, seed=5)
    plan = Plan(FEW, rounds=12, seed=5)
    return problem, splits, plan, list(run_comparison(problem, splits, plan))


@pytest.fixture
def standing(held):
    problem, splits, plan, outcomes = held
    standing = Leaderboard(problem, splits, plan, "balanced_accuracy", available_methods())
    for outcome in outcomes:
        standing.add(outcome)
    return standing


def of(outcomes, method):
    return sorted((each for each in outcomes if each.method == method), key=lambda each: each.split)


class TestContest:
    def test_everyone_on_every_split(self, held):
        _, splits, plan, outcomes = held
        assert {(each.method, each.split) for each in outcomes} == set(product(plan.methods, range(len(splits))))
        assert not any(each.error for each in outcomes)
        assert all(each.seconds > 0 for each in outcomes)

    def test_scores_are_those_of_the_classifier_on_the_training_rows(self, held):
        problem, splits, _, outcomes = held
        for outcome, split in zip(of(outcomes, "adacc1"), splits, strict=True):
            X, y = problem.X.iloc[split.train], problem.y[split.train]
            fitted = adacc.AdaCC1Classifier(n_estimators=12, pos_label=1).fit(X, y)
            X_test = problem.X.iloc[split.test]
            np.testing.assert_allclose(outcome.predictions.scores, fitted.decision_function(X_test), atol=1e-12)
            np.testing.assert_allclose(
                outcome.predictions.probabilities, fitted.predict_proba(X_test)[:, 1], atol=1e-12
            )
            assert outcome.predictions.cost is None

    def test_costs_are_tuned_on_the_training_rows_alone(self, held):
        problem, splits, _, outcomes = held
        for outcome, split in zip(of(outcomes, "cgada"), splits, strict=True):
            X, y = problem.X.iloc[split.train], problem.y[split.train]
            search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=12, pos_label=1), cv="training").fit(X, y)
            assert outcome.predictions.cost == pytest.approx(search.best_costs_[0] / search.best_costs_[1])
            np.testing.assert_allclose(
                outcome.predictions.scores, search.decision_function(problem.X.iloc[split.test]), atol=1e-12
            )

    def test_levels_that_only_the_test_rows_have_give_no_warning(self):
        problem = make_problem(64)
        problem.X["town"] = problem.X["town"].cat.add_categories("Ulm")
        problem.X.loc[[3, 8], "town"] = "Ulm"
        splits, plan = make_splits(problem, 4, 1, 0), Plan(("adacc-forest",), rounds=2, seed=4)
        alone = next(i for i, split in enumerate(splits) if 3 in split.test)
        problem.X.loc[splits[alone].train, "town"] = "Kiel"
        with warnings.catch_warnings():
            warnings.simplefilter("error", adacc.UnseenCategoryWarning)
            (outcome,) = run_job(problem, splits, plan, Job(alone, plan.methods))
        assert not outcome.error

    def test_the_forest_is_our_own_and_says_what_its_class_says(self):
        problem = make_problem()
        splits, plan = make_splits(problem, 2, 1, 0), Plan(("adacc-forest", "adacc1"), rounds=3, seed=4)
        outcomes = list(run_comparison(problem, splits, plan))
        for seed, (outcome, split) in enumerate(zip(of(outcomes, "adacc-forest"), splits, strict=True), start=4):
            X, y, X_test = problem.X.iloc[split.train], problem.y[split.train], problem.X.iloc[split.test]
            fitted = adacc.AdaCCForestClassifier(random_state=seed).fit(X, y)
            np.testing.assert_array_equal(outcome.predictions.scores, fitted.decision_function(X_test))
            np.testing.assert_allclose(
                outcome.predictions.probabilities, fitted.predict_proba(X_test)[:, 1], atol=1e-12
            )
        own = [name for name, each in available_methods().items() if each.is_own]
        assert own == [*adacc.methods(), "adacc-forest"]
        assert available_methods()["adacc-forest"].library == f"adacc {adacc.__version__}"
        assert not available_methods()["adaboost-threshold"].is_own  # though it is of adacc, too

    @pytest.mark.compiled
    def test_worker_processes_say_the_same(self, held):
        problem, splits, plan, outcomes = held
        for method in FEW:
            for one, other in zip(
                of(outcomes, method), of(run_comparison(problem, splits, plan, n_jobs=2), method), strict=True
            ):
                np.testing.assert_array_equal(one.predictions.scores, other.predictions.scores)

    def test_who_fails_is_a_line_of_the_result(self, held, monkeypatch):
        problem, splits, _, _ = held

        def failing(fold):
            raise RuntimeError("no luck\ntoday")

        monkeypatch.setitem(
            BASELINES, "logistic-regression", replace(BASELINES["logistic-regression"], fit_scorer=failing)
        )
        plan = Plan(("logistic-regression", "adacc1"), rounds=3, seed=0)
        standing = Leaderboard(problem, splits, plan, "auc", available_methods())
        for outcome in run_comparison(problem, splits, plan):
            standing.add(outcome)
        ours, theirs = standing.table()
        assert (ours["name"], ours["failed"]) == ("adacc1", None)
        assert theirs["failed"] == {"folds": 6, "reason": "RuntimeError: no luck today"}
        assert theirs["metrics"] == {}
        assert report(standing, "adacc compare", 3, 2)["methods"][1]["name"] == "logistic-regression"

    def test_unknown_methods_have_neighbours(self):
        with pytest.raises(ValueError, match="did you mean 'adacc2'"):
            find_method("addacc2", {"adacc2": None})
        with pytest.raises(ValueError, match=r'needs lightgbm, which is not installed: pip install "adacc\[compare\]"'):
            find_method("lightgbm", {"adacc2": None})


class TestVerdict:
    def test_measures_are_scikit_learns(self, held, standing):
        problem, splits, _, outcomes = held
        for outcome in outcomes:
            y, found = problem.y[splits[outcome.split].test], outcome.predictions
            predicted = found.scores > 0
            due = {
                "balanced_accuracy": sk.balanced_accuracy_score(y, predicted),
                "tpr": sk.recall_score(y, predicted),
                "tnr": sk.recall_score(y, predicted, pos_label=0),
                "precision": sk.precision_score(y, predicted, zero_division=0.0),
                "f1": sk.f1_score(y, predicted),
                "auc": sk.roc_auc_score(y, found.scores),
                "average_precision": sk.average_precision_score(y, found.scores),
                "brier": sk.brier_score_loss(y, found.probabilities),
            }
            measures = standing.measures[outcome.method][outcome.split]
            assert {name: measures[name] for name in due} == pytest.approx(due, abs=1e-12)
            assert measures["gmean"] == pytest.approx(np.sqrt(due["tpr"] * due["tnr"]))
            parts = (due[name] for name in ("auc", "balanced_accuracy", "f1", "tpr", "tnr"))
            assert measures["opm"] == pytest.approx((sum(parts) + measures["gmean"]) / 6)

    @pytest.mark.parametrize(("metric", "sign"), [("balanced_accuracy", -1), ("auc", -1), ("brier", 1)])
    def test_ranks_and_what_is_real(self, standing, metric, sign):
        standing.metric = metric
        table = standing.table()
        means = [line["metrics"][metric]["mean"] for line in table]
        assert means == sorted(means, key=lambda mean: sign * mean)
        best = np.array(table[0]["metrics"][metric]["by_fold"])
        assert table[0]["versus_best"] is None
        raw = []
        for line in table[1:]:
            differences = np.array(line["metrics"][metric]["by_fold"]) - best
            assert line["versus_best"]["difference"] == pytest.approx(differences.mean())
            # Nadeau and Bengio, written out; 80 rows are scored for 160 trained on.
            t = differences.mean() / np.sqrt((1 / 6 + 80 / 160) * differences.var(ddof=1))
            raw.append(2 * stats.t.sf(abs(t), 5))
        order = np.argsort(raw)
        holm = np.empty(len(raw))
        holm[order] = np.minimum(1, np.maximum.accumulate(np.array(raw)[order] * np.arange(len(raw), 0, -1)))
        assert [line["versus_best"]["p"] for line in table[1:]] == pytest.approx(holm.tolist())
        for line in table[1:]:
            assert line["versus_best"]["significant"] == (line["versus_best"]["p"] < 0.05)

    def test_a_method_twice_cannot_be_told_from_itself(self, held):
        problem, splits, plan, outcomes = held
        twins = Leaderboard(problem, splits, replace(plan, methods=("adacc1", "adacc2")), "f1", available_methods())
        for outcome in of(outcomes, "adacc1"):
            twins.add(outcome)
            twins.add(outcome._replace(method="adacc2"))
        first, second = twins.table()
        assert (first["name"], second["name"]) == ("adacc1", "adacc2")  # the order of the plan
        equal = {"difference": 0.0, "low": 0.0, "high": 0.0, "folds": 6, "p": 1.0, "significant": False}
        assert second["versus_best"] == equal

    def test_what_was_done_before_a_stop_counts(self, held):
        problem, splits, plan, outcomes = held
        early = Leaderboard(problem, splits, plan, "balanced_accuracy", available_methods())
        for outcome in outcomes[:5]:  # four methods of adacc on the first split, a baseline
            early.add(outcome)
        result = report(early, "adacc compare", 3, 2, stopped=True)
        assert (result["stopped"], result["protocol"]["n_folds_done"], result["protocol"]["n_folds"]) == (True, 0, 6)
        assert [line["metrics"]["auc"]["std"] for line in result["methods"]] == [None] * 5
        assert {line["versus_best"]["p"] for line in result["methods"][1:]} == {None}
        assert result["methods"][0]["pooled"]["positives"] == 10  # of the rows scored so far

    def test_it_is_json(self, standing):
        result = report(standing, "adacc compare", 3, 2)
        assert json.loads(json.dumps(result, allow_nan=False)) == result
        assert (result["data"]["rows"], result["data"]["positives"]) == (240, 30)
        assert result["versions"]["numpy"] == np.__version__
        best = next(line for line in result["methods"] if line["own"])
        assert result["model"]["method"] == best["name"]
        assert sum(each["share"] for each in result["model"]["importances"]) == pytest.approx(1)

    def test_all_rows_of_the_first_repeat_are_pooled(self, held, standing):
        problem, splits, _, outcomes = held
        pooled = standing.pooled("adaboost")
        assert (pooled["positives"], pooled["negatives"]) == (30, 210)
        first = of(outcomes, "adaboost")[:3]
        caught = sum((each.predictions.scores > 0)[problem.y[splits[each.split].test] == 1].sum() for each in first)
        assert pooled["default"]["true_positives"] == caught == 30 - pooled["default"]["false_negatives"]


class TestCurves:
    @pytest.mark.parametrize("n", [40, 3000])
    def test_counts_are_those_of_the_predictions_at_every_threshold(self, n):
        rng = np.random.default_rng(n)
        y = (rng.random(n) < 0.2).astype(np.int8)
        probability = np.clip(np.round(rng.normal(0.3 + 0.3 * y, 0.2), 3 if n > 100 else 1), 0, 1)
        found = curves.pooled(y, probability, probability > 0.5, np.arange(len(y)) % 3)
        thresholds = found["thresholds"]
        assert 2 < len(thresholds["at"]) <= curves.CURVE_POINTS_MAX
        assert thresholds["at"] == sorted(thresholds["at"])
        for at, caught, alarms in zip(
            *(thresholds[name] for name in ("at", "true_positives", "false_positives")), strict=True
        ):
            assert caught == (probability[y == 1] >= at).sum()
            assert alarms == (probability[y == 0] >= at).sum()
        assert max(len(f"{at:.12g}") for at in thresholds["at"]) <= 6  # as few digits as are needed
        half = np.isin(np.arange(n) % 3, [0, 2])
        for name, label in (("true_positives", 1), ("false_positives", 0)):
            due = [(probability[half & (y == label)] >= at).sum() for at in thresholds["at"]]
            assert thresholds["half"][name] == due
            assert thresholds["half"]["default"][name] == (probability[half & (y == label)] > 0.5).sum()
        assert (thresholds["true_positives"][0], thresholds["false_positives"][0]) == (
            y.sum(),
            n - y.sum(),
        )  # everything is called
        assert (thresholds["true_positives"][-1], thresholds["false_positives"][-1]) == (0, 0)  # nothing is
        own = thresholds["default"]
        assert (
            thresholds["true_positives"][own] == found["default"]["true_positives"] == (probability[y == 1] > 0.5).sum()
        )
        assert (
            thresholds["false_positives"][own]
            == found["default"]["false_positives"]
            == (probability[y == 0] > 0.5).sum()
        )

    def test_curves_run_through_scikit_learns(self):
        rng = np.random.default_rng(1)
        y = (rng.random(80) < 0.3).astype(np.int8)
        probability = np.round(rng.random(80), 2)
        found = curves.pooled(y, probability, probability > 0.5, np.arange(len(y)) % 3)
        fpr, tpr, _ = sk.roc_curve(y, probability, drop_intermediate=False)
        np.testing.assert_allclose(found["roc"]["fpr"][::-1], fpr, atol=1e-5)
        np.testing.assert_allclose(found["roc"]["tpr"][::-1], tpr, atol=1e-5)
        precision, recall, _ = sk.precision_recall_curve(y, probability)
        np.testing.assert_allclose(found["pr"]["precision"], precision[:-1], atol=1e-5)
        np.testing.assert_allclose(found["pr"]["recall"], recall[:-1], atol=1e-5)

    def test_certainty_still_has_a_threshold_above_it(self):
        found = curves.pooled(
            np.array([0, 1, 1]), np.array([0.0, 1.0, 1.0]), np.array([False, True, True]), np.zeros(3)
        )
        assert found["thresholds"]["half"] is None
        assert found["thresholds"]["at"][-1] > 1
        assert found["thresholds"]["true_positives"] == [2, 2, 0]
        json.dumps(found, allow_nan=False)

    def test_calibration_groups_cover_all_rows(self):
        rng = np.random.default_rng(4)
        probability = rng.random(1000)
        y = (rng.random(1000) < probability).astype(np.int8)
        groups = curves.calibration(y, probability)
        assert sum(group["rows"] for group in groups) == 1000
        assert len(groups) == 10
        for group in groups:
            assert abs(group["predicted"] - group["observed"]) < 0.15  # the probabilities are true
        assert sum(group["rows"] * group["observed"] for group in groups) == pytest.approx(y.sum())


class TestDataChecks:
    def test_a_leak_is_found_and_noise_is_not(self):
        clean = make_problem()
        copied = clean.X.assign(code=np.where(clean.y == 1, 3.0, np.random.default_rng(0).choice([1.0, 2.0], 240)))
        gaps = clean.X.assign(closed=np.where(clean.y == 1, np.nan, 1.0))  # only missing tells
        for leaking, name in ((copied, "code"), (gaps, "closed")):
            problem = replace(clean, X=leaking)
            found = data_checks.check_data(problem, make_splits(problem, 3, 1, 0))
            warned = [each["title"] for each in found["findings"] if each["level"] == "warning"]
            assert warned == [f"Column {name!r} may leak the target"]
        alone = {
            each["name"]: each["alone"]
            for each in data_checks.check_data(clean, make_splits(clean, 3, 1, 0))["columns"]
        }
        assert alone["a"] > alone["b"] > 0.6 > alone["c"]

    def test_equal_rows_are_counted(self):
        X = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3, 4, 5], "b": list("xxxyyzzz")})
        problem = BinaryProblem("t.csv", "y", 1, 0, X, np.array([0, 0, 1, 0, 0, 1, 1, 0], dtype=np.int8), 8)
        splits = make_splits(problem, 2, 1, seed=0)
        found = data_checks.count_duplicates(problem, splits)
        rows = [tuple(row) for row in X.to_numpy()]
        across = sum(rows[i] in {rows[j] for j in split.train} for split in splits for i in split.test)
        assert found == {"rows": 3, "across_folds": across, "together": False, "contradicting": 3}
        assert across > 0

    def test_columns_as_they_are(self):
        problem = make_problem()
        problem = replace(problem, X=problem.X.assign(same=1))
        columns = {
            each["name"]: each for each in data_checks.check_data(problem, make_splits(problem, 3, 1, 0))["columns"]
        }
        kinds = {name: each["kind"] for name, each in columns.items()}
        assert kinds == {
            "a": "number",
            "b": "number",
            "c": "number",
            "town": "category",
            "old": "boolean",
            "same": "number",
        }
        assert columns["a"]["missing"] == problem.X["a"].isna().sum() > 0
        assert (columns["town"]["distinct"], columns["same"]["distinct"], columns["same"]["alone"]) == (2, 1, None)

    def test_few_rare_rows_and_a_sample_are_said(self):
        problem = make_problem().sample(100, seed=0)
        titles = [each["title"] for each in data_checks.check_data(problem, make_splits(problem, 3, 1, 0))["findings"]]
        assert "Only 12 rows are 'yes'" in titles
        assert "100 of 240 rows were used" in titles

    @pytest.mark.parametrize("in_time", [False, True])
    def test_few_rare_rows_ask_for_repeats_only_where_there_are_some(self, in_time):
        """Splits in the order of time have none."""
        problem = make_problem().sample(100, seed=0)
        problem = replace(problem, time=pd.Series(range(100), name="day")) if in_time else problem
        found = data_checks.check_data(problem, make_splits(problem, 3, 1, 0))["findings"]
        (said,) = (each["text"] for each in found if each["title"].startswith("Only 12 rows"))
        assert said.startswith("One row changes the measures by whole percentage points. Treat them as estimates")
        assert ("increase `repeats`" in said) == (not in_time)


class TestModel:
    @pytest.mark.parametrize("positive", [0, 1])
    def test_shapes_add_up_to_scores_for_the_positive_class(self, positive):
        problem = make_problem()
        fitted = fit_method("adacc2", problem.X, problem.y, pos_label=positive, rounds=15)
        found = describe_model(fitted, positive, gaps={"a"})
        assert all((shape["missing"] is None) == (shape["feature"] != "a") for shape in found["shapes"])
        row = problem.X.iloc[0]
        total = 0.0
        for shape in found["shapes"]:
            value = row[shape["feature"]]
            if shape["kind"] == "category":
                total += shape["y"][shape["labels"].index(str(value))]
            elif value != value:
                total += shape["missing"]
            else:
                at = np.clip(np.searchsorted(shape["x"][1:-1], value), 0, len(shape["y"]) - 2)
                total += shape["y"][at]
        sign = 1 if positive == 1 else -1
        intercept = fitted.shape_functions().intercept
        assert total + sign * intercept == pytest.approx(sign * fitted.decision_function(problem.X.iloc[[0]])[0])
        errors = 1 - sk.recall_score(problem.y, fitted.predict(problem.X), average=None)
        assert found["rounds_history"]["rare_error"][-1] == pytest.approx(errors[positive])
        assert found["rounds_history"]["balanced_error"][-1] == pytest.approx(errors.mean())

    def test_costs_are_searched_where_there_are_any(self):
        problem = make_problem()
        search = adacc.CostSearchCV(adacc.AdaC2Classifier(n_estimators=10), cv="training").fit(problem.X, problem.y)
        fitted = fit_method("adac2", problem.X, problem.y, rounds=10)
        assert cost_of_others(fitted, 1) == search.best_costs_[0]
        assert describe_model(fitted, 1)["cost"] == search.best_costs_[0]
        assert cost_of_others(fit_method("adacc1", problem.X, problem.y, rounds=2), 1) is None

    def test_a_forest_has_bags_and_main_effects_but_no_course(self):
        problem = make_problem()
        fitted = fit_method("adacc-forest", problem.X, problem.y, 1, rounds=7, seed=3, calibration="sigmoid")
        due = adacc.AdaCCForestClassifier(n_estimators=7, random_state=3, calibration="sigmoid")
        due.fit(problem.X, problem.y)
        np.testing.assert_array_equal(fitted.predict_proba(problem.X), due.predict_proba(problem.X))
        found = describe_model(fitted, 1)
        shares = dict(zip(problem.X, fitted.fitted_model_.effect_shares().tolist(), strict=True))
        assert {each["feature"]: each["share"] for each in found.pop("importances")} == {
            name: share for name, share in shares.items() if share
        }
        assert len(found.pop("shapes")) == min(9, len(shares))
        nothing = {"cost": None, "main_share": None, "rounds_history": None}
        assert found == {"rounds": len(fitted.estimators_), "bags": 7 + 3 + 5 + 5, **nothing}
        with pytest.raises(ValueError, match="adacc-forest has no option 'costs'"):
            make_estimator("adacc-forest", costs="balanced")

    @pytest.mark.parametrize("positive", [0, 1])
    def test_contributions_are_those_of_explain_for_rows_of_both_classes(self, positive):
        problem = make_problem()
        fitted = fit_method("adacc1", problem.X, problem.y, pos_label=positive, rounds=20)
        found = explained_rows.describe_contributions(fitted, problem.X, problem.y, positive)
        every = (1 if positive == 1 else -1) * fitted.explain(problem.X, background=problem.X).frame()
        n_rows = min(100, (problem.y == 0).sum()) + min(100, (problem.y == 1).sum())
        for each in found:
            assert len(each["contributions"]) == len(each["levels"]) == n_rows
            known = every[each["feature"]].map(lambda value: float(f"{value:.4g}"))
            assert set(each["contributions"]) <= set(known)
            if problem.X[each["feature"]].dtype.kind == "f":
                levels = np.array(each["levels"])
                assert levels[~np.isnan(levels)].min() >= 0.0
                assert levels[~np.isnan(levels)].max() <= 1.0
        sizes = [each["mean_absolute"] for each in found]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] > 0.0

    def test_examples_are_a_clear_a_borderline_and_a_missed_row(self):
        problem = make_problem()
        fitted = fit_method("adacc1", problem.X, problem.y, pos_label=1, rounds=10)
        numbers = list(range(1, len(problem.y) + 1))
        found = explained_rows.describe_examples(fitted, problem.X, problem.y, 1, numbers)
        assert [each["kind"] for each in found] == ["clear positive", "borderline", "missed positive"]
        scores, clear, missed = fitted.decision_function(problem.X), found[0], found[2]
        assert clear["score"] == pytest.approx(scores[problem.y == 1].max())
        assert missed["score"] == pytest.approx(scores[(problem.y == 1) & (scores <= 0)].min())
        assert clear["is_positive"]
        assert missed["is_positive"]
        for each in found:
            assert each["score"] == pytest.approx(scores[each["number"] - 1])
            total = each["intercept"] + sum(piece["contribution"] for piece in each["contributions"])
            assert total == pytest.approx(each["score"])
        assert len({each["number"] for each in found}) == 3
        perfect = explained_rows.describe_examples(fitted, problem.X, np.where(scores > 0, 1, 0), 1, numbers)
        assert [each["kind"] for each in perfect] == ["clear positive", "borderline"]

    def test_boosted_trees_have_a_course_and_main_effects(self):
        problem = make_problem()
        fitted = adacc.AdaCC2Classifier(n_estimators=4, max_depth=3).fit(problem.X, problem.y)
        found = describe_model(fitted, 1, X=problem.X)
        assert (found["rounds"], found["bags"]) == (4, None)
        curves = fitted.shape_functions(problem.X)
        assert found["main_share"] == curves.main_share
        for shape in found["shapes"]:
            due = curves[shape["feature"]].values.tolist()
            assert shape["y"][: len(due)] == due
        assert found["rounds_history"]["round"] == [1, 2, 3, 4]
        effects = fitted.fitted_model_.effect_shares()
        assert found["importances"][0] == {"feature": problem.X.columns[effects.argmax()], "share": effects.max()}


def test_versions_are_those_in_use():
    assert leaderboard.versions()["adacc"] == adacc.__version__

"""A comparison on more than two classes: the same folds for all, and the measures of scikit-learn."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from support import thinned

import adacc
from adacc.comparison import (
    MulticlassProblem,
    Plan,
    available_methods,
    data_checks,
    make_splits,
    read_problem,
    run_comparison,
)
from adacc.comparison.cross_validation import supports_classes
from adacc.comparison.leaderboard import Leaderboard, report
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.measures import multiclass_measures
from adacc.evaluation.statistics import wilson
from adacc.tables import TableError

NAMES = ("ash", "birch", "cedar", "oak")
FEW = ("adacc1", "cgada", "logistic-regression", "lightgbm")


def make_problem(n=240, **beside):
    """Overlapping clouds of four classes, the last of one row in twelve, with a category, a boolean and gaps."""
    rng = np.random.default_rng(3)
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3] * (n // 12), dtype=np.int8)
    X = pd.DataFrame(rng.normal(size=(n, 3)) + np.c_[y, y % 2, y > 1] * 1.4, columns=["a", "b", "c"])
    X["town"] = pd.Categorical(np.where(rng.random(n) < 0.2 + 0.2 * y, "Kiel", "Bonn"))
    X["old"] = rng.random(n) < 0.3
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    beside = {name: pd.Series(values, name=name) for name, values in beside.items()}
    return MulticlassProblem("trees.csv", "kind", NAMES, X, y, n, **beside)


@pytest.fixture(scope="module")
def held():
    """A comparison: problem, splits, plan, outcomes."""
    problem = make_problem()
    splits, plan = make_splits(problem, folds=3, repeats=2, seed=5), Plan(FEW, 6, 5, left_out=("lightgbm-tuned",))
    return problem, splits, plan, list(run_comparison(problem, splits, plan))


@pytest.fixture(scope="module")
def standing(held):
    problem, splits, plan, outcomes = held
    standing = Leaderboard(problem, splits, plan, "balanced_accuracy", available_methods())
    for outcome in outcomes:
        standing.add(outcome)
    return standing


def test_predictions_are_those_of_the_classifiers_on_the_training_rows(held):
    problem, splits, _, outcomes = held
    for outcome in outcomes:
        assert outcome.error is None
        split, seed = splits[outcome.split], 5 + outcome.split
        X, y, X_test = problem.X.iloc[split.train], problem.y[split.train], problem.X.iloc[split.test]
        if outcome.method == "adacc1":
            model = adacc.AdaCC1Classifier(n_estimators=6, random_state=seed).fit(X, y)
        elif outcome.method == "cgada":
            model = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=6, random_state=seed), cv="training").fit(
                X, y
            )
        else:
            continue
        np.testing.assert_array_equal(outcome.predictions.predicted, model.predict(X_test))
        np.testing.assert_allclose(outcome.predictions.probabilities, model.predict_proba(X_test))


def test_measures_are_scikit_learns(held, standing):
    problem, splits, _, outcomes = held
    for outcome in outcomes:
        y, (said, probability, _) = problem.y[splits[outcome.split].test], outcome.predictions
        recalls = sk.recall_score(y, said, average=None)
        due = {
            "balanced_accuracy": sk.balanced_accuracy_score(y, said),
            "gmean": np.prod(recalls) ** (1 / 4),
            "macro_f1": sk.f1_score(y, said, average="macro"),
            "auc": roc_auc_score(y, probability, multi_class="ovo", average="macro"),
        }
        found = standing.measures[outcome.method][outcome.split]
        assert {name: found[name] for name in due} == pytest.approx(due, abs=1e-12)
        assert found["recall"] == pytest.approx(dict(zip(NAMES, recalls, strict=True)))


def test_the_result_is_json_and_counts_again(held, standing):
    problem, splits, _, outcomes = held
    result = report(standing, "adacc compare", 3, 2)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert (result["data"]["classes"], result["data"]["class_rows"]) == ([*NAMES], [100, 80, 40, 20])
    assert result["protocol"]["left_out"] == ["LightGBM, tuned"]
    assert result["model"]["method"] == next(line["name"] for line in result["methods"] if line["own"])
    assert sum(each["share"] for each in result["model"]["importances"]) == pytest.approx(1)
    means = [line["metrics"]["balanced_accuracy"]["mean"] for line in result["methods"]]
    assert means == sorted(means, reverse=True)
    for line in result["methods"]:
        first = [each for each in outcomes if each.method == line["name"] and splits[each.split].repeat == 0]
        true = np.concatenate([problem.y[splits[each.split].test] for each in first])
        said = np.concatenate([each.predictions.predicted for each in first])
        counts = sk.confusion_matrix(true, said)
        assert line["pooled"]["confusion"] == counts.tolist()
        for k, name in enumerate(NAMES):
            found = line["pooled"]["recall"][name]
            assert (found["correct"], found["rows"]) == (counts[k, k], counts[k].sum())
            parts = [standing.measures[line["name"]][split]["recall"][name] for split in range(6)]
            assert line["recall"][name]["mean"] == pytest.approx(np.mean(parts))
            assert line["recall"][name]["by_fold"] == parts


def test_wilsons_interval_holds_the_shares_that_are_not_rejected():
    """Its ends solve (share - p)² = z² p (1 - p) / n."""
    for successes, n in ((0, 5), (3, 7), (50, 60), (9, 9)):
        interval = wilson(successes, n)
        assert 0.0 <= interval.low <= successes / n <= interval.high <= 1.0
        for end in interval:
            if 0.0 < end < 1.0:
                assert (successes / n - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / n, rel=1e-5)
    with pytest.raises(ValueError, match="successes must be"):
        wilson(3, 2)


def test_measures_of_classes_without_rows():
    true, probability = np.array([0, 0, 1, 1]), np.eye(3)[[0, 1, 1, 2]]
    found = multiclass_measures(true, np.array([0, 1, 1, 2]), probability)
    assert found["recall"][:2] == [0.5, 0.5]
    assert np.isnan(found["recall"][2])
    assert found["balanced_accuracy"] == 0.5
    assert found["macro_f1"] == pytest.approx(sk.f1_score(true, [0, 1, 1, 2], average="macro", zero_division=0))
    alone = multiclass_measures(true[:2], np.array([0, 1]), probability[:2])
    assert all(np.isnan(alone[name]) for name in ("balanced_accuracy", "gmean", "macro_f1", "auc"))


def test_folds_are_scikit_learns_and_stratified_by_all_classes():
    problem = make_problem()
    due = StratifiedKFold(4, shuffle=True, random_state=7).split(problem.y, problem.y)
    for split, (train, test) in zip(make_splits(problem, 4, 1, 7), due, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_a_sample_keeps_the_shares_and_every_class():
    part = make_problem(1200).sample(60, seed=1)
    assert np.bincount(part.y).tolist() == [25, 20, 10, 5]
    assert np.bincount(make_problem(1200).sample(7, seed=1).y).tolist() == [3, 2, 1, 1]
    assert len(make_problem(1200).sample(2, seed=1).y) == 2


@pytest.mark.parametrize(
    ("beside", "folds", "message"),
    [
        ({}, 21, "has 20 rows of 'oak', fewer than the 21 folds; set `folds` to at most 20, or leave out or merge"),
        ({"group": np.arange(240) % 12}, 3, "rows of a fold have no row of class '(cedar|oak)'; use fewer `folds`"),
        ({"time": np.arange(240) % 12}, 3, "rows of a fold have no row of class"),
    ],
)
def test_what_cannot_be_split_is_refused(beside, folds, message):
    with pytest.raises(TableError, match="trees.csv.*" + message):
        make_splits(make_problem(**beside), folds, 1, 0)


def test_small_classes_and_leaks_are_told():
    problem = make_problem(120)
    problem.X["copy"] = problem.y + 0.5
    found = data_checks.check_data(problem, make_splits(problem, 2, 1, 0))
    alone = {column["name"]: column["alone"] for column in found["columns"]}
    assert alone["copy"] > 0.98 > alone["a"] > 0.55
    titles = [each["title"] for each in found["findings"]]
    assert "Column 'copy' may leak the target" in titles
    assert "2 classes have fewer than 30 rows: 'oak' (10), 'cedar' (20)" in titles


def test_the_auc_of_a_column_is_the_mean_over_classes():
    """The AUC of bins, from rows: shares of one half score the other."""
    problem = make_problem()
    half = data_checks._stratified_half(problem.y, 0)
    bins, due = data_checks._bin_values(problem.X["a"]), []
    for k in range(4):
        is_k = problem.y == k
        for rows in (half, ~half):
            share = [(is_k[rows & (bins == b)].sum() + is_k.mean()) / ((rows & (bins == b)).sum() + 1) for b in bins]
            due.append(roc_auc_score(is_k[~rows], np.array(share)[~rows]))
    assert data_checks._single_column_auc(problem.X["a"], problem.y, half, range(4)) == round(np.mean(due), 4)


def test_rows_of_other_classes_with_equal_features_contradict():
    problem = make_problem()
    problem.X.iloc[:3] = problem.X.iloc[[10] * 3].to_numpy()  # of classes 0, 0, 0 and 2
    assert data_checks.count_duplicates(problem, [])["contradicting"] == 4


SEVERAL = [name for name, each in BASELINES.items() if each.fit_classes is not None and each.extra == "compare"]
CLASS_WEIGHTS = ["lightgbm", "xgboost", "hist-gradient-boosting", "logistic-regression"]


@pytest.mark.parametrize("name", thinned(SEVERAL, [name for name in SEVERAL if name not in CLASS_WEIGHTS]))
def test_baselines_tell_far_classes_apart(name):
    """Categories, booleans and gaps are there too."""
    problem = make_problem()
    for column, shift in (("a", problem.y * 9.0), ("b", (problem.y % 2) * 9.0), ("c", (problem.y > 1) * 9.0)):
        problem.X[column] = problem.X[column].fillna(0.0) + shift
    problem.X.loc[::17, "c"] = np.nan
    (train, test) = make_splits(problem, 2, 1, 0)[0][1:]
    X = problem.X.astype({"old": np.int8})
    found = BASELINES[name].predict_classes(FoldData(X.iloc[train], problem.y[train], X.iloc[test], [10], 0))
    assert found.probabilities.shape == (120, 4)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, atol=1e-5)
    # SAMME on stumps finds the first and the last of four classes in a row.
    least = 0.45 if name in ("imblearn-rusboost", "easy-ensemble", "sklearn-adaboost") else 0.9
    assert sk.balanced_accuracy_score(problem.y[test], found.predicted) > least


@pytest.mark.parametrize("name", CLASS_WEIGHTS)
def test_baselines_have_class_weights(name):
    """Without information about the class, all classes are about equally likely, however rare."""
    y = np.array([0] * 160 + [1] * 60 + [2] * 20, dtype=np.int8)
    X = pd.DataFrame({"x": np.zeros(240), "z": np.ones(240)})
    found = BASELINES[name].predict_classes(FoldData(X, y, X[:5], [20], 0))
    np.testing.assert_allclose(found.probabilities, 1 / 3, atol=0.02)


def test_methods_of_two_classes_are_known():
    two_only = {name for name in BASELINES if not supports_classes(name)}
    named = {name for name in BASELINES if name.endswith(("-threshold", "-tuned"))}
    assert two_only == named | {"bagged-lightgbm", "self-paced-ensemble"}
    assert all(supports_classes(name) for name in adacc.methods())


def test_a_table_of_several_labels_is_read_as_classes_unless_one_is_named(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "kind": np.repeat(["b", "a", "c"], 20)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    several = read_problem(str(tmp_path / "t.csv"), "kind")
    assert isinstance(several, MulticlassProblem)
    assert several.classes == ("a", "b", "c")
    np.testing.assert_array_equal(np.array(several.classes)[several.y], frame["kind"])
    one = read_problem(str(tmp_path / "t.csv"), "kind", "c")
    assert (one.positive, one.negative, one.n_labels, int(one.y.sum())) == ("c", "other", 3, 20)

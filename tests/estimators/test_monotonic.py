"""Monotonic constraints of the classifiers: of every method, with weights, gaps and calibration; laws and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from support import largest_violation, variants

import adacc
from adacc.algorithms.base import Rule

CST = [1, -1, 0, 1, 0]
REVERSE = [-1, 1, 1, 0, -1]


def rows(n_rows=500, seed=0, missing=0.1):
    """Rises with feature 0 and falls with feature 1, but for noise; not monotone in 2; nothing in 3 and 4."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3] = np.round(2 * X[:, 3])
    score = X[:, 0] - 0.8 * X[:, 1] + np.sin(3 * X[:, 2]) * (1 + X[:, 0]) + rng.normal(size=n_rows)
    X[rng.random(X.shape) < missing] = np.nan
    return X, (score > 1.3).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("method", adacc.methods())
def test_every_method_keeps_the_constraints(method, max_depth):
    X, y = rows(missing=0.0 if method == "smoteboost" else 0.1)
    weight = np.random.default_rng(1).exponential(size=len(y))
    given = {"max_depth": max_depth, "n_estimators": 12, "max_bins": 24, "random_state": 0}
    for cst in (CST, REVERSE):
        for options in variants(method):
            model = adacc.BoostingClassifier(method, monotonic_cst=cst, **given, **options)
            assert largest_violation(model.fit(X, y, sample_weight=weight), X, cst) == 0.0, (cst, options)
    free = adacc.BoostingClassifier(method, **given).fit(X, y, sample_weight=weight)
    assert largest_violation(free, X, REVERSE) > 0.0


@pytest.mark.parametrize(
    "options",
    [{}, {"calibration": "sigmoid"}, {"calibration": "isotonic", "objective": "f1"}, {"tuning_cv": 2}],
    ids=str,
)
def test_a_forest_keeps_the_constraints(options):
    X, y = rows()
    model = adacc.AdaCCForestClassifier(n_estimators=6, random_state=0, monotonic_cst=CST, **options).fit(X, y)
    assert largest_violation(model, X, CST) == 0.0
    swept = np.zeros((2, 5))
    swept[:, 0] = -2, 2
    assert np.ptp(model.decision_function(swept)) > 0.1
    free = adacc.AdaCCForestClassifier(n_estimators=6, random_state=0, **options).fit(X, y)
    assert largest_violation(free, X, CST) > 0.0


@pytest.mark.parametrize("method", ["adaboost", "adacc1"])
def test_a_constraint_that_no_round_breaks_changes_nothing(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = 2 * X[:, 0] - 2 * X[:, 1] + np.abs(X[:, 2]) + rng.logistic(size=3000) > 2
    options = {"n_estimators": 16, "max_bins": 12}
    free = adacc.BoostingClassifier(method, **options).fit(X, y)
    bound = adacc.BoostingClassifier(method, monotonic_cst=[1, -1, 0], **options).fit(X, y)
    assert largest_violation(free, X, [1, -1, 0]) == 0.0
    np.testing.assert_array_equal(bound.decision_function(X), free.decision_function(X))
    assert bound.estimators_ == free.estimators_
    reverse = adacc.BoostingClassifier(method, monotonic_cst=[-1, 1, 0], **options).fit(X, y)
    assert largest_violation(reverse, X, [-1, 1, 0]) == 0.0
    assert reverse.score(X, y) < free.score(X, y) - 0.1


def test_a_feature_turned_round_has_the_other_constraint():
    X, y = rows(missing=0.0)
    turned = X * [-1, 1, 1, 1, 1]
    for max_depth in (1, 3):
        model = adacc.AdaBoostClassifier(max_depth=max_depth, n_estimators=10, max_bins=None)
        one = model.set_params(monotonic_cst=CST).fit(X, y).decision_function(X)
        other = model.set_params(monotonic_cst=[-1, *CST[1:]]).fit(turned, y).decision_function(turned)
        np.testing.assert_allclose(one, other)


def test_no_constraint_is_no_constraint():
    X, y = rows()
    for cls in (adacc.AdaCC1Classifier, adacc.AdaCCForestClassifier):
        models = [cls(n_estimators=4, random_state=0, monotonic_cst=cst).fit(X, y) for cst in (None, [0] * 5)]
        assert len({each.decision_function(X).tobytes() for each in models}) == 1
    three = np.arange(len(y)) % 3
    adacc.AdaCC1Classifier(n_estimators=2, monotonic_cst=[0] * 5).fit(X, three)


@pytest.mark.parametrize(
    "model",
    [
        adacc.AdaCC1Classifier(n_estimators=200, max_bins=None),
        adacc.AdaCC1Classifier(n_estimators=50, max_depth=3, max_bins=None),
        adacc.AdaCCForestClassifier(n_estimators=10),
    ],
    ids=["stumps", "trees", "forest"],
)
def test_on_monotone_data_constraints_cost_no_accuracy(model):
    free, bound = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2300, 4))
        y = X[:, 0] + np.maximum(X[:, 1], X[:, 2]) - X[:, 3] + 1.5 * rng.logistic(size=2300) > 2.5
        for cst, found in ((None, free), ([1, 1, 1, -1], bound)):
            model.set_params(monotonic_cst=cst, random_state=seed).fit(X[:300], y[:300])
            found.append(balanced_accuracy_score(y[300:], model.predict(X[300:])))
    assert np.mean(bound) > np.mean(free)


def test_columns_by_name():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(X[:, 4] > 0, "Bonn", "Köln"))
    for cls in (adacc.AdaCC1Classifier, adacc.AdaCCForestClassifier):
        named = cls(n_estimators=5, random_state=0, monotonic_cst={"b": -1, "a": -1}).fit(frame, y)
        listed = cls(n_estimators=5, random_state=0, monotonic_cst=np.array([-1, -1, 0, 0, 0, 0])).fit(frame, y)
        np.testing.assert_array_equal(named.decision_function(frame), listed.decision_function(frame))
        free = cls(n_estimators=5, random_state=0).fit(frame, y)
        assert (named.decision_function(frame) != free.decision_function(frame)).any()


def test_a_calibration_that_falls_is_made_constant():
    """Held-out rows on which the score is wrong: the probability must not turn the constraint round."""
    x = np.tile([0.0, 1.0], 60)[:, None]
    odd = np.arange(120) < 80
    y = np.where(odd, x[:, 0], 1 - x[:, 0]).astype(int)
    held_out = [(np.flatnonzero(odd), np.flatnonzero(~odd)), (np.flatnonzero(~odd), np.flatnonzero(odd))]

    class Halves:
        def split(self, *_):
            return iter(held_out)

        def get_n_splits(self, *_):
            return 2

    for cls in (adacc.AdaMECClassifier, adacc.CGAdaClassifier, adacc.AdaCC1Classifier):
        model = cls(calibration="sigmoid", calibration_cv=Halves(), n_estimators=3)
        bound = model.set_params(monotonic_cst=[1]).fit(x, y)
        assert largest_violation(bound, x, [1]) == 0.0
        if cls is not adacc.AdaCC1Classifier:
            assert largest_violation(model.set_params(monotonic_cst=None).fit(x, y), x, [1]) > 0.0


def test_a_search_keeps_the_constraints():
    X, y = rows()
    for max_depth, method in ((1, "cgada"), (2, "cgada"), (1, "adamec")):
        model = adacc.BoostingClassifier(method, n_estimators=20, max_depth=max_depth, monotonic_cst=CST)
        search = adacc.CostSearchCV(model, rounds=[10, 20], cv=2).fit(X, y)
        for best in search.best_by_rounds_.values():
            assert largest_violation(best.estimator, X, CST) == 0.0
        again = model.set_params(costs=search.best_costs_, n_estimators=search.best_n_estimators_).fit(X, y)
        np.testing.assert_allclose(again.decision_function(X), search.decision_function(X))
    with pytest.raises(ValueError, match="monotonic_cst must have a value for each of the 5 features, got 1"):
        adacc.CostSearchCV(adacc.CGAdaClassifier(monotonic_cst=[1])).fit(X, y)


def test_early_stopping_and_warm_start_keep_the_constraints(tmp_path):
    X, y = rows()
    stopped = adacc.AdaCC1Classifier(n_estimators=40, n_iter_no_change=5, monotonic_cst=CST, random_state=0).fit(X, y)
    assert largest_violation(stopped, X, CST) == 0.0
    whole = adacc.AdaCC1Classifier(n_estimators=20, max_depth=2, monotonic_cst=CST).fit(X, y)
    part = adacc.AdaCC1Classifier(n_estimators=10, max_depth=2, monotonic_cst=CST, warm_start=True).fit(X, y)
    part.save(tmp_path / "part.adacc")
    part = adacc.load(tmp_path / "part.adacc")
    assert part.monotonic_cst == CST
    part.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_allclose(part.decision_function(X), whole.decision_function(X))
    for cst in (None, [1, -1, 0, 0, 0]):
        with pytest.raises(ValueError, match="warm_start needs the same monotonic_cst as in the last fit"):
            part.set_params(n_estimators=30, monotonic_cst=cst).fit(X, y)


@pytest.mark.parametrize(
    "cst", [CST, tuple(CST), np.array(CST), {"a": 1, "b": -1}], ids=["list", "tuple", "array", "dict"]
)
def test_model_files_store_the_constraints(cst, tmp_path):
    X, y = rows(100)
    frame = pd.DataFrame(X, columns=list("abcde"))
    for model in (adacc.AdaCC1Classifier(n_estimators=2), adacc.AdaCCForestClassifier(n_estimators=3)):
        model.set_params(monotonic_cst=cst).fit(frame, y).save(tmp_path / "model.adacc")
        again = adacc.load(tmp_path / "model.adacc")
        assert type(again.monotonic_cst) is type(cst)
        np.testing.assert_equal(again.monotonic_cst, cst)


class Negative(Rule):
    """Some of its votes are negative."""

    def vote(self, W, costs):
        return -1.0 if W[0, 0] > W[1, 1] else 1.0


WRONG = {
    "length": ([1, 0], r"must have a value for each of the 5 features, got 2"),
    "value": ([1, 0, 2, 0, 0], r"must be -1, 0 or 1 for every feature, got 2 for feature 'c'"),
    "text": (["1", 0, 0, 0, 0], r"must be -1, 0 or 1 for every feature, got '1' for feature 'a'"),
    "not a number": ([1, 0, np.nan, 0, 0], r"must be -1, 0 or 1 for every feature, got nan for feature 'c'"),
    "matrix": ([[1, 0, 0, 0, 0]], r"must be None, an array with -1, 0 or 1 for each of the 5 features, or a dict"),
    "number": (1, r"must be None, an array with -1, 0 or 1 for each of the 5 features, or a dict .*, got 1"),
    "string": ("a", r"must be None, an array with -1, 0 or 1 for each of the 5 features, or a dict .*, got 'a'"),
    "name": ({"agee": 1}, r"must name columns of X, got 'agee': did you mean"),
    "value by name": ({"b": 3}, r"must be -1, 0 or 1 for every feature, got 3 for feature 'b'"),
    "category": ({"town": 1}, r"must be 0 for categorical features, got 1 for feature 'town'"),
}


@pytest.mark.parametrize(("cst", "message"), WRONG.values(), ids=WRONG)
def test_wrong_constraints(cst, message):
    X, y = rows(60)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "age", "d"])
    if isinstance(cst, dict) and "town" in cst:
        frame["town"] = np.where(X[:, 0] > 0, "Bonn", "Köln")
    for model in (adacc.AdaCC1Classifier(), adacc.AdaCC1Classifier(max_depth=2), adacc.AdaCCForestClassifier()):
        with pytest.raises(ValueError, match=f"monotonic_cst {message}"):
            model.set_params(monotonic_cst=cst).fit(frame, y)
        assert not hasattr(model, "n_features_in_")


def test_what_cannot_be_constrained():
    X, y = rows(90)
    three = np.arange(len(y)) % 3
    for model in (
        *(adacc.AdaCC1Classifier(multi_class=each) for each in ("auto", "one_vs_rest", "joint")),
        adacc.AdaCCForestClassifier(),
    ):
        with pytest.raises(ValueError, match=r"monotonic_cst must be None for more than two classes, got .* 3 classes"):
            model.set_params(monotonic_cst=CST).fit(X, three)
    with pytest.raises(ValueError, match="must be an array if the columns of X have no names, got a dict"):
        adacc.AdaCC1Classifier(monotonic_cst={"a": 1}).fit(X, y)
    learner = DecisionTreeClassifier(max_depth=1)
    with pytest.raises(ValueError, match=r"must be None for the weak learner DecisionTreeClassifier\(max_depth=1\)"):
        adacc.AdaCC1Classifier(estimator=learner, monotonic_cst=CST).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adacc.BoostingClassifier(Negative(), n_estimators=5).fit(X, y)
        with pytest.raises(ValueError, match="monotonic_cst needs a rule without negative votes, but Negative gave"):
            adacc.BoostingClassifier(Negative(), n_estimators=5, monotonic_cst=CST).fit(X, y)


def test_a_constrained_learner_of_scikit_learn_is_another_way():
    X, y = rows(missing=0.0)
    learner = DecisionTreeClassifier(max_depth=2, monotonic_cst=CST)
    model = adacc.AdaCC1Classifier(estimator=learner, n_estimators=10).fit(X, y)
    values = np.repeat(X[:50], 20, axis=0)
    values[:, 0] = np.tile(np.linspace(-3, 3, 20), 50)
    assert (np.diff(model.decision_function(values).reshape(50, 20), axis=1) >= 0).all()

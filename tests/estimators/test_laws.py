"""What must change no answer: the scale of the weights, copies instead of weights, the order of rows, columns, labels.

The laws hold for every estimator, option and backend, on tables that hypothesis draws. Only ratios of weights matter,
and what counts rows does not look at weights.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from support import DETERMINISTIC, thinned

from adacc import (
    AdaBoostClassifier,
    AdaCC1Classifier,
    AdaCC2Classifier,
    AdaCCForestClassifier,
    AdaMECClassifier,
    BoostingClassifier,
    CGAdaClassifier,
    CostDecision,
    CostSearchCV,
    DecisionRule,
)
from adacc.distributed import fit_parquet

pytestmark = pytest.mark.filterwarnings("ignore")

SMALL_FOREST = {"n_estimators": 3, "n_rounds": 2, "random_state": 0}
OPTIONS = {
    "tree": lambda: AdaCC1Classifier(n_estimators=4, max_depth=3, min_samples_leaf=4),
    "tree of entropy": lambda: AdaCC2Classifier(n_estimators=3, max_leaf_nodes=6, max_depth=None, criterion="entropy"),
    "error": lambda: AdaBoostClassifier(n_estimators=4, criterion="error", learning_rate=0.5),
    "few bins": lambda: AdaCC1Classifier(n_estimators=4, max_bins=4),
    "subsample": lambda: AdaCC2Classifier(n_estimators=5, subsample=0.6, rates="out-of-bag", random_state=0),
    "early stopping": lambda: AdaCC1Classifier(n_estimators=8, n_iter_no_change=2, random_state=0),
    "rusboost": lambda: BoostingClassifier("rusboost", n_estimators=4, random_state=0),
    "rusboost of trees": lambda: BoostingClassifier("rusboost", n_estimators=3, max_depth=3, random_state=0),
    "smoteboost": lambda: BoostingClassifier("smoteboost", n_estimators=3, n_synthetic=5, random_state=0),
    "kept smote": lambda: BoostingClassifier(
        "smoteboost", n_estimators=3, n_synthetic=5, random_state=0, dialect="authors", max_depth=2, min_samples_leaf=2
    ),
    "learner": lambda: AdaCC1Classifier(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0),
    "sigmoid": lambda: AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv=2, random_state=0),
    "isotonic": lambda: AdaMECClassifier(n_estimators=3, calibration="isotonic", calibration_cv="training"),
    "sigmoid by costs": lambda: CGAdaClassifier(n_estimators=3, calibration="sigmoid", calibration_cv="training"),
    "forest": lambda: AdaCCForestClassifier(**SMALL_FOREST),
    "calibrated forest": lambda: AdaCCForestClassifier(**SMALL_FOREST, calibration="sigmoid", tuning_cv=2),
    "search": lambda: CostSearchCV(CGAdaClassifier(n_estimators=3), cv=2, rounds=[1, 3]),
}
OF_TWO_CLASSES = {
    "recall of a booster": lambda: AdaCC1Classifier(n_estimators=4, decision="recall>=0.8", random_state=0),
    "alerts of a forest": lambda: AdaCCForestClassifier(**SMALL_FOREST, decision="alerts<=200/1000"),
    "F1 of a forest": lambda: AdaCCForestClassifier(**SMALL_FOREST, objective="f1", calibration="isotonic"),
    "cost decision": lambda: CostDecision(AdaCC1Classifier(n_estimators=3), [[0, 1], [5, 0]], threshold="tuned", cv=2),
    "decision rule": lambda: DecisionRule(AdaCC1Classifier(n_estimators=3), "precision>=0.5", cv=2),
}
OF_METHODS = {name: lambda name=name: BoostingClassifier(name, n_estimators=4) for name in DETERMINISTIC}
WITHOUT_FOLDS = {name: make for name, make in OF_METHODS.items() if not name.endswith("-cal")}
BY_ROW_COST = {
    name: lambda name=name: BoostingClassifier(name, n_estimators=4)
    for name in ("cgada", "csb1", "csb2", "adacost", "adac1", "adac2", "adac3")
}
RANDOM = {
    "rusboost": lambda seed, n_rows: BoostingClassifier("rusboost", n_estimators=10, random_state=seed),
    "smoteboost": lambda seed, n_rows: BoostingClassifier(
        "smoteboost", n_estimators=10, n_synthetic=n_rows // 10, random_state=seed
    ),
    "subsample": lambda seed, n_rows: AdaCC1Classifier(n_estimators=10, max_depth=3, subsample=0.6, random_state=seed),
    "out-of-bag rates": lambda seed, n_rows: AdaCC2Classifier(
        n_estimators=10, max_depth=2, subsample=0.6, rates="out-of-bag", random_state=seed
    ),
    "forest": lambda seed, n_rows: AdaCCForestClassifier(n_estimators=5, n_rounds=2, random_state=seed),
}
OF_CLASSES = {
    kind: lambda kind=kind: AdaCC1Classifier(n_estimators=4, multi_class=kind)
    for kind in ("joint", "one_vs_one", "one_vs_rest")
}


def table(seed, n_classes, n_rows=48, real=False):
    """Noisy rows of every class, so that no learner is perfect; numbers of few values, or real ones."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes).repeat(6), rng.choice(n_classes, n_rows - 6 * n_classes)])
    X = rng.normal(size=(n_rows, 3)) + 0.7 * (y * (rng.random(n_rows) < 0.8))[:, None] * [1.0, -1.0, 0.5]
    weight = rng.integers(1, 4, n_rows).astype(float)
    return (X if real else np.round(X)), y, weight * rng.uniform(0.5, 1.0, n_rows) if real else weight


def rare_rows(rng, n_rows):
    """Overlapping rows of two classes, one of them rare."""
    y = (rng.random(n_rows) < 0.25).astype(int)
    return rng.normal(size=(n_rows, 3)) + 0.9 * y[:, None] * [1.0, -1.0, 0.5], y


def measures(model, X, y):
    """Numbers that tell models apart: the balanced accuracy, and the mean probability of the rare class."""
    return np.array([balanced_accuracy_score(y, model.predict(X)), model.predict_proba(X)[:, 1].mean()])


def answers(model, X):
    """Everything that a model says of rows."""
    said = [model.predict(X)]
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name) and not (isinstance(model, DecisionRule) and name == "decision_function"):
            said.append(getattr(model, name)(X))
    return said


def fit(make, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(X, y, **given)


def examples(n):
    """So many drawn tables in `make test`, and twenty times as many in `make test-thorough`."""
    return [pytest.param(n, id="few"), pytest.param(20 * n, id="many", marks=pytest.mark.thorough)]


seeds, powers, class_counts = st.integers(0, 10**6), st.integers(-60, 60), st.integers(2, 3)


class TestScaleOfWeights:
    """Times a power of two, every answer is the same to the last digit, also that of random estimators of one seed."""

    @pytest.mark.parametrize("n", examples(1))
    @pytest.mark.parametrize("name", [*OPTIONS, *OF_TWO_CLASSES, *thinned(OF_METHODS), *OF_CLASSES])
    def test_powers_of_two(self, name, n):
        make = (OPTIONS | OF_TWO_CLASSES | OF_METHODS | OF_CLASSES)[name]

        @settings(max_examples=n)
        @given(seed=seeds, power=powers, n_classes=st.just(2) if name in OF_TWO_CLASSES else class_counts)
        def law(seed, power, n_classes):
            X, y, weight = table(seed, n_classes)
            plain = fit(make, X, y, sample_weight=weight)
            scaled = fit(make, X, y, sample_weight=np.ldexp(weight, power))
            for one, other in zip(answers(plain, X), answers(scaled, X), strict=True):
                np.testing.assert_array_equal(one, other)

        law()

    @pytest.mark.parametrize("n", examples(1))
    @pytest.mark.parametrize("name", thinned(OF_METHODS))
    def test_any_factor(self, name, n):
        @settings(max_examples=n)
        @given(seed=seeds, factor=st.floats(1e-3, 1e3), n_classes=class_counts)
        def law(seed, factor, n_classes):
            X, y, weight = table(seed, n_classes, real=True)
            plain = fit(OF_METHODS[name], X, y, sample_weight=weight)
            scaled = fit(OF_METHODS[name], X, y, sample_weight=weight * factor)
            np.testing.assert_allclose(scaled.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-9)

        law()

    @given(seed=seeds, power=powers)
    @settings(max_examples=3)
    def test_of_validation_rows(self, seed, power):
        X, y, weight = table(seed, 2)
        X_val, y_val, weight_val = table(seed + 1, 2)
        model = AdaCC1Classifier(n_estimators=8, n_iter_no_change=2)
        given = {"sample_weight": weight, "X_val": X_val, "y_val": y_val}
        plain = model.fit(X, y, **given, sample_weight_val=weight_val).decision_function(X)
        scaled = model.fit(X, y, **given, sample_weight_val=np.ldexp(weight_val, power)).decision_function(X)
        np.testing.assert_array_equal(plain, scaled)

    @pytest.mark.parametrize(
        "rule", ["recall>=0.7", "precision>=0.6", "alerts<=300/1000", "f1", [[0, 1], [4, 0]]], ids=str
    )
    def test_of_rows_that_tune_a_rule(self, rule):
        @settings(max_examples=3)
        @given(seed=seeds, power=powers)
        def law(seed, power):
            X, y, weight = table(seed, 2)
            model = AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv="training").fit(X, y)
            reports = []
            for scaled in (weight, np.ldexp(weight, power)):
                decision = model.set_decision(rule, X, y, sample_weight=scaled).decision_
                reports.append((decision.threshold, decision.report.achieved, decision.report.n_rows))
            assert str(reports[0]) == str(reports[1])

        law()

    @pytest.mark.parametrize("power", [-9, 7])
    @pytest.mark.parametrize("options", [{}, {"calibration": "sigmoid", "calibration_cv": "training"}], ids=str)
    def test_of_files(self, tmp_path, power, options):
        for seed in range(3):
            X, y, weight = table(seed, 2 + seed % 2, n_rows=120)
            found = []
            for number, scaled in enumerate((weight, np.ldexp(weight, power))):
                frame = pd.DataFrame(X, columns=list("abc")).assign(y=y.astype(str), w=scaled)
                frame.to_parquet(path := tmp_path / f"{seed}-{number}.parquet")
                model = AdaCC1Classifier(n_estimators=4, **options)
                found.append(fit_parquet(model, path, "y", sample_weight="w", memory_limit="8GB"))
            for one, other in zip(*(answers(model, frame[["a", "b", "c"]]) for model in found), strict=True):
                np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize("n", examples(1))
    @pytest.mark.parametrize("name", [*BY_ROW_COST, "search"])
    def test_with_costs_by_row(self, name, n):
        @settings(max_examples=n)
        @given(seed=seeds, power=powers)
        def law(seed, power):
            X, y, weight = table(seed, 2)
            cost = np.random.default_rng(seed).uniform(0.5, 4.0, len(y))
            plain = fit((BY_ROW_COST | OPTIONS)[name], X, y, sample_weight=weight, sample_cost=cost)
            scaled = fit((BY_ROW_COST | OPTIONS)[name], X, y, sample_weight=np.ldexp(weight, power), sample_cost=cost)
            for one, other in zip(answers(plain, X), answers(scaled, X), strict=True):
                np.testing.assert_array_equal(one, other)

        law()


class TestCopies:
    """A row of weight 2 is two copies of it, but where rows are counted: the vote of a perfect learner, and curves."""

    @pytest.mark.parametrize("n", examples(1))
    @pytest.mark.parametrize("name", [*thinned(WITHOUT_FOLDS), *OF_CLASSES, "error", "tree of entropy"])
    def test_are_weights(self, name, n):
        make = (OF_METHODS | OF_CLASSES | OPTIONS)[name]

        @settings(max_examples=n)
        @given(seed=seeds, n_classes=class_counts)
        def law(seed, n_classes):
            X, y, weight = table(seed, n_classes)
            many = np.repeat(np.arange(len(y)), weight.astype(int))
            weighted = fit(make, X, y, sample_weight=weight)
            copied = fit(make, X[many], y[many])
            # The vote of a perfect learner is by the number of rows, at least 48 of two classes and 12 of a pair.
            if np.abs(weighted.fitted_model_.ensemble.votes).max() > (1.9 if n_classes == 2 else 1.2):
                return
            np.testing.assert_allclose(copied.decision_function(X), weighted.decision_function(X), atol=1e-8)

        law()

    @pytest.mark.parametrize("name", thinned(RANDOM, ["forest"]))
    @pytest.mark.parametrize("duplicates", ["together", "auto", "apart"])
    def test_are_weights_in_the_mean_over_seeds(self, name, duplicates):
        """But where copies of training rows are out of bag, if `duplicates` says so. "auto" sees these copies."""
        if duplicates == "apart" and name in ("out-of-bag rates", "forest"):
            pytest.skip("copies of training rows are out of bag")
        differences = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            (X, y), (X_new, y_new) = (rare_rows(rng, n_rows) for n_rows in (200, 1000))
            weight = rng.integers(1, 4, len(y))
            many = np.repeat(np.arange(len(y)), weight)
            weighted, copied = (RANDOM[name](seed, n).set_params(duplicates=duplicates) for n in (len(y), len(many)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                weighted.fit(X, y, sample_weight=weight)
                copied.fit(X[many], y[many])
            differences.append(np.subtract(*(measures(model, X_new, y_new) for model in (copied, weighted))))
        error = np.std(differences, axis=0, ddof=1) / np.sqrt(len(differences))
        assert (np.abs(np.mean(differences, axis=0)) < 4.0 * error).all()


class TestOrder:
    """Of rows, columns and labels, for boosters that draw nothing."""

    @pytest.mark.parametrize("n", examples(1))
    @pytest.mark.parametrize(
        "name",
        [*thinned(WITHOUT_FOLDS), *OF_CLASSES, "tree", "tree of entropy", "few bins", "isotonic", "sigmoid by costs"],
    )
    def test_changes_no_answer(self, name, n):
        make = (OF_METHODS | OF_CLASSES | OPTIONS)[name]

        @settings(max_examples=n)
        @given(seed=seeds, n_classes=class_counts)
        def law(seed, n_classes):
            X, y, weight = table(seed, n_classes, real=True)  # no ties, which order decides
            rng = np.random.default_rng(seed)
            expected = fit(make, X, y, sample_weight=weight).predict_proba(X)
            close = {"rtol": 1e-6, "atol": 1e-7}
            rows, columns, labels = rng.permutation(len(y)), rng.permutation(X.shape[1]), rng.permutation(n_classes)
            found = fit(make, X[rows], y[rows], sample_weight=weight[rows]).predict_proba(X)
            np.testing.assert_allclose(found, expected, **close, err_msg="rows")
            if n_classes == 2:  # splits that part the training rows alike are equal, but not for rows of other pairs
                found = fit(make, X[:, columns], y, sample_weight=weight).predict_proba(X[:, columns])
                np.testing.assert_allclose(found, expected, **close, err_msg="columns")
            renamed = fit(make, X, np.array(["u", "v", "w"])[labels[y]], sample_weight=weight).predict_proba(X)
            np.testing.assert_allclose(renamed[:, labels], expected, **close, err_msg="labels")

        law()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"calibration": "sigmoid", "calibration_cv": "training"}], ids=str)
def test_order_of_files_and_of_their_rows_changes_no_answer(tmp_path, options, n_classes):
    for seed in range(3):
        X, y, weight = table(seed, n_classes, n_rows=120, real=True)
        frame = pd.DataFrame(X, columns=list("abc")).assign(y=y.astype(str), w=weight)
        rng, found = np.random.default_rng(seed), []
        for rows in (np.arange(len(frame)), rng.permutation(len(frame))):
            (folder := tmp_path / f"{seed}-{len(found)}").mkdir()
            for number, part in enumerate(np.array_split(rows, rng.integers(2, 6))):
                frame.iloc[part].to_parquet(folder / f"{number}.parquet", row_group_size=17)
            model = AdaCC1Classifier(n_estimators=4, **options)
            found.append(fit_parquet(model, folder, "y", sample_weight="w", memory_limit="8GB"))
        one, other = (model.predict_proba(frame[["a", "b", "c"]]) for model in found)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


MAY_REFUSE = "class|row|group|fold"


class TestClassesThatAreLacking:
    """A class without rows or weight in a fold, a bag or a validation set: an answer, or an error that says so."""

    @pytest.mark.parametrize("n", examples(2))
    @pytest.mark.parametrize("name", [*OPTIONS, *OF_TWO_CLASSES, *OF_CLASSES])
    def test_are_answered_or_refused(self, name, n):
        make = (OPTIONS | OF_TWO_CLASSES | OF_CLASSES)[name]

        @settings(max_examples=n)
        @given(
            seed=seeds,
            n_classes=st.just(2) if name in OF_TWO_CLASSES else class_counts,
            n_rare=st.integers(1, 3),
            weighting=st.sampled_from(["none", "tiny", "zero", "one row"]),
            grouped=st.booleans(),
        )
        def law(seed, n_classes, n_rare, weighting, grouped):
            X, y, _ = table(seed, n_classes)
            rng = np.random.default_rng(seed)
            kept = np.flatnonzero(y != n_classes - 1)
            rare = np.flatnonzero(y == n_classes - 1)[:n_rare]
            rows = rng.permutation(np.concatenate([kept, rare]))
            X, y = X[rows], y[rows]
            is_rare = y == n_classes - 1
            weight = {
                "none": np.ones(len(y)),
                "tiny": np.where(is_rare, 1e-12, 1.0),
                "zero": np.where(is_rare, 0.0, 1.0),
                "one row": np.where(is_rare & (np.cumsum(is_rare) > 1), 0.0, 1.0),
            }[weighting]
            given = {"sample_weight": weight}
            if grouped and not isinstance(make(), CostDecision | DecisionRule):
                given["groups"] = np.where(is_rare, 0, rng.integers(0, 6, len(y)))
            refused = None
            try:
                model = fit(make, X, y, **given)
            except ValueError as error:
                refused = str(error)
            if refused is not None:
                assert re.search(MAY_REFUSE, refused), refused
                return
            for said in answers(model, X):
                assert np.isfinite(said).all()

        law()

"""Copies of rows stay on one side of every split, as groups of the original rows do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

import adacc
from adacc import (
    AdaCC1Classifier,
    AdaCCForestClassifier,
    CGAdaClassifier,
    CopiedRowsWarning,
    CostDecision,
    CostSearchCV,
    DecisionRule,
    TimeSplit,
)
from adacc.evaluation.baseline_classifier import BaselineClassifier

N_ROWS, N_NEW = 400, 4000


def draw(rng, n_rows):
    """Rows of which one in ten is positive; few columns are informative."""
    X = rng.normal(size=(n_rows, 8))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=n_rows)
    return X, (score > 1.9).astype(int)


def over_sample(y, rng):
    """The numbers of the rows, with the positive ones repeated to balance."""
    rare = np.flatnonzero(y == 1)
    return np.concatenate([np.arange(len(y)), rng.choice(rare, len(y) - 2 * len(rare))])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X, y = draw(rng, N_ROWS)
    return X, y, over_sample(y, rng), *draw(rng, N_NEW)


FOREST = AdaCCForestClassifier(n_estimators=10, n_rounds=2, random_state=0)

ESTIMATORS = {
    "forest": FOREST,
    "forest, folds": FOREST.__class__(**{**FOREST.get_params(), "tuning_cv": 3}),
    "calibration": AdaCC1Classifier(n_estimators=10, calibration="sigmoid", random_state=0),
    "early stopping": AdaCC1Classifier(n_estimators=30, n_iter_no_change=5, random_state=0),
    "decision": AdaCC1Classifier(n_estimators=10, decision="f1", random_state=0),
    "out-of-bag rates": AdaCC1Classifier(
        n_estimators=10, max_depth=3, subsample=0.5, rates="out-of-bag", random_state=0
    ),
    "costs": CostSearchCV(CGAdaClassifier(n_estimators=10), cv=3),
    "rule": DecisionRule(LogisticRegression(), "recall>=0.9", cv=3),
    "tuned cost": CostDecision(LogisticRegression(), {0: 1, 1: 10}, threshold="tuned", cv=3),
    "baseline": BaselineClassifier("adaboost-threshold", n_estimators=10),
}


def with_duplicates(estimator, duplicates):
    """A copy of the estimator, with the parameter `duplicates` of whatever splits rows."""
    clone = estimator.__class__(**estimator.get_params(deep=False))
    if isinstance(estimator, CostSearchCV):
        return clone.set_params(estimator=with_duplicates(estimator.estimator, duplicates))
    return clone.set_params(duplicates=duplicates)


def fit(estimator, X, y, **given):
    """The fitted estimator, and its warnings about copies."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model = estimator.fit(X, y, **given)
    return model, [str(each.message) for each in issued if each.category is CopiedRowsWarning]


def response(model, X):
    return model.predict_proba(X), model.predict(X)


class TestCopiesAgainstGroups:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_copies_are_groups_of_the_original_rows(self, name, table):
        X, y, original, X_new, _ = table
        together, issued = fit(with_duplicates(ESTIMATORS[name], "auto"), X[original], y[original])
        grouped, silent = fit(with_duplicates(ESTIMATORS[name], "auto"), X[original], y[original], groups=original)
        for found, expected in zip(response(together, X_new), response(grouped, X_new), strict=True):
            np.testing.assert_array_equal(found, expected)
        assert len(issued) == 1
        assert not silent

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_apart_is_another_model_without_warning(self, name, table):
        """So the test above would notice copies on both sides."""
        X, y, original, X_new, _ = table
        apart, silent = fit(with_duplicates(ESTIMATORS[name], "apart"), X[original], y[original])
        together, _ = fit(with_duplicates(ESTIMATORS[name], "auto"), X[original], y[original])
        assert not silent
        scores = "best_score_" if name == "costs" else None
        if scores is not None:
            assert getattr(apart, scores) > getattr(together, scores)
        else:
            assert not all(
                np.array_equal(*pair) for pair in zip(response(apart, X_new), response(together, X_new), strict=True)
            )

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_without_copies_the_option_changes_nothing(self, name, table):
        X, y, _, X_new, _ = table
        models = []
        for duplicates in ("auto", "together", "apart"):
            model, issued = fit(with_duplicates(ESTIMATORS[name], duplicates), X, y)
            models.append(response(model, X_new))
            assert not issued
        for found in models[1:]:
            for one, other in zip(found, models[0], strict=True):
                np.testing.assert_array_equal(one, other)


class TestForest:
    def test_over_sampling_does_no_harm(self, table):
        X, y, original, X_new, y_new = table

        def accuracies(duplicates, rows):
            model, _ = fit(with_duplicates(FOREST, duplicates), X[rows], y[rows])
            return model.oob_balanced_accuracy_, balanced_accuracy_score(y_new, model.predict(X_new))

        _, plain = accuracies("auto", np.arange(N_ROWS))
        estimate, together = accuracies("auto", original)
        optimistic, apart = accuracies("apart", original)
        assert optimistic > 0.97
        assert apart < plain - 0.1
        assert abs(together - plain) < 0.05
        assert abs(estimate - together) < 0.08

    def test_a_rule_reaches_its_recall(self, table):
        X, y, original, X_new, y_new = table
        recalls = {}
        for duplicates in ("auto", "apart"):
            forest = AdaCCForestClassifier(
                n_estimators=10, n_rounds=2, decision="recall>=0.9", duplicates=duplicates, random_state=0
            )
            recalls[duplicates] = fit(forest, X[original], y[original])[0].predict(X_new)[y_new == 1].mean()
        assert recalls["auto"] > 0.75 > 0.5 > recalls["apart"]

    def test_rows_that_coincide_by_chance_are_left_apart(self):
        rng = np.random.default_rng(1)
        X = rng.integers(0, 3, (N_ROWS, 5))
        y = (X[:, 0] + X[:, 1] + rng.normal(size=N_ROWS) > 3.3).astype(int)
        auto, issued = fit(with_duplicates(FOREST, "auto"), X, y)
        apart, _ = fit(with_duplicates(FOREST, "apart"), X, y)
        together, warned = fit(with_duplicates(FOREST, "together"), X, y)
        assert not issued
        np.testing.assert_array_equal(auto.predict_proba(X), apart.predict_proba(X))
        assert (together.predict_proba(X) != apart.predict_proba(X)).any()
        assert "are equal to another row; splits keep equal rows together" in warned[0]


class TestWarning:
    def test_it_names_the_shares(self, table):
        X, y, original, *_ = table
        n_copies, n_positive = len(original) - N_ROWS, y[original].sum()
        assert fit(with_duplicates(FOREST, "auto"), X[original], y[original])[1] == [
            f"{n_copies / len(original):.1%} of the rows (0.0% of 0, {n_copies / n_positive:.1%} of 1) are copies of "
            "other rows, more than chance explains; splits keep equal rows together; set `duplicates` to 'apart' to "
            "split them, or give `groups`"
        ]

    def test_it_points_at_the_line_of_the_caller(self, table):
        X, y, original, *_ = table
        with pytest.warns(CopiedRowsWarning) as issued:
            with_duplicates(FOREST, "auto").fit(X[original], y[original])
        assert issued[0].filename == __file__

    def test_an_estimator_that_splits_nothing_does_not_look_for_copies(self, table):
        X, y, original, *_ = table
        assert not fit(AdaCC1Classifier(n_estimators=3), X[original], y[original])[1]
        given = AdaCC1Classifier(n_estimators=3, n_iter_no_change=2)
        assert not fit(given, X[original], y[original], X_val=X, y_val=y)[1]
        training = AdaCC1Classifier(n_estimators=3, calibration="sigmoid", calibration_cv="training")
        assert not fit(training, X[original], y[original])[1]

    def test_a_meta_classifier_warns_once_for_its_forest(self, table):
        X, y, original, *_ = table
        _, issued = fit(DecisionRule(with_duplicates(FOREST, "auto"), cv=3), X[original], y[original])
        assert len(issued) == 1


class TestSplitters:
    def test_a_splitter_decides_alone(self, table):
        """It receives no groups that the user did not give."""
        X, y, original, X_new, _ = table
        X, y = X[original], y[original]
        for make in (
            lambda cv, **given: AdaCC1Classifier(n_estimators=5, calibration="sigmoid", calibration_cv=cv, **given),
            lambda cv, **given: DecisionRule(LogisticRegression(), cv=cv, **given),
            lambda cv, **given: AdaCCForestClassifier(
                n_estimators=3, n_rounds=1, tuning_cv=cv, random_state=0, **given
            ),
        ):
            cv = StratifiedKFold(3)
            auto, issued = fit(make(cv), X, y)
            apart, _ = fit(make(cv, duplicates="apart"), X, y)
            np.testing.assert_array_equal(auto.predict_proba(X_new), apart.predict_proba(X_new))
            assert not issued
            for needs_groups in (StratifiedGroupKFold(3), TimeSplit(3)):
                with pytest.raises((ValueError, TypeError), match="groups"):
                    make(needs_groups).fit(X, y)

    def test_early_stopping_keeps_copies_together_beside_a_splitter(self, table):
        X, y, original, *_ = table
        model = AdaCC1Classifier(
            n_estimators=30, n_iter_no_change=5, calibration="sigmoid", calibration_cv=TimeSplit(3), random_state=0
        )
        with pytest.warns(CopiedRowsWarning), pytest.raises(ValueError, match="groups must be the time of each row"):
            model.fit(X[original], y[original])


@pytest.mark.parametrize("wrong", ["Auto", None, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_other_values_are_refused(name, wrong, table):
    X, y, *_ = table
    with pytest.raises(ValueError, match="duplicates must be 'auto' or 'together' or 'apart', got"):
        with_duplicates(ESTIMATORS[name], wrong).fit(X, y)


def test_rows_of_zero_weight_are_no_copies(table):
    X, y, original, X_new, _ = table
    used = np.isin(np.arange(len(original)), np.arange(N_ROWS)).astype(float)
    model, issued = fit(with_duplicates(FOREST, "auto"), X[original], y[original], sample_weight=used)
    assert not issued
    plain, _ = fit(with_duplicates(FOREST, "auto"), X, y)
    np.testing.assert_array_equal(model.predict_proba(X_new), plain.predict_proba(X_new))


def test_cost_search_maps_groups_of_copies_to_all_rows(table):
    """Rows of zero weight have no group among the training rows."""
    X, y, original, *_ = table
    X, y = X[original], y[original]
    weight = np.ones(len(y))
    weight[::7] = 0.0
    search = CostSearchCV(CGAdaClassifier(n_estimators=5), cv=3)
    auto, issued = fit(search, X, y, sample_weight=weight)
    assert len(issued) == 1
    grouped, _ = fit(CostSearchCV(CGAdaClassifier(n_estimators=5), cv=3), X, y, sample_weight=weight, groups=original)
    assert abs(auto.best_score_ - grouped.best_score_) < 0.1


def test_a_saved_model_keeps_the_option(table, tmp_path):
    X, y, *_ = table
    with_duplicates(FOREST, "apart").fit(X, y).save(tmp_path / "model.adacc")
    assert adacc.load(tmp_path / "model.adacc").duplicates == "apart"


def test_frames_with_columns_that_only_a_pipeline_reads_are_not_compared():
    """A column of dates cannot be read by adacc; the pipeline may drop it."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(3)
    X, y = draw(rng, N_ROWS)
    frame = pd.DataFrame(X).add_prefix("x").assign(lists=[[1]] * N_ROWS)
    model = make_pipeline(make_column_transformer(("passthrough", ["x0", "x1"])), LogisticRegression())
    rows = over_sample(y, rng)
    assert not fit(DecisionRule(model, cv=3), frame.iloc[rows], y[rows])[1]

"""Explanations: the parts sum to the score, and are what Shapley's definition and the stumps themselves say."""

import pickle
from inspect import signature
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import thinned

import adacc
from adacc.datasets import CATALOGUE

EXACT = {"rtol": 0.0, "atol": 1e-9}
CALIBRATED = ("adamec-cal", "cgada-cal")
GAPS = [name for name in adacc.methods() if name != "smoteboost"]
"""Methods that take missing values and categories."""


def mixed(n_classes=2, n_rows=240, seed=3):
    """Numbers and labels with gaps, labels and numbers without, a flag, a constant column; and the classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.6, 0, rng.integers(n_classes, size=n_rows))
    size = rng.normal(size=n_rows) + y
    size[rng.random(n_rows) < 0.2 + 0.1 * y] = np.nan
    colour = np.array(["red", "green", "blue", None], dtype=object)[(rng.integers(5, size=n_rows) + y) % 4]
    shape = np.array(["round", "flat"])[((rng.random(n_rows) < 0.5) ^ (y > 0) ^ (rng.random(n_rows) < 0.3)).astype(int)]
    return pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "constant": 1.0,
            "shape": pd.Categorical(shape),
            "flag": rng.random(n_rows) < 0.3 + 0.3 * (y == 1),
            "age": rng.integers(20, 60, size=n_rows) - 4 * y,
        }
    ), y


def fit(method, X, y, **params):
    n_estimators = params.pop("n_estimators", 30)
    params = {"multi_class": "joint", **params}
    return adacc.BoostingClassifier(method, n_estimators=n_estimators, random_state=0, **params).fit(X, y)


def by_hand(curve, values):
    """A shape function read off its public attributes."""
    rows = []
    for value in values:
        if value is None or value is pd.NA or value != value:
            rows.append(curve.missing)
        elif curve.kind == "numeric":
            rows.append(curve.values[np.searchsorted(curve.thresholds, value)])
        else:
            known = dict(zip(curve.categories, curve.values, strict=True))
            rows.append(known.get(value, curve.other))
    return np.array(rows)


def column(X, j):
    if hasattr(X, "columns"):
        return X[X.columns[j]]
    return X[:, [j]].toarray().ravel() if sparse.issparse(X) else np.asarray(X)[:, j]


def check(model, X):
    """The sum, the curves by hand, the curves called: all one; returns the explanation."""
    explanation, curves, scores = model.explain(X), model.shape_functions(), model.decision_function(X)
    np.testing.assert_allclose(explanation.contributions.sum(axis=1) + explanation.intercept, scores, **EXACT)
    np.testing.assert_allclose(explanation.scores, scores, **EXACT)
    assert explanation.intercept == pytest.approx(curves.intercept)
    assert explanation.feature_names == tuple(curve.name for curve in curves)
    assert len(curves) == model.n_features_in_ == explanation.contributions.shape[1]
    assert explanation.contributions.shape[2:] == scores.shape[1:] == np.shape(explanation.intercept)
    for j, curve in enumerate(curves):
        values = column(X, j)
        assert curve.feature == j
        np.testing.assert_array_equal(explanation.contributions[:, j], by_hand(curve, list(values)))
        np.testing.assert_array_equal(explanation.contributions[:, j], curve(values))
        np.testing.assert_array_equal(explanation.contributions[:, j], curve(list(values)))
    return explanation


class TestTheSum:
    @pytest.mark.parametrize("which", ["rare", "three"])
    @pytest.mark.parametrize("method", adacc.methods())
    def test_of_numbers(self, method, which, request):
        X, y = request.getfixturevalue(which)
        if which == "three":
            method = method.removesuffix("-cal")
        explanation = check(fit(method, X, y), X)
        assert np.abs(explanation.contributions).max() > 0.1

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("method", GAPS)
    def test_of_numbers_and_labels_with_gaps(self, method, n_classes):
        X, y = mixed(n_classes)
        if n_classes > 2:
            method = method.removesuffix("-cal")
        unknown = X.head(4).assign(colour=["mauve", None, "red", "mauve"], shape=["round", None, "square", "flat"])
        check(fit(method, X, y), pd.concat([X, unknown]))

    @pytest.mark.parametrize(
        "params", [{"max_bins": None}, {"max_bins": 4}, {"learning_rate": 0.1}, {"warm_start": True}]
    )
    def test_of_every_coding(self, params):
        X, y = mixed()
        check(fit("adacc1", X, y, **params), X)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_of_polars_and_arrow_frames(self, n_classes):
        X, y = mixed(n_classes)
        theirs = pl.from_pandas(X)
        expected = check(fit("adacc1", X, y), X)
        for frame in (theirs, theirs.to_arrow()):
            model = fit("adacc1", frame, y)
            found = model.explain(frame)
            np.testing.assert_array_equal(found.contributions, expected.contributions)
            assert found.feature_names == expected.feature_names
            assert found.index is None
            np.testing.assert_array_equal(model.shape_functions()["size"](frame["size"]), expected.contributions[:, 0])
        check(fit("adacc1", theirs, y), theirs)

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_of_rows_in_another_form_than_in_training(self):
        X, y = mixed()
        model = fit("adacc1", X, y)
        expected = model.explain(X).contributions
        np.testing.assert_array_equal(model.explain(X.to_numpy(dtype=object)).contributions, expected)
        np.testing.assert_array_equal(model.explain(pl.from_pandas(X)).contributions, expected)
        nullable = X.convert_dtypes()
        np.testing.assert_array_equal(model.explain(nullable).contributions, expected)
        for j, curve in enumerate(model.shape_functions()):
            np.testing.assert_array_equal(curve(nullable.iloc[:, j]), expected[:, j])

    @pytest.mark.parametrize("which", ["rare", "three"])
    def test_of_sparse_rows(self, which, request):
        X, y = request.getfixturevalue(which)
        X = np.where(np.abs(X) < 0.7, 0.0, X)
        for form in (sparse.csr_matrix, sparse.csc_array):
            found = check(fit("adacc2", form(X), y), form(X))
            np.testing.assert_array_equal(found.contributions, fit("adacc2", X, y).explain(X).contributions)

    def test_of_one_dtype_and_order_or_another(self, rare):
        X, y = rare
        X = np.round(X * 8)
        model = fit("adacc1", X, y)
        expected = check(model, X).contributions
        for other in (X.astype(np.float32), X.astype(int), np.asfortranarray(X), X.tolist()):
            np.testing.assert_array_equal(model.explain(other).contributions, expected)

    def test_of_gaps_where_training_had_none(self, rare):
        X, y = rare
        gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
        check(fit("adacc1", X, y), gaps)

    def test_of_the_first_rounds(self):
        X, y = mixed()
        stages = list(fit("adacc1", X, y).staged_decision_function(X))
        for n_rounds in (1, 2, 7, 30):
            found = check(fit("adacc1", X, y, n_estimators=n_rounds), X)
            np.testing.assert_allclose(found.scores, stages[n_rounds - 1], **EXACT)

    def test_of_ties(self):
        """Votes that cancel leave a rest of rounding in the parts, and none in the score."""
        rng = np.random.default_rng(0)
        X = rng.integers(2, size=(60, 4)).astype(float)
        y = (X[:, :3].sum(axis=1) + rng.random(60) > 2).astype(int)
        model = fit("adaboost", X, y, n_estimators=4)
        model.fitted_model_.ensemble.votes[:] = [0.3, 0.3]
        found = check(model, X)
        assert (found.scores == 0.0).any()

    def test_of_a_curve_that_begins_at_nothing(self):
        X, y = np.array([[0.0], [1.0], [2.0]] * 9), np.array([0, 1, 0] * 9)
        model = fit("adaboost", X, y, n_estimators=3)
        model.fitted_model_.ensemble.votes[:] = [[0.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
        assert model.shape_functions()[0].values.tolist() == [0.0, 1.0, 0.0]
        check(model, X)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_of_a_round_without_a_split(self, n_classes):
        y = np.array([0, 0, 0, 1, 1, 2]) % n_classes
        model = fit("adaboost", np.ones((6, 2)), y)
        found = check(model, np.ones((6, 2)))
        assert not found.contributions.any()
        assert np.all(found.intercept == model.decision_function([[1.0, 1.0]])[0])
        assert np.any(found.intercept != 0.0)

    @pytest.mark.compiled
    @pytest.mark.parametrize("name", thinned(CATALOGUE, [*CATALOGUE][::2]))
    def test_of_the_papers_data(self, name, load_table):
        X, y = load_table(name)
        some = np.random.default_rng(0).permutation(len(y))[:2000]
        X, y = X.iloc[some], y[some]
        model = fit("adacc1", X, y)
        curves = model.shape_functions()
        parts = [by_hand(curve, X.iloc[:, j].tolist()) for j, curve in enumerate(curves) if np.any(curve.values)]
        np.testing.assert_allclose(np.sum(parts, axis=0) + curves.intercept, model.decision_function(X), **EXACT)
        explanation = model.explain(X)
        total = explanation.contributions.sum(axis=1) + explanation.intercept
        np.testing.assert_allclose(total, model.decision_function(X), **EXACT)


class TestTheParts:
    """Each is what the stumps on its feature say, one after the other."""

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_are_the_votes_of_the_features_own_stumps(self, n_classes):
        X, y = mixed(n_classes)
        X.loc[::7, "colour"] = "mauve"
        model = fit("adaboost", X.iloc[:200], y[:200])
        expected, intercept = np.zeros((len(X), X.shape[1], n_classes)), np.zeros(n_classes)
        for stump, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
            numeric = stump.threshold is not None
            if stump.left == stump.right and (not numeric or stump.left == stump.missing):
                intercept[stump.left] += vote
                continue
            for i, value in enumerate(X.iloc[:, stump.feature]):
                if numeric:
                    side = "missing" if value != value else "left" if value <= stump.threshold else "right"
                else:
                    side = "left" if value == stump.category else "right"
                    if stump.category is None and pd.isna(value):
                        side = "left"
                expected[i, stump.feature, getattr(stump, side)] += vote
        if n_classes == 2:
            expected, intercept = expected[:, :, 1] - expected[:, :, 0], intercept[1] - intercept[0]
        np.testing.assert_allclose(model.explain(X).contributions, expected, atol=1e-12)
        np.testing.assert_allclose(model.explain(X).intercept, intercept, atol=1e-12)

    def test_of_a_split_whose_branches_agree_are_nothing(self, rare):
        X, y = np.round(rare[0]), rare[1]
        model = fit("adaboost", X, y, n_estimators=1)
        [stump] = model.estimators_
        assert (stump.feature, stump.left, stump.right, stump.missing) == (0, 0, 0, 0)
        found = check(model, X)
        assert not found.contributions.any()
        assert found.intercept == -model.estimator_weights_[0]
        assert model.shape_functions()[0].thresholds.shape == (0,)

    def test_of_a_missing_label_are_its_own_only_where_training_had_one(self):
        X, y = mixed()
        y = (X["colour"].isna() | (X["shape"] == "flat") & (y == 1)).astype(int)
        curves = fit("adacc1", X, y, n_estimators=60).shape_functions()
        assert curves["colour"].categories == ("blue", "green", "red")
        assert curves["colour"].missing != curves["colour"].other
        assert curves["shape"].categories == ("flat", "round")
        assert curves["shape"].missing == curves["shape"].other != 0.0
        assert curves["flag"].categories == (False, True)
        np.testing.assert_array_equal(
            curves["colour"](["mauve", None, np.nan, "red"]),
            [curves["colour"].other, curves["colour"].missing, curves["colour"].missing, curves["colour"].values[2]],
        )

    def test_have_no_step_that_is_none(self):
        X, y = load_breast_cancer(return_X_y=True)
        curves = fit("adacc1", X, y, n_estimators=100).shape_functions()
        assert max(len(curve.thresholds) for curve in curves) > 3
        for curve in curves:
            assert (np.diff(curve.thresholds) > 0.0).all()
            assert (np.diff(curve.values) != 0.0).all()
            assert len(curve.values) == len(curve.thresholds) + 1

    def test_the_threshold_itself_is_below(self, rare):
        X, y = rare[0], (rare[0][:, 0] > 0.3).astype(int)
        curve = fit("adaboost", X, y, n_estimators=1).shape_functions()[0]
        assert len(curve.thresholds) == 1
        at = curve.thresholds[0]
        np.testing.assert_array_equal(curve([at, np.nextafter(at, np.inf)]), curve.values)

    def test_of_an_unused_feature_are_nothing(self):
        X, y = mixed()
        X = X.assign(idle="a", label=["u", "v"] * 120)
        model = fit("adacc1", X, y, n_estimators=5)
        unused = np.flatnonzero(model.feature_importances_ == 0.0)
        assert {"constant", "idle", "label"} <= set(X.columns[unused])
        assert not model.explain(X).contributions[:, unused].any()
        curves = model.shape_functions()
        assert curves["constant"].thresholds.shape == (0,)
        assert curves["constant"].values.tolist() == [0.0]
        assert curves["label"].categories == ("u", "v")
        assert curves["label"].values.tolist() == [0.0, 0.0]
        assert curves["label"].other == curves["label"].missing == 0.0

    def test_an_unused_feature_may_be_shuffled_and_a_used_one_may_not(self):
        X, y = mixed()
        model = fit("adacc1", X, y, n_estimators=3)
        before = model.explain(X, background=X)
        changed = set()
        for name in X.columns:
            after = model.explain(X.assign(**{name: X[name].to_numpy()[::-1]}), background=X)
            if not np.array_equal(before.scores, after.scores):
                changed.add(name)
            others = X.columns != name
            np.testing.assert_array_equal(before.contributions[:, others], after.contributions[:, others])
        importance = before.importance()
        assert changed == set(importance.index[importance > 0.0])
        assert 0 < len(changed) < X.shape[1]

    def test_of_two_classes_speak_for_the_second(self):
        X, y = np.array([[0.0], [1.0]] * 10), np.array(["no", "yes"] * 10)
        found = adacc.AdaBoostClassifier(n_estimators=1).fit(X, y).explain(X)
        np.testing.assert_array_equal(found.contributions[:, 0] > 0.0, y == "yes")
        assert found.classes.tolist() == ["no", "yes"]


class TestCalibrated:
    @pytest.mark.parametrize("method", CALIBRATED)
    @pytest.mark.parametrize("costs", [[1, 1], [1, 5], [2, 1]])
    def test_the_log_odds_are_explained(self, method, costs):
        X, y = mixed()
        plain, model = fit(method.removesuffix("-cal"), X, y, costs=[1, 1]), fit(method, X, y, costs=costs)
        found = check(model, X)
        p = np.clip(model.predict_proba(X), 1e-12, 1.0)
        shift = np.log(costs[1] / costs[0]) if method == "adamec-cal" else 0.0
        np.testing.assert_allclose(found.scores, np.log(p[:, 1] / p[:, 0]) + shift, **EXACT)
        if costs == [1, 1]:
            votes = plain.explain(X).contributions
            ratio = found.contributions[votes != 0.0] / votes[votes != 0.0]
            np.testing.assert_allclose(ratio, ratio[0])
            assert ratio[0] != pytest.approx(1.0)

    def test_where_probabilities_are_cut_off_the_sum_goes_on(self):
        X, y = mixed()
        model = fit("adamec-cal", X, y)
        inside = np.abs(model.decision_function(X)).max()
        model.fitted_model_.calibrator.curves[0].__dict__["slope"] *= 1e3 / inside
        found = model.explain(X)
        assert np.abs(model.decision_function(X)).max() < 60.0 < np.abs(found.scores).max()
        np.testing.assert_allclose(found.contributions.sum(axis=1) + found.intercept, found.scores)
        np.testing.assert_array_equal(found.scores > 0.0, model.decision_function(X) > 0.0)

    def test_a_background_is_centred_in_log_odds(self):
        X, y = mixed()
        model = fit("cgada-cal", X, y)
        found = model.explain(X, background=X)
        assert found.intercept == pytest.approx(model.decision_function(X).mean())
        np.testing.assert_allclose(found.contributions.mean(axis=0), 0.0, atol=1e-12)

    @pytest.mark.parametrize(
        ("n_classes", "kind", "message"),
        [
            (
                2,
                "isotonic",
                'isotonic calibration makes .* non-additive.*use calibration="sigmoid", or a model without',
            ),
            (3, "isotonic", "more than two classes makes .* non-additive.*: use a model without calibration$"),
            (3, "sigmoid", "more than two classes makes .* non-additive.*: use a model without calibration$"),
        ],
    )
    def test_what_is_no_sum_is_refused(self, n_classes, kind, message):
        X, y = mixed(n_classes)
        model = fit("adamec", X, y, calibration=kind)
        with pytest.raises(ValueError, match=message):
            model.explain(X)
        with pytest.raises(ValueError, match=message):
            model.shape_functions()


def shapley(value, n_features):
    """Shapley's definition: the mean over all orders of what a feature adds to those before it."""
    values = {S: value(S) for size in range(n_features + 1) for S in combinations(range(n_features), size)}
    found = []
    for j in range(n_features):
        total = 0.0
        for S in values:
            if j not in S:
                share = factorial(len(S)) * factorial(n_features - len(S) - 1) / factorial(n_features)
                total = total + share * (values[tuple(sorted((*S, j)))] - values[S])
        found.append(total)
    return np.array(found)


class TestBackground:
    @pytest.mark.parametrize(
        ("method", "n_classes"), [("adacc1", 2), ("rareboost", 3), ("adac2", 3), ("adamec-cal", 2)]
    )
    def test_gives_the_shapley_values_of_the_definition(self, method, n_classes):
        X, y = mixed(n_classes)
        X = X[["size", "colour", "shape", "age"]]
        model = fit(method, X, y)
        background, rows = X.iloc[100:117], X.iloc[[0, 3, 5]].assign(colour=[None, "mauve", "red"])
        found = model.explain(rows, background=background)
        for i in range(len(rows)):

            def value(S, i=i):
                swapped = background.assign(**{name: rows[name].iloc[i] for name in X.columns[list(S)]})
                swapped = swapped.astype({"size": float, "colour": object})
                return model.decision_function(swapped).mean(axis=0)

            np.testing.assert_allclose(found.contributions[i], shapley(value, 4), **EXACT)
        assert np.abs(found.contributions).max() > 0.1

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_its_mean_is_the_intercept(self, n_classes):
        X, y = mixed(n_classes)
        model = fit("adacc1", X, y)
        background = X.iloc[:50]
        found = model.explain(X, background=background)
        np.testing.assert_allclose(found.intercept, model.decision_function(background).mean(axis=0), **EXACT)
        np.testing.assert_allclose(found.contributions.sum(axis=1) + found.intercept, found.scores, **EXACT)
        np.testing.assert_allclose(model.explain(background, background).contributions.mean(axis=0), 0.0, atol=1e-12)

    def test_of_one_row_explains_the_difference_to_it(self):
        X, y = mixed()
        model = fit("adacc1", X, y)
        found = model.explain(X.iloc[:5], background=X.iloc[[9]])
        differs = X.iloc[:5].ne(X.iloc[9]) & ~(X.iloc[:5].isna() & X.iloc[9].isna())
        assert not found.contributions[~differs.to_numpy()].any()

    def test_may_be_of_another_form(self):
        X, y = mixed()
        model = fit("adacc1", X, y)
        expected = model.explain(X, background=X)
        found = model.explain(X, background=pl.from_pandas(X))
        np.testing.assert_array_equal(found.contributions, expected.contributions)

    def test_is_checked(self):
        X, y = mixed()
        model = fit("adacc1", X, y)
        with pytest.raises(ValueError, match=r"^background: .*feature names should match"):
            model.explain(X, background=X[["size"]])
        with pytest.raises(ValueError, match=r"^background: X must have rows and columns"):
            model.explain(X, background=X[:0])
        with pytest.raises(ValueError, match=r"^The feature names should match"):
            model.explain(X[["size"]], background=X)


class TestWhatIsSaid:
    def test_frames_have_the_names_and_rows_of_the_data(self):
        X, y = mixed()
        X.index = [f"row {i}" for i in range(len(X))]
        found = fit("adacc1", X, y).explain(X.iloc[5:9])
        frame = found.frame()
        assert frame.index.tolist() == ["row 5", "row 6", "row 7", "row 8"]
        assert frame.columns.tolist() == X.columns.tolist()
        np.testing.assert_array_equal(frame.to_numpy(), found.contributions)

    def test_frames_of_more_classes_have_a_block_for_each(self):
        X, y = mixed(3)
        labels = np.array(["low", "mid", "top"])
        found = fit("adacc1", X, labels[y]).explain(X)
        for k, label in enumerate(labels):
            block = found.frame()[label]
            assert block.columns.tolist() == X.columns.tolist()
            np.testing.assert_array_equal(block.to_numpy(), found.contributions[:, :, k])

    def test_columns_without_names_are_numbered(self, rare):
        X, y = rare
        model = fit("adacc1", X, y)
        assert model.explain(X).feature_names == ("x0", "x1", "x2", "x3", "x4")
        assert model.explain(X).frame().index.tolist() == list(range(len(X)))
        assert model.shape_functions()["x2"].feature == model.shape_functions()[2].feature == 2
        assert model.shape_functions()[-1].feature == 4

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_importance_is_the_mean_size_of_the_parts(self, n_classes):
        X, y = mixed(n_classes)
        found = fit("adacc1", X, y).explain(X, background=X)
        importance = found.importance()
        assert importance.index.tolist() == X.columns.tolist()
        assert importance["constant"] == 0.0
        size = [abs(part) for row in found.contributions[:, 0].reshape(len(X), -1).tolist() for part in row]
        assert importance["size"] == pytest.approx(sum(size) / len(size))

    def test_importance_finds_what_matters(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 5))
        found = fit("adacc1", X, (2 * X[:, 3] + X[:, 1] > 0).astype(int)).explain(X, background=X)
        assert found.importance().nlargest(2).index.tolist() == ["x3", "x1"]

    def test_the_search_explains_its_best(self):
        X, y = mixed()
        search = adacc.CostSearchCV(adacc.CGAdaClassifier(n_estimators=10)).fit(X, y)
        found, expected = search.explain(X, background=X), search.best_estimator_.explain(X, X)
        np.testing.assert_array_equal(found.contributions, expected.contributions)
        assert found.intercept == search.explain(X, X).intercept == expected.intercept
        assert [c.name for c in search.shape_functions()] == X.columns.tolist()
        assert list(signature(adacc.CostSearchCV.explain).parameters) == ["self", "X", "background", "interactions"]
        assert list(signature(adacc.CostSearchCV.predict).parameters) == ["self", "X", "columns"]

    def test_everything_can_be_pickled(self):
        X, y = mixed()
        model = fit("adacc1", X, y)
        curves, found = pickle.loads(pickle.dumps((model.shape_functions(), model.explain(X))))
        np.testing.assert_array_equal(curves["size"](X["size"]), found.contributions[:, 0])

    @pytest.mark.parametrize("method", ["explain", "shape_functions"])
    @pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=3), GaussianNB()])
    def test_other_weak_learners_are_refused(self, method, learner, rare):
        X, y = rare
        model = adacc.AdaCC1Classifier(estimator=learner, n_estimators=3).fit(X, y)
        expected = (
            rf"need the weak learners of adacc, got the type {type(learner).__name__}: use.*"
            r"estimator=None.*sklearn\.inspection\.permutation_importance"
        )
        with pytest.raises(ValueError, match=expected):
            getattr(model, method)(*[X] if method == "explain" else [])

    def test_only_what_is_fitted_is_explained(self, rare):
        X, _ = rare
        for model in (adacc.AdaCC1Classifier(), adacc.CostSearchCV(adacc.CGAdaClassifier())):
            with pytest.raises(NotFittedError):
                model.explain(X)
            with pytest.raises(NotFittedError):
                model.shape_functions()

    @pytest.mark.parametrize(
        ("name", "values", "error", "message"),
        [
            ("size", ["large"], ValueError, "column 'size' must hold numbers, as in .* holds strings, such as 'large'"),
            (
                "size",
                pd.Series(["a"]),
                ValueError,
                "column 'size' must hold numbers, as in .* holds strings .type S",
            ),
            ("size", np.array(["3"]), ValueError, "column 'size' must hold numbers, as in training, but holds"),
            ("size", np.array([np.inf]), ValueError, "Input size contains infinity"),
            ("size", [1.0, np.inf], ValueError, "column 'size' must be finite, got inf in row 1"),
            ("size", np.ones((2, 2)), ValueError, "column 'size' must be a list, a series or an array of one dim"),
            ("size", 3.0, ValueError, r"column 'size' must be a list, a series or an array of one dim.*, got 3\.0"),
            ("colour", "red", ValueError, "column 'colour' must be a list, a series or an array of one dim.*got 'red'"),
            ("colour", pd.Series([1.0]), ValueError, "column 'colour' must hold strings, as in training"),
        ],
    )
    def test_a_curve_says_what_it_cannot_read(self, name, values, error, message):
        curve = fit("adacc1", *mixed()).shape_functions()[name]
        with pytest.raises(error, match=message):
            curve(values)

    def test_a_name_that_is_none(self):
        curves = fit("adacc1", *mixed()).shape_functions()
        with pytest.raises(KeyError, match="no feature named 'weight'"):
            curves["weight"]

    def test_within_a_pipeline(self, rare):
        X, y = rare
        pipeline = make_pipeline(StandardScaler(), adacc.AdaCC1Classifier(n_estimators=10)).fit(X, y)
        found = pipeline[-1].explain(pipeline[:-1].transform(X))
        np.testing.assert_allclose(found.scores, pipeline.decision_function(X))

"""Bad input: an error that names the thing, the value and what is allowed, and nothing half-fitted left behind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import adacc

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.tile([0, 0, 0, 1], 10)


def vary(change):
    return {"X": X, "y": y} | change


INF, GAP = X.copy(), X.copy()
INF[3, 1] = np.inf
GAP[3, 1] = np.nan  # in a row of the rare class
WHEN = pd.DataFrame({"when": pd.date_range("2026-01-01", periods=40)})
NAMED = pd.DataFrame(INF, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("params", "data", "error", "message"),
    [
        ({}, {"y": np.ones(40)}, ValueError, r"from 2 to 256 classes, got only one class, 1\.0"),
        ({}, {"y": np.arange(40) % 2 == 2}, ValueError, "only one class, False"),
        ({}, {"X": np.arange(600.0)[:, None], "y": np.arange(600) // 2}, ValueError, "got 300 classes"),
        ({}, {"X": X[:0], "y": y[:0]}, ValueError, r"0 sample\(s\)"),
        ({}, {"X": pd.DataFrame(X)[:0], "y": y[:0]}, ValueError, "got 0 rows and 3 columns"),
        ({}, {"X": INF}, ValueError, "infinity"),
        ({}, {"X": NAMED}, ValueError, "column 'b' must be finite, got inf in row 3"),
        ({}, {"X": WHEN}, TypeError, "column 'when' has the type"),
        ({}, {"X": [["a"], ["b"]] * 20}, ValueError, "Give strings as columns of a frame"),
        ({}, {"y": y[:30]}, ValueError, "inconsistent numbers of samples"),
        ({}, {"y": None}, ValueError, "requires y to be passed"),
        ({}, {"y": np.linspace(0, 1, 40)}, ValueError, "continuous"),
        ({}, {"y": np.where(y == 1, None, "a")}, ValueError, "y must not have missing labels, got"),
        ({}, {"sample_weight": np.zeros(40)}, ValueError, "sample_weight must not be zero for every row"),
        ({}, {"sample_weight": y * 1.0}, ValueError, "one class, 1 among the rows of positive sample_weight"),
        ({}, {"sample_weight": -np.ones(40)}, ValueError, r"sample_weight must be not negative, got -1\.0 in row 0"),
        ({}, {"sample_weight": np.full(40, np.nan)}, ValueError, "sample_weight must be finite, got nan in row 0"),
        ({}, {"sample_weight": np.ones(39)}, ValueError, r"each of the 40 rows, got the shape \(39,\)"),
        ({}, {"X_val": X}, ValueError, "X_val and y_val must be given together"),
        ({}, {"sample_weight_val": y}, ValueError, "sample_weight_val only with them"),
        ({"n_iter_no_change": 3}, {"X_val": INF, "y_val": y}, ValueError, "X_val: Input X contains infinity"),
        ({"n_iter_no_change": 3}, {"y": np.r_[2, y[1:]]}, ValueError, "rows of every class, but 2 has only one"),
        ({}, {"sample_weight": "balanced"}, ValueError, "must be numbers, one for each row, got 'balanced'"),
        ({}, {"y": pd.Series(np.where(y == 1, "a", None), dtype="string")}, ValueError, "must not have missing labels"),
        ({}, {"X": WHEN.to_numpy()}, TypeError, r"X has the type datetime64"),
        ({}, {"X": WHEN.astype(object)}, TypeError, "column 'when' has the type Object of Timestamp"),
        ({}, {"X": pd.DataFrame({"a": [[1, 2]] * 40})}, TypeError, "column 'a' has the type"),
        ({}, {"X_val": X, "y_val": y}, ValueError, "set n_iter_no_change"),
        ({"n_iter_no_change": 3}, {"X_val": X, "y_val": y + 1}, ValueError, "y_val must have labels of y, got 2"),
        ({"n_iter_no_change": 0}, {}, ValueError, "n_iter_no_change must be a whole number of at least 1, got 0"),
        ({"validation_fraction": 1.5}, {}, ValueError, "must be a number from 1e-06 to 0.999999, got 1.5"),
        ({"n_estimators": 0}, {}, ValueError, "n_estimators must be a whole number of at least 1, got 0"),
        ({"n_estimators": 2.5}, {}, TypeError, "n_estimators must be a whole number of at least 1, got 2.5"),
        ({"learning_rate": 0}, {}, ValueError, "learning_rate must be a number from 1e-06 to 10, got 0"),
        ({"learning_rate": "fast"}, {}, TypeError, "a number from 1e-06 to 10, got 'fast'"),
        ({"criterion": "ginny"}, {}, ValueError, "criterion must be 'gini' or 'entropy' or 'error', got 'ginny'"),
        ({"max_bins": 1}, {}, ValueError, "max_bins must be a whole number of at least 2 or None, got 1"),
        ({"dialect": "poet"}, {}, ValueError, "dialect must be 'paper' or 'authors', got 'poet'"),
        ({"pos_label": 7}, {}, ValueError, r"pos_label must be one of \[0, 1\], got 7"),
        ({"pos_label": 1}, {"y": np.arange(40) % 3}, ValueError, "pos_label must be None for more than two classes"),
        ({"pos_label": [0, 1]}, {}, ValueError, r"pos_label must be one of \[0, 1\]"),
        ({"verbose": 0.5}, {}, TypeError, "verbose must be a whole number of at least 0, got 0.5"),
        ({"random_state": "a"}, {}, ValueError, "random_state must be None, a whole number"),
        ({"estimator": DecisionTreeRegressor()}, {}, TypeError, "must be a classifier whose fit takes sample_weight"),
        ({"n_jobs": 0}, {}, ValueError, "n_jobs must be None, a positive number of threads, or -1"),
        ({"estimator": KNeighborsClassifier()}, {}, TypeError, "whose fit takes sample_weight, got KNeighbors"),
        ({"method": "adac"}, {}, ValueError, "did you mean"),
        ({"method": "adac2", "costs": {0: 1}}, {}, ValueError, "no value for class 1"),
        ({"method": "adac2", "costs": [0, 0]}, {}, ValueError, "must not be zero for every class"),
        ({"method": "adac2", "costs": [1, -1]}, {}, ValueError, "not negative, got -1.0 for class 1"),
        ({"method": "adac2", "costs": {0: 1, 1: 2, 9: 1}}, {}, ValueError, "the label 9"),
        ({"costs": "balanced"}, {}, ValueError, "adacc1 has no option 'costs'"),
        ({"method": "adamec", "calibration": "platt"}, {}, ValueError, "calibration must be 'sigmoid' or 'isotonic'"),
        ({"method": "cgada-cal", "calibration_cv": 11}, {}, ValueError, "rows of every class, but 1 has 10"),
        ({"method": "rusboost", "sampling_ratio": 2}, {}, ValueError, "a number from 1e-06 to 1, got 2"),
        ({"method": "smoteboost", "n_synthetic": 0}, {}, ValueError, "n_synthetic must be a whole number"),
        ({"method": "smoteboost"}, {"X": GAP}, ValueError, "column 1 must not have missing values for smoteboost"),
    ],
)  # fmt: skip
def test_fit_says_what_is_wrong_and_leaves_nothing_behind(params, data, error, message):
    model = adacc.BoostingClassifier(**params)
    before = vars(model).copy()
    with pytest.raises(error, match=message):
        model.fit(**vary(data))
    assert vars(model) == before

    fitted = adacc.BoostingClassifier(n_estimators=3).fit(X, y)
    expected = fitted.decision_function(X)
    with pytest.raises(error):
        fitted.set_params(**params).fit(**vary(data))
    np.testing.assert_array_equal(fitted.decision_function(X), expected)


def test_an_interrupted_fit_leaves_nothing_behind():
    class Interrupted(KNeighborsClassifier):
        def fit(self, X, y, sample_weight=None):
            raise KeyboardInterrupt

    model = adacc.AdaCC1Classifier(estimator=Interrupted())
    before = vars(model).copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before


def test_a_lazy_frame_is_refused():
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    with pytest.raises(TypeError, match=r"got a LazyFrame; call its method collect\(\) first"):
        adacc.AdaCC1Classifier().fit(frame.lazy(), y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_predict_checks_what_it_is_given():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=["u", "v"] * 20)
    model = adacc.AdaCC1Classifier(n_estimators=60).fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["a", "b"]])
    with pytest.raises(ValueError, match=r"column 'a' must hold numbers, as in training, but holds strings \(type S"):
        model.predict(frame.assign(a="text"))
    with pytest.raises(ValueError, match="column 'b' must be finite, got -inf in row 0"):
        model.predict(frame.assign(b=-np.inf))
    for changed in ("2026-01-01", pd.Timestamp("2026-01-01")):
        with pytest.raises(ValueError, match=r"column 'a' must hold numbers, as in training, but holds (str|val)"):
            model.predict(frame.assign(a=changed))
    with pytest.raises(ValueError, match=r"column 'd' must hold strings, as in training, but holds numbers \(type I"):
        model.predict(frame.assign(d=1))
    with pytest.raises(ValueError, match=r"column 0 must hold numbers, .* holds strings, such as 'text'"):
        model.predict(frame.assign(a="text").to_numpy())
    with pytest.raises(ValueError, match="column 0 must be finite, got inf in row 0"):
        model.predict(frame.assign(a=np.inf).to_numpy())
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(frame.to_numpy()[0])
    array_model = adacc.AdaCC1Classifier(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but AdaCC1Classifier is expecting 3"):
        array_model.predict(X[:, :2])


def test_smoteboost_without_imbalanced_learn_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imblearn.over_sampling", None)
    with pytest.raises(ImportError, match=r"pip install 'adacc\[resampling\]'"):
        adacc.SMOTEBoostClassifier().fit(X, y)


def test_a_failed_fit_with_callbacks_ends_them():
    """A progress bar whose teardown is skipped keeps the process alive for ever."""
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

    class Told:
        events = ()

        def setup(self, estimator, context):
            self.events += ("setup",)

        def teardown(self, estimator, context):
            self.events += ("teardown",)

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            pass

    callback = Told()
    with pytest.raises(ValueError, match="not negative"):
        adacc.CGAdaClassifier(costs=[-1, 1]).set_callbacks(callback).fit(X, y)
    assert callback.events == ("setup", "teardown")
